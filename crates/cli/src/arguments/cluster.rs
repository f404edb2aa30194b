//! Works that are spread over machines.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand};
use rsalab_study::part::MOST_PARTS;

use super::values::within;

/// Write Slurm scripts for a study, many keys or an audit in parts
///
/// Three files go to a new folder: 'parts.sbatch', an array job with a task for each part; 'merge.sbatch', which makes
/// the whole of them; and 'submit.sh', which submits both, the second to wait for the first. They are plain shell, to
/// be read and edited. A task that is killed or requeued goes on where it stopped. The time limit is three times what a
/// short calibration on this machine expects.
#[derive(Subcommand)]
#[command(after_long_help = "\
Examples:
  rsalab slurm keygen --parts 100 --cpus 16 --out job -- --count 1000000 --bits 3072
  rsalab slurm audit --parts 20 --cpus 8 --out job -- /shared/moduli.txt --memory 8G
  rsalab slurm study --parts 12 --constraint zen4 --out job -- peers --seconds 10
  sh job/submit.sh")]
pub(crate) enum Slurm {
    Keygen(SlurmKeygen),
    Study(SlurmStudy),
    Audit(SlurmAudit),
}

/// Make keys in the tasks of an array job
///
/// After '--' come the options of 'rsalab keygen'. The keys of all parts are merged to 'keys.tar' in the folder.
#[derive(Args)]
pub(crate) struct SlurmKeygen {
    #[command(flatten)]
    pub(crate) job: JobOptions,
    /// Merge to an index of the archives, keys.jsonl, and leave the keys where they are.
    #[arg(long)]
    pub(crate) index: bool,
    /// The options of 'rsalab keygen', without --out and --shard.
    #[arg(last = true, value_name = "KEYGEN", required = true)]
    pub(crate) options: Vec<OsString>,
}

/// Measure the groups of a study in the tasks of an array job
///
/// After '--' come the preset or plan and the options of 'rsalab study'. The plan is written to the folder, with one
/// seed. Each task has a node for itself. The merged study is 'whole' in the folder. All nodes must have one kind of
/// CPU (--constraint); for several kinds write a folder for each, and compare the studies by 'rsalab compare'.
#[derive(Args)]
pub(crate) struct SlurmStudy {
    #[command(flatten)]
    pub(crate) job: JobOptions,
    /// Let other jobs run on a task's node: its figures are disturbed then.
    #[arg(long)]
    pub(crate) shared_nodes: bool,
    /// The plan and options of 'rsalab study', without --out and --shard.
    #[arg(last = true, value_name = "STUDY", required = true)]
    pub(crate) options: Vec<OsString>,
}

/// Audit keys in the tasks of an array job
///
/// After '--' come the files and the options of 'rsalab audit', which all nodes see under their names. The tasks share
/// a folder 'scratch' unless --scratch names another one. The findings of all parts are merged to 'findings.jsonl' in
/// the folder.
#[derive(Args)]
pub(crate) struct SlurmAudit {
    #[command(flatten)]
    pub(crate) job: JobOptions,
    /// The files and options of 'rsalab audit', without --out and --shard.
    #[arg(last = true, value_name = "AUDIT", required = true)]
    pub(crate) options: Vec<OsString>,
}

/// Properties of a job.
#[derive(Args)]
pub(crate) struct JobOptions {
    /// Into how many parts the work is cut.
    #[arg(long, value_name = "N", value_parser = within(1..=MOST_PARTS))]
    pub(crate) parts: u64,
    /// The folder of the scripts, new or empty, which all nodes see under this name.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// CPUs of a task.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within(1..=4096_usize))]
    pub(crate) cpus: usize,
    /// Memory of a task in MiB.
    #[arg(long, value_name = "MIB", value_parser = within(16..=16_777_216_u64))]
    pub(crate) mem: Option<u64>,
    /// The time limit of a task in minutes, in place of what the calibration says.
    #[arg(long, value_name = "MINUTES", value_parser = within(1..=525_600_u64))]
    pub(crate) time: Option<u64>,
    /// The partition.
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub(crate) partition: Option<String>,
    /// Features that a node must have, as Slurm's --constraint.
    #[arg(long, value_name = "FEATURES", value_parser = word)]
    pub(crate) constraint: Option<String>,
}

/// A word of a line that Slurm reads without a shell.
fn word(typed: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.,:&|()[]*".contains(letter);
    match !typed.is_empty() && typed.chars().all(is_plain) {
        true => Ok(typed.to_owned()),
        false => Err("letters, digits and _-.,:&|()[]* are possible".to_owned()),
    }
}
