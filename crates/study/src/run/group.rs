//! One group of cells, from a cold start to verified figures.
//!
//! ```text
//! for each cell      start or reuse its worker → supported? → prepare → outputs verified → begun
//! rounds             a block of each cell, in the scheduler's order; verified, recorded
//!                    one that was interrupted from outside is recorded as such, and measured again; so is one
//!                    from which a part of its time was taken, a few times
//!                    until the scheduler says that it is enough
//! for each cell      outputs verified again → done
//! ```
//!
//! Whatever goes wrong with a worker costs its cell, and the others go on. Only the record (the database) can end the
//! run with an error.

use std::{rc::Rc, sync::atomic::Ordering};

use rsalab_engines::{Job, Readiness, Session, SessionError, StudyKey};
use rsalab_measure::{Interruption, interleave::Slot};

use super::{
    active_cell::ActiveCell,
    context::RunContext,
    launcher::LaunchError,
    observer::{CellName, Event, Observer},
    progress::RunProgress,
    remarks::{ATTEMPTS, UNOPTIMISED, disturbance, interruption, is_built_in, notes},
    scheduler::Scheduler,
    sink::Sink,
    test_data::{DataError, JobData},
};
use crate::{
    compare::{self, Measured},
    disturbance::Reading,
    plan::Measure,
    store::{Beginning, CellState, StoreError, TakenBlock},
};

/// The remark on a cell whose batch is under several keys, where the engine works on one item at a time.
const ONE_BY_ONE: &str = "the items of a batch, each under its key, are done one by one";

/// How a group ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every cell is closed.
    Complete,
    /// Somebody wants the run to stop.
    Stopped,
}

/// The specification that all cells of a group share.
#[derive(Clone, Copy)]
pub(crate) struct GroupSpec<'a> {
    /// But for the threads, which are each cell's own.
    pub(crate) job: &'a Job,
    pub(crate) measure: &'a Measure,
    /// Decides the order of blocks.
    pub(crate) seed: u64,
}

/// A group at work.
pub(crate) struct GroupRun<'a, 'l> {
    pub(crate) context: &'a mut RunContext<'l>,
    pub(crate) spec: GroupSpec<'a>,
    pub(crate) cells: &'a mut [ActiveCell],
    pub(crate) sink: &'a mut dyn Sink,
    /// Of the run that the group is part of.
    pub(crate) progress: &'a mut RunProgress,
    pub(crate) observer: &'a mut dyn Observer,
    /// Remarks on a cell that are stored when it closes, by its place: none yet.
    pub(crate) remarks: Vec<(usize, String)>,
}

/// Why a step did not succeed.
enum StepError {
    /// The cell is closed in this state.
    Close(CellState),
    /// The run must stop; the cell stays open.
    Stop,
    /// The record failed, and the run with it.
    Record(StoreError),
}

impl From<StoreError> for StepError {
    fn from(error: StoreError) -> Self {
        StepError::Record(error)
    }
}

fn failed(reason: impl ToString) -> StepError {
    StepError::Close(CellState::Failed(reason.to_string()))
}

fn unsupported(reason: impl ToString) -> StepError {
    StepError::Close(CellState::Unsupported(reason.to_string()))
}

impl GroupRun<'_, '_> {
    /// Measures what is open in the group. Stored blocks count as if they had just been taken.
    pub(crate) fn run(mut self) -> Result<Outcome, StoreError> {
        // Once a cell is done the measurement has ended, and what is left open awaits its last check only.
        let is_measured = self.cells.iter().any(|cell| cell.state == CellState::Done);
        if self.each(Self::begin)? == Outcome::Stopped {
            return Ok(Outcome::Stopped);
        }
        if !is_measured && self.measure()? == Outcome::Stopped {
            return Ok(Outcome::Stopped);
        }
        self.remarks = self.carry_over();
        self.each(Self::finish)
    }

    fn each(&mut self, step: fn(&mut Self, usize) -> Result<(), StepError>) -> Result<Outcome, StoreError> {
        for place in 0..self.cells.len() {
            if self.attempt(place, |group| step(group, place))? == Outcome::Stopped {
                return Ok(Outcome::Stopped);
            }
        }
        Ok(Outcome::Complete)
    }

    /// Does a step for a cell if it is open, and closes the cell if the step does not succeed.
    fn attempt(
        &mut self,
        place: usize,
        step: impl FnOnce(&mut Self) -> Result<(), StepError>,
    ) -> Result<Outcome, StoreError> {
        if self.is_stopping() {
            return Ok(Outcome::Stopped);
        }
        if !self.cells[place].state.is_open() {
            return Ok(Outcome::Complete);
        }
        match step(self) {
            Ok(()) => Ok(Outcome::Complete),
            Err(StepError::Stop) => Ok(Outcome::Stopped),
            // A worker that died because everything is being stopped has not failed.
            Err(StepError::Close(CellState::Failed(_))) if self.is_stopping() => Ok(Outcome::Stopped),
            Err(StepError::Close(state)) => self.close(place, state).map(|()| Outcome::Complete),
            Err(StepError::Record(error)) => Err(error),
        }
    }

    fn begin(&mut self, place: usize) -> Result<(), StepError> {
        let ActiveCell { engine, copy, job, .. } = self.cells[place].clone();
        let session = self.context.pool.session(&engine, copy).map_err(|error| match error {
            LaunchError::Absent(sentence) => unsupported(sentence),
            LaunchError::Session(SessionError::Stopped { .. }) => StepError::Stop,
            LaunchError::Session(error) => failed(error),
        })?;
        let info = session.info().clone();
        let worker_pid = session.pid();
        if !info.optimised && !self.context.allow_unoptimised && is_built_in(&engine) {
            return Err(unsupported(UNOPTIMISED));
        }
        let ledger = self
            .ask(place, |session| session.supports(&job))?
            .map_err(unsupported)?;
        let data = self.data(&job)?;
        let readiness = self.prepare(place, &job, &data.keys, &data.inputs)?;
        self.check_outputs(place)?;

        let cell = &self.cells[place];
        let earlier = cell.beginning.as_ref().filter(|_| !cell.blocks.is_empty());
        let mut notes = notes(&info, &readiness, &job, earlier, self.context.quota);
        if job.keys > 1 && ledger.lanes == 1 {
            notes.push(ONE_BY_ONE.to_owned());
        }
        let beginning = Beginning {
            info,
            ledger,
            readiness,
            notes,
        };
        self.sink.begin(place, &beginning)?;
        let cell = &mut self.cells[place];
        cell.state = CellState::Running;
        cell.beginning = Some(beginning);
        cell.worker_pid = worker_pid;
        Ok(())
    }

    /// Makes the job ready. A first call that was interrupted says nothing, and there is no other but in another
    /// attempt.
    fn prepare(&mut self, place: usize, job: &Job, keys: &[StudyKey], inputs: &[u8]) -> Result<Readiness, StepError> {
        for _ in 0..ATTEMPTS {
            let (readiness, seen) = self.ask(place, |session| {
                let readiness = session.prepare(job, keys, inputs)?;
                Ok((readiness, session.interruption()))
            })?;
            if seen.is_none() || readiness.first_call.is_none() {
                return Ok(readiness);
            }
        }
        Err(failed(format!(
            "its first call was interrupted {ATTEMPTS} times: measure it when the machine has time"
        )))
    }

    fn measure(&mut self) -> Result<Outcome, StoreError> {
        let GroupSpec { measure, seed, .. } = self.spec;
        let mut scheduler = Scheduler::new(measure, seed, self.cells);
        while let Some(slot) = scheduler.next(self.cells) {
            let place = slot.subject;
            let outcome = self.attempt(place, |group| group.measure_slot(&mut scheduler, slot))?;
            if outcome == Outcome::Stopped {
                return Ok(Outcome::Stopped);
            }
            if !self.cells[place].state.is_open() {
                scheduler.close(place);
            }
        }
        Ok(Outcome::Complete)
    }

    /// Keeps a block that is part of no figure.
    fn set_aside(&mut self, place: usize, block: &TakenBlock, reason: &str) -> Result<(), StepError> {
        self.sink.block(place, block, Some(reason))?;
        self.cells[place].interrupted.push(reason.to_owned());
        self.observer.notice(&Event::Interrupted {
            cell: name(&self.cells[place]),
            reason,
        });
        Ok(())
    }

    /// A verified block from which nothing was taken, or the last of as many as the cell may measure again.
    fn measure_block(&mut self, slot: Slot) -> Result<(TakenBlock, Option<Interruption>), StepError> {
        let place = slot.subject;
        loop {
            let (block, interruption) = self.take_block(slot)?;
            let cell = &self.cells[place];
            let reading = cell
                .beginning
                .as_ref()
                .map(|beginning| Reading::of(beginning, &cell.job, &cell.engine));
            let disturbed = reading
                .filter(|_| interruption.is_none() && !self.is_stopping())
                .and_then(|reading| disturbance(&block, reading, cell.repeated, cell.blocks.len(), self.context.quota));
            let Some(reason) = disturbed else {
                return Ok((block, interruption));
            };
            self.cells[place].repeated += 1;
            self.set_aside(place, &block, &reason)?;
        }
    }

    /// Measures a block, and again if it was interrupted.
    fn measure_slot(&mut self, scheduler: &mut Scheduler<'_>, slot: Slot) -> Result<(), StepError> {
        let place = slot.subject;
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            if self.is_stopping() {
                return Err(StepError::Stop);
            }
            let (block, interruption) = self.measure_block(slot)?;
            let Some(interruption) = interruption else {
                return self.add_block(scheduler, slot, block);
            };
            last = interruption.to_string();
            self.set_aside(place, &block, &last)?;
        }
        Err(failed(format!(
            "{ATTEMPTS} blocks in a row were interrupted, the last: {last}; measure it when the machine has time"
        )))
    }

    /// A verified block, and what kept its worker from running meanwhile.
    fn take_block(&mut self, slot: Slot) -> Result<(TakenBlock, Option<Interruption>), StepError> {
        let place = slot.subject;
        let plan = self.spec.measure.block_plan(slot.round);
        let (mut report, seen, losses) = self.ask(place, |session| {
            let report = session.block(&plan)?;
            Ok((report, session.interruption(), session.losses()))
        })?;
        let job = self.cells[place].job.clone();
        let made = std::mem::take(&mut report.outputs);
        if !made.is_empty() {
            let right = self.data(&job)?.verify_made(&job, &made);
            right.map_err(|wrong| self.distrust(place, wrong))?;
        }
        let cell = &self.cells[place];
        // Behind all that were taken. To count them would not do: when a family is resumed, groups that have been
        // closed are not here, and their blocks lie between these.
        let last = self.cells.iter().filter_map(|cell| cell.blocks.last());
        let next = last.map(|block| block.order_index + 1).max();
        let block = TakenBlock {
            order_index: next.unwrap_or(0),
            round: slot.round,
            worker_pid: cell.worker_pid,
            report,
            losses,
        };
        let interruption = cell
            .beginning
            .as_ref()
            .and_then(|beginning| interruption(seen, &block, beginning, &cell.engine));
        Ok((block, interruption))
    }

    /// Records a block, and reports it to the observer.
    fn add_block(&mut self, scheduler: &mut Scheduler<'_>, slot: Slot, block: TakenBlock) -> Result<(), StepError> {
        let place = slot.subject;
        self.sink.block(place, &block, None)?;
        scheduler.record(slot, &block.report.block);
        self.cells[place].blocks.push(block);
        if let Some(ns_per_op) = scheduler.median_ns(place) {
            let (share, spent_ns) = scheduler.progress(self.cells);
            self.progress.advance(share, spent_ns);
            self.observer.notice(&Event::Block {
                cell: name(&self.cells[place]),
                ns_per_op,
                progress: self.progress.progress(),
            });
        }
        Ok(())
    }

    /// The last check. The worker must still give the right answers after all it was measured at.
    fn finish(&mut self, place: usize) -> Result<(), StepError> {
        self.check_outputs(place)?;
        self.ask(place, |session| session.release())?;
        Ok(self.close(place, CellState::Done)?)
    }

    fn close(&mut self, place: usize, state: CellState) -> Result<(), StoreError> {
        let cell = &mut self.cells[place];
        let mut notes = cell
            .beginning
            .as_ref()
            .map(|beginning| beginning.notes.clone())
            .unwrap_or_default();
        notes.extend(
            self.remarks
                .iter()
                .filter(|(of, _)| *of == place)
                .map(|(_, remark)| remark.clone()),
        );
        self.sink.close(place, &state, &notes)?;
        cell.state = state;
        if let Some(beginning) = &mut cell.beginning {
            beginning.notes = notes;
        }
        let cell = &self.cells[place];
        let figures = match (&cell.state, cell.measured()) {
            (CellState::Done, Some(measured)) => {
                compare::figures(self.spec.job.op, &measured, self.spec.measure.confidence)
            }
            _ => None,
        };
        self.progress.close_cell();
        self.observer.notice(&Event::Closed {
            cell: name(&self.cells[place]),
            state: &cell.state,
            figures: figures.as_ref(),
            progress: self.progress.progress(),
        });
        Ok(())
    }

    fn check_outputs(&mut self, place: usize) -> Result<(), StepError> {
        let outputs = self.ask(place, |session| session.outputs())?;
        let job = self.cells[place].job.clone();
        let data = self.data(&job)?;
        data.verify(&job, &outputs).map_err(|wrong| self.distrust(place, wrong))
    }

    fn data(&mut self, job: &Job) -> Result<Rc<JobData>, StepError> {
        self.context.test_data.of(job).map_err(|error| match error {
            DataError::Stopped => StepError::Stop,
            DataError::Key(reason) => failed(format!("the study's key could not be made: {reason}")),
        })
    }

    /// Asks a cell's worker. One that is lost is replaced for its next cell.
    fn ask<T>(
        &mut self,
        place: usize,
        question: impl FnOnce(&mut dyn Session) -> Result<T, SessionError>,
    ) -> Result<T, StepError> {
        let ActiveCell { engine, copy, .. } = &self.cells[place];
        let answer = match self.context.pool.session(engine, *copy) {
            Ok(session) => question(session),
            Err(error) => return Err(failed(error)),
        };
        answer.map_err(|error| {
            if error.is_fatal() {
                self.context.pool.discard(engine, *copy);
            }
            match error {
                SessionError::Stopped { .. } => StepError::Stop,
                error => failed(error),
            }
        })
    }

    /// A worker that said something false is not asked again.
    fn distrust(&mut self, place: usize, reason: impl ToString) -> StepError {
        let ActiveCell { engine, copy, .. } = &self.cells[place];
        self.context.pool.discard(engine, *copy);
        failed(reason)
    }

    fn is_stopping(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }

    fn carry_over(&self) -> Vec<(usize, String)> {
        let measured = |(place, cell): (usize, &'_ ActiveCell)| cell.measured().is_some().then_some(place);
        let places: Vec<usize> = self.cells.iter().enumerate().filter_map(measured).collect();
        let measured: Vec<Measured<'_>> = self.cells.iter().filter_map(ActiveCell::measured).collect();
        compare::carry_over_effects(&measured)
            .into_iter()
            .map(|(index, remark)| (places[index], remark))
            .collect()
    }
}

fn name(cell: &ActiveCell) -> CellName<'_> {
    CellName {
        job: &cell.title,
        engine: &cell.engine,
    }
}
