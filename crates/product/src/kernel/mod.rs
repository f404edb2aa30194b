//! The instructions that transforms run on: [`Eight`] doubles at once, and a form of them for each instruction set.

mod eight;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use once_cell::race::OnceBox;

pub(crate) use eight::{Doubles, Eight, LOW, Line, MAX_BITS, Modulus, Work};
use portable::Portable;

/// The instructions that transforms run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86_64::avx2::HaveAvx2Fma),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86_64::avx512::HaveAvx512),
}

impl Kernel {
    /// Kernels that this CPU has, the fastest first.
    pub fn all() -> &'static [Self] {
        static ALL: OnceBox<Vec<Kernel>> = OnceBox::new();
        ALL.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            let own = [
                x86_64::avx512::HaveAvx512::check().map(Form::Avx512),
                x86_64::avx2::HaveAvx2Fma::check().map(Form::Avx2),
            ];
            #[cfg(not(target_arch = "x86_64"))]
            let own = [None; 0];
            Box::new(own.into_iter().flatten().chain([Form::Portable]).map(Self).collect())
        })
    }

    /// The fastest of this CPU.
    pub fn best() -> Self {
        Self::all()[0]
    }

    /// `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Form::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(_) => "avx512",
        }
    }

    /// gcd(f, g) of each pair, f odd, together: none where this kernel has no lanes for it.
    pub(crate) fn gcds(self, pairs: &[(&[u64], &[u64])]) -> Option<Vec<Vec<u64>>> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(_) => {
                let token = x86_64::divisors::HaveIfma::check()?;
                let together = pairs.chunks(x86_64::divisors::TOGETHER);
                Some(
                    together
                        .flat_map(|pairs| x86_64::divisors::gcds(token, pairs))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Does `work` on this kernel.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Form::Portable => Portable::run((), work),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(token) => x86_64::avx2::Ymms::run(token, work),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(token) => x86_64::avx512::Zmm::run(token, work),
        }
    }
}
