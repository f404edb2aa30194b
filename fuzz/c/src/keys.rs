//! Keys: read, written, asked, generated.

use std::{ffi::c_int, ops::RangeInclusive, ptr};

use rsalab_fuzz::{
    input::Input,
    seeds::{PASSWORD, encrypted_keys, private_keys, public_keys},
};

use crate::{
    api::{
        BUFFER, Bytes, ITEMS, OK, PrivateKey, checked, rsalab_private_key_bits, rsalab_private_key_write,
        rsalab_private_keys_generate, rsalab_private_keys_read, rsalab_public_key_bits, rsalab_public_key_exponent,
        rsalab_public_key_modulus, rsalab_public_key_read, rsalab_public_key_write,
    },
    handles::{Private, Public, parts, public_of, read},
    room::Room,
};

/// Short keys: checks of long ones take the time of fuzzing.
const MOST_BITS: [usize; 4] = [1024, 512, 513, 16385];

/// The first byte says how the rest is read, as a file; or that it is arguments of key generation.
pub(crate) fn keys(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let how = input.byte();
    if how & 0xf0 == 0xf0 {
        return generate(&mut input);
    }
    let password = (how & 1 != 0).then_some(PASSWORD);
    let most_bits = MOST_BITS[usize::from(how >> 1) % 4];
    let file = input.rest();
    match how >> 3 & 3 {
        0 => {
            if let Some(key) = read(file, password, most_bits) {
                written_and_read(&key, password);
            }
        }
        1 => {
            if let Some(key) = read_public(file, password, most_bits) {
                asked(&key);
            }
        }
        threads => many(
            file,
            password,
            most_bits,
            usize::from(how >> 5),
            usize::from(threads) - 1,
        ),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let with = |how: u8, files: Vec<Vec<u8>>| files.into_iter().map(move |file| [&[how][..], &file].concat());
    let mut seeds: Vec<Vec<u8>> = with(0, private_keys()).collect();
    seeds.extend(with(8, public_keys()));
    seeds.extend(with(8, private_keys()));
    seeds.extend(with(0x30, private_keys()));
    // Whatever takes a password's time is there once.
    seeds.extend(with(1, encrypted_keys()).take(1));
    let generation = |bits: u16, rest: &[u8]| {
        let [low, high] = bits.to_le_bytes();
        [&[0xf0, 240, low, high, 0, 0, 0, 0, 0, 0][..], rest].concat()
    };
    seeds.extend([
        generation(512, &[0, 1, 1]),
        generation(256, &[3, 0, 2]),
        generation(255, &[4, 1, 1]),
        generation(0x4001, &[1, 1, 1]),
    ]);
    seeds
}

fn read_public(file: &[u8], password: Option<&[u8]>, most_bits: usize) -> Option<Public> {
    let mut key = ptr::null_mut();
    let (password, len) = parts(password);
    // SAFETY: lengths are those of the slices, and there is a place for a key.
    let status =
        unsafe { rsalab_public_key_read(file.as_ptr(), file.len(), password.cast(), len, most_bits, &raw mut key) };
    assert_eq!(checked(status) == OK, !key.is_null());
    (status == OK).then_some(Public(key))
}

/// The bytes that a call writes which measures its room: it says how much it needs, writes nothing into less,
/// and so much into enough.
fn measured(call: impl Fn(*mut u8, *mut usize) -> c_int) -> Option<Vec<u8>> {
    let mut needed = 7;
    let status = checked(call(ptr::null_mut(), &raw mut needed));
    if status != BUFFER {
        assert_ne!(status, OK, "NULL has no room");
        return None;
    }
    let mut short = Room::new(needed - 1);
    let mut len = short.len();
    assert_eq!(checked(call(short.pointer(), &raw mut len)), BUFFER);
    short.check_untouched();
    let mut room = Room::new(needed + 3);
    let mut len = room.len();
    assert_eq!(checked(call(room.pointer(), &raw mut len)), OK);
    Some(room.written(len).to_vec())
}

fn written_and_read(key: &Private, password: Option<&[u8]>) {
    // SAFETY: the key is one of the library.
    let bits = unsafe { rsalab_private_key_bits(key.0) };
    for format in 0..=5 {
        // SAFETY: the key is one of the library, and there is room for as much as is said.
        let write = |bytes, len| unsafe { rsalab_private_key_write(key.0, format, ptr::null(), 0, bytes, len) };
        let written = measured(write);
        check_form(written.is_some(), format, 1..=4);
        if let Some(written) = written {
            let again = read(&written, None, bits).expect("what was written can be read");
            // SAFETY: the key is one of the library.
            assert_eq!(unsafe { rsalab_private_key_bits(again.0) }, bits);
        }
    }
    let (password, len) = parts(password);
    if !password.is_null() {
        // PKCS#1 has no passwords; what has takes its time once.
        let mut room = Room::new(64);
        let mut needed = room.len();
        // SAFETY: as above.
        let status =
            unsafe { rsalab_private_key_write(key.0, 3, password.cast(), len, room.pointer(), &raw mut needed) };
        assert_ne!(checked(status), OK);
        room.check_untouched();
    }
    asked(&public_of(key));
}

/// PKCS#1, forms 3 and 4, cannot say what a key is restricted to: then it is not written.
fn check_form(is_written: bool, format: u32, known: RangeInclusive<u32>) {
    assert!(is_written == known.contains(&format) || (!is_written && matches!(format, 3 | 4)));
}

fn asked(key: &Public) {
    // SAFETY: the key is one of the library.
    let bits = unsafe { rsalab_public_key_bits(key.0) };
    // SAFETY: the key is one of the library, and there is room for as much as is said.
    let modulus = measured(|bytes, len| unsafe { rsalab_public_key_modulus(key.0, bytes, len) });
    assert_eq!(modulus.map(|modulus| modulus.len()), Some(bits.div_ceil(8)));
    // SAFETY: as above.
    let exponent = measured(|bytes, len| unsafe { rsalab_public_key_exponent(key.0, bytes, len) });
    assert!(exponent.is_some_and(|exponent| exponent[0] != 0));
    for format in 0..=6 {
        // SAFETY: as above.
        let written = measured(|bytes, len| unsafe { rsalab_public_key_write(key.0, format, bytes, len) });
        check_form(written.is_some(), format, 1..=5);
        if let Some(written) = written {
            let again = read_public(&written, None, bits).expect("what was written can be read");
            // SAFETY: the key is one of the library.
            assert_eq!(unsafe { rsalab_public_key_bits(again.0) }, bits);
        }
    }
}

/// A file, half of it, and nothing.
fn many(file: &[u8], password: Option<&[u8]>, most_bits: usize, rounds: usize, threads: usize) {
    let files = [file, &file[..file.len() / 2], &[]].map(Bytes::of);
    let (password, len) = parts(password);
    let mut keys: [*mut PrivateKey; 3] = [ptr::null_mut(); 3];
    let mut statuses = [-1; 3];
    // More than there may be.
    let rounds = if rounds == 7 { 1025 } else { rounds };
    // SAFETY: lengths are those of the slices, and there are places for three keys and statuses.
    let status = unsafe {
        rsalab_private_keys_read(
            files.as_ptr(),
            files.len(),
            password.cast(),
            len,
            most_bits,
            rounds,
            threads,
            keys.as_mut_ptr(),
            statuses.as_mut_ptr(),
        )
    };
    let given = keys.map(|key| (!key.is_null()).then_some(Private(key)));
    match checked(status) {
        OK | ITEMS => {
            for (status, key) in statuses.into_iter().zip(&given) {
                assert_eq!(checked_item(status) == OK, key.is_some());
            }
            assert_ne!(statuses[2], OK, "nothing is no key");
        }
        _ => assert!(given.iter().all(Option::is_none) && statuses == [-1; 3]),
    }
}

/// A status of an item, whose text is another one's perhaps.
fn checked_item(status: c_int) -> c_int {
    assert!((0..20).contains(&status) && !matches!(status, 14..=17 | 19));
    status
}

/// Lengths of any kind; those that take their time are short.
fn generate(input: &mut Input<'_>) {
    let (bits, exponent, count) = (input.number(), input.number(), input.choice(3));
    if (513..=16384).contains(&bits) && count > 0 {
        return;
    }
    let mut keys: [*mut PrivateKey; 2] = [ptr::null_mut(); 2];
    let bits = usize::try_from(bits).unwrap_or(usize::MAX);
    // SAFETY: there are places for two keys.
    let status = unsafe { rsalab_private_keys_generate(bits, exponent, 1, keys.as_mut_ptr(), count) };
    let made = keys.map(|key| (!key.is_null()).then_some(Private(key)));
    let is_made = checked(status) == OK;
    for (number, key) in made.iter().enumerate() {
        assert_eq!(key.is_some(), is_made && number < count);
        if let Some(key) = key {
            // SAFETY: the key is one of the library.
            assert_eq!(unsafe { rsalab_private_key_bits(key.0) }, bits);
        }
    }
}
