//! Plans: what is accepted, what is refused and in which words, and what they unfold into.

use std::fs;

use rsalab_engines::{Mode, Op, Registry};
use rsalab_study::{
    ErrorClass,
    plan::{Engines, Host, Plan, PlanError, Preset, Seed, Threads, title},
};

pub(crate) fn host() -> Host {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    Host {
        known: names(&["own", "textbook", "openssl", "libcrypto", "gmp"]),
        present: names(&["own", "textbook", "gmp"]),
        logical_cpus: 6,
    }
}

fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text, &host())
}

const FULL: &str = r#"
title = "All keys"
seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

[measure]
precision = 0.02
confidence = 0.99
budget_s = 2.5
min_blocks = 4
max_blocks = 40
block_ms = 200
discard_ms = 0
repeats = 10

[[grid]]
operations = ["private", "public"]
engines = ["gmp:powm_sec", "own"]
bits = [2048, 3072]
threads = [1, 4]
batch = [1, 8]
bare = true
exponent = 3
mode = "throughput"
measure = { budget_s = 1.0 }

[[grid]]
operations = ["text_encrypt"]
engines = "present"
bits = [1024]
threads = "doubling"
symbols = [10, 1_000]
block_symbols = 100

[grid.measure]
repeats = 100
"#;

#[test]
fn a_full_plan_is_read() {
    let plan = parse(FULL).unwrap();
    assert_eq!(plan.title, "All keys");
    assert_eq!(plan.seed.unwrap().0[31], 0x1f);
    assert_eq!(plan.measure.confidence, 0.99);
    assert_eq!(plan.measure.repeats, Some(10));
    assert_eq!(plan.grids[0].operations, [Op::Private, Op::Public]);
    assert_eq!(
        plan.grids[0].engines,
        Engines::Named(vec!["gmp:powm_sec".into(), "own".into()])
    );
    assert_eq!(plan.grids[1].threads, Threads::Doubling);
    assert_eq!(plan.grids[1].measure.repeats, Some(100));
}

#[test]
fn what_is_written_is_read_back() {
    let host = host();
    for plan in [
        parse(FULL).unwrap(),
        Preset::Quick.plan(&host),
        Preset::Smoke.plan(&host),
    ] {
        assert_eq!(parse(&plan.to_toml()).unwrap(), plan, "{}", plan.to_toml());
    }
}

#[test]
fn a_plan_unfolds_into_groups_of_one_job() {
    let groups = parse(FULL).unwrap().groups(&host()).unwrap();
    // 2 operations × 2 sizes × 2 thread counts × 2 batches, and 2 texts × (1, 2, 4, 6) threads.
    assert_eq!(groups.len(), 16 + 8);
    let first = &groups[0];
    assert_eq!(title(&first.job), "Private operation, 2048 bits, e = 3, 1 thread");
    assert_eq!(first.measure.budget_s, 1.0);
    assert_eq!(first.measure.confidence, 0.99);
    assert_eq!(first.cells.len(), 2);
    assert_eq!(first.cells[0].engine, "gmp:powm_sec");
    assert_eq!(first.cells[0].job.variant.as_deref(), Some("powm_sec"));
    assert!(!first.cells[0].job.bare, "only our own engine can be bare");
    assert!(first.cells[1].job.bare);
    let last = groups.last().unwrap();
    assert_eq!(
        (last.job.threads, last.job.symbols, last.job.block_symbols),
        (6, 1000, 100)
    );
    assert_eq!(last.measure.repeats, Some(100));
    assert_eq!(last.cells.len(), 3, "every engine that is present");
}

#[test]
fn the_mode_follows_the_shape_of_the_grid() {
    let shape = |lines: &str| {
        let plan = format!("[[grid]]\nbits = [1022]\n{lines}");
        let groups = parse(&plan).unwrap().groups(&host()).unwrap();
        groups
            .iter()
            .map(|group| {
                (
                    group.job.threads,
                    group.job.batch,
                    group.job.mode,
                    group.job.block_symbols,
                )
            })
            .collect::<Vec<_>>()
    };
    let private = "operations = [\"private\"]\n";
    assert_eq!(shape(private), [(1, 1, Mode::Latency, 0)]);
    assert_eq!(
        shape(&format!("{private}mode = \"throughput\"")),
        [(1, 1, Mode::Throughput, 0)]
    );
    assert_eq!(
        shape(&format!("{private}threads = [1, 2]")),
        [(1, 1, Mode::Throughput, 0), (2, 1, Mode::Throughput, 0)],
        "one mode, so that thread counts can be compared"
    );
    assert_eq!(shape(&format!("{private}batch = [8]")), [(1, 8, Mode::Throughput, 0)]);
    let text = "operations = [\"text_decrypt\"]\nsymbols = [5]";
    assert_eq!(
        shape(text),
        [(1, 1, Mode::Throughput, 127)],
        "as many symbols as fit below the modulus"
    );
}

#[test]
fn keys_of_several_primes_are_a_dimension() {
    let plan = "[[grid]]\noperations = [\"private\", \"sign\"]\nbits = [2048]\nprimes = [2, 3]\n";
    let parsed = parse(plan).unwrap();
    assert_eq!(parse(&parsed.to_toml()).unwrap(), parsed, "{}", parsed.to_toml());
    let groups = parsed.groups(&host()).unwrap();
    let titles: Vec<String> = groups.iter().map(|group| title(&group.job)).collect();
    assert_eq!(
        titles,
        [
            "Private operation, 2048 bits, 1 thread",
            "Private operation, 2048 bits, 3 primes, 1 thread",
            "Signing, PKCS#1 v1.5, 2048 bits, 1 thread",
            "Signing, PKCS#1 v1.5, 2048 bits, 3 primes, 1 thread",
        ]
    );
    for (change, reason) in [
        ("[2, 3]", ""),
        ("[2, 4]", "keys of 2048 bits have 3 primes at most"),
        ("[6]", "use 2 to 5 primes"),
        ("[3, 3]", "3 is listed twice"),
        ("[]", "the list is empty"),
    ] {
        let result = parse(&plan.replace("[2, 3]", change));
        match result {
            Ok(_) => assert_eq!(reason, ""),
            Err(error) => {
                assert_eq!((error.line, error.key.as_deref()), (Some(4), Some("primes")), "{error}");
                assert!(!reason.is_empty() && error.message.contains(reason), "{error}");
            }
        }
    }
    let public = parse(&plan.replace("sign", "public")).unwrap_err();
    assert!(
        public.message.contains("only operations with the private key"),
        "{public}"
    );
    let random = parse(&format!("{plan}exponent = \"random\"\n")).unwrap_err();
    assert!(random.message.contains("two primes"), "{random}");
}

#[test]
fn messages_and_keys_of_a_batch_are_dimensions() {
    let messages = "[[grid]]\noperations = [\"sign_message\"]\nbits = [2048]\nmessage_bytes = [32, 1024]\n";
    let keys = "[[grid]]\noperations = [\"private\", \"sign\"]\nbits = [2048]\nbatch = [8, 16]\nkeys = [1, 8]\n";
    let titles = |text: &str| -> Vec<String> {
        let parsed = parse(text).unwrap();
        assert_eq!(parse(&parsed.to_toml()).unwrap(), parsed, "{}", parsed.to_toml());
        let groups = parsed.groups(&host()).unwrap();
        groups.iter().map(|group| title(&group.job)).collect()
    };
    assert_eq!(
        titles(messages),
        [
            "Signing with the hash, PKCS#1 v1.5, 2048 bits, messages of 32 bytes, 1 thread",
            "Signing with the hash, PKCS#1 v1.5, 2048 bits, messages of 1,024 bytes, 1 thread",
        ]
    );
    assert_eq!(
        titles(keys)[..4],
        [
            "Private operation, 2048 bits, 1 thread, batch 8",
            "Private operation, 2048 bits, 1 thread, batch 16",
            "Private operation, 2048 bits, 1 thread, batch 8, under 8 keys",
            "Private operation, 2048 bits, 1 thread, batch 16, under 8 keys",
        ]
    );
    let line = |text: &str, key: &str| 1 + text.lines().position(|line| line.starts_with(key)).unwrap_or(0);
    for (plan, from, to, key, reason) in [
        (messages, "[32, 1024]", "[]", "message_bytes", "the list is empty"),
        (messages, "[32, 1024]", "[0]", "message_bytes", "use 1 to 4194304 bytes"),
        (
            messages,
            "[32, 1024]",
            "[5_000_000]",
            "message_bytes",
            "use 1 to 4194304",
        ),
        (
            messages,
            "[32, 1024]",
            "[32, 32]",
            "message_bytes",
            "32 is listed twice",
        ),
        (
            messages,
            "sign_message",
            "sign",
            "message_bytes",
            "only sign_message takes",
        ),
        (
            messages,
            "[\"sign_m",
            "[\"sign\", \"sign_m",
            "operations",
            "take different data",
        ),
        (
            messages,
            "1024]\n",
            "4_000_000]\nbatch = [100]\n",
            "message_bytes",
            "longer than 67108864 bytes",
        ),
        (
            messages,
            "1024]\n",
            "1024]\nkeys = [1, 2]\n",
            "keys",
            "only private and sign",
        ),
        (keys, "[1, 8]", "[3]", "keys", "3 keys do not divide a batch of 8"),
        (keys, "[1, 8]", "[0]", "keys", "use 1 to 256 keys"),
        (keys, "[1, 8]", "[257]", "keys", "use 1 to 256 keys"),
        (keys, "[1, 8]", "[8, 8]", "keys", "8 is listed twice"),
        (keys, "[1, 8]", "[]", "keys", "the list is empty"),
        (keys, "\"sign\"", "\"verify\"", "keys", "only private and sign"),
        (
            keys,
            "16]\n",
            "16]\nprimes = [3]\n",
            "keys",
            "two primes and one public exponent",
        ),
        (
            keys,
            "16]\n",
            "16]\nexponent = \"random\"\n",
            "keys",
            "two primes and one public exponent",
        ),
    ] {
        let text = plan.replace(from, to);
        assert_ne!(text, plan, "{from}");
        let error = parse(&text).unwrap_err();
        assert!(error.message.contains(reason), "'{reason}' is not in: {error}");
        assert_eq!(
            (error.line, error.key.as_deref()),
            (Some(line(&text, key)), Some(key)),
            "{error}"
        );
    }
}

#[test]
fn thread_counts_follow_the_machine() {
    assert_eq!(Threads::Each.counts(4), [1, 2, 3, 4]);
    assert_eq!(Threads::Doubling.counts(6), [1, 2, 4, 6]);
    assert_eq!(Threads::Doubling.counts(8), [1, 2, 4, 8]);
    assert_eq!(Threads::Doubling.counts(1), [1]);
    assert_eq!(Threads::These(vec![8, 1]).counts(2), [8, 1]);
}

/// One row each: the plan, the line and key to be named, and words of the sentence.
#[test]
fn bad_plans_are_refused_with_file_line_and_key() {
    const GRID: &str = "[[grid]]\noperations = [\"private\"]\nbits = [2048]\n";
    let with = |line: &str| format!("{GRID}{line}\n");
    let rows: Vec<(String, usize, &str, &[&str])> = vec![
        (with("threads = [0]"), 4, "threads", &["0 is not accepted", "1 to 1024"]),
        (with("threads = [1, 1_000_000]"), 4, "threads", &["1000000"]),
        (with("threads = [2, 2]"), 4, "threads", &["2 is listed twice"]),
        (with("threads = \"many\""), 4, "threads", &["each", "doubling"]),
        (with("threads = [-1]"), 4, "threads", &["-1"]),
        (with("threads = 4"), 4, "threads", &["a list of thread counts"]),
        (with("batch = []"), 4, "batch", &["empty"]),
        (
            with("engines = [\"opensll\"]"),
            4,
            "engines",
            &["'opensll'", "did you mean 'openssl'?"],
        ),
        (with("engines = [\"gnp:powm\"]"), 4, "engines", &["did you mean 'gmp'?"]),
        (
            with("engines = [\"zzz\"]"),
            4,
            "engines",
            &["the engines are own, textbook"],
        ),
        (with("engines = \"all\""), 4, "engines", &["present"]),
        (with("exponent = 4"), 4, "exponent", &["odd"]),
        (with("exponent = 1"), 4, "exponent", &["from 3"]),
        (with("exponent = -3"), 4, "exponent", &["-3", "65537"]),
        (with("exponent = \"any\""), 4, "exponent", &["any", "random"]),
        (with("message = 2048"), 4, "message", &["2048 bits", "1 to 2047"]),
        (with("message = 0"), 4, "message", &["0 bits"]),
        (with("message = -1"), 4, "message", &["less than 0"]),
        (with("message = \"long\""), 4, "message", &["long", "byte-shorter"]),
        (with("batch = [2]\nmode = \"concurrent\""), 5, "mode", &["single items"]),
        (
            "[[grid]]\noperations = [\"keygen\"]\nbits = [512]\nmessage = 100\n".into(),
            4,
            "message",
            &["only private and public"],
        ),
        (format!("nice = 20\n{GRID}"), 1, "nice", &["20", "0 (as others) to 19"]),
        (format!("nice = -1\n{GRID}"), 1, "nice", &["-1"]),
        (with("symbols = [10]"), 4, "symbols", &["only text"]),
        (with("block_symbols = 10"), 4, "block_symbols", &["only text"]),
        (
            with("threads = [2]\nmode = \"latency\""),
            5,
            "mode",
            &["one call on one thread"],
        ),
        (with("measure = { repeats = 0 }"), 4, "repeats", &["0 repeats"]),
        (with("[grid.measure]\nbudget_s = -1.0"), 5, "budget_s", &["-1"]),
        (with("repeats = 3"), 4, "repeats", &["unknown field", "repeats"]),
        (with("bits = [1024]"), 4, "bits", &["duplicate"]),
        (
            "[[grid]]\noperations = [\"private\"]\nbits = [254]\n".into(),
            3,
            "bits",
            &["254", "256 to 16384"],
        ),
        (
            "[[grid]]\noperations = [\"private\"]\nbits = [16385]\n".into(),
            3,
            "bits",
            &["16385"],
        ),
        (
            "[[grid]]\noperations = [\"seal\"]\nbits = [2048]\n".into(),
            2,
            "operations",
            &["seal", "private"],
        ),
        (
            "[[grid]]\noperations = [\"private\", \"text_encrypt\"]\nbits=[512]\n".into(),
            2,
            "operations",
            &["of its own"],
        ),
        (
            "[[grid]]\noperations = [\"text_encrypt\"]\nbits = [512]\n".into(),
            1,
            "symbols",
            &["empty or missing"],
        ),
        (
            "[[grid]]\noperations = [\"text_encrypt\"]\nbits = [1024, 512]\nsymbols = [9]\nblock_symbols = 64\n".into(),
            5,
            "block_symbols",
            &["64", "1 to 63"],
        ),
        (
            "[[grid]]\noperations = [\"text_encrypt\"]\nbits = [512]\nsymbols = [9]\nbatch = [2]\n".into(),
            5,
            "batch",
            &["leave the key out"],
        ),
        (format!("seed = \"12\"\n{GRID}"), 1, "seed", &["64 hexadecimal digits"]),
        (format!("title = 3\n{GRID}"), 1, "title", &["string"]),
        (format!("[measure]\nprecision = 1.5\n{GRID}"), 2, "precision", &["1.5"]),
        (format!("[measure]\nprecision = nan\n{GRID}"), 2, "precision", &["NaN"]),
        (
            format!("[measure]\nconfidence = 1.0\n{GRID}"),
            2,
            "confidence",
            &["0.95"],
        ),
        (
            format!("[measure]\nmin_blocks = 9\nmax_blocks = 8\n{GRID}"),
            3,
            "max_blocks",
            &["below min_blocks (9)"],
        ),
        (
            format!("[measure]\nmin_blocks = 0\n{GRID}"),
            2,
            "min_blocks",
            &["0 blocks"],
        ),
        (format!("[measure]\nblock_ms = 5000\n{GRID}"), 2, "block_ms", &["5000"]),
        // The second of two grids is the one that is named.
        (
            format!("{GRID}threads = [1]\n{}", with("threads = [0]")),
            8,
            "threads",
            &["0 is not accepted"],
        ),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("study.toml");
    for (text, line, key, words) in rows {
        fs::write(&path, &text).unwrap();
        let error = Plan::read(&path, &host()).expect_err(&text);
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("{}, line {line}, key '{key}': ", path.display())),
            "{message}\n{text}"
        );
        for word in words {
            assert!(message.contains(word), "'{word}' is missing in: {message}\n{text}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_plan_without_cells_or_with_too_many_is_refused() {
    assert!(
        parse("title = \"nothing\"")
            .unwrap_err()
            .to_string()
            .contains("nothing to measure")
    );
    let threads: Vec<String> = (1..=1000).map(|count| count.to_string()).collect();
    let threads = threads.join(", ");
    let plan = format!(
        "[[grid]]\noperations = [\"private\", \"public\"]\nbits = [512, 514, 516, 518, 520, 522, 524, 526, 528, 530]\n\
         batch = [1, 2]\nthreads = [{threads}]"
    );
    assert!(parse(&plan).unwrap_err().to_string().contains("120000 cells"));
}

#[test]
fn one_job_has_one_place() {
    let grid = "[[grid]]\noperations = [\"private\"]\nbits = [2048]\n";
    let error = parse(&grid.repeat(2)).unwrap().groups(&host()).unwrap_err().to_string();
    assert!(error.contains("grid 2") && error.contains("earlier grid"), "{error}");
}

#[test]
fn files_that_are_no_plans_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("study.toml");
    let read = || Plan::read(&path, &host()).unwrap_err().to_string();
    assert_eq!(Plan::read(&path, &host()).unwrap_err().class(), ErrorClass::InputOutput);
    // A sparse file of 1 GB: it must not be read whole.
    fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    assert!(read().contains("longer than 1 MiB"));
    fs::write(&path, b"title = \"x\"\n\xff\xfe").unwrap();
    let message = read();
    assert!(message.contains("line 2") && message.contains("UTF-8"), "{message}");
    assert!(Plan::read(directory.path(), &host()).is_err(), "a directory is no plan");
}

#[test]
fn the_host_knows_engines_that_are_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let registry = Registry::new(directory.path().join("rsalab"), &[directory.path().to_owned()]);
    let host = Host::of_this_machine(&registry);
    assert!(host.known.iter().any(|name| name == "openssl"));
    assert_eq!(
        host.present,
        ["own", "textbook"],
        "peers are programs that this directory does not have"
    );
    assert!(host.logical_cpus >= 1);
}

#[test]
fn seeds_are_hexadecimal_and_random_ones_differ() {
    let seed = Seed::random().unwrap();
    assert_ne!(seed, Seed::random().unwrap());
    assert_eq!(seed.to_string().parse::<Seed>().unwrap(), seed);
    assert!("00".repeat(31).parse::<Seed>().is_err());
    assert!("0g".repeat(32).parse::<Seed>().is_err());
}

#[test]
fn texts_of_messages_have_the_limits_of_texts() {
    let refused = |keys: &str| {
        let text = format!("[[grid]]\noperations = [\"text_encrypt\"]\nbits = [2048]\n{keys}\n");
        parse(&text).unwrap_err().key.unwrap()
    };
    assert!(refused("messages = [1000000]").ends_with("messages"));
    assert!(refused("messages = [5, 5]").ends_with("messages"));
    assert!(refused("portions = 2\nblock_symbols = 9").ends_with("block_symbols"));
    assert!(refused("portions = 2\nmessages = [5]").ends_with("symbols"));
    assert!(refused("portions = 2000").ends_with("portions"));
}
