//! Signatures and encryption, many at once, under schemes of any numbers.

use std::ffi::c_int;

use rsalab_fuzz::input::{Input, block};

use crate::{
    api::{
        Bytes, EncryptionScheme, ITEMS, OK, SignatureScheme, checked, rsalab_decrypt, rsalab_encrypt,
        rsalab_encrypt_max_len, rsalab_sign_digests, rsalab_sign_messages, rsalab_verify_digests,
        rsalab_verify_messages,
    },
    handles::{LEN, private, public},
    room::Room,
};

/// Items of a batch at most.
const MOST: usize = 3;
/// The status of an item that is not written.
const UNWRITTEN: c_int = -7;

/// The bytes as an operation, a scheme and items.
pub(crate) fn operations(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    match input.choice(5) {
        0 => sign(&mut input, true),
        1 => sign(&mut input, false),
        2 => verify(&mut input),
        3 => encrypt(&mut input),
        _ => decrypt(&mut input),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    // Padding, hash, mask's hash, salt: see `signature_scheme`.
    for scheme in [
        [1, 3, 0, 8],
        [2, 3, 0, 7],
        [2, 5, 3, 6],
        [2, 12, 0, 7],
        [2, 13, 13, 5],
        [2, 4, 0, 28],
        [1, 1, 0, 8],
        [1, 9, 0, 8],
        [3, 3, 0, 8],
        [1, 3, 3, 8],
    ] {
        let messages = [block(b"a message"), block(b"")].concat();
        seeds.push([&[0][..], &scheme, &[2, 1], &messages].concat());
        let digests = [block(&[0x5a; 32]), block(&[0x5a; 20])].concat();
        seeds.push([&[1][..], &scheme, &[2, 1], &digests].concat());
        let signatures = [block(&[0x5a; LEN]), block(&[0; LEN]), block(&[0x5a; 7])].concat();
        for of_messages in [0, 1] {
            seeds.push([&[2][..], &scheme, &[2, of_messages], &digests, &signatures].concat());
        }
    }
    // Padding, hash, mask's hash, label: see `encryption_scheme`.
    for scheme in [
        [&[3, 3, 0][..], &block(b"")].concat(),
        [&[3, 1, 3][..], &block(b"a label")].concat(),
        [&[3, 5, 0][..], &block(&[7; 300])].concat(),
        [&[1, 0, 0][..], &block(b"")].concat(),
        [&[1, 3, 0][..], &block(b"")].concat(),
        [&[2, 3, 0][..], &block(b"")].concat(),
    ] {
        let messages = [block(b"a message"), block(b""), block(&[1; LEN])].concat();
        seeds.push([&[3][..], &scheme, &[3, 1], &messages].concat());
        let ciphertexts = [block(&[0x5a; LEN]), block(&[0xff; LEN]), block(b"short")].concat();
        seeds.push([&[4][..], &scheme, &[3, 1], &ciphertexts].concat());
    }
    seeds
}

/// A number of a scheme, most of them known ones.
fn number(input: &mut Input<'_>) -> u32 {
    input.number() as u32
}

pub(crate) fn signature_scheme(input: &mut Input<'_>) -> SignatureScheme {
    SignatureScheme {
        padding: number(input),
        hash: number(input),
        mgf_hash: number(input),
        salt_len: number(input).wrapping_sub(8) as i32,
    }
}

/// Also gives the label, which must live as long.
pub(crate) fn encryption_scheme(input: &mut Input<'_>) -> EncryptionScheme {
    EncryptionScheme {
        padding: number(input),
        hash: number(input),
        mgf_hash: number(input),
        label: Bytes::of(input.block()),
    }
}

/// Room for so many results, or a byte less.
fn room(count: usize, is_enough: bool) -> Room {
    Room::new((count * LEN).saturating_sub(usize::from(!is_enough)))
}

/// Checks what a call wrote: all or nothing, and zeros for items that failed.
fn check(status: c_int, room: &Room, statuses: &[c_int]) {
    match checked(status) {
        OK | ITEMS => {
            let written = room.written(statuses.len() * LEN);
            for (item, status) in written.chunks(LEN).zip(statuses) {
                assert!((0..20).contains(status) && !matches!(status, 14..=17 | 19));
                assert!(*status == OK || item.iter().all(|&byte| byte == 0));
            }
            assert_eq!(status == OK, statuses.iter().all(|&status| status == OK));
        }
        _ => {
            room.check_untouched();
            assert!(statuses.iter().all(|&status| status == UNWRITTEN));
        }
    }
}

fn sign(input: &mut Input<'_>, of_messages: bool) {
    let scheme = signature_scheme(input);
    let (count, is_enough) = (input.choice(MOST + 1), input.byte() != 0);
    let contents: Vec<Bytes> = (0..count).map(|_| Bytes::of(input.block())).collect();
    let (mut signatures, mut statuses) = (room(count, is_enough), vec![UNWRITTEN; count]);
    let call = match of_messages {
        true => rsalab_sign_messages,
        false => rsalab_sign_digests,
    };
    // SAFETY: the key is one of the library; lengths are those of the slices.
    let status = unsafe {
        call(
            private().0,
            &raw const scheme,
            contents.as_ptr(),
            count,
            signatures.pointer(),
            signatures.len(),
            statuses.as_mut_ptr(),
        )
    };
    check(status, &signatures, &statuses);
    if status != OK {
        return;
    }
    // What was signed verifies, and nothing else.
    let mut made = signatures.written(count * LEN).to_vec();
    for is_changed in [false, true] {
        if is_changed && count > 0 {
            made[count * LEN - 1] ^= 1;
        }
        let signatures: Vec<Bytes> = made.chunks(LEN).map(Bytes::of).collect();
        let verify = match of_messages {
            true => rsalab_verify_messages,
            false => rsalab_verify_digests,
        };
        // SAFETY: as above.
        let status = unsafe {
            verify(
                public().0,
                &raw const scheme,
                contents.as_ptr(),
                signatures.as_ptr(),
                count,
                statuses.as_mut_ptr(),
            )
        };
        assert_eq!(checked(status) == OK, !is_changed || count == 0);
    }
}

fn verify(input: &mut Input<'_>) {
    let scheme = signature_scheme(input);
    let (count, of_messages) = (input.choice(MOST + 1), input.byte() != 0);
    let contents: Vec<Bytes> = (0..count).map(|_| Bytes::of(input.block())).collect();
    let signatures: Vec<Bytes> = (0..count).map(|_| Bytes::of(input.block())).collect();
    let mut statuses = vec![UNWRITTEN; count];
    let call = match of_messages {
        true => rsalab_verify_messages,
        false => rsalab_verify_digests,
    };
    // SAFETY: the key is one of the library; lengths are those of the slices.
    let status = unsafe {
        call(
            public().0,
            &raw const scheme,
            contents.as_ptr(),
            signatures.as_ptr(),
            count,
            statuses.as_mut_ptr(),
        )
    };
    match checked(status) {
        OK => assert_eq!(count, 0, "nobody finds a signature"),
        ITEMS => assert!(statuses.iter().all(|&status| matches!(status, 11 | 12))),
        _ => assert!(statuses.iter().all(|&status| status == UNWRITTEN)),
    }
}

fn encrypt(input: &mut Input<'_>) {
    let scheme = encryption_scheme(input);
    // SAFETY: the key is one of the library, and the label is the input's.
    let most = unsafe { rsalab_encrypt_max_len(public().0, &raw const scheme) };
    assert!(most < LEN);
    let (count, is_enough) = (input.choice(MOST + 1), input.byte() != 0);
    let contents: Vec<&[u8]> = (0..count).map(|_| input.block()).collect();
    let messages: Vec<Bytes> = contents.iter().map(|message| Bytes::of(message)).collect();
    let (mut ciphertexts, mut statuses) = (room(count, is_enough), vec![UNWRITTEN; count]);
    // SAFETY: as above; lengths are those of the slices.
    let status = unsafe {
        rsalab_encrypt(
            public().0,
            &raw const scheme,
            messages.as_ptr(),
            count,
            ciphertexts.pointer(),
            ciphertexts.len(),
            statuses.as_mut_ptr(),
        )
    };
    check(status, &ciphertexts, &statuses);
    if status != OK {
        return;
    }
    let made = ciphertexts.written(count * LEN).to_vec();
    let ciphertexts: Vec<Bytes> = made.chunks(LEN).map(Bytes::of).collect();
    let (mut room, mut lens) = (Room::new(count * LEN), vec![usize::MAX; count]);
    // SAFETY: as above.
    let status = unsafe {
        rsalab_decrypt(
            private().0,
            &raw const scheme,
            ciphertexts.as_ptr(),
            count,
            room.pointer(),
            room.len(),
            lens.as_mut_ptr(),
            statuses.as_mut_ptr(),
        )
    };
    assert_eq!(checked(status), OK);
    let found = room.written(count * LEN).chunks(LEN).zip(&lens);
    let found: Vec<&[u8]> = found.map(|(message, &len)| &message[..len]).collect();
    assert_eq!(found, contents);
}

fn decrypt(input: &mut Input<'_>) {
    let scheme = encryption_scheme(input);
    let (count, is_enough) = (input.choice(MOST + 1), input.byte() != 0);
    let ciphertexts: Vec<Bytes> = (0..count).map(|_| Bytes::of(input.block())).collect();
    let (mut messages, mut statuses) = (room(count, is_enough), vec![UNWRITTEN; count]);
    let mut lens = vec![usize::MAX; count];
    // SAFETY: the key is one of the library, the label is the input's, and lengths are those of the slices.
    let status = unsafe {
        rsalab_decrypt(
            private().0,
            &raw const scheme,
            ciphertexts.as_ptr(),
            count,
            messages.pointer(),
            messages.len(),
            lens.as_mut_ptr(),
            statuses.as_mut_ptr(),
        )
    };
    check(status, &messages, &statuses);
    let is_written = matches!(status, OK | ITEMS);
    assert!(
        lens.iter()
            .all(|&len| if is_written { len < LEN } else { len == usize::MAX })
    );
}
