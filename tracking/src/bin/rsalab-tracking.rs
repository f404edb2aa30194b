//! Private operations whose secrets valgrind takes for undefined: it reports each branch and each address that depends
//! on one (Langley, *ctgrind*, 2010). Run without valgrind it does the same work and finds nothing.
//!
//! | argument | what is done |
//! |---|---|
//! | none | keys prepared and used on every kernel whose instructions valgrind knows, secret primes, exponents and inputs; candidates sieved and tested; keys derived; paddings taken off; a client's blinding factor used |
//! | `leak` | a public operation whose exponent is marked secret: valgrind must report it |
//!
//! The kernels are those of `arith`'s table. valgrind knows neither AVX-512 nor AArch64: in the place of a kernel that
//! needs them runs what the table says, the same source compiled for arrays or for another length of registers, and a
//! line of output says so. Its assembly is not run then (`mont52x2_ifma`: all rows): `arith`'s `tests/machine_code`
//! follows the digits through that, and `rsalab-traces` steps through it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use crabgrind::memcheck::{self, MemState};
use rsalab_arith::{Kernel, declassify, kernels};
use rsalab_tracking::{
    Key, Padding, State, Way, blinding, derivation, leak, multi_key_operation, opening, private_operation, rounds,
    sieve,
};

/// One tile, one and a half, two, and three, of numbers and of their halves.
const BITS: [usize; 4] = [1024, 1536, 2048, 3072];
/// Items: a part of the lanes, and more than all.
const BATCHES: [usize; 2] = [3, 9];
/// Items of two keys.
const MIXED: [usize; 9] = [0, 1, 1, 0, 1, 0, 0, 0, 1];

fn mark(bytes: &[u8], state: State) {
    let state = match state {
        State::Secret => MemState::Undefined,
        State::Public => MemState::Defined,
    };
    // Without valgrind there is nothing to mark.
    let _ = memcheck::mark_memory(bytes.as_ptr().cast(), bytes.len(), state);
}

fn main() -> ExitCode {
    // What becomes public is defined from there on.
    let _ = declassify::HOOK.set(|bytes| mark(bytes, State::Public));
    match std::env::args().nth(1).as_deref() {
        None => {
            for bits in BITS {
                let keys = [Key::nth(0, bits), Key::nth(1, bits)];
                for padding in [Padding::Pkcs1v15, Padding::WrongPkcs1v15, Padding::WrongOaep] {
                    opening(mark, &keys[0], padding);
                }
                derivation(mark, &keys[0]);
                for info in kernels() {
                    let (name, tracked_as) = (info.name, info.tracked_as());
                    if tracked_as != name {
                        println!("{name}, {bits} bits: valgrind does not know its instructions; see {tracked_as}");
                        continue;
                    }
                    let Ok(kernel) = Kernel::named(name) else {
                        eprintln!("SKIPPED: {name}, which this machine cannot run");
                        continue;
                    };
                    for items in BATCHES {
                        for way in [Way::Crt, Way::WithoutCrt] {
                            private_operation(mark, kernel, &keys[0], way, items);
                        }
                    }
                    multi_key_operation(mark, kernel, [&keys[0], &keys[1]], &MIXED);
                    sieve(mark, kernel, &keys[0], 9);
                    rounds(mark, kernel, &keys[0]);
                    blinding(mark, kernel, &keys[0]);
                    println!("{name}, {bits} bits: done");
                }
            }
            ExitCode::SUCCESS
        }
        Some("leak") => {
            let kernel = Kernel::named("mont64x1_portable").expect("every machine has it");
            println!("{} bits", leak(mark, kernel, &Key::nth(0, 512), 17));
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprintln!("rsalab-tracking: no such thing as {other:?}; give nothing, or `leak`");
            ExitCode::from(2)
        }
    }
}
