//! Both ends of a connection, configured: the server with a key of some engine, the client with the one certificate
//! that it trusts and the one signature scheme that it takes.

use std::{fmt, sync::Arc};

use rsalab_batch::Batcher;
use rsalab_engines::EngineError;
use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PrivateFormat, encode_private},
};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig, SignatureScheme, SupportedProtocolVersion,
    client::{
        Resumption, WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, aws_lc_rs, ring},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime},
    sign::{CertifiedKey, SigningKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};

use crate::certificate::certificate;

/// The library that makes the server's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signer {
    /// This project's, through `rsalab-rustls`: threads share passes.
    Own,
    /// ring's.
    Ring,
    /// AWS-LC's, through aws-lc-rs.
    AwsLc,
}

/// The version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// TLS 1.3, signed with RSASSA-PSS.
    Tls13,
    /// TLS 1.2, signed with RSASSA-PKCS1-v1_5.
    Tls12,
}

impl Version {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Version::Tls13 => "TLS 1.3",
            Version::Tls12 => "TLS 1.2",
        }
    }

    /// The one scheme that the client takes: engines would else choose different ones.
    pub(crate) fn scheme(self) -> SignatureScheme {
        match self {
            Version::Tls13 => SignatureScheme::RSA_PSS_SHA256,
            Version::Tls12 => SignatureScheme::RSA_PKCS1_SHA256,
        }
    }

    /// The scheme in the words of TLS.
    pub(crate) fn scheme_name(self) -> &'static str {
        match self {
            Version::Tls13 => "rsa_pss_rsae_sha256",
            Version::Tls12 => "rsa_pkcs1_sha256",
        }
    }

    fn of_rustls(self) -> &'static SupportedProtocolVersion {
        match self {
            Version::Tls13 => &TLS13,
            Version::Tls12 => &TLS12,
        }
    }
}

/// A server and the client that trusts it.
pub(crate) struct Ends {
    pub(crate) server: Arc<ServerConfig>,
    verifier: Arc<OneScheme>,
    pub(crate) version: Version,
    pub(crate) certificate_bytes: usize,
}

impl Ends {
    /// The server signs with `key` and shows its certificate.
    pub(crate) fn new(key: &PrivateKey, signer: Signer, version: Version) -> Result<Self, EngineError> {
        Ends::with_certificate(certificate(key)?, key, signer, version)
    }

    /// As [`Ends::new`], with a certificate that may be another key's.
    pub(crate) fn with_certificate(
        certificate: CertificateDer<'static>,
        key: &PrivateKey,
        signer: Signer,
        version: Version,
    ) -> Result<Self, EngineError> {
        let certificate_bytes = certificate.len();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).map_err(failed("the certificate"))?;
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(failed("the client's verifier"))?;
        let certified = CertifiedKey::new(vec![certificate], signing_key(key, signer)?);
        let mut server = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[version.of_rustls()])
            .map_err(failed("the server's configuration"))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        // Sessions are the client's to keep, as servers of many clients have it.
        server.ticketer = ring::Ticketer::new().map_err(failed("the server's tickets"))?;
        server.send_tls13_tickets = 1;
        Ok(Ends {
            server: Arc::new(server),
            verifier: Arc::new(OneScheme {
                inner,
                scheme: version.scheme(),
            }),
            version,
            certificate_bytes,
        })
    }

    /// A client; one that resumes keeps the session of its last connection for the next.
    pub(crate) fn client(&self, resumes: bool) -> Result<Arc<ClientConfig>, EngineError> {
        let mut client = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[self.version.of_rustls()])
            .map_err(failed("the client's configuration"))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        client.resumption = match resumes {
            true => Resumption::in_memory_sessions(8),
            false => Resumption::disabled(),
        };
        Ok(Arc::new(client))
    }
}

/// Everything but the signature.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn signing_key(key: &PrivateKey, signer: Signer) -> Result<Arc<dyn SigningKey>, EngineError> {
    let refused = |error: rsalab_rsa::Error| EngineError::Key(error.to_string());
    let der = || {
        let der = encode_private(key, PrivateFormat::Pkcs8, Encoding::Der);
        PrivateKeyDer::from(PrivatePkcs8KeyDer::from(der.to_vec()))
    };
    match signer {
        Signer::Own => {
            let batcher = Batcher::builder().key(key).build().map_err(refused)?;
            let key = rsalab_rustls::SigningKey::new(key, &batcher).map_err(refused)?;
            Ok(Arc::new(key))
        }
        Signer::Ring => ring::sign::any_supported_type(&der()).map_err(failed("ring")),
        Signer::AwsLc => aws_lc_rs::sign::any_supported_type(&der()).map_err(failed("aws-lc-rs")),
    }
}

/// Verifies as rustls does, and takes one scheme only.
struct OneScheme {
    inner: Arc<WebPkiServerVerifier>,
    scheme: SignatureScheme,
}

impl fmt::Debug for OneScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scheme.fmt(f)
    }
}

impl ServerCertVerifier for OneScheme {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.inner
            .verify_server_cert(end_entity, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![self.scheme]
    }
}

fn failed<E: ToString>(call: &'static str) -> impl Fn(E) -> EngineError {
    move |error| EngineError::library(call, error)
}
