//! Checks and measures a device: what `scripts/gpu.sh` runs. One JSON object a line goes to standard output, as soon as
//! it is known, and what it does to standard error.
//!
//! | line | what |
//! |---|---|
//! | `device` | what the driver and `nvidia-smi` say of it |
//! | `rate` | instructions of a kind a second, and for a multiprocessor and clock cycle at the clock seen |
//! | `check` | operations compared with the CPU's, and how many differ |
//! | `speed` | operations of all calls over the time from when the first began to when the last ended, with what came between; `clock_mhz` and `power_w` are medians of what `nvidia-smi` said meanwhile |
//! | `cgbn` | pairs of powers a second by CGBN's kernels, neither blinded nor checked, and how many of some results are wrong |
//! | `failed` | a part that failed, and why: the others go on, and the exit code is 1 in the end |
//!
//! A private operation is blinded and checked, as the tools have it; `resident` leaves out the copies to and from the
//! device.

mod cgbn;
mod smi;
mod work;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use rsalab_gpu::{Choice, Gpu, Launch, Survey, driver::Kernels};

/// The options of the command line.
pub(crate) struct Options {
    choice: Choice,
    /// Seconds for each measurement.
    pub(crate) time: Duration,
    /// Operations of each check.
    pub(crate) checks: usize,
    /// Numbers of a batch; 0 for what suits the device.
    pub(crate) batch: usize,
    /// Sizes of moduli, in bits.
    pub(crate) sizes: Vec<usize>,
    /// Kinds of kernels, with their names on the command line.
    kernels: Vec<(&'static str, Kernels)>,
    /// Threads that call at once, each with a batch of its own.
    pub(crate) threads: Vec<usize>,
    /// PTX of CGBN's kernels.
    cgbn: Option<String>,
    /// The device's address on the PCI bus, by which `nvidia-smi` is asked about it.
    pub(crate) pci: Option<String>,
}

const KERNELS: [(&str, Kernels); 4] = [
    ("fastest", Kernels::Fastest),
    ("words", Kernels::Words),
    ("doubles", Kernels::Doubles),
    ("portable", Kernels::Portable),
];

const USAGE: &str = "gpu_report [--device first|cuda0|opencl0] [--seconds S] [--checks N] [--batch N] [--bits 1024,2048,3072,4096] [--threads 1,4] [--kernels fastest,words,doubles,portable] [--cgbn FILE]";

fn options() -> Result<Options, String> {
    let mut options = Options {
        choice: Choice::First,
        time: Duration::from_secs(3),
        checks: 1_000_000,
        batch: 0,
        sizes: vec![1024, 2048, 3072, 4096],
        kernels: vec![KERNELS[0]],
        threads: vec![1, 4],
        cgbn: None,
        pci: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        let wrong = |_| format!("{name} {value} is no number");
        match name.as_str() {
            "--device" => options.choice = Choice::parse(&value).ok_or(USAGE)?,
            "--seconds" => {
                let seconds = value.parse().map_err(|_| format!("{name} {value} is no number"))?;
                options.time = Duration::try_from_secs_f64(seconds).map_err(|_| USAGE)?;
            }
            "--checks" => options.checks = value.parse().map_err(wrong)?,
            "--cgbn" => options.cgbn = Some(value),
            "--batch" => options.batch = value.parse().map_err(wrong)?,
            "--bits" => {
                let sizes: Result<_, _> = value.split(',').map(str::parse).collect();
                options.sizes = sizes.map_err(wrong)?;
            }
            "--threads" => {
                let counts: Result<_, _> = value.split(',').map(str::parse).collect();
                options.threads = counts.map_err(wrong)?;
            }
            "--kernels" => {
                let of = |name: &str| KERNELS.into_iter().find(|(known, _)| *known == name).ok_or(USAGE);
                options.kernels = value.split(',').map(of).collect::<Result<_, _>>()?;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

/// The parts of a run, each of which may fail without the others.
#[derive(Default)]
pub(crate) struct Parts {
    failed: usize,
}

impl Parts {
    /// Runs a part. If it fails a line says so, and whoever asked for it goes on.
    pub(crate) fn run(&mut self, part: &str, bits: usize, run: impl FnOnce() -> Result<(), String>) {
        let done = catch_unwind(AssertUnwindSafe(run));
        if let Err(reason) = done.unwrap_or_else(|_| Err("it panicked".to_owned())) {
            self.failed(part, Some(bits), &reason);
        }
    }

    /// A part has failed.
    pub(crate) fn failed(&mut self, part: &str, bits: Option<usize>, reason: &str) {
        self.failed += 1;
        let bits = bits.map_or("null".to_owned(), |bits| bits.to_string());
        eprintln!("gpu_report: {part}, {bits} bits: {reason}");
        println!(
            "{{\"line\":\"failed\",\"part\":{},\"bits\":{bits},\"reason\":{}}}",
            json(part),
            json(reason)
        );
    }
}

/// A string of JSON. Rust's own form has escapes that JSON has not, and a compiler's log may need them.
fn json(text: &str) -> String {
    let mut string = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => string.extend(['\\', character]),
            '\0'..' ' => string.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => string.push(character),
        }
    }
    string.push('"');
    string
}

fn main() {
    match options().and_then(report) {
        Ok(0) => {}
        Ok(failed) => {
            eprintln!("gpu_report: {failed} parts failed");
            std::process::exit(1);
        }
        Err(reason) => {
            eprintln!("gpu_report: {reason}");
            std::process::exit(6);
        }
    }
}

/// Checks and measures everything that is asked for; how many parts failed.
fn report(mut options: Options) -> Result<usize, String> {
    let survey = Survey::take();
    for (driver, reason) in &survey.absent {
        eprintln!("gpu_report: {driver}: {reason}");
    }
    let choice = options.choice;
    let open = |kernels| -> Result<Arc<dyn Gpu>, String> {
        let gpu = survey.open_with(choice, Launch::Tuned, kernels);
        gpu.map(Arc::from).map_err(|failure| failure.to_string())
    };
    let first = open(Kernels::Fastest)?;
    options.pci = first.description().pci.clone();
    let options = &options;
    let device = first.description();
    println!(
        "{{\"line\":\"device\",\"name\":{:?},\"driver\":{:?},\"platform\":{:?},\"units\":{},\"memory\":{},\"on_a_cpu\":{},\"smi\":{}}}",
        device.name,
        device.driver.name(),
        device.platform,
        device.units,
        device.memory,
        device.is_cpu,
        smi::device(options.pci.as_deref()),
    );
    match survey.rates(options.choice) {
        Err(failure) => eprintln!("gpu_report: no rates, because {failure}"),
        Ok(rates) => {
            for rate in rates {
                println!(
                    "{{\"line\":\"rate\",\"instruction\":{:?},\"per_second\":{:.4e},\"per_unit_and_cycle_at_1_98_ghz\":{:.2}}}",
                    rate.name,
                    rate.per_second,
                    rate.per_second / device.units as f64 / 1.98e9,
                );
            }
        }
    }
    let mut parts = Parts::default();
    for (turn, &(name, kernels)) in options.kernels.iter().enumerate() {
        let gpu = match open(kernels) {
            Ok(gpu) => gpu,
            Err(reason) => {
                parts.failed(name, None, &reason);
                continue;
            }
        };
        for &bits in &options.sizes {
            parts.run(name, bits, || work::size(gpu.as_ref(), bits, options));
        }
        // Before what may take long, as the portable kernels do.
        if turn == 0 {
            for &bits in &options.sizes {
                parts.run("keys", bits, || work::keys(&gpu, bits, options));
            }
            if let Some(file) = &options.cgbn {
                cgbn::measure(&survey, choice, file, options, &mut parts);
            }
        }
    }
    Ok(parts.failed)
}
