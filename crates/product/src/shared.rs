//! Factors that moduli share.
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

use crate::{
    gcd::gcd,
    natural::{add_assign, bit_length, from_bytes, shift_left, significant, sub_assign, to_bytes, trim},
    plan::Plan,
    product::{Multiplier, Sum},
    reciprocal::quotient,
    team,
};

/// Nodes of fewer limbs are multiplied row by row.
const SHORT: usize = 48;

/// For each modulus (big-endian bytes) what it shares with the product of all others: `None` where that is 1, the
/// modulus itself where another one is equal or both its primes are elsewhere. Moduli of 0 and 1 are left out.
///
/// Runs on up to `threads` threads; `progress` is called on this one, with the share of the work that is done. Takes
/// about 12 times the memory of all moduli for each doubling of their number, and variable time: moduli are public.
pub fn shared_factors(moduli: &[Vec<u8>], threads: usize, progress: &mut dyn FnMut(f64)) -> Vec<Option<Vec<u8>>> {
    let numbers: Vec<Vec<u64>> = moduli.iter().map(|bytes| from_bytes(bytes)).collect();
    let twos: Vec<usize> = numbers.iter().map(|number| trailing_zeros(number)).collect();
    let all_twos: usize = twos.iter().sum();
    // The odd parts, those of like length next to each other.
    let mut places = Vec::new();
    let mut odd = Vec::new();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&i| bit_length(&numbers[i]));
    for i in order {
        let part = shift_right(&numbers[i], twos[i]);
        if bit_length(&part) > 1 {
            places.push(i);
            odd.push(part);
        }
    }
    let multiplier = Multiplier::new(threads);
    let mut shared: Vec<Vec<u64>> = vec![vec![1]; moduli.len()];
    for (i, factor) in places.into_iter().zip(shared_odd(&multiplier, threads, &odd, progress)) {
        shared[i] = factor;
    }
    let factors = shared.into_iter().zip(twos).map(|(factor, twos)| {
        let twos = twos.min(all_twos - twos);
        let mut shifted = vec![0; twos / 64];
        shifted.extend(shift_left(&factor, (twos % 64) as u32));
        (bit_length(&shifted) > 1).then(|| to_bytes(&shifted))
    });
    factors.collect()
}

fn trailing_zeros(a: &[u64]) -> usize {
    let zeros = a.iter().take_while(|&&limb| limb == 0).count();
    a.get(zeros)
        .map_or(0, |limb| 64 * zeros + limb.trailing_zeros() as usize)
}

fn shift_right(a: &[u64], bits: usize) -> Vec<u64> {
    let a = &a[bits / 64..];
    let bits = bits % 64;
    let mut out: Vec<u64> = (0..a.len())
        .map(|i| {
            let next = a.get(i + 1).copied().unwrap_or(0);
            ((u128::from(a[i]) | u128::from(next) << 64) >> bits) as u64
        })
        .collect();
    out.truncate(significant(&out));
    out
}

/// A product of moduli, and the sum of its cofactors.
struct Node {
    z: Vec<u64>,
    d: Vec<u64>,
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

/// gcd(N, N f).
fn leaf(multiplier: &Multiplier, fraction: &[u64], modulus: &[u64]) -> Vec<u64> {
    let mut product = multiplier.multiply(fraction, modulus);
    add_assign(&mut product[fraction.len() - 1..], &[1 << 63]);
    let mut rest = product.split_off(fraction.len());
    let mut less = rest.clone();
    if !sub_assign(&mut less, modulus) {
        rest = less;
    }
    gcd(modulus, trim(&rest))
}

/// Tasks of one level are given out so many at a time.
fn chunk(nodes: usize, threads: usize) -> usize {
    (nodes / (8 * threads)).clamp(1, 256)
}

/// [`shared_factors`] of odd numbers of at least 3.
fn shared_odd(
    multiplier: &Multiplier,
    threads: usize,
    moduli: &[Vec<u64>],
    progress: &mut dyn FnMut(f64),
) -> Vec<Vec<u64>> {
    if moduli.is_empty() {
        return Vec::new();
    }
    let log = moduli.len().ilog2();
    let count = 1 << log;
    let steps = f64::from(2 * log + 3);
    let mut done = 0.0;
    let mut step = move || {
        done += 1.0;
        progress(done / steps);
    };
    // Each node of the lowest level is one modulus or two.
    let group = |i: usize| i * moduli.len() / count..(i + 1) * moduli.len() / count;
    let mut nodes = map(multiplier, threads, count, &|multiplier, i| {
        let moduli = &moduli[group(i)];
        let nodes = moduli.iter().map(|modulus| Node::of(modulus));
        nodes
            .reduce(|a, b| Node::of_both(multiplier, &a, &b))
            .expect("no group is empty")
    });
    step();
    let mut levels = Vec::new();
    for _ in 0..log {
        let next = map(multiplier, threads, nodes.len() / 2, &|multiplier, i| {
            Node::of_both(multiplier, &nodes[2 * i], &nodes[2 * i + 1])
        });
        levels.push(nodes.into_iter().map(|node| node.z).collect::<Vec<_>>());
        nodes = next;
        step();
    }
    let mut fractions = vec![root_fraction(multiplier, &nodes[0])];
    step();
    while let Some(level) = levels.pop() {
        let pairs = map(multiplier, threads, fractions.len(), &|multiplier, i| {
            children(multiplier, &fractions[i], &level[2 * i], &level[2 * i + 1])
        });
        fractions = pairs.into_iter().flatten().collect();
        step();
    }
    let found = map(multiplier, threads, count, &|multiplier, i| match &moduli[group(i)] {
        [a, b] => {
            let [f, g] = children(multiplier, &fractions[i], a, b);
            vec![leaf(multiplier, &f, a), leaf(multiplier, &g, b)]
        }
        group => vec![leaf(multiplier, &fractions[i], &group[0])],
    });
    step();
    found.into_iter().flatten().collect()
}

/// `work` for 0 .. `count`, on all threads: one number each where there are enough, else all on one number.
fn map<T: Send>(
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
