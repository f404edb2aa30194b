//! The engine `textbook`: article (d)'s two algorithms, step by step as it gives them.
//!
//! It is the measure of what everything else has gained, and it is not safe to use: it squares and multiplies bit by bit,
//! multiplies only where the exponent has a one, and subtracts only where a sum is too large, so its time tells the
//! private exponent. The article notes this of its own programs. There is no blinding and no check in any form:
//!
//! | form of the private operation | what it is | file |
//! |---|---|---|
//! | `plain`, the default | one exponentiation modulo `n` | |
//! | `crt` | two of half the size, one after the other, recombined | `crt` |
//! | `halves` | the same two on two threads at once, for each single block | `halves` |
//!
//! The numbers and their plain multiplication, addition and comparison come from a big-integer library; the article's
//! steps are what is done with them. Division by `r`, a power of two, is a shift, and the remainder modulo `r` a mask.
//!
//! **Algorithm 1**, `MonMul(a′, b′) = a′·b′·r⁻¹ mod n`:
//!
//! 1. given are an odd modulus `n`, `r = 2^⌈log₂ n⌉`, `n′ = −n⁻¹ mod r`, and `a′`, `b′` smaller than `n`
//! 3. `t = a′·b′`
//! 4. `u = (t + (t·n′ mod r)·n) / r`
//! 5. if `u ≥ n` return `u − n`, else `u`
//!
//! **Algorithm 2**, `MonExp(a, e, n) = a^e mod n` by the binary method:
//!
//! 3. `a′ = a·r mod n`
//! 4. `x′ = 1·r mod n`
//! 5. for each bit of `e`, the highest first: `x′ = MonMul(x′, x′)`, and if the bit is 1, `x′ = MonMul(x′, a′)`
//! 6. `x = MonMul(x′, 1)`
//! 7. return `x`
//!
//! (The steps left out declare the function's name and repeat its result.)

mod crt;
mod halves;

use std::sync::Arc;

use num_bigint::BigUint;

use crate::{
    engine::{Engine, EngineError, EngineInfo, Prepared, RunStats, Runner, check_blocks},
    job::{Job, StudyKey},
    ledger::{ClockOwner, Ledger, Reason, ThreadOwner},
    op::Op,
};

use crt::Crt;
use halves::{Pair, second_cpu};

/// The article's algorithms.
pub struct Textbook;

/// A form of the private operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Crt,
    Halves,
}

/// The default first.
const FORMS: [(&str, Form); 3] = [
    ("plain", Form::Plain),
    ("crt", Form::Crt),
    ("halves", Form::Halves),
];

impl Engine for Textbook {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "textbook".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: "this program, on the crate num-bigint".to_owned(),
            cpu_path: None,
            variants: FORMS.map(|(name, _)| name.to_owned()).to_vec(),
            optimised: crate::OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        let form = form(job)?;
        let private = job.op == Op::Private;
        if form == Form::Halves {
            if job.threads != 1 {
                return Err(Reason(format!(
                    "the two halves of one block are at work on two threads, and the job asks for {} of them at once",
                    job.threads
                )));
            }
            second_cpu()?;
        }
        Ok(Ledger {
            crt: private.then_some(form != Form::Plain),
            blinding: private.then_some(false),
            result_check: private.then_some(false),
            constant_time: private.then_some(false),
            rounds: None,
            sieve: None,
            exponent: (!private).then_some(job.exponent),
            padding: None,
            setup: match form {
                Form::Plain => "r and n′",
                Form::Crt => "r and n′ of each prime",
                Form::Halves => {
                    "r and n′ of each prime; the second thread started, and parked between calls"
                }
            }
            .to_owned(),
            lanes: 1,
            threads: match form {
                Form::Halves => ThreadOwner::Engine,
                _ => ThreadOwner::Harness,
            },
            clock: ClockOwner::Harness,
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job).map_err(EngineError::Unsupported)?;
        let key = keys
            .first()
            .ok_or_else(|| EngineError::Key("the operation takes a key".to_owned()))?;
        let form = form(job).map_err(EngineError::Unsupported)?;
        let power = match form {
            Form::Plain => {
                let exponent = if job.op == Op::Private {
                    &key.d
                } else {
                    &key.e
                };
                let modulus = Modulus::new(BigUint::from_bytes_be(&key.n))
                    .ok_or_else(|| EngineError::Key("the modulus is even".to_owned()))?;
                Power::Plain(modulus, BigUint::from_bytes_be(exponent))
            }
            Form::Crt => Power::Crt(Crt::new(key)?),
            Form::Halves => Power::Halves(
                Arc::new(Crt::new(key)?),
                second_cpu().map_err(EngineError::Unsupported)?,
            ),
        };
        Ok(Box::new(Exponentiation {
            power,
            modulus: key.n.clone(),
        }))
    }
}

/// The form that a job names, or the first. The public operation has no CRT to take: it is `plain`.
fn form(job: &Job) -> Result<Form, Reason> {
    let forms = match job.op {
        Op::Private => &FORMS[..],
        Op::Public => &FORMS[..1],
        _ => return Err("the article's algorithms are exponentiation only".into()),
    };
    let Some(wanted) = &job.variant else {
        return Ok(forms[0].1);
    };
    let named = forms.iter().find(|(name, _)| name == wanted);
    named.map(|(_, form)| *form).ok_or_else(|| {
        let names: Vec<_> = forms.iter().map(|(name, _)| *name).collect();
        Reason(format!(
            "'{}' has no form '{wanted}'; it has {}",
            job.op,
            names.join(", ")
        ))
    })
}

/// A power made ready, and the modulus of the blocks.
struct Exponentiation {
    power: Power,
    modulus: Vec<u8>,
}

enum Power {
    Plain(Modulus, BigUint),
    Crt(Crt),
    /// With the CPU of the second thread.
    Halves(Arc<Crt>, Option<usize>),
}

impl Prepared for Exponentiation {
    fn kernel(&self) -> String {
        match &self.power {
            Power::Plain(..) => "binary-montgomery",
            Power::Crt(_) => "binary-montgomery, CRT",
            Power::Halves(..) => "binary-montgomery, CRT on two threads",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let modulus = self.modulus.as_slice();
        Ok(match &self.power {
            Power::Plain(n, exponent) => Box::new(BlockRunner {
                modulus,
                power: |c: &BigUint| Ok(n.mon_exp_vartime(c, exponent)),
            }),
            Power::Crt(crt) => Box::new(BlockRunner {
                modulus,
                power: |c: &BigUint| {
                    Ok(crt.recombined_vartime(crt.half_p_vartime(c), crt.half_q_vartime(c)))
                },
            }),
            Power::Halves(crt, cpu) => {
                let mut pair = Pair::start(Arc::clone(crt), *cpu)?;
                Box::new(BlockRunner {
                    modulus,
                    power: move |c: &BigUint| pair.power_vartime(c),
                })
            }
        })
    }
}

/// An operation on one number, done to each block of a batch.
struct BlockRunner<'a, F> {
    modulus: &'a [u8],
    power: F,
}

impl<F: FnMut(&BigUint) -> Result<BigUint, EngineError>> Runner for BlockRunner<'_, F> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_blocks(inputs, outputs, self.modulus)?;
        let length = self.modulus.len();
        for (input, output) in inputs.chunks(length).zip(outputs.chunks_mut(length)) {
            let power = (self.power)(&BigUint::from_bytes_be(input))?.to_bytes_be();
            let (zeros, value) = output.split_at_mut(length - power.len());
            zeros.fill(0);
            value.copy_from_slice(&power);
        }
        Ok(RunStats::default())
    }
}

/// An odd modulus `n` with `r` and `n′`.
struct Modulus {
    n: BigUint,
    /// `r = 2^r_bits`.
    r_bits: u64,
    /// `r − 1`, the mask of a remainder modulo `r`.
    r_mask: BigUint,
    /// `−n⁻¹ mod r`.
    n_prime: BigUint,
}

impl Modulus {
    /// None if `n` is even or 1.
    fn new(n: BigUint) -> Option<Self> {
        let one = BigUint::from(1u32);
        if !n.bit(0) || n == one {
            return None;
        }
        let r_bits = n.bits();
        let r = &one << r_bits;
        let inverse = n.modinv(&r)?;
        Some(Modulus {
            n_prime: &r - inverse,
            r_mask: r - one,
            r_bits,
            n,
        })
    }

    /// Algorithm 1.
    fn mon_mul_vartime(&self, a: &BigUint, b: &BigUint) -> BigUint {
        // Step 3.
        let t = a * b;
        // Step 4.
        let quotient = (&t * &self.n_prime) & &self.r_mask;
        let u = (t + quotient * &self.n) >> self.r_bits;
        // Step 5.
        if u >= self.n { u - &self.n } else { u }
    }

    /// Algorithm 2.
    fn mon_exp_vartime(&self, a: &BigUint, e: &BigUint) -> BigUint {
        let one = BigUint::from(1u32);
        // Steps 3 and 4.
        let a = (a << self.r_bits) % &self.n;
        let mut x = (&one << self.r_bits) % &self.n;
        // Step 5.
        for bit in (0..e.bits()).rev() {
            x = self.mon_mul_vartime(&x, &x);
            if e.bit(bit) {
                x = self.mon_mul_vartime(&x, &a);
            }
        }
        // Steps 6 and 7.
        self.mon_mul_vartime(&x, &one)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exp(a: &BigUint, e: &BigUint, n: &BigUint) -> BigUint {
        Modulus::new(n.clone()).expect("odd").mon_exp_vartime(a, e)
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_library(
            a in proptest::collection::vec(any::<u8>(), 1..40),
            e in proptest::collection::vec(any::<u8>(), 0..20),
            mut n in proptest::collection::vec(any::<u8>(), 1..40),
        ) {
            *n.last_mut().expect("not empty") |= 1;
            let n = BigUint::from_bytes_be(&n);
            prop_assume!(n > BigUint::from(1u32));
            let a = BigUint::from_bytes_be(&a) % &n;
            let e = BigUint::from_bytes_be(&e);
            prop_assert_eq!(exp(&a, &e, &n), a.modpow(&e, &n));
        }
    }

    #[test]
    fn edges_come_out_right() {
        let number = BigUint::from;
        // All-ones limbs, and the smallest odd modulus.
        let ones = (number(1u32) << 192) - number(1u32);
        for n in [number(3u32), ones] {
            let last = &n - number(1u32);
            assert_eq!(exp(&number(0u32), &number(5u32), &n), number(0u32));
            assert_eq!(exp(&number(0u32), &number(0u32), &n), number(1u32));
            assert_eq!(exp(&number(1u32), &number(5u32), &n), number(1u32));
            assert_eq!(exp(&last, &number(4u32), &n), number(1u32));
            assert_eq!(exp(&last, &number(5u32), &n), last);
        }
    }

    #[test]
    fn an_even_modulus_is_refused() {
        for n in [0u32, 1, 2, 1 << 20] {
            assert!(Modulus::new(BigUint::from(n)).is_none(), "{n}");
        }
    }
}
