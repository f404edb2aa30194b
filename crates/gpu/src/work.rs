//! Batches of blocks on a device: two queues take turns, so that one copies while the other computes.
//!
//! ```text
//! private  upload ── read_blocks ── blind ── power_enter ── power_digits … ── recombine ── unblind
//!                 ── public power ── read_blocks ── check ── write_blocks ── download
//! bare     upload ── read_blocks ── power_enter ── power_digits … ── power_leave ── write_blocks ── download
//! public   upload ── read_blocks ── public power ── write_blocks ── download
//! ```

use std::{ops::Range, sync::Arc};

use rsalab_rsa::Status;

use crate::{
    BatchError,
    driver::{Device, Download, DriverError, Queue},
    key::{Keys, words_to_bytes},
    open_device::{Launcher, Wiped, filling},
    pairs::Slots,
    steps::{Buffers, Steps},
};

/// An operation on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `m^e mod n`, in variable time.
    Public,
    /// `c^d mod n`, blinded and checked.
    Private,
    /// `c^d mod n`, neither blinded nor checked: to be measured beside programs that do neither.
    Bare,
    /// `c^d mod n`, checked alone: for keys that are new and numbers that nobody else has seen.
    CheckKey,
}

/// One thread's runner on keys that are resident on a device.
pub(crate) struct ThreadRunner<D: Device> {
    keys: Arc<Keys<D>>,
    operation: Operation,
    workers: [Worker<D>; 2],
}

/// A batch's buffers, as the caller has them.
struct Blocks<'a> {
    /// The key of each item, unless there is one for all.
    keys: Option<&'a [usize]>,
    inputs: &'a [u8],
    outputs: &'a mut [u8],
    status: &'a mut [Status],
}

impl<D: Device> ThreadRunner<D> {
    pub(crate) fn new(keys: &Arc<Keys<D>>, operation: Operation) -> Result<Self, DriverError> {
        Ok(ThreadRunner {
            workers: [Worker::new(keys)?, Worker::new(keys)?],
            keys: Arc::clone(keys),
            operation,
        })
    }

    /// Does the operation to each block. Whatever fails, all outputs are zero then.
    pub(crate) fn run(
        &mut self,
        keys: Option<&[usize]>,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), BatchError> {
        let blocks = &mut Blocks {
            keys,
            inputs,
            outputs,
            status,
        };
        let done = self.run_chunks(blocks);
        if done.is_err() {
            blocks.outputs.fill(0);
            for worker in &mut self.workers {
                worker.abandon();
            }
        }
        done
    }

    fn chunk_of(&self, count: usize) -> usize {
        let device = self.keys.open.device.description();
        // A CPU computes and copies by the same units.
        let filling = if device.is_cpu { usize::MAX } else { filling(device) };
        chunk(count, self.keys.most_items(), filling)
    }

    fn run_chunks(&mut self, blocks: &mut Blocks<'_>) -> Result<(), BatchError> {
        let count = blocks.status.len();
        let chunk = self.chunk_of(count);
        for (turn, first) in (0..count).step_by(chunk).enumerate() {
            let items = first..(first + chunk).min(count);
            let worker = &mut self.workers[turn % 2];
            worker.collect(blocks)?;
            worker.begin(self.operation, items, blocks)?;
        }
        // One may still be at work; where its results go, it knows itself.
        for worker in &mut self.workers {
            worker.collect(blocks)?;
        }
        Ok(())
    }
}

/// Items that are done at once of `count`: no more than there is room for, and a part of what would fill a graphics
/// processor several times, so that some are copied while others are computed.
fn chunk(count: usize, room: usize, filling: usize) -> usize {
    const PARTS: usize = 4;
    let parts = (count / filling).clamp(1, PARTS).max(count.div_ceil(room));
    count.div_ceil(parts).max(1)
}

/// A queue with its memory on the device.
pub(crate) struct Worker<D: Device> {
    pub(crate) keys: Arc<Keys<D>>,
    launcher: Launcher<D>,
    buffers: Option<Buffers<D>>,
    slots: Slots,
    pairs: Option<[Wiped<D>; 2]>,
    flight: Option<Flight>,
}

/// A batch that was begun and is not yet collected.
struct Flight {
    items: Range<usize>,
    blocks: Download,
    status: Download,
}

impl<D: Device> Worker<D> {
    pub(crate) fn new(keys: &Arc<Keys<D>>) -> Result<Self, DriverError> {
        Ok(Worker {
            launcher: Launcher::new(&keys.open, keys.launch)?,
            keys: Arc::clone(keys),
            buffers: None,
            slots: Slots::new(),
            pairs: None,
            flight: None,
        })
    }

    /// Buffers for so many items at least. What was there before is wiped and given back first.
    fn make_buffers(&mut self, items: usize) -> Result<(), DriverError> {
        let room = self.buffers.as_ref().map_or(0, |buffers| buffers.items);
        if room < items {
            self.buffers = None;
            let buffers = Buffers::new(&self.keys, items.next_power_of_two())?;
            self.launcher.queue.wipe(&buffers.which.buffer)?;
            self.buffers = Some(buffers);
        }
        Ok(())
    }

    /// Begins a chunk of a batch.
    fn begin(&mut self, operation: Operation, items: Range<usize>, blocks: &Blocks<'_>) -> Result<(), BatchError> {
        let count = items.len();
        self.make_buffers(count)?;
        if operation == Operation::Private {
            match blocks.keys {
                Some(keys) => self.assign_pairs(keys[items.clone()].iter().copied())?,
                None => self.assign_pairs((0..count).map(|_| 0))?,
            }
        }
        let length = self.keys.length();
        let inputs = &blocks.inputs[items.start * length..items.end * length];
        let buffers = self.buffers.as_ref().expect("it was just made");
        if let Some(keys) = blocks.keys {
            let which: Vec<u32> = keys[items.clone()].iter().map(|&key| key as u32).collect();
            self.launcher.upload(&buffers.which, &words_to_bytes(&which))?;
        }
        self.launcher.upload(&buffers.blocks, inputs)?;
        self.compute(operation, count, None)?;
        let buffers = self.buffers.as_ref().expect("it is still there");
        let queue = &mut self.launcher.queue;
        self.flight = Some(Flight {
            items,
            blocks: queue.download(&buffers.blocks.buffer, count * length)?,
            status: queue.download(&buffers.status.buffer, 4 * count)?,
        });
        queue.submit()?;
        Ok(())
    }

    /// Starts the kernels on blocks that are there, with pairs that are assigned: those of the buffers, which the
    /// results replace, or a batch that was kept.
    fn compute(&mut self, operation: Operation, count: usize, kept: Option<&Kept<D>>) -> Result<(), BatchError> {
        let buffers = self.buffers.as_ref().expect("there is memory for blocks");
        let (input, output, status) = match kept {
            Some(kept) => (&kept.input, &kept.output, &kept.status),
            None => (&buffers.blocks, &buffers.blocks, &buffers.status),
        };
        let mut steps = Steps::new(&self.keys, &mut self.launcher, buffers, status, count);
        steps.read_blocks(input, &buffers.given)?;
        match operation {
            Operation::Public => {
                steps.public_power(&buffers.given)?;
                steps.public_leave()?;
            }
            Operation::Private => {
                let pairs = self.pairs.as_ref().expect("pairs were assigned");
                let slots = self.slots.capacity();
                steps.blind(pairs, slots)?;
                steps.private_power(&buffers.values)?;
                steps.unblind(pairs, slots)?;
                steps.public_power(&buffers.values)?;
                // Once more: what the power was taken of is compared with what the caller gave.
                steps.read_blocks(input, &buffers.given)?;
                steps.check()?;
            }
            Operation::Bare => steps.private_power(&buffers.given)?,
            Operation::CheckKey => {
                steps.private_power(&buffers.given)?;
                steps.public_power(&buffers.values)?;
                steps.check()?;
            }
        }
        steps.write_blocks(output)?;
        Ok(())
    }

    /// Gives each item of a batch a blinding pair, and draws those that are due.
    fn assign_pairs(&mut self, keys: impl ExactSizeIterator<Item = usize>) -> Result<(), BatchError> {
        let assigned = self.slots.assign(keys);
        let drawn = self.draw_pairs(&assigned.due, assigned.needs_memory);
        if drawn.is_err() {
            // Whatever was not drawn is due again.
            self.slots.discard();
        }
        drawn?;
        let buffers = self.buffers.as_ref().expect("it is made before");
        self.launcher.upload(&buffers.pair, &words_to_bytes(&assigned.slots))?;
        Ok(())
    }

    fn draw_pairs(&mut self, due: &[usize], needs_memory: Option<usize>) -> Result<(), BatchError> {
        let limbs = self.keys.layout.limbs;
        if let Some(slots) = needs_memory {
            self.pairs = None;
            let words = || Wiped::words(&self.keys.open, slots * limbs);
            self.pairs = Some([words()?, words()?]);
        }
        let (Some(buffers), Some(pairs)) = (&self.buffers, &self.pairs) else {
            unreachable!("there is memory, and slots have memory from the first on");
        };
        for due in due.chunks(buffers.items) {
            let [numbers, inverses] = self.slots.draw(due, &self.keys.moduli)?;
            let keys: Vec<u32> = due.iter().map(|&slot| self.slots.key(slot) as u32).collect();
            let places: Vec<u32> = due.iter().map(|&slot| slot as u32).collect();
            let launcher = &mut self.launcher;
            launcher.upload(&buffers.which, &words_to_bytes(&keys))?;
            launcher.upload(&buffers.pair, &words_to_bytes(&places))?;
            let mut steps = Steps::new(&self.keys, launcher, buffers, &buffers.status, due.len());
            steps.upload(&numbers)?;
            steps.read_blocks(&buffers.blocks, &buffers.given)?;
            steps.public_power(&buffers.given)?;
            steps.upload(&inverses)?;
            steps.read_blocks(&buffers.blocks, &buffers.values)?;
            steps.renew_pairs(pairs, self.slots.capacity())?;
        }
        // One key for all is what a batch without keys of its own finds.
        if !due.is_empty() {
            self.launcher.queue.wipe(&buffers.which.buffer)?;
        }
        Ok(())
    }

    /// Waits for what was begun, if anything was, and hands its results out.
    fn collect(&mut self, blocks: &mut Blocks<'_>) -> Result<(), BatchError> {
        let Some(flight) = self.flight.take() else {
            return Ok(());
        };
        let queue = &mut self.launcher.queue;
        queue.finish()?;
        let length = self.keys.length();
        let bytes = flight.items.start * length..flight.items.end * length;
        blocks.outputs[bytes].copy_from_slice(queue.downloaded(&flight.blocks));
        let words = queue.downloaded(&flight.status);
        if read_status(words, &mut blocks.status[flight.items]) {
            // The fault may have been in the pairs themselves.
            self.slots.discard();
        }
        Ok(())
    }

    /// Uploads a batch that is to be run later.
    pub(crate) fn keep(&mut self, inputs: &[u8], count: usize) -> Result<Kept<D>, DriverError> {
        let bytes = |bytes| Wiped::bytes(&self.keys.open, bytes);
        let kept = Kept {
            count,
            input: bytes(inputs.len())?,
            output: bytes(inputs.len())?,
            status: bytes(4 * count)?,
        };
        self.launcher.upload(&kept.input, inputs)?;
        self.launcher.queue.finish()?;
        self.make_buffers(count)?;
        Ok(kept)
    }

    /// Does the private operation on a batch that was kept, from its beginning to its end.
    pub(crate) fn run_kept(&mut self, kept: &Kept<D>) -> Result<(), BatchError> {
        self.assign_pairs((0..kept.count).map(|_| 0))?;
        self.compute(Operation::Private, kept.count, Some(kept))?;
        self.launcher.queue.finish()?;
        Ok(())
    }

    /// Fetches the results of a batch that was kept.
    pub(crate) fn collect_kept(
        &mut self,
        kept: &Kept<D>,
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), DriverError> {
        let queue = &mut self.launcher.queue;
        let blocks = queue.download(&kept.output.buffer, outputs.len())?;
        let words = queue.download(&kept.status.buffer, 4 * kept.count)?;
        queue.finish()?;
        outputs.copy_from_slice(queue.downloaded(&blocks));
        if read_status(queue.downloaded(&words), status) {
            self.slots.discard();
        }
        Ok(())
    }

    /// Gives up what was begun: its batch has failed. Waits for it, with or without a flight: where one kernel did not
    /// start, those before it may still be at work on memory that is wiped next.
    pub(crate) fn abandon(&mut self) {
        self.slots.discard();
        self.flight = None;
        // If the device is lost, nothing is under way.
        let _ = self.launcher.queue.finish();
    }
}

/// The status of each item as the kernels left it; returns whether one is at fault.
fn read_status(words: &[u8], status: &mut [Status]) -> bool {
    for (status, word) in status.iter_mut().zip(words.chunks_exact(4)) {
        *status = match word {
            [0, 0, 0, 0] => Status::Done,
            [1, 0, 0, 0] => Status::OutOfRange,
            _ => Status::Fault,
        };
    }
    status.contains(&Status::Fault)
}

/// A batch that lies on the device, with memory for its results.
pub(crate) struct Kept<D: Device> {
    pub(crate) count: usize,
    input: Wiped<D>,
    output: Wiped<D>,
    status: Wiped<D>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_a_device_several_times_is_cut_and_a_chunk_has_room() {
        for (count, room, filling, expected) in [
            (0, 1 << 17, 256, 1),
            (255, 1 << 17, 256, 255),
            (511, 1 << 17, 256, 511),
            (512, 1 << 17, 256, 256),
            (1000, 1 << 17, 256, 334),
            (5000, 1 << 17, 256, 1250),
            (126_720, 1 << 17, 33_792, 42_240),
            (1 << 20, 1 << 17, 33_792, 1 << 17),
            (1 << 20, 1 << 17, usize::MAX, 1 << 17),
            (1000, 100, 256, 100),
        ] {
            assert_eq!(chunk(count, room, filling), expected, "{count}, {room}, {filling}");
        }
    }
}
