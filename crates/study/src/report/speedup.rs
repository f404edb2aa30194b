//! The gain from threads, engine by engine: a ratio over the rounds in which both thread counts were measured.

use rsalab_engines::Job;
use rsalab_measure::Estimate;

use crate::{
    compare,
    store::{BlockRecord, CellRecord, CellState, GroupRecord, Store, StoreError},
};

/// The groups on one thread, as those on several are compared with them. The blocks of the last one are kept: groups
/// that differ in their threads follow one another.
pub(super) struct OnOneThread<'a> {
    store: &'a Store,
    groups: &'a [GroupRecord],
    last: Option<(usize, Vec<BlockRecord>)>,
}

impl<'a> OnOneThread<'a> {
    pub(super) fn new(store: &'a Store, groups: &'a [GroupRecord]) -> Self {
        OnOneThread {
            store,
            groups,
            last: None,
        }
    }

    /// For each cell of a group on several threads its speed, divided by that of its engine on one; none where the two
    /// were not measured interleaved.
    pub(super) fn speedups(
        &mut self,
        group: &GroupRecord,
        blocks: &[BlockRecord],
    ) -> Result<Vec<Option<Estimate>>, StoreError> {
        let none = || vec![None; group.cells.len()];
        if group.job.threads == 1 {
            return Ok(none());
        }
        let single = Job {
            threads: 1,
            ..group.job.clone()
        };
        let Some(place) = self.groups.iter().position(|other| other.job == single) else {
            return Ok(none());
        };
        let one = &self.groups[place];
        if self.last.as_ref().is_none_or(|(kept, _)| *kept != place) {
            self.last = Some((place, self.store.blocks(one.id)?));
        }
        let (_, single_blocks) = self.last.as_ref().expect("they were just read");
        let speedup = |cell: &CellRecord| {
            let other = one.cells.iter().find(|other| other.engine == cell.engine)?;
            let [one, several] = [(other, &single_blocks[..]), (cell, blocks)].map(|(cell, blocks)| {
                let own = blocks.iter().filter(|block| block.cell == cell.id);
                let own: Vec<&BlockRecord> = own.collect();
                (cell.state == CellState::Done && !own.is_empty()).then_some(own)
            });
            let (one, several) = (one?, several?);
            if !are_interleaved(&one, &several) {
                return None;
            }
            let [one, several] = [one, several].map(|blocks| blocks.into_iter().map(|block| &block.taken).collect());
            compare::speedup(one, several, group.measure.confidence)
        };
        Ok(group.cells.iter().map(speedup).collect())
    }
}

/// Returns whether the blocks of two cells were taken in turn: those of one had not ended when the other's began.
fn are_interleaved(one: &[&BlockRecord], other: &[&BlockRecord]) -> bool {
    let span = |blocks: &[&BlockRecord]| {
        let started = blocks.iter().map(|block| block.taken.report.block.started_ns);
        (started.clone().min(), started.max())
    };
    let ((begin, end), (other_begin, other_end)) = (span(one), span(other));
    let sessions = |blocks: &[&BlockRecord]| blocks.iter().map(|block| block.session).collect::<Vec<_>>();
    begin < other_end && other_begin < end && sessions(one).iter().any(|session| sessions(other).contains(session))
}
