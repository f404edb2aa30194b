//! Many connections, each of which wants one signature:
//! `cargo run --release -p rsalab-batch --example sign_side_by_side`

use std::{thread, time::Instant};

use rsalab_batch::Batcher;
use rsalab_rsa::{PrivateKey, hash::Hash, scheme::SignatureScheme, signing::SigningKey};

const CONNECTIONS: u32 = 32;
const HANDSHAKES: u32 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = PrivateKey::generate(2048)?;
    let batcher = Batcher::builder().key(&key).build()?;
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    // A signing key as any other, which has the batcher as its back end.
    let signing = SigningKey::with_backend(&key, scheme, &batcher)?;

    let since = Instant::now();
    thread::scope(|scope| {
        for connection in 0..CONNECTIONS {
            let signing = &signing;
            scope.spawn(move || {
                for handshake in 0..HANDSHAKES {
                    let message = format!("handshake {handshake} of connection {connection}");
                    signing.sign(message.as_bytes()).expect("a signature");
                }
            });
        }
    });
    let rate = f64::from(CONNECTIONS * HANDSHAKES) / since.elapsed().as_secs_f64();
    println!("{rate:.0} signatures a second");
    for (items, passes) in batcher.statistics().passes().iter().enumerate() {
        println!("{passes} passes of {items}");
    }
    Ok(())
}
