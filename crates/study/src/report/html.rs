//! The report as one page that needs nothing else: no network, no other file.

use minijinja::{AutoEscape, Environment, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;

use super::{
    figure::Figure,
    model::{Finding, Group, Report, Row, Session},
    overview::{Overview, OverviewCell, OverviewRow},
    quantity,
    review::{Case, Claim, Review, Table, TableRow, Verdict},
    svg::svg,
    words,
};
use crate::number;

/// The whole page.
pub fn html(report: &Report) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(syntax());
    // The template is a part of this program, and tests render it: what fails here is a bug.
    environment
        .add_template("report", include_str!("page/report.html"))
        .expect("the template is well formed");
    let template = environment
        .get_template("report")
        .expect("it has just been added");
    template
        .render(Serde(Page::of(report)))
        .expect("the template asks for nothing that the page does not have")
}

/// Lines with nothing but a tag leave no empty lines.
fn syntax() -> SyntaxConfig {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    syntax.expect("the delimiters are the usual ones")
}

#[derive(Serialize)]
struct Page<'a> {
    report: &'a Report,
    status: String,
    answers: Vec<Answer<'a>>,
    overviews: Vec<OverviewTable<'a>>,
    overview_words: &'static str,
    sections: Vec<Section>,
    drawings: Vec<Drawing>,
    reviews: Vec<ReviewPart<'a>>,
    troubles: Vec<words::Trouble>,
    /// The first session's.
    machine: Option<&'a [(&'static str, String)]>,
    /// The same in a line.
    machine_words: String,
    machines_differ: bool,
    sessions: Vec<String>,
    warnings: Vec<String>,
    style: &'static str,
    script: &'static str,
}

impl Page<'_> {
    fn of(report: &Report) -> Page<'_> {
        Page {
            report,
            status: words::status(report),
            answers: report.findings.iter().map(Answer::of).collect(),
            overviews: report.overviews.iter().map(OverviewTable::of).collect(),
            overview_words: words::OVERVIEW,
            sections: report.groups.iter().map(Section::of).collect(),
            drawings: report.figures.iter().map(Drawing::of).collect(),
            reviews: report.articles.iter().map(ReviewPart::of).collect(),
            troubles: words::troubles(report),
            machine: report
                .sessions
                .first()
                .map(|session| session.machine.as_slice()),
            machine_words: report
                .sessions
                .first()
                .map(machine_words)
                .unwrap_or_default(),
            machines_differ: report
                .sessions
                .iter()
                .any(|session| words::machine_changed(report, session)),
            sessions: words::sessions(report),
            warnings: words::warnings(report),
            style: include_str!("page/page.css"),
            script: include_str!("page/figure.js"),
        }
    }
}

/// Engines down, sizes across.
#[derive(Serialize)]
struct OverviewTable<'a> {
    id: &'a str,
    title: &'a str,
    unit: &'a str,
    bits: &'a [usize],
    rows: Vec<OverviewLine<'a>>,
    reasons: &'a [String],
}

#[derive(Serialize)]
struct OverviewLine<'a> {
    engine: &'a str,
    cells: Vec<String>,
}

impl<'a> OverviewTable<'a> {
    fn of(overview: &'a Overview) -> Self {
        let line = |row: &'a OverviewRow| OverviewLine {
            engine: &row.engine,
            cells: row.cells.iter().map(OverviewCell::text).collect(),
        };
        OverviewTable {
            id: &overview.id,
            title: &overview.title,
            unit: overview.unit,
            bits: &overview.bits,
            rows: overview.rows.iter().map(line).collect(),
            reasons: &overview.reasons,
        }
    }
}

/// A finding, parted into what was asked and what came out, unless the one is too long to stand beside the other.
#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    topic: Option<&'a str>,
    words: &'a str,
}

impl<'a> Answer<'a> {
    fn of(finding: &'a Finding) -> Self {
        const LONGEST_TOPIC: usize = 110;
        let is_short = finding.topic.len() <= LONGEST_TOPIC;
        Answer {
            id: &finding.id,
            topic: is_short.then_some(&finding.topic),
            words: if is_short {
                finding.words()
            } else {
                &finding.sentence
            },
        }
    }
}

/// What decides about speed, as far as it is known: `AMD EPYC, 2 CPUs on 2 cores, 23.5 GiB`.
fn machine_words(session: &Session) -> String {
    const TOLD: [&str; 4] = ["CPU", "CPUs", "memory", "operating system"];
    let told = TOLD.iter().filter_map(|told| {
        let row = session.machine.iter().find(|(name, _)| name == told);
        row.map(|(_, value)| value.as_str())
    });
    told.collect::<Vec<_>>().join(", ")
}

/// A figure with its still picture and the data that the script draws: both go into the page as they are.
#[derive(Serialize)]
struct Drawing {
    id: String,
    title: String,
    description: String,
    still: String,
    data: String,
}

impl Drawing {
    fn of(figure: &Figure) -> Drawing {
        let data =
            serde_json::to_string(figure).expect("a figure has text keys, so it has a JSON form");
        Drawing {
            id: figure.id.clone(),
            title: figure.title.clone(),
            description: figure.description.clone(),
            still: svg(figure),
            // Inside a script element only "</" and "<!--" mean anything; JSON can spell them another way.
            data: data.replace('<', "\\u003c"),
        }
    }
}

/// An article, in words.
#[derive(Serialize)]
struct ReviewPart<'a> {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    machine: &'static str,
    tables: Vec<BesideTable<'a>>,
    claim_engines: Vec<&'a str>,
    claims: Vec<ClaimRow<'a>>,
    remarks: &'a [String],
    /// Figures and tables for which there is nothing here.
    lacks: Vec<Lack<'a>>,
}

/// Something of an article for which there is nothing here.
#[derive(Serialize)]
struct Lack<'a> {
    id: &'a str,
    title: &'a str,
    reason: &'a str,
}

impl<'a> ReviewPart<'a> {
    fn of(review: &'a Review) -> Self {
        let figures = review
            .shown
            .iter()
            .filter_map(|shown| Some((shown.id.as_str(), &shown.title, shown.reason.as_ref()?)));
        let engines = claim_engines(&review.claims);
        ReviewPart {
            id: review.id,
            title: review.title,
            source: review.source,
            machine: review.machine,
            tables: review.tables.iter().map(BesideTable::of).collect(),
            claims: review
                .claims
                .iter()
                .map(|claim| ClaimRow::of(claim, &engines))
                .collect(),
            claim_engines: engines,
            remarks: &review.remarks,
            lacks: figures
                .map(|(id, title, reason)| Lack { id, title, reason })
                .collect(),
        }
    }
}

/// A table of an article: each cell our number, and the printed one.
#[derive(Serialize)]
struct BesideTable<'a> {
    id: &'a str,
    title: String,
    row_head: &'a str,
    columns: &'a [String],
    rows: Vec<BesideRow<'a>>,
    remarks: &'a [String],
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct BesideRow<'a> {
    label: &'a str,
    cells: Vec<(String, Option<String>)>,
}

impl<'a> BesideTable<'a> {
    fn of(table: &'a Table) -> Self {
        let row = |row: &'a TableRow| BesideRow {
            label: &row.label,
            cells: row.cells.iter().map(words::beside).collect(),
        };
        BesideTable {
            id: &table.id,
            title: words::table_title(table),
            row_head: &table.row_head,
            columns: &table.columns,
            rows: table.rows.iter().map(row).collect(),
            remarks: &table.remarks,
            reason: table.reason.as_deref(),
        }
    }
}

/// A claim of an article, in words.
#[derive(Serialize)]
struct ClaimRow<'a> {
    id: &'static str,
    /// `i`, `ii` …
    numeral: String,
    claim: &'static str,
    published: &'static str,
    computed: &'static str,
    reason: Option<&'a str>,
    verdicts: Vec<VerdictCell>,
    cases: Vec<CaseLine<'a>>,
}

#[derive(Serialize)]
struct VerdictCell {
    class: Verdict,
    words: &'static str,
}

#[derive(Serialize)]
struct CaseLine<'a> {
    engine: &'a str,
    case: &'a str,
    sentence: &'a str,
    verdict: &'static str,
}

/// The engines that claims have verdicts for, in the order in which they are first named.
fn claim_engines(claims: &[Claim]) -> Vec<&str> {
    let mut engines = Vec::new();
    for verdict in claims.iter().flat_map(|claim| &claim.verdicts) {
        if !engines.contains(&verdict.engine.as_str()) {
            engines.push(verdict.engine.as_str());
        }
    }
    engines
}

impl<'a> ClaimRow<'a> {
    fn of(claim: &'a Claim, engines: &[&str]) -> Self {
        let case = |case: &'a Case| CaseLine {
            engine: &case.engine,
            case: &case.case,
            sentence: &case.sentence,
            verdict: case.verdict.words(),
        };
        ClaimRow {
            id: claim.id,
            numeral: claim.numeral(),
            claim: claim.claim,
            published: claim.published,
            computed: claim.computed,
            reason: claim.reason.as_deref(),
            verdicts: engines
                .iter()
                .map(|engine| {
                    let mut verdicts = claim.verdicts.iter();
                    let one = verdicts.find(|one| one.engine == **engine);
                    VerdictCell {
                        class: one.map_or(Verdict::NotMeasurableHere, |one| one.verdict),
                        words: one.map_or("–", |one| one.verdict.words()),
                    }
                })
                .collect(),
            cases: claim.cases.iter().map(case).collect(),
        }
    }
}

/// A group's table.
#[derive(Serialize)]
struct Section {
    id: String,
    title: String,
    unit: &'static str,
    base: Option<String>,
    confidence: String,
    /// The conditions of all engines.
    shared: String,
    has_ticks: bool,
    rows: Vec<Line>,
}

/// A row of a table, in words.
#[derive(Serialize)]
struct Line {
    engine: String,
    version: Option<String>,
    kernel: Option<String>,
    speed: Option<String>,
    speed_interval: Option<String>,
    time: Option<String>,
    time_interval: Option<String>,
    ticks: Option<String>,
    ratio: Option<String>,
    ratio_interval: Option<String>,
    differs: Option<String>,
    /// The conditions that others of the group do not share.
    conditions: String,
    /// What was prepared beforehand and is not in the time.
    setup: Option<String>,
    notes: Vec<String>,
    state: &'static str,
    reason: Option<String>,
}

impl Section {
    fn of(group: &Group) -> Section {
        let shared = words::shared_conditions(group);
        Section {
            id: quantity::slug(&group.job),
            title: group.title.clone(),
            unit: quantity::unit(&group.job),
            base: group.base().map(|row| row.engine.clone()),
            confidence: number::percent(group.confidence),
            rows: group
                .rows
                .iter()
                .map(|row| Line::of(group, &shared, row))
                .collect(),
            shared: shared.join(", "),
            has_ticks: group.rows.iter().any(|row| {
                row.figures
                    .is_some_and(|figures| figures.tsc_per_op.is_some())
            }),
        }
    }
}

impl Line {
    fn of(group: &Group, shared: &[String], row: &Row) -> Line {
        let mut conditions = row
            .ledger
            .as_ref()
            .map(words::condition_parts)
            .unwrap_or_default();
        conditions.retain(|condition| !shared.contains(condition));
        let speed = row
            .figures
            .map(|figures| quantity::speed(&group.job, &figures.ops_per_s));
        let time = row
            .figures
            .map(|figures| number::duration_and_interval(&figures.ns_per_op));
        let ratio = row.ratio.as_ref();
        let differs = ratio.filter(|ratio| !ratio.differs_in.is_empty());
        Line {
            engine: row.engine.clone(),
            version: row.engine_version.clone(),
            kernel: row.kernel.clone(),
            speed: speed.map(|speed| number::significant(speed.value)),
            speed_interval: speed.map(|speed| number::interval(&speed)),
            time: time.as_ref().map(|(value, _)| value.clone()),
            time_interval: time.map(|(_, interval)| interval),
            ticks: row
                .figures
                .and_then(|figures| figures.tsc_per_op)
                .map(number::significant),
            ratio: ratio.map(|ratio| number::significant(ratio.to_first.value)),
            ratio_interval: ratio.map(|ratio| number::interval(&ratio.to_first)),
            differs: differs.map(|ratio| ratio.differs_in.join(", ")),
            conditions: conditions.join(", "),
            setup: row
                .ledger
                .as_ref()
                .map(|ledger| ledger.setup.clone())
                .filter(|setup| !setup.is_empty()),
            notes: [words::luck(group, row), row.notes.clone()].concat(),
            state: row.state,
            reason: row.reason.clone(),
        }
    }
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
