//! In OpenSSL's place: loads the provider, answers for openssl.cnf, and hears of failures.

use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::OnceLock,
};

use crate::{
    functions::{Describe, DescribeContext, DescribeSelection, Dispatch, Free, Param, Query, Table, tables},
    params::NAMES,
};

/// Links the provider.
use rsalab_provider as _;

unsafe extern "C" {
    fn OSSL_provider_init(
        handle: *const c_void,
        table: *const Dispatch,
        out: *mut *const Dispatch,
        context: *mut *mut c_void,
    ) -> c_int;
}

const OP_KEYMGMT: c_int = 10;
const OP_SIGNATURE: c_int = 12;
const OP_ASYM_CIPHER: c_int = 13;

/// Values that openssl.cnf has for some names, and the version.
pub(crate) type Values = Vec<(CString, CString)>;

/// The provider, loaded with some values.
pub(crate) struct Provider {
    pub(crate) context: *mut c_void,
    pub(crate) own: Table,
    pub(crate) keys: Vec<Table>,
    pub(crate) signatures: Vec<Table>,
    pub(crate) ciphers: Vec<Table>,
    /// The provider asks for them by their address.
    _values: Box<Values>,
}

// SAFETY: OpenSSL shares a provider's context among threads, too.
unsafe impl Send for Provider {}
// SAFETY: as above.
unsafe impl Sync for Provider {}

impl Provider {
    /// Loads it; none if it refuses, and then it has said why.
    pub(crate) fn load(values: Values) -> Option<Provider> {
        let values = Box::new(values);
        let (mut table, mut context) = (ptr::null(), ptr::null_mut());
        clear();
        // SAFETY: the table has the types of core_dispatch.h and ends with number 0; the handle lives as long as the
        // provider.
        let is_loaded = unsafe {
            OSSL_provider_init(
                ptr::from_ref(&*values).cast(),
                CORE.as_ptr(),
                &raw mut table,
                &raw mut context,
            )
        };
        if check(is_loaded) == 0 {
            return None;
        }
        // SAFETY: the provider gave a table of its own functions.
        unsafe {
            let own = Table::new(table);
            let query: Query = own.get(1027);
            let list = |operation| {
                let mut no_store = -1;
                let algorithms = query(context, operation, &raw mut no_store);
                assert_eq!(no_store, 0);
                tables(algorithms)
            };
            assert!(query(context, 1, ptr::null_mut()).is_null(), "it offers no digests");
            let provider = Provider {
                context,
                own,
                keys: list(OP_KEYMGMT),
                signatures: list(OP_SIGNATURE),
                ciphers: list(OP_ASYM_CIPHER),
                _values: values,
            };
            provider.check_descriptions();
            Some(provider)
        }
    }
}

impl Provider {
    /// Checks that all that it says of its parameters is of names that fuzzing knows.
    fn check_descriptions(&self) {
        let known = |first: *const Param| {
            let mut param = first;
            // SAFETY: a null key ends an array, and keys are strings of C.
            unsafe {
                while !param.is_null() && !(*param).key.is_null() {
                    let name = CStr::from_ptr((*param).key).to_str().expect("names are ASCII");
                    assert!(NAMES.contains(&name), "{name} is in no seed");
                    param = param.add(1);
                }
            }
        };
        // SAFETY: these numbers have these types in the tables of each operation.
        unsafe {
            known(self.own.get::<Describe>(1025)(self.context));
            for table in &self.keys {
                known(table.get::<Describe>(12)(self.context));
                known(table.get::<DescribeContext>(5)(ptr::null_mut(), self.context));
                for selection in 0..4 {
                    known(table.get::<DescribeSelection>(41)(selection));
                    known(table.get::<DescribeSelection>(43)(selection));
                }
            }
            for table in &self.signatures {
                known(table.get::<DescribeContext>(19)(ptr::null_mut(), self.context));
                known(table.get::<DescribeContext>(21)(ptr::null_mut(), self.context));
            }
            for table in &self.ciphers {
                known(table.get::<DescribeContext>(9)(ptr::null_mut(), self.context));
                known(table.get::<DescribeContext>(11)(ptr::null_mut(), self.context));
            }
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // SAFETY: the last call with this context.
        unsafe { self.own.get::<Free>(1024)(self.context) };
    }
}

/// One of the providers that live as long as the program: for versions of OpenSSL that differ in what is asked of us.
pub(crate) fn provider(which: usize) -> &'static Provider {
    static LOADED: OnceLock<Vec<Provider>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let load = |version: &CStr| Provider::load(vec![(c"openssl-version".to_owned(), version.to_owned())]);
        let all = [c"3.0.15", c"3.2.1", c"3.5.4"].map(load);
        all.into_iter().map(|loaded| loaded.expect("it loads")).collect()
    });
    &loaded[which % loaded.len()]
}

static CORE: [Dispatch; 5] = [
    Dispatch {
        id: 2,
        function: get_params as *const c_void,
    },
    Dispatch {
        id: 5,
        function: new_error as *const c_void,
    },
    Dispatch {
        id: 6,
        function: set_debug as *const c_void,
    },
    Dispatch {
        id: 7,
        function: set_error as *const c_void,
    },
    Dispatch {
        id: 0,
        function: ptr::null(),
    },
];

/// `core_get_params`: strings of openssl.cnf, where they are known.
unsafe extern "C" fn get_params(handle: *const c_void, params: *mut Param) -> c_int {
    // SAFETY: the handle is the one that `load` passed, and the array ends with a null key.
    unsafe {
        let values = &*handle.cast::<Values>();
        let mut param = params;
        while !(*param).key.is_null() {
            let key = CStr::from_ptr((*param).key);
            if let Some((_, value)) = values.iter().find(|(name, _)| name.as_c_str() == key) {
                assert_eq!((*param).data_type, 6);
                *(*param).data.cast::<*const c_char>() = value.as_ptr();
                (*param).return_size = value.count_bytes();
            }
            param = param.add(1);
        }
    }
    1
}

thread_local! {
    /// The last failure that was reported.
    static REPORTED: RefCell<Option<(u32, String)>> = const { RefCell::new(None) };
}

unsafe extern "C" fn new_error(handle: *const c_void) {
    assert!(!handle.is_null());
}

unsafe extern "C" fn set_debug(_: *const c_void, file: *const c_char, _: c_int, function: *const c_char) {
    assert!(!file.is_null() && !function.is_null());
}

/// `core_vset_error`: a text whose conversions are those of `printf`; the provider passes none.
unsafe extern "C" fn set_error(_: *const c_void, reason: u32, text: *const c_char, _: *mut c_void) {
    // SAFETY: the text is a string of C.
    let text = unsafe { CStr::from_ptr(text) }.to_str().expect("texts are UTF-8");
    assert!(!text.replace("%%", "").contains('%'), "{text} has conversions");
    REPORTED.set(Some((reason, text.to_owned())));
}

/// Forgets what was reported.
pub(crate) fn clear() {
    REPORTED.set(None);
}

/// Checks the value that a function returned: 1, or 0 and a reason that is neither a panic nor a lack of memory.
pub(crate) fn check(returned: c_int) -> c_int {
    assert!(matches!(returned, 0 | 1), "{returned} was returned");
    let reported = REPORTED.take();
    match (returned, reported) {
        (1, reported) => assert!(reported.is_none(), "{reported:?} was reported, and 1 returned"),
        (_, None) => panic!("0 was returned, and nothing reported"),
        (_, Some((reason, text))) => {
            assert!(text != "internal error", "a panic");
            assert!(reason & 0xff != 0 && reason != 0x1c8c_0100, "{reason:x}: {text}");
        }
    }
    returned
}
