//! Which jobs are done, and under which conditions.

use rsa::PublicKey;
use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, ensure, kit,
};

use crate::{block, convert::PrivateVariant, generate, import, signature};

/// Variants of the private operation, the default first.
const PRIVATE: [(&str, PrivateVariant); 3] = [
    ("blinded", PrivateVariant::Blinded),
    ("unblinded", PrivateVariant::Unblinded),
    ("unchecked", PrivateVariant::Unchecked),
];

/// RustCrypto's `rsa` as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustCryptoEngine;

impl Engine for RustCryptoEngine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "rustcrypto".to_owned(),
            // The crate does not state its own; the manifest pins it, and a test compares.
            version: "rsa 0.10.0".to_owned(),
            origin: "the crate rsa, on crypto-bigint and crypto-primes".to_owned(),
            cpu_path: None,
            variants: kit::names(&PRIVATE),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("this engine is bare in its variant 'unchecked'".into());
        }
        let fits = |exponent: u64| exponent <= PublicKey::MAX_PUB_EXPONENT;
        ensure!(
            job.exponent.fixed().is_some_and(fits),
            "rustcrypto takes public exponents up to {}",
            PublicKey::MAX_PUB_EXPONENT
        );
        if matches!(job.op, Op::Sign | Op::SignMessage | Op::Verify) {
            kit::digest_fits(job)?;
        }
        Ok(match job.op {
            Op::Private | Op::Sign | Op::SignMessage => {
                let variant = kit::variant(job, &PRIVATE)?;
                if job.op != Op::Private && variant == PrivateVariant::Unchecked {
                    return Err("a signature is always checked; the variants are blinded and unblinded".into());
                }
                Ledger {
                    primes: (job.primes > 2).then_some(job.primes),
                    // `rsa_decrypt` in `algorithms/rsa.rs` raises to d modulo n where there are more than two primes.
                    crt: Some(job.primes == 2),
                    blinding: Some(variant == PrivateVariant::Blinded),
                    result_check: Some(variant != PrivateVariant::Unchecked),
                    constant_time: Some(true),
                    ..Ledger::native(match variant {
                        PrivateVariant::Blinded => {
                            "key checked, CRT parameters, Montgomery constants; the base, the exponents and the primes \
                             are blinded anew for each operation"
                        }
                        PrivateVariant::Unblinded | PrivateVariant::Unchecked => {
                            "key checked, CRT parameters, Montgomery constants"
                        }
                    })
                    .padded_for(job.op)
                }
            }
            Op::Public | Op::Verify => {
                kit::only_variant(job)?;
                Ledger {
                    exponent: Some(job.exponent),
                    ..Ledger::native("Montgomery constants").padded_for(job.op)
                }
            }
            Op::Keygen | Op::PrimePair => {
                kit::only_variant(job)?;
                kit::even_bits(job)?;
                // `is_prime` and `SmallFactorsSieve` of crypto-primes 0.7.
                Ledger {
                    rounds: Some("1 of Miller-Rabin with base 2, and a strong Lucas test (BPSW)".to_owned()),
                    sieve: Some("the first 2048 primes; candidates upward from a random start".to_owned()),
                    exponent: Some(job.exponent),
                    ..Ledger::native("none")
                }
            }
            Op::PrimeSearch => {
                return Err(
                    "its own search sieves candidates before it tests them, and its test of a given one divides \
                            by no small prime: a search would measure something else"
                        .into(),
                );
            }
            // `PrivateKey::from_components` validates and precomputes (`private_key.rs`): no test of primes.
            Op::ImportPrivate | Op::ImportVerify if job.variant.is_some() => {
                return Err("it imports keys in one way only".into());
            }
            Op::ImportPrivate | Op::ImportVerify
                if !(PublicKey::MIN_SIZE..=PublicKey::MAX_SIZE).contains(&job.bits) =>
            {
                let (least, most) = (PublicKey::MIN_SIZE, PublicKey::MAX_SIZE);
                return Err(Reason(format!("it reads keys of {least} to {most} bits")));
            }
            Op::ImportPrivate => Ledger {
                rounds: Some("every relation, no test of primes".to_owned()),
                ..Ledger::native("")
            },
            Op::ImportVerify => Ledger {
                exponent: Some(job.exponent),
                ..Ledger::native("").padded_for(job.op)
            },
            other => return Err(kit::not_done("rustcrypto", other)),
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let key = || kit::key(job, keys);
        Ok(match job.op {
            Op::Private => block::private(kit::variant(job, &PRIVATE)?, key()?)?,
            Op::Public => block::public(key()?)?,
            Op::Sign => signature::signing(kit::variant(job, &PRIVATE)?, job, key()?)?,
            Op::SignMessage => signature::signing_messages(kit::variant(job, &PRIVATE)?, job, key()?)?,
            Op::Verify => signature::verifying(job, key()?)?,
            Op::Keygen => generate::keys(job),
            Op::PrimePair => generate::prime_pairs(job),
            Op::ImportPrivate => import::private_keys(job),
            Op::ImportVerify => import::verifications(job),
            other => return Err(kit::not_done("rustcrypto", other).into()),
        })
    }
}
