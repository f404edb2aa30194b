//! What is stepped through, in the child.

use std::hint::black_box;
use std::io::Read;

use nix::sys::signal::{Signal, raise};
use rsalab_arith::Kernel;
use rsalab_tracking::{
    Key, Padding, UNMARKED, Way, blinding, derivation, leak, multi_key_operation, opening, private_operation, reading,
    rounds, sieve, writing,
};

/// A step, done with a key; a second one is there, too.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Whether a kernel does it.
    pub(crate) of_kernels: bool,
    /// Bits of the modulus.
    bits: usize,
    run: fn(Kernel, [&Key; 2], usize),
}

const fn step(name: &'static str, run: fn(Kernel, [&Key; 2], usize)) -> Step {
    Step {
        name,
        of_kernels: true,
        bits: 512,
        run,
    }
}

const fn bare(name: &'static str, bits: usize, run: fn(Kernel, [&Key; 2], usize)) -> Step {
    Step {
        name,
        of_kernels: false,
        bits,
        run,
    }
}

/// The steps of using a key and of making one. A key is prepared from its bytes each time.
pub(crate) const STEPS: &[Step] = &[
    step("private operation", |kernel, [key, _], _| {
        private_operation(UNMARKED, kernel, key, Way::Crt, 1);
    }),
    step("private operation without CRT", |kernel, [key, _], _| {
        private_operation(UNMARKED, kernel, key, Way::WithoutCrt, 1);
    }),
    step("operation of several keys", |kernel, keys, _| {
        multi_key_operation(UNMARKED, kernel, keys, &[0, 1, 1]);
    }),
    step("sieve and pre-test", |kernel, [key, _], _| {
        sieve(UNMARKED, kernel, key, 2)
    }),
    step("Miller-Rabin round", |kernel, [key, _], _| {
        rounds(UNMARKED, kernel, key)
    }),
    Step {
        bits: 1024,
        ..step("blinding of a client", |kernel, [key, _], _| {
            blinding(UNMARKED, kernel, key)
        })
    },
    bare("derivation of a key", 512, |_, [key, _], _| derivation(UNMARKED, key)),
    bare("PKCS#1 v1.5 taken off", 1024, |_, [key, _], _| {
        opening(UNMARKED, key, Padding::Pkcs1v15);
    }),
    bare("wrong OAEP taken off", 1024, |_, [key, _], _| {
        opening(UNMARKED, key, Padding::WrongOaep);
    }),
    bare("key written as PEM", 512, |_, [key, _], _| {
        writing(key);
    }),
    bare("key read from PEM", 512, |_, [key, _], _| {
        reading(writing(key).as_ref())
    }),
];

/// Entries of four cache lines.
static TABLE: [u64; 32] = [1; 32];

/// Steps that must be seen to differ.
pub(crate) const LEAKS: &[Step] = &[
    bare("a branch", 512, |kernel, [key, _], i| {
        let exponent = 2 * black_box(i) as u8 + 3;
        black_box(leak(UNMARKED, kernel, key, exponent));
    }),
    bare("an address", 512, |_, _, i| {
        black_box(black_box(&TABLE)[black_box(i)]);
    }),
    bare("a division", 512, |_, _, i| {
        black_box(black_box(u64::MAX) / (black_box(i) as u64 + 1));
    }),
];

pub(crate) fn named(name: &str) -> Option<&'static Step> {
    STEPS.iter().chain(LEAKS).find(|step| step.name == name)
}

/// The child's part: the step with one of the keys. Signals tell the parent where it begins and ends.
pub(crate) fn run(step: &Step, kernel: Kernel, key: usize) {
    let Step { bits, .. } = *step;
    let sparse = Key::sparse(bits);
    // An encoding of a number has a byte more if its highest bit falls on a byte's.
    let bytes = |key: &Key| key.lengths().map(|bits| bits / 8);
    let like_it = (0..)
        .map(|i| Key::nth(i, bits))
        .filter(|key| bytes(key) == bytes(&sparse));
    let mut keys: Vec<Key> = like_it.take(super::TRACES - 1).collect();
    keys.push(sparse);
    // What is read in the step lies here.
    let mut places = [Key::nth(0, bits), Key::nth(0, bits)];
    places.iter_mut().for_each(|place| place.copy_from(&keys[0]));
    let [first, second] = &places;
    // What is allocated, loaded and initialized once is not the step's.
    (step.run)(kernel, [first, second], 0);
    places[0].copy_from(&keys[key]);
    places[1].copy_from(&keys[(key + 1) % keys.len()]);
    let [first, second] = &places;
    // The parent takes hold of this process, and writes a byte.
    let mut byte = [0];
    if std::io::stdin().read_exact(&mut byte).is_err() || raise(Signal::SIGUSR1).is_err() {
        return;
    }
    (step.run)(kernel, [first, second], key);
    let _ = raise(Signal::SIGUSR2);
}
