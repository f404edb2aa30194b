//! `rsalab sign` and `rsalab verify`.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rsalab_rsa::{
    Error, Status,
    format::Usage,
    hash::{Digested, Hash},
    random::SystemRng,
    scheme::{Pss, SaltLen, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};
use serde::Serialize;
use zeroize::Zeroizing;

use super::inputs::{Destination, GROUP, Inputs, beside, make_beside};
use crate::{
    arguments::{Sign, SignatureOptions, SignatureSchemeName, Verify},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
    output::{self, Talk},
    quantity,
};

/// More than any signature has.
const MOST_SIGNATURE: u64 = 4096;
/// What the name of a signature ends in, beside its file.
const ENDING: &str = ".sig";

/// Signs.
pub(crate) fn sign(arguments: &Sign, talk: Talk) -> Result<(), Failure> {
    let loaded = keys::private(&arguments.key)?;
    keys::warn(&arguments.key, &loaded.key.weaknesses(), talk);
    let scheme = scheme(&arguments.scheme, loaded.usage)?;
    let backend = kernels::backend(arguments.kernel.kernel.as_deref())?;
    let key = SigningKey::new(&loaded.key, scheme, &backend)?;
    match Inputs::of(&arguments.input)? {
        Inputs::One(path) => {
            let beside = path
                .as_deref()
                .filter(|path| !files::is_dash(path))
                .map(|path| beside(path, ENDING));
            let out = Destination::of(arguments.sig.as_deref().or(beside.as_deref()))?;
            out.check_terminal("the signature")?;
            let digest = digest(path.as_deref(), scheme.hash())?;
            let signatures = signed(&key, &[digest])?;
            out.write(&signatures[0], Privacy::Public)
        }
        Inputs::Many(paths) => {
            if arguments.sig.is_some() {
                let what = "--sig names one file, and there are several signatures";
                return Err(Failure::new(Class::Usage, what)
                    .advice("leave it out: FILE.sig is made for each FILE"));
            }
            make_beside(&paths, ENDING, Privacy::Public, |paths| {
                let digests = paths
                    .iter()
                    .map(|path| digest(Some(path), scheme.hash()))
                    .collect::<Result<Vec<_>, _>>()?;
                let signatures = signed(&key, &digests)?;
                Ok(signatures.into_iter().map(Zeroizing::new).collect())
            })?;
            talk.say(format_args!(
                "{} made",
                quantity::counted(paths.len(), "signature")
            ));
            Ok(())
        }
    }
}

fn signed(key: &SigningKey, digests: &[Digested]) -> Result<Vec<Vec<u8>>, Failure> {
    let k = key.modulus_len();
    let digests: Vec<u8> = digests.iter().flat_map(|digest| digest.to_vec()).collect();
    let count = digests.len() / key.verifying_key().scheme().hash().digest_len();
    let mut signatures = vec![0; count * k];
    let mut status = vec![Status::Done; count];
    key.signer().and_then(|mut signer| {
        signer.sign(&digests, &mut signatures, &mut status, &mut SystemRng)
    })?;
    match status.iter().position(|status| *status != Status::Done) {
        Some(item) => Err(Error::Fault { item }.into()),
        None => Ok(signatures.chunks(k).map(<[u8]>::to_vec).collect()),
    }
}

/// What came of one signature.
#[derive(Serialize)]
struct Verdict {
    file: String,
    signature: String,
    right: bool,
}

/// Verifies.
pub(crate) fn verify(arguments: &Verify, talk: Talk) -> Result<(), Failure> {
    let loaded = keys::public(&arguments.key)?;
    keys::warn(&arguments.key, &loaded.key.weaknesses(), talk);
    let scheme = scheme(&arguments.scheme, loaded.usage)?;
    let backend = kernels::backend(arguments.kernel.kernel.as_deref())?;
    if scheme.hash().is_broken() {
        talk.say("warning: whoever can choose what is signed with SHA-1 can have two messages with one signature");
    }
    let key = VerifyingKey::new(&loaded.key, scheme, &backend)?;
    let pairs: Vec<(Option<PathBuf>, PathBuf)> =
        match (Inputs::of(&arguments.input)?, &arguments.sig) {
            (Inputs::One(path), Some(signature)) => vec![(path, signature.clone())],
            (Inputs::One(Some(path)), None) if !files::is_dash(&path) => {
                vec![(Some(path.clone()), beside(&path, ENDING))]
            }
            (Inputs::One(_), None) => {
                let what = "there is no signature to verify";
                return Err(Failure::new(Class::Usage, what).advice("name its file with --sig"));
            }
            (Inputs::Many(_), Some(_)) => {
                let what = "--sig names one signature, and there are several files";
                return Err(Failure::new(Class::Usage, what)
                    .advice("leave it out: FILE.sig is read for each FILE"));
            }
            (Inputs::Many(paths), None) => paths
                .into_iter()
                .map(|path| (Some(path.clone()), beside(&path, ENDING)))
                .collect(),
        };
    if let [(path, signature)] = pairs.as_slice()
        && path.as_deref().is_none_or(files::is_dash)
        && files::is_dash(signature)
    {
        let what = "the message and its signature cannot both be standard input";
        return Err(Failure::new(Class::Usage, what).advice("name a file for one of them"));
    }
    let mut verdicts = Vec::with_capacity(pairs.len());
    for pairs in pairs.chunks(GROUP) {
        let read = pairs
            .iter()
            .map(|(path, signature)| {
                let signature = files::read(Some(signature), MOST_SIGNATURE)?;
                Ok((digest(path.as_deref(), scheme.hash())?, signature))
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let items: Vec<(&[u8], &[u8])> = read
            .iter()
            .map(|(digest, signature)| (&digest[..], &signature[..]))
            .collect();
        let is_right = key.verify_all_digests(&items);
        verdicts.extend(
            pairs
                .iter()
                .zip(is_right)
                .map(|((path, signature), right)| Verdict {
                    file: files::name(path.as_deref()),
                    signature: files::name(Some(signature)),
                    right,
                }),
        );
    }
    tell(&verdicts, arguments.json.json)
}

fn tell(verdicts: &[Verdict], as_json: bool) -> Result<(), Failure> {
    if as_json {
        output::json(&verdicts)?;
    } else {
        let lines: String = verdicts
            .iter()
            .map(|verdict| {
                let word = if verdict.right { "right" } else { "WRONG" };
                format!("{}: {word}\n", verdict.file)
            })
            .collect();
        output::data(lines.as_bytes())?;
    }
    let wrong: Vec<&Verdict> = verdicts.iter().filter(|verdict| !verdict.right).collect();
    match wrong.as_slice() {
        [] => Ok(()),
        [first, ..] => {
            let what = format!(
                "{} of {} is wrong, the first that of {}",
                wrong.len(),
                quantity::counted(verdicts.len(), "signature"),
                first.file
            );
            Err(Failure::new(Class::Verification, what).advice(
                "the file was changed, or the key, the scheme, the hash or the length of the salt are others (see --salt-len any)",
            ))
        }
    }
}

fn digest(path: Option<&Path>, hash: Hash) -> Result<Digested, Failure> {
    let read = match path.filter(|path| !files::is_dash(path)) {
        Some(path) => File::open(path).and_then(|file| hash.digest_reader(file)),
        None => hash.digest_reader(io::stdin().lock()),
    };
    read.map_err(|error| Failure::io(format!("cannot read {}", files::name(path)), error))
}

/// The scheme that was asked for, or the key's own.
fn scheme(options: &SignatureOptions, usage: Usage) -> Result<SignatureScheme, Failure> {
    let its_own = match usage {
        Usage::Any => None,
        Usage::Pss(parameters) => {
            if options.scheme == Some(SignatureSchemeName::Pkcs1v15) {
                let what = "this key is for RSASSA-PSS only";
                return Err(Failure::new(Class::Usage, what).advice("leave out --scheme"));
            }
            parameters
        }
    };
    if options.scheme == Some(SignatureSchemeName::Pkcs1v15) {
        if options.mgf_hash.is_some() || options.salt_len.is_some() {
            let what = "--mgf-hash and --salt-len are for --scheme pss";
            return Err(Failure::new(Class::Usage, what).advice("leave them out"));
        }
        return Ok(SignatureScheme::Pkcs1v15(
            options.hash.unwrap_or(Hash::Sha256),
        ));
    }
    let Some(own) = its_own else {
        let hash = options.hash.unwrap_or(Hash::Sha256);
        return Ok(SignatureScheme::Pss(Pss {
            hash,
            mgf_hash: options.mgf_hash.unwrap_or(hash),
            salt_len: options.salt_len.map_or(SaltLen::Digest, |salt| salt.0),
        }));
    };
    // RFC 4055, section 3.3: the hashes are the key's, and the salt is not shorter than the key says.
    let asked = [
        ("--hash", options.hash, own.hash),
        ("--mgf-hash", options.mgf_hash, own.mgf_hash),
    ];
    for (option, asked, own) in asked {
        if asked.is_some_and(|asked| asked != own) {
            let what = format!("this key asks for {own}, and {option} for another");
            return Err(Failure::new(Class::Usage, what).advice(format!("leave out {option}")));
        }
    }
    let least = match own.salt_len {
        SaltLen::Bytes(bytes) => bytes,
        _ => 0,
    };
    let salt_len = match options.salt_len.map(|salt| salt.0) {
        None => own.salt_len,
        Some(SaltLen::Bytes(bytes)) if bytes < least => {
            return Err(short_salt(least));
        }
        Some(SaltLen::Digest) if own.hash.digest_len() < least => return Err(short_salt(least)),
        Some(asked) => asked,
    };
    Ok(SignatureScheme::Pss(Pss { salt_len, ..own }))
}

fn short_salt(least: usize) -> Failure {
    let what = format!("this key asks for a salt of {least} bytes at least");
    Failure::new(Class::Usage, what).advice("leave out --salt-len")
}
