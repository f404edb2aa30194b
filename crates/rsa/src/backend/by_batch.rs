//! A key on several kernels of this CPU: each call runs on the one that is fastest for its number of items.

use once_cell::race::OnceBox;
use rsalab_arith::{Kernel, Operation};

use super::{BlockRunner, Prepared, Status};
use crate::Result;

/// A key that is prepared for a kernel when the first call comes that it suits.
pub(super) struct ByBatch {
    modulus_len: usize,
    /// Items of one pass of the widest kernel, the first of `kernels`.
    items: usize,
    /// The place in `kernels` for what is left over after whole passes: for 0 items, for 1, and so on.
    for_rest: Vec<usize>,
    kernels: Vec<OnKernel>,
    prepare: Box<dyn Fn(Kernel) -> Box<dyn Prepared> + Send + Sync>,
}

struct OnKernel {
    kernel: Kernel,
    /// Threads that come first side by side prepare it each, and one of them is kept: nobody waits for another, who in
    /// a child of a fork may be a thread of the parent's.
    prepared: OnceBox<Box<dyn Prepared>>,
}

impl ByBatch {
    /// Of a key whose modulus has `bits` bits; `choose` says which kernel is fastest for so many items.
    pub(super) fn new(
        operation: Operation,
        bits: usize,
        choose: impl Fn(usize) -> Kernel,
        prepare: impl Fn(Kernel) -> Box<dyn Prepared> + Send + Sync + 'static,
    ) -> Self {
        let widest = Kernel::auto();
        let items = widest.items(operation);
        let mut kernels = vec![widest];
        let mut place_of = |kernel| {
            kernels.iter().position(|&known| known == kernel).unwrap_or_else(|| {
                kernels.push(kernel);
                kernels.len() - 1
            })
        };
        let for_rest = (0..items).map(|rest| match rest {
            0 => 0,
            rest => place_of(choose(rest)),
        });
        let for_rest = for_rest.collect();
        Self {
            modulus_len: bits.div_ceil(8),
            items,
            for_rest,
            kernels: kernels
                .into_iter()
                .map(|kernel| OnKernel {
                    kernel,
                    prepared: OnceBox::new(),
                })
                .collect(),
            prepare: Box::new(prepare),
        }
    }
}

impl ByBatch {
    /// How many of so many items the widest kernel takes, and the place of the one that takes the rest.
    fn parts(&self, items: usize) -> (usize, usize) {
        let rest = items % self.items;
        match self.for_rest[rest] {
            0 => (items, 0),
            place => (items - rest, place),
        }
    }
}

impl Prepared for ByBatch {
    fn modulus_len(&self) -> usize {
        self.modulus_len
    }

    fn kernel(&self) -> &str {
        self.kernels[0].kernel.name()
    }

    fn kernels_for(&self, items: usize) -> Vec<&str> {
        let (whole, place) = self.parts(items);
        let places = [(whole > 0).then_some(0), (items > whole).then_some(place)];
        let names = places.into_iter().flatten();
        names.map(|place| self.kernels[place].kernel.name()).collect()
    }

    fn lanes(&self) -> usize {
        self.kernels[0].kernel.lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        Ok(Box::new(Runner {
            key: self,
            runners: self.kernels.iter().map(|_| None).collect(),
        }))
    }
}

/// One thread's runners, by the places of their kernels.
struct Runner<'key> {
    key: &'key ByBatch,
    runners: Vec<Option<Box<dyn BlockRunner + Send + 'key>>>,
}

impl<'key> Runner<'key> {
    fn on(&mut self, place: usize) -> Result<&mut Box<dyn BlockRunner + Send + 'key>> {
        let key = self.key;
        let runner = match self.runners[place].take() {
            Some(runner) => runner,
            None => {
                let OnKernel { kernel, prepared } = &key.kernels[place];
                let prepared = prepared.get_or_init(|| Box::new((key.prepare)(*kernel)));
                prepared.runner()?
            }
        };
        Ok(self.runners[place].insert(runner))
    }
}

impl BlockRunner for Runner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let len = status.len() * self.key.modulus_len;
        let (whole, place) = self.key.parts(status.len());
        // Buffers that do not belong together are for a context to refuse.
        if whole == status.len() || (inputs.len(), outputs.len()) != (len, len) {
            return self.on(0)?.run(inputs, outputs, status);
        }
        let at = whole * self.key.modulus_len;
        let (status, status_of_rest) = status.split_at_mut(whole);
        let mut done = Ok(());
        if whole > 0 {
            done = self
                .on(0)
                .and_then(|on| on.run(&inputs[..at], &mut outputs[..at], status));
        }
        if done.is_ok() {
            done = self
                .on(place)
                .and_then(|on| on.run(&inputs[at..], &mut outputs[at..], status_of_rest));
        }
        if done.is_err() {
            // As one kernel leaves it: nothing of a batch that failed.
            outputs.fill(0);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Mutex, mpsc},
        thread,
        time::Duration,
    };

    use super::*;
    use crate::{Backend, CpuBackend, PublicKey};

    #[test]
    fn nobody_waits_for_another_thread_that_prepares_the_key() {
        let key = PublicKey::new(&[0xfd; 64], &[3]).unwrap();
        let (begun, is_begun) = mpsc::channel();
        let (done, is_done) = mpsc::channel::<()>();
        let first = Mutex::new(Some((begun, is_done)));
        let prepare = move |_| {
            let first = first.lock().unwrap().take();
            if let Some((begun, is_done)) = first {
                begun.send(()).unwrap();
                let waited = is_done.recv_timeout(Duration::from_secs(60));
                assert!(waited.is_ok(), "the other thread waits for this one");
            }
            CpuBackend::auto().prepare_public(&key).unwrap()
        };
        let key = ByBatch::new(Operation::Public, 512, |_| Kernel::auto(), prepare);
        let power = || {
            let (mut output, mut status) = ([0; 64], [Status::Done]);
            let mut runner = key.runner().unwrap();
            runner.run(&[1; 64], &mut output, &mut status).unwrap();
            output
        };
        thread::scope(|scope| {
            let first = scope.spawn(power);
            is_begun.recv().unwrap();
            let second = power();
            done.send(()).unwrap();
            assert_eq!(first.join().unwrap(), second);
        });
    }
}
