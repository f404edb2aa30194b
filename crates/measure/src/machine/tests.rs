//! A machine described, from this one and from files.

use super::*;
use crate::fake_machine::FakeMachine;

#[test]
fn this_machine_is_described_and_survives_json() {
    let machine = Machine::describe();
    let json = serde_json::to_string(&machine).unwrap();
    let read: Machine = serde_json::from_str(&json).unwrap();
    assert_eq!(read.rows(), machine.rows());
    assert!(machine.build.rustc.starts_with("rustc 1."));
    assert!(machine.build.is_optimised(), "tests are built as releases are");
    assert!(
        machine
            .rows()
            .iter()
            .all(|(name, value)| !name.is_empty() && !value.is_empty() || *name == "instruction sets")
    );
    for (name, value) in machine.rows() {
        eprintln!("{name}: {value}");
    }
}

fn fake_server() -> FakeMachine {
    let fake = FakeMachine::new();
    fake.core(0, &[0, 1]);
    fake.online("0-1");
    fake.file(
        "/proc/cpuinfo",
        "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: A CPU @ 2.30GHz\nstepping\t: 2\nmicrocode\t: 0x1\n\n\
         processor\t: 1\nmodel name\t: Another\n",
    );
    fake.file("/proc/meminfo", "MemFree: 1 kB\nMemTotal:       16384000 kB\n");
    fake.file("/proc/loadavg", "1.25 0.50 0.10 2/345 6789");
    fake.file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
    fake.file("/proc/stat", "cpu  50 0 0 900 0 0 0 50 0 0\ncpu0 1 1 1 1 1 1 1 1\n");
    fake.file("/etc/os-release", "NAME=x\nPRETTY_NAME=\"An OS 12\"\n");
    fake.file("/sys/hypervisor/type", "xen\n");
    for (cpu, governor) in [(0, "performance"), (1, "powersave")] {
        fake.file(
            &format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
            governor,
        );
    }
    fake.file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    for (index, level, kind, size, shared) in [
        (0, "1", "Data", "48K", "0-1"),
        (1, "1", "Instruction", "32K", "0-1"),
        (2, "2", "Unified", "2048K", "0-1"),
        (3, "3", "Unified", "260M", "0-47"),
    ] {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        fake.file(&format!("{folder}/level"), level);
        fake.file(&format!("{folder}/type"), kind);
        fake.file(&format!("{folder}/size"), size);
        fake.file(&format!("{folder}/shared_cpu_list"), shared);
    }
    fake
}

#[test]
fn files_are_understood() {
    let fake = fake_server();
    let machine = Machine::read(&fake.files(), fake.topology(None));
    assert_eq!(machine.cpu_model, Fact::Known("A CPU @ 2.30GHz".to_owned()));
    assert_eq!(
        machine.cpu_revision,
        Fact::Known("family 6, model 207, stepping 2, microcode 0x1".to_owned())
    );
    assert_eq!(machine.memory_bytes, Fact::Known(16_384_000 * 1024));
    assert_eq!(machine.os, Fact::Known("An OS 12".to_owned()));
    assert_eq!(machine.kernel, Fact::Known("6.1.0-test".to_owned()));
    assert_eq!(machine.hypervisor.as_deref(), Some("xen"));
    assert_eq!(machine.governor, Fact::Known("performance, powersave".to_owned()));
    assert_eq!(machine.turbo, Fact::Known(false));
    assert_eq!(machine.load_average, Fact::Known(1.25));
    assert_eq!(machine.steal_since_start, Fact::Known(0.05));
    assert_eq!(
        caches::in_words(&machine.caches),
        "L1d 48 KiB for 2 CPUs, L1i 32 KiB for 2 CPUs, L2 2 MiB for 2 CPUs, L3 260 MiB for 48 CPUs"
    );
    assert_eq!(in_binary_units(16_384_000 * 1024), "15.6 GiB");
}

#[test]
fn what_is_missing_has_a_reason() {
    let fake = FakeMachine::new();
    let machine = Machine::read(&fake.files(), fake.topology(Some(vec![0])));
    for fact in [&machine.governor, &machine.os, &machine.kernel, &machine.cpu_revision] {
        assert!(matches!(fact, Fact::Unknown(reason) if !reason.is_empty()), "{fact:?}");
    }
    assert!(matches!(&machine.turbo, Fact::Unknown(reason) if reason.contains("virtual machines")));
    assert!(matches!(&machine.memory_bytes, Fact::Unknown(reason) if reason.contains("/proc/meminfo")));
    assert!(matches!(machine.tsc, Fact::Unknown(_)));
    assert_eq!(machine.caches, []);
}

#[test]
fn boost_is_another_name_for_turbo() {
    let fake = FakeMachine::new();
    fake.file("/sys/devices/system/cpu/cpufreq/boost", "1");
    assert_eq!(turbo(&fake.files()), Fact::Known(true));
}
