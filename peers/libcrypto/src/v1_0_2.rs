//! Functions of 1.1.1 that OpenSSL 1.0.2 lacks, on top of what it has in their place.
//!
//! There they were macros on structures that 1.1.0 closed; the structures' layouts are those of its headers `bn.h` and
//! `crypto.h`, which did not change in any letter of 1.0.2. It also has to be told how to lock before threads may use
//! it.
//!
//! C functions take no pointer to their library, so what they call is kept for the process: that of the first 1.0.2
//! that was opened. Another one works on the same structures.

use std::{
    ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulong, c_void},
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use libloading::Library;
use rsalab_peer_evp::table::{Bignum, GenCallback, PrimeCallback};

/// The functions that stand in for the missing ones' insides.
struct Old {
    ssleay: unsafe extern "C" fn() -> c_ulong,
    ssleay_version: unsafe extern "C" fn(c_int) -> *const c_char,
    bn_num_bits: unsafe extern "C" fn(*const Bignum) -> c_int,
    bn_bn2bin: unsafe extern "C" fn(*const Bignum, *mut c_uchar) -> c_int,
}

static OLD: OnceLock<Old> = OnceLock::new();
static LOCKS: OnceLock<Vec<AtomicBool>> = OnceLock::new();

/// Makes a 1.0.2 ready; false for any other library.
pub(crate) fn prepare(library: &Library) -> bool {
    // SAFETY: the names have been these functions' since before 1.0.2, with these signatures; nothing else exports them
    // all.
    let old = unsafe {
        let Some(ssleay) = function(library, c"SSLeay") else {
            return false;
        };
        let (Some(ssleay_version), Some(bn_num_bits), Some(bn_bn2bin)) = (
            function(library, c"SSLeay_version"),
            function(library, c"BN_num_bits"),
            function(library, c"BN_bn2bin"),
        ) else {
            return false;
        };
        Old {
            ssleay,
            ssleay_version,
            bn_num_bits,
            bn_bn2bin,
        }
    };
    OLD.get_or_init(|| old);
    // SAFETY: as above; the callback obeys the library's rules for it, and the list of locks is as long as asked for
    // and lives for ever.
    unsafe {
        let (Some(count), Some(set), Some(add_algorithms), Some(load_strings)) = (
            function::<unsafe extern "C" fn() -> c_int>(library, c"CRYPTO_num_locks"),
            function::<unsafe extern "C" fn(LockingCallback)>(library, c"CRYPTO_set_locking_callback"),
            function::<unsafe extern "C" fn()>(library, c"OPENSSL_add_all_algorithms_noconf"),
            function::<unsafe extern "C" fn()>(library, c"ERR_load_crypto_strings"),
        ) else {
            return false;
        };
        let locks = usize::try_from(count()).unwrap_or(0);
        LOCKS.get_or_init(|| (0..locks).map(|_| AtomicBool::new(false)).collect());
        set(lock);
        add_algorithms();
        load_strings();
    }
    true
}

/// The stand-in for a function that 1.0.2 lacks.
pub(crate) fn address(name: &CStr) -> Option<*const c_void> {
    Some(match name.to_str().ok()? {
        "OpenSSL_version" => openssl_version as *const c_void,
        "OpenSSL_version_num" => openssl_version_num as *const c_void,
        "BN_bn2binpad" => bn_bn2binpad as *const c_void,
        "BN_set_flags" => bn_set_flags as *const c_void,
        "BN_GENCB_new" => bn_gencb_new as *const c_void,
        "BN_GENCB_free" => bn_gencb_free as *const c_void,
        "BN_GENCB_set" => bn_gencb_set as *const c_void,
        _ => return None,
    })
}

/// # Safety
///
/// If the library has the name, it is that of a function of type `F`.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Option<F> {
    // SAFETY: the caller's promise.
    unsafe { library.get::<F>(name) }.ok().map(|symbol| *symbol)
}

fn old() -> &'static Old {
    OLD.get()
        .expect("the stand-ins are given out after the library was made ready")
}

type LockingCallback = unsafe extern "C" fn(c_int, c_int, *const c_char, c_int);

/// `CRYPTO_LOCK`: take the lock; without it, give it back.
const TAKE: c_int = 1;

/// Held for a few instructions each: yielding is enough.
unsafe extern "C" fn lock(mode: c_int, number: c_int, _: *const c_char, _: c_int) {
    let lock = LOCKS
        .get()
        .zip(usize::try_from(number).ok())
        .and_then(|(locks, number)| locks.get(number));
    let Some(lock) = lock else { return };
    if mode & TAKE == 0 {
        lock.store(false, Ordering::Release);
        return;
    }
    while lock.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
}

/// `SSLeay_version`, whose compiler flags have another number.
unsafe extern "C" fn openssl_version(what: c_int) -> *const c_char {
    const FLAGS: c_int = 1;
    const SSLEAY_CFLAGS: c_int = 2;
    let what = if what == FLAGS { SSLEAY_CFLAGS } else { what };
    // SAFETY: any number may be asked for.
    unsafe { (old().ssleay_version)(what) }
}

unsafe extern "C" fn openssl_version_num() -> c_ulong {
    // SAFETY: no arguments, no preconditions.
    unsafe { (old().ssleay)() }
}

unsafe extern "C" fn bn_bn2binpad(number: *const Bignum, bytes: *mut c_uchar, length: c_int) -> c_int {
    // SAFETY: the number is live by the caller's word, and the bytes writable for the length; what is written ends with
    // them.
    unsafe {
        let needed = ((old().bn_num_bits)(number) + 7) / 8;
        let Ok(spare) = usize::try_from(length - needed) else {
            return -1;
        };
        ptr::write_bytes(bytes, 0, spare);
        (old().bn_bn2bin)(number, bytes.add(spare));
    }
    length
}

/// `struct bignum_st`.
#[repr(C)]
struct BignumLayout {
    words: *mut c_ulong,
    top: c_int,
    room: c_int,
    negative: c_int,
    flags: c_int,
}

unsafe extern "C" fn bn_set_flags(number: *mut Bignum, flags: c_int) {
    // SAFETY: the number is live and exclusively the caller's, and is laid out so in every 1.0.2.
    unsafe { (*number.cast::<BignumLayout>()).flags |= flags };
}

/// `struct bn_gencb_st`, of the kind whose callback gets the structure itself.
#[repr(C)]
struct GenCallbackLayout {
    version: c_uint,
    argument: *mut c_void,
    function: Option<PrimeCallback>,
}

unsafe extern "C" fn bn_gencb_new() -> *mut GenCallback {
    let callback = Box::new(GenCallbackLayout {
        version: 2,
        argument: ptr::null_mut(),
        function: None,
    });
    Box::into_raw(callback).cast()
}

unsafe extern "C" fn bn_gencb_free(callback: *mut GenCallback) {
    if !callback.is_null() {
        // SAFETY: it came from `bn_gencb_new`, and nobody uses it after this.
        drop(unsafe { Box::from_raw(callback.cast::<GenCallbackLayout>()) });
    }
}

unsafe extern "C" fn bn_gencb_set(callback: *mut GenCallback, function: Option<PrimeCallback>, argument: *mut c_void) {
    // SAFETY: it came from `bn_gencb_new` and is exclusively the caller's.
    let layout = unsafe { &mut *callback.cast::<GenCallbackLayout>() };
    layout.function = function;
    layout.argument = argument;
}
