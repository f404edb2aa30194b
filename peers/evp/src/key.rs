//! `EVP_PKEY`, owned: from a study key by way of PKCS#1 DER, and back from a generated key.

use std::{
    ffi::{CStr, c_int, c_long},
    ptr,
};

use pkcs1::{
    OtherPrimeInfo, RsaPrivateKey, RsaPublicKey,
    der::{Decode, Encode, asn1::UintRef},
};
use rsalab_engines::{EngineError, StudyKey};
use zeroize::Zeroizing;

use crate::{library::Libcrypto, number::Number, owned::Owned, table::Pkey};

/// `EVP_PKEY_RSA`.
pub(crate) const KIND_RSA: c_int = 6;

/// A study key in the encoding that every version reads: PKCS#1 DER. Wiped when dropped.
pub(crate) enum KeyDer {
    /// `RSAPrivateKey`, with the CRT parameters.
    Private(Zeroizing<Vec<u8>>),
    /// `RSAPublicKey`.
    Public(Vec<u8>),
}

impl KeyDer {
    pub(crate) fn private(key: &StudyKey) -> Result<Self, EngineError> {
        let others = key.others.iter().map(|other| {
            Ok(OtherPrimeInfo {
                prime: uint(&other.r)?,
                exponent: uint(&other.d)?,
                coefficient: uint(&other.t)?,
            })
        });
        let others: Vec<OtherPrimeInfo<UintRef<'_>>> = others.collect::<Result<_, EngineError>>()?;
        let der = RsaPrivateKey {
            modulus: uint(&key.n)?,
            public_exponent: uint(&key.e)?,
            private_exponent: uint(&key.d)?,
            prime1: uint(&key.p)?,
            prime2: uint(&key.q)?,
            exponent1: uint(&key.dp)?,
            exponent2: uint(&key.dq)?,
            coefficient: uint(&key.qinv)?,
            other_prime_infos: (!others.is_empty()).then_some(others),
        }
        .to_der();
        Ok(Self::Private(Zeroizing::new(der.map_err(refused)?)))
    }

    pub(crate) fn public(key: &StudyKey) -> Result<Self, EngineError> {
        let der = RsaPublicKey {
            modulus: uint(&key.n)?,
            public_exponent: uint(&key.e)?,
        }
        .to_der();
        Ok(Self::Public(der.map_err(refused)?))
    }
}

/// A key that libcrypto holds.
pub(crate) struct Key<'a>(Owned<'a, Pkey>);

impl<'a> Key<'a> {
    /// Reads a key.
    pub(crate) fn read(library: &'a Libcrypto, der: &KeyDer) -> Result<Self, EngineError> {
        match der {
            KeyDer::Private(bytes) => Key::private(library, bytes),
            KeyDer::Public(bytes) => Key::public(library, bytes),
        }
    }

    /// Reads a private key, of PKCS#1 or PKCS#8.
    pub(crate) fn private(library: &'a Libcrypto, der: &[u8]) -> Result<Self, EngineError> {
        Key::of_der(library, der, "d2i_AutoPrivateKey", true)
    }

    /// Reads a public key of PKCS#1.
    pub(crate) fn public(library: &'a Libcrypto, der: &[u8]) -> Result<Self, EngineError> {
        Key::of_der(library, der, "d2i_PublicKey", false)
    }

    fn of_der(library: &'a Libcrypto, bytes: &[u8], call: &'static str, is_private: bool) -> Result<Self, EngineError> {
        let length = c_long::try_from(bytes.len()).expect("a key of this program has less than 2 GiB");
        let mut position = bytes.as_ptr();
        // SAFETY: `position` points to `length` readable bytes; a null key asks for a new one, which is ours to free.
        let raw = unsafe {
            match is_private {
                true => (library.table.d2i_AutoPrivateKey)(ptr::null_mut(), &mut position, length),
                false => (library.table.d2i_PublicKey)(KIND_RSA, ptr::null_mut(), &mut position, length),
            }
        };
        // SAFETY: what was just read is ours.
        unsafe { Self::from_raw(library, call, raw) }
    }

    /// Takes over a key that `call` of libcrypto made for us; null is its failure.
    ///
    /// # Safety
    ///
    /// `raw` is null, or a live key that nobody else frees.
    pub(crate) unsafe fn from_raw(
        library: &'a Libcrypto,
        call: &'static str,
        raw: *mut Pkey,
    ) -> Result<Self, EngineError> {
        // SAFETY: the caller's promise; `EVP_PKEY_free` frees keys.
        unsafe { Owned::new(library, call, raw, library.table.EVP_PKEY_free) }.map(Self)
    }

    pub(crate) fn as_ptr(&self) -> *mut Pkey {
        self.0.as_ptr()
    }

    /// Writes the primes and the private exponent, each filled up with zeros to the length of its buffer.
    pub(crate) fn write(&self, p: &mut [u8], q: &mut [u8], d: &mut [u8]) -> Result<(), EngineError> {
        if self.0.library.table.EVP_PKEY_get_bn_param.is_some() {
            self.write_parameter(c"rsa-factor1", p)?;
            self.write_parameter(c"rsa-factor2", q)?;
            self.write_parameter(c"d", d)
        } else {
            self.write_from_der(p, q, d)
        }
    }

    /// Writes the modulus; from 3.0 on.
    pub(crate) fn write_modulus(&self, n: &mut [u8]) -> Result<(), EngineError> {
        self.write_parameter(c"n", n)
    }

    /// From 3.0 on: parameters by name.
    fn write_parameter(&self, name: &CStr, out: &mut [u8]) -> Result<(), EngineError> {
        const CALL: &str = "EVP_PKEY_get_bn_param";
        let get = (self.0.library.table.EVP_PKEY_get_bn_param).expect("the caller asked for it");
        let mut raw = ptr::null_mut();
        // SAFETY: the key is live, the name ends with NUL, and a null number asks for a new one.
        let code = unsafe { get(self.as_ptr(), name.as_ptr(), &mut raw) };
        // SAFETY: a number that the call left was made for us.
        let number = unsafe { Number::from_raw(self.0.library, CALL, raw) }?;
        self.0.library.done(CALL, code)?;
        fits(number.write(out))
    }

    /// Before 3.0: by way of the key's encoding, for which `i2d_PrivateKey` uses PKCS#1.
    fn write_from_der(&self, p: &mut [u8], q: &mut [u8], d: &mut [u8]) -> Result<(), EngineError> {
        const CALL: &str = "i2d_PrivateKey";
        // SAFETY: the key is live; a null buffer asks for the length only.
        let length = unsafe { (self.0.library.table.i2d_PrivateKey)(self.as_ptr(), ptr::null_mut()) };
        let length = usize::try_from(length)
            .ok()
            .filter(|&length| length > 0)
            .ok_or_else(|| self.0.library.failure(CALL))?;
        let mut der = Zeroizing::new(vec![0; length]);
        let mut position = der.as_mut_ptr();
        // SAFETY: the key is live and has not changed: the buffer has the length just asked for.
        let written = unsafe { (self.0.library.table.i2d_PrivateKey)(self.as_ptr(), &mut position) };
        if usize::try_from(written) != Ok(length) {
            return Err(self.0.library.failure(CALL));
        }
        let key = pkcs1::RsaPrivateKeyRef::from_der(&der).map_err(refused)?;
        for (out, value) in [(p, key.prime1), (q, key.prime2), (d, key.private_exponent)] {
            let value = value.as_bytes();
            let Some(zeros) = out.len().checked_sub(value.len()) else {
                return fits(false);
            };
            out[..zeros].fill(0);
            out[zeros..].copy_from_slice(value);
        }
        Ok(())
    }
}

fn uint(bytes: &[u8]) -> Result<UintRef<'_>, EngineError> {
    UintRef::new(bytes).map_err(refused)
}

fn refused(error: pkcs1::der::Error) -> EngineError {
    EngineError::Key(format!("it has no PKCS#1 encoding ({error})"))
}

fn fits(fits: bool) -> Result<(), EngineError> {
    if fits {
        Ok(())
    } else {
        Err(EngineError::Key(
            "a part of the generated key is longer than its size allows".to_owned(),
        ))
    }
}
