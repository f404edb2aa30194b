//! Keys that operations are done with, in the provider's hands, and as parameters.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::OnceLock,
};

use rsalab_fuzz::seeds;
use rsalab_rsa::PrivateKey;

use crate::{
    core::{Provider, check, clear, provider},
    functions::{Free, Import, New},
    params::{INTEGER, Params, UNSIGNED, UTF8},
};

pub(crate) const PRIVATE: c_int = 1;
pub(crate) const PUBLIC: c_int = 2;
pub(crate) const OTHER_PARAMETERS: c_int = 0x80;

/// Bytes of the modulus of [`slots`].
pub(crate) const LEN: usize = seeds::KEY_LEN;

/// A key's parameters: names, types and numbers in native order.
pub(crate) type Numbers = Vec<(&'static str, u8, Vec<u8>)>;

/// The parameters of a private key: of 1024 bits, or of 512.
pub(crate) fn numbers(is_long: bool) -> Numbers {
    numbers_of(if is_long { seeds::key() } else { seeds::short() })
}

/// The parameters of any private key.
pub(crate) fn numbers_of(key: &PrivateKey) -> Numbers {
    let native = |(name, big): (&'static str, &[u8])| {
        let mut native = big.to_vec();
        if cfg!(target_endian = "little") {
            native.reverse();
        }
        (name, UNSIGNED, native)
    };
    let mut all = vec![
        ("n", key.public().n()),
        ("e", key.public().e()),
        ("d", key.d()),
        ("rsa-factor1", key.p()),
        ("rsa-factor2", key.q()),
        ("rsa-exponent1", key.dp()),
        ("rsa-exponent2", key.dq()),
        ("rsa-coefficient1", key.qinv()),
    ];
    if let Some(third) = key.others().first() {
        all.extend([
            ("rsa-factor3", &third.r[..]),
            ("rsa-exponent3", &third.d),
            ("rsa-coefficient2", &third.t),
        ]);
    }
    all.into_iter().map(native).collect()
}

/// Restrictions that a key of the type RSA-PSS may have.
pub(crate) fn restrictions() -> Numbers {
    vec![
        ("digest", UTF8, b"SHA256".to_vec()),
        ("mgf1-digest", UTF8, b"SHA256".to_vec()),
        ("saltlen", INTEGER, 20_i32.to_ne_bytes().to_vec()),
    ]
}

/// A key as the provider holds it.
pub(crate) struct Slot {
    pub(crate) pointer: *mut c_void,
    provider: &'static Provider,
    kind: usize,
}

// SAFETY: OpenSSL shares keys among threads, too.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Slot {
    /// A key of a type, 0 for RSA and 1 for RSA-PSS, that is empty.
    pub(crate) fn new(provider: &'static Provider, kind: usize) -> Slot {
        // SAFETY: function 1 of key management makes a key of a provider.
        let pointer = unsafe { provider.keys[kind].get::<New>(1)(provider.context) };
        Slot::of(provider, kind, pointer)
    }

    /// A key that the provider gave.
    pub(crate) fn of(provider: &'static Provider, kind: usize, pointer: *mut c_void) -> Slot {
        assert!(!pointer.is_null());
        Slot {
            pointer,
            provider,
            kind,
        }
    }

    pub(crate) fn import(&self, selection: c_int, params: &mut Params) -> bool {
        clear();
        // SAFETY: function 40 of key management imports into a key, and the array ends as it must.
        let done =
            unsafe { self.provider.keys[self.kind].get::<Import>(40)(self.pointer, selection, params.pointer()) };
        params.check(false);
        check(done) == 1
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: function 10 of key management frees a key.
        unsafe { self.provider.keys[self.kind].get::<Free>(10)(self.pointer) };
    }
}

/// How many keys there are for operations: none, empty, RSA, RSA's public half, RSA-PSS, and that with restrictions.
pub(crate) const SLOTS: usize = 6;

/// One of them, of one of the providers of [`provider`].
pub(crate) fn slot(version: usize, which: usize) -> *mut c_void {
    static MADE: OnceLock<Vec<Vec<Option<Slot>>>> = OnceLock::new();
    let made = MADE.get_or_init(|| (0..3).map(|version| slots(provider(version))).collect());
    let slot = &made[version % 3][which % SLOTS];
    slot.as_ref().map_or(ptr::null_mut(), |slot| slot.pointer)
}

fn slots(provider: &'static Provider) -> Vec<Option<Slot>> {
    let imported = |kind: usize, selection: c_int, numbers: Numbers| {
        let slot = Slot::new(provider, kind);
        assert!(slot.import(selection, &mut Params::known(&numbers)), "it is a key");
        Some(slot)
    };
    let both = PRIVATE | PUBLIC;
    let restricted = [numbers(true), restrictions()].concat();
    vec![
        None,
        Some(Slot::new(provider, 0)),
        imported(0, both, numbers(true)),
        imported(0, PUBLIC, numbers(true)),
        imported(1, both, numbers(true)),
        imported(1, both | OTHER_PARAMETERS, restricted),
    ]
}
