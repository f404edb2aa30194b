//! The values that can be typed.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rsalab_engines::{Exponent, Op};
use rsalab_rsa::{hash::Hash, scheme::SaltLen};
use rsalab_study::plan::BITS;

/// Whole numbers of a range.
pub(super) fn within<N>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static
where
    N: FromStr + Display + PartialOrd + Clone + Send + Sync + 'static,
{
    move |typed| match typed.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!(
            "whole numbers from {} to {} are possible",
            range.start(),
            range.end()
        )),
    }
}

/// Sizes of keys.
pub(super) fn bits(typed: &str) -> Result<usize, String> {
    even(within(BITS)(typed)?)
}

fn even(bits: usize) -> Result<usize, String> {
    match bits {
        odd if !odd.is_multiple_of(2) => Err(format!("keys have an even number of bits, such as {}", odd + 1)),
        bits => Ok(bits),
    }
}

/// The names of operations.
pub(super) fn op() -> impl TypedValueParser<Value = Op> {
    PossibleValuesParser::new(Op::ALL.map(Op::name)).try_map(|name| name.parse::<Op>())
}

/// Times.
pub(super) fn seconds(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("from 0.1 to 86400 seconds are possible".to_owned()),
    }
}

/// Fractions of a time.
pub(super) fn share(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(share) if (0.0..=100.0).contains(&share) => Ok(share),
        _ => Err("from 0 to 100 are possible: 0.02 is two per cent".to_owned()),
    }
}

/// Milliseconds of a pause.
pub(super) fn pause(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(ms) if (0.0..=10_000.0).contains(&ms) => Ok(ms),
        _ => Err("from 0 to 10000 milliseconds are possible".to_owned()),
    }
}

/// Public exponents.
pub(super) fn exponent(typed: &str) -> Result<Exponent, String> {
    match typed.parse::<u64>() {
        _ if typed == "random" => Ok(Exponent::Random),
        Ok(e) if e >= 3 && !e.is_multiple_of(2) => Ok(Exponent::Fixed(e)),
        _ => Err("odd numbers from 3 to below 2^64 are possible, such as 65537".to_owned()),
    }
}

/// The names of hash functions.
pub(super) fn hash() -> impl TypedValueParser<Value = Hash> {
    PossibleValuesParser::new(Hash::names()).try_map(|name| name.parse::<Hash>().map_err(|error| error.to_string()))
}

/// Lengths of the salt of PSS.
pub(super) fn salt(typed: &str) -> Result<SaltLen, String> {
    Ok(match typed {
        "digest" => SaltLen::Digest,
        "max" => SaltLen::Max,
        "any" => SaltLen::Any,
        number => SaltLen::Bytes(
            number
                .parse()
                .map_err(|_| "a number of bytes is possible, or 'digest', 'max' or 'any'".to_owned())?,
        ),
    })
}
