//! One interval of work on a device: its memory, and each kernel with its arguments.

use crate::{
    driver::{Device, Failure, Queue},
    kernel::Kernel,
    key::Keys,
    unit::{Launcher, Wiped, intervals},
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
    /// Whose key each item takes: zeros, as long as there is one.
    pub(crate) which: Wiped<D>,
    /// The slot of each item's blinding pair.
    pub(crate) pair: Wiped<D>,
    pub(crate) power: Option<[Wiped<D>; 2]>,
}

impl<D: Device> Buffers<D> {
    pub(crate) fn new(keys: &Keys<D>, items: usize) -> Result<Self, Failure> {
        let words = |words: usize| Wiped::words(&keys.unit, words);
        let numbers = items * keys.layout.limbs;
        let power = keys.layout.power.as_ref().map(|power| {
            let states = items * power.parts * power.limbs;
            Ok([words(states)?, words(states << power.window)?])
        });
        Ok(Buffers {
            items,
            blocks: Wiped::bytes(&keys.unit, items * keys.length())?,
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

/// What the kernels of one interval of work have in common.
pub(crate) struct Steps<'a, D: Device> {
    keys: &'a Keys<D>,
    buffers: &'a Buffers<D>,
    /// What became of each item.
    status: &'a Wiped<D>,
    launcher: Launcher<'a, D>,
    count: usize,
}

impl<'a, D: Device> Steps<'a, D> {
    /// On the first `count` items of the buffers, whose statuses go to `status`.
    pub(crate) fn new(
        keys: &'a Keys<D>,
        queue: &'a mut D::Queue,
        buffers: &'a Buffers<D>,
        status: &'a Wiped<D>,
        count: usize,
    ) -> Self {
        Steps {
            keys,
            buffers,
            status,
            launcher: Launcher {
                unit: &keys.unit,
                queue,
                launch: keys.launch,
            },
            count,
        }
    }

    /// Uploads other blocks to the buffers.
    pub(crate) fn upload(&mut self, blocks: &[u8]) -> Result<(), Failure> {
        self.launcher
            .queue
            .upload(&self.buffers.blocks.buffer, blocks)
    }

    /// Runs a kernel on numbers as long as the modulus: buffers, then the keys and which each item takes, then words.
    fn whole(
        &mut self,
        kernel: Kernel,
        buffers: &[&Wiped<D>],
        words: &[usize],
    ) -> Result<(), Failure> {
        let (program, count) = (&self.keys.whole, self.count);
        self.keyed(program, kernel, count, buffers, words)
    }

    /// The same with any program, on so many numbers.
    fn keyed(
        &mut self,
        program: &D::Program,
        kernel: Kernel,
        numbers: usize,
        buffers: &[&Wiped<D>],
        words: &[usize],
    ) -> Result<(), Failure> {
        let keys = [&self.keys.records, &self.buffers.which];
        let buffers: Vec<_> = buffers
            .iter()
            .copied()
            .chain(keys)
            .map(|wiped| &wiped.buffer)
            .collect();
        let words = [&[self.keys.layout.words], words].concat();
        self.launcher
            .run(program, kernel, numbers, &buffers, &words)
    }

    pub(crate) fn read_blocks(&mut self, from: &Wiped<D>, to: &Wiped<D>) -> Result<(), Failure> {
        let buffers = self.buffers;
        self.whole(
            Kernel::ReadBlocks,
            &[from, to, self.status],
            &[
                0,
                self.keys.layout.limbs,
                self.keys.length(),
                self.count,
                buffers.items,
            ],
        )
    }

    pub(crate) fn write_blocks(&mut self, to: &Wiped<D>) -> Result<(), Failure> {
        let (keys, buffers) = (self.keys, self.buffers);
        let arguments = [&buffers.values, to, self.status].map(|wiped| &wiped.buffer);
        let words = [keys.length(), self.count, buffers.items];
        self.launcher.run(
            &keys.whole,
            Kernel::WriteBlocks,
            self.count,
            &arguments,
            &words,
        )
    }

    /// Blinded numbers of what was given.
    pub(crate) fn blind(&mut self, pairs: &[Wiped<D>; 2], slots: usize) -> Result<(), Failure> {
        let buffers = self.buffers;
        self.whole(
            Kernel::Blind,
            &[
                &buffers.given,
                &buffers.values,
                &pairs[0],
                &pairs[1],
                &buffers.pair,
            ],
            &[0, self.keys.layout.limbs, self.count, buffers.items, slots],
        )
    }

    pub(crate) fn unblind(&mut self, pairs: &[Wiped<D>; 2], slots: usize) -> Result<(), Failure> {
        let buffers = self.buffers;
        self.whole(
            Kernel::Unblind,
            &[&buffers.values, &pairs[1], &buffers.pair],
            &[0, self.keys.layout.limbs, self.count, buffers.items, slots],
        )
    }

    /// Pairs of the powers that a public power has left in Montgomery form, and of the inverses among the values.
    pub(crate) fn renew_pairs(
        &mut self,
        pairs: &[Wiped<D>; 2],
        slots: usize,
    ) -> Result<(), Failure> {
        let buffers = self.buffers;
        self.whole(
            Kernel::RenewPairs,
            &[
                &buffers.publics,
                &buffers.values,
                &pairs[0],
                &pairs[1],
                &buffers.pair,
            ],
            &[0, self.keys.layout.limbs, self.count, buffers.items, slots],
        )
    }

    /// Raises numbers to their private exponents, into the values.
    pub(crate) fn private_power(&mut self, from: &Wiped<D>) -> Result<(), Failure> {
        let (resident, buffers, count) = (self.keys, self.buffers, self.count);
        let layout = &resident.layout;
        let (Some(power), Some(program), Some([states, table])) =
            (&layout.power, &resident.part, &buffers.power)
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
    pub(crate) fn public_power(&mut self, from: &Wiped<D>) -> Result<(), Failure> {
        let (resident, buffers, count) = (self.keys, self.buffers, self.count);
        let layout = &resident.layout;
        self.whole(
            Kernel::PublicEnter,
            &[from, &buffers.bases, &buffers.publics],
            &[0, layout.limbs, count, buffers.items],
        )?;
        for (first, last) in intervals(resident.exponent_bits - 1, 2, layout.limbs, count) {
            self.whole(
                Kernel::PublicBits,
                &[&buffers.bases, &buffers.publics],
                &[
                    0,
                    layout.exponent,
                    first,
                    last,
                    layout.limbs,
                    count,
                    buffers.items,
                ],
            )?;
        }
        Ok(())
    }

    /// The public powers, out of Montgomery form, among the values.
    pub(crate) fn public_leave(&mut self) -> Result<(), Failure> {
        let buffers = self.buffers;
        self.whole(
            Kernel::PublicLeave,
            &[&buffers.publics, &buffers.values],
            &[0, self.keys.layout.limbs, self.count, buffers.items],
        )
    }

    /// Are the public powers of the values what was given?
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        let buffers = self.buffers;
        self.whole(
            Kernel::PublicCheck,
            &[
                &buffers.publics,
                &buffers.given,
                &buffers.values,
                self.status,
            ],
            &[0, self.keys.layout.limbs, self.count, buffers.items],
        )
    }
}
