//! Writes the text of one kernel: its parameters, registers, labels and instructions.
//!
//! Registers are named by their kind and a number that is never used twice. Everything that is written is in the subset
//! that the tests' interpreter reads.

use std::fmt::{self, Write as _};

use super::registers::{Flag, Label};

pub(super) use super::registers::{Address, Operand, Word, ZERO};

/// The header of every module.
pub(super) const HEADER: &str = ".version 6.0\n.target sm_70\n.address_size 64\n\n";

/// The most threads of a block.
pub const THREADS: usize = 64;

fn own_limb(own: Word, place: usize) -> String {
    format!("[{own}+{}]", 4 * place * THREADS)
}

/// Writes an instruction to an emitter: its name, then the operands.
macro_rules! emit {
    ($emitter:expr, $name:expr $(, $operand:expr)+) => {
        $emitter.instruction($name, &[$(&$operand as &dyn std::fmt::Display),+])
    };
}
pub(super) use emit;

/// The text of a kernel, while it is written.
pub(super) struct Emitter {
    name: &'static str,
    /// Buffers first, then words, as all kernels take their arguments.
    buffers: &'static [&'static str],
    words_in: &'static [&'static str],
    body: String,
    words: u32,
    addresses: u32,
    flags: u32,
    labels: u32,
    /// Limbs that each thread has in the memory that a block shares.
    own_limbs: usize,
    /// Words of local memory.
    local_words: usize,
}

impl Emitter {
    pub(super) fn new(name: &'static str, buffers: &'static [&'static str], words: &'static [&'static str]) -> Self {
        Emitter {
            name,
            buffers,
            words_in: words,
            body: String::new(),
            words: 0,
            addresses: 0,
            flags: 0,
            labels: 0,
            own_limbs: 0,
            local_words: 0,
        }
    }

    /// The whole kernel, for blocks of at most [`THREADS`] threads, each with so many registers.
    pub(super) fn finish(self, registers: usize) -> String {
        let name = self.name;
        let of = |kind: &str, names: &[&str]| {
            let line = |what: &&str| format!("\t.param .{kind} {name}_{what}");
            names.iter().map(line).collect::<Vec<_>>()
        };
        let parameters = [of("u64", self.buffers), of("u32", self.words_in)].concat();
        let mut text = format!(
            ".visible .entry {name}(\n{}\n)\n.maxntid {THREADS}, 1, 1\n.maxnreg {registers}\n{{\n",
            parameters.join(",\n")
        );
        for (kind, letter, count) in [
            ("b32", 'r', self.words),
            ("b64", 'd', self.addresses),
            ("pred", 'p', self.flags),
        ] {
            if count > 0 {
                let _ = writeln!(text, "\t.reg .{kind} %{letter}<{count}>;");
            }
        }
        if self.own_limbs > 0 {
            let bytes = 4 * self.own_limbs * THREADS;
            let _ = writeln!(text, "\t.shared .align 16 .b8 own[{bytes}];");
        }
        if self.local_words > 0 {
            let _ = writeln!(text, "\t.local .align 16 .b8 wide[{}];", 4 * self.local_words);
        }
        text + &self.body + "\tret;\n}\n"
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn instruction(&mut self, name: &str, operands: &[&dyn fmt::Display]) {
        let _ = write!(self.body, "\t{name} ");
        for (place, operand) in operands.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            let _ = write!(self.body, "{comma}{operand}");
        }
        self.body.push_str(";\n");
    }

    /// A new register.
    pub(super) fn word(&mut self) -> Word {
        self.words += 1;
        Word(self.words - 1)
    }

    /// So many new registers.
    pub(super) fn number(&mut self, limbs: usize) -> Vec<Word> {
        (0..limbs).map(|_| self.word()).collect()
    }

    pub(super) fn address(&mut self) -> Address {
        self.addresses += 1;
        Address(self.addresses - 1)
    }

    /// A new register of 64 bits with a value.
    pub(super) fn wide(&mut self, bits: u64) -> Address {
        let to = self.address();
        emit!(self, "mov.b64", to, bits);
        to
    }

    /// A new register with what an instruction makes of two of 64 bits.
    pub(super) fn wide_of2(&mut self, name: &str, a: Address, b: Address) -> Address {
        let to = self.address();
        emit!(self, name, to, a, b);
        to
    }

    /// The bits of a register from a place on.
    pub(super) fn shifted(&mut self, from: Address, by: usize) -> Address {
        let to = self.address();
        emit!(self, "shr.u64", to, from, by);
        to
    }

    pub(super) fn pack(&mut self, low: Word, high: Word) -> Address {
        let to = self.address();
        emit!(self, "mov.b64", to, format_args!("{{{low}, {high}}}"));
        to
    }

    pub(super) fn unpack(&mut self, from: Address) -> (Word, Word) {
        let (low, high) = (self.word(), self.word());
        emit!(self, "mov.b64", format_args!("{{{low}, {high}}}"), from);
        (low, high)
    }

    fn flag(&mut self) -> Flag {
        self.flags += 1;
        Flag(self.flags - 1)
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn here(&mut self, label: Label) {
        let _ = writeln!(self.body, "{label}:");
    }

    /// A new register with what an instruction makes of two operands.
    pub(super) fn of2(&mut self, name: &str, a: impl Into<Operand>, b: impl Into<Operand>) -> Word {
        let to = self.word();
        emit!(self, name, to, a.into(), b.into());
        to
    }

    /// A new register with a value.
    pub(super) fn set(&mut self, value: impl Into<Operand>) -> Word {
        let to = self.word();
        self.copy(to, value);
        to
    }

    pub(super) fn copy(&mut self, to: Word, value: impl Into<Operand>) {
        emit!(self, "mov.b32", to, value.into());
    }

    pub(super) fn copy_number(&mut self, to: &[Word], from: &[Word]) {
        for (to, from) in to.iter().zip(from) {
            self.copy(*to, *from);
        }
    }

    /// `(a & mask) | (b & ~mask)`.
    pub(super) fn choose(&mut self, to: Word, a: Word, b: Word, mask: Word) {
        emit!(self, "lop3.b32", to, a, b, mask, "0xe4");
    }

    /// `a | (b & mask)`.
    pub(super) fn or_masked(&mut self, to: Word, a: Word, b: Word, mask: Word) {
        emit!(self, "lop3.b32", to, a, b, mask, "0xf8");
    }

    /// `a | (b ^ c)`.
    pub(super) fn or_difference(&mut self, to: Word, a: Word, b: Word, c: Word) {
        emit!(self, "lop3.b32", to, a, b, c, "0xf6");
    }

    /// All ones if `a` is zero, which must be below 2³¹, else zero.
    pub(super) fn mask_if_zero_small(&mut self, a: Word) -> Word {
        let less = self.of2("sub.u32", a, 1);
        self.of2("shr.s32", less, 31)
    }

    /// All ones if `a` is zero, else zero.
    pub(super) fn mask_if_zero(&mut self, a: Word) -> Word {
        let negative = self.of2("sub.u32", 0, a);
        let either = self.of2("or.b32", negative, a);
        let bit = self.of2("shr.u32", either, 31);
        self.of2("sub.u32", bit, 1)
    }

    /// A parameter that is a number.
    pub(super) fn parameter(&mut self, name: &'static str) -> Word {
        assert!(self.words_in.contains(&name), "{name}");
        let to = self.word();
        let from = format!("[{}_{name}]", self.name);
        emit!(self, "ld.param.u32", to, from);
        to
    }

    /// A parameter that is memory of the device.
    pub(super) fn buffer(&mut self, name: &'static str) -> Address {
        assert!(self.buffers.contains(&name), "{name}");
        let to = self.address();
        let from = format!("[{}_{name}]", self.name);
        emit!(self, "ld.param.u64", to, from);
        to
    }

    /// `base + index · bytes`.
    pub(super) fn at(&mut self, base: Address, index: Word, bytes: u32) -> Address {
        let to = self.address();
        emit!(self, "mad.wide.u32", to, index, bytes, base);
        to
    }

    /// `words` words in bytes.
    pub(super) fn distance(&mut self, words: Word) -> Address {
        let to = self.address();
        emit!(self, "mul.wide.u32", to, words, 4);
        to
    }

    /// This thread's place in the memory that the threads of a block share: room for a number of each. Limb j of thread
    /// t lies at `[j · threads + t]`, so that neighbours read neighbouring words.
    pub(super) fn own_memory(&mut self, limbs: usize) -> Word {
        self.own_limbs = self.own_limbs.max(limbs);
        let start = self.special("own");
        let thread = self.special("%tid.x");
        let to = self.word();
        emit!(self, "mad.lo.u32", to, thread, 4, start);
        to
    }

    /// Wipes that and local memory, at the end of a kernel, for whoever gets them next.
    pub(super) fn wipe(&mut self) {
        if self.own_limbs > 0 {
            let own = self.own_memory(self.own_limbs);
            for place in 0..self.own_limbs {
                self.store_own(own, place, 0);
            }
        }
        if self.local_words > 0 {
            let (words, local) = (self.local_words, self.local_memory(0));
            let word = self.set(0);
            self.while_below(word, words as u32, 1, |e| {
                let to = e.at(local, word, 4);
                e.store_local(to, 0, 0);
            });
        }
    }

    pub(super) fn load_own(&mut self, from: Word, place: usize) -> Word {
        let to = self.word();
        emit!(self, "ld.shared.u32", to, own_limb(from, place));
        to
    }

    pub(super) fn store_own(&mut self, to: Word, place: usize, word: impl Into<Operand>) {
        emit!(self, "st.shared.u32", own_limb(to, place), word.into());
    }

    /// A place in the thread's own memory, so many limbs further on.
    pub(super) fn own_from(&mut self, own: Word, limbs: Word) -> Word {
        let to = self.word();
        emit!(self, "mad.lo.u32", to, limbs, 4 * THREADS, own);
        to
    }

    /// Memory that the driver gives each thread, for so many words. There is one for all who ask.
    pub(super) fn local_memory(&mut self, words: usize) -> Address {
        self.local_words = self.local_words.max(words);
        let to = self.address();
        emit!(self, "mov.u64", to, "wide");
        to
    }

    pub(super) fn at_local(&mut self, from: Address, words: usize) -> Address {
        let words = self.set(words as u32);
        self.at(from, words, 4)
    }

    pub(super) fn load_local(&mut self, from: Address, place: usize) -> Word {
        let to = self.word();
        emit!(self, "ld.local.u32", to, format_args!("[{from}+{}]", 4 * place));
        to
    }

    pub(super) fn store_local(&mut self, to: Address, place: usize, word: impl Into<Operand>) {
        emit!(self, "st.local.u32", format_args!("[{to}+{}]", 4 * place), word.into());
    }

    pub(super) fn advance(&mut self, address: Address, by: Address) {
        emit!(self, "add.s64", address, address, by);
    }

    pub(super) fn load_word(&mut self, to: Word, from: Address, offset: usize) {
        emit!(self, "ld.global.u32", to, format_args!("[{from}+{offset}]"));
    }

    pub(super) fn store_word(&mut self, to: Address, offset: usize, word: impl Into<Operand>) {
        emit!(self, "st.global.u32", format_args!("[{to}+{offset}]"), word.into());
    }

    /// Four words at an address that 16 divides.
    pub(super) fn load_quad(&mut self, to: &[Word], from: Address) {
        let [a, b, c, d] = to else {
            unreachable!("a quad is four words")
        };
        let list = format_args!("{{{a}, {b}, {c}, {d}}}").to_string();
        emit!(self, "ld.global.v4.u32", list, format_args!("[{from}]"));
    }

    pub(super) fn store_quad(&mut self, to: Address, from: &[Word]) {
        let [a, b, c, d] = from else {
            unreachable!("a quad is four words")
        };
        let list = format_args!("{{{a}, {b}, {c}, {d}}}").to_string();
        emit!(self, "st.global.v4.u32", format_args!("[{to}]"), list);
    }

    /// A special register.
    fn special(&mut self, name: &'static str) -> Word {
        let to = self.word();
        emit!(self, "mov.u32", to, name);
        to
    }

    /// This thread's place among all that were started, and how many they are.
    pub(super) fn place(&mut self) -> (Word, Word) {
        let [block, threads, thread, blocks] =
            ["%ctaid.x", "%ntid.x", "%tid.x", "%nctaid.x"].map(|name| self.special(name));
        let place = self.word();
        emit!(self, "mad.lo.u32", place, block, threads, thread);
        (place, self.of2("mul.lo.u32", blocks, threads))
    }

    /// Runs `body` while `counter` is below `end`, and adds `step` after each turn.
    pub(super) fn while_below(
        &mut self,
        counter: Word,
        end: impl Into<Operand>,
        step: impl Into<Operand>,
        body: impl FnOnce(&mut Self),
    ) {
        let (top, out, done) = (self.label(), self.label(), self.flag());
        self.here(top);
        emit!(self, "setp.ge.u32", done, counter, end.into());
        self.branch_if(done, out);
        body(self);
        emit!(self, "add.u32", counter, counter, step.into());
        emit!(self, "bra", top);
        self.here(out);
    }

    /// Runs `body` if `a` and `b` compare as the name of a comparison says: `eq`, `ne`, `lt`, …
    pub(super) fn when(&mut self, a: Word, comparison: &str, b: impl Into<Operand>, body: impl FnOnce(&mut Self)) {
        let inverse = match comparison {
            "eq" => "ne",
            "ne" => "eq",
            "lt" => "ge",
            "ge" => "lt",
            _ => unreachable!("kernels compare in no other way"),
        };
        let (out, not) = (self.label(), self.flag());
        emit!(self, format!("setp.{inverse}.u32").as_str(), not, a, b.into());
        self.branch_if(not, out);
        body(self);
        self.here(out);
    }

    fn branch_if(&mut self, flag: Flag, to: Label) {
        let _ = writeln!(self.body, "\t@{flag} bra {to};");
    }
}
