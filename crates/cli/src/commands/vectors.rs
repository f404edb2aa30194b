//! `rsalab vectors`: whether engines agree, on random inputs and on edges; with `-`, answers to the requests of others
//! (`stream`). Nothing is timed.

mod stream;

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use rsalab_engines::{
    Limits, Location, Op, Registry, Selector, Session, Worker,
    conformance::{self, Case, ConformanceError, Outcome, Scope},
};
use rsalab_rsa::random::InsecureStudySeed;
use rsalab_study::plan::Seed;
use serde::Serialize;

use super::selection::{absent, distinct, known, present, registry, with_kernel};
use rsalab_study::number;

use crate::{
    arguments::Vectors,
    exit::{Class, Failure},
    output::{self, Talk, printable},
    signals::Stop,
    table::{Align, Table},
};

/// What came of one operation at one size on one engine.
#[derive(Serialize)]
struct Verdict {
    engine: String,
    engine_version: String,
    op: Op,
    bits: usize,
    /// Answers to random inputs, and keys made, that were verified.
    cases: usize,
    /// Edges that were tried: special numbers, odd batches, wrong lengths, numbers that must be refused.
    edges: usize,
    disagreements: Vec<Disagreement>,
    /// Why the engine does not do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
}

#[derive(Serialize)]
struct Disagreement {
    /// What was tried.
    name: String,
    /// What was wrong.
    what: String,
}

/// Tries each engine, and fails if any answer is wrong.
pub(crate) fn run(arguments: &Vectors, talk: Talk) -> Result<(), Failure> {
    if arguments.stream.is_some() {
        return stream::run(arguments);
    }
    let registry = registry()?;
    let locations = locations(arguments, &registry)?;
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => Seed::random().map_err(|error| {
            let what = "the system gives no random bytes for the seed";
            Failure::new(Class::Unavailable, what).because(error)
        })?,
    };
    talk.say(format_args!("keys and inputs derive from the seed {seed}"));
    let stop = Stop::listen()?;
    let mut printer = Printer::new(arguments.json.json);
    let mut wrong = Vec::new();
    let mut idle = None;
    let mut unprinted = None;
    for (selector, location) in &locations {
        let mut refusals = Refusals::default();
        let tried = try_engine(
            selector,
            location,
            arguments,
            &seed,
            &stop,
            &mut |verdict| {
                refusals.count(&verdict);
                if !verdict.disagreements.is_empty() {
                    wrong.push(format!(
                        "{selector}: {} at {} bits",
                        verdict.op, verdict.bits
                    ));
                }
                printer.print(&verdict)
            },
        );
        if let Some(class) = stop.class() {
            return Err(Failure::new(class, "stopped before the end"));
        }
        match tried {
            Ok(()) if arguments.engines.is_some() => idle = idle.or(refusals.of_all(selector)),
            Ok(()) => {}
            // The others are tried all the same.
            Err(Broken::Off(ConformanceError::Session(error))) => {
                wrong.push(format!("{selector}: {error}"))
            }
            Err(Broken::Off(error)) => {
                return Err(
                    Failure::new(Class::Internal, "there are no keys to try").because(error)
                );
            }
            // What was found wrong before that matters more.
            Err(Broken::Output(failure)) => {
                unprinted = Some(failure);
                break;
            }
        }
    }
    let printed = printer.finish().and(unprinted.map_or(Ok(()), Err));
    match (wrong.as_slice(), idle) {
        ([], None) => printed,
        ([], Some(what)) => Err(Failure::new(Class::Unavailable, what)
            .advice("'rsalab engines' lists the engines and their forms")),
        ([first, ..], _) => {
            let what = format!(
                "{} wrong, the first: {first}",
                number::counted(wrong.len(), "verdict")
            );
            Err(Failure::new(Class::Verification, what)
                .advice(format!("try it again with --seed {seed}")))
        }
    }
}

/// What an engine would not do.
#[derive(Default)]
struct Refusals {
    has_done_something: bool,
    reason: Option<String>,
}

impl Refusals {
    fn count(&mut self, verdict: &Verdict) {
        match &verdict.skipped {
            Some(reason) => self.reason = Some(reason.clone()),
            None => self.has_done_something = true,
        }
    }

    /// A sentence for an engine that did nothing at all: whoever asked for it has got no answer.
    fn of_all(self, selector: &Selector) -> Option<String> {
        let reason = self.reason.filter(|_| !self.has_done_something)?;
        Some(format!("{selector} was not tried: {reason}"))
    }
}

/// Every engine that is to be tried, with its worker.
fn locations(
    arguments: &Vectors,
    registry: &Registry,
) -> Result<Vec<(Selector, Location)>, Failure> {
    let kernel = arguments.kernel.kernel.as_deref();
    let all = || present(registry).collect();
    let engines = arguments.engines.clone().unwrap_or_else(all);
    let located = |selector: Selector| -> Result<(Selector, Location), Failure> {
        let location = registry
            .locate(&selector.engine)
            .map_err(|error| absent(&error))?;
        Ok((selector, location))
    };
    distinct(&engines)?;
    known(registry, &with_kernel(&engines, kernel)?)?
        .into_iter()
        .map(located)
        .collect()
}

/// Why an engine was not tried to the end.
enum Broken {
    /// Its worker is lost, or there are no keys.
    Off(ConformanceError),
    /// Its verdicts could not be written.
    Output(Failure),
}

impl From<ConformanceError> for Broken {
    fn from(error: ConformanceError) -> Self {
        Broken::Off(error)
    }
}

fn try_engine(
    selector: &Selector,
    location: &Location,
    arguments: &Vectors,
    seed: &Seed,
    stop: &Stop,
    tell: &mut dyn FnMut(Verdict) -> Result<(), Failure>,
) -> Result<(), Broken> {
    let mut worker = Worker::spawn_until(location, Limits::default(), Arc::clone(stop.flag()))
        .map_err(ConformanceError::from)?;
    let engine_version = worker.info().version.clone();
    let scope = Scope {
        sizes: arguments
            .bits
            .iter()
            .map(|&bits| (bits, arguments.count))
            .collect(),
        keys: keys(&arguments.bits, arguments.count),
        variant: selector.variant.clone(),
        ..Scope::full()
    };
    let mut current: Option<Verdict> = None;
    let mut told = Ok(());
    conformance::run(
        &mut worker,
        &scope,
        &InsecureStudySeed::new(seed.0),
        &mut |case| {
            let goes_on = current
                .as_ref()
                .is_some_and(|verdict| (verdict.op, verdict.bits) == (case.op, case.bits));
            if !goes_on
                && let Some(decided) = current.take()
                && told.is_ok()
            {
                told = tell(decided);
            }
            let verdict =
                current.get_or_insert_with(|| Verdict::new(selector, &engine_version, &case));
            verdict.take(case);
        },
    )?;
    if let Some(decided) = current
        && told.is_ok()
    {
        told = tell(decided);
    }
    told.map_err(Broken::Output)
}

/// Keys and prime pairs take long: of each size a few, and none of the sizes that take minutes.
fn keys(bits: &[usize], count: usize) -> Vec<(usize, usize)> {
    let full = Scope::full().keys;
    let largest = full.iter().map(|&(bits, _)| bits).max().unwrap_or(0);
    let most = |bits: usize| {
        full.iter()
            .filter(|&&(of, _)| of <= bits)
            .map(|&(_, most)| most)
            .min()
            .unwrap_or(20)
    };
    let even = |bits: &&usize| **bits <= largest && bits.is_multiple_of(2);
    bits.iter()
        .filter(even)
        .map(|&bits| (bits, most(bits).min(count)))
        .collect()
}

impl Verdict {
    fn new(selector: &Selector, engine_version: &str, case: &Case) -> Self {
        Verdict {
            engine: selector.to_string(),
            engine_version: engine_version.to_owned(),
            op: case.op,
            bits: case.bits,
            cases: 0,
            edges: 0,
            disagreements: Vec::new(),
            skipped: None,
        }
    }

    fn take(&mut self, case: Case) {
        match case.outcome {
            Outcome::Passed { answers } if !case.is_edge() => self.cases += answers,
            Outcome::Passed { .. } => self.edges += 1,
            Outcome::Skipped { reason } => self.skipped = Some(reason),
            Outcome::Failed { what } => self.disagreements.push(Disagreement {
                name: case.name,
                what,
            }),
        }
    }
}

/// Verdicts for programs come each on a line as they are decided, for people as one table in the end.
struct Printer {
    /// None where lines are wanted.
    table: Option<Table>,
    /// What is said below the table.
    remarks: String,
}

impl Printer {
    fn new(json: bool) -> Self {
        let table = || {
            Table::new([
                ("engine", Align::Left),
                ("operation", Align::Left),
                ("bits", Align::Right),
                ("cases", Align::Right),
                ("edges", Align::Right),
                ("disagreements", Align::Right),
                ("", Align::Left),
            ])
        };
        let for_people = !json && io::stdout().is_terminal();
        Printer {
            table: for_people.then(table),
            remarks: String::new(),
        }
    }

    fn print(&mut self, verdict: &Verdict) -> Result<(), Failure> {
        let Some(table) = &mut self.table else {
            return output::json_line(verdict);
        };
        table.row([
            verdict.engine.clone(),
            verdict.op.to_string(),
            verdict.bits.to_string(),
            verdict.cases.to_string(),
            verdict.edges.to_string(),
            verdict.disagreements.len().to_string(),
            verdict.skipped.clone().unwrap_or_default(),
        ]);
        for Disagreement { name, what } in &verdict.disagreements {
            let remark = format!(
                "{} {} at {} bits, {name}: {what}",
                verdict.engine, verdict.op, verdict.bits
            );
            self.remarks += &(printable(&remark) + "\n");
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        match self.table {
            Some(table) => output::report(&(table.render() + &self.remarks)),
            None => Ok(()),
        }
    }
}
