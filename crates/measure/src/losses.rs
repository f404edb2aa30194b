//! The time that a process lost while it was measured, and what took it.
//!
//! A sample of a millisecond shows a pause of half a period, and a median of samples shows none at all. The system
//! counts what was taken from a process, whichever program it is; the counts of two moments are compared:
//!
//! | loss | count | where |
//! |---|---|---|
//! | a quota of the control group | how long it was throttled, and in how many periods | `cpu.stat` of versions 1 and 2 |
//! | other programs on its CPUs | time that its threads could have run and did not, and that others ran | `/proc/PID/task/TID/schedstat`, `/proc/stat` |
//! | the hypervisor's other guests | ticks stolen from all CPUs | `/proc/stat` |
//! | a signal, a debugger | that it was stopped or continued | the parent's `waitid` |
//! | paging | pages that had to be read from a disk | `/proc/PID/stat` |
//!
//! A thread that the quota holds back waits in the queue of its CPU like any other: its time is counted as waiting, and
//! the group's time tells how much of it is the quota's. What the clock of the CPU loses is not counted anywhere.
//!
//! What other programs did is known to 10 ms only, and may be little in a short stretch of time although the threads of
//! the process waited long, for one another: so it counts once it is more than such readings may be wrong by.

use std::{collections::BTreeMap, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{system_files::SystemFiles, throttling::Throttling};

/// The share of its time from which on a process is called disturbed. At rest, clock interrupts and the system's own
/// threads take some tenths of a per cent.
pub const DISTURBED: f64 = 0.02;

/// Time that was taken from a process between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Time that passed.
    pub wall_ns: u64,
    /// CPU time of its threads together, of those that were seen.
    pub cpu_ns: u64,
    /// CPU time of the process, in parts of 10 ms, with that of threads that ended unseen; none where it is not
    /// counted.
    #[serde(default)]
    pub process_ns: Option<u64>,
    /// Time that its threads were ready to run and did not, together.
    pub waited_ns: u64,
    /// Periods of the control group's quota in which something in the group was held back.
    pub throttled_periods: u64,
    /// Time that its control group was held back, on all CPUs together; none where it is not counted.
    #[serde(default)]
    pub throttled_ns: Option<u64>,
    /// CPU time of all other processes of the machine, the difference of two counts in parts of 10 ms, so that it may
    /// be below zero; none where it is not counted.
    #[serde(default)]
    pub others_ns: Option<i64>,
    /// CPU time of the whole machine that the hypervisor gave to others, in parts of 10 ms.
    pub stolen_ns: u64,
    /// CPUs of the machine.
    pub cpus: u64,
    /// `true` if it was stopped, and continued, or is stopped still.
    pub was_stopped: bool,
    /// Pages that it had to wait for while they were read from a disk.
    pub major_faults: u64,
    /// Stretches of time that these are the sums of.
    #[serde(default)]
    pub stretches: u64,
}

/// A cause that took time from a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// A quota of its control group.
    Quota,
    /// It was stopped by a signal or a debugger.
    Stopped,
    /// Other programs ran on its CPUs.
    OtherPrograms,
    /// The hypervisor's other guests.
    Steal,
    /// Its memory had been moved to a disk.
    Paging,
}

impl Losses {
    /// Adds what was lost in another stretch of time.
    pub fn and(self, other: Losses) -> Losses {
        Losses {
            wall_ns: self.wall_ns + other.wall_ns,
            cpu_ns: self.cpu_ns + other.cpu_ns,
            process_ns: self.process_ns.zip(other.process_ns).map(|(one, other)| one + other),
            waited_ns: self.waited_ns + other.waited_ns,
            throttled_periods: self.throttled_periods + other.throttled_periods,
            throttled_ns: self
                .throttled_ns
                .zip(other.throttled_ns)
                .map(|(one, other)| one + other),
            others_ns: self.others_ns.zip(other.others_ns).map(|(one, other)| one + other),
            stolen_ns: self.stolen_ns + other.stolen_ns,
            cpus: self.cpus.max(other.cpus),
            was_stopped: self.was_stopped || other.was_stopped,
            major_faults: self.major_faults + other.major_faults,
            stretches: self.stretches.max(1) + other.stretches.max(1),
        }
    }

    /// CPU time of all its threads, as far as it is known.
    fn all_cpu_ns(&self) -> u64 {
        let process_ns = self.process_ns.unwrap_or(0).saturating_sub(self.uncertain_ns());
        self.cpu_ns.max(process_ns)
    }

    /// What its CPU time and that of others may be wrong by.
    fn uncertain_ns(&self) -> u64 {
        (UNCERTAIN_NS as f64 * (self.stretches.max(1) as f64).sqrt()) as u64
    }

    /// What its threads waited because of the quota: as much as its group was held back, or all where only the periods
    /// are counted.
    fn waited_for_quota_ns(&self) -> u64 {
        match (self.throttled_ns, self.throttled_periods) {
            (Some(ns), _) => self.waited_ns.min(ns),
            (None, 0) => 0,
            (None, _) => self.waited_ns,
        }
    }

    /// What its threads waited because of other programs: the rest, as far as these can have taken it. Where they did
    /// less, its threads waited for one another.
    fn waited_for_others_ns(&self) -> u64 {
        let rest = self.waited_ns - self.waited_for_quota_ns();
        match self.others_ns {
            None => rest,
            Some(ns) => {
                let others = u64::try_from(ns).ok().filter(|ns| *ns >= self.uncertain_ns());
                rest.min(others.unwrap_or(0))
            }
        }
    }

    /// A part of what its threads waited, as a share of the time in which they could have run, from 0 to 1.
    fn of_ready_time(&self, waited_ns: u64) -> f64 {
        share(waited_ns, self.waited_ns + self.all_cpu_ns())
    }

    /// The share of the time in which its threads could have run that they waited for a CPU because of a quota or of
    /// other programs, from 0 to 1.
    pub fn waiting_for_cpus(&self) -> f64 {
        self.of_ready_time(self.waited_for_quota_ns() + self.waited_for_others_ns())
    }

    /// The share of all CPUs' time that the hypervisor gave to others, from 0 to 1.
    pub fn stolen(&self) -> f64 {
        share(self.stolen_ns, self.wall_ns * self.cpus)
    }

    /// The share of the time in which it neither ran nor waited for a CPU, from 0 to 1: of a process with something to
    /// do at any moment, what was lost in stops and on disks.
    pub fn asleep(&self) -> f64 {
        share(
            self.wall_ns
                .saturating_sub(self.all_cpu_ns())
                .saturating_sub(self.waited_ns),
            self.wall_ns,
        )
    }

    /// Returns whether at least [`DISTURBED`] of the time was lost, as far as that is known of any process.
    pub fn are_grave(&self) -> bool {
        self.waiting_for_cpus() >= DISTURBED || self.was_stopped
    }

    /// The causes, the gravest first: with the share that was lost to it, where that is known. Empty if less
    /// than [`DISTURBED`] was lost.
    ///
    /// `has_always_work` says that the process has one thread, with something to do at any moment, so that sleep is a
    /// loss;
    /// `takes_turns` that it has more threads than CPUs, so that they wait for one another.
    pub fn causes(&self, has_always_work: bool, takes_turns: bool) -> Vec<(Cause, Option<f64>)> {
        let mut causes = Vec::new();
        let for_quota = self.of_ready_time(self.waited_for_quota_ns());
        if for_quota >= DISTURBED {
            causes.push((Cause::Quota, Some(for_quota)));
        }
        let for_others = self.of_ready_time(self.waited_for_others_ns());
        if for_others >= DISTURBED && !takes_turns {
            causes.push((Cause::OtherPrograms, Some(for_others)));
        }
        let asleep = self.asleep();
        let is_asleep = has_always_work && asleep >= DISTURBED;
        if self.was_stopped {
            causes.push((Cause::Stopped, has_always_work.then_some(asleep)));
        } else if is_asleep && self.major_faults > 0 {
            causes.push((Cause::Paging, Some(asleep)));
        }
        // One tick may be rounding.
        if self.stolen() >= DISTURBED && self.stolen_ns > TICK_NS {
            causes.push((Cause::Steal, Some(self.stolen())));
        }
        causes.sort_by(|one, other| other.1.unwrap_or(1.0).total_cmp(&one.1.unwrap_or(1.0)));
        causes
    }
}

fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => (part as f64 / whole as f64).min(1.0),
    }
}

/// USER_HZ, a constant of Linux's interface on every machine in use.
const TICK_NS: u64 = 1_000_000_000 / 100;

/// What the time of others may be wrong by in one stretch. It is made of four differences of counts in whole ticks, the
/// user and the system time of the machine and of the process. Each has a standard error of √(1/6) ticks, 4 ms; all
/// together have 8 ms, and this is twice that. In a sum it grows with the square root of the number of terms.
const UNCERTAIN_NS: u64 = 16_000_000;

/// The system's counts of a process at a moment.
#[derive(Clone, Debug)]
pub struct Counts {
    at: Instant,
    /// Of each thread: nanoseconds on a CPU, and in its queue.
    threads: BTreeMap<usize, (u64, u64)>,
    /// CPU time of all threads, in parts of 10 ms, with that of threads that have ended.
    process_ns: Option<u64>,
    throttling: Throttling,
    machine: MachineTicks,
    major_faults: u64,
}

impl Counts {
    /// Reads the counts of a process; none where the system does not count what its threads wait.
    pub fn of(files: &SystemFiles, pid: u32) -> Option<Counts> {
        let folder = format!("/proc/{pid}");
        let threads: BTreeMap<usize, (u64, u64)> = files
            .numbered(format!("{folder}/task"), "")
            .into_iter()
            .filter_map(|thread| Some((thread, schedule_of(files, &format!("{folder}/task/{thread}"))?)))
            .collect();
        if threads.is_empty() {
            return None;
        }
        Some(Counts {
            threads,
            process_ns: ticks_of(files, &folder).map(|ticks| ticks * TICK_NS),
            throttling: Throttling::of(files, &folder),
            machine: MachineTicks::of(files).unwrap_or_default(),
            major_faults: major_faults(files, &folder).unwrap_or(0),
            at: Instant::now(),
        })
    }

    /// Keeps what was seen of threads in between: of those that end before the last counts are read.
    pub fn seen(&mut self, earlier: &Counts) {
        for (thread, counts) in &earlier.threads {
            self.threads.entry(*thread).or_insert(*counts);
        }
    }

    /// The losses from `self` to `later`. Whether it was stopped is known to its parent only: see [`was_stopped`].
    ///
    /// Of threads that began in between all is counted; of those that ended what [`seen`](Self::seen) has kept, and, to
    /// 10 ms, the process's CPU time.
    pub fn until(&self, later: &Counts) -> Losses {
        let (mut cpu_ns, mut waited_ns) = (0, 0);
        for (thread, (ran, waited)) in &later.threads {
            let before = self.threads.get(thread).copied().unwrap_or((0, 0));
            cpu_ns += ran.saturating_sub(before.0);
            waited_ns += waited.saturating_sub(before.1);
        }
        let process_ns = self.process_ns.zip(later.process_ns);
        let process_ns = process_ns.map(|(before, after)| after.saturating_sub(before));
        let throttled = self.throttling.until(&later.throttling);
        Losses {
            wall_ns: (later.at - self.at).as_nanos() as u64,
            cpu_ns,
            process_ns,
            waited_ns,
            throttled_periods: throttled.periods,
            throttled_ns: throttled.ns,
            others_ns: self.machine.busy.zip(later.machine.busy).map(|(before, after)| {
                let busy_ns = after.saturating_sub(before) * TICK_NS;
                // The sum of what was seen is exact, and that of the process has everything.
                busy_ns as i64 - process_ns.unwrap_or(cpu_ns) as i64
            }),
            stolen_ns: later.machine.stolen.saturating_sub(self.machine.stolen) * TICK_NS,
            cpus: later.machine.cpus,
            was_stopped: false,
            major_faults: later.major_faults.saturating_sub(self.major_faults),
            stretches: 1,
        }
    }
}

/// Returns whether a child of this process has been stopped or continued since this was last asked. False for a process
/// that is no child.
#[cfg(target_os = "linux")]
pub fn was_stopped(pid: u32) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let asked = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
    let mut seen = false;
    // A stop and the end of it are two events.
    while let Ok(Some(_)) = waitid(WaitId::Pid(pid), asked) {
        seen = true;
    }
    seen
}

/// Elsewhere nobody tells.
#[cfg(not(target_os = "linux"))]
pub fn was_stopped(_: u32) -> bool {
    false
}

/// Nanoseconds on a CPU and in its queue: the first two fields of `schedstat` (sched-stats.rst of Linux).
fn schedule_of(files: &SystemFiles, folder: &str) -> Option<(u64, u64)> {
    let text = files.text(format!("{folder}/schedstat")).ok()?;
    let mut fields = text.split_whitespace();
    let mut next = || fields.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Ticks of all CPUs together.
#[derive(Clone, Copy, Debug, Default)]
struct MachineTicks {
    /// At work, for whomever.
    busy: Option<u64>,
    stolen: u64,
    /// How many there are.
    cpus: u64,
}

impl MachineTicks {
    fn of(files: &SystemFiles) -> Option<MachineTicks> {
        let stat = files.text("/proc/stat").ok()?;
        let mut lines = stat.lines();
        let all = lines.next()?.strip_prefix("cpu ")?;
        // user nice system idle iowait irq softirq steal; guest time is in user already.
        let ticks: Vec<u64> = all.split_whitespace().map_while(|field| field.parse().ok()).collect();
        let [user, nice, system, _, _, irq, softirq, stolen, ..] = ticks[..] else {
            return None;
        };
        let cpus = lines.take_while(|line| line.starts_with("cpu")).count().max(1);
        Some(MachineTicks {
            busy: Some(user + nice + system + irq + softirq),
            stolen,
            cpus: cpus as u64,
        })
    }
}

/// User and system time in ticks: fields 14 and 15 of proc_pid_stat(5), counted after the name.
fn ticks_of(files: &SystemFiles, folder: &str) -> Option<u64> {
    let stat = files.text(format!("{folder}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(14 - 3);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Field 12 of proc_pid_stat(5), counted after the name.
fn major_faults(files: &SystemFiles, folder: &str) -> Option<u64> {
    let stat = files.text(format!("{folder}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(12 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests;
