//! Roots of unity, in the order in which transforms take them.
//!
//! Node k of a transform halves polynomials modulo x^2m - u^2 into those modulo x^m - u (node 2k of the next level) and
//! x^m + u (node 2k + 1). With u(0) = 1 that gives u(2k)^2 = u(k), u(2k + 1) = i u(2k), for i^2 = -1: one table for all
//! levels and lengths, in which u(2^r) has the order 2^(r+2), and u(2^r + t) = u(2^r) u(t) for t < 2^r.

use once_cell::race::OnceBox;

use crate::{
    field::{Factor, Field, PRIMES},
    kernel::Line,
};

/// The roots of a direction.
#[derive(Debug)]
pub(crate) struct Roots {
    /// u(k).
    pub(crate) nodes: Vec<Factor>,
    /// For block j of 64 residues, whose three last levels have eight nodes of the first level in the lanes of a line,
    /// k = 8j .. 8j + 8: u(k); u(2k), u(2k + 1); u(4k), u(4k + 1), u(4k + 2), u(4k + 3).
    pub(crate) lanes: Vec<[Line; 7]>,
}

/// Constants of one prime for transforms of up to some length.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) forward: Roots,
    /// The inverses of those of `forward`.
    pub(crate) inverse: Roots,
}

/// Logarithms of the lengths for which there are tables.
const SIZES: [u32; 2] = [12, MAX_INNER_LOG];

/// The logarithm of the longest transform that is not divided into columns and rows: it and its table shall lie in the
/// second-level cache.
pub(crate) const MAX_INNER_LOG: u32 = 16;

/// The table of prime number `prime` for transforms of 2^log residues.
pub(crate) fn table(prime: usize, log: u32) -> &'static Table {
    // Threads that come first side by side make it each, and one of them is kept: nobody waits for another, who in a
    // child of a fork may be a thread of the parent's.
    static TABLES: [[OnceBox<Table>; 2]; 4] = [const { [const { OnceBox::new() }; 2] }; 4];
    let size = SIZES
        .iter()
        .position(|&size| log <= size)
        .expect("a length within the limit");
    TABLES[prime][size].get_or_init(|| Box::new(Table::new(PRIMES[prime], SIZES[size])))
}

impl Table {
    fn new(field: Field, log: u32) -> Self {
        let nodes = 1 << (log - 1);
        let roots = |inverse: bool| {
            let mut u = Vec::with_capacity(nodes);
            u.push(1);
            for r in 0..log - 1 {
                let mut top = field.root(1 << (r + 2));
                if inverse {
                    top = field.invert(top);
                }
                for t in 0..1 << r {
                    u.push(field.mul(top, u[t]));
                }
            }
            Roots::new(field, &u)
        };
        Self {
            forward: roots(false),
            inverse: roots(true),
        }
    }
}

impl Roots {
    fn new(field: Field, u: &[u64]) -> Self {
        let line = |j: usize, times: usize, plus: usize| {
            Line(std::array::from_fn(|lane| {
                field.centred(u[times * (8 * j + lane) + plus])
            }))
        };
        let blocks = u.len() / 32;
        Self {
            nodes: u[..4 * blocks].iter().map(|&u| field.factor(u)).collect(),
            lanes: (0..blocks)
                .map(|j| {
                    [(1, 0), (2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)].map(|(times, plus)| line(j, times, plus))
                })
                .collect(),
        }
    }
}
