//! A TLS server with a thread for each connection, which sends back what it gets.
//!
//!     cargo run --release -p rsalab-rustls --example server -- CERTIFICATES KEY [ADDRESS]
//!
//! CERTIFICATES is a chain in PEM, KEY its RSA key in any format that rsalab reads. The address is printed; 127.0.0.1:0
//! takes any port.

use std::{
    env,
    error::Error,
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use rsalab_batch::Batcher;
use rsalab_rsa::format::load_private;
use rsalab_rustls::SigningKey;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
    sign::{CertifiedKey, SingleCertAndKey},
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [certificates, key, address @ ..] = arguments.as_slice() else {
        return Err("usage: server CERTIFICATES KEY [ADDRESS]".into());
    };

    let chain = CertificateDer::pem_file_iter(certificates)?.collect::<Result<Vec<_>, _>>()?;
    let key = load_private(&fs::read(key)?, None)?.key;
    let batcher = Batcher::builder().key(&key).build()?;
    let certified = CertifiedKey::new(chain, Arc::new(SigningKey::new(&key, &batcher)?));
    // A certificate of another key is found here, and not by the first client.
    certified.keys_match()?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    let config = Arc::new(config);

    let address = address.first().map_or("127.0.0.1:4433", String::as_str);
    let listener = TcpListener::bind(address)?;
    println!("{}", listener.local_addr()?);
    for connection in listener.incoming() {
        let (connection, config, batcher) = (connection?, Arc::clone(&config), batcher.clone());
        thread::spawn(move || {
            if let Err(error) = echo(connection, config) {
                eprintln!("{error}");
            }
            eprintln!("requests of each pass: {:?}", batcher.statistics().passes());
        });
    }
    Ok(())
}

fn echo(connection: TcpStream, config: Arc<ServerConfig>) -> Result<(), Box<dyn Error>> {
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, connection);
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes)? {
            0 => return Ok(()),
            len => stream.write_all(&bytes[..len])?,
        }
        stream.flush()?;
    }
}
