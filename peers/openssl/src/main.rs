//! The worker of the engine `openssl`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rsalab_engines::worker::main(&rsalab_peer_openssl::engine())
}
