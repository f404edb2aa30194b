//! `rsalab slurm`: scripts for Slurm's array jobs.
//!
//! ```text
//! submit.sh ── parts.sbatch, a task a part: 'rsalab … --shard $SLURM_ARRAY_TASK_ID/N' ── merge.sbatch: 'rsalab merge'
//! ```

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Parser;
use rsalab_engines::Exponent;
use rsalab_rsa::{
    generate::{Generation, PublicExponent},
    random::SystemRng,
};
use rsalab_study::{
    part::Part,
    plan::{Host, Seed},
    shell,
};

use super::{audit::estimate_of_part, selection::registry, study};
use crate::{
    arguments::{
        Arguments, Command, JobOptions, Keygen, MeasureOptions, Slurm, SlurmAudit, SlurmKeygen, SlurmStudy, Study,
        ThreadsOption,
    },
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    kernels,
    output::Log,
};

/// How much longer a task may take than the calibration expects: nodes differ, and share their memory.
const MARGIN: f64 = 3.0;
/// Seconds that a task may take for whatever else it does.
const BESIDES: f64 = 120.0;
/// MiB of a task, unless others are asked for, and those of each of its CPUs besides.
const MEMORY: [u64; 2] = [512, 64];

/// Writes the scripts.
pub(crate) fn run(arguments: &Slurm, log: Log) -> Result<()> {
    match arguments {
        Slurm::Keygen(arguments) => keygen(arguments, log),
        Slurm::Study(arguments) => study_in_parts(arguments, log),
        Slurm::Audit(arguments) => audit(arguments, log),
    }
}

fn keygen(arguments: &SlurmKeygen, log: Log) -> Result<()> {
    let job = &arguments.job;
    let folder = place(&job.out)?;
    // What the task will be asked to do is read as it will read it.
    let part = Part {
        number: 1,
        of: job.parts,
    };
    let typed = words(&["--shard", &part.to_string(), "--out", "part.tar"], &arguments.options);
    let Command::Keygen(keygen) = parsed("keygen", typed)? else {
        unreachable!("the first word is that command's name")
    };
    let count = keygen.count.ok_or_else(|| {
        let what = "the keys of all parts are to be counted";
        Failure::new(Class::Usage, what).advice("add --count after '--'")
    })?;
    if count < job.parts {
        let what = format!("{count} keys cannot be {} parts", job.parts);
        return Err(Failure::new(Class::Usage, what).advice("ask for fewer parts"));
    }
    let keys = count.div_ceil(job.parts);
    let seconds = match job.time {
        Some(_) => 0.0,
        None => keys as f64 * seconds_of_a_key(&keygen)? / job.cpus as f64,
    };
    let whole = if arguments.index { "keys.jsonl" } else { "keys.tar" };
    let threads = threads_of_task(&keygen.threads);
    let command = format!(
        "keygen {}{threads} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --out {}\"/$SLURM_ARRAY_TASK_ID.tar\"",
        quoted(&arguments.options),
        job.parts,
        quoted_path(&folder.join("parts")),
    );
    let script = Scripts {
        name: "rsalab-keygen",
        what: format!("Keys, {keys} or one less a task"),
        job,
        folder: &folder,
        seconds,
        memory: None,
        exclusive: false,
        command,
        merge: format!(
            "merge {}/*.tar --out {}",
            quoted_path(&folder.join("parts")),
            quoted_path(&folder.join(whole))
        ),
    };
    script.write(log)
}

fn study_in_parts(arguments: &SlurmStudy, log: Log) -> Result<()> {
    let job = &arguments.job;
    let folder = place(&job.out)?;
    let Command::Study(typed) = parsed("study", words(&[], &arguments.options))? else {
        unreachable!("the first word is that command's name")
    };
    check_study(&typed)?;
    let registry = registry()?;
    let host = Host::of_this_machine(&registry);
    let (_, mut plan) = study::plan(&typed, &host)?;
    let seed = match plan.seed {
        Some(seed) => seed,
        None => {
            Seed::random().map_err(|error| Failure::new(Class::Unavailable, "no seed can be drawn").because(error))?
        }
    };
    plan.seed = Some(seed);
    let of_part = |number| plan.expected_s(&host, Some(Part { number, of: job.parts }));
    let longest = (1..=job.parts).try_fold(0.0, |longest: f64, number| Ok(longest.max(of_part(number)?)));
    let seconds = longest.map_err(|error: rsalab_study::Error| Failure::from(error))?;
    let plan_file = folder.join("plan.toml");
    files::create(&[(&plan_file, plan.to_toml().as_bytes(), Privacy::Public)])?;
    // All other options are in the plan.
    let MeasureOptions {
        allow_unoptimised,
        give_up_after,
    } = typed.measure;
    let mut measure = format!(" --give-up-after {give_up_after}");
    if allow_unoptimised {
        measure += " --allow-unoptimised";
    }
    let parts = quoted_path(&folder.join("parts"));
    let script = Scripts {
        name: "rsalab-study",
        what: format!(
            "The study of {}, some of its groups of cells a task",
            plan_file.display()
        ),
        job,
        folder: &folder,
        seconds,
        memory: None,
        exclusive: !arguments.shared_nodes,
        command: format!(
            "study {} --quiet{measure} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --out {parts}\"/$SLURM_ARRAY_TASK_ID\"",
            quoted_path(&plan_file),
            job.parts,
        ),
        merge: format!("merge {parts}/* --out {}", quoted_path(&folder.join("whole"))),
    };
    script.write(log)
}

fn audit(arguments: &SlurmAudit, log: Log) -> Result<()> {
    let job = &arguments.job;
    let folder = place(&job.out)?;
    let part = Part {
        number: 1,
        of: job.parts,
    };
    let typed = words(
        &["--shard", &part.to_string(), "--out", "part.audit"],
        &arguments.options,
    );
    let Command::Audit(typed) = parsed("audit", typed)? else {
        unreachable!("the first word is that command's name")
    };
    if typed.command.is_some() {
        let what = "the files and options of an audit are wanted after '--', not a command of it";
        return Err(Failure::new(Class::Usage, what).advice("leave 'plan' and 'merge' out"));
    }
    let (_, estimate) = estimate_of_part(&typed.paths, &typed.read, job.parts)?;
    // Several threads share the estimated work already.
    let seconds = match (job.time, estimate) {
        (Some(_), _) => 0.0,
        (None, Some(estimate)) => (estimate.keys_time + estimate.shared_time).as_secs_f64(),
        (None, None) => {
            let what = "how long these keys take is not known";
            return Err(Failure::new(Class::Usage, what).advice("name the minutes of a task by --time"));
        }
    };
    let threads = threads_of_task(&typed.read.threads);
    let own = folder.join("scratch");
    let scratch = match &typed.read.scratch {
        Some(_) => String::new(),
        None => format!(" --scratch {}", quoted_path(&own)),
    };
    let parts = quoted_path(&folder.join("parts"));
    let script = Scripts {
        name: "rsalab-audit",
        what: "An audit, a share of its keys a task".to_owned(),
        job,
        folder: &folder,
        seconds,
        memory: estimate.map(|estimate| (estimate.memory >> 20) * 5 / 4 + MEMORY[0]),
        exclusive: false,
        command: format!(
            "audit --quiet{threads}{scratch} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --out {parts}\"/$SLURM_ARRAY_TASK_ID.audit\" {}",
            job.parts,
            quoted(&arguments.options),
        ),
        merge: format!(
            "audit merge {parts}/*.audit --json --fail-on never --out {}\nrm -rf {}",
            quoted_path(&folder.join("findings.jsonl")),
            quoted_path(&own),
        ),
    };
    script.write(log)
}

/// Refuses options that the scripts set themselves.
fn check_study(typed: &Study) -> Result<()> {
    let what = match (&typed.out, typed.shard, typed.print_plan) {
        (None, None, false) => return Ok(()),
        (Some(_), ..) => "--out after '--' is the scripts' business",
        (_, Some(_), _) => "--shard is the scripts' business",
        _ => "--print-plan measures nothing",
    };
    Err(Failure::new(Class::Usage, what).advice("leave it out"))
}

/// The folder, made and empty, by a name that does not depend on where a task starts.
fn place(out: &Path) -> Result<PathBuf> {
    let cannot = |error| Failure::io(format!("cannot make {}", out.display()), error);
    fs::create_dir_all(out).map_err(cannot)?;
    let folder = fs::canonicalize(out).map_err(cannot)?;
    if fs::read_dir(&folder).map_err(cannot)?.next().is_some() {
        let what = format!("{} is not empty", out.display());
        return Err(Failure::new(Class::Io, what).advice("name another folder: nothing is overwritten"));
    }
    Ok(folder)
}

fn words(own: &[&str], typed: &[OsString]) -> Vec<OsString> {
    typed.iter().cloned().chain(own.iter().map(OsString::from)).collect()
}

/// The option for as many threads as a task has CPUs, unless others were asked for.
fn threads_of_task(asked: &ThreadsOption) -> &'static str {
    match asked.threads {
        Some(_) => "",
        None => " --threads \"$SLURM_CPUS_PER_TASK\"",
    }
}

/// A command line of this program, parsed.
fn parsed(command: &str, typed: Vec<OsString>) -> Result<Command> {
    let line = ["rsalab", command].map(OsString::from).into_iter().chain(typed);
    let read = Arguments::try_parse_from(line).map_err(|error| {
        let what = format!("the options of 'rsalab {command}' after '--' are not taken");
        // The first line says what is wrong.
        let text = error.render().to_string();
        let first = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned();
        Failure::new(Class::Usage, what).because(first)
    })?;
    Ok(read.command)
}

/// CPU time of a key as this machine makes it, by some that are thrown away.
fn seconds_of_a_key(keygen: &Keygen) -> Result<f64> {
    const LONG_ENOUGH: Duration = Duration::from_secs(2);
    if keygen.engine.is_some() || keygen.strict {
        let what = "what this method takes for a key is not known";
        return Err(Failure::new(Class::Usage, what).advice("name the minutes of a task by --time"));
    }
    let e = match keygen.e {
        Exponent::Fixed(e) => PublicExponent::Fixed(e),
        Exponent::Random => PublicExponent::Random,
    };
    let failed = |error| Failure::new(Class::Usage, "no key was made").because(error);
    let backend = kernels::backend(keygen.kernel.name())?;
    let generation = Generation::with_backend(keygen.bits, e, Box::new(backend));
    let generation = generation
        .and_then(|keys| keys.with_primes(keygen.primes))
        .map_err(failed)?;
    let mut generator = generation.generator(SystemRng).map_err(failed)?.looking_ahead();
    let (begun, mut made) = (Instant::now(), 0);
    while made == 0 || begun.elapsed() < LONG_ENOUGH {
        made += generator.keys(4).map_err(failed)?.len();
    }
    Ok(begun.elapsed().as_secs_f64() / made as f64)
}

fn quoted(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| shell::quoted(word)).collect();
    words.join(" ")
}

fn quoted_path(path: &Path) -> String {
    shell::quoted(path.as_os_str())
}

/// Everything that the scripts say.
struct Scripts<'a> {
    name: &'a str,
    what: String,
    job: &'a JobOptions,
    folder: &'a Path,
    /// Seconds that a task is expected to take.
    seconds: f64,
    /// MiB of a task, where that is known.
    memory: Option<u64>,
    exclusive: bool,
    /// The program's arguments for a task, and for the merge.
    command: String,
    merge: String,
}

impl Scripts<'_> {
    fn write(&self, log: Log) -> Result<()> {
        let cannot = |error| Failure::io(format!("cannot make a folder in {}", self.folder.display()), error);
        for inner in ["logs", "parts"] {
            fs::create_dir(self.folder.join(inner)).map_err(cannot)?;
        }
        let program = env::current_exe().map_err(|error| Failure::io("cannot find this program", error))?;
        let here = env::current_dir().map_err(|error| Failure::io("cannot find this folder", error))?;
        let start = format!("set -eu\ncd {}", quoted_path(&here));
        let program = quoted(&[program.into_os_string()]);
        let parts = format!(
            "#!/bin/sh\n{}\n# {}. The same command goes on with a part that was killed or requeued.\n{start}\nexec {program} {}\n",
            self.properties().join("\n"),
            self.what,
            self.command
        );
        let merge = format!(
            "#!/bin/sh\n{}\n# Makes the whole of all parts. Nothing is written if one is missing or was changed.\n{start}\n{program} {}\n",
            self.properties_of_merge().join("\n"),
            self.merge
        );
        let [parts_file, merge_file, submit_file] =
            ["parts.sbatch", "merge.sbatch", "submit.sh"].map(|name| self.folder.join(name));
        let submit = format!(
            "#!/bin/sh\n# Submits the parts, and the merge to follow when all are done.\nset -eu\n\
             parts=$(sbatch --parsable {})\n\
             # With several clusters the name of this one follows.\n\
             parts=${{parts%%;*}}\n\
             merge=$(sbatch --parsable --dependency=\"afterok:$parts\" --kill-on-invalid-dep=yes {})\n\
             echo \"parts: job $parts; merge: job ${{merge%%;*}}\"\n",
            quoted_path(&parts_file),
            quoted_path(&merge_file),
        );
        let [parts, merge, submit] = [parts, merge, submit].map(String::into_bytes);
        files::create(&[
            (&parts_file, &parts, Privacy::Public),
            (&merge_file, &merge, Privacy::Public),
            (&submit_file, &submit, Privacy::Public),
        ])?;
        log.note(format_args!("submit it by: sh {}", quoted_path(&submit_file)));
        Ok(())
    }

    fn properties(&self) -> Vec<String> {
        let job = self.job;
        let minutes = job
            .time
            .unwrap_or_else(|| ((MARGIN * self.seconds + BESIDES) / 60.0).ceil() as u64);
        let memory = job.mem.or(self.memory);
        let memory = memory.unwrap_or(MEMORY[0] + MEMORY[1] * job.cpus as u64);
        let mut lines = vec![
            format!("--job-name={}", self.name),
            format!("--array=1-{}", job.parts),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={}", job.cpus),
            format!("--mem={memory}M"),
            format!("--time={minutes}"),
            "--requeue".to_owned(),
            "--open-mode=append".to_owned(),
        ];
        lines.push(self.log("%A_%a"));
        if self.exclusive {
            lines.push("--exclusive".to_owned());
        }
        lines.extend(self.nodes());
        lines.into_iter().map(|line| format!("#SBATCH {line}")).collect()
    }

    fn properties_of_merge(&self) -> Vec<String> {
        let mut lines = vec![
            format!("--job-name={}-merge", self.name),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--mem={}M", self.job.mem.unwrap_or(2 * MEMORY[0])),
            "--time=240".to_owned(),
            "--requeue".to_owned(),
        ];
        lines.push(self.log("merge_%j"));
        lines.extend(self.nodes());
        lines.into_iter().map(|line| format!("#SBATCH {line}")).collect()
    }

    /// Slurm takes the rest of the line for the name.
    fn log(&self, name: &str) -> String {
        let folder = self.folder.join("logs").display().to_string();
        format!(
            "--output=\"{}/{name}.log\"",
            folder.replace('%', "%%").replace('"', "\\\"")
        )
    }

    fn nodes(&self) -> Vec<String> {
        let partition = self.job.partition.as_ref().map(|name| format!("--partition={name}"));
        let constraint = self
            .job
            .constraint
            .as_ref()
            .map(|features| format!("--constraint=\"{features}\""));
        partition.into_iter().chain(constraint).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_command_line_stay_words() {
        let typed = ["--names", "my hosts.txt", "it's"].map(OsString::from);
        assert_eq!(quoted(&typed), "--names 'my hosts.txt' \"it's\"");
    }

    #[test]
    fn what_a_task_cannot_be_asked_is_refused_before_anything_is_written() {
        for wrong in [["--count", "many"], ["--bits", "17"], ["--no-such", "3"]] {
            let failure = parsed("keygen", words(&["--out", "part.tar"], &wrong.map(OsString::from)));
            let failure = failure.map(|_| ()).unwrap_err();
            assert_eq!(failure.class().code(), 2);
            assert!(
                failure.sentence().contains("after '--' are not taken"),
                "{}",
                failure.sentence()
            );
        }
    }
}
