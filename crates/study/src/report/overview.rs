//! One table for an operation: engines down, sizes across, and in every cell a speed or the reason why there is none.

use rsalab_measure::Estimate;
use serde::Serialize;

use super::{
    group::{Group, Row},
    names,
};
use crate::{
    number,
    plan::{Dimension, title_without},
};

/// The groups that differ in their key size alone, side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// Fit for an anchor.
    pub id: String,
    /// The operation and its circumstances, in a few words.
    pub title: String,
    /// What is counted in a second.
    pub unit: &'static str,
    /// The sizes, in the order of the plan.
    pub bits: Vec<usize>,
    /// One row for each engine.
    pub rows: Vec<OverviewRow>,
    /// Why cells are empty, each reason once; cells count from 1.
    pub reasons: Vec<String>,
}

/// One engine at every size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverviewRow {
    /// The engine's selector.
    pub engine: String,
    /// In the order of the sizes.
    pub cells: Vec<OverviewCell>,
}

/// One engine at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverviewCell {
    /// Its speed, in the unit of the table.
    pub speed: Option<Estimate>,
    /// Whether its conditions are not those of the first engine of its group.
    pub differs: bool,
    /// Which of the reasons says why there is no speed, from 1.
    pub reason: Option<usize>,
}

impl OverviewCell {
    /// The cell as a table has it: `10,030`, with a star if its conditions are not those of the first engine, or the number of
    /// a reason in brackets.
    pub fn text(&self) -> String {
        match (&self.speed, self.reason) {
            (Some(speed), _) => {
                let star = if self.differs { "*" } else { "" };
                format!("{}{star}", number::significant(speed.value))
            }
            (None, Some(reason)) => format!("[{reason}]"),
            (None, None) => "–".to_owned(),
        }
    }
}

/// The tables of a report: of every operation that was asked for at two sizes or more.
pub(super) fn of(groups: &[Group]) -> Vec<Overview> {
    let mut overviews: Vec<(String, Vec<&Group>)> = Vec::new();
    for group in groups {
        let slug = names::slug_without_bits(&group.job);
        match overviews.iter_mut().find(|(other, _)| *other == slug) {
            Some((_, groups)) => groups.push(group),
            None => overviews.push((slug, vec![group])),
        }
    }
    overviews
        .into_iter()
        .filter(|(_, groups)| groups.len() > 1)
        .map(|(slug, groups)| Overview::of(slug, &groups))
        .collect()
}

impl Overview {
    fn of(slug: String, groups: &[&Group]) -> Overview {
        let mut engines: Vec<&str> = Vec::new();
        for row in groups.iter().flat_map(|group| &group.rows) {
            if !engines.contains(&row.engine.as_str()) {
                engines.push(&row.engine);
            }
        }
        let mut reasons = Vec::new();
        let rows = engines
            .into_iter()
            .map(|engine| OverviewRow {
                engine: engine.to_owned(),
                cells: groups
                    .iter()
                    .map(|group| cell(group, engine, &mut reasons))
                    .collect(),
            })
            .collect();
        Overview {
            id: format!("overview-{slug}"),
            title: title_without(&groups[0].job, &[Dimension::Bits]),
            unit: names::unit(&groups[0].job),
            bits: groups.iter().map(|group| group.job.bits).collect(),
            rows,
            reasons,
        }
    }
}

fn cell(group: &Group, engine: &str, reasons: &mut Vec<String>) -> OverviewCell {
    let row = group.rows.iter().find(|row| row.engine == engine);
    let speed = row
        .and_then(|row| row.figures.as_ref())
        .map(|figures| names::speed(&group.job, &figures.ops_per_s));
    let reason = match speed {
        Some(_) => None,
        None => {
            let why = row.map_or("the plan does not ask for it".to_owned(), why);
            let place = reasons.iter().position(|known| *known == why);
            Some(
                1 + place.unwrap_or_else(|| {
                    reasons.push(why);
                    reasons.len() - 1
                }),
            )
        }
    };
    OverviewCell {
        speed,
        differs: row
            .and_then(|row| row.ratio.as_ref())
            .is_some_and(|ratio| !ratio.differs_in.is_empty()),
        reason,
    }
}

fn why(row: &Row) -> String {
    match &row.reason {
        Some(reason) => format!("{}: {}: {reason}", row.engine, row.state),
        None => format!("{}: {}", row.engine, row.state),
    }
}
