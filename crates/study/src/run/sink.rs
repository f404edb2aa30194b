//! Where the steps of a group are kept: a study's database, or memory alone.

use crate::store::{
    Beginning, BlockRecord, CellState, GroupRecord, InterruptedBlock, SessionNumber, Store,
    StoreError, TakenBlock,
};

/// Where the steps of a group are kept besides its active cells.
pub(crate) trait Sink {
    /// The cell at this place is being measured.
    fn begin(&mut self, place: usize, beginning: &Beginning) -> Result<(), StoreError>;
    /// A verified block of it was taken.
    fn block(&mut self, place: usize, block: &TakenBlock) -> Result<(), StoreError>;
    /// A block of it was interrupted; its figures do without.
    fn interrupted(
        &mut self,
        place: usize,
        block: &TakenBlock,
        reason: &str,
    ) -> Result<(), StoreError>;
    /// It was closed.
    fn close(
        &mut self,
        place: usize,
        state: &CellState,
        notes: &[String],
    ) -> Result<(), StoreError>;
}

/// Keeps nothing more than the active cells do: a study without a store.
pub(crate) struct MemorySink;

impl Sink for MemorySink {
    fn begin(&mut self, _: usize, _: &Beginning) -> Result<(), StoreError> {
        Ok(())
    }

    fn block(&mut self, _: usize, _: &TakenBlock) -> Result<(), StoreError> {
        Ok(())
    }

    fn interrupted(&mut self, _: usize, _: &TakenBlock, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn close(&mut self, _: usize, _: &CellState, _: &[String]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Writes a group's steps to the database.
pub(super) struct StoreSink<'a> {
    pub(super) store: &'a mut Store,
    pub(super) session: SessionNumber,
    pub(super) group: &'a GroupRecord,
}

impl Sink for StoreSink<'_> {
    fn begin(&mut self, place: usize, beginning: &Beginning) -> Result<(), StoreError> {
        self.store.begin_cell(self.group.cells[place].id, beginning)
    }

    fn block(&mut self, place: usize, taken: &TakenBlock) -> Result<(), StoreError> {
        let record = BlockRecord {
            cell: self.group.cells[place].id,
            session: self.session,
            taken: taken.clone(),
        };
        self.store.add_block(self.group.id, &record)
    }

    fn interrupted(
        &mut self,
        place: usize,
        taken: &TakenBlock,
        reason: &str,
    ) -> Result<(), StoreError> {
        let block = InterruptedBlock {
            record: BlockRecord {
                cell: self.group.cells[place].id,
                session: self.session,
                taken: taken.clone(),
            },
            reason: reason.to_owned(),
        };
        self.store.add_interrupted_block(self.group.id, &block)
    }

    fn close(
        &mut self,
        place: usize,
        state: &CellState,
        notes: &[String],
    ) -> Result<(), StoreError> {
        let cell = self.group.cells[place].id;
        match state {
            CellState::Done => self.store.complete_cell(cell, notes),
            CellState::Failed(reason) => self.store.fail_cell(cell, reason),
            CellState::Unsupported(reason) => self.store.refuse_cell(cell, reason),
            CellState::Planned | CellState::Running => {
                unreachable!("a cell is not closed in an open state")
            }
        }
    }
}
