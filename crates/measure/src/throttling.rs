//! Quotas of control groups: how much of the CPUs a process may use, and how often it was held back.
//!
//! A quota is a time in each period (`docker run --cpus`, a limit of Kubernetes): a group that has used it up is held
//! back until the period ends. Every group limits those below it.

use crate::system_files::SystemFiles;

/// How often, and how long, groups were held back that a process is in: each group on the way to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Throttling(Vec<(String, Throttled)>);

/// How often, and how long, a group was held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Throttled {
    /// Periods in which something in it was.
    pub(crate) periods: u64,
    /// Time on all CPUs together; none where it is not counted.
    pub(crate) ns: Option<u64>,
}

impl Throttling {
    /// Reads the counts of the groups of a process, whose folder below `/proc` is given.
    pub(crate) fn of(files: &SystemFiles, process: &str) -> Throttling {
        let count = |group: &Group| Some((group.folder.clone(), group.throttled(files)?));
        Throttling(groups(files, process).iter().filter_map(count).collect())
    }

    /// What was added from `self` to `later`, of the group that was held back most. A group that the process has come
    /// to meanwhile says nothing of it: it may have been held back for days before.
    pub(crate) fn until(&self, later: &Throttling) -> Throttled {
        let since = |(folder, after): &(String, Throttled)| {
            let (_, before) = self.0.iter().find(|(known, _)| known == folder)?;
            Some(Throttled {
                periods: after.periods.saturating_sub(before.periods),
                ns: before
                    .ns
                    .zip(after.ns)
                    .map(|(before, after)| after.saturating_sub(before)),
            })
        };
        let each = later.0.iter().filter_map(since);
        each.max_by_key(|throttled| (throttled.ns, throttled.periods))
            .unwrap_or_default()
    }
}

/// The smallest quota of the control groups that this process is in, in CPUs: 1.5 is three halves of a CPU.
pub(crate) fn quota(files: &SystemFiles) -> Option<f64> {
    let groups = groups(files, "/proc/self");
    groups.iter().filter_map(|group| group.quota(files)).reduce(f64::min)
}

/// A control group with a controller of CPU time.
struct Group {
    /// Where its files are.
    folder: String,
    version: Version,
}

#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

impl Version {
    /// Where hierarchies with the controller are mounted.
    fn mounts(self) -> [&'static str; 2] {
        match self {
            Version::One => ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"],
            Version::Two => ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
        }
    }
}

impl Group {
    fn quota(&self, files: &SystemFiles) -> Option<f64> {
        let folder = &self.folder;
        match self.version {
            // `max 100000`, or microseconds of CPU time in each period of microseconds.
            Version::Two => {
                let text = files.text(format!("{folder}/cpu.max")).ok()?;
                let (quota, period) = text.split_once(' ')?;
                share(quota.parse().ok()?, period.parse().ok()?)
            }
            // In two files; −1 is no limit.
            Version::One => {
                let quota = files.number(format!("{folder}/cpu.cfs_quota_us")).ok()?;
                let period = files.number(format!("{folder}/cpu.cfs_period_us")).ok()?;
                share(quota, period)
            }
        }
    }

    /// `nr_throttled` has the same name in both versions, and the time another, in another unit.
    fn throttled(&self, files: &SystemFiles) -> Option<Throttled> {
        let text = files.text(format!("{}/cpu.stat", self.folder)).ok()?;
        let number = |name: &str| {
            let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok();
            text.lines().find_map(value)
        };
        Some(Throttled {
            periods: number("nr_throttled")?,
            ns: match self.version {
                Version::One => number("throttled_time"),
                Version::Two => number("throttled_usec").and_then(|us| us.checked_mul(1000)),
            },
        })
    }
}

fn share(quota_us: f64, period_us: f64) -> Option<f64> {
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

/// The groups of a process, each with those above it.
fn groups(files: &SystemFiles, process: &str) -> Vec<Group> {
    let membership = files.text(format!("{process}/cgroup")).unwrap_or_default();
    let of_line = |line: &str| {
        // `hierarchy:controllers:path`; version 2 has no controllers there.
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let version = match controllers {
            "" => Version::Two,
            _ if controllers.split(',').any(|name| name == "cpu") => Version::One,
            _ => return None,
        };
        let folders = ancestors(path).flat_map(move |group| version.mounts().map(|mount| format!("{mount}{group}")));
        Some(
            folders
                .map(move |folder| Group { folder, version })
                .collect::<Vec<Group>>(),
        )
    };
    membership.lines().filter_map(of_line).flatten().collect()
}

/// `/a/b`, `/a` and the root, as parts of a path: the root is empty.
fn ancestors(path: &str) -> impl Iterator<Item = String> {
    let path = path.trim_end_matches('/').to_owned();
    std::iter::successors(Some(path), |path| path.rfind('/').map(|end| path[..end].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_machine::FakeMachine;

    #[test]
    fn the_smallest_quota_on_the_way_to_the_root_counts() {
        let machine = FakeMachine::new();
        assert_eq!(quota(&machine.files()), None);
        machine.file("/proc/self/cgroup", "0::/a/b\n");
        machine.file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        assert_eq!(quota(&machine.files()), None);
        machine.file("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
        machine.file("/sys/fs/cgroup/cpu.max", "800000 100000\n");
        assert_eq!(quota(&machine.files()), Some(2.5));
    }

    #[test]
    fn version_1_has_two_files() {
        let machine = FakeMachine::new();
        machine.file("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n0::/\n");
        machine.file("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "50000");
        machine.file("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000");
        assert_eq!(quota(&machine.files()), Some(0.5));
        machine.file("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1");
        assert_eq!(quota(&machine.files()), None);
    }

    #[test]
    fn the_group_that_was_held_back_most_counts() {
        let machine = FakeMachine::new();
        machine.file("/proc/7/cgroup", "4:cpu:/x/y\n0::/v2\n");
        let at = |inner: u64, outer: u64, v2: u64| {
            machine.file(
                "/sys/fs/cgroup/cpu/x/y/cpu.stat",
                &format!(
                    "nr_periods 9\nnr_throttled {inner}\nthrottled_time {}\n",
                    inner * 1_000_000
                ),
            );
            machine.file(
                "/sys/fs/cgroup/cpu/x/cpu.stat",
                &format!(
                    "nr_periods 9\nnr_throttled {outer}\nthrottled_time {}\n",
                    outer * 1_000_000
                ),
            );
            machine.file(
                "/sys/fs/cgroup/v2/cpu.stat",
                &format!("usage_usec 1\nnr_throttled {v2}\nthrottled_usec {}\n", v2 * 1_000),
            );
            Throttling::of(&machine.files(), "/proc/7")
        };
        let throttled = |periods: u64| Throttled {
            periods,
            ns: Some(periods * 1_000_000),
        };
        let before = at(3, 10, 0);
        assert_eq!(before.until(&at(3, 10, 0)), throttled(0));
        assert_eq!(before.until(&at(4, 17, 2)), throttled(7));
        assert_eq!(before.until(&at(3, 11, 9)), throttled(9));
        let nobody = Throttling::of(&machine.files(), "/proc/8");
        assert_eq!(nobody.until(&nobody), Throttled::default());
        // Moved to other groups between the two.
        assert_eq!(nobody.until(&before), Throttled::default());
        // Periods without a time.
        machine.file("/proc/7/cgroup", "0::/v2\n");
        let bare = |periods: u64| {
            machine.file("/sys/fs/cgroup/v2/cpu.stat", &format!("nr_throttled {periods}\n"));
            Throttling::of(&machine.files(), "/proc/7")
        };
        let before = bare(1);
        assert_eq!(before.until(&bare(3)), Throttled { periods: 2, ns: None });
    }
}
