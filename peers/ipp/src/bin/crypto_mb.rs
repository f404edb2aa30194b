//! The worker of the engine `crypto_mb`.

use std::process::ExitCode;

use rsalab_engines::worker;
use rsalab_peer_ipp::CryptoMb;

fn main() -> ExitCode {
    match CryptoMb::new() {
        Ok(engine) => worker::main(&engine),
        Err(absent) => worker::main_without_engine(&absent.to_string()),
    }
}
