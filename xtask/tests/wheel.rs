//! A wheel of a small program: packed from end to end, read back, and refused where it is wrong.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Runs the packer, unless there is no Python here.
fn wheel(arguments: &[&str]) -> Option<Output> {
    let script = root().join("packaging/wheel/wheel.py");
    match Command::new("python3").arg(script).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: python3 cannot be started: {error}");
            None
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Packs what is in the folder `programs` of `home`.
fn pack(home: &Path, out: &str, module: &[&str]) -> Option<Output> {
    let (programs, bom, out) = (home.join("programs"), home.join("bom"), home.join(out));
    let folders = ["--programs", text(&programs), "--bom", text(&bom), "--out", text(&out)];
    let facts = [
        "--version",
        "1.2.3",
        "--date",
        "1700000000",
        "--summary",
        "A test",
        "--repository",
        "https://localhost",
    ];
    wheel(&[&folders[..], &facts, &["--intel", "2026.2.0"], module].concat())
}

/// The path that the packer prints.
fn path(output: &Output) -> PathBuf {
    assert!(output.status.success(), "{output:?}");
    PathBuf::from(String::from_utf8(output.stdout.clone()).unwrap().trim())
}

/// Compiles a program that does nothing, with the C compiler that building this took. Returns whether it could be
/// linked.
fn compile(path: &Path, options: &[&str]) -> bool {
    let source = path.with_extension("c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let compiler = Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(path)
        .args(options)
        .output();
    fs::remove_file(source).unwrap();
    compiler.expect("cc can be started").status.success()
}

/// A folder with a program `rsalab`, and its bill.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let programs = home.path().join("programs");
    fs::create_dir(&programs).unwrap();
    assert!(compile(&programs.join("rsalab"), &[]));
    let bom = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args([
            "bom",
            "--programs",
            text(&programs),
            "--out",
            text(&home.path().join("bom")),
        ])
        .output()
        .unwrap();
    assert!(bom.status.success(), "{bom:?}");
    home
}

#[test]
fn a_wheel_is_what_it_says_and_is_made_again_byte_for_byte() {
    let home = home();
    let Some(output) = pack(home.path(), "one", &[]) else {
        return;
    };
    let first = path(&output);
    let name = first.file_name().unwrap().to_str().unwrap();
    let begin = "rsalab-1.2.3-py3-none-manylinux_2_";
    let end = format!("_{}.whl", std::env::consts::ARCH);
    assert!(name.starts_with(begin) && name.ends_with(&end), "{name}");
    let bytes = fs::read(&first).unwrap();
    assert!(bytes == fs::read(path(&pack(home.path(), "two", &[]).unwrap())).unwrap());

    let checked = wheel(&["--check", text(&first)]).unwrap();
    assert!(checked.status.success(), "{checked:?}");
    // Under the name of an older C library, and with a bit changed.
    let older = home.path().join(format!("rsalab-1.2.3-py3-none-manylinux_2_5{end}"));
    fs::copy(&first, &older).unwrap();
    let spoilt = home.path().join(name);
    let mut changed = bytes.clone();
    let at = changed.len() / 2;
    changed[at] ^= 1;
    fs::write(&spoilt, changed).unwrap();
    for wrong in [older, spoilt] {
        let checked = wheel(&["--check", text(&wrong)]).unwrap();
        assert!(!checked.status.success(), "{}: {checked:?}", wrong.display());
    }
}

#[test]
fn a_python_package_goes_into_the_same_wheel_and_gives_it_its_tags() {
    let home = home();
    let module = home.path().join("module");
    let package = module.join("rsalab");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("py.typed"), "").unwrap();
    fs::write(module.join("rsalab_pytest.py"), "").unwrap();
    let project = home.path().join("pyproject.toml");
    let lines = [
        "[project]",
        "requires-python = '>=3.10'",
        "optional-dependencies.jwt = [\"PyJWT>=2; python_version < '4'\"]",
        "entry-points.pytest11.rsalab = 'rsalab_pytest'",
    ];
    fs::write(&project, lines.join("\n")).unwrap();
    let options = [
        "--module",
        text(&module),
        "--abi",
        "cp310-abi3",
        "--project",
        text(&project),
    ];
    let Some(refused) = pack(home.path(), "none", &options) else {
        return;
    };
    assert!(!refused.status.success(), "a folder without __init__.py is no package");

    fs::write(package.join("__init__.py"), "").unwrap();
    fs::write(module.join("other.py"), "").unwrap();
    let refused = pack(home.path(), "none", &options).unwrap();
    assert!(!refused.status.success(), "a wheel brings no modules of other names");

    fs::remove_file(module.join("other.py")).unwrap();
    assert!(compile(&package.join("_native.abi3.so"), &[]));
    let output = pack(home.path(), "out", &options).unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("No module named 'tomllib'") {
        eprintln!("SKIPPED: this Python is older than 3.11");
        return;
    }
    let made = path(&output);
    assert!(
        made.to_str().unwrap().contains("rsalab-1.2.3-cp310-abi3-manylinux_2_"),
        "{}",
        made.display()
    );
    let checked = wheel(&["--check", text(&made)]).unwrap();
    assert!(checked.status.success(), "{checked:?}");
    let read = |name: &str| {
        let script = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode())";
        let entry = format!("rsalab-1.2.3.dist-info/{name}");
        let output = Command::new("python3")
            .args(["-c", script, text(&made), &entry])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(read("entry_points.txt").trim(), "[pytest11]\nrsalab = rsalab_pytest");
    let metadata = read("METADATA");
    for line in [
        "Requires-Python: >=3.10",
        "Provides-Extra: jwt",
        "Requires-Dist: PyJWT>=2 ; (python_version < '4') and extra == \"jwt\"",
        "Provides-Extra: intel",
        // The same on every CPU.
        "Requires-Dist: ipp-crypto==2026.2.0 ; (platform_machine == 'x86_64') and extra == \"intel\"",
    ] {
        assert!(metadata.contains(line), "{line} is missing in {metadata}");
    }
}

#[test]
fn a_program_that_needs_a_library_which_systems_may_lack_is_refused() {
    let home = home();
    let linked = home.path().join("programs/rsalab-peer-linked");
    if !compile(&linked, &["-Wl,--no-as-needed", "-l:libgmp.so.10"]) {
        eprintln!("SKIPPED: there is no libgmp.so.10 here to link");
        return;
    }
    let Some(output) = pack(home.path(), "out", &[]) else {
        return;
    };
    assert!(!output.status.success());
    let reason = String::from_utf8_lossy(&output.stderr);
    assert!(reason.contains("rsalab-peer-linked needs libgmp.so.10"), "{reason}");
}
