//! `rsalab engines`: every engine of this version, and the one command that installs each absent one.

use std::time::Duration;

use rsalab_engines::{
    Absent, EngineInfo, Limits, Session, Worker, gpu,
    registry::{Entry, Registry},
};
use rsalab_rsa::{Operation, kernel_ranges, kernels};
use serde::Serialize;

use super::selection::registry;
use crate::{arguments::Engines, exit::Result, output, printable::printable, steps, table::Table};

/// A worker that does not answer within this time is reported as broken.
const GREETING: Duration = Duration::from_secs(10);

/// Advice on an engine that is installed where it is not looked for.
const ELSEWHERE: &str = "If one is installed elsewhere, set RSALAB_PREFIX to the folder whose 'bin' it is in.";

/// Output of `--json`.
#[derive(Serialize)]
struct Listing {
    engines: Vec<Listed>,
    /// Folders in which programs of engines are looked for, in this order.
    searched: Vec<String>,
    /// The kernels of the engine `own`.
    kernels: Vec<ListedKernel>,
    /// Which of them the engine `own` runs so many items at once on, where none is asked for.
    dispatch: Vec<Dispatch>,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    summary: String,
    present: bool,
    /// The report of its worker.
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
    /// The feature that this machine lacks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// So many items of an operation, on one kernel.
#[derive(Serialize)]
struct Dispatch {
    operation: &'static str,
    /// The longest modulus, in bits; null where there is no limit.
    bits: Option<usize>,
    /// The fewest items.
    from: usize,
    /// The most items; null where more are cut into passes, and what is left over goes by its own number.
    to: Option<usize>,
    kernel: &'static str,
}

/// Asks every engine.
pub(crate) fn run(arguments: &Engines) -> Result<()> {
    let registry = registry()?;
    let listing = Listing {
        engines: registry
            .engines()
            .iter()
            .map(|entry| listed(entry, &registry))
            .collect(),
        searched: registry
            .folders()
            .iter()
            .map(|folder| folder.display().to_string())
            .collect(),
        kernels: kernels()
            .into_iter()
            .map(|kernel| ListedKernel {
                name: kernel.name,
                lanes: kernel.lanes,
                missing: kernel.available.err(),
            })
            .collect(),
        dispatch: kernel_ranges()
            .into_iter()
            .map(|range| Dispatch {
                operation: match range.operation {
                    Operation::Private => "private",
                    Operation::Public => "public",
                },
                bits: range.bits,
                from: range.from,
                to: range.to,
                kernel: range.kernel.name(),
            })
            .collect(),
    };
    output::print(arguments.json.json, &listing, || shown(&listing))
}

fn listed(entry: &Entry, registry: &Registry) -> Listed {
    let limits = Limits {
        reply: GREETING,
        ..Limits::default()
    };
    let (info, reason, install) = match registry.locate(entry) {
        Err(Absent::NotInstalled { install, .. }) => (None, Some("not installed".to_owned()), Some(install)),
        Ok(location) => match Worker::spawn(&location, limits) {
            Ok(worker) if worker.info().origin.starts_with(gpu::NO_DEVICE) => {
                let origin = worker.info().origin.clone();
                (None, Some(origin), Some(gpu::INSTALL_DEVICE.to_owned()))
            }
            Ok(worker) => (Some(worker.info().clone()), None, None),
            Err(error) => (None, Some(error.to_string()), None),
        },
    };
    steps::ended(|| match &info {
        Some(info) => format!("engine {}: its worker answers, version {}", entry.name, info.version),
        None => format!("engine {}: {}", entry.name, reason.as_deref().unwrap_or("absent")),
    });
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
    let present: Vec<_> = listing
        .engines
        .iter()
        .filter_map(|engine| Some((engine, engine.info.as_ref()?)))
        .collect();
    let mut text = Table::of(&present)
        .left("engine", |(_, info)| info.name.clone())
        .left("version", |(_, info)| match info.optimised {
            true => info.version.clone(),
            false => format!("{} (unoptimised build)", info.version),
        })
        .left("what it is", |(engine, _)| engine.summary.clone())
        .render();
    // What engines report can be long: it is printed below the table, a line each.
    let mut details = String::new();
    let mut absent = String::new();
    for engine in &listing.engines {
        match &engine.info {
            Some(info) => {
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
    let kernels = Table::of(&listing.kernels)
        .left("kernel of own", |kernel| kernel.name.to_owned())
        .right("lanes", |kernel| kernel.lanes.to_string())
        .left("runs here", |kernel| match &kernel.missing {
            None => "yes".to_owned(),
            Some(missing) => format!("no: {missing}"),
        })
        .render();
    text += &details;
    if !absent.is_empty() {
        text += "\n";
        text += &absent;
        let searched = listing.searched.join(", then ");
        let searched = format!("Programs of engines are looked for in {searched}.");
        text += &format!("\n{}\n{ELSEWHERE}\n", printable(&searched));
    }
    let dispatch = Table::of(&listing.dispatch)
        .left("own runs", |row| row.operation.to_owned())
        .left("bits", |row| match row.bits {
            Some(bits) => format!("up to {bits}"),
            None => "more".to_owned(),
        })
        .left("items at once", |row| match (row.from, row.to) {
            (from, Some(to)) if from == to => from.to_string(),
            (from, Some(to)) => format!("{from} to {to}"),
            (from, None) => format!("{from} or more"),
        })
        .left("on", |row| row.kernel.to_owned())
        .render();
    format!("{text}\n{kernels}\n{dispatch}")
}
