//! The report in the words and numbers that every format shows: what the templates are filled with.

use rsalab_engines::Job;
use rsalab_measure::Estimate;
use serde::Serialize;

use super::{
    figures::families,
    findings::Finding,
    group::{Group, Row},
    model::Report,
    names,
    review::{Claim, EngineVerdict, Review, Table, TableCell, TableRow, Verdict},
    words,
};
use crate::{
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
};

/// The whole report.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    report: &'a Report,
    status: String,
    answers: Vec<Answer<'a>>,
    /// Findings that nothing of this study can decide, gathered by their reason.
    undecided: Vec<Undecided<'a>>,
    undecided_count: usize,
    articles: Vec<ReviewedArticle<'a>>,
    overview_words: &'static str,
    scaling_words: &'static str,
    /// One for each group, in their order.
    tables: Vec<JobTable<'a>>,
    /// The tables gathered, one for each operation.
    operations: Vec<Operation>,
    machine_words: String,
    machines_differ: bool,
    sessions: Vec<String>,
    warnings: Vec<String>,
}

impl Document<'_> {
    pub(super) fn of(report: &Report) -> Document<'_> {
        let first = report.sessions.first();
        let is_undecided = |finding: &&Finding| finding.verdict == Some(Verdict::NotMeasurableHere);
        let (undecided, decided): (Vec<_>, Vec<_>) = report.findings.iter().partition(is_undecided);
        Document {
            report,
            status: words::status(report),
            answers: decided.into_iter().map(Answer::of).collect(),
            undecided: Undecided::of(&undecided),
            undecided_count: undecided.len(),
            articles: report.articles.iter().map(ReviewedArticle::of).collect(),
            overview_words: words::OVERVIEW,
            scaling_words: words::SCALING,
            tables: report.groups.iter().map(JobTable::of).collect(),
            operations: operations(&report.groups),
            machine_words: first.map(words::machine).unwrap_or_default(),
            machines_differ: report
                .sessions
                .iter()
                .any(|session| words::machine_changed(report, session)),
            sessions: words::sessions(report),
            warnings: words::warnings(report),
        }
    }
}

/// A finding in two parts, what was asked and what came out; in one, where the question is long.
#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    topic: Option<&'a str>,
    words: &'a str,
    sentence: &'a str,
    verdict: Option<Verdict>,
}

impl<'a> Answer<'a> {
    fn of(finding: &'a Finding) -> Self {
        const LONGEST_TOPIC: usize = 110;
        let is_short = finding.topic.len() <= LONGEST_TOPIC;
        Answer {
            id: &finding.id,
            topic: is_short.then_some(&finding.topic),
            words: if is_short { finding.words() } else { &finding.sentence },
            sentence: &finding.sentence,
            verdict: finding.verdict,
        }
    }
}

/// Findings without a verdict that share the reason why there is none.
#[derive(Serialize)]
struct Undecided<'a> {
    reason: &'a str,
    findings: Vec<Answer<'a>>,
}

impl<'a> Undecided<'a> {
    fn of(findings: &[&'a Finding]) -> Vec<Undecided<'a>> {
        let reasons = distinct(findings.iter().map(|finding| finding.words()));
        let gathered = |reason| {
            let alike = findings.iter().filter(|one| one.words() == reason);
            Undecided {
                reason,
                findings: alike.map(|one| Answer::of(one)).collect(),
            }
        };
        reasons.into_iter().map(gathered).collect()
    }
}

/// An article with its claims and tables.
#[derive(Serialize)]
struct ReviewedArticle<'a> {
    review: &'a Review,
    claims: Vec<ReviewedClaim<'a>>,
    tables: Vec<ReviewedTable<'a>>,
}

#[derive(Serialize)]
struct ReviewedClaim<'a> {
    claim: &'a Claim,
    /// `(i)`, `(ii)` …
    numeral: String,
    outcome: String,
    /// Each verdict that was passed, with the engines that it was passed on.
    outcomes: Vec<Outcome<'a>>,
}

/// A verdict on a claim with the engines for which it is the same, so that the page needs no column for each of them.
#[derive(Serialize)]
struct Outcome<'a> {
    verdict: Verdict,
    engines: Vec<&'a str>,
    /// The cases that were not measured, where that is not so for all the verdict is about.
    missing: Vec<String>,
}

impl<'a> Outcome<'a> {
    fn of(verdicts: &'a [EngineVerdict]) -> Vec<Outcome<'a>> {
        let kinds = distinct(verdicts.iter().map(|one| (one.verdict, &one.missing)));
        let outcome = |(verdict, missing): (Verdict, &'a Vec<String>)| {
            let alike = verdicts
                .iter()
                .filter(|one| one.verdict == verdict && one.missing == *missing);
            Outcome {
                verdict,
                engines: alike.map(|one| one.engine.as_str()).collect(),
                missing: missing.clone(),
            }
        };
        kinds.into_iter().map(outcome).collect()
    }
}

/// A table of an article whose reasons are numbered, as most stand in many cells.
#[derive(Serialize)]
struct ReviewedTable<'a> {
    table: &'a Table,
    /// The columns' cells of each row; a number in brackets is that of a reason.
    cells: Vec<Vec<String>>,
    reasons: Vec<&'a str>,
}

impl<'a> ReviewedTable<'a> {
    fn of(table: &'a Table) -> Self {
        let all = table.rows.iter().flat_map(|row| &row.cells);
        let given = all.filter(|cell| cell.ours.is_none());
        let reasons = distinct(given.filter_map(|cell| cell.reason.as_deref()));
        let text = |cell: &TableCell| match (&cell.ours, cell.reason.as_deref()) {
            (None, Some(reason)) => {
                let place = reasons.iter().position(|one| *one == reason);
                format!("[{}]", place.map_or(0, |place| place + 1))
            }
            _ => words::ours(cell),
        };
        let row = |row: &TableRow| row.cells.iter().map(text).collect();
        ReviewedTable {
            cells: table.rows.iter().map(row).collect(),
            table,
            reasons,
        }
    }
}

impl<'a> ReviewedArticle<'a> {
    fn of(review: &'a Review) -> Self {
        let claim = |claim: &'a Claim| ReviewedClaim {
            claim,
            numeral: claim.numeral(),
            outcome: claim.outcome(),
            outcomes: Outcome::of(&claim.verdicts),
        };
        ReviewedArticle {
            review,
            claims: review.claims.iter().map(claim).collect(),
            tables: review.tables.iter().map(ReviewedTable::of).collect(),
        }
    }
}

/// One job on several engines.
#[derive(Serialize)]
struct JobTable<'a> {
    id: String,
    title: &'a str,
    /// The heading under which a long page folds the table: the article that they are for.
    family: String,
    unit: &'static str,
    /// The question that the column of times answers.
    time_title: String,
    /// The engine that ratios refer to.
    base: Option<&'a str>,
    confidence: String,
    /// The conditions of all engines.
    shared: String,
    has_ticks: bool,
    rows: Vec<JobRow<'a>>,
}

/// One of them: the row of the model, and what is to be said of it.
#[derive(Serialize)]
struct JobRow<'a> {
    #[serde(flatten)]
    row: &'a Row,
    /// In the table's unit.
    speed: Option<Estimate>,
    /// The conditions that others do not share.
    conditions: String,
    /// In which conditions it differs from the base.
    differs: String,
    remarks: Vec<String>,
    /// `true` if a line of its own below the figures has something to say.
    has_remarks: bool,
}

impl<'a> JobTable<'a> {
    fn of(group: &'a Group) -> Self {
        let shared = words::shared_conditions(group);
        let row = |row: &'a Row| {
            let conditions = row.ledger.as_ref().map(words::conditions);
            let mut conditions = conditions.unwrap_or_default();
            conditions.retain(|condition| !shared.contains(condition));
            let conditions = conditions.join(", ");
            let differs = differs(row);
            let remarks = [words::adjusted(group, row), row.notes.clone()].concat();
            JobRow {
                row,
                has_remarks: !(conditions.is_empty() && differs.is_empty() && remarks.is_empty()),
                speed: row.figures.map(|figures| names::speed(&group.job, &figures.ops_per_s)),
                conditions,
                differs,
                remarks,
            }
        };
        let has_ticks = |row: &Row| row.figures.is_some_and(|it| it.tsc_per_op.is_some());
        JobTable {
            id: names::slug(&group.job),
            title: &group.title,
            family: match group.article {
                Some(article) => format!("Tables of {}", article.name()),
                None => "Other tables".to_owned(),
            },
            unit: names::unit(&group.job),
            time_title: names::time_title(&group.job),
            base: group.base().map(|row| row.engine.as_str()),
            confidence: number::percent(group.confidence),
            has_ticks: group.rows.iter().any(has_ticks),
            rows: group.fastest_first().into_iter().map(row).collect(),
            shared: shared.join(", "),
        }
    }
}

/// Why a row's ratio is not between equals; empty where it is.
fn differs(row: &Row) -> String {
    let ratio = row.ratio.as_ref();
    ratio.map(|ratio| ratio.differs_in.join(", ")).unwrap_or_default()
}

/// One operation at every size, in parts of one job each.
#[derive(Serialize)]
struct Operation {
    /// Unique in the report.
    label: String,
    /// With what all jobs share.
    title: String,
    /// The names of the parameters that differ.
    columns: Vec<&'static str>,
    jobs: Vec<OperationPart>,
    /// In what rows are not the same job as their base.
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct OperationPart {
    /// In the order of the columns.
    values: Vec<usize>,
    /// Which of the tables it is.
    table: usize,
}

type Parameter = fn(&Job) -> usize;

/// The parameters in which jobs of an operation may differ.
const PARAMETERS: [(&str, Dimension, Parameter); 3] = [
    ("Bits", Dimension::Bits, |job| job.bits),
    ("Symbols", Dimension::Symbols, |job| job.symbols),
    ("Threads", Dimension::Threads, |job| job.threads),
];

fn operations(groups: &[Group]) -> Vec<Operation> {
    let families = families(groups, |job| Job {
        bits: 0,
        threads: 0,
        symbols: 0,
        block_symbols: 0,
        ..job.clone()
    });
    let place_of = |group: &Group| {
        let mut all = groups.iter();
        all.position(|other| std::ptr::eq(other, group))
            .expect("families are made of the groups")
    };
    let mut operations: Vec<Operation> = Vec::new();
    for family in families {
        let job = &family[0].job;
        let differ = |of: Parameter| family.iter().any(|group| of(&group.job) != of(job));
        let columns = PARAMETERS.iter().filter(|(_, _, of)| differ(*of));
        let columns: Vec<_> = columns.collect();
        let dimensions: Vec<Dimension> = columns.iter().map(|(_, it, _)| *it).collect();
        let part = |group: &&Group| OperationPart {
            values: columns.iter().map(|(_, _, of)| of(&group.job)).collect(),
            table: place_of(group),
        };
        let remarks = family.iter().flat_map(|group| {
            let base = group.base().map_or("the first", |base| &base.engine);
            let unequal = group.rows.iter().filter(|row| row.is_unequal());
            unequal.map(move |row| format!("{} compared with {base}: {}", row.engine, differs(row)))
        });
        let is_same = |other: &&Operation| other.label.split('-').next() == Some(job.op.name());
        let label = match operations.iter().filter(is_same).count() {
            0 => job.op.to_string(),
            same => format!("{}-{}", job.op, same + 1),
        };
        operations.push(Operation {
            label,
            title: title_without(job, &dimensions),
            columns: columns.iter().map(|(name, _, _)| *name).collect(),
            jobs: family.iter().map(part).collect(),
            remarks: distinct(remarks),
        });
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_may_have_a_colon_and_one_that_is_too_long_stays_in_its_sentence() {
        let finding = |topic: &str| Finding::new("id".to_owned(), topic.to_owned(), "holds.", None);
        let short = finding("600 take longer than 600 times one: the loop costs");
        let answer = Answer::of(&short);
        assert_eq!(answer.topic, Some(&*short.topic));
        assert_eq!(answer.words, "holds.");
        let long = finding(&"long ".repeat(40));
        let answer = Answer::of(&long);
        assert_eq!(answer.topic, None);
        assert_eq!(answer.words, long.sentence);
    }
}
