//! The example server as a user runs it: its certificate and key from files, clients over the network.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
};

use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PrivateFormat, encode_private},
};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring, pki_types::ServerName};

use crate::support;

/// Ends with the test, however that ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_example_serves_clients_side_by_side() {
    // Cargo builds examples with the tests, next to them.
    let test = env::current_exe().unwrap();
    let program = test.parent().unwrap().join("../examples/server");
    let folder = tempfile::tempdir().unwrap();
    let key = PrivateKey::generate(2048).unwrap();
    let certificate = support::certificate(&key);
    let (chain, file) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    fs::write(&chain, certificate.pem).unwrap();
    fs::write(&file, &*encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem)).unwrap();

    let mut command = Command::new(program);
    command.arg(&chain).arg(&file).arg("127.0.0.1:0");
    let mut server = Server(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut address = String::new();
    let mut said = BufReader::new(server.0.stdout.take().unwrap());
    said.read_line(&mut address).unwrap();

    let mut roots = RootCertStore::empty();
    roots.add(certificate.der.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    thread::scope(|scope| {
        for number in 0..8 {
            let (config, address) = (Arc::clone(&config), address.trim());
            scope.spawn(move || {
                let name = ServerName::try_from("localhost").unwrap();
                let client = ClientConnection::new(config, name).unwrap();
                let connection = TcpStream::connect(address).unwrap();
                let mut stream = StreamOwned::new(client, connection);
                let message = format!("client {number}");
                stream.write_all(message.as_bytes()).unwrap();
                let mut back = vec![0; message.len()];
                stream.read_exact(&mut back).unwrap();
                assert_eq!(back, message.as_bytes());
            });
        }
    });

    // A key that is not the certificate's is refused at the start.
    let other = PrivateKey::generate(2048).unwrap();
    fs::write(&file, &*encode_private(&other, PrivateFormat::Pkcs8, Encoding::Pem)).unwrap();
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("KeyMismatch"));
}
