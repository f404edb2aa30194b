//! The article's picture, and the same for every engine.

use rsalab_measure::Estimate;

use super::{
    plan::{BITS, ENGINES},
    tables::{LIBRARIES, cell, protocol},
};
use crate::{
    articles::{Shown, evidence::Evidence},
    report::{Axis, Figure, Point, Scale, Series},
};

pub(super) fn of(evidence: Evidence<'_>) -> (Vec<Shown>, Vec<Figure>) {
    let pictures: [(&'static str, &str, &[&str]); 2] = [
        ("c-fig", "Ticks of a key: Intel IPP and OpenSSL", &LIBRARIES),
        ("c-fig-engines", "Ticks of a key: every engine", &ENGINES),
    ];
    let mut shown = Vec::new();
    let mut figures = Vec::new();
    for (id, title, engines) in pictures {
        let figure = figure(evidence, id, title, engines);
        shown.push(Shown {
            id,
            title: title.to_owned(),
            figures: figure.iter().map(|figure| figure.id.clone()).collect(),
            reason: figure
                .is_none()
                .then(|| "the study has no key yet whose ticks were counted".to_owned()),
        });
        figures.extend(figure);
    }
    (shown, figures)
}

fn figure(evidence: Evidence<'_>, id: &str, title: &str, engines: &[&str]) -> Option<Figure> {
    let series: Vec<Series> = engines
        .iter()
        .filter_map(|engine| {
            let points: Vec<Point> = BITS
                .into_iter()
                .filter_map(|bits| {
                    let ticks = protocol(cell(evidence, bits, engine).ok()?).ok()?;
                    Some(point(bits, &ticks))
                })
                .collect();
            (!points.is_empty()).then(|| Series {
                name: (*engine).to_owned(),
                points,
            })
        })
        .collect();
    (!series.is_empty()).then(|| Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        description: "Ticks of the time-stamp counter of one key over its size: the median of ten means, on one thread, both \
                      axes logarithmic. Whiskers show the exact intervals of these medians."
            .to_owned(),
        x: Axis {
            label: "Key".to_owned(),
            unit: Some("bits".to_owned()),
            scale: Scale::Log,
        },
        y: Axis {
            label: "Time of a key".to_owned(),
            unit: Some("TSC ticks".to_owned()),
            scale: Scale::Log,
        },
        series,
        remark: None,
        references: Vec::new(),
    })
}

fn point(bits: usize, ticks: &Estimate) -> Point {
    let has_interval = ticks.confidence > 0.0;
    Point {
        x: bits as f64,
        y: ticks.value,
        low: has_interval.then_some(ticks.low),
        high: has_interval.then_some(ticks.high),
        note: None,
        unequal: false,
    }
}
