//! Statistics of the samples: figures of each engine, and ratios to the first.
//!
//! The same for a study and for `bench`. A speed is what was done over the time that it took, pauses included, and so
//! are the ratios of speeds. The time of one operation is a distribution, of which the median is named. Where the time
//! is a matter of luck, as of finding primes, the speed has an adjusted one beside it, without that chance, where it
//! can be worked out from the number of primality tests.

use std::borrow::Cow;

use rsalab_engines::{Ledger, Op};
use rsalab_measure::{
    Block, Estimate,
    order::{Visit, predecessor_effects},
    stats::{
        Bootstrap, CountedBlock, Explained, Summary, Unadjusted, adjusted, adjusted_rate, adjusted_ratio_of_rates,
        median_over_blocks, rate, ratio_of_rates,
    },
};
use serde::{Deserialize, Serialize};

use crate::store::TakenBlock;

/// Confidence of the intervals where no plan states one.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The measurements of one engine.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// The conditions.
    pub ledger: &'a Ledger,
    /// In order of their rounds, of which each has one block at most.
    pub blocks: Vec<&'a TakenBlock>,
}

/// The figures of one engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Operations per second, of all threads together: what was done over the time that it took, pauses included.
    pub ops_per_s: Estimate,
    /// Median nanoseconds per operation: of wall time, with all threads at work.
    pub ns_per_op: Estimate,
    /// Ticks of the time-stamp counter per operation, in the median. Not core cycles.
    pub tsc_per_op: Option<f64>,
    /// All samples, in nanoseconds per operation.
    pub summary: Summary,
    /// Primality tests per operation, in the mean, where they are counted.
    pub tests_per_op: Option<f64>,
    /// How far the tests explain the time, where they are counted.
    pub luck: Option<Explained>,
    /// Blocks measured.
    pub blocks: usize,
    /// Operations in the samples.
    pub operations: u64,
}

/// One engine compared with the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// This engine's speed divided by the first one's: above 1 where this one is faster.
    pub to_first: Estimate,
    /// The ratio adjusted for the number of tests of both, where chance decides and the tests are counted.
    #[serde(rename = "luck_corrected")]
    pub adjusted: Option<Estimate>,
    /// Why the ratio is not adjusted, where chance decides.
    pub uncorrected: Option<String>,
    /// The conditions in which the two differ, so that the ratio is not between equals.
    pub differs_in: Vec<String>,
}

/// A speed adjusted for the number of primality tests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adjusted {
    /// Operations per second, had each taken the mean number of tests.
    pub ops_per_s: Estimate,
    /// That mean: over all engines who search alike.
    pub tests_per_op: f64,
}

/// The figures of a engine; none if it has no samples.
pub fn figures(op: Op, measured: &Measured<'_>, confidence: f64) -> Option<Figures> {
    let blocks = samples(&measured.blocks);
    let per_block: Vec<Vec<f64>> = blocks.iter().map(|block| block.ns_per_operation()).collect();
    let ns_per_op = median_over_blocks(&per_block, confidence)?;
    let ops_per_s = rate(&whole(&measured.blocks), &bootstrap(confidence))?;
    let ticks: Option<Vec<f64>> = blocks
        .iter()
        .map(|block| block.tsc_per_operation())
        .collect::<Option<Vec<_>>>()
        .map(|ticks| ticks.concat());
    let operations: u64 = blocks.iter().map(|block| block.operations()).sum();
    let reports = || measured.blocks.iter().map(|taken| &taken.report);
    let tests = reports().flat_map(|report| &report.tests);
    let is_counted = reports().all(|report| report.tests.len() == report.block.samples.len());
    Some(Figures {
        ops_per_s,
        ns_per_op,
        tsc_per_op: ticks.and_then(|ticks| Summary::of(&ticks)).map(|ticks| ticks.median),
        summary: Summary::of(&per_block.concat())?,
        tests_per_op: is_counted.then(|| tests.sum::<u64>() as f64 / operations as f64),
        luck: adjusted::explained(&counted(&measured.blocks)).filter(|_| is_random(op)),
        blocks: blocks.len(),
        operations,
    })
}

/// How fast an engine is compared with the first, from the rounds in which both were measured.
///
/// None if there is no such round.
pub fn ratio(op: Op, first: &Measured<'_>, this: &Measured<'_>, confidence: f64) -> Option<Ratio> {
    let bootstrap = bootstrap(confidence);
    let (first_blocks, these_blocks) = paired(&first.blocks, &this.blocks);
    let to_first = ratio_of_rates(&whole(&these_blocks), &whole(&first_blocks), &bootstrap)?;
    // The first is not adjusted relative to itself.
    let is_first = std::ptr::eq(first.ledger, this.ledger);
    let adjusted = (is_random(op) && !is_first).then(|| match search_alike(first, this) {
        true => adjusted_ratio_of_rates(&counted(&these_blocks), &counted(&first_blocks), &bootstrap).map_err(reason),
        false => Err("the two search in different ways, each with a luck of its own"),
    });
    let differences = this.ledger.differences(first.ledger);
    Some(Ratio {
        to_first,
        adjusted: adjusted.and_then(Result::ok),
        uncorrected: adjusted.and_then(Result::err).map(str::to_owned),
        differs_in: differences.into_iter().map(str::to_owned).collect(),
    })
}

/// The speed of an engine on several threads divided by its speed on one, from the rounds in which both were measured.
pub fn speedup(one: Vec<&TakenBlock>, several: Vec<&TakenBlock>, confidence: f64) -> Option<Estimate> {
    let (one, several) = paired(&one, &several);
    ratio_of_rates(&whole(&several), &whole(&one), &bootstrap(confidence))
}

fn reason(uncorrected: Unadjusted) -> &'static str {
    match uncorrected {
        Unadjusted::NotCounted => "the primality tests are not counted",
        Unadjusted::TooFew => "there are too few samples to tell",
        _ => "the two differ in their primality tests by more than luck",
    }
}

/// The adjusted speeds of engines, in their order: none where chance does not decide, or where nobody else
/// searches alike, so that there is no mean but a engine's own.
pub fn adjusted(op: Op, engines: &[Option<&Measured<'_>>], confidence: f64) -> Vec<Option<Adjusted>> {
    let bootstrap = bootstrap(confidence);
    let of = |this: &Measured<'_>| {
        let alike: Vec<Vec<CountedBlock<'_>>> = engines
            .iter()
            .flatten()
            .filter(|other| search_alike(this, other))
            .map(|other| counted(&other.blocks))
            .collect();
        let alike: Vec<&[CountedBlock<'_>]> = alike.iter().map(Vec::as_slice).collect();
        if alike.len() < 2 || !adjusted::same_expectation(&alike) {
            return None;
        }
        let tests_per_op = adjusted::shared_count(&alike)?;
        Some(Adjusted {
            ops_per_s: adjusted_rate(&counted(&this.blocks), tests_per_op, &bootstrap)?,
            tests_per_op,
        })
    };
    engines
        .iter()
        .map(|this| this.filter(|_| is_random(op)).and_then(of))
        .collect()
}

/// Returns whether the number of tests has the same expectation for both. The sieve decides how many candidates are
/// tested for each prime; an engine of several lanes counts a whole vector of candidates at a time.
fn search_alike(one: &Measured<'_>, other: &Measured<'_>) -> bool {
    let (one, other) = (one.ledger, other.ledger);
    one.sieve.is_some() && one.sieve == other.sieve && one.lanes == other.lanes
}

fn bootstrap(confidence: f64) -> Bootstrap {
    Bootstrap {
        confidence,
        ..Bootstrap::default()
    }
}

/// Blocks as speeds are made of them: from a disturbed one nothing is left out, since pauses would get lost in the
/// short beginning that is discarded, and between samples.
fn whole<'a>(blocks: &[&'a TakenBlock]) -> Vec<Cow<'a, Block>> {
    let whole = |taken: &&'a TakenBlock| match taken.losses.is_some_and(|losses| losses.are_grave()) {
        true => taken.report.block.as_one_sample(),
        false => Cow::Borrowed(&taken.report.block),
    };
    blocks.iter().map(whole).collect()
}

fn samples<'a>(blocks: &[&'a TakenBlock]) -> Vec<&'a Block> {
    blocks.iter().map(|taken| &taken.report.block).collect()
}

fn counted<'a>(blocks: &[&'a TakenBlock]) -> Vec<CountedBlock<'a>> {
    let counted = |taken: &&'a TakenBlock| CountedBlock {
        block: &taken.report.block,
        counts: &taken.report.tests,
    };
    blocks.iter().map(counted).collect()
}

/// Remarks on engines whose figures depend on who was measured before them, by their place in `engines`.
pub fn carry_over_effects(engines: &[Measured<'_>]) -> Vec<(usize, String)> {
    /// Chance alone makes one remark in a hundred groups.
    const LEVEL: f64 = 0.01;
    /// An effect below this is not worth a remark, however sure.
    const WORTH: f64 = 1.01;
    let mut visits: Vec<(u64, Visit)> = engines
        .iter()
        .enumerate()
        .flat_map(|(place, measured)| {
            measured.blocks.iter().filter_map(move |taken| {
                let visit = Visit {
                    subject: place,
                    value: Summary::of(&taken.report.block.ns_per_operation())?.median,
                };
                Some((taken.order_index, visit))
            })
        })
        .collect();
    visits.sort_by_key(|(order_index, _)| *order_index);
    let visits: Vec<Visit> = visits.into_iter().map(|(_, visit)| visit).collect();
    predecessor_effects(&visits, 0)
        .into_iter()
        .filter(|effect| effect.p_value < LEVEL / engines.len() as f64 && effect.largest_ratio > WORTH)
        .map(|effect| {
            let percent = (effect.largest_ratio - 1.0) * 100.0;
            let remark = format!("its time depends on the engine measured before it, by up to {percent:.1} %");
            (effect.subject, remark)
        })
        .collect()
}

pub(crate) fn is_random(op: Op) -> bool {
    !op.is_deterministic()
}

/// The blocks of the rounds that both have.
fn paired<'a>(first: &[&'a TakenBlock], this: &[&'a TakenBlock]) -> (Vec<&'a TakenBlock>, Vec<&'a TakenBlock>) {
    let of_round = |round: usize| first.iter().find(|block| block.round == round);
    this.iter()
        .filter_map(|block| Some((*of_round(block.round)?, *block)))
        .unzip()
}
