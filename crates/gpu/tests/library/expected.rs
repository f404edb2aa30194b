//! What must be found: where a device is installed, finding none is a failure, and no reason to skip tests. Tests of
//! the crate `engines` read this file, too.

use std::{env, fs, path::Path};

/// Returns whether there is a device of NVIDIA's: the kernel's driver says so.
pub(crate) fn cuda() -> bool {
    Path::new("/dev/nvidia0").exists()
}

/// Returns whether OpenCL has a device: PoCL's, which is the CPU, or NVIDIA's. The files of other vendors are often
/// there without their devices.
pub(crate) fn opencl() -> bool {
    // Somebody has it look elsewhere.
    if env::var_os("OCL_ICD_VENDORS").is_some() {
        return false;
    }
    let vendors = fs::read_dir("/etc/OpenCL/vendors").into_iter().flatten().flatten();
    let mut names = vendors.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| name.ends_with(".icd") && (name.starts_with("pocl") || (name.starts_with("nvidia") && cuda())))
}
