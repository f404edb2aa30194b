//! Which of GMP's code was compiled into this program, as read by the build script.

/// Returns whether GMP chooses its code at run time. Such a build takes CPUs that it does not know for plain x86-64.
pub fn is_fat() -> bool {
    env!("RSALAB_GMP_FAT") == "true"
}

/// The CPU that GMP was configured for, in GMP's words; empty if unknown.
pub fn cpu() -> &'static str {
    env!("RSALAB_GMP_CPU")
}

/// The folders of GMP's source that the routines of modular exponentiation came from:
/// `mul_basecase x86_64/coreibwl, …`.
pub fn sources() -> &'static str {
    env!("RSALAB_GMP_SOURCES")
}

/// All of it in a line.
pub fn describe() -> String {
    if is_fat() {
        format!(
            "a build for every CPU, which takes {} here; a build for this CPU may be faster: {}",
            taken(),
            sources()
        )
    } else {
        format!("{}: {}", cpu(), sources())
    }
}

/// The code that a fat build takes on this CPU.
fn taken() -> &'static str {
    #[cfg(gmp_fat)]
    if crate::cpuid::passes_for_skylake() {
        return "its code for Skylake (mulx, adx)";
    }
    "its code for the CPU's model"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(routine: &str) -> &'static str {
        sources()
            .split(", ")
            .find_map(|entry| entry.strip_prefix(routine)?.strip_prefix(' '))
            .unwrap_or_else(|| panic!("{routine} is not in '{}'", sources()))
    }

    #[test]
    fn the_build_is_for_one_cpu() {
        assert!(!is_fat(), "a fat build: was CONFIG_SITE set to peers/gmp/config.site?");
        assert!(
            !cpu().is_empty(),
            "the build tree of GMP is gone, and with it the proof"
        );
    }

    /// Code with `mulx` wherever this CPU has it, and with `adcx` and `adox` where config.site asks for that.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_compiled_code_is_for_this_cpu() {
        use std::arch::is_x86_feature_detected;
        let has_bmi2 = is_x86_feature_detected!("bmi2");
        let has_adx_and_avx512 = is_x86_feature_detected!("adx") && is_x86_feature_detected!("avx512f");
        if !has_bmi2 {
            eprintln!("SKIPPED: this CPU has no mulx, and GMP no code that must be there");
        }
        for routine in ["mul_basecase", "sqr_basecase", "addmul_1"] {
            let source = source(routine);
            if has_adx_and_avx512 {
                assert_eq!(source, "x86_64/coreibwl", "{routine}, GMP configured for {}", cpu());
            } else if has_bmi2 {
                assert!(
                    !["generic", "x86_64"].contains(&source),
                    "{routine} from {source}, GMP configured for {}",
                    cpu()
                );
            }
        }
    }
}
