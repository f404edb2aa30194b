//! Texts and encrypted texts: damaged, foreign, too long.

use std::fs::{self, File};

use super::{Row, refuse, split, write};
use crate::support::{assert_done, folder, run, stdout, study_key};

#[test]
fn texts_and_ciphertexts() {
    let (here, other) = (folder(), folder());
    study_key(here.path(), 512);
    study_key(other.path(), 512);
    fs::copy(other.path().join("key.pem"), here.path().join("other.pem")).expect("it was made");
    let made = run(
        here.path(),
        split(b"text-encrypt --key public.pem --text 'some text' --out good"),
    );
    assert_done(&made);
    let good = fs::read(here.path().join("good")).expect("it was made");
    let changed = |place: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[place] = to;
        bytes
    };
    let last = good.len() - 1;
    write(here.path(), "plain", "some text");
    write(here.path(), "nothing", "");
    write(here.path(), "longer", [&good[..], b"x"].concat());
    write(here.path(), "flipped", changed(last, good[last] ^ 1));
    write(here.path(), "too-large", [&good[..60], &[0xFF; 64]].concat());
    write(here.path(), "version", changed(11, 9));
    write(here.path(), "size", changed(13, 1));
    write(here.path(), "symbols", changed(16, 0xFF));
    write(here.path(), "length", changed(20, 0xFF));
    File::create(here.path().join("huge"))
        .and_then(|file| file.set_len((2 << 30) + 1))
        .expect("a sparse file takes no room");
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("plain", 3, &["plain", "not a file that rsalab encrypted", "'rsalab text-encrypt'"]),
        ("nothing", 3, &["nothing", "not a file that rsalab encrypted", "'rsalab text-encrypt'"]),
        ("longer", 3, &["longer", "cut or damaged", "'rsalab text-encrypt'"]),
        ("flipped", 4, &["flipped", "block 0", "nothing was written"]),
        ("too-large", 4, &["too-large", "block 0", "nothing was written"]),
        ("version", 3, &["version 9", "reads version 1"]),
        ("size", 3, &["size", "'rsalab text-encrypt'"]),
        ("symbols", 3, &["symbols", "damaged", "'rsalab text-encrypt'"]),
        ("length", 3, &["length", "damaged", "'rsalab text-encrypt'"]),
        ("huge", 3, &["huge", "not a file that rsalab encrypted", "'rsalab text-encrypt'"]),
        ("missing", 5, &["missing", "No such file", "check the name"]),
        (".", 5, &["cannot read .", "directory", "name a file"]),
        ("good --out flipped", 5, &["flipped exists already", "name another file"]),
        ("--key other.pem good", 2, &["--key"]),
    ];
    for (input, code, words) in rows {
        for out in ["", " --out new"] {
            if input.contains("--out") && !out.is_empty() {
                continue;
            }
            let typed = format!("text-decrypt --quiet --key key.pem {input}{out}");
            refuse(here.path(), &[(typed, *code, *words)]);
        }
    }
    for cut in [1, 7, 8, 20, 59, 60, 61, good.len() - 1] {
        write(here.path(), "cut", &good[..cut]);
        refuse(
            here.path(),
            &[(
                "text-decrypt --quiet --key key.pem cut",
                3,
                &["cut", "'rsalab text-encrypt'"],
            )],
        );
    }
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("text-decrypt --quiet --key other.pem good", 3, &["good", "encrypted for the key", "for this key"]),
        ("text-encrypt --quiet --key public.pem huge", 3, &["huge", "longer than 1073741824 bytes", "split it"]),
        ("text-encrypt --quiet --key public.pem missing", 5, &["missing", "No such file", "check the name"]),
        ("text-encrypt --quiet --key public.pem .", 5, &["cannot read .", "directory", "name a file"]),
        ("text-encrypt --quiet --key public.pem --text a --block-symbols 0", 2, &["0 symbols", "choose 1 to 63"]),
        ("text-encrypt --quiet --key public.pem --text a --block-symbols 64", 2, &["64 symbols", "choose 1 to 63"]),
        ("text-encrypt --quiet --key public.pem --text a --block-symbols -1", 2, &["--block-symbols", "'-1'"]),
        ("text-encrypt --quiet --key public.pem --text a --block-symbols 99999999999999999999", 2, &["--block-symbols"]),
    ];
    refuse(here.path(), rows);

    // 40 MB in blocks of one symbol would become 2.5 GB.
    File::create(here.path().join("zeros"))
        .and_then(|file| file.set_len(40_000_000))
        .expect("a sparse file takes no room");
    refuse(
        here.path(),
        &[(
            "text-encrypt --quiet --key public.pem zeros --block-symbols 1",
            2,
            &["2560000060 bytes", "--block-symbols"],
        )],
    );
    let back = run(here.path(), split(b"text-decrypt --quiet --key key.pem good"));
    assert_eq!(stdout(&back), "some text");
}
