//! The kernels that the crate writes in PTX, interpreted, through the whole backend.

use crate::support::{
    self, blocks_conform, bytes, candidates_conform, long_exponents_conform, many_conform,
    ptx::{
        device::{Launched, PtxDevice, Traces},
        machine::{self, Trace, Value},
        parse,
    },
    rings_conform, study_key,
};
use num_bigint::BigUint;
use rsalab_gpu::{
    Gpu, GpuBackend, Launch,
    kernel::Kernel,
    ptx::{self, Trial},
};
use rsalab_rsa::{Backend, PublicKey, Status};

fn interpreted() -> (impl Gpu, Traces) {
    let (device, traces) = PtxDevice::start();
    let gpu = GpuBackend::new(device, Launch::Tuned).expect("it runs on any host");
    (gpu, traces)
}

/// Of all lengths, every kernel that blocks need was interpreted. A power that is not of two halves is one of a whole
/// modulus.
fn have_run(traces: &Traces, lengths: &[usize]) {
    let traces = traces.lock().unwrap();
    for &limbs in lengths {
        for &kernel in ptx::kernels(limbs) {
            let name = kernel.name();
            let is_of_candidates = name.starts_with("base_") || name.starts_with("two_");
            let is_of_halves = name.starts_with("power_") || kernel == Kernel::Recombine;
            // No modulus here has 16 or 48 limbs, and none that is raised without the CRT 48.
            let is_of_a_half_alone = [16, 48].contains(&limbs);
            if is_of_candidates || is_of_a_half_alone && (!is_of_halves || kernel == Kernel::PowerLeave) {
                continue;
            }
            let has_run = traces
                .iter()
                .any(|launched| (launched.limbs, launched.kernel) == (limbs, kernel));
            assert!(has_run, "{name} for {limbs} limbs was not interpreted");
        }
    }
}

#[test]
fn blocks_conform_in_registers() {
    let (gpu, traces) = interpreted();
    // 1000 bits fill no limb, 1022 no byte of a prime.
    for bits in [1000, 1022] {
        blocks_conform(&gpu, bits, &[11]);
    }
    blocks_conform(&gpu, 1024, &[1, 13, 2, 0, 7]);
    blocks_conform(&gpu, 2048, &[3]);
    have_run(&traces, &[16, 32]);
}

#[test]
#[ignore = "long: at every length, the largest too"]
fn blocks_of_large_sizes_conform_in_registers() {
    let (gpu, traces) = interpreted();
    for (bits, items) in [(1000, 33), (1022, 33), (2048, 33), (3072, 6), (4096, 4)] {
        blocks_conform(&gpu, bits, &[items]);
    }
    have_run(&traces, &[48, 64, 96, 128]);
}

#[test]
fn blocks_conform_in_doubles() {
    let (device, traces) = PtxDevice::in_doubles();
    let gpu = GpuBackend::new(device, Launch::Tuned).unwrap();
    for (bits, items) in [(1000, 11), (1024, 11), (2048, 1)] {
        blocks_conform(&gpu, bits, &[items]);
    }
    let traces = traces.lock().unwrap();
    for limbs in [16, 32] {
        let was_run = |launched: &Launched| launched.limbs == limbs && launched.trace.fused > 0;
        assert!(traces.iter().any(was_run), "{limbs} limbs");
    }
}

#[test]
#[ignore = "long: batches of large sizes, with every edge"]
fn batches_of_large_sizes_conform() {
    for device in [PtxDevice::start, PtxDevice::in_doubles] {
        let gpu = GpuBackend::new(device().0, Launch::Tuned).unwrap();
        for bits in [2048, 3072, 4096] {
            blocks_conform(&gpu, bits, &[12]);
        }
    }
}

/// The trial by which the driver chooses between words and doubles stays within its memory, and has something to do.
#[test]
fn trials_reach_no_other_memory() {
    for limbs in [16, 32, 48, 64] {
        let in_words = ptx::kernel(Kernel::PowerDigits, limbs);
        let in_doubles = ptx::power_digits_in_doubles(limbs);
        assert!(in_doubles.is_some());
        for text in in_words.into_iter().chain(in_doubles) {
            let module = parse::module(limbs, &text);
            let program = &module.kernels[Kernel::PowerDigits.name()];
            let trial = Trial::new(limbs, ptx::THREADS);
            let mut buffers: Vec<_> = trial.buffers.iter().map(|&bytes| vec![0; bytes]).collect();
            let arguments: Vec<_> = (0..buffers.len())
                .map(Value::Buffer)
                .chain(trial.words.map(Value::Number))
                .collect();
            let mut trace = Trace::default();
            machine::run(program, 1, ptx::THREADS, &arguments, &mut buffers, &mut trace);
            let of_a_digit = (trace.products + trace.fused) / ptx::THREADS as u64 / 8;
            assert!(of_a_digit > 4 * (limbs * limbs) as u64, "{of_a_digit}");
        }
    }
}

#[test]
fn long_exponents_and_rings_conform_in_registers() {
    let (gpu, _) = interpreted();
    long_exponents_conform(&gpu, 1024);
    rings_conform(&gpu, 1024);
}

#[test]
fn candidates_conform_in_registers() {
    let (gpu, _) = interpreted();
    candidates_conform(&gpu, 512);
}

#[test]
#[ignore = "the same at every length, which takes minutes"]
fn candidates_of_every_length_conform_in_registers() {
    let (gpu, _) = interpreted();
    for bits in [1024, 1536, 2048] {
        candidates_conform(&gpu, bits);
    }
}

/// Moduli and numbers whose limbs are all ones or all zeros make the longest carries.
#[test]
fn limbs_of_ones_and_zeros_conform() {
    let (gpu, _) = interpreted();
    let one = BigUint::from(1u8);
    for bits in [512u64, 1024, 1536, 2048, 3072, 4096] {
        let top = &one << bits;
        let middle = &one << (bits / 2);
        for n in [
            &top - &one,
            &top - (&one << 32) - &one,
            &top - &middle + &one,
            (&top >> 1) + &one,
            (&top >> 1) + &middle - &one,
        ] {
            let len = bits as usize / 8;
            let key = PublicKey::new(&n.to_bytes_be(), &[1, 0, 1]).unwrap();
            let prepared = gpu.prepare_public(&key).unwrap();
            let mut numbers = vec![&n - &one, &n - 2u8, &n >> 1, &n >> 31, &n >> 32, one.clone()];
            numbers.extend((1..bits / 32).step_by(7).map(|limb| (&one << (32 * limb)) - &one));
            numbers.extend((1..bits / 32).step_by(5).map(|limb| &n - (&one << (32 * limb))));
            let inputs: Vec<u8> = numbers.iter().flat_map(|number| bytes(number, len)).collect();
            let mut outputs = vec![0; inputs.len()];
            let mut status = vec![Status::Fault; numbers.len()];
            let mut runner = prepared.runner().unwrap();
            runner.run(&inputs, &mut outputs, &mut status).unwrap();
            assert!(status.iter().all(|&status| status == Status::Done));
            for (number, output) in numbers.iter().zip(outputs.chunks(len)) {
                let expected = number.modpow(&BigUint::from(65537u32), &n);
                assert_eq!(BigUint::from_bytes_be(output), expected, "{number:x} mod {n:x}");
            }
        }
    }
}

/// The branches and addresses of each interpreted kernel of a private operation.
fn traces_of((device, traces): (PtxDevice, Traces), key: &rsalab_rsa::PrivateKey, filling: u8) -> Vec<Launched> {
    let gpu = GpuBackend::new(device, Launch::Tuned).unwrap();
    let prepared = gpu.prepare_private(key).unwrap();
    let mut runner = prepared.runner().unwrap();
    let len = key.modulus_len();
    let inputs = vec![filling; 3 * len];
    let mut outputs = vec![0; 3 * len];
    let mut status = [Status::Fault; 3];
    runner.run(&inputs, &mut outputs, &mut status).unwrap();
    assert_eq!(status, [Status::Done; 3]);
    drop(runner);
    let traces = traces.lock().unwrap();
    traces.clone()
}

#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    traces_are_alike(&[1024, 2048]);
    // Were there a difference, it would be seen: a public exponent makes one.
    let key = study_key(1024, 0);
    let long = support::with_long_exponent(&key);
    let [first, second] = [key, long].map(|key| traces_of(PtxDevice::start(), &key, 0x01));
    let of = |traces: &[Launched], kernel| -> Trace {
        let found = traces.iter().find(|launched| launched.kernel == kernel);
        found.unwrap().trace.clone()
    };
    assert_ne!(of(&first, Kernel::PublicBits), of(&second, Kernel::PublicBits));
    assert_eq!(of(&first, Kernel::Blind).products, of(&second, Kernel::Blind).products);
}

#[test]
#[ignore = "long: the largest lengths"]
fn no_branch_and_no_address_depends_on_a_secret_of_any_length() {
    traces_are_alike(&[3072, 4096]);
}

/// Under two keys, and with two inputs, each form runs the same instructions at the same addresses.
fn traces_are_alike(sizes: &[usize]) {
    for &bits in sizes {
        let first = traces_of(PtxDevice::start(), &study_key(bits, 0), 0x01);
        let second = traces_of(PtxDevice::start(), &study_key(bits, 1), 0x7f);
        for kernel in [Kernel::PowerEnter, Kernel::PowerDigits, Kernel::Recombine] {
            assert!(
                first.iter().any(|launched| launched.kernel == kernel),
                "{kernel:?}, {bits} bits"
            );
        }
        assert!(first == second, "{bits} bits");
    }
    for &bits in sizes {
        let first = traces_of(PtxDevice::in_doubles(), &study_key(bits, 0), 0x01);
        let second = traces_of(PtxDevice::in_doubles(), &study_key(bits, 1), 0x7f);
        assert!(first == second, "{bits} bits in doubles");
        assert!(first.iter().any(|launched| launched.trace.fused > 0));
    }
}

/// The cost of an operation, as the notes have it: products of 32 bits, counted while kernels run.
#[test]
#[ignore = "long: of every size, 31 operations twice"]
fn operations_cost_what_the_notes_say() {
    // Fewer than a pair has uses: the pairs of the first batch serve the second too.
    const WORK: usize = 31;
    let table = [
        (1024, 584_416),
        (2048, 4_434_368),
        (3072, 14_245_584),
        (4096, 33_263_424),
    ];
    let mut got = Vec::new();
    for (bits, _) in table {
        let key = study_key(bits, 0);
        let (gpu, traces) = interpreted();
        let prepared = gpu.prepare_private(&key).unwrap();
        let mut runner = prepared.runner().unwrap();
        let inputs = vec![1; WORK * key.modulus_len()];
        let mut outputs = inputs.clone();
        let mut status = [Status::Fault; WORK];
        // The first batch draws pairs for blinding.
        runner.run(&inputs, &mut outputs, &mut status).unwrap();
        traces.lock().unwrap().clear();
        runner.run(&inputs, &mut outputs, &mut status).unwrap();
        let traces = traces.lock().unwrap();
        let total: u64 = traces.iter().map(|launched| launched.trace.products).sum();
        for launched in traces.iter() {
            let Trace {
                products, instructions, ..
            } = launched.trace;
            let (name, limbs) = (launched.kernel.name(), launched.limbs);
            let [products, instructions] = [products, instructions].map(|all| all / WORK as u64);
            eprintln!("{bits} bits, {name}, {limbs} limbs: {products} products, {instructions} instructions");
        }
        got.push((bits, total / WORK as u64));
    }
    assert_eq!(got, table);
}

/// Ten thousand operations where one is quick, a thousand of long keys. `RSALAB_OPERATIONS=2048:100000,4096:10000`
/// and `RSALAB_FORM=doubles` ask for others.
#[test]
#[ignore = "long: thousands of operations a size take minutes"]
fn thousands_of_operations_conform() {
    let asked = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let sizes = asked("RSALAB_OPERATIONS", "1024:10000,2048:10000,3072:1000,4096:1000");
    for (bits, operations) in sizes.split(',').map(|size| size.split_once(':').unwrap()) {
        let operations: usize = operations.parse().unwrap();
        let start = std::time::Instant::now();
        let (device, traces) = match asked("RSALAB_FORM", "words").as_str() {
            "doubles" => PtxDevice::in_doubles(),
            _ => PtxDevice::start(),
        };
        let gpu = GpuBackend::new(device, Launch::Tuned).unwrap();
        many_conform(&gpu, bits.parse().unwrap(), operations);
        let mut products = 0;
        for launched in traces.lock().unwrap().iter() {
            products += launched.trace.products;
        }
        eprintln!(
            "{bits} bits: {operations} private and {operations} public operations, 0 differences, {products} products of 32 bits, {:?}",
            start.elapsed()
        );
    }
}
