//! A server on 127.0.0.1, and many clients: their tasks share passes.

use std::{sync::Arc, time::Duration};

use rsalab_batch::{Batcher, Builder};
use rsalab_example_s2n_tls::BatchedKey;
use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PublicFormat, encode_public},
    hash::Hash,
    scheme::SignatureScheme,
    signing::SigningKey,
};
use s2n_tls::{
    config::Config,
    enums::Version,
    security::{DEFAULT_TLS13, Policy},
};
use s2n_tls_tokio::{TlsAcceptor, TlsConnector};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Signs the certificate of its own key.
struct Issuer {
    signing: SigningKey,
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

/// In PEM.
fn certificate(key: &PrivateKey) -> String {
    let issuer = Issuer {
        signing: SigningKey::new(key, SignatureScheme::Pkcs1v15(Hash::Sha256)).unwrap(),
        pkcs1: encode_public(key.public(), PublicFormat::Pkcs1, Encoding::Der),
    };
    let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.serial_number = Some(rcgen::SerialNumber::from(1));
    parameters.key_identifier_method = rcgen::KeyIdMethod::PreSpecified(vec![1; 20]);
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    parameters.self_signed(&issuer).unwrap().pem()
}

fn configs(key: &PrivateKey, batcher: &Batcher, policy: &Policy) -> (Config, Config) {
    let certificate = certificate(key);
    let mut server = Config::builder();
    server.set_security_policy(policy).unwrap();
    server.load_public_pem(certificate.as_bytes()).unwrap();
    server.set_private_key_callback(BatchedKey::new(batcher, 0)).unwrap();
    let mut client = Config::builder();
    client.set_security_policy(policy).unwrap();
    client.with_system_certs(false).unwrap();
    client.trust_pem(certificate.as_bytes()).unwrap();
    (server.build().unwrap(), client.build().unwrap())
}

/// Handshakes of so many tasks side by side, each with a few bytes there and back.
async fn handshakes(
    builder: Builder,
    key: &PrivateKey,
    (policy, version): (&Policy, Version),
    tasks: usize,
) -> Batcher {
    const EACH: usize = 5;
    let batcher = builder.build().unwrap();
    let (server, client) = configs(key, &batcher, policy);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = Arc::new(TlsAcceptor::new(server));
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = Arc::clone(&acceptor);
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let mut said = [0; 5];
                stream.read_exact(&mut said).await.unwrap();
                stream.write_all(&said).await.unwrap();
                stream.flush().await.unwrap();
            });
        }
    });
    let connector = Arc::new(TlsConnector::new(client));
    let clients: Vec<_> = (0..tasks)
        .map(|_| {
            let connector = Arc::clone(&connector);
            tokio::spawn(async move {
                for _ in 0..EACH {
                    let stream = TcpStream::connect(address).await.unwrap();
                    let mut stream = connector.connect("localhost", stream).await.unwrap();
                    let used = stream.as_ref().actual_protocol_version().unwrap();
                    assert_eq!(used, version);
                    stream.write_all(b"hello").await.unwrap();
                    let mut said = [0; 5];
                    stream.read_exact(&mut said).await.unwrap();
                    assert_eq!(&said, b"hello");
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    serving.abort();
    assert_eq!(batcher.statistics().requests(), (tasks * EACH) as u64);
    batcher
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_share_passes() {
    let key = PrivateKey::generate(2048).unwrap();
    // A policy whose newest version is TLS 1.2.
    let tls12 = Policy::from_version("20240501").unwrap();
    for policy in [(&DEFAULT_TLS13, Version::TLS13), (&tls12, Version::TLS12)] {
        // One pass at a time, which waits to be full: so it is not chance that passes are shared.
        let builder = Batcher::builder().key(&key);
        let builder = builder.passes(1).linger(Duration::from_millis(20));
        let batcher = handshakes(builder, &key, policy, 32).await;
        let passes = batcher.statistics().passes().to_vec();
        println!("{:?}, lingering: passes of 0, 1, 2 … requests: {passes:?}", policy.1);
        assert!(passes.len() == 2 || passes[1] < batcher.statistics().requests());
    }
}

/// Without any setting; how much is shared is shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_as_they_come() {
    let key = PrivateKey::generate(2048).unwrap();
    let batcher = handshakes(Batcher::builder().key(&key), &key, (&DEFAULT_TLS13, Version::TLS13), 64).await;
    let passes = batcher.statistics().passes().to_vec();
    println!("TLS 1.3, as they come: passes of 0, 1, 2 … requests: {passes:?}");
}

/// A signature by another key: the handshake fails on both sides, and nothing else does. s2n-tls waits 10 to 30 seconds
/// before it says so, on purpose.
#[tokio::test]
async fn a_wrong_key_ends_the_handshake() {
    let (key, other) = (PrivateKey::generate(2048).unwrap(), PrivateKey::generate(2048).unwrap());
    // The batcher signs with another key than that of the certificate.
    let batcher = Batcher::builder().key(&other).build().unwrap();
    let (server, client) = configs(&key, &batcher, &DEFAULT_TLS13);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        TlsAcceptor::new(server).accept(stream).await.is_ok()
    });
    let stream = TcpStream::connect(address).await.unwrap();
    let connected = TlsConnector::new(client).connect("localhost", stream).await;
    assert!(connected.is_err());
    drop(connected);
    assert!(!accepting.await.unwrap());
}
