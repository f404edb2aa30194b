//! `rsalab sign` and `rsalab verify`.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rsalab_rsa::{
    Error, Status,
    format::{Loaded, Purpose, Usage},
    hash::{Digested, Hash},
    random::SystemRng,
    scheme::{Pss, SaltLen, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};
use serde::Serialize;
use zeroize::Zeroizing;

use super::inputs::{Destination, GROUP, Inputs, Item, Made, Results, beside, make_beside};
use rsalab_study::number;

use crate::{
    arguments::{Sign, SignatureOptions, SignatureSchemeName, Verify},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
    output::{self, Talk, printable},
};

/// More bytes than any signature has.
const MOST_SIGNATURE: u64 = 4096;
/// What the name of a signature ends in, beside its file.
const ENDING: &str = ".sig";

/// Signs.
pub(crate) fn sign(arguments: &Sign, talk: Talk) -> Result<(), Failure> {
    let inputs = Inputs::of(&arguments.input)?;
    let out = match &inputs {
        Inputs::Many(_) if arguments.sig.is_some() => {
            let what = "--sig names one file, and there are several signatures";
            return Err(Failure::new(Class::Usage, what)
                .advice("leave it out: FILE.sig is made for each FILE"));
        }
        Inputs::Many(_) => None,
        Inputs::One(path) => arguments.sig.clone().or_else(|| {
            let path = path.as_deref().filter(|path| !files::is_dash(path))?;
            Some(beside(path, ENDING))
        }),
    };
    let loaded = keys::private(&arguments.key)?;
    keys::warn(&arguments.key, &loaded.key.weaknesses(), talk);
    let scheme = scheme(&arguments.scheme, &loaded)?;
    let purpose = Purpose::Sign(&scheme);
    arguments.any_use.check(&arguments.key, &loaded, purpose)?;
    let backend = kernels::backend(arguments.kernel.kernel.as_deref())?;
    let key = SigningKey::with_backend(&loaded.key, scheme, &backend)?;
    match inputs {
        Inputs::One(path) => {
            let out = Destination::of(out.as_deref())?;
            out.check_terminal("the signature")?;
            let digest = digest(path.as_deref(), scheme.hash())?;
            let signatures = signed(&key, &[digest])?;
            out.write(&signatures[0], Privacy::Public)
        }
        Inputs::Many(paths) => {
            let results = Results {
                ending: ENDING,
                privacy: Privacy::Public,
                noun: "signature",
                most: MOST_SIGNATURE,
            };
            make_beside(&paths, &results, talk, |items| sign_each(&key, items))
        }
    }
}

/// A signature for each file that has none. One that is there stays, if it is one of the file.
fn sign_each(key: &SigningKey, items: &[Item<'_>]) -> Result<Vec<Result<Made, Failure>>, Failure> {
    let hash = key.verifying_key().scheme().hash();
    let digests: Vec<Result<Digested, Failure>> = items
        .iter()
        .map(|item| digest(Some(item.path), hash))
        .collect();
    let to_do: Vec<Digested> = items
        .iter()
        .zip(&digests)
        .filter(|(item, _)| item.there.is_none())
        .filter_map(|(_, digest)| digest.as_ref().ok().copied())
        .collect();
    let mut signatures = signed(key, &to_do)?.into_iter();
    let made = |(item, digest): (&Item<'_>, Result<Digested, Failure>)| {
        let digest = digest?;
        let Some(there) = &item.there else {
            let signature = signatures.next().expect("there is one for each");
            return Ok(Made::New(Zeroizing::new(signature)));
        };
        match key
            .verifying_key()
            .verify_digests(&[(&digest, &there.bytes)])
            == [true]
        {
            true => Ok(Made::There),
            false => {
                let out = beside(item.path, ENDING);
                let what = format!(
                    "{} exists already, and is no signature of it by this key and scheme",
                    out.display()
                );
                Err(Failure::new(Class::Io, what))
            }
        }
    };
    Ok(items.iter().zip(digests).map(made).collect())
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
    verdict: Standing,
    /// What can be said beyond the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip)]
    failure: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Standing {
    #[serde(rename = "OK")]
    Right,
    #[serde(rename = "FAILED")]
    Wrong,
    /// The file or its signature could not be read.
    #[serde(rename = "unread")]
    Unread,
}

/// Verifies.
pub(crate) fn verify(arguments: &Verify, talk: Talk) -> Result<(), Failure> {
    let pairs = pairs(arguments)?;
    let loaded = keys::public(&arguments.key)?;
    keys::warn(&arguments.key, &loaded.key.weaknesses(), talk);
    let scheme = scheme(&arguments.scheme, &loaded)?;
    let purpose = Purpose::Verify(&scheme);
    arguments.any_use.check(&arguments.key, &loaded, purpose)?;
    let backend = kernels::backend(arguments.kernel.kernel.as_deref())?;
    if scheme.hash().is_broken() {
        talk.say("warning: whoever can choose what is signed with SHA-1 can have two messages with one signature");
    }
    let key = VerifyingKey::with_backend(&loaded.key, scheme, &backend)?;
    let mut verdicts = Vec::with_capacity(pairs.len());
    for pairs in pairs.chunks(GROUP) {
        verify_group(&key, loaded.key.modulus_len(), pairs, &mut verdicts);
    }
    let printed = print(&verdicts, arguments.json.json);
    judge(verdicts).and(printed)
}

/// A file, standard input if there is none, and its signature.
type Pair = (Option<PathBuf>, PathBuf);

fn pairs(arguments: &Verify) -> Result<Vec<Pair>, Failure> {
    let pairs: Vec<Pair> = match (Inputs::of(&arguments.input)?, &arguments.sig) {
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
    Ok(pairs)
}

/// The verdict of each of some pairs: a pair that cannot be read does not stop the others.
fn verify_group(key: &VerifyingKey, k: usize, pairs: &[Pair], verdicts: &mut Vec<Verdict>) {
    let read: Vec<Result<(Digested, Vec<u8>), Failure>> = pairs
        .iter()
        .map(|(path, signature)| {
            // One byte more shows that it is too long.
            let signature = files::read_start(Some(signature), k as u64 + 1)?;
            Ok((digest(path.as_deref(), key.scheme().hash())?, signature))
        })
        .collect();
    let items: Vec<(&[u8], &[u8])> = read
        .iter()
        .flatten()
        .map(|(digest, signature)| (&digest[..], &signature[..]))
        .collect();
    let mut are_right = key.verify_digests(&items).into_iter();
    for ((path, signature), read) in pairs.iter().zip(read) {
        let (verdict, reason, failure) = match read {
            Err(failure) => (Standing::Unread, Some(failure.sentence()), Some(failure)),
            Ok((_, signature)) => {
                let is_right = are_right.next().expect("there is one for each");
                let reason = match signature.len() {
                    len if len == k => None,
                    len if len > k => Some(format!(
                        "it is longer than the {k} bytes of a signature by this key"
                    )),
                    len => Some(format!(
                        "it has {len} bytes; a signature by this key has {k}"
                    )),
                };
                match is_right {
                    true => (Standing::Right, None, None),
                    false => (Standing::Wrong, reason, None),
                }
            }
        };
        verdicts.push(Verdict {
            file: files::name(path.as_deref()),
            signature: files::name(Some(signature)),
            verdict,
            reason,
            failure,
        });
    }
}

fn print(verdicts: &[Verdict], as_json: bool) -> Result<(), Failure> {
    if as_json {
        return output::json(&verdicts);
    }
    let mut lines = String::new();
    for verdict in verdicts {
        let word = match verdict.verdict {
            Standing::Right => "OK",
            Standing::Wrong => "FAILED",
            Standing::Unread => "not verified",
        };
        lines += &printable(&verdict.file);
        lines += ": ";
        lines += word;
        if let Some(reason) = &verdict.reason {
            lines += &format!(" ({})", printable(reason));
        }
        lines.push('\n');
    }
    output::report(&lines)
}

/// One verdict of all: a wrong signature weighs more than a file that cannot be read.
fn judge(mut verdicts: Vec<Verdict>) -> Result<(), Failure> {
    let of = |standing| move |verdict: &&Verdict| verdict.verdict == standing;
    let wrong = verdicts.iter().filter(of(Standing::Wrong)).count();
    let unread = verdicts.iter().filter(of(Standing::Unread)).count();
    let advice = "the file was changed, or the key, the scheme, the hash or the length of the salt are others (see --salt-len any)";
    if let Some(first) = verdicts.iter().find(of(Standing::Wrong)) {
        let also = match unread {
            0 => String::new(),
            count => format!(
                ", and {} could not be verified",
                number::counted(count, "other")
            ),
        };
        let what = match (wrong, verdicts.len()) {
            (1, 1) => format!("the signature of {} is wrong", first.file),
            (1, all) => format!(
                "1 of {all} signatures is wrong, that of {}{also}",
                first.file
            ),
            (count, all) => format!(
                "{count} of {all} signatures are wrong, the first that of {}{also}",
                first.file
            ),
        };
        return Err(Failure::new(Class::Verification, what).advice(advice));
    }
    if unread == 0 {
        return Ok(());
    }
    let all = verdicts.len();
    let mut failures = verdicts.drain(..).filter_map(|verdict| verdict.failure);
    let first = failures.next().expect("one could not be read");
    match all {
        1 => Err(first),
        _ => Err(first.among(&format!(
            "{unread} of {} could not be verified, the first because",
            number::counted(all, "signature")
        ))),
    }
}

fn digest(path: Option<&Path>, hash: Hash) -> Result<Digested, Failure> {
    let read = match path.filter(|path| !files::is_dash(path)) {
        Some(path) => File::open(path).and_then(|file| hash.digest_reader(file)),
        None => hash.digest_reader(io::stdin().lock()),
    };
    read.map_err(|error| Failure::io(format!("cannot read {}", files::name(path)), error))
}

/// The scheme that was asked for, or the key's own, or the one that the key's file names.
fn scheme<K>(options: &SignatureOptions, loaded: &Loaded<K>) -> Result<SignatureScheme, Failure> {
    let its_own = match loaded.usage {
        Usage::Any => None,
        Usage::Pss(parameters) => {
            if options.scheme == Some(SignatureSchemeName::Pkcs1v15) {
                let what = "this key is for RSASSA-PSS only";
                return Err(Failure::new(Class::Usage, what).advice("leave out --scheme"));
            }
            parameters
        }
    };
    let named = loaded.restrictions.signature_scheme();
    let is_pkcs1 = match (options.scheme, its_own, named) {
        (Some(scheme), ..) => scheme == SignatureSchemeName::Pkcs1v15,
        (None, None, Some(SignatureScheme::Pkcs1v15(_))) => true,
        _ => false,
    };
    let usual_hash = named.map_or(Hash::Sha256, |scheme| scheme.hash());
    if is_pkcs1 {
        if options.mgf_hash.is_some() || options.salt_len.is_some() {
            let what = "--mgf-hash and --salt-len are for --scheme pss";
            return Err(Failure::new(Class::Usage, what).advice("leave them out"));
        }
        return Ok(SignatureScheme::Pkcs1v15(
            options.hash.unwrap_or(usual_hash),
        ));
    }
    let Some(own) = its_own else {
        let hash = options.hash.unwrap_or(usual_hash);
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
