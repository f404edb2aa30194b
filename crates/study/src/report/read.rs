//! A report from its own `results.json`: pages can be made again where the database is no longer.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;

use super::{
    analysis::Part,
    figure::{Figure, Scale},
    model::Report,
    names::is_id,
};
use crate::{error::Error, json};

/// No report is longer.
const LONGEST: u64 = 1 << 30;
/// What a byte of a compressed file is unpacked to at most, and what any file is: reports are packed to a tenth.
const MOST_UNPACKED: u64 = 64;
const ROOM: u64 = 16 << 20;

/// The report that a `results.json` holds, as it lies in a report's directory or compressed by gzip.
///
/// # Errors
/// The file cannot be read, or is not what a report writes.
pub fn read(path: &Path) -> Result<Report, Error> {
    let bytes = bytes(path).map_err(Error::io(path))?;
    let report: Report = serde_json::from_slice(&bytes).map_err(|error| refused(path, json::fault(&error)))?;
    let fault = report.all_figures().find_map(fault);
    let fault = fault
        .or_else(|| odd_name(&report))
        .or_else(|| odd_table(&report))
        .or_else(|| odd_confidence(&report));
    match fault {
        None => Ok(report),
        Some(fault) => Err(refused(path, fault)),
    }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let file = up_to(LONGEST, File::open(path)?)?;
    if !file.starts_with(&GZIP) {
        return Ok(file);
    }
    let most = file.len() as u64 * MOST_UNPACKED + ROOM;
    up_to(most.min(LONGEST), MultiGzDecoder::new(&*file))
}

/// All bytes, if there are no more than so many.
fn up_to(most: u64, from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!(
            "it has more than {most} bytes, as no report has"
        ))),
        false => Ok(bytes),
    }
}

fn refused(path: &Path, reason: String) -> Error {
    Error::Results {
        path: path.to_owned(),
        reason,
    }
}

/// That a section has a name that LaTeX would take for more than one: labels have it as it is.
fn odd_name(report: &Report) -> Option<String> {
    let parts = report.analyses.iter().flat_map(|analysis| &analysis.parts);
    let names = report.analyses.iter().map(|analysis| &analysis.id);
    let mut names = names
        .chain(parts.map(|part| &part.id))
        .chain(report.scaling.iter().map(|scaling| &scaling.id))
        .chain(report.overviews.iter().map(|overview| &overview.id))
        .chain(report.articles.iter().map(|review| &review.id));
    let is_odd = names.any(|name| !is_id(name));
    is_odd.then(|| "the name of a section has other signs than letters, digits, hyphens and underscores".to_owned())
}

/// That an interval has a confidence that there is not: comparisons work with it.
fn odd_confidence(report: &Report) -> Option<String> {
    let rows = report.groups.iter().flat_map(|group| &group.rows);
    let figures = rows.filter_map(|row| row.figures.as_ref());
    let mut estimates = figures.flat_map(|figures| [figures.ops_per_s, figures.ns_per_op]);
    let odd = estimates.find(|estimate| !(0.0..=1.0).contains(&estimate.confidence))?;
    Some(format!("{} is no confidence of an interval", odd.confidence))
}

/// The reason why a table of a section cannot be set.
fn odd_table(report: &Report) -> Option<String> {
    let mut parts = report.analyses.iter().flat_map(|analysis| &analysis.parts);
    let is_odd = |part: &&Part| part.rows.iter().any(|row| row.cells.len() > part.columns.len());
    let odd = parts.find(is_odd)?;
    Some(format!(
        "a row of the table '{}' has more cells than columns",
        odd.title
    ))
}

/// The reason why a figure cannot be drawn: its name becomes a file's, and its values become places.
fn fault(figure: &Figure) -> Option<String> {
    if !is_id(&figure.id) {
        return Some(format!("'{}' is no name of a figure", figure.id));
    }
    let points = || figure.series.iter().flat_map(|series| &series.points);
    let marks = figure.marks.iter().map(|mark| mark.x);
    let places = points().map(|point| point.x).chain(marks).chain(match &figure.x.scale {
        Scale::Linear { ticks } => ticks.clone(),
        Scale::Log | Scale::Names { .. } => Vec::new(),
    });
    let is_drawable = |value: f64, scale: &Scale| match scale {
        Scale::Log => (1e-18..1e18).contains(&value),
        _ => value == 0.0 || (1e-18..1e18).contains(&value.abs()),
    };
    let mut values = places
        .map(|place| (place, &figure.x.scale))
        .chain(figure.values().map(|value| (value, &figure.y.scale)));
    let (value, _) = values.find(|(value, scale)| !is_drawable(*value, scale))?;
    Some(format!("figure '{}' has no place for the value {value}", figure.id))
}
