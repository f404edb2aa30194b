//! Private keys, many at once: read, and their primes tested.

use std::{
    ffi::c_char,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

use rsalab_reserve::on_threads;
use rsalab_rsa::{
    PrivateKey,
    format::{Loaded, Reading, load_many},
    primality::{ROUNDS, ROUNDS_BEFORE_USE},
};

use crate::{
    key::{KeysOut, PrivateKeyHandle, limits, password_of, private_handle},
    memory,
    outcomes::Outcomes,
    pointer::{Bytes, Out, items},
    status::{Failure, Status, guard_with, more_memory},
    threads::as_many_as,
};

/// Rounds of the Miller-Rabin test for a key that is about to be used, for rsalab_private_keys_read: of the composites
/// that somebody chose well one in 65536 passes, and its results fail their check.
pub const RSALAB_ROUNDS_BEFORE_USE: usize = 8;
/// Rounds of the Miller-Rabin test that are beyond doubt: a composite passes with a probability below 2^-128, whoever
/// chose it.
pub const RSALAB_ROUNDS: usize = 64;

/// The header has numbers, which are those of the crate below.
const _: () = assert!(RSALAB_ROUNDS_BEFORE_USE == ROUNDS_BEFORE_USE && RSALAB_ROUNDS == ROUNDS);

/// More than anybody needs: a larger number is a mistake that would take for ever.
const MOST_ROUNDS: usize = 1024;

/// Files that a thread takes at a time: as many as `load_many` reads before it tests their primes.
const AT_ONCE: usize = 16;

/// Reads many private keys and tests their primes, those of all keys together in the lanes of the CPU.
///
/// files: `count` of them, each as rsalab_private_key_read takes it. password: for those that are encrypted, else NULL;
/// it is not kept. most_bits: as there. rounds: of the Miller-Rabin test with random bases that each prime stands:
/// RSALAB_ROUNDS_BEFORE_USE, RSALAB_ROUNDS, or another number up to 1024; 0 tests none. threads: how many work, the
/// caller among them; 0 for as many as there are CPUs. keys: gets `count` keys, to be freed one by one with
/// rsalab_private_key_free; NULL for a file that failed. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if all are read, ITEMS if not; else nothing is written: ARGUMENT, MEMORY, NULL, INTERNAL. Of an item:
/// KEY, also for a prime that is none; UNSUPPORTED, PASSWORD_MISSING, PASSWORD_WRONG, RANDOMNESS. For the words about
/// another item than the first that failed, read it alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_keys_read(
    files: *const Bytes,
    count: usize,
    password: *const c_char,
    password_len: usize,
    most_bits: usize,
    rounds: usize,
    threads: usize,
    keys: *mut *mut PrivateKeyHandle,
    statuses: *mut Status,
) -> Status {
    guard_with(memory::list(count), || {
        // SAFETY: callers promise it in the header.
        let (files, password, out, statuses) = unsafe {
            let out: KeysOut = Out::new(keys, count, "keys")?;
            (
                items(files, count, "files")?,
                password_of(password.cast(), password_len)?,
                out,
                Out::optional(statuses, count),
            )
        };
        if rounds > MOST_ROUNDS {
            let text = format!("{rounds} rounds are asked for, and there are {MOST_ROUNDS} at most");
            return Err(Failure::new(Status::Argument, text));
        }
        let reading = Reading {
            password,
            limits: limits(most_bits)?,
            name: None,
        };
        // This thread may have to read them all.
        let _memory = more_memory(memory::files(files.iter().map(|file| file.len()), password.is_some()))?;
        let mut outcomes = Outcomes::new(count);
        let verdicts = load(&files, &reading, rounds, threads)?.into_iter().enumerate();
        let handle = |(item, verdict): (usize, rsalab_rsa::Result<Loaded<PrivateKey>>)| match verdict {
            Ok(loaded) => private_handle(loaded),
            Err(error) => {
                outcomes.fail(item, error.into());
                ptr::null_mut()
            }
        };
        let handles: Vec<_> = verdicts.map(handle).collect();
        out.put(&handles);
        outcomes.finish(statuses)
    })
}

/// The verdicts on files, in their order. Threads take the next few whenever they have done some.
fn load(
    files: &[&[u8]],
    reading: &Reading<'_>,
    rounds: usize,
    threads: usize,
) -> Result<Vec<rsalab_rsa::Result<Loaded<PrivateKey>>>, Failure> {
    let longest = files.iter().map(|file| file.len()).max().unwrap_or(0);
    let part_memory = memory::files(std::iter::repeat_n(longest, AT_ONCE), reading.password.is_some());
    let parts: Vec<_> = files.chunks(AT_ONCE).collect();
    let next = AtomicUsize::new(0);
    let work = |thread: usize| {
        let mut done = Vec::new();
        loop {
            // The caller has its memory. Another thread that gets none leaves the work to the others.
            let memory = match thread {
                0 => None,
                _ => match more_memory(part_memory) {
                    Ok(memory) => Some(memory),
                    Err(_) => return done,
                },
            };
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = parts.get(part) else {
                return done;
            };
            done.push((part, load_many(files, reading, rounds, 1)));
            drop(memory);
        }
    };
    let mut done = Vec::with_capacity(parts.len());
    for of_thread in on_threads(as_many_as(threads, parts.len()), work) {
        done.extend(of_thread.ok_or_else(|| Failure::new(Status::Internal, "a thread that read keys panicked"))?);
    }
    done.sort_by_key(|&(part, _)| part);
    Ok(done.into_iter().flat_map(|(_, verdicts)| verdicts).collect())
}
