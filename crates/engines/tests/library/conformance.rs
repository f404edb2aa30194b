//! The suite on the engines of this crate.
//!
//! `RSALAB_CONFORMANCE=full` runs every size with 1,000 random inputs, which takes minutes.

use std::{env, sync::Arc};

use rsalab_engines::{
    Engine, Exponent, Job, Limits, Mode, Op, Own, StudyKey, Textbook, Worker,
    conformance::{self, Case, Outcome, Scope},
    inputs,
    ledger::ThreadOwner,
    verify,
};
use rsalab_rsa::{KernelInfo, kernels, random::InsecureStudySeed};

fn seed() -> InsecureStudySeed {
    InsecureStudySeed::new(*b"the seed of the conformance keys")
}

/// Runs the suite; the operations that were tried.
fn passes(engine: impl Engine + 'static, scope: &Scope) -> Vec<Op> {
    let name = engine.info().name;
    let mut worker = Worker::in_process(Arc::new(engine), Limits::default()).unwrap();
    let mut tried = Vec::new();
    conformance::run(
        &mut worker,
        scope,
        &seed(),
        &mut |Case {
                  op,
                  bits,
                  name: case,
                  outcome,
              }| {
            match outcome {
                Outcome::Passed { answers } => {
                    assert!(
                        answers > 0 || case.contains(" 0 symbols"),
                        "{op} {bits} {case}: nothing was tried"
                    );
                    tried.push(op);
                }
                Outcome::Skipped { reason } => eprintln!("{name} {op} {bits}: skipped: {reason}"),
                Outcome::Failed { what } => panic!("{name}, {op} at {bits} bits, {case}: {what}"),
            }
        },
    )
    .unwrap();
    tried.sort();
    tried.dedup();
    tried
}

/// Every operation of `own` on a kernel, if this machine can run it.
fn own_conforms_on(kernel: &KernelInfo, scope: &Scope) {
    if let Err(reason) = &kernel.available {
        eprintln!("SKIPPED: the kernel {}: {reason}", kernel.name);
        return;
    }
    let own = Own::with_kernel(kernel.name).unwrap();
    let mut all = Op::ALL.to_vec();
    // Those of a TLS library.
    all.retain(|op| !op.is_handshake());
    all.sort();
    assert_eq!(passes(own, scope), all, "{}", kernel.name);
}

/// The kernels, but for forms on arrays where their kernels run: those wait for the long tests, which set
/// `RSALAB_ALL_KERNELS`.
fn kernels_here() -> impl Iterator<Item = KernelInfo> {
    let all = env::var_os("RSALAB_ALL_KERNELS").is_some();
    kernels().into_iter().filter(move |kernel| {
        let is_wanted = all || !kernel.runs_in_vectors_too();
        if !is_wanted {
            eprintln!(
                "SKIPPED: {} above the kernels, since its kernel runs here: RSALAB_ALL_KERNELS",
                kernel.name
            );
        }
        is_wanted
    })
}

/// Every operation on every kernel, and on the first every size.
#[test]
fn own_conforms_on_every_kernel() {
    for (place, kernel) in kernels_here().enumerate() {
        let mut scope = Scope::of_the_environment();
        if kernel.is_for_tests() {
            // Vectors on arrays. With doubles, each product is a function of the C library: a key of 1024 bits takes a
            // minute.
            scope.sizes.truncate(1);
            scope.keys = vec![(512, 1)];
        } else if place > 0 && !Scope::is_full_asked_for() {
            // Larger sizes and many inputs take most of the time; the test below has them.
            scope.sizes = vec![(768, 16), (1024, 8)];
        }
        own_conforms_on(&kernel, &scope);
    }
}

#[test]
#[ignore = "long: every size on every kernel, those on arrays too"]
fn own_conforms_on_every_kernel_at_every_size() {
    for kernel in kernels() {
        let takes_minutes = kernel.is_for_tests() && kernel.name.starts_with("mont47");
        if !takes_minutes {
            own_conforms_on(&kernel, &Scope::of_the_environment());
        }
    }
}

#[test]
fn own_conforms_without_blinding_and_check() {
    let scope = Scope {
        sizes: Scope::of_the_environment().sizes[..3].to_vec(),
        keys: Vec::new(),
        bare: true,
        ..Scope::of_the_environment()
    };
    assert!(passes(Own::auto(), &scope).contains(&Op::Private));
}

#[test]
fn own_conforms_without_the_crt() {
    let sizes = Scope::of_the_environment().sizes;
    // Every kernel agrees with the others in `arith`'s tests: here the smallest size is enough for those that are slow.
    let size = |kernel: &KernelInfo| if kernel.is_for_tests() { 1 } else { 2 };
    let every = kernels_here().map(|kernel| (kernel.name, size(&kernel), false));
    let bare = (kernels()[0].name, 2, true);
    for (kernel, count, bare) in every.chain([bare]) {
        let Ok(own) = Own::with_kernel(kernel) else {
            eprintln!("SKIPPED: the kernel {kernel}, which this machine cannot run");
            continue;
        };
        let scope = Scope {
            sizes: sizes[..count].to_vec(),
            keys: Vec::new(),
            variant: Some("plain".to_owned()),
            bare,
            ..Scope::of_the_environment()
        };
        let tried = passes(own, &scope);
        assert!(tried.contains(&Op::Private) && tried.contains(&Op::Public));
        assert!(!tried.contains(&Op::Sign));
    }
}

#[test]
fn textbook_conforms() {
    let mut scope = Scope::of_the_environment();
    if !Scope::is_full_asked_for() {
        // One private operation takes a good part of a second there.
        scope.sizes.retain(|(bits, _)| *bits <= 3072);
        eprintln!("SKIPPED: textbook above 3072 bits; RSALAB_CONFORMANCE=full runs it");
    }
    let tried = passes(Textbook, &scope);
    assert_eq!(tried, [Op::Private, Op::Public, Op::TextEncrypt, Op::TextDecrypt]);
}

#[test]
fn every_form_of_the_textbook_conforms() {
    for form in Textbook.info().variants {
        let scope = Scope {
            sizes: Scope::of_the_environment().sizes[..3].to_vec(),
            keys: Vec::new(),
            // The form `halves` has two of its own.
            threads: 1,
            variant: Some(form.clone()),
            ..Scope::of_the_environment()
        };
        let tried = passes(Textbook, &scope);
        if form == "halves" && !tried.contains(&Op::Private) {
            let cpus = std::thread::available_parallelism().unwrap().get();
            assert_eq!(cpus, 1, "there are CPUs for both halves");
            eprintln!("SKIPPED: the form halves, which takes two CPUs");
            continue;
        }
        assert_eq!(tried.contains(&Op::Public), form == "plain", "{form}");
        assert!(tried.contains(&Op::Private), "{form}");
    }
}

#[test]
fn the_textbooks_ledger_tells_its_forms_apart() {
    let job = |op, threads, variant: Option<&str>| Job {
        op,
        bits: 1024,
        threads,
        batch: 1,
        mode: Mode::Throughput,
        variant: variant.map(str::to_owned),
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: 0,
        symbols: 0,
        block_symbols: 0,
    };
    let told = |form| {
        Textbook
            .supports(&job(Op::Private, 1, form))
            .map(|ledger| (ledger.crt, ledger.threads))
    };
    assert_eq!(told(None), Ok((Some(false), ThreadOwner::Harness)));
    assert_eq!(told(Some("plain")), told(None));
    assert_eq!(told(Some("crt")), Ok((Some(true), ThreadOwner::Harness)));
    match told(Some("halves")) {
        Ok(told) => assert_eq!(told, (Some(true), ThreadOwner::Engine)),
        Err(reason) => assert!(reason.0.contains("two CPUs"), "{reason}"),
    }
    for (job, words) in [
        (job(Op::Private, 2, Some("halves")), "two threads"),
        (job(Op::Public, 1, Some("crt")), "it has plain"),
        (job(Op::Private, 1, Some("crt2")), "plain, crt, halves"),
    ] {
        let reason = Textbook.supports(&job).unwrap_err();
        assert!(reason.0.contains(words), "{reason}");
    }
}

/// Exponents as long as the modulus, as article (d) draws them, both ways on every form.
#[test]
fn random_exponents_work_both_ways() {
    let key = StudyKey::from_seed(&seed(), 768, Exponent::Random).unwrap();
    assert!(key.e.len() > 90, "{} bytes", key.e.len());
    let engines: [&dyn Engine; 2] = [&Own::auto(), &Textbook];
    for engine in engines {
        for variant in engine.info().variants {
            for op in [Op::Public, Op::Private] {
                let job = Job {
                    op,
                    bits: 768,
                    threads: 1,
                    batch: 9,
                    mode: Mode::Throughput,
                    variant: Some(variant.clone()),
                    bare: false,
                    exponent: Exponent::Random,
                    primes: 2,
                    keys: 1,
                    message_bits: Some(760),
                    message_bytes: 0,
                    symbols: 0,
                    block_symbols: 0,
                };
                let ledger = match engine.supports(&job) {
                    Ok(ledger) => ledger,
                    Err(reason) => {
                        // Forms of the private operation only, and of the search for primes.
                        let is_other = op == Op::Public && variant != "plain";
                        let lacks_cpus = variant == "halves" && reason.0.contains("two CPUs");
                        if lacks_cpus {
                            eprintln!("SKIPPED: {}: {reason}", engine.info().name);
                        }
                        assert!(
                            is_other || lacks_cpus || ["strict", "tested"].contains(&&*variant),
                            "{reason}"
                        );
                        continue;
                    }
                };
                let told = (op == Op::Public).then_some(Exponent::Random);
                assert_eq!(ledger.exponent, told);
                let given = inputs(&job, &key, &seed(), 1, 9);
                let mut outputs = vec![0xA5; given.len()];
                let keys = std::slice::from_ref(&key);
                let prepared = engine.prepare(&job, keys).unwrap();
                prepared.runner().unwrap().run(&given, &mut outputs).unwrap();
                assert_eq!(verify(&job, &key, &given, &outputs), Ok(()), "{variant}");
            }
        }
    }
}

#[test]
fn wrong_lengths_are_refused_by_the_runners_themselves() {
    let key = StudyKey::from_seed(&seed(), 768, Exponent::F4).unwrap();
    let engines: [&dyn Engine; 2] = [&Own::auto(), &Textbook];
    for engine in engines {
        assert_eq!(
            conformance::check_lengths(engine, &key),
            Ok(()),
            "{}",
            engine.info().name
        );
    }
}

#[test]
fn an_unknown_kernel_is_refused_with_those_there_are() {
    let reason = Own::with_kernel("mont52x9-lucky").err().unwrap();
    assert!(
        reason.0.contains("mont52x9-lucky") && reason.0.contains("portable"),
        "{reason}"
    );
    let job = Job {
        op: Op::Private,
        bits: 1024,
        threads: 1,
        batch: 1,
        mode: Mode::Latency,
        variant: Some("mont52x9-lucky".to_owned()),
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: 0,
        symbols: 0,
        block_symbols: 0,
    };
    assert!(Own::auto().supports(&job).is_err());
    assert!(Textbook.supports(&job).is_err());
}
