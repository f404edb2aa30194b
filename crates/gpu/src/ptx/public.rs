//! Public powers, blinding, and the check of a result. Arguments and effects are those of the kernels in `rsa.cl`.

use super::{
    emitter::{Address, Word},
    frame::Frame,
    montgomery,
    numbers::{Array, Modulus},
};

pub(super) const NUMBERS: &[&str] = &["key_words", "offset", "limbs", "count", "stride"];
pub(super) const NUMBERS_AND_SLOTS: &[&str] = &["key_words", "offset", "limbs", "count", "stride", "slots"];

/// A kernel that does something to each item modulo its key's n.
pub(super) fn modular(
    limbs: usize,
    name: &'static str,
    buffers: &'static [&'static str],
    words: &'static [&'static str],
    body: impl FnOnce(&mut Frame, Word, Address, Modulus),
) -> String {
    let mut frame = Frame::new(limbs, name, buffers, words);
    let count = frame.e.parameter("count");
    frame.for_each(count, |frame, item| {
        let (record, n) = frame.modulus_of(item);
        body(frame, item, record, n);
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
    modular(limbs, "blind", buffers, NUMBERS_AND_SLOTS, |frame, item, _, n| {
        let slot = frame.slot_of(item);
        for name in ["inverses", "factors"] {
            let half = frame.slot(name, slot);
            let x = frame.load(half);
            montgomery::square(&mut frame.e, &x, &x, &n);
            frame.store(half, &x);
            if name == "factors" {
                let values = frame.item("values", item);
                let y = &mut frame.digits(values);
                // One factor is in Montgomery form, so the product is not.
                montgomery::multiply(&mut frame.e, &x, &x, y, &n);
                let blinded = frame.item("blinded", item);
                frame.store(blinded, &x);
            }
        }
    })
}

/// Multiplies by the other half.
pub(super) fn unblind(limbs: usize) -> String {
    let buffers = &["values", "inverses", "pair", "keys", "which"];
    modular(limbs, "unblind", buffers, NUMBERS_AND_SLOTS, |frame, item, _, n| {
        let slot = frame.slot_of(item);
        let inverses = frame.slot("inverses", slot);
        let x = frame.load(inverses);
        let values = frame.item("values", item);
        let y = &mut frame.digits(values);
        montgomery::multiply(&mut frame.e, &x, &x, y, &n);
        frame.store(values, &x);
    })
}

/// New pairs of r^e in Montgomery form and 1/r as it is.
pub(super) fn renew_pairs(limbs: usize) -> String {
    let buffers = &[
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
        buffers,
        NUMBERS_AND_SLOTS,
        |frame, item, record, n| {
            let slot = frame.slot_of(item);
            let powers = frame.item("powers", item);
            let x = frame.load(powers);
            let factors = frame.slot("factors", slot);
            frame.store(factors, &x);
            let plain = frame.item("plain_inverses", item);
            let x = frame.load(plain);
            let y = &mut frame.power_of_r(record, 2);
            montgomery::multiply(&mut frame.e, &x, &x, y, &n);
            let inverses = frame.slot("inverses", slot);
            frame.store(inverses, &x);
        },
    )
}

/// The base, and the state after an exponent's highest bit: both are the value in Montgomery form.
pub(super) fn public_enter(limbs: usize) -> String {
    let buffers = &["values", "bases", "states", "keys", "which"];
    modular(limbs, "public_enter", buffers, NUMBERS, |frame, item, record, n| {
        let values = frame.item("values", item);
        let x = frame.load(values);
        let y = &mut frame.power_of_r(record, 2);
        montgomery::multiply(&mut frame.e, &x, &x, y, &n);
        for name in ["bases", "states"] {
            let to = frame.item(name, item);
            frame.store(to, &x);
        }
    })
}

/// The kernel that goes on with the bits of the public exponents below the highest.
pub(super) fn bits_frame(limbs: usize) -> Frame {
    let buffers = &["bases", "states", "keys", "which"];
    let words = &[
        "key_words",
        "offset",
        "exponent",
        "first",
        "last",
        "limbs",
        "count",
        "stride",
    ];
    Frame::new(limbs, "public_bits_vartime", buffers, words)
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
    let mut frame = bits_frame(limbs);
    let count = frame.e.parameter("count");
    frame.for_each(count, |frame, item| {
        let states = frame.item("states", item);
        let x = frame.load(states);
        let bases = frame.item("bases", item);
        frame.for_each_bit_vartime(item, |frame, n, multiplies| match multiplies {
            false => montgomery::square(&mut frame.e, &x, &x, n),
            true => {
                let y = &mut frame.digits(bases);
                montgomery::multiply(&mut frame.e, &x, &x, y, n);
            }
        });
        frame.store(states, &x);
    });
    frame.finish()
}

/// Powers out of Montgomery form.
pub(super) fn public_leave(limbs: usize) -> String {
    let buffers = &["states", "values", "keys", "which"];
    modular(limbs, "public_leave", buffers, NUMBERS, |frame, item, _, n| {
        let states = frame.item("states", item);
        let x = frame.load(states);
        montgomery::leave(&mut frame.e, &x, &x, &n);
        let values = frame.item("values", item);
        frame.store(values, &x);
    })
}

/// Marks every item whose result, raised to the public exponent, is not what was given, and wipes its value.
pub(super) fn public_check(limbs: usize) -> String {
    let buffers = &["states", "given", "values", "status", "keys", "which"];
    modular(limbs, "public_check", buffers, NUMBERS, |frame, item, _, n| {
        let states = frame.item("states", item);
        let x = frame.load(states);
        montgomery::leave(&mut frame.e, &x, &x, &n);
        let given = frame.item("given", item);
        let y = frame.load(given);
        let mask = frame.mask_if_same(&x, &y);
        let values = frame.item("values", item);
        let value = frame.load(values);
        let kept: Vec<Word> = value.iter().map(|&limb| frame.e.of2("and.b32", limb, mask)).collect();
        frame.store(values, &kept);
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
