//! Hostile surroundings: what each main command does where something that it needs is missing, full, closed or shared.
//!
//! Whatever happens, a command ends by itself with a documented exit code and a sentence; what it makes is there,
//! whole, or not there; and nothing else is left behind. The table of exit codes is a page of the book.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    os::unix::{
        ffi::OsStringExt,
        fs::PermissionsExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::support::{assert_done, folder, link_program, program, run, stdout, study_key};

const NOBODY: u32 = 65_534;

/// A command: its name in the table, what is typed, with OUT for what it makes, and how that is looked at.
struct Typed {
    name: &'static str,
    line: &'static str,
    proof: Option<Proof>,
}

type Proof = fn(&Path, &Path) -> bool;

const COMMANDS: [Typed; 9] = [
    Typed {
        name: "keygen",
        line: "keygen --bits 1024 --insecure-size --out OUT",
        proof: Some(|here, made| succeeds(here, &["key", "check"], made)),
    },
    Typed {
        name: "sign",
        line: "sign --key key.pem message --sig OUT",
        proof: Some(|here, made| succeeds(here, &["verify", "--key", "public.pem", "message", "--sig"], made)),
    },
    Typed {
        name: "encrypt",
        line: "encrypt --key public.pem message --out OUT",
        proof: Some(|here, made| {
            let opened = typed(here, &["decrypt", "--key", "key.pem"], made);
            opened.stdout == message()
        }),
    },
    Typed {
        name: "decrypt",
        line: "decrypt --key key.pem message.age --out OUT",
        proof: Some(|_, made| fs::read(made).is_ok_and(|bytes| bytes == message())),
    },
    Typed {
        name: "key public",
        line: "key public key.pem --out OUT",
        proof: Some(|here, made| succeeds(here, &["key", "check"], made)),
    },
    Typed {
        name: "verify",
        line: "verify --key public.pem message --sig message.sig",
        proof: None,
    },
    Typed {
        name: "key check",
        line: "key check key.pem",
        proof: None,
    },
    Typed {
        name: "audit",
        line: "audit key.pem public.pem",
        proof: None,
    },
    Typed {
        name: "machine",
        line: "machine",
        proof: None,
    },
];

/// Surroundings: their name in the table, and a script that starts the command in them, which is `"$@"`.
struct Surroundings {
    name: &'static str,
    script: &'static str,
    out: Out,
}

/// Where the result goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Out {
    /// A new name in a folder.
    File,
    /// Standard output, which is taken.
    Stdout,
    /// Standard output, which the script does something to.
    Lost,
    /// A folder that may be read only, to somebody who is not root.
    Locked,
    /// A new name, for somebody who is not root.
    Nobody,
    /// A name that is not UTF-8.
    NoText,
    /// One new name, for two processes at once.
    Twice,
    /// A new name in a namespace where something is mounted.
    Mounted,
}

const fn at(name: &'static str, out: Out, script: &'static str) -> Surroundings {
    Surroundings { name, script, out }
}

const SURROUNDINGS: [Surroundings; 24] = [
    at("an ordinary terminal's", Out::File, "exec \"$@\""),
    at(
        "no environment at all (no HOME, no PATH)",
        Out::File,
        "exec env -i \"$@\"",
    ),
    at(
        "TMPDIR and HOME that do not exist",
        Out::File,
        "TMPDIR=/nonexistent HOME=/nonexistent exec \"$@\"",
    ),
    at(
        "a locale and a terminal that do not exist",
        Out::File,
        "LC_ALL=xx_YY.none TERM=none COLUMNS=-1 exec \"$@\"",
    ),
    at("64 descriptors", Out::File, "ulimit -n 64; exec \"$@\""),
    at("256 MiB of address space", Out::File, "ulimit -v 262144; exec \"$@\""),
    at("a stack of 512 KiB", Out::File, "ulimit -s 512; exec \"$@\""),
    at("one thread", Out::Nobody, "exec prlimit --nproc=1:1 \"$@\""),
    at(
        "files that may not grow (`ulimit -f 0`)",
        Out::File,
        "ulimit -f 0; exec \"$@\"",
    ),
    at("a folder that may only be read", Out::Locked, "exec \"$@\""),
    at(
        "a full disk",
        Out::Mounted,
        "mount -t tmpfs -o size=64k none out && head -c 1M /dev/zero > out/filler 2>/dev/null; exec \"$@\"",
    ),
    at("no `/proc`", Out::Mounted, "mount -t tmpfs none /proc && exec \"$@\""),
    at(
        "the working folder deleted",
        Out::File,
        "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"",
    ),
    at("a name that is not UTF-8", Out::NoText, "exec \"$@\""),
    at("umask 000", Out::File, "umask 000; exec \"$@\""),
    at("umask 777", Out::File, "umask 777; exec \"$@\""),
    at("two processes that make one file", Out::Twice, "exec \"$@\""),
    at(
        "signals ignored (INT, TERM, HUP, PIPE, QUIT)",
        Out::File,
        "trap '' INT TERM HUP PIPE QUIT; exec \"$@\"",
    ),
    at("standard input closed", Out::File, "exec \"$@\" <&-"),
    at("standard output closed", Out::Lost, "exec \"$@\" >&-"),
    at("standard error closed", Out::Stdout, "exec \"$@\" 2>&-"),
    at("all three closed", Out::File, "exec \"$@\" <&- >&- 2>&-"),
    at(
        "standard output on a full disk (`/dev/full`)",
        Out::Lost,
        "exec \"$@\" > /dev/full",
    ),
    at(
        "a pipe whose reader is gone",
        Out::Lost,
        "{ sleep 0.2; \"$@\"; echo $? > out/code; } | true; sleep 0.1; while [ ! -s out/code ]; do sleep 0.05; done; read code < out/code; rm out/code; exit $code",
    ),
];

fn message() -> Vec<u8> {
    (0..300_000).map(|index| (index * 167 / 5) as u8).collect()
}

fn typed(here: &Path, words: &[&str], last: &Path) -> Output {
    let words = words.iter().map(OsString::from);
    run(here, words.chain([last.as_os_str().to_owned()]))
}

fn succeeds(here: &Path, words: &[&str], last: &Path) -> bool {
    typed(here, words, last).status.success()
}

/// A folder with all that the commands read, which anybody may read.
fn prepared() -> tempfile::TempDir {
    let here = folder();
    let path = here.path();
    study_key(path, 2048);
    fs::write(path.join("message"), message()).expect("the folder can be written to");
    for line in [
        "sign --key key.pem message",
        "encrypt --key public.pem message --out message.age",
    ] {
        assert_done(&run(path, line.split(' ')));
    }
    link_program(&program(), &path.join("rsalab"));
    let mode = |name: &str, mode| {
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    for name in ["message", "message.sig", "message.age", "key.pem", "public.pem"] {
        mode(name, 0o644);
    }
    for (name, bits) in [("out", 0o777), ("locked", 0o555)] {
        fs::create_dir(path.join(name)).expect("it can be made");
        mode(name, bits);
    }
    mode("rsalab", 0o755);
    mode(".", 0o755);
    here
}

/// How namespaces are made here; none where they cannot be.
fn unshare(is_root: bool) -> Option<&'static str> {
    let how = if is_root { "-m" } else { "-rm" };
    let mut command = Command::new("unshare");
    command
        .args([how, "mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success()).then_some(how)
}

/// One command in its surroundings.
struct Case<'a> {
    here: &'a Path,
    command: &'a Typed,
    around: &'a Surroundings,
    made: PathBuf,
}

impl Case<'_> {
    fn start(&self, unshare: &str) -> Command {
        let is_root = rustix::process::geteuid().is_root();
        let mut command = match self.around.out {
            Out::Mounted => {
                let mut command = Command::new("unshare");
                command.args([unshare, "sh"]);
                command
            }
            _ => Command::new("sh"),
        };
        command
            .args(["-c", self.around.script, "sh"])
            .arg(self.here.join("rsalab"));
        for word in self.command.line.split(' ') {
            match word {
                "OUT" if matches!(self.around.out, Out::Stdout | Out::Lost) => command.arg("-"),
                "OUT" => command.arg(&self.made),
                // The working folder may be gone.
                word if self.here.join(word).is_file() => command.arg(self.here.join(word)),
                word => command.arg(word),
            };
        }
        if is_root && matches!(self.around.out, Out::Locked | Out::Nobody) {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
            .current_dir(self.here)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn is_about_file(&self) -> bool {
        self.command.proof.is_some() && !matches!(self.around.out, Out::Stdout | Out::Lost)
    }

    /// The exit code, with all that must hold whatever it is.
    fn run(&self, unshare: &str) -> String {
        let what = format!("{}, {}", self.command.name, self.around.name);
        let outputs: Vec<Output> = match self.around.out {
            Out::Twice => {
                let [one, another] = [(); 2].map(|()| self.start(unshare).spawn().expect("there is a shell"));
                [one, another]
                    .map(|child| child.wait_with_output().expect("it ends"))
                    .into()
            }
            _ => vec![self.start(unshare).output().expect("there is a shell")],
        };
        let mut codes = Vec::new();
        for output in &outputs {
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output
                .status
                .code()
                .unwrap_or_else(|| panic!("{what}: ended by signal {:?}: {said}", output.status.signal()));
            assert!([0, 3, 4, 5, 6].contains(&code), "{what}: exit code {code}: {said}");
            assert!(!said.contains("panicked") && !said.contains("defect"), "{what}: {said}");
            let sentences = said.lines().filter(|line| line.starts_with("rsalab: ")).count();
            let is_heard = !self.around.script.contains("2>&-");
            assert!(
                !is_heard || sentences == usize::from(code != 0),
                "{what}: {code}, {said}"
            );
            codes.push(code);
        }
        codes.sort_unstable();
        if self.around.out == Out::Stdout && codes == [0] && self.command.proof.is_some() {
            fs::write(&self.made, &outputs[0].stdout).expect("the folder can be written to");
        }
        let is_made = self.made.symlink_metadata().is_ok();
        let is_due = codes[0] == 0 && self.is_about_file();
        assert!(!is_due || is_made, "{what}: nothing was made");
        assert!(codes[0] == 0 || !is_made, "{what}: something was made");
        if is_made {
            let mode = self.made.metadata().expect("it was made").permissions().mode();
            let is_private = !matches!(self.command.name, "sign" | "key public");
            assert!(
                self.around.out == Out::Stdout || !is_private || mode & 0o077 == 0,
                "{what}: mode {mode:o}"
            );
            fs::set_permissions(&self.made, fs::Permissions::from_mode(0o644)).expect("it was made");
            let proof = self.command.proof.expect("it makes something");
            assert!(proof(self.here, &self.made), "{what}: it is not whole");
            fs::remove_file(&self.made).expect("it was made");
        }
        let left: BTreeSet<_> = ["out", "locked"]
            .iter()
            .flat_map(|folder| fs::read_dir(self.here.join(folder)).expect("it is there"))
            .map(|entry| entry.expect("it can be read").file_name())
            .collect();
        assert!(left.is_empty(), "{what}: left behind: {left:?}");
        codes.dedup();
        let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
        codes.join(" and ")
    }
}

const BEGIN: &str = "<!-- surroundings: begin. From a test: UPDATE_DOCUMENTS=1 cargo test -p rsalab --test program \
                     hostile -->\n";
const END: &str = "<!-- surroundings: end -->";

#[test]
fn every_command_in_every_surroundings() {
    let here = prepared();
    let here = here.path();
    let namespaces = unshare(rustix::process::geteuid().is_root());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/surroundings.md");
    let page = fs::read_to_string(path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (old, after) = rest.split_once(END).expect("the table ends");
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    let mut table = format!(
        "| surroundings | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for around in &SURROUNDINGS {
        let begin = format!("| {} |", around.name);
        if around.out == Out::Mounted && namespaces.is_none() {
            eprintln!("SKIPPED: {}: nothing can be mounted here", around.name);
            let row = old.lines().find(|line| line.starts_with(&begin));
            table += &format!("{}\n", row.expect("the page has it"));
            continue;
        }
        let codes = COMMANDS.iter().map(|command| {
            let name = match around.out {
                Out::Locked => b"locked/made".to_vec(),
                Out::NoText => b"out/\xff\xfe made".to_vec(),
                _ => b"out/made".to_vec(),
            };
            let case = Case {
                here,
                command,
                around,
                made: here.join(OsString::from_vec(name)),
            };
            case.run(namespaces.unwrap_or_default())
        });
        table += &format!("{begin} {} |\n", codes.collect::<Vec<_>>().join(" | "));
    }
    let expected = format!("{before}{BEGIN}{table}{END}{after}");
    if env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(path, &expected).expect("the page can be written");
    }
    assert_eq!(page, expected, "UPDATE_DOCUMENTS=1 writes it anew");
}

/// Standard output closed early in the middle of much data, and a disk that fills up in the middle of a file.
#[test]
fn much_data_and_an_early_end() {
    let here = prepared();
    let here = here.path();
    let long = fs::File::create(here.join("long")).expect("the folder can be written to");
    long.set_len(64 << 20).expect("it has room");
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh"])
            .arg(here.join("rsalab"))
            .current_dir(here);
        command.output().expect("there is a shell")
    };
    assert_done(&run(
        here,
        ["encrypt", "--key", "public.pem", "long", "--out", "long.age"],
    ));
    for line in ["encrypt --key public.pem long", "decrypt --key key.pem long.age"] {
        let output = shell(&format!(
            "{{ \"$1\" {line}; echo $? > code; }} | head -c 100000 > /dev/null; cat code"
        ));
        assert_eq!(stdout(&output), "5\n", "{line}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("cannot write all of it to standard output"), "{said}");
        let output = shell(&format!("ulimit -f 2048; \"$1\" {line} --out out/made"));
        assert_eq!(output.status.code(), Some(5), "{line}");
        assert_eq!(
            fs::read_dir(here.join("out")).expect("it is there").count(),
            0,
            "{line}"
        );
    }
    // Memory does not grow with the file: 64 MiB of it would not fit.
    for line in [
        "encrypt --key public.pem long --out out/made",
        "decrypt --key key.pem long.age --out out/made",
    ] {
        let output = shell(&format!("ulimit -v 90000; \"$1\" {line}"));
        assert_done(&output);
        fs::remove_file(here.join("out/made")).expect("it was made");
    }
}
