use std::{process::Command, thread, time::Duration};

use super::*;
use crate::fake_machine::FakeMachine;

fn ms(ms: u64) -> u64 {
    ms * 1_000_000
}

/// A stretch of 100 ms in which one thread had this of a CPU and waited for it for that.
fn losses(cpu_ms: u64, waited_ms: u64) -> Losses {
    Losses {
        wall_ns: ms(100),
        cpu_ns: ms(cpu_ms),
        waited_ns: ms(waited_ms),
        cpus: 2,
        ..Losses::default()
    }
}

fn causes(losses: Losses) -> Vec<(Cause, Option<f64>)> {
    losses.causes(true, false)
}

#[test]
fn each_cause_is_told_from_the_others() {
    assert_eq!(causes(losses(100, 0)), []);
    assert_eq!(causes(losses(99, 1)), []);
    assert_eq!(causes(losses(50, 50)), [(Cause::OtherPrograms, Some(0.5))]);
    let throttled = Losses {
        throttled_periods: 1,
        ..losses(50, 50)
    };
    assert_eq!(causes(throttled), [(Cause::Quota, Some(0.5))]);
    // The quota took a part of it, and a program beside took the rest, or less.
    let both = Losses {
        throttled_ns: Some(ms(10)),
        ..throttled
    };
    let of_both = [(Cause::OtherPrograms, Some(0.4)), (Cause::Quota, Some(0.1))];
    assert_eq!((causes(both), both.waiting_for_cpus()), (of_both.to_vec(), 0.5));
    let others_ns = Some(ms(20) as i64);
    let of_less = [(Cause::OtherPrograms, Some(0.2)), (Cause::Quota, Some(0.1))];
    assert_eq!(causes(Losses { others_ns, ..both }), of_less);
    assert_eq!(both.causes(true, true), [(Cause::Quota, Some(0.1))]);
    // The group was held back on another CPU, too, where this process was not.
    let elsewhere = Losses {
        throttled_ns: Some(ms(90)),
        ..throttled
    };
    assert_eq!(causes(elsewhere), [(Cause::Quota, Some(0.5))]);
    // Somebody else in the group was held back, and this process lost nothing.
    let neighbour = Losses {
        throttled_periods: 1,
        ..losses(100, 0)
    };
    assert_eq!(causes(neighbour), []);
    let stopped = Losses {
        was_stopped: true,
        ..losses(40, 0)
    };
    assert_eq!(causes(stopped), [(Cause::Stopped, Some(0.6))]);
    assert_eq!(stopped.causes(false, false), [(Cause::Stopped, None)]);
    let paging = Losses {
        major_faults: 3,
        ..losses(75, 0)
    };
    assert_eq!(causes(paging), [(Cause::Paging, Some(0.25))]);
    assert_eq!(paging.causes(false, false), []);
    // An engine that sleeps by itself is as slow as that, and nobody took anything from it.
    assert_eq!(causes(losses(75, 0)), []);
    let stolen = Losses {
        stolen_ns: ms(20),
        ..losses(100, 0)
    };
    assert_eq!(causes(stolen), [(Cause::Steal, Some(0.1))]);
    let tick = Losses {
        stolen_ns: ms(10),
        ..losses(100, 0)
    };
    assert_eq!(causes(tick), []);
    // Its threads wait for one another, and nobody else did anything.
    let alone = Losses {
        others_ns: Some(0),
        ..losses(50, 50)
    };
    assert_eq!(causes(alone), []);
    let partly = Losses {
        others_ns: Some(20_000_000),
        ..losses(50, 50)
    };
    assert_eq!(causes(partly), [(Cause::OtherPrograms, Some(0.2))]);
    assert!(partly.are_grave() && !alone.are_grave() && throttled.are_grave());
    // Four threads on two CPUs wait for one another.
    assert_eq!(losses(200, 200).causes(true, true), []);
    let several = Losses {
        was_stopped: true,
        ..losses(20, 40)
    };
    let several: Vec<Cause> = causes(several).into_iter().map(|(cause, _)| cause).collect();
    assert_eq!(several, [Cause::OtherPrograms, Cause::Stopped]);
}

#[test]
fn stretches_add_up() {
    let both = losses(50, 50).and(Losses {
        was_stopped: true,
        major_faults: 2,
        ..losses(100, 0)
    });
    assert_eq!((both.wall_ns, both.cpu_ns, both.waited_ns), (ms(200), ms(150), ms(50)));
    assert!(both.was_stopped);
    assert_eq!((both.waiting_for_cpus(), both.major_faults), (0.25, 2));
    let none = Losses::default();
    assert_eq!((none.waiting_for_cpus(), none.stolen()), (0.0, 0.0));
}

#[test]
fn counts_are_compared_thread_by_thread() {
    let machine = FakeMachine::new();
    let thread = |id: u32, ran: u64, waited: u64| {
        machine.file(&format!("/proc/7/task/{id}/schedstat"), &format!("{ran} {waited} 5\n"));
    };
    let of = || Counts::of(&machine.files(), 7);
    assert!(of().is_none());
    thread(7, 1_000, 100);
    thread(8, 500, 0);
    machine.file(
        "/proc/7/stat",
        "7 (a) b) S 1 2 3 4 5 6 7 8 40 10 250 31 0 0 20 0 1 0 99",
    );
    machine.file(
        "/proc/stat",
        "cpu  1 2 3 4 5 6 7 10 0 0\ncpu0 1\ncpu1 1\ncpu2 1\nintr 5\n",
    );
    let before = of().unwrap();
    thread(7, 4_000, 150);
    thread(9, 200, 7);
    machine.file(
        "/proc/7/stat",
        "7 (a) b) S 1 2 3 4 5 6 7 8 42 10 251 32 0 0 20 0 1 0 99",
    );
    machine.file(
        "/proc/stat",
        "cpu  9 2 3 4 5 6 7 12 0 0\ncpu0 1\ncpu1 1\ncpu2 1\nintr 5\n",
    );
    let losses = before.until(&of().unwrap());
    assert_eq!((losses.cpu_ns, losses.waited_ns), (3_200, 57));
    assert_eq!((losses.stolen_ns, losses.cpus, losses.major_faults), (ms(20), 3, 2));
    assert_eq!(losses.process_ns, Some(ms(20)));
    assert_eq!(losses.others_ns, Some(60_000_000));
    assert_eq!((losses.throttled_periods, losses.was_stopped), (0, false));
}

#[test]
fn threads_that_end_in_between_are_not_forgotten() {
    let machine = FakeMachine::new();
    let thread = |id: u32, ran: u64, waited: u64| {
        machine.file(&format!("/proc/7/task/{id}/schedstat"), &format!("{ran} {waited} 5\n"));
    };
    let process = |user: u64, system: u64| {
        let stat = format!("7 (a) S 1 2 3 4 5 6 7 8 9 10 {user} {system} 0 0 20 0 1 0 99");
        machine.file("/proc/7/stat", &stat);
    };
    let of = || Counts::of(&machine.files(), 7).unwrap();
    thread(7, 0, 0);
    process(5, 5);
    let before = of();
    thread(8, 400, 600);
    let during = of();
    machine.remove("/proc/7/task/8");
    let mut after = of();
    assert_eq!(before.until(&after).waited_ns, 0);
    after.seen(&during);
    let losses = before.until(&after);
    assert_eq!((losses.cpu_ns, losses.waited_ns), (400, 600));
    // Of what nobody saw the process has the CPU time, in ticks.
    process(8, 7);
    let losses = before.until(&of());
    assert_eq!((losses.cpu_ns, losses.process_ns), (0, Some(ms(50))));
    assert_eq!(losses.all_cpu_ns(), ms(34));
}

#[test]
fn short_stretches_in_which_threads_wait_for_one_another_are_no_disturbance() {
    // A text in 6 ms: threads that were started and have ended took 2 ms, seen in ticks, and waited for each other.
    let short = |process_ms: u64, others_ms: i64| Losses {
        wall_ns: ms(6),
        cpu_ns: 2_800_000,
        waited_ns: 1_400_000,
        process_ns: Some(ms(process_ms)),
        others_ns: Some(others_ms * 1_000_000),
        cpus: 2,
        stretches: 1,
        ..Losses::default()
    };
    let blocks: Vec<Losses> = (0..40)
        .map(|at| match at % 4 {
            0 => short(10, -10),
            1 => short(0, 10),
            _ => short(0, 0),
        })
        .collect();
    assert!(blocks.iter().all(|block| causes(*block).is_empty()));
    let all = |blocks: &[Losses]| blocks.iter().copied().reduce(Losses::and).unwrap();
    let sum = all(&blocks);
    assert_eq!(
        (sum.stretches, sum.process_ns, sum.others_ns),
        (40, Some(ms(100)), Some(0))
    );
    assert_eq!(causes(sum), []);
    // Another program that is at work all of the time is seen in the sum, though in no block.
    let beside: Vec<Losses> = (0..40).map(|at| short(0, [0, 10][at % 2])).collect();
    assert!(beside.iter().all(|block| causes(*block).is_empty()));
    assert_eq!(causes(all(&beside)), [(Cause::OtherPrograms, Some(1.4 / 4.2))]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_that_was_stopped_and_goes_on_is_noticed_once() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    };
    assert!(!was_stopped(child.id()));
    signal("-STOP");
    // A process that has not stopped yet forgets it when it is told to go on.
    let state = format!("/proc/{}/stat", child.id());
    while !std::fs::read_to_string(&state).unwrap().contains(") T ") {
        thread::sleep(Duration::from_millis(1));
    }
    signal("-CONT");
    // The system tells a parent in its own time.
    let told = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(5));
        was_stopped(child.id())
    });
    assert!(told);
    thread::sleep(Duration::from_millis(50));
    was_stopped(child.id());
    assert!(!was_stopped(child.id()));
    assert!(!was_stopped(std::process::id()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn this_process_is_counted() {
    let files = SystemFiles::of_this_machine();
    let Some(before) = Counts::of(&files, std::process::id()) else {
        eprintln!("SKIPPED: this system does not count what a thread waits");
        return;
    };
    let mut number = 1_u64;
    while before.at.elapsed() < Duration::from_millis(100) {
        number = std::hint::black_box(number.wrapping_mul(5));
    }
    let losses = before.until(&Counts::of(&files, std::process::id()).unwrap());
    assert!(losses.wall_ns >= ms(100));
    // This thread either ran or waited; those of other tests add to it.
    assert!(losses.cpu_ns + losses.waited_ns >= ms(50), "{losses:?}");
}
