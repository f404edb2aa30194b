//! Messages that fit one block, padded by RSAES-OAEP or RSAES-PKCS1-v1_5.

use std::{
    io::{self, IsTerminal},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rsalab_rsa::{
    Error,
    encryption::{DecryptionKey, EncryptionKey},
    hash::Hash,
    scheme::{EncryptionScheme, Oaep},
};
use zeroize::Zeroizing;

use super::super::inputs::{Destination, Inputs, make_beside};
use crate::{
    arguments::{CipherOptions, CipherScheme, Decrypt, Encrypt},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
    output::Talk,
};

/// Far more than any message or ciphertext has, so that one that is too long is told how long it may be.
const MOST: u64 = 1 << 20;

pub(super) fn encrypt(arguments: &Encrypt, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.cipher;
    let key = keys::of_any_use(&arguments.key, keys::public(&arguments.key)?)?;
    keys::warn(&arguments.key, &key.weaknesses(), talk);
    let backend = kernels::backend(options.kernel.kernel.as_deref())?;
    let key = EncryptionKey::new(&key, scheme(options), &backend).map_err(failed)?;
    let inputs = match &arguments.text {
        Some(_) => Inputs::One(None),
        None => Inputs::of(&options.input)?,
    };
    match inputs {
        Inputs::One(path) => {
            let out = Destination::of(options.out.as_deref())?;
            out.check_terminal("the ciphertext")?;
            let message = match &arguments.text {
                Some(text) => text.as_bytes().to_vec(),
                None => files::read(path.as_deref(), MOST)?,
            };
            let ciphertext = key.encrypt(&message).map_err(failed)?;
            out.write(&ciphertext, Privacy::Private)
        }
        Inputs::Many(paths) => each(&paths, options, ".enc", |paths| {
            let messages = read(paths)?;
            let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
            let ciphertexts = key.encrypt_all(&messages).map_err(failed)?;
            Ok(ciphertexts.into_iter().map(Zeroizing::new).collect())
        }),
    }
}

pub(super) fn decrypt(arguments: &Decrypt, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.cipher;
    let key = keys::of_any_use(&arguments.key, keys::private(&arguments.key)?)?;
    keys::warn(&arguments.key, &key.weaknesses(), talk);
    let backend = kernels::backend(options.kernel.kernel.as_deref())?;
    let key = DecryptionKey::new(&key, &scheme(options), &backend).map_err(failed)?;
    match Inputs::of(&options.input)? {
        Inputs::One(path) => {
            let out = Destination::of(options.out.as_deref())?;
            if path.as_deref().is_none_or(files::is_dash) && io::stdin().is_terminal() {
                talk.say("the ciphertext is read from standard input; Ctrl-D ends it");
            }
            let ciphertext = files::read(path.as_deref(), MOST)?;
            let message = key
                .decrypt(&ciphertext)
                .map_err(failed)?
                .ok_or_else(|| wrong(path.as_deref()))?;
            out.write(&message, Privacy::Private)
        }
        Inputs::Many(paths) => each(&paths, options, ".dec", |paths| {
            let ciphertexts = read(paths)?;
            let ciphertexts: Vec<&[u8]> = ciphertexts.iter().map(|text| &text[..]).collect();
            let messages = key.decrypt_all(&ciphertexts).map_err(failed)?;
            let items = messages.into_iter().zip(paths);
            items
                .map(|(message, path)| message.ok_or_else(|| wrong(Some(path))))
                .collect()
        }),
    }
}

fn each(
    paths: &[PathBuf],
    options: &CipherOptions,
    ending: &str,
    work: impl FnMut(&[PathBuf]) -> Result<Vec<Zeroizing<Vec<u8>>>, Failure>,
) -> Result<(), Failure> {
    if options.out.is_some() {
        let what = "--out names one file, and there are several results";
        return Err(Failure::new(Class::Usage, what)
            .advice(format!("leave it out: FILE{ending} is made for each FILE")));
    }
    make_beside(paths, ending, Privacy::Private, work)
}

fn read(paths: &[PathBuf]) -> Result<Vec<Zeroizing<Vec<u8>>>, Failure> {
    paths
        .iter()
        .map(|path| files::read(Some(path), MOST).map(Zeroizing::new))
        .collect()
}

fn scheme(options: &CipherOptions) -> EncryptionScheme {
    let options = &options.scheme;
    match options.scheme {
        CipherScheme::Pkcs1v15 => EncryptionScheme::Pkcs1v15,
        CipherScheme::Oaep | CipherScheme::Blocks => {
            let hash = options.hash.unwrap_or(Hash::Sha256);
            EncryptionScheme::Oaep(Oaep {
                hash,
                mgf_hash: options.mgf_hash.unwrap_or(hash),
                label: options
                    .label
                    .as_ref()
                    .map(|label| label.as_bytes().to_vec())
                    .unwrap_or_default(),
            })
        }
    }
}

/// What is wrong with a ciphertext is not told: it would help whoever makes ciphertexts to learn messages.
fn wrong(path: Option<&Path>) -> Failure {
    let what = format!("cannot decrypt {}", files::name(path));
    Failure::new(Class::Verification, what).advice(
        "it is damaged, or the key, the hash or the label are not those it was encrypted with; nothing was made of it",
    )
}

fn failed(error: Error) -> Failure {
    let failure = Failure::from(error);
    match failure.class() {
        Class::Usage => failure.advice(
            "encrypt a key for a symmetric cipher, and the message with that; or take a longer RSA key",
        ),
        _ => failure,
    }
}
