//! The newest study as Bencher's Metric Format (bencher.dev, "Bencher Metric Format (BMF)"): JSON that names
//! benchmarks, and for each its measures with their bounds.

use rsalab_measure::Estimate;
use serde_json::{Map, Value, json};

use super::model::Comparison;

/// The cells of the last study, each with its throughput in operations a second and its latency in nanoseconds.
pub fn bencher(comparison: &Comparison) -> Value {
    let measure = |estimate: &Estimate| match estimate.confidence > 0.0 {
        true => json!({ "value": estimate.value, "lower_value": estimate.low, "upper_value": estimate.high }),
        false => json!({ "value": estimate.value }),
    };
    let benchmarks: Map<String, Value> = comparison
        .cells
        .iter()
        .filter_map(|cell| {
            let value = cell.values.last()?.as_ref()?;
            let measures = json!({
                "throughput": measure(&value.ops_per_s),
                "latency": measure(&value.ns_per_op),
            });
            Some((format!("{}, {}", cell.title, cell.engine), measures))
        })
        .collect();
    Value::Object(benchmarks)
}
