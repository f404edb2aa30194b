//! Keys: imported from any parameters, asked, exported, compared, generated.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use rsalab_fuzz::{input::Input, seeds};

use crate::{
    core::{Provider, check, clear, provider},
    functions::{
        DupKey, Export, Free, GenInit, Generate, GetParams, Has, Import, Matches, Param, SetParams, Table, Validate,
    },
    material::{OTHER_PARAMETERS, PRIVATE, PUBLIC, Slot, numbers, numbers_of, restrictions},
    params::{INTEGER, NOBODY, OCTETS, Params, UNSIGNED, UTF8, counted, seed},
};

/// Parameters of an array at most: those of a key of two primes, restrictions, and some twice.
const MOST: usize = 16;

/// Longer inputs have longer numbers, whose checks take the time of fuzzing.
const LONGEST: usize = 1000;

/// The bytes as a version, a type of key, and a key to import or to generate.
pub(crate) fn keys(bytes: &[u8]) {
    if bytes.len() > LONGEST {
        return;
    }
    let mut input = Input::new(bytes);
    let provider = provider(input.choice(3));
    let how = input.byte();
    let (kind, selection) = (
        usize::from(how & 1),
        c_int::from(how >> 2 & 3) | c_int::from(how & 2) << 6,
    );
    match how >> 4 & 3 {
        0 => generate(&mut input, provider, kind, selection),
        _ => import(&mut input, provider, kind, selection),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let parameters = |all: &[(&str, u8, Vec<u8>)]| -> Vec<Vec<u8>> {
        all.iter().map(|(name, form, data)| seed(name, *form, data)).collect()
    };
    let (key, restrictions) = (parameters(&numbers(false)), parameters(&restrictions()));
    let asked = [
        seed("bits", INTEGER, &[0; 4]),
        seed("max-size", UNSIGNED, &[0; 8]),
        seed("security-bits", INTEGER, &[0; 4]),
        seed("n", UNSIGNED, &[0; 64]),
        seed("rsa-factor1", UNSIGNED, &[0; 40]),
        seed("d", UNSIGNED, &[0; 3]),
        seed("e", INTEGER | 0x10, &[]),
        seed("default-digest", UTF8, &[0; 20]),
        seed("mandatory-digest", UTF8, &[0; 20]),
        seed("saltlen", INTEGER, &[0; 4]),
        seed("mgf1-digest", OCTETS, &[0; 20]),
    ];
    // How: a type of key in bit 0, restrictions in bit 1, halves in bits 2 and 3, and 1 in bit 4 to import.
    let of = |how: u8, version: u8, all: &[Vec<u8>]| {
        [&[version, how][..], &counted(all, MOST), &counted(&asked, MOST)].concat()
    };
    let of_restricted = [
        seed("saltlen", INTEGER, &[0; 4]),
        seed("mandatory-digest", UTF8, &[0; 20]),
        seed("digest", UTF8, &[0; 20]),
        seed("mgf1-digest", UTF8, &[0; 20]),
        seed("bits", UNSIGNED, &[0; 8]),
    ];
    let three = parameters(&numbers_of(&seeds::three_primes()));
    let restricted = [&key[..], &restrictions].concat();
    let without_crt = &key[..3];
    let (one_missing, twice) = (&key[..7], [&key[..], &key[..2]].concat());
    let generation = |all: &[Vec<u8>]| [&[1, 0x0d][..], &counted(all, MOST), &counted(&[], 4)].concat();
    vec![
        of(0x1c, 0, &key),
        of(0x18, 1, &key[..2]),
        of(0x1f, 2, &restricted),
        [
            &[0, 0x1f][..],
            &counted(&restricted, MOST),
            &counted(&of_restricted, MOST),
        ]
        .concat(),
        of(0x1c, 0, &three),
        of(0x1c, 2, &three),
        of(0x1c, 0, &three[..10]),
        generation(&[seed("bits", UNSIGNED, &[255, 1])]),
        generation(&[seed("bits", UNSIGNED, &[0, 2]), seed("primes", UNSIGNED, &[9])]),
        of(0x1d, 0, &restricted),
        of(0x1e, 0, &restricted),
        of(0x1c, 0, without_crt),
        of(0x1c, 0, one_missing),
        of(0x1c, 0, &twice),
        of(0x1c, 0, &key[1..]),
        // Nothing of it is to be imported.
        of(0x10, 0, &key),
        generation(&[seed("bits", UNSIGNED, &[0, 2]), seed("e", UNSIGNED, &[3])]),
        generation(&[
            seed("bits", UNSIGNED, &[0, 2, 0, 0]),
            seed("primes", UNSIGNED, &[3]),
            seed("digest", UTF8, b"SHA512"),
        ]),
        generation(&[seed("bits", INTEGER, &[0xff; 8]), seed("mgf", UTF8, b"MGF1")]),
        generation(&[seed("bits", UNSIGNED, &[0xff; 7])]),
    ]
}

fn import(input: &mut Input<'_>, provider: &'static Provider, kind: usize, selection: c_int) {
    let slot = Slot::new(provider, kind);
    let is_taken = slot.import(selection, &mut Params::of(input, MOST));
    ask(
        input,
        provider,
        kind,
        &slot,
        is_taken && selection & (PRIVATE | PUBLIC) != 0,
    );
}

/// Asks of a key what may be asked of any.
fn ask(input: &mut Input<'_>, provider: &'static Provider, kind: usize, slot: &Slot, is_key: bool) {
    let table = provider.keys[kind];
    let mut asked = Params::of(input, MOST);
    clear();
    // SAFETY: the numbers of these functions have these types in key management, and the key is the provider's.
    unsafe {
        let is_answered = check(table.get::<GetParams>(11)(slot.pointer, asked.pointer()));
        asked.check(is_answered == 1);
        for selection in [PUBLIC, PRIVATE, PUBLIC | PRIVATE, OTHER_PARAMETERS, 0, 0xff] {
            let has = table.get::<Has>(21)(slot.pointer, selection);
            assert!(matches!(has, 0 | 1));
            if selection == PUBLIC {
                assert_eq!(has == 1, is_key);
            }
            clear();
            check(table.get::<Validate>(22)(slot.pointer, selection, 1));
            clear();
            exported(provider, table, kind, slot, selection);
            let copy = table.get::<DupKey>(44)(slot.pointer, selection);
            if selection & (PUBLIC | PRIVATE) == 0 {
                assert!(copy.is_null(), "an empty key is no copy");
                continue;
            }
            let copy = Slot::of(provider, kind, copy);
            let is_same = table.get::<Matches>(23)(slot.pointer, copy.pointer, PUBLIC);
            assert_eq!(is_same == 1, is_key);
        }
    }
}

/// The argument of an export's callback.
struct Copy {
    import: Import,
    slot: Slot,
    selection: c_int,
    is_called: bool,
}

/// Exports a key, and imports it as the same one.
fn exported(provider: &'static Provider, table: Table, kind: usize, slot: &Slot, selection: c_int) {
    unsafe extern "C" fn callback(params: *const Param, argument: *mut c_void) -> c_int {
        // SAFETY: `exported` passes a `Copy`, and the provider an array.
        unsafe {
            let copy = &mut *argument.cast::<Copy>();
            copy.is_called = true;
            (copy.import)(copy.slot.pointer, copy.selection, params)
        }
    }
    // SAFETY: as in `ask`.
    unsafe {
        let mut copy = Copy {
            import: table.get(40),
            slot: Slot::new(provider, kind),
            selection,
            is_called: false,
        };
        let done = table.get::<Export>(42)(slot.pointer, selection, Some(callback), ptr::from_mut(&mut copy).cast());
        assert!(matches!(done, 0 | 1));
        clear();
        if done == 1 && selection & PUBLIC != 0 {
            assert!(copy.is_called);
            let is_same = table.get::<Matches>(23)(slot.pointer, copy.slot.pointer, PUBLIC);
            assert_eq!(is_same, 1, "a key that was exported is another one");
        }
    }
}

/// A generation that is set up from any parameters, and done if it is short.
fn generate(input: &mut Input<'_>, provider: &'static Provider, kind: usize, selection: c_int) {
    let table = provider.keys[kind];
    let (mut first, mut more) = (Params::of(input, MOST), Params::of(input, 4));
    clear();
    // SAFETY: the numbers of these functions have these types in key management.
    unsafe {
        let generation = table.get::<GenInit>(2)(provider.context, selection, first.pointer());
        first.check(false);
        if generation.is_null() {
            return;
        }
        let is_set = check(table.get::<SetParams>(4)(generation, more.pointer()));
        more.check(false);
        // Of 512 bits and a little more it takes milliseconds.
        let is_short = is_set == 1
            && first.number("bits").is_some_and(|bits| bits <= 544)
            && first.number("primes").unwrap_or(2) <= 5
            && more.number("bits").is_none()
            && more.number("primes").is_none();
        if is_short {
            clear();
            let made = table.get::<Generate>(6)(generation, None, NOBODY);
            check(c_int::from(!made.is_null()));
            if !made.is_null() {
                ask(input, provider, kind, &Slot::of(provider, kind, made), true);
            }
        }
        table.get::<Free>(7)(generation);
    }
}
