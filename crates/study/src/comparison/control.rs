//! Did the machine change? Engines that are the same in both studies say so.

use rsalab_measure::{Estimate, stats::median_interval};

use super::model::{CONFIDENCE, Cell, Control, Value};
use crate::distinct::distinct;

/// Returns whether an engine is known not to have changed between two values of a cell: the one that was named, or any
/// but our own whose version and code path are alike.
pub(super) fn is_unchanged(engine: &str, first: &Value, this: &Value, named: Option<&str>) -> bool {
    match named {
        Some(name) => engine == name,
        None => {
            let is_alike = first.engine_version == this.engine_version && first.kernel == this.kernel;
            is_alike && !crate::report::is_own(engine)
        }
    }
}

/// The control of the study at `place` against the first; none if no engine is the same in both.
pub(super) fn control(cells: &[Cell], place: usize, named: Option<&str>) -> Option<Control> {
    let unchanged: Vec<(&str, f64)> = cells
        .iter()
        .filter_map(|cell| {
            let of = |place: usize| cell.values.get(place)?.as_ref();
            let (first, this) = (of(0)?, of(place)?);
            let moved = (this.ops_per_s.value / first.ops_per_s.value).ln();
            is_unchanged(&cell.engine, first, this, named).then_some((cell.engine.as_str(), moved))
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
