//! One kernel by itself, run and timed: of those that are measured, whoever wrote them.

use std::{
    ffi::{CString, c_void},
    ptr,
    time::{Duration, Instant},
};

use cudarc::driver::{result, sys};

use super::{
    context::{Context, failed},
    load::load,
};
use crate::driver::DriverError;

/// A module of which one kernel is run. Unloaded when it is dropped.
pub(super) struct Single {
    module: sys::CUmodule,
    pub(super) function: sys::CUfunction,
    context: Context,
}

impl Single {
    pub(super) fn load(context: Context, text: &str, entry: &str) -> Result<Self, DriverError> {
        let [text, name] = [text, entry].map(CString::new);
        let (Ok(text), Ok(name)) = (text, name) else {
            return Err(DriverError::Build {
                log: format!("there is a zero in the text ({entry})"),
            });
        };
        let module = load(context, &text, entry)?;
        let mut single = Single {
            module,
            function: ptr::null_mut(),
            context,
        };
        // SAFETY: the module is loaded.
        single.function =
            unsafe { result::module::get_function(module, name) }.map_err(failed("cuModuleGetFunction", 0))?;
        Ok(single)
    }
}

impl Drop for Single {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the module is ours, and nothing of it runs: every run was waited for.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

/// Runs a kernel once on the default stream of the context that is entered, and says how long that took.
///
/// # Safety
/// The arguments are those that the kernel takes, and it keeps to the memory that they are about.
pub(super) unsafe fn time_of_a_run(
    function: sys::CUfunction,
    blocks: usize,
    threads: usize,
    arguments: &mut [*mut c_void],
) -> Result<Duration, DriverError> {
    let size = |size: usize| u32::try_from(size).expect("a grid has few work-items");
    let start = Instant::now();
    // SAFETY: the caller's word.
    unsafe {
        result::launch_kernel(
            function,
            (size(blocks), 1, 1),
            (size(threads), 1, 1),
            0,
            ptr::null_mut(),
            arguments,
        )
    }
    .map_err(failed("cuLaunchKernel", 0))?;
    // SAFETY: the default stream of the context.
    unsafe { result::stream::synchronize(ptr::null_mut()) }.map_err(failed("cuStreamSynchronize", 0))?;
    Ok(start.elapsed())
}
