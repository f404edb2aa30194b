//! Blind signatures: client, issuer and verifier.

use std::{ffi::c_int, ptr};

use rsalab_fuzz::input::{Input, block};

use crate::{
    api::{
        BlindState, Bytes, ITEMS, OK, checked, rsalab_blind, rsalab_blind_finalize, rsalab_blind_sign,
        rsalab_blind_state_free, rsalab_blind_state_prefix, rsalab_blind_state_read, rsalab_blind_state_write,
        rsalab_blind_verify,
    },
    handles::{LEN, private, public},
    room::Room,
};

/// A state that the library gave.
struct State(*mut BlindState);

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the library gave it, and nobody else frees it.
        unsafe { rsalab_blind_state_free(self.0) };
    }
}

/// The bytes as one of the steps, or as messages of a client who goes through all of them.
pub(crate) fn blind(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (step, variant) = (input.choice(4), input.number() as u32);
    match step {
        0 => whole(&mut input, variant),
        1 => {
            sign(variant, input.rest());
        }
        2 => {
            let prefix = input.block();
            let message = input.block();
            let is_valid = verify(variant, Some(prefix), message, input.rest());
            assert!(!is_valid, "nobody finds a signature");
        }
        _ => {
            if let Some(state) = read_state(input.rest()) {
                written_and_read(&state);
            }
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for variant in 0..6 {
        seeds.push([&[0, variant][..], &block(b"a message"), &[1], &[0xff; 3]].concat());
        seeds.push([&[0, variant][..], &block(b"a message"), &[0]].concat());
        seeds.push([&[1, variant][..], &[0x5a; LEN]].concat());
        seeds.push([&[1, variant][..], &[0xff; LEN]].concat());
        let prefix = block(&[7; 32]);
        seeds.push([&[2, variant][..], &prefix, &block(b"a message"), &[0x5a; LEN]].concat());
        seeds.push([&[2, variant][..], &block(b""), &block(b"a message"), &[0x5a; LEN]].concat());
    }
    // States of two requests, as their client writes them.
    for variant in [1, 4] {
        if let Some((_, state)) = request(variant, b"a message") {
            seeds.push([&[3, 0][..], &written(&state)].concat());
        }
    }
    seeds
}

/// The client's first step: a blinded message and its state, if the variant is one that the key has room for.
fn request(variant: u32, message: &[u8]) -> Option<(Vec<u8>, State)> {
    let (message, mut room, mut state) = (Bytes::of(message), Room::new(LEN), ptr::null_mut());
    // SAFETY: the key is one of the library; lengths are those of the slices, and there is a place for a state.
    let status = unsafe {
        rsalab_blind(
            public().0,
            variant,
            &raw const message,
            1,
            room.pointer(),
            room.len(),
            &raw mut state,
        )
    };
    match checked(status) {
        OK => Some((room.written(LEN).to_vec(), State(state))),
        _ => {
            room.check_untouched();
            assert!(state.is_null());
            None
        }
    }
}

/// The issuer's step.
fn sign(variant: u32, blinded: &[u8]) -> Option<Vec<u8>> {
    let (blinded, mut room, mut own) = (Bytes::of(blinded), Room::new(LEN), -1);
    // SAFETY: as above.
    let status = unsafe {
        rsalab_blind_sign(
            private().0,
            variant,
            &raw const blinded,
            1,
            room.pointer(),
            room.len(),
            &raw mut own,
        )
    };
    signature(status, &room, own)
}

/// A signature that a call wrote, or none.
fn signature(status: c_int, room: &Room, own: c_int) -> Option<Vec<u8>> {
    match checked(status) {
        OK => {
            assert_eq!(own, OK);
            Some(room.written(LEN).to_vec())
        }
        ITEMS => {
            assert!((1..20).contains(&own) && !matches!(own, 14..=17 | 19));
            assert!(room.written(LEN).iter().all(|&byte| byte == 0));
            None
        }
        _ => {
            room.check_untouched();
            assert_eq!(own, -1);
            None
        }
    }
}

fn verify(variant: u32, prefix: Option<&[u8]>, message: &[u8], signature: &[u8]) -> bool {
    let prefix = prefix.map(Bytes::of);
    let prefixes = prefix.as_ref().map_or(ptr::null(), |prefix| prefix);
    let (message, signature) = (Bytes::of(message), Bytes::of(signature));
    // SAFETY: as above.
    let status = unsafe {
        rsalab_blind_verify(
            public().0,
            variant,
            prefixes,
            &raw const message,
            &raw const signature,
            1,
            ptr::null_mut(),
        )
    };
    checked(status) == OK
}

/// All steps, of which the issuer's answer may be changed.
fn whole(input: &mut Input<'_>, variant: u32) {
    let message = input.block();
    let Some((blinded, state)) = request(variant, message) else {
        return;
    };
    let state = written_and_read(&state);
    let mut answer = sign(variant, &blinded).expect("what was blinded is signed");
    let is_changed = input.choice(2) == 1;
    if is_changed {
        let at = input.choice(LEN);
        answer[at] ^= input.byte().max(1);
    }
    let (bytes, answer, states) = (Bytes::of(message), Bytes::of(&answer), [state.0.cast_const()]);
    let (mut room, mut own) = (Room::new(LEN), -1);
    // SAFETY: key and state are the library's; lengths are those of the slices.
    let status = unsafe {
        rsalab_blind_finalize(
            public().0,
            variant,
            &raw const bytes,
            states.as_ptr(),
            &raw const answer,
            1,
            room.pointer(),
            room.len(),
            &raw mut own,
        )
    };
    let made = signature(status, &room, own);
    assert_eq!(made.is_some(), !is_changed);
    if let Some(made) = made {
        assert!(verify(variant, Some(&prefix_of(&state)), message, &made));
    }
}

fn prefix_of(state: &State) -> Vec<u8> {
    let mut room = Room::new(40);
    let mut len = room.len();
    // SAFETY: the state is the library's, and there is room for as much as is said.
    let status = unsafe { rsalab_blind_state_prefix(state.0, room.pointer(), &raw mut len) };
    assert_eq!(checked(status), OK);
    room.written(len).to_vec()
}

fn written(state: &State) -> Vec<u8> {
    let mut room = Room::new(4096);
    let mut len = room.len();
    // SAFETY: as above.
    let status = unsafe { rsalab_blind_state_write(state.0, room.pointer(), &raw mut len) };
    assert_eq!(checked(status), OK);
    room.written(len).to_vec()
}

fn read_state(bytes: &[u8]) -> Option<State> {
    let mut state = ptr::null_mut();
    // SAFETY: the key is one of the library, the length that of the slice, and there is a place for a state.
    let status = unsafe { rsalab_blind_state_read(public().0, bytes.as_ptr(), bytes.len(), &raw mut state) };
    assert_eq!(checked(status) == OK, !state.is_null());
    (status == OK).then_some(State(state))
}

fn written_and_read(state: &State) -> State {
    let bytes = written(state);
    let again = read_state(&bytes).expect("what was written can be read");
    assert_eq!(written(&again), bytes);
    again
}
