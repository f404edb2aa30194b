//! `rsalab verify`.

use std::path::PathBuf;

use rsalab_rsa::{
    Backend,
    format::Purpose,
    scheme::{SignatureScheme, VerificationFailure},
    signing::VerifyingKey,
};
use serde::Serialize;

use super::{
    encoding,
    inputs::{Inputs, check_stdin, with_ending},
    per_file::GROUP,
    schemes,
    sign::ENDING,
};
use crate::{
    arguments::{Encoding, Verify},
    exit::{self, Class, Failure, Result},
    files, kernels, keys,
    output::{self, Log},
    printable::printable,
    steps,
    terminal::{self, coloured},
};

/// The outcome of one signature.
#[derive(Serialize)]
pub(super) struct Verdict {
    pub(super) file: String,
    pub(super) signature: String,
    /// `OK`, or `accepted` by screening; `FAILED`; or `unread`, if the file or its signature could not be read.
    pub(super) verdict: &'static str,
    /// Remarks beyond the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip)]
    pub(super) failure: Option<Failure>,
}

pub(super) const UNREAD: &str = "unread";

/// Files that are screened together: a product has a price of its own, of as many signatures as some hundreds cost.
const SCREENED: usize = 1 << 14;

/// Verifies.
pub(crate) fn run(arguments: &Verify, log: Log) -> Result<()> {
    let options = &arguments.key;
    let sig_is_stdin = arguments.sig.as_deref().is_some_and(files::is_dash);
    let others = [arguments.input.stdin(), ("its signature", sig_is_stdin)];
    check_stdin(&options.key, &options.reading, &others)?;
    let pairs = pairs(arguments)?;
    let loaded = keys::public(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let scheme = schemes::of_signature(&arguments.scheme, &loaded)?;
    schemes::note_signature(&scheme);
    keys::check_use(options, &loaded, Purpose::Verify(&scheme))?;
    if scheme.hash().is_broken() {
        log.note("warning: SHA-1 is broken: two messages with one signature can be made");
    }
    if arguments.screen && !matches!(scheme, SignatureScheme::Pkcs1v15(_)) {
        let what = "--screen is for --scheme pkcs1v15: nobody knows the encodings of RSASSA-PSS";
        return Err(Failure::new(Class::Usage, what).advice("leave it out, or add --scheme pkcs1v15"));
    }
    let backend = keys::backend(options)?;
    let key = VerifyingKey::with_backend(&loaded.key, scheme, &backend)?;
    let reading = Reading {
        k: loaded.key.modulus_len(),
        encoding: arguments.encoding.encoding(),
        digest: arguments.digest.digest,
    };
    let mut verdicts = Vec::with_capacity(pairs.len());
    for pairs in pairs.chunks(if arguments.screen { SCREENED } else { GROUP }) {
        verdicts.extend(verify_group(
            &key,
            &reading,
            arguments.screen.then(|| backend.kernel()),
            pairs,
        )?);
    }
    end(arguments.json.json, verdicts)
}

/// Prints the verdicts, which decide how the program ends.
pub(super) fn end(as_json: bool, verdicts: Vec<Verdict>) -> Result<()> {
    let printed = output::print(as_json, &verdicts, || shown(&verdicts));
    let failures = verdicts.into_iter().map(|verdict| verdict.failure);
    exit::of_several(failures, "not verified", "signature").and(printed)
}

/// A file, standard input if there is none, and its signature.
type Pair = (Option<PathBuf>, PathBuf);

fn pairs(arguments: &Verify) -> Result<Vec<Pair>> {
    let refused = |what, advice| Err(Failure::new(Class::Usage, what).advice(advice));
    let beside = |path: PathBuf| {
        let signature = with_ending(&path, ENDING);
        (Some(path), signature)
    };
    match (Inputs::of(&arguments.input)?, &arguments.sig) {
        (Inputs::One(path), Some(signature)) => Ok(vec![(path, signature.clone())]),
        (Inputs::One(Some(path)), None) if !files::is_dash(&path) => Ok(vec![beside(path)]),
        (Inputs::One(_), None) => refused("there is no signature to verify", "name its file with --sig"),
        (Inputs::Many(_), Some(_)) => refused(
            "--sig names one signature, and there are several files",
            "leave it out: FILE.sig is read for each FILE",
        ),
        (Inputs::Many(paths), None) => Ok(paths.into_iter().map(beside).collect()),
    }
}

/// How messages and signatures are read.
struct Reading {
    /// Bytes of a signature.
    k: usize,
    encoding: Encoding,
    /// `true` if files hold digests.
    digest: bool,
}

/// The digest of a message, its signature, and what is wrong with how that is written.
type Read = (Vec<u8>, Vec<u8>, Option<String>);

impl Reading {
    fn read(&self, key: &VerifyingKey, (path, signature): &Pair) -> Result<Read> {
        let written = files::read_start(Some(signature), encoding::most(self.k))?;
        let digest = files::digest(path.as_deref(), key.scheme().hash(), self.digest)?;
        let fault = self.encoding.fault(&written, self.k);
        let signature = self.encoding.decoded(&written).unwrap_or_default();
        Ok((digest, signature, fault))
    }
}

/// The verdict of each of some pairs, verified or, on a kernel of that name, screened: a pair that cannot be read does
/// not stop the others.
fn verify_group(
    key: &VerifyingKey,
    reading: &Reading,
    screens_on: Option<&str>,
    pairs: &[Pair],
) -> Result<Vec<Verdict>> {
    let read: Vec<Result<Read>> = pairs.iter().map(|pair| reading.read(key, pair)).collect();
    let items: Vec<(&[u8], &[u8])> = read
        .iter()
        .flatten()
        .map(|(digest, signature, _)| (&digest[..], &signature[..]))
        .collect();
    let (right, verified) = match screens_on {
        Some(kernel) => {
            kernels::note("screening", items.len(), &[kernel]);
            ("accepted", key.screen_digests(&items)?)
        }
        None => {
            kernels::note("verifying", items.len(), &key.kernels_for(items.len()));
            ("OK", key.verify_digests(&items))
        }
    };
    let mut verified = verified.into_iter();
    let verdict = |((path, signature), read): (&Pair, Result<Read>)| {
        let (verdict, reason, failure) = match read {
            Err(failure) => (UNREAD, Some(failure.sentence()), Some(failure)),
            Ok(_) if verified.next().expect("there is one for each") => (right, None, None),
            Ok((digest, bytes, fault)) => {
                let name = files::name(path.as_deref());
                note_failure(&name, || key.failure_of_digest(&digest, &bytes).ok().flatten());
                let what = format!("the signature of {name} is wrong");
                let failure = Failure::new(Class::Verification, what).advice(fault.as_deref().unwrap_or(
                    "the file was changed, or the key, the scheme, the hash or the length of the salt are others (see --salt-len any)",
                ));
                ("FAILED", fault, Some(failure))
            }
        };
        Verdict {
            file: files::name(path.as_deref()),
            signature: files::name(Some(signature)),
            verdict,
            reason,
            failure,
        }
    };
    Ok(pairs.iter().zip(read).map(verdict).collect())
}

/// Tells at which step a signature fails. Signatures are public, and so is what is wrong with one.
pub(super) fn note_failure(name: &str, failure: impl FnOnce() -> Option<VerificationFailure>) {
    if steps::are_shown()
        && let Some(failure) = failure()
    {
        steps::ended(|| format!("{name}: the signature fails by its {failure}"));
    }
}

fn shown(verdicts: &[Verdict]) -> String {
    let mut lines = String::new();
    let has_colours = terminal::has_colours();
    for verdict in verdicts {
        let word = match verdict.verdict {
            UNREAD => "not verified",
            word => word,
        };
        let word = match has_colours {
            true => coloured(word),
            false => word.into(),
        };
        lines += &format!("{}: {word}", printable(&verdict.file));
        if let Some(reason) = &verdict.reason {
            lines += &format!(" ({})", printable(reason));
        }
        lines.push('\n');
    }
    lines
}
