//! How long one message took, and how long many took at once.

use rsalab_engines::{Exponent, Job, Mode, Op};
use rsalab_measure::Estimate;

use super::plan::{GPU, GPU_HYBRID, GPU_RESIDENT, GPU_TUNED, MESSAGE_BITS};
use crate::articles::{Cpus, evidence::Evidence};

/// A measured value, or why there is none.
pub(super) type Value = Result<Estimate, String>;

/// What stands in the cells of the GPU, beside a remark that says more.
pub(super) const NO_GPU: &str = "no device";
/// Why kernels on a CPU decide no claim about a GPU.
const ON_CPU: &str = "there is no GPU in this machine: the kernels ran on its CPU";

/// The times of a study.
#[derive(Clone, Copy)]
pub(super) struct Times<'a> {
    pub(super) evidence: Evidence<'a>,
    pub(super) cpus: Option<Cpus>,
}

/// One message on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct One {
    pub(super) op: Op,
    pub(super) bits: usize,
    pub(super) length: Length,
    pub(super) exponent: Exponent,
}

/// How long the message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Group 1: 760 bits.
    Fixed,
    /// Group 2: one byte shorter than the modulus.
    ByteShorter,
}

/// Many messages at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Many {
    pub(super) op: Op,
    pub(super) bits: usize,
    pub(super) messages: usize,
    pub(super) threads: usize,
}

impl One {
    /// Encryption or decryption with the usual exponent.
    pub(super) fn of(op: Op, bits: usize, length: Length) -> One {
        One {
            op,
            bits,
            length,
            exponent: Exponent::F4,
        }
    }

    /// The same with an exponent as long as the modulus.
    pub(super) fn with_random_exponent(self) -> One {
        One {
            exponent: Exponent::Random,
            ..self
        }
    }

    fn is_asked(self, job: &Job) -> bool {
        let message = match self.length {
            Length::Fixed => MESSAGE_BITS,
            Length::ByteShorter => self.bits - 8,
        };
        (job.op, job.bits, job.message_bits) == (self.op, self.bits, Some(message))
            && job.exponent == self.exponent
            && (job.mode, job.threads, job.batch) == (Mode::Latency, 1, 1)
    }
}

impl Many {
    fn is_asked(self, job: &Job) -> bool {
        (job.op, job.bits, job.threads) == (self.op, self.bits, self.threads)
            && job.text_blocks() == self.messages
    }
}

impl Times<'_> {
    /// Nanoseconds of one message, in the median.
    pub(super) fn one_ns(self, one: One, engine: &str) -> Value {
        let cell = self.evidence.cell(|job| one.is_asked(job), engine);
        Ok(cell
            .map_err(|reason| cell_reason(engine, reason))?
            .median_ns())
    }

    /// Nanoseconds of many messages together, in the median.
    pub(super) fn many_ns(self, many: Many, engine: &str) -> Value {
        let cell = self.evidence.cell(|job| many.is_asked(job), engine);
        Ok(cell
            .map_err(|reason| cell_reason(engine, reason))?
            .median_ns())
    }

    /// How many times as fast as another an engine is with one message: as measured in turn where the other is the one that
    /// the group's ratios refer to, else from both medians.
    pub(super) fn speed(self, one: One, engine: &str, beside: &str) -> Value {
        let (time, base) = (self.one_ns(one, engine)?, self.one_ns(one, beside)?);
        let mut groups = self.evidence.groups.iter();
        let group = groups.find(|group| one.is_asked(&group.job));
        let in_turn = group.and_then(|group| {
            let is_base = group.base().is_some_and(|row| row.engine == beside);
            let row = group.rows.iter().find(|row| row.engine == engine)?;
            let ratio = row.ratio.as_ref().filter(|_| is_base)?;
            Some(ratio.to_first)
        });
        Ok(in_turn.unwrap_or_else(|| base.over(&time)))
    }

    /// The largest number of threads that many messages were measured on and that does not exceed the CPUs.
    ///
    /// # Errors
    /// There are no several threads to speak of.
    pub(super) fn full_threads(self) -> Result<usize, String> {
        let most = self.cpus.map_or(usize::MAX, |cpus| cpus.logical);
        let texts = self.evidence.groups.iter().map(|group| &group.job);
        let counts = texts
            .filter(|job| job.op.is_text())
            .map(|job| job.threads)
            .filter(|count| (2..=most).contains(count));
        counts.max().ok_or_else(|| match most {
            1 => "this machine has one CPU".to_owned(),
            _ => "this study does not ask for several threads".to_owned(),
        })
    }

    /// Nanoseconds of a decryption in a batch of so many, in the median.
    pub(super) fn batched_ns(self, bits: usize, batch: usize, engine: &str) -> Value {
        let is_asked = |job: &Job| {
            (job.op, job.bits, job.batch) == (Op::Private, bits, batch)
                && job.mode == Mode::Throughput
        };
        let cell = self.evidence.cell(is_asked, engine);
        Ok(cell
            .map_err(|reason| cell_reason(engine, reason))?
            .median_ns())
    }

    /// Why nothing can be said of a GPU: there is no figure, or the figures are those of kernels on a CPU.
    pub(super) fn lack_of_gpu(self) -> Option<String> {
        self.lack_of_figures()
            .or_else(|| self.is_on_cpu().then(|| ON_CPU.to_owned()))
    }

    /// Whether the figures of the GPU's columns are those of kernels on a CPU.
    pub(super) fn is_on_cpu(self) -> bool {
        let rows = self.evidence.groups.iter().flat_map(|group| &group.rows);
        let mut kernels = rows
            .filter(|row| row.engine == GPU)
            .filter_map(|row| row.kernel.as_deref());
        kernels.any(rsalab_engines::gpu::is_on_cpu)
    }

    /// Why there is no figure of a GPU; none if there is one.
    pub(super) fn lack_of_figures(self) -> Option<String> {
        let rows = self.evidence.groups.iter().flat_map(|group| &group.rows);
        let mut rows = rows.filter(|row| row.engine == GPU).peekable();
        if rows.peek().is_none() {
            return Some(format!("this study does not ask {GPU}"));
        }
        let mut reason = None;
        for row in rows {
            if row.figures.is_some() {
                return None;
            }
            reason = reason.or(row.reason.clone());
        }
        Some(reason.unwrap_or_else(|| format!("{GPU} is not measured yet")))
    }
}

/// The same reason in every cell of a column is said once at length, below the table.
fn cell_reason(engine: &str, reason: String) -> String {
    match engine {
        GPU | GPU_TUNED | GPU_RESIDENT | GPU_HYBRID
            if reason.starts_with(rsalab_engines::gpu::NO_DEVICE) =>
        {
            NO_GPU.to_owned()
        }
        _ => reason,
    }
}
