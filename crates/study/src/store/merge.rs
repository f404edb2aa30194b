//! A study made of its parts.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rsalab_engines::Job;
use rusqlite::{Connection, OpenFlags, params};

use super::{FILE, GroupId, NewStudy, Store, StoreError};
use crate::{
    part::{Manifest, ManifestError, Part, SetError, Work, check_set},
    plan::Measure,
};

/// The name of a part's manifest in its directory.
pub const PART_FILE: &str = "part.json";
/// How the name of a directory begins in which a study is being merged; a kill can leave one.
const DRAFT: &str = ".rsalab-merge-";

/// Why parts were not merged. Nothing has been written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// It is a whole study.
    #[error("{0} is a whole study, not a part of one")]
    Whole(PathBuf),
    /// A manifest is missing, or another one than the file's.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// They do not make a whole.
    #[error(transparent)]
    Set(#[from] SetError),
    /// They are of different plans.
    #[error("{0} and {1} are parts of different plans")]
    Plan(PathBuf, PathBuf),
    /// This program makes other groups of the plan than are there.
    #[error("{0} has a plan that this version of rsalab does not unfold as it was measured")]
    Unfolded(PathBuf),
    /// One is not finished.
    #[error("{0} is not finished: go on with it by 'rsalab resume'")]
    Open(PathBuf),
    /// They ran on different CPUs, or one of them did, so that their figures do not belong in one study.
    #[error(
        "{0} ran on {1}, and {2} on {3}: run the whole plan on each kind of machine, and compare them by 'rsalab compare'"
    )]
    Cpu(PathBuf, String, PathBuf, String),
    /// The place of the merged study is taken.
    #[error("{0} is there already: name another directory")]
    Exists(PathBuf),
    /// A database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A part whose manifest is right.
struct Source {
    directory: PathBuf,
    part: Part,
    store: Store,
}

impl Store {
    /// Makes a whole study of all of its parts, in a directory that is made. The parts are left as they are.
    ///
    /// # Errors
    /// The parts are not whole, or not of one study and one kind of CPU; the directory is there already. Nothing is
    /// written then.
    pub fn merge(parts: &[PathBuf], into: &Path, command: &str) -> Result<(), MergeError> {
        let mut manifests = Vec::new();
        for directory in parts {
            let (file, path) = (directory.join(FILE), directory.join(PART_FILE));
            let manifest = Manifest::read(&file, &path).map_err(|error| whole_or(error, directory))?;
            manifest.check(&file, &path)?;
            manifests.push((directory.clone(), manifest));
        }
        check_set(&manifests)?;
        let mut sources = Vec::new();
        for (directory, manifest) in manifests {
            let store = Store::view(&directory)?;
            if manifest.work != Work::Study || store.part()? != Some(manifest.part) {
                return Err(MergeError::Whole(directory));
            }
            sources.push(Source {
                part: manifest.part,
                directory,
                store,
            });
        }
        sources.sort_by_key(|source| source.part);
        check_same(&sources)?;
        if into.symlink_metadata().is_ok() {
            return Err(MergeError::Exists(into.to_owned()));
        }
        write(&sources, into, command)
    }
}

/// A study that is no part has no manifest of one.
fn whole_or(error: ManifestError, directory: &Path) -> MergeError {
    let is_missing = matches!(error, ManifestError::Missing { .. });
    match Store::view(directory).and_then(|store| store.part()) {
        Ok(None) if is_missing => MergeError::Whole(directory.to_owned()),
        Err(store) if is_missing => MergeError::Store(store),
        _ => MergeError::Manifest(error),
    }
}

/// The jobs of a study, how each is measured, and on which engines.
type Shape = Vec<(GroupId, Job, Measure, Vec<String>)>;

fn shape(store: &Store) -> Result<Shape, StoreError> {
    let groups = store.groups()?.into_iter().map(|group| {
        let engines = group.cells.into_iter().map(|cell| cell.engine).collect();
        (group.id, group.job, group.measure, engines)
    });
    Ok(groups.collect())
}

/// One plan, one kind of CPU, nothing left to do.
fn check_same(sources: &[Source]) -> Result<(), MergeError> {
    let Some(first) = sources.first() else {
        return Ok(());
    };
    let (plan, groups) = (first.store.study()?, shape(&first.store)?);
    // Of every session: a part that was stopped may have gone on elsewhere.
    let cpus = |store: &Store| -> Result<Vec<String>, StoreError> {
        let sessions = store.sessions()?;
        let of = |session: &super::SessionRecord| session.machine.cpu_model.known().cloned();
        Ok(sessions.iter().filter_map(of).collect())
    };
    let mut cpu: Option<(&Source, String)> = None;
    for source in sources {
        let study = source.store.study()?;
        if (&study.plan_toml, study.seed.0) != (&plan.plan_toml, plan.seed.0) || shape(&source.store)? != groups {
            return Err(MergeError::Plan(first.directory.clone(), source.directory.clone()));
        }
        if source.store.has_open_cells()? {
            return Err(MergeError::Open(source.directory.clone()));
        }
        for found in cpus(&source.store)? {
            match &cpu {
                None => cpu = Some((source, found)),
                Some((before, one)) if *one != found => {
                    let [a, b] = [before, &source].map(|source| source.directory.clone());
                    return Err(MergeError::Cpu(a, one.clone(), b, found));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

/// The whole study appears under its name once it is complete.
fn write(sources: &[Source], into: &Path, command: &str) -> Result<(), MergeError> {
    let Some(first) = sources.first() else {
        return Ok(());
    };
    let parent = match into.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(StoreError::io(parent))?;
    let draft = tempfile::Builder::new()
        .prefix(DRAFT)
        .tempdir_in(parent)
        .map_err(StoreError::io(parent))?;
    let place = draft.path().join("study");
    let study = first.store.study()?;
    let plan = crate::plan::Plan::parse(&study.plan_toml, &study.host);
    let unfolded = || MergeError::Unfolded(first.directory.clone());
    let plan = plan.map_err(|_| unfolded())?;
    let groups = plan.groups(&study.host);
    let groups = groups.map_err(|_| unfolded())?;
    let new = NewStudy {
        plan_toml: &study.plan_toml,
        groups: &groups,
        seed: study.seed,
        host: &study.host,
        command,
        part: None,
    };
    // Closed when it goes out of scope: from then on the study is one file.
    {
        let mut store = Store::create(&place, &new)?;
        // Cells are taken over by their numbers.
        if shape(&store)? != shape(&first.store)? {
            return Err(unfolded());
        }
        for source in sources {
            store.take_over(source)?;
        }
        store.check_integrity()?;
    }
    match fs::rename(&place, into) {
        Err(_) if into.symlink_metadata().is_ok() => Err(MergeError::Exists(into.to_owned())),
        renamed => Ok(renamed.map_err(StoreError::io(into))?),
    }
}

impl Store {
    /// Copies everything that a part has measured, in one transaction.
    fn take_over(&mut self, source: &Source) -> Result<(), StoreError> {
        let path = self.path.clone();
        let from = source.store.path().to_owned();
        let copy = |connection: &mut Connection| -> rusqlite::Result<()> {
            // Read by a connection of its own: the part may lie where nothing can be written.
            let part = Connection::open_with_flags(&from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            let transaction = connection.transaction()?;
            let last = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
            let sessions = last("SELECT coalesce(max(number), 0) FROM session")?;
            let blocks = last("SELECT coalesce(max(id), 0) FROM block")?;
            copy_rows(&part, &transaction, "session", &[("number", sessions)], None)?;
            let own = params![source.part.of, source.part.number];
            let mut cells = part.prepare(
                "SELECT state, reason, ledger_json, engine_json, readiness_json, notes_json, id FROM cell
                 WHERE (group_id - 1) % ?1 = ?2 - 1",
            )?;
            let mut rows = cells.query(own)?;
            while let Some(row) = rows.next()? {
                let values: Vec<rusqlite::types::Value> =
                    (0..7).map(|place| row.get(place)).collect::<Result<_, _>>()?;
                transaction.execute(
                    "UPDATE cell SET state = ?1, reason = ?2, ledger_json = ?3, engine_json = ?4, readiness_json = ?5,
                                     notes_json = ?6 WHERE id = ?7",
                    rusqlite::params_from_iter(values),
                )?;
            }
            copy_rows(
                &part,
                &transaction,
                "block",
                &[("id", blocks), ("session", sessions)],
                None,
            )?;
            copy_rows(&part, &transaction, "sample", &[("block_id", blocks)], None)?;
            // Their own numbers are of no use to anybody.
            copy_rows(
                &part,
                &transaction,
                "interrupted_block",
                &[("session", sessions)],
                Some("id"),
            )?;
            copy_rows(&part, &transaction, "sentinel", &[("session", sessions)], Some("id"))?;
            transaction.commit()
        };
        copy(&mut self.connection).map_err(StoreError::sqlite(&path))
    }
}

/// Copies all rows of a table, with something added to some columns, and one column left out.
fn copy_rows(
    from: &Connection,
    to: &Connection,
    table: &str,
    moved: &[(&str, i64)],
    without: Option<&str>,
) -> rusqlite::Result<()> {
    let all = format!("SELECT * FROM {table}");
    let mut columns: Vec<String> = from.prepare(&all)?.column_names().map(str::to_owned).collect();
    columns.retain(|column| Some(column.as_str()) != without);
    let values: Vec<String> = columns
        .iter()
        .map(|column| match moved.iter().find(|(moved, _)| moved == column) {
            Some((_, by)) => format!("{column} + {by}"),
            None => column.clone(),
        })
        .collect();
    let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
    let (names, values, places) = (columns.join(", "), values.join(", "), places.join(", "));
    let mut select = from.prepare(&format!("SELECT {values} FROM {table}"))?;
    let mut insert = to.prepare(&format!("INSERT INTO {table} ({names}) VALUES ({places})"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<rusqlite::types::Value> = (0..columns.len())
            .map(|place| row.get(place))
            .collect::<Result<_, _>>()?;
        insert.execute(rusqlite::params_from_iter(values))?;
    }
    Ok(())
}
