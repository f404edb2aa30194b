//! Operations while the system refuses memory: `refused.c`, with the trials of the crate `rsalab-reserve`.

use std::{env, path::Path, process::Command};

use crate::support::Here;

/// Every allocation of a process refused, one by one and all from one on: each operation is done, or fails, and the
/// process goes on. `REFUSE_ALL=1` tries each allocation of the long ones, too.
#[test]
fn refused_memory_is_a_failure() {
    let Some(here) = Here::new() else { return };
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        eprintln!("SKIPPED: allocations are refused by replacing functions of the GNU C library");
        return;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let trials = own.join("../../crates/reserve/tests");
    let program = here.path("refused");
    let mut cc = Command::new("cc");
    cc.args(["-pthread", "-rdynamic", "-D_GNU_SOURCE", "-o"]).arg(&program);
    cc.arg("-I")
        .arg(&trials)
        .arg(own.join("tests/provider/openssl/refused.c"));
    cc.args([trials.join("refuse.c"), trials.join("trials.c")]);
    for folder in env::split_paths(&env::var_os("LD_LIBRARY_PATH").unwrap_or_default()) {
        cc.arg("-L").arg(folder);
    }
    let Ok(output) = cc.arg(format!("-l:libcrypto.so.{}", here.major)).output() else {
        eprintln!("SKIPPED: there is no cc here to build refused.c");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = Command::new(program);
    command
        .current_dir(here.folder())
        .env("OPENSSL_CONF", here.path("openssl.cnf"));
    let output = command.output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{output:?}");
}
