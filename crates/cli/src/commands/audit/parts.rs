//! Audits in parts: what they are, one of them, and the report of all.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use rsalab_audit::{Audit as Audited, Estimate, Inventory, Part as AuditPart, PartError, Share};
use rsalab_measure::Machine;
use rsalab_study::{
    number,
    part::{Manifest, Part, Work, check_set, plan_digest},
    shell,
};
use serde::Serialize;

use super::{
    outcome::{self, conclude},
    takes::{bytes, wait, what_it_takes},
    work::{Read, check_paths, examine},
};
use crate::{
    arguments::{Audit, AuditMerge, AuditPlan, ReadOptions},
    commands::{inputs::with_ending, parts::Done},
    exit::{self, Class, Failure, Result},
    files::{self, Privacy},
    output::{self, Log},
    steps,
};

fn share(part: Part) -> Share {
    Share {
        number: part.number,
        of: part.of,
    }
}

/// The name of the manifest of a part.
fn manifest_of(part: &Path) -> PathBuf {
    with_ending(part, ".json")
}

/// Options that decide what is found, in words; of a password only that there is one.
fn decisive(paths: &[PathBuf], options: &ReadOptions) -> String {
    let ReadOptions {
        column,
        blocklist,
        rounds,
        password_file,
        large_keys,
        ..
    } = options;
    let has_password = password_file.is_some();
    format!("{paths:?} {column:?} {blocklist:?} {rounds} {has_password} {large_keys}")
}

/// The work that a part is of: its options, and what was read.
fn plan_of(options: &str, inputs: &str) -> String {
    plan_digest(format!("{options} {inputs}").as_bytes())
}

/// Output of `--json` for a part.
#[derive(Serialize)]
struct Made {
    part: Part,
    out: String,
    /// Findings of its own.
    findings: usize,
    /// Its keys that share a prime.
    sharing: usize,
}

impl Made {
    fn print(part: Part, out: &Path, made: &AuditPart, as_json: bool, log: Log) -> Result<()> {
        let made = Made {
            part,
            out: out.display().to_string(),
            findings: made.findings(),
            sharing: made.sharing(),
        };
        if as_json {
            return output::json(&made);
        }
        log.note(format_args!(
            "part {part} is complete: {}: {}, and {} that share a prime",
            made.out,
            number::counted(made.findings, "finding"),
            number::counted(made.sharing, "key")
        ));
        Ok(())
    }
}

/// Makes a part, unless it is complete.
pub(super) fn make(arguments: &Audit, part: Part, out: &Path, log: Log) -> Result<()> {
    let manifest = manifest_of(out);
    let as_json = arguments.json.json;
    let options = decisive(&arguments.paths, &arguments.read);
    if arguments.paths.iter().any(|path| files::is_dash(path)) {
        let what = "standard input cannot be audited in parts: each part reads all of it";
        return Err(Failure::new(Class::Usage, what).advice("write it to a file first"));
    }
    if let Ok(record) = Manifest::read(out, &manifest)
        && record.check(out, &manifest).is_ok()
        && let Ok(made) = read(out)
    {
        let is_same = record.part == part && record.plan_sha256 == plan_of(&options, made.inputs());
        if !is_same {
            let what = format!("{} has a part of another audit", out.display());
            return Err(Failure::new(Class::Usage, what).advice("name another file: nothing is overwritten"));
        }
        return Made::print(part, out, &made, as_json, log);
    }
    // A part without its manifest is one of a process that was killed between the two: if it is of these keys, see
    // below, it is replaced.
    let left = read(out).ok();
    if left.is_none() {
        files::check_absent(out)?;
    }
    let opened = Read::of(&arguments.read)?;
    let settings = opened.options(&arguments.read, share(part));
    let inventory = Inventory::of(&arguments.paths);
    let Some(examined) = examine(&settings, &inventory, arguments, log)? else {
        return Ok(());
    };
    let made = examined.part();
    if left.is_some_and(|left| left.inputs() != made.inputs()) {
        return Err(files::exists(out));
    }
    let cannot = |error| Failure::io(format!("cannot make {}", out.display()), error);
    let draft = files::replacement(out, made.to_json().as_bytes(), Privacy::Private).map_err(cannot)?;
    let named = draft.persist(out).map_err(|refused| cannot(refused.error))?;
    files::sync_names([(out, &named)].into_iter())?;
    let done = Done {
        work: Work::Audit,
        part,
        plan_sha256: plan_of(&options, made.inputs()),
        insecure_seed: None,
        items: (made.findings() + made.sharing()) as u64,
    };
    done.write(out, &manifest, &Machine::unmeasured())?;
    Made::print(part, out, &made, as_json, log)
}

fn read(path: &Path) -> Result<AuditPart> {
    let text = fs::read(path).map_err(|error| Failure::io(format!("cannot read {}", path.display()), error))?;
    AuditPart::from_json(&text).map_err(|error| refused(&path.display().to_string(), error))
}

fn refused(what: &str, error: PartError) -> Failure {
    Failure::new(Class::Input, format!("nothing was merged: {what}: {error}"))
}

/// Makes one report of all parts.
pub(super) fn merge(arguments: &AuditMerge, log: Log) -> Result<()> {
    outcome::check(&arguments.found, arguments.out.as_deref())?;
    let unfit = |error| exit::of_manifest("nothing was merged", error);
    let mut records = Vec::new();
    for path in &arguments.parts {
        let manifest = manifest_of(path);
        let record = Manifest::read(path, &manifest).map_err(unfit)?;
        record.check(path, &manifest).map_err(unfit)?;
        if record.work != Work::Audit {
            let what = format!("nothing was merged: {} is no part of an audit", path.display());
            return Err(
                Failure::new(Class::Input, what).advice("parts of studies and keys are merged by 'rsalab merge'")
            );
        }
        records.push((path.clone(), record));
    }
    check_set(&records).map_err(|error| Failure::new(Class::Input, "nothing was merged").because(error))?;
    let parts = arguments
        .parts
        .iter()
        .map(|path| read(path))
        .collect::<Result<Vec<AuditPart>>>()?;
    let report = AuditPart::merge(parts, arguments.threads.count()).map_err(|error| refused("the parts", error))?;
    steps::ended(|| format!("{}: merged", number::counted(arguments.parts.len(), "part")));
    if let Some(out) = &arguments.out {
        log.note(format_args!(
            "{} of {}: in {}",
            number::counted(report.findings.len(), "finding"),
            number::counted(arguments.parts.len(), "part"),
            out.display()
        ));
    }
    conclude(report, &arguments.found, arguments.json.json, arguments.out.as_deref())
}

/// Time and memory of one part of so many; none where that is not known.
pub(crate) fn estimate_of_part(
    paths: &[PathBuf],
    options: &ReadOptions,
    of: u64,
) -> Result<(Inventory, Option<Estimate>)> {
    check_paths(paths, options)?;
    let opened = Read::of(options)?;
    let settings = opened.options(options, Share { number: 1, of });
    let inventory = Inventory::of(paths);
    let estimate = Audited::new(&settings).estimate(&inventory);
    Ok((inventory, estimate))
}

/// Output of `plan --json`.
#[derive(Serialize)]
struct Plan {
    parts: Vec<Planned>,
    merge: String,
    /// Time and memory of one part, from a sample; null where that is not known.
    seconds: Option<f64>,
    memory: Option<u64>,
    scratch: Option<u64>,
}

#[derive(Serialize)]
struct Planned {
    part: Part,
    out: String,
    command: String,
}

/// Says what the parts are.
pub(super) fn plan(arguments: &AuditPlan) -> Result<()> {
    let (inventory, estimate) = estimate_of_part(&arguments.paths, &arguments.read, arguments.parts)?;
    let words = words(&arguments.paths, &arguments.read);
    let part = |number| {
        let part = Part {
            number,
            of: arguments.parts,
        };
        let out = format!("part-{number}.audit");
        let command = format!("rsalab audit {words} --shard {part} --out {out}");
        Planned { part, out, command }
    };
    let parts: Vec<Planned> = (1..=arguments.parts).map(part).collect();
    let plan = Plan {
        merge: "rsalab audit merge part-*.audit".to_owned(),
        seconds: estimate.map(|estimate| (estimate.keys_time + estimate.shared_time).as_secs_f64()),
        memory: estimate.map(|estimate| estimate.memory),
        scratch: estimate.map(|estimate| estimate.scratch),
        parts,
    };
    if arguments.json.json {
        return output::json(&plan);
    }
    let mut text = format!("{}\n", what_it_takes(&inventory, estimate.as_ref()));
    if let Some(estimate) = estimate {
        text += &format!(
            "each of {} parts: {} at most, {} of memory\n",
            arguments.parts,
            wait(estimate.keys_time + estimate.shared_time),
            bytes(estimate.memory)
        );
    }
    for part in &plan.parts {
        text += &part.command;
        text.push('\n');
    }
    // Commands are copied: they are not wrapped.
    output::report_lines(&(text + &plan.merge + "\n"))
}

/// The words of a command line that these options come from.
fn words(paths: &[PathBuf], options: &ReadOptions) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut add = |name: &str, value: &OsStr| words.extend([name.to_owned(), shell::quoted(value)]);
    if let Some(column) = &options.column {
        add("--column", column.as_ref());
    }
    options
        .blocklist
        .iter()
        .for_each(|path| add("--blocklist", path.as_ref()));
    if let Some(memory) = options.memory {
        add("--memory", memory.to_string().as_ref());
    }
    if let Some(scratch) = &options.scratch {
        add("--scratch", scratch.as_ref());
    }
    add("--rounds", options.rounds.to_string().as_ref());
    if let Some(file) = &options.password_file {
        add("--password-file", file.as_ref());
    }
    words.extend(options.large_keys.then(|| "--large-keys".to_owned()));
    let dashed = paths
        .iter()
        .any(|path| path.as_os_str().as_encoded_bytes().starts_with(b"-"));
    let paths = paths.iter().map(|path| match dashed {
        true => shell::quoted(Path::new(".").join(path).as_os_str()),
        false => shell::quoted(path.as_os_str()),
    });
    words.extend(paths);
    words.join(" ")
}
