//! The answer in sentences, computed from the data.

use std::fmt;

use rsalab_engines::Job;
use rsalab_measure::Estimate;
use serde::Serialize;

use super::{
    figures::families_over_threads,
    group::{Group, Row},
    names::{slug, speed, unit},
    review::{Claim, Review, Verdict},
};
use crate::{
    compare::{self, Measured},
    number,
    plan::{Dimension, title_without},
    store::GroupRecord,
};

/// One sentence of the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Unique in the report.
    pub id: String,
    /// What was asked: how the sentence begins, up to its colon.
    pub topic: String,
    /// In words, with the value.
    pub sentence: String,
    /// The value; none if it could not be found, and then the sentence says why.
    pub value: Option<Estimate>,
    /// The verdict, where a claim was judged or no significant difference was found.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
}

impl Finding {
    pub(super) fn new(
        id: String,
        topic: String,
        words: impl fmt::Display,
        value: Option<Estimate>,
    ) -> Self {
        Finding {
            id,
            sentence: format!("{topic}: {words}"),
            topic,
            value,
            verdict: None,
        }
    }

    /// What came out: how the sentence goes on after its colon.
    pub(super) fn words(&self) -> &str {
        &self.sentence[self.topic.len() + 2..]
    }
}

/// Who is fastest in a group, by how much, and how sure that is.
///
/// Of groups that differ in their threads, the one with the most speaks for all.
pub(super) fn of_group(
    group: &Group,
    all: &[GroupRecord],
    measured: &[Option<Measured<'_>>],
) -> Option<Finding> {
    let job = &group.job;
    let has_larger = all.iter().any(|other| {
        let threads = other.job.threads;
        threads > job.threads
            && other.job
                == Job {
                    threads,
                    ..job.clone()
                }
    });
    if has_larger || group.rows.len() < 2 {
        return None;
    }
    let mut ranked: Vec<(usize, Estimate)> = group
        .rows
        .iter()
        .enumerate()
        .filter_map(|(place, row)| Some((place, row.figures?.ops_per_s)))
        .collect();
    ranked.sort_by(|left, right| right.1.value.total_cmp(&left.1.value));

    let title = &group.title;
    let finding = |words: String, value| {
        let id = format!("fastest-{}", slug(job));
        Finding::new(id, title.clone(), words, value)
    };
    let name = |place: usize| &group.rows[place].engine;
    let words = |ops_per_s: &Estimate| {
        let speed = speed(job, ops_per_s);
        format!("{} {}", number::significant(speed.value), unit(job))
    };
    match ranked.as_slice() {
        [] => Some(finding("no engine has been measured.".to_owned(), None)),
        [(only, speed)] => Some(finding(
            format!("only {} was measured, {}.", name(*only), words(speed)),
            None,
        )),
        [(first, speed), (second, _), ..] => {
            let ratio = compare::ratio(
                job.op,
                measured[*second].as_ref()?,
                measured[*first].as_ref()?,
                group.confidence,
            )?;
            let lead = &ratio.to_first;
            let (first, second, count) = (name(*first), name(*second), ranked.len());
            let times = number::with_interval(lead);
            let speed = words(speed);
            let is_fastest = lead.confidence > 0.0 && lead.low > 1.0;
            let mut sentence = match is_fastest {
                true => format!(
                    "{first} is the fastest of {count} at {speed}, {times} times as fast as {second}, the next"
                ),
                false => format!(
                    "{first} at {speed} and {second} lead the {count} without a significant difference, \
                     ratio {times}"
                ),
            };
            if let Some(corrected) = &ratio.luck_corrected {
                sentence += &format!("; adjusted {}", number::with_interval(corrected));
            }
            if !ratio.differs_in.is_empty() {
                sentence += &format!("; the two differ in {}", ratio.differs_in.join(", "));
            }
            Some(Finding {
                verdict: (!is_fastest).then_some(Verdict::NoSignificantDifference),
                ..finding(sentence + ".", Some(*lead))
            })
        }
    }
}

/// What becomes of an article's claims, each with the comparison that says most.
pub(super) fn of_review(review: &Review) -> Vec<Finding> {
    let finding = |claim: &Claim| {
        // Several articles have a first claim.
        let number = claim.id.replace("-claim", "");
        let topic = format!("({number}) {}", claim.claim.trim_end_matches('.'));
        let mut words = format!("{}.", claim.outcome());
        let example = claim.example();
        if let Some(case) = example {
            words += &format!(" {}, {}: {}.", case.engine, case.case, case.sentence);
        }
        let value = example.and_then(|case| case.value);
        let verdicts = claim.verdicts.iter().map(|one| one.verdict);
        Finding {
            verdict: Some(Verdict::over(verdicts)),
            ..Finding::new(claim.id.to_owned(), topic, words, value)
        }
    };
    review.claims.iter().map(finding).collect()
}

/// The gain from more threads, for each job that was measured on several counts.
pub(super) fn over_threads(groups: &[Group]) -> Vec<Finding> {
    families_over_threads(groups)
        .iter()
        .filter_map(|family| most_gain(family))
        .collect()
}

/// The engine that gains most from threads, with its best count.
fn most_gain(family: &[&Group]) -> Option<Finding> {
    let single = family.iter().find(|group| group.job.threads == 1)?;
    let gains = single
        .rows
        .iter()
        .filter_map(|row| Some((&row.engine, best_gain(family, row)?)));
    let (engine, (threads, gain)) =
        gains.max_by(|left, right| left.1.1.value.total_cmp(&right.1.1.value))?;
    let title = title_without(&single.job, &[Dimension::Threads]);
    let times = number::with_interval(&gain);
    let words = match gain.low > 1.0 {
        true => format!(
            "{threads} threads are {times} times as fast as one, with {engine}, which gains most."
        ),
        false => {
            format!("more threads give no significant gain, at best {times} times, with {engine}.")
        }
    };
    let id = format!("threads-{}", slug(&single.job));
    Some(Finding {
        verdict: (gain.low <= 1.0).then_some(Verdict::NoSignificantDifference),
        ..Finding::new(id, title, words, Some(gain))
    })
}

/// The thread count at which an engine is fastest, and its speed there divided by its speed on one.
///
/// The two were not measured interleaved, so the interval joins both.
fn best_gain(family: &[&Group], single: &Row) -> Option<(usize, Estimate)> {
    let one = single.figures?.ops_per_s;
    let gain = |group: &&Group| {
        let row = group.rows.iter().find(|row| row.engine == single.engine)?;
        let many = row.figures?.ops_per_s;
        Some((group.job.threads, many.over(&one)))
    };
    let several = family.iter().filter(|group| group.job.threads > 1);
    several
        .filter_map(gain)
        .max_by(|left, right| left.1.value.total_cmp(&right.1.value))
}
