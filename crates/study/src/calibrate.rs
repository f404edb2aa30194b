//! This machine's rates of false alarms and of missed differences: an engine compared with itself, and with itself and
//! a known delay.
//!
//! ```text
//! for each launch    three new workers: the engine, the engine again, the engine with the delay
//!                    interleaved, as in a bench; two ratios to the first
//! for each run       the median of its launches
//! at the end         false alarms   ratios of equals whose interval leaves out 1
//!                    misses         ratios to the delayed whose interval holds 1
//! ```
//!
//! An interval of 95 % leaves out the truth once in twenty times, so that false alarms are expected; many more of them
//! say that the intervals are too narrow for this machine. The interval of a single launch does not have in it what a
//! new one changes, since memory then lies elsewhere; one over several launches does.

use std::sync::{Arc, atomic::AtomicBool};

use rsalab_engines::{
    Op, Session,
    worker::{Delay, Delayed},
};
use rsalab_measure::{Estimate, stats::Summary};
use serde::Serialize;

use crate::{
    bench,
    compare::Ratio,
    error::Error,
    launches::Launches,
    plan::{Group, Host, Seed},
    run::{
        ActiveCell, Environment, Event, GroupRun, GroupSpec, LaunchError, Launcher, MemorySink, Outcome, RunContext,
        RunProgress, TestData, Workers,
    },
    store::CellState,
};

/// A calibration that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The engine, by selector.
    pub engine: String,
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// Seconds of measuring for each engine under test in each launch.
    pub seconds: f64,
    /// How often the workers of a run are started anew.
    pub launches: usize,
    /// Runs, each with new workers.
    pub runs: usize,
    /// The delay as a share of a call's time; none: equals only.
    pub plant: Option<f64>,
    /// Milliseconds of the pauses that it is served in; 0: after each call.
    pub pause_ms: f64,
    /// From which keys and inputs derive; a random one where absent.
    pub seed: Option<Seed>,
}

/// Starts workers that are slower by a known share than the engine they are.
#[derive(Clone, Debug)]
pub struct DelayedWorkers {
    /// The launcher of the delayed engine.
    pub workers: Workers,
    /// The delay.
    pub delay: Delay,
}

impl Launcher for DelayedWorkers {
    fn launch(&self, selector: &str, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        let mut location = self.workers.location(selector)?;
        location.engine = Delayed::name_of(&location.engine);
        let Delay { share, pause_ms } = self.delay;
        location.args.extend(["--plant".into(), share.to_string().into()]);
        location.args.extend(["--pause".into(), pause_ms.to_string().into()]);
        self.workers.spawn(&location, stop)
    }
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The engine compared with itself.
    pub equals: Ratio,
    /// The engine with the delay, compared with itself.
    pub planted: Option<Ratio>,
    /// Operations that the engine did in its samples.
    pub operations: u64,
}

/// The result of all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The engine.
    pub engine: String,
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// Seconds for each engine under test in each launch.
    pub seconds: f64,
    /// How often the workers of a run were started anew.
    pub launches: usize,
    /// The delay as a share of a call's time.
    pub plant: Option<f64>,
    /// Milliseconds of the pauses that it is served in; 0: after each call.
    pub pause_ms: f64,
    /// In their order.
    pub runs: Vec<Run>,
    /// The verdict over them; none if there is no run.
    pub verdict: Option<Verdict>,
    /// A run with the budget that [`Verdict::budget_s`] asks for, where that was affordable.
    pub check: Option<Check>,
    /// `true` if every run was made, rather than stopped before the end.
    pub is_complete: bool,
    /// Why there are no more runs, where something failed.
    pub failure: Option<String>,
}

/// Figures over all runs. Where chance decides, they are of adjusted ratios if there are any.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The confidence that the intervals claim, the least of them: five launches or fewer are too few for 95 %.
    pub confidence: f64,
    /// Runs.
    pub runs: usize,
    /// Of equals, intervals that leave out 1.
    pub false_alarms: usize,
    /// With the delay, intervals that hold 1.
    pub misses: Option<usize>,
    /// With the delay, intervals that leave out the true ratio.
    pub truths_missed: Option<usize>,
    /// Half the width of the intervals of equals, as a share of the ratio: the median of the runs.
    pub half_width: f64,
    /// Seconds for each engine under test in each launch that would make it 1 %, if it falls with the square root of
    /// the time.
    pub budget_s: f64,
    /// Ratios of equals within 3 % of 1.
    pub within_three_percent: usize,
    /// The number of raw ratios within three per cent, where the others are adjusted.
    pub within_three_percent_raw: Option<usize>,
}

/// The result of a run with another budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Seconds for each engine under test in each launch.
    pub seconds: f64,
    /// The engine compared with itself.
    pub equals: Ratio,
}

impl Run {
    /// The ratio of equals that counts: without luck where that can be.
    pub fn of_equals(&self) -> Estimate {
        best(&self.equals)
    }

    /// The ratio to the delayed that counts.
    pub fn of_planted(&self) -> Option<Estimate> {
        self.planted.as_ref().map(best)
    }
}

fn best(ratio: &Ratio) -> Estimate {
    ratio.adjusted.unwrap_or(ratio.to_first)
}

/// The budget that is tried once more at the end is at most so many seconds for each engine under test, over all
/// launches, and no more than all runs before it had together.
const AFFORDABLE_S: f64 = 60.0;

/// The half width that a budget is named for.
const WANTED: f64 = 0.01;

/// Does the runs; `planted` starts the workers with the delay. `on_run` gets each run with its number, from 1.
///
/// When `stop` is set, the run in progress is given up and what has been found so far is returned.
///
/// # Errors
/// The request does not make sense on this machine; the sentence says what would.
pub fn run(
    request: &Request,
    host: &Host,
    environment: &Environment<'_>,
    planted: &dyn Launcher,
    on_run: &mut dyn FnMut(usize, &Run),
    stop: &Arc<AtomicBool>,
) -> Result<Calibration, Error> {
    let seed = match request.seed {
        Some(seed) => seed,
        None => Seed::random()?,
    };
    let mut setup = RunSetup {
        environment,
        launcher: Both {
            plain: environment.launcher,
            planted,
        },
        test_data: TestData::new(seed, stop),
        launches: request.launches,
        stop,
    };
    let group = request.group(host, request.seconds)?;
    let mut calibration = Calibration {
        engine: request.engine.clone(),
        op: request.op,
        bits: request.bits,
        seconds: request.seconds,
        launches: request.launches,
        plant: request.plant,
        pause_ms: request.pause_ms,
        runs: Vec::new(),
        verdict: None,
        check: None,
        is_complete: true,
        failure: None,
    };
    for number in 1..=request.runs {
        match setup.run(&group, number as u64, request.plant.is_some())? {
            Ok(run) => {
                on_run(number, &run);
                calibration.runs.push(run);
            }
            Err(failure) => {
                calibration.is_complete = false;
                calibration.failure = failure;
                break;
            }
        }
    }
    calibration.verdict = Verdict::of(&calibration);
    if let Some(seconds) = calibration.affordable() {
        let group = request.group(host, seconds)?;
        match setup.run(&group, 0, false)? {
            Ok(run) => {
                let equals = run.equals;
                calibration.check = Some(Check { seconds, equals });
            }
            Err(None) => calibration.is_complete = false,
            Err(failure) => calibration.failure = failure,
        }
    }
    Ok(calibration)
}

impl Request {
    fn group(&self, host: &Host, seconds: f64) -> Result<Group, Error> {
        let request = bench::Request {
            seconds,
            launches: self.launches,
            seed: self.seed,
            ..bench::Request::new(self.op, vec![self.bits], vec![self.engine.clone()])
        };
        let mut groups = request.groups(host)?;
        Ok(groups.swap_remove(0))
    }
}

/// The setup that runs share.
struct RunSetup<'a> {
    environment: &'a Environment<'a>,
    launcher: Both<'a>,
    test_data: TestData,
    launches: usize,
    stop: &'a Arc<AtomicBool>,
}

/// Why there is no run; none if it was stopped.
type Failure = Option<String>;

impl RunSetup<'_> {
    fn run(&mut self, group: &Group, number: u64, with_planted: bool) -> Result<Result<Run, Failure>, Error> {
        let mut launches = Vec::new();
        for launch in 0..self.launches as u64 {
            let seed = number * self.launches as u64 + launch;
            match self.launch(group, seed, with_planted)? {
                Ok(cells) => launches.push(cells),
                Err(failure) => return Ok(Err(failure)),
            }
        }
        let op = group.job.op;
        let first = Launches::of(0, &launches);
        let run = |equals| Run {
            equals,
            planted: with_planted
                .then(|| Launches::of(2, &launches).ratio(&first, op))
                .flatten(),
            operations: first.cells().iter().map(|cell| cell.operations()).sum(),
        };
        let no_run = || Some("the two have no round in common".to_owned());
        Ok(Launches::of(1, &launches).ratio(&first, op).map(run).ok_or_else(no_run))
    }

    /// The cells of new workers: of the engine, of the engine again, and of the engine with the delay.
    fn launch(
        &mut self,
        group: &Group,
        seed: u64,
        with_planted: bool,
    ) -> Result<Result<Vec<ActiveCell>, Failure>, Error> {
        let cell = &group.cells[0];
        let active = |engine: &str, copy| ActiveCell {
            copy,
            ..ActiveCell::new(engine.to_owned(), cell.job.clone())
        };
        let mut cells = vec![active(&cell.engine, 0), active(&cell.engine, 1)];
        if with_planted {
            cells.push(active(&Both::planted(&cell.engine), 0));
        }
        let mut context = RunContext::new(self.environment, &self.launcher, &mut self.test_data, self.stop);
        let run = GroupRun {
            context: &mut context,
            spec: GroupSpec {
                job: &group.job,
                measure: &group.measure,
                seed,
            },
            cells: &mut cells,
            sink: &mut MemorySink,
            progress: &mut RunProgress::default(),
            observer: &mut |_: &Event<'_>| {},
            remarks: Vec::new(),
        };
        if run.run()? == Outcome::Stopped {
            return Ok(Err(None));
        }
        let failure = cells.iter().find_map(|cell| match &cell.state {
            CellState::Done => None,
            CellState::Failed(reason) | CellState::Unsupported(reason) => Some(format!("{}: {reason}", cell.engine)),
            CellState::Planned | CellState::Running => Some(format!("{}: it was not measured", cell.engine)),
        });
        Ok(match failure {
            Some(failure) => Err(Some(failure)),
            None => Ok(cells),
        })
    }
}

/// Two launchers: one name is the engine's, another that of the engine with the delay.
struct Both<'a> {
    plain: &'a dyn Launcher,
    planted: &'a dyn Launcher,
}

/// No selector ends so.
const PLANTED: &str = ", delayed";

impl Both<'_> {
    fn planted(selector: &str) -> String {
        format!("{selector}{PLANTED}")
    }
}

impl Launcher for Both<'_> {
    fn launch(&self, selector: &str, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        match selector.strip_suffix(PLANTED) {
            Some(selector) => self.planted.launch(selector, stop),
            None => self.plain.launch(selector, stop),
        }
    }
}

impl Calibration {
    /// The budget for the wanted width, if it is another and can be afforded.
    fn affordable(&self) -> Option<f64> {
        let budget_s = self.verdict.as_ref()?.budget_s;
        let is_new = !(0.8..=1.25).contains(&(budget_s / self.seconds));
        let most_s = (AFFORDABLE_S / self.launches as f64).min(self.seconds * self.runs.len() as f64);
        let is_affordable = (0.1..=most_s).contains(&budget_s);
        (self.is_complete && is_new && is_affordable).then_some(budget_s)
    }
}

impl Verdict {
    fn of(calibration: &Calibration) -> Option<Verdict> {
        let runs = &calibration.runs;
        let half_widths: Vec<f64> = runs
            .iter()
            .map(|run| {
                let ratio = run.of_equals();
                (ratio.high - ratio.low) / 2.0 / ratio.value
            })
            .collect();
        let half_width = Summary::of(&half_widths)?.median;
        let count = |is: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| is(run)).count();
        let of_planted = |is: &dyn Fn(Estimate) -> bool| {
            calibration
                .plant
                .map(|_| count(&|run| run.of_planted().is_some_and(is)))
        };
        let near = |ratio: Estimate| (ratio.value - 1.0).abs() <= 0.03;
        let truth = 1.0 / (1.0 + calibration.plant.unwrap_or(0.0));
        let is_corrected = runs.iter().any(|run| run.equals.adjusted.is_some());
        Some(Verdict {
            confidence: runs.iter().map(|run| run.of_equals().confidence).fold(1.0, f64::min),
            runs: runs.len(),
            false_alarms: count(&|run| !run.of_equals().covers(1.0)),
            misses: of_planted(&|ratio| ratio.covers(1.0)),
            truths_missed: of_planted(&|ratio| !ratio.covers(truth)),
            half_width,
            budget_s: calibration.seconds * (half_width / WANTED).powi(2),
            within_three_percent: count(&|run| near(run.of_equals())),
            within_three_percent_raw: is_corrected.then(|| count(&|run| near(run.equals.to_first))),
        })
    }
}
