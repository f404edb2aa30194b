//! Which kernel runs: detected once, chosen in one place, carried as a token.

use crate::Error;
use crate::candidate::{self, Crossing, PowerOfTwo, Rounds, StrongTest};
use crate::kernel::LaneKernel;
#[cfg(target_arch = "aarch64")]
use crate::kernel::aarch64::neon::Neon;
use crate::kernel::mont47::Mont47;
use crate::kernel::mont47x2::Mont47x2;
use crate::kernel::mont52x2::{Mont52x2, quad};
use crate::kernel::mont52x8::Mont52x8;
use crate::kernel::mont64x1::{Mont64x1, Mont64x1Portable};
#[cfg(target_arch = "x86_64")]
use crate::kernel::x86_64::{
    adx::HaveAdx,
    avx2::YmmWords,
    avx2fma::{HaveAvx2Fma, Ymm},
    avx512f::{HaveAvx512F, ZmmDoubles},
    ifma_quads,
    ifma512::{HaveIfma, Zmm},
};
use crate::kernel::{doubles, lanes};
use crate::limbs::Modulus;
use crate::limbs::montgomery::Portable;
use crate::power::Raise;
use crate::power::crt::{CrtParts, CrtPower};
use crate::power::guard::{Guard, LaneGuard};
use crate::power::multi_key::{Keys, LaneKeys, SizedKey};
use crate::power::plain::PlainPower;
use crate::power::public::PublicPower;
use std::sync::OnceLock;

/// A kernel that this CPU can run. Having one is the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Proof);

/// One proof token for each kernel there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Adx(HaveAdx),
    EightPortable,
    TwoPortable,
    FourPortable,
    TwoDoublesPortable,
    #[cfg(target_arch = "x86_64")]
    EightIfma(HaveIfma),
    #[cfg(target_arch = "x86_64")]
    TwoIfma(HaveIfma),
    #[cfg(target_arch = "x86_64")]
    EightAvx512(HaveAvx512F),
    #[cfg(target_arch = "x86_64")]
    FourAvx2(HaveAvx2Fma),
    #[cfg(target_arch = "x86_64")]
    TwoAvx2(HaveAvx2Fma),
    #[cfg(target_arch = "aarch64")]
    FourNeon,
}

/// A kernel this program knows, and whether this machine can run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo {
    /// operation-digits-lanes-ISA.
    pub name: &'static str,
    /// Numbers it works on at once.
    pub lanes: usize,
    /// What this machine lacks, if anything.
    pub available: Result<(), String>,
}

type EightPortable = Mont52x8<lanes::Portable>;
type TwoPortable = Mont52x2<quad::Portable<2>, 2>;
type FourPortable = Mont47<doubles::Portable<4>, 4, 6>;
type TwoDoublesPortable = Mont47x2<doubles::Portable<4>, 2>;
#[cfg(target_arch = "x86_64")]
type EightIfma = Mont52x8<Zmm>;
#[cfg(target_arch = "x86_64")]
type TwoIfma = Mont52x2<ifma_quads::TwoQuads, 2>;
#[cfg(target_arch = "x86_64")]
type EightAvx512 = Mont47<ZmmDoubles, 8, 8>;
#[cfg(target_arch = "x86_64")]
type FourAvx2 = Mont47<Ymm, 4, 6>;
#[cfg(target_arch = "x86_64")]
type TwoAvx2 = Mont47x2<Ymm, 2>;
#[cfg(target_arch = "aarch64")]
type FourNeon = Mont47<Neon, 4, 6>;

/// Every kernel there is, the preferred one first.
pub fn kernels() -> Vec<KernelInfo> {
    NAMES
        .into_iter()
        .map(|(name, lanes)| KernelInfo {
            name,
            lanes,
            available: match Kernel::named(name) {
                Err(Error::KernelUnavailable { reason, .. }) => Err(reason),
                _ => Ok(()),
            },
        })
        .collect()
}

/// Makes this process do as if the machine lacked these kernels.
///
/// To be called once, before anything else of this crate. The portable kernel of one number stays: something must run.
///
/// # Errors
/// [`Error::UnknownKernel`]; [`Error::KernelIsNeeded`] for the portable one, and for all when kernels have been chosen
/// from already.
pub fn disable(names: &[&str]) -> Result<(), Error> {
    let known = |&name: &&str| {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.ok_or_else(|| Error::UnknownKernel(name.to_owned()))
    };
    let names: Vec<_> = names
        .iter()
        .map(|name| known(name).map(|&(name, _)| name))
        .collect::<Result<_, _>>()?;
    let Some(&first) = names.first() else {
        return Ok(());
    };
    if names.contains(&Mont64x1Portable::NAME) {
        return Err(Error::KernelIsNeeded(Mont64x1Portable::NAME));
    }
    DISABLED.set(names).map_err(|_| Error::KernelIsNeeded(first))
}

static DISABLED: OnceLock<Vec<&str>> = OnceLock::new();

fn disabled() -> &'static [&'static str] {
    DISABLED.get_or_init(Vec::new)
}

/// Names and lanes, the preferred kernel first.
const NAMES: [(&str, usize); 12] = [
    (IFMA512, 8),
    (IFMA52X2, 2),
    (AVX512F, 8),
    (AVX2FMA, 4),
    (AVX2FMA47X2, 2),
    (NEON, 4),
    (ADX, 1),
    (Mont64x1Portable::NAME, Mont64x1Portable::LANES),
    (EightPortable::NAME, EightPortable::LANES),
    (TwoPortable::NAME, TwoPortable::LANES),
    (FourPortable::NAME, FourPortable::LANES),
    (TwoDoublesPortable::NAME, TwoDoublesPortable::LANES),
];

/// The names of kernels on vector registers, which are known on every machine.
const IFMA512: &str = "mont52x8_ifma512";
const IFMA52X2: &str = "mont52x2_ifma";
const AVX512F: &str = "mont47x8_avx512f";
const AVX2FMA: &str = "mont47x4_avx2fma";
const AVX2FMA47X2: &str = "mont47x2_avx2fma";
const NEON: &str = "mont47x4_neon";
/// The same of one on carry chains.
const ADX: &str = "mont64x1_adx";

/// Does `$body` with `$kernel` bound to the kernel inside a [`Kernel`].
macro_rules! with_kernel {
    ($choice:expr, $kernel:ident => $body:expr) => {
        match $choice.0 {
            Proof::Portable => {
                let $kernel = Mont64x1(Portable);
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::Adx(token) => {
                let $kernel = Mont64x1(token);
                $body
            }
            Proof::EightPortable => {
                let $kernel = EightPortable::new(());
                $body
            }
            Proof::TwoPortable => {
                let $kernel = TwoPortable::new(());
                $body
            }
            Proof::FourPortable => {
                let $kernel = FourPortable::new(());
                $body
            }
            Proof::TwoDoublesPortable => {
                let $kernel = TwoDoublesPortable::new(());
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::EightIfma(token) => {
                let $kernel = EightIfma::new(token);
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::TwoIfma(token) => {
                let $kernel = TwoIfma::new(token);
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::EightAvx512(token) => {
                let $kernel = EightAvx512::new(token);
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::FourAvx2(token) => {
                let $kernel = FourAvx2::new(token);
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::TwoAvx2(token) => {
                let $kernel = TwoAvx2::new(token);
                $body
            }
            #[cfg(target_arch = "aarch64")]
            Proof::FourNeon => {
                let $kernel = FourNeon::new(());
                $body
            }
        }
    };
}

/// [`with_kernel`] where one item has one modulus: a kernel whose two lanes are the halves of one private operation
/// works on one number.
macro_rules! with_kernel_of_one_modulus {
    ($choice:expr, $kernel:ident => $body:expr) => {
        match $choice.0 {
            Proof::TwoPortable => {
                let $kernel = Mont52x2::<quad::Portable<1>, 1>::new(());
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::TwoIfma(token) => {
                let $kernel = Mont52x2::<ifma_quads::OneQuad, 1>::new(token);
                $body
            }
            Proof::TwoDoublesPortable => {
                let $kernel = Mont47x2::<doubles::Portable<4>, 1>::new(());
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Proof::TwoAvx2(token) => {
                let $kernel = Mont47x2::<Ymm, 1>::new(token);
                $body
            }
            _ => with_kernel!($choice, $kernel => $body),
        }
    };
}

/// The kernel that this program was built to choose, if any: so that every test of the workspace can be run with each.
pub(crate) const BUILT_FOR: Option<&str> = option_env!("RSALAB_BUILD_KERNEL");

impl Kernel {
    /// The fastest kernel this CPU can run.
    ///
    /// # Panics
    /// In a program that was built with `RSALAB_BUILD_KERNEL` set, if this CPU cannot run that kernel; one that is
    /// [disabled](disable) is passed over.
    pub fn auto() -> Self {
        if let Some(name) = BUILT_FOR.filter(|name| !disabled().contains(name)) {
            return Self::named(name).expect("RSALAB_BUILD_KERNEL named it when this was built");
        }
        [IFMA512, AVX512F, AVX2FMA, NEON, ADX]
            .into_iter()
            .find_map(|name| Self::named(name).ok())
            .unwrap_or(Self(Proof::Portable))
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::UnknownKernel`]; [`Error::KernelUnavailable`] if this machine cannot run it, or if it was
    /// [disabled](disable).
    pub fn named(name: &str) -> Result<Self, Error> {
        if let Some(name) = disabled().iter().find(|&&disabled| disabled == name) {
            return Err(Error::KernelUnavailable {
                name,
                reason: "it is disabled".to_owned(),
            });
        }
        let registers = |name, proof: Option<Proof>, needs: String| {
            proof.map(Self).ok_or_else(|| Error::KernelUnavailable {
                name,
                reason: format!("it needs {needs}"),
            })
        };
        let x86_64 = |name, proof, needs| {
            let needs = format!("an x86-64 CPU and an operating system with {needs}");
            registers(name, proof, needs)
        };
        match name {
            Mont64x1Portable::NAME => Ok(Self(Proof::Portable)),
            EightPortable::NAME => Ok(Self(Proof::EightPortable)),
            TwoPortable::NAME => Ok(Self(Proof::TwoPortable)),
            FourPortable::NAME => Ok(Self(Proof::FourPortable)),
            TwoDoublesPortable::NAME => Ok(Self(Proof::TwoDoublesPortable)),
            IFMA512 => x86_64(IFMA512, ifma512(), "AVX-512 F, VL, DQ, BW and IFMA"),
            IFMA52X2 => x86_64(IFMA52X2, ifma52x2(), "AVX-512 F, VL, DQ, BW and IFMA"),
            AVX512F => x86_64(AVX512F, avx512f(), "AVX-512 F"),
            AVX2FMA => x86_64(AVX2FMA, avx2fma(), "AVX2 and FMA"),
            AVX2FMA47X2 => x86_64(AVX2FMA47X2, avx2fma47x2(), "AVX2 and FMA"),
            ADX => x86_64(ADX, adx(), "BMI2 and ADX"),
            NEON => registers(NEON, neon(), "an AArch64 CPU".to_owned()),
            _ => Err(Error::UnknownKernel(name.to_owned())),
        }
    }

    /// operation-digits-lanes-ISA.
    pub fn name(self) -> &'static str {
        fn name<K: LaneKernel>(_: K) -> &'static str {
            K::NAME
        }
        with_kernel!(self, kernel => name(kernel))
    }

    /// Numbers it works on at once.
    pub fn lanes(self) -> usize {
        fn lanes<K: LaneKernel>(_: K) -> usize {
            K::LANES
        }
        with_kernel!(self, kernel => lanes(kernel))
    }

    /// Prepares x^e mod n.
    pub(crate) fn public(self, modulus: &Modulus, e: &[u64]) -> Box<dyn Raise> {
        self.claimed(with_kernel_of_one_modulus!(self, kernel => Box::new(PublicPower::new(kernel, modulus, e))))
    }

    /// Prepares what protects private powers mod n.
    pub(crate) fn guard(self, modulus: &Modulus, e: &[u64]) -> Box<dyn Guard> {
        with_kernel_of_one_modulus!(self, kernel => Box::new(LaneGuard::new(kernel, modulus, e)))
    }

    /// Prepares x^d mod n by its CRT parameters.
    pub(crate) fn private(self, parts: &CrtParts) -> Box<dyn Raise> {
        self.claimed(with_kernel!(self, kernel => Box::new(CrtPower::new(kernel, parts))))
    }

    /// Prepares keys of one size to share lanes.
    pub(crate) fn multi_key(self, keys: &[SizedKey]) -> Box<dyn Keys> {
        with_kernel!(self, kernel => Box::new(LaneKeys::new(kernel, keys)))
    }

    /// Prepares x^d mod n without the CRT, for a `d` of at most `bits` bits.
    pub(crate) fn plain(self, modulus: &Modulus, d: &[u64], bits: usize) -> Box<dyn Raise> {
        self.claimed(with_kernel!(self, kernel => Box::new(PlainPower::new(kernel, modulus, d, bits))))
    }

    /// What was prepared, having made sure that the kernel in it is the one whose name a context will give.
    fn claimed(self, prepared: Box<dyn Raise>) -> Box<dyn Raise> {
        assert_eq!(prepared.kernel(), self.name(), "the wrong kernel was prepared");
        prepared
    }

    /// Prepares rounds of the strong probable-prime test on candidates of `limbs` limbs.
    pub(crate) fn strong_test(self, limbs: usize) -> Box<dyn StrongTest> {
        with_kernel!(self, kernel => Box::new(Rounds::new(kernel, limbs)))
    }

    /// Prepares the test to base two on candidates of `bits` bits in `limbs` limbs, where the kernel has room for it.
    pub(crate) fn power_of_two(self, limbs: usize, bits: usize) -> Option<Box<dyn PowerOfTwo>> {
        with_kernel!(self, kernel => candidate::power_of_two(kernel, limbs, bits))
    }

    /// Crosses out the odd numbers from a start on that have a small factor.
    pub(crate) fn cross(self, crossing: Crossing<'_>) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Proof::EightIfma(token) => candidate::cross::<Zmm>(token, crossing),
            #[cfg(target_arch = "x86_64")]
            Proof::EightAvx512(token) => candidate::cross::<YmmWords>(token.avx2fma(), crossing),
            #[cfg(target_arch = "x86_64")]
            Proof::FourAvx2(token) | Proof::TwoAvx2(token) => {
                candidate::cross::<YmmWords>(token, crossing);
            }
            _ => candidate::cross::<lanes::Portable>((), crossing),
        }
    }
}

/// Detection happens in these and nowhere else.
fn ifma512() -> Option<Proof> {
    #[cfg(target_arch = "x86_64")]
    return HaveIfma::check().map(Proof::EightIfma);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn ifma52x2() -> Option<Proof> {
    #[cfg(target_arch = "x86_64")]
    return HaveIfma::check().map(Proof::TwoIfma);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn avx512f() -> Option<Proof> {
    #[cfg(target_arch = "x86_64")]
    return HaveAvx512F::check().map(Proof::EightAvx512);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn avx2fma() -> Option<Proof> {
    #[cfg(target_arch = "x86_64")]
    return HaveAvx2Fma::check().map(Proof::FourAvx2);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn avx2fma47x2() -> Option<Proof> {
    #[cfg(target_arch = "x86_64")]
    return HaveAvx2Fma::check().map(Proof::TwoAvx2);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn adx() -> Option<Proof> {
    #[cfg(target_arch = "x86_64")]
    return HaveAdx::check().map(Proof::Adx);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn neon() -> Option<Proof> {
    #[cfg(target_arch = "aarch64")]
    return Some(Proof::FourNeon);
    #[cfg(not(target_arch = "aarch64"))]
    return None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::limbs_for_bits;

    #[test]
    fn every_listed_kernel_can_be_forced_or_says_why_not() {
        for info in kernels() {
            match (Kernel::named(info.name), info.available) {
                (Ok(kernel), Ok(())) => {
                    assert_eq!((kernel.name(), kernel.lanes()), (info.name, info.lanes));
                    let n = Modulus::new(&[u64::MAX; 8], 512, limbs_for_bits(512));
                    assert_eq!(kernel.public(&n, &[3]).kernel(), info.name);
                }
                (Err(Error::KernelUnavailable { name, .. }), Err(_)) => {
                    eprintln!("not tested here: {name}");
                    assert_eq!(name, info.name);
                }
                (named, listed) => panic!("{}: {named:?} but listed as {listed:?}", info.name),
            }
        }
    }

    #[test]
    fn the_preferred_kernel_is_the_first_available() {
        let first = kernels().into_iter().find(|info| info.available.is_ok()).unwrap();
        assert_eq!(Kernel::auto().name(), BUILT_FOR.unwrap_or(first.name));
        assert!(
            kernels()
                .iter()
                .any(|info| info.name == "mont64x1_portable" && info.available.is_ok())
        );
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert_eq!(
            Kernel::named("mont1x1_abacus"),
            Err(Error::UnknownKernel("mont1x1_abacus".into()))
        );
    }
}
