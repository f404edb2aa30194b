//! The parts of every drawing: a frame with a width, and points that describe themselves.

use super::canvas::{Anchor, Canvas, FAINT, at, escaped};
use crate::{
    number,
    report::figure::{Figure, Point, UNEQUAL},
};

/// How a figure is laid out.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) width: f64,
    /// In a narrow window names are above or below what they name.
    pub(super) is_narrow: bool,
    /// `true` if values are placed by their logarithm.
    pub(super) is_log: bool,
    /// `true` if points carry their description.
    pub(super) is_described: bool,
}

pub(super) const MARGIN: f64 = 12.0;

impl Frame {
    pub(super) fn wide(is_log: bool) -> Frame {
        Frame {
            width: 860.0,
            is_narrow: false,
            is_log,
            is_described: true,
        }
    }

    pub(super) fn narrow(self) -> Frame {
        Frame {
            width: 344.0,
            is_narrow: true,
            is_described: false,
            ..self
        }
    }
}

/// A point of a series: where it is, and in lines what it is, for a pointer that rests on it.
pub(super) fn point(
    canvas: &mut Canvas,
    figure: &Figure,
    frame: Frame,
    (name, place): (&str, &str),
    (point, x, y): (&Point, f64, f64),
    draw: impl FnOnce(&mut Canvas),
) {
    let attributes = format!("class=\"point\" data-at=\"{} {}\"", at(x), at(y));
    canvas.group(&attributes, |canvas| {
        if frame.is_described {
            let unit = figure.y.unit.as_deref().unwrap_or_default();
            let value = format!("{} {unit}", number::significant(point.y));
            let interval = interval(point).map(|interval| format!("interval {interval}"));
            let remark = figure.remark.clone().filter(|_| point.unequal);
            let known = [name.to_owned(), place.to_owned(), value].into_iter();
            let lines = known.chain([interval, remark, point.note.clone()].into_iter().flatten());
            let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
            canvas.raw(&format!("<title>{}</title>", escaped(&lines.join("\n"))));
        }
        draw(canvas);
    });
}

/// A line to compare with, and its label from `x` on.
pub(super) fn reference(canvas: &mut Canvas, d: &str, x: f64, y: f64, label: &str) {
    let attributes = " class=\"reference\" stroke=\"#59626b\" stroke-dasharray=\"4 4\"";
    canvas.path(d, attributes);
    canvas.words(x, y, Anchor::Start, FAINT, label);
}

/// The interval as the tables have it, where there is one.
pub(super) fn interval(point: &Point) -> Option<String> {
    let (low, high) = (point.low?, point.high?);
    Some(format!("{} to {}", number::significant(low), number::significant(high)))
}

/// The sign of a point that is not the same job as what it is compared with.
pub(super) fn sign(point: &Point) -> &'static str {
    if point.unequal { UNEQUAL } else { "" }
}
