//! `rsalab encrypt` and `rsalab decrypt`: messages that fit one block, padded by RSAES-OAEP or RSAES-PKCS1-v1_5.

use std::{
    io::{self, IsTerminal},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use rsalab_rsa::{
    encryption::{DecryptionKey, EncryptionKey},
    format::{Loaded, Purpose},
    hash::Hash,
    scheme::{EncryptionScheme, Oaep},
};
use rsalab_text::container;
use zeroize::Zeroizing;

use super::inputs::{Destination, Inputs, Item, Made, Results, make_beside};
use crate::{
    arguments::{CipherOptions, CipherScheme, Decrypt, Encrypt},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
    output::Talk,
};

/// Far more than any message has, so that one that is too long is told how long it may be.
const MOST_MESSAGE: u64 = 1 << 20;
/// More bytes than any ciphertext has.
const MOST_CIPHERTEXT: u64 = 4096;

pub(crate) fn encrypt(arguments: &Encrypt, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.cipher;
    check_options(options)?;
    let inputs = match &arguments.text {
        Some(_) => Inputs::One(None),
        None => Inputs::of(&options.input)?,
    };
    check_out(&inputs, options, ENCRYPTED)?;
    let loaded = keys::public(&arguments.key)?;
    let scheme = scheme(options, &loaded);
    let purpose = Purpose::Encrypt(Some(&scheme));
    let use_option = arguments.any_use;
    let key = use_option.of_any_scheme(&arguments.key, loaded, purpose)?;
    keys::warn(&arguments.key, &key.weaknesses(), talk);
    let backend = kernels::backend(options.kernel.kernel.as_deref())?;
    let most = scheme.max_len(key.bits())?;
    let (k, key) = (
        key.modulus_len(),
        EncryptionKey::with_backend(&key, scheme, &backend)?,
    );
    match inputs {
        Inputs::One(path) => {
            let out = Destination::of(options.out.as_deref())?;
            out.check_terminal("the ciphertext")?;
            let message = Zeroizing::new(match &arguments.text {
                Some(text) => text.as_bytes().to_vec(),
                None => files::read(path.as_deref(), MOST_MESSAGE)
                    .map_err(|failure| failure.or_advice(TOO_LONG))?,
            });
            let ciphertext = key
                .encrypt(&message)
                .map_err(|error| match message.len() > most {
                    true => Failure::from(error).advice(TOO_LONG),
                    false => error.into(),
                })?;
            out.write(&ciphertext, Privacy::Private)
        }
        Inputs::Many(paths) => make_beside(&paths, &results(ENCRYPTED), talk, |items| {
            encrypt_each(&key, k, most, items)
        }),
    }
}

/// A ciphertext for each message that has none. Two ciphertexts of one message differ, so that one that is there can only be
/// judged by its length and age: it stays if it has the length and is not older than the message.
fn encrypt_each(
    key: &EncryptionKey,
    k: usize,
    most: usize,
    items: &[Item<'_>],
) -> Result<Vec<Result<Made, Failure>>, Failure> {
    let is_done = |item: &Item<'_>| {
        let there = item.there.as_ref();
        there.is_some_and(|there| there.is_newer && there.bytes.len() == k)
    };
    let read: Vec<Result<Option<Zeroizing<Vec<u8>>>, Failure>> = items
        .iter()
        .map(|item| {
            if is_done(item) {
                return Ok(None);
            }
            let message = Zeroizing::new(files::read_start(Some(item.path), most as u64 + 1)?);
            match message.len() > most {
                true => {
                    let what = format!(
                        "it is longer than the {most} bytes that this key and scheme encrypt"
                    );
                    Err(Failure::new(Class::Input, what))
                }
                false => Ok(Some(message)),
            }
        })
        .collect();
    let messages: Vec<&[u8]> = read
        .iter()
        .flatten()
        .flatten()
        .map(|message| &message[..])
        .collect();
    let mut ciphertexts = key.encrypt_batch(&messages)?.into_iter();
    drop(messages);
    let made = |read: Result<Option<Zeroizing<Vec<u8>>>, Failure>| {
        Ok(match read? {
            None => Made::There,
            Some(_) => {
                let ciphertext = ciphertexts.next().expect("there is one for each");
                Made::New(Zeroizing::new(ciphertext))
            }
        })
    };
    Ok(read.into_iter().map(made).collect())
}

pub(crate) fn decrypt(arguments: &Decrypt, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.cipher;
    check_options(options)?;
    let inputs = Inputs::of(&options.input)?;
    check_out(&inputs, options, DECRYPTED)?;
    let loaded = keys::private(&arguments.key)?;
    let scheme = scheme(options, &loaded);
    let purpose = Purpose::Decrypt(Some(&scheme));
    let use_option = arguments.any_use;
    let key = use_option.of_any_scheme(&arguments.key, loaded, purpose)?;
    keys::warn(&arguments.key, &key.weaknesses(), talk);
    let backend = kernels::backend(options.kernel.kernel.as_deref())?;
    let (k, key) = (
        key.modulus_len() as u64,
        DecryptionKey::with_backend(&key, &scheme, &backend)?,
    );
    match inputs {
        Inputs::One(path) => {
            let out = Destination::of(options.out.as_deref())?;
            if path.as_deref().is_none_or(files::is_dash) && io::stdin().is_terminal() {
                talk.say("the ciphertext is read from standard input; Ctrl-D ends it");
            }
            // One byte more shows that it is too long.
            let ciphertext = files::read_start(path.as_deref(), k + 1)?;
            if container::Header::begins(&ciphertext) {
                return Err(is_text(path.as_deref()));
            }
            let message = key
                .decrypt(&ciphertext)?
                .ok_or_else(|| wrong(path.as_deref()))?;
            out.write(&message, Privacy::Private)
        }
        Inputs::Many(paths) => make_beside(&paths, &results(DECRYPTED), talk, |items| {
            decrypt_each(&key, k, items)
        }),
    }
}

/// The message of each ciphertext. One that is there stays, if it is the message.
fn decrypt_each(
    key: &DecryptionKey,
    k: u64,
    items: &[Item<'_>],
) -> Result<Vec<Result<Made, Failure>>, Failure> {
    let read: Vec<Result<Vec<u8>, Failure>> = items
        .iter()
        .map(|item| files::read_start(Some(item.path), k + 1))
        .collect();
    let ciphertexts: Vec<&[u8]> = read.iter().flatten().map(|text| &text[..]).collect();
    let mut messages = key.decrypt_batch(&ciphertexts)?.into_iter();
    let made = |(item, read): (&Item<'_>, Result<Vec<u8>, Failure>)| {
        let read = read?;
        let message = messages.next().expect("there is one for each");
        if container::Header::begins(&read) {
            return Err(is_text(Some(item.path)));
        }
        let message = message.ok_or_else(|| wrong(Some(item.path)))?;
        Ok(match &item.there {
            Some(there) if there.bytes == message => Made::There,
            // What is there already is found out where the file would be made.
            _ => Made::New(message),
        })
    };
    Ok(items.iter().zip(read).map(made).collect())
}

/// What the names of results end in.
const ENCRYPTED: &str = ".enc";
const DECRYPTED: &str = ".dec";

fn results(ending: &'static str) -> Results {
    Results {
        ending,
        privacy: Privacy::Private,
        noun: match ending {
            ENCRYPTED => "ciphertext",
            _ => "message",
        },
        most: MOST_CIPHERTEXT,
    }
}

fn check_out(inputs: &Inputs, options: &CipherOptions, ending: &str) -> Result<(), Failure> {
    match (inputs, &options.out) {
        (Inputs::Many(_), Some(_)) => {
            let what = "--out names one file, and there are several results";
            Err(Failure::new(Class::Usage, what)
                .advice(format!("leave it out: FILE{ending} is made for each FILE")))
        }
        _ => Ok(()),
    }
}

/// Refuses an option that would do nothing: whoever typed it takes something for done that is not.
fn check_options(options: &CipherOptions) -> Result<(), Failure> {
    let scheme = &options.scheme;
    let of_oaep = [
        ("--hash", scheme.hash.is_some()),
        ("--mgf-hash", scheme.mgf_hash.is_some()),
        ("--label", scheme.label.is_some()),
    ];
    match of_oaep.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) if scheme.scheme != CipherScheme::Oaep => {
            let what = format!("{name} is for --scheme oaep");
            Err(Failure::new(Class::Usage, what).advice("leave it out, or choose another --scheme"))
        }
        _ => Ok(()),
    }
}

/// A text in raw blocks has commands of its own.
fn is_text(path: Option<&Path>) -> Failure {
    let what = format!("{} is a text in raw blocks", files::name(path));
    Failure::new(Class::Input, what).advice("decrypt it with 'rsalab text-decrypt'")
}

/// The scheme that was asked for, with the hash that the key's file names if none was.
fn scheme<K>(options: &CipherOptions, loaded: &Loaded<K>) -> EncryptionScheme {
    let options = &options.scheme;
    let usual_hash = match loaded.restrictions.encryption_scheme() {
        Some(EncryptionScheme::Oaep(oaep)) => oaep.hash,
        _ => Hash::Sha256,
    };
    match options.scheme {
        CipherScheme::Pkcs1v15 => EncryptionScheme::Pkcs1v15,
        CipherScheme::Oaep => {
            let hash = options.hash.unwrap_or(usual_hash);
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

const TOO_LONG: &str =
    "encrypt a key for a symmetric cipher, and the message with that; or take a longer RSA key";
