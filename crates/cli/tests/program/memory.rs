//! Memory of keys: in no core dump, and locked where the system allows it.

use std::{
    fs::{self, File},
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt},
        process::{CommandExt, ExitStatusExt},
    },
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use rustix::{
    fs::OFlags,
    process::{Resource, getrlimit},
};

use crate::support::{assert_done, folder, link_program, program, run, study_key, wait_for};

const NOBODY: u32 = 65_534;
/// The bit of CAP_IPC_LOCK in a set of capabilities (capabilities(7)).
const IPC_LOCK: u64 = 1 << 14;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command that has read its key, and waits for what comes through a pipe with a name.
fn waiting(here: &Path, shell: &str) -> (Child, File) {
    let pipe = here.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("coreutils are there").success());
    let script = format!("{shell}; exec \"$0\" decrypt --key key.pem pipe");
    let child = Command::new("sh")
        .args(["-c", &script])
        .arg(program())
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("there is a shell");
    // Nobody can open it to write, without waiting, before somebody has opened it to read.
    let opened = wait_for("a program that waits for input", || {
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        File::options().write(true).custom_flags(nonblocking).open(&pipe).ok()
    });
    (child, opened)
}

#[test]
fn a_process_with_a_key_leaves_no_core() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let control = Command::new("sh")
        .args(["-c", "ulimit -c unlimited && kill -s QUIT $$"])
        .current_dir(here)
        .status();
    if !control.is_ok_and(|status| status.core_dumped()) {
        eprintln!("SKIPPED: this system dumps no core here");
        return;
    }
    let (mut child, _pipe) = waiting(here, "ulimit -c unlimited");
    let killed = Command::new("kill")
        .args(["-s", "QUIT", &child.id().to_string()])
        .status();
    assert!(killed.expect("it can be sent").success());
    let status = child.wait().expect("it is ours");
    assert_eq!(status.signal(), Some(3), "{status}");
    assert!(!status.core_dumped(), "a core was dumped with a key in it");
}

#[test]
fn nobody_else_reads_the_memory() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let (mut child, _pipe) = waiting(here, "true");
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("it runs");
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .expect("it is listed");
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let locked = status
        .lines()
        .find_map(|line| line.strip_prefix("VmLck:"))
        .expect("it is listed");
    let is_locked = !locked.trim_start().starts_with("0 ");
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    let steps = said(&run(here, ["key", "check", "key.pem", "-v"]));
    assert!(steps.contains("memory: in no core dump; "), "{steps}");
    assert_eq!(steps.contains("; never swapped"), is_locked, "{steps}");
    if !may_lock() {
        eprintln!("SKIPPED: locked memory, which is limited here");
        return;
    }
    assert!(is_locked, "it could be locked: {steps}");
}

/// Whether the system lets a program lock all its memory: without a limit, or with the capability that no limit applies
/// to, which counts for nothing where users are mapped to others.
fn may_lock() -> bool {
    let limit = getrlimit(Resource::Memlock);
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let status = read("/proc/self/status");
    let capabilities = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = capabilities.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    let has_capability = capabilities.is_some_and(|set| set & IPC_LOCK != 0);
    let is_mapped = !read("/proc/self/uid_map")
        .split_whitespace()
        .eq(["0", "0", "4294967295"]);
    limit.current.is_none() || limit.maximum.is_none() || (has_capability && !is_mapped)
}

/// Where the limit is exhausted, the program goes on, and says so with -v.
#[test]
fn a_limit_on_locked_memory_stops_nothing() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let rsalab = here.join("rsalab");
    link_program(&program(), &rsalab);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        for (path, mode) in [(here, 0o755), (&rsalab, 0o755), (&here.join("key.pem"), 0o644)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        }
    }
    for bytes in ["0", "65536", "8388608"] {
        let mut command = Command::new("prlimit");
        command
            .arg(format!("--memlock={bytes}:{bytes}"))
            .arg(&rsalab)
            .args(["sign", "-v", "--key", "key.pem", "key.pem", "--sig", "-"])
            .current_dir(here);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let Ok(output) = command.output() else {
            eprintln!("SKIPPED: no limit on locked memory can be set here");
            return;
        };
        assert_done(&output);
        assert_eq!(output.stdout.len(), 128);
        let words = format!("may be swapped: the limit on locked memory is {bytes} bytes");
        assert!(said(&output).contains(&words), "{}", said(&output));
    }
}

#[test]
fn commands_without_keys_of_users_are_left_alone() {
    let here = folder();
    let steps = said(&run(here.path(), ["engines", "-v"]));
    assert!(!steps.contains("memory:"), "{steps}");
}
