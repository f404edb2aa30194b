//! RustCrypto's traits for keys, so that they go wherever those of other crates go: `pkcs8` and `spki` here,
//! `signature` with [`SigningKey`](crate::signing::SigningKey).
//!
//! ```
//! use pkcs8::{DecodePrivateKey, EncodePrivateKey, spki::{DecodePublicKey, EncodePublicKey}};
//! use rsalab_rsa::{PrivateKey, PublicKey};
//!
//! let key = PrivateKey::generate(2048)?;
//! let pem = key.to_pkcs8_pem(Default::default()).expect("it is written");
//! let back = PrivateKey::from_pkcs8_pem(&pem).expect("it is read");
//! assert_eq!(back.public(), key.public());
//! let public = key.public().to_public_key_der().expect("it is written");
//! assert_eq!(&PublicKey::from_public_key_der(public.as_bytes()).expect("it is read"), key.public());
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```

use pkcs8::{EncodePrivateKey, PrivateKeyInfoRef, SecretDocument};
use spki::{Document, EncodePublicKey, SubjectPublicKeyInfoRef};

use crate::{
    PrivateKey, PublicKey,
    format::{self, Encoding, PrivateFormat, PublicFormat},
};

impl EncodePrivateKey for PrivateKey {
    fn to_pkcs8_der(&self) -> pkcs8::Result<SecretDocument> {
        let der = format::encode_private(self, PrivateFormat::Pkcs8, Encoding::Der);
        Ok(SecretDocument::try_from(der.as_slice())?)
    }
}

/// Keys of any use alone: `id-RSASSA-PSS` is refused, as the type cannot remember it.
impl TryFrom<PrivateKeyInfoRef<'_>> for PrivateKey {
    type Error = pkcs8::Error;

    fn try_from(info: PrivateKeyInfoRef<'_>) -> pkcs8::Result<Self> {
        let der = SecretDocument::encode_msg(&info)?;
        format::decode_private(der.as_bytes()).map_err(|_| pkcs8::Error::KeyMalformed(pkcs8::KeyError::Invalid))
    }
}

impl EncodePublicKey for PublicKey {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        let der = format::encode_public(self, PublicFormat::Spki, Encoding::Der);
        Ok(Document::try_from(der.as_slice())?)
    }
}

/// As for private keys.
impl TryFrom<SubjectPublicKeyInfoRef<'_>> for PublicKey {
    type Error = spki::Error;

    fn try_from(info: SubjectPublicKeyInfoRef<'_>) -> spki::Result<Self> {
        let der = Document::encode_msg(&info)?;
        format::decode_public(der.as_bytes()).map_err(|_| spki::Error::KeyMalformed)
    }
}
