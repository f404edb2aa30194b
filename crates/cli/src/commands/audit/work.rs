//! Options of an audit, what they name, and the work itself.

use std::path::PathBuf;

use rsalab_audit::{Audit as Audited, AuditError, Examined, Inventory, Options, Share, known::Lists};
use rsalab_rsa::format::Limits;

use super::{
    follow::Follow,
    takes::{Taken, what_it_takes},
};
use crate::{
    arguments::{Audit, ReadOptions},
    exit::{Class, Failure, Result},
    files, lists,
    output::{self, Log},
    passwords::{self, Password},
};

/// Says what it will take, and does it, unless nothing else is wanted.
pub(super) fn examine(
    options: &Options<'_>,
    inventory: &Inventory,
    typed: &Audit,
    log: Log,
) -> Result<Option<Examined>> {
    let audit = Audited::new(options);
    let estimate = audit.estimate(inventory);
    let said = what_it_takes(inventory, estimate.as_ref());
    if typed.estimate {
        let taken = Taken::of(inventory, estimate.as_ref());
        return output::print(typed.json.json, &taken, || format!("{said}\n")).map(|()| None);
    }
    log.note(said);
    let mut follow = Follow::new(log, inventory);
    let examined = audit.examine(inventory, &mut |progress| follow.show(progress));
    follow.finish();
    examined.map(Some).map_err(refused)
}

/// Files that options name, opened.
pub(super) struct Read {
    password: Option<Password>,
    lists: Lists,
}

impl Read {
    pub(super) fn of(options: &ReadOptions) -> Result<Read> {
        let password = options.password_file.as_deref().map(passwords::from_file);
        Ok(Read {
            password: password.transpose()?,
            lists: lists::open(&options.blocklist)?,
        })
    }

    pub(super) fn options<'a>(&'a self, typed: &'a ReadOptions, share: Share) -> Options<'a> {
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
pub(super) fn check_paths(paths: &[PathBuf], read: &ReadOptions) -> Result<()> {
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
pub(super) fn refused(error: AuditError) -> Failure {
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
        error @ AuditError::Unavailable(_) => Failure::new(Class::Unavailable, error.to_string()),
        error => Failure::new(Class::Input, error.to_string()),
    }
}
