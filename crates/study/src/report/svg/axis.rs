//! An axis as it is drawn: its range, its marks, and where each value lies.

use super::canvas::FAINT;
use crate::{
    number,
    report::figure::{Figure, Scale},
};

/// A range of values laid out between two coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    is_log: bool,
    /// The coordinates of both ends of the range.
    ends: (f64, f64),
}

impl Axis {
    /// The horizontal axis of a figure of lines.
    pub(super) fn of_places(figure: &Figure, ends: (f64, f64)) -> Axis {
        let points = figure.series.iter().flat_map(|series| &series.points);
        let (low, high) = extent(points.map(|point| point.x));
        let margin = if high > low { (high - low) * 0.04 } else { 0.5 };
        let is_log = figure.x.scale == Scale::Log;
        Axis::new((low, high), (low - margin, high + margin), is_log, ends)
    }

    /// The axis of the values: of all that is shown, from zero where it is linear, with a margin.
    pub(super) fn of_values(figure: &Figure, is_log: bool, ends: (f64, f64)) -> Axis {
        let (low, high) = extent(figure.values());
        let zero = low.min(0.0);
        let margin = if high > zero { (high - zero) * 0.06 } else { 1.0 };
        Axis::new((low, high), (zero, high + margin), is_log, ends)
    }

    /// The axis of what is shown, with a margin of its own where it is logarithmic; where it is not, of the range
    /// `even`.
    fn new(shown: (f64, f64), even: (f64, f64), is_log: bool, ends: (f64, f64)) -> Axis {
        let (low, high) = match is_log {
            true => log_range(shown.0, shown.1),
            false => even_range(even.0, even.1),
        };
        Axis {
            low,
            high,
            is_log,
            ends,
        }
    }

    /// The coordinate of a value.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }

    /// The coordinate of an end of an interval, which may lie outside: then that of the edge.
    pub(super) fn place_within(&self, value: f64) -> f64 {
        self.place(value.clamp(self.low, self.high))
    }

    /// Where a bar begins; none on a logarithmic axis, which has no zero.
    pub(super) fn zero(&self) -> Option<f64> {
        (!self.is_log).then(|| self.place(0.0))
    }

    /// Round values, about as many as there is room for.
    pub(super) fn marks(&self, room: f64) -> Vec<f64> {
        match self.is_log {
            true => decade_marks(self.low, self.high, room),
            false => even_marks(self.low, self.high, room),
        }
    }

    /// The values that were measured, or those that the figure names, as far as their words do not touch. Places that
    /// are no whole numbers, such as the middles of a histogram's bins, are not marked themselves: round values are.
    pub(super) fn spaced(&self, figure: &Figure) -> Vec<f64> {
        let points = figure.series.iter().flat_map(|series| &series.points);
        let places: Vec<f64> = points.map(|point| point.x).collect();
        let mut values: Vec<f64> = match &figure.x.scale {
            Scale::Linear { ticks } if !ticks.is_empty() => ticks.clone(),
            _ if places.iter().any(|place| place.fract() != 0.0) => self.marks((self.ends.1 - self.ends.0) / 60.0),
            _ => places,
        };
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut free = f64::NEG_INFINITY;
        let is_free = |value: &f64| {
            let half = FAINT.width(&place_label(*value)) / 2.0 + 4.0;
            let is_free = self.place(*value) - half >= free;
            if is_free {
                free = self.place(*value) + half;
            }
            is_free
        };
        values.into_iter().filter(is_free).collect()
    }
}

/// How a measured place is marked: sizes of keys with all their digits.
pub(super) fn place_label(place: f64) -> String {
    match place < 1e5 {
        true => place.to_string(),
        false => number::short(place),
    }
}

/// Values that are closer together than this share of them are shown as one: between them is no room for marks.
const NARROW: f64 = 1e-6;

/// A logarithmic range with a margin on both sides.
fn log_range(low: f64, high: f64) -> (f64, f64) {
    let margin = match high / low > 1.0 + NARROW {
        true => (high / low).powf(0.06),
        false => 2.0,
    };
    (low / margin, high * margin)
}

/// A linear range, wider where its ends are almost one.
fn even_range(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    match high - low > size * NARROW {
        true => (low, high),
        false => (low - size / 1000.0, high + size / 1000.0),
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
    let rough = (high - low) / room.max(2.0);
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    (first..)
        .map(|index| index as f64 * step)
        .take_while(|mark| *mark <= high * (1.0 + 1e-12))
        .collect()
}

/// Marks at powers of ten: at every second or third of them where they are many, at 2 and 5 times them too where they
/// are few.
fn decade_marks(low: f64, high: f64, room: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let factors: &[f64] = match decades * 3.0 <= room {
        true => &[1.0, 2.0, 5.0],
        false => &[1.0],
    };
    let stride = (decades / room.max(2.0)).ceil().max(1.0) as usize;
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let powers = powers.filter(|power| (power.unsigned_abs() as usize).is_multiple_of(stride));
    let marks: Vec<f64> = powers
        .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)))
        .filter(|mark| (low..=high).contains(mark))
        .collect();
    match marks.len() {
        0 | 1 => even_marks(low, high, room)
            .into_iter()
            .filter(|mark| *mark > 0.0)
            .collect(),
        _ => marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        assert_eq!(even_marks(0.0, 10.6, 7.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(even_marks(0.0, 1.0, 7.0).len(), 6);
        assert_eq!(decade_marks(0.9, 110.0, 9.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(decade_marks(1.0, 1e5, 9.0), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        assert_eq!(decade_marks(1.0, 1e6, 3.0), [1.0, 100.0, 1e4, 1e6]);
        assert!(decade_marks(1024.0, 4096.0, 6.0).len() >= 2);
        assert!(decade_marks(6.0, 7.0, 6.0).len() >= 2);
    }

    #[test]
    fn values_that_differ_in_the_last_bit_have_an_axis() {
        for value in [1e-17_f64, 1.0, 2048.0, 1e17, -1e17] {
            for end in [value, value.next_up()] {
                let even = Axis::new((value, end), (value, end), false, (0.0, 100.0));
                let log = (value > 0.0).then(|| Axis::new((value, end), (value, end), true, (0.0, 100.0)));
                for axis in log.into_iter().chain([even]) {
                    assert!((axis.place(value) - 50.0).abs() < 1.0, "{axis:?}");
                    let marks = axis.marks(7.0);
                    assert!((1..20).contains(&marks.len()), "{axis:?}: {marks:?}");
                    assert!(marks.windows(2).all(|pair| pair[0] < pair[1]), "{marks:?}");
                }
            }
        }
    }

    #[test]
    fn places_follow_the_scale() {
        let log = Axis {
            low: 1.0,
            high: 100.0,
            is_log: true,
            ends: (0.0, 200.0),
        };
        assert!((log.place(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(log.zero(), None);
        let linear = Axis {
            is_log: false,
            low: 0.0,
            ends: (200.0, 0.0),
            ..log
        };
        assert!((linear.place(10.0) - 180.0).abs() < 1e-9);
        assert_eq!(linear.zero(), Some(200.0));
    }
}
