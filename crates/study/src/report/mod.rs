//! A report is a pure function of the store: [`Report::of`] makes the data, the rest writes it down.
//!
//! | question | file |
//! |---|---|
//! | what does the report say | [`Report`] |
//! | the answer in sentences | `findings` |
//! | one table for an operation at every size | `overview` |
//! | what threads gain, and the laws that are fitted to it | `scaling`, `speedup` |
//! | what many cells say together: best threads, batches, key sizes, the peak, distributions | `analysis` |
//! | did the machine stay as fast | `drift` |
//! | which figures there are | `figures`, [`Figure`] |
//! | how a figure is drawn | [`svg()`], [`png()`] |
//! | the words and numbers of every format | `document`, `words`, `names` |
//! | may a directory take it | [`check_place`] |
//! | a report from its `results.json` | [`read()`] |
//! | a table of speeds in somebody's README | [`put_speeds`] |
//! | the formats | [`html`], [`markdown`], [`latex`]: `template`, `page/`; [`csv`]; JSON by `serde` |

mod analysis;
mod csv;
mod digest;
mod document;
mod drift;
mod figure;
mod figures;
mod findings;
mod group;
mod model;
mod names;
mod overview;
mod ownership;
mod png;
mod read;
mod review;
mod scaling;
mod speeds;
mod speedup;
mod svg;
mod template;
mod words;

use std::{
    fs, io,
    io::Write,
    num::NonZero,
    path::{Path, PathBuf},
    thread,
};

pub(crate) use self::digest::{BlockDigest, Digest, Ticks};
pub use self::{
    analysis::{Analysis, Column, Entry, Line, Part},
    csv::csv,
    drift::Drift,
    figure::{Axis, Figure, Layout, Mark, Point, Reference, Scale, Series},
    findings::Finding,
    group::{Group, Row},
    model::{Circumstances, LACKS_ITS_LOG, Report, Reviewer, Session},
    overview::{Overview, OverviewCell, OverviewRow},
    ownership::check_place,
    png::png,
    read::read,
    review::{Case, Claim, EngineVerdict, Review, Shown, Table, TableCell, TableRow, Verdict},
    scaling::{Count, EngineScaling, Scaling},
    speeds::put_speeds,
    svg::svg,
    template::{html, latex, markdown},
};
pub(crate) use self::{
    model::title_of,
    names::{as_id, is_own, speed as speed_of, unit as unit_of},
    template::{STYLE, page},
    words::{date, machine as machine_words},
};
use crate::{error::Error, parallel};

/// The page's name in the directory of a report.
pub const PAGE: &str = "report.html";

/// Writes the whole report into a directory, which is made where it is missing: `report.html`, `results.csv`,
/// `results.json`, `report.md`, `report.tex`, and each figure as `figures/ID.svg` and `figures/ID.png`. Returns the
/// page's path.
///
/// Each file appears whole or not at all, and replaces an older one.
///
/// # Errors
/// The directory cannot be written.
pub fn write(report: &Report, directory: &Path) -> Result<PathBuf, Error> {
    let pictures = folder(directory, "figures")?;
    let json = serde_json::to_string_pretty(report).expect("a report has text keys, so it can be written as JSON");
    let (page, texts) = (html(report), [csv(report), markdown(report), latex(report)]);
    // First: it says which study the other files are of.
    place(directory, "results.json", (json + "\n").as_bytes())?;
    for (name, text) in ["results.csv", "report.md", "report.tex"].into_iter().zip(texts) {
        place(directory, name, text.as_bytes())?;
    }
    draw(&report.all_figures().collect::<Vec<_>>(), &pictures)?;
    // The page comes last: where it is, the files it names are.
    place(directory, PAGE, page.as_bytes())
}

/// Writes a file below the directory of a report; `path` has `/` between folders, which are made where they are
/// missing.
pub(crate) fn write_file(directory: &Path, path: &str, bytes: &[u8]) -> Result<(), Error> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    place(&self::folder(directory, folder)?, name, bytes)?;
    Ok(())
}

/// Writes the pictures of figures, on all CPUs that there are.
fn draw(figures: &[&Figure], directory: &Path) -> Result<(), Error> {
    let draw = |figure: &&Figure| {
        let picture = svg(figure);
        place(directory, &format!("{}.svg", figure.id), picture.as_bytes())?;
        place(directory, &format!("{}.png", figure.id), &png(&picture))?;
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = figures.len().div_ceil(threads).max(1);
    parallel::map(figures.chunks(share), |figures| figures.iter().try_for_each(draw))
        .into_iter()
        .collect()
}

/// Makes a folder in the directory of a report, and the directory itself, where they are missing.
///
/// The directory may be a link, since a person has named it. A link inside it is refused: the files would lie
/// elsewhere.
fn folder(directory: &Path, name: &str) -> Result<PathBuf, Error> {
    fs::create_dir_all(directory).map_err(Error::io(directory))?;
    let mut path = directory.to_owned();
    for part in Path::new(name).components() {
        path.push(part);
        if path.is_symlink() {
            let refused = "it is a symbolic link, and a report does not write through it: remove it";
            return Err(Error::io(path)(io::Error::other(refused)));
        }
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made.map_err(Error::io(&path))?,
        }
    }
    Ok(path)
}

/// Writes a file of a report: a report is for showing, unlike the database.
fn place(directory: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    replace(directory, name, bytes, readable)
}

/// Writes a file so that a reader sees the old one or the new one, and a power cut leaves one of them.
fn replace(
    directory: &Path,
    name: &str,
    bytes: &[u8],
    set_mode: impl FnOnce(&fs::File) -> io::Result<()>,
) -> Result<PathBuf, Error> {
    let path = directory.join(name);
    let written = || -> io::Result<()> {
        let mut draft = tempfile::Builder::new().prefix(".draft-").tempfile_in(directory)?;
        draft.write_all(bytes)?;
        set_mode(draft.as_file())?;
        draft.as_file().sync_all()?;
        draft.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(Error::io(&path))?;
    Ok(path)
}

/// Lets everybody read a file: temporary ones are made for their owner alone.
fn readable(file: &fs::File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}
