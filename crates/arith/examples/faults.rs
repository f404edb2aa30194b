//! Flips single bits in the memory of private operations, and counts what comes of it.
//!
//! ```sh
//! cargo run --release -p rsalab-arith --features faults,hazmat --example faults -- --faults 100000
//! ```
//!
//! A line for each kernel, form of the operation and place: faults, harmless ones, results that were withheld, and
//! wrong results that were released, of which there must be none. `--bare` takes the operation without its protections,
//! where there must be some. Options: `--faults N`, `--bits B`, `--kernel NAME`, `--way crt|without-crt|multi-key`,
//! `--seed S`.

use rsalab_arith::campaign::{Campaign, Outcome, Way};
use rsalab_arith::fault::Place;
use rsalab_arith::{CheckedPrivateKey, Kernel, kernels};
use std::process::ExitCode;
use std::time::Instant;

#[allow(dead_code)]
#[path = "../tests/library/keys/mod.rs"]
mod keys;

struct Options {
    faults: u64,
    bits: usize,
    kernel: Option<String>,
    ways: Vec<Way>,
    seed: u64,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        faults: 1000,
        bits: 512,
        kernel: None,
        ways: vec![Way::Crt, Way::WithoutCrt, Way::MultiKey],
        seed: 1,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--bare" {
            options.ways = vec![Way::Bare];
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{argument} takes a value"))?;
        let number = || value.parse().map_err(|_| format!("{argument} takes a number"));
        match argument.as_str() {
            "--faults" => options.faults = number()?,
            "--bits" => options.bits = number()? as usize,
            "--seed" => options.seed = number()?,
            "--kernel" => options.kernel = Some(value),
            "--way" => {
                options.ways = vec![match value.as_str() {
                    "crt" => Way::Crt,
                    "without-crt" => Way::WithoutCrt,
                    "multi-key" => Way::MultiKey,
                    _ => return Err("--way takes crt, without-crt or multi-key".to_owned()),
                }];
            }
            _ => return Err(format!("there is no option {argument}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(reason) => {
            eprintln!("faults: {reason}");
            return ExitCode::from(2);
        }
    };
    let key = keys::Key::nth(options.seed, options.bits, &keys::E).checked();
    let mut total = Outcome::default();
    println!("| kernel | bits | form | place | faults | harmless | withheld | wrong, released |");
    println!("|---|---|---|---|---|---|---|---|");
    for info in kernels() {
        let is_wanted = match &options.kernel {
            Some(name) => name == info.name,
            None => !info.is_for_tests(),
        };
        if !is_wanted {
            continue;
        }
        match Kernel::named(info.name) {
            Ok(kernel) => {
                for &way in &options.ways {
                    let outcome = of_kernel(&key, kernel, way, &options);
                    total.harmless += outcome.harmless;
                    total.withheld += outcome.withheld;
                    total.wrong += outcome.wrong;
                }
            }
            Err(reason) => eprintln!("SKIPPED: {reason}"),
        }
    }
    eprintln!(
        "{} faults: {} harmless, {} withheld, {} wrong results released",
        total.faults(),
        total.harmless,
        total.withheld,
        total.wrong
    );
    match (total.faults(), total.wrong) {
        (0, _) => ExitCode::from(2),
        (_, 0) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn of_kernel(key: &CheckedPrivateKey, kernel: Kernel, way: Way, options: &Options) -> Outcome {
    let mut campaign = Campaign::new(key, kernel, way, options.seed).expect("random numbers");
    let mut total = Outcome::default();
    let begun = Instant::now();
    for place in Place::ALL {
        let outcome = campaign.run(place, options.faults).expect("random numbers");
        if outcome.faults() == 0 {
            continue;
        }
        println!(
            "| {} | {} | {way:?} | {place:?} | {} | {} | {} | {} |",
            kernel.name(),
            options.bits,
            outcome.faults(),
            outcome.harmless,
            outcome.withheld,
            outcome.wrong
        );
        total.harmless += outcome.harmless;
        total.withheld += outcome.withheld;
        total.wrong += outcome.wrong;
    }
    eprintln!("{} {way:?}: {:.1} s", kernel.name(), begun.elapsed().as_secs_f64());
    total
}
