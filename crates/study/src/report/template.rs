//! A report as a page, as Markdown and as LaTeX: one document, three templates. What is written here is how a format
//! keeps text that came from outside from meaning something in it.

use minijinja::{
    AutoEscape, Environment,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use rsalab_measure::Estimate;
use serde::Serialize;

use super::{
    analysis::{Analysis, Part},
    document::Document,
    figure::Figure,
    model::Report,
    names,
    overview::OverviewCell,
    review::Verdict,
    scaling::EngineScaling,
    svg::{Drawing, drawings},
};
use crate::number;

/// The report as one page that needs nothing else: no network, no other file.
pub fn html(report: &Report) -> String {
    #[derive(Serialize)]
    struct Page<'a> {
        #[serde(flatten)]
        document: Document<'a>,
        figures: Vec<Drawn<'a>>,
        analyses: Vec<DrawnAnalysis<'a>>,
        style: &'static str,
        script: &'static str,
    }
    #[derive(Serialize)]
    struct DrawnAnalysis<'a> {
        analysis: &'a Analysis,
        parts: Vec<DrawnPart<'a>>,
    }
    #[derive(Serialize)]
    struct DrawnPart<'a> {
        part: &'a Part,
        figures: Vec<Drawn<'a>>,
    }
    #[derive(Serialize)]
    struct Drawn<'a> {
        figure: &'a Figure,
        drawings: Vec<Drawing>,
    }
    fn drawn(figure: &Figure) -> Drawn<'_> {
        Drawn {
            figure,
            drawings: drawings(figure),
        }
    }
    fn part(part: &Part) -> DrawnPart<'_> {
        DrawnPart {
            part,
            figures: part.figures.iter().map(drawn).collect(),
        }
    }
    fn section(analysis: &Analysis) -> DrawnAnalysis<'_> {
        DrawnAnalysis {
            analysis,
            parts: analysis.parts.iter().map(part).collect(),
        }
    }
    let page = Page {
        document: Document::of(report),
        figures: report.figures.iter().map(drawn).collect(),
        analyses: report.analyses.iter().map(section).collect(),
        style: STYLE,
        script: include_str!("page/figure.js"),
    };
    fill(include_str!("page/report.html"), Format::Html, page)
}

/// The style of every page.
pub(crate) const STYLE: &str = include_str!("page/page.css");

/// A page of another kind, in the same style and with the same rules for text from outside.
pub(crate) fn page(template: &'static str, document: impl Serialize) -> String {
    fill(template, Format::Html, document)
}

/// The report as Markdown, with its figures as links to files.
pub fn markdown(report: &Report) -> String {
    let document = Document::of(report);
    fill(include_str!("page/report.md"), Format::Markdown, document)
}

/// The tables and verdicts as a file for LaTeX's `\input`, with the numbers of the page. The text begins with the
/// packages that it needs.
pub fn latex(report: &Report) -> String {
    let document = Document::of(report);
    fill(include_str!("page/report.tex"), Format::Latex, document)
}

/// A text that Markdown shows as it is, in one line.
pub(super) fn as_markdown(text: &str) -> String {
    Format::Markdown.escaped(text)
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Html,
    Markdown,
    Latex,
}

impl Format {
    fn escaped(self, text: &str) -> String {
        match self {
            Format::Html => text.chars().map(in_html).collect(),
            Format::Markdown => text.chars().map(in_markdown).collect(),
            Format::Latex => text.chars().map(in_latex).collect(),
        }
    }
}

/// The templates are a part of this program, and tests fill them: what fails here is a bug.
fn fill(template: &'static str, format: Format, document: impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_syntax(syntax(format));
    // The name of the escaping is not used, but without one the engine takes what a macro says for text from outside.
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("format".into()));
    environment.set_formatter(move |out, _, value| {
        let text = match value {
            value if value.is_undefined() || value.is_none() => return Ok(()),
            value if value.is_safe() => value.to_string(),
            value => format.escaped(&value.to_string()),
        };
        out.write_str(&text).map_err(minijinja::Error::from)
    });
    environment.add_filter("significant", number::significant);
    environment.add_filter("duration", number::duration);
    environment.add_filter("as_printed", number::as_printed);
    environment.add_filter("with_interval", |it: Serde<Estimate>| number::with_interval(&it));
    environment.add_filter("interval", |it: Serde<Estimate>| number::interval(&it));
    environment.add_filter("duration_interval", |it: Serde<Estimate>| {
        number::duration_interval(&it)
    });
    environment.add_filter("is_own", names::is_own);
    environment.add_filter("overview_cell", |cell: Serde<OverviewCell>| cell.text());
    environment.add_filter("laws", |it: Serde<EngineScaling>| it.laws());
    environment.add_filter("on_one_line", |text: &str| {
        let text = text.chars().map(|it| if it.is_control() { ' ' } else { it });
        Value::from_safe_string(text.collect())
    });
    environment.add_filter("mark", |verdict: Serde<Verdict>| verdict.mark());
    environment.add_filter("in_words", |verdict: Serde<Verdict>| verdict.words());
    environment
        .add_template("report", template)
        .expect("the template is well formed");
    let template = environment.get_template("report");
    template
        .expect("it has just been added")
        .render(Serde(document))
        .expect("the template asks for nothing that the document does not have")
}

/// Lines with nothing but a tag leave no empty lines. Braces mean something in LaTeX, so its tags have other signs.
fn syntax(format: Format) -> SyntaxConfig {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    if format == Format::Latex {
        syntax
            .block_delimiters("<%", "%>")
            .variable_delimiters("<<", ">>")
            .comment_delimiters("<#", "#>");
    }
    syntax.build().expect("no two delimiters begin alike")
}

fn in_html(character: char) -> String {
    match character {
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '&' => "&amp;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        _ => character.to_string(),
    }
}

/// A line end would end a table.
fn in_markdown(character: char) -> String {
    match character {
        '\n' | '\r' => " ".to_owned(),
        '|' | '*' | '`' | '<' | '>' | '[' | ']' | '\\' => format!("\\{character}"),
        _ => character.to_string(),
    }
}

/// A line end would end a comment.
fn in_latex(character: char) -> String {
    match character {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{character}"),
        '\\' => "\\textbackslash{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '~' => "\\textasciitilde{}".to_owned(),
        '<' => "\\textless{}".to_owned(),
        '>' => "\\textgreater{}".to_owned(),
        '|' => "\\textbar{}".to_owned(),
        '"' => "\\textquotedbl{}".to_owned(),
        '`' => "\\textasciigrave{}".to_owned(),
        'µ' => "\\ensuremath{\\mu}".to_owned(),
        '✓' => "\\rsalabholds{}".to_owned(),
        '✗' => "\\rsalabfails{}".to_owned(),
        '◐' => "\\rsalabpartly{}".to_owned(),
        '◔' => "\\rsalabmeasured{}".to_owned(),
        '×' => "\\ensuremath{\\times}".to_owned(),
        '÷' => "\\ensuremath{\\div}".to_owned(),
        '≈' => "\\ensuremath{\\approx}".to_owned(),
        '−' => "\\ensuremath{-}".to_owned(),
        '→' => "\\ensuremath{\\rightarrow}".to_owned(),
        '≤' => "\\ensuremath{\\leq}".to_owned(),
        '≥' => "\\ensuremath{\\geq}".to_owned(),
        // After the end of a line these are its options; two hyphens are a dash, two apostrophes a quote.
        '[' | ']' | '*' | '-' | '\'' => format!("{{{character}}}"),
        _ if character.is_control() => " ".to_owned(),
        _ if is_set_by_latex(character) => character.to_string(),
        _ => format!("\\rsalabunicode{{{:04X}}}", u32::from(character)),
    }
}

/// Returns whether pdfLaTeX sets a character of UTF-8 with no other packages than ours: it stops at one that it does
/// not know, and a reason may be in any language.
fn is_set_by_latex(character: char) -> bool {
    let is_latin = character.is_ascii() || ('\u{a0}'..='\u{17f}').contains(&character);
    is_latin || "–—‘’‚“”„†‡•…‰‹›€™".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_means_anything_in_latex() {
        for (text, expected) in [
            ("a & b", "a \\& b"),
            ("50 % of $1 #2 a_b", "50 \\% of \\$1 \\#2 a\\_b"),
            ("\\input{x}", "\\textbackslash{}input\\{x\\}"),
            ("2^64 ~ 1", "2\\textasciicircum{}64 \\textasciitilde{} 1"),
            ("[2em] *", "{[}2em{]} {*}"),
            ("--out", "{-}{-}out"),
            ("a\n\nb\u{0}", "a  b "),
            ("315 µs", "315 \\ensuremath{\\mu}s"),
            ("✓ holds", "\\rsalabholds{} holds"),
            ("– für 5 €", "– für 5 €"),
            ("−1 ≤ 2", "\\ensuremath{-}1 \\ensuremath{\\leq} 2"),
            ("λ 無", "\\rsalabunicode{03BB} \\rsalabunicode{7121}"),
        ] {
            assert_eq!(Format::Latex.escaped(text), expected);
        }
    }

    #[test]
    fn every_verdict_has_a_sign_in_latex() {
        for verdict in [
            Verdict::Holds,
            Verdict::HoldsWhereMeasured,
            Verdict::HoldsInPart,
            Verdict::DoesNotHold,
            Verdict::NoSignificantDifference,
            Verdict::TooFewValues,
            Verdict::NotMeasurableHere,
        ] {
            let sign = Format::Latex.escaped(verdict.mark());
            assert!(sign.chars().all(is_set_by_latex) && !sign.contains("unicode"), "{sign}");
        }
    }
}
