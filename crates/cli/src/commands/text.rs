//! `rsalab text-encrypt` and `rsalab text-decrypt`: a text through raw RSA blocks, over threads, as the studies have
//! it.

use std::{os::unix::ffi::OsStrExt, path::Path};

use rsalab_measure::{Placement, Topology};
use rsalab_rsa::{PublicKey, format::Purpose, profile::Text};
use rsalab_study::number;
use rsalab_text::{Error, Outcome, PartTrace, Threads, container};
use serde::Serialize;
use zeroize::Zeroizing;

use super::inputs::{check_stdin, note_if_typed, one_file};
use crate::{
    arguments::{TextDecrypt, TextEncrypt, ThreadsOption, TraceOptions},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    kernels, keys,
    output::{self, Log},
    profiles, progress, steps,
    table::Table,
    terminal::error_line,
};

/// The most bytes of text that are taken at once: text and ciphertext lie in memory.
const MOST_TEXT: u64 = 1 << 30;
/// The most bytes of an encrypted file: whatever can be encrypted can be decrypted.
const MOST_CIPHERTEXT: u64 = 2 << 30;

const FOR_STUDY: &str = "raw RSA blocks without padding are for study only: do not protect anything with them";

/// Encrypts a text for a public key.
pub(crate) fn encrypt(arguments: &TextEncrypt, log: Log) -> Result<()> {
    let options = &arguments.key;
    let stdin = match arguments.text.text {
        Some(_) => ("the text", false),
        None => arguments.files.stdin(),
    };
    check_stdin(&options.key, &options.reading, &[stdin])?;
    let loaded = keys::public(&options.key, &options.reading, log)?;
    let key = keys::of_any_scheme(options, loaded, Purpose::Encrypt(None))?;
    let (from, to) = one_file(&arguments.files)?;
    to.check_terminal("the encrypted text")?;
    if let Some(kernel) = options.kernel.name() {
        kernels::check(kernel)?;
    }
    let profile = profiles::load(&arguments.profile, log)?;
    log.note(FOR_STUDY);
    let text = match &arguments.text.text {
        Some(text) => Zeroizing::new(text.as_bytes().to_vec()),
        None => {
            note_if_typed(from, log);
            files::read(from, MOST_TEXT)
                .map_err(|failure| failure.or_advice("rsalab holds it in memory and takes no more at once: split it"))?
        }
    };
    let symbols = arguments.block_symbols;
    let blocks = blocks(&key, symbols, text.len())?;
    let settings = profiles::for_text(
        profile.as_ref(),
        Text::Encrypt,
        (key.bits(), text.len()),
        arguments.threads.threads,
        options,
        ThreadsOption::built_in(),
    )?;
    let (backend, placement) = (settings.backend, placement(settings.threads));
    let outcome = progress::follow(log, "block", blocks, |done| {
        let threads = Threads::pinned(&placement.cpus).counted(done);
        container::encrypt(&backend, &key, symbols, &text, threads)
    })
    .map_err(|error| failed("the text was not encrypted", error))?;
    to.write(&outcome.output, Privacy::Private)?;
    print(&arguments.trace, &placement, &outcome);
    Ok(())
}

/// Decrypts what [`encrypt`] made.
pub(crate) fn decrypt(arguments: &TextDecrypt, log: Log) -> Result<()> {
    let options = &arguments.key;
    check_stdin(&options.key, &options.reading, &[arguments.files.stdin()])?;
    let loaded = keys::private(&options.key, &options.reading, log)?;
    let key = keys::of_any_scheme(options, loaded, Purpose::Decrypt(None))?;
    let (from, to) = one_file(&arguments.files)?;
    if let Some(kernel) = options.kernel.name() {
        kernels::check(kernel)?;
    }
    let profile = profiles::load(&arguments.profile, log)?;
    log.note(FOR_STUDY);
    note_if_typed(from, log);
    let what = format!("cannot decrypt {}", files::name(from));
    let refused = |error| failed(&what, error);
    let file = encrypted(from, key.public(), refused)?;
    let symbols = container::Header::read(&file).map_err(&refused)?.text_len;
    let settings = profiles::for_text(
        profile.as_ref(),
        Text::Decrypt,
        (key.public().bits(), symbols),
        arguments.threads.threads,
        options,
        ThreadsOption::built_in(),
    )?;
    let (backend, placement) = (settings.backend, placement(settings.threads));
    let blocks = (file.len() / key.modulus_len()) as u64;
    let mut outcome = progress::follow(log, "block", blocks, |done| {
        let threads = Threads::pinned(&placement.cpus).counted(done);
        container::decrypt(&backend, &key, &file, threads)
    })
    .map_err(refused)?;
    let text = Zeroizing::new(std::mem::take(&mut outcome.output));
    to.write(&text, Privacy::Private)?;
    print(&arguments.trace, &placement, &outcome);
    Ok(())
}

/// The CPUs that so many threads are pinned to.
fn placement(threads: usize) -> Placement {
    let placement = Topology::detect().placement(threads);
    steps::ended(|| {
        let threads = number::counted(threads, "thread");
        format!("{threads}, pinned to CPUs {:?}", placement.cpus)
    });
    placement
}

/// The whole of an encrypted file. Its header is checked first, and no more of the rest is read than it says.
fn encrypted(from: Option<&Path>, key: &PublicKey, refused: impl Fn(Error) -> Failure) -> Result<Zeroizing<Vec<u8>>> {
    let (mut source, len) = files::open(from)?;
    let mut file = files::read_up_to(&mut source, from, container::Header::LEN as u64)?;
    let header = container::Header::read(&file).map_err(&refused)?;
    header.check_key(key).map_err(&refused)?;
    if let Some(len) = len {
        header.check_len(len).map_err(&refused)?;
    }
    let Some(most) = header.blocks_len().filter(|len| *len <= MOST_CIPHERTEXT) else {
        let what = format!(
            "the blocks of {} have more than {MOST_CIPHERTEXT} bytes",
            files::name(from)
        );
        return Err(Failure::new(Class::Input, what).advice("rsalab holds them in memory and takes no more at once"));
    };
    // One byte more shows that they are not all.
    let blocks = files::read_up_to(&mut source, from, most + 1)?;
    if blocks.len() as u64 > most {
        let reason = format!("this encrypted file is damaged: more follows the {most} bytes of its blocks");
        return Err(refused(Error::Container { reason }));
    }
    file.extend_from_slice(&blocks);
    header.check_len(file.len() as u64).map_err(&refused)?;
    Ok(file)
}

/// How many blocks a text has. Small ones grow by as much as they are smaller than the modulus, and all of it lies in
/// memory.
fn blocks(key: &PublicKey, symbols: Option<usize>, text_len: usize) -> Result<u64> {
    let symbols = symbols.unwrap_or(key.modulus_len() - 1).max(1);
    let blocks = text_len.div_ceil(symbols);
    let bytes = blocks
        .saturating_mul(key.modulus_len())
        .saturating_add(container::Header::LEN) as u64;
    if bytes <= MOST_CIPHERTEXT {
        return Ok(blocks as u64);
    }
    let what = format!("in blocks of {symbols} symbols this text would become {bytes} bytes");
    Err(Failure::new(Class::Usage, what).advice(format!(
        "rsalab makes at most {MOST_CIPHERTEXT} at once: leave --block-symbols out, or split the text"
    )))
}

fn failed(what: &str, error: Error) -> Failure {
    let class = Class::of_text(&error);
    let advice = match error {
        Error::Container { .. } => "give it the whole of a file that 'rsalab text-encrypt' made for this key",
        Error::Block { .. } => "nothing was written; get the encrypted file again from where it was made",
        _ => return Failure::new(class, what).because(error),
    };
    Failure::new(class, what).because(error).advice(advice)
}

/// Output of `--trace --json`.
#[derive(Serialize)]
struct Trace<'a> {
    threads: usize,
    /// More threads than CPUs, or than a quota lets run at once.
    oversubscribed: bool,
    /// From the release of the threads to the last finish.
    elapsed_ns: u64,
    /// With starting the threads and collecting their parts.
    wall_ns: u64,
    parts: &'a [PartTrace],
}

/// Prints the trace, if it was asked for: then even a quiet program does.
fn print(options: &TraceOptions, placement: &Placement, outcome: &Outcome) {
    if !options.trace {
        return;
    }
    let trace = Trace {
        threads: placement.cpus.len(),
        oversubscribed: placement.oversubscribed,
        elapsed_ns: outcome.elapsed_ns,
        wall_ns: outcome.wall_ns,
        parts: &outcome.trace,
    };
    match options.json {
        true => error_line(output::line(&trace).trim_end()),
        false => error_line(shown(&trace, placement).trim_end()),
    }
}

fn shown(trace: &Trace<'_>, placement: &Placement) -> String {
    let mut cpus = placement.cpus.clone();
    cpus.sort_unstable();
    cpus.dedup();
    // Threads have a CPU each until these run out, unless a quota is what does not suffice.
    let more = match (trace.oversubscribed, cpus.len() < trace.threads) {
        (true, true) => ", more than there are CPUs",
        (true, false) => ", more than the control group's quota lets run at once",
        (false, _) => "",
    };
    format!(
        "{}{}{more}: {} from release to last finish, {} with start and collection\n",
        Table::of(trace.parts)
            .right("part", |part| part.id.to_string())
            .right("bytes", |part| part.bytes.to_string())
            .right("blocks", |part| part.blocks.to_string())
            .right("CPU", |part| {
                let cpu = part.cpu.map(|cpu| cpu.to_string());
                cpu.unwrap_or_else(|| "any".to_owned())
            })
            .right("start", |part| number::duration(part.start_ns as f64))
            .right("end", |part| number::duration(part.end_ns as f64))
            .render(),
        number::counted(trace.threads, "thread"),
        number::duration(trace.elapsed_ns as f64),
        number::duration(trace.wall_ns as f64)
    )
}
