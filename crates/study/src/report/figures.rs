//! Which figures a study has: speed over engines, over key sizes, over threads, over batches.

use rsalab_engines::Job;

use super::{
    figure::{Axis, Figure, Layout, Point, Scale, Series, UNEQUAL},
    group::{Group, Row},
    names::{slug, slug_without_bits, speed, unit},
};
use crate::{
    distinct::distinct,
    number,
    plan::{self, Dimension, title_without},
};

/// The figures of a study's groups.
pub(super) fn of(groups: &[Group]) -> Vec<Figure> {
    let by_batch = families_over_batches(groups);
    let is_in = |families: &[Vec<&Group>], group: &Group| {
        let mut members = families.iter().flatten();
        members.any(|member| std::ptr::eq(*member, group))
    };
    let mut by_bits = families_over_bits(groups);
    by_bits.retain(|family| !is_in(&by_batch, family[0]));
    let by_threads = families_over_threads(groups);
    let is_in_family = |group: &Group| {
        [&by_batch, &by_bits, &by_threads]
            .into_iter()
            .any(|families| is_in(families, group))
    };
    let alone = groups.iter().filter(|group| !is_in_family(group));
    let mut figures: Vec<Figure> = alone.filter_map(over_engines).collect();
    figures.extend(by_bits.iter().filter_map(|family| over_bits(family)));
    figures.extend(by_threads.iter().filter_map(|family| over_threads(family)));
    figures.extend(by_batch.iter().filter_map(|family| over_batches(family)));
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

/// Batches that make a line. Fewer are looked at one by one.
const BATCHES_OF_A_LINE: usize = 5;

/// Groups that differ in nothing but their batch and their key size, of many batches.
fn families_over_batches(groups: &[Group]) -> Vec<Vec<&Group>> {
    let mut families = families(groups, |job| Job {
        bits: 0,
        batch: 0,
        ..job.clone()
    });
    families.retain(|family| distinct(family.iter().map(|group| group.job.batch)).len() >= BATCHES_OF_A_LINE);
    families
}

/// Groups sorted by what `key` makes of their jobs, in the order of the plan.
pub(super) fn families<K: PartialEq>(groups: &[Group], key: impl Fn(&Job) -> K) -> Vec<Vec<&Group>> {
    let keys = distinct(groups.iter().map(|group| key(&group.job)));
    let family = |wanted: K| groups.iter().filter(|group| key(&group.job) == wanted).collect();
    keys.into_iter().map(family).collect()
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
    let places = Axis::new("Engine", None, Scale::Names { labels });
    let figure = Figure {
        series: vec![Series {
            name: "Speed".to_owned(),
            points,
            is_published: false,
        }],
        title: plan::title(&group.job),
        ..empty(&[group], slug(&group.job), "of each engine", places, Scale::EVEN)
    };
    (!rows.is_empty()).then_some(figure)
}

fn over_bits(family: &[&Group]) -> Option<Figure> {
    let job = &family[0].job;
    let id = format!("{}-over-bits", slug_without_bits(job));
    let title = title_without(job, &[Dimension::Bits]);
    let what = "of each engine over the size of the modulus";
    let places = Axis::new("Modulus", Some("bits"), Scale::Log);
    let empty = Figure {
        title: format!("{title}: speed over key sizes"),
        ..empty(family, id, what, places, Scale::Log)
    };
    with_lines(empty, family, |job| job.bits, engine)
}

fn over_threads(family: &[&Group]) -> Option<Figure> {
    let job = &family[0].job;
    let single = Job {
        threads: 1,
        ..job.clone()
    };
    let id = format!("{}-over-threads", slug(&single));
    let title = title_without(job, &[Dimension::Threads]);
    let what = "of each engine over the number of threads";
    let counts = family.iter().map(|group| group.job.threads as f64);
    let ticks = counts.collect();
    let places = Axis::new("Threads", None, Scale::Linear { ticks });
    let empty = Figure {
        title: format!("{title}: speed over threads"),
        ..empty(family, id, what, places, Scale::EVEN)
    };
    let mut figure = with_lines(empty, family, |job| job.threads, engine)?;
    if spread(&figure) > 100.0 {
        // On a linear axis all but the fastest could not be told from zero.
        figure.y.scale = Scale::Log;
    }
    Some(figure)
}

/// A line for each engine at each key size.
fn over_batches(family: &[&Group]) -> Option<Figure> {
    let job = Job {
        batch: 1,
        ..family[0].job.clone()
    };
    let has_sizes = family.iter().any(|group| group.job.bits != job.bits);
    let (id, title) = match has_sizes {
        true => (slug_without_bits(&job), title_without(&job, &[Dimension::Bits])),
        false => (slug(&job), plan::title(&job)),
    };
    let what = "of each engine over the items that it gets in one call";
    let places = Axis::new("Batch", Some("items"), Scale::EVEN);
    let empty = Figure {
        title: format!("{title}: speed over batches"),
        ..empty(family, format!("{id}-over-batches"), what, places, Scale::Log)
    };
    let name = match has_sizes {
        true => |group: &Group, row: &Row| format!("{}, {} bits", row.engine, group.job.bits),
        false => engine,
    };
    with_lines(empty, family, |job| job.batch, name)
}

/// The name of a line where engines differ by their names alone.
fn engine(_: &Group, row: &Row) -> String {
    row.engine.clone()
}

/// A figure of the speed in some groups, without a title and without what is drawn.
fn empty(groups: &[&Group], id: String, what: &str, x: Axis, scale: Scale) -> Figure {
    let (unit, confidence) = (unit(&groups[0].job), groups[0].confidence);
    Figure {
        id,
        title: String::new(),
        description: format!(
            "Speed {what} in {unit}. Whiskers show intervals of {}.",
            number::percent(confidence)
        ),
        x,
        y: Axis::new("Speed", Some(unit), scale),
        series: Vec::new(),
        remark: remark(groups),
        references: Vec::new(),
        marks: Vec::new(),
        layout: Layout::Usual,
    }
}

/// The largest value of a figure divided by its smallest.
fn spread(figure: &Figure) -> f64 {
    let points = figure.series.iter().flat_map(|series| &series.points);
    let (least, most) = points.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), point| {
        (least.min(point.y), most.max(point.y))
    });
    most / least
}

/// The figure with a line for each `name` in several groups; none if no engine has a value.
fn with_lines(
    empty: Figure,
    family: &[&Group],
    place: fn(&Job) -> usize,
    name: fn(&Group, &Row) -> String,
) -> Option<Figure> {
    let mut series: Vec<Series> = Vec::new();
    for group in family {
        for row in &group.rows {
            let Some(point) = point(place(&group.job) as f64, group, row) else {
                continue;
            };
            let name = name(group, row);
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series {
                    name,
                    points: vec![point],
                    is_published: false,
                }),
            }
        }
    }
    for line in &mut series {
        line.points.sort_by(|left, right| left.x.total_cmp(&right.x));
    }
    (!series.is_empty()).then_some(Figure { series, ..empty })
}

fn point(x: f64, group: &Group, row: &Row) -> Option<Point> {
    let speed = speed(&group.job, &row.figures?.ops_per_s);
    Some(Point {
        note: (!row.notes.is_empty()).then(|| row.notes.join("; ")),
        unequal: row.is_unequal(),
        ..Point::at(x, &speed)
    })
}

/// The meaning of the sign of unequal points; none where no point has one.
fn remark(groups: &[&Group]) -> Option<String> {
    let has_sign = |group: &&&Group| {
        let mut measured = group.rows.iter().filter(|row| row.figures.is_some());
        measured.any(Row::is_unequal)
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
