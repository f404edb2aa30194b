//! The pipes to a worker, and the threads that serve them.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read, Write},
    mem,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use rsalab_measure::{
    interruption::{Interruption, LOOK, Watch},
    losses::Counts,
    process_group,
    system_files::SystemFiles,
};

use super::error::SessionError;
use crate::{protocol::Request, registry::Location};

/// Why no answer was received.
pub(super) enum ReceiveError {
    TimedOut,
    Stopped,
    Ended,
    /// It is longer than this many bytes.
    TooLong(u64),
}

/// A worker's end of its pipes, and the worker with it.
pub(super) struct Connection {
    pub(super) child: Option<Child>,
    /// Set once the child has been waited for: its number may be another's then.
    is_ended: bool,
    requests: Sender<Vec<u8>>,
    answers: Receiver<Result<Vec<u8>, ReceiveError>>,
    stderr: Arc<Mutex<Excerpt>>,
    stderr_ended: Receiver<()>,
    /// The longest line that is read.
    longest: Arc<AtomicU64>,
    /// Set by whoever wants the coordinator to stop.
    pub(super) stop: Option<Arc<AtomicBool>>,
    /// How long the last request took. All of it was watched: a pause of this program between two of its own steps is
    /// in neither or in both.
    pub(super) waited: Duration,
    /// An interruption that was seen to keep the worker from running in that time.
    pub(super) interruption: Option<Interruption>,
    /// The system's counts of the worker while it was waited for, of threads that may have ended since.
    pub(super) seen: Option<Counts>,
}

impl Connection {
    /// Starts the worker.
    pub(super) fn spawn(location: &Location) -> Result<Self, SessionError> {
        let mut command = Command::new(&location.program);
        command
            .args(&location.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C at the terminal is for the coordinator: it saves, and then ends its workers, each with all that it has
        // started.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| SessionError::Start {
            program: location.program.display().to_string(),
            reason: error.to_string(),
        })?;
        let stdin = child.stdin.take().expect("stdin was asked for as a pipe");
        let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
        let stderr = child.stderr.take().expect("stderr was asked for as a pipe");
        let program = location.program.display().to_string();
        Connection::new(Some(child), stdin, stdout, stderr).map_err(|error| SessionError::Start {
            program,
            reason: format!("a thread to talk with it was refused: {error}"),
        })
    }

    /// Over any pipes.
    ///
    /// # Errors
    /// The system refuses a thread. The child is killed, and the threads that were started end with its pipes.
    pub(super) fn new(
        child: Option<Child>,
        mut stdin: impl Write + Send + 'static,
        stdout: impl Read + Send + 'static,
        stderr: impl Read + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, to_write) = mpsc::channel::<Vec<u8>>();
        let (heard, answers) = mpsc::sync_channel(1);
        let longest = Arc::new(AtomicU64::new(SHORT_ANSWER_BYTES));
        let excerpt = Arc::new(Mutex::new(Excerpt::default()));
        let (ended, stderr_ended) = mpsc::sync_channel(1);
        let (longest_now, keep) = (Arc::clone(&longest), Arc::clone(&excerpt));
        // Dropped on an error, and the child with it.
        let line = Connection {
            child,
            is_ended: false,
            requests,
            answers,
            stderr: excerpt,
            stderr_ended,
            longest,
            stop: None,
            waited: Duration::ZERO,
            interruption: None,
            seen: None,
        };
        start("requests", move || {
            for line in to_write {
                // A worker that is gone is noticed by the reader.
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        })?;
        start("answers", move || {
            let mut stdout = BufReader::with_capacity(1 << 16, stdout);
            loop {
                let line = read_line(&mut stdout, &longest_now);
                let last = line.is_err();
                if heard.send(line).is_err() || last {
                    break;
                }
            }
        })?;
        start("standard error", move || {
            keep_excerpt(stderr, &keep);
            let _ = ended.send(());
        })?;
        Ok(line)
    }

    /// Sends a request and waits for a line of `longest` bytes at most: the answer, or why there is none. A wish to
    /// stop goes unnoticed for a [`LOOK`] at most, an answer not at all.
    pub(super) fn exchange(
        &mut self,
        request: &Request,
        longest: u64,
        limit: Duration,
    ) -> Result<Vec<u8>, ReceiveError> {
        self.longest.store(longest, Ordering::Relaxed);
        let mut line = serde_json::to_vec(request).expect("a request can always be written as JSON");
        line.push(b'\n');
        let mut watch = Watch::begin(self.child.as_ref().map(Child::id));
        let asked = Instant::now();
        self.seen = None;
        // A writer that has gone means a worker that has gone: the reader knows.
        let _ = self.requests.send(line);
        let heard = loop {
            // Time in which this program did not run is not the worker's.
            let limit = limit.saturating_add(watch.unwatched());
            let left = limit.saturating_sub(asked.elapsed());
            let heard = self.answers.recv_timeout(left.min(LOOK));
            watch.look();
            match heard {
                Ok(heard) => break heard,
                Err(RecvTimeoutError::Disconnected) => break Err(ReceiveError::Ended),
                Err(RecvTimeoutError::Timeout) if self.must_stop() => {
                    break Err(ReceiveError::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    break Err(ReceiveError::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) => self.look_at_threads(),
            }
        };
        self.waited = watch.watched();
        self.interruption = watch.end();
        heard
    }

    fn look_at_threads(&mut self) {
        let Some(child) = &self.child else { return };
        let counts = Counts::of(&SystemFiles::of_this_machine(), child.id());
        self.seen = match (counts, self.seen.take()) {
            (Some(mut now), Some(earlier)) => {
                now.seen(&earlier);
                Some(now)
            }
            (now, earlier) => now.or(earlier),
        };
    }

    fn must_stop(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// How the worker ended and what it said last.
    pub(super) fn post_mortem(&mut self) -> (String, String) {
        const PATIENCE: Duration = Duration::from_secs(1);
        let status = match &mut self.child {
            None => "its thread ended".to_owned(),
            Some(child) => match wait_for(child, PATIENCE) {
                Ok(Some(status)) => {
                    self.is_ended = true;
                    status.to_string()
                }
                Ok(None) => "it closed its output and did not end; killed".to_owned(),
                Err(error) => error.to_string(),
            },
        };
        self.kill();
        // A child of the worker may hold standard error open: wait for its end, not for ever.
        let _ = self.stderr_ended.recv_timeout(PATIENCE);
        let excerpt = self.stderr.lock().unwrap_or_else(|broken| broken.into_inner());
        (status, excerpt.text())
    }

    /// Ends the worker and what it has started: a script's program would work on, and take its CPUs from others.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &mut self.child
            && !mem::replace(&mut self.is_ended, true)
        {
            process_group::kill(child.id());
            // Fails only if it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a thread that serves one pipe, and ends by itself when the pipe does.
fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(body).map(drop)
}

fn wait_for(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait()? {
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            status => return Ok(status),
        }
    }
}

/// The most bytes of an answer that carries no data.
pub(super) const SHORT_ANSWER_BYTES: u64 = 1 << 20;

/// One line without its end.
fn read_line(stdout: &mut impl BufRead, longest: &AtomicU64) -> Result<Vec<u8>, ReceiveError> {
    // The limit is that of the request being answered: it is known when the answer begins, not when the wait does.
    loop {
        match stdout.fill_buf() {
            Ok([]) => return Err(ReceiveError::Ended),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(ReceiveError::Ended),
        }
    }
    let longest = longest.load(Ordering::Relaxed);
    let mut line = Vec::new();
    match stdout.take(longest).read_until(b'\n', &mut line) {
        Ok(_) if line.last() == Some(&b'\n') => {
            line.pop();
            Ok(line)
        }
        Ok(read) if read as u64 == longest => Err(ReceiveError::TooLong(longest)),
        // A line cut short by the worker's death is no answer.
        Ok(_) | Err(_) => Err(ReceiveError::Ended),
    }
}

/// The first and the last bytes of a stream: a panic's message comes first and a long backtrace may follow it, while a
/// worker that talked all along says why it ends at the end.
#[derive(Default)]
struct Excerpt {
    first: Vec<u8>,
    last: VecDeque<u8>,
    /// Bytes between the two that were not kept.
    left_out: usize,
}

impl Excerpt {
    /// Of the beginning and of the end.
    const BYTES: usize = 1024;

    fn push(&mut self, bytes: &[u8]) {
        let room = Self::BYTES - self.first.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.first.extend(first);
        self.last.extend(rest);
        let excess = self.last.len().saturating_sub(Self::BYTES);
        self.last.drain(..excess);
        self.left_out += excess;
    }

    fn text(&self) -> String {
        let mut bytes = self.first.clone();
        if self.left_out > 0 {
            bytes.extend(format!("\n[{} bytes left out]\n", self.left_out).bytes());
        }
        bytes.extend(&self.last);
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

fn keep_excerpt(mut stderr: impl Read, excerpt: &Mutex<Excerpt>) {
    let mut buffer = [0; 1024];
    loop {
        match stderr.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => excerpt
                .lock()
                .unwrap_or_else(|broken| broken.into_inner())
                .push(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_words_are_kept() {
        let mut excerpt = Excerpt::default();
        excerpt.push(b"a panic's message\n");
        assert_eq!(excerpt.text(), "a panic's message");
        for chunk in [1, 700, 5000] {
            excerpt.push(&vec![b'.'; chunk]);
        }
        excerpt.push(b"the end\n");
        let text = excerpt.text();
        assert!(text.starts_with("a panic's message\n...."), "{text}");
        assert!(text.ends_with("....the end"), "{text}");
        let all = 18 + 5701 + 8;
        assert!(text.contains(&format!("[{} bytes left out]", all - 2048)), "{text}");
    }
}
