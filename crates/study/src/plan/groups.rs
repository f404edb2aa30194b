//! A plan unfolded: groups of cells that are measured interleaved.

use std::collections::{BTreeMap, BTreeSet};

use rsalab_engines::{Job, Mode, Op};

use super::{Article, DEFAULT_EXPONENT, Engines, Grid, Host, Measure, Message, Plan, PlanError};
use crate::{number, part::Part};

/// Cells that differ only in their engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The article whose study asks for them.
    pub article: Option<Article>,
    /// The job of all of them, without an engine's variant.
    pub job: Job,
    /// How they are measured.
    pub measure: Measure,
    /// One for each engine, in the order of the plan; the first is the one that ratios refer to.
    pub cells: Vec<Cell>,
}

/// One job on one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The engine's selector: a name, or `name:variant`.
    pub engine: String,
    /// The group's job, with the engine's variant and its bareness.
    pub job: Job,
}

impl Group {
    /// Seconds that its cells are expected to be measured for, together.
    pub(crate) fn expected_s(&self) -> f64 {
        let engines = self.cells.iter().map(|cell| &cell.engine);
        engines.map(|engine| self.measure.expected_s(&self.job, engine)).sum()
    }
}

impl Plan {
    /// Seconds that the plan is expected to take on a machine, or a part of it, beside what workers take to get ready.
    ///
    /// # Errors
    /// As of [`groups`](Self::groups).
    pub fn expected_s(&self, host: &Host, part: Option<Part>) -> Result<f64, crate::Error> {
        let groups = self.groups(host)?;
        let own = (0..)
            .zip(&groups)
            .filter(|(place, _)| part.is_none_or(|part| part.has(*place)));
        Ok(own.map(|(_, group)| group.expected_s()).sum())
    }

    /// The plan's groups on a machine, after checking it; in the order in which they run.
    pub fn groups(&self, host: &Host) -> Result<Vec<Group>, PlanError> {
        self.check(host)?;
        let mut groups: Vec<Group> = Vec::new();
        for (index, grid) in self.grids.iter().enumerate() {
            for group in grid.groups(self, host) {
                if groups.iter().any(|earlier| earlier.job == group.job) {
                    return Err(PlanError::at(
                        format!("grid {}", index + 1),
                        format!(
                            "{} is in an earlier grid already: a job has one place in a plan",
                            title(&group.job)
                        ),
                    ));
                }
                groups.push(group);
            }
        }
        Ok(groups)
    }
}

/// A job in a few words, without its engine: `Text encryption, 2048 bits, 20,000 symbols, 1 thread`.
pub fn title(job: &Job) -> String {
    title_without(job, &[])
}

/// The titles of jobs, each with what [`title`] leaves out where others have the same without it: a reader would take
/// them for one.
pub(crate) fn titles<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Vec<String> {
    let titles: Vec<String> = jobs.clone().map(title).collect();
    let mut first: BTreeMap<&str, &Job> = BTreeMap::new();
    let mut twins: BTreeSet<&str> = BTreeSet::new();
    for (title, job) in titles.iter().zip(jobs.clone()) {
        if *first.entry(title).or_insert(job) != job {
            twins.insert(title);
        }
    }
    let told_apart = |(title, job): (&String, &Job)| match twins.contains(title.as_str()) {
        true => full_title(job),
        false => title.clone(),
    };
    titles.iter().zip(jobs).map(told_apart).collect()
}

/// The title with what it leaves out.
fn full_title(job: &Job) -> String {
    let blocks = job.op.is_text().then(|| number::counted(job.block_symbols, "symbol"));
    let parts = [
        Some(title(job)),
        Some(job.mode.name().to_owned()),
        blocks.map(|symbols| format!("blocks of {symbols}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The title of jobs that differ in some dimensions, which are left out.
pub(crate) fn title_without(job: &Job, dimensions: &[Dimension]) -> String {
    let has = |dimension| !dimensions.contains(&dimension);
    let parts = [
        Some(op_title(job.op).to_owned()),
        has(Dimension::Bits).then(|| format!("{} bits", job.bits)),
        (has(Dimension::Symbols) && job.op.is_text()).then(|| number::counted(job.symbols, "symbol")),
        job.message_bits.map(|bits| format!("messages of {bits} bits")),
        (job.exponent != DEFAULT_EXPONENT).then(|| format!("e = {}", job.exponent)),
        (job.primes > 2).then(|| number::counted(job.primes, "prime")),
        (job.message_bytes > 0).then(|| format!("messages of {}", number::counted(job.message_bytes, "byte"))),
        has(Dimension::Threads).then(|| number::counted(job.threads, "thread")),
        (job.mode == Mode::Concurrent).then(|| "call by call".to_owned()),
        (job.batch > 1).then(|| format!("batch {}", job.batch)),
        (job.keys > 1).then(|| format!("under {}", number::counted(job.keys, "key"))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A dimension in which jobs that are shown together may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Bits of the modulus.
    Bits,
    /// Symbols of the text.
    Symbols,
    /// Threads.
    Threads,
}

impl Message {
    /// Bits of a message for a modulus of so many bits.
    pub(super) fn bits(self, modulus: usize) -> usize {
        match self {
            Message::Bits(bits) => bits,
            Message::ByteShorter => modulus.saturating_sub(8),
        }
    }
}

/// An operation's name for people.
pub fn op_title(op: Op) -> &'static str {
    match op {
        Op::Private => "Private operation",
        Op::Public => "Public operation",
        Op::Keygen => "Key generation",
        Op::PrimePair => "Prime pair",
        Op::Totient => "Modulus and totient",
        Op::PrivateExponent => "Private exponent",
        Op::TextEncrypt => "Text encryption",
        Op::TextDecrypt => "Text decryption",
        Op::Sign => "Signing, PKCS#1 v1.5",
        Op::SignMessage => "Signing with the hash, PKCS#1 v1.5",
        Op::Verify => "Verifying, PKCS#1 v1.5",
        Op::Screen => "Screening signatures, PKCS#1 v1.5",
        Op::ImportPrivate => "Import of a private key",
        Op::ImportVerify => "Import of a public key and one verification",
        Op::Handshake => "TLS handshake, full, client and server",
        Op::HandshakeServer => "TLS handshake, full, the server's answer",
        Op::HandshakeResumed => "TLS handshake, resumed, client and server",
        Op::PrimeSearch => "Search for two primes, average case",
        other => other.name(),
    }
}

/// Dimensions that cells of one operation and size may differ in, apart from their engine and text.
#[derive(Clone, Copy)]
struct Shape {
    primes: usize,
    keys: usize,
    message_bytes: usize,
    threads: usize,
    batch: usize,
}

impl Grid {
    fn groups(&self, plan: &Plan, host: &Host) -> Vec<Group> {
        let engines = match &self.engines {
            Engines::Present => &host.present,
            Engines::Named(selectors) => selectors,
        };
        let mode = self.mode.unwrap_or(self.mode_by_shape(host));
        let mut groups = Vec::new();
        for &op in &self.operations {
            for &bits in &self.bits {
                for (symbols, block_symbols) in self.texts(bits) {
                    for shape in self.shapes(host) {
                        let job = Job {
                            op,
                            bits,
                            threads: shape.threads,
                            batch: shape.batch,
                            mode,
                            variant: None,
                            bare: false,
                            exponent: self.exponent,
                            primes: shape.primes,
                            keys: shape.keys,
                            message_bits: self.message_bits(op, bits),
                            message_bytes: shape.message_bytes,
                            symbols,
                            block_symbols,
                        };
                        let cells = engines.iter().map(|engine| self.cell(&job, engine)).collect();
                        groups.push(Group {
                            article: self.article.or(plan.article),
                            job,
                            measure: plan.measure.changed(&self.measure),
                            cells,
                        });
                    }
                }
            }
        }
        groups
    }

    /// Every combination of the lists that are the same for all operations and sizes.
    fn shapes(&self, host: &Host) -> Vec<Shape> {
        let messages = match self.message_bytes.is_empty() {
            true => vec![0],
            false => self.message_bytes.clone(),
        };
        let mut shapes = Vec::new();
        for &primes in &self.primes {
            for &keys in &self.keys {
                for &message_bytes in &messages {
                    for threads in self.threads.counts(host.logical_cpus) {
                        shapes.extend(self.batch.iter().map(|&batch| Shape {
                            primes,
                            keys,
                            message_bytes,
                            threads,
                            batch,
                        }));
                    }
                }
            }
        }
        shapes
    }

    /// One mode for the whole grid, so that its cells can be compared over threads and batches.
    fn mode_by_shape(&self, host: &Host) -> Mode {
        let is_one_at_a_time = self.threads.counts(host.logical_cpus) == [1] && self.batch == [1];
        match is_one_at_a_time && !self.operations.iter().any(|op| op.is_text()) {
            true => Mode::Latency,
            false => Mode::Throughput,
        }
    }

    fn message_bits(&self, op: Op, bits: usize) -> Option<usize> {
        let is_block = matches!(op, Op::Private | Op::Public);
        self.message.filter(|_| is_block).map(|message| message.bits(bits))
    }

    fn cell(&self, job: &Job, selector: &str) -> Cell {
        let (name, variant) = split(selector);
        let job = Job {
            variant: variant.map(str::to_owned),
            bare: self.bare && name == "own",
            ..job.clone()
        };
        Cell {
            engine: selector.to_owned(),
            job,
        }
    }
}

/// The engine's name, and its variant where the selector names one.
pub(super) fn split(selector: &str) -> (&str, Option<&str>) {
    match selector.split_once(':') {
        Some((name, variant)) => (name, Some(variant)),
        None => (selector, None),
    }
}
