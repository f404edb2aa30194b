//! NVIDIA's driver, loaded when it is first asked for.
//!
//! It takes the kernels as PTX, the text that its compiler makes machine code of when it loads them: what
//! [`ptx`](crate::ptx) writes for the lengths that it knows, and for all others `rsa.ptx`, made of `rsa.cl` by
//! `scripts/make-ptx.sh`. So no toolkit is needed.

mod choice;
mod context;
mod load;
mod modules;
mod peer;
mod rates;
mod single;

use std::{ffi::c_void, ptr, slice};

use cudarc::driver::{
    result::{self, DriverError as CudaError},
    sys,
};
use zeroize::Zeroize;

use super::{
    Argument, Description, Device, Download, Driver, DriverError, Kernels, Queue,
    stages::{Pinned, Stages},
};
use crate::kernel::{Grid, Kernel};
use context::{Context, failed, name_of};
use modules::{Program, Programs};

/// The devices, or why there are none.
pub(crate) fn devices() -> Result<Vec<Found>, String> {
    // SAFETY: loading NVIDIA's library runs its initialisers, as with any library that a program is started with.
    // Without this question the calls below would panic where there is none.
    if !unsafe { sys::is_culib_present() } {
        return Err("NVIDIA's driver is not installed".to_owned());
    }
    result::init().map_err(|error| format!("NVIDIA's driver does not start ({})", name_of(error)))?;
    let count = result::device::get_count()
        .map_err(|error| format!("NVIDIA's driver gives no devices ({})", name_of(error)))?;
    let found: Vec<Found> = (0..count).filter_map(|ordinal| describe(ordinal).ok()).collect();
    match found.is_empty() {
        true => Err("NVIDIA's driver finds no device".to_owned()),
        false => Ok(found),
    }
}

/// A device that can be opened.
pub(crate) struct Found {
    pub(crate) description: Description,
    id: sys::CUdevice,
    /// The major number of its compute capability.
    capability: i32,
}

fn describe(ordinal: i32) -> Result<Found, CudaError> {
    use sys::CUdevice_attribute as Attribute;
    let id = result::device::get(ordinal)?;
    // SAFETY: the driver has just given the device.
    let attribute = |what| unsafe { result::device::get_attribute(id, what) };
    let number = |what| attribute(what).map(|value| usize::try_from(value).unwrap_or(0));
    // SAFETY: as above.
    let memory = unsafe { result::device::total_mem(id) }?;
    let capability = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let place = [
        Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
        Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    ];
    Ok(Found {
        capability,
        description: Description {
            driver: Driver::Cuda,
            name: result::device::get_name(id)?,
            platform: format!(
                "compute capability {capability}.{}",
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?
            ),
            units: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory,
            largest_buffer: memory,
            largest_group: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            is_cpu: false,
            pci: match place.map(attribute) {
                [Ok(domain), Ok(bus), Ok(device)] => Some(pci_address(domain, bus, device)),
                _ => None,
            },
        },
        id,
    })
}

/// An address on the PCI bus, as `nvidia-smi` takes it. Its function is always 0.
fn pci_address(domain: i32, bus: i32, device: i32) -> String {
    format!("{domain:08x}:{bus:02x}:{device:02x}.0")
}

/// An open device of NVIDIA's.
pub struct CudaDevice {
    description: Description,
    context: Context,
    programs: Programs,
}

impl CudaDevice {
    /// Opens a device that was found.
    pub(crate) fn open(found: &Found, kernels: Kernels) -> Result<Self, DriverError> {
        // SAFETY: the driver has given the device.
        let context =
            unsafe { result::primary_ctx::retain(found.id) }.map_err(failed("cuDevicePrimaryCtxRetain", 0))?;
        let context = Context::new(context);
        // What `ptx` writes is for Volta and later.
        let kernels = match found.capability {
            ..7 => Kernels::Portable,
            _ => kernels,
        };
        Ok(CudaDevice {
            description: found.description.clone(),
            context,
            programs: Programs::new(context, kernels, found.description.units),
        })
    }
}

impl Device for CudaDevice {
    type Buffer = Memory;
    type Program = Program;
    type Queue = CudaQueue;

    fn description(&self) -> &Description {
        &self.description
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DriverError> {
        self.context.enter()?;
        let bytes = bytes.max(4);
        // SAFETY: what the memory holds is nobody's business until it is written.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(failed("cuMemAlloc", bytes))?;
        Ok(Memory {
            address,
            bytes,
            context: self.context,
        })
    }

    fn program(&self, limbs: usize) -> Result<Program, DriverError> {
        self.programs.program(limbs)
    }

    fn kernel(&self, kernel: Kernel, limbs: usize) -> &'static str {
        self.programs.name(kernel, limbs)
    }

    fn queue(&self) -> Result<CudaQueue, DriverError> {
        self.context.enter()?;
        let handle =
            result::stream::create(result::stream::StreamKind::NonBlocking).map_err(failed("cuStreamCreate", 0))?;
        Ok(CudaQueue {
            handle,
            context: self.context,
            stages: Stages::new(),
        })
    }
}

/// Memory of a device of NVIDIA's.
pub struct Memory {
    address: sys::CUdeviceptr,
    bytes: usize,
    context: Context,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the memory is ours, and the call waits until nothing uses it. A driver that has lost its device
            // may refuse.
            let _ = unsafe { result::memory_free(self.address) };
        }
    }
}

/// A stream of a device of NVIDIA's.
pub struct CudaQueue {
    handle: sys::CUstream,
    context: Context,
    stages: Stages<Stage>,
}

// SAFETY: a stream may be used by every thread that has its context current; the stages are this queue's alone.
unsafe impl Send for CudaQueue {}

/// Page-locked memory of the host's.
struct Stage {
    memory: *mut u8,
    bytes: usize,
    context: Context,
}

impl Pinned for Stage {
    fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are ours until the stage is dropped, and were written when it was made.
        unsafe { slice::from_raw_parts(self.memory, self.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has them: a copy under way keeps the stage taken.
        unsafe { slice::from_raw_parts_mut(self.memory, self.bytes) }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.bytes_mut().zeroize();
        if self.context.enter().is_ok() {
            // SAFETY: the memory came from the driver.
            let _ = unsafe { result::free_host(self.memory.cast()) };
        }
    }
}

impl CudaQueue {
    fn stage(&mut self, bytes: usize) -> Result<usize, DriverError> {
        let context = self.context;
        self.stages.take(bytes, |bytes| {
            // SAFETY: the memory is written before it is read.
            let memory = unsafe { result::malloc_host(bytes, 0) }
                .map_err(failed("cuMemHostAlloc", bytes))?
                .cast::<u8>();
            // SAFETY: it has so many bytes.
            unsafe { ptr::write_bytes(memory, 0, bytes) };
            Ok(Stage { memory, bytes, context })
        })
    }
}

impl Queue for CudaQueue {
    type Buffer = Memory;
    type Program = Program;

    fn upload(&mut self, to: &Memory, bytes: &[u8]) -> Result<(), DriverError> {
        assert!(bytes.len() <= to.bytes, "the buffer is too short");
        if bytes.is_empty() {
            return Ok(());
        }
        self.context.enter()?;
        let place = self.stage(bytes.len())?;
        let stage = &mut self.stages.piece(place).bytes_mut()[..bytes.len()];
        stage.copy_from_slice(bytes);
        // SAFETY: the stage stays taken, and so untouched, until the queue is finished; the buffer has so many bytes.
        unsafe { result::memcpy_htod_async(to.address, stage, self.handle) }
            .map_err(failed("cuMemcpyHtoDAsync", bytes.len()))
    }

    fn download(&mut self, from: &Memory, bytes: usize) -> Result<Download, DriverError> {
        assert!(bytes <= from.bytes, "the buffer is too short");
        self.context.enter()?;
        let place = self.stage(bytes)?;
        if bytes > 0 {
            let stage = &mut self.stages.piece(place).bytes_mut()[..bytes];
            // SAFETY: as for an upload; nobody reads the stage before the queue is finished, which `downloaded` asks of
            // its caller.
            unsafe { result::memcpy_dtoh_async(stage, from.address, self.handle) }
                .map_err(failed("cuMemcpyDtoHAsync", bytes))?;
        }
        Ok(Download { stage: place, bytes })
    }

    fn wipe(&mut self, buffer: &Memory) -> Result<(), DriverError> {
        self.context.enter()?;
        // SAFETY: the buffer has so many bytes.
        unsafe { result::memset_d8_async(buffer.address, 0, buffer.bytes, self.handle) }
            .map_err(failed("cuMemsetD8Async", buffer.bytes))
    }

    fn launch(
        &mut self,
        program: &Program,
        kernel: Kernel,
        grid: Grid,
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), DriverError> {
        self.context.enter()?;
        let mut values: Vec<*mut c_void> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Buffer(buffer) => ptr::from_ref(&buffer.address).cast_mut().cast(),
                Argument::Word(word) => ptr::from_ref(word).cast_mut().cast(),
            })
            .collect();
        let function = program.function(kernel)?;
        // Any grid does all items: a block that is too large for a kernel becomes several.
        let group = grid.group.min(function.most_threads);
        let groups = (grid.groups * grid.group).div_ceil(group);
        let size = |size: usize| u32::try_from(size).expect("a grid has few work-items");
        // SAFETY: the values are there for the call, which copies them, and the driver knows their sizes from the
        // kernel. What the kernel does with them is the word of this crate's callers of `launch`, who keep to the sizes
        // that `rsa.cl` states.
        unsafe {
            result::launch_kernel(
                function.handle,
                (size(groups), 1, 1),
                (size(group), 1, 1),
                0,
                self.handle,
                &mut values,
            )
        }
        .map_err(failed("cuLaunchKernel", 0))
    }

    fn submit(&mut self) -> Result<(), DriverError> {
        // The driver begins at once.
        Ok(())
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.context.enter()?;
        // SAFETY: the stream is ours.
        unsafe { result::stream::synchronize(self.handle) }.map_err(failed("cuStreamSynchronize", 0))?;
        self.stages.free_all();
        Ok(())
    }

    fn downloaded(&self, download: &Download) -> &[u8] {
        self.stages.downloaded(download)
    }
}

impl Drop for CudaQueue {
    fn drop(&mut self) {
        // Copies under way must not outlive the memory that they copy from and to.
        let _ = self.finish();
        self.stages = Stages::new();
        if self.context.enter().is_ok() {
            // SAFETY: the stream is ours, and done.
            let _ = unsafe { result::stream::destroy(self.handle) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_on_the_bus_is_hexadecimal() {
        assert_eq!(pci_address(0, 0xdb, 10), "00000000:db:0a.0");
        assert_eq!(pci_address(0x1_0000, 1, 0), "00010000:01:00.0");
    }
}
