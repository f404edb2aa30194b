//! Kernels for NVIDIA's devices that keep numbers in registers, as PTX: the text that the driver compiles when it loads
//! it.
//!
//! They do what the kernels of the same names in `rsa.cl` do, with the same arguments and the same arrays, for numbers
//! of a few fixed lengths. A driver takes them where there are some, and the portable ones elsewhere. Only the tables
//! of powers have another layout; kernels that share one are all here or all there.
//!
//! | question | file |
//! |---|---|
//! | how is text written | `emitter`, `registers` |
//! | products and squares | `montgomery`; of long numbers `separate`, `long`; running sums `sum` |
//! | where numbers are | `numbers` |
//! | items, keys, arrays, tables | `frame` |
//! | private powers and the recombination | `private`; in floating point `doubles` |
//! | public powers, blinding, the check | `public`; on numbers in registers or in memory: `working`, `long` |
//! | candidates for primes | `candidates` |
//! | how fast a device's instructions are | [`rates`] |
//!
//! **Time.** Branches and addresses depend on lengths, on launch parameters, and in `public_bits_vartime` on public
//! exponents. A table is read from its beginning to its end. What depends on a secret is chosen by masks. A test runs
//! the kernels on different secrets and compares every branch and every address.
//!
//! **Version.** The text is PTX 6.0 for sm_70, which drivers since 2017 take, for that architecture and all that
//! followed.

mod candidates;
mod doubles;
mod emitter;
mod frame;
mod long;
mod montgomery;
mod numbers;
mod private;
mod public;
pub mod rates;
mod registers;
mod separate;
mod sum;
mod working;

use crate::{kernel::Kernel, layout};

/// Numbers of limbs for which there are kernels.
pub const LIMBS: [usize; 6] = [16, 32, 48, 64, 96, 128];

pub use emitter::THREADS;

/// The kernels that there are for numbers of so many limbs; none for most lengths.
///
/// Halves of moduli and candidates have at most 64 limbs; numbers of 96 and 128 limbs are blinded, raised to public
/// exponents and checked.
pub fn kernels(limbs: usize) -> &'static [Kernel] {
    const ALL: [Kernel; 15] = [
        Kernel::Blind,
        Kernel::Unblind,
        Kernel::RenewPairs,
        Kernel::PublicEnter,
        Kernel::PublicBits,
        Kernel::PublicLeave,
        Kernel::PublicCheck,
        Kernel::PowerEnter,
        Kernel::PowerDigits,
        Kernel::PowerLeave,
        Kernel::Recombine,
        Kernel::TwoBits,
        Kernel::BaseEnter,
        Kernel::BaseDigits,
        Kernel::BaseVerdict,
    ];
    const OF_WHOLE_MODULI: usize = 7;
    match limbs {
        16 | 32 | 48 | 64 => &ALL,
        96 | 128 => ALL.split_at(OF_WHOLE_MODULI).0,
        _ => &[],
    }
}

/// A module with all kernels for numbers of so many limbs; `None` if there are none.
pub fn module(limbs: usize) -> Option<String> {
    let texts = kernels(limbs).iter().map(|&which| entry(which, limbs) + "\n");
    let texts: String = texts.collect();
    (!texts.is_empty()).then(|| emitter::HEADER.to_owned() + &texts)
}

/// A module with one kernel alone; `None` if there is none.
pub fn kernel(which: Kernel, limbs: usize) -> Option<String> {
    let exists = kernels(limbs).contains(&which);
    exists.then(|| emitter::HEADER.to_owned() + &entry(which, limbs))
}

/// A module with the private power's kernel in floating point, for halves of so many limbs; `None` if there is none.
pub fn power_digits_in_doubles(limbs: usize) -> Option<String> {
    let exists = doubles::LIMBS.contains(&limbs);
    exists.then(|| emitter::HEADER.to_owned() + &doubles::power_digits(limbs, layout::window(limbs)) + "\n")
}

/// A launch of the private power's kernel for measuring it: on memory full of zeros, as its time depends on no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Bytes of each buffer, in the order of the kernel's arguments.
    pub buffers: [usize; 4],
    /// The words that follow.
    pub words: [u32; 11],
}

impl Trial {
    /// Eight digits of `lanes` powers of so many limbs.
    pub fn new(limbs: usize, lanes: usize) -> Self {
        const DIGITS: usize = 8;
        let window = layout::window(limbs);
        let digits_at = 4 * limbs + 1;
        let record = digits_at + DIGITS + 1;
        let words = [
            record,
            0,
            record,
            1,
            digits_at,
            1,
            1 + DIGITS,
            limbs,
            window,
            lanes,
            lanes,
        ];
        let number = 4 * limbs * lanes;
        Trial {
            buffers: [number, number << window, 4 * record, 4 * lanes],
            words: words.map(|word| u32::try_from(word).expect("a trial is small")),
        }
    }
}

/// The text of one kernel.
fn entry(which: Kernel, limbs: usize) -> String {
    let window = layout::window(limbs);
    match which {
        Kernel::PowerEnter => private::power_enter(limbs, window),
        Kernel::PowerDigits => private::power_digits(limbs, window),
        Kernel::PowerLeave => private::power_leave(limbs),
        Kernel::Recombine => private::recombine(limbs),
        Kernel::Blind => public::blind(limbs),
        Kernel::Unblind => public::unblind(limbs),
        Kernel::RenewPairs => public::renew_pairs(limbs),
        Kernel::PublicEnter => public::public_enter(limbs),
        Kernel::PublicBits => public::public_bits_vartime(limbs),
        Kernel::PublicLeave => public::public_leave(limbs),
        Kernel::PublicCheck => public::public_check(limbs),
        Kernel::TwoBits => candidates::two_bits(limbs),
        Kernel::BaseEnter => candidates::base_enter(limbs),
        Kernel::BaseDigits => candidates::base_digits(limbs),
        Kernel::BaseVerdict => candidates::base_verdict(limbs),
        other => unreachable!("{} is portable", other.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_an_entry_of_a_module() {
        for limbs in LIMBS {
            let text = module(limbs).unwrap();
            assert_eq!(text.matches(".entry ").count(), kernels(limbs).len());
            for kernel in kernels(limbs) {
                assert!(text.contains(&format!(".entry {}(", kernel.name())));
            }
        }
        assert_eq!(module(17), None);
        assert_eq!(kernel(Kernel::Blind, 17), None);
        assert_eq!(kernel(Kernel::ReadBlocks, 16), None);
    }
}
