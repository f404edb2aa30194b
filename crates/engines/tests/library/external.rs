//! The conformance suite on the engines in other languages, where `make peers` could build them.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rsalab_engines::{
    Exponent, FaultKind, Job, Limits, Location, Mode, Op, Registry, Session, SessionError, StudyKey, Worker,
    conformance::{Scope, assert_worker_conforms, test_seed},
    inputs,
    ledger::{ClockOwner, ThreadOwner},
    verify,
};
use rsalab_measure::BlockPlan;

/// The operations of each of them, but for `java`.
const OPERATIONS: [Op; 9] = [
    Op::Private,
    Op::Public,
    Op::Keygen,
    Op::PrimePair,
    Op::Totient,
    Op::PrivateExponent,
    Op::Sign,
    Op::Verify,
    Op::PrimeSearch,
];

/// The worker of an engine, among the released programs. None, said aloud, if it is not there.
fn worker(engine: &str) -> Option<Location> {
    let test = env::current_exe().expect("a test is a program");
    // target/PROFILE/deps/TEST
    let target = test.ancestors().nth(3).expect("it lies in target");
    let file = format!("rsalab-peer-{engine}{}", env::consts::EXE_SUFFIX);
    let program: PathBuf = target.join("release").join(file);
    if !program.is_file() {
        eprintln!("SKIPPED: the conformance of {engine}, which was not built here: make peers");
        return None;
    }
    Some(Location {
        engine: engine.to_owned(),
        program,
        args: Vec::new(),
    })
}

fn conforms(engine: &str, variant: Option<&str>) {
    let expected: &[Op] = match variant {
        None => &OPERATIONS,
        Some(_) => &[Op::Private],
    };
    does(engine, variant, expected);
}

fn does(engine: &str, variant: Option<&str>, expected: &[Op]) {
    let Some(location) = worker(engine) else {
        return;
    };
    let scope = Scope {
        variant: variant.map(str::to_owned),
        ..Scope::of_the_environment()
    };
    let tried = assert_worker_conforms(&location, &scope);
    for op in expected {
        assert!(tried.contains(op), "{engine} did not do '{op}'");
    }
}

#[test]
fn go_conforms() {
    conforms("go", None);
}

#[test]
fn go_conforms_without_the_check_of_the_result() {
    conforms("go", Some("unchecked"));
}

/// The article's application encrypts and decrypts texts, and makes keys.
#[test]
fn java_conforms() {
    let texts = [Op::TextEncrypt, Op::TextDecrypt];
    does(
        "java",
        None,
        &[&texts[..], &[Op::Private, Op::Public, Op::Keygen]].concat(),
    );
}

/// Whole texts on the engine's own threads and clock; what is no text is refused, and the worker lives on.
#[test]
fn java_measures_texts_and_refuses_damaged_ones() {
    let Some(location) = worker("java") else {
        return;
    };
    let mut java = Worker::spawn(&location, Limits::default()).expect("it greets");
    let texts = [Op::TextEncrypt, Op::TextDecrypt];
    let exponents = [Exponent::F4, Exponent::Random];
    for (op, exponent) in texts
        .into_iter()
        .flat_map(|op| exponents.map(|exponent| (op, exponent)))
    {
        let key = StudyKey::from_seed(&test_seed(), 512, exponent).expect("a key");
        let job = Job {
            op,
            bits: 512,
            threads: 3,
            batch: 1,
            mode: Mode::Throughput,
            variant: None,
            bare: false,
            exponent,
            primes: 2,
            keys: 1,
            message_bits: None,
            message_bytes: 0,
            symbols: 200,
            block_symbols: 63,
        };
        let ledger = java.supports(&job).expect("it answers").expect("it does texts");
        assert_eq!(ledger.threads, ThreadOwner::Engine);
        assert_eq!(ledger.clock, ClockOwner::Engine);
        assert_eq!(ledger.crt, (op == Op::TextDecrypt).then_some(false));
        assert_eq!(ledger.exponent, (op == Op::TextEncrypt).then_some(exponent));
        assert!(
            ledger.setup.contains("threads are started in the time"),
            "{}",
            ledger.setup
        );

        let text = inputs(&job, &key, &test_seed(), 1, 1);
        let mut outputs_of = |inputs: &[u8]| {
            java.prepare(&job, std::slice::from_ref(&key), inputs)?;
            java.outputs()
        };
        let mut refusal_of = |inputs: &[u8]| match outputs_of(inputs) {
            Err(SessionError::Fault(fault)) => (fault.kind, fault.item),
            other => panic!("a damaged text was answered with {other:?}"),
        };
        let short = &text[..text.len() - 1];
        assert_eq!(refusal_of(short), (FaultKind::Length, None));
        assert_eq!(refusal_of(&[]), (FaultKind::Length, None));
        if op == Op::TextDecrypt {
            let mut damaged = text.clone();
            damaged[64..128].copy_from_slice(&key.n);
            assert_eq!(refusal_of(&damaged), (FaultKind::InputOutOfRange, Some(1)));
            // Below the modulus, and the power of no text: it is longer than a block.
            damaged.fill(0);
            damaged[63] = 2;
            assert_eq!(refusal_of(&damaged), (FaultKind::Library, None));
        }
        let outputs = outputs_of(&text).expect("it is a text");
        verify(&job, &key, &text, &outputs).expect("and done right");

        let plan = BlockPlan {
            calls: Some(5),
            max_samples: 3,
            ..BlockPlan::SINGLE_CALL
        };
        let report = java.block(&plan).expect("it is measured");
        assert_eq!(report.block.operations(), 5, "a text is one operation");
        assert!(report.block.samples.len() <= 3);

        let none = Job {
            block_symbols: 64,
            ..job.clone()
        };
        let reason = java.supports(&none).expect("it answers").unwrap_err();
        assert!(reason.0.contains("1 to 63 fit"), "{reason}");
        let concurrent = Job {
            op: Op::Public,
            mode: Mode::Concurrent,
            symbols: 0,
            block_symbols: 0,
            ..job
        };
        let reason = java.supports(&concurrent).expect("it answers").unwrap_err();
        assert!(reason.0.contains("do not time their own calls"), "{reason}");
    }
}

#[test]
fn jca_conforms() {
    // But for pairs of primes: its own search is not to be had by itself.
    does("jca", None, &OPERATIONS[..OPERATIONS.len() - 1]);
}

#[test]
fn jca_conforms_with_the_check_of_the_result() {
    conforms("jca", Some("checked"));
}

/// The one that `docs/src/how-to/bring-your-own-engine.md` shows, found as a user's own is.
#[cfg(unix)]
#[test]
fn the_engine_of_the_page_conforms() {
    if !has_python("3, 8") {
        eprintln!("SKIPPED: the engine of docs/src/how-to/bring-your-own-engine.md, which needs Python 3.8");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/how-to/bring-your-own-engine.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let program = page
        .split("```python\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the page shows an engine");
    assert!(program.lines().count() <= 50);

    let scope = Scope {
        sizes: vec![(768, 16), (1024, 8), (2048, 2)],
        keys: Vec::new(),
        // It has no more, and says so.
        threads: 1,
        ..Scope::quick()
    };
    let tried = users_engine_conforms("python-pow", program, &scope);
    assert_eq!(tried, [Op::Private, Op::Public]);
}

/// A class of the package `rsalab` for Python, of which the modules that speak the protocol need no other.
#[cfg(unix)]
#[test]
fn an_engine_that_is_a_class_conforms() {
    if !has_python("3, 11") {
        eprintln!("SKIPPED: an engine that is a class of the Python package, which needs Python 3.11");
        return;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/python");
    let modules = tempfile::tempdir().expect("a folder for the test");
    let package = modules.path().join("rsalab");
    fs::create_dir(&package).expect("the folder can be written to");
    fs::write(package.join("__init__.py"), "").expect("the folder can be written to");
    for name in ["engine.py", "_worker.py"] {
        fs::copy(sources.join("python/rsalab").join(name), package.join(name)).expect("the package has it");
    }
    let everything = sources.join("tests/everything.py");
    fs::copy(everything, modules.path().join("everything.py")).expect("the tests have it");
    let lines = [
        "#!/usr/bin/env python3".to_owned(),
        format!("import sys; sys.path[:0] = [{:?}]", modules.path()),
        "from everything import Everything".to_owned(),
        "from rsalab.engine import main".to_owned(),
        "main(Everything)".to_owned(),
    ];
    let scope = Scope {
        sizes: vec![(512, 8), (768, 4)],
        keys: vec![(512, 3), (768, 2)],
        threads: 1,
        ..Scope::quick()
    };
    let tried = users_engine_conforms("every_thing", &lines.join("\n"), &scope);
    // Imports are tried where they are offered.
    assert_eq!(tried[..], Op::ALL[..11]);
}

/// Runs the suite on a program that is found as a user's own engine is. Returns what it does.
#[cfg(unix)]
fn users_engine_conforms(name: &str, program: &str, scope: &Scope) -> Vec<Op> {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().expect("a folder for the test");
    let file = home.path().join(format!("rsalab-peer-{name}"));
    fs::write(&file, program).expect("the folder can be written to");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let registry = Registry::new(home.path().join("rsalab"), &[home.path().join("prefix")]);
    let engine = registry.select(name).expect("it is there").engine;
    let location = registry.locate(&engine).expect("it is there");
    assert_worker_conforms(&location, scope).into_iter().collect()
}

#[cfg(unix)]
fn has_python(version: &str) -> bool {
    let script = format!("import sys; sys.exit(sys.version_info < ({version}))");
    let python = Command::new("python3")
        .args(["-c", &script])
        .stderr(Stdio::null())
        .status();
    python.is_ok_and(|status| status.success())
}
