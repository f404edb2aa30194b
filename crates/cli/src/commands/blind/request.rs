//! `rsalab blind request`.

use std::path::{Path, PathBuf};

use rsalab_rsa::blind::{BlindingKey, InputMessage, Pending};

use super::{
    allowed::blinding_key,
    names::{BLINDED, STATE, beside, each_group, inputs, read_message},
};
use crate::{
    arguments::BlindRequest,
    commands::inputs::{Destination, Inputs, check_stdin, with_ending},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    kernels, keys,
    output::Log,
};

/// Blinds.
pub(super) fn run(arguments: &BlindRequest, log: Log) -> Result<()> {
    let options = &arguments.key;
    check_stdin(&options.key, &options.reading, &[arguments.input.stdin()])?;
    let of_one = [
        ("--out", arguments.out.is_some()),
        ("--state", arguments.state.is_some()),
    ];
    let inputs = inputs(&arguments.input, &of_one)?;
    // Before the key is read, and before anything is asked for.
    let one = match &inputs {
        Inputs::One(path) => Some(One::of(arguments, path.as_deref())?),
        Inputs::Many(_) => None,
    };
    let loaded = keys::public(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let variant = arguments.variant.variant.into();
    let key = blinding_key(options, &loaded, variant)?;
    match (inputs, one) {
        (Inputs::One(path), Some(one)) => {
            let (blinded, pending) = key.blind(&prepare(path.as_deref(), &key)?)?;
            one.write(&blinded, &pending)
        }
        (Inputs::Many(paths), _) => each_group(&paths, "request", log, |paths| Ok(group(&key, &loaded.key, paths))),
        (Inputs::One(_), None) => unreachable!("one was made of it"),
    }
}

/// Where the request of a single message goes.
struct One {
    blinded: Destination,
    state: PathBuf,
}

impl One {
    fn of(arguments: &BlindRequest, path: Option<&Path>) -> Result<One> {
        let state = beside(arguments.state.as_ref(), path, STATE, "--state")?;
        if files::is_dash(&state) {
            let what = "the state is secret, and not printed";
            return Err(Failure::new(Class::Usage, what).advice("name a file with --state"));
        }
        let out = beside(arguments.out.as_ref(), path, BLINDED, "--out, or '-'")?;
        if out == state {
            let what = format!("--out and --state both name {}", out.display());
            return Err(Failure::new(Class::Usage, what).advice("name a file for each"));
        }
        files::check_absent(&state)?;
        let blinded = Destination::of(Some(&out))?;
        blinded.check_terminal("the blinded message")?;
        Ok(One { blinded, state })
    }

    fn write(&self, blinded: &[u8], pending: &Pending) -> Result<()> {
        let state = pending.encode();
        match &self.blinded {
            Destination::File(path) => create(path, blinded, &self.state, &state),
            // The state first: without it, what is printed is worth nothing.
            Destination::Stdout => {
                files::create(&[(&self.state, &state, Privacy::Private)])?;
                self.blinded.write(blinded, Privacy::Public)
            }
        }
    }
}

fn create(out: &Path, blinded: &[u8], state_path: &Path, state: &[u8]) -> Result<()> {
    files::create(&[(state_path, state, Privacy::Private), (out, blinded, Privacy::Public)])
}

fn prepare(path: Option<&Path>, key: &BlindingKey) -> Result<InputMessage> {
    let prefix = InputMessage::new_prefix(key.variant())?;
    read_message(path, key.variant(), &prefix)
}

/// Blinds some files. One that cannot be read stops none of the others.
fn group(key: &BlindingKey, public: &rsalab_rsa::PublicKey, paths: &[&PathBuf]) -> Vec<Result<bool>> {
    let opened: Vec<Result<Option<InputMessage>>> = paths
        .iter()
        .map(|path| match is_there(path, key, public)? {
            true => Ok(None),
            false => prepare(Some(path), key).map(Some),
        })
        .collect();
    let messages: Vec<&InputMessage> = opened.iter().flatten().flatten().collect();
    kernels::note("blinding", messages.len(), &key.kernels_for(messages.len()));
    let mut requests = match key.blind_batch(&messages) {
        Ok(requests) => requests.into_iter(),
        // No randomness, or no key: what holds for all of them.
        Err(error) => {
            let failure = Failure::from(error);
            let said = |_| Err(Failure::new(failure.class(), failure.sentence()));
            return paths.iter().map(said).collect();
        }
    };
    let write = |(path, opened): (&&PathBuf, Result<Option<InputMessage>>)| {
        if opened?.is_none() {
            return Ok(false);
        }
        let (blinded, pending) = requests.next().expect("there is one for each");
        let (out, state) = (with_ending(path, BLINDED), with_ending(path, STATE));
        create(&out, &blinded, &state, &pending.encode()).map(|()| true)
    };
    paths.iter().zip(opened).map(write).collect()
}

/// Returns whether the request of a file has been made: both of its files are there, and belong to it, to this key and
/// variant.
fn is_there(path: &Path, key: &BlindingKey, public: &rsalab_rsa::PublicKey) -> Result<bool> {
    let (out, state) = (with_ending(path, BLINDED), with_ending(path, STATE));
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    if !exists(&out) && !exists(&state) {
        return files::check_absent(&out).map(|()| false);
    }
    let k = key.modulus_len();
    let is_request = exists(&out) && exists(&state) && {
        let most = Pending::max_encoded_len(k) as u64 + 1;
        let encoded = files::read_start(Some(&state), most)?;
        let blinded = files::read_start(Some(&out), k as u64 + 1)?;
        match Pending::decode(&encoded, public) {
            Ok(pending) if pending.variant() == key.variant() => {
                let message = read_message(Some(path), key.variant(), pending.prefix())?;
                key.is_request(&message, &pending, &blinded)?
            }
            _ => false,
        }
    };
    match is_request {
        true => Ok(true),
        false => {
            let (out, state) = (out.display(), state.display());
            let what = format!("{out} or {state} exists already, and they are no request for it by this key");
            Err(Failure::about_existing(what))
        }
    }
}
