//! The page in a browser without a network: it draws, answers to pointer and keyboard, and fits any window.
//!
//! Runs where Chromium is installed, and says so aloud where it is not. Leaves what it saw in `target/tmp/browser`.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use base64::prelude::{BASE64_STANDARD, Engine};
use rsalab_study::{
    articles,
    report::{self, Figure, Report},
};
use serde_json::{Value, json};

pub(crate) mod chromium;
use crate::support::{Planted, beginning, host};
use chromium::Chromium;

const ENGINES: [&str; 10] = [
    "own",
    "textbook",
    "openssl",
    "libcrypto",
    "gmp",
    "gmp:powm",
    "gmp:mpn",
    "openssl:bn",
    "libcrypto:bn",
    "own:portable",
];

/// Columns, lines over threads whose values span five decades, lines over key sizes; ten engines in each.
fn planted(directory: &Path) -> Planted {
    let engines = ENGINES.map(|engine| format!("\"{engine}\"")).join(", ");
    let plan = format!(
        "title = \"A <planted> study & a long title, so that it has to break where the window is narrow\"\n\
         [[grid]]\noperations = [\"private\"]\nengines = [{engines}]\nbits = [2048]\n\
         [[grid]]\noperations = [\"text_decrypt\"]\nengines = [{engines}]\nbits = [2048]\nthreads = [1, 2, 4, 8, 16]\n\
         symbols = [20_000]\n\
         [[grid]]\noperations = [\"public\"]\nengines = [{engines}]\nbits = [1024, 2048, 3072, 4096]\n"
    );
    let mut planted = Planted::new(directory, &plan, &host(&ENGINES, 16));
    for group in planted.groups() {
        for (place, engine) in ENGINES.into_iter().enumerate() {
            let gain = (group.job.threads as f64).powf(0.9);
            let ns = 1e4 * 10_f64.powf(place as f64 / 2.0) * (group.job.bits as f64 / 1024.0).powi(3) / gain;
            planted.fill(&group, place, &beginning(engine), ns);
        }
    }
    planted
}

#[test]
fn the_page_draws_answers_and_fits() {
    let Some(mut browser) = Chromium::start() else {
        // Not by a macro, whose words a passing test keeps to itself.
        let words = "SKIPPED: the page in a browser, since Chromium is not installed\n";
        io::stderr().write_all(words.as_bytes()).unwrap();
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let page = report::write(
        &articles::report(planted.study.store()).unwrap(),
        &directory.path().join("report"),
    )
    .unwrap();
    let page = format!("file://{}", page.display());
    let report = articles::report(planted.study.store()).unwrap();
    let kinds: Vec<&str> = report.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "private-2048",
            "public-over-bits",
            "text_decrypt-2048-20000-over-threads",
            "scaling-text_decrypt-2048-20000-speedup"
        ]
    );

    complaints_are_heard(&mut browser);
    for width in [400, 1280] {
        for scheme in ["light", "dark"] {
            browser.look(width, scheme, "screen");
            browser.open(&page);
            all_is_drawn(&mut browser, &report);
            nothing_sticks_out(&mut browser, width);
            ground_is(&mut browser, scheme);
            keep_picture(&mut browser, &format!("{width}-{scheme}"));
        }
    }
    browser.look(1280, "light", "screen");
    browser.open(&page);
    everything_has_a_name(&mut browser);
    series_go_on_and_off(&mut browser, &report.figures[2]);
    scales_change(&mut browser, &report.figures[2]);
    values_are_those_of_the_tables(&mut browser, &report);
    the_pointer_finds_every_point(&mut browser, &report.figures[1]);
    lines_are_read_by_keys(&mut browser, &report.figures[1]);
    paper_is_white(&mut browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());

    // Without scripts there are still pictures.
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&page);
    let drawn = format!(
        "{SEEN}; [...document.querySelectorAll('figure')].filter((figure) => seen(figure).getBoundingClientRect().height > 100).length"
    );
    assert_eq!(browser.value(&drawn), report.all_figures().count());
}

/// That nothing is complained of means something only if complaints arrive.
fn complaints_are_heard(browser: &mut Chromium) {
    let page =
        "data:text/html,<script>console.error('e')</script><script>throw 1</script><img src=http://example.invalid>";
    browser.open(page);
    let complaints = browser.complaints().join("\n");
    for part in [
        "exceptionThrown",
        "consoleAPICalled",
        "requestWillBeSent",
        "ERR_INTERNET_DISCONNECTED",
    ] {
        assert!(complaints.contains(part), "{part} is missing: {complaints}");
    }
}

/// The drawing of a figure that is seen: by the width of the window, on the scale that is chosen.
const SEEN: &str = "var seen = (figure) => [...figure.querySelectorAll('.drawing')].filter((drawing) => drawing.offsetParent)[0].firstElementChild";

fn all_is_drawn(browser: &mut Chromium, report: &Report) {
    assert_eq!(browser.value("document.documentElement.dataset.figures"), "ready");
    let drawn = browser.value(&format!(
        "{SEEN}; [...document.querySelectorAll('figure')].map((figure) => {{
           const svg = seen(figure), box = svg.getBoundingClientRect();
           const parts = [...svg.querySelectorAll('text, .point *')].map((part) => part.getBoundingClientRect());
           const inside = (part) => part.left >= box.left - 1 && part.right <= box.right + 1
             && part.top >= box.top - 1 && part.bottom <= box.bottom + 1;
           const count = (parts) => svg.querySelectorAll(parts).length;
           return {{ id: figure.dataset.figure, series: count('g.series'), whiskers: count('.whisker'),
             lines: count('.line'), columns: count('.column'), marks: count('.mark'),
             inside: parts.every(inside), words: count('text') }};
         }})"
    ));
    let drawn = drawn.as_array().unwrap();
    assert_eq!(drawn.len(), report.all_figures().count());
    for (drawn, figure) in drawn.iter().zip(report.all_figures()) {
        assert_eq!(drawn["id"], figure.id);
        assert_eq!(drawn["inside"], true, "{drawn}");
        assert!(drawn["words"].as_u64().unwrap() >= 4, "{drawn}");
    }
    for (drawn, figure) in drawn.iter().zip(&report.figures) {
        let points: usize = figure.series.iter().map(|series| series.points.len()).sum();
        let intervals = figure.series.iter().flat_map(|series| &series.points);
        let intervals = intervals.filter(|point| point.low.is_some()).count();
        assert_eq!(drawn["id"], figure.id);
        let is_named = figure.series.len() == 1;
        let lines = if is_named { 0 } else { figure.series.len() };
        assert_eq!(drawn["whiskers"], intervals, "{drawn}");
        assert_eq!(drawn["series"], lines, "{drawn}");
        assert_eq!(drawn["lines"], lines, "{drawn}");
        assert_eq!(drawn["columns"], if is_named { points } else { 0 }, "{drawn}");
        assert!(is_named || drawn["marks"].as_u64().unwrap() >= points as u64, "{drawn}");
        assert_eq!(drawn["inside"], true, "{drawn}");
        assert!(drawn["words"].as_u64().unwrap() >= 8, "{drawn}");
    }
}

/// Wide tables scroll in a frame of their own; all else fits.
fn nothing_sticks_out(browser: &mut Chromium, width: u32) {
    let out = browser.value(
        "[...document.querySelectorAll('body *')]
           .filter((part) => !part.closest('.scroll table, pre, .unseen') && part.getBoundingClientRect().right > innerWidth + 0.5)
           .map((part) => part.outerHTML.slice(0, 200))",
    );
    assert_eq!(out, json!([]), "at {width}");
    assert_eq!(browser.value("document.documentElement.scrollWidth"), width);
}

/// From 0, black, to 255, white.
fn brightness(browser: &mut Chromium) -> f64 {
    let colour =
        browser.value("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)");
    let parts = colour.as_array().unwrap().iter().map(|part| part.as_f64().unwrap());
    parts.sum::<f64>() / 3.0
}

fn ground_is(browser: &mut Chromium, scheme: &str) {
    let brightness = brightness(browser);
    match scheme {
        "dark" => assert!(brightness < 60.0, "{brightness}"),
        _ => assert!(brightness > 230.0, "{brightness}"),
    }
}

fn keep_picture(browser: &mut Chromium, name: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::create_dir_all(&folder).unwrap();
    let width = browser.value("innerWidth");
    let clip = json!({"x": 0, "y": 0, "width": width, "height": 5000, "scale": 1});
    let taken = browser.call(
        "Page.captureScreenshot",
        json!({"captureBeyondViewport": true, "format": "png", "clip": clip}),
    );
    fs::write(folder.join(format!("{name}.png")), decoded(&taken)).unwrap();
}

/// The bytes that an answer carries as text.
fn decoded(answer: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
}

fn everything_has_a_name(browser: &mut Chromium) {
    let nameless = browser.value(
        "[...document.querySelectorAll('button, a, [tabindex], summary')]
           .filter((part) => !(part.getAttribute('aria-label') || document.getElementById(part.getAttribute('aria-labelledby'))?.textContent || part.textContent).trim())
           .map((part) => part.outerHTML.slice(0, 200))",
    );
    assert_eq!(nameless, json!([]));
}

/// The middle of what a selector finds in a figure, once it is in the window.
fn middle(browser: &mut Chromium, figure: &Figure, selector: &str) -> (f64, f64) {
    let place = browser.value(&format!(
        "(() => {{ const part = document.querySelector('[data-figure=\"{}\"] {selector}');
           part.scrollIntoView({{ block: 'center', behavior: 'instant' }});
           const box = part.getBoundingClientRect();
           return [box.left + box.width / 2, box.top + box.height / 2]; }})()",
        figure.id
    ));
    (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
}

fn in_figure(browser: &mut Chromium, figure: &Figure, expression: &str) -> Value {
    browser.value(&format!(
        "{SEEN}; ((figure) => {expression})(document.querySelector('[data-figure=\"{}\"]'))",
        figure.id
    ))
}

fn series_go_on_and_off(browser: &mut Chromium, figure: &Figure) {
    let shown = |browser: &mut Chromium| {
        in_figure(
            browser,
            figure,
            "[...seen(figure).querySelectorAll('g.series')].flatMap((group, i) => getComputedStyle(group).display === 'none' ? [] : [i])",
        )
    };
    let all: Vec<usize> = (0..figure.series.len()).collect();
    assert_eq!(shown(browser), json!(all));
    let second = middle(browser, figure, ".keys button:nth-child(2)");
    browser.point(second, true);
    assert_eq!(shown(browser), json!([&all[..1], &all[2..]].concat()));
    let pressed = "figure.querySelector('.keys button:nth-child(2)').getAttribute('aria-pressed')";
    assert_eq!(in_figure(browser, figure, pressed), "false");
    browser.point(second, true);
    assert_eq!(shown(browser), json!(all));
    assert_eq!(in_figure(browser, figure, pressed), "true");
    // One alone, and all again.
    let twice = "figure.querySelector('.keys button:nth-child(2)').dispatchEvent(new MouseEvent('dblclick'))";
    in_figure(browser, figure, twice);
    assert_eq!(shown(browser), json!([1]));
    in_figure(browser, figure, twice);
    assert_eq!(shown(browser), json!(all));
}

fn scales_change(browser: &mut Chromium, figure: &Figure) {
    let marks = "[...seen(figure).querySelectorAll('text')].map((text) => text.textContent)";
    let pressed = "figure.querySelector('.switches button:last-child').getAttribute('aria-pressed')";
    // Five decades have a mark for each power of ten: on a linear axis most engines would lie on the floor.
    let logarithmic = in_figure(browser, figure, marks);
    for mark in ["10 k", "100 k", "1 M", "10 M", "100 M"] {
        let is_marked = logarithmic.as_array().unwrap().contains(&json!(mark));
        assert!(is_marked, "{mark} is missing: {logarithmic}");
    }
    assert_eq!(in_figure(browser, figure, pressed), "true");
    let place = middle(browser, figure, ".switches button:last-child");
    browser.point(place, true);
    let linear = in_figure(browser, figure, marks);
    assert!(linear.as_array().unwrap().contains(&json!("0")), "{linear}");
    assert_eq!(in_figure(browser, figure, pressed), "false");
    browser.point(place, true);
    assert_eq!(in_figure(browser, figure, marks), logarithmic);
}

/// The lines of the bubble; nothing if it is hidden.
fn bubble(browser: &mut Chromium, figure: &Figure) -> Vec<String> {
    let lines = in_figure(
        browser,
        figure,
        "figure.querySelector('.tip').hidden ? [] : [...figure.querySelectorAll('.tip *')].map((line) => line.textContent.trim())",
    );
    serde_json::from_value(lines).unwrap()
}

/// A value and its interval as the Markdown has them, from what the bubble says.
fn as_in_tables(bubble: &[String]) -> String {
    let value = bubble.iter().find_map(|line| line.strip_suffix("/s"));
    let value = value.and_then(|line| line.split(' ').next()).unwrap();
    let interval = bubble.iter().find_map(|line| line.strip_prefix("interval ")).unwrap();
    format!("{value} ({interval})")
}

/// Walks all columns by keys: each value, with its interval, is in the tables, digit by digit.
fn values_are_those_of_the_tables(browser: &mut Chromium, report: &Report) {
    let figure = &report.figures[0];
    let tables = report::markdown(report);
    in_figure(browser, figure, "figure.querySelector('.switches button').focus()");
    browser.press("Tab");
    assert_eq!(
        in_figure(browser, figure, "document.activeElement === seen(figure)"),
        true
    );
    assert_ne!(
        in_figure(browser, figure, "getComputedStyle(document.activeElement).outlineStyle"),
        "none",
        "the focus is seen"
    );
    for engine in ENGINES {
        browser.press("ArrowDown");
        let lines = bubble(browser, figure);
        assert_eq!(lines[0], engine);
        let name = match engine.starts_with("own") {
            true => format!("**{engine}**"),
            false => engine.to_owned(),
        };
        let row = format!("| {name} | {} |", as_in_tables(&lines));
        assert!(tables.contains(&row), "{row}");
        let said = in_figure(browser, figure, "figure.querySelector('[role=status]').textContent");
        assert_eq!(said, lines.join(", "));
    }
    browser.press("ArrowDown");
    assert_eq!(bubble(browser, figure)[0], ENGINES[0], "round again");
    browser.press("End");
    assert_eq!(bubble(browser, figure)[0], ENGINES[9]);
    browser.press("Escape");
    assert_eq!(bubble(browser, figure), Vec::<String>::new());
}

fn the_pointer_finds_every_point(browser: &mut Chromium, figure: &Figure) {
    middle(browser, figure, ".drawing");
    let places = in_figure(
        browser,
        figure,
        "[...seen(figure).querySelectorAll('g.series')].map((group) => [...group.querySelectorAll('.point .mark')].map((mark) => {
           const box = mark.getBoundingClientRect();
           return [box.left + box.width / 2, box.top + box.height / 2]; }))",
    );
    let places: Vec<Vec<(f64, f64)>> = serde_json::from_value(places).unwrap();
    assert_eq!(places.len(), figure.series.len());
    for (series, places) in figure.series.iter().zip(&places) {
        assert_eq!(places.len(), series.points.len());
        for (point, place) in series.points.iter().zip(places) {
            browser.point(*place, false);
            let lines = bubble(browser, figure);
            assert_eq!(lines[0], series.name);
            assert_eq!(
                lines[1],
                format!("Modulus: {},{:03} bits", point.x as u32 / 1000, point.x as u32 % 1000)
            );
            assert!(lines[3].starts_with("interval "), "{lines:?}");
        }
    }
    browser.point((1.0, 1.0), false);
    assert_eq!(bubble(browser, figure), Vec::<String>::new());
}

fn lines_are_read_by_keys(browser: &mut Chromium, figure: &Figure) {
    in_figure(browser, figure, "seen(figure).focus()");
    let mut at = |key: &str| {
        browser.press(key);
        let lines = bubble(browser, figure);
        (lines[0].clone(), lines[1].clone())
    };
    let (own, textbook) = (ENGINES[0].to_owned(), ENGINES[1].to_owned());
    assert_eq!(at("ArrowRight"), (own.clone(), "Modulus: 1,024 bits".to_owned()));
    assert_eq!(at("ArrowRight"), (own.clone(), "Modulus: 2,048 bits".to_owned()));
    // Below lies what is next slower.
    assert_eq!(at("ArrowDown"), (textbook.clone(), "Modulus: 2,048 bits".to_owned()));
    assert_eq!(at("ArrowLeft"), (textbook, "Modulus: 1,024 bits".to_owned()));
    assert_eq!(at("ArrowUp"), (own, "Modulus: 1,024 bits".to_owned()));
}

/// Whoever prefers dark pages has white paper all the same; afterwards the page is as it was.
fn paper_is_white(browser: &mut Chromium) {
    browser.look(1280, "dark", "print");
    assert_eq!(brightness(browser), 255.0);
    browser.look(1280, "dark", "");
    let printed = browser.call("Page.printToPDF", json!({"printBackground": true}));
    let printed = decoded(&printed);
    assert!(
        printed.starts_with(b"%PDF-") && printed.len() > 20_000,
        "{} bytes",
        printed.len()
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::write(folder.join("print.pdf"), printed).unwrap();
    assert_eq!(browser.value("document.querySelectorAll('details[open]').length"), 0);
}
