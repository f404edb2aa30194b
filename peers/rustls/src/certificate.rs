//! The certificate of a key: for localhost, signed by the key itself.

use rsalab_engines::EngineError;
use rsalab_rsa::{PrivateKey, PublicKey, hash::Hash, scheme, signing};
use rustls::pki_types::CertificateDer;
use signature::Keypair;
use x509_cert::{
    TbsCertificate,
    builder::{self, Builder, CertificateBuilder, profile::BuilderProfile},
    der::{
        Any, DateTime, Encode,
        asn1::{BitString, Ia5String, Null, ObjectIdentifier},
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

/// The name that the client asks for.
pub(crate) const HOST: &str = "localhost";

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

/// A server that is trusted for itself.
struct Server(Name);

impl BuilderProfile for Server {
    fn get_issuer(&self, subject: &Name) -> Name {
        subject.clone()
    }

    fn get_subject(&self) -> Name {
        self.0.clone()
    }

    fn build_extensions(
        &self,
        _: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        certificate: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let name = GeneralName::DnsName(Ia5String::new(HOST)?);
        Ok(vec![
            SubjectAltName(vec![name]).to_extension(certificate.subject(), &[])?,
        ])
    }
}

/// The certificate; the same key has the same one.
pub(crate) fn certificate(key: &PrivateKey) -> Result<CertificateDer<'static>, EngineError> {
    let issuer = Issuer(key);
    let day = |year| DateTime::new(year, 1, 1, 0, 0, 0).map_err(failed);
    let name = format!("CN={HOST}").parse().map_err(failed)?;
    let public = spki::SubjectPublicKeyInfoOwned::from_key(key.public()).map_err(failed)?;
    let validity = Validity::new(day(2020)?.into(), day(2049)?.into());
    let serial = SerialNumber::from(key.bits());
    let mut builder = CertificateBuilder::new(Server(name), serial, validity, public).map_err(failed)?;
    let signed = builder.finalize(&issuer).map_err(failed)?;
    let signing = signing::SigningKey::new(key, scheme::SignatureScheme::Pkcs1v15(Hash::Sha256)).map_err(failed)?;
    let signature = signing.sign(&signed).map_err(failed)?;
    let signature = BitString::from_bytes(signature.as_bytes()).map_err(failed)?;
    let certificate = builder.assemble(signature, &issuer).map_err(failed)?;
    Ok(certificate.to_der().map_err(failed)?.into())
}

fn failed(error: impl ToString) -> EngineError {
    EngineError::library("the certificate", error)
}
