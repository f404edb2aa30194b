//! How series are told apart: by colour, by mark, and our own by weight as well.

use super::{
    super::figure::Series,
    canvas::{Canvas, at},
};

/// The colours of the page's light theme, in the order of its classes `s0` to `s7`. The first belongs to our own
/// engines.
const COLOURS: [&str; 8] = [
    "#0069a8", "#c4460a", "#00785a", "#a33e8c", "#7a5c00", "#3f4d9b", "#b3203a", "#4a5660",
];
const OTHERS: usize = COLOURS.len() - 1;
const HOLLOW: &str = " fill=\"none\"";
/// The fill of other engines' bars.
const MUTED: &str = "#9aa7b1";

/// The look of a series.
#[derive(Clone, Copy)]
pub(super) struct Style {
    colour: usize,
    mark: usize,
    is_dashed: bool,
    pub(super) is_own: bool,
    /// Printed in an article, not measured here: a thin dotted line with hollow marks.
    is_published: bool,
}

/// A look for each series, different from all others up to 49 of one kind. Published ones are dotted, with hollow
/// marks.
pub(super) fn styles(series: &[Series]) -> Vec<Style> {
    let (mut own, mut others) = (0, 0);
    let style = |series: &Series| match series.is_own() {
        true => {
            own += 1;
            // The first has our colour; its variants have the others', from the end on, and our weight.
            let colour = if own == 1 {
                0
            } else {
                1 + (OTHERS - 1) - (own - 2) % OTHERS
            };
            Style {
                colour,
                mark: (own - 1) % 8,
                is_dashed: own > 1,
                is_own: true,
                is_published: false,
            }
        }

        false => {
            let place = others;
            others += 1;
            Style {
                colour: 1 + place % OTHERS,
                mark: (1 + place % OTHERS + place / OTHERS) % 8,
                is_dashed: place >= OTHERS,
                is_own: false,
                is_published: series.is_published,
            }
        }
    };
    series.iter().map(style).collect()
}

impl Style {
    /// Attributes of a group in which everything has the series' colour.
    pub(super) fn group(self) -> String {
        let width = if self.is_own { 1.8 } else { 1.4 };
        coloured(&format!("s{}", self.colour), COLOURS[self.colour], width)
    }

    /// Attributes of the line.
    pub(super) fn line(self) -> String {
        let (width, dashes) = match self {
            Style { is_published: true, .. } => (1.2, " stroke-dasharray=\"1.5 4\""),
            Style { is_own, is_dashed, .. } => (
                if is_own { 3.5 } else { 1.8 },
                if is_dashed { " stroke-dasharray=\"7 4\"" } else { "" },
            ),
        };
        format!(" class=\"line\" fill=\"none\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}")
    }

    /// The mark of a point.
    pub(super) fn mark(self, canvas: &mut Canvas, x: f64, y: f64) {
        let size = if self.is_own { 4.6 } else { 3.6 };
        let to = |dx: f64, dy: f64| format!("{} {}", at(x + dx * size), at(y + dy * size));
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> = corners.iter().map(|(dx, dy)| to(*dx, *dy)).collect();
            format!("M{}Z", corners.join("L"))
        };
        let stroke = |from: (f64, f64), end: (f64, f64)| format!("M{}L{}", to(from.0, from.1), to(end.0, end.1));
        // What was printed elsewhere has an outline only.
        let hollow = if self.is_published { HOLLOW } else { "" };
        let d = match self.mark {
            0 | 5 => {
                let fill = if self.mark == 5 { HOLLOW } else { hollow };
                let (x, y) = (at(x), at(y));
                canvas.raw(&format!(
                    "<circle class=\"mark\" cx=\"{x}\" cy=\"{y}\" r=\"{size}\"{fill}/>"
                ));
                return;
            }
            1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => polygon(&[(0.0, -1.3), (1.2, 1.0), (-1.2, 1.0)]),
            3 => polygon(&[(0.0, -1.4), (1.4, 0.0), (0.0, 1.4), (-1.4, 0.0)]),
            4 => stroke((-1.0, -1.0), (1.0, 1.0)) + &stroke((1.0, -1.0), (-1.0, 1.0)),
            6 => stroke((0.0, -1.3), (0.0, 1.3)) + &stroke((-1.3, 0.0), (1.3, 0.0)),
            _ => polygon(&[(0.0, 1.3), (1.2, -1.0), (-1.2, -1.0)]),
        };
        canvas.path(&d, &format!(" class=\"mark\"{hollow}"));
    }
}

/// Attributes of a group with a bar: ours in our colour, others in one that steps back.
pub(super) fn bar(is_own: bool) -> String {
    match is_own {
        true => coloured("s0 own", COLOURS[0], 1.6),
        false => coloured("other", MUTED, 1.6),
    }
}

fn coloured(class: &str, colour: &str, width: f64) -> String {
    format!(
        "class=\"{class}\" color=\"{colour}\" fill=\"currentColor\" stroke=\"currentColor\" stroke-width=\"{width}\""
    )
}
