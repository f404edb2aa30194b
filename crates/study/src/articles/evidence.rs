//! The measurements that a study has of an article's cells, or why it has none: where formulas find their cells.

use std::collections::BTreeMap;

use rsalab_engines::{Job, Op};

use super::{
    cell::Cell,
    cpu_share::{CpuShare, single_threads},
    data::{Definition, Need, Replacement, SizesOf},
    scope::Scope,
};
use crate::{
    cpus::Cpus,
    distinct::distinct,
    plan::scaled_message,
    report::{Circumstances, Group, Row},
    store::GroupRecord,
};

/// The cells of a study that belong to an article, and the article.
pub(super) struct Evidence<'a> {
    pub(super) data: &'static Definition,
    pub(super) groups: &'a [Group],
    pub(super) records: &'a [GroupRecord],
    pub(super) cpus: Option<Cpus>,
    /// `true` if texts are beginnings of one that was given.
    has_own_text: bool,
    /// The fields of each group's job.
    jobs: Vec<BTreeMap<String, String>>,
    /// CPU time that single threads had, all together.
    pub(super) single_threads: Option<CpuShare>,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(
        data: &'static Definition,
        groups: &'a [Group],
        records: &'a [GroupRecord],
        circumstances: Circumstances<'_>,
    ) -> Self {
        Evidence {
            data,
            groups,
            records,
            cpus: circumstances.machine.map(Cpus::of),
            has_own_text: circumstances.has_own_text,
            jobs: groups.iter().map(|group| fields(&group.job)).collect(),
            single_threads: single_threads(groups),
        }
    }

    /// Engines with at least one figure, in the order of the plan.
    pub(super) fn engines(&self) -> Vec<&'a str> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        let measured = rows.filter(|row| row.figures.is_some());
        distinct(measured.map(|row| row.engine.as_str()))
    }

    /// Sizes of texts, ascending.
    pub(super) fn sizes(&self) -> Vec<usize> {
        ascending(self.groups.iter().map(|group| group.job.symbols))
    }

    /// Bits of the moduli, ascending.
    pub(super) fn key_sizes(&self) -> Vec<usize> {
        ascending(self.groups.iter().map(|group| group.job.bits))
    }

    /// Bits of the moduli of some groups, ascending.
    pub(super) fn key_sizes_of(&self, of: SizesOf) -> Vec<usize> {
        let is_meant = |job: &&Job| match of {
            SizesOf::All => true,
            SizesOf::Many => is_of_many(job),
            SizesOf::Batches => job.batch > 1,
        };
        let jobs = self.groups.iter().map(|group| &group.job);
        ascending(jobs.filter(is_meant).map(|job| job.bits))
    }

    /// Directions and bits of texts of many messages, in the order of the plan.
    pub(super) fn directions_of_many(&self) -> Vec<(&'static str, usize)> {
        let jobs = self.groups.iter().map(|group| &group.job);
        distinct(jobs.filter(|job| is_of_many(job)).map(|job| match job.op {
            Op::TextEncrypt => ("encryption", job.bits),
            _ => ("decryption", job.bits),
        }))
    }

    /// The key size that claims about many messages are judged at: the article's, or else the least that was asked for.
    fn many_key(&self) -> usize {
        const PUBLISHED: usize = 1024;
        let sizes = self.key_sizes_of(SizesOf::Many);
        match sizes.contains(&PUBLISHED) {
            true => PUBLISHED,
            false => sizes.first().copied().unwrap_or(PUBLISHED),
        }
    }

    /// Bits of a message of the article with a modulus: as many as it has, or in proportion where they do not fit.
    fn message_bits(&self, message: usize, modulus: usize) -> usize {
        let of = self.data.messages.get(&message.to_string());
        of.map_or(message, |of| scaled_message(message, *of, modulus))
    }

    /// A message as cells name it, with the modulus of a job.
    fn message_words(&self, message: &str, modulus: &str) -> String {
        match (message.parse(), modulus.parse()) {
            (Ok(message), Ok(modulus)) => self.message_bits(message, modulus).to_string(),
            _ => message.to_owned(),
        }
    }

    /// Numbers of threads, ascending.
    pub(super) fn threads(&self) -> Vec<usize> {
        ascending(self.groups.iter().map(|group| group.job.threads))
    }

    /// The confidence of the intervals.
    pub(super) fn confidence(&self) -> f64 {
        self.groups.first().map_or(0.95, |group| group.confidence)
    }

    /// The CPUs; one where nothing is known of them.
    pub(super) fn known_cpus(&self) -> Cpus {
        self.cpus.unwrap_or(Cpus {
            cores: 1,
            logical: 1,
            quota: None,
        })
    }

    /// The largest number of threads that texts were measured on and that does not exceed the CPUs.
    ///
    /// # Errors
    /// There are no several threads to speak of.
    pub(super) fn all_threads(&self) -> Result<usize, String> {
        let most = self.cpus.map_or(usize::MAX, |cpus| cpus.logical);
        let texts = self.groups.iter().map(|group| &group.job);
        let counts = texts
            .filter(|job| job.op.is_text())
            .map(|job| job.threads)
            .filter(|count| (2..=most).contains(count));
        counts.max().ok_or_else(|| match (most, self.known_cpus().quota) {
            (1, None) => "this machine has one CPU".to_owned(),
            (1, Some(_)) => format!("this study could use {}", self.known_cpus().words()),
            _ => "this study does not ask for several threads".to_owned(),
        })
    }

    /// A number that the study or its machine has under this name.
    pub(super) fn number(&self, name: &str) -> Option<Result<usize, String>> {
        let sizes = || match &self.sizes()[..] {
            [first, .., last] => Ok((*first, *last)),
            _ => Err("the study has no two sizes of text".to_owned()),
        };
        Some(match name {
            "all-threads" => self.all_threads(),
            "all-threads-or-one" => Ok(self.all_threads().unwrap_or(1)),
            "cores" => Ok(self.known_cpus().cores),
            "cpus" => Ok(self.known_cpus().logical),
            "smallest-text" => sizes().map(|(first, _)| first),
            "largest-text" => Ok(self.sizes().last().copied().unwrap_or(0)),
            "many-key" => Ok(self.many_key()),
            "smallest-key" => Ok(self.key_sizes().first().copied().unwrap_or(0)),
            _ => return None,
        })
    }

    /// Checks that something holds of the study, its machine or the scope.
    ///
    /// # Errors
    /// The reason why not.
    pub(super) fn check(&self, condition: &str, scope: &Scope) -> Result<(), String> {
        let cpus = self.known_cpus();
        let holds = match condition.split_once(' ') {
            _ if condition == "several threads" => return self.all_threads().map(drop),
            _ if condition == "several CPUs" => cpus.logical > 1,
            _ if condition == "enough CPUs" => scope
                .word("threads")
                .parse()
                .is_ok_and(|count: usize| count <= cpus.logical),
            _ if condition.starts_with("hyper-threads") => {
                let is_for_best = condition == "hyper-threads for the best";
                let is_other = is_for_best && scope.word("best") != "hyper-threads";
                if !is_other && !cpus.has_smt() {
                    return Err("this machine shows no hyper-threads".to_owned());
                }
                true
            }
            Some(("not", condition)) => self.check(condition, scope).is_err(),
            Some(("text-of", symbols)) => {
                let largest = self.sizes().last().copied().unwrap_or(0);
                symbols.parse().is_ok_and(|symbols: usize| largest >= symbols)
            }
            Some(("scaled", message)) => message.parse().is_ok_and(|message: usize| {
                let mut sizes = self.key_sizes().into_iter();
                sizes.any(|bits| self.message_bits(message, bits) != message)
            }),
            _ if condition == "own text" => self.has_own_text,
            _ if condition == "machine" => self.cpus.is_some(),
            _ if condition == "no machine" => self.cpus.is_none(),
            Some(("engine", engine)) => {
                let mut rows = self.groups.iter().flat_map(|group| &group.rows);
                rows.any(|row| row.engine == engine)
            }
            Some((name, word)) => {
                let number = || self.number(name)?.ok();
                scope.word(name) == word || number().is_some_and(|number| number.to_string() == word)
            }
            None => panic!("'{condition}' is not a condition"),
        };
        match holds {
            true => Ok(()),
            false => Err(condition.to_owned()),
        }
    }

    /// Returns whether all that is needed holds.
    pub(super) fn has(&self, needs: &[Need], scope: &Scope) -> bool {
        needs.iter().all(|need| self.check(&need[0], scope).is_ok())
    }

    /// The cell of the engine in scope, in the group that does such a job.
    ///
    /// # Errors
    /// Why there is no figure: what the cell says, or that the study does not ask.
    pub(super) fn cell(&self, scope: &Scope) -> Result<Cell<'a>, String> {
        let engine = scope.word("engine");
        let mut wanted = BTreeMap::new();
        for (name, word) in &scope.words {
            if FIELDS.contains(&name.as_str()) {
                let number = self.number(word).transpose()?;
                wanted.insert(name.as_str(), number.map_or(word.clone(), |number| number.to_string()));
            }
        }
        let is_asked = |job: &BTreeMap<String, String>| {
            wanted.iter().all(|(name, word)| match (*name, word.as_str()) {
                ("message", "byte-shorter") => job["message"] == job["shorter"],
                ("message", word) => job["message"] == self.message_words(word, &job["bits"]),
                _ => job[*name] == *word,
            })
        };
        // Of the variants of an engine the one that tests primes with as many rounds as another engine.
        let like = scope.words.get("rounds_of").map(String::as_str);
        let is_meant = |group: &Group, row: &Row| match like {
            None => row.engine == engine,
            Some(like) => {
                let mut rows = group.rows.iter();
                let like = rows.find(|row| row.engine == like);
                let is_variant = row.engine.split(':').next() == Some(engine);
                let rounds = row.figures.as_ref().and(row.rounds());
                is_variant && rounds.is_some() && rounds == like.and_then(Row::rounds)
            }
        };
        let of_engine = |group: &'a Group| {
            let row = group.rows.iter().find(|row| is_meant(group, row))?;
            Some((group, row))
        };
        let mut groups = self.groups.iter().zip(&self.jobs);
        let found = groups.find_map(|(group, job)| of_engine(group).filter(|_| is_asked(job)));
        let (group, row) = found.ok_or_else(|| match like {
            None => match wanted.get("bits") {
                Some(bits) if !self.key_sizes().iter().any(|size| size.to_string() == *bits) => {
                    format!("this study does not ask for keys of {bits} bits")
                }
                _ => format!("this study does not ask {engine}"),
            },
            Some(like) => format!("this study has no {engine} with as many rounds as {like}"),
        })?;
        match (&row.figures, &row.digest, &row.reason) {
            (Some(_), Some(digest), _) => {
                let cell = Cell { group, row, digest };
                let disturbance = || self.disturbance(cell);
                match scope.judges.then(disturbance).flatten() {
                    Some(reason) => Err(reason),
                    None => Ok(cell),
                }
            }
            (_, _, Some(reason)) => {
                let op = wanted.get("op").map_or("", String::as_str);
                Err(replaced(&self.data.reasons, engine, op, reason.clone()))
            }
            _ => Err(format!("{engine} is not measured yet")),
        }
    }

    /// Why nothing can be said of the device: there is no figure, or the figures are those of kernels on a CPU.
    pub(super) fn lack_of_device(&self, engine: &str) -> Option<String> {
        let on_cpu = "there is no GPU in this machine: the kernels ran on its CPU";
        self.lack_of_figures(engine)
            .or_else(|| self.is_on_cpu(engine).then(|| on_cpu.to_owned()))
    }

    /// Returns whether an engine's figures are those of a device's kernels on a CPU.
    pub(super) fn is_on_cpu(&self, engine: &str) -> bool {
        let mut kernels = self.rows_of(engine).filter_map(|row| row.kernel.as_deref());
        kernels.any(rsalab_engines::gpu::is_on_cpu)
    }

    /// Why an engine has no figure at all; none if there is one.
    pub(super) fn lack_of_figures(&self, engine: &str) -> Option<String> {
        let mut rows = self.rows_of(engine).peekable();
        if rows.peek().is_none() {
            return Some(format!("this study does not ask {engine}"));
        }
        let mut reason = None;
        for row in rows {
            if row.figures.is_some() {
                return None;
            }
            reason = reason.or(row.reason.clone());
        }
        Some(reason.unwrap_or_else(|| format!("{engine} is not measured yet")))
    }

    fn rows_of(&self, engine: &str) -> impl Iterator<Item = &'a Row> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.filter(move |row| row.engine == engine)
    }
}

/// The fields of a job by which cells are found.
const FIELDS: [&str; 9] = [
    "op", "bits", "threads", "batch", "mode", "exponent", "symbols", "message", "messages",
];

fn fields(job: &Job) -> BTreeMap<String, String> {
    let serde_json::Value::Object(written) = serde_json::to_value(job).expect("a job has a JSON form") else {
        unreachable!("a job is a table");
    };
    let text = |value: serde_json::Value| value.as_str().map_or(value.to_string(), str::to_owned);
    let mut fields: BTreeMap<String, String> = written.into_iter().map(|(name, value)| (name, text(value))).collect();
    // A text that is one message is as long as its symbols.
    let message = match job.message_bits {
        None if job.op.is_text() => (8 * job.symbols).to_string(),
        None => "none".to_owned(),
        Some(bits) => bits.to_string(),
    };
    fields.insert("message".to_owned(), message);
    fields.insert("shorter".to_owned(), job.bits.saturating_sub(8).to_string());
    fields.insert("messages".to_owned(), job.text_blocks().to_string());
    fields.insert("exponent".to_owned(), job.exponent.to_string());
    fields
}

/// The reason that an article gives in place of an engine's.
pub(super) fn replaced(replacements: &[Replacement], engine: &str, op: &str, reason: String) -> String {
    let is_meant = |one: &&Replacement| {
        let of_engine = one.engines.is_empty() || one.engines.iter().any(|other| other == engine);
        let of_op = one.op.as_ref().is_none_or(|other| other == op);
        let has = one.contains.is_empty() || one.contains.iter().any(|words| reason.contains(words.as_str()));
        of_engine && of_op && has && reason.starts_with(&one.begins)
    };
    let found = replacements.iter().find(is_meant);
    found.map_or(reason.clone(), |replacement| replacement.says.clone())
}

/// Returns whether a text is many messages, not one in portions.
fn is_of_many(job: &Job) -> bool {
    job.op.is_text() && job.text_blocks() > 2
}

fn ascending(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}
