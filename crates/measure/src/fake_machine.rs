//! A picture of a machine's files in a folder, for tests.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::{system_files::SystemFiles, topology::Topology};

pub(crate) struct FakeMachine(TempDir);

impl FakeMachine {
    pub(crate) fn new() -> Self {
        FakeMachine(tempfile::tempdir().expect("a folder for the fake machine"))
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let place = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().unwrap_or(Path::new("/"))).expect("its folder");
        fs::write(place, text).expect("its file");
    }

    pub(crate) fn remove(&self, folder: &str) {
        fs::remove_dir_all(self.0.path().join(folder.trim_start_matches('/'))).expect("its folder");
    }

    /// A physical core with its hardware threads; the socket's NUMA node has the same number.
    pub(crate) fn core(&self, package: usize, cpus: &[usize]) {
        let list = cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        for cpu in cpus {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
            self.file(&format!("{folder}/core_cpus_list"), &format!("{list}\n"));
            self.file(&format!("{folder}/physical_package_id"), &format!("{package}\n"));
        }
        let node = format!("/sys/devices/system/node/node{package}/cpulist");
        let others = self.files().text(&node).unwrap_or_default();
        self.file(&node, format!("{others},{list}").trim_matches(','));
    }

    pub(crate) fn online(&self, list: &str) {
        self.file("/sys/devices/system/cpu/online", list);
    }

    pub(crate) fn files(&self) -> SystemFiles {
        SystemFiles::below(self.0.path())
    }

    pub(crate) fn topology(&self, allowed: Option<Vec<usize>>) -> Topology {
        Topology::read(&self.files(), allowed)
    }
}
