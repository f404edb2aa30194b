//! `rsalab profile`: the settings that a study has found to be best on its machine, for other commands and programs.

use rsalab_rsa::profile::{Choice, Profile};
use rsalab_study::{
    number,
    profile::{self, Compared, Made, ProfileError},
    store::Store,
};

use super::{inputs::Destination, study::note_store};
use crate::{
    arguments,
    exit::{Class, Failure, Result},
    files::Privacy,
    output::{self, Log},
    printable::printable,
    table::Table,
};

/// The least share of the fastest setting's speed that the check asks for.
const LEAST: f64 = 0.95;

/// Makes a profile, or checks one against another study.
pub(crate) fn run(arguments: &arguments::Profile, log: Log) -> Result<()> {
    let destination = match &arguments.against {
        None => Some(Destination::of(arguments.out.path())?),
        Some(_) => None,
    };
    let store = open(&arguments.directory)?;
    let made = profile::of(&store, arguments.with_disturbed).map_err(failure)?;
    note(&made, arguments.with_disturbed, log);
    let Some(destination) = destination else {
        return check(&made.profile, arguments);
    };
    destination.write(made.profile.to_json().as_bytes(), Privacy::Public)?;
    if let Destination::File(path) = &destination {
        output::print(arguments.json.json, &made.profile, || shown(&made.profile))?;
        log.note(format_args!(
            "used by commands that are given --profile {}, or find its name in RSALAB_PROFILE",
            path.display()
        ));
    }
    Ok(())
}

fn open(directory: &std::path::Path) -> Result<Store> {
    let store = Store::view(directory).map_err(rsalab_study::Error::from)?;
    note_store(directory);
    Ok(store)
}

fn note(made: &Made, with_disturbed: bool, log: Log) {
    if made.disturbed > 0 {
        let cells = number::counted(made.disturbed, "cell");
        log.note(match with_disturbed {
            true => format!("disturbed, and used nevertheless: {cells}"),
            false => format!("disturbed: {cells}, whose operations and sizes are left out"),
        });
    }
}

fn failure(error: ProfileError) -> Failure {
    match error {
        ProfileError::Study(error) => error.into(),
        ProfileError::Machine(reason) => Failure::new(Class::Input, "this study makes no profile").because(reason),
        ProfileError::Nothing(reason) => Failure::new(Class::Input, "this study makes no profile")
            .because(reason)
            .advice(
                "measure own on several threads, or batches, while the machine is at rest; --with-disturbed takes all",
            ),
    }
}

/// Compares the settings of the profile with those that another study of the same machine has measured.
fn check(profile: &Profile, arguments: &arguments::Profile) -> Result<()> {
    let Some(against) = &arguments.against else {
        return Ok(());
    };
    let compared = profile::compared(profile, &open(against)?, arguments.with_disturbed).map_err(failure)?;
    if compared.is_empty() {
        let what = "the two studies have no operation and size in common that nobody disturbed";
        return Err(Failure::new(Class::Input, what));
    }
    output::print(arguments.json.json, &compared, || shown_compared(&compared))?;
    let slower: Vec<&Compared> = compared.iter().filter(|one| one.share.value < LEAST).collect();
    let sure = slower.iter().filter(|one| one.share.high < LEAST).count();
    match slower.len() {
        0 => Ok(()),
        some => Err(Failure::new(
            Class::Verification,
            format!(
                "{some} of {} settings of the profile are more than {} slower than the fastest, {sure} of them beyond \
                 the interval",
                compared.len(),
                number::percent(1.0 - LEAST)
            ),
        )),
    }
}

fn shown(profile: &Profile) -> String {
    let table = Table::of(&profile.choices)
        .left("operation", |choice: &Choice| choice.operation.clone())
        .right("bits", |choice| choice.bits.to_string())
        .right("symbols", |choice| symbols(choice.symbols))
        .right("threads", |choice| choice.threads.to_string())
        .right("batch", |choice| choice.batch.to_string())
        .left("kernel", |choice| {
            choice.kernel.clone().unwrap_or_else(|| "any".to_owned())
        })
        .right("per second", |choice| number::significant(choice.per_second))
        .left("unit", |choice| choice.unit.clone())
        .left("fastest engine", |choice| choice.engine.clone())
        .right("its speed ÷ own", |choice| number::significant(choice.engine_times))
        .render();
    format!("{}\n{table}", printable(&profile.cpu.to_string()))
}

fn shown_compared(compared: &[Compared]) -> String {
    Table::of(compared)
        .left("operation", |one: &Compared| one.operation.clone())
        .right("bits", |one| one.bits.to_string())
        .right("symbols", |one| symbols(one.symbols))
        .left("profile", |one| one.setting.clone())
        .left("fastest", |one| one.fastest.clone())
        .right("of settings", |one| one.settings.to_string())
        .right("speed ÷ fastest", |one| number::significant(one.share.value))
        .left("interval", |one| match one.share.confidence > 0.0 {
            true => number::interval(&one.share),
            false => "the same".to_owned(),
        })
        .render()
}

fn symbols(symbols: usize) -> String {
    match symbols {
        0 => "–".to_owned(),
        symbols => number::whole(symbols as u64),
    }
}
