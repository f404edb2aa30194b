//! `rsalab text-encrypt` and `rsalab text-decrypt`: a text through raw RSA blocks, over threads, as the studies have it.

use std::{
    io::{self, IsTerminal},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    thread,
};

use rsalab_measure::{Placement, Topology};
use rsalab_rsa::{PublicKey, format::Purpose};
use rsalab_text::{Error, Outcome, PartTrace, Threads, container};
use serde::Serialize;

use super::{
    counted::Counted,
    inputs::{Destination, Inputs},
};
use rsalab_study::number;

use crate::{
    arguments::{TextDecrypt, TextEncrypt, TextOptions},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
    output::{Talk, complain},
    table::{Align, Table},
};

/// The most bytes of text that are taken at once: text and ciphertext lie in memory.
const MOST_TEXT: u64 = 1 << 30;
/// The most bytes of an encrypted file: whatever can be encrypted can be decrypted.
const MOST_CIPHERTEXT: u64 = 2 << 30;

const FOR_STUDY: &str =
    "raw RSA blocks without padding are for study only: do not protect anything with them";

/// Encrypts a text for a public key.
pub(crate) fn encrypt(arguments: &TextEncrypt, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.texts;
    let loaded = keys::public(&arguments.key)?;
    let purpose = Purpose::Encrypt(None);
    let use_option = arguments.any_use;
    let key = use_option.of_any_scheme(&arguments.key, loaded, purpose)?;
    let from = only_input(options)?;
    let out = Destination::of(options.out.as_deref())?;
    out.check_terminal("the encrypted text")?;
    let backend = Counted::new(kernels::backend(options.kernel.kernel.as_deref())?);
    talk.say(FOR_STUDY);
    let text = match &arguments.text {
        Some(text) => text.as_bytes().to_vec(),
        None => {
            say_if_typed(from.as_deref(), talk);
            files::read(from.as_deref(), MOST_TEXT).map_err(|failure| {
                failure.or_advice("rsalab holds it in memory and takes no more at once: split it")
            })?
        }
    };
    check_growth(&key, arguments.block_symbols, text.len())?;
    let placement = placement(options);
    let threads = Threads::pinned(&placement.cpus);
    let symbols = arguments.block_symbols.unwrap_or(key.modulus_len() - 1);
    let blocks = text.len().div_ceil(symbols.max(1)) as u64;
    let outcome = backend
        .followed(talk, blocks, || {
            container::encrypt(&backend, &key, arguments.block_symbols, &text, threads)
        })
        .map_err(|error| failed("the text was not encrypted", error))?;
    out.write(&outcome.output, Privacy::Private)?;
    trace(options, &placement, &outcome);
    Ok(())
}

/// Decrypts what [`encrypt`] made.
pub(crate) fn decrypt(arguments: &TextDecrypt, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.texts;
    let loaded = keys::private(&arguments.key)?;
    let purpose = Purpose::Decrypt(None);
    let use_option = arguments.any_use;
    let key = use_option.of_any_scheme(&arguments.key, loaded, purpose)?;
    let from = only_input(options)?;
    let out = Destination::of(options.out.as_deref())?;
    let backend = Counted::new(kernels::backend(options.kernel.kernel.as_deref())?);
    talk.say(FOR_STUDY);
    say_if_typed(from.as_deref(), talk);
    let file = encrypted(from.as_deref(), key.public())?;
    let placement = placement(options);
    let threads = Threads::pinned(&placement.cpus);
    let blocks = (file.len() / key.modulus_len()) as u64;
    let outcome = backend
        .followed(talk, blocks, || {
            container::decrypt(&backend, &key, &file, threads)
        })
        .map_err(|error| cannot_decrypt(from.as_deref(), error))?;
    out.write(&outcome.output, Privacy::Private)?;
    trace(options, &placement, &outcome);
    Ok(())
}

fn only_input(options: &TextOptions) -> Result<Option<PathBuf>, Failure> {
    Inputs::of(&options.input)?.only("a text in raw blocks")
}

fn say_if_typed(from: Option<&Path>, talk: Talk) {
    let typed = from.is_none_or(files::is_dash);
    if typed && io::stdin().is_terminal() {
        talk.say("type the text; Ctrl-D ends it");
    }
}

/// The whole of an encrypted file. Its header is looked at before the rest is read, however long that is.
fn encrypted(from: Option<&Path>, key: &PublicKey) -> Result<Vec<u8>, Failure> {
    let refused = |error| cannot_decrypt(from, error);
    let (mut source, len) = files::open(from)?;
    let mut file = files::read_up_to(&mut source, from, container::Header::LEN as u64)?;
    let header = container::Header::read(&file).map_err(refused)?;
    header.check_key(key).map_err(refused)?;
    if let Some(len) = len {
        header.check_len(len).map_err(refused)?;
    }
    file.extend(files::read_up_to(&mut source, from, MOST_CIPHERTEXT)?);
    header.check_len(file.len() as u64).map_err(refused)?;
    Ok(file)
}

/// One thread for each CPU, unless so many were asked for.
fn placement(options: &TextOptions) -> Placement {
    let threads = match options.threads {
        Some(threads) => threads,
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    Topology::detect().placement(threads)
}

fn cannot_decrypt(from: Option<&Path>, error: Error) -> Failure {
    failed(&format!("cannot decrypt {}", files::name(from)), error)
}

/// Small blocks grow by as much as they are smaller than the modulus, and all of it lies in memory.
fn check_growth(key: &PublicKey, symbols: Option<usize>, text_len: usize) -> Result<(), Failure> {
    let symbols = symbols.unwrap_or(key.modulus_len() - 1).max(1);
    let bytes = text_len
        .div_ceil(symbols)
        .saturating_mul(key.modulus_len())
        .saturating_add(container::Header::LEN) as u64;
    if bytes <= MOST_CIPHERTEXT {
        return Ok(());
    }
    let what = format!("in blocks of {symbols} symbols this text would become {bytes} bytes");
    Err(Failure::new(Class::Usage, what).advice(format!(
        "rsalab makes at most {MOST_CIPHERTEXT} at once: leave --block-symbols out, or split the text"
    )))
}

fn failed(what: &str, error: Error) -> Failure {
    let class = match error {
        Error::Blocks { .. } | Error::Layout { .. } => Class::Usage,
        Error::Container { .. }
        | Error::Rsa(rsalab_rsa::Error::KeySize { .. } | rsalab_rsa::Error::InvalidKey { .. }) => {
            Class::Input
        }
        Error::Block { .. } => Class::Verification,
        Error::Rsa(rsalab_rsa::Error::Randomness { .. }) | Error::Threads { .. } => {
            Class::Unavailable
        }
        _ => Class::Internal,
    };
    let advice = match error {
        Error::Container { .. } => {
            "give it the whole of a file that 'rsalab text-encrypt' made for this key"
        }
        Error::Block { .. } => {
            "nothing was written; get the encrypted file again from where it was made"
        }
        _ => return Failure::new(class, what).because(error),
    };
    Failure::new(class, what).because(error).advice(advice)
}

/// What `--trace --json` prints.
#[derive(Serialize)]
struct Trace {
    threads: usize,
    /// More threads than CPUs.
    oversubscribed: bool,
    /// From the release of the threads to the last finish.
    elapsed_ns: u64,
    /// With starting the threads and collecting their parts.
    wall_ns: u64,
    parts: Vec<TracedPart>,
}

#[derive(Serialize)]
struct TracedPart {
    id: usize,
    bytes: usize,
    blocks: usize,
    cpu: Option<usize>,
    start_ns: u64,
    end_ns: u64,
}

impl From<&PartTrace> for TracedPart {
    fn from(part: &PartTrace) -> Self {
        TracedPart {
            id: part.id,
            bytes: part.bytes,
            blocks: part.blocks,
            cpu: part.cpu,
            start_ns: part.start_ns,
            end_ns: part.end_ns,
        }
    }
}

/// What was asked for is said even by a quiet program.
fn trace(options: &TextOptions, placement: &Placement, outcome: &Outcome) {
    if !options.trace {
        return;
    }
    let trace = Trace {
        threads: placement.cpus.len(),
        oversubscribed: placement.oversubscribed,
        elapsed_ns: outcome.elapsed_ns,
        wall_ns: outcome.wall_ns,
        parts: outcome.trace.iter().map(TracedPart::from).collect(),
    };
    if options.json {
        let json = serde_json::to_string(&trace).expect("the program's own types are JSON");
        complain(json);
    } else {
        complain(shown(&trace).trim_end());
    }
}

fn shown(trace: &Trace) -> String {
    let mut table = Table::new([
        ("part", Align::Right),
        ("bytes", Align::Right),
        ("blocks", Align::Right),
        ("CPU", Align::Right),
        ("start", Align::Right),
        ("end", Align::Right),
    ]);
    for part in &trace.parts {
        table.row([
            part.id.to_string(),
            part.bytes.to_string(),
            part.blocks.to_string(),
            part.cpu
                .map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            number::duration(part.start_ns as f64),
            number::duration(part.end_ns as f64),
        ]);
    }
    format!(
        "{}{}{}: {} from release to last finish, {} with start and collection\n",
        table.render(),
        number::counted(trace.threads, "thread"),
        if trace.oversubscribed {
            ", more than there are CPUs"
        } else {
            ""
        },
        number::duration(trace.elapsed_ns as f64),
        number::duration(trace.wall_ns as f64)
    )
}
