//! Quantiles of named places: horizontal boxes with whiskers, the names to the left, in a narrow window above.

use super::{
    axis::Axis,
    bars::grid,
    canvas::{Anchor, Canvas, INK, at, escaped, whisker},
    frame::{Frame, MARGIN},
    style,
};
use crate::{
    number,
    report::{figure::Figure, names::is_own},
};

/// Draws from `top` on; returns where the drawing ends. The series are five quantiles of each place, ascending.
pub(super) fn draw(canvas: &mut Canvas, figure: &Figure, labels: &[String], frame: Frame, top: f64) -> f64 {
    let values: Vec<[f64; 5]> = (0..labels.len()).filter_map(|place| quantiles(figure, place)).collect();
    let unit = figure.y.unit.as_deref().unwrap_or_default();
    let median = |values: &[f64; 5]| format!("{} {unit}", number::significant(values[2]));
    let names = labels.iter().map(|name| INK.bold(is_own(name)).width(name));
    let words = values.iter().map(|values| INK.bold(true).width(&median(values)));
    let (left, right) = match frame.is_narrow {
        true => (1.0, frame.width - 8.0),
        false => (
            names.fold(50.0, f64::max).min(260.0) + 10.0,
            frame.width - words.fold(60.0, f64::max).min(200.0) - MARGIN,
        ),
    };
    let (thickness, step) = if frame.is_narrow { (12.0, 38.0) } else { (16.0, 26.0) };
    let bottom = top + labels.len() as f64 * step + 4.0;
    let axis = Axis::of_values(figure, frame.is_log, (left, right));
    grid(canvas, &axis, &axis.marks((right - left) / 75.0), (top, bottom));
    let middle = (left + right) / 2.0;
    canvas.words(middle, bottom + 38.0, Anchor::Middle, INK, &figure.y.title());
    for (row, (name, values)) in labels.iter().zip(&values).enumerate() {
        let y = top + (row + 1) as f64 * step - thickness / 2.0 - if frame.is_narrow { 3.0 } else { 4.0 };
        let [low, first, median_at, third, high] = values.map(|value| axis.place(value));
        let is_own = is_own(name);
        let attributes = format!("class=\"point\" data-at=\"{} {}\"", at(median_at), at(y));
        canvas.group(&style::bar(is_own), |canvas| {
            canvas.group(&attributes, |canvas| {
                if frame.is_described {
                    let lines = figure
                        .series
                        .iter()
                        .zip(values)
                        .map(|(series, value)| format!("{}: {} {unit}", series.name, number::significant(*value)));
                    let words: Vec<String> = [name.clone()].into_iter().chain(lines).collect();
                    canvas.raw(&format!("<title>{}</title>", escaped(&words.join("\n"))));
                }
                canvas.path(&whisker(y, (low, high), true), " class=\"whisker-of-box\" fill=\"none\"");
                canvas.raw(&format!(
                    "<rect class=\"column\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{thickness}\" rx=\"2\" stroke=\"none\"/>",
                    at(first),
                    at(y - thickness / 2.0),
                    at((third - first).max(1.0))
                ));
                let d = format!("M{} {}v{}", at(median_at), at(y - thickness / 2.0 - 2.0), at(thickness + 4.0));
                canvas.path(&d, " class=\"median\" stroke=\"#1c2126\" stroke-width=\"2\"");
            });
        });
        let words = INK.bold(is_own);
        match frame.is_narrow {
            true => {
                let above = y - thickness / 2.0 - 5.0;
                canvas.words(left - 1.0, above, Anchor::Start, words, name);
                canvas.words(frame.width, above, Anchor::End, INK, &median(values));
            }
            false => {
                canvas.words(left - 8.0, y + 4.5, Anchor::End, words, name);
                canvas.words(right + 12.0, y + 4.5, Anchor::Start, INK, &median(values));
            }
        }
    }
    bottom + 46.0
}

fn quantiles(figure: &Figure, place: usize) -> Option<[f64; 5]> {
    let value = |series: &crate::report::figure::Series| {
        let point = series.points.iter().find(|point| point.x == place as f64);
        point.map(|point| point.y)
    };
    let values: Option<Vec<f64>> = figure.series.iter().map(value).collect();
    values?.try_into().ok()
}
