//! What a plan may ask for, with a plain sentence for everything else.

use std::{fmt::Display, ops::RangeInclusive};

use rsalab_engines::{Mode, Op, registry::closest};

use super::{
    BATCH, BITS, Engines, Grid, Host, MAX_CELLS, MAX_CIPHERTEXT_BYTES, Plan, PlanError, SYMBOLS,
    THREADS, Threads,
};

/// The lowest priority that a process can have.
const MOST_NICE: u8 = 19;

/// A refusal, with the number of the grid it concerns so that the reader of a file can name the line.
pub(super) struct Refusal {
    pub(super) grid: Option<usize>,
    pub(super) error: PlanError,
}

impl Plan {
    /// Whether this machine can be asked to do the plan; errors name the key and say what would do.
    pub fn check(&self, host: &Host) -> Result<(), PlanError> {
        self.refusal(host)
            .map_or(Ok(()), |refusal| Err(refusal.into_error()))
    }

    pub(super) fn refusal(&self, host: &Host) -> Option<Refusal> {
        let whole = |error| Refusal { grid: None, error };
        if self.grids.is_empty() {
            return Some(whole(PlanError::at(
                "grid",
                "the plan has no [[grid]], so there is nothing to measure",
            )));
        }
        if self.nice > MOST_NICE {
            return Some(whole(PlanError::at(
                "nice",
                format!(
                    "{} is not a priority: use 0 (as others) to {MOST_NICE} (after all others)",
                    self.nice
                ),
            )));
        }
        if let Err(error) = self.measure.check() {
            return Some(whole(error));
        }
        for (index, grid) in self.grids.iter().enumerate() {
            let checked = self
                .measure
                .changed(&grid.measure)
                .check()
                .and_then(|()| grid.check(host));
            if let Err(error) = checked {
                return Some(Refusal {
                    grid: Some(index),
                    error,
                });
            }
        }
        let cells = self
            .grids
            .iter()
            .map(|grid| grid.cell_count(host))
            .fold(0, usize::saturating_add);
        if cells > MAX_CELLS {
            return Some(whole(PlanError::new(format!(
                "the plan has {cells} cells, and more than {MAX_CELLS} are not accepted: shorten its lists"
            ))));
        }
        None
    }
}

impl Refusal {
    /// The error, saying in words which grid is meant: for plans that did not come from a file.
    pub(super) fn into_error(self) -> PlanError {
        match self.grid {
            Some(index) => PlanError {
                key: self
                    .error
                    .key
                    .map(|key| format!("grid {}, {key}", index + 1)),
                ..self.error
            },
            None => self.error,
        }
    }
}

impl Grid {
    fn check(&self, host: &Host) -> Result<(), PlanError> {
        listed("operations", &self.operations)?;
        listed("bits", &self.bits)?;
        within("bits", &self.bits, BITS, "bits of the modulus")?;
        if let Some(odd) = self.bits.iter().find(|bits| !bits.is_multiple_of(2)) {
            let message = format!("{odd} is not accepted: keys have an even number of bits");
            return Err(PlanError::at("bits", message));
        }
        if let Threads::These(counts) = &self.threads {
            listed("threads", counts)?;
            within("threads", counts, THREADS, "threads")?;
        }
        listed("batch", &self.batch)?;
        within("batch", &self.batch, BATCH, "items in a batch")?;
        if let Engines::Named(selectors) = &self.engines {
            listed("engines", selectors)?;
            selectors
                .iter()
                .try_for_each(|selector| known_engine(selector, host))?;
        }
        if !self.exponent.is_possible() {
            return Err(PlanError::at(
                "exponent",
                format!(
                    "{} is not a public exponent: use an odd number from 3 on, such as 65537, or \"random\"",
                    self.exponent
                ),
            ));
        }
        self.check_message()?;
        self.check_text()?;
        self.check_mode(host)
    }

    fn check_message(&self) -> Result<(), PlanError> {
        let Some(message) = self.message else {
            return Ok(());
        };
        let is_block = |op: &Op| matches!(op, Op::Private | Op::Public);
        if !self.operations.iter().all(is_block) {
            return Err(PlanError::at(
                "message",
                "only private and public take raw messages: give the others a [[grid]] of their own",
            ));
        }
        let least = self.bits.iter().min().copied().unwrap_or(0);
        let most = least.saturating_sub(1);
        let bits = message.bits(least);
        if !(1..=most).contains(&bits) {
            return Err(PlanError::at(
                "message",
                format!("messages of {bits} bits do not fit the smallest modulus: use 1 to {most}"),
            ));
        }
        Ok(())
    }

    fn check_text(&self) -> Result<(), PlanError> {
        let texts = self.operations.iter().filter(|op| op.is_text()).count();
        if texts == 0 {
            return match (self.symbols.is_empty(), self.block_symbols) {
                (true, None) => Ok(()),
                (false, _) => Err(PlanError::at(
                    "symbols",
                    "only text_encrypt and text_decrypt take a text",
                )),
                (_, Some(_)) => Err(PlanError::at(
                    "block_symbols",
                    "only text_encrypt and text_decrypt take a text",
                )),
            };
        }
        if texts < self.operations.len() {
            return Err(PlanError::at(
                "operations",
                "text operations and others take different data: give each a [[grid]] of its own",
            ));
        }
        listed("symbols", &self.symbols)?;
        within("symbols", &self.symbols, SYMBOLS, "symbols of text")?;
        if self.batch != [1] {
            return Err(PlanError::at(
                "batch",
                "a text is split into blocks, so it takes no batch: leave the key out",
            ));
        }
        let least = self.bits.iter().min().copied().unwrap_or(0);
        let most = least.div_ceil(8).saturating_sub(1);
        let block_symbols = self.block_symbols.unwrap_or(most);
        if !(1..=most).contains(&block_symbols) {
            return Err(PlanError::at(
                "block_symbols",
                format!(
                    "{block_symbols} symbols do not fit a block of the smallest modulus: use 1 to {most}"
                ),
            ));
        }
        self.check_ciphertext()
    }

    /// A text in small blocks grows by as much as they are smaller than the modulus.
    fn check_ciphertext(&self) -> Result<(), PlanError> {
        let (Some(symbols), Some(block_symbols)) = (self.symbols.iter().max(), self.block_symbols)
        else {
            return Ok(());
        };
        let modulus_len = self.bits.iter().max().map_or(0, |bits| bits.div_ceil(8));
        let bytes = symbols.div_ceil(block_symbols).saturating_mul(modulus_len);
        if bytes <= MAX_CIPHERTEXT_BYTES {
            return Ok(());
        }
        Err(PlanError::at(
            "block_symbols",
            format!(
                "{symbols} symbols in blocks of {block_symbols} become {bytes} bytes of ciphertext, and more than \
                 {MAX_CIPHERTEXT_BYTES} are not accepted: use larger blocks, or a shorter text"
            ),
        ))
    }

    fn check_mode(&self, host: &Host) -> Result<(), PlanError> {
        let alone = self.threads.counts(host.logical_cpus) == [1]
            && self.operations.iter().all(|op| !op.is_text());
        if self.mode == Some(Mode::Latency) && !alone {
            return Err(PlanError::at(
                "mode",
                "latency is the time of one call on one thread: use threads = [1], or mode = \"throughput\"",
            ));
        }
        let is_single = self.batch == [1] && self.operations.iter().all(|op| !op.is_text());
        if self.mode == Some(Mode::Concurrent) && !is_single {
            return Err(PlanError::at(
                "mode",
                "calls are timed one by one for single items only: use batch = [1] and no text, or mode = \"throughput\"",
            ));
        }
        Ok(())
    }

    fn cell_count(&self, host: &Host) -> usize {
        let engines = match &self.engines {
            Engines::Present => host.present.len(),
            Engines::Named(selectors) => selectors.len(),
        };
        [
            self.operations.len(),
            engines,
            self.bits.len(),
            self.threads.counts(host.logical_cpus).len(),
            self.batch.len(),
            self.symbols.len().max(1),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }
}

fn known_engine(selector: &str, host: &Host) -> Result<(), PlanError> {
    let (name, variant) = selector
        .split_once(':')
        .map_or((selector, None), |(name, variant)| (name, Some(variant)));
    if variant == Some("") {
        return Err(PlanError::at(
            "engines",
            format!("'{selector}' names no form of its engine; did you mean '{name}'?"),
        ));
    }
    if host.known.iter().any(|known| known == name) {
        return Ok(());
    }
    let hint = match closest(name, host.known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("the engines are {}", host.known.join(", ")),
    };
    Err(PlanError::at(
        "engines",
        format!("there is no engine '{name}'; {hint}"),
    ))
}

fn listed<T: PartialEq + Display>(key: &str, values: &[T]) -> Result<(), PlanError> {
    if values.is_empty() {
        return Err(PlanError::at(
            key,
            "the list is empty or missing: name at least one",
        ));
    }
    for (index, value) in values.iter().enumerate() {
        if values[..index].contains(value) {
            return Err(PlanError::at(key, format!("{value} is listed twice")));
        }
    }
    Ok(())
}

fn within(
    key: &str,
    values: &[usize],
    range: RangeInclusive<usize>,
    what: &str,
) -> Result<(), PlanError> {
    values
        .iter()
        .find(|value| !range.contains(value))
        .map_or(Ok(()), |value| {
            Err(PlanError::at(
                key,
                format!(
                    "{value} is not accepted: use {} to {} {what}",
                    range.start(),
                    range.end()
                ),
            ))
        })
}
