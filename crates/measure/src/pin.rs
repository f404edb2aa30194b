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
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    pub(super) fn pin(cpu: usize) -> Result<(), String> {
        if cpu >= CpuSet::MAX_CPU {
            return Err(format!("there are at most {} CPUs", CpuSet::MAX_CPU));
        }
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set).map_err(|error| match error {
            rustix::io::Errno::INVAL => "it is offline, or not one this process may use".to_owned(),
            error => error.to_string(),
        })
    }

    pub(super) fn allowed() -> Result<Vec<usize>, String> {
        let set = sched_getaffinity(None).map_err(|error| error.to_string())?;
        Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
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
