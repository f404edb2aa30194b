//! Cyclic transforms of N = m 2^k residues modulo one prime, m = 1, 3 or 5.
//!
//! ```text
//! m columns ── 3 or 5 residues, twisted ── m transforms of 2^k
//! 2^k > 2^16: columns of 2^k / 2^16 residues, twisted ── transforms of 2^16, each in the second-level cache
//! ```
//!
//! Modulo x^(ML) - 1, the M rows of L residues are coefficients of a polynomial of degree M - 1 in y = x^L. Its values
//! at the M-th roots of unity r^L are what it is modulo x^L - r^L; with coefficient s multiplied by r^s ("twisted")
//! that is modulo x^L - 1. The order in which values come out is of no concern: a product is taken value by value, and
//! the inverse transform takes them in the same order.

use crate::{
    butterfly::{forward2_root, forward4, forward64, inverse2_root, inverse4, inverse64},
    digits::Reader,
    kernel::{Eight, Line, Modulus},
    odd,
    table::{MAX_INNER_LOG, Roots},
    twist::{AT_ONCE, Cyclic, Twist, twists},
};

/// The lines of a block on which all remaining levels are done before the next one: it and its roots lie in the
/// first-level cache.
const UNIT: usize = 8;

/// All levels of a block of `unit` times a power of two lines, down to blocks of `unit` lines: depth first, so that
/// what is in a cache is used there. Where `INNER`, `unit` is 8 lines, whose levels are done too.
#[inline(always)]
fn forward_levels<E: Eight, const INNER: bool>(
    token: E::Token,
    data: &mut [Line],
    unit: usize,
    roots: &Roots,
    modulus: &Modulus<E::Half>,
) {
    let log = (data.len() / unit).trailing_zeros();
    if log % 2 == 1 {
        forward2_root::<E>(token, data, modulus);
    }
    for j in 0..data.len() / unit {
        // The largest block that begins here.
        let levels = if j == 0 { log & !1 } else { j.trailing_zeros() & !1 };
        for level in (1..=levels / 2).rev() {
            let lines = unit << (2 * level);
            let block = &mut data[j * unit..][..lines];
            if j == 0 {
                forward4::<E, true>(token, block, 0, roots, modulus);
            } else {
                forward4::<E, false>(token, block, j >> (2 * level), roots, modulus);
            }
        }
        if INNER {
            let block = data[j * unit..].first_chunk_mut().expect("64 residues");
            forward64::<E>(token, block, j, roots, modulus);
        }
    }
}

/// [`forward_levels`] backwards, times the number of residues, or where not `INNER` of units.
#[inline(always)]
fn inverse_levels<E: Eight, const INNER: bool>(
    token: E::Token,
    data: &mut [Line],
    unit: usize,
    roots: &Roots,
    modulus: &Modulus<E::Half>,
) {
    let log = (data.len() / unit).trailing_zeros();
    for j in 0..data.len() / unit {
        if INNER {
            let block = data[j * unit..].first_chunk_mut().expect("64 residues");
            inverse64::<E>(token, block, j, roots, modulus);
        }
        let levels = (j + 1).trailing_zeros().min(log) & !1;
        for level in 1..=levels / 2 {
            let end = (j + 1) * unit;
            let block = &mut data[end - (unit << (2 * level))..end];
            if j >> (2 * level) == 0 {
                inverse4::<E, true>(token, block, 0, roots, modulus);
            } else {
                inverse4::<E, false>(token, block, j >> (2 * level), roots, modulus);
            }
        }
    }
    if log % 2 == 1 {
        inverse2_root::<E>(token, data, modulus);
    }
}

/// Columns are taken so many lines at a time, so that a row's part is contiguous in memory for a while.
fn width(rows: usize) -> usize {
    (512 / rows).clamp(AT_ONCE, 8)
}

/// Where columns come from.
trait Source<E: Eight> {
    fn line(&self, data: &[Line], i: usize, modulus: &Modulus<E>) -> E;
}

/// From where they go to.
struct InPlace<E: Eight>(E::Token);

impl<E: Eight> Source<E> for InPlace<E> {
    #[inline(always)]
    fn line(&self, data: &[Line], i: usize, _: &Modulus<E>) -> E {
        E::load(self.0, &data[i])
    }
}

impl<E: Eight> Source<E> for Reader<'_, E> {
    #[inline(always)]
    fn line(&self, _: &[Line], i: usize, modulus: &Modulus<E>) -> E {
        self.line(i, modulus)
    }
}

/// Rows of 2^16 residues, each column transformed, and twisted.
#[inline(always)]
fn forward_columns<E: Eight>(
    token: E::Token,
    source: &impl Source<E>,
    data: &mut [Line],
    cyclic: &Cyclic,
    modulus: &Modulus<E>,
) {
    let half = Modulus::<E::Half>::new(token, cyclic.field.p);
    let stride = 1 << (MAX_INNER_LOG - 3);
    let rows = data.len() / stride;
    let width = width(rows);
    let mut twists = twists(cyclic, false);
    let mut scratch = vec![Line::ZERO; rows * width];
    for from in (0..stride).step_by(width) {
        for (row, part) in scratch.chunks_exact_mut(width).enumerate() {
            for (i, out) in part.iter_mut().enumerate() {
                source.line(data, row * stride + from + i, modulus).store(out);
            }
        }
        forward_levels::<E, false>(token, &mut scratch, width, &cyclic.table.forward, &half);
        for ((row, part), twist) in scratch.chunks_exact(width).enumerate().zip(&mut twists) {
            let out = &mut data[row * stride + from..][..width];
            twisted(token, part, out, twist, modulus);
        }
    }
}

#[inline(always)]
fn inverse_columns<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
    let half = Modulus::<E::Half>::new(token, cyclic.field.p);
    let stride = 1 << (MAX_INNER_LOG - 3);
    let rows = data.len() / stride;
    let width = width(rows);
    let mut twists = twists(cyclic, true);
    let mut scratch = vec![Line::ZERO; rows * width];
    for from in (0..stride).step_by(width) {
        for ((row, part), twist) in scratch.chunks_exact_mut(width).enumerate().zip(&mut twists) {
            let x = &data[row * stride + from..][..width];
            twisted(token, x, part, twist, modulus);
        }
        inverse_levels::<E, false>(token, &mut scratch, width, &cyclic.table.inverse, &half);
        for (row, part) in scratch.chunks_exact(width).enumerate() {
            data[row * stride + from..][..width].copy_from_slice(part);
        }
    }
}

/// A part of a row times its factors.
#[inline(always)]
fn twisted<E: Eight>(token: E::Token, x: &[Line], out: &mut [Line], twist: &mut Twist, modulus: &Modulus<E>) {
    for (x, out) in x.chunks_exact(AT_ONCE).zip(out.chunks_exact_mut(AT_ONCE)) {
        let factors: [E; AT_ONCE] = twist.next(token, modulus);
        for ((x, out), factor) in x.iter().zip(out).zip(factors) {
            E::load(token, x).mul(factor, modulus).store(out);
        }
    }
}

/// Transforms the digits of a number; results are at most 4 p.
#[inline(always)]
pub(crate) fn forward<E: Eight>(
    token: E::Token,
    reader: &Reader<'_, E>,
    data: &mut [Line],
    cyclic: &Cyclic,
    modulus: &Modulus<E>,
) {
    let is_long = cyclic.log > MAX_INNER_LOG;
    match cyclic.m {
        3 => odd::forward3(token, reader, data, cyclic, modulus),
        5 => odd::forward5(token, reader, data, cyclic, modulus),
        _ if is_long => forward_columns(token, reader, data, cyclic, modulus),
        _ => {
            let (used, zeros) = data.split_at_mut(reader.lines());
            for (i, line) in used.iter_mut().enumerate() {
                reader.line(i, modulus).store(line);
            }
            zeros.fill(Line::ZERO);
        }
    }
    let half = Modulus::<E::Half>::new(token, cyclic.field.p);
    for part in data.chunks_exact_mut(1 << (cyclic.log - 3)) {
        if is_long && cyclic.m > 1 {
            forward_columns(token, &InPlace::<E>(token), part, cyclic, modulus);
        }
        for inner in part.chunks_exact_mut(1 << (cyclic.log.min(MAX_INNER_LOG) - 3)) {
            forward_levels::<E, true>(token, inner, UNIT, &cyclic.table.forward, &half);
        }
    }
}

/// A step on a part of residues before they are transformed back, while it is in a cache.
pub(crate) trait Before {
    /// Writes `part`, which begins with line number `line`. Implementations are `#[inline(always)]`: a closure would
    /// not be compiled for the form.
    fn run<E: Eight>(&self, token: E::Token, part: &mut [Line], line: usize, modulus: &Modulus<E>);
}

/// Transforms residues of at most p back, times N; results are at most 3 p. `before` is done to each part before, which
/// gets the number of its first line: while it is in a cache.
#[inline(always)]
pub(crate) fn inverse<E: Eight>(
    token: E::Token,
    data: &mut [Line],
    cyclic: &Cyclic,
    modulus: &Modulus<E>,
    before: &impl Before,
) {
    let mut line = 0;
    let half = Modulus::<E::Half>::new(token, cyclic.field.p);
    for part in data.chunks_exact_mut(1 << (cyclic.log - 3)) {
        for inner in part.chunks_exact_mut(1 << (cyclic.log.min(MAX_INNER_LOG) - 3)) {
            before.run(token, inner, line, modulus);
            line += inner.len();
            inverse_levels::<E, true>(token, inner, UNIT, &cyclic.table.inverse, &half);
        }
        if cyclic.log > MAX_INNER_LOG {
            inverse_columns(token, part, cyclic, modulus);
        }
    }
    match cyclic.m {
        3 => odd::inverse3(token, data, cyclic, modulus),
        5 => odd::inverse5(token, data, cyclic, modulus),
        _ => {}
    }
}
