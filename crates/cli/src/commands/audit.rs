//! `rsalab audit`: what is wrong with many keys.

mod follow;
mod outcome;
mod parts;
mod shown;
mod takes;

use std::path::PathBuf;

use rsalab_audit::{Audit as Audited, AuditError, Examined, Inventory, Options, Share, Store, known::Lists};
use rsalab_rsa::format::Limits;
use rsalab_study::number;

pub(super) use self::parts::estimate_of_part;
use self::{
    follow::Follow,
    outcome::conclude,
    takes::{bytes, what_it_takes},
};
use crate::{
    arguments::{Audit, AuditCommand, ReadOptions},
    exit::{Class, Failure, Result},
    files, lists,
    output::{self, Log},
    passwords::{self, Password},
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
    let Some(examined) = examine(&options, &inventory, arguments.estimate, log)? else {
        return Ok(());
    };
    if let Some(folder) = &arguments.save {
        let saved = examined.save(folder).map_err(refused)?;
        note_saved(&saved, log);
    }
    if arguments.add
        && let Some(store) = &mut store
    {
        examined.add_to(store).map_err(refused)?;
        note_saved(store, log);
    }
    conclude(examined.report(), &arguments.found, arguments.json.json, None)
}

/// Says what it will take, and does it, unless nothing else is wanted.
fn examine(options: &Options<'_>, inventory: &Inventory, is_estimate: bool, log: Log) -> Result<Option<Examined>> {
    let audit = Audited::new(options);
    let estimate = audit.estimate(inventory);
    let said = what_it_takes(inventory, estimate.as_ref());
    if is_estimate {
        return output::report(&format!("{said}\n")).map(|()| None);
    }
    log.note(said);
    let mut follow = Follow::new(log, inventory);
    let examined = audit.examine(inventory, &mut |progress| follow.show(progress));
    follow.finish();
    examined.map(Some).map_err(refused)
}

fn note_saved(store: &Store, log: Log) {
    let keys = number::counted(usize::try_from(store.keys()).unwrap_or(usize::MAX), "key");
    let place = store.folder().display();
    log.note(format_args!("{place} has {keys} now: {}", bytes(store.bytes())));
    steps::ended(|| format!("{place}: saved"));
}

/// What options name, opened.
struct Read {
    password: Option<Password>,
    lists: Lists,
}

impl Read {
    fn of(options: &ReadOptions) -> Result<Read> {
        let password = options.password_file.as_deref().map(passwords::from_file);
        Ok(Read {
            password: password.transpose()?,
            lists: lists::open(&options.blocklist)?,
        })
    }

    fn options<'a>(&'a self, typed: &'a ReadOptions, share: Share) -> Options<'a> {
        Options {
            password: self.password.as_ref().map(|password| &password[..]),
            limits: match typed.large_keys {
                true => Limits::NONE,
                false => Limits::QUICK,
            },
            rounds: typed.rounds,
            threads: typed.threads.count(),
            lists: Some(&self.lists),
            column: typed.column.as_deref(),
            memory: typed.memory,
            scratch: typed.scratch.as_deref(),
            share,
            against: None,
        }
    }
}

/// Fails before the work if something is not there.
fn check_paths(paths: &[PathBuf], read: &ReadOptions) -> Result<()> {
    let dashes = paths
        .iter()
        .chain(&read.password_file)
        .filter(|path| files::is_dash(path));
    if dashes.count() > 1 {
        let what = "two things cannot both be standard input";
        return Err(Failure::new(Class::Usage, what).advice("name a file for one of them"));
    }
    for path in paths.iter().filter(|path| !files::is_dash(path)) {
        path.metadata().map_err(|error| {
            let what = format!("cannot read {}", path.display());
            Failure::io(what, error)
        })?;
    }
    Ok(())
}

/// Why an audit was not done, with what helps.
fn refused(error: AuditError) -> Failure {
    match error {
        AuditError::Io { path, source } => Failure::io(format!("cannot use {}", path.display()), source),
        error @ AuditError::Exists(_) => {
            Failure::about_existing(error.to_string()).advice("name another folder: nothing is overwritten")
        }
        error @ AuditError::Busy(_) => {
            Failure::new(Class::Io, error.to_string()).advice("wait until it has ended, and try again")
        }
        error @ AuditError::StoreVersion { .. } => Failure::new(Class::Input, error.to_string())
            .advice("use the version of rsalab that saved it, or audit those keys again with --save"),
        error @ AuditError::DamagedStore(_) => Failure::new(Class::Input, error.to_string())
            .advice("restore it from a copy, or audit those keys again with --save"),
        error @ AuditError::NoStore(_) => {
            Failure::new(Class::Input, error.to_string()).advice("name a folder that 'rsalab audit --save' has made")
        }
        error => Failure::new(Class::Input, error.to_string()),
    }
}
