//! One cell while its group is being measured.

use rsalab_engines::Job;

use crate::{
    compare::Measured,
    plan,
    store::{Beginning, CellState, TakenBlock},
};

/// A cell with all that is known of it.
#[derive(Clone, Debug)]
pub(crate) struct ActiveCell {
    pub(crate) engine: String,
    /// Which of several of one engine, from 0, where it is compared with itself.
    pub(crate) copy: usize,
    pub(crate) job: Job,
    /// The job in a few words.
    pub(crate) title: String,
    pub(crate) state: CellState,
    pub(crate) beginning: Option<Beginning>,
    pub(crate) worker_pid: Option<u32>,
    /// In the order in which they were taken, those of earlier sessions first.
    pub(crate) blocks: Vec<TakenBlock>,
    /// Why each block was interrupted that was, in this run.
    pub(crate) interrupted: Vec<String>,
    /// Blocks among them that were measured again because a part of their time was taken.
    pub(crate) repeated: usize,
}

impl ActiveCell {
    /// A cell of which nothing has been done.
    pub(crate) fn new(engine: String, job: Job) -> Self {
        ActiveCell {
            engine,
            copy: 0,
            title: plan::title(&job),
            job,
            state: CellState::Planned,
            beginning: None,
            worker_pid: None,
            blocks: Vec::new(),
            interrupted: Vec::new(),
            repeated: 0,
        }
    }

    /// The blocks that statistics are made of; none before the cell has begun.
    pub(crate) fn measured(&self) -> Option<Measured<'_>> {
        Some(Measured {
            ledger: &self.beginning.as_ref()?.ledger,
            blocks: self.blocks.iter().collect(),
        })
    }

    /// Operations in all samples.
    pub(crate) fn operations(&self) -> u64 {
        self.blocks.iter().map(|block| block.report.block.operations()).sum()
    }

    /// Calls in all samples: of texts whole texts, else a batch on each thread.
    pub(crate) fn calls(&self) -> u64 {
        match self.job.op.is_text() {
            true => self.operations(),
            false => self.operations() / (self.job.batch * self.job.threads) as u64,
        }
    }
}
