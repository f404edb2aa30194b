//! Threads that share a payload: one reads, one writes, all encrypt, and the order stays.
//!
//! ```text
//! each thread, again and again: take the next group (one at a time) ── encrypt it ── wait for its turn ── write it
//! ```
//!
//! Each thread has one group of its own, so that memory does not depend on the length. The caller's thread works along:
//! where the system gives no other, it does everything.

use std::{
    io::{self, Read, Write},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::{
    Error, Result,
    payload::{Cipher, Group, Source},
};

/// Encrypts or decrypts a payload.
pub(crate) fn run<R: Read + Send, W: Write + Send>(
    cipher: &Cipher,
    reader: R,
    writer: W,
    threads: usize,
) -> Result<()> {
    let shared = Shared::new(cipher, reader, writer);
    thread::scope(|scope| {
        for _ in 1..threads {
            // Fewer threads do the same.
            if thread::Builder::new().spawn_scoped(scope, || shared.work()).is_err() {
                break;
            }
        }
        shared.work();
    });
    let mut sink = shared.sink.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(failure) = sink.failure {
        return Err(failure);
    }
    sink.writer.flush().map_err(Error::Write)
}

struct Shared<'a, R, W> {
    cipher: &'a Cipher,
    source: Mutex<Source<R>>,
    sink: Mutex<Sink<W>>,
    turn: Condvar,
    /// `true` if nothing more is read or written. Set under the lock of the sink, since others wait there.
    is_stopped: AtomicBool,
}

struct Sink<W> {
    writer: W,
    /// The group that is written next.
    next: u64,
    failure: Option<Error>,
}

impl<'a, R: Read, W: Write> Shared<'a, R, W> {
    fn new(cipher: &'a Cipher, reader: R, writer: W) -> Self {
        Shared {
            cipher,
            source: Mutex::new(cipher.source(reader)),
            sink: Mutex::new(Sink {
                writer,
                next: 0,
                failure: None,
            }),
            turn: Condvar::new(),
            is_stopped: AtomicBool::new(false),
        }
    }

    fn work(&self) {
        let mut ending = Ending {
            shared: self,
            is_orderly: false,
        };
        let mut group = Group::new();
        loop {
            let outcome = match self.fill(&mut group) {
                None => break,
                Some(Ok(())) => self.cipher.apply(&mut group),
                Some(Err(error)) => Err(Error::read(error)),
            };
            if !self.write(&group, outcome) {
                break;
            }
        }
        ending.is_orderly = true;
    }

    /// Reads the next group; none after the last chunk, or once a thread has failed: an error does not wait until each
    /// of the others has read a group more.
    fn fill(&self, group: &mut Group) -> Option<io::Result<()>> {
        let mut source = lock(&self.source);
        match self.is_stopped() {
            true => None,
            false => source.fill(group),
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Writes a group when all before it are written. Returns whether to go on.
    fn write(&self, group: &Group, outcome: Result<()>) -> bool {
        let sink = lock(&self.sink);
        let waited = self
            .turn
            .wait_while(sink, |sink| sink.next != group.index && !self.is_stopped());
        let mut sink = waited.unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped() {
            return false;
        }
        let mut written = Ok(());
        for chunk in group.chunks() {
            written = written.and_then(|()| sink.writer.write_all(chunk));
        }
        sink.next += 1;
        sink.failure = written.map_err(Error::Write).and(outcome).err();
        let has_failed = sink.failure.is_some();
        self.is_stopped.store(has_failed, Ordering::Relaxed);
        self.turn.notify_all();
        !has_failed
    }
}

/// Has the others stop waiting for a thread that panicked.
struct Ending<'a, 'b, R: Read, W: Write> {
    shared: &'a Shared<'b, R, W>,
    is_orderly: bool,
}

impl<R: Read, W: Write> Drop for Ending<'_, '_, R, W> {
    fn drop(&mut self) {
        if !self.is_orderly {
            let _sink = lock(&self.shared.sink);
            self.shared.is_stopped.store(true, Ordering::Relaxed);
            self.shared.turn.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::payload::Direction;

    #[test]
    fn nothing_is_read_after_a_failure() {
        struct Unread;
        impl Read for Unread {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("it was read")
            }
        }
        let cipher = Cipher::new(&Zeroizing::new([7; 32]), Direction::Encrypt);
        let shared = Shared::new(&cipher, Unread, io::sink());
        // As another thread leaves it that could not write.
        shared.is_stopped.store(true, Ordering::Relaxed);
        shared.work();
    }
}
