//! Plans: the line and the key are named, and so is what would do.

use std::fs::File;

use super::{Row, refuse, write};
use crate::support::folder;

#[test]
fn plans() {
    const GRID: &str = "[[grid]]\noperations = [\"private\"]\nbits = [512]\n";
    const TEXT: &str = "[[grid]]\noperations = [\"text_encrypt\"]\nbits = [512]\n";
    let grid = |line: &str| format!("{GRID}{line}\n");
    let text = |line: &str| format!("{TEXT}{line}\n");
    let deep = format!("a = {}", "[".repeat(300_000));
    let long = format!("{} = 3\n", "k".repeat(900_000));
    let many: Vec<String> = (1..=1000).map(|count| count.to_string()).collect();
    let many = format!("threads = [{0}]\nbatch = [{0}]", many.join(", "));
    #[rustfmt::skip]
    let rows: Vec<(String, &[&str])> = vec![
        ("title = \"t\"\nnonsense = 1\n".to_owned(), &["line 2", "nonsense", "expected one of `title`"]),
        (grid("theads = [1]"), &["line 4", "theads", "expected one of", "`threads`"]),
        ("[measures]\n".to_owned(), &["line 1", "measures", "`measure`"]),
        ("title = \"a\"\ntitle = \"b\"\n".to_owned(), &["line 2", "'title'", "duplicate key"]),
        (grid("bits = [1024]"), &["line 4", "'bits'", "duplicate key"]),
        ("[measure]\n[measure]\n".to_owned(), &["line 2", "duplicate key"]),
        ("title = 3\n".to_owned(), &["line 1", "'title'", "expected a string"]),
        (grid("threads = 4"), &["line 4", "'threads'", "a list of thread counts"]),
        (grid("threads = [\"1\"]"), &["line 4", "'threads'", "expected usize"]),
        (grid("exponent = 3.5"), &["line 4", "'exponent'", "such as 65537"]),
        (grid("measure = 3"), &["line 4", "'measure'"]),
        (grid("threads = [0]"), &["line 4", "'threads'", "0 is not accepted", "1 to 1024"]),
        (grid("threads = [1, 1_000_000]"), &["line 4", "'threads'", "1000000", "1 to 1024"]),
        (grid("threads = []"), &["line 4", "'threads'", "name at least one"]),
        (grid("measure = { repeats = 0 }"), &["line 4", "'repeats'", "1 or more"]),
        (grid("measure = { repeats = 9_000_000_000_000_000_000 }"), &["line 4", "'repeats'", "at most 1000000000000"]),
        (grid("measure = { repeats = -1 }"), &["line 4", "'repeats'", "-1"]),
        (grid("measure = { block_ms = 1, repeets = 3 }"), &["line 4", "'repeets'", "unknown field", "`repeats`"]),
        (grid("threads = [\n1,\n-2,\n]"), &["line 6", "'threads'", "-2"]),
        (grid("measure = { confidence = 2.5 }"), &["line 4", "'confidence'", "such as 0.95"]),
        (grid("measure = { budget_s = inf }"), &["line 4", "'budget_s'", "a day"]),
        (grid("measure = { confidence = 0.9999999999999999 }"), &["line 4", "'confidence'", "0.5 to 0.999999"]),
        (grid("measure = { budget_s = 1e-300 }"), &["line 4", "'budget_s'", "from a millionth"]),
        (grid("measure = { min_blocks = 9_000_000_000_000_000_000 }"), &["line 4", "'min_blocks'", "at most 1000000"]),
        (grid("exponent = 4"), &["line 4", "'exponent'", "such as 65537"]),
        (grid("engines = [\"opensl\"]"), &["line 4", "'opensl'", "did you mean 'openssl'?"]),
        (grid("engines = [\"own:\"]"), &["line 4", "'own:'", "did you mean 'own'?"]),
        (grid("engines = [\"own\", \"own\"]"), &["line 4", "listed twice"]),
        (grid("engines = \"al\""), &["line 4", "\"al\"", "\"present\""]),
        (grid(&many), &["cells, and more than 100000 are not accepted", "shorten its lists"]),
        (GRID.replace("512", "254"), &["line 3", "'bits'", "254", "256 to 16384"]),
        (GRID.replace("512", "513"), &["line 3", "'bits'", "513", "even"]),
        (GRID.replace("private", "privat"), &["line 2", "'operations'", "privat", "`private`"]),
        (text("symbols = [0]"), &["line 4", "'symbols'", "1 to 100000000"]),
        (text("symbols = [9]\nblock_symbols = 64"), &["line 5", "'block_symbols'", "1 to 63"]),
        (text("symbols = [9]\nblock_symbols = 0"), &["line 5", "'block_symbols'", "1 to 63"]),
        (text("symbols = [100_000_000]\nblock_symbols = 1"), &["line 5", "'block_symbols'", "larger blocks"]),
        (format!("seed = \"12\"\n{GRID}"), &["line 1", "'seed'", "64 hexadecimal digits"]),
        (String::new(), &["'grid'", "nothing to measure"]),
        ("this is a letter\n".to_owned(), &["line 1"]),
        ("title = \"open\n".to_owned(), &["line 1"]),
        (deep, &["line 1", "recurse"]),
        (long, &["line 1", "'kkk", "unknown field"]),
    ];
    let here = folder();
    for (plan, words) in rows {
        write(here.path(), "plan.toml", &plan);
        let words: Vec<&str> = ["plan.toml"].iter().chain(words).copied().collect();
        refuse(here.path(), &[("study plan.toml --out out", 2, &words)]);
    }
    write(here.path(), "plan.toml", grid("engines = [\"own:fast\"]"));
    refuse(here.path(), &[("study plan.toml", 2, &["'fast'", "there are mont"])]);
    write(here.path(), "plan.toml", b"title = \"x\"\n\xff\xfe");
    refuse(
        here.path(),
        &[("study plan.toml", 2, &["plan.toml", "line 2", "UTF-8", "save it"])],
    );
    write(here.path(), "plan.toml", "");
    let file = File::options().write(true).open(here.path().join("plan.toml"));
    file.and_then(|file| file.set_len(1 << 30))
        .expect("a sparse file takes no room");
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("study plan.toml", 2, &["plan.toml", "longer than 1 MiB", "name a TOML file"]),
        ("study missing.toml", 5, &["missing.toml", "No such file", "check the name"]),
        ("study ./missing", 5, &["./missing", "No such file", "check the name"]),
        ("study /proc/", 5, &["/proc/", "directory", "name a file"]),
    ];
    refuse(here.path(), rows);
}
