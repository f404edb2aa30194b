//! Programs that run side by side, without more tests at a time than keep the CPUs busy.
//!
//! A program runs its tests on as many threads as there are CPUs. When fewer tests run than are to run at once, the
//! next program starts. So only the last tests of the last program run alone.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, PipeReader, pipe},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Sender, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use super::harness::{self, Test};

/// A program to be run.
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) command: Command,
    pub(crate) kind: Kind,
}

/// How many CPUs a job keeps busy, and what it must have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A program with the standard test harness.
    Program {
        threads: usize,
        /// Only some of its tests were asked for, maybe none.
        is_filtered: bool,
    },
    /// `cargo test --doc`: one crate after the other.
    Doctests,
}

/// A job that ended.
pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) status: ExitStatus,
    /// Both streams, in the order in which they were written.
    pub(crate) output: String,
    pub(crate) took: Duration,
}

/// An event of a running job.
enum Event {
    /// It has so many tests.
    Tests(usize),
    /// A test ended.
    Test,
    /// It closed its output, which is this.
    End(String),
}

struct Running {
    name: String,
    kind: Kind,
    child: Child,
    began: Instant,
    /// Tests that have not ended; none before the program has said how many it has.
    left: Option<usize>,
}

impl Running {
    /// The CPUs that it keeps busy.
    fn busy(&self) -> usize {
        match self.kind {
            Kind::Doctests => 1,
            Kind::Program { threads, .. } => self.left.map_or(threads, |left| left.min(threads)),
        }
    }
}

/// Runs all jobs in their order, starts one when fewer than `at_once` tests run, and hands over each when it ends.
pub(crate) fn run(jobs: Vec<Job>, at_once: usize, mut on_end: impl FnMut(Ended)) -> Result<()> {
    let mut waiting = VecDeque::from(jobs);
    let mut running: BTreeMap<usize, Running> = BTreeMap::new();
    let (sender, events) = channel();
    let mut number = 0;
    loop {
        while running.values().map(Running::busy).sum::<usize>() < at_once
            && let Some(job) = waiting.pop_front()
        {
            running.insert(number, start(job, number, sender.clone())?);
            number += 1;
        }
        if running.is_empty() {
            return Ok(());
        }
        let (number, event) = events.recv().expect("this function keeps a sender");
        let job = running.get_mut(&number).expect("it runs until its output ends");
        match event {
            Event::Tests(count) => job.left = Some(count),
            Event::Test => job.left = job.left.map(|left| left.saturating_sub(1)),
            Event::End(output) => {
                let mut job = running.remove(&number).expect("it was there");
                on_end(Ended {
                    status: job.child.wait()?,
                    took: job.began.elapsed(),
                    name: job.name,
                    kind: job.kind,
                    output,
                });
            }
        }
    }
}

fn start(mut job: Job, number: usize, events: Sender<(usize, Event)>) -> Result<Running> {
    let (reader, writer) = pipe()?;
    let child = job
        .command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()
        .with_context(|| format!("{} cannot be started", job.name))?;
    // The command keeps ends of the pipe that would hold it open.
    drop(job.command);
    thread::spawn(move || read(reader, number, &events));
    Ok(Running {
        name: job.name,
        kind: job.kind,
        child,
        began: Instant::now(),
        left: None,
    })
}

/// Reads until the program, and whatever it started, has closed the pipe.
fn read(reader: PipeReader, number: usize, events: &Sender<(usize, Event)>) {
    let mut reader = BufReader::new(reader);
    let mut output = String::new();
    let mut line = Vec::new();
    while matches!(reader.read_until(b'\n', &mut line), Ok(len) if len > 0) {
        let text = String::from_utf8_lossy(&line);
        let event = if let Some(count) = harness::tests(&text) {
            Some(Event::Tests(count))
        } else {
            Test::of(&text).map(|_| Event::Test)
        };
        if let Some(event) = event {
            // The receiver is gone if another program could not be started: nobody counts any more.
            let _ = events.send((number, event));
        }
        output += &text;
        line.clear();
    }
    let _ = events.send((number, Event::End(output)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str, threads: usize) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job {
            name: name.to_owned(),
            command,
            kind: Kind::Program {
                threads,
                is_filtered: false,
            },
        }
    }

    fn run_all(jobs: Vec<Job>, at_once: usize) -> Vec<Ended> {
        let mut ended = Vec::new();
        run(jobs, at_once, |job| ended.push(job)).unwrap();
        ended
    }

    #[test]
    fn outputs_are_kept_apart_and_in_order() {
        let script = |word: &str| format!("echo {word} 1; echo {word} 2 >&2; echo {word} 3; exit 3");
        let ended = run_all(vec![shell("a", &script("a"), 1), shell("b", &script("b"), 1)], 2);
        assert_eq!(ended.len(), 2);
        for job in ended {
            let word = &job.name;
            assert_eq!(job.output, format!("{word} 1\n{word} 2\n{word} 3\n"));
            assert_eq!(job.status.code(), Some(3));
        }
    }

    /// The first program's last test waits for the second program, which must therefore start before the first ends.
    /// The third has no CPU before the first has ended: the second does not see it.
    #[test]
    fn the_next_program_starts_when_a_cpu_is_idle() {
        let folder = tempfile::tempdir().unwrap();
        let wait = |name: &str| {
            let file = folder.path().join(name).display().to_string();
            format!("until [ -e {file} ]; do sleep 0.01; done")
        };
        let make = |name: &str| format!("touch {}", folder.path().join(name).display());
        let first = format!(
            "echo running 2 tests; echo 'test a ... ok <0.001s>'; {}; echo 'test b ... ok <0.001s>'",
            wait("second")
        );
        let second = format!(
            "echo running 2 tests; {}; echo third: $(ls {})",
            make("second"),
            folder.path().display()
        );
        let third = make("third");
        let jobs = vec![
            shell("first", &first, 2),
            shell("second", &second, 2),
            shell("third", &third, 2),
        ];
        let ended = run_all(jobs, 2);
        let of = |name: &str| ended.iter().find(|job| job.name == name).unwrap();
        assert!(of("first").status.success());
        assert!(
            of("second").output.contains("third: second\n"),
            "{}",
            of("second").output
        );
        assert!(of("third").status.success());
    }

    #[test]
    fn what_cannot_be_started_is_an_error() {
        let mut job = shell("none", "", 1);
        job.command = Command::new("/there/is/no/such/program");
        assert!(run(vec![job], 1, |_| ()).is_err());
    }
}
