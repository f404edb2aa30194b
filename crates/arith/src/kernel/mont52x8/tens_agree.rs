//! The code for blocks of ten digits against the portable form of the lanes.

use super::blocks::LARGE;
use crate::kernel::lanes::{DIGIT_MASK, Portable};
use crate::kernel::mont52x8::Mont52x8;
use crate::kernel::mont52x8::moduli::{Moduli, vec8s_mut};
use crate::kernel::tens::fit;
use crate::kernel::x86_64::{have_ifma::HaveIfma, ifma512::Zmm};
use crate::kernel::{Doublings, FixedWindow, LaneKernel, Table, exp_fixed_window, fill_table};

type Blocks = Mont52x8<Zmm>;
type Model = Mont52x8<Portable>;
/// By the model or not, a value, and working memory.
type Operate<'a> = &'a mut dyn FnMut(bool, &mut [u64], &mut [u64]);

/// Random digits, and in some lanes the least and the greatest, or runs of both.
fn digits(state: &mut u64, count: usize) -> Vec<u64> {
    let mut next = || {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *state >> 12
    };
    let mut words: Vec<u64> = (0..8 * count).map(|_| next()).collect();
    let pattern = next();
    for (digit, vec) in vec8s_mut(&mut words).iter_mut().enumerate() {
        (vec[0], vec[1]) = (0, DIGIT_MASK);
        vec[2] = if pattern >> (digit % 48) & 1 == 0 {
            0
        } else {
            DIGIT_MASK
        };
        vec[3] = if (digit / LARGE).is_multiple_of(2) {
            DIGIT_MASK
        } else {
            0
        };
        vec[4] = if digit % LARGE == LARGE - 1 { DIGIT_MASK } else { 1 };
    }
    words
}

/// The code and the compiled blocks leave the same digits, whatever the moduli are: they compute the same number.
#[test]
fn blocks_leave_the_digits_of_the_model() {
    let Some(token) = HaveIfma::check() else {
        return eprintln!("SKIPPED: no AVX-512 IFMA");
    };
    let mut state = 1;
    for limbs in [16, 24, 32, 64, 128] {
        assert!(fit(Blocks::words(limbs) / 8));
        for _ in 0..1000 / limbs {
            agree_once(token, limbs, &mut state);
        }
    }
}

fn agree_once(token: HaveIfma, limbs: usize, state: &mut u64) {
    let (blocks, model) = (Blocks::new(token), Model::new(()));
    let count = Blocks::words(limbs) / 8;
    let mut moduli: Moduli = blocks.moduli(limbs);
    for constant in [
        &mut moduli.n,
        &mut moduli.rr,
        &mut moduli.high_rr,
        &mut moduli.large_inverse,
    ] {
        constant.copy_from_slice(&digits(state, count));
    }
    moduli.n0.copy_from_slice(&digits(state, 1));
    let moduli = &moduli;
    let (a, b) = (digits(state, count), digits(state, count));
    let mut working = vec![0xbeef; Blocks::working_words(limbs).max(Model::working_words(limbs))];
    let mut results = [a.clone(), a.clone()];
    let mut both = |what: &str, operate: Operate<'_>| {
        for (result, is_model) in results.iter_mut().zip([false, true]) {
            operate(is_model, result, &mut working);
        }
        assert!(results[0] == results[1], "{what} of {count} digits");
    };
    both("squares", &mut |is_model, a, t| match is_model {
        false => blocks.sqr(moduli, a, 2, t),
        true => model.sqr(moduli, a, 2, t),
    });
    both("a product", &mut |is_model, a, t| match is_model {
        false => blocks.mul(moduli, a, &b, t),
        true => model.mul(moduli, a, &b, t),
    });
    both("a long number", &mut |is_model, a, t| match is_model {
        false => blocks.enter_wide(moduli, a, &mut b.clone(), t),
        true => model.enter_wide(moduli, a, &mut b.clone(), t),
    });
    let bits: Vec<u8> = (0..24).map(|lane| (*state >> lane & 1) as u8).collect();
    both("doublings", &mut |is_model, value, working| {
        let power = Doublings {
            moduli,
            value,
            bits: &bits,
            working,
        };
        match is_model {
            false => blocks.square_and_double([power]),
            true => model.square_and_double([power]),
        }
    });
    for width in [4, 5] {
        let mut table = digits(state, count << width);
        let windows: Vec<u8> = (0..24).map(|lane| (*state >> lane) as u8 % (1 << width)).collect();
        both("windows", &mut |is_model, value, working| {
            let power = FixedWindow {
                moduli,
                value,
                table: &mut table,
                digits: &windows,
                selected: &mut vec![0xdead; 8 * count],
                working,
            };
            match is_model {
                false => blocks.exp_fixed_window([power], width),
                true => exp_fixed_window(model, power, width),
            }
        });
    }
}

/// Two powers of numbers of ten digits and their tables, which are worked on by turns.
#[test]
fn two_tens_leave_the_digits_of_the_model() {
    const LIMBS: usize = 8;
    let Some(token) = HaveIfma::check() else {
        return eprintln!("SKIPPED: no AVX-512 IFMA");
    };
    let (blocks, model) = (Blocks::new(token), Model::new(()));
    let count = Blocks::words(LIMBS) / 8;
    let mut state = 2;
    for windows in (0..40).map(|round| round % 4) {
        let mut two = || [(); 2].map(|()| digits(&mut state, count));
        let (n, one, value) = (two(), two(), two());
        let mut moduli = [(); 2].map(|()| blocks.moduli(LIMBS));
        for (i, moduli) in moduli.iter_mut().enumerate() {
            moduli.n.copy_from_slice(&n[i]);
            moduli.one.copy_from_slice(&one[i]);
            moduli.n0.copy_from_slice(&digits(&mut state, 1));
        }
        let wanted = [(); 2].map(|()| {
            digits(&mut state, windows)
                .iter()
                .map(|&digit| digit as u8 % 32)
                .collect()
        });
        let wanted: [Vec<u8>; 2] = wanted;
        let run = |is_model: bool| {
            let mut tables = [(); 2].map(|()| vec![0xdead; (8 * count) << 5]);
            let mut values = value.clone();
            let mut working = [(); 2].map(|()| vec![0xbeef; Blocks::working_words(LIMBS)]);
            let [table1, table2] = tables.each_mut();
            let [working1, working2] = working.each_mut();
            let of = |i: usize, table, working| Table {
                moduli: &moduli[i],
                value: &value[i],
                table,
                working,
            };
            let both = [of(0, table1, working1), of(1, table2, working2)];
            match is_model {
                false => blocks.fill_tables(both),
                true => both.into_iter().for_each(|table| fill_table(model, table)),
            }
            let filled = tables.clone();
            let mut selected = [(); 2].map(|()| vec![0xdead; 8 * count]);
            let [table1, table2] = tables.each_mut();
            let [working1, working2] = working.each_mut();
            let [value1, value2] = values.each_mut();
            let [selected1, selected2] = selected.each_mut();
            let of = |i: usize, value, table, selected, working| FixedWindow {
                moduli: &moduli[i],
                value,
                table,
                digits: &wanted[i],
                selected,
                working,
            };
            let both = [
                of(0, value1, table1, selected1, working1),
                of(1, value2, table2, selected2, working2),
            ];
            match is_model {
                false => blocks.exp_fixed_window(both, 5),
                true => both.into_iter().for_each(|power| exp_fixed_window(model, power, 5)),
            }
            (filled, values)
        };
        assert!(run(false) == run(true), "{windows} windows");
    }
}
