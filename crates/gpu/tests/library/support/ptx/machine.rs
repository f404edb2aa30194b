//! Runs a kernel, 32 threads at a time. Threads that have gone different ways wait for each other where the text meets
//! again: those go first that are furthest behind.

use std::array;

use super::{
    lanes::{self, Flag, LANES, Wides, Words},
    parse::{Comparison, Instruction, Op, Program, Space, Special},
};

/// An argument: a buffer by its place in the memory, or a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Buffer(usize),
    Number(u32),
}

/// The trace of a run, for tests to compare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    /// A hash of every branch and of every address.
    pub(crate) path: u64,
    /// Products of 32 by 32 bits, upper halves, of all threads.
    pub(crate) products: u64,
    /// Fused multiply-adds of doubles, of all threads.
    pub(crate) fused: u64,
    /// Instructions of all threads.
    pub(crate) instructions: u64,
}

impl Trace {
    fn note(&mut self, value: u64) {
        // FNV-1a, by words.
        self.path = (self.path ^ value).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// Buffers have addresses that are far apart, so that no mistake leads from one to another.
const APART: u32 = 40;

/// Runs a kernel on buffers.
pub(crate) fn run(
    program: &Program,
    groups: usize,
    group: usize,
    arguments: &[Value],
    buffers: &mut [Vec<u8>],
    trace: &mut Trace,
) {
    assert_eq!(program.parameters.len(), arguments.len(), "arguments");
    for (is_address, argument) in program.parameters.iter().zip(arguments) {
        assert_eq!(*is_address, matches!(argument, Value::Buffer(_)), "{argument:?}");
    }
    assert!(group <= program.most_threads, "a block has too many threads");
    for block in 0..groups {
        for first in (0..group).step_by(LANES) {
            let mut warp = Warp {
                program,
                arguments,
                buffers,
                trace,
                block,
                groups,
                group,
                first,
                words: vec![[0xdead_beef; LANES]; program.words],
                addresses: vec![[0xdead_beef; LANES]; program.addresses],
                flags: vec![0; program.flags],
                carry: Flag::UNSET,
                shared: vec![0xa5; program.shared],
                local: vec![vec![0xa5; program.local]; LANES],
            };
            warp.words.extend(program.constants.iter().map(|&value| [value; LANES]));
            warp.run();
            let own = warp.shared.iter().chain(warp.local.iter().flatten());
            let left = own.copied().any(|byte| byte != 0 && byte != 0xa5);
            assert!(!left, "memory of a block or a thread was left unwiped");
        }
    }
}

struct Warp<'a> {
    program: &'a Program,
    arguments: &'a [Value],
    buffers: &'a mut [Vec<u8>],
    trace: &'a mut Trace,
    block: usize,
    groups: usize,
    group: usize,
    first: usize,
    words: Vec<Words>,
    addresses: Vec<Wides>,
    flags: Vec<u32>,
    carry: Flag,
    shared: Vec<u8>,
    local: Vec<Vec<u8>>,
}

impl Warp<'_> {
    fn run(&mut self) {
        let count = (self.group - self.first).min(LANES);
        let mut place = 0;
        let mut active = if count == LANES { u32::MAX } else { (1 << count) - 1 };
        let mut waiting: Vec<(usize, u32)> = Vec::new();
        loop {
            if !waiting.is_empty() {
                // Whoever is furthest behind goes on, with all that wait there.
                waiting.push((place, active));
                place = waiting.iter().map(|&(place, _)| place).min().unwrap();
                active = 0;
                waiting.retain(|&(other, mask)| {
                    if other == place {
                        active |= mask;
                    }
                    other != place
                });
            }
            let instruction = &self.program.code[place];
            self.trace.instructions += u64::from(active.count_ones());
            match instruction.op {
                Op::Branch { to, flag } => {
                    let taken = active & flag.map_or(u32::MAX, |flag| self.flags[flag]);
                    self.trace.note((place as u64) << 32 | u64::from(taken));
                    // Between a carry and who takes it there is no branch.
                    self.carry = Flag::UNSET;
                    if taken == active {
                        place = to;
                    } else {
                        if taken != 0 {
                            waiting.push((to, taken));
                        }
                        active &= !taken;
                        place += 1;
                    }
                }
                Op::Return => match waiting.pop() {
                    None => return,
                    Some((other, mask)) => (place, active) = (other, mask),
                },
                _ => {
                    self.step(instruction, active);
                    place += 1;
                }
            }
        }
    }

    fn set(&mut self, to: usize, value: Words, active: u32) {
        assert!(to < self.program.words, "a number is not written to");
        let register = &mut self.words[to];
        if active == u32::MAX {
            *register = value;
            return;
        }
        for lane in lanes_of(active) {
            register[lane] = value[lane];
        }
    }

    fn set_wide(&mut self, to: usize, value: Wides, active: u32) {
        if active == u32::MAX {
            self.addresses[to] = value;
            return;
        }
        for lane in lanes_of(active) {
            self.addresses[to][lane] = value[lane];
        }
    }

    fn step(&mut self, instruction: &Instruction, active: u32) {
        let [to, a, b, c] = instruction.at;
        let word = |place: usize| self.words.get(place).unwrap_or(&[0; LANES]);
        let each = |f: fn(u32, u32) -> u32| {
            let (a, b) = (word(a), word(b));
            array::from_fn(|lane| f(a[lane], b[lane]))
        };
        let result: Words = match instruction.op {
            Op::Multiply(half) => {
                if half == super::parse::Half::High {
                    self.trace.products += u64::from(active.count_ones());
                }
                lanes::multiply_add(half, word(a), word(b), &[0; LANES], &[0; LANES]).0
            }
            Op::MultiplyAdd(half, carry) => {
                if half == super::parse::Half::High {
                    self.trace.products += u64::from(active.count_ones());
                }
                let taken = self.carry.taken(carry, false);
                let (result, out) = lanes::multiply_add(half, word(a), word(b), word(c), &taken);
                self.carry.leave(carry, false, out);
                result
            }
            Op::Add(carry) => {
                let taken = self.carry.taken(carry, false);
                let (result, out) = lanes::add(word(a), word(b), &taken);
                self.carry.leave(carry, false, out);
                result
            }
            Op::Subtract(carry) => {
                let taken = self.carry.taken(carry, true);
                let (result, out) = lanes::subtract(word(a), word(b), &taken);
                self.carry.leave(carry, true, out);
                result
            }
            Op::And => each(|a, b| a & b),
            Op::Or => each(|a, b| a | b),
            Op::Xor => each(|a, b| a ^ b),
            Op::ShiftLeft => each(|a, b| a.checked_shl(b).unwrap_or(0)),
            Op::ShiftRight => each(|a, b| a.checked_shr(b).unwrap_or(0)),
            Op::ShiftRightSigned => each(|a, b| (a as i32 >> b.min(31)) as u32),
            Op::Funnel => {
                let (low, high, by) = (word(a), word(b), word(c));
                array::from_fn(|lane| {
                    let wide = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                    (wide << (by[lane] & 31) >> 32) as u32
                })
            }
            Op::Minimum => each(u32::min),
            Op::Divide => each(|a, b| a.checked_div(b).unwrap_or(u32::MAX)),
            Op::Logic(table) => lanes::logic(table, word(a), word(b), word(c)),
            Op::Move => *word(a),
            Op::Special(special) => self.special(special),
            Op::Narrow => self.addresses[a].map(|wide| wide as u32),
            Op::Parameter(which) => match self.arguments[which] {
                Value::Number(number) => [number; LANES],
                Value::Buffer(buffer) => {
                    return self.set_wide(to, [(buffer as u64 + 1) << APART; LANES], active);
                }
            },
            Op::LocalStart => return self.set_wide(to, [0; LANES], active),
            Op::WideNumber(number) => return self.set_wide(to, [number; LANES], active),
            Op::Unpack => {
                let wide = self.addresses[b];
                self.set(to, wide.map(|wide| wide as u32), active);
                return self.set(a, wide.map(|wide| (wide >> 32) as u32), active);
            }
            Op::Pack
            | Op::WideAnd
            | Op::WideOr
            | Op::WideShiftRight
            | Op::MultiplyWides
            | Op::Fused
            | Op::AddDoubles
            | Op::SubtractDoubles => return self.wide_of_wide(instruction, active),
            Op::MoveWide | Op::MultiplyWide | Op::MultiplyAddWide | Op::AddWide | Op::MultiplyWideLow => {
                return self.wide(instruction, active);
            }
            Op::Compare(comparison) => {
                let (a, b) = (word(a), word(b));
                let holds = |lane: usize| match comparison {
                    Comparison::Equal => a[lane] == b[lane],
                    Comparison::NotEqual => a[lane] != b[lane],
                    Comparison::Less => a[lane] < b[lane],
                    Comparison::NotLess => a[lane] >= b[lane],
                };
                let bits = (0..LANES).fold(0, |bits, lane| bits | u32::from(holds(lane)) << lane);
                let flag = &mut self.flags[to];
                *flag = *flag & !active | bits & active;
                return;
            }
            Op::Load { .. } | Op::Store { .. } => return self.memory(instruction, active),
            Op::Branch { .. } | Op::Return => unreachable!("they are no steps"),
        };
        self.set(to, result, active);
    }

    fn special(&self, special: Special) -> Words {
        match special {
            Special::Block => [self.block as u32; LANES],
            Special::Blocks => [self.groups as u32; LANES],
            Special::Threads => [self.group as u32; LANES],
            Special::Thread => array::from_fn(|lane| (self.first + lane) as u32),
            Special::Own => [0; LANES],
        }
    }

    fn wide(&mut self, instruction: &Instruction, active: u32) {
        let [to, a, b, c] = instruction.at;
        let product = |lane: usize| u64::from(self.words[a][lane]) * u64::from(self.words[b][lane]);
        let wide = |place: usize, lane: usize| self.addresses[place][lane];
        let result = match instruction.op {
            Op::MoveWide => self.addresses[a],
            Op::MultiplyWide => array::from_fn(product),
            Op::MultiplyAddWide => array::from_fn(|lane| product(lane).wrapping_add(wide(c, lane))),
            Op::AddWide => array::from_fn(|lane| wide(a, lane).wrapping_add(wide(b, lane))),
            _ => array::from_fn(|lane| wide(a, lane).wrapping_mul(u64::from(self.words[b][lane]))),
        };
        self.set_wide(to, result, active);
    }

    fn wide_of_wide(&mut self, instruction: &Instruction, active: u32) {
        let [to, a, b, c] = instruction.at;
        if instruction.op == Op::Fused {
            self.trace.fused += u64::from(active.count_ones());
        }
        let wide = |place: usize, lane: usize| self.addresses[place][lane];
        let double = |place: usize, lane: usize| f64::from_bits(wide(place, lane));
        let result: Wides = match instruction.op {
            Op::Pack => array::from_fn(|lane| u64::from(self.words[b][lane]) << 32 | u64::from(self.words[a][lane])),
            Op::WideAnd => array::from_fn(|lane| wide(a, lane) & wide(b, lane)),
            Op::WideOr => array::from_fn(|lane| wide(a, lane) | wide(b, lane)),
            Op::WideShiftRight => array::from_fn(|lane| wide(a, lane) >> self.words[b][lane]),
            Op::MultiplyWides => array::from_fn(|lane| wide(a, lane).wrapping_mul(wide(b, lane))),
            Op::AddDoubles => array::from_fn(|lane| (double(a, lane) + double(b, lane)).to_bits()),
            Op::SubtractDoubles => array::from_fn(|lane| (double(a, lane) - double(b, lane)).to_bits()),
            _ => array::from_fn(|lane| match active >> lane & 1 {
                0 => 0,
                _ => fused(double(a, lane), double(b, lane), double(c, lane)),
            }),
        };
        self.set_wide(to, result, active);
    }

    fn memory(&mut self, instruction: &Instruction, active: u32) {
        let [base, register, ..] = instruction.at;
        let (space, bytes, count, offset, is_load) = match instruction.op {
            Op::Load {
                space,
                bytes,
                count,
                offset,
            } => (space, bytes, count, offset, true),
            Op::Store { space, count, offset } => (space, 4, count, offset, false),
            _ => unreachable!("it was asked before"),
        };
        for lane in lanes_of(active) {
            let address = offset as u64
                + match space {
                    Space::Global | Space::Local => self.addresses[base][lane],
                    Space::Shared => u64::from(self.words[base][lane]),
                };
            self.trace.note(address);
            let (buffer, start) = match space {
                Space::Shared => (&mut self.shared, address as usize),
                Space::Local => (&mut self.local[lane], address as usize),
                Space::Global => {
                    let which = (address >> APART) as usize;
                    let buffer = which.checked_sub(1).and_then(|which| self.buffers.get_mut(which));
                    let buffer = buffer.unwrap_or_else(|| panic!("{address:#x} is in no buffer"));
                    (buffer, (address & ((1 << APART) - 1)) as usize)
                }
            };
            let (size, name) = (buffer.len(), &instruction.name);
            assert_eq!(start % (bytes * count), 0, "{name}: {start} is not aligned");
            let Some(place) = buffer.get_mut(start..start + bytes * count) else {
                panic!("{name}: byte {start} of {size}")
            };
            for (part, place) in place.chunks_exact_mut(bytes).enumerate() {
                let word = &mut self.words[register + part][lane];
                match (is_load, bytes) {
                    (true, 1) => *word = u32::from(place[0]),
                    (true, _) => *word = u32::from_le_bytes([place[0], place[1], place[2], place[3]]),
                    (false, _) => place.copy_from_slice(&word.to_le_bytes()),
                }
            }
        }
    }
}

/// The bits of `a b + c`, rounded towards zero. All are integers, a and b below 2^63 and c below 2^106.
fn fused(a: f64, b: f64, c: f64) -> u64 {
    let exact = product(integer(a), integer(b)) + integer(c);
    let size = exact.unsigned_abs();
    // What is below the 53 bits of a double's mantissa is dropped.
    let dropped = (128 - size.leading_zeros()).saturating_sub(53);
    let rounded = ((size >> dropped) as u64 as f64).to_bits();
    let sign = u64::from(exact < 0) << 63;
    match size {
        0 => 0,
        _ => (rounded + (u64::from(dropped) << 52)) | sign,
    }
}

fn product(a: i128, b: i128) -> i128 {
    let [a, b] = [a, b].map(|x| i64::try_from(x).expect("a factor is below 2^63"));
    i128::from(a) * i128::from(b)
}

/// A double that is an integer below 2^106, read from its bits: conversions of such doubles are slow.
fn integer(x: f64) -> i128 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 & 0x7ff;
    if bits << 1 == 0 {
        return 0;
    }
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // Of a double that is below 2^53 the lowest bits of the mantissa are behind the point.
    let size = match exponent - 1075 {
        up @ 0..=53 => mantissa << up,
        down @ -52..0 if mantissa.trailing_zeros() as i32 >= -down => mantissa >> -down,
        _ => panic!("{x} is no integer, or too large"),
    };
    match x.is_sign_negative() {
        true => -(size as i128),
        false => size as i128,
    }
}

fn lanes_of(active: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| active >> lane & 1 == 1)
}

#[test]
fn a_fused_product_rounds_towards_zero() {
    let (high, low) = (2f64.powi(104), 2f64.powi(52));
    let largest = low - 1.0;
    for (a, b) in [(0.0, 0.0), (1.0, 1.0), (largest, largest), (largest, 3.0)] {
        let exact = a as u128 * b as u128;
        let top = f64::from_bits(fused(a, b, high));
        assert_eq!(top - high, ((exact >> 52) << 52) as f64, "{a} {b}");
        let rest = (high + low) - top;
        let bottom = f64::from_bits(fused(a, b, rest));
        assert_eq!(bottom - low, (exact & ((1 << 52) - 1)) as f64, "{a} {b}");
    }
    assert_eq!(f64::from_bits(fused(-3.0, 5.0, 1.0)), -14.0);
    assert_eq!(f64::from_bits(fused(3.0, 5.0, -15.0)), 0.0);
    // 1 - 2^104 has more bits than a mantissa.
    let below = f64::from_bits(fused(-(low + 1.0), low - 1.0, 0.0));
    assert_eq!(below, -(high - 2f64.powi(51)));
}

#[test]
#[should_panic(expected = "is no integer")]
fn a_fused_product_of_fractions_is_refused() {
    fused(0.5, 2.0, 0.0);
}
