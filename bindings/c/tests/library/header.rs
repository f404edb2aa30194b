//! The header and the manual page say what the library has.

use std::{collections::BTreeSet, env, fs, path::Path};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// As `src` and `cbindgen.toml` make it.
fn generated() -> String {
    let here = Path::new(HERE);
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    // In the order in which somebody would read them. A file that is missing here is missed by the test of symbols.
    for module in [
        "status", "pointer", "info", "scheme", "key", "load", "generate", "sign", "encrypt", "blind", "batcher",
    ] {
        builder = builder.with_src(here.join(format!("src/{module}.rs")));
    }
    let mut bytes = Vec::new();
    builder.generate().unwrap().write(&mut bytes);
    c89(&String::from_utf8(bytes).unwrap())
}

/// Without what cbindgen takes from later standards: comments that end with their line, and a comma after the last name
/// of an enum.
fn c89(header: &str) -> String {
    let mut text = String::new();
    for line in header.lines() {
        let line = match line.split_once(" // ") {
            Some((code, comment)) => format!("{code} /* {comment} */"),
            None => line.to_owned(),
        };
        if line.starts_with('}') && text.ends_with(",\n") {
            text.truncate(text.len() - 2);
            text.push('\n');
        }
        text += &line;
        text.push('\n');
    }
    text
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(HERE).join(path)).unwrap()
}

/// Names that begin a call, such as `rsalab_version`, of lines that `is_wanted` takes.
fn functions(text: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines().filter(|line| is_wanted(line)) {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        names.extend(words.filter(|word| word.starts_with("rsalab_")).map(str::to_owned));
    }
    names
}

/// The functions that `src` exports.
fn exported() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(Path::new(HERE).join("src")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let parts = text.split("#[unsafe(no_mangle)]").skip(1);
        for part in parts {
            let (_, rest) = part.split_once("fn ").unwrap();
            let (name, _) = rest.split_once('(').unwrap();
            names.insert(name.to_owned());
        }
    }
    assert!(names.len() > 20, "{names:?}");
    names
}

#[test]
fn the_header_is_current() {
    let generated = generated();
    if env::var_os("RSALAB_WRITE_HEADER").is_some() {
        fs::write(Path::new(HERE).join("include/rsalab.h"), &generated).unwrap();
    }
    assert!(
        read("include/rsalab.h") == generated,
        "include/rsalab.h is old: RSALAB_WRITE_HEADER=1 cargo test -p rsalab-c --test library header"
    );
}

#[test]
fn every_function_is_in_the_header_and_none_else() {
    let header = read("include/rsalab.h");
    let is_prototype = |line: &str| !line.trim_start().starts_with(['*', '/']);
    let declared: BTreeSet<String> = functions(&header, is_prototype)
        .into_iter()
        .filter(|name| header.contains(&format!("{name}(")))
        .collect();
    assert_eq!(declared, exported());
}

/// The functions that a text declares, with their parameters.
fn prototypes(header: &str) -> BTreeSet<(String, Vec<String>)> {
    let squeezed = header.split_whitespace().collect::<Vec<_>>().join(" ");
    exported()
        .into_iter()
        .map(|name| {
            let (_, rest) = squeezed.rsplit_once(&format!("{name}(")).unwrap();
            let (parameters, _) = rest.split_once(");").unwrap();
            let parameters = parameters.split(", ").map(str::to_owned).collect();
            (name, parameters)
        })
        .collect()
}

#[test]
fn the_manual_page_has_every_function_and_status() {
    let (page, header) = (read("man/rsalab.3"), read("include/rsalab.h"));
    let synopsis = page.lines().take_while(|line| *line != ".Sh DESCRIPTION");
    let documented: BTreeSet<(String, Vec<String>)> = synopsis
        .filter_map(|line| line.strip_prefix(".Fn "))
        .map(|line| {
            let (name, parameters) = line.split_once(' ').unwrap();
            let parameters = parameters.trim_matches('"').split("\" \"");
            (name.to_owned(), parameters.map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(documented, prototypes(&header));
    for word in header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        if let Some(status) = word.strip_prefix("RSALAB_STATUS_")
            && !status.is_empty()
        {
            assert!(
                page.contains(&format!(".It Dv {status}\n")),
                "the manual page does not say what {status} is"
            );
        }
    }
}
