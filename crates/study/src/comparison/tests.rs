use rsalab_engines::{Mode, Op};

use super::*;
use crate::report;

/// A report with cells of this many operations a second, each known to one per cent: engine, bits, speed.
fn report_of(machine: &str, cells: &[(&str, usize, f64)]) -> Report {
    let rows = |bits: usize| -> Vec<serde_json::Value> {
        cells
            .iter()
            .filter(|(_, of, _)| *of == bits)
            .map(|(engine, _, speed)| {
                let estimate = |value: f64| {
                    serde_json::json!({
                        "value": value, "low": value * 0.995, "high": value * 1.005, "confidence": 0.95, "n": 20
                    })
                };
                let summary = serde_json::json!({
                    "n": 20, "mean": 1.0, "standard_deviation": null, "min": 1.0, "median": 1.0, "max": 1.0,
                    "stabilised": { "q1": 1.0, "median": 1.0, "q3": 1.0 }
                });
                serde_json::json!({
                    "engine": engine, "engine_version": "1", "kernel": "k", "state": "done", "reason": null,
                    "figures": {
                        "ops_per_s": estimate(*speed), "ns_per_op": estimate(1e9 / speed), "tsc_per_op": null,
                        "summary": summary, "tests_per_op": null, "luck": null, "blocks": 20, "operations": 100
                    },
                    "ratio": null, "luck_corrected": null, "ledger": null, "is_bare": false, "cpus": [],
                    "interrupted_blocks": 0, "notes": []
                })
            })
            .collect()
    };
    let mut sizes: Vec<usize> = cells.iter().map(|(_, bits, _)| *bits).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let groups: Vec<serde_json::Value> = sizes
        .iter()
        .map(|bits| {
            let job = Job::new(Op::Private, *bits);
            serde_json::json!({
                "title": "t", "article": null, "job": job, "confidence": 0.95, "rows": rows(*bits)
            })
        })
        .collect();
    serde_json::from_value(serde_json::json!({
        "title": "A study", "is_complete": true, "counts": {}, "findings": [], "figures": [], "articles": [],
        "overviews": [], "groups": groups, "method": [], "command": "", "report_command": "", "samples_command": "",
        "plan_toml": "", "insecure_seed": "", "created_unix_ms": 0, "program_version": "1",
        "sessions": [{
            "number": 1, "started_unix_ms": 0, "ended_unix_ms": 1, "ending": "complete", "program_version": "1",
            "warnings": ["busy"], "machine": [["CPU", machine]]
        }]
    }))
    .unwrap()
}

fn compared(reports: Vec<(&str, Report)>, control: Option<&str>) -> Comparison {
    let reports: Vec<(String, Report)> = reports.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
    Comparison::of(&reports, control)
}

fn verdicts(comparison: &Comparison) -> Vec<(String, Verdict)> {
    let of = |cell: &Cell| {
        let change = cell.values[1].as_ref()?.change.as_ref()?;
        Some((format!("{} {}", cell.engine, cell.job.bits), change.verdict))
    };
    comparison.cells.iter().filter_map(of).collect()
}

const BEFORE: &[(&str, usize, f64)] = &[("own", 1024, 1000.0), ("own", 2048, 200.0), ("gmp", 1024, 500.0)];

#[test]
fn a_change_is_told_from_drift() {
    let after = [
        ("own", 1024, 1010.0),
        ("own", 2048, 150.0),
        ("gmp", 1024, 502.0),
        ("own", 4096, 9.0),
    ];
    let both = compared(vec![("a", report_of("X", BEFORE)), ("b", report_of("X", &after))], None);
    assert_eq!(
        verdicts(&both),
        [
            ("own 1024".to_owned(), Verdict::NoChange),
            ("gmp 1024".to_owned(), Verdict::NoChange),
            ("own 2048".to_owned(), Verdict::Slower),
        ]
    );
    assert_eq!((both.count(Verdict::Slower), both.cells.len()), (1, 4));
    let control = both.studies[1].control.as_ref().unwrap();
    assert_eq!(control.engines, ["gmp"]);
    assert!((control.moved.value - 1.004).abs() < 1e-9 && !control.is_void());
    assert_eq!(
        both.summary,
        [
            "Of 3 cells that both have: 1 slower, 2 no change.",
            "From a to b, engines that did not change (gmp) became 1.004 times as fast.",
        ]
    );
    // The interval is wider than that of the two speeds alone.
    let change = both.cells[2].values[1].as_ref().unwrap().change.as_ref().unwrap();
    assert!(
        change.ratio.low < 0.75 * 0.993 && change.ratio.high > 0.75 * 1.007,
        "{change:?}"
    );
}

#[test]
fn a_machine_that_changed_makes_changes_void() {
    let after = [("own", 1024, 900.0), ("own", 2048, 180.0), ("gmp", 1024, 450.0)];
    let both = compared(vec![("a", report_of("X", BEFORE)), ("b", report_of("X", &after))], None);
    assert!(
        verdicts(&both).iter().all(|(_, verdict)| *verdict == Verdict::Void),
        "{both:?}"
    );
    assert!(both.summary[1].contains("changes of others are void"));
    // The engine whose change is looked for is no control.
    let both = compared(
        vec![("a", report_of("X", BEFORE)), ("b", report_of("X", &after))],
        Some("nobody"),
    );
    assert_eq!(both.studies[1].control, None);
    assert!(verdicts(&both).iter().all(|(_, verdict)| *verdict == Verdict::Slower));
    assert!(both.summary[1].contains("no engine is known not to have changed"));
}

#[test]
fn a_cell_of_an_engine_that_did_not_change_is_never_faster_or_slower() {
    let of = |moved: f64| {
        let all = [500.0, 400.0, 300.0 * moved];
        let mut cells = vec![("own", 1024, 1000.0 * moved)];
        cells.extend(
            [1024, 2048, 3072]
                .into_iter()
                .zip(all)
                .map(|(bits, speed)| ("gmp", bits, speed)),
        );
        report_of("X", &cells)
    };
    let both = |control| compared(vec![("a", of(1.0)), ("b", of(0.9))], control);
    let verdict_of = |comparison: &Comparison, cell: &str| {
        let of = verdicts(comparison).into_iter().find(|(name, _)| name == cell);
        of.unwrap().1
    };
    let usual = both(None);
    assert_eq!(verdict_of(&usual, "own 1024"), Verdict::Slower);
    assert_eq!(verdict_of(&usual, "gmp 3072"), Verdict::Control);
    assert_eq!(
        usual.summary,
        [
            "Of 4 cells that both have: 1 slower, 2 no change, 1 moved, though the engine did not change.",
            "From a to b, engines that did not change (gmp) became 1.000 times as fast. The one that moved most became \
             0.9000 times as fast (gmp, Private operation, 3072 bits, 1 thread): a change of another by as much may be \
             the machine's.",
        ]
    );
    // Where another one is the control, it is judged as any.
    assert_eq!(verdict_of(&both(Some("nobody")), "gmp 3072"), Verdict::Slower);
}

#[test]
fn other_machines_are_shown_beside_each_other_on_one_page() {
    let fast = [("own", 1024, 2000.0), ("own", 2048, 400.0)];
    let all = compared(
        vec![
            ("zen", report_of("X", BEFORE)),
            ("<xeon>", report_of("Y", &fast)),
            ("arm", report_of("Z", &[("own", 2048, 90.0)])),
        ],
        None,
    );
    assert_eq!(all.count(Verdict::OtherMachine), 3);
    assert_eq!(all.count(Verdict::Faster) + all.count(Verdict::Slower), 0);
    let page = html(&all);
    for part in ["&lt;xeon&gt;", "2.000 (", "another machine", "400.0", "busy", "90.00"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<xeon>"));
    let measures = bencher(&all);
    let names: Vec<&String> = measures.as_object().unwrap().keys().collect();
    assert_eq!(names, ["Private operation, 2048 bits, 1 thread, own"]);
    let speed = &measures[names[0].as_str()]["throughput"];
    assert_eq!(speed["value"], 90.0);
    assert!(speed["lower_value"].as_f64().unwrap() < 90.0);
}

#[test]
fn jobs_that_differ_in_what_titles_leave_out_are_two() {
    let mut both = report_of("X", &[("own", 1024, 1000.0)]);
    let mut twin = report_of("X", &[("own", 1024, 3000.0)]).groups.remove(0);
    twin.job.mode = Mode::Throughput;
    both.groups.push(twin);
    let all = compared(vec![("a", both)], None);
    let measures = bencher(&all);
    let page = html(&all);
    for (mode, speed) in [("latency", 1000.0), ("throughput", 3000.0)] {
        let title = format!("Private operation, 1024 bits, 1 thread, {mode}");
        assert_eq!(measures[format!("{title}, own")]["throughput"]["value"], speed);
        assert!(page.contains(&format!("<h3>{title}</h3>")), "{page}");
    }
}

#[test]
fn reports_without_a_common_cell_say_so() {
    let other = report_of("X", &[("openssl", 3072, 1.0)]);
    let both = compared(vec![("a", report_of("X", BEFORE)), ("b", other)], None);
    assert!(both.summary[0].contains("no cell in common"));
    assert!(report::html(&report_of("X", BEFORE)).contains("A study"));
}
