//! Plain aligned tables for people; whatever a program should read is JSON.

use crate::printable::printable;

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, TableStyle};

/// A table of rows, made column by column.
pub(crate) struct Table<'a, R> {
    rows: &'a [R],
    header: Vec<(&'static str, CellAlignment)>,
    lines: Vec<Vec<String>>,
}

impl<'a, R> Table<'a, R> {
    /// A table without columns.
    pub(crate) fn of(rows: &'a [R]) -> Self {
        Table {
            rows,
            header: Vec::new(),
            lines: vec![Vec::new(); rows.len()],
        }
    }

    /// Adds a column of words.
    pub(crate) fn left(self, name: &'static str, cell: impl FnMut(&R) -> String) -> Self {
        self.column(name, CellAlignment::Left, cell)
    }

    /// Adds a column of numbers.
    pub(crate) fn right(self, name: &'static str, cell: impl FnMut(&R) -> String) -> Self {
        self.column(name, CellAlignment::Right, cell)
    }

    /// A cell stays on its line, whatever name is in it.
    fn column(
        mut self,
        name: &'static str,
        alignment: CellAlignment,
        mut cell: impl FnMut(&R) -> String,
    ) -> Self {
        self.header.push((name, alignment));
        for (line, row) in self.lines.iter_mut().zip(self.rows) {
            line.push(printable(&cell(row)));
        }
        self
    }

    /// The lines, each with its end. Columns are as wide as their widest cell, two spaces apart.
    pub(crate) fn render(self) -> String {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new())
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.header.iter().map(|(name, _)| name))
            .add_rows(self.lines);
        for (column, (_, alignment)) in grid.column_iter_mut().zip(self.header) {
            column.set_padding((0, 2)).set_cell_alignment(alignment);
        }
        grid.lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_spaces() {
        let rows = [("own", "12,345"), ("textbook", "7")];
        let table = Table::of(&rows)
            .left("engine", |row| row.0.to_owned())
            .right("ops/s", |row| row.1.to_owned());
        assert_eq!(
            table.render(),
            "engine     ops/s\nown       12,345\ntextbook       7\n"
        );
    }
}
