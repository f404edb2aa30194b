//! One interval of work on a device: its memory, and each kernel with its arguments.

use crate::{
    driver::{Device, DriverError},
    kernel::Kernel,
    key::Keys,
    open_device::{Launcher, Wiped, intervals},
};

/// Memory for so many items.
pub(crate) struct Buffers<D: Device> {
    pub(crate) items: usize,
    pub(crate) blocks: Wiped<D>,
    pub(crate) given: Wiped<D>,
    pub(crate) values: Wiped<D>,
    pub(crate) bases: Wiped<D>,
    publics: Wiped<D>,
    pub(crate) status: Wiped<D>,
    /// The key of each item: zeros, as long as there is one.
    pub(crate) which: Wiped<D>,
    /// The slot of each item's blinding pair.
    pub(crate) pair: Wiped<D>,
    pub(crate) power: Option<[Wiped<D>; 2]>,
}

impl<D: Device> Buffers<D> {
    pub(crate) fn new(keys: &Keys<D>, items: usize) -> Result<Self, DriverError> {
        let words = |words: usize| Wiped::words(&keys.open, words);
        let numbers = items * keys.layout.limbs;
        let power = keys.layout.power.as_ref().map(|power| {
            let states = items * power.parts * power.limbs;
            Ok([words(states)?, words(states << power.window)?])
        });
        Ok(Buffers {
            items,
            blocks: Wiped::bytes(&keys.open, items * keys.length())?,
            given: words(numbers)?,
            values: words(numbers)?,
            bases: words(numbers)?,
            publics: words(numbers)?,
            status: words(items)?,
            which: words(items)?,
            pair: words(items)?,
            power: power.transpose()?,
        })
    }
}

/// The arguments that the kernels of one interval of work have in common.
pub(crate) struct Steps<'a, D: Device> {
    keys: &'a Keys<D>,
    buffers: &'a Buffers<D>,
    /// The status of each item.
    status: &'a Wiped<D>,
    launcher: &'a mut Launcher<D>,
    count: usize,
}

impl<'a, D: Device> Steps<'a, D> {
    /// On the first `count` items of the buffers, whose statuses go to `status`.
    pub(crate) fn new(
        keys: &'a Keys<D>,
        launcher: &'a mut Launcher<D>,
        buffers: &'a Buffers<D>,
        status: &'a Wiped<D>,
        count: usize,
    ) -> Self {
        Steps {
            keys,
            buffers,
            status,
            launcher,
            count,
        }
    }

    /// Uploads other blocks to the buffers.
    pub(crate) fn upload(&mut self, blocks: &[u8]) -> Result<(), DriverError> {
        self.launcher.upload(&self.buffers.blocks, blocks)
    }

    /// Runs a kernel on numbers as long as the modulus: buffers, then the keys and which each item takes, then words.
    fn whole(&mut self, kernel: Kernel, buffers: &[&Wiped<D>], words: &[usize]) -> Result<(), DriverError> {
        let (program, count) = (&self.keys.whole, self.count);
        self.keyed(program, kernel, count, buffers, words)
    }

    /// Runs a kernel of any program on so many numbers.
    fn keyed(
        &mut self,
        program: &D::Program,
        kernel: Kernel,
        numbers: usize,
        buffers: &[&Wiped<D>],
        words: &[usize],
    ) -> Result<(), DriverError> {
        let buffers = [buffers, &[&self.keys.records, &self.buffers.which]].concat();
        let words = [&[self.keys.layout.words], words].concat();
        self.launcher.run(program, kernel, numbers, &buffers, &words)
    }

    /// Runs a kernel that takes the modulus, how many items there are and there is room for, and at most one word more.
    fn modular(&mut self, kernel: Kernel, buffers: &[&Wiped<D>], last: &[usize]) -> Result<(), DriverError> {
        let limbs = self.keys.layout.limbs;
        let words = [&[0, limbs, self.count, self.buffers.items], last].concat();
        self.whole(kernel, buffers, &words)
    }

    pub(crate) fn read_blocks(&mut self, from: &Wiped<D>, to: &Wiped<D>) -> Result<(), DriverError> {
        let (limbs, length) = (self.keys.layout.limbs, self.keys.length());
        let words = [0, limbs, length, self.count, self.buffers.items];
        self.whole(Kernel::ReadBlocks, &[from, to, self.status], &words)
    }

    pub(crate) fn write_blocks(&mut self, to: &Wiped<D>) -> Result<(), DriverError> {
        let (program, count) = (&self.keys.whole, self.count);
        let buffers = [&self.buffers.values, to, self.status];
        let words = [self.keys.length(), count, self.buffers.items];
        self.launcher.run(program, Kernel::WriteBlocks, count, &buffers, &words)
    }

    /// Blinded numbers of what was given.
    pub(crate) fn blind(&mut self, pairs: &[Wiped<D>; 2], slots: usize) -> Result<(), DriverError> {
        let own = self.buffers;
        let buffers = [&own.given, &own.values, &pairs[0], &pairs[1], &own.pair];
        self.modular(Kernel::Blind, &buffers, &[slots])
    }

    pub(crate) fn unblind(&mut self, pairs: &[Wiped<D>; 2], slots: usize) -> Result<(), DriverError> {
        let buffers = [&self.buffers.values, &pairs[1], &self.buffers.pair];
        self.modular(Kernel::Unblind, &buffers, &[slots])
    }

    /// Pairs of the powers that a public power has left in Montgomery form, and of the inverses among the values.
    pub(crate) fn renew_pairs(&mut self, pairs: &[Wiped<D>; 2], slots: usize) -> Result<(), DriverError> {
        let own = self.buffers;
        let buffers = [&own.publics, &own.values, &pairs[0], &pairs[1], &own.pair];
        self.modular(Kernel::RenewPairs, &buffers, &[slots])
    }

    /// Raises numbers to their private exponents, into the values.
    pub(crate) fn private_power(&mut self, from: &Wiped<D>) -> Result<(), DriverError> {
        let (resident, buffers, count) = (self.keys, self.buffers, self.count);
        let layout = &resident.layout;
        let (Some(power), Some(program), Some([states, table])) = (&layout.power, &resident.part, &buffers.power)
        else {
            unreachable!("private operations have private keys");
        };
        let lanes = power.parts * count;
        self.keyed(
            program,
            Kernel::PowerEnter,
            lanes,
            &[from, states, table],
            &[
                power.at,
                power.part_words,
                power.parts,
                power.limbs,
                layout.limbs,
                power.window,
                count,
                buffers.items,
            ],
        )?;
        for (first, last) in intervals(power.digits, power.window + 1, power.limbs, lanes) {
            self.keyed(
                program,
                Kernel::PowerDigits,
                lanes,
                &[states, table],
                &[
                    power.at,
                    power.part_words,
                    power.parts,
                    power.digits_at,
                    first,
                    last,
                    power.limbs,
                    power.window,
                    count,
                    buffers.items,
                ],
            )?;
        }
        match power.qinv {
            None => self.keyed(
                program,
                Kernel::PowerLeave,
                count,
                &[states, &buffers.values],
                &[power.at, power.limbs, count, buffers.items],
            ),
            Some([qinv, qinv_mont]) => self.keyed(
                program,
                Kernel::Recombine,
                count,
                &[states, &buffers.values],
                &[
                    power.at,
                    power.part_words,
                    qinv,
                    qinv_mont,
                    power.limbs,
                    layout.limbs,
                    count,
                    buffers.items,
                ],
            ),
        }
    }

    /// Raises numbers to their public exponents, and leaves the powers in Montgomery form.
    pub(crate) fn public_power(&mut self, from: &Wiped<D>) -> Result<(), DriverError> {
        let (resident, buffers, count) = (self.keys, self.buffers, self.count);
        let layout = &resident.layout;
        let entered = [from, &buffers.bases, &buffers.publics];
        self.modular(Kernel::PublicEnter, &entered, &[])?;
        for (first, last) in intervals(resident.exponent_bits - 1, 2, layout.limbs, count) {
            self.whole(
                Kernel::PublicBits,
                &[&buffers.bases, &buffers.publics],
                &[0, layout.exponent, first, last, layout.limbs, count, buffers.items],
            )?;
        }
        Ok(())
    }

    /// The public powers, out of Montgomery form, among the values.
    pub(crate) fn public_leave(&mut self) -> Result<(), DriverError> {
        let buffers = [&self.buffers.publics, &self.buffers.values];
        self.modular(Kernel::PublicLeave, &buffers, &[])
    }

    /// Are the public powers of the values what was given?
    pub(crate) fn check(&mut self) -> Result<(), DriverError> {
        let own = self.buffers;
        let buffers = [&own.publics, &own.given, &own.values, self.status];
        self.modular(Kernel::PublicCheck, &buffers, &[])
    }
}
