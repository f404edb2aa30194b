//! Tests of names: their meanings, and where their programs are found.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::*;

#[test]
fn a_selector_reads_back_as_it_was_written() {
    for text in ["own", "gmp:powm_sec", "libcrypto:/usr/lib/libcrypto.so.3"] {
        let selector = Selector::parse(text).unwrap();
        assert_eq!(selector.to_string(), text);
        assert_eq!(Some(selector.engine.name.as_str()), text.split(':').next());
    }
    assert_eq!(format!("{:>8}|", Selector::parse("gmp").unwrap()), "     gmp|");
}

#[test]
fn a_mistyped_name_is_answered_with_the_closest() {
    for (typed, meant) in [
        ("opensll", "openssl"),
        ("OpenSSL", "openssl"),
        ("libcripto", "libcrypto"),
        ("text-book", "textbook"),
        ("gnp", "gmp"),
        ("gmp:", "gmp"),
    ] {
        let error = Selector::parse(typed).unwrap_err();
        assert_eq!(error.closest.as_deref(), Some(meant), "{typed}");
        assert!(error.to_string().contains(&format!("did you mean '{meant}'?")));
    }
    let error = Selector::parse("zzzz").unwrap_err();
    assert_eq!(error.closest, None);
    assert!(error.to_string().contains("own, textbook"), "{error}");
}

#[test]
fn a_peer_is_found_beside_the_program_before_the_prefix() {
    let home = tempfile::tempdir().unwrap();
    let (bin, prefix) = (home.path().join("bin"), home.path().join("prefix"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(prefix.join("bin")).unwrap();
    let registry = Registry::new(bin.join("rsalab"), std::slice::from_ref(&prefix));
    let gmp = Selector::parse("gmp").unwrap().engine;

    let absent = registry.locate(&gmp).unwrap_err();
    let message = absent.to_string();
    assert!(
        message.contains("cargo build --release --package rsalab-peer-gmp"),
        "{message}"
    );
    assert!(message.contains(&bin.display().to_string()), "{message}");

    let Absent::NotInstalled { file, .. } = absent;
    fs::write(prefix.join("bin").join(&file), "").unwrap();
    assert_eq!(registry.locate(&gmp).unwrap().program, prefix.join("bin").join(&file));
    fs::write(bin.join(&file), "").unwrap();
    assert_eq!(registry.locate(&gmp).unwrap().program, bin.join(&file));
}

#[test]
fn workers_that_were_installed_with_the_program_are_found_before_those_of_a_prefix() {
    let home = tempfile::tempdir().unwrap();
    let (installed, prefix) = (home.path().join("usr"), home.path().join("prefix"));
    let (packaged, built) = (installed.join("libexec/rsalab"), prefix.join("bin"));
    let registry = Registry::new(installed.join("bin/rsalab"), std::slice::from_ref(&prefix));
    assert_eq!(
        registry.folders(),
        [installed.join("bin"), packaged.clone(), built.clone()]
    );

    let gmp = Selector::parse("gmp").unwrap().engine;
    for folder in [built, packaged] {
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(file_of("gmp"));
        fs::write(&file, "").unwrap();
        assert_eq!(registry.locate(&gmp).unwrap().program, file);
    }
}

#[test]
fn a_program_that_lies_in_no_folder_for_programs_was_not_installed() {
    for (program, prefix) in [
        ("/usr/bin/rsalab", Some("/usr")),
        ("/opt/env/libexec/rsalab/rsalab-peer-gmp", Some("/opt/env")),
        ("/home/me/rsalab/target/release/rsalab", None),
        ("/opt/libexec/other/rsalab", None),
        ("rsalab", None),
    ] {
        assert_eq!(installation(Path::new(program)), prefix.map(Path::new), "{program}");
    }
}

#[test]
fn the_prefix_that_the_program_was_built_for_comes_before_the_one_that_is_named() {
    let path = |text: &str| Some(PathBuf::from(text));
    let rows: [(Option<PathBuf>, Option<PathBuf>, &[&str]); 6] = [
        (path("/built"), path("/named"), &["/built", "/named"]),
        (path("/built"), None, &["/built"]),
        (path("/both"), path("/both"), &["/both"]),
        (None, path("/named"), &["/named"]),
        // Relative to what, nobody knows any more.
        (path("prefix"), path("named"), &["named"]),
        (path(""), None, &[]),
    ];
    for (built_for, named, expected) in rows {
        let order = search_order(built_for.clone(), named.clone());
        let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
        assert_eq!(order, expected, "{built_for:?}, {named:?}");
    }
}

#[test]
fn a_built_in_engine_is_this_program() {
    let registry = Registry::new(PathBuf::from("/opt/bin/rsalab"), &[]);
    let own = registry.locate(&Selector::parse("own").unwrap().engine).unwrap();
    assert_eq!(own.program, Path::new("/opt/bin/rsalab"));
    assert_eq!(own.args, ["worker", "--engine", "own"]);
    // Whether there is a device, the worker says.
    let gpu = registry.locate(&Selector::parse("gpu").unwrap().engine).unwrap();
    assert_eq!(gpu.args, ["worker", "--engine", "gpu"]);
    // No program of the user's own takes its name.
    assert!(!is_user_name("gpu"));
}

#[cfg(unix)]
#[test]
fn programs_that_are_well_named_are_engines_of_the_users_own() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let (bin, prefix) = (home.path().join("bin"), home.path().join("prefix"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(prefix.join("bin/rsalab-peer-folder")).unwrap();
    let file = |path: PathBuf, mode: u32| {
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["mine", "a_2-b"] {
        file(bin.join(file_of(name)), 0o755);
        file(prefix.join("bin").join(file_of(name)), 0o755);
    }
    // None of these is one: a name that is taken, names that are no good, a file that cannot be run, no worker at all.
    for name in [
        "own",
        "gmp",
        "Mine",
        "my engine",
        "mine.d",
        "-mine",
        "",
        &"m".repeat(33),
    ] {
        file(bin.join(file_of(name)), 0o755);
    }
    file(bin.join(file_of("text")), 0o644);
    file(bin.join("peer-mine"), 0o755);

    let registry = Registry::new(bin.join("rsalab"), &[prefix]);
    let all = registry.engines();
    let (fixed, own) = all.split_at(engines().len());
    assert_eq!(fixed, engines());
    let names: Vec<&str> = own.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["a_2-b", "mine"]);

    let selector = registry.select("mine:fast").unwrap();
    assert_eq!(selector.to_string(), "mine:fast");
    let location = registry.locate(&selector.engine).unwrap();
    assert_eq!(location.engine, "mine");
    assert_eq!(location.program, bin.join(file_of("mine")));
    assert_eq!(registry.select("mime").unwrap_err().closest.as_deref(), Some("mine"));
    assert!(registry.select("text").is_err());
}

#[test]
fn every_row_of_the_table_says_how_the_engine_is_started() {
    let engines = engines();
    assert_eq!(engines[0].name, "own");
    let names: BTreeSet<&str> = engines.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names.len(), engines.len(), "a name stands twice");
    let built_in = engines.iter().filter(|entry| entry.home == Home::BuiltIn);
    let built_in: Vec<&str> = built_in.map(|entry| entry.name.as_str()).collect();
    assert_eq!(built_in, ["own", "textbook", "gpu"]);
    let cryptopp = Selector::parse("cryptopp").unwrap().engine;
    let install = "apt-get install libcrypto++-dev && cargo build --release --package rsalab-peer-cryptopp";
    assert_eq!(
        cryptopp.home,
        Home::Peer {
            install: install.to_owned()
        }
    );
}
