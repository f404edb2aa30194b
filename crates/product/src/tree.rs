//! The tree in which factors are found that moduli share.
//!
//! With Z the product of all moduli N_i, D = Σ Z/N_i is Z/N_i modulo N_i: every other term is a multiple of N_i. So
//! gcd(N_i, D) is what N_i shares with the product of all others.
//!
//! ```text
//! up:    Z = Z_a Z_b          D = D_a Z_b + D_b Z_a          from the moduli (Z = N, D = 1) to the root
//! root:  f = D/Z modulo 1     by a reciprocal
//! down:  f_a = f Z_b modulo 1, for f = D/Z, so that f_a = D/Z_a modulo 1;   f_b likewise
//! leaf:  D mod N = N f        rounded
//! ```
//!
//! Going down are the scaled remainders of Bernstein ("Scaled remainder trees", 2004): a fraction needs only as many
//! bits as its node has, so that of the product with the sibling only a middle part is taken, modulo 2^n - 1.
//!
//! # Precision
//!
//! A fraction has at least 64 bits more than its node's Z. Let it be wrong by E 2^-(64 + bits of Z). The child's is
//! wrong by that times Z_b, which is below 2^(bits of Z - bits of Z_a + 1), and by two units in the last place: E' ≤ 2
//! E + 2. The root's E is 1, so that after k levels E < 2^(k + 2), and N f is wrong by less than 2^(k + 2 - 64): far
//! below 1/2 for any number of moduli that a memory holds.

use std::convert::Infallible;

use crate::{
    gcd::gcds,
    natural::{add_assign, bit_length, shift_left, significant, sub_assign, trim},
    plan::Plan,
    product::{Multiplier, Sum},
    reciprocal::quotient,
    team,
};

/// Nodes of fewer limbs are multiplied row by row.
const SHORT: usize = 48;

/// A product of moduli, and the sum of its cofactors.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) z: Vec<u64>,
    pub(crate) d: Vec<u64>,
}

impl Node {
    fn of(modulus: &[u64]) -> Self {
        Self {
            z: modulus.to_vec(),
            d: vec![1],
        }
    }

    fn of_both(multiplier: &Multiplier, a: &Self, b: &Self) -> Self {
        let limbs = |a: &[u64], b: &[u64]| a.len() + b.len();
        let d_limbs = limbs(&a.d, &b.z).max(limbs(&b.d, &a.z)) + 1;
        let [mut z, mut d] = if a.z.len().min(b.z.len()) < SHORT {
            let z = multiplier.multiply(&a.z, &b.z);
            let mut d = multiplier.multiply(&a.d, &b.z);
            d.resize(d_limbs, 0);
            add_assign(&mut d, &multiplier.multiply(&b.d, &a.z));
            [z, d]
        } else {
            let bits = bit_length(&a.z) + bit_length(&b.z);
            let d_bits = (bit_length(&a.d) + bit_length(&b.z)).max(bit_length(&b.d) + bit_length(&a.z)) + 1;
            let plan = Plan::new(bits.max(d_bits), 2);
            let sum = |products, to| Sum { products, from: 0, to };
            let sums = [
                sum(&[(0, 2)][..], limbs(&a.z, &b.z)),
                sum(&[(1, 2), (3, 0)][..], d_limbs),
            ];
            let sums = multiplier.sums(&plan, [&a.z, &a.d, &b.z, &b.d], &sums);
            sums.try_into().expect("two sums")
        };
        z.truncate(significant(&z));
        d.truncate(significant(&d));
        Self { z, d }
    }
}

/// Limbs of a node's fraction: 64 bits more than the node has, at least.
fn fraction_limbs(z: &[u64]) -> usize {
    (bit_length(z) + 127) / 64
}

/// The fractions of both children.
fn children(multiplier: &Multiplier, fraction: &[u64], a: &[u64], b: &[u64]) -> [Vec<u64>; 2] {
    let (limbs_a, limbs_b) = (fraction_limbs(a), fraction_limbs(b));
    let limbs = fraction.len();
    if a.len().min(b.len()) < SHORT {
        let part =
            |sibling: &[u64], wanted: usize| multiplier.multiply(fraction, sibling)[limbs - wanted..limbs].to_vec();
        return [part(b, limbs_a), part(a, limbs_b)];
    }
    // What is above the fraction wraps around to below the part that is wanted.
    let ring = limbs.max(b.len() + limbs_a).max(a.len() + limbs_b);
    let plan = Plan::new(64 * ring, 1);
    let part = |products, wanted: usize| Sum {
        products,
        from: limbs - wanted,
        to: limbs,
    };
    let sums = [part(&[(0, 2)][..], limbs_a), part(&[(0, 1)][..], limbs_b)];
    multiplier
        .sums(&plan, [fraction, a, b], &sums)
        .try_into()
        .expect("two sums")
}

/// D/Z modulo 1.
fn root_fraction(multiplier: &Multiplier, node: &Node) -> Vec<u64> {
    let limbs = fraction_limbs(&node.z);
    let zeros = node.z[node.z.len() - 1].leading_zeros();
    // 1/Z' for Z' = Z 2^zeros / 2^64n, between 1/2 and 1. Two limbs more than wanted: D/Z is below the number of
    // moduli.
    let mut scaled = shift_left(&node.z, zeros);
    scaled.truncate(node.z.len());
    let mut z = vec![0; limbs + 2 - node.z.len()];
    z.extend(scaled);
    let mut d = vec![0; limbs + 2 - node.z.len()];
    d.extend(shift_left(&node.d, zeros));
    quotient(multiplier, trim(&d), &z)[2..limbs + 2].to_vec()
}

/// N f, rounded and modulo N.
fn leaf(multiplier: &Multiplier, fraction: &[u64], modulus: &[u64]) -> Vec<u64> {
    let mut product = multiplier.multiply(fraction, modulus);
    add_assign(&mut product[fraction.len() - 1..], &[1 << 63]);
    let mut rest = product.split_off(fraction.len());
    let mut less = rest.clone();
    if !sub_assign(&mut less, modulus) {
        rest = less;
    }
    rest
}

/// Where the levels of a tree wait while it grows, until it is gone through downwards: the last one in is the first
/// one out.
pub trait Levels {
    /// Why a level cannot be kept, or is not there any more.
    type Error;

    /// Takes a level's numbers.
    ///
    /// # Errors
    /// They cannot be kept.
    fn push(&mut self, level: Vec<Vec<u64>>) -> Result<(), Self::Error>;

    /// Gives the last level back.
    ///
    /// # Errors
    /// It cannot be read.
    fn pop(&mut self) -> Result<Vec<Vec<u64>>, Self::Error>;
}

/// In memory.
impl Levels for Vec<Vec<Vec<u64>>> {
    type Error = Infallible;

    fn push(&mut self, level: Vec<Vec<u64>>) -> Result<(), Infallible> {
        self.push(level);
        Ok(())
    }

    fn pop(&mut self) -> Result<Vec<Vec<u64>>, Infallible> {
        Ok(self.pop().expect("as many as were pushed"))
    }
}

/// Nodes of the lowest level, as a power of two: each is one modulus or two.
fn lowest(moduli: usize) -> u32 {
    moduli.ilog2()
}

/// The moduli of a node of the lowest level.
fn group(moduli: &[Vec<u64>], node: usize) -> &[Vec<u64>] {
    let nodes = 1 << lowest(moduli.len());
    &moduli[node * moduli.len() / nodes..(node + 1) * moduli.len() / nodes]
}

/// From odd numbers of at least 3, of which there is one at least, up to the root. The products of all levels below it
/// are kept.
pub(crate) fn grow<L: Levels>(
    multiplier: &Multiplier,
    threads: usize,
    moduli: &[Vec<u64>],
    levels: &mut L,
    progress: &mut dyn FnMut(f64),
) -> Result<Node, L::Error> {
    let log = lowest(moduli.len());
    let mut step = steps(log + 1, progress);
    let mut nodes = map(multiplier, threads, 1 << log, &|multiplier, i| {
        let nodes = group(moduli, i).iter().map(|modulus| Node::of(modulus));
        nodes
            .reduce(|a, b| Node::of_both(multiplier, &a, &b))
            .expect("no group is empty")
    });
    step();
    for _ in 0..log {
        let next = map(multiplier, threads, nodes.len() / 2, &|multiplier, i| {
            Node::of_both(multiplier, &nodes[2 * i], &nodes[2 * i + 1])
        });
        levels.push(nodes.into_iter().map(|node| node.z).collect())?;
        nodes = next;
        step();
    }
    Ok(nodes.pop().expect("the root"))
}

/// From the root down to what each modulus shares.
pub(crate) fn descend<L: Levels>(
    multiplier: &Multiplier,
    threads: usize,
    moduli: &[Vec<u64>],
    root: Node,
    levels: &mut L,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<Vec<u64>>, L::Error> {
    let log = lowest(moduli.len());
    let mut step = steps(log + 3, progress);
    let mut fractions = vec![root_fraction(multiplier, &root)];
    drop(root);
    step();
    for _ in 0..log {
        let level = levels.pop()?;
        let pairs = map(multiplier, threads, fractions.len(), &|multiplier, i| {
            children(multiplier, &fractions[i], &level[2 * i], &level[2 * i + 1])
        });
        fractions = pairs.into_iter().flatten().collect();
        step();
    }
    let rests = map(
        multiplier,
        threads,
        fractions.len(),
        &|multiplier, i| match group(moduli, i) {
            [a, b] => {
                let [f, g] = children(multiplier, &fractions[i], a, b);
                vec![leaf(multiplier, &f, a), leaf(multiplier, &g, b)]
            }
            group => vec![leaf(multiplier, &fractions[i], &group[0])],
        },
    );
    drop(fractions);
    step();
    let rests: Vec<Vec<u64>> = rests.into_iter().flatten().collect();
    let mut found: Vec<Vec<u64>> = vec![Vec::new(); moduli.len()];
    let pairs: Vec<(&[u64], &[u64])> = moduli
        .iter()
        .zip(&rests)
        .map(|(n, rest)| (&n[..], trim(rest)))
        .collect();
    let tasks = pairs.chunks(PAIRS).zip(found.chunks_mut(PAIRS)).collect();
    team::for_each(threads, tasks, |(pairs, found): (&[_], &mut [_])| {
        found.clone_from_slice(&gcds(multiplier.kernel(), pairs));
    });
    step();
    Ok(found)
}

/// Tells that one step more of so many is done.
fn steps(count: u32, progress: &mut dyn FnMut(f64)) -> impl FnMut() {
    let mut done = 0;
    move || {
        done += 1;
        progress(f64::from(done) / f64::from(count));
    }
}

/// Pairs whose common factors are one task: a multiple of those that a kernel works on at once.
const PAIRS: usize = 128;

/// Tasks of one level are given out so many at a time.
fn chunk(nodes: usize, threads: usize) -> usize {
    (nodes / (8 * threads)).clamp(1, 256)
}

/// `work` for 0 .. `count`, on all threads: one number each where there are enough, else all on one number.
pub(crate) fn map<T: Send>(
    multiplier: &Multiplier,
    threads: usize,
    count: usize,
    work: &(dyn Fn(&Multiplier, usize) -> T + Sync),
) -> Vec<T> {
    if count < 4 * threads {
        return (0..count).map(|i| work(multiplier, i)).collect();
    }
    let single = multiplier.single();
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let chunk = chunk(count, threads);
    let tasks = results.chunks_mut(chunk).enumerate().collect();
    team::for_each(threads, tasks, |(at, results)| {
        for (i, result) in results.iter_mut().enumerate() {
            *result = Some(work(&single, at * chunk + i));
        }
    });
    results
        .into_iter()
        .map(|result| result.expect("each was computed"))
        .collect()
}
