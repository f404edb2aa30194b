//! Keys that are the same each time, made once for all tests: making one takes longer than using it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};

use rsalab_rsa::{
    PrivateKey,
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};

/// Seed, stream and bits.
type Name = (u8, u64, usize);

/// The key that the strict generator makes of a seed of so many equal bytes and a stream of it.
pub(crate) fn key(seed: u8, stream: u64, bits: usize) -> PrivateKey {
    static KEYS: Mutex<BTreeMap<Name, Arc<OnceLock<PrivateKey>>>> = Mutex::new(BTreeMap::new());
    // Locked for the look-up alone: tests that need other keys make theirs meanwhile.
    let place = {
        let mut keys = KEYS.lock().expect("a look-up does not panic");
        Arc::clone(keys.entry((seed, stream, bits)).or_default())
    };
    let new = || {
        let mut rng = InsecureStudySeed::new([seed; 32]).stream(stream);
        generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
    };
    place.get_or_init(new).clone()
}
