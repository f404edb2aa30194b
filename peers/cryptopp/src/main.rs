//! The worker of the engine `cryptopp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(cryptopp)]
    return rsalab_engines::worker::main(&rsalab_peer_cryptopp::CryptoppEngine);
    #[cfg(not(cryptopp))]
    return rsalab_engines::worker::main_without_engine(rsalab_peer_cryptopp::ABSENT);
}
