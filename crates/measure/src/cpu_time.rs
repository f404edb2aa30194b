//! How long a process kept CPUs busy, by itself and through the system: what a shell's `time` prints along with the
//! wall time.

use std::fs;

use serde::{Deserialize, Serialize};

/// CPU time of all threads of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// In the program's own code.
    pub user_ns: u64,
    /// In the system on its behalf.
    pub system_ns: u64,
}

impl CpuTime {
    /// That of this process since it began. Linux counts it in hundredths of a second: differences over many short
    /// stretches add up to the right sum, single ones are coarse.
    ///
    /// None where the system does not say.
    pub fn of_this_process() -> Option<CpuTime> {
        parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Returns what was added since an earlier reading.
    pub fn since(self, earlier: CpuTime) -> CpuTime {
        CpuTime {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// Fields 14 and 15 (proc_pid_stat(5)), counted after the name, which may hold spaces and brackets.
fn parse(stat: &str) -> Option<CpuTime> {
    /// USER_HZ, a constant of Linux's interface on every machine in use.
    const TICK_NS: u64 = 1_000_000_000 / 100;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(14 - 3);
    let mut next = || Some(fields.next()?.parse::<u64>().ok()? * TICK_NS);
    Some(CpuTime {
        user_ns: next()?,
        system_ns: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let stat = "77 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 250 31 0 0 20 0 1 0 99";
        let expected = CpuTime {
            user_ns: 2_500_000_000,
            system_ns: 310_000_000,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("77 (short) S 1 2"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn work_shows() {
        let Some(before) = CpuTime::of_this_process() else {
            eprintln!("SKIPPED: this system does not tell CPU times in /proc");
            return;
        };
        let begin = std::time::Instant::now();
        let mut number = 1_u64;
        while begin.elapsed().as_millis() < 100 {
            number = std::hint::black_box(number.wrapping_mul(5));
        }
        let spent = CpuTime::of_this_process().unwrap().since(before);
        // Half of it, in case the machine is busy.
        assert!(spent.user_ns + spent.system_ns >= 20_000_000, "{spent:?}");
    }
}
