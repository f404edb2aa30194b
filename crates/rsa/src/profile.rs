//! A machine's profile: which settings were measured to be best on a CPU, for each operation and size.
//!
//! `rsalab profile` writes one from a study; programs read it, so that threads, kernel and batch are those that suit
//! this machine. What a caller says himself comes first, then the profile, then what is built in:
//!
//! ```text
//! explicit setting  >  profile of this very CPU  >  built in
//! ```
//!
//! A profile of another CPU, or of another number of CPUs, is [not used](Profile::check), and the reason says so. A
//! profile holds no secret, and can make a program slow but not wrong: every setting gives the same results.
//!
//! ```
//! use rsalab_rsa::profile::{Profile, Text};
//!
//! let json = r#"{"rsalab_profile": 1, "made_by": "rsalab 0.1.0", "study": "Texts",
//!     "cpu": {"name": "A CPU", "revision": "family 25, model 17, stepping 1", "cpus": 2},
//!     "choices": [
//!         {"operation": "text_encrypt", "bits": 1024, "symbols": 100, "threads": 1, "batch": 1, "engine": "own"},
//!         {"operation": "text_encrypt", "bits": 1024, "symbols": 100000, "threads": 2, "batch": 1, "engine": "own"}]}"#;
//! let profile = Profile::read(json.as_bytes())?;
//! let threads = |symbols| profile.text(Text::Encrypt, 1024, symbols).map(|choice| choice.threads);
//! assert_eq!((threads(150), threads(1_000_000)), (Some(1), Some(2)));
//! assert_eq!(profile.text(Text::Encrypt, 2048, 150).map(|choice| choice.threads), None);
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```

mod cpu;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{CpuBackend, Error, Result};

pub use cpu::Cpu;

/// The version of the format that this program writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// A file is no longer.
pub const MOST_BYTES: u64 = 1 << 20;

/// The settings that suit a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The version of the format.
    #[serde(rename = "rsalab_profile")]
    pub version: u32,
    /// The program that wrote it, with its version.
    pub made_by: String,
    /// The title of the study.
    pub study: String,
    /// The machine.
    pub cpu: Cpu,
    /// A setting for each operation and size that was measured.
    pub choices: Vec<Choice>,
}

/// The best setting for an operation at a size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The operation, as studies name it.
    pub operation: String,
    /// Bits of the modulus.
    pub bits: usize,
    /// Texts: bytes of the whole text. Otherwise 0.
    #[serde(default)]
    pub symbols: usize,
    /// Threads that are best.
    pub threads: usize,
    /// Items in a call that are best.
    pub batch: usize,
    /// The kernel to be forced; none if the program's own choice is best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The speed that was measured with these settings, in the unit of `unit`, in a second.
    #[serde(default)]
    pub per_second: f64,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// The time of a call with these settings, in nanoseconds.
    #[serde(default)]
    pub call_ns: f64,
    /// The fastest of all engines that were measured, with its best setting: programs that can choose a library may.
    pub engine: String,
    /// That engine's speed divided by that of the settings above.
    #[serde(default)]
    pub engine_times: f64,
}

/// An operation on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Encryption.
    Encrypt,
    /// Decryption.
    Decrypt,
}

impl Text {
    /// As studies name it.
    pub fn name(self) -> &'static str {
        match self {
            Text::Encrypt => "text_encrypt",
            Text::Decrypt => "text_decrypt",
        }
    }
}

impl Profile {
    /// Reads a profile. It may be of any machine: [`check`](Self::check) tells.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if it is none, is damaged, or is of another version.
    pub fn read(bytes: &[u8]) -> Result<Profile> {
        #[derive(Deserialize)]
        struct Versioned {
            rsalab_profile: u32,
        }
        // A newer version may have other members, so it is asked for first.
        let refused = |reason: String| Error::Format { reason };
        let Versioned { rsalab_profile } = serde_json::from_slice(bytes).map_err(|error| {
            refused(format!(
                "this is no profile of a machine, or a damaged one: line {}, column {}",
                error.line(),
                error.column()
            ))
        })?;
        if rsalab_profile != VERSION {
            return Err(refused(format!(
                "this profile has version {rsalab_profile}, and this program reads version {VERSION}: make it anew"
            )));
        }
        let profile: Profile = serde_json::from_slice(bytes).map_err(|error| {
            refused(format!(
                "this profile of a machine is damaged at line {}, column {}",
                error.line(),
                error.column()
            ))
        })?;
        let is_possible = |choice: &Choice| (1..=4096).contains(&choice.threads) && choice.batch >= 1;
        match profile.choices.iter().all(is_possible) {
            true => Ok(profile),
            false => Err(refused(
                "this profile has a setting of no thread, or of too many".to_owned(),
            )),
        }
    }

    /// The bytes of its file: JSON.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("its keys are texts, so it can be written as JSON") + "\n"
    }

    /// Returns whether it is of this machine.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] with both machines, if it is of another.
    pub fn check(&self) -> Result<()> {
        self.check_against(&Cpu::of_this_machine())
    }

    /// As [`check`](Self::check), for a machine that is described elsewhere.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn check_against(&self, here: &Cpu) -> Result<()> {
        if self.cpu.is_known() && self.cpu == *here {
            return Ok(());
        }
        Err(Error::Unsupported {
            reason: match self.cpu.is_known() && here.is_known() {
                true => format!("the profile is of {}, and this is {here}", self.cpu),
                false => format!(
                    "the CPU is not known by its name: the profile says {}, this is {here}",
                    self.cpu
                ),
            },
        })
    }

    /// The setting for a text: of the length that comes nearest, as a ratio, among those of this key size. None if no
    /// text was measured with it.
    pub fn text(&self, text: Text, bits: usize, symbols: usize) -> Option<&Choice> {
        let off = |choice: &&Choice| {
            let ratio = choice.symbols.max(1) as f64 / symbols.max(1) as f64;
            ratio.ln().abs()
        };
        let of_size = self
            .choices
            .iter()
            .filter(|choice| choice.operation == text.name() && choice.bits == bits);
        of_size.min_by(|one, other| off(one).total_cmp(&off(other)))
    }

    /// The setting for an operation that takes no text, such as `private`.
    pub fn operation(&self, name: &str, bits: usize) -> Option<&Choice> {
        let mut choices = self.choices.iter();
        choices.find(|choice| choice.operation == name && choice.bits == bits)
    }

    /// How long a batcher of private operations may wait for more requests without an answer taking more than twice as
    /// long: the time of the batch that is best. None where no batch is better than single items.
    pub fn delay(&self, bits: usize) -> Option<Duration> {
        let choice = self.operation("private", bits).filter(|choice| choice.batch > 1)?;
        let ns = choice.call_ns;
        (ns.is_finite() && (1.0..1e12).contains(&ns)).then(|| Duration::from_nanos(ns as u64))
    }
}

impl Choice {
    /// The back end on the kernel that is best.
    ///
    /// # Errors
    ///
    /// The kernel is not known, or was left out: the caller takes [`CpuBackend::auto`], and may say so.
    pub fn backend(&self) -> Result<CpuBackend> {
        match &self.kernel {
            Some(name) => CpuBackend::named(name),
            None => Ok(CpuBackend::auto()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(operation: &str, bits: usize, symbols: usize, threads: usize) -> Choice {
        Choice {
            operation: operation.to_owned(),
            bits,
            symbols,
            threads,
            batch: 1,
            kernel: None,
            per_second: 1e6,
            unit: "symbols/s".to_owned(),
            call_ns: 1e5,
            engine: "own".to_owned(),
            engine_times: 1.0,
        }
    }

    fn profile(cpu: Cpu) -> Profile {
        Profile {
            version: VERSION,
            made_by: "rsalab".to_owned(),
            study: "a study".to_owned(),
            cpu,
            choices: vec![
                choice("text_encrypt", 1024, 10, 1),
                choice("text_encrypt", 1024, 1000, 2),
                choice("text_encrypt", 1024, 100_000, 4),
                choice("text_decrypt", 1024, 10, 8),
                Choice {
                    batch: 16,
                    kernel: Some("mont64x1_portable".to_owned()),
                    ..choice("private", 2048, 0, 2)
                },
            ],
        }
    }

    #[test]
    fn the_nearest_length_decides() {
        let profile = profile(Cpu::of_this_machine());
        let threads = |symbols| profile.text(Text::Encrypt, 1024, symbols).unwrap().threads;
        let expected = [
            (0, 1),
            (10, 1),
            (90, 1),
            (110, 2),
            (9_000, 2),
            (11_000, 4),
            (10_000_000, 4),
        ];
        for (symbols, count) in expected {
            assert_eq!(threads(symbols), count, "{symbols}");
        }
        assert_eq!(profile.text(Text::Decrypt, 1024, 10_000).unwrap().threads, 8);
        assert_eq!(profile.text(Text::Encrypt, 2048, 10), None, "another key size");
        assert_eq!(profile.operation("private", 2048).unwrap().batch, 16);
        assert_eq!(profile.operation("public", 2048), None);
        assert_eq!(profile.delay(2048), Some(Duration::from_micros(100)));
        assert_eq!(profile.delay(1024), None);
        let backend = profile.operation("private", 2048).unwrap().backend().unwrap();
        assert_eq!(crate::Backend::kernel(&backend), "mont64x1_portable");
    }

    #[test]
    fn files_are_read_strictly() {
        let own = profile(Cpu::of_this_machine());
        assert_eq!(Profile::read(own.to_json().as_bytes()).unwrap(), own);
        let refused = |json: &str| Profile::read(json.as_bytes()).unwrap_err().to_string();
        assert!(refused("").contains("no profile of a machine"));
        assert!(refused("{}").contains("no profile of a machine"));
        assert!(refused("{\"rsalab_profile\": 2, \"other\": 1}").contains("has version 2"));
        assert!(refused("{\"rsalab_profile\": 1}").contains("damaged"));
        let none = own.to_json().replacen("\"threads\": 1", "\"threads\": 0", 1);
        assert!(refused(&none).contains("no thread"));
        // A message never repeats what the file had.
        let secret = "{\"rsalab_profile\": \"correct horse\"}";
        assert!(!refused(secret).contains("horse"));
    }

    #[test]
    fn a_profile_of_another_machine_is_told() {
        let here = Cpu {
            name: "A CPU".to_owned(),
            revision: "family 25, model 17, stepping 1".to_owned(),
            cpus: 2,
        };
        let own = profile(here.clone());
        own.check_against(&here).unwrap();
        for other in [
            Cpu {
                name: "Another CPU".to_owned(),
                ..here.clone()
            },
            Cpu {
                revision: "family 26, model 2, stepping 1".to_owned(),
                ..here.clone()
            },
            Cpu {
                cpus: 8,
                ..here.clone()
            },
        ] {
            let words = own.check_against(&other).unwrap_err().to_string();
            assert!(
                words.contains(&here.to_string()) && words.contains(&other.to_string()),
                "{words}"
            );
        }
        let unknown = Cpu {
            name: String::new(),
            ..here
        };
        assert!(
            profile(unknown.clone()).check_against(&unknown).is_err(),
            "unknown CPUs are not alike"
        );
    }
}
