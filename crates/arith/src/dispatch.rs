//! The kernel that runs: detected once, chosen in one place, carried as a token. The kernels are the rows of
//! `kernel/table.rs`.

use crate::Error;
use crate::candidate::{self, Crossing, PowerOfTwo, Rounds, StrongTest};
use crate::kernel::{LaneKernel, for_each_kernel};
use crate::limbs::Modulus;
use crate::power::blinded_check::{BlindedCheck, LaneBlindedCheck};
use crate::power::crt::{CrtParts, CrtPower};
use crate::power::multi_key::{Keys, LaneKeys, SizedKey};
use crate::power::plain::PlainPower;
use crate::power::product::{LaneProduct, Product};
use crate::power::public::PublicPower;
use crate::power::{Exponentiation, PublicExponentiation};
use once_cell::race::OnceBox;

/// A kernel that this CPU can run. Having one is the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(pub(crate) Proof);

/// A kernel this program knows, and whether this machine can run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo {
    /// operation-digits-lanes-ISA.
    pub name: &'static str,
    /// Numbers it works on at once.
    pub lanes: usize,
    /// The reason why not, if it cannot.
    pub available: Result<(), String>,
    pub(crate) row: &'static Row,
}

/// A kernel's row in the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static str,
    pub(crate) times: Option<&'static str>,
    tracked_as: &'static str,
}

impl Row {
    /// Numbers at once: what stands in the name between the x and the ISA.
    const fn lanes(&self) -> usize {
        let name = self.name.as_bytes();
        let mut at = 0;
        while name[at] != b'x' {
            at += 1;
        }
        (name[at + 1] - b'0') as usize
    }
}

/// Types of the kernels, and what leads from names to them and back.
macro_rules! dispatch {
    (
        {}
        $($(#[$cfg:meta])? $name:ident:
            dispatch {
                runs: $kernel:ty, of_one_modulus: $of_one:ty,
                sieve: $sieve:ty = $token_of_sieve:path, proof: $proof:ty = $check:expr,
            }
            says { needs: $needs:literal, times: $times:expr, tracked_as: $tracked_as:literal, }
            tests $tests:tt;
        )*
    ) => {
        static ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            needs: $needs,
            times: $times,
            tracked_as: $tracked_as,
        }),*];

        /// One proof token for each kernel that this program has code for.
        #[expect(non_camel_case_types, reason = "the kernels' names")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Proof {
            $($(#[$cfg])? $name($proof),)*
        }

        /// The type of each kernel.
        #[expect(non_camel_case_types, reason = "the kernels' names")]
        pub(crate) mod types {
            use super::names::*;
            $($(#[$cfg])? pub(crate) type $name = $kernel;)*
        }

        /// The type of each where one item has one modulus.
        #[expect(non_camel_case_types, reason = "the kernels' names")]
        pub(crate) mod types_of_one_modulus {
            use super::names::*;
            $($(#[$cfg])? pub(crate) type $name = $of_one;)*
        }

        /// Asks the CPU. Detection happens here and nowhere else.
        fn proof(name: &str) -> Option<Proof> {
            $(
                $(#[$cfg])?
                if name == stringify!($name) {
                    return ($check).map(Proof::$name);
                }
            )*
            None
        }

        impl Kernel {
            /// operation-digits-lanes-ISA.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($(#[$cfg])? Proof::$name(_) => stringify!($name),)*
                }
            }

            /// Crosses out the odd numbers from a start on that have a small factor.
            pub(crate) fn cross(self, crossing: Crossing<'_>) {
                    match self.0 {
                    $($(#[$cfg])? Proof::$name(token) => {
                        candidate::cross::<$sieve>($token_of_sieve(token), crossing);
                    })*
                }
            }
        }
    };
}

use names::*;

/// Names that the table uses.
mod names {
    #[cfg(target_arch = "aarch64")]
    pub(super) use crate::kernel::aarch64::neon::Neon;
    #[cfg(target_arch = "x86_64")]
    pub(super) use crate::kernel::x86_64::{
        adx::HaveAdx,
        avx2::YmmWords,
        avx2fma::{HaveAvx2Fma, Ymm},
        avx512f::{HaveAvx512F, ZmmDoubles},
        have_ifma::HaveIfma,
        ifma_quads::{OneQuad, TwoQuads},
        ifma512::Zmm,
    };
    pub(super) use crate::kernel::{
        doubles, lanes, mont47::Mont47, mont47x2::Mont47x2, mont52x2::Mont52x2, mont52x2::quad, mont52x8::Mont52x8,
        mont64x1::Mont64x1,
    };
    pub(super) use crate::limbs::montgomery::Portable;
    #[cfg(target_arch = "x86_64")]
    pub(super) use std::convert::identity;

    /// The token of what every machine has.
    pub(super) fn none<T>(_: T) {}
}

for_each_kernel! { dispatch, }

/// Does `$body` with `$kernel` bound to the kernel inside a [`Kernel`].
macro_rules! with_kernel {
    ($choice:expr, $kernel:ident => $body:expr) => {
        $crate::kernel::for_each_kernel! { $crate::dispatch::match_kernel, types, $choice, $kernel => $body }
    };
}

/// [`with_kernel`] where one item has one modulus: a kernel whose two lanes are the halves of one private operation
/// works on one number.
macro_rules! with_kernel_of_one_modulus {
    ($choice:expr, $kernel:ident => $body:expr) => {
        $crate::kernel::for_each_kernel! { $crate::dispatch::match_kernel, types_of_one_modulus, $choice, $kernel => $body }
    };
}

macro_rules! match_kernel {
    (
        { $types:ident, $choice:expr, $kernel:ident => $body:expr }
        $($(#[$cfg:meta])? $name:ident: dispatch $dispatch:tt says $says:tt tests $tests:tt;)*
    ) => {
        match $choice.0 {
            $($(#[$cfg])? $crate::dispatch::Proof::$name(token) => {
                let $kernel = $crate::dispatch::$types::$name::new(token);
                $body
            })*
        }
    };
}

pub(crate) use match_kernel;
#[cfg(all(test, feature = "timing"))]
pub(crate) use with_kernel;

/// Every kernel there is, the preferred one first.
pub fn kernels() -> Vec<KernelInfo> {
    ROWS.iter()
        .map(|row| KernelInfo {
            name: row.name,
            lanes: row.lanes(),
            available: match Kernel::named(row.name) {
                Err(Error::KernelUnavailable { reason, .. }) => Err(reason),
                _ => Ok(()),
            },
            row,
        })
        .collect()
}

impl KernelInfo {
    /// `true` for the forms on arrays of vectors, which run in tests only.
    pub fn is_for_tests(&self) -> bool {
        self.row.times.is_none()
    }

    /// `true` for such a form where this machine has the vectors, and runs the kernel that it is a form of. Above the
    /// kernels all code is the same: a test of the form shows nothing that a test of the kernel does not, and takes
    /// several times as long.
    pub fn runs_in_vectors_too(&self) -> bool {
        let of = |name: &'static str| name.split('_').next();
        let in_vectors = |row: &&Row| row.times.is_some() && of(row.name) == of(self.name);
        self.is_for_tests()
            && ROWS
                .iter()
                .filter(in_vectors)
                .any(|row| Kernel::named(row.name).is_ok())
    }

    /// The kernel that valgrind is to run in place of this one, or this one.
    #[cfg(feature = "tracking")]
    pub fn tracked_as(&self) -> &'static str {
        self.row.tracked_as
    }
}

/// The kernel that every machine can run.
const LAST_RESORT: &str = "mont64x1_portable";

/// The row of the kernel of this name.
fn row(name: &str) -> Result<&'static Row, Error> {
    let row = ROWS.iter().find(|row| row.name == name);
    row.ok_or_else(|| Error::UnknownKernel(name.to_owned()))
}

/// Makes this process do as if the machine lacked these kernels.
///
/// To be called once, before anything else of this crate. The portable kernel of one number stays: something must run.
///
/// # Errors
/// [`Error::UnknownKernel`]; [`Error::KernelIsNeeded`] for the portable one, and for all when kernels have been chosen
/// from already.
pub fn disable(names: &[&str]) -> Result<(), Error> {
    let names: Vec<_> = names
        .iter()
        .map(|name| row(name).map(|row| row.name))
        .collect::<Result<_, _>>()?;
    let Some(&first) = names.first() else {
        return Ok(());
    };
    if names.contains(&LAST_RESORT) {
        return Err(Error::KernelIsNeeded(LAST_RESORT));
    }
    DISABLED.set(Box::new(names)).map_err(|_| Error::KernelIsNeeded(first))
}

/// No lock is waited for, which in a child of a fork could belong to a thread of the parent's.
static DISABLED: OnceBox<Vec<&'static str>> = OnceBox::new();

fn disabled() -> &'static [&'static str] {
    DISABLED.get_or_init(Box::default)
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
        let for_batches = ROWS.iter().filter(|row| row.lanes() != 2);
        let mut available = for_batches.filter_map(|row| Self::named(row.name).ok());
        available.next().expect("the last resort runs everywhere")
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// [`Error::UnknownKernel`]; [`Error::KernelUnavailable`] if this machine cannot run it, or if it was
    /// [disabled](disable).
    pub fn named(name: &str) -> Result<Self, Error> {
        let &Row { name, needs, .. } = row(name)?;
        let reason = match proof(name) {
            _ if disabled().contains(&name) => "it is disabled".to_owned(),
            Some(proof) => return Ok(Self(proof)),
            None => format!("it needs {needs}"),
        };
        Err(Error::KernelUnavailable { name, reason })
    }

    /// Numbers it works on at once.
    pub fn lanes(self) -> usize {
        fn lanes<K: LaneKernel>(_: K) -> usize {
            K::LANES
        }
        with_kernel!(self, kernel => lanes(kernel))
    }

    /// Prepares x^e mod n.
    pub(crate) fn public(self, modulus: Modulus, e: &[u64]) -> Box<dyn PublicExponentiation> {
        with_kernel_of_one_modulus!(self, kernel => Box::new(PublicPower::new(kernel, modulus, e)))
    }

    /// Prepares products mod n.
    pub(crate) fn product(self, modulus: &Modulus) -> Box<dyn Product> {
        with_kernel_of_one_modulus!(self, kernel => Box::new(LaneProduct::new(kernel, modulus)))
    }

    /// Prepares what protects private powers mod n.
    pub(crate) fn blinded_check(self, modulus: &Modulus, e: &[u64]) -> Box<dyn BlindedCheck> {
        with_kernel_of_one_modulus!(self, kernel => Box::new(LaneBlindedCheck::new(kernel, modulus, e)))
    }

    /// Prepares x^d mod n by its CRT parameters.
    pub(crate) fn private(self, parts: &CrtParts) -> Box<dyn Exponentiation> {
        with_kernel!(self, kernel => Box::new(CrtPower::new(kernel, parts)))
    }

    /// Prepares keys of one size to share lanes.
    pub(crate) fn multi_key(self, keys: &[SizedKey]) -> Box<dyn Keys> {
        with_kernel!(self, kernel => Box::new(LaneKeys::new(kernel, keys)))
    }

    /// Prepares x^d mod n without the CRT, for a `d` of at most `bits` bits.
    pub(crate) fn plain(self, modulus: &Modulus, d: &[u64], bits: usize) -> Box<dyn Exponentiation> {
        with_kernel!(self, kernel => Box::new(PlainPower::new(kernel, modulus, d, bits)))
    }

    /// Prepares rounds of the strong probable-prime test on candidates of `limbs` limbs.
    pub(crate) fn strong_test(self, limbs: usize) -> Box<dyn StrongTest> {
        with_kernel!(self, kernel => Box::new(Rounds::new(kernel, limbs)))
    }

    /// Prepares the test to base two on candidates of `bits` bits in `limbs` limbs, where the kernel has room for it.
    pub(crate) fn power_of_two(self, limbs: usize, bits: usize) -> Option<Box<dyn PowerOfTwo>> {
        with_kernel!(self, kernel => candidate::power_of_two(kernel, limbs, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_kernel_can_be_forced_or_says_why_not() {
        for info in kernels() {
            match (Kernel::named(info.name), info.available) {
                (Ok(kernel), Ok(())) => {
                    assert_eq!((kernel.name(), kernel.lanes()), (info.name, info.lanes));
                }
                (Err(Error::KernelUnavailable { name, .. }), Err(_)) => {
                    eprintln!("SKIPPED: {name}, which this machine cannot run");
                    assert_eq!(name, info.name);
                }
                (named, listed) => panic!("{}: {named:?} but listed as {listed:?}", info.name),
            }
        }
    }

    /// Instructions that this CPU and its operating system have, all of them.
    #[cfg(target_arch = "x86_64")]
    macro_rules! has {
        ($($feature:tt),*) => {
            ![$(is_x86_feature_detected!($feature)),*].contains(&false)
        };
    }

    #[cfg(not(target_arch = "x86_64"))]
    macro_rules! has {
        ($($feature:tt),*) => {
            false
        };
    }

    /// A kernel that asks for more than it needs, or is never asked for, would be left out of every test without a
    /// failure: so what each needs is written down here once more.
    #[test]
    fn a_kernel_is_available_exactly_where_its_instructions_are() {
        for info in kernels() {
            let expected = match info.name {
                "mont52x8_ifma512" | "mont52x2_ifma" => {
                    has!("avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512ifma", "bmi2")
                }
                "mont47x8_avx512f" => has!("avx512f", "avx2", "fma"),
                "mont47x4_avx2fma" | "mont47x2_avx2fma" => has!("avx2", "fma"),
                "mont47x4_neon" => cfg!(target_arch = "aarch64"),
                "mont64x1_adx" => has!("bmi2", "adx", "avx2"),
                name => {
                    assert!(name.ends_with("_portable"), "say here what {name} needs");
                    true
                }
            };
            assert_eq!(Kernel::named(info.name).is_ok(), expected, "{}", info.name);
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
    fn a_form_on_arrays_is_that_of_the_kernel_with_the_same_digits_and_lanes() {
        for info in kernels().iter().filter(|info| info.runs_in_vectors_too()) {
            let digits = info.name.strip_suffix("portable").expect("no other name is for tests");
            let is_its_kernel = |other: &KernelInfo| other.name.starts_with(digits) && other.available.is_ok();
            assert!(
                kernels()
                    .iter()
                    .any(|other| other.name != info.name && is_its_kernel(other))
            );
        }
        let portable = kernels().into_iter().find(|info| info.name == LAST_RESORT).unwrap();
        assert!(!portable.runs_in_vectors_too());
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert_eq!(
            Kernel::named("mont1x1_abacus"),
            Err(Error::UnknownKernel("mont1x1_abacus".into()))
        );
    }
}
