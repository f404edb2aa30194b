//! The article's five steps as grids.
//!
//! | step | cells |
//! |---|---|
//! | 1, primes, call by call | each pair timed by the thread that finds it, on two threads and on one: minimum, maximum, mean |
//! | 1, in batches | what is left of the article's million by our own engine, a thousand pairs a call, timed as a whole |
//! | 2, 3 | `n` and `φ(n)`; `d` for 65537: the first call, and the median of a thousand |
//! | 4 | messages of 1023 bits at every size, and full ones; both ways without CRT |
//! | 5 | all of it at three sizes |

use rsalab_engines::{Mode, Op};

use crate::{
    articles::{Article, Scale},
    plan::{Engines, Grid, Measure, MeasureChange, Message, Plan, Threads},
};

/// Bits of the moduli: primes of 512, 768 and 1024 bits.
pub(super) const BITS: [usize; 3] = [1024, 1536, 2048];
/// The engines of step 1: GMP called as the article's program calls it, by a thread of the harness and by one of OpenMP,
/// and our own.
pub(super) const PRIME_ENGINES: [&str; 3] = ["gmp:random", "c-openmp", "own"];
/// Pairs of each thread in a call of the long run.
const LONG_BATCH: usize = 1_000;
/// Bits of the message that the article takes at every size.
pub(super) const MESSAGE_BITS: usize = 1023;

/// Pairs that the article finds at each size.
pub(super) const PUBLISHED_PAIRS: u64 = 1_000_000;

/// How often each thing is done.
struct Counts {
    /// Pairs call by call on two threads, at each size.
    pairs: [u64; 3],
    /// Pairs in a stored batch.
    batch: u64,
    /// Pairs on one thread, beside those on two: one in so many.
    serial_part: u64,
    /// Calls of 2,000 pairs of our own engine, at each size: what the rest of the article's million takes.
    long: [u64; 3],
    /// Calls of steps 2 to 4.
    calls: u64,
}

impl Counts {
    fn of(scale: Scale) -> Counts {
        match scale {
            Scale::Published => Counts {
                pairs: [300_000, 60_000, 15_000],
                batch: 1_000,
                serial_part: 5,
                long: [350, 470, 493],
                calls: 1_000,
            },
            Scale::Short => Counts {
                pairs: [1_500, 600, 240],
                batch: 30,
                serial_part: 3,
                long: [1, 1, 1],
                calls: 300,
            },
        }
    }
}

/// The plan of the preset.
pub fn plan() -> Plan {
    Plan {
        title: "Primes in ticks: article (b) done again".to_owned(),
        article: Some(Article::PrimeCycles),
        // As the article's program ran, so that whoever works at the machine is not disturbed.
        nice: 10,
        seed: None,
        measure: Measure::default(),
        grids: grids(Scale::Published),
    }
}

/// Its grids, each with all of its measure.
pub fn grids(scale: Scale) -> Vec<Grid> {
    let counts = Counts::of(scale);
    let mut grids = Vec::new();
    for (place, bits) in BITS.into_iter().enumerate() {
        let pairs = counts.pairs[place];
        grids.push(call_by_call(bits, 2, pairs, counts.batch));
        let serial = pairs / counts.serial_part;
        grids.push(call_by_call(bits, 1, serial, counts.batch.min(serial / 5)));
        grids.push(long_run(scale, bits, counts.long[place]));
    }
    let steps = |operations: &[Op], engines: &[&str], message| Grid {
        operations: operations.to_vec(),
        engines: Engines::named(engines),
        bits: BITS.to_vec(),
        message,
        mode: Some(Mode::Latency),
        measure: counted(counts.calls, counts.calls / 10),
        ..grid()
    };
    grids.push(steps(
        &[Op::Totient, Op::PrivateExponent],
        &["gmp", "c-openmp", "own"],
        None,
    ));
    for message in [Some(Message::Bits(MESSAGE_BITS)), None] {
        grids.push(steps(
            &[Op::Public],
            &["gmp:plain_powm_sec", "c-openmp:powm_sec", "own"],
            message,
        ));
        grids.push(steps(
            &[Op::Private],
            &[
                "gmp:plain_powm_sec",
                "c-openmp:powm_sec",
                "own:plain",
                "own",
            ],
            message,
        ));
    }
    grids
}

fn call_by_call(bits: usize, threads: usize, pairs: u64, batch: u64) -> Grid {
    Grid {
        operations: vec![Op::PrimePair],
        engines: Engines::named(&PRIME_ENGINES),
        bits: vec![bits],
        threads: Threads::These(vec![threads]),
        mode: Some(Mode::Concurrent),
        measure: counted(pairs, batch),
        ..grid()
    }
}

fn long_run(scale: Scale, bits: usize, calls: u64) -> Grid {
    // A part of a batch tells as much where time is short.
    let batch = match scale {
        Scale::Published => LONG_BATCH,
        Scale::Short => LONG_BATCH / 20,
    };
    Grid {
        operations: vec![Op::PrimePair],
        engines: Engines::named(&["own"]),
        bits: vec![bits],
        threads: Threads::These(vec![2]),
        batch: vec![batch],
        mode: Some(Mode::Throughput),
        measure: counted(calls, 1),
        ..grid()
    }
}

/// Exactly so many calls, in blocks of so many.
fn counted(repeats: u64, block_calls: u64) -> MeasureChange {
    MeasureChange {
        precision: Some(0.0),
        budget_s: Some(86_400.0),
        min_blocks: Some(1),
        max_blocks: Some(1_000_000),
        block_calls: Some(block_calls.max(1)),
        discard_ms: Some(0),
        // Every call is kept: the smallest and the largest are asked for.
        max_samples: Some(1_000),
        repeats: Some(repeats),
        ..MeasureChange::default()
    }
}

fn grid() -> Grid {
    Grid {
        article: Some(Article::PrimeCycles),
        ..Grid::default()
    }
}
