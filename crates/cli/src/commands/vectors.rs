//! `rsalab vectors`: whether engines agree, on random inputs and on edges; with `-`, answers to the requests of others
//! (`stream`). Nothing is timed.

mod stream;

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use rsalab_engines::{
    Job, Limits, Location, Mode, Op, Registry, Selector, Session, SessionError, Worker,
    conformance::{self, Case, ConformanceError, Outcome, Scope},
};
use rsalab_rsa::random::InsecureStudySeed;
use rsalab_study::plan::Seed;
use serde::Serialize;

use rsalab_study::number;

use super::selection::{distinct, installed, known, present, registry, with_kernel};
use crate::{
    arguments::Vectors,
    exit::{Class, Failure, Result},
    output::{self, Log},
    printable::printable,
    signals::Stop,
    steps,
    table::Table,
};

/// The outcome of one operation at one size on one engine.
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
    /// The case that was tried.
    name: String,
    /// The fault of the answer.
    what: String,
}

/// Tries each engine, and fails if any answer is wrong.
pub(crate) fn run(arguments: &Vectors, log: Log) -> Result<()> {
    if arguments.stream.is_some() {
        return stream::run(arguments);
    }
    let registry = registry()?;
    let locations = locations(arguments, &registry)?;
    let seed = match arguments.seed.seed {
        Some(seed) => seed,
        None => Seed::random().map_err(|error| {
            let what = "the system gives no random bytes for the seed";
            Failure::new(Class::Unavailable, what).because(error)
        })?,
    };
    log.note(format_args!("keys and inputs derive from the seed {seed}"));
    let stop = Stop::listen()?;
    let mut printer = Printer::new(arguments.json.json);
    let mut wrong = Vec::new();
    let mut idle = None;
    for (selector, location) in &locations {
        let mut has_done_something = false;
        let mut refusal = None;
        let tried = try_engine(selector, location, arguments, &seed, &stop, &mut |verdict| {
            match &verdict.skipped {
                Some(reason) => refusal = Some(format!("{selector} was not tried: {reason}")),
                None => has_done_something = true,
            }
            if !verdict.disagreements.is_empty() {
                let (op, bits) = (verdict.op, verdict.bits);
                wrong.push(format!("{selector}: {op} at {bits} bits"));
            }
            steps::ended(|| {
                format!(
                    "{selector}: {} at {} bits, {} cases tried",
                    verdict.op, verdict.bits, verdict.cases
                )
            });
            printer.print(verdict);
        });
        if let Some(class) = stop.class() {
            // What is known so far is said.
            let printed = printer.finish();
            let stopped = match wrong.first() {
                None => Failure::new(class, "stopped before the end"),
                Some(first) => {
                    let count = number::counted(wrong.len(), "verdict");
                    Failure::new(
                        class,
                        format!("stopped before the end, {count} wrong, the first: {first}"),
                    )
                }
            };
            return printed.and(Err(stopped));
        }
        match tried {
            // Whoever named an engine that did nothing at all has no answer.
            Ok(()) if arguments.engines.is_some() && !has_done_something => idle = idle.or(refusal),
            Ok(()) => {}
            // The others are tried nevertheless.
            Err(ConformanceError::Session(error)) => wrong.push(format!("{selector}: {error}")),
            Err(error) => {
                let what = "there are no keys to try";
                return Err(Failure::new(Class::Internal, what).because(error));
            }
        }
        if printer.result.is_err() {
            break;
        }
    }
    let printed = printer.finish();
    match (wrong.as_slice(), idle) {
        ([], None) => printed,
        ([], Some(what)) => {
            Err(Failure::new(Class::Unavailable, what).advice("'rsalab engines' lists the engines and their variants"))
        }
        ([first, ..], _) => {
            let what = format!("{} wrong, the first: {first}", number::counted(wrong.len(), "verdict"));
            Err(Failure::new(Class::Verification, what).advice(format!("repeat it with --seed {seed}")))
        }
    }
}

/// Every engine that is to be tried, with its worker.
fn locations(arguments: &Vectors, registry: &Registry) -> Result<Vec<(Selector, Location)>> {
    let kernel = arguments.kernel.name();
    let all = || present(registry).collect();
    let engines = arguments.engines.clone().unwrap_or_else(all);
    distinct(&engines)?;
    known(registry, &with_kernel(&engines, kernel)?)?
        .into_iter()
        .map(|selector| installed(registry, &selector).map(|location| (selector, location)))
        .collect()
}

fn try_engine(
    selector: &Selector,
    location: &Location,
    arguments: &Vectors,
    seed: &Seed,
    stop: &Stop,
    report: &mut dyn FnMut(Verdict),
) -> Result<(), ConformanceError> {
    let mut worker = Worker::spawn_until(location, Limits::default(), Arc::clone(stop.flag()))?;
    let engine_version = worker.info().version.clone();
    let (bits, count) = (&arguments.bits, arguments.count);
    // A device is one, and takes all there is to do from one thread.
    let takes_threads = |worker: &mut Worker| {
        let several = Job {
            variant: selector.variant.clone(),
            threads: Scope::full().threads,
            mode: Mode::Throughput,
            ..Job::new(Op::Private, bits.first().copied().unwrap_or(2048))
        };
        let one = Job {
            threads: 1,
            ..several.clone()
        };
        Ok::<_, SessionError>(worker.supports(&several)?.is_ok() || worker.supports(&one)?.is_err())
    };
    let threads = match takes_threads(&mut worker)? {
        true => Scope::full().threads,
        false => 1,
    };
    let scope = Scope {
        threads,
        sizes: bits.iter().map(|&bits| (bits, count)).collect(),
        keys: keys(bits, count),
        variant: selector.variant.clone(),
        ..Scope::full()
    };
    let mut current: Option<Verdict> = None;
    let seed = InsecureStudySeed::new(seed.0);
    conformance::run(&mut worker, &scope, &seed, &mut |case| {
        let is_other = |verdict: &mut Verdict| (verdict.op, verdict.bits) != (case.op, case.bits);
        current.take_if(is_other).into_iter().for_each(&mut *report);
        let new = || Verdict::new(selector, &engine_version, &case);
        current.get_or_insert_with(new).take(case);
    })?;
    current.into_iter().for_each(report);
    Ok(())
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
            Outcome::Failed { what } => self.disagreements.push(Disagreement { name: case.name, what }),
        }
    }
}

/// Verdicts for programs come each on a line as they are decided, for people as one table in the end.
struct Printer {
    /// Verdicts of the table; none where lines are printed.
    verdicts: Option<Vec<Verdict>>,
    /// The first failure to print.
    result: Result<()>,
}

impl Printer {
    fn new(json: bool) -> Self {
        let for_people = !json && io::stdout().is_terminal();
        Printer {
            verdicts: for_people.then(Vec::new),
            result: Ok(()),
        }
    }

    fn print(&mut self, verdict: Verdict) {
        match &mut self.verdicts {
            Some(verdicts) => verdicts.push(verdict),
            None if self.result.is_ok() => self.result = output::report_lines(&output::line(&verdict)),
            None => {}
        }
    }

    fn finish(self) -> Result<()> {
        match self.verdicts {
            Some(verdicts) => output::report(&shown(&verdicts)),
            None => self.result,
        }
    }
}

fn shown(verdicts: &[Verdict]) -> String {
    let mut text = Table::of(verdicts)
        .left("engine", |verdict| verdict.engine.clone())
        .left("operation", |verdict| verdict.op.to_string())
        .right("bits", |verdict| verdict.bits.to_string())
        .right("cases", |verdict| verdict.cases.to_string())
        .right("edges", |verdict| verdict.edges.to_string())
        .right("disagreements", |verdict| verdict.disagreements.len().to_string())
        .left("", |verdict| verdict.skipped.clone().unwrap_or_default())
        .render();
    for verdict in verdicts {
        let Verdict { engine, op, bits, .. } = verdict;
        for Disagreement { name, what } in &verdict.disagreements {
            let remark = format!("{engine} {op} at {bits} bits, {name}: {what}");
            text += &(printable(&remark) + "\n");
        }
    }
    text
}
