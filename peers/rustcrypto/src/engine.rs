//! Which jobs are done, and under which conditions.

use rsa::RsaPublicKey;
use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey,
    ledger::{ClockOwner, ThreadOwner},
};

use crate::{
    block::{PreparedPrivate, PreparedPublic, PrivateForm},
    generate::PreparedGeneration,
    signature::{PreparedSigning, PreparedVerifying},
};

/// Forms of the private operation, the default first.
const PRIVATE_FORMS: [(&str, PrivateForm); 3] = [
    ("blinded", PrivateForm::Blinded),
    ("unblinded", PrivateForm::Unblinded),
    ("unchecked", PrivateForm::Unchecked),
];

/// RustCrypto's `rsa` as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustCryptoEngine;

impl Engine for RustCryptoEngine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "rustcrypto".to_owned(),
            // The crate does not state its own; the manifest pins it, and a test compares.
            version: "rsa 0.10.0-rc.20".to_owned(),
            origin: "the crate rsa, on crypto-bigint and crypto-primes".to_owned(),
            cpu_path: None,
            variants: PRIVATE_FORMS
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("this engine is bare in its form 'unchecked'".into());
        }
        let fits = |exponent: u64| exponent <= RsaPublicKey::MAX_PUB_EXPONENT;
        if !job.exponent.fixed().is_some_and(fits) {
            return Err(Reason(format!(
                "rustcrypto takes public exponents up to {}",
                RsaPublicKey::MAX_PUB_EXPONENT
            )));
        }
        // RFC 8017, section 9.2, step 3: 11 bytes of padding, 19 that name the hash, and 32.
        if matches!(job.op, Op::Sign | Op::Verify) && job.bits < 489 {
            return Err("a digest with its padding takes a modulus of 489 bits or more".into());
        }
        let plain = Ledger {
            crt: None,
            blinding: None,
            result_check: None,
            constant_time: None,
            rounds: None,
            sieve: None,
            exponent: None,
            padding: None,
            setup: "none".to_owned(),
            lanes: 1,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Harness,
        };
        let padding = matches!(job.op, Op::Sign | Op::Verify)
            .then(|| "PKCS#1 v1.5 with SHA-256, of a digest".to_owned());
        Ok(match job.op {
            Op::Private | Op::Sign => {
                let form = private_form(job)?;
                if job.op == Op::Sign && form == PrivateForm::Unchecked {
                    return Err(
                        "a signature is always checked; the forms are blinded and unblinded".into(),
                    );
                }
                Ledger {
                    crt: Some(true),
                    blinding: Some(form == PrivateForm::Blinded),
                    result_check: Some(form != PrivateForm::Unchecked),
                    constant_time: Some(true),
                    padding,
                    setup: "key checked, CRT parameters, Montgomery constants; a new blinding pair for each operation"
                        .to_owned(),
                    ..plain
                }
            }
            Op::Public | Op::Verify => {
                one_form(job)?;
                Ledger {
                    exponent: Some(job.exponent),
                    padding,
                    setup: "Montgomery constants".to_owned(),
                    ..plain
                }
            }
            Op::Keygen | Op::PrimePair => {
                one_form(job)?;
                if !job.bits.is_multiple_of(2) {
                    return Err("this engine makes two primes of one size, and so moduli of an even number of bits only".into());
                }
                // `is_prime` and `SmallFactorsSieve` of crypto-primes 0.7.
                Ledger {
                    rounds: Some(
                        "1 of Miller-Rabin with base 2, and a strong Lucas test (BPSW)".to_owned(),
                    ),
                    sieve: Some(
                        "the first 2048 primes; candidates upward from a random start".to_owned(),
                    ),
                    exponent: Some(job.exponent),
                    ..plain
                }
            }
            Op::PrimeSearch => {
                return Err("its own search sieves candidates before it tests them, and its test of a given one divides \
                            by no small prime: a search would measure something else"
                    .into());
            }
            other => return Err(not_done(other)),
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job).map_err(EngineError::Unsupported)?;
        let key = || {
            keys.first()
                .ok_or_else(|| EngineError::Key(format!("'{}' needs one and got none", job.op)))
        };
        Ok(match job.op {
            Op::Private => {
                let form = private_form(job).map_err(EngineError::Unsupported)?;
                Box::new(PreparedPrivate::new(form, key()?)?)
            }
            Op::Public => Box::new(PreparedPublic::new(key()?)?),
            Op::Sign => {
                let form = private_form(job).map_err(EngineError::Unsupported)?;
                Box::new(PreparedSigning::new(form, job, key()?)?)
            }
            Op::Verify => Box::new(PreparedVerifying::new(job, key()?)?),
            Op::Keygen | Op::PrimePair => Box::new(PreparedGeneration::new(job)),
            other => return Err(EngineError::Unsupported(not_done(other))),
        })
    }
}

fn private_form(job: &Job) -> Result<PrivateForm, Reason> {
    let Some(wanted) = &job.variant else {
        return Ok(PRIVATE_FORMS[0].1);
    };
    let named = PRIVATE_FORMS.iter().find(|(name, _)| name == wanted);
    named.map(|(_, form)| *form).ok_or_else(|| {
        let names = PRIVATE_FORMS.map(|(name, _)| name);
        Reason(format!(
            "'private' has no form '{wanted}'; it has {}",
            names.join(", ")
        ))
    })
}

fn one_form(job: &Job) -> Result<(), Reason> {
    match &job.variant {
        None => Ok(()),
        Some(wanted) => Err(Reason(format!(
            "'{}' has no form '{wanted}'; it has one only",
            job.op
        ))),
    }
}

fn not_done(op: Op) -> Reason {
    Reason(format!("rustcrypto does not do '{op}'"))
}
