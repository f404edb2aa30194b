//! Time, memory and disk of an audit, in words.

use std::time::Duration;

use rsalab_audit::{Estimate, Inventory};
use rsalab_study::number;

/// The time and memory that it will take, in words: honest, as it was sampled.
pub(super) fn what_it_takes(inventory: &Inventory, estimate: Option<&Estimate>) -> String {
    let files = number::counted(inventory.files(), "file");
    let size = match inventory.is_open_ended() {
        true => "of a length that is not known yet".to_owned(),
        false => format!("of {}", bytes(inventory.bytes())),
    };
    match estimate {
        None => format!("{files} {size}"),
        Some(estimate) => format!(
            "{files} {size}: about {} keys, {} to examine them, {} to search for shared primes, {} of memory{}; from a sample",
            number::whole(rounded(estimate.keys)),
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
