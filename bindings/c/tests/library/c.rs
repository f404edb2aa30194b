//! The library from C: tests in C under the sanitizers, and the example as a user compiles it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{HERE, Installed, composite, has, run, vectors};

const STRICT: [&str; 7] = [
    "-std=c99",
    "-D_POSIX_C_SOURCE=200809L",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    "-g",
];

fn cc() -> String {
    env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}

fn has_compiler() -> bool {
    has(&cc(), "--version", "the library from C") && has("pkg-config", "--version", "the library from C")
}

/// Compiles a program against what is installed.
fn compile(installed: &Installed, source: &str, options: &[&str]) -> PathBuf {
    let source = Path::new(HERE).join(source);
    let program = installed.folder().join(source.file_stem().unwrap());
    let mut command = installed.command(cc());
    command.args(STRICT).args(options).arg("-o").arg(&program).arg(&source);
    run(command.args(installed.pkg_config(&["--cflags", "--libs"])));
    program
}

/// The sanitizers that the compiler has the libraries for.
fn sanitizers(installed: &Installed) -> Vec<&'static str> {
    let all = vec!["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let source = installed.folder().join("probe.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let program = installed.folder().join("probe");
    let mut command = Command::new(cc());
    command.args(&all).arg("-o").arg(&program).arg(&source);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let is_compiled = command.status().is_ok_and(|status| status.success());
    let runs = || Command::new(&program).status().is_ok_and(|status| status.success());
    if is_compiled && runs() {
        return all;
    }
    eprintln!(
        "SKIPPED: the address sanitizer: {} has no library for it, or it does not run here",
        cc()
    );
    Vec::new()
}

fn run_tests_in_c(name: &str) {
    if !has_compiler() {
        return;
    }
    run_in_c(name, &Installed::new());
}

fn run_in_c(name: &str, installed: &Installed) {
    let mut options = sanitizers(installed);
    options.push("-pthread");
    let made_here = format!("-I{}", installed.folder().display());
    options.push(&made_here);
    let program = compile(installed, &format!("tests/c/{name}.c"), &options);
    print!("{}", run(&mut installed.command(program)));
}

#[test]
fn keys() {
    run_tests_in_c("keys");
}

#[test]
fn load() {
    if has_compiler() {
        let installed = Installed::new();
        fs::write(installed.folder().join("composite.h"), composite::header()).unwrap();
        run_in_c("load", &installed);
    }
}

#[test]
fn batches() {
    run_tests_in_c("batches");
}

#[test]
fn blind() {
    if has_compiler() {
        let installed = Installed::new();
        fs::write(installed.folder().join("vectors.h"), vectors::header()).unwrap();
        run_in_c("blind", &installed);
    }
}

#[test]
fn threads() {
    run_tests_in_c("threads");
}

/// The sanitizer is not asleep: it finds a program that reads a key that was freed, or one that forgets to free.
#[test]
fn the_sanitizer_finds_what_is_wrong() {
    if !has_compiler() {
        return;
    }
    let installed = Installed::new();
    let options = sanitizers(&installed);
    if options.is_empty() {
        return;
    }
    let program = compile(&installed, "tests/c/wrong.c", &options);
    for (argument, finding) in [("use", "heap-use-after-free"), ("leak", "LeakSanitizer")] {
        let output = installed.command(&program).arg(argument).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(finding), "{argument}: {said}");
    }
}

/// As the head of the example says; linked dynamically, and statically.
#[test]
fn the_example() {
    if !has_compiler() {
        return;
    }
    let installed = Installed::new();
    let version = run(installed.command("pkg-config").args(["--modversion", "rsalab"]));
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
    let program = compile(&installed, "examples/sign.c", &[]);

    let key = rsalab_rsa::PrivateKey::generate(2048).unwrap();
    use rsalab_rsa::format::{Encoding, PrivateFormat, PublicFormat, encode_private, encode_public};
    let pem = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
    let folder = installed.folder();
    fs::write(folder.join("key.pem"), &*pem).unwrap();
    let public = encode_public(key.public(), PublicFormat::Spki, Encoding::Pem);
    fs::write(folder.join("public.pem"), public).unwrap();
    let names: Vec<String> = (0..5).map(|number| format!("message{number}")).collect();
    for name in &names {
        fs::write(folder.join(name), format!("this is {name}\n")).unwrap();
    }

    let check = |program: &Path| {
        let said = run(installed.command(program).arg("key.pem").args(&names));
        assert!(
            said.starts_with("5 signed and verified with a key of 2048 bits"),
            "{said}"
        );
        for name in &names {
            let signature = fs::read(folder.join(format!("{name}.sig"))).unwrap();
            assert_eq!(signature.len(), 256);
            fs::remove_file(folder.join(format!("{name}.sig"))).unwrap();
            fs::write(folder.join("signature"), signature).unwrap();
            if has("openssl", "version", "OpenSSL verifies what the example signed") {
                let mut openssl = installed.command("openssl");
                openssl.env_remove("LD_LIBRARY_PATH");
                openssl.args(["dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"]);
                run(openssl.arg(name));
            }
        }
    };
    check(&program);

    // Wrong uses: exit codes, and words.
    let output = installed.command(&program).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = installed
        .command(&program)
        .args(["public.pem", "message0"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("private key is needed"), "{said}");

    let static_program = folder.join("sign-static");
    let mut command = installed.command(cc());
    command.args(STRICT).arg("-o").arg(&static_program);
    command.arg(Path::new(HERE).join("examples/sign.c"));
    command.args(installed.pkg_config(&["--cflags"]));
    command.arg(installed.lib().join("librsalab.a"));
    // What the archive needs, without the shared library of the same name.
    let needs = installed.pkg_config(&["--static", "--libs"]);
    command.args(needs.iter().filter(|need| *need != "-lrsalab"));
    run(&mut command);
    check(&static_program);
}

/// It measures nothing here; it runs.
#[test]
fn the_rates() {
    if !has_compiler() {
        return;
    }
    let installed = Installed::new();
    let program = compile(&installed, "examples/rates.c", &[]);
    let said = run(installed.command(program).args(["1024", "5"]));
    assert!(said.contains("batches of 64:") && said.contains("batcher:"), "{said}");
}

/// The header is C of 1989 and later and C++, and complains of nothing.
#[test]
fn the_header_is_strict_c_and_cplusplus() {
    let header = Path::new(HERE).join("include/rsalab.h");
    let check = |compiler: &str, language: &str, standard: &str| {
        if !has(compiler, "--version", "the header") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("includes");
        fs::write(
            &source,
            format!("#include \"{}\"\nint main(void) {{ return 0; }}\n", header.display()),
        )
        .unwrap();
        let mut command = Command::new(compiler);
        command.args([
            "-pedantic",
            "-pedantic-errors",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
        ]);
        run(command.args([standard, "-x", language]).arg(source));
    };
    for standard in ["-std=c89", "-std=c99", "-std=c11"] {
        check(&cc(), "c", standard);
    }
    for standard in ["-std=c++98", "-std=c++11", "-std=c++17"] {
        check("c++", "c++", standard);
    }
}

/// The library of a plain `cargo build` is installed under a versioned name, which programs ask for.
#[test]
fn programs_ask_for_a_versioned_library() {
    if !has_compiler() || !cfg!(target_os = "linux") || !has("readelf", "--version", "names of libraries") {
        return;
    }
    let installed = Installed::new();
    let program = compile(&installed, "examples/sign.c", &[]);
    let dynamic = |file: &Path| run(Command::new("readelf").arg("-dW").arg(file));
    let version: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').collect();
    let interface = match version[0] {
        "0" => format!("librsalab.so.0.{}", version[1]),
        major => format!("librsalab.so.{major}"),
    };
    let library = installed.lib().join("librsalab.so");
    assert!(dynamic(&library).contains(&format!("soname: [{interface}]")));
    assert!(dynamic(&program).contains(&format!("Shared library: [{interface}]")));
    let real = fs::canonicalize(installed.lib().join(interface)).unwrap();
    assert!(real.ends_with(format!("librsalab.so.{}", env!("CARGO_PKG_VERSION"))));
    // Installed again, over what is there.
    Installed::into(installed.folder());
    assert_eq!(fs::canonicalize(library).unwrap(), real);
}

/// Every kind of call with each allocation refused, and with all from it on (tests/c/refused.c). `REFUSE_ALL=1` tries
/// every one of them.
#[test]
fn refused_memory_is_an_error() {
    if !has_compiler() || !cfg!(all(target_os = "linux", target_env = "gnu")) {
        eprintln!("SKIPPED: allocations are refused by replacing functions of the GNU C library");
        return;
    }
    let installed = Installed::new();
    let tests = Path::new(HERE).join("../../crates/reserve/tests");
    let (refuse, trials) = (tests.join("refuse.c"), tests.join("trials.c"));
    let include = format!("-I{}", tests.display());
    let options = [
        "-pthread",
        "-rdynamic",
        "-D_GNU_SOURCE",
        &include,
        refuse.to_str().unwrap(),
        trials.to_str().unwrap(),
    ];
    let program = compile(&installed, "tests/c/refused.c", &options);
    let output = installed.command(program).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{output:?}");
}
