//! Tables of functions (`OSSL_DISPATCH`, `OSSL_ALGORITHM`): an entry can only be made of a function that has the type
//! which `core_dispatch.h` gives its number. A test compares this list with the header.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    marker::PhantomData,
    ptr,
};

use super::types::{Callback, Param};

/// `OSSL_DISPATCH`: a function's number and the function, of an operation's table.
#[repr(C)]
pub(crate) struct Dispatch<Operation> {
    id: c_int,
    function: *const c_void,
    operation: PhantomData<Operation>,
}

// SAFETY: it points to a function, which does not change.
unsafe impl<Operation> Sync for Dispatch<Operation> {}

impl<Operation> Dispatch<Operation> {
    /// The end of a table.
    pub(crate) const LAST: Self = Dispatch {
        id: 0,
        function: ptr::null(),
        operation: PhantomData,
    };
}

/// The functions of each operation: a constructor of an entry, the function's name in the header, its number, and its
/// type.
macro_rules! operations {
    ($($(#[$doc:meta])* $operation:ident {
        $($new:ident $name:literal = $id:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*
    })*) => {
        $(
            $(#[$doc])*
            pub(crate) enum $operation {}

            impl Dispatch<$operation> {
                $(
                    pub(crate) const fn $new(function: unsafe extern "C" fn($($argument),*) $(-> $result)?) -> Self {
                        Dispatch { id: $id, function: function as *const c_void, operation: PhantomData }
                    }
                )*
            }
        )*

        /// Name, number, arguments, and result of each.
        #[cfg(test)]
        const FUNCTIONS: &[(&str, c_int, &[&str], &str)] = &[
            $($(($name, $id, &[$(stringify!($argument)),*], concat!($(stringify!($result))?)),)*)*
        ];
    };
}

operations! {
    /// The provider itself.
    Provider {
        teardown "provider_teardown" = 1024: fn(*mut c_void);
        gettable_params "provider_gettable_params" = 1025: fn(*mut c_void) -> *const Param;
        get_params "provider_get_params" = 1026: fn(*mut c_void, *mut Param) -> c_int;
        query_operation "provider_query_operation" = 1027:
            fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm<Any>;
    }

    /// `OSSL_OP_KEYMGMT`.
    KeyManagement {
        new "keymgmt_new" = 1: fn(*mut c_void) -> *mut c_void;
        gen_init "keymgmt_gen_init" = 2: fn(*mut c_void, c_int, *const Param) -> *mut c_void;
        gen_set_params "keymgmt_gen_set_params" = 4: fn(*mut c_void, *const Param) -> c_int;
        gen_settable_params "keymgmt_gen_settable_params" = 5: fn(*mut c_void, *mut c_void) -> *const Param;
        generate "keymgmt_gen" = 6: fn(*mut c_void, Option<Callback>, *mut c_void) -> *mut c_void;
        gen_cleanup "keymgmt_gen_cleanup" = 7: fn(*mut c_void);
        free "keymgmt_free" = 10: fn(*mut c_void);
        get_params "keymgmt_get_params" = 11: fn(*mut c_void, *mut Param) -> c_int;
        gettable_params "keymgmt_gettable_params" = 12: fn(*mut c_void) -> *const Param;
        query_operation_name "keymgmt_query_operation_name" = 20: fn(c_int) -> *const c_char;
        has "keymgmt_has" = 21: fn(*const c_void, c_int) -> c_int;
        validate "keymgmt_validate" = 22: fn(*const c_void, c_int, c_int) -> c_int;
        matches "keymgmt_match" = 23: fn(*const c_void, *const c_void, c_int) -> c_int;
        import "keymgmt_import" = 40: fn(*mut c_void, c_int, *const Param) -> c_int;
        import_types "keymgmt_import_types" = 41: fn(c_int) -> *const Param;
        export "keymgmt_export" = 42: fn(*mut c_void, c_int, Option<Callback>, *mut c_void) -> c_int;
        export_types "keymgmt_export_types" = 43: fn(c_int) -> *const Param;
        dup "keymgmt_dup" = 44: fn(*const c_void, c_int) -> *mut c_void;
    }

    /// `OSSL_OP_SIGNATURE`.
    Signature {
        new_context "signature_newctx" = 1: fn(*mut c_void, *const c_char) -> *mut c_void;
        sign_init "signature_sign_init" = 2: fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        sign "signature_sign" = 3: fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
        verify_init "signature_verify_init" = 4: fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        verify "signature_verify" = 5: fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int;
        recover_init "signature_verify_recover_init" = 6: fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        recover "signature_verify_recover" = 7:
            fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
        digest_sign_init "signature_digest_sign_init" = 8:
            fn(*mut c_void, *const c_char, *mut c_void, *const Param) -> c_int;
        digest_sign_update "signature_digest_sign_update" = 9: fn(*mut c_void, *const u8, usize) -> c_int;
        digest_sign_final "signature_digest_sign_final" = 10:
            fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;
        digest_verify_init "signature_digest_verify_init" = 12:
            fn(*mut c_void, *const c_char, *mut c_void, *const Param) -> c_int;
        digest_verify_update "signature_digest_verify_update" = 13: fn(*mut c_void, *const u8, usize) -> c_int;
        digest_verify_final "signature_digest_verify_final" = 14: fn(*mut c_void, *const u8, usize) -> c_int;
        free_context "signature_freectx" = 16: fn(*mut c_void);
        dup_context "signature_dupctx" = 17: fn(*mut c_void) -> *mut c_void;
        get_params "signature_get_ctx_params" = 18: fn(*mut c_void, *mut Param) -> c_int;
        gettable_params "signature_gettable_ctx_params" = 19: fn(*mut c_void, *mut c_void) -> *const Param;
        set_params "signature_set_ctx_params" = 20: fn(*mut c_void, *const Param) -> c_int;
        settable_params "signature_settable_ctx_params" = 21: fn(*mut c_void, *mut c_void) -> *const Param;
        query_key_types "signature_query_key_types" = 26: fn() -> *const *const c_char;
        sign_message_init "signature_sign_message_init" = 27: fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        sign_message_update "signature_sign_message_update" = 28: fn(*mut c_void, *const u8, usize) -> c_int;
        sign_message_final "signature_sign_message_final" = 29:
            fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;
        verify_message_init "signature_verify_message_init" = 30:
            fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        verify_message_update "signature_verify_message_update" = 31: fn(*mut c_void, *const u8, usize) -> c_int;
        verify_message_final "signature_verify_message_final" = 32: fn(*mut c_void) -> c_int;
    }

    /// `OSSL_OP_ASYM_CIPHER`.
    AsymmetricCipher {
        new_context "asym_cipher_newctx" = 1: fn(*mut c_void) -> *mut c_void;
        encrypt_init "asym_cipher_encrypt_init" = 2: fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        encrypt "asym_cipher_encrypt" = 3: fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
        decrypt_init "asym_cipher_decrypt_init" = 4: fn(*mut c_void, *mut c_void, *const Param) -> c_int;
        decrypt "asym_cipher_decrypt" = 5: fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
        free_context "asym_cipher_freectx" = 6: fn(*mut c_void);
        dup_context "asym_cipher_dupctx" = 7: fn(*mut c_void) -> *mut c_void;
        get_params "asym_cipher_get_ctx_params" = 8: fn(*mut c_void, *mut Param) -> c_int;
        gettable_params "asym_cipher_gettable_ctx_params" = 9: fn(*mut c_void, *mut c_void) -> *const Param;
        set_params "asym_cipher_set_ctx_params" = 10: fn(*mut c_void, *const Param) -> c_int;
        settable_params "asym_cipher_settable_ctx_params" = 11: fn(*mut c_void, *mut c_void) -> *const Param;
    }
}

/// Of any operation, for who asks by its number.
pub(crate) enum Any {}

/// `OSSL_ALGORITHM`, of an operation.
#[repr(C)]
pub(crate) struct Algorithm<Operation: 'static> {
    names: *const c_char,
    properties: *const c_char,
    implementation: *const Dispatch<Operation>,
    description: *const c_char,
}

// SAFETY: it points to constants.
unsafe impl<Operation> Sync for Algorithm<Operation> {}

impl<Operation> Algorithm<Operation> {
    /// The end of a list.
    pub(crate) const LAST: Self = Algorithm {
        names: ptr::null(),
        properties: ptr::null(),
        implementation: ptr::null(),
        description: ptr::null(),
    };

    /// Names, separated by colons, and a table that ends with [`Dispatch::LAST`].
    pub(crate) const fn new(
        names: &'static CStr,
        implementation: &'static [Dispatch<Operation>],
        description: &'static CStr,
    ) -> Self {
        assert!(matches!(implementation.last(), Some(Dispatch { id: 0, .. })));
        Algorithm {
            names: names.as_ptr(),
            properties: c"provider=rsalab".as_ptr(),
            implementation: implementation.as_ptr(),
            description: description.as_ptr(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEADER: &str = "/usr/include/openssl/core_dispatch.h";

    /// A type of C as this crate writes it.
    fn of_c(declared: &str) -> String {
        let words: Vec<&str> = declared.split(' ').filter(|word| !word.is_empty()).collect();
        let is_array = declared.contains("[]");
        let pointers = declared.matches('*').count() + usize::from(is_array);
        let base = words.iter().find(|word| **word != "const").expect("a type has a name");
        let name = match base.trim_end_matches('*') {
            "void" => "c_void",
            "int" => "c_int",
            "char" => "c_char",
            "unsigned" => "u8",
            "size_t" => "usize",
            "OSSL_PARAM" => "Param",
            "OSSL_ALGORITHM" => "Algorithm<Any>",
            "OSSL_CALLBACK" => return "Option<Callback>".into(),
            other => other,
        };
        let mutability = if words[0] == "const" { "*const " } else { "*mut " };
        match (pointers, name) {
            (0, "c_void") => String::new(),
            (0, name) => name.into(),
            // The inner pointer of `const char **` is the one that is constant.
            (2, name) => format!("*const *const {name}"),
            (_, name) => format!("{mutability}{name}"),
        }
    }

    #[test]
    fn functions_have_the_numbers_and_types_of_the_header() {
        let Ok(header) = fs::read_to_string(HEADER) else {
            eprintln!("SKIPPED: no {HEADER} here");
            return;
        };
        let flat = header.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut compared = 0;
        for (name, id, arguments, result) in FUNCTIONS {
            let define = format!("define OSSL_FUNC_{} ", name.to_uppercase());
            // Some are of later versions of OpenSSL.
            let Some((_, after)) = flat.split_once(&define) else {
                continue;
            };
            let number = after.split(' ').next().unwrap();
            assert_eq!(number, id.to_string(), "{name}");
            let mut declarations = flat.split("OSSL_CORE_MAKE_FUNC(").skip(1);
            let is_it = |declared: &&str| declared.split(',').nth(1).is_some_and(|found| found.trim() == *name);
            let declared = declarations
                .find(is_it)
                .unwrap_or_else(|| panic!("{name} is not declared"));
            let (returns, rest) = declared.split_once(',').unwrap();
            let list = rest.split_once('(').unwrap().1.split_once(')').unwrap().0;
            let declared: Vec<String> = list.split(',').map(of_c).filter(|one| !one.is_empty()).collect();
            assert_eq!(declared, *arguments, "{name}");
            assert_eq!(of_c(returns), *result, "{name}");
            compared += 1;
        }
        assert!(compared >= 52, "{compared} functions were found in the header");
    }
}
