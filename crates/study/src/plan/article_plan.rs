//! The plan of an article, from its file `plan.toml`.
//!
//! ```toml
//! title = "..."                   # and about, and nice
//! [engines]                       # lists of engines, for the grids to name
//! [measure]                       # how every cell is measured
//! [base]                          # what every grid has
//! [[grids]]                       # a grid as in any plan, but for these keys:
//! each = [[{ ... }, { ... }]]     # a grid for each combination of one table of each list
//! published = { ... }             # what is changed of `measure`: as published; no grid where it is absent
//! short = { ... }                 # the same for the short form
//! ```

use serde::Deserialize;
use toml::{Table, Value};

use super::{Article, Grid, Plan};

/// How much of an article's study is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As published.
    Published,
    /// Every cell, with fewer repeats: all articles together within half an hour.
    Short,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    about: String,
    #[serde(default)]
    nice: u8,
    engines: Table,
    measure: Table,
    #[serde(default)]
    base: Table,
    grids: Vec<Table>,
}

impl Article {
    fn written(self) -> Written {
        toml::from_str(self.plan_toml()).expect("the file is a part of this program")
    }

    /// One line about its study.
    pub fn about(self) -> String {
        self.written().about
    }

    /// The study as a plan of its own, as published.
    pub fn plan(self) -> Plan {
        let written = self.written();
        Plan {
            title: written.title,
            article: Some(self),
            nice: written.nice,
            grids: self.grids(Scale::Published),
            ..Plan::default()
        }
    }

    /// Its grids, each with all of its measure.
    pub fn grids(self, scale: Scale) -> Vec<Grid> {
        let written = self.written();
        let name = match scale {
            Scale::Published => "published",
            Scale::Short => "short",
        };
        let tables = written.grids.iter().flat_map(|grid| combinations(&written.base, grid));
        let grid = |mut table: Table| {
            let changes = table.remove(name)?;
            for scale in ["published", "short"] {
                table.remove(scale);
            }
            let measure = merged(&written.measure, changes.as_table()?);
            table.insert("measure".to_owned(), Value::Table(measure));
            table.insert("article".to_owned(), self.name().into());
            if let Some(engines) = table
                .get("engines")
                .and_then(|name| written.engines.get(name.as_str()?))
            {
                table.insert("engines".to_owned(), engines.clone());
            }
            Some(table.try_into().expect("the file is a part of this program"))
        };
        tables.filter_map(grid).collect()
    }
}

/// The tables that `each` makes of one, the last list changing first.
fn combinations(base: &Table, grid: &Table) -> Vec<Table> {
    let mut grid = merged(base, grid);
    let lists = grid.remove("each");
    let lists = lists.iter().flat_map(|lists| lists.as_array().into_iter().flatten());
    lists.fold(vec![grid], |tables, list| {
        let changes: Vec<&Table> = list
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_table)
            .collect();
        tables
            .iter()
            .flat_map(|table| changes.iter().map(|change| merged(table, change)))
            .collect()
    })
}

fn merged(table: &Table, changes: &Table) -> Table {
    let mut table = table.clone();
    table.extend(changes.clone());
    table
}
