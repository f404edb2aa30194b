//! RSA keys: `OSSL_OP_KEYMGMT`.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::Arc,
};

use rsalab_rsa::{OtherPrime, PrivateKey, PrivateParts, PublicKey, primality::rounds_in_a_second, random::SystemRng};
use zeroize::{Zeroize, Zeroizing};

use super::{
    generation,
    instance::Instance,
    slot::{KEYPAIR, OTHER_PARAMETERS, PRIVATE, PUBLIC, Slot, boxed, slot},
};
use crate::{
    digests::name_of,
    failure::Result,
    key::Key,
    memory,
    openssl::{
        dispatch::{Dispatch, KeyManagement},
        param::{END, INTEGER, Params, UNSIGNED, UTF8, describe, signed, text, unsigned},
        stack,
        types::{Callback, Param, guard},
        version::TOO_MANY_PRIMES,
    },
    pss::Kind,
};

type Entry = Dispatch<KeyManagement>;

unsafe extern "C" fn new(provider: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { empty(provider, Kind::Rsa) }
}

unsafe extern "C" fn new_pss(provider: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { empty(provider, Kind::Pss(None)) }
}

/// # Safety
///
/// `provider` is the provider's context.
unsafe fn empty(provider: *mut c_void, kind: Kind) -> *mut c_void {
    // SAFETY: the caller's promise.
    let instance = unsafe { Instance::of(provider) };
    instance.guard(ptr::null_mut(), || boxed(&instance, kind, None))
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
    // SAFETY: OpenSSL passes a key of ours.
    let Some(slot) = (unsafe { slot(key) }) else {
        return ptr::null_mut();
    };
    // An empty key is no copy.
    if selection & KEYPAIR == 0 {
        return ptr::null_mut();
    }
    slot.instance.guard(ptr::null_mut(), || {
        let key = slot.key().map(|key| match selection & PRIVATE != 0 {
            true => Arc::clone(key),
            false => Arc::new(Key::from_public(key.public().clone())),
        });
        boxed(&slot.instance, slot.kind, key)
    })
}

unsafe extern "C" fn has(key: *const c_void, selection: c_int) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of ours.
        let Some(slot) = (unsafe { slot(key) }) else {
            return 0;
        };
        let key = slot.key();
        let has_private = key.is_some_and(|key| key.private().is_some());
        c_int::from((selection & PUBLIC == 0 || key.is_some()) && (selection & PRIVATE == 0 || has_private))
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
    // SAFETY: OpenSSL passes a key of ours.
    let Some(slot) = (unsafe { slot(key) }) else {
        return 0;
    };
    slot.instance.status(|| {
        if selection & KEYPAIR == 0 {
            return Ok(());
        }
        let key = slot.key().ok_or("there is no key")?;
        if selection & PRIVATE == 0 {
            // As OpenSSL's own provider, for a quick check, too: strangers' keys are asked about with this.
            let _memory = memory::generation(key.public().bits())?;
            stack::on_large_stack_in_job(|| Ok(key.public().check_modulus()?))?;
            return Ok(());
        }
        let private = key.private().ok_or("there is no private key")?;
        // Every relation between the numbers was checked when the key was imported; a full check tests the primes.
        if check == 0 {
            let _memory = memory::generation(private.bits())?;
            let rounds = rounds_in_a_second(private.bits());
            stack::on_large_stack_in_job(|| Ok(private.check_primes(rounds, &mut SystemRng)?))?;
        }
        Ok(())
    })
}

unsafe extern "C" fn import(key: *mut c_void, selection: c_int, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a key of ours that nobody else uses yet, and an array for this call.
    let (slot, params) = unsafe { (key.cast::<Slot>().as_mut(), Params::new(params)) };
    let Some(Slot { instance, kind, key }) = slot else {
        return 0;
    };
    instance.status(|| {
        if selection & (KEYPAIR | OTHER_PARAMETERS) == 0 {
            return Err("neither a key nor its parameters are to be imported".into());
        }
        if selection & OTHER_PARAMETERS != 0 {
            *kind = kind.restricted(&params)?;
        }
        if selection & KEYPAIR != 0 {
            let imported = stack::on_large_stack_in_job(|| imported(&params, selection & PRIVATE != 0))?;
            *key = Some(Arc::new(imported));
        }
        Ok(())
    })
}

fn imported(params: &Params<'_>, with_private: bool) -> Result<Key> {
    let len = params.find("n").map_or(0, |n| n.len());
    memory::note(8 * len);
    let _copies = memory::copies(2 * len)?;
    let _memory = memory::operation()?;
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
                let [Some(r), Some(dr), Some(t)] = names.map(|name| get(&name.to_string_lossy())) else {
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
                (Some(p), Some(q), Some(dp), Some(dq), Some(qinv)) => PrivateKey::from_parts(&PrivateParts {
                    n: &n,
                    e: &e,
                    d: &d,
                    p,
                    q,
                    dp,
                    dq,
                    qinv,
                    others: &others,
                }),
                _ => PrivateKey::from_exponents(&n, &e, &d),
            };
            private.map(Key::from_private)
        }
    };
    Ok(key?)
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
    // SAFETY: OpenSSL passes a key of ours.
    let (Some(slot), Some(callback)) = (unsafe { slot(key) }, callback) else {
        return 0;
    };
    if selection & (KEYPAIR | OTHER_PARAMETERS) == 0 {
        return 0;
    }
    slot.instance.guard(0, || {
        let mut values: Vec<(&CStr, Vec<u8>)> = Vec::new();
        if selection & KEYPAIR != 0 {
            let Some(key) = slot.key() else { return 0 };
            // Of a public key, what is asked for of a private half is left out, as OpenSSL's own provider does: whoever
            // hands a key to another provider asks for all that there is.
            let primes = key.private().map_or(0, |private| 2 + private.others().len());
            if selection & PRIVATE != 0 && primes > slot.instance.version.most_primes() {
                slot.instance.core.raise(&TOO_MANY_PRIMES.into());
                return 0;
            }
            let native = |(name, big): (_, &[u8])| {
                let mut native = big.to_vec();
                if cfg!(target_endian = "little") {
                    native.reverse();
                }
                (name, native)
            };
            values.extend(numbers(key, selection & PRIVATE != 0).into_iter().map(native));
        }
        let mut params: Vec<Param> = values.iter_mut().map(|(name, native)| unsigned(name, native)).collect();
        let restrictions = slot.kind.restrictions();
        let restrictions = restrictions.filter(|_| selection & OTHER_PARAMETERS != 0);
        let salt = restrictions.map_or(0, |restrictions| restrictions.salt as i32);
        let (mut salt, mut names) = (salt.to_ne_bytes(), Vec::new());
        if let Some(restrictions) = restrictions {
            // The length of salt is there even if it is the default: whoever reads this must not take the key for an
            // unrestricted one.
            params.push(signed(c"saltlen", &mut salt));
            let digests = restrictions.digests();
            names.extend(digests.filter_map(|(key, name)| Some((key, CString::new(name).ok()?))));
        }
        params.extend(names.iter().map(|(key, name)| text(key, name)));
        params.push(END);
        // SAFETY: the array ends with a null key, and its values live until after the call.
        let done = unsafe { callback(params.as_ptr(), argument) };
        for (_, native) in &mut values {
            native.zeroize();
        }
        done
    })
}

static GETTABLE: [Param; 26] = [
    describe(c"bits", INTEGER),
    describe(c"security-bits", INTEGER),
    describe(c"max-size", INTEGER),
    describe(c"default-digest", UTF8),
    describe(c"mandatory-digest", UTF8),
    describe(c"digest", UTF8),
    describe(c"mgf1-digest", UTF8),
    describe(c"saltlen", INTEGER),
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

/// NIST SP 800-57, part 1, table 2; between its rows, the lower one. Below 1024 bits what OpenSSL computes is about as
/// much.
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
    // SAFETY: OpenSSL passes a key of ours, and an array for this call.
    let (slot, params) = unsafe { (slot(key), Params::new(params)) };
    let Some(slot) = slot else { return 0 };
    slot.instance.status(|| {
        match slot.kind.restrictions() {
            None => {
                if let Some(found) = params.find("default-digest") {
                    found.set_string("SHA256")?;
                }
            }
            Some(restrictions) => {
                if let Some(found) = params.find("mandatory-digest") {
                    found.set_string(name_of(restrictions.hash))?;
                }
                for (key, name) in restrictions.digests() {
                    if let Some(found) = params.find(&key.to_string_lossy()) {
                        found.set_string(name)?;
                    }
                }
                if let Some(found) = params.find("saltlen") {
                    found.set_number(restrictions.salt)?;
                }
            }
        }
        let key = slot.key().ok_or("there is no key")?;
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
        for (name, big) in numbers(key, true) {
            if let Some(found) = params.find(&name.to_string_lossy()) {
                found.set_integer(big)?;
            }
        }
        Ok(())
    })
}

/// Which of our algorithms serve this key: all have the same name, and see from the key what it is for.
unsafe extern "C" fn operation_name(_: c_int) -> *const c_char {
    c"RSA".as_ptr()
}

/// The table of one type of keys; what differs is passed.
const fn table(new: Entry, gen_init: Entry, gen_settable: Entry) -> [Entry; 19] {
    [
        new,
        gen_init,
        Entry::gen_set_params(generation::set_params),
        gen_settable,
        Entry::generate(generation::generate),
        Entry::gen_cleanup(generation::cleanup),
        Entry::free(free),
        Entry::get_params(get_params),
        Entry::gettable_params(gettable),
        Entry::query_operation_name(operation_name),
        Entry::has(has),
        Entry::validate(validate),
        Entry::matches(matches),
        Entry::import(import),
        Entry::import_types(types),
        Entry::export(export),
        Entry::export_types(types),
        Entry::dup(dup),
        Entry::LAST,
    ]
}

pub(super) static TABLE: [Entry; 19] = table(
    Entry::new(new),
    Entry::gen_init(generation::init),
    Entry::gen_settable_params(generation::settable),
);
pub(super) static PSS_TABLE: [Entry; 19] = table(
    Entry::new(new_pss),
    Entry::gen_init(generation::init_pss),
    Entry::gen_settable_params(generation::settable_pss),
);
