//! Conditions of this machine, now, that would disturb a measurement.

use std::time::Duration;

use crate::{
    activity::{Activity, Usage},
    machine::Machine,
    system_files::SystemFiles,
    topology::Topology,
};

/// How long [`busy_warnings`] watches the machine.
pub const WATCH: Duration = Duration::from_millis(300);

/// Sentences for the user: everything that would disturb a measurement that began now. Watches the machine for
/// [`WATCH`] while the calling thread sleeps, so this process should be doing nothing else.
pub fn busy_warnings(machine: &Machine) -> Vec<String> {
    let files = SystemFiles::of_this_machine();
    let usage = Activity::now(&files).ok().and_then(|before| {
        std::thread::sleep(WATCH);
        before.until(&Activity::now(&files).ok()?)
    });
    warnings(machine, usage.as_ref())
}

/// The sentences for a machine of which this is known.
fn warnings(machine: &Machine, usage: Option<&Usage>) -> Vec<String> {
    let topology = &machine.topology;
    [
        usage.and_then(other_programs),
        usage.and_then(stolen),
        load(machine),
        governor(machine),
        siblings(topology),
        quota(topology),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A tenth of a CPU is what a desktop does at rest.
fn other_programs(usage: &Usage) -> Option<String> {
    const TOLERATED_CPUS: f64 = 0.1;
    const NAMED: usize = 3;
    if usage.busy_cpus <= TOLERATED_CPUS {
        return None;
    }
    let named: Vec<String> = usage
        .processes
        .iter()
        .take(NAMED)
        .map(|process| format!("{} (process {}) {:.2}", process.name, process.pid, process.cpus))
        .collect();
    let most = if named.is_empty() {
        String::new()
    } else {
        format!(", most of it {}", named.join(", "))
    };
    Some(format!(
        "other programs are using {:.2} of {} CPUs{most}: end them, or wait",
        usage.busy_cpus, usage.cpus
    ))
}

fn stolen(usage: &Usage) -> Option<String> {
    const TOLERATED_SHARE: f64 = 0.01;
    let share = usage.stolen_cpus / usage.cpus as f64;
    (share > TOLERATED_SHARE).then(|| {
        format!(
            "the hypervisor gives {:.1} % of this machine's CPU time to other guests (steal)",
            100.0 * share
        )
    })
}

/// The mean of a minute lags: the other programs are named by what they do now.
fn load(machine: &Machine) -> Option<String> {
    const TOLERATED_PER_CPU: f64 = 0.25;
    let load = *machine.load_average.known()?;
    let cpus = machine.topology.cpus.len();
    (load > TOLERATED_PER_CPU * cpus as f64).then(|| {
        format!("the load average of the last minute is {load:.2} on {cpus} CPUs: let the machine come to rest")
    })
}

fn governor(machine: &Machine) -> Option<String> {
    let governor = machine.governor.known()?;
    (governor != "performance").then(|| {
        format!(
            "the CPU frequency governor is '{governor}', which follows the load: \
             'cpupower frequency-set -g performance' holds the clock"
        )
    })
}

fn siblings(topology: &Topology) -> Option<String> {
    topology.has_smt().then(|| {
        format!(
            "cores run more than one hardware thread ({} CPUs on {} cores): whatever runs on the sibling of a \
             measured CPU slows it down",
            topology.cpus.len(),
            topology.cores()
        )
    })
}

fn quota(topology: &Topology) -> Option<String> {
    let quota = topology.quota?;
    let allowed = topology.allowed_cpus();
    (quota < allowed as f64).then(|| {
        format!(
            "the control group may use {quota:.2} CPUs' time, though {allowed} CPUs are visible: more threads are \
             throttled"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{activity::ProcessUsage, fact::Fact, fake_machine::FakeMachine};

    fn quiet_machine() -> (FakeMachine, Machine) {
        let fake = FakeMachine::new();
        for cpu in 0..4 {
            fake.core(0, &[cpu]);
        }
        fake.online("0-3");
        fake.file("/proc/loadavg", "0.10 0.20 0.30 1/100 4242");
        let machine = Machine::read(&fake.files(), fake.topology(None));
        (fake, machine)
    }

    fn quiet() -> Usage {
        Usage {
            busy_cpus: 0.05,
            stolen_cpus: 0.02,
            cpus: 4,
            processes: vec![],
        }
    }

    #[test]
    fn a_quiet_machine_is_not_complained_about() {
        let (_files, machine) = quiet_machine();
        assert_eq!(warnings(&machine, Some(&quiet())), [] as [&str; 0]);
        assert_eq!(warnings(&machine, None), [] as [&str; 0]);
    }

    #[test]
    fn each_disturbance_is_named() {
        let (fake, machine) = quiet_machine();
        let one = |machine: &Machine, usage: Usage| {
            let mut warnings = warnings(machine, Some(&usage));
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            warnings.remove(0)
        };

        let busy = Usage {
            busy_cpus: 0.93,
            processes: vec![ProcessUsage {
                pid: 77,
                name: "cargo".to_owned(),
                cpus: 0.9,
            }],
            ..quiet()
        };
        let warning = one(&machine, busy);
        assert!(
            warning.contains("0.93 of 4 CPUs, most of it cargo (process 77) 0.90"),
            "{warning}"
        );

        let stolen = Usage {
            stolen_cpus: 0.4,
            ..quiet()
        };
        assert!(one(&machine, stolen).contains("10.0 %"));

        let mut loaded = machine.clone();
        loaded.load_average = Fact::Known(1.5);
        assert!(one(&loaded, quiet()).contains("1.50 on 4 CPUs"));

        let mut governed = machine.clone();
        governed.governor = Fact::Known("powersave".to_owned());
        assert!(one(&governed, quiet()).contains("'powersave'"));
        governed.governor = Fact::Known("performance".to_owned());
        assert!(warnings(&governed, Some(&quiet())).is_empty());

        let mut throttled = machine.clone();
        throttled.topology.quota = Some(1.5);
        assert!(one(&throttled, quiet()).contains("1.50 CPUs' time"));

        fake.core(0, &[0, 1]);
        fake.core(0, &[2, 3]);
        let siblings = Machine::read(&fake.files(), fake.topology(None));
        assert!(one(&siblings, quiet()).contains("4 CPUs on 2 cores"));
    }

    #[test]
    fn this_machine_is_judged() {
        let machine = Machine::unmeasured();
        for warning in busy_warnings(&machine) {
            assert!(!warning.is_empty() && !warning.contains("NaN"), "{warning}");
        }
    }
}
