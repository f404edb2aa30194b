//! `rsalab engines`: every engine of this version, and the one command that installs each absent one.

use std::time::Duration;

use rsalab_engines::{
    Absent, EngineInfo, Limits, Session, Worker, gpu,
    registry::{Entry, Registry},
};
use rsalab_rsa::kernels;
use serde::Serialize;

use super::selection::registry;
use crate::{
    arguments::Engines,
    exit::Failure,
    output,
    printable::printable,
    table::{Align, Table},
};

/// A worker that does not answer within this time is reported as broken.
const GREETING: Duration = Duration::from_secs(10);

/// What `--json` prints.
#[derive(Serialize)]
struct Listing {
    engines: Vec<Listed>,
    /// The kernels of the engine `own`.
    kernels: Vec<ListedKernel>,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    summary: String,
    present: bool,
    /// What its worker reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<EngineInfo>,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The one command that installs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    install: Option<String>,
}

#[derive(Serialize)]
struct ListedKernel {
    name: &'static str,
    lanes: usize,
    /// What this machine is missing for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// Asks every engine.
pub(crate) fn run(arguments: &Engines) -> Result<(), Failure> {
    let registry = registry()?;
    let listing = Listing {
        engines: registry
            .engines()
            .iter()
            .map(|entry| listed(entry, &registry))
            .collect(),
        kernels: kernels()
            .into_iter()
            .map(|kernel| ListedKernel {
                name: kernel.name,
                lanes: kernel.lanes,
                missing: kernel.available.err(),
            })
            .collect(),
    };
    if arguments.json.json {
        return output::json(&listing);
    }
    output::report(&shown(&listing))
}

fn listed(entry: &Entry, registry: &Registry) -> Listed {
    let limits = Limits {
        reply: GREETING,
        ..Limits::default()
    };
    let (info, reason, install) = match registry.locate(entry) {
        Err(Absent::NotInstalled { install, .. }) => {
            (None, Some("not installed".to_owned()), Some(install))
        }
        Ok(location) => match Worker::spawn(&location, limits) {
            Ok(worker) if worker.info().origin.starts_with(gpu::NO_DEVICE) => {
                let origin = worker.info().origin.clone();
                (None, Some(origin), Some(gpu::INSTALL_DEVICE.to_owned()))
            }
            Ok(worker) => (Some(worker.info().clone()), None, None),
            Err(error) => (None, Some(error.to_string()), None),
        },
    };
    Listed {
        name: entry.name.clone(),
        summary: entry.summary.clone(),
        present: info.is_some(),
        info,
        reason,
        install,
    }
}

fn shown(listing: &Listing) -> String {
    let mut present = Table::new([
        ("engine", Align::Left),
        ("version", Align::Left),
        ("what it is", Align::Left),
    ]);
    // What engines report can be long: it is printed below the table, a line each.
    let mut details = String::new();
    let mut absent = String::new();
    for engine in &listing.engines {
        match &engine.info {
            Some(info) => {
                present.row([
                    info.name.clone(),
                    match info.optimised {
                        true => info.version.clone(),
                        false => format!("{} (unoptimised build)", info.version),
                    },
                    engine.summary.clone(),
                ]);
                let origin = printable(&info.origin);
                details += &format!("\n{}\n    from {origin}\n", printable(&info.name));
                if let Some(path) = &info.cpu_path {
                    details += &format!("    on this CPU: {}\n", printable(path));
                }
                if let Some((default, others)) = info.variants.split_first()
                    && !others.is_empty()
                {
                    let variants = format!("{default} (default), {}", others.join(", "));
                    details += &format!("    variants: {}\n", printable(&variants));
                }
            }
            None => {
                let reason = engine.reason.as_deref().unwrap_or_default();
                let line = format!("{}: {reason} ({})", engine.name, engine.summary);
                absent += &(printable(&line) + "\n");
                if let Some(install) = &engine.install {
                    absent += &format!("    {install}\n");
                }
            }
        }
    }
    let mut kernels = Table::new([
        ("kernel of own", Align::Left),
        ("lanes", Align::Right),
        ("runs here", Align::Left),
    ]);
    for kernel in &listing.kernels {
        kernels.row([
            kernel.name.to_owned(),
            kernel.lanes.to_string(),
            match &kernel.missing {
                None => "yes".to_owned(),
                Some(missing) => format!("no: {missing}"),
            },
        ]);
    }
    let mut text = present.render() + &details;
    if !absent.is_empty() {
        text += "\n";
        text += &absent;
    }
    text += "\n";
    text + &kernels.render()
}
