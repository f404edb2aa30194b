//! RSA keys: `OSSL_OP_KEYMGMT`.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::Arc,
};

use rsalab_rsa::{
    OtherPrime, PrivateKey, PrivateParts, PublicKey,
    generate::{self, PublicExponent},
    primality::rounds_in_a_second,
    random::SystemRng,
};
use zeroize::{Zeroize, Zeroizing};

use super::{
    param::{END, INTEGER, Params, UNSIGNED, UTF8, describe, unsigned},
    types::{Callback, Dispatch, LAST, Param, entry, guard, status},
};
use crate::key::Key;

const PRIVATE: c_int = 1;
const PUBLIC: c_int = 2;
const KEYPAIR: c_int = PRIVATE | PUBLIC;

/// A key as OpenSSL holds it: empty until something is imported.
#[derive(Default)]
pub(super) struct Slot(Option<Arc<Key>>);

impl Slot {
    pub(super) fn key(&self) -> Option<&Arc<Key>> {
        self.0.as_ref()
    }
}

fn boxed(slot: Slot) -> *mut c_void {
    Box::into_raw(Box::new(slot)).cast()
}

/// # Safety
///
/// `slot` is null or came from [`boxed`] and is not freed during `'a`.
pub(super) unsafe fn slot<'a>(slot: *const c_void) -> Option<&'a Slot> {
    // SAFETY: the caller's promise.
    unsafe { slot.cast::<Slot>().as_ref() }
}

unsafe extern "C" fn new(_: *mut c_void) -> *mut c_void {
    guard(ptr::null_mut(), || boxed(Slot::default()))
}

unsafe extern "C" fn free(key: *mut c_void) {
    guard((), || {
        if !key.is_null() {
            // SAFETY: it came from `boxed`, and OpenSSL frees a key once.
            drop(unsafe { Box::from_raw(key.cast::<Slot>()) });
        }
    });
}

unsafe extern "C" fn dup(key: *const c_void, selection: c_int) -> *mut c_void {
    guard(ptr::null_mut(), || {
        // SAFETY: OpenSSL passes a key of ours.
        let key = unsafe { slot(key) }.and_then(Slot::key);
        boxed(Slot(key.and_then(|key| {
            match (selection & PRIVATE != 0, selection & PUBLIC != 0) {
                (true, _) => Some(Arc::clone(key)),
                (false, true) => Some(Arc::new(Key::from_public(key.public().clone()))),
                (false, false) => None,
            }
        })))
    })
}

unsafe extern "C" fn has(key: *const c_void, selection: c_int) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of ours.
        let key = unsafe { slot(key) }.and_then(Slot::key);
        let has_private = key.is_some_and(|key| key.private().is_some());
        c_int::from(
            (selection & PUBLIC == 0 || key.is_some()) && (selection & PRIVATE == 0 || has_private),
        )
    })
}

unsafe extern "C" fn matches(one: *const c_void, other: *const c_void, selection: c_int) -> c_int {
    guard(0, || {
        if selection & KEYPAIR == 0 {
            return 1;
        }
        // SAFETY: OpenSSL passes keys of ours.
        let keys = unsafe { (slot(one), slot(other)) };
        match (keys.0.and_then(Slot::key), keys.1.and_then(Slot::key)) {
            (Some(one), Some(other)) => c_int::from(one.is_same(other)),
            _ => 0,
        }
    })
}

unsafe extern "C" fn validate(key: *const c_void, selection: c_int, check: c_int) -> c_int {
    status(|| {
        if selection & KEYPAIR == 0 {
            return Ok(());
        }
        // SAFETY: OpenSSL passes a key of ours.
        let key = unsafe { slot(key) }
            .and_then(Slot::key)
            .ok_or("there is no key")?;
        if selection & PRIVATE == 0 {
            return Ok(());
        }
        let private = key.private().ok_or("there is no private key")?;
        // Every relation between the numbers was checked when the key was imported; a full check tests the primes.
        if check == 0 {
            let rounds = rounds_in_a_second(private.bits());
            let checked = private.check_primes(rounds, &mut SystemRng);
            checked.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

unsafe extern "C" fn import(key: *mut c_void, selection: c_int, params: *const Param) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a key of ours that nobody else uses yet, and an array for this call.
        let (slot, params) = unsafe { (key.cast::<Slot>().as_mut(), Params::new(params)) };
        let slot = slot.ok_or("there is no key")?;
        slot.0 = Some(Arc::new(imported(&params, selection & PRIVATE != 0)?));
        Ok(())
    })
}

fn imported(params: &Params<'_>, with_private: bool) -> Result<Key, String> {
    let get = |name: &str| {
        let found = params.find(name).and_then(|found| found.integer());
        found.map(Zeroizing::new)
    };
    let (n, e) = (
        get("n").ok_or("the key has no modulus")?,
        get("e").ok_or("the key has no public exponent")?,
    );
    let d = get("d").filter(|_| with_private);
    let key = match d {
        None => PublicKey::new(&n, &e).map(Key::from_public),
        Some(d) => {
            let mut others = Vec::new();
            for names in OTHERS {
                let [Some(r), Some(dr), Some(t)] = names.map(|name| get(&name.to_string_lossy()))
                else {
                    break;
                };
                others.push(OtherPrime { r, d: dr, t });
            }
            let crt = (
                get("rsa-factor1"),
                get("rsa-factor2"),
                get("rsa-exponent1"),
                get("rsa-exponent2"),
                get("rsa-coefficient1"),
            );
            let private = match &crt {
                (Some(p), Some(q), Some(dp), Some(dq), Some(qinv)) => {
                    PrivateKey::from_parts(&PrivateParts {
                        n: &n,
                        e: &e,
                        d: &d,
                        p,
                        q,
                        dp,
                        dq,
                        qinv,
                        others: &others,
                    })
                }
                _ => PrivateKey::from_exponents(&n, &e, &d),
            };
            private.map(Key::from_private)
        }
    };
    key.map_err(|error| error.to_string())
}

/// The third prime and those after it: prime, exponent and coefficient.
const OTHERS: [[&CStr; 3]; 3] = [
    [c"rsa-factor3", c"rsa-exponent3", c"rsa-coefficient2"],
    [c"rsa-factor4", c"rsa-exponent4", c"rsa-coefficient3"],
    [c"rsa-factor5", c"rsa-exponent5", c"rsa-coefficient4"],
];

static PUBLIC_TYPES: [Param; 3] = [describe(c"n", UNSIGNED), describe(c"e", UNSIGNED), END];
static TYPES: [Param; 18] = [
    describe(c"n", UNSIGNED),
    describe(c"e", UNSIGNED),
    describe(c"d", UNSIGNED),
    describe(c"rsa-factor1", UNSIGNED),
    describe(c"rsa-factor2", UNSIGNED),
    describe(c"rsa-exponent1", UNSIGNED),
    describe(c"rsa-exponent2", UNSIGNED),
    describe(c"rsa-coefficient1", UNSIGNED),
    describe(c"rsa-factor3", UNSIGNED),
    describe(c"rsa-exponent3", UNSIGNED),
    describe(c"rsa-coefficient2", UNSIGNED),
    describe(c"rsa-factor4", UNSIGNED),
    describe(c"rsa-exponent4", UNSIGNED),
    describe(c"rsa-coefficient3", UNSIGNED),
    describe(c"rsa-factor5", UNSIGNED),
    describe(c"rsa-exponent5", UNSIGNED),
    describe(c"rsa-coefficient4", UNSIGNED),
    END,
];

unsafe extern "C" fn types(selection: c_int) -> *const Param {
    match (selection & PRIVATE != 0, selection & PUBLIC != 0) {
        (true, _) => TYPES.as_ptr(),
        (false, true) => PUBLIC_TYPES.as_ptr(),
        (false, false) => ptr::null(),
    }
}

/// The numbers of a key by name, big-endian.
fn numbers(key: &Key, with_private: bool) -> Vec<(&'static CStr, &[u8])> {
    let mut numbers = vec![(c"n", key.public().n()), (c"e", key.public().e())];
    if let Some(private) = key.private().filter(|_| with_private) {
        numbers.extend([
            (c"d", private.d()),
            (c"rsa-factor1", private.p()),
            (c"rsa-factor2", private.q()),
            (c"rsa-exponent1", private.dp()),
            (c"rsa-exponent2", private.dq()),
            (c"rsa-coefficient1", private.qinv()),
        ]);
        for ([r, d, t], other) in OTHERS.into_iter().zip(private.others()) {
            numbers.extend([(r, &other.r[..]), (d, &other.d), (t, &other.t)]);
        }
    }
    numbers
}

unsafe extern "C" fn export(
    key: *mut c_void,
    selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of ours.
        let key = unsafe { slot(key) }.and_then(Slot::key);
        let (Some(key), Some(callback)) = (key, callback) else {
            return 0;
        };
        if selection & KEYPAIR == 0 || (selection & PRIVATE != 0 && key.private().is_none()) {
            return 0;
        }
        let mut values: Vec<(&CStr, Vec<u8>)> = numbers(key, selection & PRIVATE != 0)
            .into_iter()
            .map(|(name, big)| {
                let mut native = big.to_vec();
                if cfg!(target_endian = "little") {
                    native.reverse();
                }
                (name, native)
            })
            .collect();
        let mut params: Vec<Param> = values
            .iter_mut()
            .map(|(name, native)| unsigned(name, native))
            .collect();
        params.push(END);
        // SAFETY: the array ends with a null key, and its values live until after the call.
        let done = unsafe { callback(params.as_ptr(), argument) };
        for (_, native) in &mut values {
            native.zeroize();
        }
        done
    })
}

static GETTABLE: [Param; 22] = [
    describe(c"bits", INTEGER),
    describe(c"security-bits", INTEGER),
    describe(c"max-size", INTEGER),
    describe(c"default-digest", UTF8),
    describe(c"n", UNSIGNED),
    describe(c"e", UNSIGNED),
    describe(c"d", UNSIGNED),
    describe(c"rsa-factor1", UNSIGNED),
    describe(c"rsa-factor2", UNSIGNED),
    describe(c"rsa-exponent1", UNSIGNED),
    describe(c"rsa-exponent2", UNSIGNED),
    describe(c"rsa-coefficient1", UNSIGNED),
    describe(c"rsa-factor3", UNSIGNED),
    describe(c"rsa-exponent3", UNSIGNED),
    describe(c"rsa-coefficient2", UNSIGNED),
    describe(c"rsa-factor4", UNSIGNED),
    describe(c"rsa-exponent4", UNSIGNED),
    describe(c"rsa-coefficient3", UNSIGNED),
    describe(c"rsa-factor5", UNSIGNED),
    describe(c"rsa-exponent5", UNSIGNED),
    describe(c"rsa-coefficient4", UNSIGNED),
    END,
];

unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

/// NIST SP 800-57, part 1, table 2; between its rows, the lower one. Below 1024 bits what OpenSSL computes is about as much.
fn security_bits(bits: usize) -> usize {
    match bits {
        15360.. => 256,
        7680.. => 192,
        4096.. => 152,
        3072.. => 128,
        2048.. => 112,
        1024.. => 80,
        _ => 56,
    }
}

unsafe extern "C" fn get_params(key: *mut c_void, params: *mut Param) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a key of ours, and an array for this call.
        let (key, params) = unsafe { (slot(key), Params::new(params)) };
        let key = key.and_then(Slot::key).ok_or("there is no key")?;
        let sizes = [
            ("bits", key.bits()),
            ("security-bits", security_bits(key.bits())),
            ("max-size", key.modulus_len()),
        ];
        for (name, size) in sizes {
            if let Some(found) = params.find(name) {
                found.set_number(size)?;
            }
        }
        if let Some(found) = params.find("default-digest") {
            found.set_string("SHA256")?;
        }
        for (name, big) in numbers(key, true) {
            if let Some(found) = params.find(&name.to_string_lossy()) {
                found.set_integer(big)?;
            }
        }
        Ok(())
    })
}

/// What is to be generated.
struct Generation {
    bits: usize,
    e: u64,
    primes: usize,
}

impl Generation {
    fn key(&self) -> rsalab_rsa::Result<PrivateKey> {
        let e = PublicExponent::Fixed(self.e);
        let prepared = generate::Generation::new(self.bits, e)?.with_primes(self.primes)?;
        Ok(prepared.generator(SystemRng)?.keys(1)?.remove(0).key)
    }
}

unsafe extern "C" fn gen_init(
    _: *mut c_void,
    selection: c_int,
    params: *const Param,
) -> *mut c_void {
    if selection & KEYPAIR == 0 {
        return ptr::null_mut();
    }
    let generation = Box::into_raw(Box::new(Generation {
        bits: 2048,
        e: 65537,
        primes: 2,
    }))
    .cast();
    // SAFETY: it was just made, and the array is OpenSSL's.
    if unsafe { gen_set_params(generation, params) } == 0 {
        // SAFETY: as above.
        unsafe { gen_cleanup(generation) };
        return ptr::null_mut();
    }
    generation
}

unsafe extern "C" fn gen_set_params(generation: *mut c_void, params: *const Param) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes what `gen_init` made, and an array for this call.
        let (generation, params) = unsafe {
            (
                generation.cast::<Generation>().as_mut(),
                Params::new(params),
            )
        };
        let generation = generation.ok_or("nothing is being generated")?;
        let number = |name: &str| {
            params
                .find(name)
                .map(|found| found.number().ok_or(format!("{name} is not taken")))
        };
        if let Some(bits) = number("bits") {
            generation.bits = usize::try_from(bits?).map_err(|_| "a length is negative")?;
        }
        if let Some(e) = number("e") {
            generation.e = u64::try_from(e?).map_err(|_| "an exponent is negative")?;
        }
        if let Some(primes) = number("primes") {
            generation.primes = usize::try_from(primes?).map_err(|_| "a number is negative")?;
        }
        Ok(())
    })
}

static GEN_SETTABLE: [Param; 4] = [
    describe(c"bits", UNSIGNED),
    describe(c"primes", UNSIGNED),
    describe(c"e", UNSIGNED),
    END,
];

unsafe extern "C" fn gen_settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    GEN_SETTABLE.as_ptr()
}

unsafe extern "C" fn generate_key(
    generation: *mut c_void,
    _: Option<Callback>,
    _: *mut c_void,
) -> *mut c_void {
    let mut made = ptr::null_mut();
    status(|| {
        // SAFETY: OpenSSL passes what `gen_init` made.
        let generation = unsafe { generation.cast::<Generation>().as_ref() }
            .ok_or("nothing is being generated")?;
        let key = generation.key().map_err(|error| error.to_string())?;
        made = boxed(Slot(Some(Arc::new(Key::from_private(key)))));
        Ok(())
    });
    made
}

unsafe extern "C" fn gen_cleanup(generation: *mut c_void) {
    if !generation.is_null() {
        // SAFETY: `gen_init` made it, and OpenSSL cleans up once.
        drop(unsafe { Box::from_raw(generation.cast::<Generation>()) });
    }
}

/// Which of our algorithms serve this key: all have the same name.
unsafe extern "C" fn operation_name(_: c_int) -> *const c_char {
    c"RSA".as_ptr()
}

pub(super) static TABLE: [Dispatch; 19] = [
    entry(1, new as *const c_void),
    entry(2, gen_init as *const c_void),
    entry(4, gen_set_params as *const c_void),
    entry(5, gen_settable as *const c_void),
    entry(6, generate_key as *const c_void),
    entry(7, gen_cleanup as *const c_void),
    entry(10, free as *const c_void),
    entry(11, get_params as *const c_void),
    entry(12, gettable as *const c_void),
    entry(20, operation_name as *const c_void),
    entry(21, has as *const c_void),
    entry(22, validate as *const c_void),
    entry(23, matches as *const c_void),
    entry(40, import as *const c_void),
    entry(41, types as *const c_void),
    entry(42, export as *const c_void),
    entry(43, types as *const c_void),
    entry(44, dup as *const c_void),
    LAST,
];
