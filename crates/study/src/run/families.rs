//! Groups that are measured together: they differ in nothing but their threads.
//!
//! What threads gain is a ratio, and a ratio holds where its two sides met the same machine. So the blocks of one and
//! of several threads are interleaved like those of engines, each count of an engine in a worker of its own.

use rsalab_engines::Job;

use super::active_cell::ActiveCell;
use crate::{
    number,
    plan::{self, Dimension},
    store::{CellState, GroupRecord, Store, StoreError},
};

/// The most cells that are measured together: each has a worker that waits, some of them with a virtual machine.
const MOST_CELLS: usize = 48;

/// The open groups of a study in families, in the order of the first group of each.
///
/// A group that is being completed stays alone, and so does one that an earlier session brought further than others: a
/// round has a block of each cell.
pub(super) fn families<'a>(groups: &'a [GroupRecord], store: &Store) -> Result<Vec<Vec<&'a GroupRecord>>, StoreError> {
    let is_open = |group: &&GroupRecord| group.cells.iter().any(|cell| cell.state.is_open());
    let mut waiting: Vec<(&GroupRecord, usize)> = Vec::new();
    for group in groups.iter().filter(is_open) {
        waiting.push((group, store.rounds_begun(group.id)?));
    }
    let mut families = Vec::new();
    while !waiting.is_empty() {
        let (first, rounds) = waiting.remove(0);
        let mut cells = first.cells.len();
        let mut family = vec![first];
        if !is_closing(first) {
            waiting.retain(|&(group, of_group)| {
                let joins = differ_in_threads(&first.job, &group.job)
                    && first.measure == group.measure
                    && !is_closing(group)
                    && rounds.abs_diff(of_group) <= 1
                    && cells + group.cells.len() <= MOST_CELLS;
                if joins {
                    cells += group.cells.len();
                    family.push(group);
                }
                !joins
            });
        }
        families.push(family);
    }
    Ok(families)
}

fn is_closing(group: &GroupRecord) -> bool {
    group.cells.iter().any(|cell| cell.state == CellState::Done)
}

fn differ_in_threads(one: &Job, other: &Job) -> bool {
    let threads = other.threads;
    *other == Job { threads, ..one.clone() }
}

/// A family in a few words.
pub(super) fn title(family: &[&GroupRecord]) -> String {
    let job = &family[0].job;
    if family.len() == 1 {
        return plan::title(job);
    }
    let mut counts: Vec<usize> = family.iter().map(|group| group.job.threads).collect();
    counts.sort_unstable();
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
    format!(
        "{}, {} threads",
        plan::title_without(job, &[Dimension::Threads]),
        number::listed(&counts)
    )
}

/// The cells of a family, group by group.
pub(super) fn active_cells(store: &Store, family: &[&GroupRecord]) -> Result<Vec<ActiveCell>, StoreError> {
    let mut active = Vec::new();
    for (copy, group) in family.iter().enumerate() {
        let blocks = store.blocks(group.id)?;
        for cell in &group.cells {
            let own = blocks.iter().filter(|block| block.cell == cell.id);
            active.push(ActiveCell {
                copy,
                state: cell.state.clone(),
                beginning: cell.beginning.clone(),
                blocks: own.map(|block| block.taken.clone()).collect(),
                ..ActiveCell::new(cell.engine.clone(), cell.job.clone())
            });
        }
    }
    Ok(active)
}
