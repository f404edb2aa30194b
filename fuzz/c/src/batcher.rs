//! The batcher: keys that come and go, and requests, from one thread.

use std::ptr;

use rsalab_fuzz::input::{Input, block};

use crate::{
    api::{
        self, BatcherOptions, OK, checked, rsalab_batcher_add, rsalab_batcher_blind_sign, rsalab_batcher_decrypt,
        rsalab_batcher_free, rsalab_batcher_new, rsalab_batcher_passes, rsalab_batcher_remove,
        rsalab_batcher_sign_digest, rsalab_batcher_sign_message, rsalab_batcher_waiting, rsalab_batcher_waits,
    },
    handles::{LEN, private},
    operations::{encryption_scheme, signature_scheme},
    room::Room,
};

/// A batcher that the library gave.
struct Batcher(*mut api::Batcher);

impl Drop for Batcher {
    fn drop(&mut self) {
        // SAFETY: the library gave it, and nobody else frees it.
        unsafe { rsalab_batcher_free(self.0) };
    }
}

/// Calls for one input at most.
const MOST: usize = 8;

/// The bytes as limits of a batcher, and calls of it.
pub(crate) fn batcher(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let options = BatcherOptions {
        passes: input.number() as usize,
        waiting: input.number() as usize,
        // A pass that is not full waits so long: that is its meaning.
        linger_us: input.number() % 300,
    };
    let (keys, mut handle) = ([private().0.cast_const()], ptr::null_mut());
    // SAFETY: the key is one of the library, and there is a place for a batcher.
    let status = unsafe { rsalab_batcher_new(keys.as_ptr(), 1, &raw const options, &raw mut handle) };
    assert_eq!(checked(status) == OK, !handle.is_null());
    if status != OK {
        return;
    }
    let batcher = Batcher(handle);
    for _ in 0..input.choice(MOST + 1) {
        call(&batcher, &mut input);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let options = [0, 0, 0];
    let signature = [&[0, 0, 1, 3, 0, 8, 1][..], &block(b"a message")].concat();
    let digest = [&[1, 0, 2, 3, 0, 7, 1][..], &block(&[0x5a; 32])].concat();
    let decryption = [&[2, 0, 1, 0, 0, 0, 1][..], &block(&[0x5a; LEN])].concat();
    let oaep = [&[2, 0, 3, 3, 0, 0, 1][..], &block(&[0x5a; LEN])].concat();
    let blind = [&[3, 0, 1, 1][..], &block(&[0x5a; LEN])].concat();
    let (add, remove, ask) = (vec![4, 2], vec![5, 2, 0, 1], vec![6]);
    vec![
        [&options[..], &[3], &signature, &digest, &ask].concat(),
        [&options[..], &[3], &decryption, &oaep, &blind].concat(),
        [&[1, 2, 3][..], &[4], &add, &remove, &signature, &ask].concat(),
        [
            &options[..],
            &[3],
            &add,
            &[5, 1, 0],
            &[0, 1, 1, 3, 0, 8, 1],
            &block(b"a message"),
        ]
        .concat(),
        vec![255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 1, 6],
    ]
}

fn call(batcher: &Batcher, input: &mut Input<'_>) {
    let batcher = batcher.0.cast_const();
    match input.choice(7) {
        which @ (0 | 1) => {
            let (key, scheme) = (input.number() as usize, signature_scheme(input));
            let mut room = Room::new(LEN - usize::from(input.byte() == 0));
            let content = input.block();
            let call = match which {
                0 => rsalab_batcher_sign_message,
                _ => rsalab_batcher_sign_digest,
            };
            // SAFETY: the batcher is one of the library, and lengths are those of the slices.
            let status = unsafe {
                call(
                    batcher,
                    key,
                    &raw const scheme,
                    content.as_ptr(),
                    content.len(),
                    room.pointer(),
                    room.len(),
                )
            };
            room.written(if checked(status) == OK { LEN } else { 0 });
        }
        2 => {
            let (key, scheme) = (input.number() as usize, encryption_scheme(input));
            let mut room = Room::new(if input.byte() == 0 { 3 } else { LEN });
            let (ciphertext, mut len) = (input.block(), room.len());
            // SAFETY: as above.
            let status = unsafe {
                rsalab_batcher_decrypt(
                    batcher,
                    key,
                    &raw const scheme,
                    ciphertext.as_ptr(),
                    ciphertext.len(),
                    room.pointer(),
                    &raw mut len,
                )
            };
            room.written(if checked(status) == OK { len } else { 0 });
        }
        3 => {
            let (key, variant) = (input.number() as usize, input.number() as u32);
            let mut room = Room::new(LEN - usize::from(input.byte() == 0));
            let blinded = input.block();
            // SAFETY: as above.
            let status = unsafe {
                rsalab_batcher_blind_sign(
                    batcher,
                    key,
                    variant,
                    blinded.as_ptr(),
                    blinded.len(),
                    room.pointer(),
                    room.len(),
                )
            };
            room.written(if checked(status) == OK { LEN } else { 0 });
        }
        4 => {
            let count = input.choice(4);
            let (keys, mut numbers) = (vec![private().0.cast_const(); count], vec![usize::MAX; count]);
            // SAFETY: keys and batcher are the library's, and there are as many places.
            let status = unsafe { rsalab_batcher_add(batcher, keys.as_ptr(), count, numbers.as_mut_ptr()) };
            assert_eq!(checked(status), OK);
            assert!(numbers.iter().all(|&number| number != usize::MAX));
        }
        5 => {
            let count = input.choice(4);
            let numbers: Vec<usize> = (0..count).map(|_| input.number() as usize).collect();
            // SAFETY: the batcher is one of the library, and there are as many numbers.
            checked(unsafe { rsalab_batcher_remove(batcher, numbers.as_ptr(), count) });
        }
        _ => {
            // SAFETY: the batcher is one of the library.
            assert_eq!(unsafe { rsalab_batcher_waiting(batcher) }, 0);
            for ask in [rsalab_batcher_passes, rsalab_batcher_waits] {
                let (mut numbers, mut count) = (vec![0; 256], 256);
                // SAFETY: as above, and there is room for as many numbers.
                let status = unsafe { ask(batcher, numbers.as_mut_ptr(), &raw mut count) };
                assert_eq!(checked(status), OK);
                assert!(count <= 256);
            }
        }
    }
}
