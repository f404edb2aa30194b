//! Files of several keys, keys that several files share something of, and what is kept beside a key.

use std::{fs, path::Path, process::Output};

use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PrivateFormat, decode_private, encode_private, load_public},
};
use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, run, stdout};

const SEED: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

/// A set of three keys, and the public ones.
fn set(here: &Path) {
    assert_done(&typed(
        here,
        "keygen --bits 512 --insecure-size --count 3 --format jwk-set --public --out set.json",
    ));
}

/// The verdicts on files, as JSON.
fn verdicts(output: &Output) -> Vec<Value> {
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

#[test]
fn every_key_of_a_set_gets_a_verdict_and_one_is_chosen_by_kid() {
    let here = folder();
    let here = here.path();
    set(here);
    let output = typed(here, "key check set.json set.pub.json --json");
    assert_done(&output);
    let all = verdicts(&output);
    assert_eq!(all.len(), 6);
    for (place, verdict) in all.iter().enumerate() {
        assert_eq!(verdict["key"], place % 3 + 1);
        assert_eq!(verdict["private"], place < 3);
        assert_eq!(verdict["verdict"], "weak");
    }
    let shown = typed(here, "key check set.json");
    assert!(stdout(&shown).contains("set.json, key 2"), "{}", stdout(&shown));

    for line in [
        "key public set.json",
        "key public set.pub.json",
        "sign --key set.json set.json --sig s",
    ] {
        let output = typed(here, line);
        assert_failure(&output, 3, "holds 3 keys that may be meant");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--kid"));
    }
    let kid = all[1]["jwk_thumbprint"].as_str().expect("a name");
    let chosen = typed(here, &format!("key public set.json --kid {kid} --format jwk"));
    assert_done(&chosen);
    let chosen: Value = serde_json::from_slice(&chosen.stdout).expect("it is JSON");
    assert_eq!(chosen["kid"], kid);
    assert_done(&typed(
        here,
        &format!("sign --key set.json --kid {kid} --scheme pkcs1v15 set.json --sig s"),
    ));
    let ssh = all[1]["ssh_fingerprint"].as_str().expect("a name");
    assert_done(&typed(
        here,
        &format!("verify --key set.pub.json --kid {ssh} --scheme pkcs1v15 set.json --sig s"),
    ));
    assert_failure(
        &typed(here, "key public set.json --kid nobody"),
        3,
        "no RSA key of this file has the name",
    );
    let output = typed(here, &format!("key check set.json --kid {kid} --json"));
    assert_eq!(verdicts(&output).len(), 1);

    // A stream, as the program writes it; a key of another kind stands in nobody's way.
    let stream = typed(here, "keygen --bits 512 --insecure-size --count 2 --format jwk --out -");
    let foreign = "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"QDcy\"}\n";
    fs::write(here.join("stream"), [foreign.as_bytes(), &stream.stdout].concat()).expect("written");
    let output = typed(here, "key check stream --json");
    assert_done(&output);
    let all = verdicts(&output);
    let lines: Vec<_> = all
        .iter()
        .map(|verdict| (verdict["line"].as_u64(), verdict["verdict"].as_str()))
        .collect();
    let expected = [
        (Some(1), Some("unsupported")),
        (Some(2), Some("weak")),
        (Some(3), Some("weak")),
    ];
    assert_eq!(lines, expected);
    fs::write(here.join("foreign"), foreign).expect("written");
    assert_failure(&typed(here, "key check foreign"), 3, "RSA keys only");
}

#[test]
fn every_line_of_authorized_keys_gets_a_verdict() {
    let here = folder();
    let here = here.path();
    set(here);
    let all = verdicts(&typed(here, "key check set.pub.json --json"));
    let line = |place: usize| {
        let kid = all[place]["jwk_thumbprint"].as_str().expect("a name").to_owned();
        let line = typed(here, &format!("key public set.pub.json --kid {kid} --format openssh"));
        assert_done(&line);
        stdout(&line).trim_end().to_owned()
    };
    let text = format!(
        "# keys\r\n\r\nfrom=\"a b\",command=\"x\" {}\r\n{}\r\ngarbage garbage\r\nssh-ed25519 AAAA me\r\n",
        line(0),
        line(1).replace(' ', "\t")
    );
    fs::write(here.join("keys"), &text).expect("written");
    let output = typed(here, "key check keys --json");
    assert_failure(&output, 3, "keys, line 5");
    let found = verdicts(&output);
    let lines: Vec<_> = found
        .iter()
        .map(|verdict| (verdict["line"].as_u64(), verdict["verdict"].as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (Some(3), Some("weak")),
            (Some(4), Some("weak")),
            (Some(5), Some("unreadable")),
            (Some(6), Some("unsupported")),
        ]
    );
    assert_eq!(found[0]["use"], "logins with command from");
    assert_eq!(found[1]["fingerprint"], all[1]["fingerprint"]);
    assert_failure(&typed(here, "key public keys"), 3, "holds 3 keys");

    // One line with options: the key is given, and what restricts it is said; it is used when that is asked for.
    fs::write(here.join("one"), format!("command=\"x\" {}\n", line(0))).expect("written");
    let output = typed(here, "key public one --format openssh");
    assert_done(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("logins with command"));
    fs::write(here.join("m"), "m").expect("written");
    let refused = typed(here, "encrypt --scheme pkcs1v15 --key one m --out c");
    assert_failure(&refused, 3, "restricts logins");
    assert_done(&typed(here, "encrypt --scheme pkcs1v15 --any-use --key one m --out c"));
}

#[test]
fn primes_that_files_share_are_found() {
    let here = folder();
    let here = here.path();
    let made = typed(
        here,
        &format!("keygen --bits 512 --insecure-size --count 3 --insecure-seed {SEED} --out keys"),
    );
    assert_done(&made);
    let key = |number: u32| {
        let text = fs::read(here.join(format!("keys/insecure-key-{number:06}.pem"))).expect("it was made");
        decode_private(&text).expect("a key")
    };
    let write = |name: &str, key: &PrivateKey| {
        let der = encode_private(key, PrivateFormat::Pkcs8, Encoding::Der);
        fs::write(here.join(name), &*der).expect("written");
    };
    let (one, two) = (key(1), key(2));
    let sharing = PrivateKey::from_primes(one.p(), two.q(), &[1, 0, 1]).expect("a key");
    let other_exponent = PrivateKey::from_primes(one.p(), one.q(), &[1, 0, 3]).expect("a key");
    write("one", &one);
    write("sharing", &sharing);
    write("other", &other_exponent);
    write("three", &key(3));
    assert_done(&typed(here, "key public one --out one.pub"));
    let output = typed(here, "key check one one.pub sharing three other --json --rounds 2");
    assert_done(&output);
    let found: Vec<Vec<(String, String)>> = verdicts(&output)
        .iter()
        .map(|verdict| {
            let all = verdict["weaknesses"].as_array().expect("a list").iter();
            let text = |weak: &Value, name: &str| weak[name].as_str().expect("text").to_owned();
            all.map(|weak| (text(weak, "name"), text(weak, "what")))
                .filter(|(name, _)| name.starts_with("shared"))
                .collect()
        })
        .collect();
    let names = |place: usize, kind: &str, other: &str| {
        found[place]
            .iter()
            .any(|(name, what)| name == kind && what.contains(&format!("the key {other}")))
    };
    assert!(
        names(0, "shared-prime", "sharing") && names(0, "shared-modulus", "other"),
        "{found:?}"
    );
    // One remark of each kind, however many others there are.
    assert!(
        names(2, "shared-prime", "one, and with 2 others") && names(4, "shared-modulus", "one, and of 1 other"),
        "{found:?}"
    );
    assert_eq!((found[2].len(), found[4].len()), (1, 2), "{found:?}");
    assert_eq!(found[3], []);
    // The same key twice is no fault of it.
    assert_eq!(found[0].len(), 2, "{found:?}");
    assert_failure(
        &typed(here, "key check three one.pub sharing --strict --rounds 2"),
        3,
        "weak",
    );
}

#[test]
fn what_a_file_says_of_its_key_is_kept_where_there_is_room() {
    let here = folder();
    let here = here.path();
    assert_done(&typed(
        here,
        &format!("keygen --bits 512 --insecure-size --insecure-seed {SEED} --format jwk --out marked.jwk"),
    ));
    let text = fs::read_to_string(here.join("marked.jwk")).expect("it was made");
    let key: Value = serde_json::from_str(&text).expect("it is JSON");
    let thumbprint = key["kid"].as_str().expect("a name").to_owned();
    let own = text
        .replacen(&thumbprint, "2026-signing", 1)
        .replacen('{', "{\"exp\":7,\"private\":\"x\",", 1);
    fs::write(here.join("own.jwk"), own).expect("written");
    let public = typed(here, "key public own.jwk --format jwk");
    let public: Value = serde_json::from_slice(&public.stdout).expect("it is JSON");
    assert_eq!((&public["kid"], &public["exp"]), (&"2026-signing".into(), &7.into()));
    assert!(public.get("private").is_none() && public.get("d").is_none());
    let private = typed(here, "key convert own.jwk --format jwk --out -");
    let private: Value = serde_json::from_slice(&private.stdout).expect("it is JSON");
    assert_eq!(
        (&private["kid"], &private["private"]),
        (&"2026-signing".into(), &"x".into())
    );

    // The mark of a key of a seed goes with it, and makes it weak.
    for format in ["pkcs8-pem", "pkcs1-pem", "jwk", "openssh"] {
        assert_done(&typed(
            here,
            &format!("key convert own.jwk --format {format} --out {format}"),
        ));
        let output = typed(here, &format!("key check {format} --json"));
        let weaknesses = verdicts(&output)[0]["weaknesses"].to_string();
        assert!(weaknesses.contains("made-from-a-seed"), "{format}: {weaknesses}");
    }

    // A comment of OpenSSH's.
    let line = fs::read(here.join("openssh"))
        .map(|_| typed(here, "key public pkcs8-pem"))
        .expect("it is there");
    let key = load_public(&line.stdout, None).expect("a key").key;
    fs::write(
        here.join("line"),
        rsalab_rsa::format::openssh::public(&key, "me@laptop"),
    )
    .expect("written");
    let line = typed(here, "key public line --format openssh");
    assert!(stdout(&line).trim_end().ends_with(" me@laptop"), "{}", stdout(&line));
}

#[test]
fn keys_are_called_as_a_list_says() {
    let here = folder();
    let here = here.path();
    let keygen = |rest: &str| typed(here, &format!("keygen --bits 512 --insecure-size {rest}"));
    fs::write(here.join("names"), "web 1\r\nmail\r\n\r\nümlaut\r\n").expect("written");
    assert_done(&keygen("--names names --format openssh --public --out hosts"));
    let mut made: Vec<String> = fs::read_dir(here.join("hosts"))
        .expect("a folder")
        .map(|file| file.expect("listed").file_name().into_string().expect("UTF-8"))
        .collect();
    made.sort();
    let expected = [
        "mail",
        "mail.pub",
        "manifest.jsonl",
        "web 1",
        "web 1.pub",
        "ümlaut",
        "ümlaut.pub",
    ];
    assert_eq!(made, expected);
    let line = fs::read_to_string(here.join("hosts/web 1.pub")).expect("it was made");
    assert!(line.trim_end().ends_with(" web 1"), "{line}");
    // The same command makes what is missing, under its name.
    fs::remove_file(here.join("hosts/mail")).expect("it is there");
    assert_done(&keygen("--names names --format openssh --public --out hosts"));
    assert!(here.join("hosts/mail").exists());
    assert_failure(
        &keygen("--count 3 --format openssh --public --out hosts"),
        2,
        "the keys of hosts have names from --names, and their numbers was asked for",
    );
    fs::write(here.join("other"), "web 1\nmail\nftp\n").expect("written");
    assert_failure(
        &keygen("--names other --format openssh --public --out hosts"),
        2,
        "key 3 of hosts has another name than",
    );

    assert_done(&keygen("--names names --format jwk-set --public --out set.json"));
    for set in ["set.json", "set.pub.json"] {
        let set: Value = serde_json::from_slice(&fs::read(here.join(set)).expect("made")).expect("JSON");
        let kids: Vec<&str> = set["keys"]
            .as_array()
            .expect("keys")
            .iter()
            .filter_map(|key| key["kid"].as_str())
            .collect();
        assert_eq!(kids, ["web 1", "mail", "ümlaut"]);
    }
    for (list, options, code, words) in [
        ("a\nb\na\n", "", 3, "lines 1 and 3 of list"),
        ("a\na.pub\n", "--format openssh --public", 3, "lines 1 and 2 of list"),
        ("a\n../b\n", "", 3, "line 2 of list is not a name"),
        (".b\n", "", 3, "line 1 of list"),
        ("-b\n", "", 3, "line 1 of list"),
        ("a\tb\n", "", 3, "line 1 of list"),
        ("\n\r\n", "", 3, "has no names"),
        ("a\nb\n", "--count 3", 2, "2 names, and --count asks for 3"),
    ] {
        fs::write(here.join("list"), list).expect("written");
        let options = if options.is_empty() {
            String::new()
        } else {
            format!("{options} ")
        };
        assert_failure(&keygen(&format!("--names list {options}--out new")), code, words);
        assert!(!here.join("new").exists(), "{list:?}");
    }
    assert_failure(&keygen("--names nowhere --out new"), 5, "nowhere");

    // What is in the way of a key has somebody's name, and the folder is named.
    fs::write(here.join("hosts/x"), "mine").expect("written");
    fs::write(here.join("names"), "web 1\nmail\nümlaut\nx\n").expect("written");
    let output = keygen("--names names --format openssh --public --out hosts");
    assert_failure(&output, 5, "hosts/x exists already");
    assert_eq!(fs::read(here.join("hosts/x")).expect("it is there"), b"mine");

    // An interrupted set lies in this folder: the sentence names it.
    assert_done(&keygen("--count 2 --format jwk-set --out part.json"));
    fs::rename(here.join("part.json"), here.join("part.json.part")).expect("it is there");
    fs::write(
        here.join("part.json.part.jsonl"),
        "{\"rsalab_keys\":1,\"bits\":2048,\"e\":65537,\"format\":\"jwk-set\",\"public\":false}\n",
    )
    .expect("written");
    assert_failure(
        &keygen("--count 2 --format jwk-set --out part.json"),
        2,
        "the keys of part.json have the size 2048",
    );
}

#[test]
fn a_record_for_dkim_has_the_key_in_strings_of_255() {
    let here = folder();
    let here = here.path();
    assert_done(&typed(here, "keygen --out key.pem --bits 2048"));
    let record = typed(here, "key public key.pem --format dkim");
    assert_done(&record);
    let text = stdout(&record);
    assert!(
        text.starts_with("IN TXT ( \"v=DKIM1; k=rsa; p=MII") && text.ends_with("\" )\n"),
        "{text}"
    );
    let strings: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    assert_eq!(strings[0].len(), 255);
    assert!(strings.iter().all(|string| string.len() <= 255));
    let pem = typed(here, "key public key.pem");
    let body: String = stdout(&pem).lines().filter(|line| !line.starts_with('-')).collect();
    assert_eq!(strings.concat(), format!("v=DKIM1; k=rsa; p={body}"));
    assert_failure(&typed(here, "keygen --format dkim --out k"), 2, "is of public keys");
    assert_failure(
        &typed(here, "key convert key.pem --format dkim --out k"),
        2,
        "is of public keys",
    );
}
