//! Comparisons of searches whose truth is planted: their luck is taken out where it can be told, and nowhere else.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rsalab_engines::{Ledger, Op};
use rsalab_study::{
    compare::{self, Measured},
    store::TakenBlock,
};

use crate::support;

const CONFIDENCE: f64 = 0.95;
const ROUNDS: usize = 300;

/// Blocks of a search that takes 4 ms and a quarter more for each test, and two primes with 60 tests each in the mean.
fn search(seed: u64, factor: f64, counts: bool) -> Vec<TakenBlock> {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut wait = || 1 + (-(1.0 - random.random::<f64>()).ln() * 60.0) as u64;
    let mut block = |round: usize| {
        let (mut times, mut tests) = (Vec::new(), Vec::new());
        while times.iter().sum::<u64>() < 100_000_000 {
            let tried = wait() + wait();
            times.push((factor * (4e6 + 0.25e6 * tried as f64)) as u64);
            tests.push(tried);
        }
        let mut report = support::block(times);
        if counts {
            report.tests = tests;
        }
        TakenBlock {
            order_index: round as u64,
            round,
            worker_pid: None,
            report,
            losses: None,
        }
    };
    (0..ROUNDS).map(&mut block).collect()
}

fn ledger(sieve: &str) -> Ledger {
    Ledger {
        sieve: Some(sieve.to_owned()),
        ..support::ledger()
    }
}

fn measured<'a>(ledger: &'a Ledger, blocks: &'a [TakenBlock]) -> Measured<'a> {
    Measured {
        ledger,
        blocks: blocks.iter().collect(),
    }
}

#[test]
fn two_that_search_alike_are_compared_without_their_luck() {
    let (one, other) = (search(1, 1.0, true), search(2, 1.1, true));
    // The same sieve in two engines, as in two versions of one library.
    let (ledger, same) = (ledger("the first 128 primes"), ledger("the first 128 primes"));
    let (first, this) = (measured(&ledger, &one), measured(&same, &other));
    let ratio = compare::ratio(Op::Keygen, &first, &this, CONFIDENCE).unwrap();
    let corrected = ratio.adjusted.unwrap();
    assert_eq!(ratio.uncorrected, None);
    assert!((corrected.value * 1.1 - 1.0).abs() < 0.002, "{corrected:?}");
    let width = (ratio.to_first.high - ratio.to_first.low) / (corrected.high - corrected.low);
    assert!(width > 10.0, "nothing but luck: {width}");

    let figures = compare::figures(Op::Keygen, &this, CONFIDENCE).unwrap();
    let luck = figures.luck.unwrap();
    assert!((luck.ns_per_count / 275e3 - 1.0).abs() < 0.01);
    assert!(luck.variation > 0.5 && luck.variation_left < 0.01);

    let speeds = compare::adjusted(Op::Keygen, &[Some(&first), None, Some(&this)], CONFIDENCE);
    let [Some(of_first), None, Some(of_this)] = speeds[..] else {
        panic!("{speeds:?}");
    };
    assert_eq!(of_first.tests_per_op, of_this.tests_per_op);
    let quotient = of_this.ops_per_s.value / of_first.ops_per_s.value;
    assert!((quotient / corrected.value - 1.0).abs() < 1e-3);
    // The raw figures stay what they are.
    assert_eq!(figures.ops_per_s.value, {
        let blocks: Vec<_> = other.iter().map(|taken| &taken.report.block).collect();
        rsalab_measure::stats::rate(&blocks, &Default::default()).unwrap().value
    });
}

#[test]
fn where_luck_cannot_be_told_the_ratio_is_raw_and_says_so() {
    let (one, other, uncounted) = (search(1, 1.0, true), search(2, 1.0, true), search(2, 1.0, false));
    let (ledger, another) = (ledger("the first 128 primes"), ledger("the first 2048 primes"));
    let same = ledger.clone();
    let cases = [
        (measured(&another, &other), "in different ways"),
        (measured(&same, &uncounted), "not counted"),
        (measured(&same, &other[..0]), ""),
    ];
    let first = measured(&ledger, &one);
    for (this, words) in &cases[..2] {
        let ratio = compare::ratio(Op::Keygen, &first, this, CONFIDENCE).unwrap();
        assert_eq!(ratio.adjusted, None);
        assert!(ratio.uncorrected.as_deref().unwrap().contains(words), "{ratio:?}");
        let speeds = compare::adjusted(Op::Keygen, &[Some(&first), Some(this)], CONFIDENCE);
        assert_eq!(speeds, [None, None]);
    }
    assert_eq!(compare::ratio(Op::Keygen, &first, &cases[2].0, CONFIDENCE), None);
    // Nobody is lucky beside himself, and nothing is a matter of luck in other operations.
    let alone = compare::ratio(Op::Keygen, &first, &first, CONFIDENCE).unwrap();
    assert_eq!((alone.adjusted, alone.uncorrected), (None, None));
    let this = measured(&same, &other);
    let private = compare::ratio(Op::Private, &first, &this, CONFIDENCE).unwrap();
    assert_eq!((private.adjusted, private.uncorrected), (None, None));
}
