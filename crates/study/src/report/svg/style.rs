//! Colours, marks and words of a still picture.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{super::figure::Point, Area, Drawn};

const FONT: &str = "'DejaVu Sans', system-ui, 'Segoe UI', Roboto, sans-serif";
pub(super) const INK: RGBColor = RGBColor(0x1c, 0x21, 0x26);
pub(super) const FAINT: RGBColor = RGBColor(0x5d, 0x66, 0x6f);
pub(super) const RULE: RGBColor = RGBColor(0xdc, 0xdf, 0xe2);
/// The colours of the page's light form, in the same order.
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

pub(super) fn colour(style: usize) -> RGBColor {
    COLOURS[style % COLOURS.len()]
}

/// Words whose place is their left upper corner.
pub(super) fn words(size: i32, colour: &RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(colour)
}

/// Words whose place is the middle of one end.
pub(super) fn words_at(end: HPos, size: i32, colour: &RGBColor) -> TextStyle<'static> {
    words(size, colour).pos(Pos::new(end, VPos::Center))
}

/// The mark of a series: shape and colour both tell it from the others, so that 64 styles differ.
pub(super) fn mark(area: &Area<'_>, style: usize, (x, y): (i32, i32)) -> Drawn {
    let colour = colour(style);
    let filled = colour.filled();
    let stroke = colour.stroke_width(2);
    match (style + style / COLOURS.len()) % COLOURS.len() {
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

/// The whisker of a point, where it has an interval. `place` turns a value into a place of the picture.
pub(super) fn whisker(
    area: &Area<'_>,
    point: &Point,
    style: ShapeStyle,
    place: impl Fn(f64) -> (i32, i32),
) -> Drawn {
    let (Some(low), Some(high)) = (point.low, point.high) else {
        return Ok(());
    };
    let (low, high) = (place(low), place(high));
    // The caps stand across the whisker, which lies or stands.
    let (across, along) = if low.1 == high.1 && low.0 != high.0 {
        (0, 4)
    } else {
        (4, 0)
    };
    let cap = |(x, y): (i32, i32)| [(x - across, y - along), (x + across, y + along)];
    // An interval of no length has no stem.
    let stem = (low != high).then_some([low, high]);
    for ends in stem.into_iter().chain([cap(low), cap(high)]) {
        area.draw(&PathElement::new(ends, style))?;
    }
    Ok(())
}
