//! `rsalab blind finalize`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rsalab_rsa::{
    PublicKey,
    blind::{BlindingKey, InputMessage, PREFIX_LEN, Pending, Variant},
    format::Loaded,
    signing::Signature,
};

use super::{
    allowed::blinding_key,
    names::{BLINDED, PREFIX, SIGNATURE, STATE, beside, each_group, inputs, read_message},
};
use crate::{
    arguments::{BlindFinalize, KeyOptions},
    commands::inputs::{Destination, Inputs, check_stdin, with_ending},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    keys,
    output::Log,
};

/// Finalizes.
pub(super) fn run(arguments: &BlindFinalize, log: Log) -> Result<()> {
    let options = &arguments.key;
    let is_stdin = |path: &Option<PathBuf>| path.as_deref().is_some_and(files::is_dash);
    let others = [
        arguments.input.stdin(),
        ("the state", is_stdin(&arguments.state)),
        ("the blind signature", is_stdin(&arguments.blind_sig)),
    ];
    check_stdin(&options.key, &options.reading, &others)?;
    let of_one = [
        ("--state", arguments.state.is_some()),
        ("--blind-sig", arguments.blind_sig.is_some()),
        ("--sig", arguments.sig.is_some()),
        ("--prefix", arguments.prefix.is_some()),
    ];
    let inputs = inputs(&arguments.input, &of_one)?;
    let one = match &inputs {
        Inputs::One(path) => Some(One::of(arguments, path.clone())?),
        Inputs::Many(_) => None,
    };
    let loaded = keys::public(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let mut keys = Keys {
        options,
        loaded: &loaded,
        ready: BTreeMap::new(),
    };
    match (inputs, one) {
        (Inputs::One(_), Some(one)) => one.finalize(&mut keys),
        (Inputs::Many(paths), _) => each_group(&paths, "signature", log, |paths| Ok(group(&mut keys, paths))),
        (Inputs::One(_), None) => unreachable!("one was made of it"),
    }
}

/// The issuer's key, made ready for the variants that states name.
struct Keys<'a> {
    options: &'a KeyOptions,
    loaded: &'a Loaded<PublicKey>,
    /// By their names.
    ready: BTreeMap<&'static str, BlindingKey>,
}

impl Keys<'_> {
    fn of(&mut self, variant: Variant) -> Result<&BlindingKey> {
        if !self.ready.contains_key(variant.name()) {
            let key = blinding_key(self.options, self.loaded, variant)?;
            self.ready.insert(variant.name(), key);
        }
        Ok(&self.ready[variant.name()])
    }

    fn answer(&self, of: &Names<'_>) -> Result<Answer> {
        let k = self.loaded.key.modulus_len();
        // One byte more shows that something is too long.
        let most = Pending::max_encoded_len(k) as u64 + 1;
        let encoded = files::read_start(Some(of.state), most)?;
        let pending = Pending::decode(&encoded, &self.loaded.key)
            .map_err(|error| Failure::from(error).or_advice("name the state that 'rsalab blind request' made"))?;
        let blind_signature = files::read_start(Some(of.blind_sig), k as u64 + 1)?;
        if blind_signature.len() != k {
            let name = of.blind_sig.display();
            let what = format!("{name} is no blind signature, which has {k} bytes under this key");
            return Err(Failure::new(Class::Input, what));
        }
        let message = read_message(of.message, pending.variant(), pending.prefix())?;
        Ok(Answer {
            message,
            pending,
            blind_signature: blind_signature.to_vec(),
        })
    }
}

/// Files that are read to finalize one signature.
struct Names<'a> {
    message: Option<&'a Path>,
    state: &'a Path,
    blind_sig: &'a Path,
}

struct Answer {
    message: InputMessage,
    pending: Pending,
    blind_signature: Vec<u8>,
}

/// A single message.
struct One {
    message: Option<PathBuf>,
    state: PathBuf,
    blind_sig: PathBuf,
    signature: Destination,
    /// Where a prefix goes, if there is one: that is known when the state has been read.
    prefix: Result<PathBuf>,
}

impl One {
    fn of(arguments: &BlindFinalize, message: Option<PathBuf>) -> Result<One> {
        let path = message.as_deref();
        let state = beside(arguments.state.as_ref(), path, STATE, "--state")?;
        let ending = format!("{BLINDED}{SIGNATURE}");
        let blind_sig = beside(arguments.blind_sig.as_ref(), path, &ending, "--blind-sig")?;
        let usual = path
            .filter(|path| !files::is_dash(path))
            .map(|path| with_ending(path, SIGNATURE));
        let signature = Destination::of(arguments.sig.as_deref().or(usual.as_deref()))?;
        signature.check_terminal("the signature")?;
        let prefix = beside(arguments.prefix.as_ref(), path, PREFIX, "--prefix");
        Ok(One {
            state,
            blind_sig,
            signature,
            prefix,
            message,
        })
    }

    fn finalize(self, keys: &mut Keys<'_>) -> Result<()> {
        let answer = keys.answer(&Names {
            message: self.message.as_deref(),
            state: &self.state,
            blind_sig: &self.blind_sig,
        })?;
        let Answer {
            message,
            pending,
            blind_signature,
        } = &answer;
        let prefix_path = match pending.variant().is_randomized() {
            true => Some(self.prefix?),
            false => None,
        };
        if let Some(path) = &prefix_path {
            files::check_absent(path)?;
        }
        let key = keys.of(pending.variant())?;
        let signature = key.finalize(message, pending, blind_signature)?;
        let prefix = prefix_path
            .as_ref()
            .map(|path| (path.as_path(), message.prefix(), Privacy::Public));
        match &self.signature {
            Destination::File(path) => {
                let signature = (path.as_path(), signature.as_bytes(), Privacy::Public);
                let all: Vec<_> = prefix.into_iter().chain([signature]).collect();
                files::create(&all)
            }
            Destination::Stdout => {
                files::create(&prefix.into_iter().collect::<Vec<_>>())?;
                self.signature.write(signature.as_bytes(), Privacy::Public)
            }
        }
    }
}

/// Finalizes the signatures of some files. One that fails stops none of the others.
fn group(keys: &mut Keys<'_>, paths: &[&PathBuf]) -> Vec<Result<bool>> {
    let answers: Vec<Result<Answer>> = paths
        .iter()
        .map(|path| {
            let blind_sig = with_ending(path, &format!("{BLINDED}{SIGNATURE}"));
            keys.answer(&Names {
                message: Some(path),
                state: &with_ending(path, STATE),
                blind_sig: &blind_sig,
            })
        })
        .collect();
    let mut outcomes: Vec<Option<Result<bool>>> = Vec::new();
    outcomes.resize_with(paths.len(), || None);
    for variant in Variant::ALL {
        let of_variant: Vec<(usize, &Answer)> = answers
            .iter()
            .enumerate()
            .filter_map(|(place, answer)| Some((place, answer.as_ref().ok()?)))
            .filter(|(_, answer)| answer.pending.variant() == variant)
            .collect();
        if of_variant.is_empty() {
            continue;
        }
        let finalized = signatures(keys, variant, &of_variant);
        for ((place, answer), signature) in of_variant.into_iter().zip(finalized) {
            let made = signature.and_then(|signature| write(keys, paths[place], answer, &signature));
            outcomes[place] = Some(made);
        }
    }
    answers
        .into_iter()
        .zip(outcomes)
        .map(|(answer, outcome)| match answer {
            Err(failure) => Err(failure),
            Ok(_) => outcome.expect("every variant was looked at"),
        })
        .collect()
}

fn signatures(keys: &mut Keys<'_>, variant: Variant, answers: &[(usize, &Answer)]) -> Vec<Result<Signature>> {
    let triples: Vec<_> = answers
        .iter()
        .map(|(_, answer)| (&answer.message, &answer.pending, &answer.blind_signature[..]))
        .collect();
    let finalized = keys.of(variant).and_then(|key| Ok(key.finalize_batch(&triples)?));
    match finalized {
        Ok(signatures) => signatures
            .into_iter()
            .map(|signature| signature.map_err(Failure::from))
            .collect(),
        // What holds for all of them.
        Err(failure) => {
            let said = |_| Err(Failure::new(failure.class(), failure.sentence()));
            answers.iter().map(said).collect()
        }
    }
}

/// Writes signature and prefix next to a file, unless they are there already.
fn write(keys: &mut Keys<'_>, path: &Path, answer: &Answer, signature: &Signature) -> Result<bool> {
    let (sig, prefix) = (with_ending(path, SIGNATURE), with_ending(path, PREFIX));
    let message = &answer.message;
    let has_prefix = message.variant().is_randomized();
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    if exists(&sig) || (has_prefix && exists(&prefix)) {
        let key = keys.of(message.variant())?;
        let k = key.modulus_len() as u64;
        let is_there = exists(&sig)
            && key.verify(message, &files::read_start(Some(&sig), k + 1)?)
            && (!has_prefix
                || (exists(&prefix)
                    && files::read_start(Some(&prefix), PREFIX_LEN as u64 + 1)?[..] == *message.prefix()));
        return match is_there {
            true => Ok(false),
            false => {
                let what = format!(
                    "{} or {} exists already, and they are no signature of it by this key",
                    sig.display(),
                    prefix.display()
                );
                Err(Failure::about_existing(what))
            }
        };
    }
    let signature = (sig.as_path(), signature.as_bytes(), Privacy::Public);
    let prefix = has_prefix.then(|| (prefix.as_path(), message.prefix(), Privacy::Public));
    let all: Vec<_> = prefix.into_iter().chain([signature]).collect();
    files::create(&all).map(|()| true)
}
