//! The generation of keys, which is a part of `OSSL_OP_KEYMGMT`.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::Arc,
};

use rsalab_rsa::{
    PrivateKey,
    generate::{self, PublicExponent},
    random::SystemRng,
};

use super::{
    instance::Instance,
    slot::{KEYPAIR, boxed},
};
use crate::{
    failure::Reason,
    key::Key,
    memory,
    openssl::{
        param::{END, INTEGER, Params, UNSIGNED, UTF8, describe, signed},
        stack,
        types::{Callback, Param, guard},
        version::TOO_MANY_PRIMES,
    },
    pss::Kind,
};

/// Bits of a key that OpenSSL generates at least.
const LEAST_BITS: usize = 512;

/// The key that is to be generated.
struct Generation {
    instance: Arc<Instance>,
    kind: Kind,
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

pub(super) unsafe extern "C" fn init(provider: *mut c_void, selection: c_int, params: *const Param) -> *mut c_void {
    // SAFETY: called by OpenSSL.
    unsafe { begin(provider, Kind::Rsa, selection, params) }
}

pub(super) unsafe extern "C" fn init_pss(provider: *mut c_void, selection: c_int, params: *const Param) -> *mut c_void {
    // SAFETY: called by OpenSSL.
    unsafe { begin(provider, Kind::Pss(None), selection, params) }
}

/// # Safety
///
/// As for OpenSSL's function that begins a generation.
unsafe fn begin(provider: *mut c_void, kind: Kind, selection: c_int, params: *const Param) -> *mut c_void {
    if selection & KEYPAIR == 0 {
        return ptr::null_mut();
    }
    // SAFETY: OpenSSL passes the provider's context.
    let instance = unsafe { Instance::of(provider) };
    let generation = Arc::clone(&instance).guard(ptr::null_mut(), || {
        Box::into_raw(Box::new(Generation {
            instance,
            kind,
            bits: 2048,
            e: 65537,
            primes: 2,
        }))
        .cast::<c_void>()
    });
    if generation.is_null() {
        return generation;
    }
    // SAFETY: it was just made, and the array is OpenSSL's.
    if unsafe { set_params(generation, params) } == 0 {
        // SAFETY: as above.
        unsafe { cleanup(generation) };
        return ptr::null_mut();
    }
    generation
}

pub(super) unsafe extern "C" fn set_params(generation: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes what `begin` made, and an array for this call.
    let (generation, params) = unsafe { (generation.cast::<Generation>().as_mut(), Params::new(params)) };
    let Some(generation) = generation else {
        return 0;
    };
    let instance = Arc::clone(&generation.instance);
    instance.status(|| {
        let number = |name: &str| {
            params
                .find(name)
                .map(|found| found.number().ok_or(format!("{name} is not taken")))
        };
        if let Some(bits) = number("bits") {
            generation.bits = usize::try_from(bits?).map_err(|_| "a length is negative")?;
            if generation.bits < LEAST_BITS {
                return Err(Reason::KeySizeTooSmall.because(format!("at least {LEAST_BITS} bits")));
            }
        }
        if let Some(e) = number("e") {
            generation.e = u64::try_from(e?).map_err(|_| "an exponent is negative")?;
        }
        if let Some(primes) = number("primes") {
            generation.primes = usize::try_from(primes?).map_err(|_| "a number is negative")?;
            if generation.primes > instance.version.most_primes() {
                return Err(TOO_MANY_PRIMES.into());
            }
        }
        // For a key of the type RSA, restrictions are not looked at: OpenSSL does not, either.
        if generation.kind != Kind::Rsa {
            generation.kind = generation.kind.restricted(&params)?;
        }
        Ok(())
    })
}

static SETTABLE: [Param; 4] = [
    describe(c"bits", UNSIGNED),
    describe(c"primes", UNSIGNED),
    describe(c"e", UNSIGNED),
    END,
];
static SETTABLE_PSS: [Param; 9] = [
    describe(c"bits", UNSIGNED),
    describe(c"primes", UNSIGNED),
    describe(c"e", UNSIGNED),
    describe(c"digest", UTF8),
    describe(c"properties", UTF8),
    describe(c"mgf", UTF8),
    describe(c"mgf1-digest", UTF8),
    describe(c"saltlen", INTEGER),
    END,
];

pub(super) unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE.as_ptr()
}

pub(super) unsafe extern "C" fn settable_pss(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE_PSS.as_ptr()
}

pub(super) unsafe extern "C" fn generate(
    generation: *mut c_void,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> *mut c_void {
    let mut made = ptr::null_mut();
    // SAFETY: OpenSSL passes what `begin` made.
    let Some(generation) = (unsafe { generation.cast::<Generation>().as_ref() }) else {
        return made;
    };
    let instance = &generation.instance;
    instance.status(|| {
        memory::note(generation.bits);
        let progress = |potential, iteration| progress(callback, argument, potential, iteration);
        progress(0, 0)?;
        let _memory = memory::generation(generation.bits)?;
        let key = stack::on_large_stack_in_job(|| Ok(Arc::new(Key::from_private(generation.key()?))))?;
        progress(3, 0)?;
        progress(3, 1)?;
        made = boxed(instance, generation.kind, Some(key));
        Ok(())
    });
    made
}

/// Says how far a generation is, as BN_generate_prime(3) has it: 0 for a candidate, 3 for a prime that was found. The
/// primes of a key are searched together, and so the program hears of them before the search and after it. It may end
/// the generation.
fn progress(
    callback: Option<Callback>,
    argument: *mut c_void,
    potential: c_int,
    iteration: c_int,
) -> crate::failure::Result<()> {
    let Some(callback) = callback else {
        return Ok(());
    };
    let (mut potential, mut iteration) = (potential.to_ne_bytes(), iteration.to_ne_bytes());
    let params = [
        signed(c"potential", &mut potential),
        signed(c"iteration", &mut iteration),
        END,
    ];
    // SAFETY: the array ends with a null key, and its values live until after the call.
    match unsafe { callback(params.as_ptr(), argument) } {
        0 => Err("the program ended the generation".into()),
        _ => Ok(()),
    }
}

pub(super) unsafe extern "C" fn cleanup(generation: *mut c_void) {
    guard((), || {
        if !generation.is_null() {
            // SAFETY: `begin` made it, and OpenSSL cleans up once.
            drop(unsafe { Box::from_raw(generation.cast::<Generation>()) });
        }
    });
}
