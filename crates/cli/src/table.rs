//! Plain aligned tables for people; whatever a program should read is JSON.

use std::io;

use crate::{
    printable::printable,
    terminal::{self, broken, coloured},
};

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, TableStyle};

/// A table of rows, made column by column.
pub(crate) struct Table<'a, R> {
    rows: &'a [R],
    header: Vec<(&'static str, CellAlignment)>,
    lines: Vec<Vec<String>>,
    /// The column of verdicts.
    verdicts: Option<usize>,
}

impl<'a, R> Table<'a, R> {
    /// A table without columns.
    pub(crate) fn of(rows: &'a [R]) -> Self {
        Table {
            rows,
            header: Vec::new(),
            lines: vec![Vec::new(); rows.len()],
            verdicts: None,
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

    /// Adds a column that some tables have.
    pub(crate) fn right_if(self, is_shown: bool, name: &'static str, cell: impl FnMut(&R) -> String) -> Self {
        match is_shown {
            true => self.right(name, cell),
            false => self,
        }
    }

    /// Adds a column of verdicts, which have colours on a terminal.
    pub(crate) fn verdict(mut self, name: &'static str, cell: impl FnMut(&R) -> String) -> Self {
        self.verdicts = Some(self.header.len());
        self.left(name, cell)
    }

    /// A cell stays on its line, whatever name is in it.
    fn column(mut self, name: &'static str, alignment: CellAlignment, mut cell: impl FnMut(&R) -> String) -> Self {
        self.header.push((name, alignment));
        for (line, row) in self.lines.iter_mut().zip(self.rows) {
            line.push(printable(&cell(row)));
        }
        self
    }

    /// The lines, each with its end. Columns are as wide as their widest cell, two spaces apart; on a terminal that is
    /// narrower, cells of words are broken between words, and if that does not help, each row becomes a paragraph.
    pub(crate) fn render(self) -> String {
        self.render_for(terminal::width(io::stdout()), terminal::has_colours())
    }

    fn render_for(mut self, width: Option<usize>, has_colours: bool) -> String {
        if let Some(width) = width
            && !self.fit(width)
        {
            return self.paragraphs(width, has_colours);
        }
        let verdicts = self.verdicts.filter(|_| has_colours);
        let words: Vec<String> = match verdicts {
            Some(column) => self.lines.iter().map(|line| line[column].clone()).collect(),
            None => Vec::new(),
        };
        let grid = self.grid();
        let Some(name) = verdicts.map(|column| self.header[column].0) else {
            return grid;
        };
        let Some(start) = grid.lines().next().and_then(|header| header.find(name)) else {
            return grid;
        };
        let start = grid[..start].chars().count();
        let mut words = words.iter().peekable();
        let coloured_line = |line: &str| {
            let place = line.char_indices().nth(start).map_or(line.len(), |(place, _)| place);
            let (before, rest) = line.split_at(place);
            match words.next_if(|word| !word.is_empty() && rest.starts_with(word.as_str())) {
                Some(word) => format!("{before}{}{}\n", coloured(word), &rest[word.len()..]),
                None => format!("{line}\n"),
            }
        };
        let (header, lines) = grid.split_once('\n').unwrap_or((&grid, ""));
        let lines: String = lines.lines().map(coloured_line).collect();
        format!("{header}\n{lines}")
    }

    /// Breaks cells of words so that lines have so many characters at most; whether that is possible.
    fn fit(&mut self, width: usize) -> bool {
        let cells = |column: usize| {
            let cells = self.lines.iter().map(move |line| line[column].as_str());
            cells.chain([self.header[column].0])
        };
        let longest = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
        let columns = 0..self.header.len();
        let mut widths: Vec<usize> = columns.clone().map(|column| longest(&mut cells(column))).collect();
        let least: Vec<usize> = columns
            .map(|column| match self.header[column].1 {
                CellAlignment::Left => longest(&mut cells(column).flat_map(|cell| cell.split(' '))),
                _ => widths[column],
            })
            .collect();
        let all = |widths: &[usize]| widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        if all(&widths) <= width {
            return true;
        }
        if all(&least) > width {
            return false;
        }
        while all(&widths) > width {
            // The widest of those that can be narrower.
            let narrower = (0..widths.len()).filter(|&column| widths[column] > least[column]);
            let Some(widest) = narrower.max_by_key(|&column| widths[column]) else {
                break;
            };
            widths[widest] -= 1;
        }
        for line in &mut self.lines {
            for (cell, width) in line.iter_mut().zip(&widths) {
                *cell = broken(cell, *width, "").join("\n");
            }
        }
        true
    }

    /// A paragraph for each row: its first cell, and below it the others with their names.
    fn paragraphs(&self, width: usize, has_colours: bool) -> String {
        let mut text = String::new();
        let names = self.header.iter().skip(1).map(|(name, _)| name.chars().count());
        let pad = names.max().unwrap_or(0);
        for line in &self.lines {
            let mut cells = line.iter().zip(&self.header).enumerate();
            if let Some((_, (first, _))) = cells.next() {
                text += &(terminal::wrapped(first, width) + "\n");
            }
            for (column, (cell, (name, _))) in cells.filter(|(_, (cell, _))| !cell.is_empty()) {
                let indent = " ".repeat(pad + 2);
                let mut lines = broken(&format!("  {name:pad$}  {cell}"), width, &indent);
                if has_colours && self.verdicts == Some(column) {
                    lines = vec![format!("  {name:pad$}  {}", coloured(cell))];
                }
                for line in lines {
                    text += &(line + "\n");
                }
            }
        }
        text
    }

    fn grid(&self) -> String {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new())
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.header.iter().map(|(name, _)| name))
            .add_rows(&self.lines);
        for (column, (_, alignment)) in grid.column_iter_mut().zip(&self.header) {
            column.set_padding((0, 2)).set_cell_alignment(*alignment);
        }
        grid.lines().map(|line| format!("{}\n", line.trim_end())).collect()
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
        assert_eq!(table.render(), "engine     ops/s\nown       12,345\ntextbook       7\n");
    }

    #[test]
    fn a_narrow_terminal_gets_broken_cells_or_paragraphs() {
        let rows = [
            ("own", "12,345", "it is the one that all are compared with", "good"),
            ("textbook", "7", "", "wrong"),
        ];
        let table = || {
            Table::of(&rows)
                .left("engine", |row| row.0.to_owned())
                .verdict("verdict", |row| row.3.to_owned())
                .right("ops/s", |row| row.1.to_owned())
                .left("remark", |row| row.2.to_owned())
        };
        let wide = table().render_for(None, false);
        assert_eq!(table().render_for(Some(100), false), wide);
        let narrow = table().render_for(Some(40), false);
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        assert!(narrow.contains("compared") && narrow.lines().count() > 3, "{narrow}");
        assert_eq!(
            table().render_for(Some(24), false),
            "own\n  verdict  good\n  ops/s    12,345\n  remark   it is the one\n           that all are\n           compared with\n\
             textbook\n  verdict  wrong\n  ops/s    7\n"
        );
        // Colours change nothing else.
        for width in [None, Some(40), Some(24)] {
            let coloured = table().render_for(width, true);
            let (good, wrong) = ("\u{1b}[32mgood\u{1b}[0m", "\u{1b}[31mwrong\u{1b}[0m");
            assert!(coloured.contains(good) && coloured.contains(wrong), "{coloured:?}");
            let plain = coloured.replace(good, "good").replace(wrong, "wrong");
            assert_eq!(plain, table().render_for(width, false));
        }
    }
}
