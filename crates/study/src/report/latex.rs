//! The tables for LaTeX: a file for `\input`, with the numbers of the page.

use std::fmt::{self, Write};

use rsalab_engines::Job;

use super::{
    figures::families,
    model::{Group, Report, Row},
    quantity,
};
use crate::{
    number,
    plan::{DEFAULT_EXPONENT, op_title},
};

/// The tables: one for each operation, with a part for each job and in it a line for each engine. Below a value is its
/// interval.
///
/// The text begins with the packages that it needs.
pub fn latex(report: &Report) -> String {
    let mut text = String::new();
    write(&mut text, report).expect("a string takes all that is written to it");
    text
}

fn write(text: &mut String, report: &Report) -> fmt::Result {
    writeln!(
        text,
        "% Tables of a study, made for \\input by rsalab {}. The preamble needs\n\
         %   \\usepackage[T1]{{fontenc}}\n\
         %   \\usepackage{{booktabs,longtable}}\n\
         % The study: {}\n\
         % Made by: {}\n\
         % Written again by: {}",
        report.program_version,
        on_one_line(&report.title),
        on_one_line(&report.command),
        on_one_line(&report.report_command)
    )?;
    let operations = families(&report.groups, |job| Job {
        bits: 0,
        threads: 0,
        symbols: 0,
        block_symbols: 0,
        ..job.clone()
    });
    for (place, groups) in operations.iter().enumerate() {
        let op = groups[0].job.op;
        let before = operations[..place].iter();
        let same = before.filter(|groups| groups[0].job.op == op).count();
        let label = match same {
            0 => op.to_string(),
            _ => format!("{op}-{}", same + 1),
        };
        table(text, groups, &label)?;
    }
    Ok(())
}

/// What a job is asked in one of its dimensions.
type Parameter = fn(&Job) -> usize;

/// What jobs of a table differ in, or all share.
const PARAMETERS: [(&str, Parameter); 3] = [
    ("Bits", |job| job.bits),
    ("Symbols", |job| job.symbols),
    ("Threads", |job| job.threads),
];

fn table(text: &mut String, groups: &[&Group], label: &str) -> fmt::Result {
    let first = groups[0];
    let differ = |value: Parameter| {
        groups
            .iter()
            .any(|group| value(&group.job) != value(&first.job))
    };
    let columns = PARAMETERS.map(|(_, value)| differ(value));
    let shown = || PARAMETERS.iter().zip(columns).filter(|(_, shown)| *shown);
    let names: String = shown().map(|((name, _), _)| format!("{name} & ")).collect();
    let count = shown().count();
    // The unit stands below the word, as intervals stand below values, so that the columns stay narrow.
    let unit = escaped(quantity::unit(&first.job));
    let head = format!(
        "\\toprule\n\
         {names}Engine & Speed & Ratio & Time of one \\\\\n\
         {}& \\footnotesize ({unit}) & & \\\\\n\
         \\midrule",
        "& ".repeat(count)
    );
    writeln!(
        text,
        "\n{{\\small\\setlength{{\\tabcolsep}}{{3pt}}\n\
         \\begin{{longtable}}{{@{{}}{}lrrr@{{}}}}\n\
         \\caption{{{}. Medians, with intervals of {} below them; a ratio is the speed beside that of the first engine of \
         the same job.}}\\label{{tab:{label}}}\\\\\n\
         {head}\n\\endfirsthead\n{head}\n\\endhead",
        "r".repeat(count),
        escaped(&title(&first.job, columns)),
        escaped(&number::percent(first.confidence)),
    )?;
    let mut remarks: Vec<String> = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        if place > 0 {
            writeln!(text, "\\addlinespace")?;
        }
        for (place, row) in group.rows.iter().enumerate() {
            // The job is named once, beside its first engine.
            let job: String = shown()
                .map(|((_, value), _)| match place {
                    0 => format!("{} & ", value(&group.job)),
                    _ => "& ".to_owned(),
                })
                .collect();
            line(text, group, row, &job, &"& ".repeat(count))?;
            let differs = row.ratio.iter().flat_map(|ratio| &ratio.differs_in);
            let differs: Vec<&str> = differs.copied().collect();
            let base = group.base().map_or("the first", |base| &base.engine);
            let remark = format!("{} beside {base}: {}", row.engine, differs.join(", "));
            if !differs.is_empty() && !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    writeln!(text, "\\bottomrule")?;
    if !remarks.is_empty() {
        writeln!(
            text,
            "\\multicolumn{{{}}}{{@{{}}p{{\\linewidth}}@{{}}}}{{\\footnotesize\\textsuperscript{{*}}Not the same job. {}.}}\\\\",
            count + 4,
            escaped(&remarks.join("; "))
        )?;
    }
    writeln!(text, "\\end{{longtable}}}}")
}

/// The operation, with what all jobs of the table share.
fn title(job: &Job, is_column: [bool; 3]) -> String {
    let mut parts = vec![op_title(job.op).to_owned()];
    let [bits, symbols, threads] = is_column;
    if !bits {
        parts.push(format!("{} bits", job.bits));
    }
    if !symbols && job.op.is_text() {
        parts.push(number::counted(job.symbols, "symbol"));
    }
    if !threads {
        parts.push(number::counted(job.threads, "thread"));
    }
    if job.batch > 1 {
        parts.push(format!("batch {}", job.batch));
    }
    if job.exponent != DEFAULT_EXPONENT {
        parts.push(format!("e = {}", job.exponent));
    }
    parts.join(", ")
}

fn line(text: &mut String, group: &Group, row: &Row, job: &str, indent: &str) -> fmt::Result {
    let engine = escaped(&row.engine);
    let Some(figures) = &row.figures else {
        let state = match &row.reason {
            Some(reason) => format!("{}: {reason}", row.state),
            None => row.state.to_owned(),
        };
        return writeln!(
            text,
            "{job}{engine} & \\multicolumn{{3}}{{p{{.6\\linewidth}}@{{}}}}{{\\raggedright {}}} \\\\",
            escaped(&state)
        );
    };
    let speed = quantity::speed(&group.job, &figures.ops_per_s);
    let (time, time_interval) = number::duration_and_interval(&figures.ns_per_op);
    let (ratio, ratio_interval) = row.ratio.as_ref().map_or_else(Default::default, |ratio| {
        let star = if ratio.differs_in.is_empty() {
            ""
        } else {
            "\\textsuperscript{*}"
        };
        let value = number::significant(ratio.to_first.value);
        (value + star, number::interval(&ratio.to_first))
    });
    writeln!(
        text,
        "{job}{engine} & {} & {ratio} & {} \\\\*",
        number::significant(speed.value),
        escaped(&time)
    )?;
    let small = |interval: &str| format!("\\scriptsize {}", escaped(interval));
    writeln!(
        text,
        "{indent}& {} & {} & {} \\\\",
        small(&number::interval(&speed)),
        small(&ratio_interval),
        small(&time_interval)
    )
}

/// Text that came from outside, kept from meaning something in LaTeX.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in on_one_line(text).chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("\\textquotedbl{}"),
            '`' => escaped.push_str("\\textasciigrave{}"),
            'µ' => escaped.push_str("\\ensuremath{\\mu}"),
            // After the end of a line these are its options; two hyphens are a dash, two apostrophes a quote.
            '[' | ']' | '*' | '-' | '\'' => {
                escaped.push('{');
                escaped.push(character);
                escaped.push('}');
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Without line ends, which would end a comment, and without other characters that control.
fn on_one_line(text: &str) -> String {
    let plain = |character: char| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_means_anything() {
        for (text, expected) in [
            ("a & b", "a \\& b"),
            ("50 % of $1 #2 a_b", "50 \\% of \\$1 \\#2 a\\_b"),
            ("\\input{x}", "\\textbackslash{}input\\{x\\}"),
            ("2^64 ~ 1", "2\\textasciicircum{}64 \\textasciitilde{} 1"),
            ("[2em] *", "{[}2em{]} {*}"),
            ("--out", "{-}{-}out"),
            ("a\n\nb\u{0}", "a  b "),
            ("315 µs", "315 \\ensuremath{\\mu}s"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }
}
