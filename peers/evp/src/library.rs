//! A libcrypto that can be called: its version, its compiler flags, its errors.

use std::ffi::{CStr, c_char, c_int};

use rsalab_engines::EngineError;

use crate::table::Table;

/// `OPENSSL_VERSION` and `OPENSSL_CFLAGS` of `OpenSSL_version`.
const VERSION_TEXT: c_int = 0;
const VERSION_CFLAGS: c_int = 1;
/// `OPENSSL_INFO_CPU_SETTINGS` of `OPENSSL_info`.
const INFO_CPU_SETTINGS: c_int = 1008;

/// A supported libcrypto.
#[derive(Debug)]
pub struct Libcrypto {
    pub(crate) table: Table,
    family: Family,
    version: Version,
}

/// Whose libcrypto it is: what it does in the time that is measured depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// OpenSSL's own.
    OpenSsl,
    /// Amazon's, which offers the functions of OpenSSL 1.1.1.
    AwsLc,
}

/// The oldest version whose behaviour is stated.
const OLDEST: Version = Version::new(1, 0, 2);

/// The version whose interface AWS-LC offers (`OPENSSL_VERSION_NUMBER`).
const V1_1_1: Version = Version::new(1, 1, 1);

/// The parts of a version on which behaviour depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 1, 3, 4.
    pub major: u8,
    /// The 5 of 3.5.
    pub minor: u8,
    /// The 2 of 1.0.2; 0 from 3.0 on.
    pub fix: u8,
}

impl Version {
    /// The 1, 0 and 2 of 1.0.2.
    pub const fn new(major: u8, minor: u8, fix: u8) -> Self {
        Self { major, minor, fix }
    }
}

/// Why a library that could be opened cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSupported {
    /// Something else under the same name: LibreSSL, BoringSSL, AWS-LC.
    #[error("it calls itself '{0}', and only OpenSSL's libcrypto is known well enough to state what it does")]
    NotOpenSsl(String),
    /// Not the AWS-LC that was linked.
    #[error("it calls itself '{0}', which is not AWS-LC")]
    NotAwsLc(String),
    /// Older than the oldest version whose behaviour is stated.
    #[error("it is version {0}, and 1.0.2 is the oldest that can be used")]
    TooOld(String),
}

impl Libcrypto {
    /// Takes a filled table, and asks the library who it is.
    pub fn new(table: Table) -> Result<Self, NotSupported> {
        let text = version_text(&table, VERSION_TEXT);
        // SAFETY: no arguments, no preconditions.
        let number = unsafe { (table.OpenSSL_version_num)() };
        // 0xMNNFFPPS: major, minor, fix, patch, status; from 3.0 on 0xMNN00PPS.
        let version = Version {
            major: ((number >> 28) & 0xf) as u8,
            minor: ((number >> 20) & 0xff) as u8,
            fix: ((number >> 12) & 0xff) as u8,
        };
        if !text.starts_with("OpenSSL ") {
            return Err(NotSupported::NotOpenSsl(text));
        }
        if version < OLDEST {
            return Err(NotSupported::TooOld(text));
        }
        Ok(Self {
            table,
            family: Family::OpenSsl,
            version,
        })
    }

    /// Takes a filled table of AWS-LC's functions.
    pub fn aws_lc(table: Table) -> Result<Self, NotSupported> {
        let text = version_text(&table, VERSION_TEXT);
        if !text.starts_with("AWS-LC ") {
            return Err(NotSupported::NotAwsLc(text));
        }
        Ok(Self {
            table,
            family: Family::AwsLc,
            version: V1_1_1,
        })
    }

    /// Whose it is.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The version, to compare.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The version as the library prints it.
    pub fn version_text(&self) -> String {
        version_text(&self.table, VERSION_TEXT)
    }

    /// The CPU features that the library takes into account, where it says so (3.0 and later).
    pub fn cpu_settings(&self) -> Option<String> {
        // SAFETY: any number may be asked for; the answer is null or a static string.
        unsafe { static_text((self.table.OPENSSL_info?)(INFO_CPU_SETTINGS)) }
    }

    /// Returns whether the library's compiler was told to optimise, by the flags that the library states. AWS-LC states
    /// none: who links it sees to that.
    pub fn optimised(&self) -> bool {
        self.family == Family::AwsLc
            || version_text(&self.table, VERSION_CFLAGS)
                .split_whitespace()
                .any(|flag| flag.starts_with("-O") && flag != "-O0")
    }

    /// Empties this thread's queue of errors.
    pub(crate) fn forget_errors(&self) {
        // SAFETY: no arguments, no preconditions.
        unsafe { (self.table.ERR_clear_error)() };
    }

    /// `Ok` if `call` answered 1, as the library's functions do.
    pub(crate) fn done(&self, call: &'static str, code: c_int) -> Result<(), EngineError> {
        match code {
            1 => Ok(()),
            _ => Err(self.failure(call)),
        }
    }

    /// The oldest error in this thread's queue, as the failure of `call`; the queue is emptied.
    pub(crate) fn failure(&self, call: &'static str) -> EngineError {
        let mut buffer = [0 as c_char; 256];
        // SAFETY: the buffer has the length given; `ERR_error_string_n` terminates what it writes with NUL.
        let message = unsafe {
            let code = (self.table.ERR_get_error)();
            (self.table.ERR_clear_error)();
            if code == 0 {
                "the library gave no reason".to_owned()
            } else {
                (self.table.ERR_error_string_n)(code, buffer.as_mut_ptr(), buffer.len());
                CStr::from_ptr(buffer.as_ptr()).to_string_lossy().into_owned()
            }
        };
        EngineError::Library { call, message }
    }
}

fn version_text(table: &Table, what: c_int) -> String {
    // SAFETY: any number may be asked for; the answer is a static string.
    unsafe { static_text((table.OpenSSL_version)(what)) }.unwrap_or_default()
}

/// # Safety
///
/// `text` is null or a NUL-terminated string that is never freed nor written to.
unsafe fn static_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null; the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
