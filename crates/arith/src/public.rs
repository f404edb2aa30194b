//! The public operation: x^e mod n, on public data.

use crate::batch::{self, Raise};
use crate::exp::{self, PublicExponent};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, limbs_for_bits, words};
use crate::{Error, Kernel, Status};

/// Supported lengths of a modulus, in bits.
pub(crate) const MODULUS_BITS: std::ops::RangeInclusive<usize> = 512..=16384;

/// A public key (n, e), prepared once for one kernel. Shared by any number of threads.
pub struct PublicContext {
    kernel: Kernel,
    modulus: Modulus,
    raise: Box<dyn Raise>,
}

/// Working memory of one thread for one [`PublicContext`].
pub struct PublicScratch {
    values: Aligned,
    working: Aligned,
}

impl PublicContext {
    /// Prepares n and e, both big-endian.
    ///
    /// # Errors
    /// [`Error::EvenModulus`]; [`Error::ModulusSize`] outside 512 to 16384 bits; [`Error::Exponent`] unless e is odd and
    /// 3 <= e < n.
    pub fn new(n: &[u8], e: &[u8], kernel: Kernel) -> Result<Self, Error> {
        let (modulus, e) = public_key(n, e)?;
        let raise = kernel.public(&modulus, &e);
        Ok(Self {
            kernel,
            modulus,
            raise,
        })
    }

    /// Length of n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.modulus.bits()
    }

    /// Length of n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Working memory for one thread.
    pub fn scratch(&self) -> PublicScratch {
        PublicScratch {
            values: Aligned::zero(self.raise.items() * self.modulus.limbs()),
            working: Aligned::zero(self.raise.working_words()),
        }
    }

    /// Raises every input to e, in time that depends on e, n and which inputs are in range, so on public data.
    ///
    /// `inputs` and `outputs` hold one number of [`modulus_len`](Self::modulus_len) big-endian bytes for each entry of
    /// `status`. An input that is not below n gets [`Status::OutOfRange`] and a zero output, and harms no neighbour.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree; nothing is written then.
    pub fn apply_vartime(
        &self,
        scratch: &mut PublicScratch,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let len = self.modulus_len();
        batch::check_layout(len, inputs, outputs, status)?;
        let limbs = self.modulus.limbs();
        let step = self.raise.items();
        for ((inputs, outputs), status) in inputs
            .chunks(step * len)
            .zip(outputs.chunks_mut(step * len))
            .zip(status.chunks_mut(step))
        {
            let values = &mut scratch.values[..status.len() * limbs];
            batch::read(&self.modulus, inputs, values, status);
            self.raise.raise(values, &mut scratch.working);
            batch::write(&self.modulus, values, outputs, status);
        }
        Ok(())
    }
}

/// Reads and checks a public key.
pub(crate) fn public_key(n: &[u8], e: &[u8]) -> Result<(Modulus, Vec<u64>), Error> {
    let mut limbs = vec![0; n.len().div_ceil(8).max(1)];
    words::read_be(&mut limbs, n);
    let bits = words::bits_vartime(&limbs);
    if !MODULUS_BITS.contains(&bits) {
        return Err(Error::ModulusSize { bits });
    }
    if limbs[0] & 1 == 0 {
        return Err(Error::EvenModulus);
    }
    limbs.truncate(limbs_for_bits(bits));
    let mut exponent = vec![0; e.len().div_ceil(8).max(limbs.len())];
    words::read_be(&mut exponent, e);
    let exponent_bits = words::bits_vartime(&exponent);
    exponent.resize(limbs.len().max(limbs_for_bits(exponent_bits)), 0);
    let fits = exponent.len() == limbs.len() && bool::from(words::is_less(&exponent, &limbs));
    if !fits || exponent[0] & 1 == 0 || exponent_bits < 2 {
        return Err(Error::Exponent);
    }
    Ok((Modulus::new(&limbs, bits, limbs.len()), exponent))
}

/// x^e mod n with one kernel, n and e the same in every lane.
pub(crate) struct PublicPower<K: LaneKernel> {
    kernel: K,
    moduli: K::Moduli,
    exponent: PublicExponent,
    limbs: usize,
}

impl<K: LaneKernel> PublicPower<K> {
    pub(crate) fn new(kernel: K, modulus: &Modulus, e: &[u64]) -> Self {
        Self {
            kernel,
            moduli: kernel.prepare(&vec![modulus; K::LANES]),
            exponent: PublicExponent::new_vartime::<K>(e, modulus.limbs()),
            limbs: modulus.limbs(),
        }
    }
}

impl<K: LaneKernel> Raise for PublicPower<K> {
    fn kernel(&self) -> &'static str {
        K::NAME
    }

    fn items(&self) -> usize {
        K::LANES
    }

    fn working_words(&self) -> usize {
        K::words(self.limbs) + self.exponent.working_words::<K>(self.limbs)
    }

    fn raise(&self, values: &mut [u64], working: &mut [u64]) {
        let (value, working) = working.split_at_mut(K::words(self.limbs));
        value.fill(0);
        for (lane, limbs) in values.chunks_exact(self.limbs).enumerate() {
            self.kernel.load(&self.moduli, lane, limbs, value);
        }
        exp::exp_public_vartime(self.kernel, &self.moduli, &self.exponent, value, working);
        for (lane, limbs) in values.chunks_exact_mut(self.limbs).enumerate() {
            self.kernel.store(&self.moduli, lane, value, limbs);
        }
    }
}
