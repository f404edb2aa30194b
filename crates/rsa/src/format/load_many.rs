//! Reading many private keys, whose primes are tested together.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::{input::Reading, load::load_private_with, loaded::Loaded};
use crate::{Error, PrivateKey, Result, random::WorkerRng};

/// Keys that a thread reads before it tests their primes: two primes each fill the lanes of any kernel.
const TOGETHER: usize = 16;

/// Reads a private key out of each file, as [`load_private_with`] does, and tests its primes with so many rounds, as
/// [`PrivateKey::check_many`] does; none are tested with 0 rounds. The verdicts are in the order of the files: the key,
/// or why it is refused. A file that cannot be read does not stand in the way of the others.
///
/// `threads` threads share the work, the caller among them; fewer, if there is no work for as many or the system gives
/// none.
///
/// ```
/// use rsalab_rsa::{PrivateKey, format::{self, Encoding, PrivateFormat, Reading}, primality::ROUNDS};
///
/// let key = PrivateKey::generate(2048)?;
/// let pem = format::encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
/// let loaded = format::load_many(&[&pem[..], b"no key"], &Reading::default(), ROUNDS, 2);
/// assert!(loaded[0].is_ok() && loaded[1].is_err());
/// # Ok::<(), rsalab_rsa::Error>(())
/// ```
///
/// # Panics
///
/// If a thread does.
pub fn load_many<B: AsRef<[u8]> + Sync>(
    files: &[B],
    reading: &Reading<'_>,
    rounds: usize,
    threads: usize,
) -> Vec<Result<Loaded<PrivateKey>>> {
    let parts = files.len().div_ceil(TOGETHER);
    if threads.min(parts) <= 1 {
        let parts = files.chunks(TOGETHER);
        return parts.flat_map(|files| load_part(files, reading, rounds)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = files.chunks(TOGETHER).nth(part) else {
                return done;
            };
            done.push((part, load_part(files, reading, rounds)));
        }
    };
    let mut done = thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.min(parts)).map_while(start).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|&(part, _)| part);
    done.into_iter().flat_map(|(_, keys)| keys).collect()
}

/// The verdicts on a few files.
fn load_part<B: AsRef<[u8]>>(files: &[B], reading: &Reading<'_>, rounds: usize) -> Vec<Result<Loaded<PrivateKey>>> {
    let files = files.iter();
    let mut keys: Vec<Result<Loaded<PrivateKey>>> =
        files.map(|file| load_private_with(file.as_ref(), reading)).collect();
    if rounds == 0 {
        return keys;
    }
    let read: Vec<&PrivateKey> = keys.iter().flatten().map(|loaded| &loaded.key).collect();
    let verdicts = WorkerRng::from_system().and_then(|mut rng| PrivateKey::check_many(&read, rounds, &mut rng));
    let mut verdicts = match verdicts {
        Ok(verdicts) => verdicts,
        // Nothing is known of any of them.
        Err(error) => read.iter().map(|_| Err(again(&error))).collect(),
    }
    .into_iter();
    for key in keys.iter_mut().filter(|key| key.is_ok()) {
        if let Some(Err(fault)) = verdicts.next() {
            *key = Err(fault);
        }
    }
    keys
}

/// The error of a check as a whole, for one more key.
fn again(error: &Error) -> Error {
    match error {
        Error::Randomness { reason } => Error::Randomness { reason: reason.clone() },
        other => Error::Backend {
            backend: "cpu",
            reason: other.to_string(),
        },
    }
}
