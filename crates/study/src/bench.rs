//! A few cells side by side, now and without a store.
//!
//! What a study does for each of its groups, done once: the same workers, keys, inputs, verification, interleaved blocks
//! and statistics. Results are [`Row`]s.

use std::sync::{Arc, atomic::AtomicBool};

use rsalab_engines::{BlockReport, Ledger, Mode, Op};
use rsalab_measure::{Block, Estimate, stats::Explained};
use serde::{Deserialize, Serialize};

use crate::{
    compare::{self, LuckCorrected, Measured, MeasuredBlock, Ratio},
    error::Error,
    number,
    plan::{self, Cell, Engines, Grid, Group, Host, Measure, Plan, PlanError, Seed, Threads},
    run::{
        Brief, Course, Entrant, Event, GroupRun, Lab, Materials, Notice, Observer, Outcome, Pool,
        Record, Share, Surroundings, interrupted_note,
    },
    store::{Beginning, CellState, StoreError, TakenBlock},
};

/// What is to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// Bits of the modulus; a comparison for each.
    pub bits: Vec<usize>,
    /// The engines, by selector. Ratios refer to the first. One that is named twice is measured beside itself.
    pub engines: Vec<String>,
    /// Threads that run at once.
    pub threads: usize,
    /// Items handed to an engine in one call.
    pub batch: usize,
    /// Our own engine without blinding and without the check of the result.
    pub bare: bool,
    /// Text operations: bytes of the whole text. Empty for the others.
    pub symbols: Option<usize>,
    /// Seconds of measuring for each engine at each size, in each launch.
    pub seconds: f64,
    /// How often the workers are started anew. Some libraries are fast in one launch and slow in the next.
    pub launches: usize,
    /// From which keys and inputs derive; a random one where absent.
    pub seed: Option<Seed>,
}

impl Request {
    /// A request with the usual answers to everything else: one thread, one item, one launch of three seconds.
    pub fn new(op: Op, bits: Vec<usize>, engines: Vec<String>) -> Self {
        Request {
            op,
            bits,
            engines,
            threads: 1,
            batch: 1,
            bare: false,
            symbols: op.is_text().then_some(10_000),
            seconds: 3.0,
            launches: 1,
            seed: None,
        }
    }
}

/// One engine at one size.
///
/// An engine that failed or does not do the job has a row too, without figures and with the reason in its notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The engine's selector.
    pub engine: String,
    /// The version of its library.
    pub engine_version: Option<String>,
    /// The code path it chose for this CPU.
    pub kernel: Option<String>,
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// Threads that ran at once.
    pub threads: usize,
    /// Items handed to the engine in one call.
    pub batch: usize,
    /// Which question the figures answer.
    pub mode: Mode,
    /// Operations per second, of all threads together.
    pub ops_per_s: Option<f64>,
    /// Nanoseconds per operation of wall time, in the median, with its interval of 95 %.
    pub ns_per_op: Option<Interval>,
    /// Ticks of the time-stamp counter per operation. Not core cycles.
    pub tsc_per_op: Option<f64>,
    /// This engine's speed divided by that of the first engine listed, at the same size: above 1 where this one is
    /// faster. None if the first has no figures.
    pub ratio_to_first: Option<Interval>,
    /// Where luck decides and the primality tests are counted: what they say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<Luck>,
    /// The conditions of the figures.
    pub ledger: Option<Ledger>,
    /// Remarks: a ratio between unequal jobs, oversubscription, the reason of a failure.
    pub notes: Vec<String>,
    /// Operations per second of each launch, if there were several; the figures are medians over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches_ops_per_s: Vec<f64>,
}

/// What the primality tests behind a row say about its luck. The row's own figures are raw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Luck {
    /// How far the tests explain the time: an operation is a key, a count is a test.
    pub explained: Explained,
    /// The mean number of tests of all engines of the row's size that search as this one does; none if no other does.
    pub shared_tests_per_op: Option<f64>,
    /// Operations per second, had this engine needed so many.
    pub corrected_ops_per_s: Option<Interval>,
    /// The ratio to the first engine, had both needed as many as the two did in the mean. None where the ratio is raw.
    pub corrected_ratio_to_first: Option<Interval>,
}

/// A median with its interval. Without enough blocks for one, the interval is the range of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            median: estimate.value,
            low: estimate.low,
            high: estimate.high,
        }
    }
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// In the order of the sizes, and of the engines at each size.
    pub rows: Vec<Row>,
    /// Whether everything was measured, rather than stopped before the end.
    pub is_complete: bool,
}

/// Of every interval of a row.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Measures what is asked, size by size, the engines of a size in turn.
///
/// When `stop` is set, what has been measured so far is returned.
///
/// # Errors
/// The request does not make sense on this machine; the sentence says what would.
pub fn run(
    request: &Request,
    host: &Host,
    around: &Surroundings<'_>,
    observer: &mut dyn Observer,
    stop: &Arc<AtomicBool>,
) -> Result<Results, Error> {
    let groups = request.groups(host)?;
    let seed = match request.seed {
        Some(seed) => seed,
        None => Seed::random()?,
    };
    let share = |group: &Group| {
        let cells = group.cells.len() * request.launches;
        Share {
            cells,
            open: cells,
            expected_s: group.measure.expected_s(&group.job),
        }
    };
    let mut course = Course::of(groups.iter().map(share));
    observer.notice(&Event::Began {
        progress: course.progress(),
    });
    let mut materials = Materials::new(seed, stop);
    let mut rows = Vec::new();
    let mut is_complete = true;
    for group in &groups {
        let title = plan::title(&group.job);
        observer.notice(&Event::GroupBegan {
            job: &title,
            engines: &request.engines,
        });
        course.enter(share(group));
        let mut launches = Vec::new();
        for launch in 0..request.launches {
            let mut entrants = entrants(group);
            let mut lab = Lab {
                pool: Pool::new(around.launcher, stop),
                materials: &mut materials,
                clock: around.clock,
                stop: Arc::clone(stop),
                allow_unoptimised: around.allow_unoptimised,
            };
            let brief = Brief {
                title: &title,
                job: &group.job,
                measure: &group.measure,
                seed: launch as u64,
            };
            let mut notice = |notice: &Notice<'_>| observer.notice(&course.take_in(notice));
            let outcome =
                GroupRun::new(&mut lab, brief, &mut entrants, &mut Nowhere, &mut notice).run()?;
            launches.push(entrants);
            if outcome == Outcome::Stopped {
                is_complete = false;
                break;
            }
        }
        rows.extend(rows_of(group, &launches));
        if !is_complete {
            break;
        }
    }
    Ok(Results { rows, is_complete })
}

impl Request {
    /// What is to be compared, checked by the rules of a plan.
    pub(crate) fn groups(&self, host: &Host) -> Result<Vec<Group>, PlanError> {
        if self.launches == 0 {
            return Err(PlanError::at(
                "launches",
                "0 launches measure nothing: ask for 1 launch or more",
            ));
        }
        // There is one grid and no file, so that the key alone says where.
        let in_request = |error: PlanError| {
            let key = error
                .key
                .map(|key| key.trim_start_matches("grid 1, ").to_owned());
            PlanError { key, ..error }
        };
        let groups = self.plan().groups(host).map_err(in_request)?;
        Ok(groups
            .into_iter()
            .map(|group| self.with_copies(group))
            .collect())
    }

    /// A plan names an engine once, a bench as often as it likes.
    fn with_copies(&self, group: Group) -> Group {
        let cells = self.engines.iter().filter_map(|engine| {
            let mut cells = group.cells.iter();
            cells.find(|cell| cell.engine == *engine).cloned()
        });
        Group {
            cells: cells.collect(),
            ..group
        }
    }

    /// The request as a plan of one grid.
    fn plan(&self) -> Plan {
        // Ten blocks in the time that there is, each as long as a study's at most.
        let block_ms = (self.seconds * 100.0).clamp(10.0, 100.0) as u64;
        let is_luck = !self.op.is_deterministic();
        Plan {
            title: "bench".to_owned(),
            article: None,
            nice: 0,
            seed: self.seed,
            measure: Measure {
                precision: 0.0,
                confidence: CONFIDENCE,
                budget_s: self.seconds,
                min_blocks: 2,
                max_blocks: usize::MAX,
                block_ms,
                discard_ms: if is_luck { 0 } else { block_ms / 10 },
                ..Measure::default()
            },
            grids: vec![Grid {
                operations: vec![self.op],
                engines: Engines::Named(distinct(&self.engines)),
                bits: self.bits.clone(),
                threads: Threads::These(vec![self.threads]),
                batch: vec![self.batch],
                symbols: self.symbols.into_iter().collect(),
                bare: self.bare,
                ..Grid::default()
            }],
        }
    }
}

fn distinct(engines: &[String]) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for engine in engines {
        if !distinct.contains(engine) {
            distinct.push(engine.clone());
        }
    }
    distinct
}

fn entrants(group: &Group) -> Vec<Entrant> {
    let entrant = |(place, cell): (usize, &Cell)| Entrant {
        copy: group.cells[..place]
            .iter()
            .filter(|earlier| earlier.engine == cell.engine)
            .count(),
        ..Entrant::new(cell.engine.clone(), cell.job.clone())
    };
    group.cells.iter().enumerate().map(entrant).collect()
}

/// A record of nothing: the entrants themselves are what is kept.
pub(crate) struct Nowhere;

impl Record for Nowhere {
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

/// One engine at one size over all launches.
struct Contestant<'a> {
    entrants: Vec<&'a Entrant>,
    /// What statistics are made of. Of several launches, each is one block: neighbouring samples share its luck.
    blocks: Vec<TakenBlock>,
}

fn rows_of(group: &Group, launches: &[Vec<Entrant>]) -> Vec<Row> {
    let contestants: Vec<Contestant<'_>> = (0..group.cells.len())
        .map(|place| Contestant::new(launches.iter().map(|entrants| &entrants[place]).collect()))
        .collect();
    let measured: Vec<Option<Measured<'_>>> =
        contestants.iter().map(Contestant::measured).collect();
    let measured: Vec<Option<&Measured<'_>>> = measured.iter().map(Option::as_ref).collect();
    let corrected = compare::luck_corrected(group.job.op, &measured, CONFIDENCE);
    contestants
        .iter()
        .zip(corrected)
        .map(|(contestant, corrected)| contestant.row(group, &contestants[0], corrected))
        .collect()
}

impl<'a> Contestant<'a> {
    fn new(entrants: Vec<&'a Entrant>) -> Self {
        let done = entrants
            .iter()
            .filter(|entrant| entrant.state == CellState::Done);
        let blocks = match entrants.len() {
            1 => done.flat_map(|entrant| entrant.blocks.clone()).collect(),
            _ => done
                .enumerate()
                .map(|(launch, entrant)| whole_launch(launch, entrant))
                .collect(),
        };
        Contestant { entrants, blocks }
    }

    fn beginning(&self) -> Option<&'a Beginning> {
        self.entrants
            .iter()
            .rev()
            .find_map(|entrant| entrant.beginning.as_ref())
    }

    fn measured(&self) -> Option<Measured<'_>> {
        let blocks = self.blocks.iter().map(MeasuredBlock::from).collect();
        Some(Measured {
            ledger: &self.beginning()?.ledger,
            blocks,
        })
    }

    fn row(&self, group: &Group, first: &Contestant<'_>, corrected: Option<LuckCorrected>) -> Row {
        let job = &group.job;
        let measured = self.measured();
        let figures = measured
            .as_ref()
            .and_then(|measured| compare::figures(job.op, measured, CONFIDENCE));
        let ratio = first
            .measured()
            .zip(measured)
            .and_then(|(first, this)| compare::ratio(job.op, &first, &this, CONFIDENCE));
        let launches_ops_per_s = self.speeds(job.op);
        let beginning = self.beginning();
        Row {
            engine: self.entrants[0].engine.clone(),
            engine_version: beginning.map(|beginning| beginning.info.version.clone()),
            kernel: beginning.map(|beginning| beginning.readiness.kernel.clone()),
            op: job.op,
            bits: job.bits,
            threads: job.threads,
            batch: job.batch,
            mode: job.mode,
            ops_per_s: figures.map(|figures| figures.ops_per_s.value),
            ns_per_op: figures.map(|figures| figures.ns_per_op.into()),
            tsc_per_op: figures.and_then(|figures| figures.tsc_per_op),
            ratio_to_first: ratio.as_ref().map(|ratio| ratio.to_first.into()),
            luck: figures
                .and_then(|figures| figures.luck)
                .map(|explained| Luck {
                    explained,
                    shared_tests_per_op: corrected.map(|corrected| corrected.tests_per_op),
                    corrected_ops_per_s: corrected.map(|corrected| corrected.ops_per_s.into()),
                    corrected_ratio_to_first: ratio
                        .as_ref()
                        .and_then(|ratio| ratio.luck_corrected)
                        .filter(|_| corrected.is_some())
                        .map(Interval::from),
                }),
            ledger: beginning.map(|beginning| beginning.ledger.clone()),
            notes: self.notes(ratio.as_ref(), &launches_ops_per_s),
            launches_ops_per_s,
        }
    }

    /// Operations per second of each launch, if there are several.
    fn speeds(&self, op: Op) -> Vec<f64> {
        if self.entrants.len() < 2 {
            return Vec::new();
        }
        let done = self
            .entrants
            .iter()
            .filter(|entrant| entrant.state == CellState::Done);
        done.filter_map(|entrant| compare::figures(op, &entrant.measured()?, CONFIDENCE))
            .map(|figures| figures.ops_per_s.value)
            .collect()
    }

    fn notes(&self, ratio: Option<&Ratio>, speeds: &[f64]) -> Vec<String> {
        let mut notes = self
            .beginning()
            .map(|beginning| beginning.notes.clone())
            .unwrap_or_default();
        if let Some(ratio) = ratio.filter(|ratio| !ratio.differs_in.is_empty()) {
            notes.push(format!("differs in: {}", ratio.differs_in.join(", ")));
        }
        if let Some(reason) = ratio.and_then(|ratio| ratio.uncorrected) {
            notes.push(format!("the ratio is raw, luck included: {reason}"));
        }
        if let Some(best) = speeds.iter().copied().reduce(f64::max) {
            let worst = speeds.iter().copied().fold(best, f64::min);
            notes.push(format!(
                "launches: {}, best {}, worst {} per second; the figures are medians over them",
                speeds.len(),
                number::significant(best),
                number::significant(worst),
            ));
        }
        let interrupted: Vec<&str> = self
            .entrants
            .iter()
            .flat_map(|entrant| entrant.interrupted.iter().map(String::as_str))
            .collect();
        notes.extend(interrupted_note(&interrupted));
        for (index, entrant) in self.entrants.iter().enumerate() {
            let launch = if self.entrants.len() > 1 {
                format!("launch {} ", index + 1)
            } else {
                String::new()
            };
            match &entrant.state {
                CellState::Done => {}
                CellState::Failed(reason) => notes.push(format!("{launch}failed: {reason}")),
                CellState::Unsupported(reason) => {
                    notes.push(format!("{launch}not supported: {reason}"))
                }
                CellState::Planned | CellState::Running => {
                    notes.push(format!("{launch}stopped before the end"))
                }
            }
        }
        // An engine that cannot do a job says the same in every launch.
        notes.dedup();
        notes
    }
}

/// All samples of a launch as one block.
fn whole_launch(launch: usize, entrant: &Entrant) -> TakenBlock {
    let blocks = || entrant.blocks.iter().map(|taken| &taken.report);
    let block = Block {
        samples: blocks()
            .flat_map(|report| report.block.samples.iter().copied())
            .collect(),
        discarded_operations: blocks()
            .map(|report| report.block.discarded_operations)
            .sum(),
        started_ns: blocks()
            .map(|report| report.block.started_ns)
            .min()
            .unwrap_or(0),
        elapsed_ns: blocks().map(|report| report.block.elapsed_ns).sum(),
    };
    let tests = blocks()
        .flat_map(|report| report.tests.iter().copied())
        .collect();
    let report = BlockReport {
        block,
        tests,
        outputs: Vec::new(),
        trace: Vec::new(),
        cpu: None,
    };
    TakenBlock {
        order_index: launch as u64,
        round: launch,
        worker_pid: entrant.worker_pid,
        report,
    }
}
