//! Kernels for NVIDIA's devices that keep numbers in registers, as PTX: the text that the driver compiles when it loads it.
//!
//! They do what the kernels of the same names in `rsa.cl` do, with the same arguments and the same arrays, for numbers of a few
//! fixed lengths. A driver takes them where there are some, and the portable ones elsewhere. Only the tables of powers have another
//! layout; kernels that share one are all here or all there.
//!
//! | question | file |
//! |---|---|
//! | how is text written | `emitter` |
//! | products and squares | `montgomery`; of long numbers `separate`; running sums `sum` |
//! | where numbers are | `numbers` |
//! | items, keys, arrays, tables | `frame` |
//! | private powers and the recombination | `private` |
//! | public powers, blinding, the check | `public` |
//! | candidates for primes | `candidates` |
//! | how fast a device's instructions are | [`rates`] |
//!
//! **Time.** Branches and addresses depend on lengths, on launch parameters, and in `public_bits_vartime` on public exponents.
//! A table is read from its beginning to its end. What depends on a secret is chosen by masks. A test runs the kernels on different secrets and compares
//! every branch and every address.
//!
//! **Version.** The text is PTX 6.0 for sm_70, which drivers since 2017 take, for that architecture and all that followed.

mod candidates;
mod emitter;
mod frame;
mod montgomery;
mod numbers;
mod private;
mod public;
pub mod rates;
mod separate;
mod sum;

use crate::{kernel::Kernel, layout};

/// Numbers of limbs for which there are kernels.
pub const LIMBS: [usize; 4] = [16, 32, 48, 64];

pub use emitter::THREADS;

/// The kernels of a module, all that there are for numbers of one length.
pub const KERNELS: [Kernel; 15] = [
    Kernel::PowerEnter,
    Kernel::PowerDigits,
    Kernel::PowerLeave,
    Kernel::Recombine,
    Kernel::Blind,
    Kernel::Unblind,
    Kernel::RenewPairs,
    Kernel::PublicEnter,
    Kernel::PublicBits,
    Kernel::PublicLeave,
    Kernel::PublicCheck,
    Kernel::TwoBits,
    Kernel::BaseEnter,
    Kernel::BaseDigits,
    Kernel::BaseVerdict,
];

/// A module with all of [`KERNELS`] for numbers of so many limbs; `None` if there are none.
pub fn module(limbs: usize) -> Option<String> {
    LIMBS.contains(&limbs).then(|| {
        let texts = KERNELS.map(|which| entry(which, limbs) + "\n");
        emitter::HEADER.to_owned() + &texts.concat()
    })
}

/// A module with one kernel alone; `None` if there is none.
pub fn kernel(which: Kernel, limbs: usize) -> Option<String> {
    let exists = LIMBS.contains(&limbs) && KERNELS.contains(&which);
    exists.then(|| emitter::HEADER.to_owned() + &entry(which, limbs))
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
            assert_eq!(text.matches(".entry ").count(), KERNELS.len());
            for kernel in KERNELS {
                assert!(text.contains(&format!(".entry {}(", kernel.name())));
            }
        }
        assert_eq!(module(17), None);
        assert_eq!(kernel(Kernel::Blind, 17), None);
        assert_eq!(kernel(Kernel::ReadBlocks, 16), None);
    }
}
