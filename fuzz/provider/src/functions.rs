//! Layouts of OpenSSL's `core.h`, and the types of the functions that a provider's tables have (`core_dispatch.h`).

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    mem,
};

/// `OSSL_DISPATCH`.
#[repr(C)]
pub(crate) struct Dispatch {
    pub(crate) id: c_int,
    pub(crate) function: *const c_void,
}

// SAFETY: it points to a function, which does not change.
unsafe impl Sync for Dispatch {}

/// `OSSL_ALGORITHM`.
#[repr(C)]
pub(crate) struct Algorithm {
    names: *const c_char,
    properties: *const c_char,
    implementation: *const Dispatch,
    description: *const c_char,
}

/// `OSSL_PARAM`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

/// `OSSL_CALLBACK`.
pub(crate) type Callback = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

pub(crate) type New = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
pub(crate) type NewSignature = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
pub(crate) type Free = unsafe extern "C" fn(*mut c_void);
pub(crate) type Dup = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
pub(crate) type DupKey = unsafe extern "C" fn(*const c_void, c_int) -> *mut c_void;
pub(crate) type GetParams = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;
pub(crate) type SetParams = unsafe extern "C" fn(*mut c_void, *const Param) -> c_int;
pub(crate) type Import = unsafe extern "C" fn(*mut c_void, c_int, *const Param) -> c_int;
pub(crate) type Export = unsafe extern "C" fn(*mut c_void, c_int, Option<Callback>, *mut c_void) -> c_int;
pub(crate) type Has = unsafe extern "C" fn(*const c_void, c_int) -> c_int;
pub(crate) type Validate = unsafe extern "C" fn(*const c_void, c_int, c_int) -> c_int;
pub(crate) type Matches = unsafe extern "C" fn(*const c_void, *const c_void, c_int) -> c_int;
pub(crate) type GenInit = unsafe extern "C" fn(*mut c_void, c_int, *const Param) -> *mut c_void;
pub(crate) type Generate = unsafe extern "C" fn(*mut c_void, Option<Callback>, *mut c_void) -> *mut c_void;
pub(crate) type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const Param) -> c_int;
pub(crate) type DigestInit = unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void, *const Param) -> c_int;
pub(crate) type Update = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int;
pub(crate) type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;
/// Signs, recovers, encrypts, decrypts.
pub(crate) type Produce = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
pub(crate) type Verify = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int;
pub(crate) type VerifyFinal = unsafe extern "C" fn(*mut c_void) -> c_int;
/// The list of parameters of a provider or a type of key.
pub(crate) type Describe = unsafe extern "C" fn(*mut c_void) -> *const Param;
/// The list of parameters of a context, which may be none.
pub(crate) type DescribeContext = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const Param;
/// The list of parameters of the selected parts of a key.
pub(crate) type DescribeSelection = unsafe extern "C" fn(c_int) -> *const Param;
pub(crate) type Query = unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm;

/// A table of functions.
#[derive(Clone, Copy)]
pub(crate) struct Table(*const Dispatch);

// SAFETY: tables are constants.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// # Safety
    ///
    /// `first` points to a table that number 0 ends, and that never goes away.
    pub(crate) unsafe fn new(first: *const Dispatch) -> Table {
        assert!(!first.is_null());
        Table(first)
    }

    /// The function of this number.
    ///
    /// # Safety
    ///
    /// `F` is the type that `core_dispatch.h` gives the number, in the operation that the table is of.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(crate) unsafe fn get<F: Copy>(self, id: c_int) -> F {
        assert_eq!(size_of::<F>(), size_of::<*const c_void>());
        let mut entry = self.0;
        // SAFETY: number 0 ends the table.
        unsafe {
            while (*entry).id != id {
                assert_ne!((*entry).id, 0, "function {id} is missing");
                entry = entry.add(1);
            }
            mem::transmute_copy(&(*entry).function)
        }
    }
}

/// The tables of a list of algorithms.
///
/// # Safety
///
/// `first` points to a list that a null name ends.
pub(crate) unsafe fn tables(first: *const Algorithm) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut algorithm = first;
    // SAFETY: a null name ends the list; names are strings of C, and each has a table.
    unsafe {
        while !(*algorithm).names.is_null() {
            assert!(!CStr::from_ptr((*algorithm).names).is_empty());
            assert!(!CStr::from_ptr((*algorithm).properties).is_empty());
            assert!(!CStr::from_ptr((*algorithm).description).is_empty());
            tables.push(Table::new((*algorithm).implementation));
            algorithm = algorithm.add(1);
        }
    }
    tables
}
