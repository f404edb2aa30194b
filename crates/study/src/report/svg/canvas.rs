//! SVG as text: what the drawings are made of. Colours are attributes, so that a file looks the same everywhere, and
//! have classes, by which the page puts its own in their place.

/// The elements drawn so far, without the element around it.
#[derive(Default)]
pub(super) struct Canvas {
    text: String,
}

/// Which end of words their place is.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The style of words.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) class: &'static str,
    pub(super) size: f64,
    pub(super) is_bold: bool,
}

pub(super) const INK: Words = Words {
    class: "ink",
    size: 13.0,
    is_bold: false,
};
pub(super) const FAINT: Words = Words {
    class: "faint",
    size: 12.0,
    is_bold: false,
};

impl Words {
    pub(super) fn bold(self, is_bold: bool) -> Words {
        Words { is_bold, ..self }
    }

    pub(super) fn sized(self, size: f64) -> Words {
        Words { size, ..self }
    }

    /// The width of a text, roughly and rather too much: it is not known which typeface will draw it.
    pub(super) fn width(self, text: &str) -> f64 {
        let character = if self.is_bold { 0.66 } else { 0.6 };
        text.chars().count() as f64 * self.size * character
    }

    /// A text in lines that are no wider than `room`, as far as its words allow.
    pub(super) fn lines(self, text: &str, room: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if self.width(line) + self.width(word) + self.size / 2.0 < room => {
                    *line += " ";
                    *line += word;
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    fn attributes(self) -> String {
        let colour = if self.class == "ink" { "#1c2126" } else { "#59626b" };
        let weight = if self.is_bold { " font-weight=\"700\"" } else { "" };
        format!(
            "class=\"{}\" fill=\"{colour}\" font-size=\"{}\"{weight}",
            self.class, self.size
        )
    }
}

impl Canvas {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Anything: an element with its attributes, written out.
    pub(super) fn raw(&mut self, element: &str) {
        self.text += element;
        self.text.push('\n');
    }

    pub(super) fn path(&mut self, d: &str, attributes: &str) {
        self.raw(&format!("<path d=\"{d}\"{attributes}/>"));
    }

    pub(super) fn words(&mut self, x: f64, y: f64, anchor: Anchor, words: Words, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (at(x), at(y));
        let (attributes, text) = (words.attributes(), escaped(text));
        self.raw(&format!("<text x=\"{x}\" y=\"{y}\"{anchor} {attributes}>{text}</text>"));
    }

    /// Draws a group of elements that belong together.
    pub(super) fn group(&mut self, attributes: &str, draw: impl FnOnce(&mut Canvas)) {
        self.raw(&format!("<g {attributes}>"));
        draw(self);
        self.raw("</g>");
    }
}

/// A coordinate in tenths, with no digit too many.
pub(super) fn at(place: f64) -> String {
    format!("{}", (place * 10.0).round() / 10.0 + 0.0)
}

/// The path of a stroke with a cap at each end, between two values of one place. `is_lying` if the values lie on the
/// horizontal axis.
pub(super) fn whisker(place: f64, (low, high): (f64, f64), is_lying: bool) -> String {
    let (place, before, low, high) = (at(place), at(place - 4.0), at(low), at(high));
    match is_lying {
        true => format!("M{low} {place}H{high}M{low} {before}v8M{high} {before}v8"),
        false => format!("M{place} {low}V{high}M{before} {low}h8M{before} {high}h8"),
    }
}

pub(super) fn escaped(text: &str) -> String {
    // XML has no other control characters, and not these two, in any form.
    let is_foreign = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(is_foreign, " ")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_what_they_have_room_for() {
        let lines = |text: &str, characters: f64| INK.lines(text, characters * 13.0 * 0.6);
        assert_eq!(lines("a bc def", 100.0), ["a bc def"]);
        assert_eq!(lines("a bc defghi", 6.5), ["a bc", "defghi"]);
        assert_eq!(lines("abcdefghijkl m", 5.0), ["abcdefghijkl", "m"]);
        assert_eq!(lines("", 5.0), [""]);
    }

    #[test]
    fn text_is_well_formed_whatever_it_holds() {
        assert_eq!(escaped("a\u{1}b\u{1b}[31m\u{ffff}<\n"), "a b [31m &lt;\n");
    }

    #[test]
    fn places_are_short_and_never_minus_nothing() {
        assert_eq!([at(1.0), at(1.26), at(-0.01)], ["1", "1.3", "0"]);
    }
}
