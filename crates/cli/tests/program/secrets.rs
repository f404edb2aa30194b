//! Secrets that are planted in files, passwords and streams: no output of any command has a part of one, at any level,
//! whatever goes wrong; nor do the arguments or the environment of what it starts.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    io::Write,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::support::{assert_done, folder, program, run, stdout, study_key};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Secrets in files: no eight characters in a row of them are in any output.
struct Secrets(HashSet<Vec<u8>>);

impl Secrets {
    fn is_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(8).any(|window| self.0.contains(window))
    }

    #[track_caller]
    fn check(&self, output: &Output, typed: &str) {
        for said in [&output.stdout, &output.stderr] {
            let repeated = said.windows(8).find(|window| self.0.contains(*window));
            assert!(
                repeated.is_none(),
                "{typed}: «{}» is in: {}",
                String::from_utf8_lossy(repeated.unwrap_or_default()),
                String::from_utf8_lossy(said)
            );
        }
    }
}

const PASSWORD: &str = "Xq7-unlikely-Zw9";
const MESSAGE: &str = "Kj3-nobody-says-Vb8";

fn planted(folder: &Path) -> Secrets {
    study_key(folder, 1024);
    fs::write(folder.join("password"), format!("{PASSWORD}\n")).expect("it can be written");
    fs::write(folder.join("wrong"), format!("{PASSWORD}?\n")).expect("it can be written");
    fs::write(folder.join("message"), MESSAGE).expect("it can be written");
    // JSON of another type than any format has: parsers say what they found.
    fs::write(folder.join("quoted"), format!("\"{PASSWORD}\"\n")).expect("it can be written");
    for (format, name) in [
        ("pkcs8-encrypted --new-password-file password", "encrypted.pem"),
        ("jwk", "key.jwk"),
        ("openssh", "key.openssh"),
        ("pkcs1-pem", "key.pkcs1"),
    ] {
        let typed = format!("key convert key.pem --format {format} --out {name}");
        assert_done(&run(folder, typed.split(' ')));
    }
    let other = "keygen --bits 1024 --insecure-size --out other.pem";
    assert_done(&run(folder, other.split(' ')));
    for (armor, name) in [("", "sealed"), (" --armor", "sealed.text")] {
        let typed = format!("encrypt --key public.pem{armor} message --out {name}");
        assert_done(&run(folder, typed.split(' ')));
    }
    let mut changed = fs::read(folder.join("sealed")).expect("it was made");
    *changed.last_mut().expect("it has bytes") ^= 1;
    fs::write(folder.join("sealed.changed"), changed).expect("it can be written");
    let read = |name: &&str| fs::read_to_string(folder.join(name)).expect("it was made");
    let texts = ["key.pem", "other.pem", "encrypted.pem", "key.openssh", "key.pkcs1"]
        .iter()
        .map(read);
    let bodies = texts.flat_map(|text| {
        let lines = text.lines().filter(|line| !line.contains("-----"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    });
    let jwk = read(&"key.jwk");
    // Its name and its modulus are public.
    let (_, private) = jwk.split_once("\"d\":").expect("it is private");
    let typed = [private.to_owned(), PASSWORD.to_owned(), MESSAGE.to_owned()];
    let windows = bodies.chain(typed).flat_map(|text| {
        let windows = text.as_bytes().windows(8);
        windows.map(<[u8]>::to_vec).collect::<Vec<_>>()
    });
    Secrets(windows.collect())
}

/// Every command that reads a secret, with what it makes kept out of standard output.
const COMMANDS: [&str; 76] = [
    "key check key.pem key.jwk key.openssh key.pkcs1",
    "key check encrypted.pem --password-file password",
    "key check encrypted.pem --password-file wrong",
    "key check message password",
    "key check password --json",
    "key public key.jwk --out made",
    "key public encrypted.pem --password-file password --format jwk --out made",
    "key public message --out made",
    "key convert key.openssh --format pkcs8-encrypted --new-password-file password --out made",
    "key convert encrypted.pem --password-file wrong --out made",
    "key convert encrypted.pem --password-file password --out made",
    "sign --key key.pem message --sig made",
    "sign --key encrypted.pem --password-file password message --sig made",
    "sign --key encrypted.pem --password-file encrypted.pem message --sig made",
    "sign --key message message --sig made",
    "sign --key key.pem --files-from key.pem",
    "sign --key key.pem --digest message --sig made",
    "sign --key key.pem --password-file key.pem --kid message message --sig made",
    "verify --key key.jwk message --sig key.pem",
    "verify --key key.pem key.jwk --sig message",
    "encrypt --key key.pem message --out made",
    "encrypt --key key.pem --label Kj3-nobody-says-Vb8 message --out made",
    "encrypt --raw-oaep --key key.pem message --out made",
    "encrypt --key public.pem -r key.jwk -r encrypted.pem --password-file password message --out made",
    "encrypt --key public.pem -r message message --out made",
    "decrypt --key key.pem sealed --out made",
    "decrypt --key key.pem sealed.changed --out made",
    "decrypt --key other.pem sealed --out made",
    "decrypt --key key.pem sealed.text --out made",
    "decrypt --key key.pem key.jwk --out made",
    "decrypt --key key.openssh message --encoding hex --out made",
    "text-encrypt --key key.pem message --out made",
    "text-encrypt --key key.pem --text Kj3-nobody-says-Vb8 --out made",
    "text-decrypt --key key.pem message --out made",
    "raw-private --key key.pem message --out made",
    "raw-public --key key.pem key.pkcs1 --out made",
    "blind request --key key.pem message --out made --state state",
    "blind sign --key key.pem message --out made",
    "blind finalize --key key.pem message --state key.pem --blind-sig message --sig made",
    "blind verify --key key.pem message --sig key.pem --prefix password",
    "keygen --bits 1024 --insecure-size --format pkcs8-encrypted --password-file password --out made",
    "keygen --bits 1024 --insecure-size --names key.pem --out made",
    "study key.pem --out made",
    "report message",
    "export password --samples --out made",
    "profile message --out made",
    "barometer pack message --out made",
    "barometer verify message key.jwk",
    "barometer page message",
    "text-encrypt --key key.pem --profile key.pem message --out made",
    "resume message",
    "merge key.pem message --out made",
    "slurm keygen --parts 2 --out made -- --count message",
    "slurm study --parts 2 --out made -- key.pem",
    "compare password key.pem",
    "compare quoted quoted",
    "study quoted --out made",
    "text-encrypt --key key.pem --profile quoted message --out made",
    "bench --op private --bits 512 --engines own,textbook --seconds 0.1 --allow-unoptimised",
    "engines",
    "vectors --engines own --bits 512 --count 1",
    "vectors -",
    "machine",
    "audit key.pem key.jwk key.openssh message password encrypted.pem",
    "audit --json .",
    "audit key.pem message --shard 1/2 --out made",
    "audit key.pem message --save made",
    "audit key.pem --against message --add",
    "audit plan --parts 2 key.pem message",
    "audit merge key.pem message --out made",
    "slurm audit --parts 2 --out made -- key.pem message",
    "blind key --key key.pem --out made",
    "completions bash",
    "worker --engine own",
    "verify --key key.pem message --sig password --encoding base64",
    "keygen --bits 1024 --insecure-size --engine textbook --out made",
];

/// Removes what a command may have made.
fn clear(folder: &Path) {
    for made in [
        "made",
        "made.json",
        "state",
        "made.state",
        "message.blinded",
        "message.sig",
        "message.token",
    ] {
        let path = folder.join(made);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
}

/// Runs a command with something on standard input.
fn run_with(folder: &Path, typed: &str, input: &[u8]) -> Output {
    let mut child = Command::new(program())
        .current_dir(folder)
        .args(typed.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Who needs no input may have ended by now.
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    child.wait_with_output().expect("it ends")
}

#[test]
fn no_level_of_any_command_repeats_a_secret() {
    let here = folder();
    let secrets = planted(here.path());
    for command in COMMANDS {
        for level in ["-q", "-v", "-vv"] {
            // What follows two hyphens is another command's.
            let typed = match command.split_once(" -- ") {
                Some((own, others)) => format!("{own} {level} -- {others}"),
                None => format!("{command} {level}"),
            };
            let output = run_with(here.path(), &typed, b"");
            secrets.check(&output, &typed);
            let steps = stderr(&output).lines().any(|line| line.starts_with("rsalab 0."));
            assert_eq!(steps, level != "-q", "{typed}: {}", stderr(&output));
            clear(here.path());
        }
    }
}

/// The commands, as the program's own help lists them, and their options that take a value.
fn commands(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let typed = format!("{command} -h");
        let help = run(folder, typed.split_whitespace());
        assert_done(&help);
        let lines: Vec<&str> = stdout(&help).lines().collect();
        let below = lines
            .iter()
            .skip_while(|line| **line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help");
        let below: Vec<String> = below
            .map(|name| format!("{command} {name}").trim().to_owned())
            .collect();
        // What has commands has no options of its own, with one exception.
        if below.is_empty() || command == "audit" {
            let options = lines.iter().filter_map(|line| {
                let (_, option) = line.split_once("--")?;
                let (name, rest) = option.split_once([' ', '[', '='])?;
                (line.trim_start().starts_with('-') && rest.trim_start().starts_with('<')).then(|| format!("--{name}"))
            });
            found.insert(command, options.collect());
        }
        open.extend(below);
    }
    found
}

/// The first line of a command in the table.
fn line_of(command: &str) -> &'static str {
    let begins = |line: &&&str| {
        line.strip_prefix(command)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let line = COMMANDS.iter().find(begins);
    line.unwrap_or_else(|| panic!("'{command}' is not in the table of commands that are tested for secrets"))
}

/// A line with another value of an option; the line's own value is left out.
fn with_option(line: &str, option: &str, value: &str) -> String {
    let (own, others) = line
        .split_once(" -- ")
        .map_or((line, None), |(own, others)| (own, Some(others)));
    let mut words: Vec<&str> = own.split(' ').collect();
    if let Some(place) = words.iter().position(|word| *word == option) {
        words.drain(place..(place + 2).min(words.len()));
    }
    let others = others.map_or_else(String::new, |others| format!(" -- {others}"));
    format!("{} {option} {value}{others}", words.join(" "))
}

/// Gives each option of each command the names of files that hold secrets, and each command these on standard input.
fn every_option(files: &[&str], levels: &[&str]) {
    let here = folder();
    let secrets = planted(here.path());
    let mut lines = 0;
    for (command, options) in commands(here.path()) {
        let line = line_of(&command);
        assert!(
            !options.is_empty() || ["barometer page", "completions", "engines"].contains(&&*command),
            "{command}"
        );
        for file in files {
            let input = fs::read(here.path().join(file)).expect("it was made");
            let mut typed = vec![line.to_owned(), line.replace(" message", " -")];
            typed.extend(options.iter().map(|option| with_option(line, option, file)));
            for typed in typed {
                for level in levels {
                    let typed = typed.replacen(' ', &format!(" {level} "), 1);
                    let output = run_with(here.path(), typed.trim(), &input);
                    let code = output.status.code();
                    assert!(
                        code.is_some_and(|code| code != 1),
                        "{typed}: {code:?}, {}",
                        stderr(&output)
                    );
                    secrets.check(&output, &typed);
                    clear(here.path());
                    lines += 1;
                }
            }
        }
    }
    assert!(lines > 250, "{lines} lines only: has the help another form?");
}

#[test]
fn no_option_repeats_what_its_file_holds() {
    every_option(&["password"], &["-vv"]);
}

#[test]
#[ignore = "long: make test-all"]
fn no_option_repeats_what_any_file_holds_at_any_level() {
    every_option(
        &[
            "password",
            "message",
            "quoted",
            "key.pem",
            "key.jwk",
            "encrypted.pem",
            "key.openssh",
            "sealed",
        ],
        &["-q", "-v", "-vv"],
    );
}

/// The arguments and the environment of a process and of those that it started.
fn seen_of(child: &Child, seen: &mut HashSet<Vec<u8>>) {
    let mut open = vec![child.id()];
    while let Some(process) = open.pop() {
        for file in ["cmdline", "environ"] {
            // Another user's, or of a process that has ended.
            if let Ok(bytes) = fs::read(format!("/proc/{process}/{file}")) {
                seen.insert(bytes);
            }
        }
        let tasks = fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
            .flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            open.extend(
                children
                    .split_whitespace()
                    .filter_map(|child| child.parse::<u32>().ok()),
            );
        }
    }
}

/// Others see arguments and environment of a command while it runs, and of its workers: neither has a secret.
#[test]
fn no_argument_and_no_environment_has_a_secret() {
    let here = folder();
    let secrets = planted(here.path());
    let password = fs::read(here.path().join("password")).expect("it was made");
    for (typed, starts_others) in [
        (
            "keygen --bits 1024 --insecure-size --engine textbook --password-file password --format pkcs8-encrypted --out made",
            true,
        ),
        (
            "bench --op private --bits 512 --engines textbook --seconds 0.3 --allow-unoptimised",
            true,
        ),
        ("sign --key encrypted.pem --password-file - message --sig made", false),
        ("decrypt --key encrypted.pem --password-file - sealed --out made", false),
    ] {
        let mut child = Command::new(program())
            .current_dir(here.path())
            .args(typed.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut seen = HashSet::new();
        let begun = Instant::now();
        let mut stdin = child.stdin.take();
        while child.try_wait().expect("it is ours").is_none() {
            seen_of(&child, &mut seen);
            if begun.elapsed() > Duration::from_millis(50)
                && let Some(mut pipe) = stdin.take()
            {
                let _ = pipe.write_all(&password);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{typed}");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!seen.is_empty(), "{typed}: nothing was seen");
        let is_worker = |bytes: &Vec<u8>| bytes.windows(6).any(|word| word == b"worker");
        assert_eq!(seen.iter().any(is_worker), starts_others, "{typed}");
        for bytes in &seen {
            assert!(!secrets.is_in(bytes), "{typed}: {}", String::from_utf8_lossy(bytes));
        }
        clear(here.path());
    }
}

/// A key in the place of a name is refused before the first step.
#[test]
fn a_key_in_the_place_of_a_name_is_in_no_step() {
    let here = folder();
    let secrets = planted(here.path());
    let pem = fs::read_to_string(here.path().join("key.pem")).expect("it was made");
    for typed in [
        &["-vv", "sign", "--key", &pem, "message"][..],
        &["-vv", "key", "check", &pem],
        &["key", "public", &pem, "-v"],
        &["sign", "-v", "--key", "key.pem", "--password-file", &pem, "message"],
        &[
            "verify",
            "-v",
            "--key",
            "public.pem",
            "--sig",
            &pem.replace('\n', ""),
            "message",
        ],
    ] {
        let output = run(here.path(), typed);
        assert_eq!(output.status.code(), Some(2));
        secrets.check(&output, typed[0]);
    }
}
