//! `rsalab compare`: studies beside each other.

use std::path::Path;

use rsalab_study::{
    articles,
    comparison::{self, Cell, Comparison, Value, Verdict},
    number,
    report::{self, Report},
    store::Store,
};

use super::study::note_store;
use crate::{
    arguments::{Compare, FailIf},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output::{self, Log},
    printable::printable,
    table::Table,
};

/// Compares, prints and judges.
pub(crate) fn run(arguments: &Compare, log: Log) -> Result<()> {
    if let Some(page) = &arguments.out {
        files::check_absent(page)?;
    }
    if arguments.studies.len() < 2 && !arguments.bencher {
        let what = "one study has nothing to be compared with";
        return Err(Failure::new(Class::Usage, what).advice("name another, or use 'rsalab report'"));
    }
    let reports = arguments.studies.iter().map(|place| {
        let name = printable(&place.display().to_string());
        Ok((name, report_of(place, log)?))
    });
    let reports: Vec<(String, Report)> = reports.collect::<Result<_>>()?;
    let compared = Comparison::of(&reports, arguments.control.as_deref());
    if let Some(page) = &arguments.out {
        files::create(&[(page, comparison::html(&compared).as_bytes(), Privacy::Public)])?;
    }
    let printed = match arguments.bencher {
        true => output::json(&comparison::bencher(&compared)),
        false => output::print(arguments.json.json, &compared, || shown(&compared)),
    };
    // The verdict decides, whoever reads the table.
    verdict(&compared, arguments.fail_if).and(printed)
}

/// The report of a study's database, or one that was written earlier.
fn report_of(place: &Path, log: Log) -> Result<Report> {
    if place.is_file() {
        return Ok(report::read(place)?);
    }
    let store = Store::view(place).map_err(rsalab_study::Error::from)?;
    note_store(place);
    if store.lacks_its_log() {
        log.note(format_args!("warning: {}: {}", place.display(), report::LACKS_ITS_LOG));
    }
    Ok(articles::report(&store).map_err(rsalab_study::Error::from)?)
}

fn verdict(compared: &Comparison, fail_if: Option<FailIf>) -> Result<()> {
    let Some(fail_if) = fail_if else {
        return Ok(());
    };
    let count = |verdict| compared.count(verdict);
    let (slower, faster, void) = (count(Verdict::Slower), count(Verdict::Faster), count(Verdict::Void));
    let words = |count: usize, what: &str| format!("{} {what}", number::counted(count, "cell"));
    let what = match fail_if {
        _ if compared.count_failed() > 0 => words(compared.count_failed(), "failed that the first study has"),
        _ if void > 0 => words(void, "changed, which is void: the machine changed, or was disturbed"),
        _ if slower > 0 => words(slower, "became slower"),
        FailIf::Changed if faster > 0 => words(faster, "became faster"),
        _ => return Ok(()),
    };
    Err(Failure::new(Class::Verification, what))
}

fn shown(compared: &Comparison) -> String {
    let mut text = String::new();
    for of_one_job in compared.cells.chunk_by(|one, other| one.job == other.job) {
        text += &format!("{}\n", of_one_job[0].title);
        let rows: Vec<(&Cell, usize)> = of_one_job
            .iter()
            .flat_map(|cell| (0..cell.values.len()).map(move |place| (cell, place)))
            .filter(|(cell, place)| cell.values[*place].is_some() || cell.failures[*place].is_some())
            .collect();
        let value = |(cell, place): &(&Cell, usize)| cell.values[*place].clone();
        let of = |row: &(&Cell, usize), of: fn(&Value) -> Option<String>| {
            let shown = value(row).as_ref().and_then(of);
            shown.unwrap_or_else(|| "–".to_owned())
        };
        text += &Table::of(&rows)
            .left("engine", |(cell, _)| cell.engine.clone())
            .left("study", |(_, place)| compared.studies[*place].name.clone())
            .left("version", |row| of(row, |value| value.engine_version.clone()))
            .left("path", |row| of(row, |value| value.kernel.clone()))
            .right("per second", |row| {
                of(row, |value| Some(number::significant(value.ops_per_s.value)))
            })
            .left("interval", |row| {
                of(row, |value| Some(number::interval(&value.ops_per_s)))
            })
            .right("÷ first", |row| {
                of(row, |value| {
                    Some(number::significant(value.change.as_ref()?.ratio.value))
                })
            })
            .left("interval", |row| {
                of(row, |value| Some(number::interval(&value.change.as_ref()?.ratio)))
            })
            .left("", |row| {
                let has_failed = row.0.failures[row.1].is_some();
                let of_speed = || of(row, |value| Some(value.change.as_ref()?.verdict.words().to_owned()));
                if has_failed { "failed".to_owned() } else { of_speed() }
            })
            .render();
        text.push('\n');
    }
    for sentence in &compared.summary {
        // Names of engines come from files.
        text += &printable(sentence);
        text.push('\n');
    }
    text
}
