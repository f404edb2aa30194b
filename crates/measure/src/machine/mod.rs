//! A description of the machine: stored with every result, because a figure without its machine means nothing.

mod build;
mod caches;
mod microarchitecture;
mod units;

use std::env::consts;

use serde::{Deserialize, Serialize};

pub use build::Build;
pub use caches::{Cache, CacheKind};

use units::{in_binary_units, in_ghz};

use crate::{
    activity::Activity,
    cycles::{CoreClock, CycleCounter},
    fact::Fact,
    peak::{self, Peak},
    system_files::SystemFiles,
    topology::Topology,
    tsc::{Tsc, TscRate},
};

/// The machine, its operating system, and the compiler of this program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The CPU's name, as it gives it.
    pub cpu_model: Fact<String>,
    /// Family, model, stepping and microcode, where the kernel states them.
    pub cpu_revision: Fact<String>,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    /// Of the instruction sets that matter for long arithmetic, those that the CPU has and the system lets programs
    /// use.
    pub features: Vec<String>,
    /// CPUs, cores, sockets, and what this process may use of them.
    pub topology: Topology,
    /// The caches of the first CPU, smallest level first.
    pub caches: Vec<Cache>,
    /// Main memory.
    pub memory_bytes: Fact<u64>,
    /// The operating system's name and version.
    pub os: Fact<String>,
    /// The kernel's version.
    pub kernel: Fact<String>,
    /// The hypervisor, if one makes itself known.
    pub hypervisor: Option<String>,
    /// The frequency governor of the CPUs that this process may use.
    pub governor: Fact<String>,
    /// `true` if the clock may rise above its nominal rate.
    pub turbo: Fact<bool>,
    /// Processes that were running or waiting for a CPU, as a mean over the last minute.
    pub load_average: Fact<f64>,
    /// The share of CPU time since the machine started that the hypervisor gave to others.
    pub steal_since_start: Fact<f64>,
    /// The rate of the time-stamp counter.
    pub tsc: Fact<TscRate>,
    /// The clock of a core under scalar code, when this was written.
    pub core_clock: Fact<CoreClock>,
    /// `true` if the hardware counts cycles for programs; if not, why.
    pub cycle_counter: Fact<()>,
    /// The most multiply-adds that a core does, instruction by instruction, the slowest first.
    #[serde(default = "unmeasured_peaks")]
    pub multiply_peaks: Fact<Vec<Peak>>,
    /// How this program was built.
    pub build: Build,
}

const UNMEASURED: &str = "it was not measured";

/// The peaks of a machine that was described before they were.
fn unmeasured_peaks() -> Fact<Vec<Peak>> {
    Fact::Unknown(UNMEASURED.to_owned())
}

impl Machine {
    /// This machine, now. Measures clocks for about 200 ms; to be called before the calling thread is pinned, which
    /// would hide the other CPUs.
    pub fn describe() -> Machine {
        let mut machine = Machine::unmeasured();
        machine.tsc = Tsc::detect().map(Tsc::rate).into();
        machine.core_clock = CoreClock::measure().into();
        machine.cycle_counter = CycleCounter::open().map(|_| ()).into();
        machine.multiply_peaks = Fact::Known(peak::measure());
        machine
    }

    /// This machine as its system describes it, at once: clocks and peaks are not measured.
    pub fn unmeasured() -> Machine {
        Self::read(&SystemFiles::of_this_machine(), Topology::detect())
    }

    /// Reads what files say, and nothing that has to be measured.
    pub(crate) fn read(files: &SystemFiles, topology: Topology) -> Machine {
        Machine {
            cpu_model: cpu_model(files),
            cpu_revision: cpu_revision(files),
            architecture: consts::ARCH.to_owned(),
            features: features(),
            caches: caches::of_cpu(files, topology.cpus.first().map_or(0, |cpu| cpu.id)),
            memory_bytes: memory_bytes(files).into(),
            os: os(files).into(),
            kernel: files.text("/proc/sys/kernel/osrelease").into(),
            hypervisor: hypervisor(files),
            governor: governor(files, &topology),
            turbo: turbo(files),
            load_average: load_average(files).into(),
            steal_since_start: Activity::now(files).map(|activity| activity.steal_since_start()).into(),
            tsc: Fact::Unknown(UNMEASURED.to_owned()),
            core_clock: Fact::Unknown(UNMEASURED.to_owned()),
            cycle_counter: Fact::Unknown(UNMEASURED.to_owned()),
            multiply_peaks: unmeasured_peaks(),
            build: Build::of_this_program(),
            topology,
        }
    }

    /// The microarchitecture with the numbers it was found by, `Zen 4, Genoa (family 25 model 17)`; the numbers alone
    /// where they have no name here, none where the kernel does not tell them.
    pub fn microarchitecture(&self) -> Option<String> {
        let cpu_model = self.cpu_model.known().map_or("", String::as_str);
        microarchitecture::describe(cpu_model, self.cpu_revision.known()?)
    }

    /// Name and value of everything, for a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let topology = &self.topology;
        let counted = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            many => format!("{many} {what}s"),
        };
        let mut cpus = format!(
            "{} on {} in {}",
            counted(topology.cpus.len(), "CPU"),
            counted(topology.cores(), "core"),
            counted(topology.packages(), "socket")
        );
        if let Some(reason) = &topology.unknown {
            cpus = format!("{} CPUs; cores are not known: {reason}", topology.cpus.len());
        }
        let mut usable = format!("{} CPUs on {} cores", topology.allowed_cpus(), topology.allowed_cores());
        if let Some(quota) = topology.quota {
            usable += &format!(", for {quota:.2} CPUs' time");
        }
        let or_unknown = |fact: &Fact<String>| fact.describe(Clone::clone);
        vec![
            ("CPU", or_unknown(&self.cpu_model)),
            (
                "microarchitecture",
                self.microarchitecture().unwrap_or_else(|| "not known".to_owned()),
            ),
            ("revision", or_unknown(&self.cpu_revision)),
            ("instruction sets", self.features.join(" ")),
            ("CPUs", cpus),
            ("usable", usable),
            ("caches", caches::in_words(&self.caches)),
            ("memory", self.memory_bytes.describe(|&bytes| in_binary_units(bytes))),
            ("operating system", or_unknown(&self.os)),
            ("kernel", or_unknown(&self.kernel)),
            (
                "hypervisor",
                self.hypervisor
                    .clone()
                    .unwrap_or_else(|| "none that makes itself known".to_owned()),
            ),
            ("frequency governor", or_unknown(&self.governor)),
            (
                "turbo",
                self.turbo.describe(|&on| if on { "on" } else { "off" }.to_owned()),
            ),
            ("load average", self.load_average.describe(|load| format!("{load:.2}"))),
            (
                "steal since start",
                self.steal_since_start
                    .describe(|share| format!("{:.2} %", 100.0 * share)),
            ),
            (
                "time-stamp counter",
                self.tsc
                    .describe(|rate| format!("{}, {}", in_ghz(rate.hz), rate.source.label())),
            ),
            (
                "core clock",
                self.core_clock
                    .describe(|clock| format!("{}, {}", in_ghz(clock.hz), clock.source.label())),
            ),
            (
                "cycle counter",
                match &self.cycle_counter {
                    Fact::Known(()) => "offered".to_owned(),
                    Fact::Unknown(reason) => format!("none: {reason}"),
                },
            ),
            ("multiply-adds", self.multiply_peaks.describe(|peaks| in_words(peaks))),
            (
                "built with",
                format!(
                    "{}, opt-level {}, {}, target CPU {}{}",
                    self.build.rustc,
                    self.build.opt_level,
                    self.build.target,
                    self.build.target_cpu,
                    if self.build.debug_assertions {
                        ", debug assertions"
                    } else {
                        ""
                    }
                ),
            ),
        ]
    }
}

/// `2.41 G/s with mul of 64 bits, 8.9 G/s with vpmadd52 of 512 bits, at most`.
fn in_words(peaks: &[Peak]) -> String {
    let one = |peak: &Peak| format!("{:.2} G/s with {}", peak.per_second / 1e9, peak.instruction);
    let all: Vec<String> = peaks.iter().map(one).collect();
    format!("of 64 bits, at most: {}", all.join(", "))
}

/// The first value of a key in the kernel's description of the CPUs.
fn cpuinfo(files: &SystemFiles, key: &str) -> Option<String> {
    files.text("/proc/cpuinfo").ok()?.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
    })
}

fn cpu_model(files: &SystemFiles) -> Fact<String> {
    ["model name", "Model", "Hardware"]
        .iter()
        .find_map(|key| cpuinfo(files, key))
        .or_else(cpuid_brand)
        .ok_or("neither the kernel nor the CPU gives a name")
        .into()
}

#[cfg(target_arch = "x86_64")]
fn cpuid_brand() -> Option<String> {
    let brand = raw_cpuid::CpuId::new().get_processor_brand_string()?;
    Some(brand.as_str().trim().to_owned()).filter(|brand| !brand.is_empty())
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid_brand() -> Option<String> {
    None
}

fn cpu_revision(files: &SystemFiles) -> Fact<String> {
    let parts: Vec<String> = [
        ("cpu family", "family"),
        ("model", "model"),
        ("stepping", "stepping"),
        ("microcode", "microcode"),
        ("CPU implementer", "implementer"),
        ("CPU part", "part"),
        ("CPU revision", "revision"),
    ]
    .iter()
    .filter_map(|(key, word)| Some(format!("{word} {}", cpuinfo(files, key)?)))
    .collect();
    if parts.is_empty() {
        return Fact::Unknown("/proc/cpuinfo does not tell".to_owned());
    }
    Fact::Known(parts.join(", "))
}

/// Each name that is detected.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected {
    ($detect:ident: $($name:tt)*) => {
        [$(($name, std::arch::$detect!($name))),*]
            .iter()
            .filter(|(_, present)| *present)
            .map(|(name, _)| (*name).to_owned())
            .collect()
    };
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<String> {
    detected!(is_x86_feature_detected:
        "bmi2" "adx" "avx2" "avxifma" "avx512f" "avx512dq" "avx512bw" "avx512vl" "avx512ifma" "avx512vbmi"
        "avx512vbmi2" "gfni" "sha" "rdseed")
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<String> {
    detected!(is_aarch64_feature_detected: "neon" "sve" "sve2" "sha2" "rand")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<String> {
    Vec::new()
}

fn memory_bytes(files: &SystemFiles) -> Result<u64, String> {
    let text = files.text("/proc/meminfo")?;
    let total = text.lines().find_map(|line| {
        let kib = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?;
        kib.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    Ok(total.ok_or("/proc/meminfo: no MemTotal")?)
}

fn os(files: &SystemFiles) -> Result<String, String> {
    let text = files.text("/etc/os-release");
    let text = text.map_err(|_| format!("{}, of which no more is known", consts::OS))?;
    let mut lines = text.lines();
    let name = lines.find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.ok_or("/etc/os-release: no PRETTY_NAME")?;
    Ok(name.trim_matches('"').to_owned())
}

/// Returns the host that the CPU names, or the kernel.
fn hypervisor(files: &SystemFiles) -> Option<String> {
    files
        .text("/sys/hypervisor/type")
        .ok()
        .filter(|kind| !kind.is_empty())
        .or_else(cpuid_hypervisor)
}

#[cfg(target_arch = "x86_64")]
fn cpuid_hypervisor() -> Option<String> {
    use raw_cpuid::Hypervisor;
    let cpuid = raw_cpuid::CpuId::new();
    let Some(info) = cpuid.get_hypervisor_info() else {
        // The bit that says "you are a guest" without anyone to say whose.
        let is_guest = cpuid.get_feature_info()?.has_hypervisor();
        return is_guest.then(|| "one that gives no name".to_owned());
    };
    Some(match info.identify() {
        Hypervisor::Unknown(ebx, ecx, edx) => {
            let name = [ebx, ecx, edx].map(u32::to_le_bytes).concat();
            String::from_utf8_lossy(&name).trim_matches('\0').to_owned()
        }
        known => format!("{known:?}"),
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid_hypervisor() -> Option<String> {
    None
}

fn governor(files: &SystemFiles, topology: &Topology) -> Fact<String> {
    let mut governors: Vec<String> = topology
        .allowed()
        .filter_map(|cpu| {
            let id = cpu.id;
            files
                .text(format!("/sys/devices/system/cpu/cpu{id}/cpufreq/scaling_governor"))
                .ok()
        })
        .collect();
    governors.sort();
    governors.dedup();
    if governors.is_empty() {
        return Fact::Unknown(
            "the kernel offers no frequency control here, as is usual for virtual machines".to_owned(),
        );
    }
    Fact::Known(governors.join(", "))
}

fn turbo(files: &SystemFiles) -> Fact<bool> {
    let cpu = "/sys/devices/system/cpu";
    let off = files.number::<u8>(format!("{cpu}/intel_pstate/no_turbo"));
    let on = files.number::<u8>(format!("{cpu}/cpufreq/boost"));
    match (off, on) {
        (Ok(off), _) => Fact::Known(off == 0),
        (_, Ok(on)) => Fact::Known(on != 0),
        _ => Fact::Unknown("the kernel does not tell, as is usual for virtual machines".to_owned()),
    }
}

fn load_average(files: &SystemFiles) -> Result<f64, String> {
    let text = files.text("/proc/loadavg")?;
    let first = text.split_whitespace().next().unwrap_or_default();
    let parsed = first.parse();
    parsed.map_err(|_| format!("/proc/loadavg: '{first}' is not a number"))
}

#[cfg(test)]
mod tests;
