//! `rsalab sign`.

use std::path::Path;

use rsalab_rsa::{format::Purpose, hash::Digested, signing::SigningKey};
use zeroize::Zeroizing;

use super::{
    inputs::with_ending,
    per_file::{Bytes, Existing, Files, Kind, PerFile},
    schemes,
};
use crate::{
    arguments::Sign,
    exit::Result,
    files::{Privacy, digest},
    keys,
    output::Log,
};

/// What the name of a signature ends in, next to its file.
pub(super) const ENDING: &str = ".sig";

/// Signs.
pub(crate) fn run(arguments: &Sign, log: Log) -> Result<()> {
    let options = &arguments.key;
    let files = Files::of::<Signing>(&arguments.input, arguments.sig.as_deref(), |path| {
        Some(with_ending(path, ENDING))
    })?;
    let loaded = keys::private(&options.key, &options.reading)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let scheme = schemes::of_signature(&arguments.scheme, &loaded)?;
    keys::check_use(options, &loaded, Purpose::Sign(&scheme))?;
    let key = SigningKey::with_backend(&loaded.key, scheme, &keys::backend(options)?)?;
    files.run(&Signing { key }, log)
}

struct Signing {
    key: SigningKey,
}

impl PerFile for Signing {
    type Input = Digested;

    const KIND: Kind = Kind {
        noun: "signature",
        ending: ENDING,
        option: "--sig",
        is_binary: true,
        privacy: Privacy::Public,
        most: 4096,
    };

    fn read(&self, path: Option<&Path>) -> Result<Digested> {
        digest(path, self.key.verifying_key().scheme().hash())
    }

    fn results(&self, digests: &[&Digested]) -> Result<Vec<Result<Bytes>>> {
        let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest[..]).collect();
        let signatures = self.key.sign_digests(&digests)?.into_iter();
        Ok(signatures
            .map(|signature| Ok(Zeroizing::new(signature.as_bytes().to_vec())))
            .collect())
    }

    fn is_result(&self, digest: &Digested, existing: &Existing) -> Option<bool> {
        let key = self.key.verifying_key();
        Some(key.verify_digests(&[(digest, &existing.bytes)]) == [true])
    }
}
