//! A device and this CPU share each batch, by what both were seen to do. Article (d) has no such program: it measures
//! one or the other.
//!
//! ```text
//! batch ── the first part to the CPU's threads, the rest to the device ── results in the order of the batch
//! ```
//!
//! A device takes a while for any batch, and then so much for each item; a CPU takes so much for each item. Both are
//! measured, first by a trial and then by every batch, and a batch is cut where both would be done at once. Below the
//! size at which that point is reached the CPU works alone. A device that fails, or whose results do not pass their
//! check, is not asked again: what it had is done by the CPU, and [`SplitBackend::lost`] says why.

mod balance;
mod candidates;
mod lost;
mod threads;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Instant,
};

use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, Prepared, PreparedMultiKey, PrivateKey, PublicKey,
    Status, backend::check_batch,
};
use zeroize::Zeroizing;

use self::{
    balance::Balance,
    candidates::{Preferences, Tester},
    lost::{Lost, locked},
    threads::CpuThreads,
};
use crate::backend::Gpu;

/// A device and the threads of this CPU. Copies share the device, and what is known of it.
#[derive(Clone)]
pub struct SplitBackend {
    cpu: CpuBackend,
    gpu: Arc<dyn Gpu>,
    threads: usize,
    /// Where the threads go; wherever the system likes if none are named.
    cpus: Vec<usize>,
    kernel: String,
    lost: Lost,
    /// By the length of candidates.
    preferences: Arc<Mutex<HashMap<usize, Arc<Preferences>>>>,
}

impl SplitBackend {
    /// A device, and so many threads of this CPU, at least one.
    pub fn new(cpu: CpuBackend, gpu: Arc<dyn Gpu>, threads: usize) -> Self {
        SplitBackend {
            kernel: format!("{} and {}", cpu.kernel(), gpu.kernel()),
            cpu,
            gpu,
            threads: threads.max(1),
            cpus: Vec::new(),
            lost: Lost::default(),
            preferences: Arc::default(),
        }
    }

    /// With each thread on a CPU of its own, in turn: for a caller that is pinned itself, whose threads would all share
    /// its CPU.
    pub fn pinned_to(self, cpus: Vec<usize>) -> Self {
        SplitBackend { cpus, ..self }
    }

    /// Why the device was given up, if it was.
    pub fn lost(&self) -> Option<String> {
        self.lost.reason()
    }

    /// Both sides of a key; without the device if it refuses.
    fn ready(&self, cpu: Box<dyn Prepared>, gpu: Result<Box<dyn Prepared>, Error>) -> Box<dyn Prepared> {
        let gpu = self.unless_lost(gpu);
        Box::new(Ready {
            kernel: match &gpu {
                Some(gpu) => format!("{} and {}", cpu.kernel(), gpu.kernel()),
                None => cpu.kernel().to_owned(),
            },
            backend: self.clone(),
            cpu: Arc::from(cpu),
            gpu,
            balance: Mutex::default(),
        })
    }

    fn unless_lost<T>(&self, side: Result<T, Error>) -> Option<T> {
        side.map_err(|error| self.lost.give_up(&error)).ok()
    }
}

impl Backend for SplitBackend {
    fn name(&self) -> &str {
        "cpu+gpu"
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        self.gpu.lanes() + self.threads * self.cpu.lanes()
    }

    fn searches(&self) -> usize {
        self.gpu.searches()
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        Ok(self.ready(self.cpu.prepare_private(key)?, self.gpu.prepare_private(key)))
    }

    /// On the CPU alone: many keys with few requests each are not what a device is for.
    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        self.cpu.prepare_multi_key(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        Ok(self.ready(self.cpu.prepare_public(key)?, self.gpu.prepare_public(key)))
    }

    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.cpu.prepare_public_for_secrets(key)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        Ok(Box::new(Tester {
            cpu: self.cpu.tester(bits)?,
            gpu: self.unless_lost(self.gpu.tester(bits)),
            lost: &self.lost,
            preferences: Arc::clone(locked(&self.preferences).entry(bits).or_default()),
        }))
    }
}

/// A key on both sides.
struct Ready {
    backend: SplitBackend,
    cpu: Arc<dyn Prepared>,
    gpu: Option<Box<dyn Prepared>>,
    /// Of both sides, for this operation.
    kernel: String,
    balance: Mutex<Balance>,
}

impl Prepared for Ready {
    fn modulus_len(&self) -> usize {
        self.cpu.modulus_len()
    }

    fn kernel(&self) -> &str {
        &self.kernel
    }

    fn lanes(&self) -> usize {
        let gpu = self.gpu.as_ref().map_or(0, |gpu| gpu.lanes());
        gpu + self.backend.threads * self.cpu.lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>, Error> {
        let backend = &self.backend;
        let gpu = match (&self.gpu, backend.lost()) {
            (Some(gpu), None) => backend.unless_lost(gpu.runner()),
            _ => None,
        };
        Ok(Box::new(Runner {
            ready: self,
            gpu,
            threads: CpuThreads::start(&self.cpu, backend.threads, &backend.cpus)?,
        }))
    }
}

/// A batch's runner: the caller drives the device while the CPU's threads work.
struct Runner<'a> {
    ready: &'a Ready,
    gpu: Option<Box<dyn BlockRunner + Send + 'a>>,
    threads: CpuThreads,
}

impl BlockRunner for Runner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        let length = self.ready.modulus_len();
        check_batch(length, inputs, outputs, status)?;
        let done = self.run_split(inputs, outputs, status, length);
        if done.is_err() {
            outputs.fill(0);
        }
        done
    }
}

impl Runner<'_> {
    fn run_split(
        &mut self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
        length: usize,
    ) -> Result<(), Error> {
        self.try_gpu(inputs, length);
        let items = status.len();
        let balance = *locked(&self.ready.balance);
        let for_gpu = match &self.gpu {
            Some(_) => balance.share(items),
            None => 0,
        };
        let for_cpu = items - for_gpu;
        let (cpu_inputs, gpu_inputs) = inputs.split_at(for_cpu * length);
        let (cpu_outputs, gpu_outputs) = outputs.split_at_mut(for_cpu * length);
        let (cpu_status, gpu_status) = status.split_at_mut(for_cpu);
        let began = Instant::now();
        let begun = self.threads.begin(cpu_inputs, length);
        let by_gpu = match &mut self.gpu {
            Some(gpu) if for_gpu > 0 => Some(gpu.run(gpu_inputs, gpu_outputs, gpu_status)),
            _ => None,
        };
        let gpu_took = began.elapsed();
        let cpu_took = self.threads.collect(begun, cpu_outputs, cpu_status)?;
        {
            let mut balance = locked(&self.ready.balance);
            balance.saw_cpu(for_cpu, cpu_took);
            if let Some(Ok(())) = &by_gpu {
                balance.saw_gpu(for_gpu, gpu_took);
            }
        }
        let is_missing = match &by_gpu {
            None => false,
            Some(Ok(())) => gpu_status.contains(&Status::Fault),
            Some(Err(error)) => {
                self.give_up(error);
                true
            }
        };
        if is_missing {
            let by_device = gpu_status.to_vec();
            let begun = self.threads.begin(gpu_inputs, length);
            self.threads.collect(begun, gpu_outputs, gpu_status)?;
            // What is at fault on the CPU, too, is the key.
            if let (Some(Ok(())), true) = (by_gpu, by_device != gpu_status) {
                self.give_up(&wrong_results());
            }
        }
        Ok(())
    }

    /// Measures the device, the first time that there is a batch to be shared: what it gives is thrown away.
    fn try_gpu(&mut self, inputs: &[u8], length: usize) {
        let items = inputs.len() / length;
        let balance = || locked(&self.ready.balance);
        let Some(gpu) = &mut self.gpu else { return };
        if !balance().wants_trial(items) {
            return;
        }
        let mut trial = |items: usize| {
            let mut outputs = Zeroizing::new(vec![0; items * length]);
            let began = Instant::now();
            gpu.run(&inputs[..items * length], &mut outputs, &mut vec![Status::Done; items])
                .map(|()| began.elapsed())
        };
        // The very first compiles, draws what blinds, and is not counted.
        let mut tried = trial(1).and_then(|_| trial(1)).map(|took| balance().tried_one(took));
        // A larger batch will tell more, if this one is too small.
        if tried.is_ok() && balance().wants_trial(items) {
            let several = items.min(self.ready.gpu.as_ref().map_or(1, |gpu| gpu.lanes()));
            tried = trial(several)
                .and_then(|_| trial(several))
                .map(|took| balance().tried_several(several, took));
        }
        if let Err(error) = tried {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &Error) {
        self.ready.backend.lost.give_up(error);
        self.gpu = None;
    }
}

/// Why a device is given up whose results did not pass their check.
fn wrong_results() -> Error {
    Error::Backend {
        backend: "cpu+gpu",
        reason: "the device computes wrongly: results did not pass their check that the CPU has computed rightly"
            .to_owned(),
    }
}
