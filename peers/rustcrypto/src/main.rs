//! The worker of the engine `rustcrypto`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rsalab_engines::worker::main(&rsalab_peer_rustcrypto::RustCryptoEngine)
}
