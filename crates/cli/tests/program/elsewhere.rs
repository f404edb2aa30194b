//! Which engines there are does not depend on the folder in which the program is started.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, link_program, stdout};

/// Puts a program where the worker of an engine of the user's own would be. Started, it would be found to be none.
fn place(bin: &Path, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir_all(bin).expect("there is room");
    let file = bin.join(format!("rsalab-peer-{name}"));
    fs::write(&file, "#!/bin/sh\nexit 1\n").expect("there is room");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn engines_are_found_from_any_folder_and_none_in_it() {
    let home = folder();
    let bin = home.path().join("bin");
    place(&bin, "near");
    // In a folder where somebody else could have put it.
    place(&home.path().join("here/prefix/bin"), "planted");
    place(&home.path().join("here"), "planted");
    place(&home.path().join("opt/bin"), "named");
    let program = bin.join("rsalab");
    link_program(&crate::support::program(), &program);
    let run = |folder: &str, prefix: Option<&str>, arguments: &[&str]| -> Output {
        let folder = home.path().join(folder);
        fs::create_dir_all(&folder).expect("there is room");
        let mut command = assert_cmd::Command::new(&program);
        command.current_dir(folder).args(arguments);
        // As on a machine without a device, whatever this one has.
        command.env("OCL_ICD_VENDORS", home.path());
        command.env("CUDA_VISIBLE_DEVICES", "-1");
        match prefix {
            Some(prefix) => command.env("RSALAB_PREFIX", home.path().join(prefix)),
            None => command.env_remove("RSALAB_PREFIX"),
        };
        command.output().expect("the program starts")
    };
    let listing = |folder: &str, prefix: Option<&str>| -> Value {
        let output = run(folder, prefix, &["engines", "--json"]);
        assert_done(&output);
        serde_json::from_str(stdout(&output)).expect("it is JSON")
    };
    let has = |listing: &Value, name: &str| {
        let engines = listing["engines"].as_array().expect("it lists engines");
        engines.iter().any(|engine| engine["name"] == name)
    };

    let there = listing("there", None);
    assert!(has(&there, "near"));
    assert_eq!(there["searched"][0], bin.display().to_string());
    let here = listing("here", None);
    assert!(!has(&here, "planted"), "{here:#}");
    assert_eq!(here["searched"], there["searched"]);

    for folder in ["there", "here"] {
        let named = listing(folder, Some("opt"));
        assert!(has(&named, "near") && has(&named, "named"), "{named:#}");
        let searched = named["searched"].as_array().expect("folders");
        let last = searched.last().expect("there are folders");
        assert_eq!(*last, home.path().join("opt/bin").display().to_string());
    }
    let table = run("here", Some("opt"), &["engines"]);
    assert_done(&table);
    let table = stdout(&table);
    assert!(table.contains("Programs of engines are looked for in "), "{table}");
    assert!(table.contains("elsewhere, set RSALAB_PREFIX to"), "{table}");
    let bench = ["bench", "--op", "private", "--engines", "planted"];
    assert_failure(&run("here", Some("opt"), &bench), 2, "planted");
    let keygen = ["keygen", "--engine", "gmp", "--out", "key.pem"];
    assert_failure(&run("here", None, &keygen), 6, "not installed");
    assert!(!home.path().join("here/key.pem").exists());
}
