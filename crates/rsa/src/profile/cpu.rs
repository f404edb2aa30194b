//! The identity of a CPU, as far as settings depend on it.

use std::{fmt, fs, thread};

use serde::{Deserialize, Serialize};

/// A CPU by its name, and how many of them a process has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// As it calls itself; empty where that is not known.
    pub name: String,
    /// Family, model and stepping, or what the architecture has in their place; empty where they are not known. Not the
    /// microcode, which changes with the system's updates.
    pub revision: String,
    /// Logical CPUs that the process may use at once: of its affinity mask and its quota.
    pub cpus: usize,
}

impl Cpu {
    /// This machine's. Its name is read where the system is Linux.
    pub fn of_this_machine() -> Cpu {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        Cpu {
            name: NAMES.iter().find_map(|key| value(&text, key)).unwrap_or_default(),
            revision: revision(&text),
            cpus,
        }
    }

    /// A machine that was described by its name, its revision in the words of `/proc/cpuinfo`, and its CPUs.
    pub fn described(name: &str, revision: &str, cpus: usize) -> Cpu {
        let lasting = revision.split(", ").filter(|part| !part.starts_with("microcode"));
        Cpu {
            name: name.to_owned(),
            revision: lasting.collect::<Vec<_>>().join(", "),
            cpus,
        }
    }

    /// Returns whether it can be told from others.
    pub fn is_known(&self) -> bool {
        !self.name.is_empty() && !self.revision.is_empty()
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, plural) = match self.is_known() {
            true => (self.name.as_str(), if self.cpus == 1 { "" } else { "s" }),
            false => ("a CPU without a name", if self.cpus == 1 { "" } else { "s" }),
        };
        // What a file says is printed on one line.
        let line = |text: &str| text.replace(char::is_control, " ");
        write!(
            f,
            "{} ({}), {} CPU{plural}",
            line(name),
            line(&self.revision),
            self.cpus
        )
    }
}

const NAMES: [&str; 3] = ["model name", "Model", "Hardware"];

/// Names in the kernel's description, and in ours.
const PARTS: [(&str, &str); 6] = [
    ("cpu family", "family"),
    ("model", "model"),
    ("stepping", "stepping"),
    ("CPU implementer", "implementer"),
    ("CPU part", "part"),
    ("CPU revision", "revision"),
];

fn revision(text: &str) -> String {
    let parts = PARTS
        .iter()
        .filter_map(|(key, word)| Some(format!("{word} {}", value(text, key)?)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The first value of a key.
fn value(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_understood() {
        let text = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: A CPU @ 2.30GHz\nstepping\t: 2\n\
                    microcode\t: 0x1\n";
        assert_eq!(value(text, "model name").unwrap(), "A CPU @ 2.30GHz");
        assert_eq!(revision(text), "family 6, model 207, stepping 2");
        let described = Cpu::described("A CPU @ 2.30GHz", "family 6, model 207, stepping 2, microcode 0x1", 4);
        assert_eq!(described.revision, revision(text));
        assert_eq!(
            described.to_string(),
            "A CPU @ 2.30GHz (family 6, model 207, stepping 2), 4 CPUs"
        );
        assert_eq!(value(text, "Hardware"), None);
    }
}
