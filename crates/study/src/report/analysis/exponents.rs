//! With which power of the key size the time of an operation grows.

use rsalab_engines::Job;
use rsalab_measure::stats::power::{self, Cost};

use super::section::{Analysis, Column, Entry, Line, Part};
use crate::{
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
    report::{figures::families, group::Group, names::slug_without_bits},
};

const WORDS: &str = "The time of an operation is taken for a power of the key size: between two sizes, and over all of \
    them by a line through logarithms, weighted by their intervals. An interval that is wide though the times are \
    sure says that one power does not hold over the range. A product of two numbers takes a number of steps that grows \
    with the square of their length (exponent 2, a public operation); a private operation does as many products as the \
    key has bits (exponent 3). Short keys have smaller exponents, since part of the work does not grow.";

pub(super) fn of(groups: &[Group]) -> Option<Analysis> {
    let alike = |job: &Job| Job {
        bits: 0,
        block_symbols: 0,
        ..job.clone()
    };
    let mut families = families(groups, alike);
    families.retain(|family| speaks(&family[0].job, groups));
    let parts: Vec<Part> = families.iter().filter_map(|family| part(family)).collect();
    (!parts.is_empty()).then(|| Analysis {
        id: "exponents".to_owned(),
        title: "How the cost grows with the key size".to_owned(),
        short: "Key sizes".to_owned(),
        words: WORDS.to_owned(),
        parts,
    })
}

/// Returns whether a job stands for those that differ in threads, batch or length: the fewest threads, the smallest
/// batch and the largest, the longest text. Between these the exponents are between theirs.
fn speaks(job: &Job, groups: &[Group]) -> bool {
    let same = |other: &Job| {
        let alike = Job {
            bits: job.bits,
            threads: job.threads,
            batch: job.batch,
            mode: job.mode,
            symbols: job.symbols,
            block_symbols: job.block_symbols,
            ..other.clone()
        };
        alike == *job
    };
    let others = || groups.iter().map(|group| &group.job).filter(|other| same(other));
    let is_end = others().all(|other| other.batch <= job.batch) || others().all(|other| other.batch >= job.batch);
    is_end && others().all(|other| other.threads >= job.threads && other.symbols <= job.symbols)
}

fn part(family: &[&Group]) -> Option<Part> {
    let job = &family[0].job;
    let mut sizes = distinct(family.iter().map(|group| group.job.bits));
    sizes.sort_unstable();
    if sizes.len() < 2 {
        return None;
    }
    let rows = family.iter().flat_map(|group| &group.rows);
    let engines = distinct(rows.map(|row| row.engine.as_str()));
    let confidence = family.iter().map(|group| group.confidence).fold(1.0, f64::min);
    let mut disturbed: Vec<String> = Vec::new();
    let line = |engine: &str| {
        let cost = |bits: &usize| {
            let group = family.iter().find(|group| group.job.bits == *bits)?;
            let row = group.rows.iter().find(|row| row.engine == engine)?;
            if row.disturbance.as_ref().is_some_and(|it| it.is_grave()) {
                disturbed.push(format!("{engine}, {bits} bits"));
                return None;
            }
            // Not the adjusted speed where chance decides: it takes the mean number of tests for known, which all
            // engines of one size share, and two sizes do not.
            let speed = row.figures?.ops_per_s;
            (speed.low > 0.0).then(|| Cost {
                size: *bits as f64,
                cost: speed.reciprocal(),
            })
        };
        let costs: Vec<Option<Cost>> = sizes.iter().map(cost).collect();
        let steps = costs.windows(2).map(|two| power::between(&two[0]?, &two[1]?));
        let steps: Vec<Entry> = steps
            .map(|step| step.map_or_else(Entry::none, |step| Entry::estimate(&step)))
            .collect();
        let known: Vec<Cost> = costs.iter().copied().flatten().collect();
        if known.len() < 2 {
            return None;
        }
        let fit = power::exponent(&known, confidence);
        let range = match (known.first(), known.last()) {
            (Some(first), Some(last)) => Entry::words(format!("{} to {}", first.size, last.size)),
            _ => Entry::none(),
        };
        let fit = fit.map_or_else(Entry::none, |fit| Entry::estimate(&fit));
        Some(Line::of(engine, steps.into_iter().chain([fit, range])))
    };
    let lines: Vec<Line> = engines.into_iter().filter_map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let steps = sizes
        .windows(2)
        .map(|two| Column::number(&format!("{} to {}", two[0], two[1])));
    let mut sentences = Vec::new();
    if sizes.len() < 3 {
        sentences.push("A fit takes three sizes.".to_owned());
    }
    if !disturbed.is_empty() {
        let disturbed: Vec<&str> = disturbed.iter().map(String::as_str).collect();
        sentences.push(format!(
            "Left out, since it was disturbed: {}.",
            number::listed(&disturbed)
        ));
    }
    Some(Part {
        id: format!("exponents-{}", slug_without_bits(job)),
        title: title_without(job, &[Dimension::Bits]),
        columns: [Column::words("Engine")]
            .into_iter()
            .chain(steps)
            .chain([Column::number("Fit"), Column::words("Range (bits)")])
            .collect(),
        rows: lines,
        sentences,
        ..Part::default()
    })
}
