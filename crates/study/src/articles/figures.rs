//! The figures of an article, and those that its words call for.

use super::{
    data::{AxisData, FigureData, SeriesData},
    evaluate::Quantity,
    evidence::Evidence,
    scope::Scope,
};
use crate::{
    number,
    report::{Axis, Figure, Layout, Point, Reference, Scale, Series, Shown, Ticks, as_id},
};

impl Evidence<'_> {
    /// Every figure of the article with those that stand for it here.
    pub(super) fn figures(&self) -> (Vec<Shown>, Vec<Figure>) {
        let (mut shown, mut figures) = (Vec::new(), Vec::new());
        for data in &self.data.figure {
            for mut scope in self.of_axis(data.with.as_ref()) {
                let id = self.fill(&data.id, &scope);
                scope.set("id", &id);
                let scopes = self.each(&data.each, &scope);
                let made: Vec<Figure> = scopes.iter().filter_map(|scope| self.figure(data, scope)).collect();
                shown.push(Shown {
                    id,
                    title: self.fill(&data.title, &scope),
                    figures: made.iter().map(|figure| figure.id.clone()).collect(),
                    reason: made.is_empty().then(|| self.fill(&data.lacking, &scope)),
                });
                figures.extend(made);
            }
        }
        (shown, figures)
    }

    /// None if nothing of ours is in it.
    fn figure(&self, data: &FigureData, scope: &Scope) -> Option<Figure> {
        let mut series = Vec::new();
        let mut has_ours = false;
        for lines in data.series.iter().filter(|it| self.has(&it.needs, scope)) {
            for scope in self.each(&lines.each, scope) {
                let points = match lines.distribution.as_str() {
                    "" => self.points(&data.x, lines, &scope),
                    cell => {
                        let cell = self.named_cell(cell, &scope).ok();
                        let ticks = cell.and_then(|cell| cell.digest.ticks.as_ref());
                        ticks.map(|ticks| shares(ticks, &lines.noun)).unwrap_or_default()
                    }
                };
                has_ours |= !points.is_empty() && lines.published.is_empty();
                if !points.is_empty() {
                    series.push(Series {
                        name: self.fill(&lines.name, &scope),
                        points,
                        is_published: !lines.published.is_empty(),
                    });
                }
            }
        }
        has_ours.then(|| Figure {
            // Fit for the name of a file: a variant's colon is not.
            id: as_id(&self.fill(&data.name, scope)),
            title: self.fill(&data.heading, scope),
            description: self.fill(&data.description, scope),
            x: self.axis(&data.x),
            y: self.axis(&data.y),
            series,
            remark: None,
            references: self.references(data, scope),
            marks: Vec::new(),
            layout: Layout::Usual,
        })
    }

    fn points(&self, x: &AxisData, lines: &SeriesData, scope: &Scope) -> Vec<Point> {
        let point = |place: Vec<String>| {
            let mut scope = scope.clone();
            scope.set(&x.of, &place[0]);
            if !lines.published.is_empty() {
                let published = self.published(&lines.published, &scope)?;
                scope.set("published", published.to_string());
            }
            let place: f64 = place[0].parse().ok()?;
            Some(match self.quantity(&lines.value, &scope).ok()? {
                Quantity::Measured(estimate) => Point::at(place, &estimate),
                Quantity::Number(y) => Point {
                    x: place,
                    y,
                    note: Some(self.fill(&lines.note, &scope)),
                    ..Point::default()
                },
            })
        };
        self.list(&x.values).into_iter().filter_map(point).collect()
    }

    fn axis(&self, data: &AxisData) -> Axis {
        let places = || self.list(&data.values).into_iter();
        Axis {
            label: data.label.clone(),
            unit: data.unit.clone(),
            scale: match (data.log, data.ticks) {
                (true, _) => Scale::Log,
                (false, false) => Scale::EVEN,
                (false, true) => Scale::Linear {
                    ticks: places().filter_map(|place| place[0].parse().ok()).collect(),
                },
            },
        }
    }

    fn references(&self, data: &FigureData, scope: &Scope) -> Vec<Reference> {
        let references = data.references.iter().filter_map(|reference| {
            let mut scope = scope.clone();
            if !reference.published.is_empty() {
                let published = self.published(&reference.published, &scope)?;
                scope.set("published", published.to_string());
            }
            self.has(&reference.needs, &scope).then(|| Reference {
                y: self.measured(&reference.y, &scope).map_or(f64::NAN, |y| y.value),
                label: self.fill(&reference.label, &scope),
            })
        });
        references.collect()
    }
}

const BINS_PER_DECADE: f64 = 12.0;

/// The share of values in each bin, by its middle; the bins between the first and the last are all there.
fn shares(ticks: &Ticks, noun: &str) -> Vec<Point> {
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
            note: Some(number::counted(*count as usize, noun)),
            ..Point::default()
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
        let points = shares(&ticks, "pair");
        let sum: f64 = points.iter().map(|point| point.y).sum();
        assert!((sum - 100.0).abs() < 1e-9);
        assert_eq!(points.iter().filter(|point| point.y > 0.0).count(), 3);
        // From 10 to a million are five powers of ten.
        assert_eq!(points.len(), 60);
        assert!(points.windows(2).all(|pair| pair[0].x < pair[1].x));
        let one = Ticks { sorted: vec![7; 3] };
        assert_eq!(shares(&one, "pair").len(), 1);
    }
}
