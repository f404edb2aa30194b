//! The operations of a key, for the kernel that runs by default: nanoseconds each, median and middle half of turns.
//!
//! `cargo bench -p rsalab-arith [-- NAME…]`, pinned to a CPU: those whose name, such as `private/2048`, holds a NAME.

use std::{env, hint::black_box, time::Instant};

use rsalab_arith::{
    CheckedPrivateKey, Kernel, PrivateContext, PublicContext, Status,
    bare::BarePrivateContext,
    candidate::{PreTester, Sieve, Tester, has_small_factor},
    integer,
};

const E: [u8; 3] = [1, 0, 1];
/// Blocks of each operation, in turns with the others of its size.
const TURNS: usize = 41;
/// Nanoseconds that a block takes at least.
const BLOCK_NS: f64 = 2e6;

/// A key whose "primes" need only be odd and coprime to what they must be: the arithmetic does not care.
fn key(bits: usize) -> CheckedPrivateKey {
    let number = |seed: u64| {
        let mut state = seed;
        let mut bytes: Vec<u8> = (0..bits / 16)
            .map(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        bytes[0] |= 0xc0;
        bytes[bits / 16 - 1] |= 1;
        bytes
    };
    (1..)
        .map(|seed| (number(2 * seed), number(2 * seed + 1)))
        .find_map(|(p, q)| CheckedPrivateKey::from_primes(&p, &q, &E).ok())
        .expect("some pair is coprime")
}

/// The operations of one key size, and how long their blocks took.
struct Operations<'a> {
    chosen: &'a [String],
    all: Vec<Operation<'a>>,
}

struct Operation<'a> {
    name: String,
    /// Calls of one block, and what each call does: a batch counts its lanes.
    calls: usize,
    items: usize,
    call: Box<dyn FnMut() + 'a>,
    ns_each: Vec<f64>,
}

impl<'a> Operations<'a> {
    /// Adds an operation that does `items` at each call, unless others were chosen.
    fn add(&mut self, name: &str, bits: usize, items: usize, call: impl FnMut() + 'a) {
        let name = format!("{name}/{bits}");
        if self.chosen.is_empty() || self.chosen.iter().any(|part| name.contains(part)) {
            self.all.push(Operation {
                name,
                calls: 1,
                items,
                call: Box::new(call),
                ns_each: Vec::new(),
            });
        }
    }

    fn measure(mut self) {
        for operation in &mut self.all {
            while operation.block() < BLOCK_NS {
                operation.calls *= 2;
            }
        }
        for _ in 0..TURNS {
            for operation in &mut self.all {
                let ns = operation.block();
                operation.ns_each.push(ns / (operation.calls * operation.items) as f64);
            }
        }
        for operation in &mut self.all {
            let times = &mut operation.ns_each;
            times.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| times[(share * (TURNS - 1) as f64) as usize];
            println!(
                "{:>24} {:>12.1} ns ({:.1}–{:.1})",
                operation.name,
                at(0.5),
                at(0.25),
                at(0.75)
            );
        }
    }
}

impl Operation<'_> {
    /// Nanoseconds of a block of calls.
    fn block(&mut self) -> f64 {
        let begun = Instant::now();
        for _ in 0..self.calls {
            (self.call)();
        }
        begun.elapsed().as_secs_f64() * 1e9
    }
}

fn main() {
    let chosen: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let kernel = Kernel::auto();
    println!("{}", kernel.name());
    for bits in [1024, 2048, 3072, 4096, 8192] {
        measure(&key(bits), bits, kernel, &chosen);
    }
}

fn measure(key: &CheckedPrivateKey, bits: usize, kernel: Kernel, chosen: &[String]) {
    let mut input = vec![0x5a; bits / 8];
    input[0] = 0;
    let prime = key.parts().p;
    let mut base = vec![0; prime.len()];
    base[prime.len() - 1] = 2;
    let (input, base) = (&input, &base);
    let sieve = Sieve::new(kernel, bits / 2);
    let sieve = &sieve;
    let mut operations = Operations {
        chosen,
        all: Vec::new(),
    };
    let outputs = || (vec![0; bits / 8], [Status::Done]);

    let bare = BarePrivateContext::new(key, kernel);
    let (mut scratch, (mut output, mut status)) = (bare.scratch(), outputs());
    operations.add("bare", bits, 1, move || {
        bare.apply(&mut scratch, black_box(input), &mut output, &mut status)
            .unwrap()
    });
    let private = PrivateContext::new(key, kernel);
    let (mut scratch, (mut output, mut status)) = (private.scratch().unwrap(), outputs());
    operations.add("private", bits, 1, move || {
        private
            .apply(&mut scratch, black_box(input), &mut output, &mut status)
            .unwrap()
    });
    let public = PublicContext::new(key.public(), kernel);
    let (mut scratch, (mut output, mut status)) = (public.scratch(), outputs());
    operations.add("public", bits, 1, move || {
        public
            .apply_vartime(&mut scratch, black_box(input), &mut output, &mut status)
            .unwrap();
    });

    let mut tester = Tester::new(kernel, prime.len());
    operations.add("candidate_round", bits / 2, 1, move || {
        tester.round(black_box(prime), base, &mut [false]).unwrap()
    });
    let mut tester = PreTester::new(kernel, bits / 2);
    let lanes = tester.lanes();
    let (batch, mut passed) = (prime.repeat(lanes), vec![false; lanes]);
    operations.add("pre_test", bits / 2, lanes, move || {
        tester.test(black_box(&batch), &mut passed).unwrap()
    });
    let (batch, bases) = (prime.repeat(8), base.repeat(8));
    let mut tester = Tester::new(kernel, prime.len());
    operations.add("rounds", bits / 2, 8, move || {
        tester.round(black_box(&batch), &bases, &mut [false; 8]).unwrap()
    });
    operations.add("sieve_setup", bits / 2, 1, move || {
        drop(black_box(Sieve::new(kernel, bits / 2)))
    });
    operations.add("sieve", bits / 2, 1, move || {
        drop(black_box(sieve.interval(black_box(prime)).unwrap()))
    });
    let mut interval = sieve.interval(prime).unwrap();
    let mut picked = prime.to_vec();
    operations.add("pick", bits / 2, 1, move || {
        if !interval.pick(black_box(1 << 63), &mut picked).unwrap() {
            interval = sieve.interval(prime).unwrap();
        }
    });
    operations.add("has_small_factor", bits / 2, 1, move || {
        black_box(has_small_factor(black_box(prime)));
    });
    operations.add("derive", bits, 1, move || {
        black_box(integer::derive(black_box(&[prime, key.parts().q]), &E).unwrap());
    });
    operations.add("invert", bits, 1, move || {
        black_box(integer::invert(black_box(input), key.parts().n).unwrap());
    });
    operations.measure();
}
