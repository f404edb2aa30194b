//! The article's protocol as grids: at each size ten blocks of ten keys, one thread, for its two libraries and for all
//! others, measured in turn.

use rsalab_engines::{Mode, Op};

use crate::{
    articles::{Article, Scale},
    plan::{Engines, Grid, Measure, MeasureChange, Plan},
};

/// Bits of the moduli. The article's picture has sizes below and above 512 bits.
pub(super) const BITS: [usize; 9] = [256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
/// The article's two libraries: OpenSSL, as built here and as found at run time, and Intel's with one round.
pub(super) const OPENSSL: [&str; 2] = ["openssl", "libcrypto"];
/// Intel's library as the article calls it.
pub(super) const IPP: &str = "ippcp:trials1";
/// Everything that makes keys.
pub(super) const ENGINES: [&str; 12] = [
    "openssl",
    "ippcp:trials1",
    "libcrypto",
    "ippcp",
    "own",
    "aws-lc",
    "gmp",
    "cryptopp",
    "rustcrypto",
    "go",
    "jca",
    "c-openmp",
];
/// Means in the article's median.
const MEANS: usize = 10;

/// The plan of the preset.
pub fn plan() -> Plan {
    Plan {
        title: "Keys of two libraries and all others: article (c) done again".to_owned(),
        article: Some(Article::KeygenLibraries),
        nice: 0,
        seed: None,
        measure: Measure::default(),
        grids: grids(Scale::Published),
    }
}

/// Its grids, each with all of its measure.
pub fn grids(scale: Scale) -> Vec<Grid> {
    BITS.into_iter().map(|bits| grid(scale, bits)).collect()
}

fn grid(scale: Scale, bits: usize) -> Grid {
    let keys_of_a_mean = match (scale, bits) {
        (Scale::Published, _) => 10,
        (Scale::Short, ..=1024) => 10,
        (Scale::Short, 1025..=2048) => 2,
        (Scale::Short, _) => 1,
    };
    // Of the largest keys even one for each mean takes minutes with all engines.
    let means = match (scale, bits) {
        (Scale::Short, 2049..) => 6,
        _ => MEANS,
    };
    Grid {
        article: Some(Article::KeygenLibraries),
        operations: vec![Op::Keygen],
        engines: Engines::named(&ENGINES),
        bits: vec![bits],
        mode: Some(Mode::Latency),
        measure: MeasureChange {
            precision: Some(0.0),
            budget_s: Some(86_400.0),
            min_blocks: Some(means),
            max_blocks: Some(means),
            block_calls: Some(keys_of_a_mean),
            discard_ms: Some(0),
            max_samples: Some(100),
            repeats: Some(keys_of_a_mean * means as u64),
            ..MeasureChange::default()
        },
        ..Grid::default()
    }
}
