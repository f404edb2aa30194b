//! The article's four figures, and the two that its words call for.

use rsalab_engines::Op;
use rsalab_measure::Estimate;

use super::{DIRECTIONS, Times};
use crate::{
    articles::{Cpus, Shown},
    number,
    report::{Axis, Figure, Point, Reference, Scale, Series},
};

/// The sizes of the article's figures 3 to 5.
const TIME_OVER_THREADS: [(&str, usize); 3] =
    [("a-fig3", 100), ("a-fig4", 50_000), ("a-fig5", 1_000_000)];

/// Every figure of the article with those that stand for it here.
pub(super) fn of(times: &Times<'_>, cpus: Option<Cpus>) -> (Vec<Shown>, Vec<Figure>) {
    let mut shown = Vec::new();
    let mut figures = Vec::new();
    let mut add = |id: &'static str, title: String, made: Vec<Figure>, lack: String| {
        shown.push(Shown {
            id,
            title,
            figures: made.iter().map(|figure| figure.id.clone()).collect(),
            reason: made.is_empty().then_some(lack),
        });
        figures.extend(made);
    };
    for (id, symbols) in TIME_OVER_THREADS {
        let size = number::counted(symbols, "symbol");
        let made = DIRECTIONS
            .iter()
            .filter_map(|direction| time_over_threads(times, id, *direction, symbols));
        add(
            id,
            format!("Time over threads, {size}"),
            made.collect(),
            format!("the study has no result for texts of {size}"),
        );
    }
    for (id, title, draw) in OF_EACH_ENGINE {
        let mut made = Vec::new();
        for engine in times.engines() {
            for direction in DIRECTIONS {
                made.extend(draw(times, id, engine, direction, cpus));
            }
        }
        let lack = "the study has no result yet".to_owned();
        add(id, title.to_owned(), made, lack);
    }
    (shown, figures)
}

type Draw = fn(&Times<'_>, &str, &str, (Op, &str), Option<Cpus>) -> Option<Figure>;

const OF_EACH_ENGINE: [(&str, &str, Draw); 3] = [
    ("a-fig6", "Time over size, by threads", time_over_size),
    ("a-speedup", "Speed-up over threads, by size", speed_up),
    (
        "a-efficiency",
        "Efficiency over threads, by size",
        efficiency,
    ),
];

/// Figures 3 to 5: a line for each engine.
fn time_over_threads(
    times: &Times<'_>,
    id: &str,
    (op, direction): (Op, &str),
    symbols: usize,
) -> Option<Figure> {
    let series = times
        .engines()
        .into_iter()
        .filter_map(|engine| {
            line(engine, &times.threads(), |threads| {
                Some(times.text_ns(engine, op, symbols, threads)?.scaled(1e-6))
            })
        })
        .collect::<Vec<_>>();
    let size = number::counted(symbols, "symbol");
    (!series.is_empty()).then(|| Figure {
        id: format!("{id}-{direction}"),
        title: format!("Time over threads: {direction} of {size}"),
        description: format!(
            "Median time of the {direction} of a text of {size} with a key of {} bits, over the number of threads, a line \
             for each engine. {}",
            times.bits(),
            whiskers(times)
        ),
        x: threads_axis(times),
        y: time_axis(Scale::Linear { ticks: Vec::new() }),
        series,
        remark: None,
        references: Vec::new(),
    })
}

/// Figure 6: every size, a line for each number of threads.
fn time_over_size(
    times: &Times<'_>,
    id: &str,
    engine: &str,
    (op, direction): (Op, &str),
    _: Option<Cpus>,
) -> Option<Figure> {
    let series = times
        .threads()
        .into_iter()
        .filter_map(|threads| {
            line(
                &number::counted(threads, "thread"),
                &times.sizes(),
                |symbols| Some(times.text_ns(engine, op, symbols, threads)?.scaled(1e-6)),
            )
        })
        .collect::<Vec<_>>();
    (!series.is_empty()).then(|| Figure {
        id: named(id, direction, engine),
        title: format!("Time over size: {direction} by {engine}"),
        description: format!(
            "Median time of the {direction} of a text by {engine} with a key of {} bits, over its size, a line for each \
             number of threads. {}",
            times.bits(),
            whiskers(times)
        ),
        x: Axis {
            label: "Text".to_owned(),
            unit: Some("symbols".to_owned()),
            scale: Scale::Log,
        },
        y: time_axis(Scale::Log),
        series,
        remark: None,
        references: Vec::new(),
    })
}

fn speed_up(
    times: &Times<'_>,
    id: &str,
    engine: &str,
    direction: (Op, &str),
    cpus: Option<Cpus>,
) -> Option<Figure> {
    let gain = |symbols, threads| times.speed_up(engine, direction.0, symbols, threads);
    let mut figure = by_size(times, id, engine, direction, gain)?;
    figure.title = format!("Speed-up: {} by {engine}", direction.1);
    figure.y.label = "Speed beside one thread".to_owned();
    figure.references = vec![Reference {
        y: 1.0,
        label: "one thread".to_owned(),
    }];
    if let Some(cpus) = cpus.filter(|cpus| cpus.logical > 1) {
        figure.references.push(Reference {
            y: cpus.logical as f64,
            label: number::counted(cpus.logical, "CPU"),
        });
    }
    Some(figure)
}

fn efficiency(
    times: &Times<'_>,
    id: &str,
    engine: &str,
    direction: (Op, &str),
    _: Option<Cpus>,
) -> Option<Figure> {
    let share = |symbols, threads: usize| {
        let gain = times.speed_up(engine, direction.0, symbols, threads)?;
        Some(gain.scaled(100.0 / threads as f64))
    };
    let mut figure = by_size(times, id, engine, direction, share)?;
    figure.title = format!("Efficiency: {} by {engine}", direction.1);
    figure.y.label = "Speed-up for each thread".to_owned();
    figure.y.unit = Some("%".to_owned());
    figure.references = vec![Reference {
        y: 100.0,
        label: "every thread as good as one alone".to_owned(),
    }];
    Some(figure)
}

/// A figure over threads with a line for each size.
fn by_size(
    times: &Times<'_>,
    id: &str,
    engine: &str,
    (_, direction): (Op, &str),
    value: impl Fn(usize, usize) -> Option<Estimate>,
) -> Option<Figure> {
    let series = times
        .sizes()
        .into_iter()
        .filter_map(|symbols| {
            line(
                &number::counted(symbols, "symbol"),
                &times.threads(),
                |threads| value(symbols, threads),
            )
        })
        .collect::<Vec<_>>();
    (!series.is_empty()).then(|| Figure {
        id: named(id, direction, engine),
        title: String::new(),
        description: format!(
            "{direction} by {engine} with a key of {} bits, over the number of threads, a line for each size of text. {}",
            times.bits(),
            whiskers(times)
        ),
        x: threads_axis(times),
        y: Axis {
            label: String::new(),
            unit: None,
            scale: Scale::Linear { ticks: Vec::new() },
        },
        series,
        remark: None,
        references: Vec::new(),
    })
}

fn line(name: &str, places: &[usize], value: impl Fn(usize) -> Option<Estimate>) -> Option<Series> {
    let point = |place: &usize| Some(Point::at(*place as f64, &value(*place)?));
    let points: Vec<Point> = places.iter().filter_map(point).collect();
    (!points.is_empty()).then(|| Series {
        name: name.to_owned(),
        points,
    })
}

/// Fit for the name of a file: a variant's colon is not.
fn named(id: &str, direction: &str, engine: &str) -> String {
    format!("{id}-{direction}-{}", engine.replace(':', "-"))
}

fn threads_axis(times: &Times<'_>) -> Axis {
    let ticks = times.threads().iter().map(|count| *count as f64).collect();
    Axis {
        label: "Threads".to_owned(),
        unit: None,
        scale: Scale::Linear { ticks },
    }
}

fn time_axis(scale: Scale) -> Axis {
    Axis {
        label: "Time of a text".to_owned(),
        unit: Some("ms".to_owned()),
        scale,
    }
}

fn whiskers(times: &Times<'_>) -> String {
    format!(
        "Whiskers show intervals of {}.",
        number::percent(times.confidence())
    )
}
