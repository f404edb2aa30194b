//! The limits of a plan, with a plain sentence for everything else.

use std::{fmt::Display, ops::RangeInclusive};

use rsalab_engines::{Exponent, Mode, Op, job::MAX_BATCH_BYTES, registry::closest};
use rsalab_rsa::keys::most_primes;

use super::{
    BATCH, BITS, Engines, Grid, Host, KEYS, MAX_CELLS, MAX_CIPHERTEXT_BYTES, MAX_MESSAGES, MAX_PORTIONS, MAX_TEXT,
    MESSAGE_BYTES, PRIMES, Plan, PlanError, SYMBOLS, THREADS, Threads, groups::split,
};

/// The lowest priority that a process can have.
const MOST_NICE: u8 = 19;

/// A refusal, with the number of the grid it concerns so that the reader of a file can name the line.
pub(super) struct Refusal {
    pub(super) grid: Option<usize>,
    pub(super) error: PlanError,
}

impl Plan {
    /// Checks that this machine can be asked to do the plan; errors name the key and say what would do.
    pub fn check(&self, host: &Host) -> Result<(), PlanError> {
        self.check_each(host).map_err(Refusal::into_error)
    }

    pub(super) fn check_each(&self, host: &Host) -> Result<(), Refusal> {
        PlanError::unless(
            !self.grids.is_empty(),
            "grid",
            "the plan has no [[grid]], so there is nothing to measure",
        )?;
        PlanError::unless(
            self.nice <= MOST_NICE,
            "nice",
            format!(
                "{} is not a priority: use 0 (as others) to {MOST_NICE} (after all others)",
                self.nice
            ),
        )?;
        self.measure.check()?;
        for (index, grid) in self.grids.iter().enumerate() {
            let measure = self.measure.changed(&grid.measure);
            let checked = measure.check().and_then(|()| grid.check(host));
            checked.map_err(|error| Refusal {
                grid: Some(index),
                error,
            })?;
        }
        // It takes sizes that are sound.
        self.check_own_text()?;
        let cells = self
            .grids
            .iter()
            .map(|grid| grid.cell_count(host))
            .fold(0, usize::saturating_add);
        match cells > MAX_CELLS {
            true => Err(PlanError::new(format!(
                "the plan has {cells} cells, and more than {MAX_CELLS} are not accepted: shorten its lists"
            ))
            .into()),
            false => Ok(()),
        }
    }
}

impl Plan {
    fn check_own_text(&self) -> Result<(), PlanError> {
        let Some(text) = &self.text else {
            return Ok(());
        };
        let has_texts = self.grids.iter().any(|grid| !grid.has_only(|op| !op.is_text()));
        PlanError::unless(
            has_texts,
            "text",
            "no cell takes a text: only text_encrypt and text_decrypt do",
        )?;
        PlanError::unless(
            (1..=MAX_TEXT).contains(&text.len()),
            "text",
            format!("a text of {} bytes is not accepted: use 1 to {MAX_TEXT}", text.len()),
        )?;
        let mut sizes = self.grids.iter().flat_map(|grid| {
            let texts = grid.bits.iter().flat_map(|bits| grid.texts(*bits));
            texts.map(|(symbols, _)| symbols)
        });
        let longer = sizes.find(|symbols| *symbols > text.len());
        longer.map_or(Ok(()), |symbols| {
            let message = format!(
                "the text has {} bytes, and a cell takes {symbols} of it: use a longer text, or shorter cells",
                text.len()
            );
            Err(PlanError::at("text", message))
        })
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        Refusal { grid: None, error }
    }
}

impl Refusal {
    /// The error, saying in words which grid is meant: for plans that did not come from a file.
    fn into_error(self) -> PlanError {
        let place = self.grid.map(|index| format!("grid {}, ", index + 1));
        let place = place.unwrap_or_default();
        PlanError {
            key: self.error.key.map(|key| place + &key),
            ..self.error
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
            selectors.iter().try_for_each(|selector| known_engine(selector, host))?;
        }
        PlanError::unless(
            self.exponent.is_possible(),
            "exponent",
            format!(
                "{} is not a public exponent: use an odd number from 3 on, such as 65537, or \"random\"",
                self.exponent
            ),
        )?;
        self.check_primes()?;
        self.check_keys()?;
        self.check_message_bytes()?;
        self.check_message()?;
        self.check_text()?;
        self.check_mode(host)
    }

    fn check_primes(&self) -> Result<(), PlanError> {
        listed("primes", &self.primes)?;
        if self.primes == [2] {
            return Ok(());
        }
        let least = self.least_bits();
        within("primes", &self.primes, PRIMES, "primes")?;
        PlanError::unless(
            self.has_only(Op::uses_primes),
            "primes",
            "only operations with the private key use its primes (private, sign, text_decrypt): give the others a \
             [[grid]] of their own",
        )?;
        let most = most_primes(least);
        PlanError::unless(
            self.primes.iter().all(|primes| *primes <= most),
            "primes",
            format!("keys of {least} bits have {most} primes at most: more are so short that they can be found"),
        )?;
        PlanError::unless(
            self.exponent != Exponent::Random,
            "primes",
            "random exponents come with keys of two primes: leave one of the keys out",
        )
    }

    fn check_keys(&self) -> Result<(), PlanError> {
        listed("keys", &self.keys)?;
        if self.keys == [1] {
            return Ok(());
        }
        within("keys", &self.keys, KEYS, "keys of a batch")?;
        PlanError::unless(
            self.has_only(Op::takes_several_keys),
            "keys",
            "only private and sign take items under several keys: give the others a [[grid]] of their own",
        )?;
        for batch in &self.batch {
            let other = self.keys.iter().find(|keys| !batch.is_multiple_of(**keys));
            if let Some(keys) = other {
                let message = format!("{keys} keys do not divide a batch of {batch}: each is to have as many items");
                return Err(PlanError::at("keys", message));
            }
        }
        PlanError::unless(
            self.primes == [2] && self.exponent != Exponent::Random,
            "keys",
            "several keys have two primes and one public exponent: give the others a [[grid]] of their own",
        )
    }

    fn check_message_bytes(&self) -> Result<(), PlanError> {
        const KEY: &str = "message_bytes";
        if self.has_only(|op| op != Op::SignMessage) {
            return PlanError::unless(
                self.message_bytes.is_empty(),
                KEY,
                "only sign_message takes messages by their bytes",
            );
        }
        PlanError::unless(
            self.has_only(|op| op == Op::SignMessage),
            "operations",
            "sign_message and others take different data: give each a [[grid]] of its own",
        )?;
        listed(KEY, &self.message_bytes)?;
        within(KEY, &self.message_bytes, MESSAGE_BYTES, "bytes of a message")?;
        let most = |sizes: &[usize]| sizes.iter().max().copied().unwrap_or(0);
        let (message, batch) = (most(&self.message_bytes), most(&self.batch));
        PlanError::unless(
            message.saturating_mul(batch) <= MAX_BATCH_BYTES,
            KEY,
            format!(
                "a batch of {batch} messages of {message} bytes is longer than {MAX_BATCH_BYTES} bytes: use smaller \
                 batches, or shorter messages"
            ),
        )
    }

    fn check_message(&self) -> Result<(), PlanError> {
        let Some(message) = self.message else {
            return Ok(());
        };
        PlanError::unless(
            self.has_only(|op| matches!(op, Op::Private | Op::Public)) || self.portions.is_some(),
            "message",
            "only private and public take raw messages: give the others a [[grid]] of their own",
        )?;
        let least = self.least_bits();
        let most = least.saturating_sub(1);
        let bits = message.bits(least);
        PlanError::unless(
            (1..=most).contains(&bits),
            "message",
            format!("messages of {bits} bits do not fit the smallest modulus: use 1 to {most}"),
        )
    }

    fn check_text(&self) -> Result<(), PlanError> {
        if self.has_only(|op| !op.is_text()) {
            const NO_TEXT: &str = "only text_encrypt and text_decrypt take a text";
            PlanError::unless(self.symbols.is_empty(), "symbols", NO_TEXT)?;
            PlanError::unless(self.messages.is_empty(), "messages", NO_TEXT)?;
            PlanError::unless(self.portions.is_none(), "portions", NO_TEXT)?;
            return PlanError::unless(self.block_symbols.is_none(), "block_symbols", NO_TEXT);
        }
        PlanError::unless(
            self.has_only(Op::is_text),
            "operations",
            "text operations and others take different data: give each a [[grid]] of its own",
        )?;
        let sizes = [
            !self.symbols.is_empty(),
            !self.messages.is_empty(),
            self.portions.is_some(),
        ];
        PlanError::unless(
            sizes.iter().filter(|&&is_given| is_given).count() <= 1,
            "symbols",
            "a text is so many symbols, so many messages, or one message in portions: use one of the three",
        )?;
        match (&self.portions, self.messages.is_empty()) {
            (Some(portions), _) => {
                within("portions", &[*portions], 1..=MAX_PORTIONS, "portions")?;
                PlanError::unless(
                    self.block_symbols.is_none(),
                    "block_symbols",
                    "portions are equal blocks: leave the key out",
                )?;
            }
            (None, false) => {
                listed("messages", &self.messages)?;
                within("messages", &self.messages, 1..=MAX_MESSAGES, "messages")?;
            }
            (None, true) => {
                listed("symbols", &self.symbols)?;
                within("symbols", &self.symbols, SYMBOLS, "symbols of text")?;
            }
        }
        PlanError::unless(
            self.batch == [1],
            "batch",
            "a text is split into blocks, so it takes no batch: leave the key out",
        )?;
        let most = self.least_bits().div_ceil(8).saturating_sub(1);
        let block_symbols = self.block_symbols.unwrap_or(most);
        PlanError::unless(
            (1..=most).contains(&block_symbols),
            "block_symbols",
            format!("{block_symbols} symbols do not fit a block of the smallest modulus: use 1 to {most}"),
        )?;
        self.check_ciphertext()
    }

    /// A text in small blocks grows by as much as they are smaller than the modulus.
    fn check_ciphertext(&self) -> Result<(), PlanError> {
        let bits = self.bits.iter().max().copied().unwrap_or(0);
        let largest = self.texts(bits).into_iter().max();
        let Some((symbols, block_symbols)) = largest else {
            return Ok(());
        };
        if self.symbols.is_empty() {
            within("messages", &[symbols], SYMBOLS, "symbols of text in all")?;
        }
        let bytes = symbols.div_ceil(block_symbols).saturating_mul(bits.div_ceil(8));
        PlanError::unless(
            bytes <= MAX_CIPHERTEXT_BYTES,
            "block_symbols",
            format!(
                "{symbols} symbols in blocks of {block_symbols} become {bytes} bytes of ciphertext, and more than \
                 {MAX_CIPHERTEXT_BYTES} are not accepted: use larger blocks, or a shorter text"
            ),
        )
    }

    fn check_mode(&self, host: &Host) -> Result<(), PlanError> {
        let has_no_text = self.has_only(|op| !op.is_text());
        let is_one_thread = self.threads.counts(host.logical_cpus) == [1];
        PlanError::unless(
            self.mode != Some(Mode::Latency) || (is_one_thread && has_no_text),
            "mode",
            "latency is the time of one call on one thread: use threads = [1], or mode = \"throughput\"",
        )?;
        PlanError::unless(
            self.mode != Some(Mode::Concurrent) || (self.batch == [1] && has_no_text),
            "mode",
            "calls are timed one by one for single items only: use batch = [1] and no text, or mode = \"throughput\"",
        )
    }

    fn has_only(&self, is_meant: impl Fn(Op) -> bool) -> bool {
        self.operations.iter().all(|op| is_meant(*op))
    }

    fn least_bits(&self) -> usize {
        self.bits.iter().min().copied().unwrap_or(0)
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
            self.primes.len(),
            self.keys.len(),
            self.message_bytes.len().max(1),
            self.symbols.len().max(self.messages.len()).max(1),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }
}

fn known_engine(selector: &str, host: &Host) -> Result<(), PlanError> {
    let (name, variant) = split(selector);
    PlanError::unless(
        variant != Some(""),
        "engines",
        format!("'{selector}' names no form of its engine; did you mean '{name}'?"),
    )?;
    if host.known.iter().any(|known| known == name) {
        return Ok(());
    }
    let hint = match closest(name, host.known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("the engines are {}", host.known.join(", ")),
    };
    let message = format!("there is no engine '{name}'; {hint}");
    Err(PlanError::at("engines", message))
}

fn listed<T: PartialEq + Display>(key: &str, values: &[T]) -> Result<(), PlanError> {
    PlanError::unless(
        !values.is_empty(),
        key,
        "the list is empty or missing: name at least one",
    )?;
    for (index, value) in values.iter().enumerate() {
        let is_new = !values[..index].contains(value);
        PlanError::unless(is_new, key, format!("{value} is listed twice"))?;
    }
    Ok(())
}

fn within(key: &str, values: &[usize], range: RangeInclusive<usize>, what: &str) -> Result<(), PlanError> {
    let (least, most) = (range.start(), range.end());
    values.iter().try_for_each(|value| {
        let message = format!("{value} is not accepted: use {least} to {most} {what}");
        PlanError::unless(range.contains(value), key, message)
    })
}
