//! Running a study: group by group, block by block, each stored as it is taken.
//!
//! | question | file |
//! |---|---|
//! | how is one group measured | `group`, `active_cell` |
//! | which groups are measured together | `families` |
//! | which engine is next, and when is it enough | `scheduler` |
//! | where are the steps kept | `sink` |
//! | what is needed besides the study | [`Environment`], `context` |
//! | who starts the workers | [`Launcher`], [`Workers`] |
//! | which keys and inputs, and are the outputs right | `test_data` |
//! | was a worker let run, and what is remarked on its figures | `remarks` |
//! | what does an observer see, and how long will it take | [`Observer`], [`Event`], `progress` |

mod active_cell;
mod context;
mod families;
mod group;
mod launcher;
mod observer;
mod progress;
mod remarks;
mod scheduler;
mod sink;
mod test_data;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rsalab_measure::sentinel;

use crate::{
    error::Error,
    store::{Ending, GroupRecord, SessionNumber, SessionStart},
    study::Study,
};

pub(crate) use self::{
    active_cell::ActiveCell,
    context::RunContext,
    group::{GroupRun, GroupSpec, Outcome},
    progress::{GroupWork, RunProgress},
    remarks::interrupted_note,
    sink::MemorySink,
    test_data::TestData,
};
pub use self::{
    context::Environment,
    launcher::{LaunchError, Launcher, Workers},
    observer::{CellName, Event, Observer, Progress},
};
use self::{families::families, sink::StoreSink};

/// Measures what is open in a study, and stores each block as soon as it is verified.
///
/// A study with nothing left to do is left as it is. Returns early when `stop` is set: a block in flight is given up,
/// its worker killed, and everything before it is stored. Running the study again goes on from there.
///
/// # Errors
/// Those of the database. What goes wrong with an engine is recorded in its cell.
pub fn run(
    study: &mut Study,
    environment: &Environment<'_>,
    observer: &mut dyn Observer,
    stop: &Arc<AtomicBool>,
) -> Result<Ending, Error> {
    if !study.store().has_open_cells()? {
        return Ok(Ending::Complete);
    }
    let start = SessionStart {
        machine: &environment.machine,
        warnings: &environment.warnings,
    };
    let session = study.store_mut().begin_session(&start)?;
    environment
        .warnings
        .iter()
        .for_each(|warning| observer.notice(&Event::Warning(warning)));
    let ran = run_groups(study, session, environment, observer, stop);
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
    environment: &Environment<'_>,
    observer: &mut dyn Observer,
    stop: &Arc<AtomicBool>,
) -> Result<Ending, Error> {
    let seed = study.store().study()?.seed;
    let groups = study.store().own_groups()?;
    let text = study.plan()?.and_then(|plan| plan.text);
    let mut test_data = TestData::new(seed, stop).with_text(text);
    let mut context = RunContext::new(environment, environment.launcher, &mut test_data, stop);
    let mut progress = RunProgress::of(groups.iter().map(work));
    observer.notice(&Event::Began {
        progress: progress.progress(),
    });
    for family in families(&groups, study.store())? {
        let group = family[0];
        progress.enter(GroupWork::of_all(family.iter().copied().map(work)));
        let engines: Vec<String> = family
            .iter()
            .flat_map(|group| &group.cells)
            .map(|cell| cell.engine.clone())
            .collect();
        let title = families::title(&family);
        observer.notice(&Event::GroupBegan {
            job: &title,
            engines: &engines,
        });
        let mut active_cells = families::active_cells(study.store(), &family)?;
        let cpu = environment.machine.topology.placement(1).cpus.first().copied();
        study
            .store_mut()
            .add_sentinel(session, group.id, sentinel::time_on(cpu))?;
        let run = GroupRun {
            context: &mut context,
            spec: GroupSpec {
                job: &group.job,
                measure: &group.measure,
                seed: order_seed(&seed.0, group.id.0),
            },
            cells: &mut active_cells,
            sink: &mut StoreSink {
                store: study.store_mut(),
                session,
                family: &family,
            },
            progress: &mut progress,
            observer,
            remarks: Vec::new(),
        };
        let outcome = run.run()?;
        if outcome == Outcome::Stopped {
            return Ok(Ending::Stopped);
        }
    }
    match stop.load(Ordering::Relaxed) && study.store().has_open_cells()? {
        true => Ok(Ending::Stopped),
        false => Ok(Ending::Complete),
    }
}

/// The order of blocks differs between studies and groups, and is the same after a pause.
fn order_seed(seed: &[u8; 32], group: i64) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&seed[..8]);
    u64::from_le_bytes(first) ^ group.unsigned_abs()
}

fn work(group: &GroupRecord) -> GroupWork {
    let open = || group.cells.iter().filter(|cell| cell.state.is_open());
    GroupWork {
        cells: group.cells.len(),
        open: open().count(),
        expected_s: open()
            .map(|cell| group.measure.expected_s(&group.job, &cell.engine))
            .sum(),
    }
}
