//! Checks and measurements of one size.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Barrier},
    time::Instant,
};

use rsalab_gpu::{
    Gpu, SplitBackend,
    driver::{IN_REGISTERS, PORTABLE},
};
use rsalab_rsa::{
    Backend, CpuBackend, Error, PrivateKey, Status,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent, generate_strict},
    random::{InsecureStudySeed, SystemRng},
};

use crate::{Options, smi::Sampler};

/// One size: checked, then measured.
pub(crate) fn size(gpu: &dyn Gpu, bits: usize, options: &Options) -> Result<(), String> {
    // A key is made once, whatever runs it.
    let mut rng = InsecureStudySeed::new([23; 32]).stream(bits as u64);
    let made = generate_strict(bits, DEFAULT_EXPONENT, &mut rng).map_err(said)?;
    let key = made.key;
    let (batch, many) = batches(gpu, bits, options);
    let messages = messages(&key, many);
    let len = key.modulus_len();
    let first_use = check(gpu, &key, &messages[..batch * len], options)?;
    let private = gpu.prepare_private(&key).map_err(said)?;
    let public = gpu.prepare_public(key.public()).map_err(said)?;
    for (what, prepared, batch) in [("private", &private, batch), ("public", &public, many)] {
        for &threads in &options.threads {
            // Of public operations the threads share the batch, which is all that memory for copies allows.
            let batch = if what == "public" {
                batch.div_ceil(threads)
            } else {
                batch
            };
            let inputs = &messages[..batch * len];
            let one_of_them = || {
                let mut runner = prepared.runner()?;
                let mut outputs = vec![0; inputs.len()];
                let mut status = vec![Status::Fault; batch];
                Ok(move || runner.run(inputs, &mut outputs, &mut status).map(|()| batch))
            };
            Speed::of(what, bits, prepared.kernel(), batch)
                .measure(threads, one_of_them, options)?
                .print(first_use);
        }
    }
    let resident = gpu.prepare_resident(&key).map_err(said)?;
    let mut runner = resident.runner().map_err(said)?;
    match runner.keep(&messages[..batch * len]) {
        Err(error) => eprintln!("gpu_report: resident, {bits} bits: {error}"),
        Ok(()) => {
            let speed = Speed::of("private resident", bits, resident.kernel(), batch);
            let done = speed.measure_alone(|| runner.run(0).map(|()| batch), options)?;
            done.print(first_use);
        }
    }
    let candidates = candidates(&key, batch);
    let mut tester = gpu.tester(bits / 2).map_err(said)?;
    let mut passed = vec![false; batch];
    Speed::of("pre-test of a prime", bits / 2, &gpu.tester_kernel(bits / 2), batch)
        .measure_alone(|| tester.pre_test(&candidates, &mut passed).map(|()| batch), options)?
        .print(first_use);
    Ok(())
}

/// Numbers of a batch of private operations, and of one of public operations.
fn batches(gpu: &dyn Gpu, bits: usize, options: &Options) -> (usize, usize) {
    let device = gpu.description();
    match (options.batch, device.is_cpu) {
        (0, false) => {
            // Two powers each, in whole waves: of the kernels in registers, a multiprocessor holds 640, 384, 320 or 256
            // at a time for moduli of 1024, 2048, 3072 or 4096 bits.
            let of_a_unit = if bits > 3072 { 896 } else { 960 };
            // A public operation takes so little that copies must go on meanwhile: several chunks.
            (device.units * of_a_unit, 8 << 17)
        }
        (0, true) => (gpu.lanes(), gpu.lanes()),
        (asked, _) => (asked, asked),
    }
}

/// Numbers below the modulus.
fn messages(key: &PrivateKey, count: usize) -> Vec<u8> {
    let len = key.modulus_len();
    let mut messages = vec![0; count * len];
    Random::new().fill(&mut messages);
    for message in messages.chunks_exact_mut(len) {
        // The modulus has its highest bit set, or that of a byte that is not full.
        message[0] = 0;
    }
    messages
}

/// Numbers to compute with, the same in each run: a linear congruential generator (Knuth, MMIX).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (self.0 >> 56) as u8;
        }
    }
}

/// Odd numbers of the primes' length.
fn candidates(key: &PrivateKey, count: usize) -> Vec<u8> {
    let len = key.p().len();
    let mut candidates = messages(key, count);
    candidates.truncate(count * len);
    for candidate in candidates.chunks_exact_mut(len) {
        candidate[0] = key.p()[0];
        candidate[len - 1] |= 1;
    }
    candidates
}

/// So many random messages, encrypted by the CPU and decrypted by the device: each must come back. Seconds until the
/// first batch was done.
fn check(gpu: &dyn Gpu, key: &PrivateKey, messages: &[u8], options: &Options) -> Result<f64, String> {
    let len = key.modulus_len();
    let count = messages.len() / len;
    let start = Instant::now();
    let private = gpu.prepare_private(key).map_err(said)?;
    let mut runner = private.runner().map_err(said)?;
    let few = count.min(64);
    let (mut outputs, mut status) = (vec![0; messages.len()], vec![Status::Fault; count]);
    runner
        .run(&messages[..few * len], &mut outputs[..few * len], &mut status[..few])
        .map_err(said)?;
    let first_use = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let (mut done, mut differences) = (0, 0);
    // The portable kernels are many times slower.
    let checks = match private.kernel().starts_with(PORTABLE) && !private.kernel().starts_with(IN_REGISTERS) {
        false => options.checks,
        true => options.checks.div_ceil(50),
    };
    let mut blocks = messages.to_vec();
    while done < checks {
        let now = count.min(checks - done);
        let ciphertexts = by_cpu(key, &blocks[..now * len])?;
        runner
            .run(&ciphertexts, &mut outputs[..now * len], &mut status[..now])
            .map_err(said)?;
        let pairs = blocks.chunks_exact(len).zip(outputs.chunks_exact(len));
        for ((message, output), status) in pairs.zip(&status[..now]) {
            differences += usize::from(message != output || *status != Status::Done);
        }
        done += now;
        // The next are other numbers: what came out, turned around.
        blocks = ciphertexts;
        blocks.resize(messages.len(), 1);
        for block in blocks.chunks_exact_mut(len) {
            block.reverse();
            block[0] = 0;
        }
    }
    println!(
        "{{\"line\":\"check\",\"operation\":\"private\",\"bits\":{},\"kernel\":{:?},\"operations\":{done},\"differences\":{differences},\"first_use_s\":{first_use:.2},\"seconds\":{:.2}}}",
        key.bits(),
        private.kernel(),
        start.elapsed().as_secs_f64(),
    );
    match differences {
        0 => Ok(first_use),
        _ => Err(format!(
            "{differences} of {done} private operations of {} bits differ",
            key.bits()
        )),
    }
}

/// Public powers by all of the CPU's threads.
fn by_cpu(key: &PrivateKey, blocks: &[u8]) -> Result<Vec<u8>, String> {
    let len = key.modulus_len();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = (blocks.len() / len).div_ceil(threads).max(1) * len;
    let mut outputs = vec![0; blocks.len()];
    let done: Result<Vec<()>, Error> = std::thread::scope(|scope| {
        let parts = blocks.chunks(part).zip(outputs.chunks_mut(part));
        let running: Vec<_> = parts
            .map(|(inputs, outputs)| {
                scope.spawn(move || {
                    let cpu = CpuBackend::auto();
                    let public = cpu.prepare_public(key.public())?;
                    let mut status = vec![Status::Fault; inputs.len() / len];
                    public.runner()?.run(inputs, outputs, &mut status)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("it does not panic"))
            .collect()
    });
    done.map_err(said).map(|_| outputs)
}

/// A measurement: operations over the time that they took, with all that came between.
struct Speed {
    what: String,
    bits: usize,
    kernel: String,
    /// Operations of a call.
    batch: usize,
    threads: usize,
    /// Of all threads together.
    done: Option<Calls>,
    sampled: String,
}

impl Speed {
    fn of(what: &str, bits: usize, kernel: &str, batch: usize) -> Self {
        Speed {
            what: what.to_owned(),
            bits,
            kernel: kernel.to_owned(),
            batch,
            threads: 1,
            done: None,
            sampled: String::new(),
        }
    }

    /// Calls in a loop, on this thread. A call says how many operations it did; the first is not counted.
    fn measure_alone(
        mut self,
        mut call: impl FnMut() -> Result<usize, Error>,
        options: &Options,
    ) -> Result<Self, String> {
        call().map_err(said)?;
        let sampler = Sampler::start(options.pci.as_deref());
        self.saw(calls(&mut call, options)?);
        self.sampled = sampler.finish();
        Ok(self)
    }

    /// Calls in loops, each on a thread of its own, which begin together after a first call that is not counted.
    fn measure<C: FnMut() -> Result<usize, Error>>(
        mut self,
        threads: usize,
        make: impl Fn() -> Result<C, Error> + Sync,
        options: &Options,
    ) -> Result<Self, String> {
        self.threads = threads;
        let ready = Barrier::new(threads + 1);
        let make = &make;
        let ready = &ready;
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(move || {
                        // The others wait for this one, whatever becomes of it.
                        let made = catch_unwind(AssertUnwindSafe(|| make().and_then(|mut call| call().map(|_| call))));
                        ready.wait();
                        let mut call = made.map_err(|_| "the first call panicked".to_owned())?.map_err(said)?;
                        calls(&mut call, options)
                    })
                })
                .collect();
            ready.wait();
            let sampler = Sampler::start(options.pci.as_deref());
            // All of them end before the first failure is told.
            let ended: Vec<_> = running.into_iter().map(|thread| thread.join()).collect();
            for done in ended {
                self.saw(done.map_err(|_| "a call panicked".to_owned())??);
            }
            self.sampled = sampler.finish();
            Ok(self)
        })
    }

    fn saw(&mut self, done: Calls) {
        self.done = Some(match self.done.take() {
            None => done,
            Some(before) => before.and(&done),
        });
    }

    fn seconds(&self) -> f64 {
        let seconds = |done: &Calls| done.ended.duration_since(done.began).as_secs_f64();
        self.done.as_ref().map_or(0.0, seconds)
    }

    fn print(&self, first_use: f64) {
        let Speed {
            what,
            bits,
            kernel,
            batch,
            threads,
            done,
            sampled,
        } = self;
        let Some(Calls {
            calls,
            operations,
            shortest,
            ..
        }) = done
        else {
            return;
        };
        println!(
            "{{\"line\":\"speed\",\"operation\":{what:?},\"bits\":{bits},\"kernel\":{kernel:?},\"batch\":{batch},\"threads\":{threads},\"calls\":{calls},\"per_second\":{:.1},\"shortest_call_s\":{shortest:.6},\"first_use_s\":{first_use:.2},{sampled}}}",
            *operations as f64 / self.seconds(),
        );
    }
}

/// The calls of a thread, or of several.
struct Calls {
    calls: usize,
    operations: usize,
    /// The shortest time of a call, in seconds.
    shortest: f64,
    /// When the first call began.
    began: Instant,
    /// When the last one ended.
    ended: Instant,
}

impl Calls {
    /// These and another thread's: from when the first of all began to when the last of all ended.
    fn and(&self, other: &Calls) -> Calls {
        Calls {
            calls: self.calls + other.calls,
            operations: self.operations + other.operations,
            shortest: self.shortest.min(other.shortest),
            began: self.began.min(other.began),
            ended: self.ended.max(other.ended),
        }
    }
}

/// Calls for as long as a measurement takes.
fn calls(call: &mut impl FnMut() -> Result<usize, Error>, options: &Options) -> Result<Calls, String> {
    let began = Instant::now();
    let mut done = Calls {
        calls: 0,
        operations: 0,
        shortest: f64::INFINITY,
        began,
        ended: began,
    };
    while done.calls == 0 || done.ended.duration_since(began) < options.time {
        let before = Instant::now();
        done.operations += call().map_err(said)?;
        done.calls += 1;
        done.ended = Instant::now();
        done.shortest = done.shortest.min(done.ended.duration_since(before).as_secs_f64());
    }
    Ok(done)
}

/// Keys of a size from beginning to end, by all of the CPU's threads: sieved there, tested on the device; and beside
/// them on the CPU alone.
pub(crate) fn keys(gpu: &Arc<dyn Gpu>, bits: usize, options: &Options) -> Result<(), String> {
    /// Keys of a call.
    const AT_ONCE: usize = 32;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // While one thread waits for the device, another may sieve.
    for (on_the_device, threads) in [(true, threads), (true, 2 * threads), (false, threads)] {
        let backend: Box<dyn Backend> = match on_the_device {
            true => Box::new(SplitBackend::new(CpuBackend::auto(), Arc::clone(gpu), 1)),
            false => Box::new(CpuBackend::auto()),
        };
        let of_the_cpu = CpuBackend::auto().kernel().to_owned();
        let kernel = match on_the_device {
            true => format!("{of_the_cpu} and {}", gpu.tester_kernel(bits / 2)),
            false => of_the_cpu,
        };
        let searches = backend.searches();
        let exponent = PublicExponent::Fixed(DEFAULT_EXPONENT);
        let generation = Generation::with_backend(bits, exponent, backend).map_err(said)?;
        let generation = generation.with_searches(searches);
        let one_of_them = || {
            let mut generator = generation.generator(SystemRng)?.looking_ahead();
            Ok(move || generator.keys(AT_ONCE).map(|keys| keys.len()))
        };
        let start = Instant::now();
        let speed = Speed::of("key", bits, &kernel, AT_ONCE).measure(threads, one_of_them, options)?;
        speed.print((start.elapsed().as_secs_f64() - speed.seconds()).max(0.0));
    }
    Ok(())
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
