//! Contexts of operations (`EVP_PKEY_CTX`), of whatever kind: made, copied, freed, asked and set in one way.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use super::{
    param::Params,
    types::{Param, deliver, guard, status},
};
use crate::{encryption, sign};

/// What OpenSSL holds a context of, behind a pointer. A clone has the operation as far as it has come.
pub(super) trait Context: Default + Clone {
    fn get_params(&self, params: &Params<'_>) -> Result<(), String>;
    fn set_params(&mut self, params: &Params<'_>) -> Result<(), String>;
}

macro_rules! contexts {
    ($($context:ty),*) => {
        $(
            impl Context for $context {
                fn get_params(&self, params: &Params<'_>) -> Result<(), String> {
                    self.get_params(params)
                }

                fn set_params(&mut self, params: &Params<'_>) -> Result<(), String> {
                    self.set_params(params)
                }
            }
        )*
    };
}

contexts!(sign::Context, encryption::Context);

fn boxed<C>(context: C) -> *mut c_void {
    Box::into_raw(Box::new(context)).cast()
}

/// A new context; OpenSSL's functions that make one differ in what else they pass.
pub(super) fn make<C: Context>() -> *mut c_void {
    guard(ptr::null_mut(), || boxed(C::default()))
}

pub(super) unsafe extern "C" fn free<C: Context>(context: *mut c_void) {
    guard((), || {
        if !context.is_null() {
            // SAFETY: `make` or `dup` made it, and OpenSSL frees it once.
            drop(unsafe { Box::from_raw(context.cast::<C>()) });
        }
    });
}

pub(super) unsafe extern "C" fn dup<C: Context>(context: *mut c_void) -> *mut c_void {
    guard(ptr::null_mut(), || {
        // SAFETY: OpenSSL passes a context of ours.
        match unsafe { own::<C>(context) } {
            Ok(context) => boxed(context.clone()),
            Err(_) => ptr::null_mut(),
        }
    })
}

/// # Safety
///
/// `context` is null or was made by `make` or `dup` for a C, is not freed, and used by nobody else during `'a`.
pub(super) unsafe fn own<'a, C: Context>(context: *mut c_void) -> Result<&'a mut C, String> {
    // SAFETY: the caller's promise.
    unsafe { context.cast::<C>().as_mut() }.ok_or_else(|| "there is no context".into())
}

pub(super) unsafe extern "C" fn get_params<C: Context>(
    context: *mut c_void,
    params: *mut Param,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    status(|| unsafe { own::<C>(context)?.get_params(&Params::new(params)) })
}

pub(super) unsafe extern "C" fn set_params<C: Context>(
    context: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    status(|| unsafe { own::<C>(context)?.set_params(&Params::new(params)) })
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
/// As for [`own`], during the call, and for [`deliver`].
pub(super) unsafe fn produce<C: Context, R: AsRef<[u8]>>(
    context: *mut c_void,
    room: Room,
    needed: impl FnOnce(&C, &Room) -> Result<usize, String>,
    compute: impl FnOnce(&mut C) -> Result<R, String>,
) -> c_int {
    status(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let context = own::<C>(context)?;
            let needed = needed(context, &room)?;
            deliver(room.out, room.len, room.bytes, needed, || compute(context))
        }
    })
}

/// Functions that begin an operation, of the type that most of them have: `name: purpose;` for each, by the function named first.
macro_rules! inits {
    ($begin:ident, $($name:ident: $purpose:expr;)*) => {
        $(
            unsafe extern "C" fn $name(
                context: *mut c_void,
                key: *mut c_void,
                params: *const Param,
            ) -> c_int {
                // SAFETY: called by OpenSSL.
                status(|| unsafe { $begin($purpose, context, key, params) })
            }
        )*
    };
}
pub(super) use inits;
