//! Findings: the fastest engine, and the gain from threads.

use rsalab_engines::Job;
use rsalab_study::{
    articles,
    report::{Finding, Report},
};

use super::machine;
use crate::support::{Planted, beginning, block, host};

/// Times of the calls of a block in nanoseconds, of an engine by its place, in a round.
type Law<'a> = &'a dyn Fn(&Job, usize, usize) -> Vec<u64>;

fn report(cpus: usize, quota: Option<f64>, plan: &str, rounds: usize, law: Law<'_>) -> Report {
    let directory = tempfile::tempdir().unwrap();
    let machine = machine(cpus, quota);
    let mut planted = Planted::on(&machine, directory.path(), plan, &host(&[], cpus));
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            planted.begin(cell, &beginning(&cell.engine));
            for round in 0..rounds {
                planted.add(&group, place, round, block(law(&group.job, place, round)));
            }
            let store = planted.study.store_mut();
            store.complete_cell(cell.id, &[]).unwrap();
        }
    }
    articles::report(planted.study.store()).unwrap()
}

fn finding(report: &Report, id: &str) -> Finding {
    let found = report.findings.iter().find(|finding| finding.id == id);
    found
        .unwrap_or_else(|| panic!("no {id}: {:?}", report.findings))
        .clone()
}

/// The sentence of a finding, and the words of its verdict.
fn said(finding: &Finding) -> (&str, &str) {
    let verdict = finding.verdict.map_or("", |verdict| verdict.words());
    (&finding.sentence, verdict)
}

const TWO: &str = "[[grid]]\noperations = [\"private\"]\nengines = [\"own\", \"gmp\"]\nbits = [2048]\n";

/// A factor near 1, another in each round.
fn noise(place: usize, round: usize) -> f64 {
    0.998 + 0.001 * ((3 * round + 5 * place * round) % 5) as f64
}

#[test]
fn a_lead_that_a_new_start_may_change_is_none() {
    // Each round says that gmp is 0.2 % faster.
    let law: Law<'_> = &|_, place, round| {
        let ns = 1e6 * [1.002, 1.0][place] * (1.0 + 1e-5 * (round + place) as f64);
        vec![ns as u64; 5]
    };
    let found = finding(&report(2, None, TWO, 10, law), "fastest-private-2048");
    assert!(found.value.unwrap().low > 1.0, "{found:?}");
    let (sentence, verdict) = said(&found);
    assert!(!sentence.contains("is the fastest"), "{sentence}");
    assert!(sentence.contains("the difference may be below 1 %"), "{sentence}");
    assert_eq!(verdict, "no significant difference");
}

#[test]
fn few_rounds_are_too_few_values() {
    for rounds in [1, 2, 4] {
        let law: Law<'_> = &|_, place, round| vec![(1e6 * [1.0, 1.3][place] * noise(place, round)) as u64; 5];
        let found = finding(&report(2, None, TWO, rounds, law), "fastest-private-2048");
        let (sentence, verdict) = said(&found);
        assert!(sentence.contains(&format!("{rounds} are too few values")), "{sentence}");
        assert!(sentence.contains("own has the highest speed of 2, "), "{sentence}");
        assert!(!sentence.contains("significant"), "{sentence}");
        assert_eq!(verdict, "too few values");
    }
}

/// The fastest of all is not told from the next, and it is told which engines are meant.
#[test]
fn the_fastest_is_faster_than_every_other() {
    let plan = TWO.replace("\"gmp\"", "\"gmp\", \"openssl\"");
    // gmp is a little slower in every round, openssl in the mean and not always.
    let law: Law<'_> = &|_, place, round| {
        let times = match place {
            0 => 1.0,
            1 => 1.05,
            _ if round % 2 == 0 => 0.8,
            _ => 1.4,
        };
        vec![(1e6 * times * noise(place, round)) as u64; 5]
    };
    let found = finding(&report(2, None, &plan, 10, law), "fastest-private-2048");
    let (sentence, _) = said(&found);
    assert!(!sentence.contains("is the fastest"), "{sentence}");
    assert!(
        sentence.contains("own at") && sentence.contains("openssl lead the 3"),
        "{sentence}"
    );
}

const THREADS: &str = "[[grid]]\noperations = [\"private\"]\nengines = [ENGINES]\nbits = [2048]\nthreads = [1, 2]\n";

fn threads(engines: &[&str]) -> String {
    let engines: Vec<String> = engines.iter().map(|engine| format!("'{engine}'")).collect();
    THREADS.replace("ENGINES", &engines.join(", "))
}

const GAIN: &str = "threads-private-2048-throughput";

#[test]
fn the_noisiest_engine_does_not_speak_for_all() {
    let plan = threads(&["own", "openssl"]);
    // own nearly doubles. openssl, slower, is measured on a busy machine: 2.1 times, and anything else.
    let law: Law<'_> = &|job, place, round| {
        let times = match place {
            0 => noise(place, round),
            _ => [3.0, 0.4, 3.5, 0.35, 3.2][(round + job.threads) % 5],
        };
        let gain = [1.95_f64, 2.1][place].powf(job.threads as f64 - 1.0);
        vec![(1e6 * [1.0, 1.5][place] * times / gain) as u64; 5]
    };
    let found = finding(&report(2, None, &plan, 10, law), GAIN);
    let (sentence, verdict) = said(&found);
    assert!(
        sentence.contains("times as fast as one with own, the fastest"),
        "{sentence}"
    );
    assert!(
        sentence.contains("of 2 engines 1 gains and 1 shows no significant gain"),
        "{sentence}"
    );
    assert_eq!(verdict, "");
    assert!(found.value.unwrap().covers(1.95), "{found:?}");
}

#[test]
fn the_largest_of_many_noisy_gains_is_not_the_gain() {
    let engines = [
        "own",
        "openssl",
        "libcrypto",
        "gmp",
        "aws-lc",
        "ippcp",
        "cryptopp",
        "rustcrypto",
        "go",
        "jca",
        "textbook",
        "crypto_mb",
    ];
    // Every engine gains 1.9, and each figure is off by up to a tenth.
    let law: Law<'_> = &|job, place, round| {
        let off = 0.2 * [(5 * place) % 12, (7 * place + 3) % 12][job.threads - 1] as f64 / 12.0;
        let gain = 1.9_f64.powf(job.threads as f64 - 1.0);
        vec![(1e6 * (0.9 + off) * noise(place, round) / gain) as u64; 5]
    };
    let report = report(2, None, &threads(&engines), 10, law);
    let (one, two) = (&report.groups[0].rows, &report.groups[1].rows);
    let gains = one
        .iter()
        .zip(two)
        .map(|(one, two)| two.figures.unwrap().ops_per_s.value / one.figures.unwrap().ops_per_s.value);
    assert!(gains.fold(0.0, f64::max) > 1.99, "the largest is too large");
    let found = finding(&report, GAIN);
    let value = found.value.unwrap().value;
    assert!((value / 1.9 - 1.0).abs() < 0.06, "{value}");
    assert!(found.sentence.contains("of 12 engines 12 gain"), "{found:?}");
    assert!(!found.sentence.contains("gains most"), "{found:?}");
}

#[test]
fn few_values_say_nothing_of_a_gain() {
    let law: Law<'_> = &|job, _, _| vec![1_000_000 / job.threads as u64];
    let found = finding(&report(2, None, &threads(&["own"]), 3, law), GAIN);
    let (sentence, verdict) = said(&found);
    assert!(sentence.contains("too few values to say"), "{sentence}");
    assert_eq!(verdict, "too few values");
}

#[test]
fn threads_beyond_the_cpus_do_not_speak_for_a_job() {
    let plan = threads(&["own", "gmp"]).replace("[1, 2]", "[1, 2, 4]");
    // Four threads on two CPUs look faster than they are.
    let law: Law<'_> = &|job, place, round| {
        let gain = [0.0, 1.0, 1.9, 0.0, 2.4][job.threads];
        vec![(1e6 * [1.0, 2.0][place] * noise(place, round) / gain) as u64; 5]
    };
    let report = report(2, None, &plan, 10, law);
    let fastest: Vec<&str> = report
        .findings
        .iter()
        .filter(|finding| finding.id.starts_with("fastest"))
        .map(|finding| finding.id.as_str())
        .collect();
    assert_eq!(fastest, ["fastest-private-2048-2t"]);
    let gain = finding(&report, GAIN);
    assert!(gain.sentence.contains(": 2 threads are 1.9"), "{gain:?}");

    // Where there are no others they speak, and it is said what they are.
    let plan = plan.replace("[1, 2, 4]", "[4, 6]");
    let law: Law<'_> = &|_, place, round| vec![(1e6 * [1.0, 2.0][place] * noise(place, round)) as u64; 5];
    let report = self::report(2, None, &plan, 10, law);
    let found = finding(&report, "fastest-private-2048-4t");
    assert!(found.sentence.contains("4 threads take turns on 2 CPUs"), "{found:?}");
}

#[test]
fn what_a_quota_stops_is_not_left_out() {
    // A quota of half a CPU: a call in twenty lasts for the pauses, and the median knows nothing of it. The speed does.
    let law: Law<'_> = &|_, place, round| {
        let ns = (1e6 * [1.0, 2.0][place] * noise(place, round)) as u64;
        let mut times = vec![ns; 20];
        times[round % 20] = 21 * ns;
        times
    };
    let report = report(2, Some(0.5), TWO, 10, law);
    let found = finding(&report, "fastest-private-2048");
    assert!(found.sentence.contains("at 500"), "{found:?}");
    let notes = &report.groups[0].rows[0].notes;
    let pauses = "by the median time of one operation the speed would be 2.000 times as high: pauses, and operations \
                  that took longer, are in the speed only";
    assert_eq!(notes, &[pauses]);

    // A quota of one and a half: two threads do not run at once, so that nothing is said of their gain.
    let law: Law<'_> = &|job, place, round| vec![(1e6 * noise(place, round) / job.threads as f64) as u64; 5];
    let report = self::report(2, Some(1.5), &threads(&["own", "gmp"]), 10, law);
    let found = finding(&report, GAIN);
    let (sentence, verdict) = said(&found);
    assert!(
        sentence.contains("2 threads are more than a quota of 1.50 CPUs"),
        "{sentence}"
    );
    assert_eq!((found.value, verdict), (None, "not measurable here"));
}
