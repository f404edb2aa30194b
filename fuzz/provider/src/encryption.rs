//! Encryption contexts: begun, set, asked, copied, and used in any order.

use std::ffi::c_void;

use rsalab_fuzz::input::{Input, block};

use crate::{
    core::{check, clear, provider},
    functions::{Dup, Free, GetParams, Init, New, Produce, SetParams, Table},
    material::{LEN, SLOTS, slot},
    params::{INTEGER, OCTETS, Params, Room, UNSIGNED, UTF8, counted, seed},
};

/// Parameters of an array at most.
const MOST: usize = 7;
/// Calls for one input at most.
const STEPS: usize = 8;

/// The bytes as a version, and calls of one context.
pub(crate) fn encryption(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let version = input.choice(3);
    let provider = provider(version);
    let table = provider.ciphers[0];
    // SAFETY: the numbers of these functions have these types in encryption.
    unsafe {
        let mut context = table.get::<New>(1)(provider.context);
        assert!(!context.is_null());
        for _ in 0..input.choice(STEPS + 1) {
            context = step(&mut input, table, context, version);
        }
        table.get::<Free>(6)(context);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    // A step: what is done, and what it takes. Key 2 is RSA, 3 its public half, 4 one of RSA-PSS.
    let begin = |how: u8, key: u8, all: &[Vec<u8>]| [&[0, how, key][..], &counted(all, MOST)].concat();
    let set = |all: &[Vec<u8>]| [vec![1], counted(all, MOST)].concat();
    let ask = |all: &[Vec<u8>]| [vec![2], counted(all, MOST)].concat();
    let encrypted = |input: &[u8]| [&[3, 0, 1, 0][..], &block(input)].concat();
    let decrypted = |input: &[u8]| [&[3, 1, 1, 0][..], &block(input)].concat();
    let again = vec![4, 1, 0];
    let text = |name: &str, value: &str| seed(name, UTF8, value.as_bytes());
    let number = |name: &str, value: i32| seed(name, INTEGER, &value.to_ne_bytes());
    let asked = ask(&[
        seed("pad-mode", UTF8, &[0; 10]),
        seed("digest", UTF8, &[0; 20]),
        seed("mgf1-digest", UTF8, &[0; 20]),
        seed("oaep-label", 7, &[]),
        seed("tls-client-version", UNSIGNED, &[0; 4]),
        seed("tls-negotiated-version", UNSIGNED, &[0; 4]),
        seed("implicit-rejection", UNSIGNED, &[0; 4]),
    ]);
    let asked_otherwise = ask(&[seed("pad-mode", INTEGER, &[0; 4]), seed("oaep-label", OCTETS, &[0; 9])]);
    let of = |version: u8, steps: &[Vec<u8>]| [vec![version], counted(steps, STEPS)].concat();
    let label = [
        text("pad-mode", "oaep"),
        seed("oaep-label", OCTETS, b"a label"),
        text("mgf1-digest", "SHA1"),
        text("digest", "SHA256"),
    ];
    let tls = [
        number("pad-mode", 7),
        number("tls-client-version", 0x303),
        number("tls-negotiated-version", 0x302),
    ];
    let explicit = [number("implicit-rejection", 0)];
    let mut seeds = vec![
        of(
            0,
            &[
                begin(0, 3, &label),
                encrypted(b"a message"),
                asked.clone(),
                asked_otherwise.clone(),
            ],
        ),
        of(
            0,
            &[
                begin(1, 2, &label),
                decrypted(&[0x5a; LEN]),
                asked.clone(),
                vec![5],
                asked_otherwise.clone(),
            ],
        ),
        of(
            1,
            &[
                begin(1, 2, &tls),
                decrypted(&[0x5a; LEN]),
                asked_otherwise.clone(),
                asked.clone(),
            ],
        ),
        of(
            1,
            &[
                begin(1, 2, &tls[..1]),
                decrypted(&[0x5a; LEN]),
                begin(0, 2, &tls),
                encrypted(&[3; 48]),
            ],
        ),
        of(
            2,
            &[
                begin(1, 2, &explicit),
                decrypted(&[0x5a; LEN]),
                decrypted(b"short"),
                decrypted(&[0xff; LEN]),
            ],
        ),
        of(
            2,
            &[begin(0, 4, &[]), begin(0, 0, &[]), begin(1, 3, &[]), encrypted(b"")],
        ),
        of(
            0,
            &[
                begin(0, 2, &[]),
                encrypted(b"a message"),
                begin(1, 2, &[]),
                again.clone(),
            ],
        ),
        of(
            0,
            &[
                begin(0, 2, &label),
                encrypted(b"a message"),
                begin(1, 2, &label),
                again.clone(),
            ],
        ),
        of(
            0,
            &[
                begin(0, 2, &explicit),
                encrypted(b"a message"),
                begin(1, 2, &explicit),
                again.clone(),
            ],
        ),
    ];
    for pad in ["pkcs1", "none", "oeap", "x931", ""] {
        let all = [text("pad-mode", pad)];
        seeds.push(of(
            0,
            &[
                begin(0, 2, &[]),
                set(&all),
                encrypted(&[0; LEN]),
                encrypted(&[1; 20]),
                asked.clone(),
            ],
        ));
    }
    seeds
}

/// One call; the context that goes on.
///
/// # Safety
///
/// The table is that of encryption, and the context was made by it.
unsafe fn step(input: &mut Input<'_>, table: Table, context: *mut c_void, version: usize) -> *mut c_void {
    clear();
    // SAFETY: the numbers of these functions have these types in encryption; the caller's promise.
    unsafe {
        match input.choice(6) {
            0 => {
                let id = [2, 4][input.choice(2)];
                let (key, mut params) = (slot(version, input.choice(SLOTS)), Params::of(input, MOST));
                check(table.get::<Init>(id)(context, key, params.pointer()));
                params.check(false);
            }
            1 => {
                let mut params = Params::of(input, MOST);
                check(table.get::<SetParams>(10)(context, params.pointer()));
                params.check(false);
            }
            2 => {
                let mut params = Params::of(input, MOST);
                let is_answered = check(table.get::<GetParams>(8)(context, params.pointer()));
                params.check(is_answered == 1);
            }
            3 => {
                let id = [3, 5][input.choice(2)];
                let (is_asked, less) = (input.byte() != 0, input.choice(4));
                let mut room = Room::new(if less == 0 { LEN } else { 10 * less });
                let content = input.block();
                produce(table, id, context, content, is_asked, &mut room);
            }
            4 => {
                // What is encrypted here is decrypted, if the context is one for both.
                let mut room = Room::new(LEN);
                if produce(table, 3, context, b"a message", true, &mut room) {
                    let (ciphertext, mut again) = (room.result().to_vec(), Room::new(LEN));
                    if produce(table, 5, context, &ciphertext, true, &mut again) {
                        assert_eq!(again.result(), b"a message");
                    }
                }
            }
            _ => {
                let copy = table.get::<Dup>(7)(context);
                assert!(!copy.is_null());
                table.get::<Free>(6)(context);
                return copy;
            }
        }
    }
    context
}

/// # Safety
///
/// As for [`step`]; the number is that of encryption or decryption.
unsafe fn produce(
    table: Table,
    id: i32,
    context: *mut c_void,
    content: &[u8],
    is_asked: bool,
    room: &mut Room,
) -> bool {
    clear();
    let (out, bytes) = (room.out(is_asked), room.len());
    // SAFETY: the caller's promise; lengths are those of the slices.
    let done = unsafe {
        table.get::<Produce>(id)(
            context,
            out,
            &raw mut room.written,
            bytes,
            content.as_ptr(),
            content.len(),
        )
    };
    let is_done = check(done) == 1;
    room.check(is_done);
    is_done && is_asked
}
