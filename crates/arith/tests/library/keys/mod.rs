//! Keys to test with, and numbers that are worth a try.

use std::{cell::RefCell, collections::HashMap, env};

use num_bigint::BigUint;
use rsalab_arith::candidate::{Tester, has_small_factor};
use rsalab_arith::integer::{self, Derived};
use rsalab_arith::{CheckedPrivateKey, CheckedPublicKey, Kernel, PrivateParts, kernels};

pub(crate) const E: [u8; 3] = [1, 0, 1];

pub(crate) struct Key {
    pub(crate) p: Vec<u8>,
    pub(crate) q: Vec<u8>,
    pub(crate) e: Vec<u8>,
    pub(crate) rest: Derived,
    /// Powers that were asked for: every kernel asks for the same.
    powers: RefCell<HashMap<BigUint, Vec<u8>>>,
}

impl Key {
    pub(crate) fn new(p: &BigUint, q: &BigUint, e: &[u8]) -> Self {
        Self::of_primes(&[p.clone(), q.clone()], e)
    }

    /// A key of two primes or more.
    pub(crate) fn of_primes(primes: &[BigUint], e: &[u8]) -> Self {
        let primes: Vec<Vec<u8>> = primes.iter().map(BigUint::to_bytes_be).collect();
        let slices: Vec<&[u8]> = primes.iter().map(Vec::as_slice).collect();
        Self {
            p: primes[0].clone(),
            q: primes[1].clone(),
            e: e.to_vec(),
            rest: integer::derive(&slices, e).unwrap(),
            powers: RefCell::default(),
        }
    }

    /// Random probable primes of these lengths, each one's the same in every run for one seed.
    pub(crate) fn multi_prime(lengths: &[usize], seed: u64, e: &[u8]) -> Self {
        let primes = (seed..).zip(lengths).map(|(seed, &bits)| prime(bits, seed, e));
        Self::of_primes(&primes.collect::<Vec<_>>(), e)
    }

    /// Two Mersenne primes, whose limbs are all ones.
    pub(crate) fn mersenne(p: usize, q: usize) -> Self {
        let prime = |bits: usize| (BigUint::from(1u8) << bits) - 1u8;
        Self::new(&prime(p), &prime(q), &E)
    }

    /// Random probable primes of these lengths, the same in every run.
    pub(crate) fn random(p_bits: usize, q_bits: usize, e: &[u8]) -> Self {
        Self::new(&prime(p_bits, 0, e), &prime(q_bits, 0, e), e)
    }

    /// One of many keys of a size, each with its own primes.
    pub(crate) fn nth(i: u64, bits: usize, e: &[u8]) -> Self {
        let half = bits / 2;
        Self::new(&prime(half, 2 * i + 1, e), &prime(half, 2 * i + 2, e), e)
    }

    pub(crate) fn parts(&self) -> PrivateParts<'_> {
        let Derived {
            n,
            d,
            dp,
            dq,
            qinv,
            others,
        } = &self.rest;
        PrivateParts {
            n,
            e: &self.e,
            d,
            p: &self.p,
            q: &self.q,
            dp,
            dq,
            qinv,
            others,
        }
    }

    pub(crate) fn checked(&self) -> CheckedPrivateKey {
        CheckedPrivateKey::new(&self.parts()).unwrap()
    }

    pub(crate) fn public(&self) -> CheckedPublicKey {
        CheckedPublicKey::new(&self.rest.n, &self.e).unwrap()
    }

    pub(crate) fn n(&self) -> BigUint {
        BigUint::from_bytes_be(&self.rest.n)
    }

    pub(crate) fn len(&self) -> usize {
        self.rest.n.len()
    }

    pub(crate) fn bytes(&self, x: &BigUint) -> Vec<u8> {
        bytes(x, self.len())
    }

    /// `x^d mod n` by num-bigint.
    pub(crate) fn power(&self, x: &BigUint) -> Vec<u8> {
        let compute = || self.bytes(&x.modpow(&BigUint::from_bytes_be(&self.rest.d), &self.n()));
        let mut powers = self.powers.borrow_mut();
        powers.entry(x.clone()).or_insert_with(compute).clone()
    }

    /// Numbers that are worth a try: edges, multiples of the primes, and a few in between.
    pub(crate) fn inputs(&self) -> Vec<BigUint> {
        let (n, p, q) = (
            self.n(),
            BigUint::from_bytes_be(&self.p),
            BigUint::from_bytes_be(&self.q),
        );
        let half: BigUint = &n / 2u8;
        let others = self.rest.others.iter();
        let others = others.map(|other| BigUint::from_bytes_be(&other.r));
        let others: Vec<BigUint> = others.flat_map(|r| [&n - &r, &n / &r, r]).collect();
        [0u8, 1, 2]
            .map(BigUint::from)
            .into_iter()
            .chain([&n - 1u8, &n - 2u8, p.clone(), q.clone(), &n - p, &n - q, half])
            .chain(others)
            .collect()
    }
}

/// A probable prime with its two top bits set, after a seed of its own.
pub(crate) fn prime(bits: usize, seed: u64, e: &[u8]) -> BigUint {
    let len = bits.div_ceil(8);
    let mut state = bits as u64 + (seed << 32);
    let mut tester = Tester::new(Kernel::auto(), len);
    loop {
        let mut x = (0..len).fold(BigUint::ZERO, |x, _| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (x << 8) + (state >> 56)
        });
        x %= BigUint::from(1u8) << (bits - 2);
        x |= BigUint::from(3u8) << (bits - 2) | BigUint::from(1u8);
        let candidate = bytes(&x, len);
        if has_small_factor(&candidate) || !integer::is_coprime_to_predecessor(&candidate, e) {
            continue;
        }
        let mut passed = [false];
        tester.round(&candidate, &bytes(&2u8.into(), len), &mut passed).unwrap();
        if passed[0] {
            return x;
        }
    }
}

pub(crate) fn bytes(x: &BigUint, len: usize) -> Vec<u8> {
    let digits = if *x == BigUint::ZERO {
        Vec::new()
    } else {
        x.to_bytes_be()
    };
    [vec![0; len - digits.len()], digits].concat()
}

/// Does a check with each kernel that runs here. Forms on arrays wait for the long tests where their kernels run: those
/// set `RSALAB_ALL_KERNELS`.
pub(crate) fn for_each_kernel(check: impl Fn(Kernel)) {
    let all = env::var_os("RSALAB_ALL_KERNELS").is_some();
    for info in kernels() {
        if !all && info.runs_in_vectors_too() {
            eprintln!(
                "SKIPPED: {} above the kernels, since its kernel runs here: RSALAB_ALL_KERNELS",
                info.name
            );
            continue;
        }
        match Kernel::named(info.name) {
            Ok(kernel) => check(kernel),
            Err(reason) => eprintln!("SKIPPED: {reason}"),
        }
    }
}
