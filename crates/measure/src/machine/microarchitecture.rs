//! The name of a CPU's microarchitecture, from the numbers by which it identifies itself: a model name such as "AMD
//! EPYC", which is all that many virtual machines show, says nothing about speed.
//!
//! Sources: Linux, `arch/x86/include/asm/intel-family.h` for Intel, `bsp_init_amd` in `arch/x86/kernel/cpu/amd.c` for
//! the generations of Zen, `arch/arm64/include/asm/cputype.h` for ARM; AMD's revision guides, one for each range of
//! models, for its products; Intel's specification updates of the Xeon Scalable and Core families for steppings.

use std::ops::RangeInclusive;

/// Family, models, name.
const AMD: &[(u32, RangeInclusive<u32>, &str)] = &[
    (0x17, 0x00..=0x07, "Zen, Naples or Summit Ridge"),
    (0x17, 0x08..=0x08, "Zen+, Pinnacle Ridge"),
    (0x17, 0x10..=0x17, "Zen, Raven Ridge"),
    (0x17, 0x18..=0x18, "Zen+, Picasso"),
    (0x17, 0x20..=0x2f, "Zen, Dali"),
    (0x17, 0x30..=0x3f, "Zen 2, Rome or Castle Peak"),
    (0x17, 0x60..=0x67, "Zen 2, Renoir"),
    (0x17, 0x68..=0x6f, "Zen 2, Lucienne"),
    (0x17, 0x70..=0x7f, "Zen 2, Matisse"),
    (0x17, 0x90..=0x91, "Zen 2, Van Gogh"),
    (0x17, 0xa0..=0xaf, "Zen 2, Mendocino"),
    (0x19, 0x00..=0x07, "Zen 3, Milan"),
    (0x19, 0x08..=0x0f, "Zen 3, Chagall"),
    (0x19, 0x10..=0x17, "Zen 4, Genoa"),
    (0x19, 0x18..=0x1f, "Zen 4, Storm Peak"),
    (0x19, 0x20..=0x2f, "Zen 3, Vermeer"),
    (0x19, 0x30..=0x3f, "Zen 3, Trento"),
    (0x19, 0x40..=0x4f, "Zen 3+, Rembrandt"),
    (0x19, 0x50..=0x5f, "Zen 3, Cezanne"),
    (0x19, 0x60..=0x6f, "Zen 4, Raphael"),
    (0x19, 0x70..=0x7f, "Zen 4, Phoenix"),
    (0x19, 0xa0..=0xaf, "Zen 4c, Bergamo or Siena"),
    (0x1a, 0x00..=0x0f, "Zen 5, Turin"),
    (0x1a, 0x10..=0x1f, "Zen 5c, Turin Dense"),
    (0x1a, 0x20..=0x2f, "Zen 5, Strix Point"),
    (0x1a, 0x40..=0x4f, "Zen 5, Granite Ridge"),
    (0x1a, 0x60..=0x6f, "Zen 5, Krackan Point"),
    (0x1a, 0x70..=0x7f, "Zen 5, Strix Halo"),
];

/// Models of family 6, steppings, name.
const INTEL: &[(&[u32], RangeInclusive<u32>, &str)] = &[
    (&[0x1a, 0x1e, 0x1f, 0x2e], ANY, "Nehalem"),
    (&[0x25, 0x2c, 0x2f], ANY, "Westmere"),
    (&[0x2a, 0x2d], ANY, "Sandy Bridge"),
    (&[0x3a, 0x3e], ANY, "Ivy Bridge"),
    (&[0x3c, 0x45, 0x46], ANY, "Haswell"),
    (&[0x3f], ANY, "Haswell server"),
    (&[0x3d, 0x47], ANY, "Broadwell"),
    (&[0x4f, 0x56], ANY, "Broadwell server"),
    (&[0x4e, 0x5e], ANY, "Skylake"),
    (&[0x55], 0..=4, "Skylake-X"),
    (&[0x55], 5..=7, "Cascade Lake"),
    (&[0x55], 8..=15, "Cooper Lake"),
    (&[0x8e, 0x9e], 0..=9, "Kaby Lake"),
    (&[0x8e, 0x9e], 10..=15, "Coffee Lake"),
    (&[0xa5, 0xa6], ANY, "Comet Lake"),
    (&[0x66], ANY, "Cannon Lake"),
    (&[0x6a, 0x6c], ANY, "Ice Lake server"),
    (&[0x7d, 0x7e, 0x9d], ANY, "Ice Lake"),
    (&[0x8c, 0x8d], ANY, "Tiger Lake"),
    (&[0xa7], ANY, "Rocket Lake"),
    (&[0x8f], ANY, "Sapphire Rapids"),
    (&[0xcf], ANY, "Emerald Rapids"),
    (&[0xad, 0xae], ANY, "Granite Rapids"),
    (&[0x97, 0x9a], ANY, "Alder Lake"),
    (&[0xbe], ANY, "Alder Lake-N (Gracemont)"),
    (&[0xb7, 0xba, 0xbf], ANY, "Raptor Lake"),
    (&[0xaa, 0xac], ANY, "Meteor Lake"),
    (&[0xb5, 0xc5, 0xc6], ANY, "Arrow Lake"),
    (&[0xbd], ANY, "Lunar Lake"),
    (&[0xcc], ANY, "Panther Lake"),
    (&[0xaf], ANY, "Sierra Forest"),
    (&[0xdd], ANY, "Clearwater Forest"),
    (&[0x5c, 0x5f], ANY, "Goldmont"),
    (&[0x7a], ANY, "Goldmont Plus"),
    (&[0x86, 0x96, 0x9c], ANY, "Tremont"),
    (&[0x57], ANY, "Knights Landing"),
    (&[0x85], ANY, "Knights Mill"),
];

const ANY: RangeInclusive<u32> = 0..=u32::MAX;

/// Implementer, parts, name.
const ARM: &[(u32, &[u32], &str)] = &[
    (0x41, &[0xd03], "Cortex-A53"),
    (0x41, &[0xd05], "Cortex-A55"),
    (0x41, &[0xd07], "Cortex-A57"),
    (0x41, &[0xd08], "Cortex-A72"),
    (0x41, &[0xd0b], "Cortex-A76"),
    (0x41, &[0xd0c], "Neoverse N1"),
    (0x41, &[0xd0d], "Cortex-A77"),
    (0x41, &[0xd40], "Neoverse V1"),
    (0x41, &[0xd41], "Cortex-A78"),
    (0x41, &[0xd44], "Cortex-X1"),
    (0x41, &[0xd47], "Cortex-A710"),
    (0x41, &[0xd48], "Cortex-X2"),
    (0x41, &[0xd49], "Neoverse N2"),
    (0x41, &[0xd4e], "Cortex-X3"),
    (0x41, &[0xd4f], "Neoverse V2"),
    (0x41, &[0xd81], "Cortex-A720"),
    (0x41, &[0xd82], "Cortex-X4"),
    (0x41, &[0xd83, 0xd84], "Neoverse V3"),
    (0x41, &[0xd85], "Cortex-X925"),
    (0x41, &[0xd8e], "Neoverse N3"),
    (0x46, &[0x001], "A64FX"),
    (0x48, &[0xd01], "TSV110"),
    (0x61, &[0x022, 0x023, 0x024, 0x025, 0x028, 0x029], "Apple M1"),
    (0x61, &[0x032, 0x033, 0x034, 0x035, 0x038, 0x039], "Apple M2"),
    (0x6d, &[0xd49], "Neoverse N2 (Azure Cobalt 100)"),
    (0xc0, &[0xac3, 0xac4], "Ampere-1"),
];

/// The microarchitecture of a CPU from its name and its revision, both as [`Machine`](super::Machine) has them, with
/// the numbers it was found by: `Zen 4, Genoa (family 25 model 17)`. Only the numbers where they are not in the tables;
/// none without numbers.
pub(super) fn describe(cpu_model: &str, cpu_revision: &str) -> Option<String> {
    let number = |word: &str| number_after(cpu_revision, word);
    let (name, numbers) = match (number("family"), number("model")) {
        (Some(family), Some(model)) => {
            let stepping = number("stepping").unwrap_or(0);
            let name = x86(cpu_model, family, model, stepping);
            (name, format!("family {family} model {model}"))
        }
        _ => {
            let (implementer, part) = (number("implementer")?, number("part")?);
            let mut parts = ARM.iter();
            let found = parts.find(|(by, parts, _)| *by == implementer && parts.contains(&part));
            let name = found.map(|(_, _, name)| *name);
            (name, format!("implementer {implementer:#x} part {part:#x}"))
        }
    };
    Some(match name {
        Some(name) => format!("{name} ({numbers})"),
        None => numbers,
    })
}

/// The vendor is not stored by itself, but the two have had no family in common since AMD's families begin at 15.
fn x86(cpu_model: &str, family: u32, model: u32, stepping: u32) -> Option<&'static str> {
    if family == 6 && !cpu_model.contains("AMD") {
        let mut models = INTEL.iter();
        let is_it =
            |models: &[u32], steppings: &RangeInclusive<u32>| models.contains(&model) && steppings.contains(&stepping);
        let found = models.find(|(models, steppings, _)| is_it(models, steppings));
        return found.map(|(_, _, name)| *name);
    }
    let mut models = AMD.iter();
    let found = models.find(|(of, models, _)| *of == family && models.contains(&model));
    found.map(|(_, _, name)| *name)
}

/// The number behind a word: 17 of `family 25, model 17`, 3340 of `part 0xd0c`.
fn number_after(revision: &str, word: &str) -> Option<u32> {
    let mut parts = revision.split(", ");
    let digits = parts.find_map(|part| part.strip_prefix(word)?.strip_prefix(' '))?;
    match digits.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_named_by_their_numbers() {
        for (model, revision, name) in [
            (
                "AMD EPYC",
                "family 25, model 17, stepping 1, microcode 0xa101148",
                "Zen 4, Genoa (family 25 model 17)",
            ),
            (
                "AMD Ryzen 9 9950X",
                "family 26, model 68, stepping 0",
                "Zen 5, Granite Ridge (family 26 model 68)",
            ),
            (
                "Intel(R) Xeon(R) CPU @ 2.20GHz",
                "family 6, model 85, stepping 7",
                "Cascade Lake (family 6 model 85)",
            ),
            (
                "Intel(R) Xeon(R) CPU @ 2.00GHz",
                "family 6, model 85, stepping 3",
                "Skylake-X (family 6 model 85)",
            ),
            (
                "Intel(R) Xeon(R) 6985P",
                "family 6, model 173, stepping 1",
                "Granite Rapids (family 6 model 173)",
            ),
            (
                "",
                "implementer 0x41, part 0xd4f, revision 1",
                "Neoverse V2 (implementer 0x41 part 0xd4f)",
            ),
            ("AMD", "family 31, model 2", "family 31 model 2"),
            ("", "implementer 0x99, part 0x1", "implementer 0x99 part 0x1"),
        ] {
            assert_eq!(describe(model, revision).as_deref(), Some(name));
        }
        assert_eq!(describe("A CPU", "microcode 0x1"), None);
    }

    #[test]
    fn no_number_has_two_names() {
        for (index, (family, models, name)) in AMD.iter().enumerate() {
            for (other, others, second) in &AMD[index + 1..] {
                let is_shared = family == other && models.clone().any(|it| others.contains(&it));
                assert!(!is_shared, "{name}, {second}");
            }
        }
        for (index, (models, steppings, name)) in INTEL.iter().enumerate() {
            for (others, other_steppings, second) in &INTEL[index + 1..] {
                let is_shared = models.iter().any(|it| others.contains(it))
                    && steppings.start() <= other_steppings.end()
                    && other_steppings.start() <= steppings.end();
                assert!(!is_shared, "{name}, {second}");
            }
        }
    }
}
