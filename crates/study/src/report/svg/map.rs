//! A value for each of two lists of names: cells in rows and columns, darker where the value is larger.

use super::{
    canvas::{Anchor, Canvas, FAINT, INK, at},
    frame::{Frame, MARGIN, point},
    style,
};
use crate::{number, report::figure::Figure};

const HEIGHT: f64 = 46.0;
const GAP: f64 = 3.0;

/// Draws from `top` on; returns where the drawing ends. A series is a row; places that have no point are empty.
pub(super) fn draw(canvas: &mut Canvas, figure: &Figure, labels: &[String], frame: Frame, top: f64) -> f64 {
    let names = figure.series.iter().map(|series| INK.width(&series.name));
    let left = names.fold(40.0, f64::max).min(frame.width / 3.0) + 8.0;
    let width = ((frame.width - left - MARGIN) / labels.len().max(1) as f64).min(110.0);
    let values = || {
        figure
            .series
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| point.y)
    };
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    // Ink is read on all of these, on a light ground and on a dark one.
    let shade = |value: f64| match most > least {
        true => 0.1 + 0.35 * (value - least) / (most - least),
        false => 0.2,
    };
    let title = match &figure.y.unit {
        Some(unit) => format!("{} number of {unit}", figure.y.label),
        None => figure.y.label.clone(),
    };
    canvas.words(0.0, top + 12.0, Anchor::Start, INK, &title);
    let top = top + 24.0;
    for (row, series) in figure.series.iter().enumerate() {
        let y = top + row as f64 * (HEIGHT + GAP);
        let middle = y + HEIGHT / 2.0;
        canvas.words(left - 8.0, middle + 4.5, Anchor::End, INK, &series.name);
        for (column, label) in labels.iter().enumerate() {
            let x = left + column as f64 * width;
            let value = series.points.iter().find(|point| point.x == column as f64);
            let Some(value) = value else {
                canvas.words(x + width / 2.0, middle + 4.5, Anchor::Middle, FAINT, "–");
                continue;
            };
            let place = format!("{}: {label}", figure.x.label);
            let center = (x + (width - GAP) / 2.0, middle);
            canvas.group(&style::bar(true), |canvas| {
                let words = (series.name.as_str(), place.as_str());
                point(canvas, figure, frame, words, (value, center.0, center.1), |canvas| {
                    canvas.raw(&format!(
                        "<rect class=\"column\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{HEIGHT}\" rx=\"3\" \
                         stroke=\"none\" fill-opacity=\"{:.2}\"/>",
                        at(x),
                        at(y),
                        at(width - GAP),
                        shade(value.y)
                    ));
                });
            });
            let label = value.label.as_deref().filter(|label| FAINT.width(label) < width + 8.0);
            let line = if label.is_some() { middle - 1.0 } else { middle + 5.0 };
            let words = number::short(value.y);
            canvas.words(center.0, line, Anchor::Middle, INK.sized(15.0).bold(true), &words);
            if let Some(label) = label {
                canvas.words(center.0, middle + 15.0, Anchor::Middle, FAINT.sized(11.0), label);
            }
        }
    }
    let bottom = top + figure.series.len() as f64 * (HEIGHT + GAP);
    for (column, label) in labels.iter().enumerate() {
        let x = left + column as f64 * width + (width - GAP) / 2.0;
        canvas.words(x, bottom + 14.0, Anchor::Middle, FAINT, label);
    }
    let middle = left + labels.len() as f64 * width / 2.0;
    canvas.words(middle, bottom + 34.0, Anchor::Middle, INK, &figure.x.title());
    bottom + 42.0
}
