//! The report of planted studies: what is planted comes out, in every form.

use std::{fs, path::Path};

use rsalab_study::{
    articles,
    report::{self, Report, Scale},
    store::Beginning,
};

use crate::support::{Planted, beginning, block, host};

const PLAN: &str = r#"
title = "A <planted> study | with & signs"
[[grid]]
operations = ["private"]
engines = ["own", "gmp", "openssl", "libcrypto"]
bits = [2048]

[[grid]]
operations = ["text_decrypt"]
engines = ["own", "gmp"]
bits = [2048]
threads = [1, 2]
symbols = [20_000]

[[grid]]
operations = ["keygen"]
engines = ["own"]
bits = [2048]
"#;

fn planted(directory: &Path) -> Planted {
    let mut planted = Planted::new(directory, PLAN, &host(&["own"], 2));
    let groups = planted.groups();
    // gmp is twice as fast and not blinded.
    let mut bare = beginning("gmp");
    bare.ledger.blinding = Some(false);
    bare.notes = vec!["a <b>remark</b>".to_owned()];
    planted.fill(&groups[0], 0, &beginning("own"), 1_000_000.0);
    planted.fill(&groups[0], 1, &bare, 500_000.0);
    planted
        .study
        .store_mut()
        .fail_cell(groups[0].cells[2].id, "it died (signal: 9)")
        .unwrap();
    planted
        .study
        .store_mut()
        .refuse_cell(groups[0].cells[3].id, "not installed; get it with: make it")
        .unwrap();
    // Own gains 1.9 from a second thread, gmp nothing.
    planted.fill(&groups[1], 0, &beginning("own"), 40e6);
    planted.fill(&groups[1], 1, &beginning("gmp"), 50e6);
    planted.fill(&groups[2], 0, &beginning("own"), 40e6 / 1.9);
    planted.fill(&groups[2], 1, &beginning("gmp"), 50e6);
    planted
}

#[test]
fn what_is_planted_comes_out() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let report = articles::report(planted.study.store()).unwrap();
    assert!(!report.is_complete, "key generation was not measured");
    assert_eq!(report.counts["done"], 6);
    assert_eq!(
        (
            report.counts["failed"],
            report.counts["unsupported"],
            report.counts["planned"]
        ),
        (1, 1, 1)
    );

    let private = &report.groups[0];
    let own = private.rows[0].figures.unwrap();
    assert!(
        own.ns_per_op.covers(1_000_000.0) && own.ops_per_s.covers(1000.0),
        "{own:?}"
    );
    assert_eq!((own.blocks, own.operations, own.summary.n), (6, 60, 60));
    assert!((own.tsc_per_op.unwrap() - 2_300_000.0).abs() < 23_000.0);
    let own_ratio = private.rows[0].ratio.as_ref().unwrap();
    assert_eq!(own_ratio.to_first.value, 1.0);
    let gmp = private.rows[1].ratio.as_ref().unwrap();
    assert!((gmp.to_first.value - 2.0).abs() < 0.01 && gmp.to_first.low > 1.9 && gmp.to_first.high < 2.1);
    assert_eq!(gmp.differs_in, ["blinding"]);
    assert_eq!(private.rows[2].reason.as_deref(), Some("it died (signal: 9)"));
    assert!(private.rows[2].figures.is_none() && private.rows[2].ratio.is_none());

    let sentences: Vec<&str> = report
        .findings
        .iter()
        .map(|finding| finding.sentence.as_str())
        .collect();
    let fastest = &report.findings[0];
    assert_eq!(fastest.id, "fastest-private-2048");
    assert!(fastest.sentence.contains("gmp is the fastest of 2"), "{sentences:?}");
    assert!(fastest.sentence.contains("differ in blinding"), "{sentences:?}");
    let gain = report
        .findings
        .iter()
        .find(|finding| finding.id == "threads-text_decrypt-2048-20000")
        .unwrap();
    assert!(
        gain.sentence.contains("2 threads") && gain.sentence.contains("own"),
        "{}",
        gain.sentence
    );
    assert!((gain.value.unwrap().value - 1.9).abs() < 0.01);
}

#[test]
fn equal_engines_are_called_equal() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "[[grid]]\noperations = [\"public\"]\nengines = [\"own\", \"gmp\"]\nbits = [1024]\n";
    let mut planted = Planted::new(directory.path(), plan, &host(&[], 1));
    let group = planted.groups().remove(0);
    planted.fill(&group, 0, &beginning("own"), 10_000.0);
    planted.fill(&group, 1, &beginning("gmp"), 10_001.0);
    let report = articles::report(planted.study.store()).unwrap();
    assert!(report.is_complete);
    assert!(
        report.findings[0].sentence.contains("without a significant difference"),
        "{:?}",
        report.findings
    );
}

#[test]
fn luck_is_described_by_its_rate() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "[[grid]]\noperations = [\"keygen\"]\nengines = [\"own\", \"gmp\"]\nbits = [1024]\n";
    let mut planted = Planted::new(directory.path(), plan, &host(&[], 1));
    let group = planted.groups().remove(0);
    // The same median, but gmp is very slow once in five times.
    for (place, slow) in [(0, 1_000_000), (1, 6_000_000)] {
        planted.begin(&group.cells[place], &beginning("any"));
        for round in 0..8 {
            let times = (0..10).map(|index| if index % 5 == 0 { slow } else { 1_000_000 });
            let mut report = block(times);
            report.tests = vec![30; 10];
            planted.add(&group, place, round, report);
        }
        planted
            .study
            .store_mut()
            .complete_cell(group.cells[place].id, &[])
            .unwrap();
    }
    let report = articles::report(planted.study.store()).unwrap();
    let rows = &report.groups[0].rows;
    assert_eq!(rows[1].figures.unwrap().ns_per_op.value, 1_000_000.0);
    assert!((rows[1].figures.unwrap().ops_per_s.value - 500.0).abs() < 1e-6);
    assert!((rows[1].ratio.as_ref().unwrap().to_first.value - 0.5).abs() < 1e-9);
    assert_eq!(rows[1].figures.unwrap().tests_per_op, Some(30.0));
}

/// Two searches, one a tenth slower than the other for every test, each with luck of its own; the report of both.
fn searches(directory: &Path, sieves: [&str; 2]) -> Report {
    let plan = "[[grid]]\noperations = [\"keygen\"]\nengines = [\"own\", \"gmp\"]\nbits = [1024]\n";
    let mut planted = Planted::new(directory, plan, &host(&[], 1));
    let group = planted.groups().remove(0);
    for (place, sieve) in sieves.into_iter().enumerate() {
        let mut beginning = beginning("any");
        beginning.ledger.sieve = Some(sieve.to_owned());
        planted.begin(&group.cells[place], &beginning);
        for round in 0..20 {
            let tests = (0..10).map(|index| 20 + (7 * index + (3 + 4 * place) * round) % 80);
            let tests: Vec<u64> = tests.map(|tests| tests as u64).collect();
            let each = [100_000, 110_000][place];
            let mut report = block(tests.iter().map(|tests| tests * each));
            report.tests = tests;
            planted.add(&group, place, round, report);
        }
        let store = planted.study.store_mut();
        store.complete_cell(group.cells[place].id, &[]).unwrap();
    }
    articles::report(planted.study.store()).unwrap()
}

#[test]
fn speeds_without_luck_stand_beside_those_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let report = searches(directory.path(), ["the primes below 1000"; 2]);
    let row = &report.groups[0].rows[1];
    let ratio = row.ratio.as_ref().unwrap();
    let corrected = ratio.adjusted.unwrap();
    assert!(
        (corrected.value * 1.1 - 1.0).abs() < 1e-6,
        "nothing else was planted: {corrected:?}"
    );
    assert!(
        (ratio.to_first.value - corrected.value).abs() > 1e-4,
        "the raw one has its luck"
    );
    let speeds = report.groups[0].rows.iter().map(|row| row.adjusted.unwrap());
    let speeds: Vec<f64> = speeds.map(|speed| speed.ops_per_s.value).collect();
    assert!((speeds[0] / speeds[1] - 1.1).abs() < 1e-6);

    for text in [report::markdown(&report), report::html(&report)] {
        assert!(text.contains("adjusted speed, at"), "{text}");
        assert!(text.contains("adjusted ratio: 0.9091"), "{text}");
        assert!(!text.contains("the ratio is raw"));
    }
    assert!(report.findings[0].sentence.contains("adjusted 1.100"));
    let table = report::csv(&report);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let last = reader.records().last().unwrap().unwrap();
    let field = |name: &str| &last[headers.iter().position(|header| header == name).unwrap()];
    let number = |name: &str| field(name).parse::<f64>().unwrap();
    assert_eq!(number("ratio"), ratio.to_first.value);
    assert_eq!(number("luck_corrected_ratio"), corrected.value);
    assert_eq!(number("luck_corrected_ops_per_s"), speeds[1]);
    assert_eq!(field("ratio_uncorrected"), "");
}

#[test]
fn a_ratio_with_its_luck_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let report = searches(directory.path(), ["the primes below 1000", "none"]);
    assert!(report.groups[0].rows[1].adjusted.is_none());
    for text in [report::markdown(&report), report::html(&report), report::csv(&report)] {
        assert!(text.contains("search in different ways"), "{text}");
        assert!(!text.contains("adjusted"), "{text}");
    }
}

#[test]
fn unequal_jobs_bear_a_sign_in_charts() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let report = articles::report(planted.study.store()).unwrap();
    let figure = |id: &str| {
        let figure = report.figures.iter().find(|figure| figure.id == id);
        figure.unwrap_or_else(|| panic!("no figure {id}"))
    };
    // gmp is not blinded, as own is.
    let unequal = figure("private-2048");
    let signs: Vec<bool> = unequal.series[0].points.iter().map(|point| point.unequal).collect();
    assert_eq!(signs, [true, false], "the fastest is drawn first");
    let remark = unequal.remark.as_deref().unwrap();
    assert!(remark.starts_with("* not the same job as own's"), "{remark}");
    let picture = report::svg(unequal);
    assert!(picture.contains("* not the same job as own"), "{picture}");
    let is_value_with_sign = |line: &&str| line.contains(" to ") && line.ends_with(" *</text>");
    assert_eq!(picture.lines().filter(is_value_with_sign).count(), 1, "{picture}");
    assert!(report::html(&report).contains(&picture), "the page shows the file");

    let equal = figure("text_decrypt-2048-20000-over-threads");
    assert_eq!(equal.remark, None);
    assert!(!report::svg(equal).contains("not the same job"));
}

#[test]
fn a_study_without_a_result_has_a_report_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let planted = Planted::new(directory.path(), PLAN, &host(&["own"], 2));
    let out = directory.path().join("report");
    let page = report::write(&articles::report(planted.study.store()).unwrap(), &out).unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Not complete: 9 cells, 9 planned"));
    assert!(!page.contains("id=\"figure-"));
}

#[test]
fn the_same_store_gives_the_same_bytes_in_every_form() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let (first, second) = (directory.path().join("1"), directory.path().join("2"));
    report::write(&articles::report(planted.study.store()).unwrap(), &first).unwrap();
    report::write(&articles::report(planted.study.store()).unwrap(), &second).unwrap();
    for name in [
        "report.html",
        "results.csv",
        "results.json",
        "report.md",
        "report.tex",
        "figures/private-2048.svg",
        "figures/private-2048.png",
    ] {
        let read = |directory: &Path| fs::read(directory.join(name)).unwrap();
        assert_eq!(read(&first), read(&second), "{name}");
    }
    // Written again over what is there.
    report::write(&articles::report(planted.study.store()).unwrap(), &first).unwrap();
    let drafts = fs::read_dir(&first).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".draft")
    });
    assert_eq!(drafts.count(), 0);
}

#[test]
fn the_page_stands_alone_and_says_everything() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let page = report::html(&articles::report(planted.study.store()).unwrap());
    for part in [
        "A &lt;planted&gt; study | with &amp; signs",
        "gmp is the fastest of 2",
        "it died (signal: 9)",
        "not installed; get it with: make it",
        "a &lt;b&gt;remark&lt;/b&gt;",
        "not the same job as own's: blinding",
        "rsalab study planted.toml",
        "<figure data-figure=\"private-2048\"",
        "<figure data-figure=\"text_decrypt-2048-20000-over-threads\"",
        "operations/s",
        "symbols/s",
        "TSC ticks",
        "prefers-color-scheme",
        "@media print",
        "Not complete: 9 cells",
    ] {
        assert!(page.contains(part), "missing: {part}");
    }
    // Nothing is fetched: no address but those of XML's names.
    let fetched = page.replace("http://www.w3.org/2000/svg", "");
    for scheme in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!fetched.contains(scheme), "{scheme}");
    }
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(
        !page.contains("{{") && !page.contains("{%"),
        "the template is filled in"
    );
}

#[test]
fn the_table_has_a_row_for_each_cell_and_numbers_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let table = report::csv(&articles::report(planted.study.store()).unwrap());
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 9);
    let field = |row: usize, name: &str| rows[row][column(name)].to_owned();
    assert_eq!(field(0, "engine"), "own");
    assert!((field(0, "ops_per_s").parse::<f64>().unwrap() - 1000.0).abs() < 10.0);
    assert_eq!(field(1, "ratio_to"), "own");
    assert_eq!(field(1, "ratio_differs_in"), "blinding");
    assert_eq!(
        (field(2, "state"), field(2, "ops_per_s")),
        ("failed".into(), String::new())
    );
    assert_eq!(field(8, "state"), "planned");
}

#[test]
fn json_has_an_id_for_each_figure_and_finding() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let out = directory.path().join("report");
    report::write(&articles::report(planted.study.store()).unwrap(), &out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(out.join("results.json")).unwrap()).unwrap();
    let ids = |list: &str| -> Vec<String> {
        json[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        ids("figures"),
        [
            "private-2048",
            "text_decrypt-2048-20000-over-threads",
            "scaling-text_decrypt-2048-20000-speedup"
        ]
    );
    assert_eq!(
        ids("findings"),
        [
            "fastest-private-2048",
            "fastest-text_decrypt-2048-20000-2t",
            "threads-text_decrypt-2048-20000"
        ]
    );
    assert_eq!(json["groups"][0]["rows"][1]["ledger"]["blinding"], false);
    for figure in ids("figures") {
        let picture = fs::read_to_string(out.join(format!("figures/{figure}.svg"))).unwrap();
        assert!(
            picture.starts_with("<svg xmlns") && picture.trim_end().ends_with("</svg>"),
            "{picture}"
        );
        assert!(picture.contains("<desc"), "{picture}");
    }
}

#[test]
fn many_sizes_make_one_figure_and_the_answer_stays_short() {
    let directory = tempfile::tempdir().unwrap();
    let sizes: Vec<String> = (1..=14).map(|factor| (512 * factor).to_string()).collect();
    let plan = format!(
        "[[grid]]\noperations = [\"private\"]\nengines = [\"own\", \"gmp\"]\nbits = [{}]\n",
        sizes.join(", ")
    );
    let mut planted = Planted::new(directory.path(), &plan, &host(&[], 1));
    for group in planted.groups() {
        let ns = (group.job.bits as f64).powi(3);
        planted.fill(&group, 0, &beginning("own"), ns);
        planted.fill(&group, 1, &beginning("gmp"), ns * 1.5);
    }
    let report = articles::report(planted.study.store()).unwrap();
    assert_eq!(report.findings.len(), 14);
    let [figure] = report.figures.as_slice() else {
        panic!("{:?}", report.figures)
    };
    assert_eq!(figure.id, "private-over-bits");
    assert_eq!(
        figure
            .series
            .iter()
            .map(|series| series.points.len())
            .collect::<Vec<_>>(),
        [14, 14]
    );
    assert_eq!(figure.series[0].points[13].x, 7168.0);
    let page = report::html(&report);
    assert!(page.contains("and 2 more"));
    assert_eq!(page.matches("own is the fastest of 2").count(), 14);
}

#[test]
fn many_batches_make_one_figure_with_a_line_for_each_size() {
    let directory = tempfile::tempdir().unwrap();
    let plan = r#"
        [[grid]]
        operations = ["private"]
        engines = ["own"]
        bits = [1024, 2048]
        batch = [1, 2, 3, 4, 5]
        mode = "throughput"
    "#;
    let mut planted = Planted::new(directory.path(), plan, &host(&["own"], 1));
    for group in planted.groups() {
        let job = &group.job;
        let ns = 1000.0 * (job.bits * job.batch) as f64;
        planted.fill(&group, 0, &beginning("own"), ns);
    }
    let report = articles::report(planted.study.store()).unwrap();
    let [figure] = &report.figures[..] else {
        panic!("one figure: {:?}", report.figures);
    };
    assert_eq!(figure.id, "private-throughput-over-batches");
    let lines: Vec<_> = figure
        .series
        .iter()
        .map(|line| {
            let batches = line.points.iter().map(|point| point.x as usize);
            (line.name.as_str(), batches.collect::<Vec<_>>())
        })
        .collect();
    let batches = vec![1, 2, 3, 4, 5];
    assert_eq!(
        lines,
        [("own, 1024 bits", batches.clone()), ("own, 2048 bits", batches)]
    );
}

#[test]
fn speeds_far_apart_have_a_logarithmic_axis() {
    let plan = "[[grid]]\noperations = [\"public\"]\nengines = [\"own\", \"gmp\"]\nbits = [2048]\nthreads = [1, 2]\n";
    for (times, is_log) in [(20.0, false), (1000.0, true)] {
        let directory = tempfile::tempdir().unwrap();
        let mut planted = Planted::new(directory.path(), plan, &host(&[], 2));
        for group in planted.groups() {
            planted.fill(&group, 0, &beginning("own"), 1e5);
            planted.fill(&group, 1, &beginning("gmp"), 1e5 * times);
        }
        let report = articles::report(planted.study.store()).unwrap();
        assert_eq!(report.figures[0].y.scale == Scale::Log, is_log, "{times}");
    }
}

#[test]
fn markdown_keeps_its_tables_whole() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = planted(directory.path());
    let group = planted.groups().pop().unwrap();
    let noted = Beginning {
        notes: vec!["a | bar\nand a line".to_owned()],
        ..beginning("own")
    };
    planted.fill(&group, 0, &noted, 1e6);
    let text = report::markdown(&articles::report(planted.study.store()).unwrap());
    // Those of the jobs, after the sections on many cells.
    let (_, tables) = text.split_once("\n## Tables\n").unwrap();
    let rows: Vec<&str> = tables.lines().filter(|line| line.starts_with("| **own** |")).collect();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
    }
    assert!(text.contains("a \\| bar and a line"));
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = report::write(&articles::report(planted.study.store()).unwrap(), &file.join("report")).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn an_operation_at_several_sizes_has_one_table_with_a_figure_or_a_reason_in_every_cell() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "[[grid]]\noperations = [\"private\"]\nengines = [\"own\", \"gmp\", \"openssl\"]\nbits = [1024, 2048]\n\
                [[grid]]\noperations = [\"public\"]\nengines = [\"own\"]\nbits = [1024]\n";
    let mut planted = Planted::new(directory.path(), plan, &host(&[], 1));
    let groups = planted.groups();
    let mut bare = beginning("gmp");
    bare.ledger.blinding = Some(false);
    for group in &groups[..2] {
        planted.fill(group, 0, &beginning("own"), 1_000_000.0);
        let cell = group.cells[2].id;
        planted.study.store_mut().refuse_cell(cell, "not installed").unwrap();
    }
    planted.fill(&groups[0], 1, &bare, 500_000.0);

    let report = articles::report(planted.study.store()).unwrap();
    let [overview] = &report.overviews[..] else {
        panic!("public has one size: {:?}", report.overviews);
    };
    assert_eq!(
        (overview.unit.as_str(), &overview.bits[..]),
        ("operations/s", &[1024, 2048][..])
    );
    let cells: Vec<(&str, Vec<String>)> = overview
        .rows
        .iter()
        .map(|row| {
            let cells = row.cells.iter().map(|cell| cell.text()).collect();
            (row.engine.as_str(), cells)
        })
        .collect();
    let text = |left: &str, right: &str| vec![left.to_owned(), right.to_owned()];
    assert_eq!(cells[0], ("own", text("999.9", "999.9")));
    assert_eq!(cells[1], ("gmp", text("2,000*", "[1]")));
    assert_eq!(cells[2], ("openssl", text("[2]", "[2]")));
    assert_eq!(
        overview.reasons,
        ["gmp: planned", "openssl: unsupported: not installed"]
    );

    let markdown = report::markdown(&report);
    assert!(
        markdown.contains("| engine | 1024 bits | 2048 bits |\n|---|---:|---:|\n"),
        "{markdown}"
    );
    assert!(markdown.contains("| gmp | 2,000* | [1] |"), "{markdown}");
    assert!(report::html(&report).contains("id=\"overview-private\""));
}
