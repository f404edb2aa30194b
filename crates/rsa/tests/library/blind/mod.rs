//! Blind signatures: the RFC's vectors, every variant and kernel, and what must not be accepted. Rounds with another
//! implementation are in `peers/blind-rsa`.

mod properties;
mod vectors;

use std::{collections::BTreeMap, sync::Mutex};

use rsalab_rsa::{
    PrivateKey,
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};

/// A key that is the same each time: making one takes longer than using it.
fn key(bits: usize) -> PrivateKey {
    key_of_stream(bits, 0)
}

fn key_of_stream(bits: usize, stream: u64) -> PrivateKey {
    static KEYS: Mutex<BTreeMap<(usize, u64), PrivateKey>> = Mutex::new(BTreeMap::new());
    let mut keys = KEYS.lock().expect("no test fails while it makes a key");
    let new = || {
        let mut rng = InsecureStudySeed::new([22; 32]).stream(stream);
        generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
    };
    keys.entry((bits, stream)).or_insert_with(new).clone()
}
