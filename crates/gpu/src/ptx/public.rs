//! Public powers, blinding, and the check of a result. Arguments and effects are those of the kernels in `rsa.cl`.

use super::{
    emitter::{Address, Word},
    frame::Frame,
    numbers::{Array, Modulus},
    working::{Factor, Number},
};

const NUMBERS: &[&str] = &["key_words", "offset", "limbs", "count", "stride"];
const NUMBERS_AND_SLOTS: &[&str] = &["key_words", "offset", "limbs", "count", "stride", "slots"];

/// A kernel that does something to each item modulo its key's n.
fn modular(
    limbs: usize,
    name: &'static str,
    buffers: &'static [&'static str],
    words: &'static [&'static str],
    body: impl FnOnce(&mut Frame, &mut Number, Word, Address, Modulus),
) -> String {
    let mut frame = Frame::new(limbs, name, buffers, words);
    let count = frame.e.parameter("count");
    frame.for_each(count, |frame, item| {
        let (record, n) = frame.modulus_of(item);
        let mut x = Number::new(frame);
        body(frame, &mut x, item, record, n);
    });
    frame.finish()
}

impl Frame {
    /// An item's number in an array of all items.
    pub(super) fn item(&mut self, buffer: &'static str, item: Word) -> Array {
        let stride = self.e.parameter("stride");
        self.array(buffer, item, stride)
    }

    /// The number in an item's slot of blinding pairs.
    pub(super) fn slot(&mut self, buffer: &'static str, slot: Word) -> Array {
        let slots = self.e.parameter("slots");
        self.array(buffer, slot, slots)
    }

    /// The slot of an item's blinding pair.
    pub(super) fn slot_of(&mut self, item: Word) -> Word {
        let pair = self.e.buffer("pair");
        let from = self.e.at(pair, item, 4);
        self.word_at(from, 0)
    }
}

/// Squares an item's pair, and multiplies the value by one half of it.
pub(super) fn blind(limbs: usize) -> String {
    let buffers = &["values", "blinded", "factors", "inverses", "pair", "keys", "which"];
    modular(limbs, "blind", buffers, NUMBERS_AND_SLOTS, |frame, x, item, _, n| {
        let slot = frame.slot_of(item);
        for name in ["inverses", "factors"] {
            let half = frame.slot(name, slot);
            x.load(frame, half);
            x.square(frame, &n);
            x.store(frame, half);
        }
        // One factor is in Montgomery form, so the product is not.
        let values = frame.item("values", item);
        let factor = x.factor(frame, values);
        x.multiply(frame, factor, &n);
        let blinded = frame.item("blinded", item);
        x.store(frame, blinded);
    })
}

/// Multiplies by the other half.
pub(super) fn unblind(limbs: usize) -> String {
    let buffers = &["values", "inverses", "pair", "keys", "which"];
    modular(limbs, "unblind", buffers, NUMBERS_AND_SLOTS, |frame, x, item, _, n| {
        let slot = frame.slot_of(item);
        let inverses = frame.slot("inverses", slot);
        x.load(frame, inverses);
        let values = frame.item("values", item);
        let factor = x.factor(frame, values);
        x.multiply(frame, factor, &n);
        x.store(frame, values);
    })
}

/// New pairs of r^e in Montgomery form and 1/r as it is.
pub(super) fn renew_pairs(limbs: usize) -> String {
    const BUFFERS: &[&str] = &[
        "powers",
        "plain_inverses",
        "factors",
        "inverses",
        "pair",
        "keys",
        "which",
    ];
    modular(
        limbs,
        "renew_pairs",
        BUFFERS,
        NUMBERS_AND_SLOTS,
        |frame, x, item, record, n| {
            let slot = frame.slot_of(item);
            let powers = frame.item("powers", item);
            x.load(frame, powers);
            let factors = frame.slot("factors", slot);
            x.store(frame, factors);
            let plain = frame.item("plain_inverses", item);
            x.load(frame, plain);
            x.multiply(frame, Factor::SquareOfR(record), &n);
            let inverses = frame.slot("inverses", slot);
            x.store(frame, inverses);
        },
    )
}

/// The base, and the state after an exponent's highest bit: both are the value in Montgomery form.
pub(super) fn public_enter(limbs: usize) -> String {
    let buffers = &["values", "bases", "states", "keys", "which"];
    modular(limbs, "public_enter", buffers, NUMBERS, |frame, x, item, record, n| {
        let values = frame.item("values", item);
        x.load(frame, values);
        x.multiply(frame, Factor::SquareOfR(record), &n);
        for name in ["bases", "states"] {
            let to = frame.item(name, item);
            x.store(frame, to);
        }
    })
}

impl Frame {
    /// Goes along the bits of an item's public exponent, from `first` to `last`: calls `step` to write a squaring, and,
    /// where a bit is set, a multiplication by the base. Time depends on the exponents.
    pub(super) fn for_each_bit_vartime(&mut self, item: Word, mut step: impl FnMut(&mut Self, &Modulus, bool)) {
        let [offset, exponent, first, last] =
            ["offset", "exponent", "first", "last"].map(|name| self.e.parameter(name));
        let key = self.key(item);
        let record = self.e.at(key, offset, 4);
        let n = self.modulus(record);
        let exponent = self.e.at(key, exponent, 4);
        let bits = self.word_at(exponent, 0);
        let below = self.e.of2("sub.u32", bits, 1);
        let end = self.e.of2("min.u32", last, below);
        let place = self.e.set(first);
        self.while_below(place, end, |frame| {
            step(frame, &n, false);
            let bit = frame.e.of2("sub.u32", below, place);
            let bit = frame.e.of2("sub.u32", bit, 1);
            let which = frame.e.of2("shr.u32", bit, 5);
            let from = frame.e.at(exponent, which, 4);
            let limb = frame.word_at(from, 1);
            let shift = frame.e.of2("and.b32", bit, 31);
            let shifted = frame.e.of2("shr.u32", limb, shift);
            let bit = frame.e.of2("and.b32", shifted, 1);
            let none = frame.e.set(0);
            frame.when(bit, "ne", none, |frame| step(frame, &n, true));
        });
    }
}

/// Goes on with the bits of the public exponents below the highest, from `first` to `last`.
pub(super) fn public_bits_vartime(limbs: usize) -> String {
    const WORDS: &[&str] = &[
        "key_words",
        "offset",
        "exponent",
        "first",
        "last",
        "limbs",
        "count",
        "stride",
    ];
    let buffers = &["bases", "states", "keys", "which"];
    let mut frame = Frame::new(limbs, "public_bits_vartime", buffers, WORDS);
    let count = frame.e.parameter("count");
    frame.for_each(count, |frame, item| {
        let mut x = Number::new(frame);
        let states = frame.item("states", item);
        x.load(frame, states);
        let bases = frame.item("bases", item);
        let base = x.factor(frame, bases);
        frame.for_each_bit_vartime(item, |frame, n, multiplies| match multiplies {
            false => x.square(frame, n),
            true => x.multiply(frame, base, n),
        });
        x.store(frame, states);
    });
    frame.finish()
}

/// Powers out of Montgomery form.
pub(super) fn public_leave(limbs: usize) -> String {
    let buffers = &["states", "values", "keys", "which"];
    modular(limbs, "public_leave", buffers, NUMBERS, |frame, x, item, _, n| {
        let states = frame.item("states", item);
        x.load(frame, states);
        x.leave(frame, &n);
        let values = frame.item("values", item);
        x.store(frame, values);
    })
}

/// Marks every item whose result, raised to the public exponent, is not what was given, and wipes its value.
pub(super) fn public_check(limbs: usize) -> String {
    let buffers = &["states", "given", "values", "status", "keys", "which"];
    modular(limbs, "public_check", buffers, NUMBERS, |frame, x, item, _, n| {
        let states = frame.item("states", item);
        x.load(frame, states);
        x.leave(frame, &n);
        let given = frame.item("given", item);
        let mask = x.mask_if_same(frame, given);
        let values = frame.item("values", item);
        frame.keep(values, mask);
        mark_fault(frame, item, mask);
    })
}

/// Marks an item if a mask is zero, unless it was out of range, which it stays.
pub(super) fn mark_fault(frame: &mut Frame, item: Word, mask: Word) {
    /// The host's numbers for what became of an item.
    const DONE: u32 = 0;
    const FAULT: u32 = 2;
    let all = frame.e.buffer("status");
    let place = frame.e.at(all, item, 4);
    let status = frame.word_at(place, 0);
    let changed = frame.e.of2("xor.b32", status, DONE);
    let is_done = frame.e.mask_if_zero(changed);
    let differs = frame.e.of2("xor.b32", mask, u32::MAX);
    let both = frame.e.of2("and.b32", is_done, differs);
    let fault = frame.e.set(FAULT);
    let new = frame.e.word();
    frame.e.choose(new, fault, status, both);
    frame.e.store_word(place, 0, new);
}
