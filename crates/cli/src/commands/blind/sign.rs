//! `rsalab blind sign`: what the issuer does.

use std::{path::Path, thread};

use rsalab_rsa::{
    blind::{BlindError, Issuer, Variant},
    format::Purpose,
};
use zeroize::Zeroizing;

use super::{allowed::check_use, names::SIGNATURE};
use crate::{
    arguments::BlindSign,
    commands::{
        inputs::{check_stdin, with_ending},
        per_file::{Bytes, Files, Kind, PerFile},
    },
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    kernels, keys,
    output::Log,
};

/// The most bytes of blinded messages in a file: they lie in memory.
const MOST: u64 = 1 << 26;
/// Blinded messages that are worth a thread: two passes of eight lanes.
const LEAST: usize = 16;

/// Signs.
pub(super) fn run(arguments: &BlindSign, log: Log) -> Result<()> {
    let options = &arguments.key;
    check_stdin(&options.key, &options.reading, &[arguments.input.stdin()])?;
    let files = Files::of::<Signing>(&arguments.input, arguments.out.as_deref(), |path| {
        Some(with_ending(path, SIGNATURE))
    })?;
    let loaded = keys::private(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let variant: Variant = arguments.variant.variant.into();
    check_use(options, &loaded, |scheme| Purpose::Sign(scheme), variant)?;
    let issuer = Issuer::with_backend(&loaded.key, variant, &keys::backend(options)?)?;
    let threads = arguments.threads.count();
    files.run(&Signing { issuer, threads }, log)
}

struct Signing {
    issuer: Issuer,
    threads: usize,
}

impl PerFile for Signing {
    type Input = Vec<u8>;

    const KIND: Kind = Kind {
        noun: "blind signature",
        ending: SIGNATURE,
        option: "--out",
        privacy: Privacy::Public,
        most: MOST + 1,
    };

    fn read(&self, path: Option<&Path>) -> Result<Vec<u8>> {
        let bytes =
            files::read(path, MOST).map_err(|failure| failure.or_advice("give fewer blinded messages at once"))?;
        let (k, len) = (self.issuer.modulus_len(), bytes.len());
        if bytes.is_empty() || !len.is_multiple_of(k) {
            let what = format!("{} has {len} bytes, which is no blinded message", files::name(path));
            return Err(Failure::new(Class::Input, what).advice(format!(
                "a blinded message has {k} bytes under this key; several lie one after another"
            )));
        }
        Ok(bytes.to_vec())
    }

    fn is_binary(&self) -> bool {
        true
    }

    fn results(&self, inputs: &[&Vec<u8>]) -> Result<Vec<Result<Bytes>>> {
        let k = self.issuer.modulus_len();
        let blinded: Vec<&[u8]> = inputs.iter().flat_map(|input| input.chunks(k)).collect();
        let mut signed = self.sign(&blinded)?.into_iter();
        kernels::note("signing", blinded.len(), &self.issuer.kernels_for(blinded.len()));
        let result_of = |input: &&Vec<u8>| {
            let of_file: Vec<_> = signed.by_ref().take(input.len() / k).collect();
            let mut bytes = Zeroizing::new(Vec::with_capacity(input.len()));
            let is_one = of_file.len() == 1;
            for (place, signature) in of_file.into_iter().enumerate() {
                let refused = |error: BlindError| match (is_one, &error) {
                    (false, BlindError::OutOfRange) => {
                        let what = format!("blinded message {place} is not below the modulus");
                        Failure::new(Class::Input, what)
                            .advice("blinded messages are counted from 0; nothing was written")
                    }
                    _ => error.into(),
                };
                bytes.extend_from_slice(&signature.map_err(refused)?);
            }
            Ok(bytes)
        };
        Ok(inputs.iter().map(result_of).collect())
    }
}

impl Signing {
    /// Signs in order, on as many threads as are worth it.
    fn sign(&self, blinded: &[&[u8]]) -> Result<Vec<Result<Vec<u8>, BlindError>>> {
        let share = blinded.len().div_ceil(self.threads).next_multiple_of(LEAST);
        if share >= blinded.len() {
            return Ok(self.issuer.sign_batch(blinded)?);
        }
        let shares = thread::scope(|scope| {
            let start = |blinded| {
                let sign = move || self.issuer.sign_batch(blinded);
                thread::Builder::new().spawn_scoped(scope, sign).map_err(|_| blinded)
            };
            let running: Vec<_> = blinded.chunks(share).map(start).collect();
            let signed = running.into_iter().map(|started| match started {
                Ok(thread) => thread.join().expect("a thread that signs does not panic"),
                // The system gives no more threads.
                Err(blinded) => self.issuer.sign_batch(blinded),
            });
            signed.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(shares.into_iter().flatten().collect())
    }
}
