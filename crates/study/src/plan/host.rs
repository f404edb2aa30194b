//! What a plan must know of the machine.

use rsalab_engines::{Registry, Selector, registry::ENGINES};
use rsalab_measure::Topology;
use serde::{Deserialize, Serialize};

/// What a plan must know of the machine to be checked and unfolded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Every engine name that may be written, installed or not.
    pub known: Vec<String>,
    /// The selectors that `engines = "present"` stands for.
    pub present: Vec<String>,
    /// Logical CPUs that this process may use.
    pub logical_cpus: usize,
}

impl Host {
    /// This machine, with the engines that a registry finds.
    pub fn of_this_machine(registry: &Registry) -> Host {
        let is_present = |name: &&str| {
            Selector::parse(name).is_ok_and(|selector| registry.locate(selector.engine).is_ok())
        };
        let names = ENGINES.iter().map(|entry| entry.name);
        Host {
            known: names.clone().map(str::to_owned).collect(),
            present: names.filter(is_present).map(str::to_owned).collect(),
            logical_cpus: Topology::detect().allowed_cpus().max(1),
        }
    }
}
