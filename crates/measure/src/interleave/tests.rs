//! Schedules of blocks of one call each.

use super::*;
use crate::sample::Sample;

/// A block of one call.
fn block(elapsed_ns: u64) -> Block {
    let sample = Sample {
        elapsed_ns,
        tsc_ticks: None,
        operations: 1,
    };
    Block {
        samples: vec![sample],
        discarded_operations: 0,
        discarded_ns: None,
        started_ns: 0,
        elapsed_ns,
    }
}

/// The next slots up to a number of rounds, each recorded with the time that `time_ns` gives for it.
fn run(schedule: &mut Schedule, rounds: usize, time_ns: impl Fn(Slot) -> Option<u64>) -> Vec<Slot> {
    let mut slots = Vec::new();
    while schedule.rounds() < rounds
        && let Some(slot) = schedule.next_slot()
    {
        match time_ns(slot) {
            Some(time_ns) => {
                schedule.record(slot, &block(time_ns));
                slots.push(slot);
            }
            None => schedule.fail(slot.subject),
        }
    }
    slots
}

fn schedule(seed: u64, subjects: usize) -> Schedule {
    Schedule::new(seed, 0.95, subjects)
}

#[test]
fn each_round_has_each_subject_once_in_a_new_order() {
    let slots = run(&mut schedule(0, 4), 50, |_| Some(10));
    assert_eq!(slots.len(), 200);
    assert!(slots.iter().enumerate().all(|(i, slot)| slot.order == i));
    let orders: Vec<Vec<usize>> = slots
        .chunks(4)
        .enumerate()
        .map(|(round, slots)| {
            assert!(slots.iter().all(|slot| slot.round == round));
            slots.iter().map(|slot| slot.subject).collect()
        })
        .collect();
    for order in &orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3]);
    }
    let mut distinct = orders.clone();
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() > 12, "{} of 24 orders", distinct.len());
}

#[test]
fn the_seed_decides_the_order() {
    let of = |seed| run(&mut schedule(seed, 3), 10, |_| Some(10));
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
}

#[test]
fn a_failing_subject_is_dropped_and_the_others_go_on() {
    let mut schedule = schedule(0, 3);
    let fails = |slot: Slot| slot.subject == 1 && slot.round == 3;
    let slots = run(&mut schedule, 10, |slot| (!fails(slot)).then_some(10));
    let blocks = |subject| slots.iter().filter(|slot| slot.subject == subject).count();
    assert_eq!((blocks(0), blocks(1), blocks(2)), (10, 3, 10));
    assert!(schedule.subjects()[1].failed());
}

#[test]
fn a_run_without_subjects_ends() {
    assert_eq!(schedule(0, 0).next_slot(), None);
    let mut failed = schedule(0, 2);
    assert_eq!(run(&mut failed, 10, |_| None), []);
    assert_eq!(failed.next_slot(), None);
}

#[test]
fn a_run_that_was_broken_off_is_taken_up() {
    let whole = run(&mut schedule(0, 3), 6, |_| Some(10));
    for stored in 0..=whole.len() {
        let mut taken_up = schedule(0, 3);
        whole[..stored]
            .iter()
            .for_each(|&slot| taken_up.record(slot, &block(10)));
        assert_eq!(taken_up.rounds(), stored / 3);
        assert_eq!(taken_up.is_between_rounds(), stored > 0 && stored % 3 == 0);
        assert_eq!(run(&mut taken_up, 6, |_| Some(10)), whole[stored..]);
        assert!(taken_up.subjects().iter().all(|subject| subject.rounds().is_sorted()));
    }
}

#[test]
fn the_precision_is_that_of_the_subject_that_is_known_least() {
    // 95 % take six blocks.
    let mut exact = schedule(0, 2);
    run(&mut exact, 5, |slot| Some(10 * (slot.subject as u64 + 1)));
    assert_eq!(exact.precision(), None);
    run(&mut exact, 6, |slot| Some(10 * (slot.subject as u64 + 1)));
    assert_eq!(exact.precision(), Some(0.0));
    assert_eq!(exact.subjects()[1].median_ns().unwrap().value, 20.0);

    // Half of the second one's calls take a quarter longer: the interval never gets narrower than that.
    let mut noisy = schedule(0, 2);
    run(&mut noisy, 100, |slot| {
        Some(if slot.subject * slot.round % 2 == 1 { 125 } else { 100 })
    });
    assert!(noisy.precision().unwrap() > 0.05);
    // One that failed needs no precision.
    noisy.fail(1);
    assert_eq!(noisy.precision(), Some(0.0));
}
