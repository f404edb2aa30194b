//! The files that a report leaves: which there are, that pictures show what they should, that tables survive anything.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufReader, Read, Write},
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use resvg::tiny_skia::Pixmap;
use rsalab_study::{
    articles,
    report::{self, Axis, Figure, Layout, Point, Report, Scale, Series},
};

use crate::support::{Planted, beginning, host};

/// Every character that means something in LaTeX or in Markdown.
const NASTY: &str = "a & b, 50 %, $x_1$ #2 \\end{longtable} ^~ {[*]} -- `x' \"y\" <z> | µ\nnext";

const PLAN: &str = r#"
title = "Nasty & 100 % \\ $odd$ #1 _ ^ ~ { }"
[[grid]]
operations = ["private"]
engines = ["own", "gmp", "openssl"]
bits = [1024, 2048]

[[grid]]
operations = ["text_decrypt"]
engines = ["own", "gmp"]
bits = [2048]
threads = [1, 2]
symbols = [20_000]
"#;

fn planted(directory: &Path) -> Planted {
    let mut planted = Planted::new(directory, PLAN, &host(&["own"], 2));
    let mut bare = beginning("gmp");
    bare.ledger.blinding = Some(false);
    bare.notes = vec![NASTY.to_owned()];
    for group in planted.groups() {
        planted.fill(&group, 0, &beginning("own"), 1_000_000.0);
        planted.fill(&group, 1, &bare, 500_000.0);
        if let Some(cell) = group.cells.get(2) {
            planted.study.store_mut().refuse_cell(cell.id, NASTY).unwrap();
        }
    }
    planted
}

#[test]
fn all_forms_are_written_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let out = directory.path().join("report");
    report::write(&articles::report(planted.study.store()).unwrap(), &out).unwrap();
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let expected = [
        "figures",
        "report.html",
        "report.md",
        "report.tex",
        "results.csv",
        "results.json",
    ];
    assert_eq!(names(&out), expected.map(str::to_owned).into());
    let report = articles::report(planted.study.store()).unwrap();
    assert_eq!(report.figures.len(), 3);
    let pictures = report
        .all_figures()
        .flat_map(|figure| ["svg", "png"].map(|form| format!("{}.{form}", figure.id)));
    assert_eq!(names(&out.join("figures")), pictures.collect());

    // The page and the text name what lies beside them.
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for file in ["results.csv", "results.json", "report.md", "report.tex", "SVG and PNG"] {
        assert!(page.contains(file), "{file} is not named");
    }
    let text = fs::read_to_string(out.join("report.md")).unwrap();
    for figure in report.all_figures() {
        assert!(text.contains(&format!("figures/{}.svg", figure.id)));
    }
}

#[test]
fn only_what_a_report_of_the_same_study_made_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (one, another) = (directory.path().join("one"), directory.path().join("another"));
    let planted = planted(&one);
    let other = Planted::new(&another, PLAN, &host(&["own"], 2));
    let report = articles::report(planted.study.store()).unwrap();
    let out = directory.path().join("report");
    let place = |path: &Path| report::check_place(&report, path, false);
    // A free place, one with something else in it, and the report itself, as it is and as an earlier version left it.
    fs::create_dir(&out).unwrap();
    fs::write(out.join("index.html"), "somebody's").unwrap();
    place(&out).unwrap();
    report::write(&report, &out).unwrap();
    place(&out).unwrap();
    let results = fs::read_to_string(out.join("results.json")).unwrap();
    let mut of_earlier: serde_json::Value = serde_json::from_str(&results).unwrap();
    of_earlier.as_object_mut().unwrap().remove("created_unix_ms").unwrap();
    fs::write(out.join("results.json"), of_earlier.to_string()).unwrap();
    place(&out).unwrap();
    let refused = |path: &Path, name: &str| {
        let error = place(path).unwrap_err().to_string();
        assert!(error.contains("no report of this study made it"), "{error}");
        assert!(error.contains(name), "{error}");
    };
    // Somebody's page in it; and the results of another study, or of none.
    fs::write(out.join("report.html"), "<h1>somebody's</h1>").unwrap();
    refused(&out, "report.html");
    report::write(&articles::report(other.study.store()).unwrap(), &out).unwrap();
    refused(&out, "results.json");
    fs::write(out.join("results.json"), "{}").unwrap();
    refused(&out, "results.json");
    // Each name alone.
    for name in ["report.html", "results.csv", "results.json", "report.md", "report.tex"] {
        let alone = directory.path().join(format!("with-{name}"));
        fs::create_dir(&alone).unwrap();
        fs::write(alone.join(name), "somebody's").unwrap();
        refused(&alone, name);
    }
    for (number, figure) in report.all_figures().enumerate() {
        let pictures = directory.path().join(format!("pictures-{number}"));
        fs::create_dir_all(pictures.join("figures")).unwrap();
        let picture = format!("figures/{}.png", figure.id);
        fs::write(pictures.join(&picture), "somebody's").unwrap();
        refused(&pictures, &picture);
    }
    #[cfg(unix)]
    {
        let linked = directory.path().join("linked");
        fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink("/none", linked.join("report.md")).unwrap();
        refused(&linked, "report.md");
    }
}

/// A figure of two lines over powers of two.
/// The bytes of a page with its pictures, and of the tables.
fn forms(report: &Report) -> [String; 4] {
    [
        report::html(report),
        report::markdown(report),
        report::latex(report),
        report::csv(report),
    ]
}

#[test]
fn a_report_is_made_again_from_its_results() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let made = articles::report(planted.study.store()).unwrap();
    let out = directory.path().join("report");
    report::write(&made, &out).unwrap();

    let results = out.join("results.json");
    let again = report::read(&results).unwrap();
    assert_eq!(forms(&again), forms(&made));

    let compressed = directory.path().join("results.json.gz");
    let mut gzip = GzEncoder::new(fs::File::create(&compressed).unwrap(), Compression::best());
    gzip.write_all(&fs::read(&results).unwrap()).unwrap();
    gzip.finish().unwrap();
    assert_eq!(forms(&report::read(&compressed).unwrap()), forms(&made));
}

/// The published results, whose pages are not kept.
#[test]
fn published_results_have_their_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let studies = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // Entries of the barometer are no reports.
    let studies = studies.filter(|path| path.is_dir() && !path.ends_with("barometer"));
    let studies: Vec<PathBuf> = studies.collect();
    assert!(studies.len() >= 5, "{studies:?}");
    for study in studies {
        let file = study.join("results.json.gz");
        let mut written = String::new();
        let gzip = GzDecoder::new(fs::File::open(&file).unwrap());
        BufReader::new(gzip).read_to_string(&mut written).unwrap();
        let written: serde_json::Value = serde_json::from_str(&written).unwrap();

        let report = report::read(&file).unwrap();
        let again = serde_json::to_value(&report).unwrap();
        for part in [
            "figures",
            "articles",
            "overviews",
            "findings",
            "sessions",
            "counts",
            "plan_toml",
        ] {
            assert_eq!(again[part], written[part], "{}: {part}", file.display());
        }
        let page = report::html(&report);
        assert!(!report.figures.is_empty());
        for figure in &report.figures {
            assert!(page.contains(&format!("id=\"figure-{}\"", figure.id)), "{}", figure.id);
            assert!(report::svg(figure).starts_with("<svg "));
        }
        assert!(page.contains(&report.insecure_seed));
        assert!(report::csv(&report).lines().count() > report.groups.len());
    }
}

#[test]
fn what_is_no_result_of_a_report_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let json = serde_json::to_value(articles::report(planted.study.store()).unwrap()).unwrap();
    let file = directory.path().join("results.json");
    let refused = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        report::read(&file).unwrap_err().to_string()
    };
    let changed = |path: &str, value: serde_json::Value| {
        let mut json = json.clone();
        *json.pointer_mut(path).expect("the report has it") = value;
        refused(json.to_string().as_bytes())
    };

    assert!(refused(b"").contains("is not the results.json of a report"));
    assert!(refused(b"{}").contains("is missing before line 1, column 2"));
    let quoted = refused(b"\"a secret\"");
    assert!(!quoted.contains("secret"), "{quoted}");
    assert!(refused(b"\x1f\x8bno").contains("results.json"));
    // Packed to a thousandth, as no report is.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&vec![b' '; 32 << 20]).unwrap();
    assert!(refused(&gzip.finish().unwrap()).contains("as no report has"));
    for name in ["", "../up", "a/b", "a\\b", ".hidden"] {
        assert!(changed("/figures/0/id", name.into()).contains("is no name of a figure"));
    }
    for value in [1e300, -1e300, 1e-300] {
        assert!(changed("/figures/0/series/0/points/0/y", value.into()).contains("has no place"));
    }
    assert_eq!(json.pointer("/figures/0/x/scale").unwrap(), "log");
    for place in [0.0, -1.0] {
        assert!(changed("/figures/0/series/0/points/0/x", place.into()).contains("has no place"));
    }
    let mut wide = json.clone();
    let row = wide.pointer_mut("/analyses/0/parts/0/rows/0/cells").expect("a table");
    let row = row.as_array_mut().unwrap();
    row.push(row[0].clone());
    row.push(row[0].clone());
    assert!(refused(wide.to_string().as_bytes()).contains("more cells than columns"));
    for place in ["/analyses/0", "/analyses/0/parts/0", "/scaling/0", "/overviews/0"] {
        for name in ["", "x}\\input{/etc/passwd}"] {
            let told = changed(&format!("{place}/id"), name.into());
            assert!(
                told.contains("the name of a section") && !told.contains("passwd"),
                "{told}"
            );
        }
    }
    for confidence in [5.0, -0.5] {
        let told = changed("/groups/0/rows/0/figures/ops_per_s/confidence", confidence.into());
        assert!(told.contains("is no confidence"), "{told}");
    }
    // Anything may be a title.
    let mut odd = json.clone();
    *odd.pointer_mut("/figures/0/title").unwrap() = "a\u{1}b\u{1b}[31m".into();
    fs::write(&file, odd.to_string()).unwrap();
    report::write(&report::read(&file).unwrap(), &directory.path().join("odd")).unwrap();
}

fn figure(title: &str, label: &str) -> Figure {
    let axis = |label: &str, scale| Axis {
        label: label.to_owned(),
        unit: None,
        scale,
    };
    let point = |x: f64, y: f64| Point {
        x,
        y,
        low: Some(y * 0.8),
        high: Some(y * 1.2),
        note: None,
        label: None,
        unequal: false,
    };
    let series = |factor: f64| Series {
        name: String::new(),
        points: (0..5)
            .map(|power| point(2_f64.powi(power), 10_f64.powi(4 - power) * factor))
            .collect(),
        is_published: false,
    };
    Figure {
        id: "planted".to_owned(),
        title: title.to_owned(),
        description: "Planted.".to_owned(),
        x: axis("", Scale::Linear { ticks: Vec::new() }),
        y: axis(label, Scale::Log),
        series: vec![series(1.0), series(2.0)],
        remark: None,
        references: Vec::new(),
        marks: Vec::new(),
        layout: Layout::Usual,
    }
}

/// Pixels of a part of a picture that are not white, as shares of its width and height.
fn inked(picture: &Pixmap, across: [f32; 2], along: [f32; 2]) -> usize {
    let place = |share: f32, length: u32| (share * length as f32) as u32;
    let [left, right] = across.map(|share| place(share, picture.width()));
    let [top, bottom] = along.map(|share| place(share, picture.height()));
    let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
    pixels
        .filter(|(x, y)| {
            let pixel = picture.pixel(*x, *y).unwrap();
            pixel.red() < 128 && pixel.green() < 128 && pixel.blue() < 128
        })
        .count()
}

#[test]
fn a_picture_has_words_and_twice_the_size() {
    let picture = |figure: &Figure| {
        let svg = report::svg(figure);
        let png = report::png(&svg);
        assert_eq!(png, report::png(&svg), "the same figure gives the same bytes");
        Pixmap::decode_png(&png).unwrap()
    };
    let full = picture(&figure("A title in words", "A label in words"));
    let bare = picture(&figure("", ""));
    let svg = report::svg(&figure("", ""));
    let size = svg.split_once("viewBox=\"-14 -6 ").unwrap().1;
    let size = size.split('"').next().unwrap().split_once(' ').unwrap();
    assert_eq!(
        (full.width(), full.height()),
        (2 * size.0.parse::<u32>().unwrap(), 2 * size.1.parse::<u32>().unwrap())
    );
    // The title lies on top, the label of the vertical axis below it; both are white where there is none.
    let (title, label) = (([0.0, 1.0], [0.0, 0.065]), ([0.0, 1.0], [0.07, 0.12]));
    for (name, (across, along)) in [("title", title), ("label", label)] {
        assert_eq!(inked(&bare, across, along), 0, "{name}");
        assert!(
            inked(&full, across, along) > 300,
            "{name}: {}",
            inked(&full, across, along)
        );
    }
}

#[test]
fn tables_for_latex_are_well_formed_whatever_they_say() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let report = articles::report(planted.study.store()).unwrap();
    let ratios = report.groups.iter().flat_map(|group| &group.rows);
    let twice = ratios
        .filter_map(|row| Some(row.ratio.as_ref()?.to_first.value))
        .find(|ratio| (ratio - 2.0).abs() < 0.02)
        .expect("one engine is twice as fast as another");
    let text = report::latex(&report);
    let parts = report.analyses.iter().flat_map(|analysis| &analysis.parts);
    let tables = 2 + report.scaling.len() + parts.filter(|part| !part.is_long).count();
    assert_eq!(text.matches("\\begin{longtable}").count(), tables, "{text}");
    assert_eq!(
        text.matches("\\end{longtable}").count(),
        tables,
        "what was planted ends no table"
    );
    for part in [
        "\\label{tab:private}",
        "\\label{tab:text_decrypt}",
        &format!("{twice:.3}"),
        "\\textsuperscript{*}",
        "operations/s",
        "1.000 ms",
    ] {
        assert!(text.contains(part), "missing: {part}\n{text}");
    }
    let is_code = |line: &&str| !line.starts_with('%') && !line.starts_with("\\providecommand");
    let code: Vec<&str> = text.lines().filter(is_code).collect();
    // Between the comment and the tables nothing is commented out by accident: each % of the text is escaped.
    assert!(
        code.iter()
            .all(|line| line.matches('%').count() == line.matches("\\%").count())
    );
    // Groups close where they open, within a table, and none closes that was not opened.
    let mut depth = 0_i32;
    for line in &code {
        let bare = line.replace("\\{", "").replace("\\}", "");
        depth += bare.matches('{').count() as i32 - bare.matches('}').count() as i32;
        let inside = i32::from(!line.is_empty() && !line.starts_with("\\end{longtable}"));
        assert_eq!(depth, inside, "{line}");
    }
    // A line of a table has the columns of its table; those without a figure span three.
    let mut columns = 0;
    for line in code {
        if let Some((_, specification)) = line.split_once("\\begin{longtable}{@{}") {
            columns = specification.split('@').next().unwrap().len();
        }
        let cells = line.replace("\\&", "").matches('&').count() + 1;
        match line {
            _ if !line.ends_with("\\\\") && !line.ends_with("\\\\*") => {}
            _ if line.contains("\\caption") || line.starts_with("\\multicolumn") => {}
            _ if line.contains("\\multicolumn") => assert_eq!(cells + 2, columns, "{line}"),
            _ => assert_eq!(cells, columns, "{line}"),
        }
    }
}

#[test]
fn tables_for_latex_are_taken_by_latex() {
    let Ok(found) = Command::new("pdflatex").arg("--version").output() else {
        eprintln!("SKIPPED: the tables in LaTeX itself, since pdflatex is not installed");
        return;
    };
    assert!(found.status.success());
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let text = report::latex(&articles::report(planted.study.store()).unwrap());
    let here = directory.path();
    fs::write(here.join("report.tex"), text).unwrap();
    let paper = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{amssymb,booktabs,longtable}\n\
                 \\begin{document}\n\\input{report}\n\\end{document}\n";
    fs::write(here.join("paper.tex"), paper).unwrap();
    let made = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "paper.tex"])
        .current_dir(here)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&made.stdout);
    assert!(made.status.success(), "{log}");
    assert!(!log.contains("Overfull \\hbox"), "{log}");
}

/// A README with a table of two operations, and one without a mark.
#[test]
fn speeds_stand_in_a_readme() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let report = articles::report(planted.study.store()).unwrap();
    let readme = directory.path().join("README.md");
    let around = "# A program\n\n<!-- rsalab speeds 2048 private text_decrypt -->\nold\n<!-- rsalab end -->\nmore\n";
    fs::write(&readme, around).unwrap();
    report::put_speeds(&report, &readme).unwrap();
    let made = fs::read_to_string(&readme).unwrap();
    let rows: Vec<&str> = made.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 4, "{made}");
    // The faster one first, with what it goes without.
    assert!(rows[2].starts_with("| `gmp`") && rows[2].contains("without blinding | 2,000 ("));
    assert!(rows[3].starts_with("| **`own`**") && rows[3].contains("(999.2 to 1,001)"));
    assert!(made.contains("\n\nKeys of 2048 bits; intervals of 95 %. `rsalab study planted.toml`, "));
    assert!(made.starts_with("# A program\n\n<!-- rsalab speeds 2048 private text_decrypt -->\n|"));
    assert!(made.ends_with("<!-- rsalab end -->\nmore\n") && !made.contains("old"));
    // Once more: the same, and no more people may read it than before.
    #[cfg(unix)]
    fs::set_permissions(&readme, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    report::put_speeds(&report, &readme).unwrap();
    assert_eq!(fs::read_to_string(&readme).unwrap(), made);
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&readme).unwrap().permissions()) & 0o777,
        0o600
    );

    // A name that is none, from somebody's results, stays in its cell.
    let mut odd = report.clone();
    odd.groups[1].rows[0].engine = "a`|b\n<img>".to_owned();
    report::put_speeds(&odd, &readme).unwrap();
    let made = fs::read_to_string(&readme).unwrap();
    assert!(made.contains("| `a  b <img>` own 1.2 | "), "{made}");

    let refused = [
        (
            "# A program\n",
            "no line '<!-- rsalab speeds BITS OPERATION… -->' says where a table belongs",
        ),
        (
            "<!-- rsalab speeds 2048 private -->\n",
            "no line '<!-- rsalab end -->' follows",
        ),
        (
            "<!-- rsalab speeds 2048 private -->\nA chapter.\n<!-- rsalab speeds 2048 private -->\n<!-- rsalab end -->",
            "before the next table",
        ),
        (
            "<!-- rsalab speeds 2048 private\n<!-- rsalab end -->",
            "has no '-->' in its line",
        ),
        (
            "<!-- rsalab speeds 2048 -->\n<!-- rsalab end -->",
            "needs a key size and names of operations",
        ),
        (
            "<!-- rsalab speeds 2048 magic -->\n<!-- rsalab end -->",
            "'magic' is no operation",
        ),
        (
            "<!-- rsalab speeds 2048 private -->\n<!-- rsalab end -->\n<!-- rsalab speeds 2048 keygen -->\n<!-- rsalab end -->",
            "the study did not measure keygen with keys of 2048 bits",
        ),
    ];
    for (text, reason) in refused {
        fs::write(&readme, text).unwrap();
        let error = report::put_speeds(&report, &readme).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(fs::read_to_string(&readme).unwrap(), text);
    }
}
