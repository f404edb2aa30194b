//! When a group is enough.

use rsalab_engines::{BlockReport, Exponent, Job, Mode, Op};
use rsalab_measure::Sample;

use super::*;

fn job(op: Op, threads: usize, batch: usize) -> Job {
    Job {
        op,
        bits: 1024,
        threads,
        batch,
        mode: Mode::Throughput,
        variant: None,
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: 0,
        symbols: 0,
        block_symbols: 0,
    }
}

#[test]
fn each_rule_ends_a_group_but_not_before_the_least_number_of_blocks() {
    let measure = Measure {
        precision: 0.01,
        budget_s: 1.0,
        min_blocks: 3,
        max_blocks: 9,
        repeats: Some(100),
        ..Measure::default()
    };
    let rules = Rules { measure: &measure };
    let going = GroupState {
        rounds: 3,
        engines: 2,
        elapsed_ns: 500_000_000,
        last_round_ns: 200_000_000,
        calls: 99,
        precision: Some(0.02),
    };
    assert!(!rules.is_enough(&going));
    let ends = [
        GroupState {
            precision: Some(0.01),
            ..going
        },
        GroupState { calls: 100, ..going },
        GroupState { rounds: 9, ..going },
        GroupState {
            elapsed_ns: 1_900_000_001,
            ..going
        },
    ];
    for state in ends {
        assert!(rules.is_enough(&state), "{state:?}");
        assert!(!rules.is_enough(&GroupState { rounds: 2, ..state }), "{state:?}");
    }
    assert!(!rules.is_enough(&GroupState {
        elapsed_ns: 1_900_000_000,
        ..going
    }));
    assert!(!rules.is_enough(&GroupState {
        precision: None,
        ..going
    }));
}

#[test]
fn counted_calls_are_neither_more_nor_fewer_than_the_repeats() {
    for (repeats, block_calls, min_blocks) in [
        (100, 10, 10),
        (100, 3, 6),
        (7, 10, 6),
        (1, 10, 6),
        (5, 1, 2),
        (101, 2, 50),
    ] {
        let measure = Measure {
            precision: 0.0,
            repeats: Some(repeats),
            block_calls: Some(block_calls),
            min_blocks,
            max_blocks: min_blocks,
            budget_s: 1e4,
            ..Measure::default()
        };
        let rules = Rules { measure: &measure };
        let mut state = GroupState {
            engines: 1,
            ..GroupState::default()
        };
        while !rules.is_enough(&state) {
            let block = measure.block_plan(state.rounds);
            state.calls += block.calls.unwrap();
            state.rounds += 1;
        }
        assert_eq!(state.calls, repeats, "{measure:?}");
        assert!(state.rounds as u64 >= repeats.min(min_blocks as u64));
        assert_eq!(rules.share(&state), 1.0);
    }
}

#[test]
fn a_text_is_one_call_whatever_its_threads() {
    let calls = |job: Job| {
        let mut cell = ActiveCell::new("own".to_owned(), job);
        let sample = Sample {
            elapsed_ns: 1,
            tsc_ticks: None,
            operations: 16,
        };
        cell.blocks.push(TakenBlock {
            order_index: 0,
            round: 0,
            worker_pid: None,
            report: BlockReport {
                block: Block {
                    samples: vec![sample; 2],
                    discarded_operations: 0,
                    discarded_ns: None,
                    started_ns: 0,
                    elapsed_ns: 2,
                },
                tests: Vec::new(),
                outputs: Vec::new(),
                trace: Vec::new(),
                cpu: None,
            },
            losses: None,
        });
        cell.calls()
    };
    assert_eq!(calls(job(Op::TextEncrypt, 8, 1)), 32);
    assert_eq!(calls(job(Op::Private, 1, 1)), 32);
    assert_eq!(calls(job(Op::Private, 2, 4)), 4);
}

#[test]
fn the_share_is_that_of_the_first_rule_to_end_it() {
    let measure = Measure {
        precision: 0.01,
        budget_s: 1.0,
        min_blocks: 4,
        max_blocks: 100,
        ..Measure::default()
    };
    let rules = Rules { measure: &measure };
    let state = GroupState {
        rounds: 8,
        engines: 2,
        elapsed_ns: 500_000_000,
        ..GroupState::default()
    };
    assert_eq!(rules.share(&state), 0.25);
    assert_eq!(
        rules.share(&GroupState {
            precision: Some(0.02),
            elapsed_ns: 0,
            ..state
        }),
        0.25
    );
    assert_eq!(
        rules.share(&GroupState {
            rounds: 1,
            precision: Some(0.001),
            ..state
        }),
        0.25
    );
    assert_eq!(rules.share(&GroupState::default()), 0.0);
}
