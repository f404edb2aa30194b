//! One table for an operation: engines down, sizes across, and in every cell a speed or the reason why there is none.

use rsalab_measure::Estimate;
use serde::{Deserialize, Serialize};

use super::{
    figures::families,
    group::{Group, Row},
    names,
};
use crate::{
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
};

/// The groups that differ in their key size alone, side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// Fit for an anchor.
    pub id: String,
    /// The operation and its circumstances, in a few words.
    pub title: String,
    /// The unit of the speed.
    pub unit: String,
    /// The sizes, in the order of the plan.
    pub bits: Vec<usize>,
    /// One row for each engine.
    pub rows: Vec<OverviewRow>,
    /// Why cells are empty, each reason once; cells count from 1.
    pub reasons: Vec<String>,
}

/// One engine at every size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverviewRow {
    /// The engine's selector.
    pub engine: String,
    /// In the order of the sizes.
    pub cells: Vec<OverviewCell>,
}

/// One engine at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverviewCell {
    /// Its speed, in the unit of the table.
    pub speed: Option<Estimate>,
    /// `true` if its conditions are not those of the first engine of its group.
    pub differs: bool,
    /// Which of the reasons says why there is no speed, from 1.
    pub reason: Option<usize>,
}

impl OverviewCell {
    /// The cell as a table has it: `10,030`, with a star if its conditions are not those of the first engine, or the
    /// number of a reason in brackets.
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
    let mut families = families(groups, names::slug_without_bits);
    families.retain(|family| family.len() > 1);
    let overviews = families.iter().map(|family| Overview::of(family));
    overviews.collect()
}

impl Overview {
    fn of(groups: &[&Group]) -> Overview {
        let job = &groups[0].job;
        let rows = groups.iter().flat_map(|group| &group.rows);
        let mut reasons = Vec::new();
        let row = |engine: &str| OverviewRow {
            engine: engine.to_owned(),
            cells: groups.iter().map(|group| cell(group, engine, &mut reasons)).collect(),
        };
        Overview {
            id: format!("overview-{}", names::slug_without_bits(job)),
            title: title_without(job, &[Dimension::Bits]),
            unit: names::unit(job).to_owned(),
            bits: groups.iter().map(|group| group.job.bits).collect(),
            rows: distinct(rows.map(|row| row.engine.as_str()))
                .into_iter()
                .map(row)
                .collect(),
            reasons,
        }
    }
}

fn cell(group: &Group, engine: &str, reasons: &mut Vec<String>) -> OverviewCell {
    let row = group.rows.iter().find(|row| row.engine == engine);
    let figures = row.and_then(|row| row.figures.as_ref());
    let speed = figures.map(|figures| names::speed(&group.job, &figures.ops_per_s));
    let reason = speed.is_none().then(|| {
        let why = row.map_or("the plan does not ask for it".to_owned(), why);
        let place = reasons.iter().position(|known| *known == why);
        1 + place.unwrap_or_else(|| {
            reasons.push(why);
            reasons.len() - 1
        })
    });
    OverviewCell {
        speed,
        differs: row.is_some_and(Row::is_unequal),
        reason,
    }
}

fn why(row: &Row) -> String {
    match &row.reason {
        Some(reason) => format!("{}: {}: {reason}", row.engine, row.state),
        None => format!("{}: {}", row.engine, row.state),
    }
}
