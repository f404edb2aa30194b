//! The kernel that was asked for, or the best one.

use rsalab_engines::registry::closest;
use rsalab_rsa::{Backend, CpuBackend, KernelInfo, kernels};
use rsalab_study::number;

use crate::{
    exit::{Class, Failure, Result},
    steps,
};

/// Our own engine's arithmetic on a kernel.
pub(crate) fn backend(name: Option<&str>) -> Result<CpuBackend> {
    match name {
        None => {
            let backend = CpuBackend::auto();
            steps::ended(|| why(&backend));
            Ok(backend)
        }
        Some(name) => {
            check(name)?;
            steps::ended(|| format!("kernel: {name}, as --kernel asks"));
            CpuBackend::named(name)
                .map_err(|error| Failure::new(Class::Unavailable, "the kernel cannot be used").because(error))
        }
    }
}

/// Why kernels are the ones that run where none was asked for.
fn why(backend: &CpuBackend) -> String {
    let (here, missing): (Vec<_>, Vec<_>) = kernels().into_iter().partition(|kernel| kernel.available.is_ok());
    let here: Vec<&str> = here.iter().map(|kernel| kernel.name).collect();
    let missing = missing.iter().filter_map(|kernel| {
        let reason = kernel.available.as_ref().err()?;
        Some(format!("{} ({reason})", kernel.name))
    });
    let missing: Vec<String> = missing.collect();
    format!(
        "kernel: {} for full passes, fewer items by measured times; this CPU runs {}{}{}",
        backend.kernel(),
        here.join(", "),
        if missing.is_empty() { "" } else { "; not " },
        missing.join(", ")
    )
}

/// Tells which kernels an operation on so many items runs on.
pub(crate) fn note(operation: &str, items: usize, on: &[&str]) {
    if items > 0 {
        let items = number::counted(items, "block");
        steps::ended(|| format!("{operation}: {items} on {}", on.join(", then ")));
    }
}

/// Fails if there is no kernel of this name, or if this CPU cannot run it.
pub(crate) fn check(name: &str) -> Result<()> {
    known(name)?.available.map_err(|reason| {
        Failure::new(
            Class::Unavailable,
            format!("the kernel '{name}' does not run on this machine: {reason}"),
        )
        .advice("leave --kernel out: the best one that runs is chosen")
    })
}

/// The variable that names kernels to be left out, separated by commas. Workers read it too.
const DISABLED: &str = "RSALAB_DISABLE_KERNELS";

/// Leaves out the kernels that the environment says.
pub(crate) fn disable() -> Result<()> {
    let Some(names) = std::env::var_os(DISABLED) else {
        return Ok(());
    };
    let names = names.to_string_lossy();
    let names: Vec<&str> = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let disabled = rsalab_rsa::disable(&names);
    steps::ended(|| format!("kernels that {DISABLED} leaves out: {}", names.join(", ")));
    disabled.map_err(|error| match names.iter().find_map(|name| known(name).err()) {
        Some(unknown) => unknown.among(DISABLED),
        None => {
            let what = format!("{DISABLED} cannot be followed");
            Failure::new(Class::Usage, what).because(error)
        }
    })
}

/// The kernel of this name, whether this CPU can run it or not.
pub(crate) fn known(name: &str) -> Result<KernelInfo> {
    let mut all = kernels();
    let Some(place) = all.iter().position(|kernel| kernel.name == name) else {
        let names: Vec<&str> = all.iter().map(|kernel| kernel.name).collect();
        let advice = match closest(name, names.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(Failure::new(Class::Usage, format!("there is no kernel '{name}'")).advice(advice));
    };
    Ok(all.swap_remove(place))
}
