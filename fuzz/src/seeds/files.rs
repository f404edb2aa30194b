//! Files and lines that the program writes, and such as it refuses.

use std::{fs, io::Write, path::Path};

use rsalab_engines::{Job, Op, Textbook, protocol::Answer, worker};
use rsalab_measure::Machine;
use rsalab_rsa::CpuBackend;
use rsalab_sealed::{Recipient, armor};
use rsalab_study::{
    part::Part,
    plan::{Host, Plan, Seed},
    store::{Beginning, BlockRecord, Ending, InterruptedBlock, NewStudy, SessionStart, Store, StoreError, TakenBlock},
};
use rsalab_text::{Threads, container};

use super::{base64, key, texts};

/// Results of reports, compressed or not.
pub fn reports() -> Vec<Vec<u8>> {
    let figure = |id: &str, x: &str, y: &str, point: &str| {
        let text = format!(
            r#"{{"id":"{id}","title":"t","description":"d","x":{x},"y":{y},"series":[{{"name":"s","points":[{point}]}}],"references":[{{"y":1.0,"label":"r"}}],"marks":[{{"x":2.0,"label":"m"}}]}}"#
        );
        format!(
            r#"{{"title":"t","is_complete":true,"counts":{{"done":1}},"findings":[],"figures":[{text}],"articles":[],"overviews":[],"groups":[],"method":[],"sessions":[],"command":"c","report_command":"r","samples_command":"s","plan_toml":"","insecure_seed":"","created_unix_ms":0,"program_version":"0"}}"#
        )
    };
    let (linear, log) = (
        r#"{"label":"l","scale":"linear","ticks":[1.0]}"#,
        r#"{"label":"l","scale":"log"}"#,
    );
    let names = r#"{"label":"l","scale":"names","labels":["a"]}"#;
    let point = r#"{"x":1.0,"y":1.0,"low":0.5,"high":2.0}"#;
    let to_zero = r#"{"x":1.0,"y":1.0,"low":0.0,"high":2.0}"#;
    let wrong = r#"{"x":1.0,"y":1e30,"low":-0.5,"high":2.0}"#;
    let whole = figure("a-figure", linear, log, point);
    let mut all: Vec<Vec<u8>> = [
        whole.clone(),
        figure("a-figure", names, linear, point),
        figure("a-figure", linear, log, to_zero),
        figure("a-figure", log, log, wrong),
        figure("a figure", log, log, point),
        figure("", log, log, point),
    ]
    .map(String::into_bytes)
    .into();
    // A confidence that there is not, and a table with more cells in a row than columns.
    let estimate = r#"{"value":1.0,"low":1.0,"high":1.0,"confidence":2.0,"n":1}"#;
    let summary = r#"{"n":1,"mean":1.0,"standard_deviation":null,"min":1.0,"median":1.0,"max":1.0,"stabilised":{"q1":1.0,"median":1.0,"q3":1.0}}"#;
    let job = serde_json::to_string(&Job::new(Op::Private, 512)).expect("jobs are written");
    let group = format!(
        r#""groups":[{{"title":"t","article":null,"job":{job},"confidence":0.95,"rows":[{{"engine":"own","engine_version":null,"kernel":null,"state":"done","reason":null,"figures":{{"ops_per_s":{estimate},"ns_per_op":{estimate},"tsc_per_op":null,"summary":{summary},"tests_per_op":null,"luck":null,"blocks":1,"operations":1}},"ratio":null,"luck_corrected":null,"ledger":null,"is_bare":false,"cpus":[],"interrupted_blocks":0,"notes":[]}}]}}]"#
    );
    let part = r#"{"id":"p","title":"t","columns":[{"name":"c","is_number":true}],"rows":[{"is_own":true,"cells":[{"text":"1"},{"text":"2"}]}],"sentences":[],"figures":[]}"#;
    let analyses =
        format!(r#""analyses":[{{"id":"a","title":"t","short":"s","words":"w","parts":[{part}]}}],"groups":[]"#);
    all.extend([&group, &analyses].map(|change| whole.replacen(r#""groups":[]"#, change, 1).into_bytes()));
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    compressed.write_all(whole.as_bytes()).expect("memory");
    all.push(compressed.finish().expect("memory"));
    all.push(vec![0x1f, 0x8b, 8, 0]);
    all.extend(texts(&["{}", "{\"figures\":[],\"groups\":[]}"]));
    all
}

/// Manifests of parts.
pub fn part_manifests() -> Vec<Vec<u8>> {
    // Of the file `part`, which has these four letters.
    let sha256 = "37a680133bd09342f934afb8dd2c7d9e1b624da5f35e3a38adb103e37c055ed1";
    let manifest = |version: u32, work: &str, number: u64, bytes: u64| {
        format!(
            r#"{{"rsalab_part":{version},"work":"{work}","part":{{"number":{number},"of":3}},"plan_sha256":"00","program_version":"0.1.0","cpu":"c","system":"s","insecure_seed":null,"items":7,"bytes":{bytes},"sha256":"{sha256}"}}"#
        )
        .into_bytes()
    };
    // Those of several parts stand on lines.
    let set = |all: &[Vec<u8>]| all.join(&b'\n');
    let changed = |from: &str, to: &str| {
        let one = String::from_utf8(manifest(1, "keys", 1, 4)).expect("it is ASCII");
        one.replace(from, to).into_bytes()
    };
    vec![
        manifest(1, "study", 1, 4),
        manifest(1, "keys", 3, 4),
        manifest(1, "audit", 2, 5),
        manifest(2, "study", 1, 4),
        manifest(1, "study", 0, 4),
        manifest(1, "study", 4, 4),
        manifest(1, "another", 1, 4),
        b"{}".to_vec(),
        set(&[
            manifest(1, "keys", 1, 4),
            manifest(1, "keys", 2, 4),
            manifest(1, "keys", 3, 4),
        ]),
        set(&[manifest(1, "keys", 1, 4), manifest(1, "keys", 1, 4)]),
        set(&[manifest(1, "keys", 1, 4), manifest(1, "study", 2, 4)]),
        set(&[manifest(1, "keys", 2, 4), changed("\"of\":3", "\"of\":30")]),
        set(&[manifest(1, "keys", 2, 4), changed("\"of\":3", "\"of\":3000000")]),
        set(&[manifest(1, "keys", 2, 4), changed("0.1.0", "0.2.0")]),
        set(&[manifest(1, "keys", 2, 4), changed(":\"00\"", ":\"01\"")]),
        set(&[manifest(1, "keys", 2, 4), changed("null", "\"s\"")]),
        changed("\"of\":3", "\"of\":30"),
    ]
}

/// Lines of a coordinator, and of a worker.
pub fn worker_lines() -> Vec<Vec<u8>> {
    let ops = [
        Op::Private,
        Op::Keygen,
        Op::TextEncrypt,
        Op::SignMessage,
        Op::Handshake,
        Op::PrimeSearch,
    ];
    let job = |op| serde_json::to_string(&Job::new(op, 1024)).expect("jobs are written");
    let mut all: Vec<Vec<u8>> = ops
        .map(|op| format!(r#"{{"request":"supports","job":{}}}"#, job(op)).into_bytes())
        .into();
    let other = |change: &dyn Fn(&mut Job)| {
        let mut job = Job::new(Op::Private, 1024);
        change(&mut job);
        let job = serde_json::to_string(&job).expect("jobs are written");
        format!(r#"{{"request":"supports","job":{job}}}"#).into_bytes()
    };
    all.extend([
        other(&|job| job.bits = 7),
        other(&|job| job.bits = 1023),
        other(&|job| job.threads = 0),
        other(&|job| job.threads = 1 << 20),
        other(&|job| job.batch = 1 << 20),
        other(&|job| job.primes = 9),
        other(&|job| job.primes = 3),
        other(&|job| job.keys = 3),
        other(&|job| job.bare = true),
        other(&|job| job.variant = Some("x".to_owned())),
        other(&|job| job.message_bits = Some(7)),
        other(&|job| job.message_bits = Some(7000)),
        other(&|job| job.symbols = 7),
        other(&|job| job.message_bytes = 7),
    ]);
    // A worker's own answers to these, too.
    let prepared = prepared();
    all.extend(prepared.iter().map(|lines| answers(lines)));
    all.extend(all[..6].to_vec().iter().map(|lines| answers(lines)));
    all.extend(prepared);
    all.extend(texts(&[
        r#"{"request":"hello","protocol":1}"#,
        r#"{"request":"hello","protocol":9}"#,
        r#"{"request":"outputs"}"#,
        r#"{"request":"block","plan":{"discard_ns":0,"min_ns":1,"calls":1,"max_samples":3}}"#,
        "{\"request\":\"release\"}\n\n{\"request\":\"quit\"}\n",
        "{\"request\":\"nothing\"}\nno JSON\n{\"request\":\"quit\"}\n",
        r#"{"answer":"hello","protocol":1,"pid":7,"engine":{"name":"own","version":"1","origin":"o"}}"#,
        r#"{"answer":"prepared","kernel":"k","cpus":[1],"oversubscribed":false}"#,
        r#"{"answer":"outputs","outputs":"00ff"}"#,
        r#"{"answer":"released"}"#,
        r#"{"answer":"bye"}"#,
        r#"{"answer":"error","kind":"key","message":"m","item":7}"#,
    ]));
    all
}

/// Jobs that are prepared and measured.
fn prepared() -> Vec<Vec<u8>> {
    let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let key = super::short();
    let numbers = [
        ("n", key.public().n()),
        ("e", key.public().e()),
        ("d", key.d()),
        ("p", key.p()),
        ("q", key.q()),
        ("dp", key.dp()),
        ("dq", key.dq()),
        ("qinv", key.qinv()),
    ];
    let numbers = numbers.map(|(name, bytes)| format!("\"{name}\":\"{}\"", hexadecimal(bytes)));
    let study_key = format!("{{\"bits\":512,{}}}", numbers.join(","));
    let inputs = hexadecimal(&[&[0][..], &[7; 63]].concat());
    let block = r#"{"request":"block","plan":{"discard_ns":0,"min_ns":0,"calls":2,"max_samples":3}}"#;
    let rest = format!("{{\"request\":\"outputs\"}}\n{block}\n{{\"request\":\"hello\",\"protocol\":1}}\n");
    let prepare = |op: Op, keys: &str, inputs: &str| {
        let job = serde_json::to_string(&Job::new(op, 512)).expect("jobs are written");
        format!(
            "{{\"request\":\"prepare\",\"job\":{job},\"keys\":[{keys}],\"inputs\":\"{inputs}\"}}\n{rest}{{\"request\":\"release\"}}\n"
        )
    };
    let text = |op: Op, inputs: &str| {
        let job = prepare(op, &study_key, inputs);
        job.replacen(
            "\"symbols\":0,\"block_symbols\":0",
            "\"symbols\":22,\"block_symbols\":22",
            1,
        )
    };
    [
        prepare(Op::Private, &study_key, &inputs),
        prepare(Op::Public, &study_key, &inputs),
        prepare(Op::Private, "", &inputs),
        text(Op::TextEncrypt, &hexadecimal(b"a text of some letters")),
        text(Op::TextDecrypt, &inputs),
        text(Op::TextEncrypt, "00"),
        prepare(Op::Private, &study_key, "00"),
        prepare(Op::Private, &study_key, &"ff".repeat(64)),
        prepare(Op::Private, &study_key.replace("512", "513"), &inputs),
    ]
    .map(String::into_bytes)
    .into()
}

/// The answers of a worker to lines.
fn answers(lines: &[u8]) -> Vec<u8> {
    let (mut requests, mut answers) = (lines, Vec::new());
    worker::serve(&Textbook, &mut requests, &mut answers).expect("memory");
    answers
}

/// Encrypted texts.
pub fn text_containers() -> Vec<Vec<u8>> {
    let encrypt = |text: &[u8], symbols: Option<usize>| {
        let threads = Threads::unpinned(1);
        container::encrypt(&CpuBackend::auto(), key().public(), symbols, text, threads)
            .expect("it fits")
            .output
            .to_vec()
    };
    let whole = encrypt(b"a text of more than a block of ten", Some(10));
    let changed = |at: usize, to: u8| {
        let mut changed = whole.clone();
        changed[at] = to;
        changed
    };
    vec![
        encrypt(b"", Some(10)),
        encrypt(&[7; 300], None),
        whole[..30].to_vec(),
        whole[..100].to_vec(),
        changed(11, 2),
        changed(14, 3),
        changed(15, 1),
        changed(19, 0),
        changed(20, 0x80),
        changed(25, 1),
        changed(30, 0),
        changed(60, 0xff),
        changed(61, 0),
        whole,
    ]
}

/// Sealed files, armored and not.
pub fn sealed_files() -> Vec<Vec<u8>> {
    let recipients = [Recipient::new(key().public()).expect("it is long enough")];
    let seal = |message: &[u8]| {
        let mut file = Vec::new();
        rsalab_sealed::encrypt(&recipients, message, &mut file, 1).expect("memory");
        file
    };
    let armored = |file: &[u8]| {
        let mut writer = armor::Writer::new(Vec::new());
        // In two parts, of which the first is no whole number of lines.
        let (first, rest) = file.split_at(file.len().min(7));
        writer.write_all(first).expect("memory");
        writer.write_all(rest).expect("memory");
        writer.finish().expect("memory")
    };
    let file = seal(b"a message");
    let text = String::from_utf8(armored(&file)).expect("it is ASCII");
    let end = file
        .windows(5)
        .position(|window| window == b"\n--- ")
        .expect("a header ends");
    let with_header = |header: &str| [header.as_bytes(), &file[end + 1..]].concat();
    let start = str::from_utf8(&file[..=end]).expect("a header is ASCII");
    let mac = base64(&[7; 32]);
    let mut all = vec![
        seal(b""),
        seal(&vec![7; 300_000]),
        seal(&vec![7; 65536]),
        armored(&seal(&[7; 100])),
        [&file[..], b"x"].concat(),
        file[..file.len() - 1].to_vec(),
        file[..end + 20].to_vec(),
        file[..end + 60].to_vec(),
        with_header(&start.replacen("ssh-rsa", "X25519", 1)),
        with_header(&start.replacen("/v1", "/v2", 1)),
        with_header(&start.replacen("-> ssh-rsa", "->  ssh-rsa", 1)),
        with_header(&start.replacen("-> ssh-rsa", "=> ssh-rsa", 1)),
        with_header(&format!("{start}-> grease word\n\n")),
        with_header(&format!("{start}-> grease\nAB\n")),
        with_header(&format!("{start}-> grease\n{}\n", "A".repeat(65))),
        with_header(&format!("{start}-> grease\n\u{e4}\n")),
        format!("{start}--- {}\n", &mac[..43]).into_bytes(),
        format!("{start}---\n").into_bytes(),
        format!("{start}--- AAAA\n").into_bytes(),
        format!(" \n{text}\n ").into_bytes(),
        text.replace('\n', "\r\n").into_bytes(),
        format!("{text}x").into_bytes(),
        format!("{}{text}", " ".repeat(1100)).into_bytes(),
        text.replacen("AGE", "EGA", 1).into_bytes(),
        text.replacen("\n", "\n\n", 1).into_bytes(),
        text.replacen("\n", "\nAAAA\nAAAA\n", 1).into_bytes(),
        text.replacen("\n", &format!("\n{}\n", "A".repeat(80)), 1).into_bytes(),
        text.replacen("\n", "\n====\n", 1).into_bytes(),
        text.as_bytes()[..text.len() / 2].to_vec(),
        text.as_bytes()[..text.len() - 1].to_vec(),
    ];
    // Its key opens another file, and its last chunk is a whole one of nothing.
    let mut other = seal(b"another");
    other.truncate(end);
    all.push([&other[..], &file[end..]].concat());
    all.push(file);
    all
}

/// Databases of studies.
pub fn databases() -> Vec<Vec<u8>> {
    let header = [b"SQLite format 3\0".as_slice(), &[16, 0, 1, 1, 0, 64, 32, 32], &[0; 76]].concat();
    let mut all = vec![header, b"not a database".to_vec(), Vec::new()];
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("study");
    let plan = "[[grid]]\noperations = [\"private\"]\nbits = [512]\nbatch = [1, 2, 4, 8, 16]\n";
    let mut store = study(plan.as_bytes(), &place, None).expect("a plan");
    let read = |place: &Path| fs::read(place.join("study.db")).expect("it was written");
    let empty = read(&place);
    fill(&mut store);
    // What is in the log goes into the file.
    drop(store);
    let bytes = read(&place);
    let part = Part { number: 2, of: 3 };
    drop(study(plan.as_bytes(), &folder.path().join("part"), Some(part)));
    let changed = |at: usize, to: u8| {
        let mut changed = bytes.clone();
        changed[at] = to;
        changed
    };
    // Words that a cell may be in, and the beginnings of texts in JSON.
    let replaced = |from: &[u8], to: &[u8]| {
        let mut changed = bytes.clone();
        let found: Vec<usize> = (0..bytes.len() - from.len())
            .filter(|&at| bytes[at..].starts_with(from))
            .collect();
        for at in found {
            changed[at..][..to.len()].copy_from_slice(to);
        }
        changed
    };
    all.extend([
        read(&folder.path().join("part")),
        bytes[..bytes.len() / 2].to_vec(),
        bytes[..bytes.len() - 7].to_vec(),
        // The version of its schema, and the program that made it.
        changed(63, 0),
        changed(63, 1),
        changed(63, 2),
        changed(63, 3),
        changed(63, 4),
        changed(63, 99),
        changed(68, 7),
        changed(18, 1),
        changed(4200, 0xff),
        replaced(b"{\"op\"", b"{\"oq\""),
        replaced(b"\"known\"", b"\"knowm\""),
        replaced(b"complete", b"computed"),
        empty,
        bytes,
    ]);
    all
}

/// Rows of every table, as a session leaves them.
fn fill(store: &mut Store) {
    let machine = Machine::describe();
    let start = SessionStart {
        machine: &machine,
        warnings: &["a warning".to_owned()],
    };
    let lines = [&b"{\"request\":\"hello\",\"protocol\":1}\n"[..], &prepared()[0]].concat();
    let said = answers(&lines);
    let (mut info, mut readiness, mut report) = (None, None, None);
    for line in said.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line).expect("a worker's answer") {
            Answer::Hello { engine, .. } => info = Some(engine),
            Answer::Prepared(ready) => readiness = Some(ready),
            Answer::Block(block) => report = Some(block),
            _ => {}
        }
    }
    let supports = format!(
        r#"{{"request":"supports","job":{}}}"#,
        serde_json::to_string(&Job::new(Op::Private, 512)).expect("jobs are written")
    );
    let Ok(Answer::Supported { ledger }) = serde_json::from_slice(answers(supports.as_bytes()).trim_ascii()) else {
        unreachable!("the textbook does this job");
    };
    let beginning = Beginning {
        info: info.expect("it says who it is"),
        ledger,
        readiness: readiness.expect("it is ready"),
        notes: vec!["a note".to_owned()],
    };
    let report = report.expect("it measures");
    let write = |store: &mut Store| -> Result<(), StoreError> {
        let session = store.begin_session(&start)?;
        for (number, group) in (0..).zip(store.groups()?) {
            store.add_sentinel(session, group.id, 1e6)?;
            for cell in &group.cells {
                let record = BlockRecord {
                    cell: cell.id,
                    session,
                    taken: TakenBlock {
                        order_index: 0,
                        round: 0,
                        worker_pid: Some(7),
                        report: report.clone(),
                        losses: None,
                    },
                };
                if number < 4 {
                    store.begin_cell(cell.id, &beginning)?;
                    store.add_block(group.id, &record)?;
                }
                let reason = "a reason".to_owned();
                match number {
                    0 => store.complete_cell(cell.id, &[])?,
                    1 => store.fail_cell(cell.id, &reason)?,
                    2 => store.add_interrupted_block(group.id, &InterruptedBlock { record, reason })?,
                    4 => store.refuse_cell(cell.id, &reason)?,
                    _ => {}
                }
            }
        }
        store.end_session(session, Ending::Complete)
    };
    write(store).expect("a new study takes all of it");
}

/// The machine that plans are read for.
pub(crate) fn host() -> Host {
    Host {
        known: ["own", "textbook", "openssl", "gmp"].map(str::to_owned).to_vec(),
        present: vec!["own".to_owned()],
        logical_cpus: 2,
    }
}

/// A study of a plan, in a folder that is not there yet.
fn study(plan: &[u8], folder: &Path, part: Option<Part>) -> Option<Store> {
    let plan_toml = str::from_utf8(plan).ok()?;
    let groups = Plan::parse(plan_toml, &host()).ok()?.groups(&host()).ok()?;
    let new = NewStudy {
        plan_toml,
        groups: &groups,
        seed: Seed([0x66; 32]),
        host: &host(),
        command: "rsalab study",
        part,
    };
    Store::create(folder, &new).ok()
}
