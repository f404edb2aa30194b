//! A plan: its grids, each a product of lists.

use rsalab_engines::{Exponent, Mode, Op};
use serde::{Deserialize, Serialize};

use super::{Article, DEFAULT_EXPONENT, Measure, MeasureChange, Seed, message::scaled_message};

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
    /// In place of random texts: each text is so many of its first bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
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
    /// Text operations, in place of `symbols`: texts of so many messages, each a block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<usize>,
    /// Text operations, in place of `symbols`: one message, as long as `message` says, in so many equal blocks.
    pub portions: Option<usize>,
    /// Text operations: bytes of text in one block; as many as fit below the modulus where absent.
    pub block_symbols: Option<usize>,
    /// Latency or throughput. Absent: latency if the grid has one item on one thread only, else throughput.
    pub mode: Option<Mode>,
    /// The public exponent.
    #[serde(default = "default_exponent")]
    pub exponent: Exponent,
    /// Primes of the keys, 2 to 5, for the operations that use them.
    #[serde(default = "two_primes", skip_serializing_if = "is_two_primes")]
    pub primes: Vec<usize>,
    /// Keys that the items of a batch are under by turns, for the private operation on blocks and digests.
    #[serde(default = "one_item", skip_serializing_if = "is_one_item")]
    pub keys: Vec<usize>,
    /// Signatures of messages: bytes of each. Empty for the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_bytes: Vec<usize>,
    /// Raw blocks, and texts in portions: the messages' lengths. None: blocks are any numbers below the modulus.
    pub message: Option<Message>,
    /// Our own engine without blinding and without the check of the result, as bare peers work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bare: bool,
    /// The changes of this grid to the plan's `[measure]`.
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
            messages: Vec::new(),
            portions: None,
            block_symbols: None,
            mode: None,
            exponent: default_exponent(),
            primes: two_primes(),
            keys: one_item(),
            message_bytes: Vec::new(),
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

fn is_one_item(items: &[usize]) -> bool {
    *items == [1]
}

fn two_primes() -> Vec<usize> {
    vec![2]
}

fn is_two_primes(primes: &[usize]) -> bool {
    *primes == [2]
}

fn default_exponent() -> Exponent {
    DEFAULT_EXPONENT
}

impl Engines {
    /// These, by selector.
    pub fn named(selectors: &[&str]) -> Engines {
        Engines::Named(selectors.iter().map(|selector| (*selector).to_owned()).collect())
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
        toml::to_string(self).expect("a plan has only tables, lists, text and numbers that TOML can hold")
    }

    /// The plan with so many repeats in place of its own.
    ///
    /// They are calls, of texts whole texts. Keys and pairs of primes are counted one by one, however many a call
    /// makes: batches that would make more in one call are shortened.
    pub fn with_repeats(mut self, repeats: u64) -> Plan {
        /// With fewer there is no interval to speak of.
        const BLOCKS: u64 = 10;
        let at_most = |batch: usize, most: u64| batch.min(usize::try_from(most).unwrap_or(batch));
        self.measure.repeats = Some(repeats);
        for grid in &mut self.grids {
            let makes = |op: &Op| matches!(op, Op::Keygen | Op::PrimePair);
            let largest = grid.batch.iter().copied().max().unwrap_or(1);
            grid.measure.repeats = match &grid.threads {
                Threads::These(counts) if largest > 1 && grid.operations.iter().all(makes) => {
                    let threads = counts.iter().copied().max().unwrap_or(1);
                    let of_thread = repeats.div_ceil(threads as u64).max(1);
                    for batch in &mut grid.batch {
                        *batch = at_most(*batch, of_thread);
                    }
                    grid.batch.dedup();
                    Some(of_thread.div_ceil(at_most(largest, of_thread) as u64))
                }
                _ => None,
            };
            let repeats = grid.measure.repeats.unwrap_or(repeats);
            let measure = self.measure.changed(&grid.measure);
            grid.measure.block_calls = measure.block_calls.map(|calls| {
                let of_all_blocks = repeats.div_ceil(measure.max_blocks as u64);
                calls.min(repeats / BLOCKS).max(of_all_blocks).max(1)
            });
        }
        self
    }

    /// The plan with a text in place of random ones. Without sizes, each text is all of it.
    pub fn with_text(self, text: String, sizes: Option<&[usize]>) -> Plan {
        let all = [text.len()];
        let plan = self.with_symbols(sizes.unwrap_or(&all));
        Plan {
            text: Some(text),
            ..plan
        }
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
                messages: Vec::new(),
                measure: MeasureChange::default(),
                ..grid.clone()
            };
            other.has_text_sizes() && bare(one) == bare(other)
        };
        let mut grids: Vec<Grid> = Vec::new();
        for (place, grid) in self.grids.iter().enumerate() {
            if !grid.has_text_sizes() {
                grids.push(grid.clone());
            } else if !self.grids[..place].iter().any(|earlier| alike(grid, earlier)) {
                let family: Vec<&Grid> = self.grids.iter().filter(|other| alike(grid, other)).collect();
                let of_size = |size: usize| {
                    let fitting = family.iter().filter(|grid| largest(grid) >= Some(size));
                    let fitting = fitting.min_by_key(|grid| largest(grid));
                    fitting.or_else(|| family.iter().max_by_key(|grid| largest(grid)))
                };
                let with = |grid: &Grid, symbols: &[usize]| Grid {
                    symbols: symbols.to_vec(),
                    messages: Vec::new(),
                    ..grid.clone()
                };
                match family.len() {
                    1 => grids.push(with(grid, symbols)),
                    _ => grids.extend(symbols.iter().filter_map(|size| Some(with(of_size(*size)?, &[*size])))),
                }
            }
        }
        Plan { grids, ..self }
    }

    /// The plan at other sizes of the modulus.
    ///
    /// Where it has all of them, what it asks at these. Else, where several grids differ in nothing but the size and
    /// how it is measured, each size is measured as the next larger one that was planned, or as the largest. Messages
    /// that do not fit a size are shorter in proportion.
    pub fn with_bits(self, bits: &[usize]) -> Plan {
        let is_planned = |size: &usize| self.grids.iter().any(|grid| grid.bits.contains(size));
        if bits.iter().all(is_planned) {
            let mut grids = self.grids;
            for grid in &mut grids {
                grid.bits.retain(|size| bits.contains(size));
            }
            grids.retain(|grid| !grid.bits.is_empty());
            return Plan { grids, ..self };
        }
        let bare = |grid: &Grid| Grid {
            bits: Vec::new(),
            measure: MeasureChange::default(),
            ..grid.clone()
        };
        let largest = |grid: &&Grid| grid.bits.iter().max().copied();
        let mut families: Vec<Vec<&Grid>> = Vec::new();
        for grid in &self.grids {
            match families.iter_mut().find(|family| bare(family[0]) == bare(grid)) {
                Some(family) => family.push(grid),
                None => families.push(vec![grid]),
            }
        }
        let of_size = |family: &[&Grid], size: usize| {
            let fitting = family.iter().copied().filter(|grid| largest(grid) >= Some(size));
            let grid = fitting
                .min_by_key(largest)
                .or(family.iter().copied().max_by_key(largest));
            Grid {
                bits: vec![size],
                ..grid.expect("a family has a grid").clone()
            }
        };
        let of_family = |family: &Vec<&Grid>| match family[..] {
            [grid] => vec![Grid {
                bits: bits.to_vec(),
                ..grid.clone()
            }],
            _ => bits.iter().map(|size| of_size(family, *size)).collect(),
        };
        let fitting = |family: &Vec<&Grid>| {
            let planned = family.iter().flat_map(|grid| &grid.bits).min();
            let planned = planned.copied().unwrap_or(0);
            let grids = of_family(family).into_iter();
            let grids = grids.flat_map(|grid| grid.with_fitting_messages(planned));
            grids.collect::<Vec<Grid>>()
        };
        let grids = without_twins(families.iter().flat_map(fitting).collect());
        Plan { grids, ..self }
    }
}

/// Grids without the sizes at which a message of so many bits is the one a byte shorter than the modulus, which another
/// grid has: a job has one place in a plan.
fn without_twins(grids: Vec<Grid>) -> Vec<Grid> {
    let bare = |grid: &Grid| Grid {
        bits: Vec::new(),
        message: None,
        measure: MeasureChange::default(),
        ..grid.clone()
    };
    let has_twin = |grid: &Grid, bits: usize| {
        let Some(message @ Message::Bits(_)) = grid.message else {
            return false;
        };
        message.bits(bits) == Message::ByteShorter.bits(bits)
            && grids.iter().any(|other| {
                other.message == Some(Message::ByteShorter) && other.bits.contains(&bits) && bare(other) == bare(grid)
            })
    };
    let kept = |grid: &Grid| {
        let bits = grid.bits.iter().copied();
        let bits: Vec<usize> = bits.filter(|bits| !has_twin(grid, *bits)).collect();
        (!bits.is_empty()).then(|| Grid { bits, ..grid.clone() })
    };
    grids.iter().filter_map(kept).collect()
}

impl Grid {
    /// Returns whether it has texts whose sizes can be replaced.
    fn has_text_sizes(&self) -> bool {
        !self.symbols.is_empty() || !self.messages.is_empty()
    }

    /// The grid, with a grid of its own for each size that its message does not fit: there it is shorter in proportion,
    /// as it belongs to a modulus of `planned` bits.
    fn with_fitting_messages(self, planned: usize) -> Vec<Grid> {
        let Some(Message::Bits(message)) = self.message else {
            return vec![self];
        };
        let (fitting, small): (Vec<usize>, Vec<usize>) = self.bits.iter().partition(|bits| message < **bits);
        let of_sizes = |bits: Vec<usize>, message: usize| Grid {
            bits,
            message: Some(Message::Bits(message)),
            ..self.clone()
        };
        let small = small
            .into_iter()
            .map(|bits| of_sizes(vec![bits], scaled_message(message, planned, bits)));
        let fitting = (!fitting.is_empty()).then(|| of_sizes(fitting, message));
        small.chain(fitting).collect()
    }

    /// Its texts with a modulus of `bits`: symbols in all, and in a block. One without symbols where the operations
    /// take no text.
    pub(super) fn texts(&self, bits: usize) -> Vec<(usize, usize)> {
        if !self.operations.iter().any(|op| op.is_text()) {
            return vec![(0, 0)];
        }
        let fitting = bits.div_ceil(8) - 1;
        if let Some(portions) = self.portions {
            let message = self.message.unwrap_or(Message::ByteShorter);
            let symbols = message.bits(bits).div_ceil(8);
            return vec![(symbols, symbols.div_ceil(portions))];
        }
        let block = self.block_symbols.unwrap_or(fitting);
        let of_messages = self.messages.iter().map(|messages| messages * block);
        let symbols = self.symbols.iter().copied().chain(of_messages);
        symbols.map(|symbols| (symbols, block)).collect()
    }
}

impl Threads {
    /// The counts on a machine with that many logical CPUs, rising unless listed otherwise.
    pub fn counts(&self, logical_cpus: usize) -> Vec<usize> {
        match self {
            Threads::Each => (1..=logical_cpus.max(1)).collect(),
            Threads::Doubling => {
                let mut counts: Vec<usize> = std::iter::successors(Some(1_usize), |n| n.checked_mul(2))
                    .take_while(|n| *n < logical_cpus)
                    .collect();
                counts.push(logical_cpus.max(1));
                counts
            }
            Threads::These(counts) => counts.clone(),
        }
    }
}
