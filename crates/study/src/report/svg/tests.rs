//! Drawings of made-up figures: whatever they show, they are well formed, inside of their frame, and say what they
//! should.

use std::collections::BTreeSet;

use super::*;
use crate::report::figure::{Axis, Layout, Mark, Point, Reference};

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
            note: Some("a <note>".to_owned()),
            label: None,
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
                name: if index == 1 {
                    "own".to_owned()
                } else {
                    format!("series {index}")
                },
                points: (0..places).map(|place| point(place, index)).collect(),
                is_published: index == 2,
            })
            .collect(),
        remark: Some("* another & job".to_owned()),
        references: vec![Reference {
            y: 50.0,
            label: "half".to_owned(),
        }],
        marks: vec![Mark {
            x: 1.0,
            label: "a mark".to_owned(),
        }],
        layout: Layout::Usual,
    }
}

fn linear() -> Scale {
    Scale::Linear { ticks: Vec::new() }
}

fn names() -> Scale {
    Scale::Names {
        labels: vec!["own".to_owned(), "b & c".to_owned()],
    }
}

#[test]
fn every_kind_is_drawn_inside_its_frame() {
    for x in [names(), linear(), Scale::Log] {
        for y in [linear(), Scale::Log] {
            for series in [1, 3, 17] {
                let figure = figure(x.clone(), y.clone(), series);
                let drawings = drawings(&figure);
                assert_eq!(drawings.len(), 4);
                for Drawing { svg, width, .. } in drawings {
                    assert!(svg.contains("A &amp; &lt;title&gt;") && svg.contains("half"));
                    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
                    assert_inside(&svg, if width == "wide" { 860.0 } else { 344.0 });
                    assert!(svg.contains("* another &amp; job"), "{svg}");
                    let signs = svg.matches(">*</text>").count() + svg.matches(" *</text>").count();
                    assert_eq!(signs, series, "one point of each series: {svg}");
                    assert_eq!(svg.matches("class=\"point\"").count(), series * places(&x));
                    resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).unwrap();
                }
            }
        }
    }
}

fn places(scale: &Scale) -> usize {
    match scale {
        Scale::Names { labels } => labels.len(),
        _ => 4,
    }
}

/// No coordinate lies outside of the picture.
fn assert_inside(svg: &str, width: f64) {
    let height = svg.split_once(&format!("viewBox=\"-14 -6 {} ", width + 28.0));
    let height = height.and_then(|(_, rest)| rest.split('"').next()?.parse::<f64>().ok());
    let height = height.expect("the picture says its height");
    let (_, svg) = svg.split_once("fill=\"#fff\"/>").expect("it has a ground");
    let numbers = |attribute: &str| -> Vec<f64> {
        let ends = svg.match_indices(attribute).map(|(at, _)| at + attribute.len());
        ends.filter_map(|end| svg[end..].split('"').next()?.parse().ok())
            .collect()
    };
    for (attribute, most) in [
        (" x=\"", width),
        (" cx=\"", width),
        (" y=\"", height),
        (" cy=\"", height),
    ] {
        for place in numbers(attribute) {
            assert!((0.0..=most).contains(&place), "{attribute}{place} of {most}: {svg}");
        }
    }
}

#[test]
fn the_page_shows_the_file_and_has_the_other_scale_where_it_can() {
    let mut figure = figure(linear(), linear(), 2);
    let all = drawings(&figure);
    assert_eq!(all[0].svg, svg(&figure));
    let kinds = |drawings: &[Drawing]| -> Vec<(&str, &str, bool)> {
        let kinds = drawings.iter().map(|it| (it.width, it.scale, it.is_first));
        kinds.collect()
    };
    assert_eq!(
        kinds(&all),
        [
            ("wide", "linear", true),
            ("narrow", "linear", true),
            ("wide", "log", false),
            ("narrow", "log", false)
        ]
    );
    // The first describes its points for all of them.
    let titles = |drawing: &Drawing| drawing.svg.matches("<title>").count();
    assert_eq!(all.iter().map(titles).collect::<Vec<_>>(), [8, 0, 0, 0]);
    figure.series[0].points[0].low = Some(0.0);
    assert_eq!(drawings(&figure).len(), 2, "nothing below zero has a logarithm");
}

#[test]
fn a_point_says_what_it_is() {
    let svg = svg(&figure(linear(), linear(), 2));
    let expected =
        "<title>own\nPlace: 2\n50.01 ms\ninterval 45.01 to 55.01\n* another &amp; job\na &lt;note&gt;</title>";
    assert!(svg.contains(expected), "{svg}");
    let svg = super::svg(&figure(names(), linear(), 1));
    assert!(
        svg.contains("<title>own\n100.0 ms\ninterval 100.0 to 100.0\na &lt;note&gt;</title>"),
        "{svg}"
    );
}

#[test]
fn our_own_engine_stands_out_and_says_why() {
    let among_others = svg(&figure(names(), linear(), 1));
    assert!(among_others.contains("rsalab's own engine"));
    assert_eq!(
        among_others.matches("class=\"s0 own\"").count(),
        2,
        "its bar and the key"
    );
    assert_eq!(among_others.matches("class=\"other\"").count(), 1);
    let bold = among_others.lines().find(|line| line.contains(">own<"));
    assert!(bold.unwrap().contains("font-weight=\"700\""));
    let lines = svg(&figure(linear(), linear(), 2));
    assert_eq!(lines.matches("stroke-width=\"3.5\"").count(), 1, "its line is thick");
    let alone = figure(linear(), linear(), 1);
    assert!(!svg(&alone).contains("rsalab's own engine"));
}

#[test]
fn lines_that_end_together_are_named_apart() {
    let text = svg(&figure(linear(), linear(), 17));
    let mut places: Vec<f64> = text
        .lines()
        .filter(|line| line.starts_with("<text"))
        .filter(|line| line.contains(">series ") || line.contains(">own<"))
        .map(|line| {
            let (_, rest) = line.split_once(" y=\"").expect("words have a place");
            rest.split('"').next().expect("it ends").parse().expect("a number")
        })
        .collect();
    assert_eq!(places.len(), 17);
    places.sort_by(f64::total_cmp);
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 15.0), "{places:?}");
}

#[test]
fn steps_are_told_apart_without_colours() {
    let mut steps = figure(linear(), linear(), 3);
    steps.layout = Layout::Steps;
    let text = svg(&steps);
    let is_of_shape = |sign: &char| !(sign.is_ascii_digit() || matches!(sign, '.' | '-' | ' '));
    let shapes = |series: &str| -> BTreeSet<String> {
        let marks = series.lines().filter(|line| line.contains("class=\"mark\""));
        marks.map(|mark| mark.chars().filter(is_of_shape).collect()).collect()
    };
    let of_series: Vec<BTreeSet<String>> = text.split("class=\"series\"").skip(1).map(shapes).collect();
    // One shape for the points of a line and for its name, another one for each line.
    assert!(of_series.iter().all(|shapes| shapes.len() == 1), "{of_series:?}");
    let all: BTreeSet<&String> = of_series.iter().flatten().collect();
    assert_eq!(all.len(), 3, "{all:?}");
}
