//! The parts that kernels have in common: items, keys, numbers in memory, tables.

use super::{
    emitter::{Address, Emitter, Operand, THREADS, Word, emit},
    montgomery,
    numbers::{Array, Modulus, Read, Source},
};

/// Words of a number, and of an entry of a table, that are read at once.
pub(super) const QUAD: usize = 4;

/// The registers that a thread gets, of which a multiprocessor has 65,536: as few as do without memory for registers
/// where that was found, so that many threads compute while others wait.
fn registers(limbs: usize, kernel: &str) -> usize {
    /// Kernels in which the time goes.
    const LONG: [&str; 4] = ["power_digits", "public_bits_vartime", "two_bits", "base_digits"];
    match (limbs, LONG.contains(&kernel)) {
        (16, true) => 96,
        (16, false) => 168,
        (32, true) => 168,
        (48, true) => 200,
        (_, _) => 255,
    }
}

/// A kernel that is being written, for numbers of so many limbs.
pub(super) struct Frame {
    pub(super) e: Emitter,
    pub(super) limbs: usize,
}

impl Frame {
    pub(super) fn new(
        limbs: usize,
        name: &'static str,
        buffers: &'static [&'static str],
        words: &'static [&'static str],
    ) -> Self {
        Frame {
            e: Emitter::new(name, buffers, words),
            limbs,
        }
    }

    pub(super) fn finish(self) -> String {
        self.finish_with(None)
    }

    /// The kernel's text, with so many registers for a thread, or what is usual for it.
    pub(super) fn finish_with(mut self, asked: Option<usize>) -> String {
        self.e.wipe();
        let registers = asked.unwrap_or_else(|| registers(self.limbs, self.e.name()));
        self.e.finish(registers)
    }

    /// Does `body` for each of `count` items, which all threads share.
    pub(super) fn for_each(&mut self, count: Word, body: impl FnOnce(&mut Self, Word)) {
        let (item, step) = self.e.place();
        let limbs = self.limbs;
        self.e.while_below(item, count, step, |e| {
            nested(e, limbs, |frame| body(frame, item));
        });
    }

    /// [`while_below`](Self::while_below) for bodies that want all registers: the counter, which begins at `first`, and
    /// what else the loop needs wait in the thread's own memory, in [`COUNTS`](Self::COUNTS) words from `place` on.
    pub(super) fn while_below_put_away(
        &mut self,
        [first, end, step]: [Operand; 3],
        own: Word,
        place: usize,
        body: impl FnOnce(&mut Self, Word),
    ) {
        let counts = [first, end, step].map(|count| self.e.set(count));
        for (word, count) in counts.into_iter().enumerate() {
            self.e.store_own(own, place + word, count);
        }
        let ([counter, end, step], limbs) = (counts, self.limbs);
        self.e.while_below(counter, end, step, |e| {
            nested(e, limbs, |frame| body(frame, counter));
            for (word, count) in counts.into_iter().enumerate() {
                let value = e.load_own(own, place + word);
                e.copy(count, value);
            }
            let next = e.of2("add.u32", counter, step);
            e.store_own(own, place, next);
        });
    }

    /// Words that [`while_below_put_away`](Self::while_below_put_away) needs.
    pub(super) const COUNTS: usize = 3;

    /// [`Emitter::while_below`] for bodies that want the frame.
    pub(super) fn while_below(&mut self, counter: Word, end: Word, body: impl FnOnce(&mut Self)) {
        let limbs = self.limbs;
        self.e.while_below(counter, end, 1, |e| nested(e, limbs, body));
    }

    /// [`Emitter::when`] for bodies that want the frame.
    pub(super) fn when(&mut self, a: Word, comparison: &str, b: Word, body: impl FnOnce(&mut Self)) {
        let limbs = self.limbs;
        self.e.when(a, comparison, b, |e| nested(e, limbs, body));
    }

    /// An array of numbers, `stride` items apart, of which this thread has one.
    pub(super) fn array(&mut self, buffer: &'static str, item: Word, stride: Word) -> Array {
        let start = self.e.buffer(buffer);
        Array {
            base: self.e.at(start, item, 4),
            step: self.e.distance(stride),
        }
    }

    /// Where a number begins, to walk along its limbs.
    pub(super) fn walk(&mut self, array: Array) -> Address {
        let from = self.e.address();
        emit!(self.e, "mov.b64", from, array.base);
        from
    }

    pub(super) fn load(&mut self, array: Array) -> Vec<Word> {
        array.load(&mut self.e, self.limbs)
    }

    /// Limbs of a number from `first` on; those from `end` on are zero.
    pub(super) fn load_below(&mut self, array: Array, first: usize, end: Word) -> Vec<Word> {
        let from = self.walk(array);
        let skipped = self.e.address();
        emit!(self.e, "mul.lo.s64", skipped, array.step, first);
        self.e.advance(from, skipped);
        let number = self.e.number(self.limbs);
        for (place, &limb) in number.iter().enumerate() {
            self.e.copy(limb, 0);
            let least = (first + place) as u32 + 1;
            self.e.when(end, "ge", least, |e| e.load_word(limb, from, 0));
            self.e.advance(from, array.step);
        }
        number
    }

    pub(super) fn store(&mut self, array: Array, number: &[Word]) {
        let to = self.e.address();
        emit!(self.e, "mov.b64", to, array.base);
        for (place, &limb) in number.iter().enumerate() {
            if place > 0 {
                self.e.advance(to, array.step);
            }
            self.e.store_word(to, 0, limb);
        }
    }

    /// One limb of a number.
    pub(super) fn limb(&mut self, array: Array, place: Word) -> Word {
        let e = &mut self.e;
        let (from, narrow, limb) = (e.address(), e.word(), e.word());
        emit!(e, "cvt.u32.u64", narrow, array.step);
        emit!(e, "mad.wide.u32", from, narrow, place, array.base);
        e.load_word(limb, from, 0);
        limb
    }

    /// The record of an item's key.
    pub(super) fn key(&mut self, item: Word) -> Address {
        let which = self.e.buffer("which");
        let key_words = self.e.parameter("key_words");
        let from = self.e.at(which, item, 4);
        let which = self.e.word();
        self.e.load_word(which, from, 0);
        let words = self.e.of2("mul.lo.u32", which, key_words);
        let keys = self.e.buffer("keys");
        self.e.at(keys, words, 4)
    }

    /// A word of a record.
    pub(super) fn word_at(&mut self, record: Address, place: usize) -> Word {
        let word = self.e.word();
        self.e.load_word(word, record, 4 * place);
        word
    }

    /// The number at a place of a record.
    pub(super) fn number_at(&mut self, record: Address, place: usize) -> Vec<Word> {
        (0..self.limbs).map(|limb| self.word_at(record, place + limb)).collect()
    }

    /// A number that was put away.
    pub(super) fn take_back(&mut self, own: Word) -> Vec<Word> {
        (0..self.limbs).map(|place| self.e.load_own(own, place)).collect()
    }

    /// The modulus that a record begins with.
    pub(super) fn modulus(&mut self, record: Address) -> Modulus {
        let n0 = self.word_at(record, 4 * self.limbs);
        Modulus::new(&mut self.e, Source::Record(record), n0, self.limbs)
    }

    /// The record of an item's modulus, at `offset` of its key.
    pub(super) fn modulus_of(&mut self, item: Word) -> (Address, Modulus) {
        let key = self.key(item);
        let offset = self.e.parameter("offset");
        let record = self.e.at(key, offset, 4);
        let modulus = self.modulus(record);
        (record, modulus)
    }

    /// The modulus that an item has of its own.
    pub(super) fn own_modulus(&mut self, array: Array) -> Modulus {
        let lowest = self.e.word();
        self.e.load_word(lowest, array.base, 0);
        let n0 = montgomery::negative_inverse(&mut self.e, lowest);
        Modulus::new(&mut self.e, Source::Array(array), n0, self.limbs)
    }

    /// R mod n, R² mod n or R³ mod n, as they stand in a record.
    pub(super) fn power_of_r(&self, record: Address, exponent: usize) -> Read {
        let place = exponent * self.limbs;
        Read::Record { record, place }
    }

    /// The limbs of a number in an array, by way of the thread's own memory: the assembler would work out all of their
    /// addresses beforehand, and keep them in registers.
    pub(super) fn digits(&mut self, array: Array) -> Read {
        let own = self.e.own_memory(self.limbs);
        let from = self.walk(array);
        for place in 0..self.limbs {
            let limb = self.e.word();
            self.e.load_word(limb, from, 0);
            self.e.advance(from, array.step);
            self.e.store_own(own, place, limb);
        }
        Read::Own { own, place: 0 }
    }

    /// A number put into the thread's own memory, in place of what is there.
    pub(super) fn put_away(&mut self, number: &[Word]) -> Word {
        let own = self.e.own_memory(number.len());
        for (place, &limb) in number.iter().enumerate() {
            self.e.store_own(own, place, limb);
        }
        own
    }

    /// All ones if two numbers are the same.
    pub(super) fn mask_if_same(&mut self, a: &[Word], b: &[Word]) -> Word {
        let mut difference = self.e.set(0);
        for (&a, &b) in a.iter().zip(b) {
            let next = self.e.word();
            self.e.or_difference(next, difference, a, b);
            difference = next;
        }
        self.e.mask_if_zero(difference)
    }

    /// A table's entries of this lane: quad k of entry e at `[(e L / 4 + k) lanes + lane]`, so that neighbours read
    /// neighbouring quads.
    pub(super) fn table(&mut self, lane: Word, lanes: Word) -> Array {
        let start = self.e.buffer("table");
        let step = self.e.address();
        emit!(self.e, "mul.wide.u32", step, lanes, (4 * QUAD) as u32);
        Array {
            base: self.e.at(start, lane, (4 * QUAD) as u32),
            step,
        }
    }

    /// Writes 1, x, x², … in Montgomery form, 2^window of them.
    pub(super) fn fill_table(&mut self, table: Array, one: &[Word], x: &[Word], n: &Modulus, window: usize) {
        let power = self.e.number(self.limbs);
        let to = self.walk(table);
        self.store_entry(to, table.step, one);
        self.e.copy_number(&power, x);
        self.store_entry(to, table.step, &power);
        let own = self.put_away(x);
        let (entry, end) = (self.e.set(2), self.e.set(1u32 << window));
        self.while_below(entry, end, |frame| {
            let x = &mut Read::Own { own, place: 0 };
            montgomery::multiply(&mut frame.e, &power, &power, x, n);
            frame.store_entry(to, table.step, &power);
        });
    }

    fn store_entry(&mut self, to: Address, step: Address, number: &[Word]) {
        for quad in number.chunks_exact(QUAD) {
            self.e.store_quad(to, quad);
            self.e.advance(to, step);
        }
    }

    /// One entry of a table, chosen by reading all of them, into memory of the thread's own. The entries are read a
    /// quad of each at a time, so that few registers are taken.
    pub(super) fn look_up(&mut self, table: Array, digit: Word, window: usize) -> Word {
        let own = self.e.own_memory(self.limbs);
        let masks: Vec<Word> = (0..1u32 << window)
            .map(|entry| {
                let other = self.e.of2("xor.b32", digit, entry);
                self.e.mask_if_zero_small(other)
            })
            .collect();
        let to_next = self.e.address();
        emit!(self.e, "mul.lo.s64", to_next, table.step, self.limbs / QUAD);
        let start = self.walk(table);
        let to = self.e.set(own);
        let (quad, quads) = (self.e.set(0), self.e.set((self.limbs / QUAD) as u32));
        self.while_below(quad, quads, |frame| {
            let e = &mut frame.e;
            let from = e.address();
            emit!(e, "mov.b64", from, start);
            let found = [(); QUAD].map(|()| e.set(0));
            for &mask in &masks {
                let limbs = e.number(QUAD);
                e.load_quad(&limbs, from);
                e.advance(from, to_next);
                for (found, limb) in found.into_iter().zip(limbs) {
                    e.or_masked(found, found, limb, mask);
                }
            }
            for (place, found) in found.into_iter().enumerate() {
                e.store_own(to, place, found);
            }
            e.advance(start, table.step);
            emit!(e, "add.u32", to, to, 4 * QUAD * THREADS);
        });
        own
    }

    /// The second entry of a table, which is x itself.
    pub(super) fn base_of(&mut self, table: Array) -> Vec<Word> {
        let x = self.e.number(self.limbs);
        let from = self.walk(table);
        for _ in 0..self.limbs / QUAD {
            self.e.advance(from, table.step);
        }
        for quad in x.chunks_exact(QUAD) {
            self.e.load_quad(quad, from);
            self.e.advance(from, table.step);
        }
        x
    }
}

/// Lends an emitter to a frame for a while.
fn nested(e: &mut Emitter, limbs: usize, body: impl FnOnce(&mut Frame)) {
    let lent = std::mem::replace(e, Emitter::new("", &[], &[]));
    let mut frame = Frame { e: lent, limbs };
    body(&mut frame);
    *e = frame.e;
}
