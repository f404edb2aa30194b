//! The article's three groups as grids.
//!
//! | group | cells |
//! |---|---|
//! | 1 | one message of 760 bits, both ways, seven sizes of key, `e` 65537 and random |
//! | 2 | the same with messages one byte shorter than the modulus |
//! | 3 | 50 to 600 messages at once: a text that is cut into as many blocks, at 1024 bits both ways, at 2048 decryption |
//! | 4 | not the article's: batches of 1 to 1024 decryptions, on the device, with its copies counted and not, and shared with the CPU |
//!
//! At 768 bits both lengths are 760 bits: one job, which both groups' tables show.

use rsalab_engines::{Exponent, Op};

use crate::{
    articles::{Article, Scale},
    plan::{DEFAULT_EXPONENT, Engines, Grid, Measure, MeasureChange, Message, Plan, Threads},
};

/// Sizes of the keys.
pub(super) const BITS: [usize; 7] = [768, 1024, 2048, 3072, 4096, 6144, 8192];
/// Bits of group 1's message.
pub(super) const MESSAGE_BITS: usize = 760;
/// Numbers of messages at once.
pub(super) const MESSAGES: [usize; 9] = [50, 100, 150, 200, 250, 300, 350, 400, 600];
/// Sizes of the keys of group 3: encryption is asked at the first alone.
pub(super) const MANY_BITS: [usize; 2] = [1024, 2048];

/// The article's columns, and what stands for them.
pub(super) const SEQUENTIAL: &str = "textbook";
pub(super) const SEQUENTIAL_CRT: &str = "textbook:crt";
/// One message on two threads: all that a single message has to share out.
pub(super) const HALVES: &str = "textbook:halves";
pub(super) const CRYPTOPP: &str = "cryptopp";
/// With the article's own launch of 512 blocks of 128 threads.
pub(super) const GPU: &str = "gpu:article";
/// With a launch that suits the device.
pub(super) const GPU_TUNED: &str = "gpu";
/// With the CPU's threads beside it.
pub(super) const GPU_HYBRID: &str = "gpu:hybrid";
/// Without the way there and back.
pub(super) const GPU_RESIDENT: &str = "gpu:resident";
/// This project's own, which the article could not know.
pub(super) const OWN: &str = "own";

/// An engine with the CRT, and the same without.
pub(super) const WITH_AND_WITHOUT_CRT: [[&str; 2]; 4] = [
    [SEQUENTIAL_CRT, SEQUENTIAL],
    [CRYPTOPP, "cryptopp:plain"],
    [OWN, "own:plain"],
    [GPU_TUNED, "gpu:plain"],
];

/// The first is the one that ratios refer to, as in the article.
const DECRYPTING: [&str; 10] = [
    SEQUENTIAL,
    SEQUENTIAL_CRT,
    HALVES,
    CRYPTOPP,
    "cryptopp:plain",
    OWN,
    "own:plain",
    GPU,
    GPU_TUNED,
    "gpu:plain",
];
/// Encryption has no CRT. That it has no halves either is a reason in its cells.
const ENCRYPTING: [&str; 6] = [SEQUENTIAL, HALVES, CRYPTOPP, OWN, GPU, GPU_TUNED];
const MANY: [&str; 5] = [SEQUENTIAL, CRYPTOPP, OWN, GPU, GPU_TUNED];
/// What a device does with batches of growing size, beside the CPU and both together.
pub(super) const BATCHED: [&str; 5] = [OWN, GPU_TUNED, GPU_RESIDENT, GPU, GPU_HYBRID];
/// Decryptions of a batch.
pub(super) const BATCHES: [usize; 4] = [1, 16, 128, 1024];

/// The plan of the preset.
pub fn plan() -> Plan {
    Plan {
        title: "CPU and GPU: article (d) done again".to_owned(),
        article: Some(Article::CpuGpu),
        nice: 0,
        seed: None,
        measure: Measure::default(),
        grids: grids(Scale::Published),
    }
}

/// Its grids, each with all of its measure.
pub fn grids(scale: Scale) -> Vec<Grid> {
    let mut grids = Vec::new();
    for bits in BITS {
        let mut messages = vec![Message::ByteShorter];
        if bits - 8 != MESSAGE_BITS {
            messages.insert(0, Message::Bits(MESSAGE_BITS));
        }
        for message in messages {
            for exponent in [DEFAULT_EXPONENT, Exponent::Random] {
                for (op, engines) in [
                    (Op::Public, &ENCRYPTING[..]),
                    (Op::Private, &DECRYPTING[..]),
                ] {
                    let is_short = op == Op::Public && exponent == DEFAULT_EXPONENT;
                    grids.push(Grid {
                        operations: vec![op],
                        engines: Engines::named(engines),
                        bits: vec![bits],
                        message: Some(message),
                        exponent,
                        measure: one_by_one(scale, bits, is_short),
                        ..grid()
                    });
                }
            }
        }
    }
    for (bits, op) in [
        (MANY_BITS[0], Op::TextEncrypt),
        (MANY_BITS[0], Op::TextDecrypt),
        (MANY_BITS[1], Op::TextDecrypt),
    ] {
        grids.push(Grid {
            operations: vec![op],
            engines: Engines::named(&MANY),
            bits: vec![bits],
            threads: Threads::Doubling,
            symbols: MESSAGES
                .map(|messages| messages * message_bytes(bits))
                .to_vec(),
            measure: many_at_once(scale, op, bits),
            ..grid()
        });
    }
    for bits in MANY_BITS {
        grids.push(Grid {
            operations: vec![Op::Private],
            engines: Engines::named(&BATCHED),
            bits: vec![bits],
            batch: BATCHES.to_vec(),
            measure: match scale {
                Scale::Published => counted(100, 5, 0),
                Scale::Short => counted(6, 1, 0),
            },
            ..grid()
        });
    }
    grids
}

/// Bytes of a message that is one byte shorter than the modulus.
pub(super) fn message_bytes(bits: usize) -> usize {
    bits / 8 - 1
}

/// One message at a time: a hundred, ten of them a turn. Where calls are short the first milliseconds of a turn are
/// thrown away, since wide vectors change the clock; a long call would be thrown away whole.
fn one_by_one(scale: Scale, bits: usize, is_short: bool) -> MeasureChange {
    let discard_ms = if is_short || bits <= 2048 { 10 } else { 0 };
    match scale {
        Scale::Published => counted(100, 10, discard_ms),
        Scale::Short if is_short || bits <= 2048 => counted(60, 10, discard_ms),
        Scale::Short => counted(6, 1, discard_ms),
    }
}

/// Many messages at once: a text of all of them is one call.
fn many_at_once(scale: Scale, op: Op, bits: usize) -> MeasureChange {
    match (scale, op) {
        (Scale::Published, Op::TextEncrypt) => counted(100, 10, 10),
        (Scale::Published, _) => counted(100, 5, 0),
        (Scale::Short, Op::TextEncrypt) => counted(12, 2, 10),
        (Scale::Short, _) if bits == MANY_BITS[0] => counted(6, 1, 0),
        (Scale::Short, _) => counted(1, 1, 0),
    }
}

/// Exactly so many calls, in blocks of so many.
fn counted(repeats: u64, block_calls: u64, discard_ms: u64) -> MeasureChange {
    /// An interval of 95 % takes six blocks.
    const BLOCKS: u64 = 6;
    MeasureChange {
        precision: Some(0.0),
        confidence: Some(0.95),
        budget_s: Some(86_400.0),
        min_blocks: Some(repeats.min(BLOCKS) as usize),
        max_blocks: Some(100),
        block_ms: Some(100),
        block_calls: Some(block_calls),
        discard_ms: Some(discard_ms),
        max_samples: Some(100),
        repeats: Some(repeats),
    }
}

fn grid() -> Grid {
    Grid {
        article: Some(Article::CpuGpu),
        ..Grid::default()
    }
}
