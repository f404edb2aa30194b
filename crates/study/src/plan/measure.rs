//! How long and how precisely a cell is measured.

use rsalab_engines::{Exponent, Job, Mode, Op, Selector};
use rsalab_measure::BlockPlan;
use serde::{Deserialize, Serialize};

use super::{PlanError, REPEATS};

/// How every cell is measured. A cell ends at its precision, its repeats or its budget, whichever comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Half the width of the median's interval, relative to the median, at which a cell is precise enough; 0: never.
    pub precision: f64,
    /// Confidence of the intervals, below 1: at most 0.999999.
    pub confidence: f64,
    /// Seconds of measuring after which a cell ends.
    pub budget_s: f64,
    /// Blocks that a cell has at least, whatever the budget: an interval of 95 % takes six.
    pub min_blocks: usize,
    /// Blocks that a cell has at most.
    pub max_blocks: usize,
    /// Length of a block, in milliseconds; it ends with the call that is running then. 0: one call.
    pub block_ms: u64,
    /// Calls in a block, in place of a length. With `repeats`, a cell has exactly those, the last block what is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_calls: Option<u64>,
    /// Measured but thrown away at the start of each block: wide vectors change the clock for a while.
    pub discard_ms: u64,
    /// The most samples kept of a block. Beyond it neighbouring calls are merged, so that none goes missing.
    pub max_samples: usize,
    /// Calls after which a cell ends, where a plan asks for a count; for texts, whole texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u64>,
}

impl Default for Measure {
    fn default() -> Self {
        Measure {
            precision: 0.01,
            confidence: 0.95,
            budget_s: 5.0,
            min_blocks: 6,
            max_blocks: 100,
            block_ms: 100,
            block_calls: None,
            discard_ms: 10,
            max_samples: 100,
            repeats: None,
        }
    }
}

/// The changes of a grid to a plan's [`Measure`]; an absent key leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "each field is the one of Measure with the same name")]
pub struct MeasureChange {
    pub precision: Option<f64>,
    pub confidence: Option<f64>,
    pub budget_s: Option<f64>,
    pub min_blocks: Option<usize>,
    pub max_blocks: Option<usize>,
    pub block_ms: Option<u64>,
    pub block_calls: Option<u64>,
    pub discard_ms: Option<u64>,
    pub max_samples: Option<usize>,
    pub repeats: Option<u64>,
}

impl MeasureChange {
    /// Returns whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == MeasureChange::default()
    }
}

impl Measure {
    /// How the block of a round, from 0, is to be measured.
    pub fn block_plan(&self, round: usize) -> BlockPlan {
        const NS_PER_MS: u64 = 1_000_000;
        BlockPlan {
            discard_ns: self.discard_ms * NS_PER_MS,
            min_ns: self.block_ms * NS_PER_MS,
            calls: self.calls_of(round),
            max_samples: self.max_samples,
        }
    }

    /// Calls in the block of a round, where they are counted.
    fn calls_of(&self, round: usize) -> Option<u64> {
        let calls = self.calls_per_block()?;
        let left = |repeats: u64| repeats.saturating_sub(round as u64 * calls).max(1);
        Some(self.repeats.map_or(calls, |repeats| calls.min(left(repeats))))
    }

    /// Fewer than asked for where the repeats would not fill the least number of blocks.
    fn calls_per_block(&self) -> Option<u64> {
        let calls = self.block_calls?;
        let fills = |repeats: u64| (repeats / self.min_blocks as u64).max(1);
        Some(self.repeats.map_or(calls, |repeats| calls.min(fills(repeats))))
    }

    /// The rounds that the repeats take, where both they and the calls in a block are fixed.
    pub fn planned_rounds(&self) -> Option<usize> {
        let rounds = self.repeats?.div_ceil(self.calls_per_block()?);
        Some(usize::try_from(rounds).unwrap_or(usize::MAX))
    }

    /// Seconds that a job is expected to be measured for on an engine: its budget, or less where a count of calls will
    /// end it.
    ///
    /// A rough guess is enough: it weighs cells against each other, and the pace of those that are done corrects it.
    pub(crate) fn expected_s(&self, job: &Job, engine: &str) -> f64 {
        const THREAD_S: f64 = 20e-6;
        let operation_s = operation_s(job, engine);
        let Some(repeats) = self.repeats else {
            return self.budget_s;
        };
        let call_s = match job.op.is_text() {
            true => job.text_blocks().max(1) as f64 * operation_s + job.threads as f64 * THREAD_S,
            false => {
                // Calls that threads time themselves are counted together; else each thread makes all of them.
                let at_once = match job.mode {
                    Mode::Concurrent => job.threads,
                    Mode::Latency | Mode::Throughput => 1,
                };
                job.batch as f64 * operation_s / at_once as f64
            }
        };
        let rounds = self.planned_rounds().unwrap_or(self.min_blocks) as f64;
        let discarded_s = rounds * self.discard_ms as f64 * 1e-3;
        // Blocks of a length last as long whatever the calls.
        let blocks_s = match self.block_calls {
            Some(_) => 0.0,
            None => self.min_blocks as f64 * self.block_ms as f64 * 1e-3,
        };
        ((repeats as f64 * call_s).max(blocks_s) + discarded_s).min(self.budget_s)
    }

    /// This, with a grid's changes.
    pub fn changed(&self, change: &MeasureChange) -> Measure {
        Measure {
            precision: change.precision.unwrap_or(self.precision),
            confidence: change.confidence.unwrap_or(self.confidence),
            budget_s: change.budget_s.unwrap_or(self.budget_s),
            min_blocks: change.min_blocks.unwrap_or(self.min_blocks),
            max_blocks: change.max_blocks.unwrap_or(self.max_blocks),
            block_ms: change.block_ms.unwrap_or(self.block_ms),
            block_calls: change.block_calls.or(self.block_calls),
            discard_ms: change.discard_ms.unwrap_or(self.discard_ms),
            max_samples: change.max_samples.unwrap_or(self.max_samples),
            repeats: change.repeats.or(self.repeats),
        }
    }

    /// The limits leave room for what is lost of a number when it is written down and read again.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let Measure {
            precision,
            confidence,
            budget_s,
            min_blocks,
            max_blocks,
            block_ms,
            discard_ms,
            max_samples,
            ..
        } = self;
        PlanError::unless(
            (0.0..=0.99).contains(precision),
            "precision",
            format!("{precision} is not a relative precision: 0.01 is one per cent, 0 asks for none"),
        )?;
        PlanError::unless(
            (0.5..=0.999_999).contains(confidence),
            "confidence",
            format!("{confidence} is not a confidence: use a number from 0.5 to 0.999999, such as 0.95"),
        )?;
        PlanError::unless(
            (1e-6..=86_400.0).contains(budget_s),
            "budget_s",
            format!("{budget_s} is not a budget: use seconds, from a millionth to a day (86400)"),
        )?;
        PlanError::unless(
            (1..=1_000_000).contains(min_blocks),
            "min_blocks",
            match min_blocks {
                0 => "0 blocks measure nothing: ask for 1 or more".to_owned(),
                count => format!("{count} blocks never end: ask for at most 1000000"),
            },
        )?;
        PlanError::unless(
            max_blocks >= min_blocks,
            "max_blocks",
            format!("{max_blocks} is below min_blocks ({min_blocks})"),
        )?;
        PlanError::unless(
            *block_ms <= 1_000,
            "block_ms",
            format!("{block_ms} is not a length of a block: use 0 (one call) to 1000 milliseconds"),
        )?;
        PlanError::unless(
            self.block_calls.is_none_or(|calls| (1..=1_000_000).contains(&calls)),
            "block_calls",
            "a block has 1 to 1000000 calls; leave the key out for blocks of block_ms",
        )?;
        PlanError::unless(
            *discard_ms <= 1_000,
            "discard_ms",
            format!("{discard_ms} milliseconds to throw away are more than a block may have (1000)"),
        )?;
        PlanError::unless(
            (1..=10_000).contains(max_samples),
            "max_samples",
            format!("{max_samples} samples of a block cannot be kept: use 1 to 10000"),
        )?;
        let repeats = self.repeats.unwrap_or(1);
        PlanError::unless(
            REPEATS.contains(&repeats),
            "repeats",
            match repeats {
                0 => "0 repeats measure nothing: ask for 1 or more, or leave the key out".to_owned(),
                _ => format!(
                    "{repeats} repeats never end: ask for at most {}, or leave the key out",
                    REPEATS.end()
                ),
            },
        )
    }
}

/// Seconds of an operation on one thread of some CPU, by a library for single operations, or by our engine.
fn operation_s(job: &Job, engine: &str) -> f64 {
    // A private operation of 1024 bits: its time grows with the cube of the size.
    const PRIVATE_S: f64 = 60e-6;
    // Two primes of 512 bits: almost with the fourth power.
    const PRIMES_S: f64 = 4e-3;
    // Our engine needs a third of the time of others without IFMA, and a sixth with it.
    const OWN: f64 = 0.25;
    let is_own = Selector::parse(engine).is_ok_and(|selector| selector.engine.name == "own");
    let size = job.bits as f64 / 1024.0;
    let private_s = PRIVATE_S * size.powi(3);
    let others_s = match job.op {
        Op::Keygen | Op::PrimePair | Op::PrimeSearch => PRIMES_S * size.powf(3.5),
        Op::Totient | Op::PrivateExponent => private_s / 10.0,
        Op::Public | Op::Verify | Op::Screen | Op::ImportVerify | Op::TextEncrypt => match job.exponent {
            Exponent::Fixed(_) => private_s / 20.0,
            // No CRT.
            Exponent::Random => 4.0 * private_s,
        },
        _ => private_s,
    };
    others_s * if is_own { OWN } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Article, Group, Host, Plan, Scale};

    /// Hours that all cells of an article are expected to take.
    fn hours(article: &str, scale: Scale) -> f64 {
        let names = [
            "own",
            "openssl",
            "libcrypto",
            "gmp",
            "java",
            "ippcp",
            "aws-lc",
            "cryptopp",
            "rustcrypto",
            "go",
            "jca",
            "c-openmp",
            "textbook",
            "gpu",
        ];
        let host = Host {
            known: names.map(str::to_owned).to_vec(),
            present: names.map(str::to_owned).to_vec(),
            logical_cpus: 2,
        };
        let plan = Plan {
            grids: Article::named(article).unwrap().grids(scale),
            ..Plan::default()
        };
        let groups = plan.groups(&host).unwrap();
        groups.iter().map(Group::expected_s).sum::<f64>() / 3600.0
    }

    /// A budget of a day, which a plan with repeats has so that it never ends a cell, is no estimate.
    #[test]
    fn counted_calls_are_expected_to_take_their_time() {
        for (article, published, short) in [
            ("text-threads", 0.1..4.0, 0.005..0.5),
            ("prime-cycles", 1.0..20.0, 0.01..0.5),
            ("keygen-libraries", 0.1..20.0, 0.02..4.0),
            ("cpu-gpu", 0.1..20.0, 0.01..4.0),
        ] {
            let of = |scale| hours(article, scale);
            let (all, some) = (of(Scale::Published), of(Scale::Short));
            assert!(published.contains(&all), "{article}: {all} h");
            assert!(short.contains(&some), "{article}: {some} h in short");
        }
    }
}
