//! A figure as SVG: the files, and all that the page shows of it.
//!
//! A figure of named places has horizontal bars with their values, or boxes, or a map; one of numbers has lines or
//! steps, named at their right end. The page contains the drawing of the file, one for narrow windows, and both with
//! the other scale of values; its script only chooses between them. Each point contains the words that describe it.

mod axis;
mod bars;
mod boxes;
mod canvas;
mod frame;
mod lines;
mod map;
mod style;

use serde::Serialize;

use self::{
    canvas::{Anchor, Canvas, FAINT, INK, at, escaped},
    frame::Frame,
};
use super::{
    figure::{Figure, Layout, Scale, Series},
    names,
};

/// One of the drawings of a figure that a page can show.
#[derive(Serialize)]
pub(super) struct Drawing {
    /// For which windows: `wide`, `narrow`.
    width: &'static str,
    /// How values are placed: `linear`, `log`.
    scale: &'static str,
    /// `true` if it is shown until another is asked for.
    is_first: bool,
    svg: String,
}

/// The figure as an SVG file, with its title, and its description for who cannot see it.
pub fn svg(figure: &Figure) -> String {
    draw(figure, Frame::wide(figure.y.scale == Scale::Log))
}

/// Every drawing of the figure: first the one of the file, then the same for narrow windows, then both on the other
/// scale of values, where all are positive.
pub(super) fn drawings(figure: &Figure) -> Vec<Drawing> {
    let is_log = figure.y.scale == Scale::Log;
    let mut scales = vec![is_log];
    // Shares from 0 to 100, a map's shades, and boxes that are narrow compared with their distance from 0 have one
    // scale.
    let has_one = matches!(figure.layout, Layout::Steps | Layout::Map | Layout::Boxes);
    if !has_one && figure.values().all(|value| value > 0.0) {
        scales.push(!is_log);
    }
    let of_scale = |is_other: bool| {
        let wide = Frame::wide(is_other);
        [
            Frame {
                is_described: is_other == is_log,
                ..wide
            },
            wide.narrow(),
        ]
    };
    let drawing = |frame: Frame| Drawing {
        width: if frame.is_narrow { "narrow" } else { "wide" },
        scale: if frame.is_log { "log" } else { "linear" },
        is_first: frame.is_log == is_log,
        svg: draw(figure, frame),
    };
    scales.into_iter().flat_map(of_scale).map(drawing).collect()
}

/// The margin of the picture.
const SIDE: f64 = 14.0;
const TOP: f64 = 6.0;

fn draw(figure: &Figure, frame: Frame) -> String {
    let mut canvas = Canvas::default();
    let top = head(&mut canvas, figure, frame);
    let (kind, bottom) = match &figure.x.scale {
        Scale::Names { labels } if figure.layout == Layout::Boxes => {
            ("bars", boxes::draw(&mut canvas, figure, labels, frame, top))
        }
        Scale::Names { labels } if figure.layout == Layout::Map => {
            ("map", map::draw(&mut canvas, figure, labels, frame, top))
        }
        Scale::Names { labels } => ("bars", bars::draw(&mut canvas, figure, labels, frame, top)),
        Scale::Linear { .. } | Scale::Log => ("lines", lines::draw(&mut canvas, figure, frame, top)),
    };
    let height = foot(&mut canvas, figure, frame, bottom);
    // Room around what is drawn.
    let origin = format!("{} {}", at(-SIDE), at(-TOP));
    let (width, height) = (at(frame.width + 2.0 * SIDE), at(height + 2.0 * TOP));
    let ground = format!("x=\"{}\" y=\"{}\"", at(-SIDE), at(-TOP));
    let (title, description) = (escaped(&figure.title), escaped(&figure.description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{kind}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{origin} {width} {height}\" role=\"img\" aria-label=\"{title}. {description}\" \
         font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">\n<desc>{description}</desc>\n\
         <rect class=\"ground\" {ground} width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
        canvas.into_text()
    )
}

/// The title, and below it what our own engines look like where there are others. Returns where it ends.
fn head(canvas: &mut Canvas, figure: &Figure, frame: Frame) -> f64 {
    let title = INK.sized(if frame.is_narrow { 15.0 } else { 16.0 }).bold(true);
    let mut y = 8.0;
    for line in title.lines(&figure.title, frame.width) {
        y += 19.0;
        canvas.words(0.0, y - 6.0, Anchor::Start, title, &line);
    }
    let own: Vec<bool> = match &figure.x.scale {
        _ if figure.layout == Layout::Map => Vec::new(),
        Scale::Names { labels } => labels.iter().map(|name| names::is_own(name)).collect(),
        _ => figure.series.iter().map(Series::is_own).collect(),
    };
    if own.contains(&true) && own.contains(&false) {
        y += 18.0;
        let words = FAINT.bold(true);
        canvas.group(&style::bar(true), |canvas| {
            let (top, side) = (at(y - 14.0), 10);
            canvas.raw(&format!(
                "<rect x=\"0\" y=\"{top}\" width=\"{side}\" height=\"{side}\" stroke=\"none\"/>"
            ));
        });
        canvas.words(16.0, y - 5.0, Anchor::Start, words, "rsalab's own engine");
    }
    y + 6.0
}

/// The remark. Returns the height of the drawing.
fn foot(canvas: &mut Canvas, figure: &Figure, frame: Frame, bottom: f64) -> f64 {
    let mut y = bottom;
    if let Some(remark) = &figure.remark {
        for line in FAINT.lines(remark, frame.width) {
            y += 16.0;
            canvas.words(0.0, y, Anchor::Start, FAINT, &line);
        }
    }
    (y + 8.0).ceil()
}

#[cfg(test)]
mod tests;
