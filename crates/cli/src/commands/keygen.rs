//! `rsalab keygen`: private keys, by FIPS 186-5 A.1.3; or by a measured engine.
//!
//! ```text
//! numbers without a key ── threads make keys ── this thread writes them, and stops at a signal ── the place gets its name
//! ```
//!
//! | question | file |
//! |---|---|
//! | what is checked, and what is printed | here |
//! | how threads make keys | `maker` |
//! | keys of an engine's making | `by_engine` |
//! | where keys go | `destination` |
//! | how many keys are kept, and completed by the same command | `folder`, `archive`, `manifest` |
//! | the public keys of a set | `public_set` |
//! | how parts become a whole | `merge` |
//! | names that a user gives | `names` |
//! | whether what is there already is what was made | `proof` |

mod archive;
mod by_engine;
mod destination;
mod folder;
mod maker;
mod manifest;
mod merge;
mod names;
mod proof;
mod public_set;
mod public_table;

use std::{
    path::Path,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

use rsalab_engines::Exponent;
use rsalab_rsa::{Backend, generate::most_primes};
use rsalab_study::{number, part};
use serde::Serialize;

use self::{
    by_engine::EngineKeys,
    destination::{Destination, Place},
    maker::{Maker, Method},
    manifest::{Header, Item},
};
use super::key_writer::KeyWriter;
use crate::{
    arguments::{KeyFormat, Keygen},
    exit::{self, Class, Failure, Result},
    kernels,
    output::{self, Log},
    passwords::{self, Password},
    progress::Counter,
    signals::Stop,
    steps,
};

pub(super) use self::merge::run as merge_archives;

/// Keys below this size are refused unless asked for in so many words.
const LEAST_SECURE_BITS: usize = 2048;
/// Keys that are written together at most, so that they wait for the disk once.
const GROUP: usize = 64;

/// Output of `--json`: nothing that is secret.
#[derive(Serialize)]
struct Report<'a> {
    bits: usize,
    primes: usize,
    e: Exponent,
    count: u64,
    /// Keys that were made now, and not by an earlier run of this command.
    made_now: u64,
    threads: usize,
    /// The engine that made the key, if not the program itself.
    engine: Option<&'a str>,
    kernel: &'a str,
    /// Candidates for a prime that were drawn, where that is known.
    candidates: Option<u64>,
    /// Candidates that were tested for being prime, where that is known.
    tests: Option<u64>,
    /// `true` if the keys were made from a seed, so that they protect nothing.
    insecure: bool,
    elapsed_ns: u64,
    #[serde(flatten)]
    place: Place,
}

/// Makes keys until there are as many as were asked for.
pub(crate) fn run(arguments: &Keygen, log: Log) -> Result<()> {
    let is_insecure = arguments.insecure_seed.is_some();
    let writer = KeyWriter::new(arguments.format.format, password(arguments)?);
    let writer = writer.insecure(is_insecure);
    let names = names::read(arguments, &writer)?;
    let named = names.as_ref().map(|names| names.len() as u64);
    let whole = named.or(arguments.count).unwrap_or(1);
    check(arguments, whole)?;
    let numbers = arguments.shard.map_or(1..=whole, |part| part.range(whole));
    let count = numbers.end() + 1 - numbers.start();
    let writer = writer.named(names);
    let own = match &arguments.engine {
        Some(_) => None,
        None => {
            let backend = kernels::backend(arguments.kernel.name())?;
            let kernel = backend.kernel().to_owned();
            Some((kernel, Method::of(arguments, Box::new(backend))?))
        }
    };
    let stop = Stop::listen()?;
    let header = destination::header(arguments, whole);
    if let Some(part) = arguments.shard
        && is_complete(&arguments.out, &header, count)?
    {
        log.note(format_args!("part {part} is complete: {}", arguments.out.display()));
        let place = Place {
            out: Some(arguments.out.display().to_string()),
            ..Place::default()
        };
        let report = Report {
            kernel: own.as_ref().map_or("", |(kernel, _)| kernel),
            ..Report::of(arguments, count, place)
        };
        return report.print(arguments);
    }
    let mut destination = Destination::open(arguments, whole, &writer)?;
    let missing = destination.missing(numbers)?;
    let before = count - missing.len() as u64;
    steps::ended(|| format!("place: open; {} of {} to be made", missing.len(), counted(count)));
    if before > 0 {
        log.note(format_args!(
            "{} of {} are there already",
            number::whole(before),
            counted(count)
        ));
    }
    let begun = Instant::now();
    let mut threads = arguments.threads.count();
    let (made, kernel, work) = match own {
        None => {
            let counter = Counter::new(log, "key", count, before);
            let made = by_engine(arguments, &missing, &writer, &mut destination, counter, &stop)
                .map_err(|failure| kept(failure, &mut destination, count))?;
            threads = made.threads;
            (made.keys, made.kernel, None)
        }
        Some((kernel, method)) => {
            let maker = Maker::new(method, arguments, &writer, missing);
            let counter = Counter::new(log, "key", count, before);
            let made = on_threads(&maker, threads, &mut destination, counter, &stop)
                .map_err(|failure| kept(failure, &mut destination, count))?;
            let work = (maker.candidates.into_inner(), maker.tests.into_inner());
            (made, kernel, Some(work))
        }
    };
    steps::ended(|| {
        format!(
            "{} made and written, {} on {kernel}",
            counted(made),
            number::counted(threads, "thread")
        )
    });
    let total = before + made;
    if let Some(class) = stop.class().filter(|_| total < count) {
        let what = format!("stopped: {} of {} are made", number::whole(total), counted(count));
        return Err(Failure::new(class, what).advice(match destination.is_stream() {
            false => "the same command makes the others",
            true => "rsalab cannot continue a stream: the same command begins anew",
        }));
    }
    let elapsed = begun.elapsed();
    let place = destination
        .finish(&writer)
        .map_err(|failure| kept(failure, &mut destination, count))?;
    steps::ended(|| "place: on the disk, with its name".to_owned());
    note(arguments, count, &place, made, threads, elapsed, log);
    let report = Report {
        made_now: made,
        threads,
        kernel: &kernel,
        candidates: work.map(|(candidates, _)| candidates),
        tests: work.map(|(_, tests)| tests),
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        ..Report::of(arguments, count, place)
    };
    report.print(arguments)
}

impl<'a> Report<'a> {
    /// Keys that were there before, without any work.
    fn of(arguments: &'a Keygen, count: u64, place: Place) -> Self {
        Report {
            bits: arguments.bits,
            primes: arguments.primes,
            e: arguments.e,
            count,
            made_now: 0,
            threads: arguments.threads.count(),
            engine: arguments.engine.as_deref(),
            kernel: "",
            candidates: None,
            tests: None,
            insecure: arguments.insecure_seed.is_some(),
            elapsed_ns: 0,
            place,
        }
    }

    fn print(&self, arguments: &Keygen) -> Result<()> {
        match arguments.json.json {
            false => Ok(()),
            true => output::json(self),
        }
    }
}

/// A failure, with what is left of the work: private keys are nowhere without a word about it.
fn kept(failure: Failure, destination: &mut Destination, count: u64) -> Failure {
    match destination.abandon() {
        Some((kept, place)) => failure
            .among(&format!("{kept} of {} are made, in {place}", counted(count)))
            .or_advice("the same command makes the others"),
        None => failure,
    }
}

/// Refuses what protects nothing, and options that contradict each other.
fn check(arguments: &Keygen, count: u64) -> Result<()> {
    arguments.format.format.check_private()?;
    let bits = arguments.bits;
    if bits < LEAST_SECURE_BITS && !arguments.insecure_size {
        let what = format!("a key of {bits} bits protects nothing: {LEAST_SECURE_BITS} are the least");
        return Err(Failure::new(Class::Usage, what).advice("for a study, add --insecure-size"));
    }
    let (primes, most) = (arguments.primes, most_primes(bits));
    if primes > most {
        let what = format!(
            "a key of {bits} bits has 2 to {most} primes, not {primes}: shorter ones are found for their length"
        );
        return Err(Failure::new(Class::Usage, what).advice("ask for fewer primes, or for more bits"));
    }
    if primes > 2 && arguments.format.format == KeyFormat::Openssh {
        let what = format!("OpenSSH's format has room for two primes, not for {primes}");
        return Err(Failure::new(Class::Usage, what).advice("take another --format, or two primes"));
    }
    if let Some(part) = arguments.shard {
        let what = match arguments.out.extension() {
            _ if part.of > count => format!("{count} keys cannot be {} parts", part.of),
            Some(ending) if ending == "tar" && arguments.format.format != KeyFormat::JwkSet => String::new(),
            _ => "a part of many keys is an archive".to_owned(),
        };
        if !what.is_empty() {
            let advice = "name a --count of all keys, and for --out a file that ends in .tar";
            return Err(Failure::new(Class::Usage, what).advice(advice));
        }
    }
    if count > 1 && arguments.public_out.is_some() {
        let what = "--public-out is for one key alone";
        return Err(Failure::new(Class::Usage, what).advice("leave out --count, or write public halves with --public"));
    }
    if arguments.engine.is_some() && arguments.kernel.name().is_some() {
        let what = "--kernel chooses a kernel of this program's own, and --engine has another engine make the key";
        return Err(Failure::new(Class::Usage, what).advice("leave one of them out"));
    }
    Ok(())
}

/// Returns whether an archive is there that has this part, complete and unchanged.
fn is_complete(out: &Path, header: &Header, count: u64) -> Result<bool> {
    let manifest = archive::part_manifest(out);
    if out.symlink_metadata().is_err() || manifest.symlink_metadata().is_err() {
        return Ok(false);
    }
    let found = part::Manifest::read(out, &manifest);
    let found = found.and_then(|found| found.check(out, &manifest).map(|()| found));
    let found = found.map_err(|error| exit::of_manifest("the part that is there is not taken", error))?;
    let wanted = header.part.map(|part| part.part);
    match (Some(found.part), found.plan_sha256, found.items) == (wanted, header.plan_sha256(), count) {
        true => Ok(true),
        false => {
            let what = format!("{} is a part of other keys", out.display());
            Err(Failure::new(Class::Usage, what).advice("name another file"))
        }
    }
}

/// The password, where the format takes one.
fn password(arguments: &Keygen) -> Result<Option<Password>> {
    let format = arguments.format.format;
    match (&arguments.password_file, format) {
        (None, KeyFormat::Pkcs8Encrypted) => passwords::new_one("--password-file").map(Some),
        (Some(path), KeyFormat::Pkcs8Encrypted) => passwords::new_from_file(path).map(Some),
        (None, _) => Ok(None),
        (Some(_), _) => Err(passwords::not_of(format)),
    }
}

/// Keys of an engine's making.
#[derive(Default)]
struct MadeByEngine {
    keys: u64,
    threads: usize,
    kernel: String,
}

/// Has the engine that was named make the keys, until all are there or somebody asks to stop.
fn by_engine(
    arguments: &Keygen,
    missing: &[u64],
    writer: &KeyWriter,
    destination: &mut Destination,
    mut counter: Counter,
    stop: &Stop,
) -> Result<MadeByEngine> {
    if missing.is_empty() {
        return Ok(MadeByEngine::default());
    }
    let engine = arguments.engine.as_deref().unwrap_or_default();
    let (bits, threads) = (arguments.bits, arguments.threads.count());
    let mut source = EngineKeys::start(engine, bits, arguments.e, missing.len(), threads, stop)?;
    let mut made = MadeByEngine {
        keys: 0,
        threads: source.threads(),
        kernel: source.kernel.clone(),
    };
    let with_public = arguments.public || arguments.public_out.is_some();
    let mut numbers = missing.iter().peekable();
    while numbers.peek().is_some() {
        let keys = match source.next() {
            // Those that are written stay: the end of the command says how many.
            Err(_) if stop.class().is_some() && made.keys > 0 => break,
            keys => keys?,
        };
        let items = keys
            .iter()
            .zip(&mut numbers)
            .map(|(key, number)| maker::item(*number, key, writer, "key", with_public));
        made.keys += destination.write(items.collect::<Result<_>>()?)?;
        counter.advance(made.keys);
        if stop.class().is_some() {
            break;
        }
    }
    counter.finish();
    Ok(made)
}

/// Makes keys on threads, and writes them on this one. Returns how many were written.
fn on_threads(
    maker: &Maker<'_>,
    threads: usize,
    destination: &mut Destination,
    mut counter: Counter,
    stop: &Stop,
) -> Result<u64> {
    let made = thread::scope(|scope| {
        let (sender, receiver) = sync_channel(threads * 4);
        let mut started = Ok(());
        for _ in 0..threads.min(maker.left()) {
            let sender = sender.clone();
            let thread = thread::Builder::new();
            if let Err(error) = thread.spawn_scoped(scope, move || maker.make(threads, &sender)) {
                let what = "a thread to make keys on cannot be started";
                let failure = Failure::new(Class::Unavailable, what).because(error);
                started = Err(failure.advice("ask for fewer with --threads, or have the limit raised ('ulimit -u')"));
                break;
            }
        }
        drop(sender);
        let made = started.and_then(|()| collect(&receiver, destination, &mut counter, stop));
        // Threads that wait to send their keys end when the receiver is dropped.
        maker.stop();
        made
    });
    counter.finish();
    made
}

/// Writes what the threads send, until all is there or somebody asks to stop. Returns how many keys were written.
fn collect(
    receiver: &Receiver<Result<Vec<Item>>>,
    destination: &mut Destination,
    counter: &mut Counter,
    stop: &Stop,
) -> Result<u64> {
    let mut made = 0;
    while stop.class().is_none() {
        let mut group = match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(items) => items?,
            Err(RecvTimeoutError::Timeout) => {
                counter.advance(made);
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
        made += match destination.write(group) {
            Err(failure) if destination.is_stream() => {
                return Err(failure.among(&format!(
                    "{made} keys were written, and {count} more may have been in part"
                )));
            }
            written => written?,
        };
        counter.advance(made);
    }
    Ok(made)
}

/// So many keys, in words.
fn counted(keys: u64) -> String {
    number::counted(usize::try_from(keys).unwrap_or(usize::MAX), "key")
}

/// Says where the keys are.
fn note(arguments: &Keygen, count: u64, place: &Place, made: u64, threads: usize, elapsed: Duration, log: Log) {
    let (bits, keys) = (arguments.bits, counted);
    let rate = match made {
        0 | 1 => String::new(),
        _ => format!(
            "; {} made now, {} a second on {}",
            keys(made),
            number::significant(made as f64 / elapsed.as_secs_f64()),
            number::counted(threads, "thread")
        ),
    };
    match (&place.private, &place.out) {
        (Some(path), _) => log.note(format_args!(
            "a key of {bits} bits is in {path}, readable by its owner only"
        )),
        (None, Some(path)) => {
            let keys = keys(count);
            log.note(format_args!("{keys} of {bits} bits: in {path}{rate}"));
            if let Some(public) = &place.public {
                log.note(format_args!("their public halves are in {public}"));
            }
        }
        (None, None) if count > 1 => {
            let keys = keys(count);
            log.note(format_args!("{keys} of {bits} bits: written{rate}"));
        }
        _ => {}
    }
    if arguments.insecure_seed.is_some() {
        log.note("INSECURE: whoever has the seed has every key of it");
    }
}
