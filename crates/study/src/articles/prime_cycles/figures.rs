//! How the ticks of a pair are distributed: the article gives minimum, maximum and mean.

use super::{
    is_call_by_call,
    plan::{BITS, PRIME_ENGINES},
    prime_bits,
};
use crate::{
    articles::{Shown, evidence::Evidence},
    number,
    report::{Axis, Figure, Point, Scale, Series, Ticks},
};

const IDS: [&str; 3] = ["b-fig-512", "b-fig-768", "b-fig-1024"];

pub(super) fn of(evidence: Evidence<'_>) -> (Vec<Shown>, Vec<Figure>) {
    let mut shown = Vec::new();
    let mut figures = Vec::new();
    for (id, bits) in IDS.into_iter().zip(BITS) {
        let figure = distribution(evidence, id, bits);
        shown.push(Shown {
            id,
            title: format!("Ticks of a pair of {}-bit primes", prime_bits(bits)),
            figures: figure.iter().map(|figure| figure.id.clone()).collect(),
            reason: figure
                .is_none()
                .then(|| "the study has no pair that was timed by itself".to_owned()),
        });
        figures.extend(figure);
    }
    (shown, figures)
}

fn distribution(evidence: Evidence<'_>, id: &str, bits: usize) -> Option<Figure> {
    let series: Vec<Series> = PRIME_ENGINES
        .into_iter()
        .filter_map(|engine| {
            let cell = evidence
                .cell(|job| is_call_by_call(job, bits, 2), engine)
                .ok()?;
            Some(Series {
                name: engine.to_owned(),
                points: shares(cell.ticks().ok()?),
            })
        })
        .collect();
    (!series.is_empty()).then(|| Figure {
        id: id.to_owned(),
        title: format!("Ticks of a pair of {}-bit primes", prime_bits(bits)),
        description: format!(
            "Share of pairs of {}-bit primes over the ticks of the time-stamp counter that each took, on two threads: each \
             point is an interval of a {}th of a power of ten.",
            prime_bits(bits),
            BINS_PER_DECADE
        ),
        x: Axis {
            label: "Time of a pair".to_owned(),
            unit: Some("TSC ticks".to_owned()),
            scale: Scale::Log,
        },
        y: Axis {
            label: "Pairs".to_owned(),
            unit: Some("%".to_owned()),
            scale: Scale::Linear { ticks: Vec::new() },
        },
        series,
        remark: None,
        references: Vec::new(),
    })
}

const BINS_PER_DECADE: f64 = 12.0;

/// The share of values in each bin, by its middle; the bins between the first and the last are all there.
fn shares(ticks: &Ticks) -> Vec<Point> {
    let bin = |ticks: u64| (((ticks.max(1)) as f64).log10() * BINS_PER_DECADE).floor() as i64;
    let (first, last) = (bin(ticks.min()), bin(ticks.max()));
    let mut counts = vec![0_u64; (last - first + 1) as usize];
    for value in &ticks.sorted {
        counts[(bin(*value) - first) as usize] += 1;
    }
    let all = ticks.sorted.len() as f64;
    let point = |(place, count): (usize, &u64)| {
        let middle = (first as f64 + place as f64 + 0.5) / BINS_PER_DECADE;
        Point {
            x: 10_f64.powf(middle),
            y: *count as f64 / all * 100.0,
            low: None,
            high: None,
            note: Some(number::counted(*count as usize, "pair")),
            unequal: false,
        }
    };
    counts.iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_in_one_bin() {
        let ticks = Ticks {
            sorted: vec![10, 11, 1_000, 1_001, 999_999],
        };
        let points = shares(&ticks);
        let sum: f64 = points.iter().map(|point| point.y).sum();
        assert!((sum - 100.0).abs() < 1e-9);
        assert_eq!(points.iter().filter(|point| point.y > 0.0).count(), 3);
        // From 10 to a million are five powers of ten.
        assert_eq!(points.len(), 60);
        assert!(points.windows(2).all(|pair| pair[0].x < pair[1].x));
        let one = Ticks { sorted: vec![7; 3] };
        assert_eq!(shares(&one).len(), 1);
    }
}
