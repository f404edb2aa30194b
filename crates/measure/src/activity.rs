//! Use of the CPUs between two moments: this machine's programs, or the hypervisor's other guests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::system_files::SystemFiles;

/// The kernel's counts at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// All CPUs together, in the kernel's ticks.
    total_ticks: u64,
    idle_ticks: u64,
    steal_ticks: u64,
    cpus: usize,
    /// Of each process: its name and the ticks that it has used.
    processes: BTreeMap<u32, (String, u64)>,
}

/// Use of the machine between two moments, in CPUs: 0.5 is half of one CPU's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPUs that worked for this machine.
    pub busy_cpus: f64,
    /// CPUs that wanted to work and were not given the time by the hypervisor.
    pub stolen_cpus: f64,
    /// CPUs that there are.
    pub cpus: usize,
    /// The processes that used most, without this one, in descending order; none that used nothing.
    pub processes: Vec<ProcessUsage>,
}

/// The use of one process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// Its number.
    pub pid: u32,
    /// Its short name.
    pub name: String,
    /// CPUs that it kept busy.
    pub cpus: f64,
}

impl Activity {
    /// Reads the counts so far; or why they cannot be told.
    pub fn now(files: &SystemFiles) -> Result<Activity, String> {
        let stat = files.text("/proc/stat")?;
        let fields = |line: &str| -> Vec<u64> {
            line.split_whitespace()
                .skip(1)
                .map_while(|field| field.parse().ok())
                .collect()
        };
        // user nice system idle iowait irq softirq steal; guest time is in user already.
        let all: Vec<u64> = stat
            .lines()
            .find(|line| line.starts_with("cpu "))
            .map(fields)
            .filter(|all| all.len() >= 8)
            .ok_or("/proc/stat: no line for all CPUs")?;
        let is_one_cpu = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
        };
        Ok(Activity {
            total_ticks: all[..8].iter().sum(),
            idle_ticks: all[3] + all[4],
            steal_ticks: all[7],
            cpus: stat.lines().filter(is_one_cpu).count().max(1),
            processes: files
                .numbered("/proc", "")
                .into_iter()
                .filter_map(|pid| {
                    let stat = files.text(format!("/proc/{pid}/stat")).ok()?;
                    Some((u32::try_from(pid).ok()?, parse_process(&stat)?))
                })
                .collect(),
        })
    }

    /// The share of all CPU time since the machine started that the hypervisor gave to others.
    pub fn steal_since_start(&self) -> f64 {
        self.steal_ticks as f64 / self.total_ticks.max(1) as f64
    }

    /// Returns the use from `self` to `later`; none if no tick passed.
    pub fn until(&self, later: &Activity) -> Option<Usage> {
        let ticks = |of: fn(&Activity) -> u64| of(later).saturating_sub(of(self)) as f64;
        let total = ticks(|at| at.total_ticks);
        if total == 0.0 {
            return None;
        }
        let per_cpu = total / later.cpus as f64;
        let stolen = ticks(|at| at.steal_ticks);
        let own_pid = std::process::id();
        let mut processes: Vec<ProcessUsage> = later
            .processes
            .iter()
            .filter(|&(&pid, _)| pid != own_pid)
            .filter_map(|(&pid, (name, ticks))| {
                // One that was not there before has used all it has in between.
                let before = self.processes.get(&pid).map_or(0, |(_, ticks)| *ticks);
                let used = ticks.checked_sub(before).filter(|&used| used > 0)?;
                Some(ProcessUsage {
                    pid,
                    name: name.clone(),
                    cpus: used as f64 / per_cpu,
                })
            })
            .collect();
        processes.sort_by(|left, right| right.cpus.total_cmp(&left.cpus));
        Some(Usage {
            busy_cpus: (total - ticks(|at| at.idle_ticks) - stolen).max(0.0) / per_cpu,
            stolen_cpus: stolen / per_cpu,
            cpus: later.cpus,
            processes,
        })
    }
}

/// Name and used ticks from `pid (name) state ppid …`; the name may hold spaces and parentheses.
fn parse_process(stat: &str) -> Option<(String, u64)> {
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1;
    // After the name: the state is field 3, user and system time are fields 14 and 15 (proc_pid_stat(5)).
    let mut times = tail.split_whitespace().skip(11);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    Some((name.to_owned(), user + system))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_machine::FakeMachine;

    fn process(machine: &FakeMachine, pid: u32, name: &str, user: u64, system: u64) {
        machine.file(
            &format!("/proc/{pid}/stat"),
            &format!("{pid} ({name}) R 1 1 1 0 -1 4194304 100 0 0 0 {user} {system} 0 0 20 0"),
        );
    }

    fn cpus(machine: &FakeMachine, all: &str) {
        machine.file(
            "/proc/stat",
            &format!("cpu  {all}\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 5\n"),
        );
    }

    #[test]
    fn time_is_shared_out_among_its_users() {
        let machine = FakeMachine::new();
        cpus(&machine, "1000 0 500 8000 100 0 0 400 50 0");
        process(&machine, 7, "cargo (2) x", 100, 10);
        process(&machine, 8, "idle", 5, 5);
        process(&machine, std::process::id(), "me", 0, 0);
        let before = Activity::now(&machine.files()).unwrap();
        assert!((before.steal_since_start() - 0.04).abs() < 1e-12);

        // 200 ticks on two CPUs: 60 user, 20 system, 90 idle, 10 iowait, 20 stolen.
        cpus(&machine, "1060 0 520 8090 110 0 0 420 90 0");
        process(&machine, 7, "cargo (2) x", 140, 20);
        process(&machine, 9, "new", 10, 0);
        process(&machine, std::process::id(), "me", 20, 0);
        let later = Activity::now(&machine.files()).unwrap();
        let usage = before.until(&later).unwrap();
        assert_eq!(usage.cpus, 2);
        assert!((usage.busy_cpus - 0.8).abs() < 1e-12);
        assert!((usage.stolen_cpus - 0.2).abs() < 1e-12);
        let processes: Vec<(&str, f64)> = usage
            .processes
            .iter()
            .map(|process| (process.name.as_str(), process.cpus))
            .collect();
        assert_eq!(processes, [("cargo (2) x", 0.5), ("new", 0.1)]);
        assert_eq!(later.until(&later), None);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let machine = FakeMachine::new();
        assert!(Activity::now(&machine.files()).unwrap_err().contains("/proc/stat"));
        machine.file("/proc/stat", "cpu  1 2 3\n");
        assert!(Activity::now(&machine.files()).unwrap_err().contains("no line"));
        for nonsense in ["", "1 (x", "1 x) R", "1 (x) R 1"] {
            assert_eq!(parse_process(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_can_be_watched() {
        let files = SystemFiles::of_this_machine();
        let before = Activity::now(&files).unwrap();
        assert!(before.processes.contains_key(&std::process::id()));
        std::thread::sleep(std::time::Duration::from_millis(50));
        let usage = before.until(&Activity::now(&files).unwrap());
        let usage = usage.expect("clocks tick within 50 ms");
        assert!(usage.cpus >= 1);
        assert!(usage.busy_cpus <= usage.cpus as f64);
    }
}
