//! The worker of the engine `aws-lc`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rsalab_engines::worker::main(&rsalab_peer_aws_lc::engine())
}
