//! The worker of the engine `c-openmp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(gmp)]
    return rsalab_engines::worker::main(&rsalab_peer_c_openmp::ArticleEngine);
    #[cfg(not(gmp))]
    return rsalab_engines::worker::main_without_engine(rsalab_peer_c_openmp::ABSENT);
}
