//! The unit of a job's speed, the job's name in names of files and figures, and which engines are ours.

use rsalab_engines::{Job, Mode, Op};
use rsalab_measure::Estimate;

use crate::{number, plan::DEFAULT_EXPONENT};

/// The unit of the speed.
pub(crate) fn unit(job: &Job) -> &'static str {
    match job.op {
        Op::Keygen => "keys/s",
        Op::PrimePair | Op::PrimeSearch => "prime pairs/s",
        Op::Sign | Op::SignMessage => "signatures/s",
        Op::Verify | Op::ImportVerify => "verifications/s",
        Op::Screen => "signatures/s",
        Op::ImportPrivate => "keys/s",
        op if op.is_handshake() => "handshakes/s",
        op if op.is_text() => "symbols/s",
        _ => "operations/s",
    }
}

/// A speed in that unit, from operations per second.
pub(crate) fn speed(job: &Job, ops_per_s: &Estimate) -> Estimate {
    match job.op.is_text() {
        true => ops_per_s.scaled(job.symbols as f64),
        false => *ops_per_s,
    }
}

/// Everything that tells a job from others, fit for a file name: `private-2048`, `text_encrypt-2048-20000-2t`.
pub(super) fn slug(job: &Job) -> String {
    format!("{}-{}{}", job.op, job.bits, slug_tail(job))
}

/// The name of jobs that differ in their key size.
pub(super) fn slug_without_bits(job: &Job) -> String {
    format!("{}{}", job.op, slug_tail(job))
}

/// The name of texts that differ in their key size and their length: `text_encrypt`.
pub(super) fn slug_without_size(job: &Job) -> String {
    let tail = slug_tail(job);
    let symbols = format!("-{}", job.symbols);
    let block = format!("-block{}", job.block_symbols);
    // Whole blocks grow with the key; a length of their own is what tells these texts from others.
    let is_whole = job.block_symbols + 1 == job.bits.div_ceil(8);
    let tail = tail.replacen(&symbols, "", 1);
    let tail = if is_whole { tail.replace(&block, "") } else { tail };
    format!("{}{tail}", job.op)
}

fn slug_tail(job: &Job) -> String {
    let mut tail = String::new();
    if job.op.is_text() {
        tail += &format!("-{}", job.symbols);
    }
    if job.threads > 1 {
        tail += &format!("-{}t", job.threads);
    }
    if job.batch > 1 {
        tail += &format!("-batch{}", job.batch);
    }
    if job.exponent != DEFAULT_EXPONENT {
        tail += &format!("-e{}", job.exponent);
    }
    if job.primes > 2 {
        tail += &format!("-{}primes", job.primes);
    }
    if job.keys > 1 {
        tail += &format!("-{}keys", job.keys);
    }
    if job.message_bytes > 0 {
        tail += &format!("-message{}bytes", job.message_bytes);
    }
    if job.op.is_text() && job.block_symbols + 1 != job.bits.div_ceil(8) {
        tail += &format!("-block{}", job.block_symbols);
    }
    if let Some(bits) = job.message_bits {
        tail += &format!("-message{bits}");
    }
    if job.mode == Mode::Concurrent {
        tail += "-concurrent";
    }
    let is_plain = job.threads == 1 && job.batch == 1 && !job.op.is_text();
    if is_plain && job.mode == Mode::Throughput {
        tail += "-throughput";
    }
    tail
}

/// A text as a part of the name of a file, of an anchor or of a label: a variant of somebody's own engine may have any
/// sign in its name.
pub(crate) fn as_id(text: &str) -> String {
    text.replace(|sign: char| !is_of_id(sign), "-")
}

/// Returns whether a name can be one of a file, of an anchor and of a label.
pub(super) fn is_id(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_id)
}

fn is_of_id(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_')
}

/// The question that a column of times answers: several threads, and several in a batch, share the time that passes.
pub(super) fn time_title(job: &Job) -> String {
    let shared = match (job.mode, job.threads, job.batch) {
        (Mode::Latency | Mode::Concurrent, _, 1) | (_, 1, 1) => return "time of one".to_owned(),
        (_, 1, batch) => format!("a batch of {batch}"),
        (_, threads, 1) => number::counted(threads, "thread"),
        (_, threads, batch) => format!("{}, batches of {batch}", number::counted(threads, "thread")),
    };
    let what = if job.op.is_text() { "texts" } else { "operations" };
    format!("time ÷ {what}, {shared}")
}

/// Returns whether a name is that of our own engine, on the CPU or on a device, or begins with it: `own`, `gpu:split`,
/// `own, 2 threads`.
pub(crate) fn is_own(name: &str) -> bool {
    let engine = name.split([':', ',', ' ']).next();
    matches!(engine, Some("own" | "gpu"))
}

#[cfg(test)]
mod tests {
    use rsalab_engines::Exponent;

    use super::*;

    #[test]
    fn every_difference_shows_in_the_slug() {
        let plain = Job {
            op: Op::Private,
            bits: 2048,
            threads: 1,
            batch: 1,
            mode: Mode::Latency,
            variant: None,
            bare: false,
            exponent: DEFAULT_EXPONENT,
            primes: 2,
            keys: 1,
            message_bits: None,
            message_bytes: 0,
            symbols: 0,
            block_symbols: 0,
        };
        let text = Job {
            op: Op::TextEncrypt,
            mode: Mode::Throughput,
            symbols: 20_000,
            block_symbols: 255,
            ..plain.clone()
        };
        let jobs = [
            (plain.clone(), "private-2048"),
            (
                Job {
                    exponent: Exponent::Fixed(3),
                    ..plain.clone()
                },
                "private-2048-e3",
            ),
            (
                Job {
                    mode: Mode::Throughput,
                    ..plain.clone()
                },
                "private-2048-throughput",
            ),
            (
                Job {
                    mode: Mode::Throughput,
                    batch: 8,
                    ..plain.clone()
                },
                "private-2048-batch8",
            ),
            (
                Job {
                    message_bits: Some(760),
                    exponent: Exponent::Random,
                    ..plain.clone()
                },
                "private-2048-erandom-message760",
            ),
            (
                Job {
                    op: Op::PrimePair,
                    mode: Mode::Concurrent,
                    threads: 2,
                    ..plain.clone()
                },
                "prime_pair-2048-2t-concurrent",
            ),
            (
                Job {
                    primes: 3,
                    batch: 8,
                    ..plain.clone()
                },
                "private-2048-batch8-3primes",
            ),
            (
                Job {
                    keys: 4,
                    batch: 8,
                    ..plain.clone()
                },
                "private-2048-batch8-4keys",
            ),
            (
                Job {
                    op: Op::SignMessage,
                    message_bytes: 1024,
                    ..plain.clone()
                },
                "sign_message-2048-message1024bytes",
            ),
            (text.clone(), "text_encrypt-2048-20000"),
            (
                Job {
                    threads: 2,
                    ..text.clone()
                },
                "text_encrypt-2048-20000-2t",
            ),
            (
                Job {
                    block_symbols: 100,
                    ..text.clone()
                },
                "text_encrypt-2048-20000-block100",
            ),
        ];
        for (job, expected) in jobs {
            assert_eq!(slug(&job), expected);
        }
    }

    #[test]
    fn any_variant_becomes_a_name_of_a_file() {
        for (selector, expected) in [
            ("own:mont52x8", "own-mont52x8"),
            ("mine:fips/3.0+x", "mine-fips-3-0-x"),
            ("mine:../../é", "mine--------"),
        ] {
            assert_eq!(as_id(selector), expected);
            assert!(is_id(expected) && !is_id(selector));
        }
        assert!(!is_id(""));
    }

    #[test]
    fn our_engines_are_known_by_their_names() {
        assert!(["own", "own:portable", "gpu", "own, 2 threads"].into_iter().all(is_own));
        assert!(!["owner", "openssl", "", "1 thread", "textbook"].into_iter().any(is_own));
    }
}
