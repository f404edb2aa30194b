//! `rsalab machine --calibrate`: this machine's rates of false alarms and of missed differences.

use rsalab_engines::worker::Delay;
use rsalab_measure::Estimate;
use rsalab_study::number;
use rsalab_study::{
    calibrate::{self, Calibration, DelayedWorkers, Request, Run},
    plan::Host,
};

use super::{
    environment::{environment_with_warnings, workers},
    selection::{installed, known},
};
use crate::{
    arguments::Calibration as Arguments,
    exit::{Class, Failure, Result},
    output::{self, Log},
    signals::Stop,
};

/// The delay where none is typed: a difference that is worth a claim.
const USUAL_DELAY: f64 = 0.02;

/// Measures, prints a line for each run on standard error, and the rates at the end.
pub(super) fn run(arguments: &Arguments, json: bool, log: Log) -> Result<()> {
    let workers = workers(&arguments.measure)?;
    for selector in known(&workers.registry, std::slice::from_ref(&arguments.engine))? {
        installed(&workers.registry, &selector)?;
    }
    let usual = match arguments.op.is_deterministic() {
        true => USUAL_DELAY,
        false => 0.0,
    };
    let delay = arguments.plant.unwrap_or(usual);
    let request = Request {
        engine: arguments.engine.clone(),
        op: arguments.op,
        bits: arguments.bits,
        seconds: arguments.seconds,
        launches: arguments.launches,
        runs: arguments.runs,
        plant: (delay > 0.0).then_some(delay),
        pause_ms: arguments.pause,
        seed: None,
    };
    let stop = Stop::listen()?;
    let environment = environment_with_warnings(&workers, &arguments.measure, log);
    let planted = DelayedWorkers {
        workers: workers.clone(),
        delay: Delay {
            share: delay,
            pause_ms: arguments.pause,
        },
    };
    let mut print_run = |number: usize, run: &Run| {
        log.note(format_args!("run {number} of {}: {}", request.runs, line(run)));
    };
    let found = calibrate::run(
        &request,
        &Host::of_this_machine(&workers.registry),
        &environment,
        &planted,
        &mut print_run,
        stop.flag(),
    )?;
    let printed = output::print(json, &found, || shown(&found));
    if let Some(reason) = &found.failure {
        return Err(Failure::new(Class::Verification, reason.clone()));
    }
    if !found.is_complete {
        let class = stop.class().unwrap_or(Class::Internal);
        return Err(Failure::new(class, "stopped before the end"));
    }
    printed
}

fn line(run: &Run) -> String {
    let mut line = match run.equals.adjusted {
        Some(corrected) => format!(
            "with itself {:.4} raw, adjusted {}",
            run.equals.to_first.value,
            ratio(&corrected)
        ),
        None => format!("with itself {}", ratio(&run.equals.to_first)),
    };
    if let Some(planted) = run.of_planted() {
        line += &format!(", delayed {}", ratio(&planted));
    }
    line
}

fn ratio(estimate: &Estimate) -> String {
    format!("{:.4} ({:.4} – {:.4})", estimate.value, estimate.low, estimate.high)
}

fn shown(found: &Calibration) -> String {
    let Some(verdict) = &found.verdict else {
        return String::new();
    };
    let launches = match found.launches {
        1 => String::new(),
        several => format!("{several} launches of "),
    };
    let mut text = format!(
        "{}: {} at {} bits, {} of {launches}{} s for each worker, {:.0} % intervals\n",
        found.engine,
        found.op,
        found.bits,
        number::counted(verdict.runs, "run"),
        found.seconds,
        verdict.confidence * 100.0
    );
    let mut row = |name: &str, value: String| text += &format!("{name:<44}  {value}\n");
    let of_runs = |count: usize| format!("{count} of {}", verdict.runs);
    let by_chance = (1.0 - verdict.confidence) * verdict.runs as f64;
    let expected = number::significant(by_chance);
    row(
        "false alarms (equals, interval without 1)",
        format!("{}; {expected} expected by chance", of_runs(verdict.false_alarms)),
    );
    if let (Some(plant), Some(misses), Some(truths)) = (found.plant, verdict.misses, verdict.truths_missed) {
        let pauses = match found.pause_ms > 0.0 {
            true => format!(" in pauses of {} ms", found.pause_ms),
            false => String::new(),
        };
        let misses_of = format!("misses (delay of {} %{pauses}, interval with 1)", plant * 100.0);
        row(&misses_of, of_runs(misses));
        let truth = format!("intervals without the truth, {:.4}", 1.0 / (1.0 + plant));
        row(&truth, of_runs(truths));
    }
    let half_width = format!("±{:.2} %", verdict.half_width * 100.0);
    row("half width of an interval, median", half_width);
    let within = of_runs(verdict.within_three_percent);
    row(
        "ratios of equals within 3 % of 1",
        match verdict.within_three_percent_raw {
            Some(raw) => format!("{within} adjusted; {} raw", of_runs(raw)),
            None => within,
        },
    );
    let budget = format!("{} s", number::significant(verdict.budget_s));
    let each = match found.launches {
        1 => "worker",
        _ => "launch",
    };
    row(&format!("budget for ±1 %, for each {each}"), budget);
    if let Some(check) = &found.check {
        let estimate = check.equals.adjusted.unwrap_or(check.equals.to_first);
        let tried = format!("tried once with {} s", number::significant(check.seconds));
        row(&tried, format!("{}, {}", ratio(&estimate), number::error(&estimate)));
    }
    text
}
