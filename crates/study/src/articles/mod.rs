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

use rsalab_measure::{Machine, Topology};
use serde::{Deserialize, Serialize};

pub use claim::{Case, Claim, Verdict};
pub use table::{Beside, Table, TableRow};

use crate::{
    report::{Figure, Group},
    store::GroupRecord,
};

/// An article whose study can be done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Article {
    /// (a): a Java application that splits a text over threads.
    TextThreads,
    /// (b): a C program on GMP that counts the ticks of prime search and of each step of RSA.
    PrimeCycles,
    /// (c): a comparison of key generation in Intel IPP and OpenSSL.
    KeygenLibraries,
    /// (d): Crypto++ beside Montgomery exponentiation on one thread, on several and on a GPU.
    CpuGpu,
}

/// How much of an article's study is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As published.
    Published,
    /// Every cell, with fewer repeats: all articles together within half an hour.
    Short,
}

/// What a study says about an article.
#[derive(Clone, Debug, Serialize)]
pub struct Review {
    /// The article's letter; the ids of its figures and claims begin with it.
    pub id: &'static str,
    /// What the article is about.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What it measured on.
    pub machine: &'static str,
    /// What is to be said of the study as a whole: how much was planned and done, and on what.
    pub remarks: Vec<String>,
    /// The article's figures, and those that its words call for.
    pub shown: Vec<Shown>,
    /// Its tables beside ours.
    pub tables: Vec<Table>,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// The figures themselves: they join those of the report.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// A figure of the article in as many figures as it takes here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// `a-fig3`, `a-speedup`.
    pub id: &'static str,
    /// What it shows.
    pub title: String,
    /// The ids of the report's figures.
    pub figures: Vec<String>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// The CPUs that a study could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// Physical cores.
    pub cores: usize,
    /// Hardware threads of these cores.
    pub logical: usize,
}

impl Article {
    /// Every article, by its letter.
    pub const ALL: [Article; 4] = [
        Article::TextThreads,
        Article::PrimeCycles,
        Article::KeygenLibraries,
        Article::CpuGpu,
    ];

    /// What the groups of a study, and the records they were made from, say about the article.
    pub fn review(self, groups: &[Group], records: &[GroupRecord], cpus: Option<Cpus>) -> Review {
        match self {
            Article::TextThreads => text_threads::review(groups, records, cpus),
            Article::PrimeCycles => prime_cycles::review(groups),
            Article::KeygenLibraries => keygen_libraries::review(groups),
            Article::CpuGpu => cpu_gpu::review(groups, cpus),
        }
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
