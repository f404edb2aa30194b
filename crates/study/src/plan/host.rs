//! The machine, as far as a plan must know it.

use rsalab_engines::{Registry, registry::Entry};
use rsalab_measure::Topology;
use serde::{Deserialize, Serialize};

/// Engines that are measured only where they are named.
pub(super) const BY_NAME: [&str; 2] = ["gpu", "rustls"];

/// The machine, as far as a plan must know it to be checked and unfolded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Every engine name that may be written, installed or not.
    pub known: Vec<String>,
    /// The selectors that `engines = "present"` stands for: all that can be started, but `gpu` and `rustls`, which are
    /// measured where they are asked for by name. Whether there is a device is known when its drivers are loaded, and
    /// not before; and `rustls` does handshakes alone.
    pub present: Vec<String>,
    /// Logical CPUs that this process may use.
    pub logical_cpus: usize,
}

impl Host {
    /// This machine, with the engines that a registry finds.
    pub fn of_this_machine(registry: &Registry) -> Host {
        let engines = registry.engines();
        let names = |is_wanted: &dyn Fn(&&Entry) -> bool| {
            let wanted = engines.iter().filter(is_wanted);
            wanted.map(|entry| entry.name.to_string()).collect()
        };
        Host {
            known: names(&|_| true),
            present: names(&|entry| !BY_NAME.contains(&&*entry.name) && registry.locate(entry).is_ok()),
            logical_cpus: Topology::detect().allowed_cpus().max(1),
        }
    }
}
