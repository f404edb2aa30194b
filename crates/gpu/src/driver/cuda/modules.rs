//! Kernels on a device of NVIDIA's: which text is loaded for which, and when.
//!
//! The portable kernels are one module for all lengths, loaded once for a device. Of those that [`ptx`] has, each is a
//! module of its own, loaded when it is first launched: the driver's compiler takes seconds for the longest, and keeps
//! what it made for the next process.

use std::{
    collections::HashMap,
    ffi::CString,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use cudarc::driver::{result, sys};

use super::{
    choice,
    context::{Context, failed},
    load::load,
};
use crate::{
    driver::{DriverError, IN_DOUBLES, IN_REGISTERS, Kernels, PORTABLE},
    kernel::{Kernel, PTX},
    ptx,
};

/// The kernels of a device for numbers of one length.
pub struct Program {
    limbs: usize,
    context: Context,
    portable: Arc<Module>,
    /// Kernels that keep numbers in registers, if there are some for this length.
    own: HashMap<Kernel, Place>,
}

/// Where a kernel's module will be, once it is asked for. Who compiles it holds the lock, so that threads that come
/// together do not all compile, which takes each of them seconds.
#[derive(Default)]
struct Place {
    module: OnceLock<Module>,
    compiles: Mutex<()>,
}

/// A function that can be launched.
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
    /// Multiprocessors.
    units: usize,
    portable: Mutex<Option<Arc<Module>>>,
    /// For which numbers of limbs private powers are raised in doubles, as far as that was asked.
    in_doubles: Mutex<HashMap<usize, bool>>,
}

impl Programs {
    pub(super) fn new(context: Context, kernels: Kernels, units: usize) -> Self {
        Programs {
            context,
            kernels,
            units,
            portable: Mutex::default(),
            in_doubles: Mutex::default(),
        }
    }

    /// Returns whether there are kernels in registers for numbers of so many limbs, and they are wished.
    fn has_own(&self, limbs: usize) -> bool {
        self.kernels != Kernels::Portable && !ptx::kernels(limbs).is_empty()
    }

    /// The name of the code that a kernel has for numbers of so many limbs.
    pub(super) fn name(&self, kernel: Kernel, limbs: usize) -> &'static str {
        if self.kernels == Kernels::Portable || !ptx::kernels(limbs).contains(&kernel) {
            return PORTABLE;
        }
        let known = self.in_doubles.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&limbs) {
            // No other kernel has code in doubles.
            Some(true) if kernel == Kernel::PowerDigits => IN_DOUBLES,
            _ => IN_REGISTERS,
        }
    }

    /// The private power's kernel in doubles, if it is wished or faster.
    fn in_doubles(&self, limbs: usize) -> Result<Option<Module>, DriverError> {
        let mut known = self.in_doubles.lock().unwrap_or_else(PoisonError::into_inner);
        let text = ptx::power_digits_in_doubles(limbs);
        let Some(text) = text.filter(|_| known.get(&limbs) != Some(&false)) else {
            return Ok(None);
        };
        if matches!(self.kernels, Kernels::Words | Kernels::Portable) {
            return Ok(None);
        }
        let kernel = Kernel::PowerDigits;
        let doubles = Module::load(self.context, &text, &[kernel])?;
        if self.kernels == Kernels::Fastest && !known.contains_key(&limbs) {
            let text = ptx::kernel(kernel, limbs).expect("there is one in words too");
            let words = Module::load(self.context, &text, &[kernel])?;
            let [in_doubles, in_words] = [&doubles, &words]
                .map(|module| choice::time_of(self.context, self.units, limbs, module.functions[&kernel]));
            known.insert(limbs, in_doubles? < in_words?);
        } else {
            known.insert(limbs, true);
        }
        Ok(known[&limbs].then_some(doubles))
    }

    pub(super) fn program(&self, limbs: usize) -> Result<Program, DriverError> {
        let mut portable = self.portable.lock().unwrap_or_else(PoisonError::into_inner);
        let portable = match &*portable {
            Some(module) => Arc::clone(module),
            None => {
                let names: Vec<_> = Kernel::ALL.iter().map(|&(kernel, _)| kernel).collect();
                let module = Module::load(self.context, PTX, &names)?;
                Arc::clone(portable.insert(Arc::new(module)))
            }
        };
        let own: HashMap<Kernel, Place> = match self.has_own(limbs) {
            true => ptx::kernels(limbs)
                .iter()
                .map(|&kernel| (kernel, Place::default()))
                .collect(),
            false => HashMap::new(),
        };
        if let Some(place) = own.get(&Kernel::PowerDigits)
            && let Some(module) = self.in_doubles(limbs)?
        {
            let _ = place.module.set(module);
        }
        Ok(Program {
            limbs,
            context: self.context,
            portable,
            own,
        })
    }
}

impl Program {
    pub(super) fn function(&self, kernel: Kernel) -> Result<Function, DriverError> {
        let Some(place) = self.own.get(&kernel) else {
            return Ok(Function {
                handle: self.portable.functions[&kernel],
                most_threads: usize::MAX,
            });
        };
        let module = match place.module.get() {
            Some(module) => module,
            None => {
                let _compiles = place.compiles.lock().unwrap_or_else(PoisonError::into_inner);
                match place.module.get() {
                    Some(module) => module,
                    None => {
                        let text = ptx::kernel(kernel, self.limbs).expect("there is one for this length");
                        let module = Module::load(self.context, &text, &[kernel])?;
                        place.module.get_or_init(|| module)
                    }
                }
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
    fn load(context: Context, text: &str, kernels: &[Kernel]) -> Result<Self, DriverError> {
        let text = CString::new(text).expect("there is no zero in it");
        let handle = load(context, &text, kernels[0].name())?;
        let mut module = Module {
            handle,
            functions: HashMap::new(),
            context,
        };
        for &kernel in kernels {
            let name = CString::new(kernel.name()).expect("there is no zero in it");
            // SAFETY: the module is loaded.
            let function =
                unsafe { result::module::get_function(handle, name) }.map_err(failed("cuModuleGetFunction", 0))?;
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

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn only_the_private_power_is_named_after_doubles_and_other_lengths_are_portable() {
        let programs = |kernels| {
            let programs = Programs::new(Context::new(ptr::null_mut()), kernels, 1);
            programs.in_doubles.lock().unwrap().insert(32, true);
            programs
        };
        let fastest = programs(Kernels::Fastest);
        for (kernel, limbs, name) in [
            (Kernel::PowerDigits, 32, IN_DOUBLES),
            (Kernel::PublicBits, 32, IN_REGISTERS),
            (Kernel::TwoBits, 32, IN_REGISTERS),
            (Kernel::PowerDigits, 16, IN_REGISTERS),
            (Kernel::PublicBits, 128, IN_REGISTERS),
            (Kernel::PowerDigits, 96, PORTABLE),
            (Kernel::TwoBits, 33, PORTABLE),
        ] {
            assert_eq!(fastest.name(kernel, limbs), name, "{kernel:?} of {limbs} limbs");
        }
        assert_eq!(programs(Kernels::Portable).name(Kernel::PowerDigits, 32), PORTABLE);
    }
}
