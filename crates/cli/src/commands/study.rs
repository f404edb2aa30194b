//! `rsalab study`, `resume` and `report`: a plan becomes a directory, a directory becomes a page.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Read,
    path::Path,
};

use jiff::Zoned;
use rsalab_study::{
    Study, VERSION,
    articles::text_threads::{self, plan::Settings},
    plan::{Engines, Host, Plan, Preset, Threads},
    report::{self, Finding, Report},
    run::{Surroundings, Workers},
    store::{self, Ending, Store},
};
use serde::Serialize;

use super::{
    selection::{host, with_kernel},
    surroundings::{check_build, surroundings, workers},
};
use crate::{
    arguments::{self, JsonOption, MeasureOptions},
    exit::{Class, Failure},
    output::{self, Talk},
    progress::Follower,
    signals::Stop,
};

/// Where studies go that are not told where to go.
const RESULTS: &str = "results";

/// Plans a study and runs it.
pub(crate) fn study(arguments: &arguments::Study, talk: Talk) -> Result<(), Failure> {
    check_build(&arguments.measure)?;
    let workers = workers(&arguments.measure)?;
    let host = host(&workers.registry);
    let (name, plan) = plan(arguments, &host)?;
    let directory = match &arguments.out {
        Some(directory) => directory.clone(),
        None => {
            let now = Zoned::now().strftime("%Y%m%d-%H%M%S");
            Path::new(RESULTS).join(format!("{name}-{now}"))
        }
    };
    check_unused(&directory)?;
    let mut study = Study::create(&directory, &plan, &host, &typed())?;
    run(
        &mut study,
        &workers,
        &arguments.measure,
        &arguments.json,
        talk,
    )
}

/// Goes on with a study.
pub(crate) fn resume(arguments: &arguments::Resume, talk: Talk) -> Result<(), Failure> {
    check_build(&arguments.measure)?;
    let workers = workers(&arguments.measure)?;
    let mut study = Study::open(&arguments.directory).map_err(rsalab_study::Error::from)?;
    run(
        &mut study,
        &workers,
        &arguments.measure,
        &arguments.json,
        talk,
    )
}

/// Writes the report of a study from its database.
pub(crate) fn report(arguments: &arguments::Report) -> Result<(), Failure> {
    let store = Store::view(&arguments.directory).map_err(rsalab_study::Error::from)?;
    let directory = arguments.out.as_deref().unwrap_or(&arguments.directory);
    let page = report::write(&store, directory)?;
    tell(&store, &page, &arguments.json)
}

fn run(
    study: &mut Study,
    workers: &Workers,
    options: &MeasureOptions,
    json: &JsonOption,
    talk: Talk,
) -> Result<(), Failure> {
    let stop = Stop::listen()?;
    let directory = study.store().directory().to_owned();
    talk.say(format_args!("the study lies in {}", directory.display()));
    let around: Surroundings<'_> = surroundings(workers, options);
    let mut follower = Follower::new(talk);
    let ended = rsalab_study::run::run(study, &around, &mut follower, stop.flag());
    follower.finish();
    let go_on = format!("go on with: {}", resume_line(&directory));
    let ending = ended.map_err(|error| {
        Failure::from(error).advice(format!("what was stored before is safe; {go_on}"))
    })?;
    if ending == Ending::Stopped {
        let class = stop.class().unwrap_or(Class::Internal);
        let what = "stopped; everything measured so far is saved";
        return Err(Failure::new(class, what).advice(go_on));
    }
    let page = report::write(study.store(), &directory)?;
    follower.say_failures();
    tell(study.store(), &page, json)
}

/// The plan with what the command line changes of it, and a name for its directory.
fn plan(arguments: &arguments::Study, host: &Host) -> Result<(String, Plan), Failure> {
    let (name, mut plan) = chosen(arguments, host)?;
    plan.seed = arguments.seed.or(plan.seed);
    if let Some(seconds) = arguments.seconds {
        plan.measure.budget_s = seconds;
    }
    plan.measure.repeats = arguments.repeats.or(plan.measure.repeats);
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
        if let Some(bits) = &arguments.bits {
            grid.bits.clone_from(bits);
        }
        if let Some(threads) = &arguments.threads {
            grid.threads = Threads::These(threads.clone());
        }
        if let Some(most) = arguments.max_threads {
            grid.threads = Threads::These((1..=most).rev().collect());
        }
        grid.measure.budget_s = grid
            .measure
            .budget_s
            .filter(|_| arguments.seconds.is_none());
        grid.measure.repeats = grid.measure.repeats.filter(|_| arguments.repeats.is_none());
    }
    Ok((name, plan))
}

/// A preset, or a file: what is not the name of a preset and looks like a path is one.
fn chosen(arguments: &arguments::Study, host: &Host) -> Result<(String, Plan), Failure> {
    let typed = &arguments.plan;
    let path = Path::new(typed);
    let unknown = match Preset::named(&typed.to_string_lossy()) {
        Ok(preset) => {
            let plan = match (preset, &arguments.symbols) {
                // How its texts are measured depends on their sizes.
                (Preset::TextThreads, Some(symbols)) => text_threads::plan::plan(&Settings {
                    symbols: symbols.clone(),
                    ..Settings::default()
                }),
                (preset, _) => with_symbols(preset.plan(host), arguments),
            };
            return Ok((preset.name().to_owned(), plan));
        }
        Err(unknown) => unknown,
    };
    if path.extension().is_none() && path.components().count() == 1 && !path.is_file() {
        return Err(rsalab_study::Error::from(unknown).into());
    }
    // A file that cannot be read at all is no mistake in the plan.
    File::open(path)
        .and_then(|mut file| file.read(&mut [0]))
        .map_err(|error| Failure::io(format!("cannot read the plan {}", path.display()), error))?;
    let plan = Plan::read(path, host).map_err(rsalab_study::Error::from)?;
    let name = path.file_stem().unwrap_or(typed).to_string_lossy();
    Ok((name.into_owned(), with_symbols(plan, arguments)))
}

/// The plan with the sizes of texts that were asked for, in the grids that have texts.
fn with_symbols(mut plan: Plan, arguments: &arguments::Study) -> Plan {
    if let Some(symbols) = &arguments.symbols {
        let grids = plan.grids.iter_mut();
        grids
            .filter(|grid| !grid.symbols.is_empty())
            .for_each(|grid| grid.symbols.clone_from(symbols));
    }
    plan
}

/// A study gets a directory of its own; one that holds a study is gone on with by `resume`.
fn check_unused(directory: &Path) -> Result<(), Failure> {
    let Ok(mut entries) = fs::read_dir(directory) else {
        // It should be missing; if it is something else, making the study will tell.
        return Ok(());
    };
    if entries.next().is_none() {
        return Ok(());
    }
    let shown = directory.display();
    if directory.join(store::FILE).exists() {
        return Err(
            Failure::new(Class::Usage, format!("{shown} holds a study already")).advice(format!(
                "go on with it by '{}', or name another directory with --out",
                resume_line(directory)
            )),
        );
    }
    Err(Failure::new(Class::Usage, format!("{shown} is not empty"))
        .advice("name another directory with --out: nothing is overwritten"))
}

/// What `--json` prints about a study.
#[derive(Serialize)]
struct Told {
    program_version: &'static str,
    directory: String,
    report: String,
    /// By state.
    cells: BTreeMap<&'static str, usize>,
    findings: Vec<Finding>,
}

/// The answer, and where the rest of it lies.
fn tell(store: &Store, page: &Path, json: &JsonOption) -> Result<(), Failure> {
    let report = Report::of(store).map_err(rsalab_study::Error::from)?;
    if json.json {
        return output::json(&Told {
            program_version: VERSION,
            directory: store.directory().display().to_string(),
            report: page.display().to_string(),
            cells: report.counts,
            findings: report.findings,
        });
    }
    let mut text = String::new();
    for finding in &report.findings {
        text += &finding.sentence;
        text.push('\n');
    }
    text += &format!("report: {}\n", page.display());
    output::data(text.as_bytes())
}

/// The command that goes on with a study.
fn resume_line(directory: &Path) -> String {
    format!("rsalab resume {}", quoted(directory.as_os_str()))
}

/// What was typed, for the report.
fn typed() -> String {
    let words: Vec<String> = env::args_os().skip(1).map(|word| quoted(&word)).collect();
    format!("rsalab {}", words.join(" "))
}

/// A word as a shell reads it back.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    match shlex::try_quote(&word) {
        Ok(quoted) => quoted.into_owned(),
        // No argument holds a NUL, which is all that cannot be quoted.
        Err(_) => word.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_resume_line_back() {
        for (directory, line) in [
            ("results/quick-1", "rsalab resume results/quick-1"),
            ("my study", "rsalab resume 'my study'"),
        ] {
            assert_eq!(resume_line(Path::new(directory)), line);
        }
    }
}
