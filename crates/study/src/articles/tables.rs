//! The tables of an article, and what is remarked on them.

use super::{
    data::{ColumnData, Remark, RemarkEvaluator, TableData},
    evidence::Evidence,
    scope::Scope,
};
use crate::{
    number,
    report::{Table, TableCell, TableRow},
};

impl Evidence<'_> {
    /// Every table, filled.
    pub(super) fn tables(&self) -> Vec<Table> {
        let of_layout = |data: &'static TableData| {
            let scopes = self.of_axis(data.with.as_ref());
            scopes.into_iter().map(move |scope| self.table(data, &scope))
        };
        self.data.table.iter().flat_map(of_layout).collect()
    }

    fn table(&self, data: &TableData, scope: &Scope) -> Table {
        let columns = data.columns.iter().flat_map(|column| {
            let scopes = self.each(&column.each, &scope.with(&column.set));
            scopes.into_iter().map(move |scope| (column, scope))
        });
        let columns: Vec<(&ColumnData, Scope)> = columns.collect();
        let is_comparable = self.has(&data.published_needs, scope);
        let mut rows = Vec::new();
        for row in &data.rows {
            for scope in self.each(&row.each, &scope.with(&row.set)) {
                let cell = |(column, of_column): &(&ColumnData, Scope)| {
                    let mut both = of_column.clone();
                    both.words.extend(scope.words.clone());
                    let value = row.value.as_ref().unwrap_or(&column.value);
                    let ours = self.measured(value, &both);
                    TableCell {
                        reason: ours.as_ref().err().cloned(),
                        ours: ours.ok(),
                        published: self.published(&column.published, &both).filter(|_| is_comparable),
                    }
                };
                rows.push(TableRow {
                    label: self.fill(&row.label, &scope),
                    cells: columns.iter().map(cell).collect(),
                });
            }
        }
        Table {
            id: self.fill(&data.id, scope),
            title: self.fill(&data.title, scope),
            unit: data.unit.clone(),
            row_head: data.row_head.clone(),
            columns: columns
                .iter()
                .map(|(column, scope)| self.fill(&column.head, scope))
                .collect(),
            reason: no_result(&rows),
            rows,
            remarks: self.remarks(&data.remarks, scope),
        }
    }

    /// A number that the article printed; none where it has none.
    pub(super) fn published(&self, path: &str, scope: &Scope) -> Option<f64> {
        let path = scope.formula(path);
        let mut names = path.split('.');
        let first = self.data.published.get(names.next()?)?;
        let found = names.try_fold(first, |value, name| match value {
            toml::Value::Table(table) => table.get(name),
            toml::Value::Array(list) => list.get(name.parse::<usize>().ok()?),
            _ => None,
        })?;
        found.as_float().or_else(|| Some(found.as_integer()? as f64))
    }

    /// The remarks that hold.
    pub(super) fn remarks(&self, remarks: &[Remark], scope: &Scope) -> Vec<String> {
        let mut said = Vec::new();
        for remark in remarks.iter().filter(|it| self.has(&it.needs, scope)) {
            match remark.evaluator {
                Some(RemarkEvaluator::Device) => said.extend(self.device_remark()),
                Some(RemarkEvaluator::TextCounts) => said.push(self.text_counts()),
                None => said.extend(
                    self.each(&remark.each, scope)
                        .iter()
                        .filter_map(|scope| self.remark(remark, scope)),
                ),
            }
        }
        said
    }

    fn remark(&self, remark: &Remark, scope: &Scope) -> Option<String> {
        match self.also(&remark.also, scope) {
            Ok(scope) => Some(self.fill(&remark.text, &scope)),
            Err(_) if remark.lacking.is_empty() => None,
            Err(reason) => {
                let mut scope = scope.clone();
                scope.set("reason", reason);
                Some(self.fill(&remark.lacking, &scope))
            }
        }
    }

    /// Why the device's columns are empty, at length, or what they are.
    fn device_remark(&self) -> Option<String> {
        let device = self.data.device.as_ref()?;
        if self.is_on_cpu(&device.engine) {
            return Some(device.on_cpu.clone());
        }
        let mut scope = Scope::default();
        scope.set("reason", self.lack_of_figures(&device.engine)?);
        Some(self.fill(&device.absent, &scope))
    }

    /// Planned and completed texts of each engine.
    fn text_counts(&self) -> String {
        use rsalab_engines::Op;
        let planned = |op: Op| {
            let of_op = self.records.iter().filter(|record| record.job.op == op);
            let repeats = of_op.map(|record| record.measure.repeats.unwrap_or(0));
            number::whole(repeats.sum())
        };
        let completed = |op: Op, engine: &str| {
            let groups = self.groups.iter().filter(|group| group.job.op == op);
            let rows = groups.flat_map(|group| &group.rows).filter(|row| row.engine == engine);
            number::whole(rows.filter_map(|row| Some(row.figures?.operations)).sum())
        };
        let rows = self.groups.first().map_or(&[][..], |group| &group.rows);
        let done = rows.iter().map(|row| {
            let of = |op| completed(op, &row.engine);
            format!("{} {} and {}", row.engine, of(Op::TextEncrypt), of(Op::TextDecrypt))
        });
        format!(
            "Planned for each engine: {} encryptions and {} decryptions of whole texts; completed: {}.",
            planned(Op::TextEncrypt),
            planned(Op::TextDecrypt),
            done.collect::<Vec<_>>().join(", ")
        )
    }
}

/// Why a table has no number of ours at all: the first reason of a cell.
fn no_result(rows: &[TableRow]) -> Option<String> {
    let cells = || rows.iter().flat_map(|row| &row.cells);
    if cells().any(|cell| cell.ours.is_some()) {
        return None;
    }
    let reason = cells().find_map(|cell| cell.reason.clone());
    Some(reason.unwrap_or_else(|| "the study has no result for it".to_owned()))
}
