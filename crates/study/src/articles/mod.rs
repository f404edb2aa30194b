//! Studies that others published, done again: which cells they take, which figures they showed, and what becomes of
//! their claims.
//!
//! | question | file |
//! |---|---|
//! | which articles there are | [`Article`] |
//! | what a study says about one | [`Review`], [`Table`], [`Claim`], [`Verdict`] |
//! | what was measured of one job on one engine, or why it was not | `evidence` |
//! | article (a), text over threads | [`text_threads`] |
//! | article (b), primes and each step in ticks | [`prime_cycles`] |
//! | article (c), keys of Intel IPP and OpenSSL | [`keygen_libraries`] |
//! | article (d), Crypto++, one thread, several, and a GPU | [`cpu_gpu`] |
//! | the comparisons behind a claim | `cases` |
//!
//! A plan, or a grid of it, names the article it follows by the key `article`. Nothing here measures: a review is computed from the same
//! figures as the rest of the report.

mod cases;
mod claim;
pub mod cpu_gpu;
mod evidence;
pub mod keygen_libraries;
pub mod prime_cycles;
mod table;
pub mod text_threads;

use std::path::Path;

use rsalab_measure::{Machine, Topology};

use crate::{
    error::Error,
    report::{self, Group, Report},
    store::{GroupRecord, Store, StoreError},
};
pub use crate::{
    plan::Article,
    report::{Beside, Case, Claim, Review, Shown, Table, TableRow, Verdict},
};

/// How much of an article's study is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As published.
    Published,
    /// Every cell, with fewer repeats: all articles together within half an hour.
    Short,
}

/// The CPUs that a study could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// Physical cores.
    pub cores: usize,
    /// Hardware threads of these cores.
    pub logical: usize,
}

/// The report of what a store holds now, with what it says about the articles that its plan names.
///
/// # Errors
/// The database cannot be read.
pub fn report(store: &Store) -> Result<Report, StoreError> {
    Report::of(store, &review)
}

/// Writes the files that the program of article (b) saves, one for each stored batch, below a directory.
///
/// # Errors
/// A file cannot be written.
pub fn write_batch_files(report: &Report, directory: &Path) -> Result<(), Error> {
    for file in prime_cycles::batches::files(&report.groups) {
        report::write_file(directory, &file.path, file.text.as_bytes())?;
    }
    Ok(())
}

/// What the groups of a study, and the records they were made from, say about an article.
fn review(
    article: Article,
    groups: &[Group],
    records: &[GroupRecord],
    machine: Option<&Machine>,
) -> Review {
    let cpus = machine.map(Cpus::of);
    match article {
        Article::TextThreads => text_threads::review(groups, records, cpus),
        Article::PrimeCycles => prime_cycles::review(groups),
        Article::KeygenLibraries => keygen_libraries::review(groups),
        Article::CpuGpu => cpu_gpu::review(groups, cpus),
    }
}

impl Cpus {
    /// Those of a machine that a process was allowed to use, and that its quota lets run at once.
    pub fn of(machine: &Machine) -> Cpus {
        Cpus::of_topology(&machine.topology)
    }

    fn of_topology(topology: &Topology) -> Cpus {
        let quota = topology
            .quota
            .map_or(usize::MAX, |quota| (quota as usize).max(1));
        Cpus {
            cores: topology.allowed_cores().min(quota),
            logical: topology.allowed_cpus().min(quota),
        }
    }

    /// Whether some cores run two threads.
    pub fn has_smt(self) -> bool {
        self.logical > self.cores
    }
}
