//! One bit of one visit to a place, flipped for this thread.

use super::Place;
use std::cell::RefCell;

/// A bit to flip: at this visit to the place, counted from 0; bits of a visit are counted from the lowest of the first
/// word or byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place.
    pub place: Place,
    /// The visit.
    pub visit: usize,
    /// The bit.
    pub bit: usize,
}

enum State {
    Off,
    /// Visits to the place, and how many bits each saw.
    Counting(Place, Vec<usize>),
    /// The fault, and how many visits came before.
    Waiting(Fault, usize),
    Flipped,
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State::Off) };
}

/// Does something, and counts the bits of each visit to a place.
pub fn sizes(place: Place, operation: impl FnOnce()) -> Vec<usize> {
    STATE.set(State::Counting(place, Vec::new()));
    operation();
    match STATE.replace(State::Off) {
        State::Counting(_, sizes) => sizes,
        _ => unreachable!("nobody else sets this thread's state"),
    }
}

/// Does something with a fault; and `true` if the bit was flipped.
pub fn with_fault<T>(fault: Fault, operation: impl FnOnce() -> T) -> (T, bool) {
    STATE.set(State::Waiting(fault, 0));
    let outcome = operation();
    let state = STATE.replace(State::Off);
    (outcome, matches!(state, State::Flipped))
}

/// Takes note of a visit to a place with so many bits; the bit to flip, if it is its turn.
fn visit(at: Place, bits: usize) -> Option<usize> {
    STATE.with_borrow_mut(|state| match state {
        State::Counting(place, sizes) if *place == at => {
            sizes.push(bits);
            None
        }
        State::Waiting(fault, before) if fault.place == at => {
            let bit = (*before == fault.visit && fault.bit < bits).then_some(fault.bit);
            *before += 1;
            if bit.is_some() {
                *state = State::Flipped;
            }
            bit
        }
        _ => None,
    })
}

/// Words in memory at a place of the operation.
pub(crate) fn pass(place: Place, words: &mut [u64]) {
    if let Some(bit) = visit(place, 64 * words.len()) {
        words[bit / 64] ^= 1 << (bit % 64);
    }
}

/// Bytes in memory at a place of the operation.
pub(crate) fn pass_bytes(place: Place, bytes: &mut [u8]) {
    if let Some(bit) = visit(place, 8 * bytes.len()) {
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
