//! Certificates of keys of ours.

use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PublicFormat, encode_public},
    hash::Hash,
    scheme, signing,
};

/// Signs the certificate of its own key.
struct Issuer {
    key: PrivateKey,
    signing: signing::SigningKey,
    /// The modulus and the exponent in the form that a certificate wraps.
    pkcs1: Vec<u8>,
}

impl rcgen::PublicKeyData for Issuer {
    fn der_bytes(&self) -> &[u8] {
        &self.pkcs1
    }

    fn algorithm(&self) -> &'static rcgen::SignatureAlgorithm {
        &rcgen::PKCS_RSA_SHA256
    }
}

impl rcgen::SigningKey for Issuer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature = self.signing.sign(message);
        let signature = signature.map_err(|_| rcgen::Error::RemoteKeyError)?;
        Ok(signature.as_bytes().to_vec())
    }
}

/// For localhost.
pub(crate) fn certificate(key: &PrivateKey) -> rcgen::Certificate {
    let issuer = Issuer {
        key: key.clone(),
        signing: signing::SigningKey::new(key, scheme::SignatureScheme::Pkcs1v15(Hash::Sha256)).unwrap(),
        pkcs1: encode_public(key.public(), PublicFormat::Pkcs1, Encoding::Der),
    };
    let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.serial_number = Some(rcgen::SerialNumber::from(issuer.key.bits() as u64));
    parameters.key_identifier_method = rcgen::KeyIdMethod::PreSpecified(vec![1; 20]);
    parameters.self_signed(&issuer).unwrap()
}
