//! Running a study: group by group, block by block, each stored as it is taken.
//!
//! | question | file |
//! |---|---|
//! | how is one group measured | `group`, `entrant` |
//! | when is it enough | `rules` |
//! | who starts the workers | [`Launcher`], [`Workers`] |
//! | which keys and inputs, and are the outputs right | `materials` |
//! | is what a worker reports believable, and was it let run | `check` |
//! | what does a watcher see | [`Observer`], [`Event`], `course` |

mod check;
mod course;
mod entrant;
mod group;
mod launcher;
mod materials;
mod observer;
mod rules;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rsalab_measure::{Clock, Machine, Monotonic, busy_warnings};

use crate::{
    error::Error,
    store::{
        Beginning, BlockRecord, CellState, Ending, GroupRecord, InterruptedBlock, SessionNumber,
        SessionStart, Store, StoreError, TakenBlock,
    },
    study::Study,
};

pub(crate) use check::interrupted_note;
pub(crate) use course::{Course, Share};
pub(crate) use entrant::Entrant;
pub(crate) use group::{Brief, GroupRun, Lab, Notice, Outcome, Record};
pub(crate) use launcher::Pool;
pub use launcher::{LaunchError, Launcher, Workers};
pub(crate) use materials::Materials;
pub use observer::{CellName, Event, Observer, Progress};

/// What a run needs to know besides the study.
pub struct Surroundings<'a> {
    /// Who starts the workers.
    pub launcher: &'a dyn Launcher,
    /// The machine, for the record.
    pub machine: Machine,
    /// What is wrong with the machine for measuring, for the record and the observer.
    pub warnings: Vec<String>,
    /// The coordinator's clock: no worker may report more time than passes on it.
    pub clock: &'a dyn Clock,
    /// Measure our own engine although this program was built without optimisation; the cells say so.
    pub allow_unoptimised: bool,
}

impl<'a> Surroundings<'a> {
    /// This machine as it is now. Takes a fraction of a second, in which it listens for others at work.
    pub fn of_this_machine(launcher: &'a dyn Launcher) -> Self {
        let machine = Machine::describe();
        Surroundings {
            launcher,
            warnings: busy_warnings(&machine),
            machine,
            clock: Monotonic::get(),
            allow_unoptimised: false,
        }
    }
}

/// Measures what is open in a study, and stores each block as soon as it is verified.
///
/// A study with nothing left to do is left as it is. Returns early when `stop` is set: a block in flight is given up, its worker killed, and everything before it is
/// stored. Running the study again goes on from there.
///
/// # Errors
/// Those of the database. What goes wrong with an engine is recorded in its cell.
pub fn run(
    study: &mut Study,
    around: &Surroundings<'_>,
    observer: &mut dyn Observer,
    stop: &Arc<AtomicBool>,
) -> Result<Ending, Error> {
    if !study.store().has_open_cells()? {
        return Ok(Ending::Complete);
    }
    let start = SessionStart {
        machine: &around.machine,
        warnings: &around.warnings,
    };
    let session = study.store_mut().begin_session(&start)?;
    around
        .warnings
        .iter()
        .for_each(|warning| observer.notice(&Event::Warning(warning)));
    let ran = run_groups(study, session, around, observer, stop);
    let ending = match &ran {
        Ok(ending) => *ending,
        Err(_) => Ending::Failed,
    };
    let ended = study.store_mut().end_session(session, ending);
    // The first error is the one that explains.
    let ending = ran?;
    ended?;
    Ok(ending)
}

fn run_groups(
    study: &mut Study,
    session: SessionNumber,
    around: &Surroundings<'_>,
    observer: &mut dyn Observer,
    stop: &Arc<AtomicBool>,
) -> Result<Ending, Error> {
    let seed = study.store().study()?.seed;
    let groups = study.store().groups()?;
    let mut materials = Materials::new(seed, stop);
    let mut lab = Lab {
        pool: Pool::new(around.launcher, stop),
        materials: &mut materials,
        clock: around.clock,
        stop: Arc::clone(stop),
        allow_unoptimised: around.allow_unoptimised,
    };
    let mut course = Course::of(groups.iter().map(share));
    observer.notice(&Event::Began {
        progress: course.progress(),
    });
    for group in groups
        .iter()
        .filter(|group| group.cells.iter().any(|cell| cell.state.is_open()))
    {
        course.enter(share(group));
        let engines: Vec<String> = group.cells.iter().map(|cell| cell.engine.clone()).collect();
        let title = crate::plan::title(&group.job);
        observer.notice(&Event::GroupBegan {
            job: &title,
            engines: &engines,
        });
        let mut entrants = entrants(study.store(), group)?;
        let outcome = GroupRun::new(
            &mut lab,
            Brief {
                title: &title,
                job: &group.job,
                measure: &group.measure,
                seed: turn_seed(&seed.0, group.id.0),
            },
            &mut entrants,
            &mut StoreRecord {
                store: study.store_mut(),
                session,
                group,
            },
            &mut |notice| observer.notice(&course.take_in(notice)),
        )
        .run()?;
        if outcome == Outcome::Stopped {
            return Ok(Ending::Stopped);
        }
    }
    match stop.load(Ordering::Relaxed) && study.store().has_open_cells()? {
        true => Ok(Ending::Stopped),
        false => Ok(Ending::Complete),
    }
}

fn entrants(store: &Store, group: &GroupRecord) -> Result<Vec<Entrant>, StoreError> {
    let blocks = store.blocks(group.id)?;
    let of_cell = |id| {
        blocks
            .iter()
            .filter(move |block| block.cell == id)
            .map(|block| block.taken.clone())
    };
    let entrant = |cell: &crate::store::CellRecord| Entrant {
        state: cell.state.clone(),
        beginning: cell.beginning.clone(),
        blocks: of_cell(cell.id).collect(),
        ..Entrant::new(cell.engine.clone(), cell.job.clone())
    };
    Ok(group.cells.iter().map(entrant).collect())
}

/// The order of turns differs between studies and groups, and is the same after a pause.
fn turn_seed(seed: &[u8; 32], group: i64) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&seed[..8]);
    u64::from_le_bytes(first) ^ group.unsigned_abs()
}

/// Writes a group's steps to the database.
struct StoreRecord<'a> {
    store: &'a mut Store,
    session: SessionNumber,
    group: &'a GroupRecord,
}

impl Record for StoreRecord<'_> {
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

fn share(group: &GroupRecord) -> Share {
    let open = group
        .cells
        .iter()
        .filter(|cell| cell.state.is_open())
        .count();
    Share {
        cells: group.cells.len(),
        open,
        expected_s: group.measure.expected_s(&group.job),
    }
}
