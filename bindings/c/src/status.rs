//! The status that a call returns, and the text of what went wrong.

use std::{
    borrow::Cow,
    cell::RefCell,
    ffi::{CStr, CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

use rsalab_reserve::{PerThread, Reserve};

use crate::memory;

/// The outcome of a call, or of one item of a batch. 0 is success.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// At least one item of the batch failed: its own status says why. The others are done.
    Items = 1,
    /// A pointer that must not be NULL is.
    Null = 2,
    /// An argument has no meaning: an unknown number of a scheme, a format or a key, or a size out of range.
    Argument = 3,
    /// A buffer is too small; nothing was written, but for the length that is needed where it is asked for by pointer.
    Buffer = 4,
    /// These bytes are not an RSA key, or a damaged or invalid one.
    Key = 5,
    /// A key that may be good, and that this library does not work with.
    Unsupported = 6,
    /// The key is encrypted, and no password was given.
    PasswordMissing = 7,
    /// The password does not decrypt the key.
    PasswordWrong = 8,
    /// The key is for something else, as its file says.
    Restricted = 9,
    /// The scheme or its parameters do not suit the key or the message; or the scheme must not sign any more (SHA-1).
    Scheme = 10,
    /// A digest, a signature, or a ciphertext has the wrong length.
    Length = 11,
    /// The signature is not that of the message.
    Verification = 12,
    /// The ciphertext does not decrypt. It is not said why.
    Decryption = 13,
    /// A result failed its check and was withheld: the machine computes wrongly, or the key is damaged.
    Fault = 14,
    /// The system gives no random bytes.
    Randomness = 15,
    /// The batcher belongs to the process that made it, of which this one is a fork.
    Forked = 16,
    /// This is an error in the library, or it got no thread.
    Internal = 17,
    /// A number is not below the modulus.
    Range = 18,
    /// There is not enough memory. Nothing was done.
    Memory = 19,
}

impl Status {
    const ALL: [Status; 20] = [
        Status::Ok,
        Status::Items,
        Status::Null,
        Status::Argument,
        Status::Buffer,
        Status::Key,
        Status::Unsupported,
        Status::PasswordMissing,
        Status::PasswordWrong,
        Status::Restricted,
        Status::Scheme,
        Status::Length,
        Status::Verification,
        Status::Decryption,
        Status::Fault,
        Status::Randomness,
        Status::Forked,
        Status::Internal,
        Status::Range,
        Status::Memory,
    ];

    fn text(self) -> &'static CStr {
        match self {
            Status::Ok => c"done",
            Status::Items => c"some items of the batch failed; each has its own status",
            Status::Null => c"a pointer is NULL that must not be",
            Status::Argument => c"an argument has no meaning",
            Status::Buffer => c"a buffer is too small",
            Status::Key => c"not a valid RSA key",
            Status::Unsupported => c"not a key that this library works with",
            Status::PasswordMissing => c"the key is encrypted, and no password was given",
            Status::PasswordWrong => c"the password does not decrypt the key",
            Status::Restricted => c"the key is for something else, as its file says",
            Status::Scheme => c"the scheme does not suit the key or the message",
            Status::Length => c"an item has the wrong length",
            Status::Verification => c"the signature is not that of the message",
            Status::Decryption => c"the ciphertext does not decrypt",
            Status::Fault => c"a result failed its check and was withheld",
            Status::Randomness => c"the system gives no random bytes",
            Status::Forked => c"the batcher belongs to the process that made it",
            Status::Internal => c"error in the library, or no thread could be started",
            Status::Range => c"a number is not below the modulus",
            Status::Memory => c"there is not enough memory",
        }
    }
}

/// A sentence for a status, such as one of an item. Never NULL, never freed, valid for ever; "unknown status" for
/// another number.
#[unsafe(no_mangle)]
pub extern "C" fn rsalab_status_text(status: i32) -> *const c_char {
    let known = Status::ALL.iter().find(|known| **known as i32 == status);
    known.map_or(c"unknown status", |status| status.text()).as_ptr()
}

/// The error of the last call on this thread that did not return RSALAB_STATUS_OK, in a sentence or two; of a
/// batch, with the first item that failed. Never NULL, never freed; valid until the next call of this library on this
/// thread. Nothing secret is in it.
#[unsafe(no_mangle)]
pub extern "C" fn rsalab_last_error() -> *const c_char {
    let text = LAST.with_made(|last| last.borrow().as_ptr());
    text.unwrap_or_else(|| match Reserve::was_refused() {
        // There was no memory for a text, either.
        true => Status::Memory.text().as_ptr(),
        false => c"".as_ptr(),
    })
}

static LAST: PerThread<RefCell<Cow<'static, CStr>>> = PerThread::new(|| RefCell::new(c"".into()));

/// Why a call, or an item, failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) text: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(status: Status, text: impl Into<Cow<'static, str>>) -> Self {
        Failure {
            status,
            text: text.into(),
        }
    }
}

impl From<rsalab_rsa::Error> for Failure {
    fn from(error: rsalab_rsa::Error) -> Self {
        use rsalab_rsa::Error;
        let status = match error {
            Error::InvalidKey { .. } | Error::KeySize { .. } | Error::Format { .. } | Error::Several { .. } => {
                Status::Key
            }
            Error::Unsupported { .. } => Status::Unsupported,
            Error::PasswordMissing => Status::PasswordMissing,
            Error::PasswordWrong => Status::PasswordWrong,
            Error::Restricted { .. } => Status::Restricted,
            Error::Scheme { .. } => Status::Scheme,
            Error::Length { .. } => Status::Length,
            Error::Fault { .. } => Status::Fault,
            Error::Randomness { .. } => Status::Randomness,
            // What is left concerns generation, or other back ends than this CPU.
            _ => Status::Internal,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<rsalab_batch::Error> for Failure {
    fn from(error: rsalab_batch::Error) -> Self {
        use rsalab_batch::Error;
        let status = match error {
            Error::UnknownKey { .. } => Status::Argument,
            Error::Length { .. } => Status::Length,
            Error::OutOfRange => Status::Decryption,
            Error::Fault => Status::Fault,
            Error::Forked => Status::Forked,
            Error::Refused { .. } => Status::Scheme,
            _ => Status::Internal,
        };
        Failure::new(status, error.to_string())
    }
}

/// Does the work of an entry point that is about one item or a few.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    guard_with(memory::call(), work)
}

/// Does the work of an entry point, which so much memory is enough for. A panic, which would be an error in this
/// library, ends here; so does the text of a failure.
pub(crate) fn guard_with(bytes: usize, work: impl FnOnce() -> Result<(), Failure>) -> Status {
    match Reserve::enter(bytes) {
        Some(_reserve) => run(work),
        None => {
            // A thread that has no place for a text needs none.
            let _ = LAST.with(|last| last.replace(Status::Memory.text().into()));
            Status::Memory
        }
    }
}

/// More memory for a part of a call, where how much was not known when it began.
pub(crate) fn more_memory(bytes: usize) -> Result<Reserve, Failure> {
    Reserve::enter(bytes).ok_or_else(|| Failure::new(Status::Memory, "there is not enough memory"))
}

/// For what takes no memory and cannot fail but by a panic.
pub(crate) fn guard_free(work: impl FnOnce()) {
    let _reserve = Reserve::enter(memory::call());
    run(|| {
        work();
        Ok(())
    });
}

fn run(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        // Dropping it could panic anew.
        std::mem::forget(payload);
        let text = "the library panicked: this is an error in it, please report it";
        Err(Failure::new(Status::Internal, text))
    });
    match outcome {
        Ok(()) => Status::Ok,
        Err(failure) => {
            let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
            let _ = LAST.with(|last| last.replace(text.into()));
            failure.status
        }
    }
}

/// As [`guard_free`], with a value; the default after a panic.
pub(crate) fn guard_value<T: Default>(work: impl FnOnce() -> T) -> T {
    let mut value = T::default();
    guard_free(|| value = work());
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_and_a_text() {
        assert_eq!(guard(|| panic!("on purpose")), Status::Internal);
        let text = LAST.with(|last| last.borrow().to_string_lossy().into_owned());
        assert!(text.as_ref().unwrap().contains("panicked"), "{text:?}");
        assert_eq!(guard_value(|| -> usize { panic!("on purpose") }), 0);
    }

    #[test]
    fn statuses_are_listed_by_their_numbers() {
        for (number, status) in Status::ALL.iter().enumerate() {
            assert_eq!(*status as usize, number);
        }
    }

    #[test]
    fn a_text_with_a_zero_is_kept() {
        guard(|| Err(Failure::new(Status::Key, "a\0b")));
        assert_eq!(LAST.with(|last| last.borrow().clone()), Some(c"a b".into()));
    }
}
