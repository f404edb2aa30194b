//! Which CPUs there are, how they share cores and sockets, which of them this process may use, and where threads go.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{pin, system_files::SystemFiles, throttling};

/// One logical CPU that is online.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The number by which the operating system calls it.
    pub id: usize,
    /// The physical core: the smallest `id` on it.
    pub core: usize,
    /// The socket.
    pub package: usize,
    /// The memory that is nearest.
    pub numa_node: usize,
    /// Its place among the hardware threads of its core, from 0.
    pub smt_index: usize,
    /// How fast it is among its peers, where the kernel ranks them: on hybrid CPUs 1024 is a performance core.
    pub capacity: Option<u32>,
    /// `true` if this process may run on it.
    pub allowed: bool,
}

/// The logical CPUs of the machine that are online.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// In ascending order of `id`; at least one is allowed.
    pub cpus: Vec<Cpu>,
    /// CPUs' worth of time that the process's control group may use, where it is limited: 1.5 is three halves of a CPU.
    pub quota: Option<f64>,
    /// Why cores and sockets are unknown, where they are: each CPU is then taken for a core of one socket.
    pub unknown: Option<String>,
}

/// Where threads are to be pinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The CPU of each thread.
    pub cpus: Vec<usize>,
    /// Some threads have a core to share with another: the sibling CPU of their own.
    pub shares_cores: bool,
    /// There are more threads than CPUs that the process may use, or than its quota lets run at once: they take turns.
    pub oversubscribed: bool,
}

impl Topology {
    /// That of this machine, with the CPUs that the calling thread may use now: to be asked before it is pinned.
    pub fn detect() -> Topology {
        Self::read(&SystemFiles::of_this_machine(), pin::allowed_cpus().ok())
    }

    /// That which `files` describe, of which `allowed` CPUs may be used, or all.
    pub fn read(files: &SystemFiles, allowed: Option<Vec<usize>>) -> Topology {
        let quota = throttling::quota(files);
        let (mut cpus, unknown) = match read_cpus(files) {
            Ok(cpus) => (cpus, None),
            Err(reason) => (unrelated_cpus(allowed.as_deref()), Some(reason)),
        };
        if let Some(allowed) = allowed {
            cpus.iter_mut().for_each(|cpu| cpu.allowed = allowed.contains(&cpu.id));
            if !cpus.iter().any(|cpu| cpu.allowed) {
                // The two sources are at odds. What the scheduler says is what works.
                cpus = unrelated_cpus(Some(&allowed));
            }
        }
        Topology { cpus, quota, unknown }
    }

    /// CPUs that this process may use.
    pub fn allowed(&self) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(|cpu| cpu.allowed)
    }

    /// How many CPUs this process may use.
    pub fn allowed_cpus(&self) -> usize {
        self.allowed().count()
    }

    /// How many physical cores they are on.
    pub fn allowed_cores(&self) -> usize {
        count_distinct(self.allowed().map(|cpu| cpu.core))
    }

    /// Physical cores that are online.
    pub fn cores(&self) -> usize {
        count_distinct(self.cpus.iter().map(|cpu| cpu.core))
    }

    /// Sockets that have a CPU online.
    pub fn packages(&self) -> usize {
        count_distinct(self.cpus.iter().map(|cpu| cpu.package))
    }

    /// NUMA nodes that have a CPU online.
    pub fn numa_nodes(&self) -> usize {
        count_distinct(self.cpus.iter().map(|cpu| cpu.numa_node))
    }

    /// Returns whether cores run more than one hardware thread.
    pub fn has_smt(&self) -> bool {
        self.cores() < self.cpus.len()
    }

    /// Where `threads` threads go: one on each physical core first, the faster kind of core before the slower, one
    /// socket filled before the next; then the cores' second threads in the same order, and so on; then round again.
    pub fn placement(&self, threads: usize) -> Placement {
        let order = self.order();
        let cpus: Vec<usize> = order.iter().cycle().take(threads).map(|cpu| cpu.id).collect();
        Placement {
            cpus,
            shares_cores: order.len().min(threads) > self.allowed_cores(),
            // One thread has no other to take turns with, however small the quota.
            oversubscribed: threads > order.len()
                || (threads > 1 && self.quota.is_some_and(|quota| threads as f64 > quota)),
        }
    }

    /// The allowed CPUs in the order in which they are given out.
    fn order(&self) -> Vec<&Cpu> {
        // Ranks among those allowed, not `smt_index`: where only second threads are allowed they are firsts.
        let mut given_on_core: BTreeMap<usize, usize> = BTreeMap::new();
        let mut ranked: Vec<(usize, &Cpu)> = self
            .allowed()
            .map(|cpu| {
                let given = given_on_core.entry(cpu.core).or_default();
                *given += 1;
                (*given, cpu)
            })
            .collect();
        ranked.sort_by_key(|(rank, cpu)| {
            let slowness = u32::MAX - cpu.capacity.unwrap_or(0);
            (*rank, slowness, cpu.package, cpu.numa_node, cpu.id)
        });
        ranked.into_iter().map(|(_, cpu)| cpu).collect()
    }
}

fn count_distinct(ids: impl Iterator<Item = usize>) -> usize {
    let mut ids: Vec<usize> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

const CPUS: &str = "/sys/devices/system/cpu";

/// All online CPUs, all allowed; or why they cannot be told.
fn read_cpus(files: &SystemFiles) -> Result<Vec<Cpu>, String> {
    let online = files.list(format!("{CPUS}/online"))?;
    let mut nodes = BTreeMap::new();
    for node in files.numbered("/sys/devices/system/node", "node") {
        let cpus = files.list(format!("/sys/devices/system/node/node{node}/cpulist"));
        nodes.extend(cpus.into_iter().flatten().map(|cpu| (cpu, node)));
    }
    online
        .iter()
        .map(|&id| {
            let folder = PathBuf::from(format!("{CPUS}/cpu{id}"));
            let topology = folder.join("topology");
            // Kernels before 5.6 know only the older name.
            let siblings = files
                .list(topology.join("core_cpus_list"))
                .or_else(|_| files.list(topology.join("thread_siblings_list")))?;
            let position = siblings.iter().position(|&sibling| sibling == id);
            Ok(Cpu {
                id,
                core: siblings.iter().copied().min().unwrap_or(id),
                // −1 on boards that do not say.
                package: files
                    .number::<i64>(topology.join("physical_package_id"))
                    .map_or(0, |package| package.max(0) as usize),
                numa_node: nodes.get(&id).copied().unwrap_or(0),
                smt_index: position.unwrap_or(0),
                capacity: files.number(folder.join("cpu_capacity")).ok(),
                allowed: true,
            })
        })
        .collect::<Result<Vec<Cpu>, String>>()
        .and_then(|cpus| {
            if cpus.is_empty() {
                Err(format!("{CPUS}/online: no CPU is online"))
            } else {
                Ok(cpus)
            }
        })
}

/// CPUs of which nothing but the number is known.
fn unrelated_cpus(allowed: Option<&[usize]>) -> Vec<Cpu> {
    let ids = match allowed {
        Some(allowed) if !allowed.is_empty() => allowed.to_vec(),
        _ => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
    };
    ids.into_iter()
        .map(|id| Cpu {
            id,
            core: id,
            package: 0,
            numa_node: 0,
            smt_index: 0,
            capacity: None,
            allowed: true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_machine::FakeMachine;

    #[test]
    fn this_machine_has_a_place_for_a_thread() {
        let topology = Topology::detect();
        assert!(topology.allowed_cpus() >= 1);
        assert!(topology.allowed_cores() <= topology.allowed_cpus());
        assert!(topology.cores() >= 1 && topology.packages() >= 1);
        let placement = topology.placement(1);
        assert!(!placement.shares_cores && !placement.oversubscribed);
        assert_eq!(topology.placement(0).cpus, [] as [usize; 0]);
    }

    /// Two sockets of four cores of two threads, numbered as Intel servers are: first threads first.
    fn two_sockets() -> FakeMachine {
        let machine = FakeMachine::new();
        for core in 0..8 {
            machine.core(core / 4, &[core, core + 8]);
        }
        machine.online("0-15");
        machine
    }

    #[test]
    fn cores_are_filled_before_siblings_and_sockets_in_turn() {
        let topology = two_sockets().topology(None);
        assert_eq!((topology.cores(), topology.packages()), (8, 2));
        assert_eq!((topology.cpus.len(), topology.numa_nodes()), (16, 2));
        assert!(topology.has_smt());
        assert_eq!(topology.cpus[11].core, 3);
        assert_eq!(topology.cpus[11].smt_index, 1);
        assert_eq!(topology.cpus[13].package, 1);
        assert_eq!(topology.unknown, None);

        let placement = topology.placement(10);
        assert_eq!(placement.cpus, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(placement.shares_cores && !placement.oversubscribed);
        assert!(!topology.placement(8).shares_cores);
        assert!(!topology.placement(16).oversubscribed);
        let over = topology.placement(18);
        assert!(over.oversubscribed);
        assert_eq!(over.cpus[14..], [14, 15, 0, 1]);
    }

    #[test]
    fn siblings_that_are_neighbours_are_told_apart() {
        // Numbered as AMD desktops and many virtual machines are: both threads of a core in a row.
        let machine = FakeMachine::new();
        for core in 0..4 {
            machine.core(0, &[2 * core, 2 * core + 1]);
        }
        machine.online("0-7");
        let topology = machine.topology(None);
        assert_eq!(topology.placement(8).cpus, [0, 2, 4, 6, 1, 3, 5, 7]);
        assert!(!topology.placement(4).shares_cores);
        assert!(topology.placement(5).shares_cores);
    }

    #[test]
    fn offline_cpus_are_not_given_out() {
        let machine = two_sockets();
        machine.online("0-2,4-10,12-15");
        let topology = machine.topology(None);
        assert_eq!(topology.cpus.len(), 14);
        // Core 3 is gone altogether: CPU 11 is its second thread.
        assert_eq!(topology.cores(), 7);
        assert_eq!(
            topology.placement(14).cpus,
            [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15]
        );
    }

    #[test]
    fn only_allowed_cpus_are_given_out() {
        let topology = two_sockets().topology(Some(vec![1, 9, 10, 12, 15]));
        assert_eq!((topology.allowed_cpus(), topology.allowed_cores()), (5, 4));
        assert_eq!(topology.cpus.len(), 16);
        // 10, 12 and 15 are second threads whose firsts are not ours: each has its core alone.
        let placement = topology.placement(5);
        assert_eq!(placement.cpus, [1, 10, 12, 15, 9]);
        assert!(placement.shares_cores && !placement.oversubscribed);
        assert!(!topology.placement(4).shares_cores);
        let over = topology.placement(6);
        assert!(over.oversubscribed);
        assert_eq!(over.cpus[5], 1);
    }

    #[test]
    fn performance_cores_come_first() {
        let machine = FakeMachine::new();
        machine.core(0, &[0]);
        machine.core(0, &[1, 2]);
        machine.core(0, &[3]);
        machine.online("0-3");
        for (cpu, capacity) in [(0, "500"), (1, "1024"), (2, "1024"), (3, "500")] {
            machine.file(&format!("{CPUS}/cpu{cpu}/cpu_capacity"), capacity);
        }
        assert_eq!(machine.topology(None).placement(4).cpus, [1, 0, 3, 2]);
    }

    #[test]
    fn a_quota_oversubscribes() {
        let machine = two_sockets();
        machine.file("/proc/self/cgroup", "0::/\n");
        machine.file("/sys/fs/cgroup/cpu.max", "250000 100000\n");
        let topology = machine.topology(None);
        assert_eq!(topology.quota, Some(2.5));
        assert!(!topology.placement(2).oversubscribed);
        assert!(topology.placement(3).oversubscribed);
        machine.file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
        let topology = machine.topology(None);
        assert!(!topology.placement(1).oversubscribed);
        assert!(topology.placement(2).oversubscribed);
    }

    #[test]
    fn a_machine_that_says_nothing_still_runs_threads() {
        let machine = FakeMachine::new();
        let topology = machine.topology(Some(vec![3, 5]));
        assert!(topology.unknown.unwrap().contains("online"));
        assert_eq!(machine.topology(Some(vec![3, 5])).placement(3).cpus, [3, 5, 3]);
        assert!(machine.topology(None).allowed_cpus() >= 1);
        // The scheduler allows a CPU of which the files know nothing.
        assert_eq!(two_sockets().topology(Some(vec![99])).placement(1).cpus, [99]);
    }
}
