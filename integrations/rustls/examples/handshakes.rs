//! Load for a TLS server on 127.0.0.1: full TLS 1.3 handshakes, one after another on so many connections at once.
//!
//! ```text
//! handshakes PORT CLIENTS SECONDS
//! ```
//!
//! Each connection is closed when its handshake is done, and a new one begins. A line on standard output: handshakes,
//! failed ones, seconds, median and 99th percentile of a handshake's time in microseconds, from connecting to the
//! server's Finished. It is meant to cost much less than the server: the signature is verified, the certificate is not,
//! and the session is not kept.

use std::{
    env,
    error::Error,
    net::TcpStream,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme,
    client::{
        Resumption,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    version::TLS13,
};

/// Takes any certificate, and verifies that its key signed the handshake.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(CertificateError::BadSignature.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn handshake(config: &Arc<ClientConfig>, port: u16) -> Result<(), Box<dyn Error>> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(Duration::from_secs(60)))?;
    let name = ServerName::try_from("localhost")?;
    let mut client = ClientConnection::new(Arc::clone(config), name)?;
    while client.is_handshaking() {
        client.complete_io(&mut socket)?;
    }
    // The server closes after this alert, so that no port of ours waits for late packets.
    client.send_close_notify();
    client.complete_io(&mut socket)?;
    Ok(())
}

/// Times of handshakes in microseconds, until then; and how many failed.
fn client(config: &Arc<ClientConfig>, port: u16, until: Instant) -> (Vec<u64>, u64) {
    let (mut times, mut failed) = (Vec::new(), 0);
    while Instant::now() < until {
        let since = Instant::now();
        match handshake(config, port) {
            Ok(()) => times.push(u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)),
            Err(error) => {
                eprintln!("handshakes: {error}");
                failed += 1;
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
    (times, failed)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [port, clients, seconds] = &arguments[..] else {
        return Err("handshakes PORT CLIENTS SECONDS".into());
    };
    let (port, clients): (u16, usize) = (port.parse()?, clients.parse()?);
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    let config = Arc::new(config);

    let since = Instant::now();
    let until = since + Duration::from_secs_f64(seconds.parse()?);
    let (mut times, mut failed) = (Vec::new(), 0);
    thread::scope(|scope| {
        let start = || scope.spawn(|| client(&config, port, until));
        let threads: Vec<_> = (0..clients).map(|_| start()).collect();
        for thread in threads {
            let (own, own_failed) = thread.join().expect("no client panics");
            times.extend(own);
            failed += own_failed;
        }
    });
    let elapsed = since.elapsed().as_secs_f64();
    if times.is_empty() {
        return Err(format!("none of {failed} handshakes succeeded").into());
    }
    times.sort_unstable();
    let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{} {failed} {elapsed:.3} {median} {p99}", times.len());
    Ok(())
}
