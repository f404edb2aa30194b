//! A report as data: everything that the page, the tables and the files say.

use std::{collections::BTreeMap, fmt};

use rsalab_engines::{Job, Ledger};
use rsalab_measure::{Estimate, Machine};
use serde::Serialize;

use super::{
    digest::Digest,
    figure::Figure,
    figures, findings,
    overview::{self, Overview},
    review::Review,
};
use crate::{
    compare::{self, Figures, LuckCorrected, Measured, MeasuredBlock, Ratio},
    number,
    plan::{self, Article, Plan},
    run::interrupted_note,
    store::{
        BlockRecord, CellRecord, CellState, GroupRecord, InterruptedBlock, Store, StoreError,
        StudyRecord, TakenBlock,
    },
};

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What the study asks.
    pub title: String,
    /// Whether every cell is closed.
    pub is_complete: bool,
    /// Cells by state.
    pub counts: BTreeMap<&'static str, usize>,
    /// The answer: who, by how much, how sure.
    pub findings: Vec<Finding>,
    /// What is drawn.
    pub figures: Vec<Figure>,
    /// What it says about the articles whose studies it does again.
    pub articles: Vec<Review>,
    /// One table for each operation that was asked for at several sizes.
    pub overviews: Vec<Overview>,
    /// Every group of cells, in the order of the plan.
    pub groups: Vec<Group>,
    /// How it was measured.
    pub method: Vec<String>,
    /// The sessions, each with its machine.
    pub sessions: Vec<Session>,
    /// The command that made the study.
    pub command: String,
    /// The command that makes this report again.
    pub report_command: String,
    /// The plan.
    pub plan_toml: String,
    /// From which every key and input of the study derives; no secret.
    pub insecure_seed: String,
    /// The version of the program that made the report.
    pub program_version: &'static str,
}

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
        }
    }

    /// What came out: how the sentence goes on after its colon.
    pub(super) fn words(&self) -> &str {
        &self.sentence[self.topic.len() + 2..]
    }
}

/// The same job on several engines, measured in turn.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// In a few words.
    pub title: String,
    /// The article whose study asks for it.
    pub article: Option<Article>,
    /// What was asked.
    pub job: Job,
    /// The confidence that intervals were asked to have.
    pub confidence: f64,
    /// One row for each engine.
    pub rows: Vec<Row>,
}

/// One job on one engine.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The engine's selector.
    pub engine: String,
    /// The version of its library.
    pub engine_version: Option<String>,
    /// The code path it chose for this CPU.
    pub kernel: Option<String>,
    /// How far the cell has come.
    pub state: &'static str,
    /// Why there is no figure.
    pub reason: Option<String>,
    /// The figures, if the cell is done.
    pub figures: Option<Figures>,
    /// Its speed beside that of the group's first engine that is done.
    pub ratio: Option<Ratio>,
    /// Its speed without luck, where luck decides and can be told. The figures and the ratio are raw.
    pub luck_corrected: Option<LuckCorrected>,
    /// The conditions of the figures.
    pub ledger: Option<Ledger>,
    /// What articles need beyond the figures.
    #[serde(skip)]
    pub(crate) digest: Option<Digest>,
    /// Without blinding and without the check of the result, on request.
    pub is_bare: bool,
    /// The logical CPUs its threads ran on.
    pub cpus: Vec<usize>,
    /// Blocks during which something outside kept the worker from running: left out of every figure.
    pub interrupted_blocks: usize,
    /// Remarks.
    pub notes: Vec<String>,
}

/// One start of the program on the study.
#[derive(Clone, Debug, Serialize)]
pub struct Session {
    /// From 1.
    pub number: i64,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// When it ended; none if it was killed.
    pub ended_unix_ms: Option<i64>,
    /// `complete`, `stopped`, `failed`, or `killed`.
    pub ending: &'static str,
    /// The version of the program.
    pub program_version: String,
    /// What was wrong with the machine for measuring.
    pub warnings: Vec<String>,
    /// The machine, as names and values.
    pub machine: Vec<(&'static str, String)>,
}

/// What says, of the groups of an article, the records they were made from, and the machine of the first session, what
/// they mean for the article.
pub type Reviewer = dyn Fn(Article, &[Group], &[GroupRecord], Option<&Machine>) -> Review;

impl Report {
    /// The report of what a store holds now. The same store gives the same report.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn of(store: &Store, reviewer: &Reviewer) -> Result<Report, StoreError> {
        let study = store.study()?;
        let records = store.groups()?;
        let mut counts = BTreeMap::new();
        for cell in records.iter().flat_map(|group| &group.cells) {
            *counts.entry(cell.state.name()).or_insert(0) += 1;
        }
        let articles = Articles::of(&study);
        let mut groups = Vec::new();
        let mut findings = Vec::new();
        for record in &records {
            let blocks = store.blocks(record.id)?;
            let comparison = Comparison::of(record, &blocks);
            let interrupted = store.interrupted_blocks(record.id)?;
            let group = Group {
                article: articles.article_of(&record.job),
                ..Group::of(record, &comparison, &interrupted)
            };
            // What an article's groups say is said by its claims.
            if group.article.is_none() {
                findings.extend(findings::of_group(&group, &records, &comparison));
            }
            groups.push(group);
        }
        let session_records = store.sessions()?;
        let machine = session_records.first().map(|session| &session.machine);
        let review = |article: Article, groups: &[Group], records: &[GroupRecord]| {
            reviewer(article, groups, records, machine)
        };
        let mut reviews = articles.reviews(&groups, &records, review);
        findings.splice(0..0, reviews.iter().flat_map(findings::of_review));
        // An article's figures show its groups; the others would show them once more.
        let others: Vec<Group> = groups
            .iter()
            .filter(|group| group.article.is_none())
            .cloned()
            .collect();
        findings.extend(findings::over_threads(&others));
        let of_articles = reviews
            .iter_mut()
            .flat_map(|review| std::mem::take(&mut review.figures));
        let figures: Vec<Figure> = of_articles.chain(figures::of(&others)).collect();
        let sessions: Vec<Session> = session_records.iter().map(Session::of).collect();
        let directory = store.directory().display().to_string();
        Ok(Report {
            title: title_of(&study.plan_toml),
            is_complete: !records
                .iter()
                .flat_map(|group| &group.cells)
                .any(|cell| cell.state.is_open()),
            counts,
            findings,
            figures,
            articles: reviews,
            method: method(&records),
            overviews: overview::of(&groups),
            groups,
            sessions,
            command: study.command,
            report_command: format!("rsalab report {directory}"),
            plan_toml: study.plan_toml,
            insecure_seed: study.seed.to_string(),
            program_version: crate::VERSION,
        })
    }
}

/// A group's stored blocks, sorted out by cell.
pub(super) struct Comparison<'a> {
    /// In the order of the group's cells; none for those that are not done.
    pub(super) measured: Vec<Option<Measured<'a>>>,
    /// The same blocks as they were stored.
    taken: Vec<Vec<&'a TakenBlock>>,
}

impl<'a> Comparison<'a> {
    fn of(group: &'a GroupRecord, blocks: &'a [BlockRecord]) -> Self {
        let measured = |cell: &'a CellRecord| {
            let ledger = &cell.beginning.as_ref()?.ledger;
            let own = blocks.iter().filter(|block| block.cell == cell.id);
            let blocks = own.map(|block| MeasuredBlock::from(&block.taken)).collect();
            (cell.state == CellState::Done).then_some(Measured { ledger, blocks })
        };
        let taken = |cell: &CellRecord| {
            let own = blocks.iter().filter(|block| block.cell == cell.id);
            own.map(|block| &block.taken).collect()
        };
        Comparison {
            measured: group.cells.iter().map(measured).collect(),
            taken: group.cells.iter().map(taken).collect(),
        }
    }
}

impl Group {
    fn of(
        record: &GroupRecord,
        comparison: &Comparison<'_>,
        interrupted: &[InterruptedBlock],
    ) -> Group {
        let confidence = record.measure.confidence;
        let op = record.job.op;
        let first = comparison.measured.iter().flatten().next();
        let measured: Vec<Option<&Measured<'_>>> =
            comparison.measured.iter().map(Option::as_ref).collect();
        let corrected = compare::luck_corrected(op, &measured, confidence);
        let row = |(((cell, measured), corrected), taken): (((&CellRecord, _), _), &Vec<_>)| {
            let measured: Option<&Measured<'_>> = measured;
            let figures = measured.and_then(|measured| compare::figures(op, measured, confidence));
            let ratio = first
                .zip(measured)
                .and_then(|(first, this)| compare::ratio(op, first, this, confidence));
            let readiness = cell
                .beginning
                .as_ref()
                .map(|beginning| &beginning.readiness);
            let reasons: Vec<&str> = interrupted
                .iter()
                .filter(|block| block.record.cell == cell.id)
                .map(|block| block.reason.as_str())
                .collect();
            let row = Row::of(cell, figures, ratio);
            Row {
                notes: row
                    .notes
                    .into_iter()
                    .chain(interrupted_note(&reasons))
                    .collect(),
                interrupted_blocks: reasons.len(),
                digest: measured.map(|measured| Digest::of(measured, taken, readiness)),
                luck_corrected: corrected,
                ..row
            }
        };
        Group {
            title: plan::title(&record.job),
            article: None,
            job: record.job.clone(),
            confidence,
            rows: record
                .cells
                .iter()
                .zip(measured.iter().copied())
                .zip(corrected)
                .zip(&comparison.taken)
                .map(row)
                .collect(),
        }
    }

    /// The engine that ratios refer to.
    pub fn base(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.figures.is_some())
    }
}

impl Row {
    fn of(cell: &CellRecord, figures: Option<Figures>, ratio: Option<Ratio>) -> Row {
        let beginning = cell.beginning.as_ref();
        Row {
            engine: cell.engine.clone(),
            engine_version: beginning.map(|beginning| beginning.info.version.clone()),
            kernel: beginning.map(|beginning| beginning.readiness.kernel.clone()),
            state: cell.state.name(),
            reason: cell.state.reason().map(str::to_owned),
            figures,
            ratio,
            luck_corrected: None,
            digest: None,
            ledger: beginning.map(|beginning| beginning.ledger.clone()),
            is_bare: cell.job.bare,
            cpus: beginning
                .map(|beginning| beginning.readiness.cpus.clone())
                .unwrap_or_default(),
            interrupted_blocks: 0,
            notes: beginning
                .map(|beginning| beginning.notes.clone())
                .unwrap_or_default(),
        }
    }
}

impl Session {
    fn of(record: &crate::store::SessionRecord) -> Session {
        Session {
            number: record.number.0,
            started_unix_ms: record.started_unix_ms,
            ended_unix_ms: record.ended_unix_ms,
            ending: record.ending.map_or("killed", |ending| ending.name()),
            program_version: record.program_version.clone(),
            warnings: record.warnings.clone(),
            machine: record.machine.rows(),
        }
    }
}

/// Which groups of a study belong to which article: as its plan says, unfolded again on the machine that it was made on.
struct Articles {
    of_jobs: Vec<(Job, Article)>,
}

impl Articles {
    fn of(study: &StudyRecord) -> Articles {
        // A plan of a newer version may name articles that this one does not know: then it is a study like others.
        let plan = Plan::parse(&study.plan_toml, &study.host);
        let groups = plan.and_then(|plan| plan.groups(&study.host));
        let groups = groups.unwrap_or_default().into_iter();
        Articles {
            of_jobs: groups
                .filter_map(|group| Some((group.job, group.article?)))
                .collect(),
        }
    }

    fn article_of(&self, job: &Job) -> Option<Article> {
        let found = self.of_jobs.iter().find(|(of, _)| of == job);
        found.map(|(_, article)| *article)
    }

    /// What the study says about each article, in their order.
    fn reviews(
        &self,
        groups: &[Group],
        records: &[GroupRecord],
        reviewer: impl Fn(Article, &[Group], &[GroupRecord]) -> Review,
    ) -> Vec<Review> {
        let is_in_study = |article: &Article| self.of_jobs.iter().any(|(_, of)| of == article);
        let review = |article: Article| {
            let (groups, records): (Vec<Group>, Vec<GroupRecord>) = groups
                .iter()
                .zip(records)
                .filter(|(group, _)| group.article == Some(article))
                .map(|(group, record)| (group.clone(), record.clone()))
                .unzip();
            reviewer(article, &groups, &records)
        };
        Article::all().filter(is_in_study).map(review).collect()
    }
}

fn title_of(plan_toml: &str) -> String {
    let plan: Option<toml::Table> = plan_toml.parse().ok();
    let title = plan.as_ref().and_then(|plan| plan.get("title")?.as_str());
    title.unwrap_or("A study").to_owned()
}

fn method(groups: &[GroupRecord]) -> Vec<String> {
    let mut confidences: Vec<f64> = groups
        .iter()
        .map(|group| group.measure.confidence)
        .collect();
    confidences.sort_by(f64::total_cmp);
    confidences.dedup();
    let percent: Vec<String> = confidences
        .iter()
        .map(|share| number::percent(*share))
        .collect();
    let blocks = groups.iter().map(|group| group.measure.block_ms);
    let block_ms = number::span(blocks);
    let discard_ms = number::span(groups.iter().map(|group| group.measure.discard_ms));
    vec![
        "Each engine runs in a process of its own. The engines of a group do the same job with the same keys and inputs, \
         and are measured in turn, block by block, in an order drawn anew for each round: whatever the machine does hits \
         all of them alike."
            .to_owned(),
        format!(
            "A block lasts {block_ms} ms or one call, whichever is longer; its first {discard_ms} ms are thrown away, \
             because wide vector instructions change the clock of the core. Every call is timed by one loop, the same for \
             every engine, and the overhead of the clock is subtracted."
        ),
        "Every output is verified by arithmetic of another origin, before the measurement and after it, and in between \
         every run is compared with the first. A wrong answer is recorded as a failure and never as a time."
            .to_owned(),
        format!(
            "Times are medians over all samples with an interval of {} that takes the block for the unit of independence. \
             Ratios are of engines measured in the same rounds: the median over the rounds of what each says, with its \
             exact interval. Where luck decides how long an operation takes, as in key generation, the speed is the \
             number of operations over the time of all of them, and the ratio is between those, with a bootstrap interval \
             that draws rounds. Figures without luck are what each would have, had both tried as many candidates.",
            percent.join(" or ")
        ),
        "A block whose process was stopped, or had less than a quarter of the time it needed, is interrupted: it is kept, \
         left out of every figure, counted in the notes, and measured anew."
            .to_owned(),
        "Ticks are those of the time-stamp counter, which runs at a constant rate. They are not core cycles.".to_owned(),
        "Keys and inputs derive from the study's seed, which is printed here: they are insecure on purpose.".to_owned(),
    ]
}
