//! The compiler of this program, as the build script saw it.

use serde::{Deserialize, Serialize};

/// How this program was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The compiler, as `rustc -V` names it.
    pub rustc: String,
    /// `0` to `3`, `s` or `z`.
    pub opt_level: String,
    /// The target triple.
    pub target: String,
    /// The CPU that the compiler could count on.
    pub target_cpu: String,
    /// The instruction sets that the compiler could count on everywhere; kernels chosen at run time use more.
    pub target_features: Vec<String>,
    /// `true` if debug assertions are compiled in.
    pub debug_assertions: bool,
}

impl Build {
    /// That of this program.
    pub fn of_this_program() -> Build {
        Build {
            rustc: env!("MEASURE_RUSTC").to_owned(),
            opt_level: env!("MEASURE_OPT_LEVEL").to_owned(),
            target: env!("MEASURE_TARGET").to_owned(),
            target_cpu: env!("MEASURE_TARGET_CPU").to_owned(),
            target_features: env!("MEASURE_TARGET_FEATURES")
                .split(',')
                .filter(|feature| !feature.is_empty())
                .map(str::to_owned)
                .collect(),
            debug_assertions: cfg!(debug_assertions),
        }
    }

    /// `true` if the times of this program mean anything. Assertions do not matter: a test may measure.
    pub const THIS_IS_OPTIMISED: bool = is_optimised(env!("MEASURE_OPT_LEVEL"));

    /// Returns whether its times mean anything.
    pub fn is_optimised(&self) -> bool {
        is_optimised(&self.opt_level)
    }
}

const fn is_optimised(opt_level: &str) -> bool {
    !matches!(opt_level.as_bytes(), b"0" | b"1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unoptimised_build_is_known_for_one() {
        let mut build = Build::of_this_program();
        for (level, optimised) in [("0", false), ("1", false), ("2", true), ("3", true), ("s", true)] {
            build.opt_level = level.to_owned();
            assert_eq!(build.is_optimised(), optimised, "{level}");
        }
    }
}
