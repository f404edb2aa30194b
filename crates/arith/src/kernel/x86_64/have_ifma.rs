//! The proof that instructions of AVX-512 IFMA are there.

/// The proof that CPU and operating system offer AVX-512 F, VL, DQ, BW and IFMA, and BMI2, which every CPU with these
/// has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HaveIfma(());

impl HaveIfma {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512ifma")
            && is_x86_feature_detected!("bmi2");
        have.then_some(Self(()))
    }
}
