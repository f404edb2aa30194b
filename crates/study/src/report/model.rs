//! A report as data: everything that the page, the tables and the files say.

use std::collections::BTreeMap;

use rsalab_engines::Job;
use rsalab_measure::Machine;
use serde::{Deserialize, Serialize};

use super::{
    analysis::{self, Analysis},
    drift::Drift,
    figure::Figure,
    figures,
    findings::{self, Finding},
    group::{Group, measured},
    overview::{self, Overview},
    review::Review,
    scaling::{self, Scaling},
    speedup::OnOneThread,
};
use crate::{
    compare,
    cpus::Cpus,
    number,
    plan::{self, Article, Plan},
    shell,
    store::{GroupRecord, SentinelRecord, SessionRecord, Store, StoreError, StudyRecord},
};

/// The whole report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The question of the study.
    pub title: String,
    /// `true` if every cell is closed.
    pub is_complete: bool,
    /// Cells by state.
    pub counts: BTreeMap<String, usize>,
    /// The answer: who, by how much, how sure.
    pub findings: Vec<Finding>,
    /// The curves or bars.
    pub figures: Vec<Figure>,
    /// The reviews of the articles whose studies it does again.
    pub articles: Vec<Review>,
    /// The gain from threads, job by job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// Conclusions from many cells together, section by section.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub analyses: Vec<Analysis>,
    /// One table for each operation that was asked for at several sizes.
    pub overviews: Vec<Overview>,
    /// Every group of cells, in the order of the plan.
    pub groups: Vec<Group>,
    /// How it was measured.
    pub method: Vec<String>,
    /// The sessions, each with its machine.
    pub sessions: Vec<Session>,
    /// How fast the machine was before each group of all sessions; none where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// That the study may lack what was measured last; none if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The command that made the study.
    pub command: String,
    /// The command that makes this report again.
    pub report_command: String,
    /// The command that writes the samples of the study to one file.
    pub samples_command: String,
    /// The plan.
    pub plan_toml: String,
    /// From which every key and input of the study derives; no secret.
    pub insecure_seed: String,
    /// When the study was made, in milliseconds since 1970.
    pub created_unix_ms: i64,
    /// The version of the program that made the report.
    pub program_version: String,
}

/// One start of the program on the study.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// From 1.
    pub number: i64,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// When it ended; none if it was killed.
    pub ended_unix_ms: Option<i64>,
    /// `complete`, `stopped`, `failed`, or `killed`.
    pub ending: String,
    /// The version of the program.
    pub program_version: String,
    /// Warnings about the machine.
    pub warnings: Vec<String>,
    /// The machine, as names and values.
    pub machine: Vec<(String, String)>,
    /// How fast it was before each of its groups; none where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// The warning about a study of which [`Store::lacks_its_log`].
pub const LACKS_ITS_LOG: &str = "study.db was copied without the file study.db-wal beside it, or whoever wrote it was \
                             killed: what was measured last may be missing";

/// A function that says, of the groups of an article, the records they were made from, and the circumstances, what they
/// mean for the article.
pub type Reviewer = dyn Fn(Article, &[Group], &[GroupRecord], Circumstances<'_>) -> Review;

/// The circumstances of a measurement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// The machine of the first session; none before it.
    pub machine: Option<&'a Machine>,
    /// `true` if texts are beginnings of one that was given, not random.
    pub has_own_text: bool,
}

impl Report {
    /// Every figure, those of the sections too.
    pub fn all_figures(&self) -> impl Iterator<Item = &Figure> {
        let parts = self.analyses.iter().flat_map(|analysis| &analysis.parts);
        self.figures.iter().chain(parts.flat_map(|part| &part.figures))
    }

    /// The report of what a store holds now. The same store gives the same report.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn of(store: &Store, reviewer: &Reviewer) -> Result<Report, StoreError> {
        let study = store.study()?;
        let records = store.own_groups()?;
        let mut counts = BTreeMap::new();
        for cell in records.iter().flat_map(|group| &group.cells) {
            *counts.entry(cell.state.name().to_owned()).or_insert(0) += 1;
        }
        let of_articles = jobs_of_articles(&study);
        let article_of = |job: &Job| {
            let found = of_articles.iter().find(|(of, _)| of == job);
            found.map(|(_, article)| *article)
        };
        let session_records = store.sessions()?;
        let machine = session_records.first().map(|session| &session.machine);
        let cpus = machine.map(Cpus::of);
        let quota = machine.and_then(|machine| machine.topology.quota);
        let own_text = own_text_of(&study.plan_toml);
        let circumstances = Circumstances {
            machine,
            has_own_text: own_text.is_some(),
        };
        let mut on_one_thread = OnOneThread::new(store, &records);
        let mut groups = Vec::new();
        let mut findings = Vec::new();
        let titles = plan::titles(records.iter().map(|record| &record.job));
        for (record, title) in records.iter().zip(titles) {
            let blocks = store.blocks(record.id)?;
            let measured = measured(record, &blocks);
            let speedups = on_one_thread.speedups(record, &blocks)?;
            let interrupted = store.interrupted_blocks(record.id)?;
            let group = Group {
                title,
                article: article_of(&record.job),
                ..Group::of(record, &measured, &interrupted, speedups, quota)
            };
            // What an article's groups say is said by its claims.
            if group.article.is_none() {
                findings.extend(findings::of_group(&group, &records, &measured, cpus));
            }
            groups.push(group);
        }
        let review = |article: Article| {
            let all = groups.iter().cloned().zip(records.iter().cloned());
            let own = all.filter(|(group, _)| group.article == Some(article));
            let (groups, records): (Vec<Group>, Vec<GroupRecord>) = own.unzip();
            reviewer(article, &groups, &records, circumstances)
        };
        let is_in_study = |article: &Article| of_articles.iter().any(|(_, of)| of == article);
        let articles = Article::all().filter(is_in_study);
        let mut reviews: Vec<Review> = articles.map(review).collect();
        findings.splice(0..0, reviews.iter().flat_map(findings::of_review));
        // An article's figures show its groups; the others would show them once more.
        let others: Vec<Group> = groups.iter().filter(|group| group.article.is_none()).cloned().collect();
        findings.extend(findings::over_threads(&others, cpus));
        let mut figures: Vec<Figure> = Vec::new();
        for review in &mut reviews {
            figures.append(&mut review.figures);
        }
        figures.extend(figures::of(&others));
        let scaling = scaling::of(&others, cpus);
        let confidence = others.first().map_or(compare::CONFIDENCE, |group| group.confidence);
        figures.extend(scaling.iter().filter_map(|one| one.figure(confidence, cpus)));
        let peaks = machine.and_then(|machine| machine.multiply_peaks.known());
        let core_hz = machine
            .and_then(|machine| machine.core_clock.known())
            .map(|clock| clock.hz);
        let analyses = analysis::of(&groups, &others, peaks.map_or(&[], Vec::as_slice), core_hz);
        let sentinels = store.sentinels()?;
        let sessions: Vec<Session> = session_records
            .iter()
            .map(|record| Session::of(record, &sentinels))
            .collect();
        let directory = shell::operand(store.directory());
        let samples_command = format!("rsalab export --samples --out samples.csv {directory}");
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
            method: method(&records, own_text, &samples_command),
            scaling,
            analyses,
            overviews: overview::of(&groups),
            groups,
            sessions,
            drift: Drift::of(sentinels.iter()),
            incomplete: store.lacks_its_log().then(|| LACKS_ITS_LOG.to_owned()),
            command: study.command,
            report_command: format!("rsalab report {directory}"),
            samples_command,
            plan_toml: study.plan_toml,
            insecure_seed: study.seed.to_string(),
            created_unix_ms: study.created_unix_ms,
            program_version: crate::version::VERSION.to_owned(),
        })
    }
}

impl Session {
    /// A fact of the machine by its name; none where it is not known.
    pub(crate) fn fact(&self, name: &str) -> Option<&str> {
        let row = self.machine.iter().find(|(known, _)| known == name);
        row.map(|(_, value)| value.as_str())
            .filter(|value| !value.starts_with("not known"))
    }

    pub(crate) fn of(record: &SessionRecord, sentinels: &[SentinelRecord]) -> Session {
        let rows = record.machine.rows().into_iter();
        Session {
            number: record.number.0,
            started_unix_ms: record.started_unix_ms,
            ended_unix_ms: record.ended_unix_ms,
            ending: record.ending.map_or("killed", |ending| ending.name()).to_owned(),
            program_version: record.program_version.clone(),
            warnings: record.warnings.clone(),
            machine: rows.map(|(name, value)| (name.to_owned(), value)).collect(),
            drift: Drift::of(sentinels.iter().filter(|sentinel| sentinel.session == record.number)),
        }
    }
}

/// Which jobs of a study belong to which article: as its plan says, unfolded again on the machine that it was made on.
fn jobs_of_articles(study: &StudyRecord) -> Vec<(Job, Article)> {
    // A plan of a newer version may name articles that this one does not know: then it is a study like others.
    let plan = Plan::parse(&study.plan_toml, &study.host);
    let groups = plan.and_then(|plan| plan.groups(&study.host));
    let groups = groups.unwrap_or_default().into_iter();
    groups.filter_map(|group| Some((group.job, group.article?))).collect()
}

pub(crate) fn title_of(plan_toml: &str) -> String {
    let plan: Option<toml::Table> = plan_toml.parse().ok();
    let title = plan.as_ref().and_then(|plan| plan.get("title")?.as_str());
    title.unwrap_or("A study").to_owned()
}

/// The text that the user gave in place of random ones, in words.
fn own_text_of(plan_toml: &str) -> Option<String> {
    let plan: toml::Table = plan_toml.parse().ok()?;
    let text = plan.get("text")?.as_str()?;
    Some(format!(
        "Texts are the beginnings of one that was given, of {} bytes; the plan has it whole.",
        number::whole(text.len() as u64)
    ))
}

/// How it was measured, in paragraphs.
fn method(groups: &[GroupRecord], own_text: Option<String>, samples_command: &str) -> Vec<String> {
    let mut confidences: Vec<f64> = groups.iter().map(|group| group.measure.confidence).collect();
    confidences.sort_by(f64::total_cmp);
    confidences.dedup();
    let percent: Vec<String> = confidences.iter().map(|share| number::percent(*share)).collect();
    let block_ms = groups.iter().map(|group| group.measure.block_ms);
    let discard_ms = groups.iter().map(|group| group.measure.discard_ms);
    let words = include_str!("page/method.txt")
        .replace("{confidence}", &percent.join(" or "))
        .replace("{block_ms}", &number::span(block_ms))
        .replace("{discard_ms}", &number::span(discard_ms));
    // Last, and line by line: the name of a directory may have lines and braces of its own.
    words
        .lines()
        .map(|line| line.replace("{samples_command}", samples_command))
        .chain(own_text)
        .collect()
}
