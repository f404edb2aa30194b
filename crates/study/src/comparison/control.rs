//! Did the machine change? Engines that are the same in both studies say so.

use rsalab_measure::{Estimate, stats::median_interval};

use super::model::{CONFIDENCE, Cell, Control, Value};
use crate::distinct::distinct;

/// The control of the study at `place` against the first; none if no engine is the same in both.
pub(super) fn control(cells: &[Cell], place: usize, named: Option<&str>) -> Option<Control> {
    let is_control = |cell: &&Cell| match named {
        Some(engine) => cell.engine == engine,
        // Our own engine is what changes.
        None => !crate::report::is_own(&cell.engine),
    };
    let both = |cell: &Cell| -> Option<(Value, Value)> {
        let of = |place: usize| cell.values.get(place)?.clone();
        let (first, this) = (of(0)?, of(place)?);
        let is_alike = first.engine_version == this.engine_version && first.kernel == this.kernel;
        (is_alike || named.is_some()).then_some((first, this))
    };
    let unchanged: Vec<(&str, f64)> = cells
        .iter()
        .filter(is_control)
        .filter_map(|cell| {
            let (first, this) = both(cell)?;
            Some((
                cell.engine.as_str(),
                (this.ops_per_s.value / first.ops_per_s.value).ln(),
            ))
        })
        .collect();
    let logarithms: Vec<f64> = unchanged.iter().map(|(_, moved)| *moved).collect();
    let moved = median_interval(&logarithms, CONFIDENCE)?;
    Some(Control {
        engines: distinct(unchanged.iter().map(|(engine, _)| (*engine).to_owned())),
        moved: Estimate {
            value: moved.value.exp(),
            low: moved.low.exp(),
            high: moved.high.exp(),
            ..moved
        },
    })
}
