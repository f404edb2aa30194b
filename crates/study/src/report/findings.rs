//! The answer in sentences, computed from the data.

use std::fmt;

use rsalab_engines::Job;
use rsalab_measure::Estimate;
use serde::{Deserialize, Serialize};

use super::{
    figures::families_over_threads,
    group::Group,
    names::{slug, speed, unit},
    review::{Claim, Review, Verdict},
};
use crate::{
    compare::{self, Measured, Ratio},
    cpus::Cpus,
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
    significance::{DRIFT, LAUNCH, Side, side},
    store::GroupRecord,
};

/// One sentence of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Unique in the report.
    pub id: String,
    /// The question: the beginning of the sentence, up to its colon.
    pub topic: String,
    /// In words, with the value.
    pub sentence: String,
    /// The value; none if it could not be found, and then the sentence says why.
    pub value: Option<Estimate>,
    /// The verdict, where a claim was judged or no significant difference was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl Finding {
    pub(super) fn new(id: String, topic: String, words: impl fmt::Display, value: Option<Estimate>) -> Self {
        Finding {
            id,
            sentence: format!("{topic}: {words}"),
            topic,
            value,
            verdict: None,
        }
    }

    /// The answer: the rest of the sentence after its colon.
    pub(super) fn words(&self) -> &str {
        let words = self.sentence.strip_prefix(&self.topic);
        words
            .and_then(|words| words.strip_prefix(": "))
            .unwrap_or(&self.sentence)
    }
}

/// The fastest engine of a group, by how much, and how sure that is.
///
/// Of groups that differ in their threads, one speaks for all: that with the most threads that the CPUs run at once.
pub(super) fn of_group(
    group: &Group,
    all: &[GroupRecord],
    measured: &[Option<Measured<'_>>],
    cpus: Option<Cpus>,
) -> Option<Finding> {
    let job = &group.job;
    let counts = all.iter().filter(|other| differ_in_threads(&other.job, job));
    let counts = counts.map(|other| other.job.threads);
    if speaking_threads(counts, cpus) != Some(job.threads) || group.rows.len() < 2 {
        return None;
    }
    let mut ranked: Vec<(usize, Estimate)> = group
        .rows
        .iter()
        .enumerate()
        .filter_map(|(place, row)| Some((place, row.figures?.ops_per_s)))
        .collect();
    ranked.sort_by(|left, right| right.1.value.total_cmp(&left.1.value));

    let finding = |words: String, value| {
        let id = format!("fastest-{}", slug(job));
        let words = words + &beyond_cpus(job, cpus) + ".";
        Finding::new(id, group.title.clone(), words, value)
    };
    let name = |place: usize| group.rows[place].engine.as_str();
    let speed_of = |place: usize| {
        let ops_per_s = group.rows[place].figures.map(|figures| figures.ops_per_s);
        let speed = speed(job, &ops_per_s.expect("only measured engines are ranked"));
        format!("{} {}", number::significant(speed.value), unit(job))
    };
    let places: Vec<usize> = ranked.iter().map(|(place, _)| *place).collect();
    match places[..] {
        [] => return Some(finding("no engine has been measured".to_owned(), None)),
        [only] => {
            let words = format!("only {} was measured, {}", name(only), speed_of(only));
            return Some(finding(words, None));
        }
        _ => {}
    }
    let first = places[0];
    let lead = |other: &usize| {
        let of = |place: usize| measured[place].as_ref();
        let ratio = compare::ratio(job.op, of(*other)?, of(first)?, group.confidence)?;
        Some((*other, ratio))
    };
    let standings: Vec<(usize, Ratio)> = places[1..].iter().map(lead).collect::<Option<_>>()?;
    let rivals: Vec<&(usize, Ratio)> = standings
        .iter()
        .filter(|(_, ratio)| side(&ratio.to_first, 1.0, LAUNCH) != Side::Above)
        .collect();
    // Of those that are not told apart from the first, or else of all, that which comes nearest.
    let compared = match rivals.is_empty() {
        true => standings.iter().collect(),
        false => rivals.clone(),
    };
    let (second, ratio) = compared
        .into_iter()
        .min_by(|left, right| left.1.to_first.value.total_cmp(&right.1.to_first.value))?;
    let (count, speed, lead) = (places.len(), speed_of(first), &ratio.to_first);
    let times = number::with_interval(lead);
    let of_second = match rivals.len() {
        0 | 1 => "ratio".to_owned(),
        _ => format!("ratio to {}", name(*second)),
    };
    let leading = || {
        let rivals: Vec<&str> = rivals.iter().map(|(place, _)| name(*place)).collect();
        let rivals = number::listed(&rivals);
        format!("{} at {speed} and {rivals} lead the {count}", name(first))
    };
    let verdict = match side(lead, 1.0, LAUNCH) {
        Side::Above => None,
        Side::TooFew => Some(Verdict::TooFewValues),
        Side::Below | Side::Unclear => Some(Verdict::NoSignificantDifference),
    };
    let mut sentence = match verdict {
        None => format!(
            "{} is the fastest of {count} at {speed}, {times} times as fast as {}, the next",
            name(first),
            name(*second)
        ),
        // Of so few values nobody is known to be slower, so that a list of who leads would name all.
        Some(Verdict::TooFewValues) => format!(
            "{} has the highest speed of {count}, {speed}; {} are too few values to say who is faster, {of_second} \
             {times}",
            name(first),
            lead.n
        ),
        Some(_) if lead.covers(1.0) => {
            format!("{} without a significant difference, {of_second} {times}", leading())
        }
        Some(_) => format!(
            "{}; the difference may be below {}, which is what starting them anew changes, {of_second} {times}",
            leading(),
            number::percent(LAUNCH)
        ),
    };
    if let Some(corrected) = &ratio.adjusted {
        sentence += &format!("; adjusted {}", number::with_interval(corrected));
    }
    if !ratio.differs_in.is_empty() {
        let pair = match rivals.len() {
            0 | 1 => "the two".to_owned(),
            _ => format!("{} and {}", name(first), name(*second)),
        };
        sentence += &format!("; {pair} differ in {}", ratio.differs_in.join(", "));
    }
    Some(Finding {
        verdict,
        ..finding(sentence, Some(*lead))
    })
}

/// Returns whether two jobs differ in nothing but their threads, or not at all.
fn differ_in_threads(one: &Job, other: &Job) -> bool {
    let threads = other.threads;
    *other == Job { threads, ..one.clone() }
}

/// The thread count that speaks for a job: the largest that the CPUs run at once, or the least where all are beyond
/// them.
fn speaking_threads(counts: impl Iterator<Item = usize> + Clone, cpus: Option<Cpus>) -> Option<usize> {
    let most = cpus.map_or(usize::MAX, |cpus| cpus.logical);
    let within = counts.clone().filter(|count| *count <= most).max();
    within.or_else(|| counts.clone().min())
}

/// That a job has more threads than the CPUs run at once; nothing where it does not.
fn beyond_cpus(job: &Job, cpus: Option<Cpus>) -> String {
    let beyond = cpus.filter(|cpus| job.threads > 1 && job.threads > cpus.logical);
    beyond.map_or_else(String::new, |cpus| {
        let threads = number::counted(job.threads, "thread");
        format!("; {threads} take turns on {}", cpus.words())
    })
}

/// The verdicts on an article's claims, each with the comparison that says most.
pub(super) fn of_review(review: &Review) -> Vec<Finding> {
    let finding = |claim: &Claim| {
        // Several articles have a first claim.
        let number = claim.id.replace("-claim", "");
        let topic = format!("({number}) {}", claim.claim.trim_end_matches('.'));
        let verdict = Verdict::over(claim.verdicts.iter().map(|one| one.verdict));
        let mut words = format!("{}.", claim.outcome());
        if verdict == Verdict::NotMeasurableHere && claim.reason.is_none() {
            // Which engines it is about says less than why.
            let why = distinct(claim.cases.iter().map(|case| case.sentence.as_str()));
            words = format!("{} {}: {}.", verdict.mark(), verdict.words(), why.join("; "));
        }
        let example = claim.example();
        if let Some(case) = example {
            words += &format!(" {}, {}: {}.", case.engine, case.case, case.sentence);
        }
        let value = example.and_then(|case| case.value);
        Finding {
            verdict: Some(verdict),
            ..Finding::new(claim.id.clone(), topic, words, value)
        }
    };
    review.claims.iter().map(finding).collect()
}

/// The gain from more threads, for each job that was measured on several counts.
pub(super) fn over_threads(groups: &[Group], cpus: Option<Cpus>) -> Vec<Finding> {
    families_over_threads(groups)
        .iter()
        .filter_map(|family| gain(family, cpus))
        .collect()
}

/// The gain of one engine.
struct Gain<'a> {
    engine: &'a str,
    /// Speed on several threads divided by that on one: over the rounds of both, or with an interval that joins those
    /// of both where they were not measured interleaved.
    times: Estimate,
    /// The difference that is none, whatever the interval.
    noise: f64,
    /// Product of the two speeds.
    standing: f64,
    /// The cause that took so much time from one of the two that they say nothing of threads.
    disturbed: Option<&'a str>,
}

/// The gain from the most threads that the CPUs run at once: with the leading engine, and how many others gain.
///
/// The engine with the largest gain is not named: the largest of several noisy values is too large, the more so the
/// noisier they are. The leading one is that with the largest product of both speeds, in which what makes a gain too
/// large weighs as much as what makes it too small.
fn gain(family: &[&Group], cpus: Option<Cpus>) -> Option<Finding> {
    let single = family.iter().find(|group| group.job.threads == 1)?;
    let counts = family.iter().map(|group| group.job.threads);
    let several = counts.filter(|count| *count > 1);
    let threads = speaking_threads(several, cpus)?;
    let many = family.iter().find(|group| group.job.threads == threads)?;
    let finding = |words: String, value| {
        let title = title_without(&single.job, &[Dimension::Threads]);
        let id = format!("threads-{}", slug(&single.job));
        Finding::new(id, title, words + ".", value)
    };
    if let Some(cpus) = cpus.filter(|cpus| threads > cpus.logical) {
        let words = format!(
            "the gain from threads is not stated, as {} are more than {}",
            number::counted(threads, "thread"),
            cpus.words()
        );
        return Some(Finding {
            verdict: Some(Verdict::NotMeasurableHere),
            ..finding(words, None)
        });
    }
    let gains: Vec<Gain<'_>> = single
        .rows
        .iter()
        .filter_map(|row| {
            let one = row.figures?.ops_per_s;
            let other = many.rows.iter().find(|other| other.engine == row.engine)?;
            let many = other.figures?.ops_per_s;
            let disturbances = [row, other].into_iter().filter_map(|row| row.disturbance.as_ref());
            let grave = disturbances.filter(|disturbance| disturbance.is_grave());
            Some(Gain {
                disturbed: grave
                    .flat_map(|disturbance| &disturbance.causes)
                    .map(String::as_str)
                    .next(),
                engine: &row.engine,
                times: other.speedup.unwrap_or_else(|| many.over(&one)),
                noise: other.speedup.map_or(DRIFT, |_| LAUNCH),
                standing: one.value * many.value,
            })
        })
        .collect();
    let leading = gains
        .iter()
        .max_by(|left, right| left.standing.total_cmp(&right.standing))?;
    if let Some(cause) = leading.disturbed {
        let words = format!(
            "the gain from threads is not stated, as {} was disturbed: {cause}",
            leading.engine
        );
        return Some(Finding {
            verdict: Some(Verdict::NotMeasurableHere),
            ..finding(words, None)
        });
    }
    let is_alone = gains.len() == 1;
    let engine = match is_alone {
        true => leading.engine.to_owned(),
        false => format!("{}, the fastest", leading.engine),
    };
    let (times, count) = (
        number::with_interval(&leading.times),
        number::counted(threads, "thread"),
    );
    let (verdict, mut words) = match side(&leading.times, 1.0, leading.noise) {
        Side::Above => (None, format!("{count} are {times} times as fast as one with {engine}")),
        Side::Below => (
            None,
            format!("{count} are slower than one with {engine}, {times} times as fast"),
        ),
        Side::Unclear => (
            Some(Verdict::NoSignificantDifference),
            format!("{count} give no significant gain with {engine}, {times} times as fast as one"),
        ),
        Side::TooFew => (
            Some(Verdict::TooFewValues),
            format!("too few values to say what {count} gain with {engine}, {times} times"),
        ),
    };
    if !is_alone {
        words += &format!("; {}", of_all(&gains));
    }
    Some(Finding {
        verdict,
        ..finding(words, Some(leading.times))
    })
}

/// How many engines gain, and how many do not: `of 4 engines 3 gain and 1 shows no significant gain`.
fn of_all(gains: &[Gain<'_>]) -> String {
    let undisturbed = || gains.iter().filter(|gain| gain.disturbed.is_none());
    let count = |wanted: Side| {
        let sides = undisturbed().map(|gain| side(&gain.times, 1.0, gain.noise));
        sides.filter(|side| *side == wanted).count()
    };
    let of = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let parts: Vec<String> = [
        of(count(Side::Above), "gains", "gain"),
        of(count(Side::Below), "loses", "lose"),
        of(
            count(Side::Unclear),
            "shows no significant gain",
            "show no significant gain",
        ),
        of(count(Side::TooFew), "has too few values", "have too few values"),
        of(gains.len() - undisturbed().count(), "was disturbed", "were disturbed"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("of {} engines {}", gains.len(), number::listed(&parts))
}
