//! Article (b)'s program: built by the article's command, killed, continued, and called with bad arguments.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

const SOURCE: &str = include_str!("../article/rsa.c");
const COMMAND: &str = "gcc -O3 -fopenmp rsa.c -o rsa -lgmp -lm";
/// A file of a batch in the form that the study `prime-cycles` writes, which a test of the study compares with what it
/// writes.
const OF_STUDY: &str = include_str!("../../../crates/study/tests/golden/batch-file.txt");

const SIZES: [u64; 3] = [512, 768, 1024];
const PAIRS: u64 = 4;
const BATCHES: u64 = 20;

/// A file of a batch.
#[derive(Debug)]
struct Batch {
    least: u64,
    most: u64,
    mean: f64,
}

/// The text of each file in the folder of results by the bits of a prime and the count of pairs.
type Files = BTreeMap<(u64, u64), String>;

#[test]
fn a_killed_program_goes_on_from_its_files() {
    let Some(here) = built() else { return };
    let mut saved = Files::new();
    for kill in 0..6 {
        let mut run = start(here.path());
        // However slow the machine, one file more each time, and then at some moment of a batch.
        while look(here.path(), &saved).len() == saved.len() {
            assert!(!has_ended(&mut run), "the program ended before kill {kill}: {saved:?}");
            thread::sleep(Duration::from_millis(1));
        }
        if kill == 0 {
            let second = finish(here.path(), &small());
            assert_eq!(second.status.code(), Some(1));
            assert!(text(&second.stderr).contains("another run"), "{second:?}");
        }
        thread::sleep(Duration::from_millis(17 * kill % 50));
        run.kill().expect("it can be killed");
        run.wait().expect("it ends");
        saved = look(here.path(), &saved);
    }

    let output = finish(here.path(), &small());
    assert!(output.status.success(), "{output:?}");
    let talk = text(&output.stderr);
    // It says what it found, and does that no more.
    for bits in SIZES {
        for count in (1..=BATCHES).map(|batch| batch * PAIRS) {
            let is_said = talk.contains(&format!("{bits}-bit primes: {count} pairs, average"));
            assert_eq!(is_said, !saved.contains_key(&(bits, count)), "{talk}");
        }
    }
    let files = look(here.path(), &saved);
    assert_eq!(files.len() as u64, SIZES.len() as u64 * BATCHES);
    let printed = text(&output.stdout);
    for bits in SIZES {
        let total = PAIRS * BATCHES;
        let last = batch(bits, total, &files[&(bits, total)]);
        let expected = format!(
            "For {bits}-bit primes ({total} iterations):\n- Minimum clock cycles: {}\n- Maximum clock cycles: {}\n\
             - Average clock cycles: {:.2}\n",
            last.least, last.most, last.mean
        );
        let plain = printed.replace(',', "");
        assert!(plain.contains(&expected), "{printed}");
    }
    assert_eq!(printed.matches("Successful").count(), 3, "{printed}");
    assert!(!here.path().join("results/result.part").exists());

    // A finished run is not done again.
    let again = finish(here.path(), &small());
    assert!(again.status.success(), "{again:?}");
    assert!(!text(&again.stderr).contains("batch "), "{again:?}");
    let step_1 = |output: &Output| {
        let printed = text(&output.stdout);
        let end = printed.find("Steps 2-4").expect("it has these steps");
        printed[..end].to_owned()
    };
    assert_eq!(step_1(&again), step_1(&output));
    assert_eq!(look(here.path(), &files), files);
}

#[test]
fn bad_arguments_end_with_a_sentence_and_leave_nothing() {
    let Some(here) = built() else { return };
    let run = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        finish(here.path(), &arguments)
    };
    let refused = |arguments: &str, sentence: &str| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        let said = text(&output.stderr);
        assert!(said.contains(sentence), "{arguments}: {said}");
        assert!(output.stdout.is_empty(), "{arguments}: {output:?}");
    };
    for (arguments, sentence) in [
        ("--pairs 0", "--pairs takes a number from 1 to 1000000"),
        ("--pairs 1e3", "not '1e3'"),
        ("--batches -1", "--batches takes a number"),
        ("--batches 18446744073709551617", "--batches takes a number"),
        ("--threads 1025", "from 1 to 1024"),
        ("--threads", "rsa --help"),
        ("--pairs 1000000 --batches 1000000", "above the limit"),
        ("--folder rsa.c", "Not a directory"),
        ("--folder no/such", "cannot be made"),
        ("--size 512", "rsa --help"),
        ("30", "'30' is not an option"),
    ] {
        refused(arguments, sentence);
    }
    assert!(!here.path().join("results").exists());
    assert!(run("--help").status.success());

    let whole = run("-p 2 -b 2 -t 1 -f other");
    assert!(whole.status.success(), "{whole:?}");
    let folder = here.path().join("other");
    for pairs in ["1", "4"] {
        refused(&format!("-p {pairs} -b 4 -f other"), "not of batches of");
    }
    let last = folder.join("result_768_run_4.txt");
    let content = fs::read_to_string(&last).expect("it is there");
    for damaged in [&content[..content.len() - 1], ""] {
        fs::write(&last, damaged).expect("it can be written");
        let output = run("-p 2 -b 3 -f other");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("other/result_768_run_4.txt is not"));
    }
    assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 6);
}

/// A folder in which the article's command has built the program; `None`, with a word on it, where the system lacks
/// what that takes.
fn built() -> Option<TempDir> {
    let here = tempfile::tempdir().expect("there is a folder for temporary files");
    let compile = |command: &str, options: &[&str]| {
        let mut words = command.split_whitespace();
        Command::new(words.next().expect("it has a program"))
            .args(words)
            .args(options)
            .current_dir(here.path())
            .output()
    };
    let needed = "#include <gmp.h>\n#include <omp.h>\nint main(void) { mpz_t n; mpz_init(n); return omp_get_max_threads() < 1; }\n";
    fs::write(here.path().join("needed.c"), needed).expect("the folder can be written to");
    let can_build = compile(&COMMAND.replace("rsa", "needed"), &[]);
    if !can_build.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: article (b)'s program, which needs: apt-get install gcc libgmp-dev");
        return None;
    }
    fs::write(here.path().join("rsa.c"), SOURCE).expect("the folder can be written to");
    for options in [&["-Wall", "-Wextra"][..], &[]] {
        let output = compile(COMMAND, options).expect("gcc starts");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stderr), "");
    }
    Some(here)
}

fn small() -> [String; 2] {
    [format!("--pairs={PAIRS}"), format!("--batches={BATCHES}")]
}

fn start(here: &Path) -> Child {
    Command::new(here.join("rsa"))
        .args(small())
        .current_dir(here)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

fn has_ended(run: &mut Child) -> bool {
    run.try_wait().expect("it can be asked").is_some()
}

fn finish(here: &Path, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Output {
    Command::new(here.join("rsa"))
        .args(arguments)
        .current_dir(here)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads the files of all batches, which must be whole, have all counts from the first on, and be those that were there
/// before and more.
fn look(here: &Path, before: &Files) -> Files {
    let mut files = Files::new();
    for entry in fs::read_dir(here.join("results")).into_iter().flatten() {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().expect("it has a name").to_string_lossy();
        if name == "result.part" {
            continue;
        }
        let numbers = name
            .strip_prefix("result_")
            .and_then(|rest| rest.strip_suffix(".txt")?.split_once("_run_"))
            .and_then(|(bits, count)| Some((bits.parse().ok()?, count.parse().ok()?)));
        let numbers = numbers.unwrap_or_else(|| panic!("{name} is no file of a batch"));
        files.insert(numbers, fs::read_to_string(&path).expect("it can be read"));
    }
    for (numbers, content) in before {
        assert_eq!(files.get(numbers), Some(content), "{numbers:?} has changed");
    }
    for bits in SIZES {
        let of_size = files.range((bits, 0)..(bits + 1, 0));
        let mut previous: Option<Batch> = None;
        for (index, (&(_, count), content)) in (1..).zip(of_size) {
            assert_eq!(count, index * PAIRS);
            let this = batch(bits, count, content);
            if let Some(previous) = previous {
                assert!(this.least <= previous.least && this.most >= previous.most);
                let sum = previous.mean * (count - PAIRS) as f64;
                assert!(this.mean * count as f64 > sum);
            }
            previous = Some(this);
        }
    }
    files
}

/// Reads a file. It must have the form of the study's files.
fn batch(bits: u64, count: u64, content: &str) -> Batch {
    let of_study = parse(OF_STUDY);
    let this = parse(content);
    assert_eq!(this.names, of_study.names, "{content}");
    assert_eq!((this.bits, this.count), (bits, count));
    assert!(this.batch.least as f64 <= this.batch.mean);
    assert!(this.batch.mean <= this.batch.most as f64);
    this.batch
}

struct Parsed<'a> {
    names: Vec<&'a str>,
    bits: u64,
    count: u64,
    batch: Batch,
}

/// Reads a file of either writer: lines of a name and a number, the last of which has two decimals.
fn parse(content: &str) -> Parsed<'_> {
    assert!(content.ends_with('\n'), "{content}");
    let (names, numbers): (Vec<_>, Vec<_>) = content
        .lines()
        .map(|line| line.split_once(": ").expect("a name and a number"))
        .unzip();
    let [bits, count, least, most, mean] = numbers[..] else {
        panic!("five lines: {content}");
    };
    let whole = |number: &str| number.parse().expect("a whole number");
    let batch = Batch {
        least: whole(least),
        most: whole(most),
        mean: mean.parse().expect("a number"),
    };
    assert_eq!(format!("{:.2}", batch.mean), mean);
    Parsed {
        names,
        bits: whole(bits),
        count: whole(count),
        batch,
    }
}
