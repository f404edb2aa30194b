//! Threads that share a payload: one reads, one writes, all encrypt, and the order stays.
//!
//! ```text
//! each thread, again and again: take the next group (one at a time) ── encrypt it ── wait for its turn ── write it
//! ```
//!
//! Each thread has one group of its own, so that memory does not depend on the length. The caller's thread works along:
//! where the system gives no other, it does everything.

use std::{
    io::{Read, Write},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
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
    let shared = Shared {
        cipher,
        source: Mutex::new(cipher.source(reader)),
        sink: Mutex::new(Sink {
            writer,
            next: 0,
            failure: None,
            is_stopped: false,
        }),
        turn: Condvar::new(),
    };
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
}

struct Sink<W> {
    writer: W,
    /// The group that is written next.
    next: u64,
    failure: Option<Error>,
    /// `true` if nothing more is written.
    is_stopped: bool,
}

impl<R: Read, W: Write> Shared<'_, R, W> {
    fn work(&self) {
        let mut ending = Ending {
            shared: self,
            is_orderly: false,
        };
        let mut group = Group::new();
        loop {
            let filled = lock(&self.source).fill(&mut group);
            let outcome = match filled {
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

    /// Writes a group when all before it are written. Returns whether to go on.
    fn write(&self, group: &Group, outcome: Result<()>) -> bool {
        let sink = lock(&self.sink);
        let waited = self
            .turn
            .wait_while(sink, |sink| sink.next != group.index && !sink.is_stopped);
        let mut sink = waited.unwrap_or_else(PoisonError::into_inner);
        if sink.is_stopped {
            return false;
        }
        let mut written = Ok(());
        for chunk in group.chunks() {
            written = written.and_then(|()| sink.writer.write_all(chunk));
        }
        sink.next += 1;
        sink.failure = written.map_err(Error::Write).and(outcome).err();
        sink.is_stopped = sink.failure.is_some();
        self.turn.notify_all();
        !sink.is_stopped
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
            lock(&self.shared.sink).is_stopped = true;
            self.shared.turn.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
