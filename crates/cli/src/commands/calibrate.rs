//! `rsalab machine --calibrate`: this machine's rates of false alarms and of missed differences.

use rsalab_measure::Estimate;
use rsalab_study::number;
use rsalab_study::{
    calibrate::{self, Calibration, DelayedWorkers, Request, Run, Verdict},
    plan::Host,
};

use super::{
    environment::{check_build, environment_with_warnings, workers},
    selection::{absent, known},
};
use crate::{
    arguments::Calibration as Arguments,
    exit::{Class, Failure},
    output::{self, Log},
    signals::Stop,
};

/// The delay where none is typed: a difference that is worth a claim.
const USUAL_DELAY: f64 = 0.02;

/// Measures, prints a line for each run on standard error, and the rates at the end.
pub(super) fn run(arguments: &Arguments, json: bool, log: Log) -> Result<(), Failure> {
    check_build(&arguments.measure)?;
    let workers = workers(&arguments.measure)?;
    for selector in known(&workers.registry, std::slice::from_ref(&arguments.engine))? {
        let located = workers.registry.locate(&selector.engine);
        located.map_err(|error| absent(&error))?;
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
        runs: arguments.runs,
        plant: (delay > 0.0).then_some(delay),
        seed: None,
    };
    let stop = Stop::listen()?;
    let environment = environment_with_warnings(&workers, &arguments.measure, log);
    let planted = DelayedWorkers {
        workers: workers.clone(),
        delay,
    };
    let mut print_run = |number: usize, run: &Run| {
        log.note(format_args!(
            "run {number} of {}: {}",
            request.runs,
            line(run)
        ));
    };
    let found = calibrate::run(
        &request,
        &Host::of_this_machine(&workers.registry),
        &environment,
        &planted,
        &mut print_run,
        stop.flag(),
    )?;
    let printed = match json {
        true => output::json(&found),
        false => output::report(&shown(&found)),
    };
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
    let mut line = match run.equals.luck_corrected {
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
    format!(
        "{:.4} ({:.4} – {:.4})",
        estimate.value, estimate.low, estimate.high
    )
}

fn shown(found: &Calibration) -> String {
    let Some(verdict) = &found.verdict else {
        return String::new();
    };
    let mut text = format!(
        "{}: {} at {} bits, {} of {} s for each worker, {} % intervals\n",
        found.engine,
        found.op,
        found.bits,
        number::counted(verdict.runs, "run"),
        found.seconds,
        verdict.confidence * 100.0
    );
    for (name, value) in rows(found, verdict) {
        text += &format!("{name:<44}  {value}\n");
    }
    text
}

fn rows(found: &Calibration, verdict: &Verdict) -> Vec<(String, String)> {
    let of_runs = |count: usize| format!("{count} of {}", verdict.runs);
    let by_chance = (1.0 - verdict.confidence) * verdict.runs as f64;
    let mut rows = vec![(
        "false alarms (equals, interval without 1)".to_owned(),
        format!(
            "{}; {} expected by chance",
            of_runs(verdict.false_alarms),
            number::significant(by_chance)
        ),
    )];
    if let (Some(plant), Some(misses), Some(truths)) =
        (found.plant, verdict.misses, verdict.truths_missed)
    {
        rows.push((
            format!("misses (delay of {} %, interval with 1)", plant * 100.0),
            of_runs(misses),
        ));
        rows.push((
            format!("intervals without the truth, {:.4}", 1.0 / (1.0 + plant)),
            of_runs(truths),
        ));
    }
    rows.push((
        "half width of an interval, median".to_owned(),
        format!("±{:.2} %", verdict.half_width * 100.0),
    ));
    rows.push((
        "ratios of equals within 3 % of 1".to_owned(),
        match verdict.within_three_percent_raw {
            Some(raw) => format!(
                "{} adjusted; {} raw",
                of_runs(verdict.within_three_percent),
                of_runs(raw)
            ),
            None => of_runs(verdict.within_three_percent),
        },
    ));
    rows.push((
        "budget for ±1 %, for each worker".to_owned(),
        format!("{} s", number::significant(verdict.budget_s)),
    ));
    if let Some(check) = &found.check {
        let estimate = check.equals.luck_corrected.unwrap_or(check.equals.to_first);
        rows.push((
            format!("tried once with {} s", number::significant(check.seconds)),
            format!("{}, {}", ratio(&estimate), number::error(&estimate)),
        ));
    }
    rows
}
