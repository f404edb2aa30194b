//! Values over numbers: a line for each series, named at its right end, in a narrow window in a legend below.

use super::{
    axis::{self, Axis},
    canvas::{Anchor, Canvas, FAINT, INK, at, escaped, whisker},
    frame::{Frame, MARGIN, point, reference, sign},
    style::{Style, styles},
};
use crate::{
    number,
    report::figure::{Figure, Layout, Series},
};

/// Between the names of neighbours.
const NAME: f64 = 17.0;

/// Draws from `top` on; returns where the drawing ends.
pub(super) fn draw(canvas: &mut Canvas, figure: &Figure, frame: Frame, top: f64) -> f64 {
    let styles = styles(&figure.series);
    let all: Vec<(&Series, Style)> = figure.series.iter().zip(styles).collect();
    // One series needs no name: the title names it.
    let is_named = all.len() > 1;
    let name_width = |(series, style): &(&Series, Style)| INK.bold(style.is_own).width(&series.name);
    let names = all.iter().map(name_width).fold(0.0, f64::max);
    let right = match is_named && !frame.is_narrow {
        true => frame.width - names.min(240.0) - 44.0,
        false => frame.width - 16.0,
    };
    // The vertical axis is named above it, where the name can be read.
    canvas.words(0.0, top + 12.0, Anchor::Start, INK, &figure.y.title());
    let top = top + 28.0;
    let height = match frame.is_narrow {
        true => 230.0,
        false => (all.len() as f64 * NAME).max(300.0),
    };
    let bottom = top + height;
    let values = Axis::of_values(figure, frame.is_log, (bottom, top));
    let marks = values.marks(height / 36.0);
    let label = |mark: &f64| number::short(*mark);
    let widest = marks.iter().map(|mark| FAINT.width(&label(mark)));
    let left = widest.fold(18.0, f64::max) + 12.0;
    let places = Axis::of_places(figure, (left, right));

    let mut grid = String::new();
    for mark in &marks {
        let y = values.place(*mark);
        grid += &format!("M{} {}H{}", at(left), at(y), at(right));
        canvas.words(left - 8.0, y + 4.0, Anchor::End, FAINT, &label(mark));
    }
    for place in places.spaced(figure) {
        let x = places.place(place);
        grid += &format!("M{} {}V{}", at(x), at(top), at(bottom));
        let label = axis::place_label(place);
        canvas.words(x, bottom + 17.0, Anchor::Middle, FAINT, &label);
    }
    canvas.path(&grid, " class=\"rule\" stroke=\"#dde1e5\"");
    let middle = (left + right) / 2.0;
    canvas.words(middle, bottom + 38.0, Anchor::Middle, INK, &figure.x.title());
    for line in &figure.references {
        let y = values.place(line.y);
        let d = format!("M{} {}H{}", at(left), at(y), at(right));
        reference(canvas, &d, left + 6.0, y - 5.0, &line.label);
    }

    for (line, mark) in figure.marks.iter().enumerate() {
        let x = places.place(mark.x);
        let d = format!("M{} {}V{}", at(x), at(top), at(bottom));
        // Of several, each label has a line of its own, so that none is written over another.
        let width = FAINT.width(&mark.label);
        let begin = (x + 6.0).min(right - width);
        reference(canvas, &d, begin, top + 12.0 + 16.0 * line as f64, &mark.label);
    }

    let labels = match (is_named, frame.is_narrow) {
        (false, _) => vec![None; all.len()],
        (true, true) => in_legend(&all, frame, bottom + 62.0),
        (true, false) => at_right_end(&all, |series| end(series, &places, &values), (top, bottom), right),
    };
    for ((series, style), label) in all.iter().zip(&labels) {
        let name = format!("class=\"series\" data-name=\"{}\"", escaped(&series.name));
        canvas.group(&name, |canvas| {
            canvas.group(&style.group(), |canvas| {
                line(canvas, figure, frame, (series, *style), (&places, &values));
                if let Some(label) = *label {
                    let end = end(series, &places, &values).filter(|_| !frame.is_narrow);
                    lead(canvas, end, right, label);
                    style.mark(canvas, label.0, label.1);
                }
            });
            if let Some((x, y)) = label {
                let words = INK.bold(style.is_own);
                canvas.words(x + 10.0, y + 4.5, Anchor::Start, words, &series.name);
            }
        });
    }
    let lowest = labels.iter().flatten().map(|(_, y)| y + 10.0);
    lowest.fold(bottom + 46.0, f64::max)
}

fn line(
    canvas: &mut Canvas,
    figure: &Figure,
    frame: Frame,
    (series, style): (&Series, Style),
    (places, values): (&Axis, &Axis),
) {
    if figure.layout == Layout::Steps {
        return steps(canvas, figure, frame, (series, style), (places, values));
    }
    let corners = series.points.iter().map(|point| {
        let (x, y) = (places.place(point.x), values.place(point.y));
        format!("{} {}", at(x), at(y))
    });
    let corners: Vec<String> = corners.collect();
    if corners.len() > 1 {
        canvas.path(&format!("M{}", corners.join("L")), &style.line());
    }
    for it in &series.points {
        let (x, y) = (places.place(it.x), values.place(it.y));
        let unit = figure.x.unit.as_deref().unwrap_or_default();
        let place = format!("{}: {} {unit}", figure.x.label, place_words(it.x));
        let words = (series.name.as_str(), place.trim_end());
        point(canvas, figure, frame, words, (it, x, y), |canvas| {
            if let (Some(low), Some(high)) = (it.low, it.high) {
                let ends = (values.place_within(low), values.place_within(high));
                canvas.path(&whisker(x, ends, false), " class=\"whisker\"");
            }
            style.mark(canvas, x, y);
        });
        if let Some(label) = &it.label {
            canvas.raw(&format!(
                "<text x=\"{}\" y=\"{}\" class=\"faint\" fill=\"#59626b\" stroke=\"none\" font-size=\"11\">{}</text>",
                at(x + 6.0),
                at(y + 14.0),
                escaped(label)
            ));
        }
        if it.unequal {
            canvas.raw(&format!(
                "<text x=\"{}\" y=\"{}\" class=\"ink\" fill=\"#1c2126\" stroke=\"none\" font-size=\"13\">{}</text>",
                at(x + 6.0),
                at(y - 3.0),
                sign(it)
            ));
        }
    }
}

/// A size in all its digits, a measured place in as many as are known.
fn place_words(place: f64) -> String {
    match place.fract() == 0.0 {
        true => number::as_printed(place),
        false => number::significant(place),
    }
}

/// A line whose value holds from each place to the next. Of its points, which are many, some answer to a pointer.
fn steps(
    canvas: &mut Canvas,
    figure: &Figure,
    frame: Frame,
    (series, style): (&Series, Style),
    (places, values): (&Axis, &Axis),
) {
    const ANSWERING: usize = 12;
    let Some(first) = series.points.first() else { return };
    let mut d = format!("M{} {}", at(places.place(first.x)), at(values.place(0.0)));
    for point in &series.points {
        d += &format!("H{}V{}", at(places.place(point.x)), at(values.place(point.y)));
    }
    canvas.path(&d, &style.line());
    let stride = series.points.len().div_ceil(ANSWERING).max(1);
    let unit = figure.x.unit.as_deref().unwrap_or_default();
    for it in series.points.iter().step_by(stride) {
        let (x, y) = (places.place(it.x), values.place(it.y));
        let place = format!("{}: {} {unit}", figure.x.label, place_words(it.x));
        point(
            canvas,
            figure,
            frame,
            (&series.name, place.trim_end()),
            (it, x, y),
            // Nothing else than its marks tells a line from others for whoever sees no colours.
            |canvas| style.mark(canvas, x, y),
        );
    }
}

/// From the end of a line to its name.
fn lead(canvas: &mut Canvas, end: Option<(f64, f64)>, right: f64, (_, y): (f64, f64)) {
    if let Some((x, level)) = end {
        let (x, level, y) = (at(x + 7.0), at(level), at(y));
        let (bend, name) = (at(right + 2.0), at(right + 10.0));
        let d = format!("M{x} {level}L{bend} {level}L{name} {y}");
        canvas.path(&d, " class=\"lead\" fill=\"none\" stroke-width=\"1\" opacity=\".5\"");
    }
}

fn end(series: &Series, places: &Axis, values: &Axis) -> Option<(f64, f64)> {
    let last = series.points.last()?;
    Some((places.place(last.x), values.place(last.y)))
}

/// Where each line is named: at the height of its last point, or as near to it as its neighbours let it be.
fn at_right_end(
    all: &[(&Series, Style)],
    end: impl Fn(&Series) -> Option<(f64, f64)>,
    bounds: (f64, f64),
    right: f64,
) -> Vec<Option<(f64, f64)>> {
    let level = |(index, (series, _)): (usize, &(&Series, Style))| Some((index, end(series)?.1));
    let mut levels: Vec<(usize, f64)> = all.iter().enumerate().filter_map(level).collect();
    levels.sort_by(|one, other| one.1.total_cmp(&other.1));
    let wanted: Vec<f64> = levels.iter().map(|(_, level)| *level).collect();
    let mut labels = vec![None; all.len()];
    for ((index, _), y) in levels.into_iter().zip(apart(&wanted, NAME, bounds)) {
        labels[index] = Some((right + 18.0, y));
    }
    labels
}

/// Where each line is named in a legend of as many rows as it needs.
fn in_legend(all: &[(&Series, Style)], frame: Frame, top: f64) -> Vec<Option<(f64, f64)>> {
    let (mut x, mut y) = (MARGIN / 2.0, top);
    let place = |(series, style): &(&Series, Style)| {
        let width = INK.bold(style.is_own).width(&series.name) + 28.0;
        if x > MARGIN && x + width > frame.width {
            (x, y) = (MARGIN / 2.0, y + 22.0);
        }
        let place = (x, y);
        x += width;
        Some(place)
    };
    all.iter().map(place).collect()
}

/// Places as near as can be to those wanted, which ascend, with a gap between neighbours and inside of bounds that have
/// room for them.
fn apart(wanted: &[f64], gap: f64, (least, most): (f64, f64)) -> Vec<f64> {
    let mut placed: Vec<f64> = Vec::with_capacity(wanted.len());
    for &place in wanted {
        let free = placed.last().map_or(least, |last| last + gap);
        placed.push(place.max(free));
    }
    let mut free = most;
    for place in placed.iter_mut().rev() {
        *place = place.min(free);
        free = *place - gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_distance_and_stay_inside() {
        let apart = |wanted: &[f64]| apart(wanted, 18.0, (0.0, 200.0));
        assert_eq!(apart(&[10.0, 100.0]), [10.0, 100.0]);
        assert_eq!(apart(&[50.0, 51.0, 52.0]), [50.0, 68.0, 86.0]);
        assert_eq!(apart(&[199.0, 200.0, 200.0]), [164.0, 182.0, 200.0]);
        assert_eq!(apart(&[-5.0]), [0.0]);
        assert_eq!(apart(&[]), Vec::<f64>::new());
    }
}
