//! Checks and measurements of one size.

use std::time::Instant;

use rsalab_gpu::{
    Gpu,
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
        let mut runner = prepared.runner().map_err(said)?;
        let inputs = &messages[..batch * len];
        let mut outputs = vec![0; inputs.len()];
        let mut status = vec![Status::Fault; batch];
        let run = || runner.run(inputs, &mut outputs, &mut status);
        measure(what, bits, prepared.kernel(), batch, options, first_use, run)?;
    }
    let resident = gpu.prepare_resident(&key).map_err(said)?;
    let mut runner = resident.runner().map_err(said)?;
    match runner.keep(&messages[..batch * len]) {
        Err(error) => eprintln!("gpu_report: resident, {bits} bits: {error}"),
        Ok(()) => measure(
            "private resident",
            bits,
            resident.kernel(),
            batch,
            options,
            first_use,
            || runner.run(0),
        )?,
    }
    let candidates = candidates(&key, batch);
    let mut tester = gpu.tester(bits / 2).map_err(said)?;
    let mut passed = vec![false; batch];
    measure(
        "pre-test of a prime",
        bits / 2,
        gpu.kernel(),
        batch,
        options,
        first_use,
        || tester.pre_test(&candidates, &mut passed),
    )
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

/// Runs batches for the time that was asked for, after one to warm up.
fn measure(
    what: &str,
    bits: usize,
    kernel: &str,
    batch: usize,
    options: &Options,
    first_use: f64,
    mut run: impl FnMut() -> Result<(), Error>,
) -> Result<(), String> {
    run().map_err(said)?;
    let sampler = Sampler::start();
    let start = Instant::now();
    let mut times = Vec::new();
    while times.is_empty() || start.elapsed() < options.time {
        let before = Instant::now();
        run().map_err(said)?;
        times.push(before.elapsed().as_secs_f64());
    }
    let sampled = sampler.finish();
    times.sort_by(f64::total_cmp);
    let rate = |seconds: f64| batch as f64 / seconds;
    println!(
        "{{\"line\":\"speed\",\"operation\":{what:?},\"bits\":{bits},\"kernel\":{kernel:?},\"batch\":{batch},\"batches\":{},\"per_second\":{:.0},\"fastest_per_second\":{:.0},\"first_use_s\":{first_use:.2},{sampled}}}",
        times.len(),
        rate(times[times.len() / 2]),
        rate(times[0]),
    );
    Ok(())
}

/// Keys of 2048 bits from beginning to end: sieved by one thread of the CPU, tested on the device.
pub(crate) fn keys(gpu: Box<dyn Gpu>, options: &Options) -> Result<(), String> {
    let kernel = gpu.kernel().to_owned();
    let searches = gpu.searches();
    let backend: Box<dyn Backend> = gpu;
    let generation = Generation::with_backend(2048, PublicExponent::Fixed(DEFAULT_EXPONENT), backend).map_err(said)?;
    let generation = generation.with_searches(searches);
    let mut generator = generation.generator(SystemRng).map_err(said)?;
    let sampler = Sampler::start();
    let start = Instant::now();
    let mut made = 0;
    while made == 0 || start.elapsed() < options.time {
        made += generator.keys(if made == 0 { 1 } else { 64 }).map_err(said)?.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"line\":\"speed\",\"operation\":\"key\",\"bits\":2048,\"kernel\":{kernel:?},\"batch\":{searches},\"batches\":{made},\"per_second\":{:.1},{}}}",
        made as f64 / seconds,
        sampler.finish(),
    );
    Ok(())
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
