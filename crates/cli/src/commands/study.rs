//! `rsalab study`, `resume` and `report`: a plan becomes a directory, a directory becomes a page.

mod part;
mod printed;

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, IsTerminal, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use jiff::ZonedDateTime;
use rsalab_engines::Registry;
use rsalab_rsa::format::is_key_text;
use rsalab_study::{
    Study, articles,
    plan::{Engines, Host, MAX_TEXT, Plan, Preset, Threads},
    report::{self, Report},
    run::Environment,
    store::{self, Ending, Store, StoreError},
};

pub(super) use self::part::merge_parts;
use self::{
    part::{again, complete, is_whole, report_of_part},
    printed::{line, print, print_into, typed},
};
use super::{
    environment::{environment, workers},
    selection::{distinct, known, registry, with_kernel},
};
use crate::{
    arguments::{self, JsonOption},
    exit::{Class, Failure, Result},
    output::{self, Log},
    progress::Follower,
    signals::Stop,
    steps,
};

/// Where studies go without --out.
const RESULTS: &str = "results";

/// Plans a study and runs it.
pub(crate) fn study(arguments: &arguments::Study, log: Log) -> Result<()> {
    if arguments.print_plan {
        return print_plan(arguments);
    }
    let workers = workers(&arguments.measure)?;
    let host = Host::of_this_machine(&workers.registry);
    let (name, plan) = plan(arguments, &host)?;
    check_kernels(&plan, &workers.registry)?;
    steps::ended(|| format!("plan {name}: read and checked"));
    if let (Some(part), None) = (arguments.shard, plan.seed) {
        let what = format!("part {part} of a study needs the seed of the other parts");
        return Err(Failure::new(Class::Usage, what).advice("give all parts one --seed, of 64 hexadecimal digits"));
    }
    let create = |directory: &Path| Study::create_part(directory, &plan, &host, &typed(), arguments.shard);
    let created = match &arguments.out {
        Some(directory) if arguments.shard.is_some() && directory.join(store::FILE).exists() => {
            if let Some(part) = arguments.shard.filter(|part| is_whole(directory, *part, &plan)) {
                log.note(format_args!("part {part} is complete: {}", directory.display()));
                return report_of_part(directory, &arguments.json);
            }
            again(directory, &plan, arguments.shard)
        }
        Some(directory) => {
            check_unused(directory)?;
            create(directory)
        }
        None => create_named(
            &format!("{name}-{}", ZonedDateTime::now().strftime("%Y%m%d-%H%M%S")),
            create,
        ),
    };
    let mut study = created.map_err(|error| blame_option(error, arguments))?;
    note_store(study.store().directory());
    let environment = environment(&workers, &arguments.measure);
    let ran = run(&mut study, &environment, &arguments.json, log);
    complete(study, &environment.machine).and(ran)
}

/// Makes a study under a name of its own: two that begin in the same second get two.
fn create_named(
    name: &str,
    create: impl Fn(&Path) -> std::result::Result<Study, rsalab_study::Error>,
) -> std::result::Result<Study, rsalab_study::Error> {
    let directory = |number: u32| match number {
        1 => Path::new(RESULTS).join(name),
        _ => Path::new(RESULTS).join(format!("{name}-{number}")),
    };
    let mut number = 1;
    loop {
        let directory = directory(number);
        // Whoever makes it first has it: the other is told that there is one already, or that it is in use. Anything
        // else that is wrong would be wrong of the next name, too.
        if directory.symlink_metadata().is_err() {
            match create(&directory) {
                Err(rsalab_study::Error::Store(error @ (StoreError::Exists(_) | StoreError::InUse { .. }))) => {
                    steps::ended(|| format!("{}: {error}", directory.display()));
                }
                created => return created,
            }
        }
        number += 1;
    }
}

/// Tells that the database of a study is open.
pub(super) fn note_store(directory: &Path) {
    steps::ended(|| format!("{}: its database is open", directory.display()));
}

/// Prints the plan, which need not run here to be a start for another.
fn print_plan(arguments: &arguments::Study) -> Result<()> {
    let registry = registry()?;
    let host = Host::of_this_machine(&registry);
    let (_, plan) = plan(arguments, &host)?;
    check_kernels(&plan, &registry)?;
    let groups = plan.groups(&host).map_err(rsalab_study::Error::from);
    groups.map_err(|error| blame_option(error, arguments))?;
    output::report_lines(&plan.to_toml())
}

/// Continues a study.
pub(crate) fn resume(arguments: &arguments::Resume, log: Log) -> Result<()> {
    let workers = workers(&arguments.measure)?;
    let mut study = Study::open(&arguments.directory).map_err(rsalab_study::Error::from)?;
    note_store(&arguments.directory);
    let environment = environment(&workers, &arguments.measure);
    let ran = run(&mut study, &environment, &arguments.json, log);
    complete(study, &environment.machine).and(ran)
}

/// Writes the report of a study: from its database, or from what an earlier report wrote as JSON.
pub(crate) fn report(arguments: &arguments::Report, log: Log) -> Result<()> {
    let place = &arguments.directory;
    let ends_in = |known: &str| place.extension().is_some_and(|ending| ending == known);
    let is_results = arguments.out.is_some() || arguments.into.is_some() || ends_in("json") || ends_in("gz");
    if is_results && place.is_file() {
        return report_again(arguments);
    }
    let store = Store::view(&arguments.directory).map_err(rsalab_study::Error::from)?;
    note_store(&arguments.directory);
    if store.lacks_its_log() {
        log.note(format_args!(
            "warning: {}: {}",
            arguments.directory.display(),
            report::LACKS_ITS_LOG
        ));
    }
    let directory = arguments.out.as_deref().unwrap_or(&arguments.directory);
    let report = articles::report(&store).map_err(rsalab_study::Error::from)?;
    steps::ended(|| "report: computed from the samples".to_owned());
    // In the study's own directory these names are the study's.
    if !is_same(directory, &arguments.directory) {
        report::check_place(&report, directory, arguments.batch_files)?;
    }
    let page = report::write(&report, directory)?;
    steps::ended(|| format!("{}: made", page.display()));
    if arguments.batch_files {
        articles::write_batch_files(&report, directory)?;
    }
    put_speeds(&report, arguments)?;
    print(store.directory(), report, &page, &arguments.json)
}

fn report_again(arguments: &arguments::Report) -> Result<()> {
    let results = &arguments.directory;
    let usage = |what: &str| Failure::new(Class::Usage, format!("{}: {what}", results.display()));
    if arguments.out.is_none() && arguments.into.is_none() {
        return Err(usage("for a file, --out names the directory of the report"));
    }
    if arguments.batch_files {
        return Err(usage(
            "--batch-files needs the database of the study, and this is a file",
        ));
    }
    let report = report::read(results)?;
    put_speeds(&report, arguments)?;
    let Some(directory) = &arguments.out else {
        return print_into(arguments);
    };
    report::check_place(&report, directory, false)?;
    let page = report::write(&report, directory)?;
    print(directory, report, &page, &arguments.json)
}

/// Puts the speeds of a report into the Markdown file that --into names.
fn put_speeds(report: &Report, arguments: &arguments::Report) -> Result<()> {
    if let Some(file) = &arguments.into {
        report::put_speeds(report, file)?;
        steps::ended(|| format!("{}: its table of speeds was replaced", file.display()));
    }
    Ok(())
}

/// Returns whether two names are of one directory.
fn is_same(directory: &Path, other: &Path) -> bool {
    let places = [directory, other].map(fs::canonicalize);
    matches!(places, [Ok(one), Ok(other)] if one == other)
}

/// A kernel that does not exist is a mistake; one that does not run here is recorded in the study.
fn check_kernels(plan: &Plan, registry: &Registry) -> Result<()> {
    let named = plan.grids.iter().filter_map(|grid| match &grid.engines {
        Engines::Present => None,
        Engines::Named(engines) => Some(engines),
    });
    for engines in named {
        distinct(engines)?;
        known(registry, engines)?;
    }
    Ok(())
}

/// An error that an option has brought into the plan names the option.
fn blame_option(error: rsalab_study::Error, arguments: &arguments::Study) -> Failure {
    let rsalab_study::Error::Plan(refused) = &error else {
        return error.into();
    };
    let key = refused.key.as_deref().unwrap_or_default();
    let options = [
        ("engines", "--engines", arguments.engines.is_some()),
        ("bits", "--bits", arguments.bits.is_some()),
        ("text", "--text", arguments.text.is_some() || arguments.text_typed),
        ("repeats", "--repeats", arguments.repeats.is_some()),
        ("threads", "--threads", arguments.threads.is_some()),
        ("budget_s", "--seconds", arguments.seconds.is_some()),
    ];
    let to_blame = options.iter().find(|(of, _, is_typed)| *is_typed && key.ends_with(of));
    match to_blame {
        Some((_, option, _)) => Failure::new(Class::Usage, format!("{option}: {}", refused.message)),
        None => error.into(),
    }
}

fn run(study: &mut Study, environment: &Environment<'_>, json: &JsonOption, log: Log) -> Result<()> {
    give_way(study)?;
    let stop = Stop::listen()?;
    let directory = study.store().directory().to_owned();
    log.note(format_args!("the study is in {}", directory.display()));
    let mut follower = Follower::new(log);
    let ended = rsalab_study::run::run(study, environment, &mut follower, stop.flag());
    follower.finish();
    let go_on = format!("continue with: {}", line("resume", &directory));
    let ending = ended.map_err(|error| match &error {
        rsalab_study::Error::Store(store) if !store.is_passing() => Failure::from(error),
        _ => Failure::from(error).advice(format!(
            "what was stored before is safe; when that is repaired, {go_on}"
        )),
    })?;
    if ending == Ending::Stopped {
        let class = stop.class().unwrap_or(Class::Internal);
        let what = "stopped; everything measured so far is saved";
        return Err(Failure::new(class, what).advice(go_on));
    }
    let report = articles::report(study.store()).map_err(rsalab_study::Error::from);
    let written = report.and_then(|report| Ok((report::write(&report, &directory)?, report)));
    let (page, report) = written.map_err(|error| {
        Failure::from(error).advice(format!(
            "the measurements are safe; when that is repaired, make the report with: {}",
            line("report", &directory)
        ))
    })?;
    // Decided before anything is printed: a closed pipe does not change it.
    let verdict = verdict(&report, &page);
    follower.note_failures(report.counts.get("failed").copied().unwrap_or(0));
    let printed = print(&directory, report, &page, json);
    verdict.and(printed)
}

/// An error if not one cell of the whole study was measured, in this session or an earlier one.
fn verdict(report: &Report, page: &Path) -> Result<()> {
    let count = |state: &str| report.counts.get(state).copied().unwrap_or(0);
    let (failed, unsupported) = (count("failed"), count("unsupported"));
    let what = match (count("done"), failed, unsupported) {
        (0, 0, 0) | (1.., _, _) => return Ok(()),
        (0, 0, _) => format!("{} not supported", are(unsupported)),
        (0, _, 0) => format!("{failed} failed"),
        (0, _, _) => format!("{failed} failed and {} not supported", are(unsupported)),
    };
    let class = match failed {
        0 => Class::Unavailable,
        _ => Class::Verification,
    };
    let what = format!("no cell was measured: {what}");
    Err(Failure::new(class, what).advice(format!(
        "the reasons are in {}; when that is repaired, start the study anew",
        page.display()
    )))
}

fn are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}

/// Lowers the priority of this process, and of the workers that it starts, as far as the study's plan asks.
fn give_way(study: &Study) -> Result<()> {
    let nice = study.nice().map_err(rsalab_study::Error::from)?;
    if nice == 0 {
        return Ok(());
    }
    rustix::process::nice(i32::from(nice))
        .map(|_| ())
        .map_err(|error| Failure::io("cannot lower the priority", error.into()))
}

/// The plan with what the command line changes of it, and a name for its directory.
pub(super) fn plan(arguments: &arguments::Study, host: &Host) -> Result<(String, Plan)> {
    let (name, mut plan) = chosen(arguments, host)?;
    match (own_text(arguments)?, &arguments.symbols) {
        (Some(text), symbols) => plan = plan.with_text(text, symbols.as_deref()),
        (None, Some(symbols)) => plan = plan.with_symbols(symbols),
        (None, None) => {}
    }
    plan.seed = arguments.seed.seed.or(plan.seed);
    plan.nice = arguments.nice.unwrap_or(plan.nice);
    if let Some(seconds) = arguments.seconds {
        plan.measure.budget_s = seconds;
    }
    if let Some(bits) = &arguments.bits {
        plan = plan.with_bits(bits);
    }
    if let Some(repeats) = arguments.repeats {
        plan = plan.with_repeats(repeats);
    }
    for grid in &mut plan.grids {
        if let Some(engines) = &arguments.engines {
            grid.engines = Engines::Named(engines.clone());
        }
        if let Some(kernel) = &arguments.kernel.kernel {
            let engines = match &grid.engines {
                Engines::Present => &host.present,
                Engines::Named(engines) => engines,
            };
            grid.engines = Engines::Named(with_kernel(engines, Some(kernel))?);
        }
        if let Some(threads) = &arguments.threads {
            grid.threads = Threads::These(threads.clone());
        }
        if let Some(most) = arguments.max_threads {
            grid.threads = Threads::These((1..=most).rev().collect());
        }
        grid.measure.budget_s = grid.measure.budget_s.filter(|_| arguments.seconds.is_none());
    }
    Ok((name, plan))
}

/// The text that is given or typed in place of random ones.
fn own_text(arguments: &arguments::Study) -> Result<Option<String>> {
    let (name, text) = match (&arguments.text, arguments.text_typed) {
        (None, false) => return Ok(None),
        (Some(path), _) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            let opened = File::open(path);
            let text = opened.and_then(text_within_limit);
            (name, text)
        }
        (_, is_typed) => {
            if is_typed && io::stdin().is_terminal() {
                eprintln!("type the text, and end it with Ctrl-D at the beginning of a line:");
            }
            ("standard input".to_owned(), text_within_limit(io::stdin().lock()))
        }
    };
    let bytes = text.map_err(|error| Failure::io(format!("cannot read the text from {name}"), error))?;
    if bytes.len() > MAX_TEXT {
        let what = format!("the text from {name} has more than {MAX_TEXT} bytes");
        return Err(Failure::new(Class::Usage, what).advice("use a part of it: it is stored in the study's plan"));
    }
    if is_key_text(&bytes) {
        let what = format!("the text from {name} holds a key: it would be shown in the study's plan and report");
        return Err(Failure::new(Class::Usage, what).advice("name another text"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| {
        let what = format!("the text from {name} is not UTF-8");
        Failure::new(Class::Usage, what).advice("convert it, for instance with iconv")
    })
}

/// One byte more than allowed is enough to know: a device is never read whole.
fn text_within_limit(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A preset, or a file: what is not the name of a preset and looks like a path is one.
fn chosen(arguments: &arguments::Study, host: &Host) -> Result<(String, Plan)> {
    let typed = &arguments.plan;
    let path = Path::new(typed);
    let unknown = match Preset::named(&typed.to_string_lossy()) {
        Ok(preset) => {
            return Ok((preset.name().to_owned(), preset.plan(host)));
        }
        Err(unknown) => unknown,
    };
    if path.extension().is_none() && path.components().count() <= 1 && !path.is_file() {
        return Err(rsalab_study::Error::from(unknown).into());
    }
    let plan = Plan::read(path, host).map_err(|error| match error {
        rsalab_study::Error::Io { path, source } => {
            Failure::io(format!("cannot read the plan {}", path.display()), source)
        }
        error => error.into(),
    })?;
    let name = path.file_stem().unwrap_or(typed).to_string_lossy();
    Ok((name.into_owned(), plan))
}

/// A study gets a directory of its own; `resume` continues one that exists.
fn check_unused(directory: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(directory) else {
        // It should be missing; if it is something else, making the study reports it.
        return Ok(());
    };
    // A study that was killed before it had a database leaves nothing that matters.
    let is_left =
        |name: &OsStr| name == store::LOCK_FILE || name.as_bytes().starts_with(store::DRAFT_PREFIX.as_bytes());
    let mut names = entries.flatten().map(|entry| entry.file_name());
    if names.all(|name| is_left(&name)) {
        return Ok(());
    }
    let shown = directory.display();
    if directory.join(store::FILE).exists() {
        return Err(
            Failure::new(Class::Usage, format!("{shown} holds a study already")).advice(format!(
                "continue it with '{}', or name another directory with --out",
                line("resume", directory)
            )),
        );
    }
    Err(Failure::new(Class::Usage, format!("{shown} is not empty"))
        .advice("name another directory with --out: nothing is overwritten"))
}
