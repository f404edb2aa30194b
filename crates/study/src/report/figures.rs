//! Which figures a study has: speed over engines, over key sizes, over threads.

use rsalab_engines::Job;

use super::{
    figure::{Axis, Figure, Point, Scale, Series, UNEQUAL},
    group::{Group, Row},
    names::{slug, slug_without_bits, speed, unit},
};
use crate::{
    number,
    plan::{self, Dimension, title_without},
};

/// The figures of a study's groups.
pub(super) fn of(groups: &[Group]) -> Vec<Figure> {
    let by_bits = families_over_bits(groups);
    let by_threads = families_over_threads(groups);
    let is_in_family = |group: &Group| {
        by_bits
            .iter()
            .chain(&by_threads)
            .flatten()
            .any(|member| std::ptr::eq(*member, group))
    };
    let alone = groups.iter().filter(|group| !is_in_family(group));
    let mut figures: Vec<Figure> = alone.filter_map(over_engines).collect();
    figures.extend(by_bits.iter().filter_map(|family| over_bits(family)));
    figures.extend(by_threads.iter().filter_map(|family| over_threads(family)));
    figures
}

/// Groups that differ in nothing but their threads: two or more of each.
pub(super) fn families_over_threads(groups: &[Group]) -> Vec<Vec<&Group>> {
    let mut families = families(groups, |job| Job {
        threads: 0,
        ..job.clone()
    });
    families.retain(|family| family.len() >= 2);
    families
}

/// Groups that differ in nothing but their key size: two or more of each. Of several thread counts the least is taken.
fn families_over_bits(groups: &[Group]) -> Vec<Vec<&Group>> {
    let mut families = families(groups, |job| Job {
        bits: 0,
        block_symbols: 0,
        ..job.clone()
    });
    let least = |family: &Vec<&Group>| {
        let same = |group: &&Group| Job {
            bits: 0,
            block_symbols: 0,
            threads: 0,
            ..group.job.clone()
        };
        let threads = family[0].job.threads;
        groups
            .iter()
            .filter(|group| same(group) == same(&family[0]))
            .all(|group| group.job.threads >= threads)
    };
    families.retain(|family| family.len() >= 2 && least(family));
    families
}

/// Groups sorted by what `key` leaves of their jobs, in the order of the plan.
pub(super) fn families(groups: &[Group], key: impl Fn(&Job) -> Job) -> Vec<Vec<&Group>> {
    let mut families: Vec<Vec<&Group>> = Vec::new();
    for group in groups {
        match families
            .iter_mut()
            .find(|family| key(&family[0].job) == key(&group.job))
        {
            Some(family) => family.push(group),
            None => families.push(vec![group]),
        }
    }
    families
}

/// One group: a value for each engine, the fastest first.
fn over_engines(group: &Group) -> Option<Figure> {
    let mut rows = group.fastest_first();
    rows.retain(|row| row.figures.is_some());
    let points = rows
        .iter()
        .enumerate()
        .filter_map(|(index, row)| point(index as f64, group, row))
        .collect();
    let labels = rows.iter().map(|row| row.engine.clone()).collect();
    let figure = Figure {
        id: slug(&group.job),
        title: plan::title(&group.job),
        description: description("Speed of each engine", group),
        x: Axis {
            label: "Engine".to_owned(),
            unit: None,
            scale: Scale::Names { labels },
        },
        y: speed_axis(&group.job, Scale::Linear { ticks: Vec::new() }),
        series: vec![Series {
            name: "Speed".to_owned(),
            points,
        }],
        remark: remark(&[group]),
        references: Vec::new(),
    };
    (!rows.is_empty()).then_some(figure)
}

fn over_bits(family: &[&Group]) -> Option<Figure> {
    let job = &family[0].job;
    let empty = Figure {
        id: format!("{}-over-bits", slug_without_bits(job)),
        title: format!(
            "{}: speed over key sizes",
            title_without(job, &[Dimension::Bits])
        ),
        description: description(
            "Speed of each engine over the size of the modulus",
            family[0],
        ),
        x: Axis {
            label: "Modulus".to_owned(),
            unit: Some("bits".to_owned()),
            scale: Scale::Log,
        },
        y: speed_axis(job, Scale::Log),
        series: Vec::new(),
        remark: remark(family),
        references: Vec::new(),
    };
    with_lines(empty, family, |job| job.bits)
}

fn over_threads(family: &[&Group]) -> Option<Figure> {
    let job = &family[0].job;
    let ticks = family
        .iter()
        .map(|group| group.job.threads as f64)
        .collect();
    let empty = Figure {
        id: format!(
            "{}-over-threads",
            slug(&Job {
                threads: 1,
                ..job.clone()
            })
        ),
        title: format!(
            "{}: speed over threads",
            title_without(job, &[Dimension::Threads])
        ),
        description: description("Speed of each engine over the number of threads", family[0]),
        x: Axis {
            label: "Threads".to_owned(),
            unit: None,
            scale: Scale::Linear { ticks },
        },
        y: speed_axis(job, Scale::Linear { ticks: Vec::new() }),
        series: Vec::new(),
        remark: remark(family),
        references: Vec::new(),
    };
    let mut figure = with_lines(empty, family, |job| job.threads)?;
    if spread(&figure) > 100.0 {
        // On a linear axis all but the fastest could not be told from zero.
        figure.y.scale = Scale::Log;
    }
    Some(figure)
}

/// The largest value of a figure divided by its smallest.
fn spread(figure: &Figure) -> f64 {
    let points = figure.series.iter().flat_map(|series| &series.points);
    let (least, most) = points.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), point| {
        (least.min(point.y), most.max(point.y))
    });
    most / least
}

fn speed_axis(job: &Job, scale: Scale) -> Axis {
    Axis {
        label: "Speed".to_owned(),
        unit: Some(unit(job).to_owned()),
        scale,
    }
}

/// The figure with a line for each engine of several groups; none if no engine has a value.
fn with_lines(empty: Figure, family: &[&Group], place: fn(&Job) -> usize) -> Option<Figure> {
    let mut series: Vec<Series> = Vec::new();
    for group in family {
        for row in &group.rows {
            let Some(point) = point(place(&group.job) as f64, group, row) else {
                continue;
            };
            match series.iter_mut().find(|series| series.name == row.engine) {
                Some(series) => series.points.push(point),
                None => series.push(Series {
                    name: row.engine.clone(),
                    points: vec![point],
                }),
            }
        }
    }
    for line in &mut series {
        line.points
            .sort_by(|left, right| left.x.total_cmp(&right.x));
    }
    (!series.is_empty()).then_some(Figure { series, ..empty })
}

fn point(x: f64, group: &Group, row: &Row) -> Option<Point> {
    let speed = speed(&group.job, &row.figures?.ops_per_s);
    let has_interval = speed.confidence > 0.0;
    Some(Point {
        x,
        y: speed.value,
        low: has_interval.then_some(speed.low),
        high: has_interval.then_some(speed.high),
        note: (!row.notes.is_empty()).then(|| row.notes.join("; ")),
        unequal: is_unequal(row),
    })
}

/// Whether a row's ratio is not between equals.
fn is_unequal(row: &Row) -> bool {
    let ratio = row.ratio.as_ref();
    ratio.is_some_and(|ratio| !ratio.differs_in.is_empty())
}

/// What the sign of unequal points means; none where no point has one.
fn remark(groups: &[&Group]) -> Option<String> {
    let has_sign = |group: &&&Group| {
        let mut measured = group.rows.iter().filter(|row| row.figures.is_some());
        measured.any(is_unequal)
    };
    let mut bases = groups
        .iter()
        .filter(has_sign)
        .filter_map(|group| group.base())
        .map(|row| row.engine.as_str());
    let first = bases.next()?;
    let base = match bases.all(|base| base == first) {
        true => first,
        false => "the first engine",
    };
    Some(format!(
        "{UNEQUAL} not the same job as {base}'s: the table says in what they differ"
    ))
}

fn description(what: &str, group: &Group) -> String {
    format!(
        "{what} in {}. Whiskers show intervals of {}.",
        unit(&group.job),
        number::percent(group.confidence)
    )
}
