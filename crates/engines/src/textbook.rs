//! The engine `textbook`: article (d)'s two algorithms, step by step as it gives them.
//!
//! It is the measure of what everything else has gained, and it is not safe to use: it squares and multiplies bit by
//! bit, multiplies only where the exponent has a one, and subtracts only where a sum is too large, so its time reveals
//! the private exponent. There is no blinding and no check in any variant:
//!
//! | variant of the private operation | what it is | file |
//! |---|---|---|
//! | `plain`, the default | one exponentiation modulo `n` | `montgomery` |
//! | `crt` | two of half the size, one after the other, recombined | `crt` |
//! | `halves` | the same two on two threads at once, for each single block | `halves` |

mod crt;
mod halves;
mod montgomery;

use std::sync::Arc;

use num_bigint::BigUint;

use crate::{
    engine::{Engine, EngineError, EngineInfo, Prepared},
    ensure,
    job::{Job, StudyKey},
    kit,
    ledger::{Ledger, Reason, ThreadOwner},
    number::fixed,
    op::Op,
};

use crt::Crt;
use halves::{Pair, second_cpu};
use montgomery::Modulus;

/// The article's algorithms.
pub struct Textbook;

/// A variant of the private operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    Crt,
    Halves,
}

/// The default first.
const VARIANTS: [(&str, Variant); 3] = [
    ("plain", Variant::Plain),
    ("crt", Variant::Crt),
    ("halves", Variant::Halves),
];

impl Engine for Textbook {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "textbook".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: "this program, on the crate num-bigint".to_owned(),
            cpu_path: None,
            variants: kit::names(&VARIANTS),
            optimised: crate::OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        let variant = variant(job)?;
        let private = job.op == Op::Private;
        if variant == Variant::Halves {
            ensure!(
                job.threads == 1,
                "the two halves of one block are at work on two threads, and the job asks for {} of them at once",
                job.threads
            );
            second_cpu()?;
        }
        let setup = match variant {
            Variant::Plain => "r and n′",
            Variant::Crt => "r and n′ of each prime",
            Variant::Halves => "r and n′ of each prime; the second thread started, and parked between calls",
        };
        let ledger = Ledger {
            crt: private.then_some(variant != Variant::Plain),
            blinding: private.then_some(false),
            result_check: private.then_some(false),
            constant_time: private.then_some(false),
            exponent: (!private).then_some(job.exponent),
            ..Ledger::native(setup)
        };
        Ok(match variant {
            Variant::Halves => Ledger {
                threads: ThreadOwner::Engine,
                ..ledger
            },
            _ => ledger,
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let key = kit::key(job, keys)?;
        let length = key.n.len();
        Ok(match variant(job)? {
            Variant::Plain => {
                let modulus = Modulus::new(BigUint::from_bytes_be(&key.n))
                    .ok_or_else(|| EngineError::Key("the modulus is even".to_owned()))?;
                let exponent = match job.op {
                    Op::Private => &key.d,
                    _ => &key.e,
                };
                let ready = Arc::new((modulus, BigUint::from_bytes_be(exponent)));
                kit::blocks("binary-montgomery", key, move || {
                    let ready = Arc::clone(&ready);
                    Ok(on_numbers(length, move |c| Ok(ready.0.mon_exp_vartime(c, &ready.1))))
                })
            }
            Variant::Crt => {
                let crt = Arc::new(Crt::new(key)?);
                kit::blocks("binary-montgomery, CRT", key, move || {
                    let crt = Arc::clone(&crt);
                    Ok(on_numbers(length, move |c| {
                        Ok(crt.recombined_vartime(crt.half_p_vartime(c), crt.half_q_vartime(c)))
                    }))
                })
            }
            Variant::Halves => {
                let crt = Arc::new(Crt::new(key)?);
                let cpu = second_cpu()?;
                kit::blocks("binary-montgomery, CRT on two threads", key, move || {
                    let mut pair = Pair::start(Arc::clone(&crt), cpu)?;
                    Ok(on_numbers(length, move |c| pair.power_vartime(c)))
                })
            }
        })
    }
}

/// The variant that a job names, or the first. The public operation has no CRT to take: it is `plain`.
fn variant(job: &Job) -> Result<Variant, Reason> {
    match job.op {
        Op::Private => kit::variant(job, &VARIANTS),
        Op::Public => kit::variant(job, &VARIANTS[..1]),
        _ => Err("the article's algorithms are exponentiation only".into()),
    }
}

/// An operation on a number as one on a block of `length` bytes.
fn on_numbers(
    length: usize,
    mut power: impl FnMut(&BigUint) -> Result<BigUint, EngineError>,
) -> impl FnMut(&[u8], &mut [u8]) -> Result<(), EngineError> {
    move |input, output| {
        let power = power(&BigUint::from_bytes_be(input))?;
        output.copy_from_slice(&fixed(&power, length).expect("a residue fits its modulus"));
        Ok(())
    }
}
