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
    marks: Vec<f64>,
    names: Vec<String>,
}

impl Laid {
    pub(super) fn horizontal(figure: &Figure) -> Laid {
        let values = || {
            figure
                .series
                .iter()
                .flat_map(|series| &series.points)
                .map(|point| point.x)
        };
        match &figure.x.scale {
            Scale::Names { labels } => Laid {
                low: -0.5,
                high: labels.len() as f64 - 0.5,
                is_log: false,
                marks: (0..labels.len()).map(|index| index as f64).collect(),
                names: labels.clone(),
            },
            Scale::Log => Laid::logarithmic(extent(values())),
            Scale::Linear { ticks } => {
                let (low, high) = extent(values());
                let margin = if high > low { (high - low) * 0.04 } else { 0.5 };
                let (low, high) = (low - margin, high + margin);
                let marks = if ticks.is_empty() {
                    even_marks(low, high, 8.0)
                } else {
                    ticks.clone()
                };
                Laid {
                    low,
                    high,
                    is_log: false,
                    marks,
                    names: Vec::new(),
                }
            }
        }
    }

    pub(super) fn vertical(figure: &Figure) -> Laid {
        let points = figure.series.iter().flat_map(|series| &series.points);
        let of_points = points
            .flat_map(|point| [Some(point.y), point.low, point.high])
            .flatten();
        let values = of_points.chain(figure.references.iter().map(|line| line.y));
        let (low, high) = extent(values);
        if figure.y.scale == Scale::Log {
            return Laid::logarithmic((low, high));
        }
        let low = low.min(0.0);
        let high = if high > low {
            high + (high - low) * 0.06
        } else {
            low + 1.0
        };
        Laid {
            low,
            high,
            is_log: false,
            marks: even_marks(low, high, 7.0),
            names: Vec::new(),
        }
    }

    fn logarithmic((low, high): (f64, f64)) -> Laid {
        let margin = if high > low {
            (high / low).powf(0.06)
        } else {
            2.0
        };
        let (low, high) = (low / margin, high * margin);
        Laid {
            low,
            high,
            is_log: true,
            marks: decade_marks(low, high),
            names: Vec::new(),
        }
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
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Laid {
    fn format_ext(&self, value: &f64) -> String {
        match self.names.get(*value as usize) {
            Some(name) => name.clone(),
            None => mark_words(*value),
        }
    }
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

fn mark_words(value: f64) -> String {
    let size = value.abs();
    let short = |value: f64| {
        number::significant(value)
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    };
    match size {
        0.0 => "0".to_owned(),
        _ if size >= 1e6 => format!("{} M", plain(value / 1e6)),
        _ if size >= 1e4 => format!("{} k", plain(value / 1e3)),
        _ if size.fract() == 0.0 => plain(value),
        _ => short(value),
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
            names: Vec::new(),
        };
        assert_eq!(log.map(&10.0, (0, 200)), 100);
        let linear = Laid {
            is_log: false,
            low: 0.0,
            ..log
        };
        assert_eq!(linear.map(&10.0, (200, 0)), 180);
    }
}
