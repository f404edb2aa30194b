//! The worker of the engine `rustls`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rsalab_engines::worker::main(&rsalab_peer_rustls::RustlsEngine)
}
