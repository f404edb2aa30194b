//! How long and how precisely a cell is measured.

use rsalab_engines::{Job, Op};
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

/// What a grid changes of a plan's [`Measure`]; an absent key leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(
    missing_docs,
    reason = "each field is the one of Measure with the same name"
)]
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
    /// Whether nothing is changed.
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
        Some(
            self.repeats
                .map_or(calls, |repeats| calls.min(left(repeats))),
        )
    }

    /// Fewer than asked for where the repeats would not fill the least number of blocks.
    fn calls_per_block(&self) -> Option<u64> {
        let calls = self.block_calls?;
        let fills = |repeats: u64| (repeats / self.min_blocks as u64).max(1);
        Some(
            self.repeats
                .map_or(calls, |repeats| calls.min(fills(repeats))),
        )
    }

    /// The rounds that the repeats take, where both they and the calls in a block are fixed.
    pub fn planned_rounds(&self) -> Option<usize> {
        let rounds = self.repeats?.div_ceil(self.calls_per_block()?);
        Some(usize::try_from(rounds).unwrap_or(usize::MAX))
    }

    /// Seconds that a cell is expected to be measured for: its budget, or less where a count of texts will end it.
    pub(crate) fn expected_s(&self, job: &Job) -> f64 {
        // Of a block of 1024 bits, whose time grows with the cube of the size and falls to a twentieth for the public
        // operation. A rough guess is enough: it only weighs cells against each other.
        const BLOCK_S: f64 = 60e-6;
        const THREAD_S: f64 = 20e-6;
        let Some(repeats) = self.repeats.filter(|_| job.op.is_text()) else {
            return self.budget_s;
        };
        let block_s = BLOCK_S * (job.bits as f64 / 1024.0).powi(3);
        let blocks = job.text_blocks().max(1) as f64;
        let text_s = match job.op {
            Op::TextEncrypt => blocks * block_s / 20.0,
            _ => blocks * block_s,
        };
        let threads_s = job.threads as f64 * THREAD_S;
        (repeats as f64 * (text_s + threads_s)).min(self.budget_s)
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
            format!(
                "{precision} is not a relative precision: 0.01 is one per cent, 0 asks for none"
            ),
        )?;
        PlanError::unless(
            (0.5..=0.999_999).contains(confidence),
            "confidence",
            format!(
                "{confidence} is not a confidence: use a number from 0.5 to 0.999999, such as 0.95"
            ),
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
            self.block_calls
                .is_none_or(|calls| (1..=1_000_000).contains(&calls)),
            "block_calls",
            "a block has 1 to 1000000 calls; leave the key out for blocks of block_ms",
        )?;
        PlanError::unless(
            *discard_ms <= 1_000,
            "discard_ms",
            format!(
                "{discard_ms} milliseconds to throw away are more than a block may have (1000)"
            ),
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
                0 => {
                    "0 repeats measure nothing: ask for 1 or more, or leave the key out".to_owned()
                }
                _ => format!(
                    "{repeats} repeats never end: ask for at most {}, or leave the key out",
                    REPEATS.end()
                ),
            },
        )
    }
}
