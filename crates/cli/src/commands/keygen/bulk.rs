//! `rsalab keygen --count`: many keys, made by all threads and written by one.

use std::{
    io,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rsalab_engines::Exponent;
use rsalab_rsa::{
    Backend, Error, format,
    generate::{Generation, generate_strict_on},
    random::{InsecureStudySeed, SystemRng, WorkerRng},
};
use rsalab_study::plan::Seed;
use serde::Serialize;
use zeroize::Zeroizing;

use super::{
    super::form::Form,
    archive::{Archive, Kind},
    folder::Folder,
    in_bulk,
    manifest::{Entry, Header, Item},
    strict_exponent, told,
};
use rsalab_study::number;

use crate::{
    arguments::{KeyFormat, Keygen},
    exit::{Class, Failure},
    files, kernels,
    output::{self, Talk},
    progress::Counter,
    signals::Stop,
};

/// Keys that are written together at most, so that they wait for the disk once.
const GROUP: usize = 64;
/// Keys that a thread makes before it hands them over.
const HANDFUL: u64 = 8;

/// What `--json` prints: nothing that is secret.
#[derive(Serialize)]
struct Made<'a> {
    bits: usize,
    e: Exponent,
    count: u64,
    /// Keys that were made now, and not before this command went on.
    made_now: u64,
    threads: usize,
    kernel: &'a str,
    /// Candidates that were tested for being prime.
    tests: u64,
    elapsed_ns: u64,
    /// Where the keys are; none if they went to standard output.
    out: Option<String>,
}

/// Where the keys go.
enum Destination {
    /// A folder with a file for each.
    Folder(Folder),
    /// One file for all.
    Archive(Archive),
    /// Standard output, as they come.
    Stream,
}

/// Makes keys until there are as many as were asked for.
pub(super) fn run(arguments: &Keygen, count: u64, form: &Form, talk: Talk) -> Result<(), Failure> {
    if arguments.engine.is_some() || arguments.public_out.is_some() {
        let what = "--engine and --public-out are for one key alone";
        return Err(Failure::new(Class::Usage, what)
            .advice("leave out --count, or write public halves with --public"));
    }
    let stop = Stop::listen()?;
    let backend = kernels::backend(arguments.kernel.kernel.as_deref())?;
    let kernel = backend.kernel().to_owned();
    let mut destination = Destination::open(arguments)?;
    let missing = destination.missing(count)?;
    let before = count - missing.len() as u64;
    if before > 0 {
        talk.say(format_args!("{before} of {count} keys are there already"));
    }
    let threads = match arguments.threads {
        Some(threads) => threads,
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let work = Work {
        way: Way::of(arguments, Box::new(backend))?,
        form,
        with_public: arguments.public,
        is_named: !destination.is_stream(),
        missing: Mutex::new(missing.into_iter()),
        threads: threads as u64,
        is_over: AtomicBool::new(false),
        tests: AtomicU64::new(0),
    };
    let begun = Instant::now();
    let mut follower = Counter::new(talk, "key", count, before);
    let made = thread::scope(|scope| {
        let (sender, receiver) = sync_channel(threads * 4);
        let mut refused = None;
        for _ in 0..threads {
            let (sender, work) = (sender.clone(), &work);
            let started = thread::Builder::new().spawn_scoped(scope, move || work.make(&sender));
            if let Err(error) = started {
                refused = Some(error);
                break;
            }
        }
        drop(sender);
        if let Some(error) = refused {
            work.is_over.store(true, Ordering::Relaxed);
            return Err(no_thread(error));
        }
        let made = collect(&receiver, &mut destination, form, &mut follower, &stop);
        work.is_over.store(true, Ordering::Relaxed);
        // Threads that wait to hand keys over are let go.
        drop(receiver);
        made
    });
    follower.finish();
    let made = made?;
    let total = before + made;
    if let Some(class) = stop.class().filter(|_| total < count) {
        let what = format!("stopped: {total} of {count} keys are made");
        return Err(
            Failure::new(class, what).advice(match destination.is_stream() {
                false => "the same command goes on",
                true => "what went to standard output is lost to rsalab: it begins anew",
            }),
        );
    }
    let elapsed = begun.elapsed();
    let out = destination.finish()?;
    if arguments.json.json && out.is_some() {
        return output::json(&Made {
            bits: arguments.bits,
            e: arguments.e,
            count,
            made_now: made,
            threads,
            kernel: &kernel,
            tests: work.tests.load(Ordering::Relaxed),
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            out: out.map(|path| path.display().to_string()),
        });
    }
    let place = match &out {
        Some(path) => format!(" are in {}", path.display()),
        None => " were written".to_owned(),
    };
    let keys = |count: u64| number::counted(usize::try_from(count).unwrap_or(usize::MAX), "key");
    let rate = match made {
        0 => String::new(),
        _ => format!(
            "; {} made now, {} a second on {}",
            keys(made),
            number::significant(made as f64 / elapsed.as_secs_f64()),
            number::counted(threads, "thread")
        ),
    };
    talk.say(format_args!(
        "{} of {} bits{place}{rate}",
        keys(total),
        arguments.bits
    ));
    if arguments.insecure_seed.is_some() {
        talk.say("they are INSECURE: whoever has the seed has them all");
    }
    Ok(())
}

impl Destination {
    fn open(arguments: &Keygen) -> Result<Self, Failure> {
        let out = &arguments.out;
        let is_set = arguments.format == KeyFormat::JwkSet;
        let is_archive = out.extension().is_some_and(|ending| ending == "tar");
        if files::is_dash(out) {
            output::check_open()?;
            if is_set || arguments.public {
                let what = "a stream to standard output has neither public halves nor a set";
                return Err(Failure::new(Class::Usage, what)
                    .advice("name a folder or a file, or take --format jwk: a key a line"));
            }
            if arguments.json.json {
                let what = "--json and the keys would share standard output";
                return Err(Failure::new(Class::Usage, what).advice("leave out --json"));
            }
            return Ok(Destination::Stream);
        }
        let header = Header {
            rsalab_keys: 1,
            bits: arguments.bits,
            e: arguments.e,
            format: arguments.format.name(),
            public: arguments.public,
            insecure_seed: arguments.insecure_seed.map(|seed| seed.to_string()),
        };
        if !is_set && !is_archive {
            return Ok(Destination::Folder(Folder::open(out, &header)?));
        }
        let kind = match is_set {
            true => Kind::JwkSet,
            false => Kind::Tar,
        };
        Archive::open(out, kind, &header).map(Destination::Archive)
    }

    fn is_stream(&self) -> bool {
        matches!(self, Destination::Stream)
    }

    /// The numbers up to `count` that no key has yet.
    fn missing(&self, count: u64) -> Result<Vec<u64>, Failure> {
        match self {
            Destination::Folder(folder) => Ok(folder.missing(count)),
            Destination::Archive(archive) => archive.missing(count),
            Destination::Stream => Ok((1..=count).collect()),
        }
    }

    /// Takes keys, and returns how many lie where they belong now.
    fn write(&mut self, items: Vec<Item>, form: &Form) -> Result<u64, Failure> {
        let count = items.len() as u64;
        match self {
            Destination::Folder(folder) => folder.append(items).map(|()| count),
            Destination::Archive(archive) => archive.append(items),
            Destination::Stream => {
                let mut bytes = Zeroizing::new(Vec::new());
                bytes.reserve_exact(items.iter().map(|item| item.private.len() + 1).sum());
                for item in &items {
                    bytes.extend_from_slice(&item.private);
                    bytes.extend_from_slice(form.separator());
                }
                output::deliver(&bytes).map(|()| count)
            }
        }
    }

    /// What is to be done once all keys are there. Returns where they are.
    fn finish(self) -> Result<Option<PathBuf>, Failure> {
        match self {
            Destination::Stream => Ok(None),
            Destination::Folder(folder) => Ok(Some(folder.path().to_owned())),
            Destination::Archive(archive) => archive.finish().map(Some),
        }
    }
}

/// The system gives no thread: a limit on them, or too little memory.
fn no_thread(error: io::Error) -> Failure {
    Failure::new(
        Class::Unavailable,
        "a thread to make keys on cannot be started",
    )
    .because(error)
    .advice("ask for fewer with --threads, or have the limit raised ('ulimit -u')")
}

/// How keys are made.
enum Way {
    Bulk(Generation),
    Seeded(Generation, InsecureStudySeed),
    Strict(Box<dyn Backend>, usize, u64),
}

impl Way {
    fn of(arguments: &Keygen, backend: Box<dyn Backend>) -> Result<Self, Failure> {
        let (bits, e) = (arguments.bits, arguments.e);
        Ok(match arguments.insecure_seed {
            None if arguments.strict => Way::Strict(backend, bits, strict_exponent(e)?),
            None => Way::Bulk(Generation::with_backend(bits, in_bulk(e), backend).map_err(told)?),
            Some(Seed(seed)) => Way::Seeded(
                Generation::with_backend(bits, in_bulk(e), backend).map_err(told)?,
                InsecureStudySeed::new(seed),
            ),
        })
    }
}

/// What the threads share.
struct Work<'a> {
    way: Way,
    form: &'a Form,
    with_public: bool,
    /// Whether keys get names of their own.
    is_named: bool,
    missing: Mutex<std::vec::IntoIter<u64>>,
    threads: u64,
    is_over: AtomicBool,
    tests: AtomicU64,
}

impl Work<'_> {
    /// One thread's work: makes keys and hands them over until no number is left, or nobody takes them.
    fn make(&self, sender: &SyncSender<Result<Vec<Item>, Failure>>) {
        if let Err(failure) = self.make_all(sender) {
            // Whoever has stopped listening has a failure already.
            let _ = sender.send(Err(failure));
        }
    }

    fn make_all(&self, sender: &SyncSender<Result<Vec<Item>, Failure>>) -> Result<(), Failure> {
        let mut generator = match &self.way {
            Way::Bulk(generation) => {
                let rng = WorkerRng::from_system().map_err(told)?;
                let generator = generation.generator(rng).map_err(told)?;
                let generator = generator.stopped_by(&self.is_over);
                Some(match self.left() > 8 * HANDFUL * self.threads {
                    true => generator.looking_ahead(),
                    false => generator,
                })
            }
            _ => None,
        };
        loop {
            let numbers = self.claim();
            if numbers.is_empty() || self.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            let made = match (&self.way, &mut generator) {
                (_, Some(generator)) => generator.keys(numbers.len()),
                (Way::Seeded(generation, seed), _) => numbers
                    .iter()
                    .map(|&number| {
                        let generator = generation.generator(seed.stream(number))?;
                        generator.stopped_by(&self.is_over).keys(1)
                    })
                    .collect::<Result<Vec<_>, Error>>()
                    .map(|keys| keys.into_iter().flatten().collect()),
                (Way::Strict(backend, bits, e), _) => numbers
                    .iter()
                    .map(|_| {
                        generate_strict_on(
                            *bits,
                            *e,
                            &mut SystemRng,
                            &**backend,
                            Some(&self.is_over),
                        )
                    })
                    .collect(),
                (Way::Bulk(_), None) => unreachable!("it has its generator"),
            };
            let made = match made {
                Err(Error::Stopped) => return Ok(()),
                made => made.map_err(told)?,
            };
            let mut items = Vec::with_capacity(numbers.len());
            for (number, made) in numbers.into_iter().zip(made) {
                self.tests.fetch_add(made.counts.tests, Ordering::Relaxed);
                items.push(self.item(number, &made.key)?);
            }
            if sender.send(Ok(items)).is_err() {
                return Ok(());
            }
        }
    }

    fn left(&self) -> u64 {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.len() as u64
    }

    /// A handful of numbers, fewer where few are left for all threads.
    fn claim(&self) -> Vec<u64> {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let share = (missing.len() as u64).div_ceil(2 * self.threads);
        // A strict search is slow: what a stop ends is one key.
        let most = if matches!(self.way, Way::Strict(..)) {
            1
        } else {
            HANDFUL
        };
        let handful = usize::try_from(share.clamp(1, most)).unwrap_or(1);
        missing.by_ref().take(handful).collect()
    }

    fn item(&self, number: u64, key: &rsalab_rsa::PrivateKey) -> Result<Item, Failure> {
        let (ending, public_ending) = self.form.endings();
        let name = match self.way {
            Way::Seeded(..) => format!("insecure-key-{number:06}"),
            _ => format!("key-{number:06}"),
        };
        let with_public = self.with_public && self.is_named;
        let digest = format::fingerprint(key.public());
        Ok(Item {
            entry: Entry {
                number,
                file: format!("{name}{ending}"),
                public: with_public.then(|| format!("{name}{public_ending}")),
                sha256: hex::encode(digest),
                end: None,
            },
            private: self.form.private(key)?,
            public: with_public
                .then(|| self.form.public(key.public()))
                .transpose()?,
        })
    }
}

/// Writes what the threads hand over, until all is there or somebody asks to stop. Returns how many keys were written.
fn collect(
    receiver: &Receiver<Result<Vec<Item>, Failure>>,
    destination: &mut Destination,
    form: &Form,
    follower: &mut Counter,
    stop: &Stop,
) -> Result<u64, Failure> {
    let mut made = 0;
    while stop.class().is_none() {
        let mut group = match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(items) => items?,
            Err(RecvTimeoutError::Timeout) => {
                follower.advance(made);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        while group.len() < GROUP {
            match receiver.try_recv() {
                Ok(items) => group.extend(items?),
                Err(_) => break,
            }
        }
        let count = group.len() as u64;
        made += match destination.write(group, form) {
            Ok(written) => written,
            Err(failure) if destination.is_stream() => {
                return Err(failure.among(&format!(
                    "{made} keys were written, and {count} more may have been in part"
                )));
            }
            Err(failure) => return Err(failure),
        };
        follower.advance(made);
    }
    Ok(made)
}
