//! Which CPUs a thread may run on: read and set.

/// Why a thread could not be pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// The operating system refused.
    #[error("this thread cannot be pinned to CPU {cpu}: {reason}")]
    Refused {
        /// Where it should have gone.
        cpu: usize,
        /// The reason, as the system gave it.
        reason: String,
    },
    /// The operating system did not answer.
    #[error("the CPUs that this thread may use are not known: {0}")]
    Unknown(String),
}

/// Binds the calling thread to one CPU, for as long as it lives or until it is bound to another.
pub fn pin_current_thread(cpu: usize) -> Result<(), PinError> {
    system::pin(cpu).map_err(|reason| PinError::Refused { cpu, reason })
}

/// The CPUs that the calling thread may run on now, ascending: what `taskset`, a container's `cpuset` and pinning left.
pub fn allowed_cpus() -> Result<Vec<usize>, PinError> {
    system::allowed().map_err(PinError::Unknown)
}

/// The CPU on which the calling thread is running; a thread that is not pinned may have left it when the answer comes.
pub fn current_cpu() -> Option<usize> {
    system::current()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use rustix::{
        io::Errno,
        thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
    };

    use crate::system_files::SystemFiles;

    pub(super) fn pin(cpu: usize) -> Result<(), String> {
        if cpu >= CpuSet::MAX_CPU {
            return Err(format!(
                "a thread can be pinned to one of the first {} CPUs",
                CpuSet::MAX_CPU
            ));
        }
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set).map_err(|error| match error {
            Errno::INVAL => "it is offline, or not one this process may use".to_owned(),
            error => error.to_string(),
        })
    }

    pub(super) fn allowed() -> Result<Vec<usize>, String> {
        match sched_getaffinity(None) {
            Ok(set) => Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()),
            // The machine has room for more CPUs than the set has, be they there or not.
            Err(Errno::INVAL) => listed(&SystemFiles::of_this_machine()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The system's list of CPUs of the calling thread, without those that are offline.
    pub(super) fn listed(files: &SystemFiles) -> Result<Vec<usize>, String> {
        let mut cpus = files.labelled_list("/proc/thread-self/status", "Cpus_allowed_list:")?;
        if let Ok(online) = files.list("/sys/devices/system/cpu/online") {
            cpus.retain(|cpu| online.contains(cpu));
        }
        Ok(cpus)
    }

    pub(super) fn current() -> Option<usize> {
        Some(sched_getcpu())
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    const REASON: &str = "threads are pinned on Linux only";

    pub(super) fn pin(_cpu: usize) -> Result<(), String> {
        Err(REASON.to_owned())
    }

    pub(super) fn allowed() -> Result<Vec<usize>, String> {
        Err(REASON.to_owned())
    }

    pub(super) fn current() -> Option<usize> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::fake_machine::FakeMachine;

    #[test]
    fn a_pinned_thread_stays_where_it_is_put() {
        let allowed = allowed_cpus().unwrap();
        assert!(!allowed.is_empty());
        // Threads of their own: this one may go on wherever it likes.
        for &cpu in &allowed {
            std::thread::spawn(move || {
                pin_current_thread(cpu).unwrap();
                assert_eq!(allowed_cpus().unwrap(), [cpu]);
                assert_eq!(current_cpu(), Some(cpu));
            })
            .join()
            .unwrap();
        }
        assert_eq!(allowed_cpus().unwrap(), allowed);
    }

    #[test]
    fn cpus_that_no_set_has_room_for_are_listed() {
        let machine = FakeMachine::new();
        assert!(system::listed(&machine.files()).is_err());
        machine.file(
            "/proc/thread-self/status",
            "Name:\tmeasure\nCpus_allowed:\t3,00000003\nCpus_allowed_list:\t0-1,2046-2047\nMems_allowed:\t1\n",
        );
        assert_eq!(system::listed(&machine.files()), Ok(vec![0, 1, 2046, 2047]));
        machine.online("0-1023,2047");
        assert_eq!(system::listed(&machine.files()), Ok(vec![0, 1, 2047]));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        let allowed = allowed_cpus().unwrap();
        let absent = (0..1024).rev().find(|cpu| !allowed.contains(cpu));
        for cpu in absent.into_iter().chain([1024, usize::MAX]) {
            std::thread::spawn(move || {
                let error = pin_current_thread(cpu).unwrap_err();
                assert!(matches!(error, PinError::Refused { cpu: at, .. } if at == cpu));
            })
            .join()
            .unwrap();
        }
    }
}
