//! Parts that an engine is built from, so that each states only what it does differently.
//!
//! | what | where |
//! |---|---|
//! | a job done item by item: loop, lengths, ranges and counts | [`items`], [`blocks`] |
//! | the variant that a job names | [`variant`], [`only_variant`], [`names`] |
//! | the jobs that are refused everywhere for the same reason | [`even_bits`], [`digest_fits`], [`not_done`] |
//! | the key of a job; the parts of a key that is made | [`key`], [`split_key`] |
//! | two primes fit for a key, from a library that makes single ones | [`fit_pair`] |
//! | the primes among given candidates | [`first_two_primes`] |
//! | the conditions, entry by entry where they differ | [`Ledger::native`](crate::Ledger::native) |

mod pair;
mod per_item;

use crate::{
    engine::EngineError,
    ensure,
    job::{Job, StudyKey},
    ledger::Reason,
    op::Op,
};

pub use crate::candidates::first_two_primes;
pub use pair::fit_pair;
pub use per_item::{blocks, items};

/// The variant that a job names, or the first.
///
/// # Errors
/// A name that is none of these, with those that there are.
pub fn variant<T: Copy>(job: &Job, variants: &[(&str, T)]) -> Result<T, Reason> {
    let Some(wanted) = &job.variant else {
        return Ok(variants[0].1);
    };
    let named = variants.iter().find(|(name, _)| name == wanted);
    named.map(|(_, variant)| *variant).ok_or_else(|| {
        Reason(format!(
            "'{}' has no variant '{wanted}'; it has {}",
            job.op,
            names(variants).join(", ")
        ))
    })
}

/// Refuses a job that names a variant of an operation that has no more than one.
///
/// # Errors
/// It names one.
pub fn only_variant(job: &Job) -> Result<(), Reason> {
    let wanted = job.variant.as_deref();
    ensure!(
        wanted.is_none(),
        "'{}' has no variant '{}'; it has one only",
        job.op,
        wanted.unwrap_or_default()
    );
    Ok(())
}

/// The names of variants, as [`EngineInfo::variants`](crate::EngineInfo) takes them.
pub fn names<T>(variants: &[(&str, T)]) -> Vec<String> {
    variants.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Refuses a modulus with an odd number of bits, for an engine whose primes have one size.
///
/// # Errors
/// The number is odd.
pub fn even_bits(job: &Job) -> Result<(), Reason> {
    ensure!(
        job.bits.is_multiple_of(2),
        "two primes of one size make a modulus of an even number of bits, not of {}",
        job.bits
    );
    Ok(())
}

/// Refuses a modulus into which a digest with its padding does not fit: 11 bytes of padding, 19 that name the hash, and
/// 32 (RFC 8017, section 9.2, step 3).
///
/// # Errors
/// The modulus is too short.
pub fn digest_fits(job: &Job) -> Result<(), Reason> {
    match job.bits < 489 {
        true => Err("a digest with its padding takes a modulus of 489 bits or more".into()),
        false => Ok(()),
    }
}

/// The reason of an engine that does not do an operation at all.
pub fn not_done(engine: &str, op: Op) -> Reason {
    Reason(format!("{engine} does not do '{op}'"))
}

/// The key of an operation that takes one.
///
/// # Errors
/// [`EngineError::Key`] if none came.
pub fn key<'k>(job: &Job, keys: &'k [StudyKey]) -> Result<&'k StudyKey, EngineError> {
    keys.first()
        .ok_or_else(|| EngineError::Key(format!("'{}' takes one, and none came", job.op)))
}

/// Where `p`, `q` and `d` of a key go in the output of [`Op::Keygen`]; `d` is empty for [`Op::PrimePair`].
pub fn split_key(bits: usize, output: &mut [u8]) -> [&mut [u8]; 3] {
    let prime = bits.div_ceil(2).div_ceil(8);
    let (p, rest) = output.split_at_mut(prime);
    let (q, d) = rest.split_at_mut(prime);
    [p, q, d]
}
