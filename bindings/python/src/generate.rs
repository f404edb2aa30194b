//! Keys, generated: on threads of their own, while the interpreter runs on.

use std::{
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use pyo3::{prelude::*, types::PyTuple};
use rsalab_rsa::{
    Error, PrivateKey as Key, Result,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent},
    random::{InsecureStudySeed, WorkerRng},
};

use crate::{
    arguments::{Count, Sizes, Threads},
    buffers::Bytes,
    errors::{ArgumentError, ForkedError, InternalError, raised},
    private::PrivateKey,
    ready::Ready,
};

const BITS: Count = Count(2048);
const EXPONENT: Count = Count(DEFAULT_EXPONENT as usize);
const PRIMES: Count = Count(2);
/// Keys that a thread makes and checks together.
const TOGETHER: usize = 8;
/// How long a call waits before it looks whether somebody has pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(100);

fn generation(bits: Count, e: Count, primes: Count) -> PyResult<Generation> {
    if e.0 < 3 || e.0.is_multiple_of(2) {
        return Err(ArgumentError::new_err("the public exponent must be odd and at least 3"));
    }
    let generation = Generation::new(bits.0, PublicExponent::Fixed(e.0 as u64)).map_err(size)?;
    match primes {
        Count(2) => Ok(generation),
        Count(primes) => generation.with_primes(primes).map_err(raised),
    }
}

/// A size that no key has is a mistake of the caller's, and no fault of a key.
fn size(error: Error) -> PyErr {
    match error {
        Error::KeySize { .. } => ArgumentError::new_err(error.to_string()),
        other => raised(other),
    }
}

/// The state that the threads of one generator share.
struct Work {
    parts: Vec<Part>,
    threads: usize,
    is_over: AtomicBool,
}

/// The keys of one size.
struct Part {
    generation: Generation,
    /// Keys that no thread has begun.
    left: AtomicUsize,
}

impl Part {
    /// Takes the next few keys on.
    fn claim(&self, threads: usize) -> usize {
        let mut left = self.left.load(Ordering::Relaxed);
        loop {
            // Fewer towards the end, so that all threads end together.
            let few = left.div_ceil(2 * threads).min(TOGETHER);
            match self
                .left
                .compare_exchange_weak(left, left - few, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return few,
                Err(now) => left = now,
            }
        }
    }
}

impl Work {
    /// The work of one thread: sends keys until none is left or nobody receives them.
    fn make(&self, sender: &SyncSender<Result<Key>>) {
        match self.make_all(sender) {
            Ok(()) | Err(Error::Stopped) => {}
            // Whoever has stopped receiving has no use for it.
            Err(error) => drop(sender.send(Err(error))),
        }
    }

    fn make_all(&self, sender: &SyncSender<Result<Key>>) -> Result<()> {
        for part in &self.parts {
            let rng = WorkerRng::from_system()?;
            let mut generator = part.generation.generator(rng)?.stopped_by(&self.is_over);
            if part.left.load(Ordering::Relaxed) > 8 * TOGETHER * self.threads {
                generator = generator.looking_ahead();
            }
            loop {
                let few = part.claim(self.threads);
                if few == 0 {
                    break;
                }
                for made in generator.keys(few)? {
                    if sender.send(Ok(made.key)).is_err() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Keys that are under way.
struct Running {
    work: Arc<Work>,
    keys: Receiver<Result<Key>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.work.is_over.store(true, Ordering::Relaxed);
    }
}

/// An iterator of new private keys, made by rsalab.generate_many. Threads make them while the program does something
/// else, a few ahead of it. They end when all keys are made, when it is closed, and when nobody refers to it any more;
/// a with statement closes it.
///
/// Threads may share it: each key comes once. A child of a fork cannot go on with it (ForkedError).
#[pyclass(frozen, module = "rsalab", weakref)]
pub(crate) struct KeyGenerator {
    running: Mutex<Option<Running>>,
    process: u32,
    /// Keys that are still to come.
    to_come: AtomicUsize,
    sizes: Vec<usize>,
}

impl KeyGenerator {
    /// Starts the threads, for `count` keys of each size.
    fn start(generations: Vec<(usize, Generation)>, count: usize, threads: usize) -> PyResult<Self> {
        let all = count.checked_mul(generations.len());
        let all = all.ok_or_else(|| ArgumentError::new_err("the number of keys is out of range"))?;
        let threads = threads.min(all).max(1);
        let sizes = generations.iter().map(|(bits, _)| *bits).collect();
        let parts = generations.into_iter().map(|(_, generation)| Part {
            generation,
            left: AtomicUsize::new(count),
        });
        let work = Arc::new(Work {
            parts: parts.collect(),
            threads,
            is_over: AtomicBool::new(false),
        });
        let (sender, keys) = sync_channel(2 * threads * TOGETHER);
        let running = Running { work, keys };
        for thread in 0..threads {
            let (work, sender) = (Arc::clone(&running.work), sender.clone());
            let started = thread::Builder::new()
                .name("rsalab-keys".to_owned())
                .spawn(move || work.make(&sender));
            // Those that there are do it all.
            match started {
                Err(_) if thread == 0 => return Err(InternalError::new_err("no thread could be started")),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(KeyGenerator {
            running: Mutex::new(Some(running)),
            process: process::id(),
            to_come: AtomicUsize::new(all),
            sizes,
        })
    }

    /// The next key, if it comes in time.
    fn receive(&self) -> Received {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = &*running else {
            return Received::Closed;
        };
        match running.keys.recv_timeout(PATIENCE) {
            Ok(key) => {
                self.to_come.fetch_sub(1, Ordering::Relaxed);
                Received::Key(Box::new(key))
            }
            Err(RecvTimeoutError::Timeout) => Received::NotYet,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        }
    }

    fn next(&self, py: Python<'_>) -> PyResult<Option<Key>> {
        if self.process != process::id() {
            return Err(ForkedError::new_err(
                "this generator belongs to the process that made it; make one in this process",
            ));
        }
        loop {
            // Each time: a loop in C, such as list's, looks for no signal while keys come fast.
            py.check_signals()?;
            match py.detach(|| self.receive()) {
                Received::Key(key) => {
                    return key.map(Some).map_err(|error| {
                        self.end();
                        raised(error)
                    });
                }
                Received::NotYet => {}
                Received::Closed => return Ok(None),
                Received::End if self.to_come.load(Ordering::Relaxed) == 0 => return Ok(None),
                Received::End => {
                    self.end();
                    return Err(InternalError::new_err("a thread that made keys ended"));
                }
            }
        }
    }

    fn end(&self) {
        // In a child of a fork nobody may hold the lock, who is not there.
        if self.process == process::id() {
            drop(self.running.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

impl Drop for KeyGenerator {
    fn drop(&mut self) {
        // In a child of a fork, threads that are not there may hold locks of the channel.
        if self.process != process::id() {
            let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(running.take());
        }
    }
}

enum Received {
    Key(Box<Result<Key>>),
    NotYet,
    /// All threads have ended.
    End,
    Closed,
}

#[pymethods]
impl KeyGenerator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PrivateKey>> {
        let key = self.next(py)?;
        Ok(key.map(|key| PrivateKey::new(Ready::of(key))))
    }

    /// How many keys are still to come.
    fn __length_hint__(&self) -> usize {
        self.to_come.load(Ordering::Relaxed)
    }

    /// Stops the threads, and ends the iteration.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.end());
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        format!("<rsalab.KeyGenerator of {} bits>", sizes.join(", "))
    }
}

/// A new private key of bits bits, an even number from 256 to 16384 (below 2048 for study only), with the public
/// exponent e. By FIPS 186-5, appendix A.1.3, from the system's randomness; checked by one operation there and back.
///
/// primes: two, or more for faster private operations.
///
/// Raises ArgumentError, RandomnessError.
#[pyfunction]
#[pyo3(
    signature = (bits=BITS, e=EXPONENT, *, primes=PRIMES),
    text_signature = "(bits=2048, e=65537, *, primes=2)"
)]
pub(crate) fn generate(py: Python<'_>, bits: Count, e: Count, primes: Count) -> PyResult<PrivateKey> {
    let generator = KeyGenerator::start(vec![(bits.0, generation(bits, e, primes)?)], 1, 1)?;
    match generator.next(py)? {
        Some(key) => Ok(PrivateKey::new(Ready::of(key))),
        None => Err(InternalError::new_err("a generator of one key made none")),
    }
}

/// count new private keys, as an iterator (KeyGenerator) that makes them on threads of their own while the program does
/// something else. Searches are interleaved, so that many keys take less time each than one.
///
/// bits: as for generate; or several sizes, for count keys of each, those of the first size first.
/// e, primes: as for generate. threads: how many search; None for as many as this process may use CPUs.
#[pyfunction]
#[pyo3(
    signature = (count, bits=Sizes::one(BITS), e=EXPONENT, *, primes=PRIMES, threads=Threads::default()),
    text_signature = "(count, bits=2048, e=65537, *, primes=2, threads=None)"
)]
pub(crate) fn generate_many(
    count: Count,
    bits: Sizes,
    e: Count,
    primes: Count,
    threads: Threads,
) -> PyResult<KeyGenerator> {
    let generations = bits
        .0
        .into_iter()
        .map(|bits| Ok((bits.0, generation(bits, e, primes)?)));
    KeyGenerator::start(generations.collect::<PyResult<_>>()?, count.0, threads.0)
}

/// The key of a seed of 32 bytes, and of a number: the same on each machine. Insecure on purpose: whoever has the seed
/// has the key. For tests.
#[pyfunction]
pub(crate) fn insecure_key(
    py: Python<'_>,
    seed: &Bound<'_, PyAny>,
    number: Count,
    bits: Count,
) -> PyResult<PrivateKey> {
    let seed = Bytes::of(seed, "the seed")?;
    let seed: [u8; 32] = seed
        .as_ref()
        .try_into()
        .map_err(|_| ArgumentError::new_err("a seed has 32 bytes"))?;
    let generation = generation(bits, EXPONENT, PRIMES)?;
    let made: Result<Key> = py.detach(|| {
        let stream = InsecureStudySeed::new(seed).stream(number.0 as u64);
        Ok(generation.generator(stream)?.keys(1)?.remove(0).key)
    });
    Ok(PrivateKey::new(Ready::insecure(made.map_err(raised)?)))
}
