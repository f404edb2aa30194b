//! Keys on a device: their records, completed there, and how a batch of items runs through the kernels.

use std::sync::Arc;

use rsalab_arith::integer;
use rsalab_rsa::{PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::{
    driver::{Device, DriverError, Queue},
    kernel::{Kernel, Launch, MAX_LIMBS},
    layout::Layout,
    open_device::{Launcher, OpenDevice, Wiped},
};

/// Keys of one size, resident on a device. Wiped there when dropped.
pub(crate) struct Keys<D: Device> {
    pub(crate) open: Arc<OpenDevice<D>>,
    pub(crate) launch: Launch,
    pub(crate) layout: Layout,
    pub(crate) records: Wiped<D>,
    /// The moduli, by which numbers for blinding are drawn.
    pub(crate) moduli: Vec<Vec<u8>>,
    /// Bits of the longest public exponent.
    pub(crate) exponent_bits: usize,
    /// The kernels for numbers as long as the modulus, and as long as the modulus of a part.
    pub(crate) whole: Arc<D::Program>,
    pub(crate) part: Option<Arc<D::Program>>,
}

impl<D: Device> Keys<D> {
    /// A public key.
    pub(crate) fn public(open: &Arc<OpenDevice<D>>, launch: Launch, key: &PublicKey) -> Result<Self, DriverError> {
        let exponent_bits = integer::bits_vartime(key.e());
        let layout = Layout::public(key.bits(), exponent_bits);
        let mut record = Zeroizing::new(vec![0; layout.words]);
        layout.write_public(key.n(), key.e(), &mut record);
        let moduli = vec![key.n().to_vec()];
        Keys::resident(open, launch, layout, &record, moduli, exponent_bits, 0)
    }

    /// Private keys, of which there must be at least one and all of one size.
    pub(crate) fn private(
        open: &Arc<OpenDevice<D>>,
        launch: Launch,
        keys: &[PrivateKey],
        has_crt: bool,
    ) -> Result<Self, DriverError> {
        let bits = keys[0].bits();
        let exponent_bits = keys.iter().map(|key| integer::bits_vartime(key.public().e()));
        let exponent_bits = exponent_bits.max().unwrap_or(0);
        let layout = Layout::private(bits, exponent_bits, has_crt);
        let mut records = Zeroizing::new(vec![0; keys.len() * layout.words]);
        for (key, record) in keys.iter().zip(records.chunks_exact_mut(layout.words)) {
            layout.write_private(&key.parts(), record);
        }
        let moduli = keys.iter().map(|key| key.public().n().to_vec()).collect();
        // The length of a prime is no secret: it is that of every key of this size.
        let primes = keys.iter().flat_map(|key| [key.p(), key.q()]);
        let shortest = primes.map(integer::bits_vartime).min().unwrap_or(0);
        let part_bits = if has_crt { shortest } else { bits };
        Keys::resident(open, launch, layout, &records, moduli, exponent_bits, part_bits)
    }

    fn resident(
        open: &Arc<OpenDevice<D>>,
        launch: Launch,
        layout: Layout,
        records: &[u32],
        moduli: Vec<Vec<u8>>,
        exponent_bits: usize,
        part_bits: usize,
    ) -> Result<Self, DriverError> {
        assert!(layout.limbs <= MAX_LIMBS, "asked for at the door");
        let part = layout.power.as_ref().map(|power| open.program(power.limbs));
        let keys = Keys {
            launch,
            records: Wiped::words(open, records.len())?,
            moduli,
            exponent_bits,
            whole: open.program(layout.limbs)?,
            part: part.transpose()?,
            open: Arc::clone(open),
            layout,
        };
        keys.complete(records, part_bits)?;
        Ok(keys)
    }

    /// Uploads the records to the device, which works out what follows from the moduli. The queue's memory is wiped
    /// when it goes.
    fn complete(&self, records: &[u32], part_bits: usize) -> Result<(), DriverError> {
        let bytes = Zeroizing::new(words_to_bytes(records));
        let mut launcher = Launcher::new(&self.open, self.launch)?;
        launcher.upload(&self.records, &bytes)?;
        let count = self.moduli.len();
        let layout = &self.layout;
        // A modulus is above the power of two of its highest bit.
        let mut prepare = |program: &D::Program, at: usize, limbs: usize, bits: usize| {
            launcher.run(
                program,
                Kernel::PrepareModulus,
                count,
                &[&self.records],
                &[layout.words, at, limbs, bits - 1, count],
            )
        };
        prepare(&self.whole, 0, layout.limbs, layout.bits)?;
        if let (Some(power), Some(program)) = (&layout.power, &self.part) {
            for part in 0..power.parts {
                let at = power.at + part * power.part_words;
                prepare(program, at, power.limbs, part_bits)?;
            }
            if let Some([from, to]) = power.qinv {
                launcher.run(
                    program,
                    Kernel::PrepareFactor,
                    count,
                    &[&self.records],
                    &[layout.words, power.at, from, to, power.limbs, count],
                )?;
            }
        }
        launcher.queue.finish()
    }

    /// How many keys they are.
    pub(crate) fn count(&self) -> usize {
        self.moduli.len()
    }

    /// Bytes of a modulus, and of a block.
    pub(crate) fn length(&self) -> usize {
        self.layout.bits.div_ceil(8)
    }

    /// The most items that are worked on at once.
    pub(crate) fn most_items(&self) -> usize {
        let power = self.layout.power.as_ref();
        let table = power.map_or(0, |power| (4 * power.parts * power.limbs) << power.window);
        self.open.most_items(table, 4 * 8 * self.layout.limbs)
    }
}

/// Words as a device reads them. All devices that these drivers know are little-endian.
pub(crate) fn words_to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
