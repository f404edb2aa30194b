//! A figure as a still picture.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    axis::Laid,
    figure::{Figure, Point, Scale, Series},
};

const SIZE: (u32, u32) = (760, 430);
const FONT: &str = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const INK: RGBColor = RGBColor(0x1c, 0x21, 0x26);
const FAINT: RGBColor = RGBColor(0x5d, 0x66, 0x6f);
const RULE: RGBColor = RGBColor(0xdc, 0xdf, 0xe2);
/// The colours of the page's light form, in the same order; told apart by their marks too.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x69, 0xa8),
    RGBColor(0xc4, 0x46, 0x0a),
    RGBColor(0x00, 0x78, 0x5a),
    RGBColor(0xa3, 0x3e, 0x8c),
    RGBColor(0x7a, 0x5c, 0x00),
    RGBColor(0x3f, 0x4d, 0x9b),
    RGBColor(0xb3, 0x20, 0x3a),
    RGBColor(0x4a, 0x56, 0x60),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The figure as SVG text, with a white ground and its description for who cannot see it.
pub fn svg(figure: &Figure) -> String {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    // The backend writes to memory, which does not fail.
    draw(&area, figure).expect("a string takes all that is written to it");
    drop(area);
    described(&text, figure)
}

fn draw(area: &Area<'_>, figure: &Figure) -> Drawn {
    area.fill(&WHITE)?;
    let keys = legend(area, figure)?;
    let (_, plot) = area.split_vertically(keys);
    let words = |size: i32, colour: &RGBColor| (FONT, size).into_font().color(colour);
    let mut chart = ChartBuilder::on(&plot)
        .margin(12)
        .margin_right(20)
        .x_label_area_size(52)
        .y_label_area_size(76)
        .build_cartesian_2d(Laid::horizontal(figure), Laid::vertical(figure))?;
    let mut mesh = chart.configure_mesh();
    mesh.axis_style(RULE)
        .bold_line_style(RULE)
        .light_line_style(TRANSPARENT)
        .label_style(words(17, &FAINT))
        .axis_desc_style(words(18, &INK))
        .x_desc(figure.x.title())
        .y_desc(figure.y.title());
    let has_names = matches!(figure.x.scale, Scale::Names { .. });
    if has_names {
        mesh.disable_x_mesh();
    }
    mesh.draw()?;

    for line in &figure.references {
        let (left, right) = (chart.x_range().start, chart.x_range().end);
        let ends = [left, right].map(|x| chart.backend_coord(&(x, line.y)));
        area.draw(&PathElement::new(ends, FAINT))?;
        let style = words(16, &FAINT).pos(Pos::new(HPos::Right, VPos::Bottom));
        area.draw(&Text::new(
            line.label.clone(),
            (ends[1].0 - 4, ends[1].1 - 3),
            style,
        ))?;
    }
    for (index, series) in figure.series.iter().enumerate() {
        let place = |x: f64, y: f64| chart.backend_coord(&(x, y));
        match &figure.x.scale {
            Scale::Names { .. } => {
                // Columns of several series stand side by side.
                let middle = COLUMN * (2 * index as i32 + 1 - figure.series.len() as i32) / 2;
                draw_columns(area, series, index, |x, y| {
                    (place(x, y).0 + middle, place(x, y).1)
                })?;
            }
            Scale::Linear { .. } | Scale::Log => draw_line(area, series, index, place)?,
        }
    }
    area.present()
}

/// The width of a column.
const COLUMN: i32 = 52;

fn draw_columns(
    area: &Area<'_>,
    series: &Series,
    index: usize,
    place: impl Fn(f64, f64) -> (i32, i32),
) -> Drawn {
    let colour = COLOURS[index % COLOURS.len()];
    for point in &series.points {
        let ((x, top), (_, foot)) = (place(point.x, point.y), place(point.x, 0.0));
        let corners = [(x - COLUMN / 2 + 1, top), (x + COLUMN / 2 - 1, foot)];
        area.draw(&Rectangle::new(corners, colour.mix(0.85).filled()))?;
        draw_interval(area, point, INK.stroke_width(1), &place)?;
    }
    Ok(())
}

fn draw_line(
    area: &Area<'_>,
    series: &Series,
    index: usize,
    place: impl Fn(f64, f64) -> (i32, i32),
) -> Drawn {
    let colour = COLOURS[index % COLOURS.len()];
    let line: Vec<_> = series
        .points
        .iter()
        .map(|point| place(point.x, point.y))
        .collect();
    area.draw(&PathElement::new(line, colour.stroke_width(2)))?;
    for point in &series.points {
        draw_interval(area, point, colour.stroke_width(1), &place)?;
        mark(area, index, place(point.x, point.y))?;
    }
    Ok(())
}

fn draw_interval(
    area: &Area<'_>,
    point: &Point,
    style: ShapeStyle,
    place: impl Fn(f64, f64) -> (i32, i32),
) -> Drawn {
    let (Some(low), Some(high)) = (point.low, point.high) else {
        return Ok(());
    };
    let ((x, low), (_, high)) = (place(point.x, low), place(point.x, high));
    for ends in [
        [(x, low), (x, high)],
        [(x - 4, low), (x + 4, low)],
        [(x - 4, high), (x + 4, high)],
    ] {
        area.draw(&PathElement::new(ends, style))?;
    }
    Ok(())
}

/// The mark of a series: shape and colour both tell it from the others.
fn mark(area: &Area<'_>, index: usize, (x, y): (i32, i32)) -> Drawn {
    let colour = COLOURS[index % COLOURS.len()];
    let filled = colour.filled();
    let stroke = colour.stroke_width(2);
    match index % COLOURS.len() {
        0 => area.draw(&Circle::new((x, y), 5, filled)),
        1 => area.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], filled)),
        2 => area.draw(&Polygon::new(
            [(x, y - 6), (x + 5, y + 4), (x - 5, y + 4)],
            filled,
        )),
        3 => area.draw(&Polygon::new(
            [(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)],
            filled,
        )),
        4 => area.draw(&Cross::new((x, y), 4, stroke)),
        5 => area.draw(&Circle::new((x, y), 5, stroke)),
        6 => {
            area.draw(&Cross::new((x, y), 4, stroke))?;
            area.draw(&PathElement::new([(x, y - 6), (x, y + 6)], stroke))
        }
        _ => area.draw(&Polygon::new(
            [(x, y + 6), (x + 5, y - 4), (x - 5, y - 4)],
            filled,
        )),
    }
}

/// The series' names with their marks, in as many rows as they need. Returns the height taken.
fn legend(area: &Area<'_>, figure: &Figure) -> Result<i32, DrawingAreaErrorKind<std::io::Error>> {
    const ROW: i32 = 24;
    const LEFT: i32 = 90;
    let style = (FONT, 17)
        .into_font()
        .color(&INK)
        .pos(Pos::new(HPos::Left, VPos::Center));
    let (mut x, mut y) = (LEFT, 20);
    if figure.series.len() < 2 {
        return Ok(0);
    }
    for (index, series) in figure.series.iter().enumerate() {
        let width = 30 + area.estimate_text_size(&series.name, &style)?.0 as i32 + 16;
        if x + width > SIZE.0 as i32 && x > LEFT {
            (x, y) = (LEFT, y + ROW);
        }
        mark(area, index, (x + 8, y))?;
        area.draw(&Text::new(series.name.clone(), (x + 22, y), style.clone()))?;
        x += width;
    }
    Ok(y + ROW / 2)
}

/// Makes the picture scale with the page and speak to a screen reader.
fn described(text: &str, figure: &Figure) -> String {
    let (_, body) = text
        .split_once('>')
        .expect("the backend begins with the svg element");
    let (width, height) = SIZE;
    let id = &figure.id;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-description\">\n\
         <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-description\">{}</desc>{body}",
        escaped(&figure.title),
        escaped(&figure.description),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
