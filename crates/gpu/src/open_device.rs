//! An open device with what everybody on it shares: compiled programs, and memory that is wiped before it is given
//! back.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    driver::{Argument, Description, Device, DriverError, Queue},
    kernel::{Kernel, Launch},
};

/// A device in use.
pub(crate) struct OpenDevice<D: Device> {
    pub(crate) device: D,
    programs: Mutex<HashMap<usize, Arc<D::Program>>>,
    /// For what does not belong to anybody's work: wiping.
    control: Mutex<D::Queue>,
}

impl<D: Device> OpenDevice<D> {
    pub(crate) fn new(device: D) -> Result<Self, DriverError> {
        Ok(OpenDevice {
            programs: Mutex::default(),
            control: Mutex::new(device.queue()?),
            device,
        })
    }

    /// The kernels for numbers of so many limbs, compiled when they are first asked for.
    pub(crate) fn program(&self, limbs: usize) -> Result<Arc<D::Program>, DriverError> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&limbs) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(self.device.program(limbs)?);
        programs.insert(limbs, Arc::clone(&program));
        Ok(program)
    }

    /// The most items that are worked on at once, a power of two, as buffers are: what a quarter of the device's memory
    /// holds, in two sets of buffers, where an item takes so many bytes of a table and of other memory.
    pub(crate) fn most_items(&self, table: usize, others: usize) -> usize {
        /// Indices of 32 bits reach so many words.
        const MOST_WORDS: usize = 1 << 30;
        let device = self.device.description();
        let largest = device.largest_buffer.min(4 * MOST_WORDS);
        let by_table = largest.checked_div(table).unwrap_or(usize::MAX);
        let by_memory = device.memory / 8 / (table + others);
        1 << by_memory.min(by_table).clamp(1, 1 << 17).ilog2()
    }

    fn control(&self) -> MutexGuard<'_, D::Queue> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Numbers that give every unit of a device enough to do.
pub(crate) fn filling(device: &Description) -> usize {
    /// Work-items of a unit, so that some compute while others wait for memory.
    const OF_A_UNIT: usize = 256;
    /// Enough for starting kernels not to matter.
    const OF_A_CPU: usize = 32;
    let of_a_unit = if device.is_cpu { OF_A_CPU } else { OF_A_UNIT };
    device.units.max(1) * of_a_unit
}

/// Memory of a device that is wiped before it is given back.
pub(crate) struct Wiped<D: Device> {
    open: Arc<OpenDevice<D>>,
    pub(crate) buffer: D::Buffer,
}

impl<D: Device> Wiped<D> {
    /// Buffers for so many words.
    pub(crate) fn words(open: &Arc<OpenDevice<D>>, words: usize) -> Result<Self, DriverError> {
        Wiped::bytes(open, 4 * words)
    }

    /// Buffers for so many bytes.
    pub(crate) fn bytes(open: &Arc<OpenDevice<D>>, bytes: usize) -> Result<Self, DriverError> {
        Ok(Wiped {
            buffer: open.device.allocate(bytes)?,
            open: Arc::clone(open),
        })
    }
}

impl<D: Device> Drop for Wiped<D> {
    fn drop(&mut self) {
        let mut control = self.open.control();
        // A device that is lost has nothing that could be wiped from here.
        let _ = control.wipe(&self.buffer).and_then(|()| control.finish());
    }
}

/// A queue of a device, and how kernels are launched on it.
pub(crate) struct Launcher<D: Device> {
    open: Arc<OpenDevice<D>>,
    launch: Launch,
    pub(crate) queue: D::Queue,
}

impl<D: Device> Launcher<D> {
    pub(crate) fn new(open: &Arc<OpenDevice<D>>, launch: Launch) -> Result<Self, DriverError> {
        Ok(Launcher {
            queue: open.device.queue()?,
            open: Arc::clone(open),
            launch,
        })
    }

    /// Copies bytes to the beginning of memory.
    pub(crate) fn upload(&mut self, to: &Wiped<D>, bytes: &[u8]) -> Result<(), DriverError> {
        self.queue.upload(&to.buffer, bytes)
    }

    /// Runs a kernel on so many numbers. All kernels take buffers first, then words.
    pub(crate) fn run(
        &mut self,
        program: &D::Program,
        kernel: Kernel,
        numbers: usize,
        buffers: &[&Wiped<D>],
        words: &[usize],
    ) -> Result<(), DriverError> {
        let grid = self.launch.grid(numbers, self.open.device.description());
        let word = |&word: &usize| Argument::Word(u32::try_from(word).expect("sizes on a device fit 32 bits"));
        let buffers = buffers.iter().map(|wiped| Argument::Buffer(&wiped.buffer));
        let arguments: Vec<_> = buffers.chain(words.iter().map(word)).collect();
        self.queue.launch(program, kernel, grid, &arguments)
    }
}

/// The products of 32 bits that one launch may take. A graphics processor that also draws a desktop is taken away from
/// a kernel that runs for seconds; one that does 10¹¹ of them a second is done in a fraction of one.
const PRODUCTS_OF_A_LAUNCH: u128 = 1 << 35;
/// The products of one work-item in one launch: few numbers take as long as each does alone.
const PRODUCTS_OF_A_WORK_ITEM: u128 = 1 << 25;

/// Cuts `steps` steps, each of `products` modular products of `limbs` limbs on each of `numbers` numbers, into
/// intervals for a launch each.
pub(crate) fn intervals(
    steps: usize,
    products: usize,
    limbs: usize,
    numbers: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let of_a_step = (2 * (limbs as u128).pow(2) * products as u128).max(1);
    let together = (PRODUCTS_OF_A_LAUNCH / (of_a_step * numbers.max(1) as u128))
        .min(PRODUCTS_OF_A_WORK_ITEM / of_a_step)
        .clamp(1, steps.max(1) as u128) as usize;
    (0..steps)
        .step_by(together)
        .map(move |first| (first, (first + together).min(steps)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_cover_every_step_once_and_none_is_long() {
        for (steps, limbs, numbers) in [(0, 32, 8), (1, 128, 1 << 20), (205, 32, 10), (683, 128, 50_000)] {
            let intervals: Vec<_> = intervals(steps, 6, limbs, numbers).collect();
            let mut next = 0;
            for (first, last) in &intervals {
                assert_eq!(*first, next);
                assert!(last > first);
                let of_one = (last - first) as u128 * 12 * (limbs * limbs) as u128;
                let fits = of_one <= PRODUCTS_OF_A_WORK_ITEM && of_one * numbers as u128 <= PRODUCTS_OF_A_LAUNCH;
                assert!(fits || last - first == 1);
                next = *last;
            }
            assert_eq!(next, steps);
        }
        assert_eq!(intervals(205, 6, 32, 10).count(), 1);
        assert_eq!(intervals(683, 7, 128, 2).count(), 5);
    }
}
