//! `encrypt` and `decrypt`: what goes in comes out, whatever its length, its way and the number of threads.

use std::{fs, path::Path};

use crate::support::{assert_done, folder, rsalab, run, stdout, study_key};

/// Bytes of text in a full block of a key of 512 bits.
const SYMBOLS: usize = 63;

#[test]
fn every_length_survives_files_pipes_and_typing() {
    let here = folder();
    study_key(here.path(), 512);
    for length in [0, 1, SYMBOLS - 1, SYMBOLS, SYMBOLS + 1, 10 * SYMBOLS + 7] {
        let text = sample(length);
        let path = |name: &str| here.path().join(format!("{length}.{name}"));
        fs::write(path("txt"), &text).expect("the folder can be written to");

        let by_file = rsalab(here.path())
            .args(["text-encrypt", "--key", "public.pem", "--threads", "2"])
            .arg(path("txt"))
            .arg("--out")
            .arg(path("rsa"))
            .output()
            .expect("the program starts");
        assert_done(&by_file);
        assert!(by_file.stdout.is_empty());
        let said = String::from_utf8_lossy(&by_file.stderr);
        assert!(said.contains("for study only"), "{said}");

        let by_pipe = rsalab(here.path())
            .args(["text-encrypt", "--key", "key.pem"])
            .write_stdin(text.clone())
            .output()
            .expect("the program starts");
        assert_done(&by_pipe);
        assert!(
            by_pipe.stdout == fs::read(path("rsa")).expect("it was made"),
            "{length}"
        );

        let decrypted = rsalab(here.path())
            .args(["text-decrypt", "--key", "key.pem", "--quiet", "--out"])
            .arg(path("back"))
            .write_stdin(by_pipe.stdout)
            .output()
            .expect("the program starts");
        assert_done(&decrypted);
        assert!(decrypted.stderr.is_empty());
        assert!(fs::read(path("back")).expect("it was made") == text, "{length}");
    }
    let typed = run(
        here.path(),
        [
            "text-encrypt",
            "--key",
            "public.pem",
            "--text",
            "-attack at dawn",
            "--out",
            "typed",
        ],
    );
    assert_done(&typed);
    let back = run(here.path(), ["text-decrypt", "--key", "key.pem", "typed"]);
    assert_eq!(stdout(&back), "-attack at dawn");
}

#[test]
fn a_megabyte_is_the_same_on_any_number_of_threads() {
    let here = folder();
    study_key(here.path(), 512);
    let text = sample(1_000_000);
    fs::write(here.path().join("text"), &text).expect("the folder can be written to");
    let mut first: Option<Vec<u8>> = None;
    for threads in [1, 2, 3, 8, 64] {
        let encrypted = run_over(here.path(), threads, &["text-encrypt", "--key", "public.pem", "text"]);
        let expected = first.get_or_insert_with(|| encrypted.clone());
        assert!(*expected == encrypted, "the ciphertext on {threads} threads differs");
    }
    fs::write(here.path().join("text.rsa"), first.expect("it was encrypted")).expect("the folder can be written to");
    for threads in [1, 2, 3, 8, 64] {
        let decrypted = run_over(here.path(), threads, &["text-decrypt", "--key", "key.pem", "text.rsa"]);
        assert!(decrypted == text, "the text on {threads} threads differs");
    }
}

/// Bytes that take every value, zeros at block borders among them.
fn sample(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 167 / 5) as u8).collect()
}

/// Runs a command over threads, checks what its trace says of them, and returns its standard output.
fn run_over(folder: &Path, threads: usize, arguments: &[&str]) -> Vec<u8> {
    let count = threads.to_string();
    let options = ["--threads", &count, "--trace", "--json", "--quiet"];
    let output = run(folder, arguments.iter().chain(&options));
    assert_done(&output);
    let trace: serde_json::Value = serde_json::from_slice(&output.stderr).expect("the trace is JSON");
    let parts = trace["parts"].as_array().expect("it lists the parts");
    let numbers = |field: &str| -> Vec<u64> {
        parts
            .iter()
            .map(|part| part[field].as_u64().expect("it is a number"))
            .collect()
    };

    assert_eq!(numbers("id"), (0..threads as u64).collect::<Vec<_>>());
    let blocks = numbers("blocks");
    assert_eq!(blocks.iter().sum::<u64>(), 1_000_000_u64.div_ceil(SYMBOLS as u64));
    let spread = blocks
        .iter()
        .max()
        .zip(blocks.iter().min())
        .map(|(most, least)| most - least);
    assert!(spread <= Some(1), "parts differ by more than a block: {blocks:?}");

    let spans: Vec<(u64, u64)> = numbers("start_ns").into_iter().zip(numbers("end_ns")).collect();
    assert!(spans.iter().all(|(start, end)| start < end), "{spans:?}");
    // A part takes several turns of the scheduler here, so that not even a busy machine does them one after the other.
    if arguments[0] == "text-decrypt" && (2..=8).contains(&threads) {
        let overlap =
            |(id, part): (usize, &(u64, u64))| spans[..id].iter().any(|other| other.0 < part.1 && part.0 < other.1);
        assert!(spans.iter().enumerate().any(overlap), "no two parts overlap: {spans:?}");
    }
    output.stdout
}

#[test]
fn a_trace_for_people_is_a_table() {
    let here = folder();
    study_key(here.path(), 512);
    let arguments = [
        "text-encrypt",
        "--key",
        "public.pem",
        "--text",
        "abc",
        "--threads",
        "3",
        "--trace",
        "--block-symbols",
        "1",
    ];
    let output = run(here.path(), arguments);
    assert_done(&output);
    let table = String::from_utf8_lossy(&output.stderr);
    let header: Vec<&str> = table
        .lines()
        .nth(1)
        .expect("a header follows the warning")
        .split_whitespace()
        .collect();
    assert_eq!(header, ["part", "bytes", "blocks", "CPU", "start", "end"]);
    assert!(table.contains("3 threads"), "{table}");
    assert_eq!(table.lines().count(), 1 + 1 + 3 + 1, "{table}");
}
