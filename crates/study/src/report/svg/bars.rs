//! Values of named places: bars that lie, the names to the left, the values with their intervals to the right.

use plotters::{prelude::*, style::text_anchor::HPos};

use super::{
    super::{
        axis::Laid,
        figure::{Figure, Point, UNEQUAL},
    },
    Area, Drawn, FOOT, HEAD, MARGIN, WIDTH,
    style::{FAINT, INK, RULE, colour, mark, whisker, words, words_at},
};
use crate::number;

const BAR: i32 = 18;
/// Between bars of one place.
const GAP: i32 = 4;
/// Between places.
const SPACE: i32 = 14;
const LEGEND_ROW: i32 = 24;
/// What a character takes, at most.
const CHARACTER: usize = 9;

pub(super) fn height(figure: &Figure, labels: &[String]) -> u32 {
    let place = figure.series.len() as i32 * (BAR + GAP) - GAP + SPACE;
    let places = labels.len().max(1) as i32 * place;
    (HEAD + legend_height(figure) + places + MARGIN) as u32 + FOOT
}

pub(super) fn draw(area: &Area<'_>, plot: &Area<'_>, figure: &Figure, labels: &[String]) -> Drawn {
    legend(area, figure)?;
    let (_, plot) = plot.split_vertically(legend_height(figure));
    let characters = labels.iter().map(|label| label.chars().count()).max();
    let names = (characters.unwrap_or(0) * CHARACTER + 20).clamp(60, 260) as u32;
    let values = figure.series.iter().flat_map(|series| &series.points);
    let characters = values.map(|point| value_words(point).chars().count()).max();
    let values = (characters.unwrap_or(0) * (CHARACTER - 1) + 16).clamp(60, 260) as u32;

    let mut chart = ChartBuilder::on(&plot)
        .margin_left(MARGIN)
        .margin_right(values)
        .margin_bottom(MARGIN / 2)
        .x_label_area_size(FOOT)
        .y_label_area_size(names)
        .build_cartesian_2d(Laid::values(figure), Laid::names(labels))?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .axis_style(RULE)
        .bold_line_style(RULE)
        .light_line_style(TRANSPARENT)
        .label_style(words(17, &FAINT))
        .y_label_style(words(17, &INK))
        .axis_desc_style(words(18, &INK))
        .x_desc(figure.y.title())
        .draw()?;

    let range = chart.x_range();
    let foot = Laid::values(figure).foot();
    let place = |value: f64, slot: f64| chart.backend_coord(&(value, slot));
    for line in &figure.references {
        let (top, bottom) = (
            place(line.y, -0.5),
            place(line.y, labels.len() as f64 - 0.5),
        );
        area.draw(&PathElement::new([top, bottom], FAINT))?;
        let style = words_at(HPos::Left, 16, &FAINT);
        area.draw(&Text::new(
            line.label.clone(),
            (top.0 + 4, top.1 + 6),
            style,
        ))?;
    }
    let right = place(range.end, 0.0).0 + 12;
    for (index, series) in figure.series.iter().enumerate() {
        let shift = (BAR + GAP) * (2 * index as i32 + 1 - figure.series.len() as i32) / 2;
        for point in &series.points {
            let at = |value: f64| {
                let (x, y) = place(value, point.x);
                (x, y + shift)
            };
            let (x, y) = at(point.y);
            match foot {
                Some(foot) => {
                    let corners = [(at(foot).0, y - BAR / 2), (x, y + BAR / 2)];
                    let fill = colour(index).mix(0.85).filled();
                    area.draw(&Rectangle::new(corners, fill))?;
                    whisker(area, point, INK.stroke_width(1), at)?;
                }
                None => {
                    whisker(area, point, colour(index).stroke_width(1), at)?;
                    mark(area, index, (x, y))?;
                }
            }
            let style = words_at(HPos::Left, 16, &INK);
            area.draw(&Text::new(value_words(point), (right, y), style))?;
        }
    }
    Ok(())
}

/// The value and its interval, as the tables have it, and the sign of a point that has one.
fn value_words(point: &Point) -> String {
    let value = number::significant(point.y);
    let words = match (point.low, point.high) {
        (Some(low), Some(high)) => format!(
            "{value} ({} to {})",
            number::significant(low),
            number::significant(high)
        ),
        _ => value,
    };
    match point.unequal {
        true => format!("{words} {UNEQUAL}"),
        false => words,
    }
}

/// One series needs no legend: the title names it.
fn legend_height(figure: &Figure) -> i32 {
    match legend_places(figure).last() {
        Some((_, y)) if figure.series.len() > 1 => y + LEGEND_ROW / 2 - HEAD,
        _ => 0,
    }
}

fn legend(area: &Area<'_>, figure: &Figure) -> Drawn {
    if figure.series.len() < 2 {
        return Ok(());
    }
    let style = words_at(HPos::Left, 17, &INK);
    let places = legend_places(figure);
    for (index, (series, (x, y))) in figure.series.iter().zip(places).enumerate() {
        mark(area, index, (x + 6, y))?;
        area.draw(&Text::new(series.name.clone(), (x + 18, y), style.clone()))?;
    }
    Ok(())
}

/// Where each series is named, in as many rows as they need.
fn legend_places(figure: &Figure) -> Vec<(i32, i32)> {
    let (mut x, mut y) = (MARGIN, HEAD + LEGEND_ROW / 2);
    let next = |name: &String| {
        let width = (name.chars().count() * CHARACTER + 34) as i32;
        if x > MARGIN && x + width > WIDTH as i32 - MARGIN {
            (x, y) = (MARGIN, y + LEGEND_ROW);
        }
        let place = (x, y);
        x += width;
        place
    };
    figure
        .series
        .iter()
        .map(|series| &series.name)
        .map(next)
        .collect()
}
