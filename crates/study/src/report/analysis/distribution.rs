//! The samples of each cell: five of their quantiles, boxes, histograms, and where chance decides cumulative
//! distributions.

use super::section::{Analysis, Column, Entry, Line, Part};
use crate::{
    compare, number,
    report::{
        figure::{Axis, Figure, Layout, Point, Scale, Series},
        group::{Group, Row},
        names::{is_own, slug},
    },
};

/// Jobs whose samples are drawn: a page with more would be more pictures than anybody looks at.
const MOST_JOBS: usize = 4;
/// Samples that a distribution is drawn of, at least.
const LEAST: usize = 20;
/// Points of a cumulative distribution, at most.
const POINTS: usize = 60;
/// Bins of a histogram.
const BINS: usize = 24;
/// The quantiles of a box.
const BOX: [(&str, f64); 5] = [
    ("1 % take less", 0.01),
    ("lower quartile", 0.25),
    ("median", 0.5),
    ("upper quartile", 0.75),
    ("99 % take less", 0.99),
];

const WORDS: &str = "A sample is one call, or the mean of the calls that were timed together where one is too short for the \
    clock. A box has the middle half of the samples, its line is the median, and the whiskers hold 98 of 100. A \
    histogram has each engine's samples compared with that engine's median, so that their shapes lie over one another; \
    what is outside of its range is counted at the ends. Where chance decides, the cumulative distribution says which \
    share is done within a time. Samples on a busy machine show the machine, too.";

/// The sorted samples of a row.
struct Samples<'a> {
    row: &'a Row,
    ns: &'a [f64],
}

pub(super) fn of(groups: &[Group]) -> Option<Analysis> {
    let mut drawn: Vec<&Group> = groups.iter().filter(|group| !samples(group).is_empty()).collect();
    let all = drawn.len();
    // Those whose times are a matter of chance first: a median says least of them.
    let is_random = |group: &Group| compare::is_random(group.job.op);
    drawn.sort_by_key(|group| (!is_random(group), group.job.threads, group.job.batch));
    drawn.truncate(MOST_JOBS);
    let parts: Vec<Part> = drawn.into_iter().flat_map(parts).collect();
    let more = match all.saturating_sub(MOST_JOBS) {
        0 => String::new(),
        _ => format!(" Shown for {MOST_JOBS} of {all} jobs; 'rsalab export --samples' has the samples of all."),
    };
    (!parts.is_empty()).then(|| Analysis {
        id: "distributions".to_owned(),
        title: "How the times are distributed".to_owned(),
        short: "Distributions".to_owned(),
        words: format!("{WORDS}{more}"),
        parts,
    })
}

/// The fastest first. Rows with too few samples are left out.
fn samples(group: &Group) -> Vec<Samples<'_>> {
    let of_row = |row: &'_ Row| row.digest.as_ref().map_or(0, |digest| digest.times.len());
    group
        .fastest_first()
        .into_iter()
        .filter(|row| of_row(row) >= LEAST)
        .filter_map(|row| {
            let ns = &row.digest.as_ref()?.times;
            Some(Samples { row, ns })
        })
        .collect()
}

fn parts(group: &Group) -> Vec<Part> {
    let samples = samples(group);
    let few: Vec<&str> = group
        .rows
        .iter()
        .filter(|row| row.figures.is_some() && !samples.iter().any(|known| known.row.engine == row.engine))
        .map(|row| row.engine.as_str())
        .collect();
    let disturbed: Vec<&str> = samples
        .iter()
        .filter(|one| one.row.disturbance.as_ref().is_some_and(|it| it.is_grave()))
        .map(|one| one.row.engine.as_str())
        .collect();
    let mut sentences = Vec::new();
    if !few.is_empty() {
        sentences.push(format!(
            "Fewer than {LEAST} samples, so not shown: {}.",
            number::listed(&few)
        ));
    }
    if !disturbed.is_empty() {
        sentences.push(format!("Disturbed, as its row says: {}.", number::listed(&disturbed)));
    }
    let name = slug(&group.job);
    let is_random = compare::is_random(group.job.op);
    let unit = number::time_unit(
        samples
            .iter()
            .map(|one| quantile(one.ns, 0.5))
            .fold(f64::INFINITY, f64::min),
    );
    let mut figures = vec![boxes(&name, &group.title, &samples, unit)];
    if is_random {
        figures.push(cumulative(&name, &group.title, &samples, unit));
    }
    let line = |one: &Samples<'_>| {
        let quantiles = BOX.iter().map(|(_, share)| Entry::duration(quantile(one.ns, *share)));
        let most = Entry::duration(one.ns[one.ns.len() - 1]);
        let mean = one.ns.iter().sum::<f64>() / one.ns.len() as f64;
        let deviation = (one.ns.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>() / (one.ns.len() - 1) as f64).sqrt();
        let cells = [Entry::whole(one.ns.len())].into_iter().chain(quantiles).chain([
            most,
            Entry::duration(mean),
            Entry::number(100.0 * deviation / mean),
        ]);
        Line::of(&one.row.engine, cells)
    };
    let of_quantiles = BOX.iter().map(|(name, _)| Column::unit(name, "ns"));
    let mut parts = vec![Part {
        id: format!("distribution-{name}"),
        title: group.title.clone(),
        figures,
        columns: [Column::words("Engine"), Column::number("Samples")]
            .into_iter()
            .chain(of_quantiles)
            .chain([
                Column::unit("most", "ns"),
                Column::unit("mean", "ns"),
                Column::unit("deviation (%)", "%"),
            ])
            .collect(),
        rows: samples.iter().map(line).collect(),
        sentences,
        is_long: false,
    }];
    parts.extend((!is_random).then(|| histogram(&name, &group.title, &samples)).flatten());
    parts
}

/// A quantile of sorted values: between two of them, a part of each.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

fn boxes(name: &str, title: &str, samples: &[Samples<'_>], (factor, unit): (f64, &'static str)) -> Figure {
    let series = BOX.iter().map(|(name, share)| Series {
        name: (*name).to_owned(),
        points: samples
            .iter()
            .enumerate()
            .map(|(place, one)| Point {
                x: place as f64,
                y: quantile(one.ns, *share) / factor,
                ..Point::default()
            })
            .collect(),
        is_published: false,
    });
    let labels = samples.iter().map(|one| one.row.engine.clone()).collect();
    Figure {
        id: format!("boxes-{name}"),
        title: format!("{title}: samples"),
        description: "The samples of each engine: the box has the middle half of them, its line is the median, the \
                      whiskers hold 98 of 100."
            .to_owned(),
        x: Axis::new("Engine", None, Scale::Names { labels }),
        y: Axis::new("Time of one", Some(unit), Scale::Log),
        series: series.collect(),
        remark: None,
        references: Vec::new(),
        marks: Vec::new(),
        layout: Layout::Boxes,
    }
}

fn cumulative(name: &str, title: &str, samples: &[Samples<'_>], (factor, unit): (f64, &'static str)) -> Figure {
    let series = samples.iter().map(|one| {
        let count = one.ns.len();
        // Each value where they are few, else evenly spaced ones: the shares are exact at those.
        let places: Vec<usize> = match count <= POINTS {
            true => (0..count).collect(),
            false => (0..POINTS).map(|point| point * (count - 1) / (POINTS - 1)).collect(),
        };
        let point = |place: usize| Point {
            x: one.ns[place] / factor,
            y: 100.0 * (place + 1) as f64 / count as f64,
            ..Point::default()
        };
        Series {
            name: one.row.engine.clone(),
            points: places.into_iter().map(point).collect(),
            is_published: false,
        }
    });
    Figure {
        id: format!("cumulative-{name}"),
        title: format!("{title}: share done within a time"),
        description: "The share of the samples of each engine that took no longer than the time below it.".to_owned(),
        x: Axis::new("Time of one", Some(unit), Scale::Log),
        y: Axis::new("Done", Some("%"), Scale::EVEN),
        series: series.collect(),
        remark: None,
        references: Vec::new(),
        marks: Vec::new(),
        layout: Layout::Steps,
    }
}

/// Bins that are the same for all engines, with their shares; none if no sample differs from its median.
fn histogram(name: &str, title: &str, samples: &[Samples<'_>]) -> Option<Part> {
    let off = |one: &Samples<'_>, ns: f64| 100.0 * (ns / quantile(one.ns, 0.5) - 1.0);
    let reach = |share: f64| -> Vec<f64> {
        let mut all: Vec<f64> = samples.iter().map(|one| off(one, quantile(one.ns, share))).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    // The range of the engine in the middle: one with pauses would press all others into a bin.
    let [low, high] = [0.02, 0.98].map(|share| quantile(&reach(share), 0.5));
    let width = high - low;
    if width <= 0.0 || !width.is_finite() {
        return None;
    }
    // A quarter more on both sides, as far as there are samples: no time is less than nothing.
    let ends = [0.0, 1.0].map(reach);
    let (least, most) = (ends[0][0], ends[1][ends[1].len() - 1]);
    let (low, high) = ((low - 0.25 * width).max(least), (high + 0.25 * width).min(most));
    let width = (high - low) / BINS as f64;
    let edge = |bin: usize| low + width * bin as f64;
    let shares = |one: &Samples<'_>| {
        let mut counts = [0_usize; BINS];
        for ns in one.ns {
            let bin = ((off(one, *ns) - low) / width).floor();
            counts[bin.clamp(0.0, (BINS - 1) as f64) as usize] += 1;
        }
        counts.map(|count| 100.0 * count as f64 / one.ns.len() as f64)
    };
    let of_engines: Vec<[f64; BINS]> = samples.iter().map(shares).collect();
    let series = samples.iter().zip(&of_engines).map(|(one, shares)| {
        let bins = shares.iter().enumerate().map(|(bin, share)| (edge(bin), *share));
        Series {
            name: one.row.engine.clone(),
            points: bins
                .chain([(edge(BINS), 0.0)])
                .map(|(x, y)| Point {
                    x: rounded(x, width),
                    y,
                    ..Point::default()
                })
                .collect(),
            is_published: false,
        }
    });
    let mut series: Vec<Series> = series.collect();
    // Ours is drawn last, over the others.
    series.sort_by_key(|series| is_own(&series.name));
    let words = |value: f64| number::significant(rounded(value, width));
    let row = |bin: usize| {
        let range = match bin {
            0 => format!("below {}", words(edge(1))),
            bin if bin == BINS - 1 => format!("{} and more", words(edge(bin))),
            bin => format!("{} to {}", words(edge(bin)), words(edge(bin + 1))),
        };
        let cells = of_engines.iter().map(|shares| Entry::number(shares[bin]));
        Line {
            is_own: false,
            cells: [Entry::words(range)].into_iter().chain(cells).collect(),
        }
    };
    let engines = samples.iter().map(|one| Column::unit(&one.row.engine, "%"));
    Some(Part {
        id: format!("histogram-{name}"),
        title: format!("{title}: histogram (% of an engine's samples)"),
        figures: vec![Figure {
            id: format!("histogram-{name}-samples"),
            title: format!("{title}: histogram of the samples"),
            description:
                "The share of each engine's samples in bins of the time compared with the median of that engine; \
                          what lies outside is in the first and the last bin."
                    .to_owned(),
            x: Axis::new("Time compared with the engine's median", Some("%"), Scale::EVEN),
            y: Axis::new("Samples", Some("%"), Scale::EVEN),
            series,
            remark: None,
            references: Vec::new(),
            marks: Vec::new(),
            layout: Layout::Steps,
        }],
        columns: [Column::words("Off the median (%)")]
            .into_iter()
            .chain(engines)
            .collect(),
        rows: (0..BINS).map(row).collect(),
        sentences: Vec::new(),
        is_long: true,
    })
}

/// An edge of a bin without digits that say nothing.
fn rounded(value: f64, width: f64) -> f64 {
    let digits = 2.0 - width.log10().floor();
    // Powers of ten are exact above one, and what is divided by one is the nearest number to its decimals.
    let scaled = match digits >= 0.0 {
        true => (value * 10_f64.powf(digits)).round() / 10_f64.powf(digits),
        false => (value / 10_f64.powf(-digits)).round() * 10_f64.powf(-digits),
    };
    scaled + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let expected = [(0.0, 1.0), (0.5, 3.0), (1.0, 8.0), (0.25, 1.75)];
        for (share, value) in expected {
            assert_eq!(quantile(&values, share), value);
        }
        assert_eq!(quantile(&[7.0], 0.3), 7.0);
    }

    #[test]
    fn edges_have_as_many_digits_as_a_bin_has() {
        assert_eq!(rounded(0.123_456, 0.01), 0.1235);
        assert_eq!(rounded(-0.000_001, 0.01), 0.0);
    }
}
