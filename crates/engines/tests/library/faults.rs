//! Workers that die, hang, lie or babble: each is told from the others, and none keeps the coordinator.
#![cfg(unix)]

use std::{
    env,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
    slice, thread,
    time::{Duration, Instant},
};

use rsalab_engines::{Fault, FaultKind, Job, Limits, Location, Mode, Op, Session, SessionError, Worker, verify};
use rsalab_measure::{BlockPlan, Interruption};

use crate::support::{self, key};

const SOON: Limits = Limits {
    reply: Duration::from_secs(1),
    work: Duration::from_secs(2),
};

/// The longest time of a test here: many times what it needs, and far less than for ever.
const PATIENCE: Duration = Duration::from_secs(30);

fn faulty_worker() -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap().join("examples");
    let worker = folder.join(format!("faulty_worker{}", env::consts::EXE_SUFFIX));
    assert!(
        worker.is_file(),
        "{} is missing: run all tests of the package, or build it with --examples",
        worker.display()
    );
    worker
}

fn start(manner: &str, limits: Limits) -> Result<Worker, SessionError> {
    let location = Location {
        engine: "faulty".to_owned(),
        program: faulty_worker(),
        args: vec![manner.into()],
    };
    Worker::spawn(&location, limits)
}

/// Starts a worker and measures two inputs with it, in two blocks.
fn measure(manner: &str, limits: Limits) -> Result<Vec<u8>, SessionError> {
    let began = Instant::now();
    let result = start(manner, limits).and_then(|mut worker| {
        let done: Result<_, SessionError> = (|| {
            worker.prepare(&job(), &[key()], &inputs())?;
            let outputs = worker.outputs()?;
            // In the first block an engine may still make itself ready.
            for _ in 0..2 {
                worker.block(&BlockPlan {
                    discard_ns: 0,
                    min_ns: 150_000_000,
                    calls: None,
                    max_samples: 100,
                })?;
            }
            Ok(outputs)
        })();
        // A fault is of one request; anything else ends the worker, which says so from then on.
        match &done {
            Err(error) if error.is_fatal() => {
                assert_eq!(worker.release(), Err(error.clone()));
                assert_eq!(worker.supports(&job()), Err(error.clone()));
            }
            _ => assert_eq!(worker.release(), Ok(())),
        }
        done
    });
    assert!(began.elapsed() < PATIENCE, "it took {:?}", began.elapsed());
    result
}

fn job() -> Job {
    Job {
        mode: Mode::Throughput,
        ..support::job(Op::Private)
    }
}

fn inputs() -> Vec<u8> {
    let mut inputs = vec![0; 128];
    (inputs[63], inputs[127]) = (2, 3);
    inputs
}

#[test]
fn a_worker_without_fault_passes() {
    let outputs = measure("", Limits::default()).unwrap();
    assert_eq!(verify(&job(), &key(), &inputs(), &outputs), Ok(()));
}

#[test]
fn a_missing_program_is_named() {
    let location = Location {
        engine: "gmp".to_owned(),
        program: "/nowhere/rsalab-peer-gmp".into(),
        args: Vec::new(),
    };
    match Worker::spawn(&location, SOON).err() {
        Some(SessionError::Start { program, .. }) => {
            assert_eq!(program, "/nowhere/rsalab-peer-gmp")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hung_worker_is_stopped_after_its_time() {
    for (manner, request, after) in [
        ("says nothing", "hello", SOON.reply),
        ("stops reading", "prepare", SOON.work),
        ("hangs", "outputs", SOON.work),
    ] {
        // More than a pipe holds: a worker that does not read must not hold up the one who writes either. One that
        // reads is given no more than it makes ready at once, on a busy machine too.
        let inputs = match manner {
            "stops reading" => inputs().repeat(10_000),
            _ => inputs(),
        };
        let began = Instant::now();
        let error = start(manner, SOON)
            .and_then(|mut worker| {
                worker.prepare(&job(), &[key()], &inputs)?;
                worker.outputs()
            })
            .unwrap_err();
        assert!(began.elapsed() < PATIENCE, "{manner}: {:?}", began.elapsed());
        let expected = SessionError::Hung {
            engine: "faulty".to_owned(),
            request,
            after,
        };
        assert_eq!(error, expected, "{manner}");
    }
    let hung = start("says nothing", SOON).err().unwrap().to_string();
    assert!(hung.contains("'hello' within 1s"), "{hung}");
}

#[test]
fn a_dead_worker_leaves_its_status_and_last_words() {
    for (manner, request, status, words) in [
        ("ends at once", "hello", "exit status: 3", "no library here"),
        ("prints half a line", "hello", "exit status: 0", ""),
        (
            "panics",
            "outputs",
            "exit status: 101",
            "an assertion of the library failed",
        ),
        ("exits", "outputs", "exit status: 42", ""),
        ("aborts", "outputs", "signal: 6", ""),
    ] {
        match measure(manner, Limits::default()) {
            Err(SessionError::Died {
                request: at,
                status: how,
                stderr,
                ..
            }) => {
                assert_eq!(at, request, "{manner}");
                assert!(how.contains(status), "{manner}: {how}");
                assert!(stderr.contains(words), "{manner}: {stderr}");
                assert_eq!(words.is_empty(), stderr.is_empty(), "{manner}: {stderr}");
            }
            other => panic!("{manner}: {other:?}"),
        }
    }
}

#[test]
fn a_worker_killed_in_the_middle_is_dead_by_that_signal() {
    let mut worker = start("hangs", Limits::default()).unwrap();
    let pid = worker.pid().unwrap().to_string();
    worker.prepare(&job(), &[key()], &inputs()).unwrap();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        Command::new("kill").args(["-KILL", &pid]).status().unwrap()
    });
    match worker.outputs() {
        Err(SessionError::Died { status, .. }) => assert!(status.contains("signal: 9"), "{status}"),
        other => panic!("{other:?}"),
    }
    assert!(killer.join().unwrap().success());
}

#[test]
fn a_worker_that_closes_its_output_and_lives_on_is_ended() {
    let location = Location {
        engine: "faulty".to_owned(),
        program: "sh".into(),
        args: vec!["-c".into(), "echo going >&2; exec sleep 3600 >&-".into()],
    };
    match Worker::spawn(&location, Limits::default()).err() {
        Some(SessionError::Died { status, stderr, .. }) => {
            assert!(status.contains("closed its output"), "{status}");
            assert_eq!(stderr, "going");
        }
        other => panic!("{other:?}"),
    }
}

/// A script may have started the program that works: it would take its CPUs from whatever is measured next.
#[cfg(target_os = "linux")]
#[test]
fn what_a_worker_has_started_ends_with_it() {
    use std::fs;
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let script = r#"sleep 3600 & echo $! >"$0"; read -r line; echo no answer; wait"#;
    let location = Location {
        engine: "faulty".to_owned(),
        program: "sh".into(),
        args: vec!["-c".into(), script.into(), note.clone().into()],
    };
    let error = Worker::spawn(&location, Limits::default()).err();
    assert!(
        matches!(&error, Some(SessionError::Protocol { request: "hello", .. })),
        "{error:?}"
    );
    let started = fs::read_to_string(&note).unwrap();
    let pid = started.trim();
    // One that has ended may wait for whoever adopted it.
    let lives = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    let began = Instant::now();
    while lives() {
        if began.elapsed() > PATIENCE {
            Command::new("kill").args(["-KILL", pid]).status().unwrap();
            panic!("{pid} lives on");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_not_the_protocol_is_told_from_what_is() {
    for (manner, request, part) in [
        ("prints garbage", "hello", "Segmentation fault"),
        ("is of another version", "hello", "version 99"),
        ("is another engine", "hello", "it is the engine 'textbook'"),
        ("answers another question", "hello", "the answer was 'released'"),
        ("prints without end", "hello", "longer than 1048576 bytes"),
        ("chatters", "prepare", "loading the library"),
    ] {
        match measure(manner, Limits::default()) {
            Err(SessionError::Protocol { request: at, what, .. }) => {
                assert_eq!(at, request, "{manner}");
                assert!(what.contains(part), "{manner}: {what}");
            }
            other => panic!("{manner}: {other:?}"),
        }
    }
}

#[test]
fn outputs_that_are_no_answer_are_not_repeated() {
    match measure("shows a key in words", Limits::default()) {
        Err(SessionError::Protocol {
            request: "outputs",
            what,
            ..
        }) => assert!(what.contains("no answer") && !what.contains("prime"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_that_changes_is_a_mismatch() {
    for manner in ["becomes wrong", "stops writing"] {
        match measure(manner, Limits::default()) {
            Err(SessionError::Fault(Fault {
                kind: FaultKind::Mismatch,
                item: Some(item),
                ..
            })) => assert!(item < 2, "{manner}: {item}"),
            other => panic!("{manner}: {other:?}"),
        }
    }
}

#[test]
fn an_answer_that_is_always_wrong_is_found_by_who_verifies() {
    let outputs = measure("is wrong", Limits::default()).unwrap();
    let wrong = verify(&job(), &key(), &inputs(), &outputs).unwrap_err();
    assert_eq!(wrong.item, 0);
}

#[test]
fn a_failure_of_the_library_is_one_of_the_request_only() {
    let error = measure("fails", Limits::default()).unwrap_err();
    let message = "mod_exp failed: out of memory".to_owned();
    assert_eq!(error, SessionError::Fault(Fault::new(FaultKind::Library, message)));
}

#[test]
fn a_slow_worker_is_waited_for() {
    measure("is slow", Limits::default()).unwrap();
}

#[test]
fn calls_that_are_counted_may_take_their_time() {
    let limits = Limits {
        work: Duration::from_secs(1),
        ..Limits::default()
    };
    let mut worker = start("works hard", limits).unwrap();
    let job = Job {
        mode: Mode::Latency,
        ..job()
    };
    worker.prepare(&job, &[key()], &inputs()).unwrap();
    worker.outputs().unwrap();
    let plan = BlockPlan {
        calls: Some(22),
        max_samples: 100,
        ..BlockPlan::SINGLE_CALL
    };
    let report = worker.block(&plan).unwrap();
    assert!(report.block.elapsed_ns > 1_000_000_000, "{}", report.block.elapsed_ns);
}

/// The runs by which a worker makes ready are not the block's.
#[test]
fn a_block_has_its_own_cpu_time_only() {
    let mut worker = start("works hard", Limits::default()).unwrap();
    worker.prepare(&job(), &[key()], &inputs()).unwrap();
    worker.outputs().unwrap();
    let report = worker.block(&BlockPlan::SINGLE_CALL).unwrap();
    let Some(cpu) = report.cpu else {
        eprintln!("SKIPPED: this system does not tell CPU times in /proc");
        return;
    };
    // Of one thread, in parts of 10 ms.
    let cpu_ns = cpu.user_ns + cpu.system_ns;
    let elapsed_ns = report.block.elapsed_ns;
    assert!(cpu_ns < 2 * elapsed_ns, "{cpu_ns} ns of CPUs in {elapsed_ns} ns");
}

#[test]
fn a_worker_ends_when_its_coordinator_does() {
    for manner in ["", "hangs"] {
        let mut worker = Command::new(faulty_worker())
            .arg(manner)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let prepare = serde_json::to_string(&rsalab_engines::protocol::Request::Prepare {
            job: job(),
            keys: slice::from_ref(&key()).to_vec(),
            inputs: inputs(),
        })
        .unwrap();
        let mut stdin = worker.stdin.take().unwrap();
        writeln!(stdin, "{prepare}\n{{\"request\":\"outputs\"}}").unwrap();
        drop(stdin);
        let began = Instant::now();
        while worker.try_wait().unwrap().is_none() {
            if began.elapsed() > PATIENCE {
                worker.kill().unwrap();
                panic!("'{manner}' lives on");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_report_that_cannot_be_true_is_refused() {
    for (manner, part) in [
        ("says a tenth of the time", "asked for at least"),
        ("says ten times the time", "here"),
        ("says ten times the samples' time", "in a block of"),
        ("counts nothing", "without operations"),
        ("counts below zero", "-5"),
        ("counts too much", "no machine does"),
        ("counts in words", "many"),
        ("counts to the infinite", "1e+300"),
        ("shows no samples", "without samples"),
        ("tells a long story", "a line is longer than"),
    ] {
        match measure(manner, Limits::default()) {
            Err(SessionError::Protocol {
                request: "block", what, ..
            }) => assert!(what.contains(part), "{manner}: {what}"),
            other => panic!("{manner}: {other:?}"),
        }
    }
}

/// The machine may have been busy: nobody is blamed, and nothing of it is used.
#[test]
fn time_that_a_worker_does_not_explain_is_an_interruption() {
    for (manner, part) in [
        ("says a tenth of the samples' time", "most is left over"),
        ("dawdles", "the rest is unexplained"),
    ] {
        let mut worker = start(manner, Limits::default()).unwrap();
        worker.supports(&job()).unwrap().unwrap();
        worker.prepare(&job(), &[key()], &inputs()).unwrap();
        worker.outputs().unwrap();
        let plan = BlockPlan {
            discard_ns: 0,
            min_ns: 100_000_000,
            calls: None,
            max_samples: 100,
        };
        let in_a_row = (0..200).map(|_| {
            worker.block(&plan).expect("nothing that cannot be");
            worker.interruption()
        });
        let doubts: Vec<Interruption> = in_a_row.flatten().take(4).collect();
        let said = doubts.last().expect("it is found").to_string();
        assert!(doubts.len() == 4 && said.contains(part), "{manner}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_was_stopped_for_a_while_is_seen_and_goes_on() {
    let mut worker = start("", Limits::default()).unwrap();
    worker.supports(&job()).unwrap().unwrap();
    worker.prepare(&job(), &[key()], &inputs()).unwrap();
    worker.outputs().unwrap();
    let block = |worker: &mut Worker, min_ms: u64| {
        let plan = BlockPlan {
            discard_ns: 0,
            min_ns: min_ms * 1_000_000,
            calls: None,
            max_samples: 100,
        };
        let report = worker.block(&plan).expect("a pause is no fault");
        (report.block.elapsed_ns, worker.interruption())
    };
    assert_eq!(block(&mut worker, 150).1, None);
    let pid = worker.pid().unwrap().to_string();
    let pauser = thread::spawn(move || {
        for (signal, then) in [("-STOP", 1500), ("-CONT", 0)] {
            Command::new("kill").args([signal, &pid]).status().unwrap();
            thread::sleep(Duration::from_millis(then));
        }
    });
    let (elapsed_ns, seen) = block(&mut worker, 1000);
    pauser.join().unwrap();
    assert_eq!(seen, Some(Interruption::Stopped), "in {elapsed_ns} ns");
    // The engine reads a clock of its own, and its account of the time is still believed.
    for _ in 0..3 {
        assert_eq!(block(&mut worker, 150).1, None);
    }
    worker.release().unwrap();
}

#[test]
fn a_foreign_program_is_taken_to_read_its_own_clock() {
    use rsalab_engines::ledger::{ClockOwner, ThreadOwner};
    let mut worker = start("", Limits::default()).unwrap();
    let ledger = worker.supports(&job()).unwrap().unwrap();
    assert_eq!(
        (ledger.clock, ledger.threads),
        (ClockOwner::Engine, ThreadOwner::Engine)
    );
}
