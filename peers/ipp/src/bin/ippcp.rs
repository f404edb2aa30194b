//! The worker of the engine `ippcp`.

use std::process::ExitCode;

use rsalab_engines::worker;
use rsalab_peer_ipp::Ippcp;

fn main() -> ExitCode {
    match Ippcp::new() {
        Ok(engine) => worker::main(&engine),
        Err(absent) => worker::main_without_engine(&absent.to_string()),
    }
}
