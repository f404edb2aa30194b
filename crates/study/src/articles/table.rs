//! A table of an article: what it printed, and what was measured here, cell by cell.

use rsalab_measure::Estimate;
use serde::Serialize;

/// A table of an article beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// `d-tab1`.
    pub id: &'static str,
    /// What it shows.
    pub title: String,
    /// Unit of every number; empty for quotients.
    pub unit: &'static str,
    /// What tells the rows apart.
    pub row_head: &'static str,
    /// What tells the columns apart, in the article's words and with what stands for it here.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<TableRow>,
    /// What is to be said of it: how values were computed, what the article's own numbers do not bear out.
    pub remarks: Vec<String>,
    /// Why there is nothing of ours in it at all.
    pub reason: Option<String>,
}

/// A row of such a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableRow {
    /// What it is about.
    pub label: String,
    /// One for each column.
    pub cells: Vec<Beside>,
}

/// A number of an article beside ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Beside {
    /// Measured here.
    pub ours: Option<Estimate>,
    /// As printed; none where the article has none.
    pub published: Option<f64>,
    /// Why there is none of ours.
    pub reason: Option<String>,
}

impl Beside {
    /// A measured number, or the reason why there is none, beside a printed one.
    pub(crate) fn new(ours: Result<Estimate, String>, published: Option<f64>) -> Beside {
        let (ours, reason) = match ours {
            Ok(estimate) => (Some(estimate), None),
            Err(reason) => (None, Some(reason)),
        };
        Beside {
            ours,
            published,
            reason,
        }
    }
}

impl Table {
    /// The table with a reason if no cell of it has a number of ours.
    pub(crate) fn decided(self) -> Table {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        let has_ours = cells.any(|cell| cell.ours.is_some());
        let of_cells = || {
            let mut cells = self.rows.iter().flat_map(|row| &row.cells);
            cells.find_map(|cell| cell.reason.clone())
        };
        let reason = match (has_ours, &self.reason) {
            (true, _) => None,
            (false, Some(reason)) => Some(reason.clone()),
            (false, None) => {
                Some(of_cells().unwrap_or_else(|| "the study has no result for it".to_owned()))
            }
        };
        Table { reason, ..self }
    }
}
