//! The model of a figure: one truth for its drawings and its data.

use rsalab_measure::Estimate;
use serde::{Deserialize, Serialize};

use super::names;

/// A figure, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Unique in the report, and the name of its file.
    pub id: String,
    /// The title.
    pub title: String,
    /// The title in full for who cannot see the figure, with the meaning of the intervals.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves or bars.
    pub series: Vec<Series>,
    /// The meaning of the sign of [unequal](Point::unequal) points, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Horizontal lines to compare with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Vertical lines at places that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// How it is drawn.
    #[serde(default, skip_serializing_if = "Layout::is_usual")]
    pub layout: Layout,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Bars where places have names, else lines.
    #[default]
    Usual,
    /// A value holds from its place to the next one.
    Steps,
    /// The series are five quantiles of each named place.
    Boxes,
    /// The series are the rows, named places the columns; their points are the cells.
    Map,
}

impl Layout {
    fn is_usual(&self) -> bool {
        *self == Layout::Usual
    }
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name.
    pub label: String,
    /// In which unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How values become places; also whether places have names instead of numbers.
    #[serde(flatten)]
    pub scale: Scale,
}

/// How values become places on an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scale", rename_all = "snake_case")]
pub enum Scale {
    /// Evenly, with marks at these values if any are named.
    Linear {
        /// Where the marks are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ticks: Vec<f64>,
    },
    /// By their logarithm; all values are positive.
    Log,
    /// The values 0, 1, 2 … stand for these names.
    Names {
        /// The names.
        labels: Vec<String>,
    },
}

/// Points that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name of their engine.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
    /// `true` if it was printed in an article, and not measured here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_published: bool,
}

/// A value with its interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Place on the horizontal axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Lower end of the interval, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// A few characters that stand beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `true` if it was obtained under other conditions than what it is compared with: it has a sign.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unequal: bool,
}

impl Point {
    /// A value with its interval, if it has one.
    pub(crate) fn at(x: f64, estimate: &Estimate) -> Point {
        let has_interval = estimate.confidence > 0.0;
        Point {
            x,
            y: estimate.value,
            low: has_interval.then_some(estimate.low),
            high: has_interval.then_some(estimate.high),
            ..Point::default()
        }
    }
}

/// The sign of an unequal point.
pub(super) const UNEQUAL: &str = "*";

/// A horizontal line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Where it is.
    pub y: f64,
    /// Its meaning.
    pub label: String,
}

/// A vertical line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Its place on the horizontal axis, among those of the points.
    pub x: f64,
    /// Its meaning.
    pub label: String,
}

impl Figure {
    /// Everything that the axis of the values has to show. An interval that is far wider than the values differ is
    /// shown in part, lest it press all values into a corner; its ends are in the words of its point.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        const MOST: f64 = 2.0;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let lines = || self.references.iter().map(|line| line.y);
        let shown = || points().map(|point| point.y).chain(lines());
        let largest = shown().fold(f64::NEG_INFINITY, f64::max);
        let least = shown().fold(f64::INFINITY, f64::min);
        let low = move |low: f64| {
            // An end at zero stays: it has no logarithm, and so keeps the figure from that scale.
            if low > 0.0 && least > 0.0 {
                low.max(least / MOST)
            } else {
                low
            }
        };
        let high = move |high: f64| {
            if largest > 0.0 { high.min(largest * MOST) } else { high }
        };
        let of_points = points().flat_map(move |point| [Some(point.y), point.low.map(low), point.high.map(high)]);
        of_points.flatten().chain(lines())
    }
}

impl Series {
    /// Returns whether it shows our own engine.
    pub(super) fn is_own(&self) -> bool {
        names::is_own(&self.name)
    }
}

impl Scale {
    /// Evenly, with marks at round values.
    pub(crate) const EVEN: Scale = Scale::Linear { ticks: Vec::new() };
}

impl Axis {
    pub(super) fn new(label: &str, unit: Option<&str>, scale: Scale) -> Axis {
        Axis {
            label: label.to_owned(),
            unit: unit.map(str::to_owned),
            scale,
        }
    }

    /// The label with its unit.
    pub fn title(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} ({unit})", self.label),
            None => self.label.clone(),
        }
    }
}
