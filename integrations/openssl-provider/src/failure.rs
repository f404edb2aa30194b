//! Why a function failed, as OpenSSL's queue of errors has it: a number, and a sentence.

use std::borrow::Cow;

const PROVIDERS: u32 = 57 << 23;
const RSA: u32 = 4 << 23;
/// Of a number that all of OpenSSL's libraries have in common.
const COMMON: u32 = 0b11 << 18;

/// Reasons for which OpenSSL's own libraries have a number, the same in all versions (`openssl/proverr.h`,
/// `openssl/rsaerr.h`, `openssl/err.h`): the value, by `ERR_PACK`. Programs look for some of them, and OpenSSL has a
/// text for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Reason {
    BadExponent = RSA | 101,
    OutputBufferTooSmall = PROVIDERS | 106,
    InvalidSaltLength = PROVIDERS | 112,
    UnsupportedPadding = PROVIDERS | 165,
    InvalidMgf1Digest = PROVIDERS | 167,
    InvalidX931Digest = PROVIDERS | 170,
    KeySizeTooSmall = PROVIDERS | 171,
    SaltTooShort = PROVIDERS | 172,
    DigestNotAllowed = PROVIDERS | 174,
    UnsupportedForKeyType = PROVIDERS | 178,
    /// `ERR_R_MALLOC_FAILURE`.
    NoMemory = PROVIDERS | COMMON | 256,
    /// `ERR_R_OPERATION_FAIL`: everything else.
    Failed = PROVIDERS | COMMON | 263,
}

impl Reason {
    pub(crate) fn number(self) -> u32 {
        self as u32
    }

    /// The failure, with what the number does not say.
    pub(crate) fn because(self, text: impl Into<Cow<'static, str>>) -> Failure {
        Failure {
            reason: self,
            text: text.into(),
        }
    }
}

/// Why a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) reason: Reason,
    pub(crate) text: Cow<'static, str>,
}

impl Failure {
    /// The system has no memory. Takes none.
    pub(crate) const NO_MEMORY: Failure = Failure {
        reason: Reason::NoMemory,
        text: Cow::Borrowed(""),
    };
}

impl From<&'static str> for Failure {
    fn from(text: &'static str) -> Self {
        Reason::Failed.because(text)
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Reason::Failed.because(text)
    }
}

impl From<rsalab_rsa::Error> for Failure {
    fn from(error: rsalab_rsa::Error) -> Self {
        error.to_string().into()
    }
}

impl From<rsalab_batch::Error> for Failure {
    fn from(error: rsalab_batch::Error) -> Self {
        error.to_string().into()
    }
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_the_number_that_openssl_gives_it() {
        assert_eq!(Reason::OutputBufferTooSmall.number(), 0x1c80_006a);
        assert_eq!(Reason::DigestNotAllowed.number(), 0x1c80_00ae);
        assert_eq!(Reason::BadExponent.number(), 0x0200_0065);
        assert_eq!(Failure::NO_MEMORY.reason.number(), 0x1c8c_0100);
        assert_eq!(Failure::from("no such key").reason.number(), 0x1c8c_0107);
    }
}
