//! `rsalab blind verify`.

use std::path::PathBuf;

use rsalab_rsa::blind::{BlindingKey, InputMessage, PREFIX_LEN, Variant};
use zeroize::Zeroizing;

use super::{
    allowed::blinding_key,
    names::{PREFIX, SIGNATURE, beside, inputs, read_message},
};
use crate::{
    arguments::{BlindVerify, Encoding},
    commands::{
        inputs::{Inputs, check_stdin},
        per_file::GROUP,
        verify::{UNREAD, Verdict, end, note_failure},
    },
    exit::{Class, Failure, Result},
    files, kernels, keys,
    output::Log,
};

/// A message, its signature, and its prefix if the variant has one.
struct Names {
    message: Option<PathBuf>,
    signature: PathBuf,
    prefix: Option<PathBuf>,
}

/// Verifies.
pub(super) fn run(arguments: &BlindVerify, log: Log) -> Result<()> {
    let options = &arguments.key;
    let variant: Variant = arguments.variant.variant.into();
    let is_stdin = |path: &Option<PathBuf>| path.as_deref().is_some_and(files::is_dash);
    let others = [
        arguments.input.stdin(),
        ("its signature", is_stdin(&arguments.sig)),
        ("its prefix", is_stdin(&arguments.prefix)),
    ];
    check_stdin(&options.key, &options.reading, &others)?;
    let names = names(arguments, variant)?;
    let loaded = keys::public(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let key = blinding_key(options, &loaded, variant)?;
    let verdicts = names.chunks(GROUP).flat_map(|names| group(&key, names));
    end(arguments.json.json, verdicts.collect())
}

fn names(arguments: &BlindVerify, variant: Variant) -> Result<Vec<Names>> {
    let refused = |what: &str, advice| Err(Failure::new(Class::Usage, what).advice(advice));
    if arguments.prefix.is_some() && !variant.is_randomized() {
        return refused("--prefix is for a randomized variant", "leave it out");
    }
    let of_one = [
        ("--sig", arguments.sig.is_some()),
        ("--prefix", arguments.prefix.is_some()),
    ];
    let names_of = |message: Option<PathBuf>| -> Result<Names> {
        let path = message.as_deref();
        let signature = beside(arguments.sig.as_ref(), path, SIGNATURE, "--sig")?;
        let prefix = match variant.is_randomized() {
            true => Some(beside(arguments.prefix.as_ref(), path, PREFIX, "--prefix")?),
            false => None,
        };
        Ok(Names {
            message,
            signature,
            prefix,
        })
    };
    match inputs(&arguments.input, &of_one)? {
        Inputs::Many(paths) => paths.into_iter().map(|path| names_of(Some(path))).collect(),
        Inputs::One(path) => Ok(vec![names_of(path)?]),
    }
}

/// The verdict of each of some files: one that cannot be read does not stop the others.
fn group(key: &BlindingKey, names: &[Names]) -> Vec<Verdict> {
    let read: Vec<Result<(InputMessage, Vec<u8>)>> = names.iter().map(|names| read(key, names)).collect();
    let pairs: Vec<(&InputMessage, &[u8])> = read
        .iter()
        .flatten()
        .map(|(message, signature)| (message, &signature[..]))
        .collect();
    let mut verified = key.verify_batch(&pairs).into_iter();
    kernels::note("verifying", pairs.len(), &key.kernels_for(pairs.len()));
    let verdict = |(names, read): (&Names, Result<(InputMessage, Vec<u8>)>)| {
        let file = files::name(names.message.as_deref());
        let (verdict, reason, failure) = match read {
            Err(failure) => (UNREAD, Some(failure.sentence()), Some(failure)),
            Ok(_) if verified.next().expect("there is one for each") => ("OK", None, None),
            Ok((message, signature)) => {
                note_failure(&file, || key.failure(&message, &signature).ok().flatten());
                let what = format!("the signature of {file} is wrong");
                let failure = Failure::new(Class::Verification, what)
                    .advice("the file or its prefix was changed, or the key or the variant is another");
                let reason = Encoding::Raw.fault(&signature, key.modulus_len());
                ("FAILED", reason, Some(failure))
            }
        };
        Verdict {
            file,
            signature: files::name(Some(&names.signature)),
            verdict,
            reason,
            failure,
        }
    };
    names.iter().zip(read).map(verdict).collect()
}

fn read(key: &BlindingKey, names: &Names) -> Result<(InputMessage, Vec<u8>)> {
    // One byte more shows that something is too long.
    let signature = files::read_start(Some(&names.signature), key.modulus_len() as u64 + 1)?;
    let prefix = match &names.prefix {
        None => Zeroizing::default(),
        Some(path) => {
            let prefix = files::read_start(Some(path), PREFIX_LEN as u64 + 1)?;
            if prefix.len() != PREFIX_LEN {
                let what = format!("{} is no prefix, which has {PREFIX_LEN} bytes", path.display());
                return Err(Failure::new(Class::Input, what));
            }
            prefix
        }
    };
    let message = read_message(names.message.as_deref(), key.variant(), &prefix)?;
    Ok((message, signature.to_vec()))
}
