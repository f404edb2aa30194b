//! A figure as a still picture.
//!
//! Named places have bars that lie, with the value beside each; numbers have lines, named at their right end. The page's
//! script draws the same.

mod bars;
mod lines;
mod style;

use plotters::{coord::Shift, prelude::*};

use self::style::{FAINT, INK, words};
use super::figure::{Figure, Scale};

const WIDTH: u32 = 760;
const MARGIN: i32 = 16;
/// What the title takes.
const HEAD: i32 = 48;
/// What the words of the horizontal axis take.
const FOOT: u32 = 52;
/// What the remark below the plot takes.
const REMARK: u32 = 26;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The figure as SVG text, with a white ground, its title, and its description for who cannot see it.
pub fn svg(figure: &Figure) -> String {
    let remark = figure.remark.as_ref().map_or(0, |_| REMARK);
    let size = (
        WIDTH,
        remark
            + match &figure.x.scale {
                Scale::Names { labels } => bars::height(figure, labels),
                Scale::Linear { .. } | Scale::Log => lines::height(figure),
            },
    );
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    // The backend writes to memory, which does not fail.
    draw(&area, figure).expect("a string takes all that is written to it");
    drop(area);
    described(&text, figure, size)
}

fn draw(area: &Area<'_>, figure: &Figure) -> Drawn {
    area.fill(&WHITE)?;
    area.draw(&Text::new(
        figure.title.clone(),
        (MARGIN, MARGIN),
        words(22, &INK),
    ))?;
    let (_, mut plot) = area.split_vertically(HEAD);
    if let Some(remark) = &figure.remark {
        let height = plot.dim_in_pixel().1 - REMARK;
        let at = (MARGIN, HEAD + height as i32 + 4);
        area.draw(&Text::new(remark.clone(), at, words(15, &FAINT)))?;
        (plot, _) = plot.split_vertically(height);
    }
    match &figure.x.scale {
        Scale::Names { labels } => bars::draw(area, &plot, figure, labels)?,
        Scale::Linear { .. } | Scale::Log => lines::draw(area, &plot, figure)?,
    }
    area.present()
}

/// Makes the picture scale with the page and speak to a screen reader.
fn described(text: &str, figure: &Figure, (width, height): (u32, u32)) -> String {
    let (_, body) = text
        .split_once('>')
        .expect("the backend begins with the svg element");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figure::{Axis, Point, Reference, Series};

    /// Lines that touch, and bars; each with words that mean something in XML.
    fn figure(scale: Scale, y_scale: Scale, series: usize) -> Figure {
        let places = match &scale {
            Scale::Names { labels } => labels.len(),
            _ => 4,
        };
        let point = |place: usize, index: usize| {
            let y = 100.0 / (1.0 + place as f64) + index as f64 * 0.01;
            Point {
                x: place as f64 + f64::from(u8::from(!matches!(scale, Scale::Names { .. }))),
                y,
                low: Some(if place == 0 { y } else { y * 0.9 }),
                high: Some(if place == 0 { y } else { y * 1.1 }),
                note: None,
                unequal: place == 1,
            }
        };
        Figure {
            id: "a-figure".to_owned(),
            title: "A & <title>".to_owned(),
            description: "A <description>".to_owned(),
            x: Axis {
                label: "Place".to_owned(),
                unit: None,
                scale: scale.clone(),
            },
            y: Axis {
                label: "Value".to_owned(),
                unit: Some("ms".to_owned()),
                scale: y_scale,
            },
            series: (0..series)
                .map(|index| Series {
                    name: format!("series {index}"),
                    points: (0..places).map(|place| point(place, index)).collect(),
                })
                .collect(),
            remark: Some("* another & job".to_owned()),
            references: vec![Reference {
                y: 50.0,
                label: "half".to_owned(),
            }],
        }
    }

    fn linear() -> Scale {
        Scale::Linear { ticks: Vec::new() }
    }

    #[test]
    fn every_kind_is_drawn_inside_its_frame() {
        let names = Scale::Names {
            labels: vec!["a".to_owned(), "b & c".to_owned()],
        };
        for x in [names, linear(), Scale::Log] {
            for y in [linear(), Scale::Log] {
                for series in [1, 3, 17] {
                    let text = svg(&figure(x.clone(), y.clone(), series));
                    assert!(text.contains("A &amp; &lt;title&gt;") && text.contains("half"));
                    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
                    assert_inside(&text);
                    assert!(text.contains("* another &amp; job"), "{text}");
                    let signs = text.lines().filter(|line| {
                        *line == "*" || (line.ends_with(" *") && line.contains(" to "))
                    });
                    assert_eq!(signs.count(), series, "one point of each series: {text}");
                    assert_strokes_have_length(&text);
                }
            }
        }
    }

    /// A stroke between a place and itself draws nothing, and renderers complain of it.
    fn assert_strokes_have_length(text: &str) {
        let strokes = text.match_indices("<polyline").filter_map(|(at, _)| {
            let (_, points) = text[at..].split_once(" points=\"")?;
            points.split('"').next()
        });
        for points in strokes {
            let mut places: Vec<&str> = points.split_whitespace().collect();
            places.dedup();
            assert!(places.len() > 1, "{points}");
        }
    }

    /// No coordinate lies outside of the picture.
    fn assert_inside(text: &str) {
        let number = |attribute: &str| -> Vec<f64> {
            let ends = text
                .match_indices(attribute)
                .map(|(at, _)| at + attribute.len());
            ends.filter_map(|end| text[end..].split('"').next()?.parse().ok())
                .collect()
        };
        let height = text
            .split_once("viewBox=\"0 0 760 ")
            .and_then(|(_, rest)| rest.split('"').next()?.parse::<f64>().ok())
            .expect("the picture says its height");
        for (attribute, most) in [
            (" x=\"", 760.0),
            (" cx=\"", 760.0),
            (" y=\"", height),
            (" cy=\"", height),
        ] {
            let places = number(attribute);
            assert!(!attribute.contains('c') || places.iter().all(|place| *place >= 0.0));
            for place in places {
                assert!(
                    (0.0..=most).contains(&place),
                    "{attribute}{place} of {most}"
                );
            }
        }
    }

    #[test]
    fn lines_that_end_together_are_named_apart() {
        let text = svg(&figure(linear(), linear(), 17));
        let mut places: Vec<i32> = (0..17)
            .map(|index| {
                let name = format!("series {index}\n");
                let before = &text[..text.find(&name).expect("every series is named")];
                let y = before.rsplit_once(" y=\"").expect("words have a place").1;
                y.split('"')
                    .next()
                    .expect("it ends")
                    .parse()
                    .expect("a number")
            })
            .collect();
        places.sort_unstable();
        assert!(
            places.windows(2).all(|pair| pair[1] - pair[0] >= 15),
            "{places:?}"
        );
    }
}
