//! The table of engines: `engines.toml`, read once.

use std::sync::LazyLock;

use serde::Deserialize;

/// An engine that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name: fixed, or that of the program for an engine of the user's own.
    pub name: String,
    /// A description in a line.
    pub summary: String,
    /// How it is started.
    pub home: Home,
}

/// Where an engine lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// In `rsalab` itself, which is started again as `rsalab worker --engine NAME`.
    BuiltIn,
    /// In a program of its own, `rsalab-peer-NAME`.
    Peer {
        /// The one command that installs it.
        install: String,
    },
    /// In a program `rsalab-peer-NAME` that the user has put there.
    User,
}

/// Every engine of this version, in the order in which tables show them.
pub fn engines() -> &'static [Entry] {
    static ENGINES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let table: Table = toml::from_str(include_str!("../../engines.toml"))
            .expect("engines.toml is part of the program, and a test reads it");
        table.engine.into_iter().map(Entry::from).collect()
    });
    &ENGINES
}

/// Returns whether an engine of the user's own may have this name, and none of this version has it: the name is written
/// on command lines, in plans and in tables.
pub(crate) fn is_user_name(name: &str) -> bool {
    const LONGEST: usize = 32;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= LONGEST
        && name.starts_with(is_plain)
        && name.chars().all(|c| is_plain(c) || c == '-' || c == '_')
        && engines().iter().all(|entry| entry.name != name)
}

#[derive(Deserialize)]
struct Table {
    engine: Vec<Row>,
}

/// One row of the file; the columns that only its other readers need are left out.
#[derive(Deserialize)]
struct Row {
    name: String,
    summary: String,
    before: Option<String>,
    #[serde(flatten)]
    build: Build,
}

#[derive(Deserialize)]
#[serde(tag = "home", rename_all = "kebab-case")]
enum Build {
    BuiltIn,
    Package { package: String },
    Script { script: String },
}

impl From<Row> for Entry {
    fn from(row: Row) -> Self {
        let build = match row.build {
            Build::BuiltIn => None,
            Build::Package { package } => Some(format!("cargo build --release --package {package}")),
            Build::Script { script } => Some(format!("sh {script}")),
        };
        Entry {
            name: row.name,
            summary: row.summary,
            home: match (build, row.before) {
                (None, _) => Home::BuiltIn,
                (Some(install), None) => Home::Peer { install },
                (Some(build), Some(before)) => Home::Peer {
                    install: format!("{before} && {build}"),
                },
            },
        }
    }
}
