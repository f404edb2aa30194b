//! The instructions that messages are compressed with: found once, of what the CPU has.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use crate::kernel::x86_64;
use crate::{
    Function,
    kernel::{Lanes, one::One},
    mask::mask,
    messages::{digests, salted},
};

/// The instructions that messages are compressed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    One(One),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86_64::avx2::HaveAvx2),
    #[cfg(target_arch = "x86_64")]
    Sha(x86_64::sha::HaveSha),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86_64::avx512::HaveAvx512),
}

/// Does something with the lanes of a kernel.
macro_rules! with_lanes {
    ($kernel:expr, $lanes:ident => $body:expr) => {
        match $kernel.0 {
            Form::One($lanes) => $body,
            #[cfg(target_arch = "x86_64")]
            Form::Avx2($lanes) => $body,
            #[cfg(target_arch = "x86_64")]
            Form::Sha($lanes) => $body,
            #[cfg(target_arch = "x86_64")]
            Form::Avx512($lanes) => $body,
        }
    };
}

impl Kernel {
    /// Kernels that this CPU has, the fastest first.
    pub fn all() -> Vec<Self> {
        Self::of_this_cpu().chain([Self::ONE]).collect()
    }

    /// The fastest of this CPU.
    pub fn best() -> Self {
        Self::of_this_cpu().next().unwrap_or(Self::ONE)
    }

    /// What every CPU has.
    const ONE: Self = Self(Form::One(One));

    /// The others. They are not kept: what the CPU has is known to the process after the first time, and a lock around
    /// a list could stay locked in the child of a fork.
    fn of_this_cpu() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let own = [
            x86_64::avx512::HaveAvx512::check().map(Form::Avx512),
            x86_64::sha::HaveSha::check().map(Form::Sha),
            x86_64::avx2::HaveAvx2::check().map(Form::Avx2),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let own = [None; 0];
        own.into_iter().flatten().map(Self)
    }

    /// `sha256x16_avx512`, `sha256x4_sha`, `sha256x8_avx2` or `sha256x1`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Form::One(_) => "sha256x1",
            #[cfg(target_arch = "x86_64")]
            Form::Avx2(_) => "sha256x8_avx2",
            #[cfg(target_arch = "x86_64")]
            Form::Sha(_) => "sha256x4_sha",
            #[cfg(target_arch = "x86_64")]
            Form::Avx512(_) => "sha256x16_avx512",
        }
    }

    /// Messages that it takes at once.
    pub fn lanes(self) -> usize {
        fn of<L: Lanes>(_: L) -> usize {
            L::LANES
        }
        with_lanes!(self, lanes => of(lanes))
    }

    /// Computes the digest of each of `count` messages, which has the parts that `parts` gives for its place, and
    /// passes it to `each`. Digests come in any order.
    pub fn digests<'m, const PARTS: usize>(
        self,
        function: Function,
        count: usize,
        parts: impl Fn(usize) -> [&'m [u8]; PARTS],
        each: impl FnMut(usize, &[u8]),
    ) {
        with_lanes!(self, lanes => digests(lanes, function, count, parts, each));
    }

    /// Computes the digest of eight zero bytes followed by two parts of 32 bytes, for each of `count` messages, and
    /// passes it to `each`: with SHA-256 and a salt as long as the digest, step 6 of EMSA-PSS (RFC 8017, section
    /// 9.1.1). Digests come in any order. It is faster than [`digests`](Self::digests) of the same messages.
    pub fn digests_of_salted<'m>(
        self,
        function: Function,
        count: usize,
        parts: impl Fn(usize) -> [&'m [u8; 32]; 2],
        each: impl FnMut(usize, &[u8]),
    ) {
        with_lanes!(self, lanes => salted(lanes, function, count, parts, each));
    }

    /// Adds a mask to bytes of each item, without carries: MGF1 (RFC 8017, appendix B.2.1) of its bytes `seed` to its
    /// bytes `target`. Items have `stride` bytes each.
    ///
    /// # Panics
    ///
    /// If items are not whole, if bytes lie outside of an item, or those of the seed among those of the target.
    pub fn mask(self, function: Function, items: &mut [u8], stride: usize, seed: Range<usize>, target: Range<usize>) {
        assert!(stride > 0 && items.len().is_multiple_of(stride), "whole items");
        assert!(
            seed.end <= stride && target.end <= stride && seed.start <= seed.end && target.start <= target.end,
            "bytes of an item"
        );
        assert!(seed.end <= target.start || target.end <= seed.start, "the seed stays");
        with_lanes!(self, lanes => mask(lanes, function, items, stride, seed, target));
    }
}
