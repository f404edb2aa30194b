//! Threads that make keys: each takes the next numbers without a key, makes their keys, and sends them, ready to be
//! written.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::SyncSender,
    },
    vec,
};

use rsalab_engines::Exponent;
use rsalab_rsa::{
    Backend, Error, PrivateKey, format,
    generate::{Generated, Generation, PublicExponent, generate_strict_on},
    random::{InsecureStudySeed, SystemRng, WorkerRng},
};
use rsalab_study::plan::Seed;

use super::manifest::{Entry, Item};
use crate::{
    arguments::Keygen,
    commands::key_writer::KeyWriter,
    exit::{Class, Failure, Result},
};

/// Keys that a thread makes before it sends them.
const CHUNK: usize = 8;

/// State that the threads share.
pub(super) struct Maker<'a> {
    method: Method,
    writer: &'a KeyWriter,
    with_public: bool,
    missing: Mutex<vec::IntoIter<u64>>,
    is_over: AtomicBool,
    /// The work of all threads so far.
    pub(super) candidates: AtomicU64,
    pub(super) tests: AtomicU64,
}

/// How keys are made.
pub(super) enum Method {
    Bulk(Generation),
    Seeded(Generation, InsecureStudySeed),
    Strict(Box<dyn Backend>, usize, u64),
}

impl<'a> Maker<'a> {
    /// For keys of the numbers that are missing.
    pub(super) fn new(method: Method, arguments: &Keygen, writer: &'a KeyWriter, missing: Vec<u64>) -> Self {
        Maker {
            method,
            writer,
            with_public: arguments.public || arguments.public_out.is_some(),
            missing: Mutex::new(missing.into_iter()),
            is_over: AtomicBool::new(false),
            candidates: AtomicU64::new(0),
            tests: AtomicU64::new(0),
        }
    }

    /// Keys that no thread has begun.
    pub(super) fn left(&self) -> usize {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.len()
    }

    /// Ends all threads soon.
    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// The work of one of `threads` threads: makes keys and sends them until no number is left, or nobody receives
    /// them.
    pub(super) fn make(&self, threads: usize, sender: &SyncSender<Result<Vec<Item>>>) {
        if let Err(failure) = self.make_all(threads, sender) {
            // Whoever has stopped receiving has a failure already.
            let _ = sender.send(Err(failure));
        }
    }

    fn make_all(&self, threads: usize, sender: &SyncSender<Result<Vec<Item>>>) -> Result<()> {
        let mut bulk = match &self.method {
            Method::Bulk(generation) => {
                let rng = WorkerRng::from_system().map_err(failed)?;
                let generator = generation.generator(rng).map_err(failed)?;
                let generator = generator.stopped_by(&self.is_over);
                Some(match self.left() > 8 * CHUNK * threads {
                    true => generator.looking_ahead(),
                    false => generator,
                })
            }
            _ => None,
        };
        loop {
            let numbers = self.claim(threads);
            if numbers.is_empty() || self.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            let made = match &mut bulk {
                Some(generator) => generator.keys(numbers.len()),
                None => numbers.iter().map(|&number| self.one(number)).collect(),
            };
            let made: Vec<Generated> = match made {
                Err(Error::Stopped) => return Ok(()),
                made => made.map_err(failed)?,
            };
            let mut items = Vec::with_capacity(numbers.len());
            for (number, Generated { key, counts }) in numbers.into_iter().zip(made) {
                self.candidates.fetch_add(counts.candidates, Ordering::Relaxed);
                self.tests.fetch_add(counts.tests, Ordering::Relaxed);
                let name = match self.method {
                    Method::Seeded(..) => "insecure-key",
                    _ => "key",
                };
                items.push(item(number, &key, self.writer, name, self.with_public)?);
            }
            if sender.send(Ok(items)).is_err() {
                return Ok(());
            }
        }
    }

    /// One key, where each is made alone.
    fn one(&self, number: u64) -> Result<Generated, Error> {
        match &self.method {
            Method::Seeded(generation, seed) => {
                let generator = generation.generator(seed.stream(number))?;
                let mut keys = generator.stopped_by(&self.is_over).keys(1)?;
                Ok(keys.remove(0))
            }
            Method::Strict(backend, bits, e) => {
                generate_strict_on(*bits, *e, &mut SystemRng, &**backend, Some(&self.is_over))
            }
            Method::Bulk(_) => unreachable!("its generator makes several at once"),
        }
    }

    /// Some numbers, fewer where few are left for all threads.
    fn claim(&self, threads: usize) -> Vec<u64> {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let most = match self.method {
            // A strict search is slow: what a stop ends is one key.
            Method::Strict(..) => 1,
            _ => CHUNK,
        };
        let chunk = missing.len().div_ceil(2 * threads).clamp(1, most);
        missing.by_ref().take(chunk).collect()
    }
}

impl Method {
    /// As it was typed.
    pub(super) fn of(arguments: &Keygen, backend: Box<dyn Backend>) -> Result<Self> {
        let (bits, e) = (arguments.bits, arguments.e);
        if arguments.strict {
            // The standard has the exponent chosen before the primes.
            let e = e.fixed().ok_or_else(|| {
                let what = "--strict takes a number for the public exponent";
                Failure::new(Class::Usage, what).advice("leave out --strict, or name the exponent")
            })?;
            return Ok(Method::Strict(backend, bits, e));
        }
        let e = match e {
            Exponent::Fixed(e) => PublicExponent::Fixed(e),
            Exponent::Random => PublicExponent::Random,
        };
        let generation = Generation::with_backend(bits, e, backend);
        let generation = generation.and_then(|keys| keys.with_primes(arguments.primes));
        let generation = generation.map_err(failed)?;
        Ok(match arguments.insecure_seed {
            None => Method::Bulk(generation),
            Some(Seed(seed)) => Method::Seeded(generation, InsecureStudySeed::new(seed)),
        })
    }
}

/// A key as it is written; its files, where it has some of its own, are called `name` and its number.
pub(super) fn item(number: u64, key: &PrivateKey, writer: &KeyWriter, name: &str, with_public: bool) -> Result<Item> {
    let (ending, public_ending) = writer.endings();
    let own = writer.name_of(number);
    let name = match own {
        Some(own) => writer.stem(own),
        None => format!("{name}-{number:06}"),
    };
    let public = with_public.then(|| writer.public_named(key.public(), own));
    let (private, public) = (writer.private_named(key, own)?, public.transpose()?);
    let entry = Entry {
        number,
        file: format!("{name}{ending}"),
        public: with_public.then(|| format!("{name}{public_ending}")),
        sha256: hex::encode(format::fingerprint(key.public())),
        check: None,
        end: None,
    };
    Ok(Item { entry, private, public })
}

/// No key was made. What does not fit the library here was typed.
fn failed(error: Error) -> Failure {
    let class = match error {
        Error::KeySize { .. } => Class::Usage,
        _ => Class::of(&error),
    };
    Failure::new(class, "no key was made").because(error)
}
