//! Values over numbers: a line for each series, named at its right end.

use plotters::{prelude::*, style::text_anchor::HPos};

use super::{
    super::{
        axis::Laid,
        figure::{Figure, Series, UNEQUAL},
    },
    Area, Drawn, FOOT, HEAD, MARGIN,
    style::{FAINT, INK, RULE, colour, mark, whisker, words, words_at},
};

/// Between the names of neighbours.
const NAME: i32 = 18;
/// What a character takes, at most.
const CHARACTER: usize = 9;

/// As high as most figures are, or as the names need.
pub(super) fn height(figure: &Figure) -> u32 {
    let names = figure.series.len() as i32 * NAME + HEAD + 2 * MARGIN;
    430.max(names as u32 + FOOT)
}

pub(super) fn draw(area: &Area<'_>, plot: &Area<'_>, figure: &Figure) -> Drawn {
    let names = figure
        .series
        .iter()
        .map(|series| series.name.chars().count());
    // One series needs no name: the title names it.
    let names = match figure.series.len() {
        0 | 1 => 20,
        _ => (names.max().unwrap_or(0) * CHARACTER + 44).min(260) as u32,
    };
    let mut chart = ChartBuilder::on(plot)
        .margin_left(MARGIN)
        .margin_right(names)
        .margin_top(MARGIN / 2)
        .margin_bottom(MARGIN / 2)
        .x_label_area_size(FOOT)
        .y_label_area_size(76)
        .build_cartesian_2d(Laid::horizontal(figure), Laid::values(figure))?;
    chart
        .configure_mesh()
        .axis_style(RULE)
        .bold_line_style(RULE)
        .light_line_style(TRANSPARENT)
        .label_style(words(17, &FAINT))
        .axis_desc_style(words(18, &INK))
        .x_desc(figure.x.title())
        .y_desc(figure.y.title())
        .draw()?;

    let (across, along) = (chart.x_range(), chart.y_range());
    let place = |x: f64, y: f64| chart.backend_coord(&(x, y));
    for line in &figure.references {
        let ends = [across.start, across.end].map(|x| place(x, line.y));
        area.draw(&PathElement::new(ends, FAINT))?;
        let style = words_at(HPos::Left, 16, &FAINT);
        area.draw(&Text::new(
            line.label.clone(),
            (ends[0].0 + 4, ends[0].1 - 9),
            style,
        ))?;
    }
    for (index, series) in figure.series.iter().enumerate() {
        let colour = colour(index);
        let points = series.points.iter();
        let line: Vec<_> = points.map(|point| place(point.x, point.y)).collect();
        if line.len() > 1 {
            area.draw(&PathElement::new(line, colour.stroke_width(2)))?;
        }
        for point in &series.points {
            whisker(area, point, colour.stroke_width(1), |y| place(point.x, y))?;
            let (x, y) = place(point.x, point.y);
            mark(area, index, (x, y))?;
            if point.unequal {
                let style = words_at(HPos::Left, 17, &INK);
                area.draw(&Text::new(UNEQUAL, (x + 6, y - 7), style))?;
            }
        }
    }
    if figure.series.len() < 2 {
        return Ok(());
    }
    let right = place(across.end, along.end);
    let ends = |series: &Series| series.points.last().map(|point| place(point.x, point.y));
    name_lines(area, figure, ends, right, place(across.end, along.start).1)
}

/// The name of each series at the height of its last point, or as near to it as its neighbours let it be.
fn name_lines(
    area: &Area<'_>,
    figure: &Figure,
    end: impl Fn(&Series) -> Option<(i32, i32)>,
    (right, top): (i32, i32),
    bottom: i32,
) -> Drawn {
    let mut named: Vec<(usize, &Series, (i32, i32))> = figure
        .series
        .iter()
        .enumerate()
        .filter_map(|(index, series)| Some((index, series, end(series)?)))
        .collect();
    named.sort_by_key(|(_, _, (_, y))| *y);
    let wanted: Vec<i32> = named.iter().map(|(_, _, (_, y))| *y).collect();
    for ((index, series, (x, y)), at) in named.into_iter().zip(apart(&wanted, NAME, (top, bottom)))
    {
        let colour = colour(index);
        let lead = [(x + 7, y), (right + 2, y), (right + 10, at)];
        area.draw(&PathElement::new(lead, colour.mix(0.5).stroke_width(1)))?;
        mark(area, index, (right + 18, at))?;
        let style = words_at(HPos::Left, 17, &INK);
        area.draw(&Text::new(series.name.clone(), (right + 29, at), style))?;
    }
    Ok(())
}

/// Places as near as can be to those wanted, which ascend, with a gap between neighbours and inside of bounds that have
/// room for them.
fn apart(wanted: &[i32], gap: i32, (least, most): (i32, i32)) -> Vec<i32> {
    let mut placed: Vec<i32> = Vec::with_capacity(wanted.len());
    for &place in wanted {
        let free = placed.last().map_or(least, |last| last + gap);
        placed.push(place.max(free));
    }
    let mut free = most;
    for place in placed.iter_mut().rev() {
        *place = (*place).min(free);
        free = *place - gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_distance_and_stay_inside() {
        assert_eq!(apart(&[10, 100], 18, (0, 200)), [10, 100]);
        assert_eq!(apart(&[50, 51, 52], 18, (0, 200)), [50, 68, 86]);
        assert_eq!(apart(&[199, 200, 200], 18, (0, 200)), [164, 182, 200]);
        assert_eq!(apart(&[-5], 18, (0, 200)), [0]);
        assert_eq!(apart(&[], 18, (0, 200)), Vec::<i32>::new());
    }
}
