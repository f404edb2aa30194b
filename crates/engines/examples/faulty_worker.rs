//! A worker that misbehaves as its one argument says: what the tests of the coordinator's end talk to.
//!
//! It is the engine `textbook` under another name, spoilt in one way, served like any other engine; or it is no worker at
//! all.

use std::{
    io::{self, BufRead, Write},
    process::{self, ExitCode},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, Prepared, Reason, RunStats, Runner, StudyKey,
    Textbook, worker,
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
    worker::serve_stdio(&Faulty {
        manner,
        runs: AtomicU64::new(0),
    })
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
        if self.engine.manner == "stops writing" && run >= 20 {
            return Ok(RunStats::default());
        }
        let stats = self.runner.run(inputs, outputs)?;
        match self.engine.manner.as_str() {
            "is wrong" => outputs[outputs.len() - 1] ^= 1,
            "becomes wrong" if run >= 20 => outputs[outputs.len() - 1] ^= 1,
            "panics" => panic!("an assertion of the library failed"),
            "exits" => process::exit(42),
            "aborts" => process::abort(),
            "hangs" => forever(),
            "is slow" => thread::sleep(Duration::from_millis(300)),
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
