//! `rsalab bench`: engines compared on a few cells, now, and nothing stored.

use rsalab_engines::{Limits, Location, Mode, Op, Registry, Session, Worker, gpu};
use rsalab_rsa::profile::Text;
use rsalab_study::{
    bench::{self, Interval, Luck, Request, Row},
    plan::Host,
};

use super::{
    environment::{environment_with_warnings, workers},
    selection::{installed, known, with_kernel},
};
use rsalab_study::number;

use crate::{
    arguments::Bench,
    exit::{Class, Failure, Result},
    output::{self, Log},
    printable::printable,
    profiles,
    progress::Follower,
    signals::Stop,
    table::Table,
};

/// Measures, and prints a row for each engine at each size.
pub(crate) fn run(arguments: &Bench, log: Log) -> Result<()> {
    let workers = workers(&arguments.measure)?;
    check_texts(arguments)?;
    check_present(&arguments.engines, &workers.registry)?;
    let engines = with_kernel(&arguments.engines, arguments.kernel.name())?;
    let mut request = Request::new(arguments.op, arguments.bits.clone(), engines);
    request.primes = arguments.primes;
    request.keys = arguments.keys;
    request.message_bytes = arguments.message_bytes.or(request.message_bytes);
    request.bare = arguments.bare;
    request.symbols = arguments.symbols.or(request.symbols);
    (request.threads, request.batch) = settings(arguments, request.symbols.unwrap_or_default(), log)?;
    request.seconds = arguments.seconds;
    request.launches = arguments.launches;
    request.seed = arguments.seed.seed;

    let stop = Stop::listen()?;
    let environment = environment_with_warnings(&workers, &arguments.measure, log);
    let mut follower = Follower::new(log);
    let measured = bench::run(
        &request,
        &Host::of_this_machine(&workers.registry),
        &environment,
        &mut follower,
        stop.flag(),
    );
    follower.finish();
    let results = measured?;
    let printed = output::print(arguments.json.json, &results.rows, || shown(&results.rows));
    if !results.is_complete {
        let class = stop.class().unwrap_or(Class::Internal);
        return Err(Failure::new(class, "stopped before the end"));
    }
    follower.verdict().and(printed)
}

/// The threads and the batch: as typed, or else of the profile, or else one.
fn settings(arguments: &Bench, symbols: usize, log: Log) -> Result<(usize, usize)> {
    let profile = match &arguments.profile {
        Some(path) => profiles::read(path, log)?,
        None => None,
    };
    let bits = arguments.bits.first().copied().unwrap_or_default();
    let choice = profile.as_ref().and_then(|profile| match arguments.op {
        Op::TextEncrypt => profile.text(Text::Encrypt, bits, symbols),
        Op::TextDecrypt => profile.text(Text::Decrypt, bits, symbols),
        op => profile.operation(op.name(), bits),
    });
    if let (Some(path), Some(_), None) = (&arguments.profile, &profile, choice) {
        log.note(format_args!(
            "{} has nothing for {} at {bits} bits",
            path.display(),
            arguments.op
        ));
    }
    let of = |typed: Option<usize>, chosen: Option<usize>| typed.or(chosen).unwrap_or(1);
    Ok((
        of(arguments.threads, choice.map(|choice| choice.threads)),
        of(arguments.batch, choice.map(|choice| choice.batch)),
    ))
}

/// An engine that was named and is absent is an error here, unlike in a study.
fn check_present(selectors: &[String], registry: &Registry) -> Result<()> {
    for selector in known(registry, selectors)? {
        let location = installed(registry, &selector)?;
        if selector.engine.name == "gpu" {
            check_device(&location)?;
        }
    }
    Ok(())
}

/// Only a worker knows whether there is a device.
fn check_device(location: &Location) -> Result<()> {
    // One that does not start is reported when it is measured.
    let Ok(worker) = Worker::spawn(location, Limits::default()) else {
        return Ok(());
    };
    let origin = &worker.info().origin;
    match origin.starts_with(gpu::NO_DEVICE) {
        false => Ok(()),
        true => {
            let what = format!("the engine 'gpu' has {origin}");
            Err(Failure::new(Class::Unavailable, what)
                .advice(format!("the kernels run on a CPU too, with: {}", gpu::INSTALL_DEVICE)))
        }
    }
}

/// A mistake is reported before the machine is described, which takes a moment.
fn check_texts(arguments: &Bench) -> Result<()> {
    if arguments.symbols.is_none() || arguments.op.is_text() {
        return Ok(());
    }
    let what = format!("--symbols is the length of a text, and {} takes none", arguments.op);
    Err(Failure::new(Class::Usage, what).advice("leave it out, or use --op text_encrypt"))
}

fn shown(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut notes: Vec<String> = Vec::new();
    for same_size in rows.chunk_by(|left, right| left.bits == right.bits) {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &title(&same_size[0]);
        text += &Table::of(same_size)
            .left("engine", |row| row.engine.clone())
            .left("version", |row| or_dash(row.engine_version.clone()))
            .left("path", |row| or_dash(row.kernel.clone()))
            .right("per second", |row| rate(row.ops_per_s))
            .right(time_title(&same_size[0]), |row| {
                or_dash(row.ns_per_op.map(|time| number::duration(time.median)))
            })
            .left("interval", |row| or_dash(row.ns_per_op.map(times)))
            .right_if(same_size[0].batch > 1, "time of a batch", |row| {
                or_dash(
                    row.ns_per_op
                        .map(|time| number::duration(time.median * calls_at_once(row))),
                )
            })
            .right("TSC ticks", |row| rate(row.tsc_per_op))
            .right("speed ÷ first", |row| middle(row.ratio_to_first))
            .left("interval", |row| ends(row.ratio_to_first))
            .left("notes", |row| numbers(&row.notes, &mut notes))
            .render();
        text += &adjusted(same_size);
    }
    for (index, note) in notes.iter().enumerate() {
        text += &format!("[{}] {}\n", index + 1, printable(note));
    }
    text
}

/// Speeds and ratios of operations of random duration, raw and adjusted for the number of tests.
fn adjusted(rows: &[Row]) -> String {
    let random: Vec<(&Row, Luck)> = rows.iter().filter_map(|row| Some((row, row.luck?))).collect();
    if random.is_empty() {
        return String::new();
    }
    Table::of(&random)
        .left("random duration", |(row, _)| row.engine.clone())
        .right("tests each", |(_, luck)| {
            number::significant(luck.explained.count_per_op)
        })
        .right("time a test", |(_, luck)| number::duration(luck.explained.ns_per_count))
        .right("spread", |(_, luck)| format!("{:.2}", luck.explained.variation))
        .right("adjusted", |(_, luck)| format!("{:.2}", luck.explained.variation_left))
        .right("per second", |(row, _)| rate(row.ops_per_s))
        .right("adjusted", |(_, luck)| {
            rate(luck.corrected_ops_per_s.map(|speed| speed.median))
        })
        .right("speed ÷ first", |(row, _)| middle(row.ratio_to_first))
        .right("adjusted", |(_, luck)| middle(luck.corrected_ratio_to_first))
        .left("interval", |(_, luck)| ends(luck.corrected_ratio_to_first))
        .render()
}

/// The question that the column of times answers: several threads, and several in a batch, share the time that passes.
fn time_title(row: &Row) -> &'static str {
    match (row.mode, row.threads, row.batch) {
        (Mode::Latency | Mode::Concurrent, _, 1) | (_, 1, 1) => "time of one",
        _ => "time ÷ operations",
    }
}

/// Operations that pass together in one call of each thread.
fn calls_at_once(row: &Row) -> f64 {
    let threads = match row.mode {
        Mode::Throughput => row.threads,
        Mode::Latency | Mode::Concurrent => 1,
    };
    (threads * row.batch) as f64
}

fn rate(per_op: Option<f64>) -> String {
    or_dash(per_op.map(number::significant))
}

fn middle(ratio: Option<Interval>) -> String {
    or_dash(ratio.map(|ratio| number::significant(ratio.median)))
}

fn ends(ratio: Option<Interval>) -> String {
    or_dash(ratio.map(|ratio| {
        format!(
            "{} – {}",
            number::significant(ratio.low),
            number::significant(ratio.high)
        )
    }))
}

fn title(row: &Row) -> String {
    let batch = match row.batch {
        1 => String::new(),
        batch => format!(", batch of {batch}"),
    };
    let primes = match row.primes {
        2 => String::new(),
        primes => format!(" of {primes} primes"),
    };
    let keys = match row.keys {
        1 => String::new(),
        keys => format!(" under {}", number::counted(keys, "key")),
    };
    let messages = match row.message_bytes {
        0 => String::new(),
        bytes => format!(", messages of {}", number::counted(bytes, "byte")),
    };
    format!(
        "{} at {} bits{primes}{messages}, {}{batch}{keys}\n",
        row.op,
        row.bits,
        number::counted(row.threads, "thread")
    )
}

fn or_dash(shown: Option<String>) -> String {
    shown.unwrap_or_else(|| "–".to_owned())
}

fn times(interval: Interval) -> String {
    let ends = [interval.low, interval.high].map(number::duration);
    ends.join(" – ")
}

/// The numbers of a row's notes, which follow the tables; the same note has one number.
fn numbers(of_row: &[String], notes: &mut Vec<String>) -> String {
    let mut numbers = String::new();
    for note in of_row {
        let index = match notes.iter().position(|known| known == note) {
            Some(index) => index,
            None => {
                notes.push(note.clone());
                notes.len() - 1
            }
        };
        numbers += &format!("[{}]", index + 1);
    }
    numbers
}
