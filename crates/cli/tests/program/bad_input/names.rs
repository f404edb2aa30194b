//! Names that are not UTF-8, or that would garble a terminal.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use super::{refuse, split};
use crate::support::{assert_done, folder, run};

#[test]
fn names_that_are_not_utf_8() {
    let here = folder();
    let path = |name: &[u8]| here.path().join(OsStr::from_bytes(name));
    let done = |typed: &[u8]| {
        let output = run(here.path(), split(typed));
        assert_done(&output);
        output
    };
    #[rustfmt::skip]
    let rows: &[(&[u8], i32, &[&str])] = &[
        (b"\xff", 2, &["unrecognized"]),
        (b"study \xff", 2, &["the presets are quick"]),
        (b"study \xff.toml", 5, &["check the name"]),
        (b"study smoke --engines \xff", 2, &["'\u{fffd}'", "not text in UTF-8"]),
        (b"study smoke --kernel \xff", 2, &["'\u{fffd}'", "not text in UTF-8"]),
        (b"study smoke --seed \xff", 2, &["'\u{fffd}'", "not text in UTF-8"]),
        (b"resume \xff", 7, &["there is no study in", "'rsalab study' printed"]),
        (b"report \xff", 7, &["there is no study in", "'rsalab study' printed"]),
        (b"text-decrypt --key \xff", 5, &["check the name"]),
        (b"keygen --out \xff/\xff", 5, &["check the name"]),
        // A name cannot make lines, or colours.
        (b"study 'a\nb\nc\nd\ne\nf\ng\x1b[31m.toml'", 5, &["a\\nb\\nc", "\\u{1b}[31m", "check the name"]),
    ];
    refuse(here.path(), rows);

    done(b"keygen --bits 512 --insecure-size --json --out key-\xff --public-out pub-\xff");
    done(b"text-encrypt --quiet --key pub-\xff --text '\xfe text' --out made-\xff");
    done(b"text-decrypt --quiet --key key-\xff made-\xff --out back-\xff");
    assert_eq!(fs::read(path(b"back-\xff")).expect("it was made"), b"\xfe text");
    done(b"text-encrypt --quiet --key pub-\xff back-\xff --out again-\xff");
    assert!(fs::read(path(b"again-\xff")).expect("it was made") == fs::read(path(b"made-\xff")).expect("it was made"));
    let plan = "[measure]\nbudget_s = 0.01\nmin_blocks = 2\nblock_ms = 1\ndiscard_ms = 0\n[[grid]]
        operations = [\"public\"]\nengines = [\"own\"]\nbits = [512]\n";
    fs::write(path(b"plan-\xff.toml"), plan).expect("the folder can be written to");
    done(b"study plan-\xff.toml --out out-\xff --json");
    done(b"resume out-\xff");
    done(b"report out-\xff --out report-\xff");
    for made in [
        &b"out-\xff/study.db"[..],
        b"out-\xff/report.html",
        b"report-\xff/report.html",
    ] {
        assert!(path(made).is_file());
    }
    // Without --out the study's name comes from the plan's.
    done(b"study plan-\xff.toml");
    #[rustfmt::skip]
    let rows: &[(&[u8], i32, &[&str])] = &[
        (b"keygen --out key-\xff", 5, &["exists already", "name another file"]),
        (b"study smoke --out out-\xff", 2, &["holds a study already", r"rsalab resume $'out-\xff'"]),
        (b"text-decrypt --quiet --key pub-\xff made-\xff", 3, &["a private key is needed"]),
        (b"text-decrypt --quiet --key key-\xff pub-\xff", 3, &["not a file that rsalab encrypted"]),
    ];
    refuse(here.path(), rows);
}
