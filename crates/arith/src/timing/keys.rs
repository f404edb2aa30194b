//! What a user of a key sees, and the steps of making one: keys of 1024 bits.

use super::*;
use crate::candidate::{PreTester, Sieve, Tester, has_small_factor};
use crate::{CheckedPrivateKey, PrivateContext, Status, integer};

/// Bytes of a prime.
const LEN: usize = 64;
/// The public exponent.
const E: [u8; 3] = [1, 0, 1];

/// One input, or any below n: a signature is made of it, or a ciphertext opened.
#[test]
#[ignore = "takes minutes: make timing"]
fn a_private_operation_takes_the_same_time_for_all_inputs() {
    let primes = Primes::new();
    let key = CheckedPrivateKey::from_primes(&primes.pool[0], &primes.pool[1], &E).expect("two primes make a key");
    let len = key.public().modulus_len();
    for kernel in kernels() {
        let context = PrivateContext::new(&key, kernel);
        let mut scratch = context.scratch().unwrap();
        let (mut output, mut status) = (vec![0; len], [Status::Fault]);
        check(
            "a private operation of 1024 bits",
            kernel.name(),
            |class, rng| {
                let mut input = bytes(len, rng);
                if class == 0 {
                    input.fill(0x5a);
                }
                input[0] = 0;
                input
            },
            |input| {
                context.apply(&mut scratch, input, &mut output, &mut status).unwrap();
            },
        );
        assert_eq!(status, [Status::Done]);
    }
}

/// A start of almost nothing but zeros, or any: its interval, and a pick from that.
#[test]
#[ignore = "takes minutes: make timing"]
fn a_sieve_takes_the_same_time_for_all_starts() {
    for kernel in kernels() {
        let sieve = Sieve::new(kernel, 8 * LEN);
        let mut candidate = vec![0; LEN];
        check(
            "a sieve of 512 bits, and a pick",
            kernel.name(),
            |class, rng| {
                let mut input = bytes(LEN + 8, rng);
                if class == 0 {
                    input[..LEN].fill(0);
                }
                odd(&mut input[..LEN]);
                input
            },
            |input| {
                let (start, random) = input.split_last_chunk().unwrap();
                let mut interval = sieve.interval(start).unwrap();
                assert!(interval.pick(u64::from_be_bytes(*random), &mut candidate).unwrap());
            },
        );
    }
}

/// A prime of almost nothing but zeros, or any.
#[test]
#[ignore = "takes minutes: make timing"]
fn a_test_takes_the_same_time_for_all_primes() {
    let primes = Primes::new();
    for kernel in kernels() {
        let mut pre_tester = PreTester::new(kernel, 8 * LEN);
        let lanes = pre_tester.lanes();
        let mut passed = vec![false; lanes];
        check(
            "a pre-test of primes of 512 bits",
            kernel.name(),
            |class, rng| primes.draw(lanes, class, rng),
            |candidates| pre_tester.test(candidates, &mut passed).unwrap(),
        );
        assert!(passed.iter().all(|passed| *passed));

        let mut tester = Tester::new(kernel, LEN);
        let lanes = kernel.lanes();
        let mut passed = vec![true; lanes];
        check(
            "a Miller–Rabin round of primes of 512 bits",
            kernel.name(),
            |class, rng| {
                let mut bases = bytes(lanes * LEN, rng);
                // Below any of the primes.
                bases.iter_mut().step_by(LEN).for_each(|high| *high &= 0x7f);
                [primes.draw(lanes, class, rng), bases].concat()
            },
            |input| {
                let (candidates, bases) = input.split_at(lanes * LEN);
                tester.round(candidates, bases, &mut passed).unwrap();
            },
        );
        assert!(passed.iter().all(|passed| *passed));
    }
}

/// Two primes of almost nothing but zeros, or any.
#[test]
#[ignore = "takes minutes: make timing"]
fn a_key_is_derived_in_the_same_time_from_all_primes() {
    let primes = Primes::new();
    check(
        "n, d, dp, dq, 1/q of two primes of 512 bits",
        "no kernel",
        |class, rng| primes.draw(2, class, rng),
        |pair| {
            let (p, q) = pair.split_at(LEN);
            black_box(integer::derive(&[p, q], &E).unwrap());
        },
    );
}

/// Primes of 512 bits, the two highest of which are set.
struct Primes {
    /// The first above 2^511 + 2^510: almost all of their digits are zero.
    sparse: Vec<Vec<u8>>,
    /// Random ones.
    pool: Vec<Vec<u8>>,
}

impl Primes {
    fn new() -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut tester = Tester::new(Kernel::auto(), LEN);
        // Two rounds say enough of a number that nobody chose for them.
        let mut is_prime = |number: &Vec<u8>| {
            let mut base = [0; LEN];
            !has_small_factor(number)
                && [2, 3].into_iter().all(|digit| {
                    base[LEN - 1] = digit;
                    let mut passed = [true];
                    tester.round(number, &base, &mut passed).unwrap();
                    passed[0]
                })
        };
        let sparse = (0u16..).step_by(2).map(|low| {
            let mut number = vec![0; LEN];
            number[LEN - 2..].copy_from_slice(&low.to_be_bytes());
            odd(&mut number);
            number
        });
        let sparse = sparse.filter(&mut is_prime).take(2).collect();
        let random = std::iter::repeat_with(|| {
            let mut number = bytes(LEN, &mut rng);
            odd(&mut number);
            number
        });
        let pool = random.filter(&mut is_prime).take(256).collect();
        Self { sparse, pool }
    }

    /// So many primes, one after the other: those of few digits in turn, or different ones of the pool. Both classes
    /// take the same randomness and memory.
    fn draw(&self, count: usize, class: usize, rng: &mut ChaCha20Rng) -> Vec<u8> {
        let at = rng.next_u64() as usize % self.pool.len();
        let any = self.pool.iter().cycle().skip(at);
        let sparse = self.sparse.iter().cycle();
        let pairs = any.zip(sparse).take(count);
        pairs
            .flat_map(|(any, sparse)| if class == 0 { sparse } else { any })
            .copied()
            .collect()
    }
}

/// Makes a number odd, and sets its two highest bits.
fn odd(number: &mut [u8]) {
    number[0] |= 0xc0;
    number[LEN - 1] |= 1;
}
