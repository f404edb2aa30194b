//! Cells of an article's table from what was measured, or from why it was not.

use rsalab_measure::Estimate;

use crate::report::{Table, TableCell};

impl TableCell {
    /// A measured number, or the reason why there is none, and the printed one.
    pub(crate) fn new(ours: Result<Estimate, String>, published: Option<f64>) -> TableCell {
        let (ours, reason) = match ours {
            Ok(estimate) => (Some(estimate), None),
            Err(reason) => (None, Some(reason)),
        };
        TableCell {
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
