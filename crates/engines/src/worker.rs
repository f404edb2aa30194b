//! The worker loop: an engine at one end of a pipe, answering requests until the pipe is closed.
//!
//! ```text
//! for each line
//!     hello, supports        answer
//!     prepare                make the job ready, start its threads, and until it is released:
//!         outputs                one run over all inputs; also what later runs are compared with
//!         block                  samples, taken by the one timing loop of `measure`
//!     quit, end of input     end
//! ```
//!
//! The loop is the same for every engine, in process or in a binary of its own.

mod delayed;

use std::{
    io::{self, BufRead, BufReader, IsTerminal, Read, Write},
    panic,
    process::{self, ExitCode},
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::{
    engine::Engine,
    harness,
    job::{Job, StudyKey},
    protocol::{Answer, Fault, FaultKind, MAX_LINE_BYTES, Request, VERSION},
};

pub use delayed::{Delay, Delayed};

/// The `main` of a worker binary.
///
/// Serves the engine over standard input and output. A worker whose coordinator has died ends as well, even in the
/// middle of a long operation. Run by hand, it says what it is for; `--version` and `--help` are understood.
pub fn main(engine: &dyn Engine) -> ExitCode {
    let info = engine.info();
    match std::env::args_os().nth(1) {
        None => {}
        Some(argument) if argument == "--version" => {
            println!("{} {} ({})", info.name, info.version, info.origin);
            return ExitCode::SUCCESS;
        }
        Some(argument) => {
            let help = argument == "--help" || argument == "-h";
            if !help {
                eprintln!("there is no option '{}'", argument.display());
            }
            eprintln!(
                "This is the worker of rsalab's engine '{}'. rsalab starts it and talks to it over its standard input\n\
                 and output, one JSON object a line; see docs/src/reference/worker-protocol.md. Try: rsalab engines",
                info.name
            );
            return if help { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
    }
    serve_stdio(engine)
}

/// Serves the engine over standard input and output of this process. What `rsalab worker` calls.
pub fn serve_stdio(engine: &dyn Engine) -> ExitCode {
    if io::stdin().is_terminal() {
        eprintln!(
            "Waiting for requests, one JSON object a line. Try: {{\"request\":\"hello\",\"protocol\":{VERSION}}}   \
             Ctrl-D ends."
        );
    }
    // A measurement with a thread less than it says is worse than none: any panic ends the worker.
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::exit(101);
    }));
    let stdin = match watched_stdin() {
        Ok(stdin) => stdin,
        Err(error) => return no_thread(&error),
    };
    match serve(engine, &mut BufReader::new(stdin), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the conversation broke off: {error}");
            ExitCode::from(5)
        }
    }
}

/// The `main` of a worker whose engine's library is missing: the first request is answered with the reason.
pub fn main_without_engine(reason: &str) -> ExitCode {
    if io::stdin().is_terminal() {
        eprintln!("{reason}");
        return ExitCode::from(6);
    }
    let stdin = match watched_stdin() {
        Ok(stdin) => stdin,
        Err(error) => return no_thread(&error),
    };
    match refuse(reason, &mut BufReader::new(stdin), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::from(6),
        Err(error) => {
            eprintln!("the conversation broke off: {error}");
            ExitCode::from(5)
        }
    }
}

/// The end of a worker that the system refuses a thread.
fn no_thread(error: &io::Error) -> ExitCode {
    eprintln!("a thread could not be started: {error}");
    ExitCode::from(6)
}

fn refuse(reason: &str, requests: &mut dyn BufRead, answers: &mut dyn Write) -> io::Result<()> {
    let mut streams = Streams { requests, answers };
    match streams.receive()? {
        Some(_) => streams.send(&Answer::Error(Fault::new(FaultKind::Unsupported, reason))),
        None => Ok(()),
    }
}

/// Serves the engine until `quit` or the end of `requests`.
///
/// # Errors
/// Only those of the two streams; everything else is answered.
pub fn serve(engine: &dyn Engine, requests: &mut dyn BufRead, answers: &mut dyn Write) -> io::Result<()> {
    let mut streams = Streams { requests, answers };
    let mut next = streams.receive()?;
    while let Some(request) = next {
        next = match request {
            Request::Prepare { job, keys, inputs } => serve_job(engine, &job, &keys, &inputs, &mut streams)?,
            Request::Quit => {
                streams.send(&Answer::Bye)?;
                None
            }
            other => {
                streams.send(&without_job(engine, &other))?;
                streams.receive()?
            }
        };
    }
    Ok(())
}

/// Serves one job until it is released. Returns the next request, not yet answered.
fn serve_job(
    engine: &dyn Engine,
    job: &Job,
    keys: &[StudyKey],
    inputs: &[u8],
    streams: &mut Streams<'_>,
) -> io::Result<Option<Request>> {
    let served = harness::with_driver(engine, job, keys, inputs, |driver| {
        streams.send(&Answer::Prepared(driver.readiness()))?;
        while let Some(request) = streams.receive()? {
            let answer = match &request {
                Request::Outputs => driver.outputs().map(|outputs| Answer::Outputs { outputs }),
                Request::Block { plan } => driver.block(plan).map(Answer::Block),
                Request::Hello { .. } | Request::Supports { .. } => Ok(without_job(engine, &request)),
                // Answered when this job's threads have ended.
                Request::Prepare { .. } | Request::Release | Request::Quit => {
                    return Ok(Some(request));
                }
            };
            streams.send(&answer.unwrap_or_else(Answer::Error))?;
        }
        Ok(None)
    });
    match served {
        Ok(next) => next,
        Err(fault) => {
            streams.send(&Answer::Error(fault))?;
            streams.receive()
        }
    }
}

/// The answer to a request that needs no prepared job, or finds none.
fn without_job(engine: &dyn Engine, request: &Request) -> Answer {
    match request {
        Request::Hello { .. } => Answer::Hello {
            protocol: VERSION,
            pid: process::id(),
            engine: engine.info(),
        },
        Request::Supports { job } => match harness::supports(engine, job) {
            Ok(ledger) => Answer::Supported { ledger },
            Err(reason) => Answer::Unsupported { reason },
        },
        Request::Release => Answer::Released,
        other => Answer::Error(Fault::new(
            FaultKind::Sequence,
            format!("'{}' needs a prepared job", other.name()),
        )),
    }
}

/// The two streams, a line at a time.
struct Streams<'a> {
    requests: &'a mut dyn BufRead,
    answers: &'a mut dyn Write,
}

impl Streams<'_> {
    /// The next request; a line that is none is answered and passed over. `None` at the end.
    fn receive(&mut self) -> io::Result<Option<Request>> {
        loop {
            let mut line = Vec::new();
            let read = self.requests.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("a line is longer than {MAX_LINE_BYTES} bytes"),
                ));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(&line) {
                Ok(request) => return Ok(Some(request)),
                // Where, but not what: the line may hold a key.
                Err(error) => self.send(&Answer::Error(Fault::new(
                    FaultKind::Malformed,
                    format!(
                        "the line is no request of protocol {VERSION} (column {})",
                        error.column()
                    ),
                )))?,
            }
        }
    }

    fn send(&mut self, answer: &Answer) -> io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        self.answers.write_all(&line)?;
        self.answers.flush()
    }
}

/// Standard input, read by a thread that ends the process soon after the input has ended.
///
/// The coordinator's death closes the pipe. The loop would notice when it next reads, but an operation can take
/// minutes: the thread notices at once. The delay lets requests be answered that were written by hand or from a file.
///
/// # Errors
/// The system refuses the thread. Without it a worker could outlive its coordinator.
fn watched_stdin() -> io::Result<impl Read> {
    const GRACE: Duration = Duration::from_secs(2);
    let (send, receive) = mpsc::channel::<Vec<u8>>();
    let watch = move || {
        let mut stdin = io::stdin().lock();
        loop {
            match stdin.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => {
                    let length = bytes.len();
                    if send.send(bytes.to_vec()).is_err() {
                        return;
                    }
                    stdin.consume(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(send);
        thread::sleep(GRACE);
        eprintln!("the input has ended; the request in progress was given up");
        process::exit(5);
    };
    thread::Builder::new().name("input".to_owned()).spawn(watch)?;
    Ok(Chunks {
        receive,
        chunk: io::Cursor::default(),
    })
}

/// A stream made of chunks from a channel.
struct Chunks {
    receive: mpsc::Receiver<Vec<u8>>,
    chunk: io::Cursor<Vec<u8>>,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.chunk.read(buffer)? {
                0 if !buffer.is_empty() => match self.receive.recv() {
                    Ok(chunk) => self.chunk = io::Cursor::new(chunk),
                    Err(mpsc::RecvError) => return Ok(0),
                },
                read => return Ok(read),
            }
        }
    }
}
