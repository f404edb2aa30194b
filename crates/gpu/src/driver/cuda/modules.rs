//! Kernels on a device of NVIDIA's: which text is loaded for which, and when.
//!
//! The portable kernels are one module for all lengths, loaded once for a device. Of those that [`ptx`] has, each is a module of its
//! own, loaded when it is first launched: the driver's compiler takes seconds for the longest, and keeps what it made for the next
//! process.

use std::{
    collections::HashMap,
    ffi::CString,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use cudarc::driver::{result, sys};

use super::context::{Context, failed, name_of};
use crate::{
    driver::{Failure, Kernels},
    kernel::{Kernel, PTX},
    ptx,
};

/// The kernels of a device for numbers of one length.
pub struct Program {
    limbs: usize,
    context: Context,
    portable: Arc<Module>,
    /// Kernels that keep numbers in registers, if there are some for this length.
    own: HashMap<Kernel, OnceLock<Module>>,
}

/// What is launched.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) handle: sys::CUfunction,
    /// The most threads of a block.
    pub(super) most_threads: usize,
}

/// All programs of a device.
pub(super) struct Programs {
    context: Context,
    kernels: Kernels,
    portable: Mutex<Option<Arc<Module>>>,
}

impl Programs {
    pub(super) fn new(context: Context, kernels: Kernels) -> Self {
        Programs {
            context,
            kernels,
            portable: Mutex::default(),
        }
    }

    /// Whether there are kernels in registers for numbers of so many limbs, and they are wished.
    pub(super) fn has_own(&self, limbs: usize) -> bool {
        self.kernels == Kernels::Fastest && !ptx::kernels(limbs).is_empty()
    }

    pub(super) fn program(&self, limbs: usize) -> Result<Program, Failure> {
        let mut portable = self.portable.lock().unwrap_or_else(PoisonError::into_inner);
        let portable = match &*portable {
            Some(module) => Arc::clone(module),
            None => {
                let names: Vec<_> = Kernel::ALL.iter().map(|&(kernel, _)| kernel).collect();
                let module = Module::load(self.context, PTX, &names)?;
                Arc::clone(portable.insert(Arc::new(module)))
            }
        };
        let own = match self.has_own(limbs) {
            true => ptx::kernels(limbs)
                .iter()
                .map(|&kernel| (kernel, OnceLock::new()))
                .collect(),
            false => HashMap::new(),
        };
        Ok(Program {
            limbs,
            context: self.context,
            portable,
            own,
        })
    }
}

impl Program {
    pub(super) fn function(&self, kernel: Kernel) -> Result<Function, Failure> {
        let Some(place) = self.own.get(&kernel) else {
            return Ok(Function {
                handle: self.portable.functions[&kernel],
                most_threads: usize::MAX,
            });
        };
        let module = match place.get() {
            Some(module) => module,
            None => {
                let text = ptx::kernel(kernel, self.limbs).expect("there is one for this length");
                let module = Module::load(self.context, &text, &[kernel])?;
                // Another thread may have been faster; then this module is unloaded again.
                place.get_or_init(|| module)
            }
        };
        Ok(Function {
            handle: module.functions[&kernel],
            most_threads: ptx::THREADS,
        })
    }
}

/// Kernels, loaded.
struct Module {
    handle: sys::CUmodule,
    functions: HashMap<Kernel, sys::CUfunction>,
    context: Context,
}

// SAFETY: modules and their functions belong to a context and may be used by every thread that has it current.
unsafe impl Send for Module {}
// SAFETY: As above.
unsafe impl Sync for Module {}

impl Module {
    fn load(context: Context, text: &str, kernels: &[Kernel]) -> Result<Self, Failure> {
        context.enter()?;
        let text = CString::new(text).expect("there is no zero in it");
        // SAFETY: the text ends with a zero, as the driver wants it.
        let handle =
            unsafe { result::module::load_data(text.as_ptr().cast()) }.map_err(|error| {
                Failure::Build {
                    log: format!("{} ({})", name_of(error), kernels[0].name()),
                }
            })?;
        let mut module = Module {
            handle,
            functions: HashMap::new(),
            context,
        };
        for &kernel in kernels {
            let name = CString::new(kernel.name()).expect("there is no zero in it");
            // SAFETY: the module is loaded.
            let function = unsafe { result::module::get_function(handle, name) }
                .map_err(failed("cuModuleGetFunction", 0))?;
            module.functions.insert(kernel, function);
        }
        Ok(module)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the module is ours.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}
