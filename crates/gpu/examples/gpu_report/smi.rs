//! The answers of `nvidia-smi` about clocks and power, while something runs. Where there is none, nothing is known.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread::JoinHandle,
};

/// The settings of the device at an address on the PCI bus, as JSON.
pub(crate) fn device(pci: Option<&str>) -> String {
    let fields = "name,driver_version,vbios_version,clocks.max.sm,power.limit,persistence_mode,ecc.mode.current";
    let Some(pci) = pci else {
        return "null".to_owned();
    };
    // It hangs where a device does, which must not take the time of everything that is measured.
    let output = Command::new("timeout")
        .args(["20", "nvidia-smi", &format!("--query-gpu={fields}")])
        .args(["--format=csv,noheader", "-i", pci])
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
    /// Of the device at an address on the PCI bus.
    pub(crate) fn start(pci: Option<&str>) -> Self {
        let Some(pci) = pci else {
            return Sampler { running: None };
        };
        let child = Command::new("nvidia-smi")
            .args(["--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits"])
            .args(["-lms", "100", "-i", pci])
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
    pub(crate) fn finish(mut self) -> String {
        let nothing = "\"clock_mhz\":null,\"power_w\":null".to_owned();
        let samples = self.stop();
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

    /// Ends `nvidia-smi`, and gives what it said.
    fn stop(&mut self) -> Vec<[f64; 2]> {
        let Some((mut child, reader)) = self.running.take() else {
            return Vec::new();
        };
        let _ = child.kill();
        let _ = child.wait();
        reader.join().unwrap_or_default()
    }
}

impl Drop for Sampler {
    /// Also where a measurement fails.
    fn drop(&mut self) {
        self.stop();
    }
}
