//! A device that runs what the crate writes in PTX on the interpreter, and all other kernels on the host.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use rsalab_gpu::{
    Description, DriverError, Grid,
    driver::{Argument, Device, Download, Queue},
    kernel::Kernel,
    ptx,
};

use super::{
    machine::{self, Trace, Value},
    parse::{self, Module},
};
use crate::support::host::{self, HostDevice, HostQueue};

/// The trace of each launch of an interpreted kernel, in order.
pub(crate) type Traces = Arc<Mutex<Vec<Launched>>>;

/// A launch of a kernel for so many limbs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launched {
    pub(crate) limbs: usize,
    pub(crate) kernel: Kernel,
    pub(crate) trace: Trace,
}

pub(crate) struct PtxDevice {
    host: HostDevice,
    description: Description,
    in_doubles: bool,
    traces: Traces,
}

impl PtxDevice {
    pub(crate) fn start() -> (Self, Traces) {
        PtxDevice::start_with(false)
    }

    /// One that raises private powers in floating point, where there is a kernel for that.
    pub(crate) fn in_doubles() -> (Self, Traces) {
        PtxDevice::start_with(true)
    }

    fn start_with(in_doubles: bool) -> (Self, Traces) {
        let host = HostDevice::start();
        let traces = Traces::default();
        let device = PtxDevice {
            description: Description {
                name: "an interpreter".to_owned(),
                is_cpu: false,
                units: 1,
                ..host.description().clone()
            },
            host,
            in_doubles,
            traces: Arc::clone(&traces),
        };
        (device, traces)
    }
}

type Modules = HashMap<(usize, bool), Option<Arc<Module>>>;

/// The module of a length, read once.
fn module(limbs: usize, in_doubles: bool) -> Option<Arc<Module>> {
    static MODULES: Mutex<Option<Modules>> = Mutex::new(None);
    let mut modules = MODULES.lock().unwrap();
    let modules = modules.get_or_insert_default();
    let read = || {
        let mut module = parse::module(limbs, &ptx::module(limbs)?);
        if let Some(text) = ptx::power_digits_in_doubles(limbs).filter(|_| in_doubles) {
            module.kernels.extend(parse::module(limbs, &text).kernels);
        }
        Some(Arc::new(module))
    };
    modules.entry((limbs, in_doubles)).or_insert_with(read).clone()
}

pub(crate) struct Memory {
    memory: host::Memory,
    bytes: usize,
}

pub(crate) struct PtxQueue {
    host: HostQueue,
    traces: Traces,
}

impl Device for PtxDevice {
    type Buffer = Memory;
    type Program = Option<Arc<Module>>;
    type Queue = PtxQueue;

    fn description(&self) -> &Description {
        &self.description
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DriverError> {
        Ok(Memory {
            memory: self.host.allocate(bytes)?,
            bytes,
        })
    }

    fn program(&self, limbs: usize) -> Result<Option<Arc<Module>>, DriverError> {
        Ok(module(limbs, self.in_doubles))
    }

    fn queue(&self) -> Result<PtxQueue, DriverError> {
        Ok(PtxQueue {
            host: self.host.queue()?,
            traces: Arc::clone(&self.traces),
        })
    }
}

impl Queue for PtxQueue {
    type Buffer = Memory;
    type Program = Option<Arc<Module>>;

    fn upload(&mut self, to: &Memory, bytes: &[u8]) -> Result<(), DriverError> {
        self.host.upload(&to.memory, bytes)
    }

    fn download(&mut self, from: &Memory, bytes: usize) -> Result<Download, DriverError> {
        self.host.download(&from.memory, bytes)
    }

    fn wipe(&mut self, buffer: &Memory) -> Result<(), DriverError> {
        self.host.wipe(&buffer.memory)
    }

    fn launch(
        &mut self,
        program: &Option<Arc<Module>>,
        kernel: Kernel,
        grid: Grid,
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), DriverError> {
        let own = program.as_ref().and_then(|module| module.kernels.get(kernel.name()));
        let Some(own) = own else {
            let arguments: Vec<_> = arguments
                .iter()
                .map(|argument| match argument {
                    Argument::Buffer(memory) => Argument::Buffer(&memory.memory),
                    Argument::Word(word) => Argument::Word(*word),
                })
                .collect();
            return self.host.launch(&(), kernel, grid, &arguments);
        };
        let mut buffers = Vec::new();
        let mut values = Vec::new();
        for argument in arguments {
            values.push(match argument {
                Argument::Word(word) => Value::Number(*word),
                Argument::Buffer(memory) => {
                    let download = self.host.download(&memory.memory, memory.bytes)?;
                    buffers.push(self.host.downloaded(&download).to_vec());
                    Value::Buffer(buffers.len() - 1)
                }
            });
        }
        let before = buffers.clone();
        let mut trace = Trace::default();
        let group = grid.group.min(ptx::THREADS);
        let groups = (grid.groups * grid.group).div_ceil(group);
        machine::run(own, groups, group, &values, &mut buffers, &mut trace);
        self.traces.lock().unwrap().push(Launched {
            limbs: program.as_ref().map_or(0, |module| module.limbs),
            kernel,
            trace,
        });
        let memories = arguments.iter().filter_map(|argument| match argument {
            Argument::Buffer(memory) => Some(memory),
            Argument::Word(_) => None,
        });
        for ((memory, before), after) in memories.zip(before).zip(buffers) {
            if before != after {
                self.host.upload(&memory.memory, &after)?;
            }
        }
        Ok(())
    }

    fn submit(&mut self) -> Result<(), DriverError> {
        self.host.submit()
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.host.finish()
    }

    fn downloaded(&self, download: &Download) -> &[u8] {
        self.host.downloaded(download)
    }
}
