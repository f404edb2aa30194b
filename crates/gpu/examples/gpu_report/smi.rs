//! The answers of `nvidia-smi` about clocks and power, while something runs. Where there is none, nothing is known.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread::JoinHandle,
};

/// The device's name and settings, as JSON.
pub(crate) fn device() -> String {
    let fields = "name,driver_version,vbios_version,clocks.max.sm,power.limit,persistence_mode,ecc.mode.current";
    let output = Command::new("nvidia-smi")
        .args([&format!("--query-gpu={fields}"), "--format=csv,noheader", "-i", "0"])
        .output();
    match output {
        Ok(output) if output.status.success() => {
            format!("{:?}", String::from_utf8_lossy(&output.stdout).trim())
        }
        _ => "null".to_owned(),
    }
}

/// Samples, until they are asked for.
pub(crate) struct Sampler {
    running: Option<(Child, JoinHandle<Vec<[f64; 2]>>)>,
}

impl Sampler {
    pub(crate) fn start() -> Self {
        let child = Command::new("nvidia-smi")
            .args(["--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits"])
            .args(["-lms", "100", "-i", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let running = child.ok().map(|mut child| {
            let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
            let reader = std::thread::spawn(move || {
                let samples = lines.map_while(Result::ok).filter_map(|line| {
                    let mut values = line.split(',').map(|value| value.trim().parse().ok());
                    Some([values.next()??, values.next()??])
                });
                samples.collect()
            });
            (child, reader)
        });
        Sampler { running }
    }

    /// Medians of the clock in MHz and of the power in W, as JSON, without the first quarter, when the device was still
    /// waking up.
    pub(crate) fn finish(self) -> String {
        let nothing = "\"clock_mhz\":null,\"power_w\":null".to_owned();
        let Some((mut child, reader)) = self.running else {
            return nothing;
        };
        let _ = child.kill();
        let _ = child.wait();
        let samples = reader.join().unwrap_or_default();
        let late = &samples[samples.len() / 4..];
        if late.is_empty() {
            return nothing;
        }
        let median = |which: usize| {
            let mut values: Vec<f64> = late.iter().map(|sample| sample[which]).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        format!("\"clock_mhz\":{},\"power_w\":{}", median(0), median(1))
    }
}
