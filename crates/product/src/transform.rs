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
    kernel::{Eight, Line, Modulus},
    odd,
    table::{MAX_INNER_LOG, Roots},
    twist::{Cyclic, Twist},
};

/// The lines of a block on which all remaining levels are done before the next one: it and its roots lie in the
/// first-level cache.
const UNIT: usize = 8;

/// All levels of a block of `unit` times a power of two lines, down to blocks of `unit` lines: depth first, so that
/// what is in a cache is used there. `last` is done to each of those.
#[inline(always)]
fn forward_levels<E: Eight>(
    token: E::Token,
    data: &mut [Line],
    unit: usize,
    roots: &Roots,
    modulus: &Modulus<E>,
    mut last: impl FnMut(&mut [Line], usize),
) {
    let log = (data.len() / unit).trailing_zeros();
    if log % 2 == 1 {
        forward2_root(token, data, modulus);
    }
    for j in 0..data.len() / unit {
        // The largest block that begins here.
        let levels = if j == 0 {
            log & !1
        } else {
            j.trailing_zeros().min(log) & !1
        };
        for level in (1..=levels / 2).rev() {
            let lines = unit << (2 * level);
            forward4(token, &mut data[j * unit..][..lines], j >> (2 * level), roots, modulus);
        }
        last(&mut data[j * unit..][..unit], j);
    }
}

/// [`forward_levels`] backwards, times `data.len() / unit`.
#[inline(always)]
fn inverse_levels<E: Eight>(
    token: E::Token,
    data: &mut [Line],
    unit: usize,
    roots: &Roots,
    modulus: &Modulus<E>,
    mut first: impl FnMut(&mut [Line], usize),
) {
    let log = (data.len() / unit).trailing_zeros();
    for j in 0..data.len() / unit {
        first(&mut data[j * unit..][..unit], j);
        let levels = (j + 1).trailing_zeros().min(log) & !1;
        for level in 1..=levels / 2 {
            let lines = unit << (2 * level);
            let end = (j + 1) * unit;
            forward_check(end, lines);
            inverse4(token, &mut data[end - lines..end], j >> (2 * level), roots, modulus);
        }
    }
    if log % 2 == 1 {
        inverse2_root(token, data, modulus);
    }
}

#[inline(always)]
fn forward_check(end: usize, lines: usize) {
    debug_assert!(end.is_multiple_of(lines));
}

/// A transform of 2^6 to 2^16 residues.
#[inline(always)]
fn forward_inner<E: Eight>(token: E::Token, data: &mut [Line], roots: &Roots, modulus: &Modulus<E>) {
    forward_levels(token, data, UNIT, roots, modulus, |block, j| {
        forward64(token, block.first_chunk_mut().expect("64 residues"), j, roots, modulus);
    });
}

#[inline(always)]
fn inverse_inner<E: Eight>(token: E::Token, data: &mut [Line], roots: &Roots, modulus: &Modulus<E>) {
    inverse_levels(token, data, UNIT, roots, modulus, |block, j| {
        inverse64(token, block.first_chunk_mut().expect("64 residues"), j, roots, modulus);
    });
}

/// Bits of `i` in reverse, of `log`.
fn reverse(i: usize, log: u32) -> u64 {
    (i as u64).reverse_bits() >> (64 - log)
}

/// Columns are taken so many lines at a time, so that a row's part is contiguous in memory for a while.
fn width(rows: usize) -> usize {
    (512 / rows).clamp(1, 8)
}

/// Rows of 2^16 residues, each column transformed, and twisted.
#[inline(always)]
fn forward_columns<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
    let stride = 1 << (MAX_INNER_LOG - 3);
    let rows = data.len() / stride;
    let log = rows.trailing_zeros();
    let width = width(rows);
    let mut twist = Twist::new(
        cyclic.field,
        1 << cyclic.log,
        (0..rows).map(|row| reverse(row, log)),
        0,
        false,
    );
    let mut scratch = vec![Line::ZERO; rows * width];
    for from in (0..stride).step_by(width) {
        for (row, part) in scratch.chunks_exact_mut(width).enumerate() {
            part.copy_from_slice(&data[row * stride + from..][..width]);
        }
        forward_levels(token, &mut scratch, width, &cyclic.table.forward, modulus, |_, _| {});
        for (row, part) in scratch.chunks_exact(width).enumerate() {
            let out = &mut data[row * stride + from..][..width];
            for (x, out) in part.iter().zip(out) {
                let factor: E = twist.next(token, row, modulus);
                E::load(token, x).mul(factor, modulus).store(out);
            }
        }
    }
}

#[inline(always)]
fn inverse_columns<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
    let stride = 1 << (MAX_INNER_LOG - 3);
    let rows = data.len() / stride;
    let log = rows.trailing_zeros();
    let width = width(rows);
    let mut twist = Twist::new(
        cyclic.field,
        1 << cyclic.log,
        (0..rows).map(|row| reverse(row, log)),
        0,
        true,
    );
    let mut scratch = vec![Line::ZERO; rows * width];
    for from in (0..stride).step_by(width) {
        for (row, part) in scratch.chunks_exact_mut(width).enumerate() {
            for (out, x) in part.iter_mut().zip(&data[row * stride + from..]) {
                let factor: E = twist.next(token, row, modulus);
                E::load(token, x).mul(factor, modulus).store(out);
            }
        }
        inverse_levels(token, &mut scratch, width, &cyclic.table.inverse, modulus, |_, _| {});
        for (row, part) in scratch.chunks_exact(width).enumerate() {
            data[row * stride + from..][..width].copy_from_slice(part);
        }
    }
}

/// Transforms residues of at most 2 p; results are at most 4 p.
#[inline(always)]
pub(crate) fn forward<E: Eight>(token: E::Token, data: &mut [Line], cyclic: &Cyclic, modulus: &Modulus<E>) {
    match cyclic.m {
        3 => odd::forward3(token, data, cyclic, modulus),
        5 => odd::forward5(token, data, cyclic, modulus),
        _ => {}
    }
    for part in data.chunks_exact_mut(1 << (cyclic.log - 3)) {
        if cyclic.log > MAX_INNER_LOG {
            forward_columns(token, part, cyclic, modulus);
        }
        for inner in part.chunks_exact_mut(1 << (cyclic.log.min(MAX_INNER_LOG) - 3)) {
            forward_inner(token, inner, &cyclic.table.forward, modulus);
        }
    }
}

/// Transforms residues of at most p back, times N; results are at most 3 p. `before` is done to each part before, which
/// gets the number of its first line: while it is in a cache.
#[inline(always)]
pub(crate) fn inverse<E: Eight>(
    token: E::Token,
    data: &mut [Line],
    cyclic: &Cyclic,
    modulus: &Modulus<E>,
    mut before: impl FnMut(&mut [Line], usize),
) {
    let mut line = 0;
    for part in data.chunks_exact_mut(1 << (cyclic.log - 3)) {
        for inner in part.chunks_exact_mut(1 << (cyclic.log.min(MAX_INNER_LOG) - 3)) {
            before(inner, line);
            line += inner.len();
            inverse_inner(token, inner, &cyclic.table.inverse, modulus);
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
