//! Signature contexts: begun, set, asked, copied, and used in any order.

use std::{
    ffi::{CString, c_int, c_void},
    ptr,
};

use rsalab_fuzz::input::{Input, block};

use crate::{
    core::{check, clear, provider},
    functions::{
        DigestInit, Dup, Final, Free, GetParams, Init, NewSignature, Produce, SetParams, Table, Update, Verify,
        VerifyFinal,
    },
    material::{LEN, SLOTS, slot},
    params::{INTEGER, OCTETS, Params, Room, UNSIGNED, UTF8, counted, seed},
};

/// Parameters of an array at most.
const MOST: usize = 7;
/// Calls for one input at most.
const STEPS: usize = 8;

/// The bytes as a version, an algorithm, and calls of one context.
pub(crate) fn signatures(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let version = input.choice(3);
    let provider = provider(version);
    let which = input.choice(provider.signatures.len());
    let table = provider.signatures[which];
    // SAFETY: the numbers of these functions have these types in signatures.
    unsafe {
        let mut context = table.get::<NewSignature>(1)(provider.context, ptr::null());
        assert!(!context.is_null());
        for _ in 0..input.choice(STEPS + 1) {
            context = step(&mut input, table, context, version, which == 0);
        }
        table.get::<Free>(16)(context);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let (sign, verify, recover, sign_message, verify_message) = (0_u8, 1, 2, 3, 4);
    // A step: what is done, and what it takes. Key 2 is RSA, 3 its public half, 5 a restricted one of RSA-PSS.
    let begin = |how: u8, key: u8, all: &[Vec<u8>]| [&[0, how, key][..], &counted(all, MOST)].concat();
    let begin_named = |how: u8, key: u8, name: &[u8], all: &[Vec<u8>]| {
        [&[0, how, key][..], &block(name), &counted(all, MOST)].concat()
    };
    let set = |all: &[Vec<u8>]| [vec![1], counted(all, MOST)].concat();
    let ask = |all: &[Vec<u8>]| [vec![2], counted(all, MOST)].concat();
    // Of a message that is signed, or of one that is verified.
    let update = |part: &[u8]| [vec![3], block(part), vec![0]].concat();
    let update_verified = |part: &[u8]| [vec![3], block(part), vec![1]].concat();
    let (sign_final, copy) = (vec![4, 1, 0], vec![8]);
    let verify_final = |signature: &[u8]| [vec![5], block(signature)].concat();
    let signed = |input: &[u8]| [&[6, 1, 0][..], &block(input)].concat();
    let verified = |signature: &[u8], input: &[u8]| [vec![7], block(signature), block(input)].concat();
    let recovered = |signature: &[u8]| [&[9, 1, 0][..], &block(signature)].concat();
    let text = |name: &str, value: &str| seed(name, UTF8, value.as_bytes());
    let number = |name: &str, value: i32| seed(name, INTEGER, &value.to_ne_bytes());
    let asked = ask(&[
        seed("algorithm-id", OCTETS, &[0; 100]),
        seed("pad-mode", UTF8, &[0; 10]),
        seed("digest", UTF8, &[0; 20]),
        seed("mgf1-digest", UTF8, &[0; 2]),
        seed("saltlen", UTF8, &[0; 20]),
        seed("saltlen", INTEGER, &[0; 4]),
        seed("saltlen", INTEGER | 0x10, &[0; 4]),
    ]);
    let asked_numbers = ask(&[
        seed("pad-mode", INTEGER, &[0; 4]),
        seed("saltlen", INTEGER, &[0; 4]),
        seed("saltlen", UNSIGNED, &[0; 8]),
    ]);
    let of = |version: u8, algorithm: u8, steps: &[Vec<u8>]| [vec![version, algorithm], counted(steps, STEPS)].concat();
    let mut seeds = Vec::new();
    let pads = ["pkcs1", "none", "x931", "pss"];
    let salts = ["digest", "auto", "max", "auto-digestmax", "7", "x"];
    for (place, pad) in pads.into_iter().enumerate() {
        let first = [text("pad-mode", pad), text("digest", "SHA256")];
        seeds.push(of(
            0,
            0,
            &[
                begin(sign, 2, &first),
                signed(&[0x5a; 32]),
                asked.clone(),
                asked_numbers.clone(),
            ],
        ));
        let only = [number("pad-mode", [1, 3, 5, 6][place])];
        seeds.push(of(
            0,
            0,
            &[
                begin(sign, 2, &only),
                signed(&[0; LEN]),
                signed(b"input"),
                asked_numbers.clone(),
            ],
        ));
        seeds.push(of(
            1,
            0,
            &[begin(verify, 3, &first), verified(&[0x5a; LEN], &[0x5a; 32])],
        ));
        seeds.push(of(
            1,
            0,
            &[begin(recover, 2, &only), recovered(&[0x5a; LEN]), recovered(&[1; LEN])],
        ));
    }
    for salt in salts {
        let all = [
            text("pad-mode", "pss"),
            text("saltlen", salt),
            text("mgf1-digest", "SHA1"),
            text("digest", "SHA-512"),
        ];
        for (version, key) in [(0, 2), (1, 5), (2, 5), (2, 4)] {
            seeds.push(of(
                version,
                0,
                &[begin(sign, key, &[]), set(&all), asked.clone(), signed(&[7; 64])],
            ));
        }
    }
    for value in [-1, -2, -3, -4, -5, 0, 20, 1000] {
        let all = [number("pad-mode", 6), number("saltlen", value)];
        seeds.push(of(
            2,
            0,
            &[
                begin(verify, 5, &all),
                asked.clone(),
                asked_numbers.clone(),
                verified(&[3; LEN], &[7; 32]),
            ],
        ));
    }
    for digest in [
        "MD5",
        "RIPEMD160",
        "MD5-SHA1",
        "SHA1",
        "SHA512-224",
        "SHA3-384",
        "SHAKE-128",
        "SM3",
        "",
    ] {
        let all = [text("digest", digest)];
        seeds.push(of(
            0,
            0,
            &[
                begin(sign, 2, &all),
                signed(&[9; 16]),
                signed(&[9; 20]),
                signed(&[9; 36]),
                asked.clone(),
            ],
        ));
        let message = [
            begin_named(sign_message, 2, digest.as_bytes(), &[]),
            update(b"a message"),
            copy.clone(),
            update(b" in parts"),
            sign_final.clone(),
            sign_final.clone(),
        ];
        seeds.push(of(1, 0, &message));
        let message = [
            begin_named(verify_message, 3, digest.as_bytes(), &[]),
            update_verified(b"a message"),
            verify_final(&[0x5a; LEN]),
        ];
        seeds.push(of(1, 0, &message));
    }
    for algorithm in 1..13 {
        let signature = [seed("signature", OCTETS, &[0x5a; LEN])];
        let message = [
            begin(sign_message, 2, &[]),
            update(b"a message"),
            sign_final.clone(),
            asked.clone(),
        ];
        seeds.push(of(2, algorithm, &message));
        let message = [
            begin(verify_message, 2, &signature),
            update_verified(b"a message"),
            verify_final(&[]),
            set(&signature),
        ];
        seeds.push(of(2, algorithm, &message));
        seeds.push(of(
            2,
            algorithm,
            &[
                begin(sign, 2, &[]),
                signed(&[0x5a; 32]),
                begin(recover, 3, &[]),
                recovered(&[5; LEN]),
            ],
        ));
        seeds.push(of(
            2,
            algorithm,
            &[begin(sign_message, 2, &[]), signed(b"whole"), begin(verify, 4, &[])],
        ));
        seeds.push(of(
            2,
            algorithm,
            &[
                begin(verify, 3, &[]),
                verified(&[0x5a; LEN], &[7; 32]),
                verified(b"x", b"y"),
            ],
        ));
        seeds.push(of(
            2,
            algorithm,
            &[
                begin(sign_message, 2, &[]),
                update(b"a"),
                signed(b"b"),
                sign_final.clone(),
                signed(b"c"),
            ],
        ));
        seeds.push(of(2, algorithm, &[begin(sign, 2, &[]), vec![10], block(&[7; 32])]));
    }
    // What was signed verifies, and is recovered.
    for pad in pads {
        for digest in [
            "",
            "MD5",
            "SHA1",
            "SHA256",
            "SHA384",
            "SHA512",
            "RIPEMD160",
            "MD5-SHA1",
            "SHA3-256",
        ] {
            for len in [16, 20, 32, 36, 48, 64, 100, LEN] {
                let mut all = vec![text("pad-mode", pad), text("digest", digest)];
                all.truncate(if digest.is_empty() { 1 } else { 2 });
                seeds.push(of(
                    1,
                    0,
                    &[begin(sign, 2, &all), [vec![10], block(&vec![7; len])].concat()],
                ));
            }
        }
    }
    seeds.push(of(
        0,
        0,
        &[begin(sign, 3, &[]), begin(recover, 2, &[text("pad-mode", "pss")])],
    ));
    seeds.push(of(
        0,
        0,
        &[
            begin_named(sign_message, 2, b"", &[]),
            begin_named(sign_message, 2, b"SHAKE-128", &[]),
        ],
    ));
    seeds
}

/// One call; the context that goes on.
///
/// # Safety
///
/// The table is one of signatures, and the context was made by it.
unsafe fn step(input: &mut Input<'_>, table: Table, context: *mut c_void, version: usize, is_any: bool) -> *mut c_void {
    clear();
    // SAFETY: the numbers of these functions have these types in signatures; the caller's promise.
    unsafe {
        match input.choice(11) {
            0 => begin(input, table, context, version, is_any),
            1 => {
                let mut params = Params::of(input, MOST);
                check(table.get::<SetParams>(20)(context, params.pointer()));
                params.check(false);
            }
            2 => {
                let mut params = Params::of(input, MOST);
                let is_answered = check(table.get::<GetParams>(18)(context, params.pointer()));
                params.check(is_answered == 1);
            }
            3 => {
                let part = input.block();
                let update = if is_any {
                    [9, 13][input.choice(2)]
                } else {
                    [28, 31][input.choice(2)]
                };
                check(table.get::<Update>(update)(context, part.as_ptr(), part.len()));
            }
            4 => {
                let (is_asked, mut room) = room(input);
                let (out, bytes) = (room.out(is_asked), room.len());
                let id = if is_any { 10 } else { 29 };
                let done = check(table.get::<Final>(id)(context, out, &raw mut room.written, bytes));
                room.check(done == 1);
            }
            5 => {
                let signature = input.block();
                match is_any {
                    true => check(table.get::<Update>(14)(context, signature.as_ptr(), signature.len())),
                    false => check(table.get::<VerifyFinal>(32)(context)),
                };
            }
            which @ (6 | 9) => {
                let (is_asked, mut room) = room(input);
                let (content, out, bytes) = (input.block(), room.out(is_asked), room.len());
                let id = if which == 6 { 3 } else { 7 };
                let produce = table.get::<Produce>(id);
                let done = produce(
                    context,
                    out,
                    &raw mut room.written,
                    bytes,
                    content.as_ptr(),
                    content.len(),
                );
                room.check(check(done) == 1);
            }
            7 => {
                let (signature, content) = (input.block(), input.block());
                let verify = table.get::<Verify>(5);
                check(verify(
                    context,
                    signature.as_ptr(),
                    signature.len(),
                    content.as_ptr(),
                    content.len(),
                ));
            }
            10 => signed_and_opened(input.block(), table, context, is_any),
            _ => {
                let copy = table.get::<Dup>(17)(context);
                assert!(!copy.is_null());
                table.get::<Free>(16)(context);
                return copy;
            }
        }
    }
    context
}

/// A signature verifies in the same context, and its message is recovered from it, if the padding is one for that.
///
/// # Safety
///
/// As for [`step`].
unsafe fn signed_and_opened(content: &[u8], table: Table, context: *mut c_void, is_any: bool) {
    // SAFETY: as in `step`.
    unsafe {
        let (sign, verify) = (table.get::<Produce>(3), table.get::<Verify>(5));
        let mut room = Room::new(LEN);
        let (out, bytes) = (room.out(true), room.len());
        let done = sign(
            context,
            out,
            &raw mut room.written,
            bytes,
            content.as_ptr(),
            content.len(),
        );
        // Elsewhere a message ends with its first signature.
        if check(done) == 0 || !is_any {
            return;
        }
        let signature = room.result().to_vec();
        let is_valid = verify(
            context,
            signature.as_ptr(),
            signature.len(),
            content.as_ptr(),
            content.len(),
        );
        assert_eq!(check(is_valid), 1, "what was signed does not verify");
        let mut again = Room::new(LEN);
        let (out, bytes) = (again.out(true), again.len());
        let recover = table.get::<Produce>(7);
        let done = recover(
            context,
            out,
            &raw mut again.written,
            bytes,
            signature.as_ptr(),
            signature.len(),
        );
        if check(done) == 1 {
            assert_eq!(again.result(), content);
        }
    }
}

/// Room for a result, too little of it, or none because its length is asked for.
fn room(input: &mut Input<'_>) -> (bool, Room) {
    let (is_asked, less) = (input.byte() != 0, input.choice(4));
    (is_asked, Room::new(if less == 0 { LEN } else { 10 * less }))
}

/// # Safety
///
/// As for [`step`].
unsafe fn begin(input: &mut Input<'_>, table: Table, context: *mut c_void, version: usize, is_any: bool) {
    let (how, key) = (input.choice(5), slot(version, input.choice(SLOTS)));
    let is_named = how >= 3 && is_any;
    let name = if is_named { input.block() } else { &[] };
    let name = CString::new(name.split(|&byte| byte == 0).next().unwrap_or_default()).expect("no zero is in it");
    let mut params = Params::of(input, MOST);
    let id: c_int = match (how, is_any) {
        (0, _) => 2,
        (1, _) => 4,
        (2, _) => 6,
        (3, true) => 8,
        (3, false) => 27,
        (_, true) => 12,
        (_, false) => 30,
    };
    // SAFETY: as for `step`; the key is the provider's.
    unsafe {
        let begun = match is_named {
            true => table.get::<DigestInit>(id)(context, name.as_ptr(), key, params.pointer()),
            false => table.get::<Init>(id)(context, key, params.pointer()),
        };
        check(begun);
    }
    params.check(false);
}
