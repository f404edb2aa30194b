//! What a provider answers beside operations, ours and OpenSSL's own: `answers.c`.

use std::{env, path::Path, process::Command};

use crate::support::Here;

/// Keys that leave the provider, checks of public keys, sizes that are asked for, digests that are missing, calls after
/// the end of a message, and the callback of a generation: the same answers.
#[test]
fn answers_are_those_of_openssls_own_provider() {
    let Some(here) = Here::new() else { return };
    let program = here.path("answers");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/provider/openssl/answers.c");
    let mut cc = Command::new("cc");
    cc.arg("-o").arg(&program).arg(source);
    for folder in env::split_paths(&env::var_os("LD_LIBRARY_PATH").unwrap_or_default()) {
        cc.arg("-L").arg(folder);
    }
    let Ok(output) = cc.arg(format!("-l:libcrypto.so.{}", here.major)).arg("-ldl").output() else {
        eprintln!("SKIPPED: there is no cc here to build answers.c");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = |provider: &str, configuration: &str| {
        let output = Command::new(&program)
            .arg(provider)
            .current_dir(here.folder())
            .env("OPENSSL_CONF", configuration)
            .output()
            .unwrap();
        assert!(output.status.success(), "{provider}: {output:?}");
        // Nothing of ours writes to a program's streams.
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap()
    };
    let (ours, others) = (answers("rsalab", "openssl.cnf"), answers("default", "/dev/null"));
    println!("{ours}");
    assert!(
        ours.contains("a public key: todata 1, n 1, d 0; another provider 1"),
        "{ours}"
    );
    assert_eq!(ours, others);
}
