//! Rows of a bench: names, ratios, remarks.

use std::sync::{Arc, atomic::AtomicBool};

use rsalab_engines::{Mode, Op};
use rsalab_study::{
    ErrorClass,
    bench::{self, Request, Results, Row},
    run::{Environment, Event},
};

use crate::support::{
    self, host,
    mock::{Mocks, Trouble},
};

fn request(engines: &[&str]) -> Request {
    let engines = engines.iter().map(|name| (*name).to_owned()).collect();
    Request {
        seconds: 0.3,
        ..Request::new(Op::Private, vec![512], engines)
    }
}

fn bench(request: &Request, mocks: &Mocks) -> Results {
    bench_until(request, mocks, false)
}

fn bench_until(request: &Request, mocks: &Mocks, stop: bool) -> Results {
    let around = Environment {
        launcher: mocks,
        machine: support::MACHINE.clone(),
        warnings: Vec::new(),
        allow_unoptimised: false,
    };
    let stop = Arc::new(AtomicBool::new(stop));
    bench::run(request, &host(&[], 4), &around, &mut |_: &Event<'_>| {}, &stop).unwrap()
}

#[test]
fn a_row_has_the_documented_names() {
    let results = bench(&request(&["gmp", "own"]), &Mocks::new());
    assert!(results.is_complete);
    let json = serde_json::to_value(&results.rows).unwrap();
    let row = json[1].as_object().unwrap();
    let mut names: Vec<&str> = row.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "batch",
            "bits",
            "disturbance",
            "engine",
            "engine_version",
            "kernel",
            "ledger",
            "mode",
            "notes",
            "ns_per_op",
            "op",
            "ops_per_s",
            "ratio_to_first",
            "threads",
            "tsc_per_op",
        ]
    );
    for interval in ["ns_per_op", "ratio_to_first"] {
        let mut ends: Vec<&str> = row[interval].as_object().unwrap().keys().map(String::as_str).collect();
        ends.sort_unstable();
        assert_eq!(ends, ["high", "low", "median"], "{interval}");
    }
    assert_eq!(
        (row["op"].as_str(), row["mode"].as_str()),
        (Some("private"), Some("latency"))
    );
    assert_eq!(
        serde_json::from_value::<Vec<Row>>(json).unwrap(),
        results.rows,
        "what is written is read back"
    );
}

#[test]
fn ratios_are_speeds_beside_the_first_engine_at_the_same_size() {
    let mut mocks = Mocks::new();
    // Takes three times as long.
    mocks.troubles.insert("gmp".to_owned(), Trouble::Slow(3));
    let request = Request {
        bits: vec![512, 768],
        ..request(&["gmp", "own"])
    };
    let rows = bench(&request, &mocks).rows;
    assert_eq!(
        rows.iter()
            .map(|row| (row.bits, row.engine.as_str()))
            .collect::<Vec<_>>(),
        [(512, "gmp"), (512, "own"), (768, "gmp"), (768, "own")]
    );
    for pair in rows.chunks(2) {
        assert_eq!(pair[0].ratio_to_first.unwrap().median, 1.0);
        assert!(
            (pair[1].ratio_to_first.unwrap().median - 3.0).abs() < 1e-9,
            "three times as fast as the first"
        );
        assert!((pair[1].ops_per_s.unwrap() * pair[1].ns_per_op.unwrap().median - 1e9).abs() < 1.0);
        assert!(pair[0].notes.is_empty(), "{:?}", pair[0].notes);
    }
}

#[test]
fn an_engine_beside_itself_has_two_workers() {
    let mocks = Mocks::with("own", Trouble::FastInLaunch(2));
    let results = bench(&request(&["own", "gmp", "own"]), &mocks);
    assert!(results.is_complete);
    assert_eq!((mocks.launched("own"), mocks.launched("gmp")), (2, 1));
    let ratios: Vec<f64> = results
        .rows
        .iter()
        .map(|row| row.ratio_to_first.unwrap().median)
        .collect();
    assert_eq!(ratios, [1.0, 1.0, 2.0]);
}

#[test]
fn unequal_jobs_are_marked() {
    let mut mocks = Mocks::new();
    mocks.troubles.insert("gmp".to_owned(), Trouble::Unblinded);
    let rows = bench(&request(&["own", "gmp"]), &mocks).rows;
    assert_eq!(rows[1].notes, ["differs in: blinding, result check"]);
    assert!(rows[0].notes.is_empty());
}

#[test]
fn failures_have_rows_with_their_reason() {
    for (trouble, words) in [
        (Trouble::Absent, "not supported: not installed"),
        (Trouble::DiesAt(4), "failed: the worker 'gmp' died"),
    ] {
        let results = bench(&request(&["gmp", "own"]), &Mocks::with("gmp", trouble));
        assert!(results.is_complete);
        assert_eq!(
            (results.rows[0].ops_per_s, results.rows[0].ratio_to_first),
            (None, None)
        );
        assert!(
            results.rows[0].notes[0].starts_with(words),
            "{:?}",
            results.rows[0].notes
        );
        assert!(results.rows[1].ops_per_s.is_some());
        assert_eq!(
            results.rows[1].ratio_to_first, None,
            "there is no first to compare with"
        );
    }
}

#[test]
fn several_launches_start_the_workers_anew_and_tell_the_best() {
    let mut mocks = Mocks::new();
    // Fast in its second launch only: a lottery.
    mocks.troubles.insert("gmp".to_owned(), Trouble::FastInLaunch(2));
    let request = Request {
        launches: 5,
        ..request(&["own", "gmp"])
    };
    let rows = bench(&request, &mocks).rows;
    assert_eq!((mocks.launched("own"), mocks.launched("gmp")), (5, 5));
    assert_eq!(rows[1].launches_ops_per_s.len(), 5);
    assert_eq!(
        rows[1].ops_per_s, rows[0].ops_per_s,
        "the median is not moved by one lucky launch"
    );
    let best = rows[1].launches_ops_per_s.iter().copied().fold(0.0, f64::max);
    assert!((best / rows[1].ops_per_s.unwrap() - 2.0).abs() < 1e-9);
    assert!(
        rows[1].notes[0].starts_with("launches: 5, best 1,600, worst 800.0"),
        "{:?}",
        rows[1].notes
    );
}

#[test]
fn a_range_is_not_called_an_interval() {
    for (launches, words) in [
        (
            2,
            "2 launches are too few values: the intervals reach a confidence of 50 %",
        ),
        (
            4,
            "4 launches are too few values: the intervals reach a confidence of 87 %",
        ),
    ] {
        let mut mocks = Mocks::new();
        let luck = Trouble::FastInLaunch(2);
        mocks.troubles.insert("gmp".to_owned(), luck);
        let request = Request {
            launches,
            ..request(&["own", "gmp"])
        };
        let notes = &bench(&request, &mocks).rows[1].notes;
        assert!(notes.contains(&words.to_owned()), "{notes:?}");
    }
}

#[test]
fn a_stop_returns_what_there_is() {
    let results = bench_until(&request(&["own", "gmp"]), &Mocks::new(), true);
    assert!(!results.is_complete);
    assert_eq!(results.rows.len(), 2);
    assert_eq!(results.rows[0].notes, ["stopped before the end"]);
}

#[test]
fn batches_and_threads_ask_for_throughput() {
    let request = Request {
        batch: 8,
        threads: 2,
        ..request(&["own"])
    };
    let rows = bench(&request, &Mocks::new()).rows;
    assert_eq!((rows[0].mode, rows[0].batch, rows[0].threads), (Mode::Throughput, 8, 2));
}

#[test]
fn senseless_requests_are_refused_in_words() {
    let mocks = Mocks::new();
    for (request, words) in [
        (request(&["opensll"]), "did you mean 'openssl'?"),
        (request(&[]), "the list is empty"),
        (
            Request {
                bits: vec![254],
                ..request(&["own"])
            },
            "256 to 16384",
        ),
        (
            Request {
                threads: 0,
                ..request(&["own"])
            },
            "1 to 1024",
        ),
        (
            Request {
                seconds: 0.0,
                ..request(&["own"])
            },
            "not a budget",
        ),
        (
            Request {
                seconds: f64::NAN,
                ..request(&["own"])
            },
            "not a budget",
        ),
        (
            Request {
                launches: 0,
                ..request(&["own"])
            },
            "1 launch or more",
        ),
    ] {
        let around = Environment {
            launcher: &mocks,
            machine: support::MACHINE.clone(),
            warnings: Vec::new(),
            allow_unoptimised: false,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let error = bench::run(&request, &host(&[], 4), &around, &mut |_: &Event<'_>| {}, &stop).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.class(), ErrorClass::Usage);
        // A request is no file, and has one grid only.
        assert!(!error.to_string().contains("grid 1"), "{error}");
    }
}
