//! A report of 500 cells: how long it takes to make and to open is printed, how large the page is, is bounded.
//!
//! `cargo test --release -p rsalab-study --test library large_report -- --nocapture` for the times of what ships.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    time::Instant,
};

use rsalab_study::{
    articles,
    plan::Host,
    report::{self, Figure, Scale},
};

use crate::browser::chromium::Chromium;
use crate::support::{Planted, beginning, block};

const ENGINES: [&str; 10] = [
    "own",
    "textbook",
    "openssl",
    "libcrypto",
    "gmp",
    "gmp:powm",
    "aws-lc",
    "java",
    "go",
    "ippcp",
];

/// Ten engines, over key sizes and threads, and text: 500 cells.
fn plan() -> String {
    let engines = ENGINES.map(|engine| format!("\"{engine}\"")).join(", ");
    format!(
        "title = \"A large study\"\n\
         [[grid]]\noperations = [\"private\", \"public\"]\nengines = [{engines}]\nbits = [1024, 2048, 3072, 4096]\n\
         threads = [1, 2, 4, 8, 16]\nmode = \"throughput\"\n\
         [[grid]]\noperations = [\"text_decrypt\"]\nengines = [{engines}]\nbits = [2048, 3072]\n\
         threads = [1, 2, 4, 8, 16]\nsymbols = [20_000]\n"
    )
}

/// Eight blocks of 25 samples in each cell.
fn planted(directory: &Path) -> Planted {
    let host = Host {
        known: ENGINES.map(str::to_owned).to_vec(),
        present: ENGINES.map(str::to_owned).to_vec(),
        logical_cpus: 16,
    };
    let mut planted = Planted::new(directory, &plan(), &host);
    for group in planted.groups() {
        for (place, engine) in ENGINES.into_iter().enumerate() {
            let job = &group.job;
            let gain = (job.threads as f64).powf(0.95 - 0.04 * place as f64);
            let ns = (job.bits as f64 / 1024.0).powi(3) * 2e5 * (1.0 + place as f64 / 3.0) / gain;
            planted.begin(&group.cells[place], &beginning(engine));
            for round in 0..8 {
                let noise = |index: usize| (index * 7 + round * 3 + place * 5) % 13;
                let times = (0..25).map(|index| (ns * (0.97 + 0.005 * noise(index) as f64)) as u64);
                planted.add(&group, place, round, block(times));
            }
            let store = planted.study.store_mut();
            store.complete_cell(group.cells[place].id, &[]).unwrap();
        }
    }
    planted
}

#[test]
fn five_hundred_cells_make_a_page_of_bounded_size() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let timed = |what: &str, start: Instant| {
        eprintln!("{what}: {:.2} s", start.elapsed().as_secs_f64());
    };
    let start = Instant::now();
    let report = articles::report(planted.study.store()).unwrap();
    timed("the report as data", start);
    let cells: usize = report.groups.iter().map(|group| group.rows.len()).sum();
    assert_eq!((cells, report.counts["done"]), (500, 500));

    let start = Instant::now();
    let page = report::html(&report);
    timed("the page", start);
    let start = Instant::now();
    let pictures = report.all_figures().map(report::svg);
    let bytes: usize = pictures.map(|svg| report::png(&svg).len()).sum();
    timed(
        &format!("{} pictures, {bytes} bytes as PNG", report.all_figures().count()),
        start,
    );

    // Where a browser can be pointed at it.
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large_report");
    let start = Instant::now();
    let written = report::write(&articles::report(planted.study.store()).unwrap(), &out).unwrap();
    timed(&format!("all of it, in {}", written.display()), start);

    eprintln!("the page: {} bytes", page.len());
    // 2 MB and the data of what is drawn.
    assert!(page.len() < 2_500_000, "{} bytes", page.len());
    assert_eq!(fs::read_to_string(&written).unwrap(), page);

    let Some(mut browser) = Chromium::start() else {
        let words = "SKIPPED: how long a large page takes to open, since Chromium is not installed\n";
        io::stderr().write_all(words.as_bytes()).unwrap();
        return;
    };
    browser.look(1280, "light", "screen");
    browser.open(&format!("file://{}", written.display()));
    let opened = browser.value("performance.getEntriesByType('navigation')[0].loadEventEnd");
    eprintln!("opened and drawn: {:.2} s", opened.as_f64().unwrap() / 1e3);
    let first = "document.querySelectorAll('.drawing.wide:not([hidden]) .series .line').length";
    let drawn = browser.value(first);
    let of_lines = |figure: &&Figure| !matches!(figure.x.scale, Scale::Names { .. });
    let figures = report.all_figures().filter(of_lines);
    let lines: usize = figures.map(|figure| figure.series.len()).sum();
    assert_eq!(drawn, lines);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
