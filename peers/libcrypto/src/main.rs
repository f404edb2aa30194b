//! The worker of the engine `libcrypto`: `rsalab-peer-libcrypto [--library PATH]`.

use std::{env, ffi::OsString, path::PathBuf, process::ExitCode};

use rsalab_engines::worker;
use rsalab_peer_libcrypto::{LIBRARY_VARIABLE, LibcryptoEngine};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let named = match arguments.as_slice() {
        [option, path] if option == "--library" => Some(PathBuf::from(path)),
        _ => None,
    };
    let from_environment = || {
        env::var_os(LIBRARY_VARIABLE)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let library = named.clone().or_else(from_environment);
    match LibcryptoEngine::new(library.as_deref()) {
        Err(absent) => worker::main_without_engine(&absent.to_string()),
        Ok(engine) if named.is_some() => worker::serve_stdio(&engine),
        Ok(engine) => worker::main(&engine),
    }
}
