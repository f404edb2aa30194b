//! Uses of a key that its algorithm allows (RFC 4055).

use super::restrictions::Purpose;
use crate::{
    Error, Result,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
};

/// Uses of a key that its algorithm allows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Usage {
    /// Any scheme.
    Any,
    /// RSASSA-PSS only: with these parameters, where the salt may be longer, or with any.
    Pss(Option<Pss>),
    /// RSAES-OAEP only: with these parameters, the label among them, or with any.
    Oaep(Option<Oaep>),
}

impl Usage {
    /// The one kind of scheme that the key is for; none if it is for any.
    pub fn only(&self) -> Option<&'static str> {
        match self {
            Usage::Any => None,
            Usage::Pss(_) => Some("RSASSA-PSS"),
            Usage::Oaep(_) => Some("RSAES-OAEP"),
        }
    }

    /// Bytes of salt that signatures of the key have at least (RFC 4055, section 3.3).
    pub fn least_salt(&self) -> usize {
        match self {
            Usage::Pss(Some(own)) => own.salt_len.least(own.hash),
            _ => 0,
        }
    }

    /// The scheme as the key allows it: with a key that asks for a salt of so many bytes, verifying salts of any length
    /// means as many or more.
    pub fn narrowed(&self, scheme: SignatureScheme) -> SignatureScheme {
        match (scheme, self.least_salt()) {
            (SignatureScheme::Pss(pss), least @ 1..) if pss.salt_len == SaltLen::Any => SignatureScheme::Pss(Pss {
                salt_len: SaltLen::AtLeast(least),
                ..pss
            }),
            _ => scheme,
        }
    }

    /// Refuses a purpose that the algorithm does not allow. A key for RSASSA-PSS with parameters asks for its hashes,
    /// and for a salt that is not shorter than they say. A salt of any length may be shorter: verifiers ask with what
    /// [`narrowed`](Self::narrowed) makes of their scheme. A key for RSAES-OAEP with parameters asks for its hashes and
    /// its label.
    ///
    /// # Errors
    ///
    /// [`Error::Restricted`].
    pub fn check(&self, purpose: Purpose<'_>) -> Result<()> {
        let is_allowed = match (self, purpose) {
            (
                Usage::Pss(own),
                Purpose::Sign(SignatureScheme::Pss(pss)) | Purpose::Verify(SignatureScheme::Pss(pss)),
            ) => own.is_none_or(|own| is_within(pss, &own)),
            (
                Usage::Oaep(own),
                Purpose::Encrypt(Some(EncryptionScheme::Oaep(oaep)))
                | Purpose::Decrypt(Some(EncryptionScheme::Oaep(oaep))),
            ) => own.as_ref().is_none_or(|own| own == oaep),
            _ => false,
        };
        match self.only() {
            Some(scheme) if !is_allowed => Err(Error::Restricted {
                reason: format!("this RSA key may be used for {scheme} with its own parameters only"),
            }),
            _ => Ok(()),
        }
    }
}

/// Returns whether parameters have a key's hashes, and a salt that is long enough for it. The longest salt that a key
/// has room for is taken for long enough. It is not where the modulus has less room than the key's file asks for, as
/// one of 512 bits has for SHA-256.
fn is_within(pss: &Pss, own: &Pss) -> bool {
    let is_long_enough = match pss.salt_len {
        SaltLen::Max => true,
        other => other.least(pss.hash) >= own.salt_len.least(own.hash),
    };
    (pss.hash, pss.mgf_hash) == (own.hash, own.mgf_hash) && is_long_enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;

    #[test]
    fn a_key_for_pss_keeps_its_parameters() {
        let with_salt = |hash, salt_len| Pss {
            salt_len,
            ..Pss::new(hash)
        };
        let pss = |hash, salt_len| SignatureScheme::Pss(with_salt(hash, salt_len));
        let schemes = [
            (pss(Hash::Sha256, SaltLen::Digest), true),
            (pss(Hash::Sha256, SaltLen::Max), true),
            (pss(Hash::Sha256, SaltLen::AtLeast(20)), true),
            (pss(Hash::Sha256, SaltLen::AtLeast(19)), false),
            (pss(Hash::Sha256, SaltLen::Bytes(19)), false),
            (pss(Hash::Sha256, SaltLen::Any), false),
            (pss(Hash::Sha384, SaltLen::Digest), false),
            (SignatureScheme::Pkcs1v15(Hash::Sha256), false),
        ];
        let own = Usage::Pss(Some(with_salt(Hash::Sha256, SaltLen::Bytes(20))));
        for (scheme, is_allowed) in &schemes {
            for purpose in [Purpose::Sign(scheme), Purpose::Verify(scheme)] {
                assert_eq!(own.check(purpose).is_ok(), *is_allowed, "{scheme:?}");
                assert!(Usage::Any.check(purpose).is_ok());
                let is_pss = matches!(scheme, SignatureScheme::Pss(_));
                assert_eq!(Usage::Pss(None).check(purpose).is_ok(), is_pss);
                assert!(Usage::Oaep(None).check(purpose).is_err());
            }
        }
        let any = pss(Hash::Sha256, SaltLen::Any);
        let narrowed = own.narrowed(any);
        assert_eq!(narrowed, pss(Hash::Sha256, SaltLen::AtLeast(20)));
        assert!(own.check(Purpose::Verify(&narrowed)).is_ok());
        assert_eq!(Usage::Any.narrowed(any), any);
        let encryption = Purpose::Encrypt(Some(&EncryptionScheme::Pkcs1v15));
        assert!(own.check(encryption).is_err());
        assert!(Usage::Any.check(encryption).is_ok());
        assert!(own.check(Purpose::RawPublic).is_err());
    }

    #[test]
    fn a_key_for_oaep_keeps_its_parameters() {
        let labelled = Oaep {
            label: b"TCPA".to_vec(),
            ..Oaep::new(Hash::Sha1)
        };
        let own = Usage::Oaep(Some(labelled.clone()));
        let cases = [
            (EncryptionScheme::Oaep(labelled), true, true),
            (EncryptionScheme::Oaep(Oaep::new(Hash::Sha1)), false, true),
            (EncryptionScheme::Oaep(Oaep::new(Hash::Sha256)), false, true),
            (EncryptionScheme::Pkcs1v15, false, false),
        ];
        for (scheme, by_own, by_any) in &cases {
            for purpose in [Purpose::Encrypt(Some(scheme)), Purpose::Decrypt(Some(scheme))] {
                assert_eq!(own.check(purpose).is_ok(), *by_own, "{scheme:?}");
                assert_eq!(Usage::Oaep(None).check(purpose).is_ok(), *by_any);
                assert!(Usage::Pss(None).check(purpose).is_err());
            }
        }
        assert!(own.check(Purpose::RawPrivate).is_err());
        assert!(own.check(Purpose::Encrypt(None)).is_err());
    }
}
