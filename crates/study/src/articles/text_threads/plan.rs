//! The article's study as a plan.

use rsalab_engines::Op;

use crate::{
    articles::{Article, Scale},
    plan::{Engines, Grid, Measure, MeasureChange, Plan, Threads},
};

/// What the article's program takes on its command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Threads, from this many down to one.
    pub max_threads: usize,
    /// Times that each text is encrypted, and decrypted, on each number of threads.
    pub repeats: u64,
    /// Symbols of each text.
    pub symbols: Vec<usize>,
    /// Bits of the modulus.
    pub bits: Vec<usize>,
}

impl Default for Settings {
    /// The published ones.
    fn default() -> Self {
        Settings::of(Scale::Published)
    }
}

impl Settings {
    /// Those of a scale. The short one has every size and number of threads.
    pub fn of(scale: Scale) -> Settings {
        Settings {
            max_threads: 8,
            repeats: match scale {
                Scale::Published => 100,
                Scale::Short => 6,
            },
            symbols: vec![10, 100, 1_000, 10_000, 50_000, 100_000, 1_000_000],
            bits: vec![1024],
        }
    }
}

/// The plan: for each size, encryption and then decryption on every number of threads, the largest first.
pub fn plan(settings: &Settings) -> Plan {
    Plan {
        title: "Text over threads: article (a) done again".to_owned(),
        article: Some(Article::TextThreads),
        nice: 0,
        seed: None,
        measure: Measure::default(),
        grids: grids(settings),
    }
}

/// Its grids, each with all of its measure.
pub fn grids(settings: &Settings) -> Vec<Grid> {
    let symbols = settings.symbols.iter();
    symbols.map(|symbols| grid(settings, *symbols)).collect()
}

fn grid(settings: &Settings, symbols: usize) -> Grid {
    Grid {
        article: Some(Article::TextThreads),
        operations: vec![Op::TextEncrypt, Op::TextDecrypt],
        engines: Engines::Named(
            ["own", "openssl", "gmp", "java"]
                .map(str::to_owned)
                .to_vec(),
        ),
        bits: settings.bits.clone(),
        threads: Threads::These((1..=settings.max_threads).rev().collect()),
        symbols: vec![symbols],
        measure: MeasureChange {
            // The repeats decide, whatever the precision they reach.
            precision: Some(0.0),
            repeats: Some(settings.repeats),
            budget_s: Some(86_400.0),
            ..blocks(symbols)
        },
        ..Grid::default()
    }
}

/// How many texts are one turn: many short ones, so that a turn is more than its warm-up, and few long ones, so that
/// the engines take turns within a second. The longest need no warm-up: it would cost a text of each turn.
fn blocks(symbols: usize) -> MeasureChange {
    let (calls, discard_ms) = match symbols {
        0..=10_000 => (10, 10),
        10_001..=100_000 => (5, 10),
        _ => (2, 0),
    };
    MeasureChange {
        block_calls: Some(calls),
        discard_ms: Some(discard_ms),
        ..MeasureChange::default()
    }
}
