//! An axis as it is drawn: its range, its marks, their words. As the page's script does it, so that the still picture
//! and the page look alike.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::figure::{Figure, Scale};
use crate::number;

/// A range of values laid out on pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Laid {
    low: f64,
    high: f64,
    is_log: bool,
    /// Where the marks are, with their words.
    marks: Vec<(f64, String)>,
}

impl Laid {
    /// The horizontal axis of a figure of lines.
    pub(super) fn horizontal(figure: &Figure) -> Laid {
        let points = figure.series.iter().flat_map(|series| &series.points);
        let values: Vec<f64> = points.map(|point| point.x).collect();
        let (low, high) = extent(values.iter().copied());
        let is_log = figure.x.scale == Scale::Log;
        let (low, high) = match is_log {
            true => log_range(low, high),
            false => {
                let margin = if high > low { (high - low) * 0.04 } else { 0.5 };
                (low - margin, high + margin)
            }
        };
        let laid = Laid {
            low,
            high,
            is_log,
            marks: Vec::new(),
        };
        let marks = match &figure.x.scale {
            Scale::Linear { ticks } if !ticks.is_empty() => laid.spaced(ticks),
            _ => laid.spaced(&values),
        };
        Laid { marks, ..laid }
    }

    /// The axis of the values.
    pub(super) fn values(figure: &Figure) -> Laid {
        let points = figure.series.iter().flat_map(|series| &series.points);
        let of_points = points
            .flat_map(|point| [Some(point.y), point.low, point.high])
            .flatten();
        let values = of_points.chain(figure.references.iter().map(|line| line.y));
        let (low, high) = extent(values);
        let is_log = figure.y.scale == Scale::Log;
        let (low, high, marks) = match is_log {
            true => {
                let (low, high) = log_range(low, high);
                (low, high, decade_marks(low, high))
            }
            false => {
                let low = low.min(0.0);
                let margin = if high > low { (high - low) * 0.06 } else { 1.0 };
                let high = high + margin;
                (low, high, even_marks(low, high, 7.0))
            }
        };
        let named = |mark: f64| (mark, mark_words(mark));
        Laid {
            low,
            high,
            is_log,
            marks: marks.into_iter().map(named).collect(),
        }
    }

    /// The axis of a figure with named places, from the top down.
    pub(super) fn names(labels: &[String]) -> Laid {
        let count = labels.len() as f64;
        let named = |(place, label): (usize, &String)| (place as f64, label.clone());
        Laid {
            low: count - 0.5,
            high: -0.5,
            is_log: false,
            marks: labels.iter().enumerate().map(named).collect(),
        }
    }

    /// Where a column begins; none on a logarithmic axis, which has no zero.
    pub(super) fn foot(&self) -> Option<f64> {
        (!self.is_log).then_some(0.0)
    }

    /// Marks at values that were measured, as far as their words do not touch.
    fn spaced(&self, values: &[f64]) -> Vec<(f64, String)> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut marks: Vec<(f64, String)> = Vec::new();
        for value in values {
            let words = value.to_string();
            // As shares of an axis that has room for some seventy characters.
            let room = (words.len() + 1) as f64 / 70.0;
            let is_free = |(last, _): &(f64, String)| self.share(value) - self.share(*last) >= room;
            if marks.last().is_none_or(is_free) {
                marks.push((value, words));
            }
        }
        marks
    }

    fn share(&self, value: f64) -> f64 {
        match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }
}

impl Ranged for Laid {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.share(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.iter().map(|(mark, _)| *mark).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Laid {
    fn format_ext(&self, value: &f64) -> String {
        let mark = self.marks.iter().find(|(mark, _)| mark == value);
        mark.map(|(_, words)| words.clone()).unwrap_or_default()
    }
}

/// A logarithmic axis with a margin on both sides.
fn log_range(low: f64, high: f64) -> (f64, f64) {
    let margin = if high > low {
        (high / low).powf(0.06)
    } else {
        2.0
    };
    (low / margin, high * margin)
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let bounds = values.fold(None, |bounds: Option<(f64, f64)>, value| {
        let (low, high) = bounds.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    });
    bounds.unwrap_or((0.0, 1.0))
}

/// Marks at 1, 2 or 5 times a power of ten.
fn even_marks(low: f64, high: f64, room: f64) -> Vec<f64> {
    let rough = (high - low) / room;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    (first..)
        .map(|index| index as f64 * step)
        .take_while(|mark| *mark <= high * (1.0 + 1e-12))
        .collect()
}

/// Marks at powers of ten, and at 2 and 5 times those where there is room.
fn decade_marks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let factors: &[f64] = if decades <= 3.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let marks: Vec<f64> = powers
        .flat_map(|power| {
            factors
                .iter()
                .map(move |factor| factor * 10_f64.powi(power))
        })
        .filter(|mark| (low..=high).contains(mark))
        .collect();
    if marks.len() >= 2 {
        marks
    } else {
        even_marks(low, high, 6.0)
    }
}

/// A mark in few characters: `1,500`, `20 k`, `2.5 M`, `10⁻⁵`.
fn mark_words(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e9).contains(&size) => power_words(value),
        size if size >= 1e6 => format!("{} M", plain(value / 1e6)),
        size if size >= 1e4 => format!("{} k", plain(value / 1e3)),
        _ => plain(value),
    }
}

fn power_words(value: f64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = format!("{value:e}");
    let (factor, power) = text.split_once('e').expect("this form has an exponent");
    let raised: String = power
        .chars()
        .map(|digit| {
            digit
                .to_digit(10)
                .map_or('⁻', |digit| RAISED[digit as usize])
        })
        .collect();
    match factor {
        "1" => format!("10{raised}"),
        _ => format!(
            "{} × 10{raised}",
            plain(factor.parse().expect("it was a number"))
        ),
    }
}

fn plain(value: f64) -> String {
    let text = number::significant(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        assert_eq!(even_marks(0.0, 10.6, 7.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(even_marks(0.0, 1.0, 7.0).len(), 6);
        assert_eq!(
            decade_marks(0.9, 110.0),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        );
        assert_eq!(decade_marks(1.0, 1e5), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        assert!(decade_marks(1024.0, 4096.0).len() >= 2);
        assert!(decade_marks(6.0, 7.0).len() >= 2);
    }

    #[test]
    fn marks_are_short() {
        for (value, words) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (1.0, "1"),
            (1500.0, "1,500"),
            (20_000.0, "20 k"),
            (2_500_000.0, "2.5 M"),
            (0.005, "0.005"),
            (1e-5, "10⁻⁵"),
            (2e-4, "2 × 10⁻⁴"),
            (5e9, "5 × 10⁹"),
        ] {
            assert_eq!(mark_words(value), words);
        }
    }

    #[test]
    fn places_follow_the_scale() {
        let log = Laid {
            low: 1.0,
            high: 100.0,
            is_log: true,
            marks: Vec::new(),
        };
        assert_eq!(log.map(&10.0, (0, 200)), 100);
        let linear = Laid {
            is_log: false,
            low: 0.0,
            ..log
        };
        assert_eq!(linear.map(&10.0, (200, 0)), 180);
    }

    #[test]
    fn measured_places_are_marked_where_their_words_have_room() {
        let wide = Laid {
            low: 0.0,
            high: 100.0,
            is_log: false,
            marks: Vec::new(),
        };
        let words = |values: &[f64]| -> Vec<String> {
            let marks = wide.spaced(values);
            marks.into_iter().map(|(_, words)| words).collect()
        };
        assert_eq!(
            words(&[1.0, 1.0, 2.0, 4.0, 8.0, 64.0]),
            ["1", "4", "8", "64"]
        );
        assert_eq!(words(&[7.0]), ["7"]);
    }

    #[test]
    fn named_places_go_from_the_top_down() {
        let names = Laid::names(&["a".to_owned(), "b".to_owned()]);
        let place = |value: f64| names.map(&value, (400, 0));
        assert_eq!((place(0.0), place(1.0)), (100, 300));
        assert_eq!(names.format_ext(&1.0), "b");
    }
}
