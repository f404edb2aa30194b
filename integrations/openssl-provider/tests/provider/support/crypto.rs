//! OpenSSL's library with the provider loaded, called from here.

#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_long, c_void},
    ptr,
};

use libloading::{
    Library, Symbol,
    os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW},
};

use super::Here;

/// The functions of libcrypto that the tests call.
pub(crate) struct Crypto(Library);

macro_rules! functions {
    ($($name:ident($($type:ty),*) -> $result:ty;)*) => {
        impl Crypto {
            $(
                #[allow(non_snake_case, clippy::too_many_arguments)]
                pub(crate) fn $name(&self) -> Symbol<'_, unsafe extern "C" fn($($type),*) -> $result> {
                    // SAFETY: libcrypto's headers declare the function so.
                    unsafe { self.0.get(stringify!($name).as_bytes()) }.expect("libcrypto has it")
                }
            )*
        }
    };
}

impl Crypto {
    /// `true` if this version has a function.
    pub(crate) fn has(&self, name: &str) -> bool {
        // SAFETY: only looked up.
        unsafe { self.0.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok()
    }
}

/// Any of libcrypto's objects.
pub(crate) type Any = *mut c_void;

functions! {
    OSSL_LIB_CTX_new() -> Any;
    OSSL_LIB_CTX_load_config(Any, *const c_char) -> c_int;
    OSSL_PROVIDER_load(Any, *const c_char) -> Any;
    OSSL_PROVIDER_get_params(Any, *mut Param) -> c_int;
    OSSL_PROVIDER_get0_name(Any) -> *const c_char;
    d2i_AutoPrivateKey_ex(*mut Any, *mut *const u8, c_long, Any, *const c_char) -> Any;
    d2i_PUBKEY_ex(*mut Any, *mut *const u8, c_long, Any, *const c_char) -> Any;
    EVP_PKEY_free(Any) -> ();
    EVP_PKEY_is_a(Any, *const c_char) -> c_int;
    EVP_PKEY_CTX_new_from_name(Any, *const c_char, *const c_char) -> Any;
    EVP_PKEY_CTX_new_from_pkey(Any, Any, *const c_char) -> Any;
    EVP_PKEY_CTX_free(Any) -> ();
    EVP_PKEY_CTX_get0_provider(Any) -> Any;
    EVP_PKEY_keygen_init(Any) -> c_int;
    EVP_PKEY_generate(Any, *mut Any) -> c_int;
    EVP_PKEY_sign_init(Any) -> c_int;
    EVP_PKEY_sign(Any, *mut u8, *mut usize, *const u8, usize) -> c_int;
    EVP_PKEY_verify(Any, *const u8, usize, *const u8, usize) -> c_int;
    EVP_SIGNATURE_fetch(Any, *const c_char, *const c_char) -> Any;
    EVP_SIGNATURE_free(Any) -> ();
    EVP_PKEY_sign_init_ex2(Any, Any, *const Param) -> c_int;
    EVP_PKEY_sign_message_init(Any, Any, *const Param) -> c_int;
    EVP_PKEY_sign_message_update(Any, *const u8, usize) -> c_int;
    EVP_PKEY_sign_message_final(Any, *mut u8, *mut usize) -> c_int;
    EVP_PKEY_verify_message_init(Any, Any, *const Param) -> c_int;
    EVP_PKEY_verify_message_update(Any, *const u8, usize) -> c_int;
    EVP_PKEY_verify_message_final(Any) -> c_int;
    EVP_PKEY_CTX_set_signature(Any, *const u8, usize) -> c_int;
    EVP_PKEY_encrypt_init_ex(Any, *const Param) -> c_int;
    EVP_PKEY_encrypt(Any, *mut u8, *mut usize, *const u8, usize) -> c_int;
    EVP_PKEY_decrypt_init_ex(Any, *const Param) -> c_int;
    EVP_PKEY_decrypt(Any, *mut u8, *mut usize, *const u8, usize) -> c_int;
    EVP_MD_CTX_new() -> Any;
    EVP_MD_CTX_free(Any) -> ();
    EVP_DigestVerifyInit_ex(Any, *mut Any, *const c_char, Any, *const c_char, Any, *const Param) -> c_int;
    EVP_DigestVerify(Any, *const u8, usize, *const u8, usize) -> c_int;
    ASYNC_init_thread(usize, usize) -> c_int;
    ASYNC_cleanup_thread() -> ();
    ASYNC_WAIT_CTX_new() -> Any;
    ASYNC_WAIT_CTX_free(Any) -> ();
    ASYNC_WAIT_CTX_get_all_fds(Any, *mut c_int, *mut usize) -> c_int;
    ASYNC_start_job(*mut Any, Any, *mut c_int, unsafe extern "C" fn(Any) -> c_int, Any, usize) -> c_int;
}

/// `OSSL_PARAM`.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    data_type: u32,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

impl Param {
    fn new(key: &CStr, data_type: u32, data: *const u8, data_size: usize) -> Param {
        Param {
            key: key.as_ptr(),
            data_type,
            data: data.cast_mut().cast(),
            data_size,
            return_size: 0,
        }
    }

    fn end() -> Param {
        Param {
            key: ptr::null(),
            ..Param::new(c"", 0, ptr::null(), 0)
        }
    }
}

/// A parameter's value, as a test says it.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Unsigned(&'a u32),
    Text(&'a CStr),
    Octets(&'a [u8]),
}

/// An array of parameters; what it points to outlives the call that it is built for.
fn params(values: &[(&CStr, Value<'_>)]) -> Vec<Param> {
    let param = |(key, value): &(&CStr, Value<'_>)| match value {
        Value::Unsigned(number) => Param::new(key, 2, ptr::from_ref(*number).cast(), 4),
        Value::Text(text) => Param::new(key, 4, text.as_ptr().cast(), text.count_bytes()),
        Value::Octets(octets) => Param::new(key, 5, octets.as_ptr(), octets.len()),
    };
    values.iter().map(param).chain(std::iter::once(Param::end())).collect()
}

/// libcrypto, and a library context that prefers the provider.
pub(crate) struct Loaded {
    pub(crate) crypto: Crypto,
    pub(crate) library: Any,
    _here: Here,
}

// SAFETY: library contexts and keys of OpenSSL may be used by several threads.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// None where there is no OpenSSL 3.
    pub(crate) fn new() -> Option<Self> {
        Self::with("")
    }

    /// With lines more in the provider's section of the configuration.
    pub(crate) fn with(settings: &str) -> Option<Self> {
        let here = Here::with(settings)?;
        // The library of the program: the system may have another version, too.
        let name = format!("libcrypto.so.{}", here.major);
        // SAFETY: OpenSSL's library, whose initialisation is made for this. Global: the provider looks its functions up
        // by name.
        let found = unsafe { Unix::open(Some(&name), RTLD_NOW | RTLD_GLOBAL) };
        let Ok(found) = found else {
            eprintln!("SKIPPED: there is no {name} here to call");
            return None;
        };
        let crypto = Crypto(found.into());
        let config = CString::new(here.path("openssl.cnf").to_str().unwrap()).unwrap();
        // SAFETY: a new context, and a string of C.
        let library = unsafe {
            let library = crypto.OSSL_LIB_CTX_new()();
            assert_eq!(crypto.OSSL_LIB_CTX_load_config()(library, config.as_ptr()), 1);
            library
        };
        Some(Loaded {
            crypto,
            library,
            _here: here,
        })
    }

    /// `true` if the operation that a context has begun is ours.
    pub(crate) fn is_ours(&self, context: Any) -> bool {
        // SAFETY: a context, whose provider stays loaded.
        unsafe {
            let provider = self.crypto.EVP_PKEY_CTX_get0_provider()(context);
            !provider.is_null() && CStr::from_ptr(self.crypto.OSSL_PROVIDER_get0_name()(provider)) == c"rsalab"
        }
    }

    fn generate(&self, kind: &CStr) -> Any {
        let crypto = &self.crypto;
        // SAFETY: objects of one library context, and strings of C.
        unsafe {
            let context = crypto.EVP_PKEY_CTX_new_from_name()(self.library, kind.as_ptr(), ptr::null());
            let mut key = ptr::null_mut();
            assert_eq!(crypto.EVP_PKEY_keygen_init()(context), 1);
            assert_eq!(crypto.EVP_PKEY_generate()(context, &mut key), 1);
            assert!(self.is_ours(context));
            crypto.EVP_PKEY_CTX_free()(context);
            key
        }
    }

    /// A new key of ours of the default size. It lives until the process ends.
    pub(crate) fn key(&self) -> Any {
        self.generate(c"RSA")
    }

    /// As [`Self::key`], freed when it is dropped.
    pub(crate) fn new_key(&self) -> Pkey<'_> {
        self.new_key_of(c"RSA")
    }

    /// A new key of this type.
    pub(crate) fn new_key_of(&self, kind: &CStr) -> Pkey<'_> {
        Pkey {
            loaded: self,
            key: self.generate(kind),
        }
    }

    /// The key of a PKCS#8 document, or none if it is refused.
    pub(crate) fn private_key(&self, pkcs8: &[u8]) -> Option<Pkey<'_>> {
        let (mut place, len) = (pkcs8.as_ptr(), pkcs8.len() as c_long);
        // SAFETY: the document's bytes, and a library context.
        let key =
            unsafe { self.crypto.d2i_AutoPrivateKey_ex()(ptr::null_mut(), &mut place, len, self.library, ptr::null()) };
        (!key.is_null()).then_some(Pkey { loaded: self, key })
    }

    /// The key of a SubjectPublicKeyInfo, or none if it is refused.
    pub(crate) fn public_key(&self, spki: &[u8]) -> Option<Pkey<'_>> {
        let (mut place, len) = (spki.as_ptr(), spki.len() as c_long);
        // SAFETY: the document's bytes, and a library context.
        let key = unsafe { self.crypto.d2i_PUBKEY_ex()(ptr::null_mut(), &mut place, len, self.library, ptr::null()) };
        (!key.is_null()).then_some(Pkey { loaded: self, key })
    }

    /// The histogram: how many batches of each size.
    pub(crate) fn batches(&self) -> Vec<(usize, usize)> {
        let mut text = vec![0_u8; 1000];
        let len = self.parameter(c"rsalab-batches", 4, &mut text);
        text.truncate(len);
        let text = String::from_utf8(text).unwrap();
        let pair = |pair: &str| {
            let (size, count) = pair.split_once(':').unwrap();
            (size.parse().unwrap(), count.parse().unwrap())
        };
        text.split_whitespace().map(pair).collect()
    }

    /// A parameter of the provider, and how long it is.
    pub(crate) fn parameter(&self, key: &CStr, data_type: u32, room: &mut [u8]) -> usize {
        // SAFETY: the provider is loaded in this context; the array ends with a null key.
        unsafe {
            let provider = self.crypto.OSSL_PROVIDER_load()(self.library, c"rsalab".as_ptr());
            assert!(!provider.is_null());
            let mut params = [Param::new(key, data_type, room.as_mut_ptr(), room.len()), Param::end()];
            assert_eq!(self.crypto.OSSL_PROVIDER_get_params()(provider, params.as_mut_ptr()), 1);
            params[0].return_size
        }
    }
}

/// One of OpenSSL's keys.
pub(crate) struct Pkey<'a> {
    loaded: &'a Loaded,
    key: Any,
}

// SAFETY: keys of OpenSSL may be used by several threads.
unsafe impl Sync for Pkey<'_> {}

impl Drop for Pkey<'_> {
    fn drop(&mut self) {
        // SAFETY: our only reference to it.
        unsafe { self.loaded.crypto.EVP_PKEY_free()(self.key) };
    }
}

/// The outcome of a signature.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) is_ours: bool,
    pub(crate) accepted: bool,
}

/// The operation that a message or a ciphertext goes through.
type Through = unsafe extern "C" fn(Any, *mut u8, *mut usize, *const u8, usize) -> c_int;
type Begin = unsafe extern "C" fn(Any, *const Param) -> c_int;

impl Pkey<'_> {
    /// OpenSSL's pointer, which is valid as long as this.
    pub(crate) fn handle(&self) -> Any {
        self.key
    }

    /// `true` if it is of the type RSA-PSS.
    pub(crate) fn is_pss(&self) -> bool {
        // SAFETY: a key and a string of C.
        unsafe { self.loaded.crypto.EVP_PKEY_is_a()(self.key, c"RSA-PSS".as_ptr()) == 1 }
    }

    fn through(
        &self,
        begin: &Begin,
        through: &Through,
        values: &[(&CStr, Value<'_>)],
        input: &[u8],
    ) -> Option<Vec<u8>> {
        let crypto = &self.loaded.crypto;
        let params = params(values);
        // Keys of these tests have up to 8192 bits.
        let mut out = vec![0; 1024];
        let mut len = out.len();
        // SAFETY: a context of the key's, and buffers as long as said.
        let done = unsafe {
            let context = crypto.EVP_PKEY_CTX_new_from_pkey()(self.loaded.library, self.key, ptr::null());
            let begun = begin(context, params.as_ptr()) == 1;
            assert!(!begun || self.loaded.is_ours(context));
            let done = begun && through(context, out.as_mut_ptr(), &mut len, input.as_ptr(), input.len()) == 1;
            crypto.EVP_PKEY_CTX_free()(context);
            done
        };
        out.truncate(len);
        done.then_some(out)
    }

    pub(crate) fn encrypt(&self, values: &[(&CStr, Value<'_>)], message: &[u8]) -> Option<Vec<u8>> {
        let crypto = &self.loaded.crypto;
        let (begin, through) = (crypto.EVP_PKEY_encrypt_init_ex(), crypto.EVP_PKEY_encrypt());
        self.through(&begin, &through, values, message)
    }

    pub(crate) fn decrypt(&self, values: &[(&CStr, Value<'_>)], ciphertext: &[u8]) -> Option<Vec<u8>> {
        let crypto = &self.loaded.crypto;
        let (begin, through) = (crypto.EVP_PKEY_decrypt_init_ex(), crypto.EVP_PKEY_decrypt());
        self.through(&begin, &through, values, ciphertext)
    }

    /// `true` if a signature is the message's, and `true` if it was us who said so; none if the parameters are refused.
    pub(crate) fn verify(
        &self,
        digest: &CStr,
        values: &[(&CStr, Value<'_>)],
        message: &[u8],
        signature: &[u8],
    ) -> Option<Verdict> {
        let crypto = &self.loaded.crypto;
        let params = params(values);
        // SAFETY: a new context, the key, and buffers as long as said.
        unsafe {
            let context = crypto.EVP_MD_CTX_new()();
            let mut operation = ptr::null_mut();
            let begun = crypto.EVP_DigestVerifyInit_ex()(
                context,
                &mut operation,
                digest.as_ptr(),
                self.loaded.library,
                ptr::null(),
                self.key,
                params.as_ptr(),
            );
            let verdict = (begun == 1).then(|| Verdict {
                is_ours: self.loaded.is_ours(operation),
                accepted: crypto.EVP_DigestVerify()(
                    context,
                    signature.as_ptr(),
                    signature.len(),
                    message.as_ptr(),
                    message.len(),
                ) == 1,
            });
            crypto.EVP_MD_CTX_free()(context);
            verdict
        }
    }
}
