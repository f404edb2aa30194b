//! Time, memory and disk of an audit, in words.

use std::time::Duration;

use rsalab_audit::{Estimate, Inventory};
use rsalab_study::number;
use serde::Serialize;

/// Output of `--estimate --json`, from a sample; null where that is not known.
#[derive(Serialize)]
pub(super) struct Taken {
    files: usize,
    /// None of what has no end yet, such as standard input.
    bytes: Option<u64>,
    keys: Option<u64>,
    /// To examine each.
    keys_seconds: Option<f64>,
    /// To search for shared primes.
    shared_seconds: Option<f64>,
    memory: Option<u64>,
    scratch: Option<u64>,
}

impl Taken {
    pub(super) fn of(inventory: &Inventory, estimate: Option<&Estimate>) -> Taken {
        Taken {
            files: inventory.files(),
            bytes: (!inventory.is_open_ended()).then(|| inventory.bytes()),
            keys: estimate.map(|estimate| rounded(estimate.keys)),
            keys_seconds: estimate.map(|estimate| estimate.keys_time.as_secs_f64()),
            shared_seconds: estimate.map(|estimate| estimate.shared_time.as_secs_f64()),
            memory: estimate.map(|estimate| estimate.memory),
            scratch: estimate.map(|estimate| estimate.scratch),
        }
    }
}

/// The time and memory that it will take, in words: honest, as it was sampled.
pub(super) fn what_it_takes(inventory: &Inventory, estimate: Option<&Estimate>) -> String {
    let files = match inventory.repeated() {
        0 => number::counted(inventory.files(), "file"),
        repeated => format!(
            "{}, {} of the same left out,",
            number::counted(inventory.files(), "file"),
            number::counted(repeated, "other name")
        ),
    };
    let size = match inventory.is_open_ended() {
        true => "of a length that is not known yet".to_owned(),
        false => format!("of {}", bytes(inventory.bytes())),
    };
    match estimate {
        None => format!("{files} {size}"),
        Some(estimate) => format!(
            "{files} {size}: about {}, {} to examine, {} to search for shared primes, {} of memory{}; from a sample",
            number::counted(usize::try_from(rounded(estimate.keys)).unwrap_or(usize::MAX), "key"),
            wait(estimate.keys_time),
            wait(estimate.shared_time),
            bytes(estimate.memory),
            match estimate.scratch {
                0 => String::new(),
                scratch => format!(", {} of the scratch folder", bytes(scratch)),
            }
        ),
    }
}

/// Two digits of a number: a sample tells no more.
fn rounded(count: u64) -> u64 {
    let unit = 10_u64.pow(count.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count.div_ceil(unit) * unit
}

pub(super) fn wait(time: Duration) -> String {
    match time.as_secs() {
        0 => "less than a second".to_owned(),
        _ => number::wait(time),
    }
}

pub(super) fn bytes(count: u64) -> String {
    match count {
        0..10_000 => number::counted(usize::try_from(count).unwrap_or(0), "byte"),
        10_000..10_000_000 => format!("{} KB", count / 1000),
        10_000_000..10_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{} GB", count / 1_000_000_000),
    }
}
