//! How near an engine is to what this CPU could do: multiply-adds, by one count, compared with the measured peak.

use rsalab_engines::{Job, Mode};
use rsalab_measure::{Estimate, peak::Peak};

use super::{
    section::{Analysis, Column, Entry, Line, Part},
    work::multiply_adds,
};
use crate::{
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
    report::{
        figure::{Axis, Figure, Layout, Point, Reference, Scale, Series},
        figures::families,
        group::Group,
        names::{is_own, slug_without_bits},
    },
};

const WORDS: &str = "The multiply-adds of 64 by 64 bits that an operation needs are counted the same way for every engine: \
    schoolbook products, Montgomery's reduction, windows of five bits, the CRT. Blinding, checks and tables are not \
    counted, and an engine that leaves out the CRT, or squares by multiplying, does more than is counted; so the share \
    is of useful work, and a method that needs fewer products may look better than it multiplies. On one thread, in the \
    batch that is fastest. The peak is that of a loop of independent multiply-adds in registers, measured on this \
    machine when the study began; no kernel reaches it, since digits of 47 or 52 bits, carries and loads take cycles too.";

/// One engine at one key size.
struct Rate {
    engine: String,
    bits: usize,
    batch: usize,
    /// Multiply-adds in a second.
    per_second: Estimate,
    /// The counted multiply-adds of one operation.
    count: f64,
}

pub(super) fn of(groups: &[Group], peaks: &[Peak], core_hz: Option<f64>) -> Option<Analysis> {
    // Without a peak there is nothing to be compared with.
    peaks.last()?;
    let counted: Vec<Group> = groups
        .iter()
        .filter(|group| {
            let job = &group.job;
            job.threads == 1 && job.mode != Mode::Concurrent && multiply_adds(job).is_some()
        })
        .cloned()
        .collect();
    let families = families(&counted, |job| Job {
        bits: 0,
        batch: 0,
        mode: Mode::Throughput,
        block_symbols: 0,
        ..job.clone()
    });
    let parts: Vec<Part> = families
        .iter()
        .filter_map(|family| part(family, peaks, core_hz))
        .collect();
    (!parts.is_empty()).then(|| Analysis {
        id: "roofline".to_owned(),
        title: "How near to the peak of this CPU".to_owned(),
        short: "Peak".to_owned(),
        words: WORDS.to_owned(),
        parts,
    })
}

fn part(family: &[&Group], peaks: &[Peak], core_hz: Option<f64>) -> Option<Part> {
    let job = Job {
        batch: 1,
        mode: Mode::Throughput,
        ..family[0].job.clone()
    };
    let rates = rates(family);
    if rates.is_empty() {
        return None;
    }
    let peak = peaks.last()?;
    let title = title_without(&job, &[Dimension::Bits]);
    let id = format!("roofline-{}", slug_without_bits(&job).replace("-throughput", ""));
    let line = |rate: &Rate| {
        let a_cycle = core_hz.map(|hz| Entry::estimate(&rate.per_second.scaled(1.0 / hz)));
        let cells = [
            Entry::whole(rate.bits),
            Entry::whole(rate.batch),
            Entry::number(rate.count),
            Entry::estimate(&rate.per_second.scaled(1e-9)),
            a_cycle.unwrap_or_else(Entry::none),
            Entry::estimate(&rate.per_second.scaled(100.0 / peak.per_second)),
        ];
        Line::of(&rate.engine, cells)
    };
    let in_cycles = |peak: &Peak| match core_hz {
        Some(hz) => format!(
            "{} G/s, {} a cycle",
            number::significant(peak.per_second / 1e9),
            number::significant(peak.per_second / hz)
        ),
        None => format!("{} G/s", number::significant(peak.per_second / 1e9)),
    };
    let list: Vec<String> = peaks
        .iter()
        .map(|peak| format!("{} {}", peak.instruction, in_cycles(peak)))
        .collect();
    let clock = core_hz.map(|hz| {
        format!(
            "Cycles are those of the core's clock when the study began, {} GHz.",
            number::significant(hz / 1e9)
        )
    });
    let sentences = [
        Some(format!("Peaks of one thread: {}.", list.join("; "))),
        clock,
        beyond(&rates, peak),
    ];
    let has_sizes = distinct(rates.iter().map(|rate| rate.bits)).len() > 1;
    Some(Part {
        figures: has_sizes
            .then(|| figure(&id, &title, &rates, peaks, core_hz))
            .into_iter()
            .collect(),
        columns: vec![
            Column::words("Engine"),
            Column::number("Bits"),
            Column::unit("Batch", "items"),
            Column::number("Multiply-adds of one"),
            Column::unit("In a second (G/s)", "G/s"),
            Column::number("A cycle"),
            Column::unit("Share of the peak (%)", "%"),
        ],
        is_long: rates.len() > 60,
        rows: rates.iter().map(line).collect(),
        sentences: sentences.into_iter().flatten().collect(),
        id,
        title,
    })
}

/// A rate above the peak cannot be, unless the machine became faster or the count is too high for what is done.
fn beyond(rates: &[Rate], peak: &Peak) -> Option<String> {
    let beyond: Vec<&str> = distinct(
        rates
            .iter()
            .filter(|rate| rate.per_second.low > peak.per_second)
            .map(|rate| rate.engine.as_str()),
    );
    (!beyond.is_empty()).then(|| {
        format!(
            "{} beyond the peak: the machine was slower when that was measured, or fewer products are done than are counted.",
            number::listed(&beyond)
        )
    })
}

/// The fastest batch of every engine at every key size.
fn rates(family: &[&Group]) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::new();
    for group in family {
        let Some(count) = multiply_adds(&group.job) else {
            continue;
        };
        for row in &group.rows {
            let is_grave = row.disturbance.as_ref().is_some_and(|it| it.is_grave());
            let Some(figures) = row.figures.filter(|_| !is_grave) else {
                continue;
            };
            let rate = Rate {
                engine: row.engine.clone(),
                bits: group.job.bits,
                batch: group.job.batch,
                per_second: figures.ops_per_s.scaled(count),
                count,
            };
            let known = rates
                .iter_mut()
                .find(|known| (known.bits, &known.engine) == (rate.bits, &rate.engine));
            match known {
                Some(known) if known.per_second.value >= rate.per_second.value => {}
                Some(known) => *known = rate,
                None => rates.push(rate),
            }
        }
    }
    rates.sort_by_key(|rate| rate.bits);
    rates
}

fn figure(id: &str, title: &str, rates: &[Rate], peaks: &[Peak], core_hz: Option<f64>) -> Figure {
    let (per, unit) = match core_hz {
        Some(hz) => (1.0 / hz, "a cycle"),
        None => (1e-9, "G/s"),
    };
    let engines = distinct(rates.iter().map(|rate| rate.engine.as_str()));
    let series = engines.into_iter().map(|engine| Series {
        name: engine.to_owned(),
        points: rates
            .iter()
            .filter(|rate| rate.engine == engine)
            .map(|rate| Point {
                note: (rate.batch > 1).then(|| format!("batch of {}", rate.batch)),
                ..Point::at(rate.bits as f64, &rate.per_second.scaled(per))
            })
            .collect(),
        is_published: false,
    });
    // Of two widths of one instruction that do as much, one line stands for both.
    let mut shown: Vec<&Peak> = Vec::new();
    for peak in peaks {
        match shown.iter().position(|known| peak.per_second < known.per_second * 1.02) {
            Some(place) => shown[place] = peak,
            None => shown.push(peak),
        }
    }
    let mut series: Vec<Series> = series.collect();
    series.sort_by_key(|series| !is_own(&series.name));
    Figure {
        id: id.to_owned(),
        title: format!("{title}: multiply-adds and the peak"),
        description: format!(
            "Useful multiply-adds of 64 by 64 bits ({unit}) of each engine over the size of the modulus, on one thread. \
             Dashed lines are the measured peaks of the CPU's instructions."
        ),
        x: Axis::new("Modulus", Some("bits"), Scale::Log),
        y: Axis::new("Multiply-adds", Some(unit), Scale::EVEN),
        series,
        remark: None,
        references: shown
            .into_iter()
            .map(|peak| Reference {
                y: peak.per_second * per,
                label: format!("peak of {}", peak.instruction),
            })
            .collect(),
        marks: Vec::new(),
        layout: Layout::Usual,
    }
}
