//! The manifest that a part of a larger work leaves when it is complete.

use std::{io, path::Path};

use rsalab_measure::Machine;
use rsalab_study::{
    VERSION,
    part::{self, Manifest, Part, Work},
};

use crate::{
    exit::{Failure, Result},
    files::{self, Privacy},
    output::line,
};

/// A part that is complete.
pub(super) struct Done {
    pub(super) work: Work,
    pub(super) part: Part,
    pub(super) plan_sha256: String,
    pub(super) insecure_seed: Option<String>,
    pub(super) items: u64,
}

impl Done {
    /// Writes the manifest of a file, in place of one that may be there.
    pub(super) fn write(self, file: &Path, manifest: &Path, machine: &Machine) -> Result<()> {
        let cannot =
            |verb: &str, path: &Path, error: io::Error| Failure::io(format!("cannot {verb} {}", path.display()), error);
        let (bytes, sha256) = part::digest(file).map_err(|error| cannot("read", file, error))?;
        let os = machine.os.known().cloned();
        let system: Vec<String> = os.into_iter().chain(machine.hypervisor.clone()).collect();
        let record = Manifest {
            rsalab_part: Manifest::VERSION,
            work: self.work,
            part: self.part,
            plan_sha256: self.plan_sha256,
            program_version: VERSION.to_owned(),
            cpu: machine.cpu_model.known().cloned().unwrap_or_default(),
            system: system.join(", "),
            insecure_seed: self.insecure_seed,
            items: self.items,
            bytes,
            sha256,
        };
        let text = line(&record);
        let draft = files::replacement(manifest, text.as_bytes(), Privacy::Private);
        let draft = draft.map_err(|error| cannot("make", manifest, error))?;
        let named = draft.persist(manifest);
        let named = named.map_err(|refused| cannot("make", manifest, refused.error))?;
        files::sync_names([(manifest, &named)].into_iter())
    }
}
