//! Plain aligned tables for people; whatever a program should read is JSON.

use crate::printable::printable;

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, TableStyle};

/// A table whose columns are as wide as their widest cell, two spaces apart.
pub(crate) struct Table {
    grid: Grid,
}

/// On which side the cells of a column are aligned.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new<const N: usize>(columns: [(&str, Align); N]) -> Self {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new())
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(columns.map(|(name, _)| name));
        for (column, (_, align)) in grid.column_iter_mut().zip(columns) {
            column.set_padding((0, 2)).set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Table { grid }
    }

    /// Adds a row; it has as many cells as the table has columns. A cell stays on its line, whatever name is in it.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.grid.add_row(cells.map(|cell| printable(&cell)));
    }

    /// The lines, each with its end.
    pub(crate) fn render(&self) -> String {
        self.grid
            .lines()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_spaces() {
        let mut table = Table::new([("engine", Align::Left), ("ops/s", Align::Right)]);
        table.row(["own".into(), "12,345".into()]);
        table.row(["textbook".into(), "7".into()]);
        assert_eq!(
            table.render(),
            "engine     ops/s\nown       12,345\ntextbook       7\n"
        );
    }
}
