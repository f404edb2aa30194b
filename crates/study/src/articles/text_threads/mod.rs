//! Article (a): N. Sinyagina, G. Kalpachka, V. Todorov and V. Kalpachki, "Developing an Application for Researching the RSA
//! Algorithm Behavior on a Multithread Platform", TEM Journal 9 (4), 2020, DOI 10.18421/TEM94-07.
//!
//! The article encrypts and decrypts texts of seven sizes on 8 threads down to 1, a hundred times each, with a key of
//! 1024 bits, and asks from which size on threads pay, how many of them, and what hyper-threads add.
//!
//! | question | file |
//! |---|---|
//! | which cells | [`plan`] |
//! | how long a text took | `times` |
//! | the figures | `figures` |
//! | the claims, and what the data say | `claims` |

mod claims;
mod figures;
pub mod plan;
mod times;

use rsalab_engines::Op;

use self::times::Times;
use super::{Cpus, Review};
use crate::{number, report::Group, store::GroupRecord};

/// Both directions, with the word that sentences and figures use.
const DIRECTIONS: [(Op, &str); 2] = [
    (Op::TextEncrypt, "encryption"),
    (Op::TextDecrypt, "decryption"),
];

/// The review of the article.
pub(super) fn review(groups: &[Group], records: &[GroupRecord], cpus: Option<Cpus>) -> Review {
    let times = Times::of(groups);
    let (shown, figures) = figures::of(&times, cpus);
    Review {
        id: "a",
        title: "Text over threads: how threads, data size and hyper-threads change the speed of RSA",
        source: "N. Sinyagina, G. Kalpachka, V. Todorov, V. Kalpachki: Developing an Application for Researching the RSA \
                 Algorithm Behavior on a Multithread Platform. TEM Journal 9 (4), 2020, doi:10.18421/TEM94-07",
        machine: "four cores with two hardware threads each (Intel, Hyper-Threading); the article does not name the model",
        remarks: remarks(groups, records, cpus),
        shown,
        tables: Vec::new(),
        claims: claims::of(&times, cpus),
        figures,
    }
}

fn remarks(groups: &[Group], records: &[GroupRecord], cpus: Option<Cpus>) -> Vec<String> {
    let mut remarks = vec![counts(groups, records)];
    remarks.push(
        "The article speaks of 56,000 tests. Its grid of 7 sizes, 8 thread counts and 100 repeats has 5,600 encryptions and \
         5,600 decryptions."
            .to_owned(),
    );
    remarks.push(
        "Each size has a key and a random text of its own, the same for every thread count, direction and engine. The \
         article's figures are averages of 100 runs; here they are medians; results.csv and results.json have the averages too."
            .to_owned(),
    );
    let mut rows = groups.iter().flat_map(|group| &group.rows);
    if rows.any(|row| row.engine == "java") {
        remarks.push(
            "The engine java is the article's own application, built again from its words: its time has in it that it cuts the text, \
             starts its threads, watches and collects them. The threads of the other engines are there before their time begins."
                .to_owned(),
        );
    }
    match cpus {
        Some(cpus) => remarks.push(format!(
            "This study could use {} on {}; more threads than that take turns and are marked as oversubscribed. The \
             article's machine had four cores and eight threads.",
            number::counted(cpus.logical, "CPU"),
            number::counted(cpus.cores, "core"),
        )),
        None => remarks.push("Nothing is known of the machine yet.".to_owned()),
    }
    remarks
}

/// Planned and completed texts of each engine.
fn counts(groups: &[Group], records: &[GroupRecord]) -> String {
    let planned = |op: Op| {
        let of_op = records.iter().filter(|record| record.job.op == op);
        of_op
            .map(|record| record.measure.repeats.unwrap_or(0))
            .sum::<u64>()
    };
    let completed = |op: Op, engine: &str| {
        let rows = groups
            .iter()
            .filter(|group| group.job.op == op)
            .flat_map(|group| &group.rows)
            .filter(|row| row.engine == engine);
        rows.filter_map(|row| Some(row.figures?.operations))
            .sum::<u64>()
    };
    let engines: Vec<&str> = groups
        .first()
        .map(|group| group.rows.iter().map(|row| row.engine.as_str()).collect())
        .unwrap_or_default();
    let done: Vec<String> = engines
        .iter()
        .map(|engine| {
            format!(
                "{engine} {} and {}",
                number::whole(completed(Op::TextEncrypt, engine)),
                number::whole(completed(Op::TextDecrypt, engine))
            )
        })
        .collect();
    format!(
        "Planned for each engine: {} encryptions and {} decryptions of whole texts; completed: {}.",
        number::whole(planned(Op::TextEncrypt)),
        number::whole(planned(Op::TextDecrypt)),
        done.join(", ")
    )
}
