//! Values of named places: horizontal bars, the names to the left, the values with their intervals to the right; in a
//! narrow window both above the bar.

use super::{
    axis::Axis,
    canvas::{Anchor, Canvas, FAINT, INK, at, escaped, whisker},
    frame::{Frame, MARGIN, interval, point, reference, sign},
    style,
};
use crate::{
    number,
    report::{
        figure::{Figure, Point},
        names::is_own,
    },
};

/// A bar with its words.
struct Bar<'a> {
    name: String,
    is_own: bool,
    point: &'a Point,
}

/// Draws from `top` on; returns where the drawing ends.
pub(super) fn draw(canvas: &mut Canvas, figure: &Figure, labels: &[String], frame: Frame, top: f64) -> f64 {
    let bars = bars(figure, labels);
    let names = bars.iter().map(|bar| INK.bold(bar.is_own).width(&bar.name));
    let values = bars.iter().map(|bar| INK.width(&value_words(bar.point)));
    let (left, right) = match frame.is_narrow {
        true => (1.0, frame.width - 8.0),
        false => (
            names.fold(50.0, f64::max).min(260.0) + 10.0,
            frame.width - values.fold(60.0, f64::max).min(280.0) - MARGIN,
        ),
    };
    let (thickness, step) = if frame.is_narrow { (12.0, 38.0) } else { (18.0, 26.0) };
    let bottom = top + bars.len() as f64 * step + 4.0;
    let axis = Axis::of_values(figure, frame.is_log, (left, right));
    let marks = axis.marks((right - left) / 75.0);
    grid(canvas, &axis, &marks, (top, bottom));
    let middle = (left + right) / 2.0;
    canvas.words(middle, bottom + 38.0, Anchor::Middle, INK, &figure.y.title());
    for line in &figure.references {
        let x = axis.place(line.y);
        let d = format!("M{} {}V{}", at(x), at(top), at(bottom));
        reference(canvas, &d, x + 4.0, top + 8.0, &line.label);
    }
    for (row, bar) in bars.iter().enumerate() {
        let below = top + (row + 1) as f64 * step;
        let y = below - thickness / 2.0 - if frame.is_narrow { 3.0 } else { 2.0 };
        let x = axis.place(bar.point.y);
        canvas.group(&style::bar(bar.is_own), |canvas| {
            point(canvas, figure, frame, (&bar.name, ""), (bar.point, x, y), |canvas| {
                draw_bar(canvas, bar, &axis, (x, y), thickness);
            });
        });
        let name = INK.bold(bar.is_own);
        match frame.is_narrow {
            true => {
                let above = y - thickness / 2.0 - 5.0;
                canvas.words(left - 1.0, above, Anchor::Start, name, &bar.name);
                value(canvas, bar.point, frame.width, above, " text-anchor=\"end\"");
            }
            false => {
                canvas.words(left - 8.0, y + 4.5, Anchor::End, name, &bar.name);
                value(canvas, bar.point, right + 12.0, y + 4.5, "");
            }
        }
    }
    bottom + 46.0
}

/// From the top down: of each place every series that has it.
fn bars<'a>(figure: &'a Figure, labels: &'a [String]) -> Vec<Bar<'a>> {
    let of_place = |(place, label): (usize, &'a String)| {
        let bar = move |series: &'a crate::report::figure::Series| {
            let is_here = |point: &&Point| point.x == place as f64;
            let name = match figure.series.len() {
                1 => label.clone(),
                _ => format!("{label}, {}", series.name),
            };
            Some(Bar {
                name,
                is_own: is_own(label),
                point: series.points.iter().find(is_here)?,
            })
        };
        figure.series.iter().filter_map(bar)
    };
    labels.iter().enumerate().flat_map(of_place).collect()
}

fn draw_bar(canvas: &mut Canvas, bar: &Bar<'_>, axis: &Axis, (x, y): (f64, f64), thickness: f64) {
    match axis.zero() {
        Some(zero) => canvas.raw(&format!(
            "<rect class=\"column\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{thickness}\" rx=\"2\" stroke=\"none\"/>",
            at(zero),
            at(y - thickness / 2.0),
            at((x - zero).max(0.0))
        )),
        None => canvas.raw(&format!(
            "<circle class=\"mark\" cx=\"{}\" cy=\"{}\" r=\"5\"/>",
            at(x),
            at(y)
        )),
    }
    if let (Some(low), Some(high)) = (bar.point.low, bar.point.high) {
        let ends = (axis.place_within(low), axis.place_within(high));
        let attributes = match axis.zero() {
            Some(_) => " class=\"whisker\" stroke=\"#1c2126\" stroke-width=\"1.2\"",
            None => " class=\"whisker\"",
        };
        canvas.path(&whisker(y, ends, true), attributes);
    }
}

pub(super) fn grid(canvas: &mut Canvas, axis: &Axis, marks: &[f64], (top, bottom): (f64, f64)) {
    let d: String = marks
        .iter()
        .map(|mark| format!("M{} {}V{}", at(axis.place(*mark)), at(top), at(bottom)))
        .collect();
    canvas.path(&d, " class=\"rule\" stroke=\"#dde1e5\"");
    for mark in marks {
        let (x, words) = (axis.place(*mark), number::short(*mark));
        canvas.words(x, bottom + 16.0, Anchor::Middle, FAINT, &words);
    }
}

fn value(canvas: &mut Canvas, point: &Point, x: f64, y: f64, anchor: &str) {
    let interval = interval(point)
        .map(|interval| format!(" <tspan class=\"faint\" fill=\"#59626b\" font-weight=\"400\">({interval})</tspan>"));
    let value = escaped(&number::significant(point.y));
    canvas.raw(&format!(
        "<text x=\"{}\" y=\"{}\"{anchor} class=\"ink value\" fill=\"#1c2126\" font-size=\"12.5\" font-weight=\"700\">{value}{}{}</text>",
        at(x),
        at(y),
        interval.unwrap_or_default(),
        match sign(point) {
            "" => String::new(),
            sign => format!(" {sign}"),
        }
    ));
}

/// The width of the value's words: its interval is set in lighter type.
fn value_words(point: &Point) -> String {
    let interval = interval(point).map(|interval| format!(" ({interval})"));
    format!(
        "{}{} {}",
        number::significant(point.y),
        interval.unwrap_or_default(),
        sign(point)
    )
}
