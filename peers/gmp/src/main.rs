//! The worker of the engine `gmp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rsalab_engines::worker::main(&rsalab_peer_gmp::GmpEngine)
}
