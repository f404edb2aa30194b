//! Entries of a machine that is made up, and what becomes of those that are changed.

use rsalab_engines::{BlockReport, EngineInfo, Job, Ledger, Mode, Op, Readiness};
use rsalab_measure::{Block, Fact, Machine, Sample};

use super::{
    entry::{Cell, Entry, EntryError, Group, Program, Session, Stated, Taken, cpu},
    refusal::{Check, Refusal},
    verify::{KnownProgram, verify},
};

const CHECKSUM: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn programs() -> Vec<KnownProgram> {
    vec![KnownProgram {
        version: "0.1.0".to_owned(),
        target: "x86_64-unknown-linux-gnu".to_owned(),
        sha256: CHECKSUM.to_owned(),
    }]
}

fn machine() -> Machine {
    let known = |text: &str| Fact::Known(text.to_owned());
    let mut machine = Machine::describe();
    machine.cpu_model = known("AMD EPYC 9R14");
    machine.cpu_revision = known("family 25, model 17, stepping 1");
    machine.features = ["bmi2", "adx", "avx2", "avx512f", "avx512ifma"]
        .map(str::to_owned)
        .to_vec();
    machine.hypervisor = None;
    machine.os = known("Debian 12");
    machine.kernel = known("6.1");
    machine.memory_bytes = Fact::Known(1 << 34);
    machine
}

/// Cells of speeds of one thread, measured interleaved, ten blocks each.
fn group(op: Op, bits: usize, speeds: &[(&str, f64)], machine: &Machine) -> Group {
    let job = Job {
        mode: Mode::Throughput,
        ..Job::new(op, bits)
    };
    let hz = machine.tsc.known().map(|rate| rate.hz);
    let engines = speeds.len() as u64;
    let cell = |(place, (engine, speed)): (usize, &(&str, f64))| {
        let block = |round: u64| {
            let order = round * engines + place as u64;
            // A per cent of noise, another for each block.
            let noise = 1.0 + 0.01 * ((order * 7919 % 13) as f64 / 13.0);
            let sample = |part: u64| {
                let elapsed_ns = (1e6 * noise) as u64 + part;
                Sample {
                    elapsed_ns,
                    tsc_ticks: hz.map(|hz| (elapsed_ns as f64 * hz * 1e-9) as u64),
                    operations: (speed * 1e-3).round().max(1.0) as u64,
                }
            };
            let samples: Vec<Sample> = (0..100).map(sample).collect();
            let measured: u64 = samples.iter().map(|sample| sample.elapsed_ns).sum();
            Taken {
                session: 1,
                order,
                round: round as usize,
                report: BlockReport {
                    block: Block {
                        samples,
                        discarded_operations: 10,
                        discarded_ns: None,
                        started_ns: order * 200_000_000,
                        elapsed_ns: measured + 10_000_000,
                    },
                    tests: Vec::new(),
                    outputs: Vec::new(),
                    trace: Vec::new(),
                    cpu: None,
                },
                losses: None,
            }
        };
        let mut cell = Cell {
            engine: (*engine).to_owned(),
            info: EngineInfo {
                name: (*engine).to_owned(),
                version: "1".to_owned(),
                origin: "a test".to_owned(),
                cpu_path: None,
                variants: Vec::new(),
                optimised: true,
            },
            ledger: Ledger {
                crt: Some(true),
                ..Ledger::native("key")
            },
            readiness: Readiness {
                kernel: if *engine == "own" { "mont52x8_avx512ifma" } else { "bn" }.to_owned(),
                cpus: vec![0],
                oversubscribed: false,
                first_call: None,
            },
            stated: Stated {
                ops_per_s: 0.0,
                ops_per_s_low: 0.0,
                ops_per_s_high: 0.0,
                ns_per_op: 0.0,
            },
            blocks: (0..10).map(block).collect(),
        };
        cell.stated = cell.computed(&job, 0.95).expect("it has samples");
        cell
    };
    Group {
        cells: speeds.iter().enumerate().map(cell).collect(),
        job,
        confidence: 0.95,
    }
}

fn entry() -> Entry {
    let machine = machine();
    let groups = vec![
        group(
            Op::Private,
            2048,
            &[("own", 8000.0), ("openssl", 4000.0), ("gmp", 2000.0)],
            &machine,
        ),
        group(
            Op::Private,
            4096,
            &[("own", 1200.0), ("openssl", 600.0), ("gmp", 300.0)],
            &machine,
        ),
        group(
            Op::Public,
            2048,
            &[("own", 200_000.0), ("openssl", 150_000.0), ("gmp", 90_000.0)],
            &machine,
        ),
    ];
    Entry {
        cpu: cpu(&machine),
        title: "A study".to_owned(),
        plan_toml: String::new(),
        insecure_seed: "00".repeat(32),
        created_unix_ms: 1_760_000_000_000,
        program: Program {
            version: "0.1.0".to_owned(),
            sha256: CHECKSUM.to_owned(),
        },
        sessions: vec![Session {
            number: 1,
            program_version: "0.1.0".to_owned(),
            machine,
            warnings: Vec::new(),
            started_unix_ms: 1_760_000_000_000,
            ended_unix_ms: Some(1_760_000_100_000),
        }],
        groups,
    }
}

fn written(entry: &Entry) -> Vec<u8> {
    let mut file = Vec::new();
    entry.write(&mut file).unwrap();
    file
}

#[test]
fn a_true_entry_passes_as_it_is_and_as_it_is_read_again() {
    assert_eq!(verify(&entry(), &programs()), []);
    let read = Entry::read(&written(&entry())[..]).unwrap();
    assert_eq!(verify(&read, &programs()), []);
    assert_eq!(read.cpu, "AMD EPYC 9R14, Zen 4, Genoa (family 25 model 17)");
    let page = super::markdown(&[("a.json.gz".to_owned(), read)]);
    for words in [
        "## AMD EPYC 9R14, Zen 4",
        "[a.json.gz](a.json.gz)",
        "| `own` |",
        "2048 bits",
    ] {
        assert!(page.contains(words), "no '{words}' in:\n{page}");
    }
    assert!(super::markdown(&[]).contains("There is no entry yet."));
    assert!(!page.contains("(80 %)"));
    let mut wide = entry();
    wide.groups[0].confidence = 0.8;
    let page = super::markdown(&[("a.json.gz".to_owned(), wide)]);
    assert_eq!(page.matches(" (80 %) |").count(), 3, "{page}");
}

/// A change without a new checksum is found by the old one, whatever was changed.
#[test]
fn a_changed_file_has_another_checksum() {
    use flate2::{Compression, read::GzDecoder, write::GzEncoder};
    use std::io::{Read, Write};

    let mut text = String::new();
    GzDecoder::new(&written(&entry())[..])
        .read_to_string(&mut text)
        .unwrap();
    let compressed = |text: &str| {
        let mut file = GzEncoder::new(Vec::new(), Compression::fast());
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap()
    };
    for (from, to) in [
        ("AMD EPYC 9R14", "AMD EPYC 9575F"),
        ("\"ops_per_s\":7", "\"ops_per_s\":9"),
        ("}\n", "} \n"),
    ] {
        assert!(text.contains(from), "{from}");
        let (header, body) = text.split_once('\n').unwrap();
        let changed = format!("{header}\n{}", body.replacen(from, to, 1));
        let refused = Entry::read(&compressed(&changed)[..]).unwrap_err();
        assert!(matches!(refused, EntryError::Checksum { .. }), "{from}: {refused}");
    }
    let cut = &written(&entry())[..1000];
    for other in [
        &b"{}"[..],
        b"",
        cut,
        &compressed("{}"),
        &compressed("{}\n{}\n"),
        &compressed("\"a secret\"\n{}\n"),
        &compressed(&text.replace("-1\"", "-9\"")),
    ] {
        let refused = Entry::read(other).unwrap_err();
        assert!(matches!(refused, EntryError::Format(_)), "{refused}");
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}

/// The refusals of an entry that somebody changed, with the checksum of what it is now.
fn of(change: impl FnOnce(&mut Entry)) -> Vec<Refusal> {
    let mut changed = entry();
    change(&mut changed);
    verify(&Entry::read(&written(&changed)[..]).unwrap(), &programs())
}

#[track_caller]
fn assert_refused(check: Check, words: &str, change: impl FnOnce(&mut Entry)) {
    let refusals = of(change);
    let found = refusals
        .iter()
        .any(|refusal| refusal.check == check && refusal.sentence.contains(words));
    assert!(found, "no {check:?} with '{words}' in {refusals:?}");
}

/// Every sample of a cell in a part of the time, its figures computed again.
fn speed_up(entry: &mut Entry, group: usize, cell: usize, times: f64) {
    let job = entry.groups[group].job.clone();
    let cell = &mut entry.groups[group].cells[cell];
    for taken in &mut cell.blocks {
        for sample in &mut taken.report.block.samples {
            sample.operations = (sample.operations as f64 * times) as u64;
        }
    }
    cell.stated = cell.computed(&job, 0.95).unwrap();
}

#[test]
fn a_figure_that_does_not_follow_from_its_samples_is_refused() {
    assert_refused(Check::Figures, "operations a second are stated, and", |entry| {
        entry.groups[0].cells[0].stated.ops_per_s *= 1.01;
    });
    assert_refused(Check::Figures, "follow from the samples", |entry| {
        entry.groups[0].cells[1].stated.ops_per_s_low *= 0.99;
    });
    assert_refused(Check::Figures, "own, Private operation", |entry| {
        entry.groups[0].cells[0].blocks[3].report.block.samples[5].operations += 1;
    });
}

#[test]
fn a_cpu_that_is_another_one_is_refused() {
    assert_refused(Check::Cpu, "the entry is titled 'Intel Xeon'", |entry| {
        entry.cpu = "Intel Xeon".to_owned();
    });
    let rename = |name: &'static str| {
        move |entry: &mut Entry| {
            entry.sessions[0].machine.cpu_model = Fact::Known(name.to_owned());
            entry.cpu = cpu(&entry.sessions[0].machine);
        }
    };
    assert_refused(Check::Cpu, "is not of family 25", rename("Intel(R) Xeon(R) 6980P"));
    assert_refused(Check::Cpu, "has avx512ifma", |entry| {
        entry.sessions[0].machine.cpu_revision = Fact::Known("family 25, model 1, stepping 1".to_owned());
        entry.cpu = cpu(&entry.sessions[0].machine);
    });
    assert_refused(Check::Cpu, "every CPU of 'Zen 4", |entry| {
        entry.sessions[0]
            .machine
            .features
            .retain(|feature| feature != "avx512ifma");
    });
    assert_refused(Check::Cpu, "and the CPU has no IFMA", |entry| {
        entry.sessions[0].machine.features.clear();
    });
    assert_refused(Check::Cpu, "ran on different CPUs", |entry| {
        let mut second = entry.sessions[0].clone();
        second.number = 2;
        second.machine.cpu_model = Fact::Known("AMD EPYC 9654".to_owned());
        entry.sessions.push(second);
    });
    // A name that fits the numbers passes: the page on the barometer says so.
    assert_eq!(of(rename("AMD EPYC 9654")), []);
    // Nova Lake, and Diamond Rapids.
    for family in [18, 19] {
        let refusals = of(|entry| {
            let machine = &mut entry.sessions[0].machine;
            machine.cpu_model = Fact::Known("Intel(R) Core(TM) Ultra".to_owned());
            machine.cpu_revision = Fact::Known(format!("family {family}, model 1, stepping 0"));
            entry.cpu = cpu(machine);
        });
        assert_eq!(refusals, []);
    }
}

#[test]
fn what_no_cpu_does_is_refused() {
    assert_refused(Check::Peak, "this CPU's multipliers allow", |entry| {
        speed_up(entry, 0, 0, 20.0);
    });
    assert_refused(Check::Samples, "more operations than nanoseconds", |entry| {
        speed_up(entry, 0, 0, 1e6);
    });
    // Keys of many primes take less work, and have to be asked for.
    assert_refused(Check::Peak, "this CPU's multipliers allow", |entry| {
        speed_up(entry, 0, 0, 20.0);
        entry.groups[0].cells[0].ledger.primes = Some(40);
    });
}

#[test]
fn jobs_that_there_cannot_be_are_refused() {
    assert_refused(Check::Samples, "keys of 40 primes", |entry| {
        speed_up(entry, 0, 0, 20.0);
        entry.groups[0].job.primes = 40;
    });
    assert_refused(Check::Samples, "no engine does the job: the modulus has", |entry| {
        entry.groups[0].job.bits = usize::MAX;
    });
    assert_refused(Check::Samples, "threads; 1 to", |entry| {
        entry.groups[0].job.threads = 0;
    });
}

#[test]
fn intervals_of_a_confidence_that_no_plan_has_are_refused() {
    assert_refused(Check::Figures, "intervals of its confidence", |entry| {
        let group = &mut entry.groups[0];
        group.confidence = 0.01;
        for cell in &mut group.cells {
            cell.stated = cell.computed(&group.job, 0.01).unwrap();
        }
    });
}

#[test]
fn libraries_that_stand_otherwise_to_each_other_are_refused() {
    assert_refused(Check::Ratios, "gmp is", |entry| speed_up(entry, 0, 2, 12.0));
    assert_refused(Check::Ratios, "at twice the bits", |entry| {
        entry.groups[1] = group(Op::Private, 4096, &[("own", 6000.0), ("openssl", 3000.0)], &machine());
    });
    assert_refused(Check::Ratios, "its public operation is", |entry| {
        entry.groups[2] = group(Op::Public, 2048, &[("own", 9000.0), ("openssl", 9000.0)], &machine());
    });
    assert_refused(Check::Ratios, "nothing here can be compared", |entry| {
        entry.groups.truncate(2);
        for group in &mut entry.groups {
            group.cells.truncate(1);
        }
    });
}

#[test]
fn samples_that_no_clock_gave_are_refused() {
    assert_refused(Check::Samples, "all its blocks took the same time", |entry| {
        let cell = &mut entry.groups[0].cells[0];
        let first = cell.blocks[0].report.block.clone();
        for taken in &mut cell.blocks {
            let started_ns = taken.report.block.started_ns;
            taken.report.block = Block {
                started_ns,
                ..first.clone()
            };
        }
    });
    assert_refused(Check::Samples, "overlap in time", |entry| {
        entry.groups[0].cells[1].blocks[4].report.block.elapsed_ns *= 10;
    });
    assert_refused(Check::Samples, "take longer than the block", |entry| {
        entry.groups[0].cells[1].blocks[4].report.block.elapsed_ns = 1_000_000;
    });
    assert_refused(Check::Samples, "a session that is not there", |entry| {
        entry.groups[0].cells[1].blocks[4].session = 7;
    });
    assert_refused(Check::Samples, "without optimisation", |entry| {
        entry.groups[0].cells[1].info.optimised = false;
    });
    if machine().tsc.known().is_none() {
        eprintln!("SKIPPED: there is no time-stamp counter whose rate is known");
        return;
    }
    assert_refused(Check::Samples, "do not agree", |entry| {
        for taken in &mut entry.groups[0].cells[0].blocks {
            for sample in &mut taken.report.block.samples {
                sample.elapsed_ns = sample.elapsed_ns * 9 / 10;
            }
        }
    });
}

#[test]
fn another_program_and_a_machine_that_says_nothing_are_refused() {
    assert_refused(Check::Program, "was not published as rsalab 0.1.0", |entry| {
        entry.program.sha256 = CHECKSUM.replace("00", "11");
    });
    assert_refused(Check::Program, "was not published as rsalab 9.9.9", |entry| {
        entry.program.version = "9.9.9".to_owned();
    });
    assert_refused(Check::Program, "was measured by rsalab 0.0.9", |entry| {
        entry.sessions[0].program_version = "0.0.9".to_owned();
    });
    assert_refused(Check::Facts, "does not say the name of its CPU", |entry| {
        entry.sessions[0].machine.cpu_model = Fact::Unknown("hidden".to_owned());
    });
    assert_refused(Check::Facts, "does not say its memory", |entry| {
        entry.sessions[0].machine.memory_bytes = Fact::Unknown("hidden".to_owned());
    });
    assert_refused(Check::Facts, "without optimisation", |entry| {
        entry.sessions[0].machine.build.opt_level = "0".to_owned();
    });
    assert_refused(Check::Facts, "there is no session", |entry| entry.sessions.clear());
}
