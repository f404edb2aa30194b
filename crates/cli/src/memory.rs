//! Memory that holds keys: in no core dump, and on no swap device where the system lets a process lock its memory.
//!
//! The whole process is covered, and not single numbers: a key passes through parsers, tables and stacks, and what is
//! left out of one list is what leaks. Commands that work with study keys, which are insecure on purpose, are left as
//! they are, so that debuggers and profilers can look at them.

use std::io;

use rustix::{
    io::Errno,
    mm::{MlockAllFlags, mlockall},
    process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit},
};

use crate::{arguments::Command, steps};

/// The secrets that a command's memory holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Keys, passwords or messages of a user.
    Secrets,
    /// Private keys perhaps, next to much more that is public.
    MuchElse,
    /// Nothing that must be kept.
    Nothing,
}

/// Protects the memory of a command that holds secrets. What the system refuses is said in the steps, and the command
/// goes on.
pub(crate) fn protect(command: &Command) {
    let holds = holds(command);
    if holds == Holds::Nothing {
        return;
    }
    let dump = match keep_out_of_dumps() {
        Ok(()) => "in no core dump".to_owned(),
        Err(error) => format!("in a core dump, should there be one, since the system refuses to leave it out: {error}"),
    };
    let swap = match holds {
        Holds::Secrets => match lock() {
            Ok(()) => "never swapped".to_owned(),
            Err(why) => format!("may be swapped: {why}"),
        },
        _ => "may be swapped, as there may be much of it".to_owned(),
    };
    steps::ended(|| format!("memory: {dump}; {swap}"));
}

fn holds(command: &Command) -> Holds {
    match command {
        Command::Keygen(_)
        | Command::Key(_)
        | Command::Sign(_)
        | Command::Verify(_)
        | Command::Blind(_)
        | Command::Encrypt(_)
        | Command::Decrypt(_)
        | Command::TextEncrypt(_)
        | Command::TextDecrypt(_)
        | Command::RawPrivate(_)
        | Command::RawPublic(_) => Holds::Secrets,
        Command::Vectors(arguments) if arguments.stream.is_some() => Holds::Secrets,
        Command::Audit(_) => Holds::MuchElse,
        Command::Study(_)
        | Command::Resume(_)
        | Command::Report(_)
        | Command::Merge(_)
        | Command::Slurm(_)
        | Command::Compare(_)
        | Command::Export(_)
        | Command::Profile(_)
        | Command::Barometer(_)
        | Command::Bench(_)
        | Command::Engines(_)
        | Command::Vectors(_)
        | Command::Machine(_)
        | Command::Completions(_)
        | Command::Worker(_) => Holds::Nothing,
    }
}

/// A process that is not dumpable leaves no core file, nor a dump to a program that the system starts for it, which the
/// limit alone does not stop. Nor can another process of the same user read its memory.
fn keep_out_of_dumps() -> io::Result<()> {
    let limit = getrlimit(Resource::Core);
    let none = Rlimit {
        current: Some(0),
        ..limit
    };
    let limited = setrlimit(Resource::Core, none);
    match set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        Ok(()) => Ok(()),
        Err(_) if limited.is_ok() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Locks all memory, now and later, each page when it is first touched.
///
/// With a limit on locked memory this would have later requests for memory fail, and the program with them. So it is
/// done where there is none: where the limit is infinite or can be made so, or the process has the capability that no
/// limit applies to. Whether it has, and the system honours it, shows with a limit of zero.
fn lock() -> Result<(), String> {
    let limit = getrlimit(Resource::Memlock);
    let limited_to = |bytes| {
        setrlimit(
            Resource::Memlock,
            Rlimit {
                current: bytes,
                ..limit
            },
        )
    };
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let is_unlimited = limit.current.is_none() || (limit.maximum.is_none() && limited_to(None).is_ok());
    if is_unlimited {
        return mlockall(all).map_err(|error| format!("the system refuses to lock it: {}", io::Error::from(error)));
    }
    let refused = match limited_to(Some(0)) {
        Ok(()) => mlockall(all).err(),
        Err(error) => Some(error),
    };
    let restored = limited_to(limit.current);
    match refused {
        None => Ok(()),
        Some(Errno::PERM | Errno::NOMEM) if restored.is_ok() => {
            let bytes = limit.current.unwrap_or_default();
            Err(format!(
                "the limit on locked memory is {bytes} bytes ('ulimit -l'), and all of it would be needed"
            ))
        }
        Some(error) => Err(format!("the system refuses to lock it: {}", io::Error::from(error))),
    }
}
