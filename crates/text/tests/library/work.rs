//! Work over threads with cheap block operations: order, evenness, and workers that fail.

use std::sync::{
    Barrier,
    atomic::{AtomicUsize, Ordering},
};

use proptest::prelude::*;
use rsalab_text::{BlockWorker, Part, Reason, Threads, Work, WorkError, run, with_workers};

/// Writes each block's number and its first byte, and counts its calls.
struct Numbering {
    input_block: usize,
    output_block: usize,
}

impl BlockWorker for Numbering {
    type Error = String;

    fn work(&mut self, first_block: usize, input: &[u8], output: &mut [u8]) -> Result<(), String> {
        assert!(!input.is_empty(), "called without blocks");
        for (place, (from, to)) in input
            .chunks(self.input_block)
            .zip(output.chunks_mut(self.output_block))
            .enumerate()
        {
            let number = (first_block + place) as u32;
            let line: Vec<u8> = number
                .to_be_bytes()
                .into_iter()
                .chain([from[0], from.len() as u8])
                .collect();
            let len = to.len();
            to.copy_from_slice(&line[..len]);
        }
        Ok(())
    }
}

/// Fails or panics if told so, otherwise copies.
struct Trouble(Option<fn()>);

/// Does as [`Trouble`] does, and counts the workers that have copied.
struct Counted<'a>(Trouble, &'a AtomicUsize);

impl BlockWorker for Counted<'_> {
    type Error = String;

    fn work(&mut self, first_block: usize, input: &[u8], output: &mut [u8]) -> Result<(), String> {
        self.0.work(first_block, input, output)?;
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl BlockWorker for Trouble {
    type Error = String;

    fn work(&mut self, _: usize, input: &[u8], output: &mut [u8]) -> Result<(), String> {
        match self.0 {
            Some(act) => {
                act();
                Err("out of luck".to_owned())
            }
            None => {
                output.copy_from_slice(input);
                Ok(())
            }
        }
    }
}

fn text(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index * 7 + index / 251) as u8).collect()
}

fn copying(input: &[u8], block: usize) -> Work<'_> {
    Work {
        input,
        input_block: block,
        output_len: input.len(),
        output_block: block,
    }
}

fn number(input: &[u8], input_block: usize, threads: usize, cut: usize) -> Vec<u8> {
    const OUTPUT_BLOCK: usize = 6;
    let blocks = input.len().div_ceil(input_block);
    let work = Work {
        input,
        input_block,
        output_len: (blocks * OUTPUT_BLOCK).saturating_sub(cut),
        output_block: OUTPUT_BLOCK,
    };
    let outcome = run(work, Threads::unpinned(threads), |_: &Part| {
        Ok(Numbering {
            input_block,
            output_block: OUTPUT_BLOCK,
        })
    })
    .expect("works");

    assert_eq!(outcome.trace.len(), threads);
    assert_eq!(outcome.trace.iter().map(|part| part.bytes).sum::<usize>(), input.len());
    assert_eq!(outcome.trace.iter().map(|part| part.blocks).sum::<usize>(), blocks);
    let sizes = || outcome.trace.iter().map(|part| part.blocks);
    assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
    for (id, part) in outcome.trace.iter().enumerate() {
        assert_eq!(part.id, id);
        assert!(part.start_ns <= part.end_ns && part.end_ns <= outcome.elapsed_ns);
    }
    assert_eq!(
        outcome.trace.iter().map(|part| part.end_ns).max(),
        Some(outcome.elapsed_ns)
    );
    assert!(outcome.elapsed_ns <= outcome.wall_ns);
    outcome.output
}

#[test]
fn output_is_the_same_for_every_number_of_threads() {
    for len in [0, 1, 6, 7, 8, 13, 14, 15, 1000, 100_003] {
        let input = text(len);
        let alone = number(&input, 7, 1, 0);
        for threads in [2, 3, 8, 64] {
            assert_eq!(number(&input, 7, threads, 0), alone, "{len} bytes on {threads} threads");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn order_does_not_depend_on_threads(len in 1usize..2000, block in 1usize..40, threads in 1usize..20, cut in 0usize..6) {
        let input = text(len);
        prop_assert_eq!(number(&input, block, threads, cut), number(&input, block, 1, cut));
    }
}

#[test]
fn workers_run_at_the_same_time() {
    // Each worker waits for all the others in the middle of its part: this ends only if all run at once.
    struct Meeting<'a>(&'a Barrier);
    impl BlockWorker for Meeting<'_> {
        type Error = String;
        fn work(&mut self, _: usize, _: &[u8], _: &mut [u8]) -> Result<(), String> {
            self.0.wait();
            Ok(())
        }
    }
    let input = text(24);
    let barrier = Barrier::new(8);
    let outcome = run(copying(&input, 1), Threads::unpinned(8), |_: &Part| {
        Ok(Meeting(&barrier))
    })
    .expect("works");
    let last_start = outcome.trace.iter().map(|part| part.start_ns).max();
    let first_end = outcome.trace.iter().map(|part| part.end_ns).min();
    assert!(last_start <= first_end, "parts overlap: {:?}", outcome.trace);
}

#[test]
fn each_worker_is_made_on_its_own_thread() {
    let caller = std::thread::current().id();
    let input = text(4);
    let made = AtomicUsize::new(0);
    run(copying(&input, 1), Threads::unpinned(4), |part: &Part| {
        assert_ne!(std::thread::current().id(), caller);
        assert_eq!(
            std::thread::current().name(),
            Some(format!("part-{}", part.id).as_str())
        );
        made.fetch_add(1, Ordering::Relaxed);
        Ok(Trouble(None))
    })
    .expect("works");
    assert_eq!(made.into_inner(), 4);
}

/// The result of a piece of work of 8 workers when worker `unlucky` is in trouble: how many finish, and the error.
fn with_trouble(unlucky: usize, act: fn()) -> (usize, String) {
    let input = text(100);
    let finished = AtomicUsize::new(0);
    let result = run(copying(&input, 1), Threads::unpinned(8), |part: &Part| {
        let trouble = Trouble((part.id == unlucky).then_some(act));
        Ok(Counted(trouble, &finished))
    });
    let error = result.expect_err("a worker is in trouble");
    (finished.into_inner(), error.to_string())
}

#[test]
fn a_worker_that_fails_is_reported_and_the_others_finish() {
    for unlucky in 0..8 {
        let expected = format!("worker {unlucky} failed: out of luck");
        assert_eq!(with_trouble(unlucky, || ()), (7, expected));
    }
}

#[test]
fn a_worker_that_panics_is_reported_and_the_others_finish() {
    for unlucky in [0, 3, 7] {
        let expected = format!("worker {unlucky} failed: it panicked: of nerves");
        assert_eq!(with_trouble(unlucky, || panic!("of {}", "nerves")), (7, expected));
    }
    let expected = "worker 2 failed: it panicked: without a message".to_owned();
    assert_eq!(with_trouble(2, || std::panic::panic_any(5)), (7, expected));
}

#[test]
fn several_failures_are_all_reported_in_order() {
    let input = text(50);
    let error = run(copying(&input, 1), Threads::unpinned(8), |part: &Part| match part.id {
        1 => Err("no luck in making it".to_owned()),
        4 => panic!("at once"),
        6 => Ok(Trouble(Some(|| ()))),
        _ => Ok(Trouble(None)),
    })
    .expect_err("three workers are in trouble");
    let WorkError::Workers(failures) = &error else {
        panic!("{error}")
    };
    assert_eq!(failures.iter().map(|failure| failure.id).collect::<Vec<_>>(), [1, 4, 6]);
    assert!(matches!(failures[1].reason, Reason::Panicked(_)));
    assert_eq!(
        error.to_string(),
        "worker 1 failed: no luck in making it; worker 4 failed: it panicked: at once; worker 6 failed: out of luck"
    );
}

#[test]
fn every_worker_may_fail() {
    let input = text(50);
    let error = run(copying(&input, 1), Threads::unpinned(64), |part: &Part| {
        Err::<Trouble, _>(part.id.to_string())
    })
    .expect_err("all are in trouble");
    let WorkError::Workers(failures) = error else {
        panic!("{error}")
    };
    assert_eq!(failures.len(), 64);
}

#[test]
fn no_blocks_on_many_threads_is_an_empty_output() {
    let outcome = run(copying(&[], 5), Threads::unpinned(64), |_: &Part| {
        Ok(Trouble(Some(|| ())))
    })
    .expect("nobody works");
    assert!(outcome.output.is_empty());
    assert_eq!(outcome.trace.len(), 64);
    assert!(outcome.trace.iter().all(|part| part.blocks == 0 && part.bytes == 0));
}

#[test]
fn impossible_work_is_refused_before_any_thread_starts() {
    let input = text(10);
    let refusal = |work: Work<'_>, threads: Threads<'_>| {
        let never = |_: &Part| -> Result<Trouble, String> { panic!("was started") };
        match run(work, threads, never).expect_err("impossible") {
            WorkError::Layout(reason) => reason,
            other => panic!("{other}"),
        }
    };
    assert!(refusal(copying(&input, 1), Threads::unpinned(0)).starts_with("0 threads"));
    assert!(refusal(copying(&input, 1), Threads::unpinned(1_000_000)).starts_with("1000000 threads"));
    assert!(refusal(copying(&input, 1), Threads::pinned(&[])).starts_with("0 threads"));
    let threads = Threads {
        count: 3,
        cpus: Some(&[0, 1]),
        done: None,
    };
    assert_eq!(refusal(copying(&input, 1), threads), "2 CPUs were named for 3 threads");
    assert!(refusal(copying(&input, 0), Threads::unpinned(1)).contains("at least one byte"));
    let short = Work {
        output_len: 9,
        ..copying(&input, 1)
    };
    assert_eq!(
        refusal(short, Threads::unpinned(1)),
        "the input has 10 blocks, but the output has room for 9"
    );
}

#[test]
fn the_same_workers_do_their_work_again_and_again() {
    let input = text(100);
    let made = AtomicUsize::new(0);
    let mut output = vec![0; 100];
    let factory = |_: &Part| {
        made.fetch_add(1, Ordering::Relaxed);
        Ok::<_, String>(Trouble(None))
    };
    let outputs = with_workers(
        copying(&input, 1),
        &mut output,
        Threads::unpinned(3),
        factory,
        |workers| {
            let mut outputs = Vec::new();
            for _ in 0..3 {
                workers.each_region(|region| region.fill(0));
                let run = workers.run().expect("works");
                let last = run.trace.iter().map(|part| part.end_ns).max();
                assert!(Some(run.collected_ns) >= last, "{run:?}");
                outputs.push(workers.each_region(|region| region.to_vec()).concat());
            }
            outputs
        },
    )
    .expect("the work can be laid out");
    assert_eq!(outputs, [input.clone(), input.clone(), input]);
    assert_eq!(made.into_inner(), 3);
    let factory = |_: &Part| Ok::<_, String>(Trouble(None));
    let short = with_workers(
        copying(&text(100), 1),
        &mut [0; 99],
        Threads::unpinned(3),
        factory,
        |_| (),
    );
    assert!(short.unwrap_err().to_string().contains("99 bytes, and 100"));
}
