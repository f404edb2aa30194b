//! OpenCL, loaded when it is first asked for.
//!
//! The library is `libOpenCL.so.1` or what the environment variable `OPENCL_DYLIB_PATH` names; it finds the platforms
//! by itself. What is used is OpenCL 1.2.

mod devices;
mod words;

use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    ptr, slice,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use cl3::{
    command_queue, context, kernel as cl_kernel_api, memory, program,
    types::{CL_NON_BLOCKING, CL_TRUE, cl_command_queue, cl_context, cl_event, cl_kernel, cl_mem, cl_program},
};
use zeroize::Zeroize;

use super::{
    Argument, Description, Device, Download, DriverError, Queue,
    stages::{Pinned, Stages},
};
use crate::kernel::{self, Grid, Kernel};
use devices::DeviceId;
use words::{failed, name_of, text_of};

pub(crate) use devices::{Found, devices};

/// Limbs up to which loops are unrolled for a graphics processor: beyond, a number does not fit its registers.
const UNROLL_UP_TO: usize = 32;

/// An open device of OpenCL.
pub struct OpenClDevice {
    description: Description,
    id: DeviceId,
    context: Arc<Context>,
}

struct Context(cl_context);

// SAFETY: OpenCL 1.2, A.2: every call but clSetKernelArg may be made from any thread at any time; kernels are not
// shared here.
unsafe impl Send for Context {}
// SAFETY: As above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours, and whatever was made in it holds it too. A driver that has lost its device may
        // refuse: nothing is left to be done about it.
        let _ = unsafe { context::release_context(self.0) };
    }
}

impl OpenClDevice {
    /// Opens a device that was found.
    pub(crate) fn open(found: &Found) -> Result<Self, DriverError> {
        let context = context::create_context(&[found.id.get()], ptr::null(), None, ptr::null_mut())
            .map_err(failed("clCreateContext", 0))?;
        Ok(OpenClDevice {
            description: found.description.clone(),
            id: found.id,
            context: Arc::new(Context(context)),
        })
    }

    fn build_options(&self, limbs: usize) -> CString {
        let unroll = match self.description.is_cpu {
            true => String::new(),
            false => format!(" -DUNROLL_UP_TO={UNROLL_UP_TO}"),
        };
        CString::new(format!("-cl-std=CL1.2 -DLIMBS={limbs}{unroll}")).expect("there is no zero in it")
    }
}

impl Device for OpenClDevice {
    type Buffer = Memory;
    type Program = Program;
    type Queue = OpenClQueue;

    fn description(&self) -> &Description {
        &self.description
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DriverError> {
        Memory::new(&self.context, memory::CL_MEM_READ_WRITE, bytes)
    }

    fn program(&self, limbs: usize) -> Result<Program, DriverError> {
        static PROGRAMS: AtomicU64 = AtomicU64::new(0);
        // One text: the binding takes a list of them for a list of bare pointers, which it is only if there is one (cl3
        // 0.13.2).
        let source = [kernel::VENDOR, kernel::SOURCE].concat();
        let handle = program::create_program_with_source(self.context.0, &[&source])
            .map_err(failed("clCreateProgramWithSource", 0))?;
        let program = Program {
            number: PROGRAMS.fetch_add(1, Relaxed),
            handle,
            _context: Arc::clone(&self.context),
        };
        let built = program::build_program(
            handle,
            &[self.id.get()],
            &self.build_options(limbs),
            None,
            ptr::null_mut(),
        );
        match built {
            Ok(()) => Ok(program),
            Err(code) => {
                let log = program::get_program_build_data(handle, self.id.get(), program::CL_PROGRAM_BUILD_LOG);
                let log = log.map(text_of).unwrap_or_default();
                Err(DriverError::Build {
                    log: format!("{}: {log}", name_of(code)),
                })
            }
        }
    }

    fn queue(&self) -> Result<OpenClQueue, DriverError> {
        // SAFETY: context and device are open and belong together.
        let handle = unsafe { command_queue::create_command_queue(self.context.0, self.id.get(), 0) }
            .map_err(failed("clCreateCommandQueue", 0))?;
        Ok(OpenClQueue {
            handle,
            context: Arc::clone(&self.context),
            stages: Stages::new(),
            kernels: HashMap::new(),
        })
    }
}

/// Memory of an OpenCL device.
pub struct Memory {
    handle: cl_mem,
    bytes: usize,
    _context: Arc<Context>,
}

// SAFETY: OpenCL 1.2, A.2: memory objects may be used from any thread.
unsafe impl Send for Memory {}
// SAFETY: As above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(context: &Arc<Context>, flags: u64, bytes: usize) -> Result<Self, DriverError> {
        // A buffer of no bytes is refused, and one is wiped by words.
        let bytes = bytes.max(4).next_multiple_of(4);
        // SAFETY: no memory of the host's is handed over.
        let handle = unsafe { memory::create_buffer(context.0, flags, bytes, ptr::null_mut()) }
            .map_err(failed("clCreateBuffer", bytes))?;
        Ok(Memory {
            handle,
            bytes,
            _context: Arc::clone(context),
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the buffer is ours; commands that use it hold it until they are done.
        let _ = unsafe { memory::release_mem_object(self.handle) };
    }
}

/// The kernels, compiled for one device.
pub struct Program {
    /// Tells it from others: a handle may come again once its program is gone.
    number: u64,
    handle: cl_program,
    _context: Arc<Context>,
}

// SAFETY: OpenCL 1.2, A.2: programs may be used from any thread.
unsafe impl Send for Program {}
// SAFETY: As above.
unsafe impl Sync for Program {}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is ours; its kernels hold it.
        let _ = unsafe { program::release_program(self.handle) };
    }
}

/// A kernel object: its arguments belong to whoever sets them, so that each queue has its own.
struct KernelHandle(cl_kernel);

impl Drop for KernelHandle {
    fn drop(&mut self) {
        // SAFETY: the kernel is ours; commands that use it hold it until they are done.
        let _ = unsafe { cl_kernel_api::release_kernel(self.0) };
    }
}

/// A queue of an OpenCL device.
pub struct OpenClQueue {
    handle: cl_command_queue,
    context: Arc<Context>,
    stages: Stages<Stage>,
    kernels: HashMap<(u64, Kernel), KernelHandle>,
}

// SAFETY: OpenCL 1.2, A.2: all objects may be used from any thread, kernels by one at a time, as `&mut self` has it.
unsafe impl Send for OpenClQueue {}

/// Memory of the host's that stays mapped.
struct Stage {
    memory: Memory,
    mapped: *mut u8,
    queue: cl_command_queue,
}

impl Pinned for Stage {
    fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped until the stage is dropped, and were written when it was made.
        unsafe { slice::from_raw_parts(self.mapped, self.memory.bytes) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has them: a copy under way keeps the stage taken.
        unsafe { slice::from_raw_parts_mut(self.mapped, self.memory.bytes) }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.bytes_mut().zeroize();
        // SAFETY: it was mapped by this queue, which is still there: it drops its stages before it is released.
        let event = unsafe {
            command_queue::enqueue_unmap_mem_object(self.queue, self.memory.handle, self.mapped.cast(), 0, ptr::null())
        };
        if let Ok(event) = event {
            release(event);
        }
    }
}

/// Nobody waits for single commands: their queue is in order.
fn release(event: cl_event) {
    // SAFETY: the event is ours.
    let _ = unsafe { cl3::event::release_event(event) };
}

impl OpenClQueue {
    fn stage(&mut self, bytes: usize) -> Result<usize, DriverError> {
        let (queue, context) = (self.handle, &self.context);
        self.stages.take(bytes, |bytes| {
            let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_ALLOC_HOST_PTR;
            let memory = Memory::new(context, flags, bytes)?;
            let mut mapped: *mut c_void = ptr::null_mut();
            // SAFETY: the buffer has so many bytes; the call waits until they are mapped.
            let event = unsafe {
                command_queue::enqueue_map_buffer(
                    queue,
                    memory.handle,
                    CL_TRUE,
                    memory::CL_MAP_READ | memory::CL_MAP_WRITE,
                    0,
                    bytes,
                    &mut mapped,
                    0,
                    ptr::null(),
                )
            }
            .map_err(failed("clEnqueueMapBuffer", bytes))?;
            release(event);
            // SAFETY: so many bytes are mapped.
            unsafe { ptr::write_bytes(mapped.cast::<u8>(), 0, bytes) };
            Ok(Stage {
                memory,
                mapped: mapped.cast(),
                queue,
            })
        })
    }

    fn kernel(&mut self, program: &Program, kernel: Kernel) -> Result<cl_kernel, DriverError> {
        let place = (program.number, kernel);
        if let Some(handle) = self.kernels.get(&place) {
            return Ok(handle.0);
        }
        let name = CString::new(kernel.name()).expect("there is no zero in it");
        let handle = cl_kernel_api::create_kernel(program.handle, &name).map_err(failed("clCreateKernel", 0))?;
        self.kernels.insert(place, KernelHandle(handle));
        Ok(handle)
    }
}

impl Queue for OpenClQueue {
    type Buffer = Memory;
    type Program = Program;

    fn upload(&mut self, to: &Memory, bytes: &[u8]) -> Result<(), DriverError> {
        assert!(bytes.len() <= to.bytes, "the buffer is too short");
        if bytes.is_empty() {
            return Ok(());
        }
        let stage = self.stage(bytes.len())?;
        let stage = self.stages.piece(stage);
        stage.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        // SAFETY: the stage stays taken, and so untouched, until the queue is finished; it and the buffer have so many
        // bytes.
        let event = unsafe {
            command_queue::enqueue_write_buffer(
                self.handle,
                to.handle,
                CL_NON_BLOCKING,
                0,
                bytes.len(),
                stage.mapped.cast(),
                0,
                ptr::null(),
            )
        };
        event.map(release).map_err(failed("clEnqueueWriteBuffer", bytes.len()))
    }

    fn download(&mut self, from: &Memory, bytes: usize) -> Result<Download, DriverError> {
        assert!(bytes <= from.bytes, "the buffer is too short");
        let place = self.stage(bytes)?;
        if bytes > 0 {
            let stage = self.stages.piece(place);
            // SAFETY: as for an upload; nobody reads the stage before the queue is finished, which `downloaded` asks of
            // its caller and which at worst gives bytes of another time.
            let event = unsafe {
                command_queue::enqueue_read_buffer(
                    self.handle,
                    from.handle,
                    CL_NON_BLOCKING,
                    0,
                    bytes,
                    stage.mapped.cast(),
                    0,
                    ptr::null(),
                )
            };
            event.map(release).map_err(failed("clEnqueueReadBuffer", bytes))?;
        }
        Ok(Download { stage: place, bytes })
    }

    fn wipe(&mut self, buffer: &Memory) -> Result<(), DriverError> {
        let zero = 0u32;
        // SAFETY: the pattern is copied by the call; the buffer has so many bytes, a multiple of four.
        let event = unsafe {
            command_queue::enqueue_fill_buffer(
                self.handle,
                buffer.handle,
                ptr::from_ref(&zero).cast(),
                size_of_val(&zero),
                0,
                buffer.bytes,
                0,
                ptr::null(),
            )
        };
        event.map(release).map_err(failed("clEnqueueFillBuffer", buffer.bytes))
    }

    fn launch(
        &mut self,
        program: &Program,
        kernel: Kernel,
        grid: Grid,
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), DriverError> {
        let handle = self.kernel(program, kernel)?;
        for (place, argument) in (0..).zip(arguments) {
            let (size, value): (usize, *const c_void) = match argument {
                Argument::Buffer(buffer) => (size_of::<cl_mem>(), ptr::from_ref(&buffer.handle).cast()),
                Argument::Word(word) => (size_of::<u32>(), ptr::from_ref(word).cast()),
            };
            // SAFETY: the value is there for the call, which copies it; the driver checks place and size. The buffer is
            // held by the commands that use it.
            unsafe { cl_kernel_api::set_kernel_arg(handle, place, size, value) }
                .map_err(failed("clSetKernelArg", 0))?;
        }
        let (global, local) = (grid.groups * grid.group, grid.group);
        // SAFETY: one dimension, as the sizes have. What the kernel does with its arguments is the word of this crate's
        // callers of `launch`, who keep to the sizes that `rsa.cl` states.
        let event = unsafe {
            command_queue::enqueue_nd_range_kernel(self.handle, handle, 1, ptr::null(), &global, &local, 0, ptr::null())
        };
        event.map(release).map_err(failed("clEnqueueNDRangeKernel", 0))
    }

    fn submit(&mut self) -> Result<(), DriverError> {
        command_queue::flush(self.handle).map_err(failed("clFlush", 0))
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        command_queue::finish(self.handle).map_err(failed("clFinish", 0))?;
        self.stages.free_all();
        Ok(())
    }

    fn downloaded(&self, download: &Download) -> &[u8] {
        self.stages.downloaded(download)
    }
}

impl Drop for OpenClQueue {
    fn drop(&mut self) {
        // Copies under way must not outlive the memory that they copy from and to.
        let _ = command_queue::finish(self.handle);
        self.stages = Stages::new();
        let _ = command_queue::finish(self.handle);
        // SAFETY: the queue is ours.
        let _ = unsafe { command_queue::release_command_queue(self.handle) };
    }
}
