//! Files that lead elsewhere: links, pipes, folders in the place of a file. Nothing is written through a link, and
//! nothing waits for a pipe's other end.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command, time::Duration};

use super::{compare, judge, split, tree, write};
use crate::support::{assert_done, folder, rsalab, run, study_key};

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("coreutils are there").success());
}

/// Rows as of the other tables, in a folder that is as it was afterwards, and each within half a minute.
fn refuse(here: &Path, rows: &[(&str, i32, &[&str])]) {
    for (typed, code, words) in rows {
        let before = tree(here);
        let output = rsalab(here)
            .args(split(typed.as_bytes()))
            .timeout(Duration::from_secs(30))
            .output()
            .expect("the program starts");
        judge(&output, *code, words)
            .and_then(|()| compare(&before, &tree(here)))
            .unwrap_or_else(|what| panic!("rsalab {typed}\n{what}"));
    }
}

#[test]
fn outputs_that_are_there_in_another_form() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "input", "text");
    write(here, "precious", "precious");
    assert_done(&run(
        here,
        split(b"encrypt --scheme oaep --key public.pem input --out input.enc"),
    ));
    for name in ["link", "list.enc", "list.sig"] {
        symlink("precious", here.join(name)).expect("links can be made");
    }
    symlink("nowhere", here.join("dangling")).expect("links can be made");
    make_pipe(&here.join("pipe"));
    make_pipe(&here.join("piped.age"));
    write(here, "piped", "text");
    write(here, "name", "piped\n");
    fs::create_dir(here.join("folder")).expect("it can be made");
    write(here, "list", "list");
    write(here, "names", "list\nlist\n");
    let mut rows: Vec<(String, i32, Vec<&str>)> = Vec::new();
    for there in ["link", "dangling", "pipe", "folder"] {
        for command in [
            "keygen --bits 512 --insecure-size --out",
            "keygen --bits 512 --insecure-size --out new --public-out",
            "keygen --bits 512 --insecure-size --count 2 --format jwk-set --out",
            "sign --key key.pem input --sig",
            "text-encrypt --quiet --key public.pem input --out",
            "encrypt --scheme oaep --key public.pem input --out",
            "decrypt --scheme oaep --key key.pem input.enc --out",
            "key public key.pem --out",
            "key convert key.pem --out",
            "raw-public --key public.pem --in input.enc --out",
        ] {
            rows.push((format!("{command} {there}"), 5, vec![there, "exists already"]));
        }
    }
    rows.push((
        "sign --quiet --key key.pem --files-from names".into(),
        5,
        vec!["list.sig exists already"],
    ));
    rows.push((
        "encrypt --quiet --scheme oaep --key public.pem --files-from names".into(),
        5,
        vec!["list.enc exists already"],
    ));
    rows.push((
        "encrypt --quiet --skip-existing --key public.pem --files-from name".into(),
        5,
        vec!["piped.age exists already"],
    ));
    for (typed, code, words) in &rows {
        refuse(here, &[(typed, *code, words)]);
    }
}

#[test]
fn keys_in_bulk_among_things_that_are_not_theirs() {
    let here = folder();
    let here = here.path();
    write(here, "precious", "precious");
    for name in ["linked", "piped", "foldered", "odd"] {
        fs::create_dir(here.join(name)).expect("it can be made");
    }
    symlink("../precious", here.join("linked/manifest.jsonl")).expect("links can be made");
    make_pipe(&here.join("piped/manifest.jsonl"));
    fs::create_dir(here.join("foldered/manifest.jsonl")).expect("it can be made");
    write(here, "odd/something", "precious");
    symlink("precious", here.join("a.tar.part")).expect("links can be made");
    symlink("precious", here.join("b.tar.part.jsonl")).expect("links can be made");
    fs::create_dir(here.join("c.tar.part")).expect("it can be made");
    make_pipe(&here.join("d.tar.part.jsonl"));
    write(here, "e.tar.part", "precious");
    write(here, "f.tar.part.jsonl", "no manifest\n");
    write(here, "f.tar.part", "");
    let keygen = |out: &str| format!("keygen --bits 512 --insecure-size --count 2 --out {out}");
    #[rustfmt::skip]
    let rows: [(String, i32, &[&str]); 10] = [
        (keygen("linked"), 5, &["linked/manifest.jsonl", "not a file of rsalab"]),
        (keygen("piped"), 5, &["piped/manifest.jsonl", "not a file of rsalab"]),
        (keygen("foldered"), 5, &["foldered/manifest.jsonl"]),
        (keygen("odd"), 5, &["odd", "not a folder of keys"]),
        (keygen("a.tar"), 5, &["a.tar.part exists already"]),
        (keygen("b.tar"), 5, &["b.tar.part.jsonl", "not a file of rsalab"]),
        (keygen("c.tar"), 5, &["c.tar.part", "earlier version", "move it away"]),
        (keygen("d.tar"), 5, &["d.tar.part.jsonl", "not a file of rsalab"]),
        (keygen("e.tar"), 5, &["e.tar.part exists already"]),
        (keygen("f.tar"), 3, &["line 1 of f.tar.part.jsonl"]),
    ];
    for (typed, code, words) in &rows {
        refuse(here, &[(typed, *code, words)]);
    }
}

#[test]
fn lists_of_weak_keys() {
    let here = folder();
    let here = here.path();
    study_key(here, 2048);
    write(here, "bad", "0123456789abcdef0123\nnot a line\n");
    write(here, "short", "0123\n");
    fs::create_dir(here.join("empty")).expect("it can be made");
    #[rustfmt::skip]
    let rows: &[(&str, i32, &[&str])] = &[
        ("key check --blocklist bad key.pem", 3, &["line 2 of bad", "20 hexadecimal digits"]),
        ("key check --blocklist short key.pem", 3, &["line 1 of short"]),
        ("key check --blocklist empty key.pem", 3, &["empty has no lists", "blacklist."]),
        ("key check --blocklist missing key.pem", 5, &["cannot read missing", "check the name"]),
    ];
    refuse(here, rows);
}
