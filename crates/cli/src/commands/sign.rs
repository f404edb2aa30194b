//! `rsalab sign`.

use std::path::Path;

use rsalab_rsa::{format::Purpose, signing::SigningKey};

use super::{
    encoding,
    inputs::{check_stdin, with_ending},
    per_file::{Bytes, Existing, Files, Kind, PerFile},
    schemes,
};
use crate::{
    arguments::{Encoding, Sign},
    exit::Result,
    files::{self, Privacy},
    kernels, keys,
    output::Log,
};

/// The ending of a signature's name, next to its file.
pub(super) const ENDING: &str = ".sig";

/// Signs.
pub(crate) fn run(arguments: &Sign, log: Log) -> Result<()> {
    let options = &arguments.key;
    check_stdin(&options.key, &options.reading, &[arguments.input.stdin()])?;
    let files = Files::of::<Signing>(&arguments.input, arguments.sig.as_deref(), |path| {
        Some(with_ending(path, ENDING))
    })?;
    let loaded = keys::private(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let scheme = schemes::of_signature(&arguments.scheme, &loaded)?;
    schemes::note_signature(&scheme);
    keys::check_use(options, &loaded, Purpose::Sign(&scheme))?;
    let key = SigningKey::with_backend(&loaded.key, scheme, &keys::backend(options)?)?;
    let (encoding, digest) = (arguments.encoding.encoding(), arguments.digest.digest);
    files.run(&Signing { key, encoding, digest }, log)
}

struct Signing {
    key: SigningKey,
    encoding: Encoding,
    /// `true` if files hold digests.
    digest: bool,
}

impl PerFile for Signing {
    type Input = Vec<u8>;

    const KIND: Kind = Kind {
        noun: "signature",
        ending: ENDING,
        option: "--sig",
        privacy: Privacy::Public,
        most: encoding::MOST,
    };

    fn read(&self, path: Option<&Path>) -> Result<Vec<u8>> {
        files::digest(path, self.key.verifying_key().scheme().hash(), self.digest)
    }

    fn is_binary(&self) -> bool {
        self.encoding.is_binary()
    }

    fn results(&self, digests: &[&Vec<u8>]) -> Result<Vec<Result<Bytes>>> {
        let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest[..]).collect();
        let signatures = self.key.sign_digests(&digests)?.into_iter();
        kernels::note("signing", digests.len(), &self.key.kernels_for(digests.len()));
        Ok(signatures
            .map(|signature| Ok(self.encoding.encoded(signature.as_bytes())))
            .collect())
    }

    fn is_result(&self, digest: &Vec<u8>, existing: &Existing) -> Option<bool> {
        let signature = self.encoding.decoded(&existing.bytes).unwrap_or_default();
        let key = self.key.verifying_key();
        Some(key.verify_digests(&[(digest, &signature)]) == [true])
    }

    fn why_not(&self) -> String {
        "is no signature of it by this key, scheme and encoding".to_owned()
    }
}
