use rsalab_measure::{Block, Sample};

use super::*;
use crate::{exponent::Exponent, op::Op};

const PLAN: BlockPlan = BlockPlan {
    discard_ns: 10_000_000,
    min_ns: 100_000_000,
    calls: None,
    max_samples: 3,
};

fn plausibility(op: Op, clock: ClockOwner) -> Plausibility {
    let job = Job {
        op,
        bits: 512,
        threads: 1,
        batch: 1,
        mode: Mode::Latency,
        variant: None,
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: 0,
        symbols: 0,
        block_symbols: 0,
    };
    Plausibility::new(&job, clock, 128)
}

/// Two samples of ten operations each, after two that were discarded: of 5 ms each.
fn report() -> BlockReport {
    let sample = Sample {
        elapsed_ns: 50_000_000,
        tsc_ticks: None,
        operations: 10,
    };
    BlockReport {
        block: Block {
            samples: vec![sample; 2],
            discarded_operations: 2,
            discarded_ns: None,
            started_ns: 0,
            elapsed_ns: 110_100_000,
        },
        tests: Vec::new(),
        outputs: Vec::new(),
        trace: Vec::new(),
        cpu: None,
    }
}

#[test]
fn a_true_report_passes_whoever_reads_the_clock() {
    for clock in [ClockOwner::Harness, ClockOwner::Engine] {
        let mut of = plausibility(Op::Private, clock);
        for _ in 0..100 {
            assert_eq!(of.check(&report(), &PLAN, 111_000_000, false), Ok(None));
        }
    }
}

#[test]
fn numbers_that_cannot_be_are_found() {
    type Change = fn(&mut BlockReport);
    let changes: [(&str, Change); 12] = [
        ("without samples", |r| r.block.samples.clear()),
        ("4 samples", |r| {
            r.block.samples = vec![r.block.samples[0]; 4];
        }),
        ("without operations", |r| r.block.samples[1].operations = 0),
        ("no machine", |r| r.block.samples[1].operations = 50_000_001),
        ("no machine", |r| r.block.samples[0].operations = u64::MAX),
        ("no block has", |r| r.block.discarded_operations = u64::MAX),
        ("no block has", |r| {
            r.block.samples[0].elapsed_ns = u64::MAX;
        }),
        ("in a block of", |r| {
            r.block.samples[0].elapsed_ns = 60_200_000;
        }),
        ("asked for at least", |r| {
            r.block.elapsed_ns = 109_000_000;
        }),
        ("which took 111000000 ns", |r| {
            r.block.elapsed_ns = 111_000_001;
        }),
        ("tests of 1 samples, and 2", |r| r.tests = vec![1]),
        ("made 0 outputs to be verified and showed 1", |r| {
            r.outputs = vec![0; 64];
        }),
    ];
    for (words, change) in changes {
        for clock in [ClockOwner::Harness, ClockOwner::Engine] {
            let mut changed = report();
            change(&mut changed);
            let message = plausibility(Op::Private, clock)
                .check(&changed, &PLAN, 111_000_000, false)
                .expect_err(words);
            assert!(message.contains(words), "no '{words}' in: {message}");
        }
    }
}

#[test]
fn counted_calls_and_what_was_made_are_counted_again() {
    let plan = BlockPlan {
        calls: Some(21),
        ..PLAN
    };
    let mut texts = plausibility(Op::TextEncrypt, ClockOwner::Harness);
    let counted = texts.check(&report(), &plan, 111_000_000, false);
    assert_eq!(counted, Err("it reported 20 calls where 21 were asked for".to_owned()));

    let mut keys = plausibility(Op::Keygen, ClockOwner::Harness);
    let mut made = report();
    let one = keys.job.layout().output;
    made.outputs = vec![0; 22 * one];
    assert_eq!(keys.check(&made, &PLAN, 111_000_000, false), Ok(None));
    made.outputs.truncate(21 * one);
    let hidden = keys.check(&made, &PLAN, 111_000_000, false);
    assert_eq!(
        hidden,
        Err("it made 22 outputs to be verified and showed 21".to_owned())
    );
}

/// How many of some blocks are taken for what they are.
fn used(of: &mut Plausibility, report: &BlockReport, waited_ns: u64, blocks: usize) -> usize {
    let checked = (0..blocks).map(|_| of.check(report, &PLAN, waited_ns, false));
    checked.filter(|checked| *checked == Ok(None)).count()
}

#[test]
fn time_that_is_in_no_block_adds_up() {
    // The first block may make ready, and once it may be a busy machine.
    let mut of = plausibility(Op::Private, ClockOwner::Engine);
    for waited_ns in [5_000_000_000, 200_000_000] {
        assert_eq!(of.check(&report(), &PLAN, waited_ns, false), Ok(None));
    }
    let third = of.check(&report(), &PLAN, 200_000_000, false);
    assert!(matches!(third, Ok(Some(Interruption::Unreported { .. }))));

    // A tenth more each time is found after a while, and from then on each time.
    let mut of = plausibility(Op::Private, ClockOwner::Engine);
    assert!(used(&mut of, &report(), 121_000_000, 100) < 20);
    assert_eq!(used(&mut of, &report(), 121_000_000, 4), 0);

    // While either side was stopped, nobody knows where the time went.
    let mut of = plausibility(Op::Private, ClockOwner::Engine);
    for _ in 0..100 {
        assert_eq!(of.check(&report(), &PLAN, 3_000_000_000, true), Ok(None));
    }

    // The harness's own clock is not doubted.
    let mut of = plausibility(Op::Private, ClockOwner::Harness);
    assert_eq!(of.check(&report(), &PLAN, 1_000_000_000, false), Ok(None));
}

#[test]
fn an_honest_engine_on_a_busy_machine_is_measured_anew_and_goes_on() {
    let mut of = plausibility(Op::Private, ClockOwner::Engine);
    for round in 0..50 {
        // Each tenth block waited for its CPU, which the engine's clock did not see.
        assert_eq!(used(&mut of, &report(), 111_000_000, 9), 9, "{round}");
        assert_eq!(of.check(&report(), &PLAN, 111_000_000, false), Ok(None));
        let busy = of.check(&report(), &PLAN, 600_000_000, false);
        // Once much was explained, a little that is not may pass.
        match busy {
            Ok(Some(Interruption::Unreported { .. })) => {}
            Ok(None) if round >= 5 => {}
            _ => panic!("{round}: {busy:?}"),
        }
    }
}

#[test]
fn samples_that_leave_most_of_their_block_out_are_found() {
    let mut short = report();
    for sample in &mut short.block.samples {
        sample.elapsed_ns /= 3;
    }
    let of_ten = |op, report: &BlockReport| {
        let mut of = plausibility(op, ClockOwner::Engine);
        let mut report = report.clone();
        if !op.is_deterministic() {
            let made = report.block.operations() + report.block.discarded_operations;
            report.outputs = vec![0; made as usize * of.job.layout().output];
        }
        used(&mut of, &report, 111_000_000, 10)
    };
    assert!(of_ten(Op::Private, &short) < 5);
    // Once the machine may have been busy.
    let mut of = plausibility(Op::Private, ClockOwner::Engine);
    assert_eq!(of.check(&short, &PLAN, 111_000_000, false), Ok(None));
    assert_eq!(used(&mut of, &report(), 111_000_000, 100), 100);
    // The discarded keys may have been the long ones; without any, all is in the samples.
    assert_eq!(of_ten(Op::Keygen, &short), 10);
    short.block.discarded_operations = 0;
    assert!(of_ten(Op::Keygen, &short) < 10);
    // Operations of less than a microsecond leave more time between them than in them.
    for sample in &mut short.block.samples {
        (sample.elapsed_ns, sample.operations) = (2_000_000, 5_000);
    }
    assert_eq!(of_ten(Op::Totient, &short), 10);
}

#[test]
fn counted_calls_have_twice_the_time_that_a_run_lets_expect() {
    let plan = BlockPlan {
        calls: Some(10),
        ..PLAN
    };
    // Two inputs, one in a call.
    let mut of = plausibility(Op::Private, ClockOwner::Engine);
    assert_eq!(of.counted_calls(&plan), Duration::ZERO);
    of.ran(Duration::from_secs(8));
    assert_eq!(of.counted_calls(&plan), Duration::from_secs(80));
    assert_eq!(of.counted_calls(&PLAN), Duration::ZERO);
    // Each thread did one of them in the run, and makes every call.
    of.job.threads = 2;
    assert_eq!(of.counted_calls(&plan), Duration::from_secs(160));
    of.job.threads = 16;
    assert_eq!(of.counted_calls(&plan), Duration::from_secs(160));
    // One thread makes a call.
    of.job.mode = Mode::Concurrent;
    assert_eq!(of.counted_calls(&plan), Duration::from_secs(80));
    let endless = BlockPlan {
        calls: Some(u64::MAX),
        ..PLAN
    };
    assert_eq!(of.counted_calls(&endless), Duration::MAX);

    let mut texts = plausibility(Op::TextEncrypt, ClockOwner::Engine);
    texts.ran(Duration::from_secs(8));
    assert_eq!(texts.counted_calls(&plan), Duration::from_secs(160));
}

#[test]
fn no_answer_may_be_longer_than_what_was_asked_for() {
    let of = plausibility(Op::Private, ClockOwner::Engine);
    assert!((2 * 128..1 << 17).contains(&of.longest_outputs()));
    assert!((3 * 100..1 << 17).contains(&of.longest_report(&PLAN)));
    let made = plausibility(Op::Keygen, ClockOwner::Engine);
    assert_eq!(made.longest_report(&PLAN), MAX_LINE_BYTES);
    let endless = BlockPlan {
        max_samples: usize::MAX,
        ..PLAN
    };
    assert_eq!(of.longest_report(&endless), MAX_LINE_BYTES);
}
