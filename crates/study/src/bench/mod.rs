//! A few cells, now.
//!
//! A study without a store: the same plan, workers, keys, inputs, verification, scheduler and statistics, kept in
//! memory. Results are [`Row`]s.

mod rows;

use std::sync::{Arc, atomic::AtomicBool};

use rsalab_engines::Op;

use self::rows::rows_of;
pub use self::rows::{Interval, Luck, Row};
use crate::{
    compare::CONFIDENCE,
    distinct::distinct,
    error::Error,
    plan::{self, Cell, Engines, Grid, Group, Host, Measure, Plan, PlanError, Seed, Threads},
    run::{
        ActiveCell, Environment, Event, GroupRun, GroupSpec, GroupWork, MemorySink, Observer, Outcome, RunContext,
        RunProgress, TestData,
    },
};

/// A request for measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// Bits of the modulus; a comparison for each.
    pub bits: Vec<usize>,
    /// The engines, by selector. Ratios refer to the first. One that is named twice is compared with itself.
    pub engines: Vec<String>,
    /// Threads that run at once.
    pub threads: usize,
    /// Items handed to an engine in one call.
    pub batch: usize,
    /// Primes of the key.
    pub primes: usize,
    /// Keys that the items of a batch are under by turns.
    pub keys: usize,
    /// Signatures of messages: bytes of each. Empty for the others.
    pub message_bytes: Option<usize>,
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
            primes: 2,
            keys: 1,
            message_bytes: (op == Op::SignMessage).then_some(1024),
            bare: false,
            symbols: op.is_text().then_some(10_000),
            seconds: 3.0,
            launches: 1,
            seed: None,
        }
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// In the order of the sizes, and of the engines at each size.
    pub rows: Vec<Row>,
    /// `true` if everything was measured, rather than stopped before the end.
    pub is_complete: bool,
}

/// Measures what is asked, size by size, the engines of a size interleaved.
///
/// When `stop` is set, what has been measured so far is returned.
///
/// # Errors
/// The request does not make sense on this machine; the sentence says what would.
pub fn run(
    request: &Request,
    host: &Host,
    environment: &Environment<'_>,
    observer: &mut dyn Observer,
    stop: &Arc<AtomicBool>,
) -> Result<Results, Error> {
    let groups = request.groups(host)?;
    let seed = match request.seed {
        Some(seed) => seed,
        None => Seed::random()?,
    };
    let work = |group: &Group| {
        let cells = group.cells.len() * request.launches;
        GroupWork {
            cells,
            open: cells,
            expected_s: group.expected_s() * request.launches as f64,
        }
    };
    let mut progress = RunProgress::of(groups.iter().map(work));
    observer.notice(&Event::Began {
        progress: progress.progress(),
    });
    let mut test_data = TestData::new(seed, stop);
    let quota = environment.machine.topology.quota;
    let mut rows = Vec::new();
    let mut is_complete = true;
    for group in &groups {
        let title = plan::title(&group.job);
        observer.notice(&Event::GroupBegan {
            job: &title,
            engines: &request.engines,
        });
        progress.enter(work(group));
        let mut launches = Vec::new();
        for launch in 0..request.launches {
            let mut cells = active_cells(group);
            let mut context = RunContext::new(environment, environment.launcher, &mut test_data, stop);
            let run = GroupRun {
                context: &mut context,
                spec: GroupSpec {
                    job: &group.job,
                    measure: &group.measure,
                    seed: launch as u64,
                },
                cells: &mut cells,
                sink: &mut MemorySink,
                progress: &mut progress,
                observer,
                remarks: Vec::new(),
            };
            let outcome = run.run()?;
            launches.push(cells);
            if outcome == Outcome::Stopped {
                is_complete = false;
                break;
            }
        }
        rows.extend(rows_of(group, &launches, quota));
        if !is_complete {
            break;
        }
    }
    Ok(Results { rows, is_complete })
}

impl Request {
    /// The groups to be compared, checked by the rules of a plan.
    pub(crate) fn groups(&self, host: &Host) -> Result<Vec<Group>, PlanError> {
        if self.launches == 0 {
            return Err(PlanError::at(
                "launches",
                "0 launches measure nothing: ask for 1 launch or more",
            ));
        }
        // There is one grid and no file, so that the key alone says where.
        let in_request = |error: PlanError| {
            let key = error.key.map(|key| key.trim_start_matches("grid 1, ").to_owned());
            PlanError { key, ..error }
        };
        let groups = self.plan().groups(host).map_err(in_request)?;
        Ok(groups.into_iter().map(|group| self.with_copies(group)).collect())
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
        let is_random = !self.op.is_deterministic();
        Plan {
            title: "bench".to_owned(),
            seed: self.seed,
            measure: Measure {
                precision: 0.0,
                confidence: CONFIDENCE,
                budget_s: self.seconds,
                min_blocks: 2,
                max_blocks: usize::MAX,
                block_ms,
                discard_ms: if is_random { 0 } else { block_ms / 10 },
                ..Measure::default()
            },
            grids: vec![Grid {
                operations: vec![self.op],
                engines: Engines::Named(distinct(self.engines.iter().cloned())),
                bits: self.bits.clone(),
                threads: Threads::These(vec![self.threads]),
                batch: vec![self.batch],
                primes: vec![self.primes],
                keys: vec![self.keys],
                message_bytes: self.message_bytes.into_iter().collect(),
                symbols: self.symbols.into_iter().collect(),
                bare: self.bare,
                ..Grid::default()
            }],
            ..Plan::default()
        }
    }
}

fn active_cells(group: &Group) -> Vec<ActiveCell> {
    let active = |(place, cell): (usize, &Cell)| ActiveCell {
        copy: group.cells[..place]
            .iter()
            .filter(|earlier| earlier.engine == cell.engine)
            .count(),
        ..ActiveCell::new(cell.engine.clone(), cell.job.clone())
    };
    group.cells.iter().enumerate().map(active).collect()
}
