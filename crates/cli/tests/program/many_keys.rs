//! `keygen --count`: exactly as many keys as were asked for, whatever happens on the way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rsalab_rsa::format::{decode_private, decode_public, fingerprint};
use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, program, run, stdout};

const SEED: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// The lines of a folder's manifest after the first.
fn manifest(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("manifest.jsonl")).expect("there is a manifest");
    assert!(text.ends_with('\n'), "its last line is cut");
    let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    let header: Value = lines.next().expect("a first line");
    assert_eq!(header["rsalab_keys"], 1);
    lines.collect()
}

/// Checks that a folder holds exactly so many keys, all different, each as the manifest says; returns their digests.
#[track_caller]
fn check(folder: &Path, count: usize, bits: usize) -> BTreeMap<u64, String> {
    let entries = manifest(folder);
    assert_eq!(entries.len(), count);
    let mut digests = BTreeMap::new();
    let mut names = BTreeSet::from(["manifest.jsonl".to_owned()]);
    for entry in &entries {
        let name = entry["file"].as_str().expect("a name");
        let path = folder.join(name);
        let key = decode_private(&fs::read(&path).expect("it is there")).expect("it is a key");
        assert_eq!(key.bits(), bits);
        let digest: String = fingerprint(key.public()).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(entry["sha256"], digest);
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
        names.insert(name.to_owned());
        if let Some(name) = entry["public"].as_str() {
            let public = fs::read(folder.join(name)).expect("it is there");
            assert_eq!(&decode_public(&public).expect("it is a key"), key.public());
            names.insert(name.to_owned());
        }
        let number = entry["number"].as_u64().expect("a number");
        assert!(digests.insert(number, digest).is_none(), "{number} twice");
    }
    assert_eq!(
        digests.values().collect::<BTreeSet<_>>().len(),
        count,
        "a key is there twice"
    );
    assert!(digests.keys().copied().eq(1..=count as u64));
    let found: BTreeSet<String> = fs::read_dir(folder)
        .expect("it is a folder")
        .map(|file| {
            file.expect("it can be listed")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    assert_eq!(found, names, "something else lies there");
    digests
}

#[test]
fn killed_at_any_moment_there_are_exactly_as_many_as_asked_for() {
    exactly_as_many(500, 12);
}

#[test]
#[ignore = "long: make test-all"]
fn killed_a_hundred_times_there_are_exactly_as_many_as_asked_for() {
    exactly_as_many(2000, 100);
}

fn exactly_as_many(keys_wanted: usize, most_kills: usize) {
    let here = folder();
    let keys = here.path().join("keys");
    let start = || {
        // Nothing may rest on the umask.
        let script = format!(
            "umask 000; exec \"$0\" keygen --bits 1024 --insecure-size --public --count {keys_wanted} --threads 2 --out keys"
        );
        let mut command = Command::new("sh");
        command.current_dir(here.path()).args(["-c", &script]).arg(program());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let length = || fs::metadata(keys.join("manifest.jsonl")).map_or(0, |found| found.len());
    let mut random = 0x5EED_u64;
    let mut kills = 0;
    while kills < most_kills {
        let mut process = start().spawn().expect("the program starts");
        let before = length();
        // However slow the machine, some keys further each time; and then anywhere between two of them.
        let mut has_ended = false;
        while length() == before && !has_ended {
            thread::sleep(Duration::from_millis(1));
            has_ended = process.try_wait().expect("it can be asked").is_some();
        }
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        thread::sleep(Duration::from_micros((random >> 33) % 6000));
        if process.try_wait().expect("it can be asked").is_some() {
            break;
        }
        process.kill().expect("it can be killed");
        process.wait().expect("it ends");
        kills += 1;
    }
    assert!(kills >= most_kills.min(10), "all was made after {kills} kills");
    assert!(start().status().expect("the program starts").success());
    check(&keys, keys_wanted, 1024);
}

#[test]
fn a_seed_gives_the_same_keys_whatever_the_threads_and_they_are_marked() {
    let here = folder();
    let make = |out: &str, count: &str, threads: &str| {
        let typed = format!(
            "keygen --bits 512 --insecure-size --public --insecure-seed {SEED} --count {count} --threads {threads} --out {out}"
        );
        let output = run(here.path(), typed.split(' '));
        assert_done(&output);
        assert!(String::from_utf8_lossy(&output.stderr).contains("INSECURE"));
        check(&here.path().join(out), count.parse().expect("a number"), 512)
    };
    let alone = make("alone", "9", "1");
    let mut other = make("other", "4", "3");
    assert!(other.iter().all(|(number, digest)| alone[number] == *digest));
    other = make("other", "9", "2");
    assert_eq!(alone, other);
    for name in ["insecure-key-000001.pem", "insecure-key-000009.pub.pem"] {
        assert!(here.path().join("alone").join(name).is_file(), "{name}");
    }
    let text = fs::read_to_string(here.path().join("alone/manifest.jsonl")).expect("it is there");
    assert!(text.starts_with(&format!(
        "{{\"rsalab_keys\":1,\"bits\":512,\"e\":65537,\"format\":\"pkcs8-pem\",\"public\":true,\"insecure_seed\":\"{SEED}\"}}\n"
    )));
    // One alone is the first of many.
    let typed = format!("keygen --bits 512 --insecure-size --insecure-seed {SEED} --out one.pem");
    assert_done(&run(here.path(), typed.split(' ')));
    let first = here.path().join("alone/insecure-key-000001.pem");
    assert_eq!(fs::read(here.path().join("one.pem")).ok(), fs::read(first).ok());
}

#[test]
fn what_is_missing_is_made_again_and_what_differs_is_refused() {
    let here = folder();
    let typed = "keygen --bits 512 --insecure-size --count 6 --out keys --json";
    let output = run(here.path(), typed.split(' '));
    assert_done(&output);
    let printed: Value = serde_json::from_str(stdout(&output)).expect("it is JSON");
    assert_eq!((&printed["count"], &printed["made_now"]), (&6.into(), &6.into()));
    let keys = here.path().join("keys");
    let before = check(&keys, 6, 512);

    // What a process that was killed leaves: a draft, a line that is cut, a line whose file did not get its name.
    fs::write(keys.join(".rsalab-XYZ"), "a draft").expect("it can be written");
    fs::remove_file(keys.join("key-000004.pem")).expect("it can be removed");
    let path = keys.join("manifest.jsonl");
    let cut = fs::read_to_string(&path).expect("it is there") + "{\"number\":7,\"fi";
    fs::write(&path, cut).expect("it can be written");
    let output = run(here.path(), typed.split(' '));
    assert_done(&output);
    let printed: Value = serde_json::from_str(stdout(&output)).expect("it is JSON");
    assert_eq!(printed["made_now"], 1);
    let after = check(&keys, 6, 512);
    let changed: Vec<_> = after.iter().filter(|(n, digest)| before[n] != **digest).collect();
    assert_eq!(changed.len(), 1);
    assert!(after[&4] != before[&4]);

    for (typed, words) in [
        ("keygen --bits 768 --insecure-size --count 6 --out keys", "the size 512"),
        (
            "keygen --bits 512 --e 3 --insecure-size --count 6 --out keys",
            "exponent 65537",
        ),
        (
            "keygen --bits 512 --format jwk --insecure-size --count 6 --out keys",
            "format pkcs8-pem",
        ),
        (
            "keygen --bits 512 --public --insecure-size --count 6 --out keys",
            "without --public",
        ),
    ] {
        assert_failure(&run(here.path(), typed.split(' ')), 2, words);
    }
    let line = "{\"number\":7,\"file\":\"../outside\",\"sha256\":\"\"}\n";
    let evil = fs::read_to_string(&path).expect("it is there") + line;
    fs::write(&path, evil).expect("it can be written");
    assert_failure(&run(here.path(), typed.split(' ')), 3, "line 8");
    fs::create_dir(here.path().join("other")).expect("it can be made");
    fs::write(here.path().join("other/file"), "precious").expect("it can be written");
    let typed = "keygen --bits 512 --insecure-size --count 6 --out other";
    assert_failure(&run(here.path(), typed.split(' ')), 5, "not a folder of keys");
    assert_eq!(fs::read_dir(here.path().join("other")).expect("it is there").count(), 1);
}

#[test]
fn one_process_alone_writes_to_a_folder() {
    let here = folder();
    let typed = "keygen --bits 4096 --count 100000 --threads 1 --out keys";
    let mut process = Command::new(program())
        .current_dir(here.path())
        .args(typed.split(' '))
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while !here.path().join("keys/manifest.jsonl").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_failure(&run(here.path(), typed.split(' ')), 5, "in use by another process");
    let pid = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(process.wait().expect("it ends").code(), Some(130));
    let mut printed = String::new();
    let mut stderr = process.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut printed).expect("it is text");
    assert!(printed.contains("the same command makes the others"), "{printed}");
    let made = manifest(&here.path().join("keys")).len();
    check(&here.path().join("keys"), made, 4096);
}

#[test]
fn archives_sets_and_streams() {
    let here = folder();
    let keygen = |typed: &str| {
        let typed = format!("keygen --bits 512 --insecure-size --count 5 {typed}");
        let output = run(here.path(), typed.split(' '));
        assert_done(&output);
        output
    };
    keygen("--public --out keys.tar");
    let mut archive = tar::Archive::new(fs::File::open(here.path().join("keys.tar")).expect("made"));
    let unpacked = here.path().join("unpacked");
    archive.unpack(&unpacked).expect("it is an archive");
    check(&unpacked, 5, 512);
    let private = |name: &str| {
        let mode = fs::metadata(here.path().join(name)).expect("made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    };
    private("keys.tar");

    keygen("--e random --format jwk-set --out set.json");
    private("set.json");
    let set = fs::read(here.path().join("set.json")).expect("made");
    let set: Value = serde_json::from_slice(&set).expect("it is JSON");
    let set = set["keys"].as_array().expect("keys");
    let names: BTreeSet<_> = set.iter().map(|key| key["kid"].as_str().expect("a name")).collect();
    assert_eq!((set.len(), names.len()), (5, 5));
    assert!(set.iter().all(|key| key["kty"] == "RSA" && key["qi"].is_string()));

    let exponents: BTreeSet<_> = set.iter().map(|key| key["e"].as_str().expect("e")).collect();
    assert!(exponents.len() == 5 && exponents.iter().all(|e| e.len() > 70));

    let output = keygen("--format jwk --out -");
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    assert_eq!(lines.len(), 5);
    let output = keygen("--out -");
    let keys = stdout(&output).split_inclusive("-----END PRIVATE KEY-----\n");
    let keys: Vec<_> = keys.map(|key| decode_private(key.as_bytes()).expect("a key")).collect();
    assert_eq!(keys.len(), 5);
    let mut left: Vec<_> = fs::read_dir(here.path())
        .expect("it is a folder")
        .map(|file| file.expect("it can be listed").file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["keys.tar", "set.json", "unpacked"]);

    for (typed, code, words) in [
        ("keygen --count 5 --out keys.tar", 5, "keys.tar exists already"),
        (
            "keygen --count 5 --format jwk-set --out -",
            2,
            "neither public halves nor a set",
        ),
        (
            "keygen --count 5 --public --out -",
            2,
            "neither public halves nor a set",
        ),
        ("keygen --count 5 --json --out -", 2, "share standard output"),
        ("keygen --count 5 --public-out p --out new", 2, "one key alone"),
        (
            "keygen --engine own --e random --out new",
            2,
            "a public exponent that is a number",
        ),
        (
            "keygen --count 5 --strict --e random --out new",
            2,
            "--strict takes a number",
        ),
    ] {
        assert_failure(&run(here.path(), typed.split(' ')), code, words);
    }
}

#[test]
fn one_key_is_made_alike_with_and_without_a_count() {
    let here = folder();
    let keygen = |typed: &str| {
        let typed = format!("keygen --bits 512 --insecure-size --insecure-seed {SEED} {typed}");
        let output = run(here.path(), typed.split(' '));
        assert_done(&output);
        output
    };
    let read = |name: &str| fs::read(here.path().join(name)).expect("it was made");
    let reported = ["--out a.pem", "--count 1 --out b.pem"].map(|typed| {
        let output = keygen(&format!("{typed} --public --json"));
        serde_json::from_str::<Value>(stdout(&output)).expect("it is JSON")
    });
    let members = |value: &Value| -> Vec<String> { value.as_object().expect("an object").keys().cloned().collect() };
    assert_eq!(members(&reported[0]), members(&reported[1]));
    assert_eq!(
        (&reported[0]["count"], &reported[0]["made_now"]),
        (&1.into(), &1.into())
    );
    assert_eq!(reported[0]["private"], "a.pem");
    assert_eq!(reported[1]["public"], "b.pub.pem");
    assert_eq!(read("a.pem"), read("b.pem"));
    assert_eq!(read("a.pub.pem"), read("b.pub.pem"));

    // Several have the same members, and so has a folder for one, which more keys can be added to.
    let output = keygen("--out keys/ --json");
    let folder: Value = serde_json::from_str(stdout(&output)).expect("it is JSON");
    assert_eq!(members(&folder), members(&reported[0]));
    assert_eq!(read("keys/insecure-key-000001.pem"), read("a.pem"));
    let output = keygen("--count 3 --out keys --json");
    let more: Value = serde_json::from_str(stdout(&output)).expect("it is JSON");
    assert_eq!(members(&more), members(&reported[0]));
    assert_eq!((&more["made_now"], &more["out"]), (&2.into(), &"keys".into()));
    keygen("--out keys");
    check(&here.path().join("keys"), 3, 512);
    let set = keygen("--format jwk-set --out set.json");
    assert!(set.stdout.is_empty());
    let set: Value = serde_json::from_slice(&read("set.json")).expect("it is JSON");
    assert_eq!(set["keys"].as_array().expect("keys").len(), 1);
    assert_eq!(keygen("--out -").stdout, read("a.pem"));
    let typed = "keygen --public-out p --out keys";
    assert_failure(&run(here.path(), typed.split(' ')), 2, "a file of its own");
}

#[test]
fn encrypted_keys_take_their_password() {
    let here = folder();
    fs::write(here.path().join("password"), "open, sesame\r\nnot this line\n").expect("written");
    fs::write(here.path().join("empty"), "\n").expect("written");
    let common = "--format pkcs8-encrypted --bits 1024 --insecure-size";
    let typed = format!("keygen {common} --password-file password --count 3 --out keys");
    assert_done(&run(here.path(), typed.split(' ')));
    let read = |password: &str| {
        Command::new("openssl")
            .current_dir(here.path())
            .args(["pkey", "-noout", "-in", "keys/key-000003.pem", "-passin"])
            .arg(format!("pass:{password}"))
            .output()
    };
    match read("open, sesame") {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(!read("sesame").expect("it starts").status.success());
        }
        Err(error) => eprintln!("SKIPPED: openssl cannot be asked: {error}"),
    }
    for (typed, code, words) in [
        (format!("keygen {common} --out new"), 2, "--password-file"),
        (
            format!("keygen {common} --password-file missing --out new"),
            5,
            "missing",
        ),
        (
            format!("keygen {common} --password-file empty --out new"),
            3,
            "is empty",
        ),
        (
            "keygen --password-file password --out new".to_owned(),
            2,
            "have no password",
        ),
    ] {
        assert_failure(&run(here.path(), typed.split(' ')), code, words);
    }
}

#[test]
fn a_public_half_without_its_private_one_does_not_stand_in_the_way() {
    let here = folder();
    let typed = "keygen --bits 512 --insecure-size --public --count 4 --out keys";
    assert_done(&run(here.path(), typed.split(' ')));
    let keys = here.path().join("keys");
    let before = check(&keys, 4, 512);
    // What a process leaves that was killed between two names.
    fs::remove_file(keys.join("key-000002.pem")).expect("it can be removed");
    assert_done(&run(here.path(), typed.split(' ')));
    let after = check(&keys, 4, 512);
    assert!(after[&2] != before[&2] && after[&3] == before[&3]);
}

#[test]
fn a_set_has_a_set_of_public_keys_next_to_it() {
    let here = folder();
    let here = here.path();
    let keygen = |typed: &str| {
        let typed = format!("keygen --bits 512 --insecure-size --format jwk-set --public {typed}");
        run(here, typed.split(' '))
    };
    let set = |name: &str| -> Vec<Value> {
        let text = fs::read(here.join(name)).expect("it was made");
        let set: Value = serde_json::from_slice(&text).expect("it is JSON");
        set["keys"].as_array().expect("keys").clone()
    };
    let output = keygen("--count 5 --json --out set.json");
    assert_done(&output);
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["public"], "set.pub.json");
    let (private, public) = (set("set.json"), set("set.pub.json"));
    assert_eq!((private.len(), public.len()), (5, 5));
    for (private, public) in private.iter().zip(&public) {
        for member in ["kty", "kid", "n", "e"] {
            assert_eq!(private[member], public[member]);
        }
        let members = public.as_object().expect("a key");
        assert_eq!(members.len(), 4, "{members:?}");
    }
    let mode = |name: &str| {
        let found = here.join(name).metadata().expect("it was made");
        found.permissions().mode() & 0o777
    };
    assert_eq!(mode("set.json"), 0o600);
    assert_ne!(mode("set.pub.json") & 0o044, 0);

    // Nothing is overwritten, and nothing is made first.
    fs::write(here.join("other.pub.json"), "mine").expect("the folder can be written to");
    assert_failure(&keygen("--out other.json"), 5, "other.pub.json exists already");
    assert!(!here.join("other.json.part").exists());
    fs::remove_file(here.join("other.pub.json")).expect("it is there");

    // A command that ended after the public set got its name, and before the private one did, is completed.
    let text = fs::read(here.join("set.json")).expect("it is there");
    fs::rename(here.join("set.json"), here.join("set.json.part")).expect("it is there");
    let mut record =
        String::from("{\"rsalab_keys\":1,\"bits\":512,\"e\":65537,\"format\":\"jwk-set\",\"public\":true}\n");
    let mut end = 0;
    for (place, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let kept = line.strip_suffix(b"\n").unwrap_or(line);
        let kept = kept.strip_suffix(b",").unwrap_or(kept);
        if kept.starts_with(b"{\"kty\"") {
            let key = rsalab_rsa::format::load_public(kept, None).expect("it is a key").key;
            let digest: String = fingerprint(&key).iter().map(|b| format!("{b:02x}")).collect();
            record += &format!(
                "{{\"number\":{place},\"file\":\"x-{place}\",\"sha256\":\"{digest}\",\"end\":{}}}\n",
                end + kept.len()
            );
        }
        end += line.len();
    }
    fs::write(here.join("set.json.part.jsonl"), &record).expect("the folder can be written to");
    assert_done(&keygen("--count 5 --out set.json"));
    assert_eq!(fs::read(here.join("set.json")).expect("it is there"), text);
    assert_eq!(set("set.pub.json").len(), 5);
    assert!(!here.join("set.json.part.jsonl").exists());

    // What has the name of the public set and is another file stays, and the keys wait.
    fs::rename(here.join("set.json"), here.join("set.json.part")).expect("it is there");
    fs::write(here.join("set.json.part.jsonl"), &record).expect("the folder can be written to");
    fs::write(here.join("set.pub.json"), "mine").expect("the folder can be written to");
    assert_failure(&keygen("--count 5 --out set.json"), 5, "set.pub.json exists already");
    assert_eq!(fs::read(here.join("set.pub.json")).expect("it is there"), b"mine");
    fs::remove_file(here.join("set.pub.json")).expect("it is there");
    assert_done(&keygen("--count 5 --out set.json"));
    assert_eq!(set("set.pub.json").len(), 5);
}
