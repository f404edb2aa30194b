//! `rsalab audit`: what is wrong with many keys.

mod follow;
mod outcome;
mod parts;
mod shown;
mod takes;
mod work;

use rsalab_audit::{Examined, Inventory, Options, Share, Store};
use rsalab_study::number;

pub(super) use self::parts::estimate_of_part;
use self::{
    outcome::conclude,
    takes::bytes,
    work::{Read, check_paths, examine, refused},
};
use crate::{
    arguments::{Audit, AuditCommand},
    exit::Result,
    output::Log,
    steps,
};

/// Finds what is wrong, reports it, and fails if it is bad enough.
pub(crate) fn run(arguments: &Audit, log: Log) -> Result<()> {
    match &arguments.command {
        Some(AuditCommand::Plan(arguments)) => return parts::plan(arguments),
        Some(AuditCommand::Merge(arguments)) => return parts::merge(arguments, log),
        None if arguments.rules => return shown::rules(arguments.json.json),
        None => {}
    }
    check_paths(&arguments.paths, &arguments.read)?;
    outcome::check(&arguments.found, arguments.save.as_deref())?;
    if let (Some(part), Some(out)) = (arguments.shard, &arguments.out) {
        return parts::make(arguments, part, out, log);
    }
    let mut store = arguments
        .against
        .as_deref()
        .map(Store::open)
        .transpose()
        .map_err(refused)?;
    let read = Read::of(&arguments.read)?;
    let options = Options {
        against: store.as_ref(),
        ..read.options(&arguments.read, Share::WHOLE)
    };
    let inventory = Inventory::of(&arguments.paths);
    if let Some(store) = &store {
        log.note(format_args!(
            "compared with {} that were audited before: {}",
            number::counted(usize::try_from(store.keys()).unwrap_or(usize::MAX), "key"),
            bytes(store.bytes())
        ));
    }
    let Some(examined) = examine(&options, &inventory, arguments, log)? else {
        return Ok(());
    };
    let saved = save(&examined, arguments, &mut store, log);
    // What was found is said even if it could not be saved.
    let concluded = conclude(examined.report(), &arguments.found, arguments.json.json, None);
    saved.and(concluded)
}

/// Saves the keys, or adds them to those that they were compared with.
fn save(examined: &Examined, arguments: &Audit, store: &mut Option<Store>, log: Log) -> Result<()> {
    if let Some(folder) = &arguments.save {
        let saved = examined.save(folder).map_err(refused)?;
        note_saved(&saved, log);
    }
    if arguments.add
        && let Some(store) = store
    {
        examined.add_to(store).map_err(refused)?;
        note_saved(store, log);
    }
    Ok(())
}

fn note_saved(store: &Store, log: Log) {
    let keys = number::counted(usize::try_from(store.keys()).unwrap_or(usize::MAX), "key");
    let place = store.folder().display();
    log.note(format_args!("{place} has {keys} now: {}", bytes(store.bytes())));
    steps::ended(|| format!("{place}: saved"));
}
