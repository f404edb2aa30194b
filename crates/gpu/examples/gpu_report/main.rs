//! Checks and measures a device: what `scripts/gpu.sh` runs. One JSON object a line goes to standard output, as soon as
//! it is known, and what it does to standard error.
//!
//! | line | what |
//! |---|---|
//! | `device` | what the driver and `nvidia-smi` say of it |
//! | `rate` | instructions of a kind a second, and for a multiprocessor and clock cycle at the clock seen |
//! | `check` | operations compared with the CPU's, and how many differ |
//! | `speed` | operations of all calls over the time from the first to the last, with what came between; `clock_mhz` and `power_w` are medians of what `nvidia-smi` said meanwhile |
//! | `cgbn` | pairs of powers a second by CGBN's kernels, neither blinded nor checked, and how many of some results are wrong |
//!
//! A private operation is blinded and checked, as the tools have it; `resident` leaves out the copies to and from the
//! device.

mod cgbn;
mod smi;
mod work;

use std::time::Duration;

use rsalab_gpu::{Choice, Launch, Survey, driver::Kernels};

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
    kernels: Vec<Kernels>,
    /// Threads that call at once, each with a batch of its own.
    pub(crate) threads: Vec<usize>,
    /// PTX of CGBN's kernels.
    cgbn: Option<String>,
}

const USAGE: &str = "gpu_report [--device first|cuda0|opencl0] [--seconds S] [--checks N] [--batch N] [--bits 1024,2048,3072,4096] [--threads 1,4] [--kernels fastest,words,doubles,portable] [--cgbn FILE]";

fn options() -> Result<Options, String> {
    let mut options = Options {
        choice: Choice::First,
        time: Duration::from_secs(3),
        checks: 1_000_000,
        batch: 0,
        sizes: vec![1024, 2048, 3072, 4096],
        kernels: vec![Kernels::Fastest],
        threads: vec![1, 4],
        cgbn: None,
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
                let of = |name: &str| match name {
                    "fastest" => Ok(Kernels::Fastest),
                    "words" => Ok(Kernels::Words),
                    "doubles" => Ok(Kernels::Doubles),
                    "portable" => Ok(Kernels::Portable),
                    _ => Err(USAGE),
                };
                options.kernels = value.split(',').map(of).collect::<Result<_, _>>()?;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

fn main() {
    let done = options().and_then(|options| report(&options));
    if let Err(reason) = done {
        eprintln!("gpu_report: {reason}");
        std::process::exit(6);
    }
}

fn report(options: &Options) -> Result<(), String> {
    let survey = Survey::take();
    for (driver, reason) in &survey.absent {
        eprintln!("gpu_report: {driver}: {reason}");
    }
    let open = |kernels| survey.open_with(options.choice, Launch::Tuned, kernels);
    let first = open(Kernels::Fastest).map_err(|failure| failure.to_string())?;
    let device = first.description();
    println!(
        "{{\"line\":\"device\",\"name\":{:?},\"driver\":{:?},\"platform\":{:?},\"units\":{},\"memory\":{},\"on_a_cpu\":{},\"smi\":{}}}",
        device.name,
        device.driver.name(),
        device.platform,
        device.units,
        device.memory,
        device.is_cpu,
        smi::device(),
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
    for (turn, &kernels) in options.kernels.iter().enumerate() {
        let gpu = open(kernels).map_err(|failure| failure.to_string())?;
        for &bits in &options.sizes {
            work::size(gpu.as_ref(), bits, options)?;
        }
        // Before what may take long, as the portable kernels do.
        if turn == 0 {
            work::keys(gpu, options)?;
            if let Some(file) = &options.cgbn
                && let Err(reason) = cgbn::measure(&survey, options.choice, file, options)
            {
                eprintln!("gpu_report: CGBN is left out: {reason}");
            }
        }
    }
    Ok(())
}
