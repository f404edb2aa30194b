//! Waiting with an end: for a system call that is interrupted again and again, and for random numbers that do not come.
//!
//! The standard library repeats a call for as long as a signal interrupts it, and so does what asks for random numbers.
//! Where a driver, a file system in user space or a sandbox answers so for ever, a program would hang without a word.

use std::{
    io::{self, Read, Write},
    sync::mpsc::{RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use rand_core::TryRng;
use rsalab_rsa::random::SystemRng;

use crate::exit::{Class, Failure, Result};

/// A reader or a writer that fails after it was interrupted so often in a row.
pub(crate) struct Patient<T> {
    inner: T,
    interruptions: u32,
}

/// No signal comes so often while one call is repeated.
const MOST_INTERRUPTIONS: u32 = 10_000;

impl<T> Patient<T> {
    pub(crate) fn new(inner: T) -> Self {
        Patient {
            inner,
            interruptions: 0,
        }
    }

    fn judge<N>(&mut self, result: io::Result<N>) -> io::Result<N> {
        match &result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.interruptions += 1;
                match self.interruptions < MOST_INTERRUPTIONS {
                    true => result,
                    false => Err(io::Error::other(format!(
                        "the system interrupted it {MOST_INTERRUPTIONS} times in a row"
                    ))),
                }
            }
            _ => {
                self.interruptions = 0;
                result
            }
        }
    }
}

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes);
        self.judge(read)
    }
}

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.judge(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.judge(flushed)
    }
}

/// The longest wait for the first random number: a system that has just started gathers for some seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Fails if the system gives no answer when it is asked for random numbers. What it answers is judged where the numbers
/// are used.
pub(crate) fn check_randomness() -> Result<()> {
    let (sender, receiver) = sync_channel(1);
    let asked = thread::Builder::new().spawn(move || {
        let _ = SystemRng.try_next_u32();
        let _ = sender.send(());
    });
    // Without another thread nobody could watch: then the wait has no end.
    let silent = asked.is_ok() && receiver.recv_timeout(LONGEST_WAIT) == Err(RecvTimeoutError::Timeout);
    match silent {
        false => Ok(()),
        true => {
            let seconds = LONGEST_WAIT.as_secs();
            let what = format!("the operating system's random generator gave nothing for {seconds} s");
            Err(Failure::new(Class::Unavailable, what).advice("try again when the machine has been up for a while"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interrupted so often before each call that succeeds.
    struct Interrupted(u32, u32);

    impl Interrupted {
        fn next(&mut self) -> io::Result<usize> {
            if self.1 < self.0 {
                self.1 += 1;
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.1 = 0;
            Ok(1)
        }
    }

    impl Read for Interrupted {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.next()
        }
    }

    impl Write for Interrupted {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.next()
        }

        fn flush(&mut self) -> io::Result<()> {
            self.next().map(drop)
        }
    }

    #[test]
    fn some_signals_are_outlived_and_endless_ones_are_said() {
        for (interruptions, is_outlived) in [(0, true), (100, true), (MOST_INTERRUPTIONS, false)] {
            let patient = || Patient::new(Interrupted(interruptions, 0));
            assert_eq!(patient().read_exact(&mut [0; 5]).is_ok(), is_outlived);
            assert_eq!(patient().write_all(&[0; 5]).is_ok(), is_outlived);
        }
        let mut endless = Patient::new(Interrupted(u32::MAX, 0));
        let error = endless.read_to_end(&mut Vec::new()).expect_err("it has no end");
        assert!(error.to_string().contains("in a row"), "{error}");
    }
}
