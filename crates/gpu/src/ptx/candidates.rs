//! Tests of candidates for primes, each its item's own modulus. Arguments and effects are those of the kernels in
//! `rsa.cl`.

use super::{
    emitter::{Address, Word, ZERO, emit},
    frame::Frame,
    montgomery,
    numbers::{Array, Modulus, Read},
};
use crate::kernel::BASE_WINDOW as WINDOW;

impl Frame {
    /// A bit of a number, as a mask of all ones or zero.
    fn bit_mask(&mut self, array: Array, bit: Word) -> Word {
        let limb = self.bits_of(array, bit);
        let bit = self.e.of2("and.b32", limb, 1);
        self.e.of2("sub.u32", 0, bit)
    }

    /// The bits of a limb from a place of the number on.
    fn bits_of(&mut self, array: Array, bit: Word) -> Word {
        let place = self.e.of2("shr.u32", bit, 5);
        let limb = self.limb(array, place);
        let shift = self.e.of2("and.b32", bit, 31);
        self.e.of2("shr.u32", limb, shift)
    }

    /// All ones if x = −1 in Montgomery form: if x and R mod n add up to n.
    fn mask_if_minus_one(&mut self, x: &[Word], ones: &[Word], n: &[Word]) -> Word {
        let mut sum = Vec::new();
        for (place, (&x, &one)) in x.iter().zip(ones).enumerate() {
            let name = if place == 0 { "add.cc.u32" } else { "addc.cc.u32" };
            sum.push(self.e.of2(name, x, one));
        }
        let mut difference = self.e.word();
        emit!(self.e, "addc.u32", difference, ZERO, ZERO);
        for (&sum, &n) in sum.iter().zip(n) {
            let next = self.e.word();
            self.e.or_difference(next, difference, sum, n);
            difference = next;
        }
        self.e.mask_if_zero(difference)
    }

    /// The number in a block of `length` big-endian bytes, zero above them.
    fn block(&mut self, block: Address, length: Word) -> Vec<Word> {
        let number = self.e.number(self.limbs);
        for (place, &limb) in number.iter().enumerate() {
            self.e.copy(limb, 0);
            for byte in 0..4u32 {
                let from_end = 4 * place as u32 + byte + 1;
                self.e.when(length, "ge", from_end, |e| {
                    let offset = e.of2("sub.u32", length, from_end);
                    let from = e.at(block, offset, 1);
                    let read = e.word();
                    emit!(e, "ld.global.u8", read, format_args!("[{from}]"));
                    let shifted = e.of2("shl.b32", read, 8 * byte);
                    emit!(e, "or.b32", limb, limb, shifted);
                });
            }
        }
        number
    }
}

/// 2^((w−1)/2) mod w, along the bits from `high` down to above `low`: a squaring and a masked doubling each.
pub(super) fn two_bits(limbs: usize) -> String {
    let words = &["high", "low", "limbs", "count", "stride"];
    let mut frame = Frame::new(limbs, "two_bits", &["states", "moduli"], words);
    let [high, low, count, stride] = ["high", "low", "count", "stride"].map(|name| frame.e.parameter(name));
    frame.for_each(count, |frame, item| {
        let moduli = frame.array("moduli", item, stride);
        let n = frame.own_modulus(moduli);
        let states = frame.array("states", item, stride);
        let x = frame.load(states);
        let (turn, turns) = (frame.e.set(0), frame.e.of2("sub.u32", high, low));
        frame.while_below(turn, turns, |frame| {
            montgomery::square(&mut frame.e, &x, &x, &n);
            let y = frame.e.number(limbs);
            montgomery::double(&mut frame.e, &y, &x, &n);
            let bit = frame.e.of2("sub.u32", high, turn);
            let mask = frame.bit_mask(moduli, bit);
            for (&x, y) in x.iter().zip(y) {
                frame.e.choose(x, y, x, mask);
            }
        });
        frame.store(states, &x);
    });
    frame.finish()
}

/// R² mod n from R mod n: a squaring makes 2^(2 k) R of 2^k R, a doubling 2^(k + 1) R; k goes along the bits of 32
/// limbs.
fn one_squared(frame: &mut Frame, one: &[Word], n: &Modulus) -> Vec<Word> {
    let target = 32 * frame.limbs as u32;
    let x = frame.e.number(frame.limbs);
    montgomery::double(&mut frame.e, &x, one, n);
    let (turn, turns) = (frame.e.set(0), frame.e.set(target.ilog2()));
    frame.while_below(turn, turns, |frame| {
        montgomery::square(&mut frame.e, &x, &x, n);
        let bit = frame.e.of2("sub.u32", target.ilog2() - 1, turn);
        let shifted = frame.e.of2("shr.u32", target, bit);
        let bit = frame.e.of2("and.b32", shifted, 1);
        let none = frame.e.set(0);
        frame.when(bit, "ne", none, |frame| {
            montgomery::double(&mut frame.e, &x, &x, n);
        });
    });
    x
}

/// Bases to Montgomery form, and tables of their powers. The states become 1.
pub(super) fn base_enter(limbs: usize) -> String {
    let words = &["window", "limbs", "length", "count", "stride"];
    let buffers = &["blocks", "states", "table", "moduli", "ones"];
    let mut frame = Frame::new(limbs, "base_enter", buffers, words);
    let [length, count, stride] = ["length", "count", "stride"].map(|name| frame.e.parameter(name));
    frame.for_each(count, |frame, item| {
        let moduli = frame.array("moduli", item, stride);
        let n = frame.own_modulus(moduli);
        let ones = frame.array("ones", item, stride);
        let one = frame.load(ones);
        let states = frame.array("states", item, stride);
        frame.store(states, &one);
        let z = one_squared(frame, &one, &n);
        let blocks = frame.e.buffer("blocks");
        let (block, bytes) = (frame.e.address(), frame.e.address());
        emit!(frame.e, "mul.wide.u32", bytes, item, length);
        emit!(frame.e, "add.s64", block, blocks, bytes);
        let x = frame.block(block, length);
        let own = frame.put_away(&z);
        let z = &mut Read::Own { own, place: 0 };
        montgomery::multiply(&mut frame.e, &x, &x, z, &n);
        let table = frame.table(item, stride);
        let one = frame.load(ones);
        frame.fill_table(table, &one, &x, &n, WINDOW);
    });
    frame.finish()
}

/// Raises bases to w − 1 as far as its bits below `high` down to `low`.
pub(super) fn base_digits(limbs: usize) -> String {
    let words = &["high", "low", "window", "limbs", "count", "stride"];
    let mut frame = Frame::new(limbs, "base_digits", &["states", "table", "moduli"], words);
    let [high, low, count, stride] = ["high", "low", "count", "stride"].map(|name| frame.e.parameter(name));
    frame.for_each(count, |frame, item| {
        let moduli = frame.array("moduli", item, stride);
        let n = frame.own_modulus(moduli);
        let states = frame.array("states", item, stride);
        let table = frame.table(item, stride);
        let x = frame.load(states);
        let bits = frame.e.of2("sub.u32", high, low);
        let (turn, turns) = (frame.e.set(0), frame.e.of2("shr.u32", bits, WINDOW.ilog2()));
        frame.while_below(turn, turns, |frame| {
            let (square, squares) = (frame.e.set(0), frame.e.set(WINDOW as u32));
            frame.while_below(square, squares, |frame| {
                montgomery::square(&mut frame.e, &x, &x, &n);
            });
            let below = frame.e.of2("shl.b32", turn, WINDOW.ilog2());
            let bit = frame.e.of2("sub.u32", high, below);
            let place = frame.e.of2("sub.u32", bit, WINDOW as u32);
            let shifted = frame.bits_of(moduli, place);
            let digit = frame.e.of2("and.b32", shifted, (1u32 << WINDOW) - 1);
            let y = frame.look_up(table, digit, WINDOW);
            let y = &mut Read::Own { own: y, place: 0 };
            montgomery::multiply(&mut frame.e, &x, &x, y, &n);
        });
        frame.store(states, &x);
    });
    frame.finish()
}

/// The last `low` bits of w − 1, one at a time: was the power 1 or −1 where a strong probable prime's must be?
pub(super) fn base_verdict(limbs: usize) -> String {
    let words = &["low", "limbs", "count", "stride"];
    let buffers = &["states", "table", "moduli", "ones", "passed"];
    let mut frame = Frame::new(limbs, "base_verdict", buffers, words);
    let [low, count, stride] = ["low", "count", "stride"].map(|name| frame.e.parameter(name));
    frame.for_each(count, |frame, item| {
        let moduli = frame.array("moduli", item, stride);
        let n = frame.own_modulus(moduli);
        // The zeros at the end of w − 1, of which bit 0 is one.
        let (zeros, still, bit) = (frame.e.set(1), frame.e.set(1), frame.e.set(1));
        frame.while_below(bit, low, |frame| {
            let mask = frame.bit_mask(moduli, bit);
            let kept = frame.e.of2("xor.b32", mask, u32::MAX);
            emit!(frame.e, "and.b32", still, still, kept);
            emit!(frame.e, "add.u32", zeros, zeros, still);
        });
        let states = frame.array("states", item, stride);
        let ones = frame.array("ones", item, stride);
        let table = frame.table(item, stride);
        let x = frame.load(states);
        let verdict = frame.e.set(0);
        let turn = frame.e.set(1);
        frame.while_below(turn, low, |frame| {
            let bit = frame.e.of2("sub.u32", low, turn);
            let mask = frame.bit_mask(moduli, bit);
            montgomery::square(&mut frame.e, &x, &x, &n);
            let y = frame.base_of(table);
            let one = frame.load(ones);
            for (&y, &one) in y.iter().zip(&one) {
                frame.e.choose(y, y, one, mask);
            }
            let own = frame.put_away(&y);
            let y = &mut Read::Own { own, place: 0 };
            montgomery::multiply(&mut frame.e, &x, &x, y, &n);
            // Now x is the base to the power of (w − 1) >> bit. All ones if bit is at most `zeros`:
            let above = frame.e.of2("sub.u32", zeros, bit);
            let sign = frame.e.of2("shr.s32", above, 31);
            let in_chain = frame.e.of2("xor.b32", sign, u32::MAX);
            let one = frame.load(ones);
            let limbs = n.limbs(&mut frame.e);
            let minus = frame.mask_if_minus_one(&x, &one, &limbs);
            let found = frame.e.of2("and.b32", minus, in_chain);
            emit!(frame.e, "or.b32", verdict, verdict, found);
            let same = frame.mask_if_same(&x, &one);
            let at_the_first = frame.e.mask_if_zero(above);
            let found = frame.e.of2("and.b32", same, at_the_first);
            emit!(frame.e, "or.b32", verdict, verdict, found);
        });
        let passed = frame.e.buffer("passed");
        let place = frame.e.at(passed, item, 4);
        let bit = frame.e.of2("and.b32", verdict, 1);
        frame.e.store_word(place, 0, bit);
    });
    frame.finish()
}
