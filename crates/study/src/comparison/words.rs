//! A comparison in sentences.

use super::model::{Cell, Comparison, Verdict};
use crate::number;

impl Comparison {
    /// The answer in sentences: what changed in how many cells, and what the machine did meanwhile.
    pub(super) fn sentences(&self) -> Vec<String> {
        let count = |verdict| self.count(verdict);
        let compared: usize = self.cells.iter().map(Cell::compared).sum();
        // What was measured on another machine has a sentence of its own.
        let of_one_machine = compared - count(Verdict::OtherMachine);
        let cells = number::counted(of_one_machine, "cell");
        let changes = [
            Verdict::Faster,
            Verdict::Slower,
            Verdict::NoChange,
            Verdict::TooFewValues,
            Verdict::Void,
            Verdict::Control,
        ];
        let changes: Vec<String> = changes
            .into_iter()
            .filter(|verdict| count(*verdict) > 0)
            .map(|verdict| format!("{} {}", count(verdict), verdict.words()))
            .collect();
        let mut sentences = Vec::new();
        if !changes.is_empty() {
            sentences.push(format!("Of {cells} that both have: {}.", changes.join(", ")));
        }
        if compared == 0 {
            sentences.push(
                "The studies have no cell in common: the same job on the same engine, measured in both.".to_owned(),
            );
        }
        let first = &self.studies[0];
        for (place, study) in self.studies.iter().enumerate().skip(1) {
            sentences.extend(self.failed(place));
            sentences.push(match &study.control {
                _ if study.machine != first.machine => format!(
                    "{} was measured on another machine than {}: ratios say how the two compare, and nothing of a change.",
                    study.name, first.name
                ),
                Some(control) => {
                    let engines: Vec<&str> = control.engines.iter().map(String::as_str).collect();
                    let moved = number::significant(control.moved.value);
                    let void = match control.is_void() {
                        true => ", more than 1.5 %: changes of others are void, for the machine changed",
                        false => "",
                    };
                    format!(
                        "From {} to {}, engines that did not change ({}) became {moved} times as fast{void}.{}",
                        first.name,
                        study.name,
                        number::listed(&engines),
                        self.farthest(place)
                    )
                }
                None => format!(
                    "From {} to {}, no engine is known not to have changed: a change of the machine looks like one of an engine.",
                    first.name, study.name
                ),
            });
        }
        sentences
    }

    /// The cells that the first study has and this one failed at, the first of them by name.
    fn failed(&self, place: usize) -> Option<String> {
        let failed: Vec<&Cell> = self.cells.iter().filter(|cell| cell.fails_in(place)).collect();
        let cell = failed.first()?;
        let (first, study) = (&self.studies[0].name, &self.studies[place].name);
        Some(format!(
            "Failed in {study}: {} that {first} has a speed of, as {}, {}: {}",
            number::counted(failed.len(), "cell"),
            cell.engine,
            cell.title,
            cell.failures[place].as_deref().unwrap_or_default()
        ))
    }

    /// The control's cell that moved most, if one moved beyond noise and drift.
    fn farthest(&self, place: usize) -> String {
        let moved = |cell: &Cell| -> Option<f64> {
            let change = cell.values.get(place)?.as_ref()?.change.as_ref()?;
            (change.verdict == Verdict::Control).then_some(change.ratio.value)
        };
        let moved = self.cells.iter().filter_map(|cell| Some((cell, moved(cell)?)));
        let farthest = moved.max_by(|(_, one), (_, other)| one.ln().abs().total_cmp(&other.ln().abs()));
        farthest.map_or_else(String::new, |(cell, ratio)| {
            format!(
                " The one that moved most became {} times as fast ({}, {}): a change of another by as much may be the \
                 machine's.",
                number::significant(ratio),
                cell.engine,
                cell.title
            )
        })
    }
}
