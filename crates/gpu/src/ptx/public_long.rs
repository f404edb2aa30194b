//! The kernels of [`public`](super::public) for numbers in local memory.

use super::{
    emitter::{Address, Word},
    frame::Frame,
    long::{Factor, Long},
    numbers::Modulus,
    public::{NUMBERS, NUMBERS_AND_SLOTS, mark_fault, modular},
};

fn with_long(
    limbs: usize,
    name: &'static str,
    buffers: &'static [&'static str],
    words: &'static [&'static str],
    body: impl FnOnce(&mut Frame, &Long, Word, Address, Modulus),
) -> String {
    modular(limbs, name, buffers, words, |frame, item, record, n| {
        let long = frame.long();
        body(frame, &long, item, record, n);
    })
}

pub(super) fn blind(limbs: usize) -> String {
    let buffers = &["values", "blinded", "factors", "inverses", "pair", "keys", "which"];
    with_long(limbs, "blind", buffers, NUMBERS_AND_SLOTS, |frame, x, item, _, n| {
        let slot = frame.slot_of(item);
        for name in ["inverses", "factors"] {
            let half = frame.slot(name, slot);
            frame.load_long(x, half);
            x.multiply(&mut frame.e, Factor::X, &n);
            frame.store_long(half, x);
        }
        let values = frame.item("values", item);
        frame.load_long_factor(x, values);
        x.multiply(&mut frame.e, Factor::Y, &n);
        let blinded = frame.item("blinded", item);
        frame.store_long(blinded, x);
    })
}

pub(super) fn unblind(limbs: usize) -> String {
    let buffers = &["values", "inverses", "pair", "keys", "which"];
    with_long(limbs, "unblind", buffers, NUMBERS_AND_SLOTS, |frame, x, item, _, n| {
        let slot = frame.slot_of(item);
        let inverses = frame.slot("inverses", slot);
        frame.load_long(x, inverses);
        let values = frame.item("values", item);
        frame.load_long_factor(x, values);
        x.multiply(&mut frame.e, Factor::Y, &n);
        frame.store_long(values, x);
    })
}

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
    with_long(
        limbs,
        "renew_pairs",
        buffers,
        NUMBERS_AND_SLOTS,
        |frame, x, item, record, n| {
            let slot = frame.slot_of(item);
            let powers = frame.item("powers", item);
            frame.load_long(x, powers);
            let factors = frame.slot("factors", slot);
            frame.store_long(factors, x);
            let plain = frame.item("plain_inverses", item);
            frame.load_long(x, plain);
            x.multiply(&mut frame.e, Factor::Record(record, 2 * limbs), &n);
            let inverses = frame.slot("inverses", slot);
            frame.store_long(inverses, x);
        },
    )
}

pub(super) fn public_enter(limbs: usize) -> String {
    let buffers = &["values", "bases", "states", "keys", "which"];
    with_long(limbs, "public_enter", buffers, NUMBERS, |frame, x, item, record, n| {
        let values = frame.item("values", item);
        frame.load_long(x, values);
        x.multiply(&mut frame.e, Factor::Record(record, 2 * limbs), &n);
        for name in ["bases", "states"] {
            let to = frame.item(name, item);
            frame.store_long(to, x);
        }
    })
}

pub(super) fn public_bits_vartime(limbs: usize) -> String {
    let mut frame = super::public::bits_frame(limbs);
    let count = frame.e.parameter("count");
    frame.for_each(count, |frame, item| {
        let long = frame.long();
        let states = frame.item("states", item);
        frame.load_long(&long, states);
        let bases = frame.item("bases", item);
        frame.load_long_factor(&long, bases);
        frame.for_each_bit_vartime(item, |frame, n, multiplies| {
            let factor = if multiplies { Factor::Y } else { Factor::X };
            long.multiply(&mut frame.e, factor, n);
        });
        frame.store_long(states, &long);
    });
    frame.finish()
}

pub(super) fn public_leave(limbs: usize) -> String {
    let buffers = &["states", "values", "keys", "which"];
    with_long(limbs, "public_leave", buffers, NUMBERS, |frame, x, item, _, n| {
        let states = frame.item("states", item);
        frame.load_long(x, states);
        x.leave(&mut frame.e, &n);
        let values = frame.item("values", item);
        frame.store_long(values, x);
    })
}

pub(super) fn public_check(limbs: usize) -> String {
    let buffers = &["states", "given", "values", "status", "keys", "which"];
    with_long(limbs, "public_check", buffers, NUMBERS, |frame, x, item, _, n| {
        let states = frame.item("states", item);
        frame.load_long(x, states);
        x.leave(&mut frame.e, &n);
        let given = frame.item("given", item);
        let mask = frame.mask_if_long_same(x, given);
        let values = frame.item("values", item);
        frame.keep_long(values, mask);
        mark_fault(frame, item, mask);
    })
}
