//! Where the steps of a group are kept: a study's database, or memory alone.

use crate::store::{
    Beginning, BlockRecord, CellId, CellState, GroupId, GroupRecord, InterruptedBlock, SessionNumber, Store,
    StoreError, TakenBlock,
};

/// Where the steps of a group are kept besides its active cells: nowhere, unless a sink says otherwise.
pub(crate) trait Sink {
    /// The cell at this place is being measured.
    fn begin(&mut self, _place: usize, _beginning: &Beginning) -> Result<(), StoreError> {
        Ok(())
    }

    /// A verified block of it was taken. One that was interrupted, for this reason, is part of no figure.
    fn block(&mut self, _place: usize, _block: &TakenBlock, _interruption: Option<&str>) -> Result<(), StoreError> {
        Ok(())
    }

    /// It was closed.
    fn close(&mut self, _place: usize, _state: &CellState, _notes: &[String]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Keeps nothing more than the active cells do: a study without a store.
pub(crate) struct MemorySink;

impl Sink for MemorySink {}

/// Writes the steps of groups that are measured together to the database. Their cells follow one another.
pub(super) struct StoreSink<'a> {
    pub(super) store: &'a mut Store,
    pub(super) session: SessionNumber,
    pub(super) family: &'a [&'a GroupRecord],
}

impl StoreSink<'_> {
    fn at(&self, place: usize) -> (GroupId, CellId) {
        let cells = |group: &&GroupRecord| {
            let id = group.id;
            group.cells.iter().map(move |cell| (id, cell.id)).collect::<Vec<_>>()
        };
        let mut all = self.family.iter().flat_map(cells);
        all.nth(place).expect("every active cell is of a group")
    }
}

impl Sink for StoreSink<'_> {
    fn begin(&mut self, place: usize, beginning: &Beginning) -> Result<(), StoreError> {
        self.store.begin_cell(self.at(place).1, beginning)
    }

    fn block(&mut self, place: usize, taken: &TakenBlock, interruption: Option<&str>) -> Result<(), StoreError> {
        let (group, cell) = self.at(place);
        let record = BlockRecord {
            cell,
            session: self.session,
            taken: taken.clone(),
        };
        match interruption.map(str::to_owned) {
            None => self.store.add_block(group, &record),
            Some(reason) => {
                let block = InterruptedBlock { record, reason };
                self.store.add_interrupted_block(group, &block)
            }
        }
    }

    fn close(&mut self, place: usize, state: &CellState, notes: &[String]) -> Result<(), StoreError> {
        let (_, cell) = self.at(place);
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
