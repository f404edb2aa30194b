//! Certificates of keys of ours.

use rsalab_rsa::{PrivateKey, PublicKey, hash::Hash, scheme, signing};
use rustls::pki_types::CertificateDer;
use signature::Keypair;
use x509_cert::{
    TbsCertificate,
    builder::{self, Builder, CertificateBuilder, profile::BuilderProfile},
    der::{
        Any, DateTime, Encode, EncodePem,
        asn1::{BitString, Ia5String, Null, ObjectIdentifier},
        pem::LineEnding,
    },
    ext::{
        Extension, ToExtension,
        pkix::{SubjectAltName, name::GeneralName},
    },
    name::Name,
    serial_number::SerialNumber,
    spki::{self, AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier, SubjectPublicKeyInfoRef},
    time::Validity,
};

/// Signs the certificate of its own key.
struct Issuer<'a>(&'a PrivateKey);

impl Keypair for Issuer<'_> {
    type VerifyingKey = PublicKey;

    fn verifying_key(&self) -> PublicKey {
        self.0.public().clone()
    }
}

impl DynSignatureAlgorithmIdentifier for Issuer<'_> {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        Ok(AlgorithmIdentifierOwned {
            // sha256WithRSAEncryption, RFC 4055.
            oid: ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11"),
            parameters: Some(Any::from(Null)),
        })
    }
}

/// A server of this machine that is trusted for itself.
struct Localhost;

impl BuilderProfile for Localhost {
    fn get_issuer(&self, subject: &Name) -> Name {
        subject.clone()
    }

    fn get_subject(&self) -> Name {
        "CN=localhost".parse().unwrap()
    }

    fn build_extensions(
        &self,
        _: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        certificate: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let name = GeneralName::DnsName(Ia5String::new("localhost").unwrap());
        Ok(vec![
            SubjectAltName(vec![name]).to_extension(certificate.subject(), &[])?,
        ])
    }
}

/// A certificate for localhost. The same key has the same one.
pub(crate) struct Certificate {
    pub(crate) der: CertificateDer<'static>,
    #[allow(dead_code, reason = "not every test writes a file")]
    pub(crate) pem: String,
}

pub(crate) fn certificate(key: &PrivateKey) -> Certificate {
    let issuer = Issuer(key);
    let day = |year| DateTime::new(year, 1, 1, 0, 0, 0).unwrap().into();
    let serial = SerialNumber::from(key.bits());
    let public = spki::SubjectPublicKeyInfoOwned::from_key(key.public()).unwrap();
    let validity = Validity::new(day(2020), day(2049));
    let mut builder = CertificateBuilder::new(Localhost, serial, validity, public).unwrap();
    let signed = builder.finalize(&issuer).unwrap();
    let signing = signing::SigningKey::new(key, scheme::SignatureScheme::Pkcs1v15(Hash::Sha256)).unwrap();
    let signature = BitString::from_bytes(signing.sign(&signed).unwrap().as_bytes()).unwrap();
    let certificate = builder.assemble(signature, &issuer).unwrap();
    Certificate {
        der: certificate.to_der().unwrap().into(),
        pem: certificate.to_pem(LineEnding::LF).unwrap(),
    }
}
