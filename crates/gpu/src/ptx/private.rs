//! Private powers, and the recombination of their halves. Arguments and effects are those of the kernels in `rsa.cl`.

use super::{
    emitter::{Address, Word, ZERO, emit},
    frame::Frame,
    montgomery,
    numbers::{Array, Read},
};

const KEYED: [&str; 2] = ["keys", "which"];

/// One part of an item's power: its lane, the lanes there are, and the record of the part.
pub(super) struct Part {
    item: Word,
    pub(super) lane: Word,
    pub(super) lanes: Word,
    pub(super) record: Address,
}

impl Frame {
    /// Does `body` for each part of each item.
    fn for_each_part(&mut self, body: impl FnOnce(&mut Self, Part)) {
        let total = self.count_of_parts();
        self.for_each(total, |frame, index| {
            let part = frame.part(index);
            body(frame, part);
        });
    }

    pub(super) fn count_of_parts(&mut self) -> Word {
        let [parts, count] = ["parts", "count"].map(|name| self.e.parameter(name));
        self.e.of2("mul.lo.u32", parts, count)
    }

    /// The part that is the `index`-th of all.
    pub(super) fn part(&mut self, index: Word) -> Part {
        let [count, stride, parts, offset, part_words] =
            ["count", "stride", "parts", "offset", "part_words"].map(|name| self.e.parameter(name));
        let part = self.e.of2("div.u32", index, count);
        let before = self.e.of2("mul.lo.u32", part, count);
        let item = self.e.of2("sub.u32", index, before);
        let (lane, place) = (self.e.word(), self.e.word());
        emit!(self.e, "mad.lo.u32", lane, part, stride, item);
        emit!(self.e, "mad.lo.u32", place, part, part_words, offset);
        let key = self.key(item);
        Part {
            item,
            lane,
            lanes: self.e.of2("mul.lo.u32", parts, stride),
            record: self.e.at(key, place, 4),
        }
    }
}

/// Values of up to twice a modulus's limbs to Montgomery form: `low R + high R²`. Fills the tables; the states
/// become 1.
pub(super) fn power_enter(limbs: usize, window: usize) -> String {
    let words = &[
        "key_words",
        "offset",
        "part_words",
        "parts",
        "limbs",
        "value_limbs",
        "window",
        "count",
        "stride",
    ];
    let buffers = &["values", "states", "table", KEYED[0], KEYED[1]];
    let mut frame = Frame::new(limbs, "power_enter", buffers, words);
    let [value_limbs, stride] = ["value_limbs", "stride"].map(|name| frame.e.parameter(name));
    frame.for_each_part(|frame, part| {
        let values = frame.array("values", part.item, stride);
        let n = &frame.modulus(part.record);
        let x = frame.load_below(values, 0, value_limbs);
        let mut factor = frame.power_of_r(part.record, 2);
        // The value's low half is not below n; the factor is, which is enough.
        montgomery::multiply(&mut frame.e, &x, &x, &mut factor, n);
        // Where the state will be, one half waits for the other.
        let states = frame.array("states", part.lane, part.lanes);
        frame.store(states, &x);
        let z = frame.load_below(values, limbs, value_limbs);
        let mut factor = frame.power_of_r(part.record, 3);
        montgomery::multiply(&mut frame.e, &z, &z, &mut factor, n);
        let x = frame.load(states);
        montgomery::add(&mut frame.e, &x, &x, &z, n);
        let one = frame.number_at(part.record, limbs);
        frame.store(states, &one);
        let table = frame.table(part.lane, part.lanes);
        frame.fill_table(table, &one, &x, n, window);
    });
    frame.finish()
}

/// The kernel that goes on with the digits from `first` to `last`, to be written.
pub(super) fn power_digits_frame(limbs: usize) -> Frame {
    let words = &[
        "key_words",
        "offset",
        "part_words",
        "parts",
        "digits",
        "first",
        "last",
        "limbs",
        "window",
        "count",
        "stride",
    ];
    let buffers = &["states", "table", KEYED[0], KEYED[1]];
    Frame::new(limbs, "power_digits", buffers, words)
}

/// Goes on with the digits from `first` to `last`: `window` squarings each, and one product.
pub(super) fn power_digits(limbs: usize, window: usize) -> String {
    let mut frame = power_digits_frame(limbs);
    frame.for_each_part(|frame, part| {
        let n = frame.modulus(part.record);
        let states = frame.array("states", part.lane, part.lanes);
        let table = frame.table(part.lane, part.lanes);
        let [digits, first, last] = ["digits", "first", "last"].map(|name| frame.e.parameter(name));
        let x = frame.load(states);
        let place = frame.e.set(first);
        let from = frame.e.at(part.record, digits, 4);
        frame.while_below(place, last, |frame| {
            let none = frame.e.set(0);
            // Before the first digit there is 1 to be squared.
            frame.when(place, "ne", none, |frame| {
                let (turn, end) = (frame.e.set(0), frame.e.set(window as u32));
                frame.while_below(turn, end, |frame| {
                    montgomery::square(&mut frame.e, &x, &x, &n);
                });
            });
            let from = frame.e.at(from, place, 4);
            let digit = frame.word_at(from, 0);
            let y = frame.look_up(table, digit, window);
            let y = &mut Read::Own { own: y, place: 0 };
            montgomery::multiply(&mut frame.e, &x, &x, y, &n);
        });
        frame.store(states, &x);
    });
    frame.finish()
}

/// The power of a single part, out of Montgomery form.
pub(super) fn power_leave(limbs: usize) -> String {
    let words = &["key_words", "offset", "limbs", "count", "stride"];
    let buffers = &["states", "values", KEYED[0], KEYED[1]];
    let mut frame = Frame::new(limbs, "power_leave", buffers, words);
    let [count, stride] = ["count", "stride"].map(|name| frame.e.parameter(name));
    frame.for_each(count, |frame, item| {
        let (_, n) = frame.modulus_of(item);
        let states = frame.array("states", item, stride);
        let values = frame.array("values", item, stride);
        let x = frame.load(states);
        montgomery::leave(&mut frame.e, &x, &x, &n);
        frame.store(values, &x);
    });
    frame.finish()
}

/// m = m2 + q h with h = (m1 − m2) / q mod p (Garner's recombination, RFC 8017, 5.1.2).
pub(super) fn recombine(limbs: usize) -> String {
    let words = &[
        "key_words",
        "offset",
        "part_words",
        "qinv",
        "qinv_mont",
        "limbs",
        "value_limbs",
        "count",
        "stride",
    ];
    let buffers = &["states", "values", KEYED[0], KEYED[1]];
    let mut frame = Frame::new(limbs, "recombine", buffers, words);
    let [part_words, qinv, qinv_mont, value_limbs, count, stride] =
        ["part_words", "qinv", "qinv_mont", "value_limbs", "count", "stride"].map(|name| frame.e.parameter(name));
    let lanes = frame.e.of2("shl.b32", stride, 1);
    frame.for_each(count, |frame, item| {
        let key = frame.key(item);
        let offset = frame.e.parameter("offset");
        let record_p = frame.e.at(key, offset, 4);
        let record_q = frame.e.at(record_p, part_words, 4);
        let qinv = frame.e.at(key, qinv, 4);
        let qinv_mont = frame.e.at(key, qinv_mont, 4);
        // The other half first: what is stored keeps the assembler from reading everything at the beginning.
        let lane = frame.e.of2("add.u32", stride, item);
        let states = frame.array("states", lane, lanes);
        let m2 = frame.load(states);
        let q = frame.modulus(record_q);
        montgomery::leave(&mut frame.e, &m2, &m2, &q);
        let values = frame.array("values", item, stride);
        frame.store(values, &m2);
        let states = frame.array("states", item, lanes);
        let h = frame.load(states);
        let p = frame.modulus(record_p);
        let factor = &mut Read::Record { record: qinv, place: 0 };
        montgomery::multiply(&mut frame.e, &h, &h, factor, &p);
        // What follows needs the registers. Long products need the thread's own memory.
        let own = (limbs <= montgomery::MOST_INTERLEAVED).then(|| frame.put_away(&h));
        if own.is_none() {
            frame.store(states, &h);
        }
        // m2 may be above p: it is below R, and the factor below p, which is enough.
        let y = frame.load(values);
        let factor = &mut Read::Record {
            record: qinv_mont,
            place: 0,
        };
        montgomery::multiply(&mut frame.e, &y, &y, factor, &p);
        let h = match own {
            Some(own) => frame.take_back(own),
            None => frame.load(states),
        };
        montgomery::subtract(&mut frame.e, &h, &h, &y, &p);
        // There are more limbs than a half has.
        let m2 = frame.load(values);
        frame.store_product_sum(values, &m2, &h, record_q, value_limbs);
    });
    frame.finish()
}

impl Frame {
    /// Stores `addend + a b`, of twice the limbs, as far as there are `value_limbs`; b's limbs are read one by one.
    fn store_product_sum(&mut self, values: Array, addend: &[Word], a: &[Word], b: Address, value_limbs: Word) {
        let mut columns = addend.to_vec();
        columns.push(self.e.word());
        let (limbs, top) = (self.limbs, columns[self.limbs]);
        let to = self.walk(values);
        let (row, rows) = (self.e.set(0), self.e.set(self.limbs as u32));
        self.while_below(row, rows, |frame| {
            let from = frame.e.at(b, row, 4);
            let digit = frame.word_at(from, 0);
            frame.e.copy(top, 0);
            frame.add_row_of_product(&columns, a, digit);
            frame.e.store_word(to, 0, columns[0]);
            frame.e.advance(to, values.step);
            frame.e.copy_number(&columns[..limbs], &columns[1..]);
        });
        for (place, &column) in columns[..self.limbs].iter().enumerate() {
            let end = (self.limbs + place) as u32 + 1;
            self.e.when(value_limbs, "ge", end, |e| e.store_word(to, 0, column));
            self.e.advance(to, values.step);
        }
    }

    /// Columns plus `a digit`: the lower halves, then the upper ones a column further up.
    fn add_row_of_product(&mut self, columns: &[Word], a: &[Word], digit: Word) {
        for (half, names) in [["mad.lo.cc.u32", "madc.lo.cc.u32"], ["mad.hi.cc.u32", "madc.hi.cc.u32"]]
            .into_iter()
            .enumerate()
        {
            for (place, &a) in a.iter().enumerate() {
                let column = columns[place + half];
                emit!(self.e, names[usize::from(place > 0)], column, a, digit, column);
            }
            if half == 0 {
                let top = columns[a.len()];
                emit!(self.e, "addc.u32", top, top, ZERO);
            }
        }
    }
}
