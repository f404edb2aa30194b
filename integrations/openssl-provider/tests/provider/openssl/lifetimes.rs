//! Keys that outlive OpenSSL, several library contexts, several copies of libcrypto, forks, and a key that is generated
//! in a job: `lifetimes.c`, which is a program of its own for each.

use std::{
    env, fs,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, Output},
};

use crate::support::Here;

/// The folders in which the dynamic linker looks first.
fn folders() -> Vec<PathBuf> {
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    env::split_paths(&named).collect()
}

/// The program, linked with the libraries of the version that is tested; none where there is no compiler.
fn built(here: &Here) -> Option<PathBuf> {
    fs::write(here.path("lifetimes.c"), include_str!("lifetimes.c")).unwrap();
    let program = here.path("lifetimes");
    let mut cc = Command::new("cc");
    cc.args(["-pthread", "-o"]).arg(&program);
    cc.arg(here.path("lifetimes.c"));
    for folder in folders() {
        cc.arg("-L").arg(folder);
    }
    for library in ["ssl", "crypto"] {
        cc.arg(format!("-l:lib{library}.so.{}", here.major));
    }
    let Ok(output) = cc.arg("-ldl").output() else {
        eprintln!("SKIPPED: there is no cc here to build lifetimes.c");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(program)
}

fn run(here: &Here, program: &PathBuf, with_ours: bool, line: &str) -> Output {
    let configuration = match with_ours {
        true => "openssl.cnf",
        false => "/dev/null",
    };
    Command::new(program)
        .args(line.split(' '))
        .current_dir(here.folder())
        .env("OPENSSL_CONF", configuration)
        .output()
        .unwrap()
}

/// A server's `SSL_CTX` in a static, a key in one, a key and its library context, and each after a cleanup of the
/// program's own: what OpenSSL's own provider survives, ours does.
#[test]
fn what_outlives_openssl_is_freed() {
    let Some(here) = Here::new() else { return };
    let Some(program) = built(&here) else { return };
    let request = format!(
        "req -config {} -x509 -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=x -days 2 -out c.pem",
        here.path("openssl.cnf").display()
    );
    here.run(false, &request);
    for line in [
        "made",
        "signed",
        "cleaned",
        "read key.pem",
        "server c.pem key.pem",
        "library openssl.cnf",
        "library-cleaned openssl.cnf",
    ] {
        for with_ours in [false, true] {
            let output = run(&here, &program, with_ours, line);
            let said = String::from_utf8_lossy(&output.stdout);
            let (code, signal) = (output.status.code(), output.status.signal());
            println!("{line}, ours {with_ours}: {code:?}, signal {signal:?}");
            assert_eq!(code, Some(0), "{line}, ours {with_ours}: signal {signal:?}: {said}");
            let by = match with_ours || line.starts_with("library") {
                true => "rsalab",
                false => "default",
            };
            let done = match line {
                "made" => format!("key: {by}"),
                "server c.pem key.pem" => "served".into(),
                _ => format!("signed: {by}"),
            };
            assert!(said.contains(&done), "{line}, ours {with_ours}: {said}");
        }
    }
}

#[test]
fn errors_reach_the_context_that_asked() {
    let Some(here) = Here::new() else { return };
    let Some(program) = built(&here) else { return };
    let output = run(&here, &program, true, "two openssl.cnf");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {said}", output.status);
}

/// As where a program's OpenSSL is linked into it, and a library of it brings the system's.
#[test]
fn errors_reach_the_libcrypto_that_asked() {
    let Some(here) = Here::new() else { return };
    let Some(program) = built(&here) else { return };
    let name = format!("libcrypto.so.{}", here.major);
    // Where the linker finds it, without a list of its own of folders.
    let listed = Command::new("ldd").arg(&program).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let path = listed
        .lines()
        .find_map(|line| line.trim().strip_prefix(&format!("{name} => ")))
        .and_then(|rest| rest.split(' ').next())
        .expect("it is linked");
    fs::copy(path, here.path("one.so")).unwrap();
    fs::copy(path, here.path("other.so")).unwrap();
    let line = "copies ./one.so ./other.so openssl.cnf";
    let output = run(&here, &program, true, line);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {said}", output.status);
}

#[test]
fn children_of_forks_report_failures() {
    let Some(here) = Here::new() else { return };
    let Some(program) = built(&here) else { return };
    let output = run(&here, &program, true, "fork");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {said}", output.status);
}

/// As signatures and all else that computes: the stack of a job is too small for it.
#[test]
fn a_key_is_generated_in_a_job_on_a_large_stack() {
    let Some(here) = Here::new() else { return };
    let Some(program) = built(&here) else { return };
    let output = run(&here, &program, true, "job");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    assert!(said.contains("large stacks: 1\n"), "{said}");
}
