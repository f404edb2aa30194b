//! Handshakes of rustls with rustls, in memory: every scheme in both versions of TLS, and many threads that share
//! passes.

use std::{
    io::Write,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use rsalab_batch::{Batcher, Builder};
use rsalab_rsa::{Backend, CpuBackend, PrivateKey};
use rsalab_rustls::SigningKey;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, ProtocolVersion, RootCertStore, ServerConfig,
    ServerConnection, SignatureScheme, SupportedProtocolVersion,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
    sign::{self, CertifiedKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};

use crate::support::certificate;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn server(key: &PrivateKey, batcher: &Batcher) -> Arc<ServerConfig> {
    let signing = SigningKey::new(key, batcher).unwrap();
    let certified = CertifiedKey::new(vec![certificate(key).der], Arc::new(signing));
    // The key says which one it is, and the certificate is of that one.
    certified.keys_match().unwrap();
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    Arc::new(config)
}

/// Verifies as rustls does, takes one scheme only, and remembers what it was shown.
#[derive(Debug)]
struct OneScheme {
    inner: Arc<WebPkiServerVerifier>,
    scheme: SignatureScheme,
    seen: Mutex<Vec<SignatureScheme>>,
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
        self.seen.lock().unwrap().push(signature.scheme);
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.seen.lock().unwrap().push(signature.scheme);
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![self.scheme]
    }
}

fn verifier(key: &PrivateKey) -> Arc<WebPkiServerVerifier> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(key).der).unwrap();
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .unwrap()
}

fn client(verifier: Arc<dyn ServerCertVerifier>, version: &'static SupportedProtocolVersion) -> Arc<ClientConfig> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    // Every handshake is a full one.
    config.resumption = rustls::client::Resumption::disabled();
    Arc::new(config)
}

/// A whole handshake and a few bytes; the version that came of it.
fn handshake(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<ProtocolVersion, Error> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(Arc::clone(client), name)?;
    let mut server = ServerConnection::new(Arc::clone(server))?;
    client.writer().write_all(b"hello").unwrap();
    let mut wire = Vec::new();
    while client.is_handshaking() || server.is_handshaking() || client.wants_write() {
        client.write_tls(&mut wire).unwrap();
        pass_on(&mut wire, |bytes| server.read_tls(bytes));
        server.process_new_packets()?;
        server.write_tls(&mut wire).unwrap();
        pass_on(&mut wire, |bytes| client.read_tls(bytes));
        client.process_new_packets()?;
    }
    let mut said = [0; 5];
    std::io::Read::read_exact(&mut server.reader(), &mut said).unwrap();
    assert_eq!(&said, b"hello");
    Ok(client.protocol_version().unwrap())
}

fn pass_on(wire: &mut Vec<u8>, mut read: impl FnMut(&mut &[u8]) -> std::io::Result<usize>) {
    let mut left = wire.as_slice();
    while !left.is_empty() {
        read(&mut left).unwrap();
    }
    wire.clear();
}

#[test]
fn every_scheme_in_both_versions() {
    use SignatureScheme as S;
    let key = PrivateKey::generate(2048).unwrap();
    let batcher = Batcher::builder().key(&key).build().unwrap();
    let server = server(&key, &batcher);
    let pss = [S::RSA_PSS_SHA256, S::RSA_PSS_SHA384, S::RSA_PSS_SHA512];
    let pkcs1 = [S::RSA_PKCS1_SHA256, S::RSA_PKCS1_SHA384, S::RSA_PKCS1_SHA512];
    let mut done = 0;
    for (version, scheme, is_allowed) in [&TLS12, &TLS13]
        .into_iter()
        .flat_map(|version| pss.map(|scheme| (version, scheme, true)))
        .chain(pkcs1.map(|scheme| (&TLS12, scheme, true)))
        .chain(pkcs1.map(|scheme| (&TLS13, scheme, false)))
    {
        let verifier = Arc::new(OneScheme {
            inner: verifier(&key),
            scheme,
            seen: Mutex::default(),
        });
        let config = client(verifier.clone(), version);
        let outcome = handshake(&config, &server);
        // RFC 8446, section 4.2.3: no RSASSA-PKCS1-v1_5 in handshakes of TLS 1.3.
        assert_eq!(outcome.is_ok(), is_allowed, "{scheme:?} {outcome:?}");
        if is_allowed {
            assert_eq!(outcome.unwrap(), version.version);
            assert_eq!(*verifier.seen.lock().unwrap(), [scheme]);
            done += 1;
        }
    }
    assert_eq!(batcher.statistics().requests(), done);
}

/// Threads that do handshakes side by side; returns the batcher.
fn side_by_side(builder: Builder, keys: &[PrivateKey], threads: usize, each: usize) -> Batcher {
    let batcher = builder.build().unwrap();
    let ends: Vec<_> = keys.iter().map(|key| (server(key, &batcher), verifier(key))).collect();
    thread::scope(|scope| {
        for number in 0..threads {
            let (server, verifier) = &ends[number % ends.len()];
            let version = [&TLS12, &TLS13][number / 2 % 2];
            scope.spawn(move || {
                let client = client(verifier.clone(), version);
                for _ in 0..each {
                    assert_eq!(handshake(&client, server).unwrap(), version.version);
                }
            });
        }
    });
    assert_eq!(batcher.statistics().requests(), (threads * each) as u64);
    batcher
}

#[test]
fn threads_share_passes_across_keys() {
    let keys = [(); 2].map(|()| PrivateKey::generate(2048).unwrap());
    // A kernel that every machine has; one pass at a time, which waits to be full: so it is not chance that passes are
    // shared.
    let backend = CpuBackend::named("mont52x8_portable").unwrap();
    let most = backend.lanes() / 2;
    let mut builder = Batcher::builder()
        .backend(backend)
        .passes(1)
        .linger(Duration::from_millis(50));
    for key in &keys {
        builder = builder.key(key);
    }
    let batcher = side_by_side(builder, &keys, 16, 3);
    let passes = batcher.statistics().passes().to_vec();
    assert!(most >= 4 && passes[most] > 0, "{passes:?}");
}

/// As it is without any setting, on the kernel of this machine. How much is shared is a matter of chance, and so is
/// shown and not asserted.
#[test]
fn threads_as_they_come() {
    let keys = [PrivateKey::generate(2048).unwrap()];
    let batcher = side_by_side(Batcher::builder().key(&keys[0]), &keys, 32, 10);
    println!(
        "320 handshakes of 32 threads: passes of 0, 1, 2 … requests: {:?}",
        batcher.statistics().passes()
    );
}

/// A certificate is replaced while handshakes run: those that began with the old one end with it, even after its key
/// was removed.
#[test]
fn a_key_is_replaced_while_handshakes_run() {
    let [before, after] = [(); 2].map(|()| PrivateKey::generate(2048).unwrap());
    let batcher = Batcher::builder().key(&before).build().unwrap();
    let old = server(&before, &batcher);
    let number = batcher.add(std::slice::from_ref(&after)).unwrap()[0];
    let new = server(&after, &batcher);
    thread::scope(|scope| {
        for (key, server) in [(&before, &old), (&after, &new)] {
            scope.spawn(move || {
                let client = client(verifier(key), &TLS13);
                for _ in 0..20 {
                    handshake(&client, server).unwrap();
                }
            });
        }
        batcher.remove(&[0]).unwrap();
    });
    assert!(SigningKey::new(&before, &batcher).is_err());
    drop(old);
    batcher.remove(&[number]).unwrap();
    assert_eq!(batcher.statistics().requests(), 40);
}

#[test]
fn what_does_not_suit_is_refused() {
    let [key, other] = [1024, 2048].map(|bits| PrivateKey::generate(bits).unwrap());
    let batcher = Batcher::builder().key(&key).build().unwrap();
    let refused = SigningKey::new(&other, &batcher).unwrap_err();
    assert!(refused.to_string().contains("not among the batcher's"));
    let signing = SigningKey::new(&key, &batcher).unwrap();
    let offers = |scheme| sign::SigningKey::choose_scheme(&signing, &[scheme]).is_some();
    // 1024 bits are too few for a digest and a salt of 512 each.
    assert!(offers(SignatureScheme::RSA_PSS_SHA384));
    assert!(!offers(SignatureScheme::RSA_PSS_SHA512));
    assert!(offers(SignatureScheme::RSA_PKCS1_SHA512));
    assert!(!offers(SignatureScheme::ECDSA_NISTP256_SHA256));
    // The server's liking decides, not the client's order.
    let both = [SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::RSA_PSS_SHA256];
    let chosen = sign::SigningKey::choose_scheme(&signing, &both).unwrap();
    assert_eq!(chosen.scheme(), SignatureScheme::RSA_PSS_SHA256);
    // Nothing of the key is in what is printed.
    assert!(format!("{signing:?}{chosen:?}").starts_with("[RSA_PSS_SHA256"));
    let tiny = PrivateKey::generate(256).unwrap();
    let batcher = Batcher::builder().key(&tiny).build().unwrap();
    assert!(SigningKey::new(&tiny, &batcher).is_err());
}
