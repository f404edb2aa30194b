//! Limits of the system that the program runs into: threads, sizes of files, permissions; and what is left behind then.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::support::{assert_done, assert_failure, folder, link_program, program, run, stdout, study_key};

const NOBODY: u32 = 65_534;

/// The program for somebody who is not root, to whom no limit applies: in a folder that anybody may use.
fn for_anybody(here: &Path) -> PathBuf {
    let rsalab = here.join("rsalab");
    link_program(&program(), &rsalab);
    for path in [here, &rsalab] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    rsalab
}

fn as_nobody(command: &mut Command) -> &mut Command {
    match rustix::process::geteuid().is_root() {
        true => command.uid(NOBODY).gid(NOBODY),
        false => command,
    }
}

/// With so many threads for everything.
fn with_threads(threads: usize, here: &Path, rsalab: &Path, line: &str) -> Option<Output> {
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--nproc={threads}:{threads}"))
        .arg(rsalab)
        .args(line.split(' '))
        .current_dir(here);
    match as_nobody(&mut command).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: no limit on threads can be set here: {error}");
            None
        }
    }
}

#[test]
fn threads_that_cannot_be_started() {
    let here = folder();
    study_key(here.path(), 1024);
    fs::write(here.path().join("text"), vec![b'x'; 100_000]).expect("it can be written");
    let rsalab = for_anybody(here.path());
    let out = here.path().join("out");
    fs::create_dir(&out).expect("it can be made");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let encrypted = [
        "text-encrypt",
        "--quiet",
        "--key",
        "public.pem",
        "text",
        "--out",
        "text.rsa",
    ];
    assert_done(&run(here.path(), encrypted));
    for name in ["key.pem", "text.rsa"] {
        let readable = fs::Permissions::from_mode(0o644);
        fs::set_permissions(here.path().join(name), readable).expect("it is ours");
    }
    for line in [
        "keygen --count 20 --threads 4 --out out/keys",
        "keygen --count 20 --threads 4 --strict --out out/keys.tar",
        "text-encrypt --quiet --key public.pem --threads 4 text",
        "text-decrypt --quiet --key key.pem --threads 4 text.rsa",
    ] {
        // This thread alone.
        let Some(output) = with_threads(1, here.path(), &rsalab, line) else {
            return;
        };
        assert_failure(&output, 6, "thread");
        assert!(output.stdout.is_empty(), "{line}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("defect"), "{line}");
    }
}

#[test]
fn files_that_may_not_grow() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    fs::write(here.join("text"), vec![b'x'; 100_000]).expect("it can be written");
    let before = fs::read_dir(here).expect("it is there").count();
    for line in [
        "keygen --out new.pem",
        "keygen --out new.pem --public-out new.pub",
        "keygen --out - --format pkcs8-der",
        "text-encrypt --quiet --key public.pem text --out new",
        "text-encrypt --quiet --key public.pem text --out -",
    ] {
        // 512 bytes, as POSIX counts.
        let script = format!("ulimit -f 1; exec \"$0\" {line} > piped");
        let output = Command::new("sh")
            .args(["-c", &script])
            .arg(program())
            .current_dir(here)
            .output()
            .expect("there is a shell");
        assert_failure(&output, 5, "ulimit -f");
        let piped = here.join("piped");
        assert!(fs::read(&piped).expect("the shell made it").len() <= 512);
        fs::remove_file(piped).expect("the shell made it");
        let after = fs::read_dir(here).expect("it is there").count();
        assert_eq!(after, before, "{line}: something is left behind");
    }
}

#[test]
fn memory_that_is_not_there() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    // Nothing of it is on the disk.
    let long = fs::File::create(here.join("long")).expect("it can be made");
    long.set_len(128 << 20).expect("it has room");
    for line in [
        "raw-public --key public.pem --in long --out new",
        "text-encrypt --quiet --key public.pem long --out new",
    ] {
        let script = format!("ulimit -v 65536; ulimit -c 0; exec \"$0\" {line}");
        let output = Command::new("sh")
            .args(["-c", &script])
            .arg(program())
            .current_dir(here)
            .output()
            .expect("there is a shell");
        // As the program says it, or, where a short piece has no room any more, the standard library.
        assert_failure(&output, 6, "memory");
        assert!(!here.join("new").exists());
    }
    // Where the standard library has said that there is none, it aborts.
    let mut child = Command::new(program())
        .current_dir(here)
        .args(["vectors", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("it is piped");
    input
        .write_all(b"{\"op\":\"primality\",\"value\":\"3\"}\n")
        .expect("it reads");
    let mut answer = [0; 5];
    let mut output = child.stdout.take().expect("it is piped");
    output.read_exact(&mut answer).expect("it answers");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::ABORT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(6));
}

#[test]
fn a_folder_that_may_not_be_read_takes_files_all_the_same() {
    let here = folder();
    study_key(here.path(), 1024);
    fs::write(here.path().join("text"), "text").expect("it can be written");
    let rsalab = for_anybody(here.path());
    let readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(here.path().join("key.pem"), readable).expect("it is ours");
    let blind = here.path().join("blind");
    fs::create_dir(&blind).expect("it can be made");
    fs::set_permissions(&blind, fs::Permissions::from_mode(0o333)).expect("it is ours");
    for (number, line) in [
        "keygen --bits 512 --insecure-size --public-out blind/public --out",
        "sign --key key.pem text --sig",
        "text-encrypt --quiet --key public.pem text --out",
    ]
    .iter()
    .enumerate()
    {
        let out = format!("blind/{number}");
        let mut command = Command::new(&rsalab);
        command.current_dir(here.path()).args(line.split(' ')).arg(&out);
        let output = as_nobody(&mut command).output().expect("the program starts");
        assert_done(&output);
        assert!(here.path().join(&out).is_file());
    }
}

#[test]
fn an_archive_that_has_its_name_is_all_there_is() {
    const COUNT: usize = 3000;
    let here = folder();
    for out in ["keys.tar", "keys.json"] {
        let format = if out.ends_with("json") { "jwk-set" } else { "pkcs8-pem" };
        let mut child = Command::new(program())
            .current_dir(here.path())
            .args(["keygen", "--bits", "512", "--insecure-size", "--quiet"])
            .args(["--count", &COUNT.to_string(), "--format", format, "--out", out])
            .spawn()
            .expect("the program starts");
        let begun = Instant::now();
        while !here.path().join(out).exists() {
            assert!(begun.elapsed() < Duration::from_secs(300), "no {out}");
            std::hint::spin_loop();
        }
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        // Whatever else is left: no private key.
        for entry in fs::read_dir(here.path()).expect("it is there").flatten() {
            let path = entry.path();
            let is_whole = path
                .file_name()
                .is_some_and(|name| name == "keys.tar" || name == "keys.json");
            if is_whole {
                continue;
            }
            assert!(path.is_file(), "{} is left", path.display());
            let left = fs::read_to_string(&path).expect("it can be read");
            assert!(
                !left.contains("PRIVATE KEY") && !left.contains("\"d\":"),
                "{}",
                path.display()
            );
        }
        // The same command says that it is there, and takes away what is left.
        let again = run(
            here.path(),
            [
                "keygen",
                "--bits",
                "512",
                "--insecure-size",
                "--count",
                "3000",
                "--format",
                format,
                "--out",
                out,
            ],
        );
        assert_failure(&again, 5, &format!("{out} exists already"));
    }
    let left = fs::read_dir(here.path()).expect("it is there").count();
    assert_eq!(left, 2, "the archive and the set");
    let archive = fs::File::open(here.path().join("keys.tar")).expect("it was made");
    let mut entries = tar::Archive::new(archive);
    assert_eq!(entries.entries().expect("it is one").count(), COUNT + 1);
    let set = fs::read(here.path().join("keys.json")).expect("it was made");
    let set: serde_json::Value = serde_json::from_slice(&set).expect("it is JSON");
    assert_eq!(set["keys"].as_array().expect("a list").len(), COUNT);
}

#[test]
fn an_archive_that_was_killed_is_completed() {
    let here = folder();
    let begin = || {
        let typed = "keygen --bits 1024 --insecure-size --quiet --public --count 400 --out keys.tar";
        let mut command = Command::new(program());
        command.current_dir(here.path()).args(typed.split(' '));
        command
    };
    let archive = here.path().join("keys.tar");
    let part = here.path().join("keys.tar.part");
    let record = here.path().join("keys.tar.part.jsonl");
    let (mut kills, mut seen) = (0, 0);
    for _ in 0..8 {
        let mut child = begin().spawn().expect("the program starts");
        thread::sleep(Duration::from_millis(60));
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        if archive.is_file() {
            // This machine was done before it was killed for the last time.
            break;
        }
        kills += 1;
        // A restart cuts off keys that have no line yet: bytes may go, lines may not.
        let lines = fs::read_to_string(&record).map_or(0, |text| text.matches('\n').count());
        assert!(lines >= seen, "of {seen} lines {lines} are left");
        seen = lines;
        // What a kill leaves at the end is cut off.
        if part.is_file() {
            let mut part = fs::File::options().append(true).open(&part).expect("it is there");
            part.write_all(b"-----BEGIN PRIVATE").expect("it can be written");
        }
    }
    assert!(kills > 0, "it was done before it was killed");
    if !archive.is_file() {
        assert_done(&begin().output().expect("the program starts"));
    }
    let file = fs::File::open(archive).expect("it was made");
    let unpacked = here.path().join("unpacked");
    tar::Archive::new(file).unpack(&unpacked).expect("it is whole");
    let manifest = fs::read_to_string(unpacked.join("manifest.jsonl")).expect("it is there");
    assert_eq!(manifest.lines().count(), 401);
    let mut fingerprints: Vec<&str> = manifest
        .lines()
        .skip(1)
        .map(|line| line.split("\"sha256\":\"").nth(1).expect("it has one"))
        .collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 400);
    let keys: Vec<String> = (1..=400).map(|number| format!("key-{number:06}.pem")).collect();
    let mut checked = vec!["key", "check", "--json"];
    checked.extend(keys.iter().map(String::as_str));
    assert_done(&run(&unpacked, checked));
}

/// What `text-decrypt` says of bytes on standard input that noise follows, and how much of the noise it takes.
fn with_noise(here: &Path, bytes: &[u8]) -> (Output, usize) {
    let mut child = Command::new(program())
        .current_dir(here)
        .args(["text-decrypt", "--quiet", "--key", "key.pem", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("it is piped");
    pipe.write_all(bytes).expect("it is read");
    let noise = vec![0x5a; 1 << 16];
    let mut taken = 0_usize;
    while taken < 1 << 28 && pipe.write_all(&noise).is_ok() {
        taken += noise.len();
    }
    drop(pipe);
    (child.wait_with_output().expect("it ends"), taken)
}

#[test]
fn a_text_that_is_none_is_refused_by_its_first_bytes() {
    let here = folder();
    study_key(here.path(), 512);
    let (output, taken) = with_noise(here.path(), &[]);
    assert_failure(&output, 3, "not a file that rsalab encrypted");
    assert!(taken < 1 << 21, "{taken} bytes were taken");
}

#[test]
fn no_more_of_a_text_is_read_than_its_header_says() {
    let here = folder();
    study_key(here.path(), 512);
    let line = "text-encrypt --quiet --key public.pem --text short";
    let encrypted = run(here.path(), line.split(' '));
    assert_done(&encrypted);
    let (output, taken) = with_noise(here.path(), &encrypted.stdout);
    assert_failure(&output, 3, "more follows the 64 bytes of its blocks");
    assert!(taken < 1 << 21, "{taken} bytes were taken");
    // A header that promises more than is ever taken is enough to refuse it.
    let mut promising = encrypted.stdout;
    promising[20..28].copy_from_slice(&(1_u64 << 40).to_be_bytes());
    let (output, taken) = with_noise(here.path(), &promising);
    assert_failure(&output, 3, "have more than 2147483648 bytes");
    assert!(taken < 1 << 21, "{taken} bytes were taken");
}

#[test]
fn raw_blocks_are_worked_on_by_all_cpus() {
    let here = folder();
    study_key(here.path(), 1024);
    fs::write(here.path().join("text"), vec![b'x'; 50_000]).expect("it can be written");
    let line = "text-encrypt --quiet --key public.pem text --out text.rsa --trace --json";
    let encrypted = run(here.path(), line.split(' '));
    assert_done(&encrypted);
    let trace: serde_json::Value = serde_json::from_slice(&encrypted.stderr).expect("it is JSON");
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(trace["threads"], cpus);
    let decrypted = run(here.path(), "text-decrypt --quiet --key key.pem text.rsa".split(' '));
    assert_eq!(stdout(&decrypted).len(), 50_000);
}

#[test]
fn raw_operations_are_split_over_threads_in_order() {
    const BLOCK: usize = 128;
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    // Blocks that differ, all below the modulus.
    let mut blocks = vec![0; 1001 * BLOCK];
    for (number, block) in blocks.chunks_mut(BLOCK).enumerate() {
        block[BLOCK - 2..].copy_from_slice(&(number as u16 + 2).to_be_bytes());
    }
    fs::write(here.join("blocks"), &blocks).expect("it can be written");
    let line = |command: &str, threads: usize| {
        let typed = format!("{command} --in blocks --quiet --threads {threads}");
        run(here, typed.split(' '))
    };
    let one = line("raw-private --key key.pem", 1);
    assert_done(&one);
    let several = line("raw-private --key key.pem", 3);
    assert_eq!(one.stdout, several.stdout);
    fs::write(here.join("results"), &one.stdout).expect("it can be written");
    let back = "raw-public --key public.pem --in results --quiet --threads 3";
    assert_eq!(run(here, back.split(' ')).stdout, blocks);
    // The block that is at fault has its number in the whole input, whichever thread finds it.
    blocks[700 * BLOCK..701 * BLOCK].fill(0xff);
    fs::write(here.join("blocks"), &blocks).expect("it can be written");
    for threads in [1, 2, 3] {
        let refused = line("raw-public --key public.pem", threads);
        assert_failure(&refused, 3, "block 700 of blocks is not below the modulus");
        assert!(refused.stdout.is_empty());
    }
}
