//! One group of cells, from a cold start to verified figures.
//!
//! ```text
//! for each cell      start or reuse its worker → supported? → prepare → outputs verified → begun
//! rounds             each cell a block in turn, in an order drawn anew; verified, recorded
//!                    one that was interrupted from outside is recorded as such, and measured anew
//!                    until the rules say that it is enough
//! for each cell      outputs verified again → done
//! ```
//!
//! Whatever goes wrong with a worker costs its cell, and the others go on. Only the record (the database) can end the
//! run with an error.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rsalab_engines::{Job, Readiness, Session, SessionError, StudyKey};
use rsalab_measure::{
    Clock, Estimate, Interruption,
    interleave::{Schedule, Turn},
};

use super::{
    check::{ATTEMPTS, UNOPTIMISED, check_report, interruption, is_built_in, notes},
    entrant::Entrant,
    launcher::{LaunchError, Pool},
    materials::{Lack, Material, Materials},
    observer::CellName,
    rules::{Rules, Standing},
};
use crate::{
    compare::{self, Figures, Measured},
    plan::Measure,
    store::{Beginning, CellState, StoreError, TakenBlock},
};

/// Where the steps of a group are kept: a database, or nowhere but in the entrants.
pub(crate) trait Record {
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

/// What happens inside a group.
pub(crate) enum Notice<'a> {
    /// A block was recorded; `share` of the group is done, in blocks of `spent_ns` together.
    Block {
        cell: CellName<'a>,
        ns_per_op: Estimate,
        share: f64,
        spent_ns: u64,
    },
    /// A block was interrupted, and its turn is measured anew.
    Interrupted { cell: CellName<'a>, reason: &'a str },
    /// A cell was closed.
    Closed {
        cell: CellName<'a>,
        state: &'a CellState,
        figures: Option<&'a Figures>,
    },
}

/// What every group of a run shares.
pub(crate) struct Lab<'a> {
    pub(crate) pool: Pool<'a>,
    pub(crate) materials: &'a mut Materials,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) allow_unoptimised: bool,
}

/// How a group ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every cell is closed.
    Complete,
    /// Somebody wants the run to stop.
    Stopped,
}

/// What all cells of a group share.
#[derive(Clone, Copy)]
pub(crate) struct Brief<'a> {
    pub(crate) title: &'a str,
    pub(crate) job: &'a Job,
    pub(crate) measure: &'a Measure,
    /// Decides the order of turns.
    pub(crate) seed: u64,
}

/// A group at work.
pub(crate) struct GroupRun<'a, 'l> {
    lab: &'a mut Lab<'l>,
    brief: Brief<'a>,
    entrants: &'a mut [Entrant],
    record: &'a mut dyn Record,
    notice: &'a mut dyn FnMut(&Notice<'_>),
    /// What is to be said of a cell when it closes, by its place.
    remarks: Vec<(usize, String)>,
}

/// Why a step did not succeed.
enum Setback {
    /// The cell is closed in this state.
    Close(CellState),
    /// The run must stop; the cell stays open.
    Stop,
    /// The record failed, and the run with it.
    Record(StoreError),
}

impl From<StoreError> for Setback {
    fn from(error: StoreError) -> Self {
        Setback::Record(error)
    }
}

fn failed(reason: impl ToString) -> Setback {
    Setback::Close(CellState::Failed(reason.to_string()))
}

fn unsupported(reason: impl ToString) -> Setback {
    Setback::Close(CellState::Unsupported(reason.to_string()))
}

impl<'a, 'l> GroupRun<'a, 'l> {
    pub(crate) fn new(
        lab: &'a mut Lab<'l>,
        brief: Brief<'a>,
        entrants: &'a mut [Entrant],
        record: &'a mut dyn Record,
        notice: &'a mut dyn FnMut(&Notice<'_>),
    ) -> Self {
        GroupRun {
            lab,
            brief,
            entrants,
            record,
            notice,
            remarks: Vec::new(),
        }
    }

    /// Measures what is open in the group. Stored blocks count as if they had just been taken.
    pub(crate) fn run(mut self) -> Result<Outcome, StoreError> {
        // Once a cell is done the rules have had their say, and what is left open awaits its last check only.
        let is_measured = self
            .entrants
            .iter()
            .any(|entrant| entrant.state == CellState::Done);
        if self.each(Self::begin)? == Outcome::Stopped {
            return Ok(Outcome::Stopped);
        }
        if !is_measured && self.take_turns()? == Outcome::Stopped {
            return Ok(Outcome::Stopped);
        }
        self.remarks = self.company();
        self.each(Self::finish)
    }

    fn each(
        &mut self,
        step: fn(&mut Self, usize) -> Result<(), Setback>,
    ) -> Result<Outcome, StoreError> {
        for place in 0..self.entrants.len() {
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
        step: impl FnOnce(&mut Self) -> Result<(), Setback>,
    ) -> Result<Outcome, StoreError> {
        if self.is_stopping() {
            return Ok(Outcome::Stopped);
        }
        if !self.entrants[place].state.is_open() {
            return Ok(Outcome::Complete);
        }
        match step(self) {
            Ok(()) => Ok(Outcome::Complete),
            Err(Setback::Stop) => Ok(Outcome::Stopped),
            // A worker that died because everything is being stopped has not failed.
            Err(Setback::Close(CellState::Failed(_))) if self.is_stopping() => Ok(Outcome::Stopped),
            Err(Setback::Close(state)) => self.close(place, state).map(|()| Outcome::Complete),
            Err(Setback::Record(error)) => Err(error),
        }
    }

    fn begin(&mut self, place: usize) -> Result<(), Setback> {
        let Entrant {
            engine, copy, job, ..
        } = self.entrants[place].clone();
        let session = self
            .lab
            .pool
            .session(&engine, copy)
            .map_err(|error| match error {
                LaunchError::Absent(sentence) => unsupported(sentence),
                LaunchError::Session(SessionError::Stopped { .. }) => Setback::Stop,
                LaunchError::Session(error) => failed(error),
            })?;
        let info = session.info().clone();
        let worker_pid = session.pid();
        if !info.optimised && !self.lab.allow_unoptimised && is_built_in(&engine) {
            return Err(unsupported(UNOPTIMISED));
        }
        let ledger = self
            .ask(place, |session| session.supports(&job))?
            .map_err(unsupported)?;
        let material = self.material(&job)?;
        let keys = material.key.as_slice();
        let readiness = self.prepare(place, &job, keys, &material.inputs)?;
        self.check_outputs(place)?;

        let entrant = &self.entrants[place];
        let earlier = entrant
            .beginning
            .as_ref()
            .filter(|_| !entrant.blocks.is_empty());
        let notes = notes(&info, &readiness, &job, earlier);
        let beginning = Beginning {
            info,
            ledger,
            readiness,
            notes,
        };
        self.record.begin(place, &beginning)?;
        let entrant = &mut self.entrants[place];
        entrant.state = CellState::Running;
        entrant.beginning = Some(beginning);
        entrant.worker_pid = worker_pid;
        Ok(())
    }

    /// Makes the job ready. A first call that was interrupted says nothing, and there is no other but in another attempt.
    fn prepare(
        &mut self,
        place: usize,
        job: &Job,
        keys: &[StudyKey],
        inputs: &[u8],
    ) -> Result<Readiness, Setback> {
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

    fn take_turns(&mut self) -> Result<Outcome, StoreError> {
        let rules = Rules::new(self.brief.measure, self.brief.job);
        let mut schedule = Schedule::new(rules.plan(self.brief.seed), self.entrants.len());
        self.take_up(&mut schedule);
        loop {
            let standing = self.standing(&schedule);
            if self.is_between_rounds(&schedule) && rules.is_enough(&standing) {
                return Ok(Outcome::Complete);
            }
            let Ok(turn) = schedule.next_turn(0) else {
                return Ok(Outcome::Complete);
            };
            let place = turn.contestant;
            let outcome =
                self.attempt(place, |group| group.take_turn(&rules, &mut schedule, turn))?;
            if outcome == Outcome::Stopped {
                return Ok(Outcome::Stopped);
            }
            if !self.entrants[place].state.is_open() {
                schedule.fail(place);
            }
        }
    }

    /// Tells a new schedule what earlier sessions measured. It goes on in the order that they would have had.
    fn take_up(&self, schedule: &mut Schedule) {
        let mut earlier: Vec<(usize, &TakenBlock)> = Vec::new();
        for (place, entrant) in self.entrants.iter().enumerate() {
            match entrant.state.is_open() {
                true => earlier.extend(entrant.blocks.iter().map(|block| (place, block))),
                false => schedule.fail(place),
            }
        }
        earlier.sort_by_key(|(_, block)| block.order_index);
        for (contestant, block) in earlier {
            let turn = Turn {
                order: block.order_index as usize,
                round: block.round,
                contestant,
            };
            schedule.record(turn, &block.report.block);
        }
    }

    /// Measures a block, anew if it was interrupted.
    fn take_turn(
        &mut self,
        rules: &Rules<'_>,
        schedule: &mut Schedule,
        turn: Turn,
    ) -> Result<(), Setback> {
        let place = turn.contestant;
        let mut last = String::new();
        for _ in 0..ATTEMPTS {
            if self.is_stopping() {
                return Err(Setback::Stop);
            }
            let (block, interruption) = self.measure_block(turn)?;
            let Some(interruption) = interruption else {
                return self.take_in(rules, schedule, turn, block);
            };
            last = interruption.to_string();
            self.record.interrupted(place, &block, &last)?;
            self.entrants[place].interrupted.push(last.clone());
            let cell = CellName {
                job: self.brief.title,
                engine: &self.entrants[place].engine,
            };
            (self.notice)(&Notice::Interrupted {
                cell,
                reason: &last,
            });
        }
        Err(failed(format!(
            "{ATTEMPTS} blocks in a row were interrupted, the last: {last}; measure it when the machine has time"
        )))
    }

    /// A verified block of a turn, and what kept its worker from running meanwhile.
    fn measure_block(&mut self, turn: Turn) -> Result<(TakenBlock, Option<Interruption>), Setback> {
        let place = turn.contestant;
        let plan = self.brief.measure.block_plan(turn.round);
        let before_ns = self.lab.clock.now_ns();
        let (mut report, seen) = self.ask(place, |session| {
            let report = session.block(&plan)?;
            Ok((report, session.interruption()))
        })?;
        let bracket_ns = self.lab.clock.now_ns() - before_ns;
        let job = self.entrants[place].job.clone();
        check_report(&report, &plan, &job, bracket_ns)
            .map_err(|fault| self.distrust(place, fault))?;
        let made = std::mem::take(&mut report.outputs);
        if !made.is_empty() {
            let right = self.material(&job)?.verify_made(&job, &made);
            right.map_err(|wrong| self.distrust(place, wrong))?;
        }
        let entrant = &self.entrants[place];
        let interruption = entrant
            .beginning
            .as_ref()
            .and_then(|beginning| interruption(seen, &report, beginning, &entrant.engine));
        let taken = self
            .entrants
            .iter()
            .map(|entrant| entrant.blocks.len() as u64);
        let block = TakenBlock {
            order_index: taken.sum(),
            round: turn.round,
            worker_pid: entrant.worker_pid,
            report,
        };
        Ok((block, interruption))
    }

    /// Records a block and tells of it.
    fn take_in(
        &mut self,
        rules: &Rules<'_>,
        schedule: &mut Schedule,
        turn: Turn,
        block: TakenBlock,
    ) -> Result<(), Setback> {
        let place = turn.contestant;
        self.record.block(place, &block)?;
        schedule.record(turn, &block.report.block);
        self.entrants[place].blocks.push(block);
        if let Some(ns_per_op) = schedule.standings()[place].median_ns() {
            let standing = self.standing(schedule);
            let cell = CellName {
                job: self.brief.title,
                engine: &self.entrants[place].engine,
            };
            (self.notice)(&Notice::Block {
                cell,
                ns_per_op,
                share: rules.share(&standing),
                spent_ns: standing.elapsed_ns,
            });
        }
        Ok(())
    }

    /// The last check. The worker must still give the right answers after all it was measured at.
    fn finish(&mut self, place: usize) -> Result<(), Setback> {
        self.check_outputs(place)?;
        self.ask(place, |session| session.release())?;
        Ok(self.close(place, CellState::Done)?)
    }

    fn close(&mut self, place: usize, state: CellState) -> Result<(), StoreError> {
        let entrant = &mut self.entrants[place];
        let mut notes = entrant
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
        self.record.close(place, &state, &notes)?;
        entrant.state = state;
        if let Some(beginning) = &mut entrant.beginning {
            beginning.notes = notes;
        }
        let entrant = &self.entrants[place];
        let figures = match (&entrant.state, entrant.measured()) {
            (CellState::Done, Some(measured)) => {
                compare::figures(self.brief.job.op, &measured, self.brief.measure.confidence)
            }
            _ => None,
        };
        let cell = CellName {
            job: self.brief.title,
            engine: &entrant.engine,
        };
        (self.notice)(&Notice::Closed {
            cell,
            state: &entrant.state,
            figures: figures.as_ref(),
        });
        Ok(())
    }

    fn check_outputs(&mut self, place: usize) -> Result<(), Setback> {
        let outputs = self.ask(place, |session| session.outputs())?;
        let job = self.entrants[place].job.clone();
        let material = self.material(&job)?;
        material
            .verify(&job, &outputs)
            .map_err(|wrong| self.distrust(place, wrong))
    }

    fn material(&mut self, job: &Job) -> Result<Rc<Material>, Setback> {
        self.lab.materials.of(job).map_err(|lack| match lack {
            Lack::Stopped => Setback::Stop,
            Lack::Key(reason) => failed(format!("the study's key could not be made: {reason}")),
        })
    }

    /// Asks a cell's worker. One that is lost is replaced for its next cell.
    fn ask<T>(
        &mut self,
        place: usize,
        question: impl FnOnce(&mut dyn Session) -> Result<T, SessionError>,
    ) -> Result<T, Setback> {
        let Entrant { engine, copy, .. } = &self.entrants[place];
        let answer = match self.lab.pool.session(engine, *copy) {
            Ok(session) => question(session),
            Err(error) => return Err(failed(error)),
        };
        answer.map_err(|error| {
            if error.is_fatal() {
                self.lab.pool.discard(engine, *copy);
            }
            match error {
                SessionError::Stopped { .. } => Setback::Stop,
                error => failed(error),
            }
        })
    }

    /// A worker that said something false is not asked again.
    fn distrust(&mut self, place: usize, reason: impl ToString) -> Setback {
        let Entrant { engine, copy, .. } = &self.entrants[place];
        self.lab.pool.discard(engine, *copy);
        failed(reason)
    }

    fn is_stopping(&self) -> bool {
        self.lab.stop.load(Ordering::Relaxed)
    }

    fn is_between_rounds(&self, schedule: &Schedule) -> bool {
        let mut last = schedule
            .standings()
            .iter()
            .filter(|one| !one.failed())
            .map(|one| one.rounds().last());
        match last.next() {
            Some(Some(first)) => last.all(|round| round == Some(first)),
            Some(None) | None => false,
        }
    }

    fn standing(&self, schedule: &Schedule) -> Standing {
        let progress = schedule.progress(0);
        let live = || {
            self.entrants
                .iter()
                .filter(|entrant| entrant.state.is_open())
        };
        let times = || {
            live()
                .flat_map(|entrant| &entrant.blocks)
                .map(|block| (block.round, block.report.block.elapsed_ns))
        };
        let last_round = times().map(|(round, _)| round).max();
        Standing {
            rounds: progress.rounds,
            contestants: live().count(),
            elapsed_ns: times().map(|(_, ns)| ns).sum(),
            last_round_ns: times()
                .filter(|(round, _)| Some(*round) == last_round)
                .map(|(_, ns)| ns)
                .sum(),
            operations: live().map(Entrant::operations).min().unwrap_or(0),
            precision: progress.precision,
        }
    }

    fn company(&self) -> Vec<(usize, String)> {
        let (places, measured): (Vec<usize>, Vec<Measured<'_>>) = self
            .entrants
            .iter()
            .enumerate()
            .filter_map(|(place, entrant)| Some((place, entrant.measured()?)))
            .unzip();
        compare::company(&measured)
            .into_iter()
            .map(|(index, remark)| (places[index], remark))
            .collect()
    }
}
