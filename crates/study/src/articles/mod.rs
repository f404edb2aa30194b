//! Studies that others published, done again: which figures they showed, and what becomes of their claims.
//!
//! An article is data: `articles/NAME/plan.toml` has its cells, `articles/NAME/review.toml` its tables, figures and
//! claims, each with the formula that its numbers come from. Another article is another folder, and its name in the
//! list of [`Article`].
//!
//! | question | file |
//! |---|---|
//! | what is in a `review.toml` | `data` |
//! | how formulas are written, and worked out | `formula`, `evaluate` |
//! | where cells are found, and what they are asked | `evidence`, `cell` |
//! | which cells no claim is judged by | `disturbance`, `cpu_share` |
//! | what names mean, what lists there are, and templates | `scope`, `words` |
//! | when a value bears a claim out | `relation`, `claims`, `claim`; `thread_counts` for two claims that no quotient decides |
//! | tables and remarks, figures | `tables`, `figures` |
//! | the files that the program of article (b) saves | `batch_files` |
//!
//! A plan, or a grid of it, names the article it follows by the key `article`. Nothing here measures: a review is
//! computed from the same figures as the rest of the report.

mod batch_files;
mod cell;
mod claim;
mod claims;
mod cpu_share;
mod data;
mod disturbance;
mod evaluate;
mod evidence;
mod figures;
mod formula;
mod relation;
mod scope;
mod tables;
mod thread_counts;
mod words;

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

pub use self::batch_files::BatchFile;
use self::{data::Definition, evidence::Evidence, scope::Scope};
pub use crate::{
    cpus::Cpus,
    plan::{Article, Scale},
};
use crate::{
    error::Error,
    report::{self, Circumstances, Group, Report, Review},
    store::{GroupRecord, Store, StoreError},
};

/// The definition of each article, by its name.
static DEFINITIONS: LazyLock<BTreeMap<&str, Definition>> = LazyLock::new(|| {
    let read = |article: Article| {
        let definition = toml::from_str(article.review_toml());
        (
            article.name(),
            definition.unwrap_or_else(|error| panic!("{}: {error}", article.name())),
        )
    };
    Article::all().map(read).collect()
});

/// The report of what a store holds now, with what it says about the articles that its plan names.
///
/// # Errors
/// The database cannot be read.
pub fn report(store: &Store) -> Result<Report, StoreError> {
    Report::of(store, &review)
}

/// The files that the programs of articles save of each batch, of what a report is made from.
pub fn batch_files(groups: &[Group]) -> Vec<BatchFile> {
    let of_article = |definition: &'static Definition| {
        Evidence::new(definition, groups, &[], Circumstances::default()).batch_files()
    };
    DEFINITIONS.values().flat_map(of_article).collect()
}

/// Writes these files below a directory.
///
/// # Errors
/// A file cannot be written.
pub fn write_batch_files(report: &Report, directory: &Path) -> Result<(), Error> {
    for file in batch_files(&report.groups) {
        report::write_file(directory, &file.path, file.text.as_bytes())?;
    }
    Ok(())
}

/// The ids of everything that a review of an article has: tables, figures and claims.
pub fn ids(article: Article) -> Vec<String> {
    let review = review(article, &[], &[], Circumstances::default());
    let tables = review.tables.into_iter().map(|table| table.id);
    let shown = review.shown.into_iter().map(|shown| shown.id);
    let claims = review.claims.into_iter().map(|claim| claim.id);
    tables.chain(shown).chain(claims).collect()
}

/// The review of an article, by the groups of a study and the records they were made from.
fn review(article: Article, groups: &[Group], records: &[GroupRecord], circumstances: Circumstances<'_>) -> Review {
    let data = &DEFINITIONS[article.name()];
    let evidence = Evidence::new(data, groups, records, circumstances);
    let (shown, figures) = evidence.figures();
    Review {
        id: data.id.clone(),
        title: data.title.clone(),
        source: data.source.clone(),
        machine: data.machine.clone(),
        remarks: evidence.remarks(&data.remark, &Scope::default()),
        shown,
        tables: evidence.tables(),
        claims: evidence.claims(),
        figures,
    }
}

#[cfg(test)]
mod tests;
