//! How many threads are best for a text: a map of the data's length and the key's size.

use rsalab_engines::Job;
use rsalab_measure::Estimate;

use super::section::{Analysis, Column, Entry, Line, Part, exact};
use crate::{
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
    report::{
        figure::{Axis, Figure, Layout, Point, Scale, Series},
        figures::families,
        group::{Group, Row},
        names,
    },
    significance::{LAUNCH, Side, side},
};

const WORDS: &str = "The best count is the fewest threads that no other count is shown to be faster than, beyond 1 % \
    and the interval of their ratio. Below it, how many times as fast as one thread. Where a cell was disturbed, or a \
    count is missing that the others have, there is no answer.";

/// One text, on one engine.
struct Best {
    threads: usize,
    /// Compared with one thread; none where that was not measured.
    speedup: Option<Estimate>,
    /// More threads that are as fast as far as can be told.
    alike: Vec<usize>,
}

pub(super) fn of(groups: &[Group]) -> Option<Analysis> {
    let texts: Vec<Group> = groups.iter().filter(|group| group.job.op.is_text()).cloned().collect();
    let families = families(&texts, |job| Job {
        bits: 0,
        threads: 0,
        symbols: 0,
        // Whole blocks grow with the modulus; a length of its own does not.
        block_symbols: usize::from(job.block_symbols + 1 != job.bits.div_ceil(8)) * job.block_symbols,
        ..job.clone()
    });
    let parts = families.iter().flat_map(|family| parts(family));
    let parts: Vec<Part> = parts.collect();
    (!parts.is_empty()).then(|| Analysis {
        id: "best-threads".to_owned(),
        title: "The best number of threads for a text".to_owned(),
        short: "Best threads".to_owned(),
        words: WORDS.to_owned(),
        parts,
    })
}

/// One for each engine that was measured on several threads, at two lengths or key sizes at least.
fn parts(family: &[&Group]) -> Vec<Part> {
    let job = &family[0].job;
    let mut bits = distinct(family.iter().map(|group| group.job.bits));
    let mut symbols = distinct(family.iter().map(|group| group.job.symbols));
    bits.sort_unstable();
    symbols.sort_unstable();
    let counts = distinct(family.iter().map(|group| group.job.threads));
    if bits.len() * symbols.len() < 2 || counts.len() < 2 {
        return Vec::new();
    }
    let rows = family.iter().flat_map(|group| &group.rows);
    let engines = distinct(rows.map(|row| row.engine.as_str()));
    let part = |engine: &str| {
        let best: Vec<Vec<Result<Best, String>>> = bits
            .iter()
            .map(|bits| {
                symbols
                    .iter()
                    .map(|symbols| best(family, engine, *bits, *symbols))
                    .collect()
            })
            .collect();
        if !best.iter().flatten().any(Result::is_ok) {
            return None;
        }
        let titled = title_without(job, &[Dimension::Bits, Dimension::Symbols, Dimension::Threads]);
        let plain = Job {
            threads: 1,
            ..job.clone()
        };
        let id = format!(
            "best-threads-{}-{}",
            names::slug_without_size(&plain),
            names::as_id(engine)
        );
        let title = format!("{titled}, {engine}");
        let lines = bits.iter().zip(&best).map(|(bits, row)| {
            let cells = row.iter().map(entry);
            Line {
                is_own: names::is_own(engine),
                cells: [Entry::whole(*bits)].into_iter().chain(cells).collect(),
            }
        });
        let columns = symbols
            .iter()
            .map(|symbols| Column::unit(&number::counted(*symbols, "symbol"), "threads"));
        let mut reasons = distinct(best.iter().flatten().filter_map(|one| one.as_ref().err()));
        reasons.retain(|reason| !reason.is_empty());
        Some(Part {
            figures: vec![figure(&id, &title, (&bits, &symbols), &best)],
            columns: [Column::number("Bits")].into_iter().chain(columns).collect(),
            rows: lines.collect(),
            sentences: reasons.iter().map(|reason| format!("–: {reason}.")).collect(),
            id,
            title,
            is_long: false,
        })
    };
    engines.into_iter().filter_map(part).collect()
}

fn best(family: &[&Group], engine: &str, bits: usize, symbols: usize) -> Result<Best, String> {
    let of_text = || {
        family
            .iter()
            .filter(move |group| (group.job.bits, group.job.symbols) == (bits, symbols))
    };
    let row = |group: &Group| -> Option<Row> { group.rows.iter().find(|row| row.engine == engine).cloned() };
    let mut speeds: Vec<(usize, Estimate)> = Vec::new();
    for group in of_text() {
        let threads = group.job.threads;
        let row = row(group).ok_or_else(|| "not measured".to_owned())?;
        if row.disturbance.as_ref().is_some_and(|it| it.is_grave()) {
            return Err("a count was disturbed".to_owned());
        }
        let figures = row.figures.ok_or_else(|| "a count has no figure".to_owned())?;
        speeds.push((threads, figures.ops_per_s));
    }
    speeds.sort_by_key(|(threads, _)| *threads);
    let alike = not_slower(&speeds);
    let threads = *alike.first().ok_or("not measured")?;
    let of = |wanted: usize| speeds.iter().find(|(threads, _)| *threads == wanted).map(|it| it.1);
    let one = of(1).filter(|_| threads > 1);
    let measured = of_text()
        .find(|group| group.job.threads == threads)
        .and_then(|group| row(group)?.speedup);
    let speedup = measured.or_else(|| Some(of(threads)?.over(&one?)));
    Ok(Best {
        threads,
        speedup: speedup.filter(|_| threads > 1),
        alike: alike.into_iter().skip(1).collect(),
    })
}

/// The counts than which no other is shown to be faster. The one with the largest value may be the least sure, so that
/// it is not compared with that alone. The interval of a ratio of two that were measured interleaved is narrower than
/// this one, which errs on the side of fewer threads.
fn not_slower(speeds: &[(usize, Estimate)]) -> Vec<usize> {
    let is_slower = |speed: &Estimate| {
        let is_faster = |other: &Estimate| side(&other.over(speed), 1.0, LAUNCH) == Side::Above;
        speeds.iter().any(|(_, other)| is_faster(other))
    };
    let alike = speeds.iter().filter(|(_, speed)| !is_slower(speed));
    alike.map(|(threads, _)| *threads).collect()
}

fn entry(best: &Result<Best, String>) -> Entry {
    match best {
        Ok(best) => {
            let times = best.speedup.map(|it| format!("; {} × one", number::with_interval(&it)));
            Entry {
                text: format!("{}{}", best.threads, times.unwrap_or_default()),
                value: Some(exact(best.threads as f64)),
            }
        }
        Err(_) => Entry::none(),
    }
}

fn figure(id: &str, title: &str, (bits, symbols): (&[usize], &[usize]), best: &[Vec<Result<Best, String>>]) -> Figure {
    let point = |(place, best): (usize, &Result<Best, String>)| {
        let best = best.as_ref().ok()?;
        let times = best
            .speedup
            .map(|it| format!("{} times one thread", number::with_interval(&it)));
        let alike: Vec<String> = best.alike.iter().map(usize::to_string).collect();
        let alike: Vec<&str> = alike.iter().map(String::as_str).collect();
        let alike = (!alike.is_empty()).then(|| format!("no difference is shown to {}", number::listed(&alike)));
        let notes: Vec<String> = [times, alike].into_iter().flatten().collect();
        Some(Point {
            label: best.speedup.map(|it| format!("× {}", number::significant(it.value))),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            x: place as f64,
            y: best.threads as f64,
            ..Point::default()
        })
    };
    let series = bits.iter().zip(best).map(|(bits, row)| Series {
        name: format!("{bits} bits"),
        points: row.iter().enumerate().filter_map(point).collect(),
        is_published: false,
    });
    let labels = symbols.iter().map(|symbols| number::short(*symbols as f64)).collect();
    Figure {
        id: id.to_owned(),
        title: format!("{title}: the best number of threads"),
        description: "The fewest threads that no other count is shown to be faster than, for each length of the text \
                      and each size of the key; below it, how many times as fast as one thread."
            .to_owned(),
        x: Axis::new("Symbols of the text", None, Scale::Names { labels }),
        y: Axis::new("Best", Some("threads"), Scale::EVEN),
        series: series.collect(),
        remark: None,
        references: Vec::new(),
        marks: Vec::new(),
        layout: Layout::Map,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_any_other_beats_is_slower() {
        let of = |value: f64, low: f64, high: f64| Estimate {
            value,
            low,
            high,
            confidence: 0.95,
            n: 20,
        };
        let unsure = (4, of(160.0, 90.0, 230.0));
        let speeds = [(1, of(100.0, 99.5, 100.5)), (2, of(150.0, 149.0, 151.0)), unsure];
        assert_eq!(not_slower(&speeds), [2, 4]);
        assert_eq!(not_slower(&[speeds[0], unsure]), [1, 4]);
        assert_eq!(not_slower(&[]), [0; 0]);
    }
}
