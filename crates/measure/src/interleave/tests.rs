//! Schedules, driven by a mock clock.

use std::ops::ControlFlow;

use super::*;
use crate::{
    clock::{Clock, MockClock},
    sample::{BlockPlan, run_block},
};

const MS: u64 = 1_000_000;

/// Something that can be measured for one block.
trait Subject {
    /// Why a block could not be measured.
    type Error;

    /// Measures one block, as [`run_block`](crate::sample::run_block) does. An error ends this subject's part; the
    /// others go on.
    fn block(&mut self) -> Result<Block, Self::Error>;
}

/// What the caller hears of a run.
#[derive(Debug)]
enum Event<E> {
    /// A block was measured. It is the caller's to store: a schedule keeps no samples.
    Block {
        /// Whose it is.
        slot: Slot,
    },
    /// A subject failed and is out.
    Failed {
        /// The slot in which it happened.
        slot: Slot,
        /// What it said.
        error: E,
    },
}

/// Runs subjects by a schedule until it stops, or until the caller breaks off.
///
/// The caller hears of each event with the progress after it, and breaks off with a value of its own: an error of its
/// store, a signal. The budget counts from this call; what an earlier run of a taken-up schedule spent is the caller's
/// to subtract.
///
/// # Panics
///
/// If the schedule was made for another number of subjects.
fn run<C: Subject, B>(
    schedule: &mut Schedule,
    clock: &impl Clock,
    subjects: &mut [C],
    mut on_event: impl FnMut(Event<C::Error>, &Schedule, Progress) -> ControlFlow<B>,
) -> ControlFlow<B, Stop> {
    assert_eq!(
        schedule.standings.len(),
        subjects.len(),
        "a schedule is made for its subjects"
    );
    let began_ns = clock.now_ns();
    let elapsed_ns = || clock.now_ns() - began_ns;
    loop {
        let slot = match schedule.next_slot(elapsed_ns()) {
            Ok(slot) => slot,
            Err(stop) => return ControlFlow::Continue(stop),
        };
        match subjects[slot.subject].block() {
            Ok(block) => {
                schedule.record(slot, &block);
                let event = Event::Block { slot };
                on_event(event, schedule, schedule.progress(elapsed_ns()))?;
            }
            Err(error) => {
                schedule.fail(slot.subject);
                let event = Event::Failed { slot, error };
                on_event(event, schedule, schedule.progress(elapsed_ns()))?;
            }
        }
    }
}

/// Calls of `call_ms` each on a mock clock, in blocks of one call; each `jitter`-th call takes a quarter longer.
struct Mock<'a> {
    clock: &'a MockClock,
    call_ms: u64,
    jitter: usize,
    fails_at: usize,
    calls: usize,
}

impl Subject for Mock<'_> {
    type Error = String;

    fn block(&mut self) -> Result<Block, String> {
        run_block(self.clock, &BlockPlan::SINGLE_CALL, || {
            self.calls += 1;
            if self.calls == self.fails_at {
                return Err(format!("failed at call {}", self.calls));
            }
            let slow = self.jitter > 0 && self.calls.is_multiple_of(self.jitter);
            self.clock.advance(self.call_ms * MS * if slow { 5 } else { 4 } / 4);
            Ok(1)
        })
    }
}

fn mocks(clock: &MockClock, count: usize) -> Vec<Mock<'_>> {
    (0..count)
        .map(|i| Mock {
            clock,
            call_ms: 10 * (i as u64 + 1),
            jitter: 0,
            fails_at: usize::MAX,
            calls: 0,
        })
        .collect()
}

/// All slots, the failures, and the end.
fn run_all(plan: Plan, clock: &MockClock, subjects: &mut [Mock<'_>]) -> (Vec<Slot>, Vec<(Slot, String)>, Stop) {
    let mut schedule = Schedule::new(plan, subjects.len());
    let (mut slots, mut failures) = (Vec::new(), Vec::new());
    let end = run(&mut schedule, clock, subjects, |event, _, _| {
        match event {
            Event::Block { slot } => slots.push(slot),
            Event::Failed { slot, error } => failures.push((slot, error)),
        }
        ControlFlow::<()>::Continue(())
    });
    let ControlFlow::Continue(stop) = end else {
        panic!("nobody broke off");
    };
    (slots, failures, stop)
}

fn rounds_only(max_rounds: usize) -> Plan {
    Plan {
        precision: None,
        max_rounds,
        ..Plan::default()
    }
}

#[test]
fn each_round_has_each_subject_once_in_a_new_order() {
    let clock = MockClock::new();
    let (slots, failures, stop) = run_all(rounds_only(50), &clock, &mut mocks(&clock, 4));
    assert_eq!(stop, Stop::Rounds);
    assert!(failures.is_empty());
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
    let clock = MockClock::new();
    let of = |seed| {
        let plan = Plan {
            seed,
            ..rounds_only(10)
        };
        run_all(plan, &clock, &mut mocks(&clock, 3)).0
    };
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
}

#[test]
fn a_failing_subject_is_dropped_and_the_others_go_on() {
    let clock = MockClock::new();
    let mut subjects = mocks(&clock, 3);
    subjects[1].fails_at = 4;
    let (slots, failures, stop) = run_all(rounds_only(10), &clock, &mut subjects);
    assert_eq!(stop, Stop::Rounds);
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].0.subject, 1);
    assert_eq!(failures[0].0.round, 3);
    assert_eq!(failures[0].1, "failed at call 4");
    let blocks = |subject| slots.iter().filter(|slot| slot.subject == subject).count();
    assert_eq!((blocks(0), blocks(1), blocks(2)), (10, 3, 10));
}

#[test]
fn a_run_without_subjects_ends() {
    let clock = MockClock::new();
    let (slots, _, stop) = run_all(rounds_only(10), &clock, &mut []);
    assert_eq!((slots.len(), stop), (0, Stop::NoSubjects));
    let mut subjects = mocks(&clock, 2);
    subjects.iter_mut().for_each(|mock| mock.fails_at = 1);
    let (slots, failures, stop) = run_all(rounds_only(10), &clock, &mut subjects);
    assert_eq!((slots.len(), failures.len(), stop), (0, 2, Stop::NoSubjects));
}

#[test]
fn a_precise_run_stops_early_and_a_noisy_one_does_not() {
    let plan = Plan {
        precision: Some(0.05),
        max_rounds: 100,
        ..Plan::default()
    };
    let clock = MockClock::new();
    let (slots, _, stop) = run_all(plan, &clock, &mut mocks(&clock, 2));
    assert_eq!((slots.len(), stop), (16, Stop::Precision));
    // Half of the calls take a quarter longer: the interval never gets narrower than that.
    let mut subjects = mocks(&clock, 2);
    subjects[1].jitter = 2;
    let (slots, _, stop) = run_all(plan, &clock, &mut subjects);
    assert_eq!((slots.len(), stop), (200, Stop::Rounds));
    // One that failed needs no precision.
    subjects[1].fails_at = subjects[1].calls + 5;
    let (_, failures, stop) = run_all(plan, &clock, &mut subjects);
    assert_eq!((failures.len(), stop), (1, Stop::Precision));
}

#[test]
fn the_budget_ends_the_run_between_rounds() {
    let clock = MockClock::new();
    for (budget_ms, rounds) in [(0, 1), (1, 1), (44, 1), (45, 2), (74, 2), (75, 3), (300, 10)] {
        // A round takes 10 + 20 ms; it is begun if 15 ms of it are within the budget.
        let plan = Plan {
            budget_ns: Some(budget_ms * MS),
            ..rounds_only(1000)
        };
        let (slots, _, stop) = run_all(plan, &clock, &mut mocks(&clock, 2));
        assert_eq!((slots.len(), stop), (2 * rounds, Stop::Budget), "{budget_ms} ms");
    }
}

#[test]
fn the_caller_can_break_off_and_take_up() {
    let clock = MockClock::new();
    let plan = rounds_only(6);
    let whole = run_all(plan, &clock, &mut mocks(&clock, 3)).0;
    for stored in 0..=whole.len() {
        let mut taken_up = Schedule::new(plan, 3);
        let mut subjects = mocks(&clock, 3);
        for &slot in &whole[..stored] {
            let block = subjects[slot.subject].block().unwrap();
            taken_up.record(slot, &block);
        }
        assert_eq!(taken_up.progress(0).slots, stored);
        assert_eq!(taken_up.progress(0).rounds, stored / 3);
        let mut slots = Vec::new();
        let end = run(&mut taken_up, &clock, &mut subjects, |event, _, _| {
            if let Event::Block { slot } = event {
                slots.push(slot);
            }
            if slots.len() == 7 {
                ControlFlow::Break("enough")
            } else {
                ControlFlow::Continue(())
            }
        });
        let left = &whole[stored..];
        assert_eq!(slots, left[..left.len().min(7)]);
        assert_eq!(end.is_break(), left.len() >= 7);
        assert!(taken_up.standings().iter().all(|s| s.rounds().is_sorted()));
    }
}

#[test]
fn progress_says_how_far_it_is() {
    let clock = MockClock::new();
    let plan = Plan {
        budget_ns: Some(100_000 * MS),
        precision: Some(0.001),
        ..Plan::default()
    };
    let mut schedule = Schedule::new(plan, 2);
    assert_eq!(schedule.progress(0).rounds, 0);
    let mut seen = Vec::new();
    let mut subjects = mocks(&clock, 2);
    let _ = run(&mut schedule, &clock, &mut subjects, |_, schedule, progress| {
        assert_eq!(schedule.standings().len(), 2);
        seen.push(progress);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(seen.len(), 16);
    // 95 % take six blocks of one call each; the twelfth slot gives the second subject its sixth.
    assert!(seen[..11].iter().all(|progress| progress.precision.is_none()));
    assert!(seen[11..].iter().all(|progress| progress.precision == Some(0.0)));
    assert_eq!(seen[1].budget_left_ns, Some((100_000 - 30) * MS));
    assert_eq!((seen[2].rounds, seen[3].rounds), (1, 2));
    assert_eq!(schedule.standings()[1].median_ns().unwrap().value, 20e6);
}
