//! A plan: its grids, each a product of lists.

use rsalab_engines::{Exponent, Mode, Op};
use serde::{Deserialize, Serialize};

use super::{Article, DEFAULT_EXPONENT, Measure, MeasureChange, Seed};

/// A whole study, before it is unfolded on a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// One line that says what the study asks.
    #[serde(default = "untitled")]
    pub title: String,
    /// The article whose study this is: the report shows its figures and judges its claims. A grid may name another.
    pub article: Option<Article>,
    /// How much the workers give way to other processes, from 0 to 19 as `nice` has it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nice: u8,
    /// From which all keys and inputs derive; a random one is drawn where a plan has none.
    pub seed: Option<Seed>,
    /// How every cell is measured, unless its grid says otherwise.
    #[serde(default)]
    pub measure: Measure,
    /// The cells, as products of lists.
    #[serde(default, rename = "grid")]
    pub grids: Vec<Grid>,
}

/// A product of lists: every combination is a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The article that these cells belong to, where it is not the plan's.
    pub article: Option<Article>,
    /// The operations.
    pub operations: Vec<Op>,
    /// The engines, measured interleaved.
    #[serde(default = "every_engine")]
    pub engines: Engines,
    /// Bits of the modulus.
    pub bits: Vec<usize>,
    /// Threads that run at once.
    #[serde(default = "one_thread")]
    pub threads: Threads,
    /// Items handed to the engine in one call; `[1]` for text.
    #[serde(default = "one_item")]
    pub batch: Vec<usize>,
    /// Text operations: bytes of the whole text. Empty for the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<usize>,
    /// Text operations: bytes of text in one block; as many as fit below the modulus where absent.
    pub block_symbols: Option<usize>,
    /// Latency or throughput. Absent: latency if the grid has one item on one thread only, else throughput.
    pub mode: Option<Mode>,
    /// The public exponent.
    #[serde(default = "default_exponent")]
    pub exponent: Exponent,
    /// Raw blocks: the messages' lengths. None: blocks are any numbers below the modulus.
    pub message: Option<Message>,
    /// Our own engine without blinding and without the check of the result, as bare peers work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bare: bool,
    /// What this grid changes of the plan's `[measure]`.
    #[serde(default, skip_serializing_if = "MeasureChange::is_empty")]
    pub measure: MeasureChange,
}

impl Default for Grid {
    /// One item at a time on one thread, on every engine that is present; operations and sizes are left to be named.
    fn default() -> Self {
        Grid {
            article: None,
            operations: Vec::new(),
            engines: every_engine(),
            bits: Vec::new(),
            threads: one_thread(),
            batch: one_item(),
            symbols: Vec::new(),
            block_symbols: None,
            mode: None,
            exponent: default_exponent(),
            message: None,
            bare: false,
            measure: MeasureChange::default(),
        }
    }
}

fn every_engine() -> Engines {
    Engines::Present
}

fn one_thread() -> Threads {
    Threads::These(vec![1])
}

fn one_item() -> Vec<usize> {
    vec![1]
}

fn default_exponent() -> Exponent {
    DEFAULT_EXPONENT
}

impl Engines {
    /// These, by selector.
    pub fn named(selectors: &[&str]) -> Engines {
        Engines::Named(
            selectors
                .iter()
                .map(|selector| (*selector).to_owned())
                .collect(),
        )
    }
}

/// Which engines a grid measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engines {
    /// Every engine found on this machine.
    Present,
    /// These, by selector: a name, or `name:variant`. One that is not installed is recorded as such.
    Named(Vec<String>),
}

/// How long the messages are that raw blocks hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// So many bits, whatever the modulus.
    Bits(usize),
    /// One byte shorter than the modulus.
    ByteShorter,
}

/// Which thread counts a grid measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Threads {
    /// 1, 2, 3 … up to the logical CPUs.
    Each,
    /// 1, 2, 4 … and the logical CPUs.
    Doubling,
    /// These.
    These(Vec<usize>),
}

fn untitled() -> String {
    "A study".to_owned()
}

fn is_zero(nice: &u8) -> bool {
    *nice == 0
}

impl Plan {
    /// The plan as TOML, which [`Plan::parse`] reads back to the same plan.
    pub fn to_toml(&self) -> String {
        toml::to_string(self)
            .expect("a plan has only tables, lists, text and numbers that TOML can hold")
    }

    /// The plan with other sizes of text.
    ///
    /// Where several grids of texts differ in nothing but the size and how it is measured, each size is measured as the
    /// next larger one that was planned, or as the largest.
    pub fn with_symbols(self, symbols: &[usize]) -> Plan {
        let largest = |grid: &Grid| grid.symbols.iter().max().copied();
        let alike = |one: &Grid, other: &Grid| {
            let bare = |grid: &Grid| Grid {
                symbols: Vec::new(),
                measure: MeasureChange::default(),
                ..grid.clone()
            };
            !other.symbols.is_empty() && bare(one) == bare(other)
        };
        let mut grids: Vec<Grid> = Vec::new();
        for (place, grid) in self.grids.iter().enumerate() {
            if grid.symbols.is_empty() {
                grids.push(grid.clone());
            } else if !self.grids[..place]
                .iter()
                .any(|earlier| alike(grid, earlier))
            {
                let family: Vec<&Grid> = self
                    .grids
                    .iter()
                    .filter(|other| alike(grid, other))
                    .collect();
                let of_size = |size: usize| {
                    let fitting = family.iter().filter(|grid| largest(grid) >= Some(size));
                    let fitting = fitting.min_by_key(|grid| largest(grid));
                    fitting.or_else(|| family.iter().max_by_key(|grid| largest(grid)))
                };
                let with = |grid: &Grid, symbols: &[usize]| Grid {
                    symbols: symbols.to_vec(),
                    ..grid.clone()
                };
                match family.len() {
                    1 => grids.push(with(grid, symbols)),
                    _ => grids.extend(
                        symbols
                            .iter()
                            .filter_map(|size| Some(with(of_size(*size)?, &[*size]))),
                    ),
                }
            }
        }
        Plan { grids, ..self }
    }
}

impl Threads {
    /// The counts on a machine with that many logical CPUs, rising unless listed otherwise.
    pub fn counts(&self, logical_cpus: usize) -> Vec<usize> {
        match self {
            Threads::Each => (1..=logical_cpus.max(1)).collect(),
            Threads::Doubling => {
                let mut counts: Vec<usize> =
                    std::iter::successors(Some(1_usize), |n| n.checked_mul(2))
                        .take_while(|n| *n < logical_cpus)
                        .collect();
                counts.push(logical_cpus.max(1));
                counts
            }
            Threads::These(counts) => counts.clone(),
        }
    }
}
