//! Contexts of operations (`EVP_PKEY_CTX`), of whatever kind: made, copied, freed, asked and set in one way.

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::Arc,
};

use super::instance::Instance;
use crate::{
    encryption,
    failure::Result,
    openssl::{
        param::Params,
        types::{Param, deliver, guard},
    },
    sign,
};

/// An operation's context. A clone has the operation as far as it has come.
pub(super) trait Context: Clone {
    fn new(instance: &Instance) -> Self;
    fn get_params(&self, params: &Params<'_>) -> Result<()>;
    fn set_params(&mut self, params: &Params<'_>) -> Result<()>;
}

macro_rules! contexts {
    ($($context:ty),*) => {
        $(
            impl Context for $context {
                fn new(instance: &Instance) -> Self {
                    Self::new(instance.version, instance.settings.clone())
                }

                fn get_params(&self, params: &Params<'_>) -> Result<()> {
                    self.get_params(params)
                }

                fn set_params(&mut self, params: &Params<'_>) -> Result<()> {
                    self.set_params(params)
                }
            }
        )*
    };
}

contexts!(sign::Context, encryption::Context);

/// A context as OpenSSL holds it, behind a pointer.
struct Held<C> {
    instance: Arc<Instance>,
    context: C,
}

fn boxed<C>(instance: Arc<Instance>, context: C) -> *mut c_void {
    Box::into_raw(Box::new(Held { instance, context })).cast()
}

/// A new context of a provider's; OpenSSL's functions that make one differ in what else they pass.
///
/// # Safety
///
/// `provider` is the provider's context.
pub(super) unsafe fn make<C: Context>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    let instance = unsafe { Instance::of(provider) };
    let new = || boxed(Arc::clone(&instance), C::new(&instance));
    instance.guard(ptr::null_mut(), new)
}

pub(super) unsafe extern "C" fn free<C: Context>(context: *mut c_void) {
    guard((), || {
        if !context.is_null() {
            // SAFETY: `make` or `dup` made it, and OpenSSL frees it once.
            drop(unsafe { Box::from_raw(context.cast::<Held<C>>()) });
        }
    });
}

pub(super) unsafe extern "C" fn dup<C: Context>(context: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes a context of ours.
    let Some(held) = (unsafe { context.cast::<Held<C>>().as_ref() }) else {
        return ptr::null_mut();
    };
    let instance = &held.instance;
    let copy = || boxed(Arc::clone(instance), held.context.clone());
    instance.guard(ptr::null_mut(), copy)
}

/// Does something with a context, and reports what fails.
///
/// # Safety
///
/// `context` is null or was made by `make` or `dup` for a C, is not freed, and used by nobody else meanwhile.
pub(super) unsafe fn with<C: Context>(context: *mut c_void, body: impl FnOnce(&mut C) -> Result<()>) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { context.cast::<Held<C>>().as_mut() } {
        Some(Held { instance, context }) => instance.status(|| body(context)),
        None => 0,
    }
}

pub(super) unsafe extern "C" fn get_params<C: Context>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    unsafe { with::<C>(context, |context| context.get_params(&Params::new(params))) }
}

pub(super) unsafe extern "C" fn set_params<C: Context>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    unsafe { with::<C>(context, |context| context.set_params(&Params::new(params))) }
}

/// Room for a result, as OpenSSL passes it: where it goes, where its length goes, and how many bytes there are.
pub(super) struct Room {
    pub(super) out: *mut u8,
    pub(super) len: *mut usize,
    pub(super) bytes: usize,
}

/// Computes a result of at most `needed` bytes into the room; without room, its length alone.
///
/// # Safety
///
/// As for [`with`], and for [`deliver`].
pub(super) unsafe fn produce<C: Context, R: AsRef<[u8]>>(
    context: *mut c_void,
    room: Room,
    needed: impl FnOnce(&C, &Room) -> Result<usize>,
    compute: impl FnOnce(&mut C) -> Result<R>,
) -> c_int {
    let into_room = |context: &mut C| {
        let needed = needed(context, &room)?;
        // SAFETY: the caller's promise.
        unsafe { deliver(room.out, room.len, room.bytes, needed, || compute(context)) }
    };
    // SAFETY: the caller's promise.
    unsafe { with(context, into_room) }
}

/// Functions that begin an operation, of the type that most of them have: `name: purpose;` for each, by the function
/// named first.
macro_rules! inits {
    ($begin:ident, $($name:ident: $purpose:expr;)*) => {
        $(
            unsafe extern "C" fn $name(
                context: *mut c_void,
                key: *mut c_void,
                params: *const Param,
            ) -> c_int {
                // SAFETY: called by OpenSSL.
                unsafe { with(context, |context| $begin($purpose, context, key, params)) }
            }
        )*
    };
}
pub(super) use inits;
