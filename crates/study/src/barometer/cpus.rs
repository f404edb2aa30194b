//! A CPU's name, numbers and instruction sets belong together.

use super::{
    entry::{Cell, Entry, Session, cpu},
    refusal::{Check, Refusals},
};

/// The CPU of each session, and that the entry's title says it.
pub(super) fn cpus(entry: &Entry, refusals: &mut Refusals) {
    let Some(first) = entry.sessions.first() else {
        refusals.unless(false, Check::Facts, || "there is no session".to_owned());
        return;
    };
    let of_first = cpu(&first.machine);
    refusals.unless(entry.cpu == of_first, Check::Cpu, || {
        format!(
            "the entry is titled '{:.120}', and its machine is '{of_first:.120}'",
            entry.cpu
        )
    });
    for session in &entry.sessions {
        let machine = &session.machine;
        refusals.unless(cpu(machine) == of_first, Check::Cpu, || {
            format!("sessions 1 and {} ran on different CPUs", session.number)
        });
        let name = machine.cpu_model.known().map_or("", String::as_str);
        let revision = machine.cpu_revision.known().map_or("", String::as_str);
        // AMD's families of 64 bits count from 15, Intel's are 6 but for a few: 18 and 19 are its latest.
        let family = revision
            .strip_prefix("family ")
            .and_then(|rest| rest.split_whitespace().next());
        let family = family.and_then(|family| family.trim_end_matches(',').parse::<u32>().ok());
        let belongs = match family {
            Some(family) if name.contains("AMD") => family >= 15,
            Some(family) if name.contains("Intel") => family < 15 || matches!(family, 18 | 19),
            _ => true,
        };
        refusals.unless(belongs, Check::Cpu, || {
            format!("session {}: '{name:.80}' is not of {revision:.40}", session.number)
        });
        let kind = machine.microarchitecture().unwrap_or_default();
        let has = |feature: &str| machine.features.iter().any(|known| known == feature);
        for (kinds, feature) in LACKING {
            let is_of_kind = kinds.iter().any(|named| kind.starts_with(named));
            refusals.unless(!(is_of_kind && has(feature)), Check::Cpu, || {
                format!("session {}: no CPU of '{kind:.60}' has {feature}", session.number)
            });
        }
        for (kinds, feature) in HAVING {
            let is_of_kind = kinds.iter().any(|named| kind.starts_with(named));
            let is_visible = has(feature) || machine.hypervisor.is_some();
            refusals.unless(!is_of_kind || is_visible, Check::Cpu, || {
                format!("session {}: every CPU of '{kind:.60}' has {feature}", session.number)
            });
        }
    }
    let features = |session: &Session| session.machine.features.clone();
    let of_own = |cell: &&Cell| cell.engine.split(':').next() == Some("own");
    for cell in entry.groups.iter().flat_map(|group| &group.cells).filter(of_own) {
        let kernel = &cell.readiness.kernel;
        let needs_ifma = kernel.contains("ifma");
        let has_ifma = features(first).iter().any(|feature| feature.contains("ifma"));
        refusals.unless(!needs_ifma || has_ifma, Check::Cpu, || {
            format!("the kernel {kernel:.40} ran, and the CPU has no IFMA")
        });
    }
}

/// Kinds of CPU that never have an instruction set.
const LACKING: [(&[&str], &str); 3] = [
    (
        &["Zen,", "Zen+", "Zen 2", "Zen 3", "Haswell", "Broadwell"],
        "avx512ifma",
    ),
    (
        &["Zen,", "Zen+", "Zen 2", "Zen 3", "Haswell", "Broadwell", "Skylake ("],
        "avx512f",
    ),
    (&["Skylake-X", "Cascade Lake", "Cooper Lake"], "avx512ifma"),
];

/// Kinds of CPU that always have one, unless a hypervisor hides it.
const HAVING: [(&[&str], &str); 2] = [
    (&["Zen 4", "Zen 5", "Ice Lake server", "Sapphire Rapids"], "avx512ifma"),
    (&["Zen,", "Zen+", "Zen 2", "Zen 3"], "avx2"),
];
