//! A worker that misbehaves as its one argument says: what the tests of the coordinator's end talk to.
//!
//! It is the engine `textbook` under another name, spoilt in one way, served like any other engine; or it is no worker
//! at all.

use std::{
    io::{self, BufRead, Write},
    process::{self, ExitCode},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, Prepared, Reason, RunStats, Runner, StudyKey, Textbook, worker,
};

fn main() -> ExitCode {
    let manner = std::env::args().nth(1).unwrap_or_default();
    match manner.as_str() {
        "says nothing" => forever(),
        "stops reading" => {
            let _ = io::stdin().lock().read_line(&mut String::new());
            println!("{}", hello(1));
            forever()
        }
        "ends at once" => {
            eprintln!("no library here");
            return ExitCode::from(3);
        }
        "prints garbage" => answer_each("Segmentation fault (core dumped)"),
        "prints half a line" => {
            let _ = io::stdin().lock().read_line(&mut String::new());
            print!(r#"{{"answer":"hel"#);
            return ExitCode::SUCCESS;
        }
        "prints without end" => {
            let mut stdout = io::stdout().lock();
            while stdout.write_all(&[b'x'; 1 << 16]).is_ok() {}
            return ExitCode::SUCCESS;
        }
        "is of another version" => answer_each(&hello(99)),
        "is another engine" => return worker::serve_stdio(&Textbook),
        "answers another question" => answer_each(r#"{"answer":"released"}"#),
        _ => {}
    }
    let lie = Lie::of(&manner);
    let engine = Faulty {
        manner,
        runs: AtomicU64::new(0),
    };
    let Some(lie) = lie else {
        return worker::serve_stdio(&engine);
    };
    let mut answers = Liar { lie, line: Vec::new() };
    match worker::serve(&engine, &mut io::stdin().lock(), &mut answers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(5),
    }
}

/// How the report of a block is changed before it is told.
#[derive(Clone, Copy)]
enum Lie {
    /// Every time is multiplied by the first and divided by the second.
    Times(u64, u64),
    /// The samples' times only.
    SampleTimes(u64, u64),
    /// Whatever is in this place of the first sample or of the block.
    Number(&'static str, fn() -> Value),
    /// As long again as the block has lasted, or longer, passes unseen.
    Dawdles,
    /// The block has no samples.
    Nothing,
    /// The line has two gibibytes.
    Long,
    /// The outputs are a text, which may be a key.
    Words,
}

impl Lie {
    fn of(manner: &str) -> Option<Lie> {
        Some(match manner {
            "says a tenth of the time" => Lie::Times(1, 10),
            "says ten times the time" => Lie::Times(10, 1),
            "says a tenth of the samples' time" => Lie::SampleTimes(1, 10),
            "says ten times the samples' time" => Lie::SampleTimes(10, 1),
            "counts nothing" => Lie::Number("operations", || json!(0)),
            "counts below zero" => Lie::Number("operations", || json!(-5)),
            "counts too much" => Lie::Number("operations", || json!(u64::MAX)),
            "counts in words" => Lie::Number("operations", || json!("many")),
            "counts to the infinite" => Lie::Number("elapsed_ns", || json!(1e300)),
            "dawdles" => Lie::Dawdles,
            "shows no samples" => Lie::Nothing,
            "tells a long story" => Lie::Long,
            "shows a key in words" => Lie::Words,
            _ => return None,
        })
    }

    fn tell(self, answer: &mut Value) {
        if matches!(self, Lie::Words) {
            answer["outputs"] = json!("the prime is 17");
            return;
        }
        let block = &mut answer["block"];
        let scale = |of: &mut Value, by: u64, to: u64| {
            *of = json!(of.as_u64().unwrap_or_default() * by / to);
        };
        match self {
            Lie::Times(by, to) | Lie::SampleTimes(by, to) => {
                for sample in block["samples"].as_array_mut().into_iter().flatten() {
                    scale(&mut sample["elapsed_ns"], by, to);
                }
                if matches!(self, Lie::Times(..)) {
                    scale(&mut block["elapsed_ns"], by, to);
                }
            }
            Lie::Number(place, number) => block["samples"][0][place] = number(),
            Lie::Dawdles => thread::sleep(Duration::from_millis(400)),
            Lie::Words => {}
            Lie::Nothing => block["samples"] = json!([]),
            Lie::Long => {
                let mut stdout = io::stdout().lock();
                for _ in 0..1 << 15 {
                    // It is stopped before it has said all.
                    if stdout.write_all(&[b'x'; 1 << 16]).is_err() {
                        process::exit(0);
                    }
                }
            }
        }
    }
}

/// Standard output, through which no report of a block passes unchanged.
struct Liar {
    lie: Lie,
    /// The part of a line that has been written.
    line: Vec<u8>,
}

impl Write for Liar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend(bytes);
        if self.line.last() == Some(&b'\n') {
            let mut answer: Value = serde_json::from_slice(&self.line)?;
            let changed = match self.lie {
                Lie::Words => "outputs",
                _ => "block",
            };
            if answer["answer"] == changed {
                self.lie.tell(&mut answer);
            }
            writeln!(io::stdout(), "{answer}")?;
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

fn hello(version: u32) -> String {
    format!(
        r#"{{"answer":"hello","protocol":{version},"pid":1,"engine":{{"name":"faulty","version":"","origin":"","cpu_path":null,"variants":[],"optimised":true}}}}"#
    )
}

fn forever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

fn answer_each(line: &str) -> ! {
    for _ in io::stdin().lock().lines() {
        println!("{line}");
    }
    process::exit(0)
}

/// The textbook engine, spoilt.
struct Faulty {
    manner: String,
    runs: AtomicU64,
}

impl Engine for Faulty {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "faulty".to_owned(),
            ..Textbook.info()
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        Textbook.supports(job)
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        if self.manner == "chatters" {
            println!("loading the library …");
        }
        Ok(Box::new(FaultyPrepared {
            engine: self,
            prepared: Textbook.prepare(job, keys)?,
        }))
    }
}

struct FaultyPrepared<'a> {
    engine: &'a Faulty,
    prepared: Box<dyn Prepared + 'a>,
}

impl Prepared for FaultyPrepared<'_> {
    fn kernel(&self) -> String {
        self.prepared.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(FaultyRunner {
            engine: self.engine,
            runner: self.prepared.runner()?,
        }))
    }
}

struct FaultyRunner<'a> {
    engine: &'a Faulty,
    runner: Box<dyn Runner + 'a>,
}

impl Runner for FaultyRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let run = self.engine.runs.fetch_add(1, Ordering::Relaxed);
        if self.engine.manner == "stops writing" && run >= 6 {
            return Ok(RunStats::default());
        }
        let stats = self.runner.run(inputs, outputs)?;
        match self.engine.manner.as_str() {
            "is wrong" => outputs[outputs.len() - 1] ^= 1,
            "becomes wrong" if run >= 6 => outputs[outputs.len() - 1] ^= 1,
            "panics" => panic!("an assertion of the library failed"),
            "exits" => process::exit(42),
            "aborts" => process::abort(),
            "hangs" => forever(),
            "is slow" => thread::sleep(Duration::from_millis(300)),
            "works hard" => {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(50) {}
            }
            "fails" => {
                return Err(EngineError::Library {
                    call: "mod_exp",
                    message: "out of memory".to_owned(),
                });
            }
            _ => {}
        }
        Ok(stats)
    }
}
