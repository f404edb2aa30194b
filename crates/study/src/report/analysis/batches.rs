//! The speed that a batch gains, and how long its answers are waited for.

use rsalab_engines::{Job, Mode, ledger::ThreadOwner};
use rsalab_measure::Estimate;

use super::section::{Analysis, Column, Entry, Line, Part};
use crate::{
    distinct::distinct,
    number,
    plan::{self, Dimension, title_without},
    report::{
        figure::{Axis, Figure, Layout, Point, Scale, Series},
        figures::families,
        group::{Group, Row},
        names::{self, slug, slug_without_bits},
    },
    significance::{DRIFT, Side, side},
};

const WORDS: &str = "All items of a batch are answered when its call returns: a larger batch may do more operations in a \
    second, and each of them waits longer. The break-even is the batch from which all larger ones that were measured are \
    faster than single items, beyond the drift of 2 % that sizes measured one after the other may have, and beyond \
    their intervals. Few calls at a time want the batch on the left of the curve, many the one at its right end.";

/// One engine over its batches.
struct Curve {
    engine: String,
    bits: usize,
    /// Ascending.
    sizes: Vec<Size>,
}

struct Size {
    batch: usize,
    /// Operations in a second.
    speed: Estimate,
    /// Nanoseconds that a call takes.
    latency: Estimate,
    is_disturbed: bool,
}

pub(super) fn of(groups: &[Group]) -> Option<Analysis> {
    let calls: Vec<Group> = groups.iter().filter(|group| is_of_calls(&group.job)).cloned().collect();
    let families = families(&calls, |job| Job {
        bits: 0,
        batch: 0,
        // Single items on one thread may be timed call by call, batches are not.
        mode: Mode::Throughput,
        ..job.clone()
    });
    let parts: Vec<Part> = families.iter().filter_map(|family| part(family)).collect();
    (!parts.is_empty()).then(|| Analysis {
        id: "batches".to_owned(),
        title: "What a batch gains, and what it costs".to_owned(),
        short: "Batches".to_owned(),
        words: WORDS.to_owned(),
        parts,
    })
}

/// Texts are split by the harness, and chance decides how long keys take: neither is a batch that somebody waits for.
fn is_of_calls(job: &Job) -> bool {
    !job.op.is_text() && job.op.is_deterministic() && job.mode != Mode::Concurrent
}

fn part(family: &[&Group]) -> Option<Part> {
    let job = Job {
        batch: 1,
        mode: Mode::Throughput,
        ..family[0].job.clone()
    };
    let curves = curves(family);
    if curves.is_empty() {
        return None;
    }
    let has_sizes = distinct(curves.iter().map(|curve| curve.bits)).len() > 1;
    let (name, title) = match has_sizes {
        true => (slug_without_bits(&job), title_without(&job, &[Dimension::Bits])),
        false => (slug(&job), plan::title(&job)),
    };
    let id = format!("batches-{name}");
    let unit = names::unit(&job);
    let named = |curve: &Curve| match has_sizes {
        true => format!("{}, {} bits", curve.engine, curve.bits),
        false => curve.engine.clone(),
    };
    let lines = curves.iter().flat_map(|curve| {
        let single = curve.single();
        curve.sizes.iter().map(move |size| {
            let times = |of: fn(&Size) -> Estimate| match single {
                Some(single) if single.batch != size.batch => Entry::estimate(&of(size).over(&of(single))),
                Some(_) => Entry::words("1"),
                None => Entry::none(),
            };
            let cells = [
                Entry::whole(curve.bits),
                Entry::whole(size.batch),
                Entry::estimate(&size.speed),
                times(|size| size.speed),
                Entry::duration_estimate(&size.latency),
                match single {
                    Some(single) => Entry::number(size.latency.value / single.latency.value),
                    None => Entry::none(),
                },
            ];
            Line::of(&curve.engine, cells)
        })
    });
    Some(Part {
        columns: vec![
            Column::words("Engine"),
            Column::number("Bits"),
            Column::unit("Batch", "items"),
            Column::unit(&format!("Speed ({unit})"), unit),
            Column::number("÷ single"),
            Column::unit("Time of a batch", "ns"),
            Column::number("÷ single"),
        ],
        rows: lines.collect(),
        sentences: curves
            .iter()
            .map(|curve| format!("{}: {}.", named(curve), curve.break_even()))
            .collect(),
        figures: vec![figure(&id, &title, unit, &curves, named)],
        is_long: curves.iter().map(|curve| curve.sizes.len()).sum::<usize>() > 40,
        id,
        title,
    })
}

/// Every engine at every key size that has single items or two batches.
fn curves(family: &[&Group]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for group in family {
        for row in &group.rows {
            let Some(size) = Size::of(&group.job, row) else {
                continue;
            };
            let bits = group.job.bits;
            match curves
                .iter_mut()
                .find(|curve| (curve.bits, &curve.engine) == (bits, &row.engine))
            {
                Some(curve) => curve.sizes.push(size),
                None => curves.push(Curve {
                    engine: row.engine.clone(),
                    bits,
                    sizes: vec![size],
                }),
            }
        }
    }
    for curve in &mut curves {
        curve.sizes.sort_by_key(|size| size.batch);
        // Asked for both ways, singles by their latency say the same.
        curve.sizes.dedup_by_key(|size| size.batch);
    }
    curves.retain(|curve| curve.sizes.len() > 1);
    curves.sort_by_key(|curve| curve.bits);
    curves
}

impl Size {
    fn of(job: &Job, row: &Row) -> Option<Size> {
        let figures = row.figures?;
        let owner = row.ledger.as_ref()?.threads;
        // Each of the harness's threads has a batch of its own; an engine's own threads share one.
        let shared = match owner {
            ThreadOwner::Harness => job.threads,
            ThreadOwner::Engine => 1,
        };
        Some(Size {
            batch: job.batch,
            speed: figures.ops_per_s,
            latency: figures.ns_per_op.scaled((job.batch * shared) as f64),
            is_disturbed: row.disturbance.as_ref().is_some_and(|it| it.is_grave()),
        })
    }
}

impl Curve {
    fn single(&self) -> Option<&Size> {
        self.sizes.iter().find(|size| size.batch == 1)
    }

    fn is_faster(&self, size: &Size) -> bool {
        let is_faster = |single: &Size| side(&size.speed.over(&single.speed), 1.0, DRIFT) == Side::Above;
        self.single().is_some_and(is_faster)
    }

    /// The sizes beyond one that are shown to be faster than single items.
    fn faster(&self) -> impl Iterator<Item = &Size> {
        self.sizes.iter().filter(|size| size.batch > 1 && self.is_faster(size))
    }

    /// The first size from which all are faster than single items.
    fn first_faster(&self) -> Option<&Size> {
        let batches = self.sizes.iter().filter(|size| size.batch > 1);
        batches.rev().take_while(|size| self.is_faster(size)).last()
    }

    fn break_even(&self) -> String {
        let Some(single) = self.single() else {
            return "single items were not measured, so there is no break-even".to_owned();
        };
        if self.sizes.iter().any(|size| size.is_disturbed) {
            return "a batch was disturbed, so there is no break-even".to_owned();
        }
        let most = self.sizes.last().map_or(1, |size| size.batch);
        let Some(size) = self.first_faster() else {
            let faster: Vec<String> = self.faster().map(|size| size.batch.to_string()).collect();
            return match faster.is_empty() {
                true => format!("no batch up to {most} is shown to be faster than single items"),
                false => format!(
                    "batches of {} are shown to be faster than single items, and the largest, of {most}, is not",
                    number::listed(&faster.iter().map(String::as_str).collect::<Vec<_>>())
                ),
            };
        };
        let speed = number::with_interval(&size.speed.over(&single.speed));
        let latency = number::with_interval(&size.latency.over(&single.latency));
        let wait = number::duration(size.latency.value);
        format!(
            "batches are faster from {} on, {speed} times as fast as single items; an answer then takes {latency} times \
             as long as one alone, {wait}",
            size.batch
        )
    }
}

fn figure(id: &str, title: &str, unit: &str, curves: &[Curve], named: impl Fn(&Curve) -> String) -> Figure {
    let values = curves.iter().flat_map(|curve| &curve.sizes);
    let (factor, time) = number::time_unit(values.map(|size| size.latency.value).fold(f64::INFINITY, f64::min));
    let series = curves.iter().map(|curve| Series {
        name: named(curve),
        points: curve
            .sizes
            .iter()
            .map(|size| Point {
                label: Some(size.batch.to_string()),
                note: Some(match size.is_disturbed {
                    true => format!("batch of {}, disturbed", size.batch),
                    false => format!("batch of {}", size.batch),
                }),
                ..Point::at(size.speed.value, &size.latency.scaled(1.0 / factor))
            })
            .collect(),
        is_published: false,
    });
    Figure {
        id: id.to_owned(),
        title: format!("{title}: time of a batch over speed"),
        description:
            "The time until a batch is answered, over the operations in a second that batches of this size do. \
                      Each point is a size of the batch, which stands beside it. Down and to the right is better."
                .to_owned(),
        x: Axis::new("Speed", Some(unit), Scale::Log),
        y: Axis::new("Time of a batch", Some(time), Scale::Log),
        series: series.collect(),
        remark: None,
        references: Vec::new(),
        marks: Vec::new(),
        layout: Layout::Usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_that_are_faster_are_named_though_the_largest_is_not() {
        let estimate = |value: f64, error: f64| Estimate {
            value,
            low: value * (1.0 - error),
            high: value * (1.0 + error),
            confidence: 0.95,
            n: 20,
        };
        let curve = |speeds: &[(usize, f64, f64)]| Curve {
            engine: "own".to_owned(),
            bits: 2048,
            sizes: speeds
                .iter()
                .map(|&(batch, speed, error)| Size {
                    batch,
                    speed: estimate(speed, error),
                    latency: estimate(1e9 * batch as f64 / speed, error),
                    is_disturbed: false,
                })
                .collect(),
        };
        let words = curve(&[(1, 100.0, 0.01), (8, 150.0, 0.01), (16, 200.0, 0.01), (64, 101.0, 0.01)]).break_even();
        assert_eq!(
            words,
            "batches of 8 and 16 are shown to be faster than single items, and the largest, of 64, is not"
        );
        let words = curve(&[(1, 100.0, 0.01), (8, 101.0, 0.01)]).break_even();
        assert_eq!(words, "no batch up to 8 is shown to be faster than single items");
        let words = curve(&[(1, 100.0, 0.01), (8, 100.0, 0.01), (16, 200.0, 0.01), (64, 300.0, 0.01)]).break_even();
        assert!(words.starts_with("batches are faster from 16 on"), "{words}");
    }
}
