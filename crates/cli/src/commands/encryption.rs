//! `rsalab encrypt` and `rsalab decrypt`: messages that fit one block, padded by RSAES-OAEP or RSAES-PKCS1-v1_5.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use rsalab_rsa::{
    encryption::{DecryptionKey, EncryptionKey},
    format::Purpose,
};
use rsalab_text::container;
use zeroize::Zeroizing;

use super::{
    inputs::note_if_typed,
    per_file::{Bytes, Existing, Files, Kind, PerFile},
    schemes,
};
use crate::{
    arguments::{Decrypt, Encrypt},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    keys,
    output::Log,
};

/// Encrypts.
pub(crate) fn encrypt(arguments: &Encrypt, log: Log) -> Result<()> {
    let options = &arguments.key;
    schemes::check_encryption(&arguments.scheme)?;
    let files = Files::of::<Encryption<'_>>(&arguments.input, arguments.out.path(), |_| None)?;
    let loaded = keys::public(&options.key, &options.reading)?;
    let scheme = schemes::of_encryption(&arguments.scheme, &loaded);
    let key = keys::of_any_scheme(options, loaded, Purpose::Encrypt(Some(&scheme)))?;
    keys::warn(options, &key.weaknesses(), log);
    let encryption = Encryption {
        text: arguments.text.text.as_deref(),
        most: scheme.max_len(key.bits())?,
        modulus_len: key.modulus_len(),
        key: EncryptionKey::with_backend(&key, scheme, &keys::backend(options)?)?,
    };
    files.run(&encryption, log)
}

struct Encryption<'a> {
    key: EncryptionKey,
    /// The message, where it was typed.
    text: Option<&'a OsStr>,
    /// The longest message.
    most: usize,
    modulus_len: usize,
}

impl PerFile for Encryption<'_> {
    type Input = Bytes;

    const KIND: Kind = Kind {
        noun: "ciphertext",
        ending: ".enc",
        option: "--out",
        is_binary: true,
        privacy: Privacy::Private,
        most: 4096,
    };

    fn read(&self, path: Option<&Path>) -> Result<Bytes> {
        let most = self.most;
        let message = Zeroizing::new(match self.text {
            Some(text) => text.as_bytes().to_vec(),
            // One byte more shows that it is too long.
            None => files::read_start(path, most as u64 + 1)?,
        });
        if message.len() > most {
            let what = format!(
                "the message is too long: this key and scheme encrypt {most} bytes at most"
            );
            return Err(Failure::new(Class::Usage, what).advice(
                "encrypt a key for a symmetric cipher, and the message with that; or take a longer RSA key",
            ));
        }
        Ok(message)
    }

    fn results(&self, messages: &[&Bytes]) -> Result<Vec<Result<Bytes>>> {
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let ciphertexts = self.key.encrypt_batch(&messages)?;
        Ok(ciphertexts
            .into_iter()
            .map(|ciphertext| Ok(Zeroizing::new(ciphertext)))
            .collect())
    }

    /// Two ciphertexts of one message differ, so that length and age must decide.
    fn is_result(&self, _message: &Bytes, existing: &Existing) -> Option<bool> {
        Some(existing.is_newer && existing.bytes.len() == self.modulus_len)
    }
}

/// Decrypts.
pub(crate) fn decrypt(arguments: &Decrypt, log: Log) -> Result<()> {
    let options = &arguments.key;
    schemes::check_encryption(&arguments.scheme)?;
    let files = Files::of::<Decryption>(&arguments.input, arguments.out.path(), |_| None)?;
    let loaded = keys::private(&options.key, &options.reading)?;
    let scheme = schemes::of_encryption(&arguments.scheme, &loaded);
    let key = keys::of_any_scheme(options, loaded, Purpose::Decrypt(Some(&scheme)))?;
    keys::warn(options, &key.weaknesses(), log);
    let key = DecryptionKey::with_backend(&key, &scheme, &keys::backend(options)?)?;
    files.run(&Decryption { key, log }, log)
}

struct Decryption {
    key: DecryptionKey,
    log: Log,
}

/// A ciphertext, and the name of its file.
struct Ciphertext {
    name: String,
    bytes: Vec<u8>,
}

impl PerFile for Decryption {
    type Input = Ciphertext;

    const KIND: Kind = Kind {
        noun: "message",
        ending: ".dec",
        option: "--out",
        is_binary: false,
        privacy: Privacy::Private,
        most: 4096,
    };

    fn read(&self, path: Option<&Path>) -> Result<Ciphertext> {
        note_if_typed(path, self.log);
        let name = files::name(path);
        // One byte more shows that it is too long.
        let bytes = files::read_start(path, self.key.modulus_len() as u64 + 1)?;
        if container::Header::begins(&bytes) {
            let what = format!("{name} is a text in raw blocks");
            return Err(
                Failure::new(Class::Input, what).advice("decrypt it with 'rsalab text-decrypt'")
            );
        }
        Ok(Ciphertext { name, bytes })
    }

    fn results(&self, inputs: &[&Ciphertext]) -> Result<Vec<Result<Bytes>>> {
        let ciphertexts: Vec<&[u8]> = inputs.iter().map(|input| &input.bytes[..]).collect();
        let messages = self.key.decrypt_batch(&ciphertexts)?;
        let result = |(message, input): (Option<Bytes>, &&Ciphertext)| {
            message.ok_or_else(|| refused(&input.name))
        };
        Ok(messages.into_iter().zip(inputs).map(result).collect())
    }
}

/// What is wrong with a ciphertext is not printed: that would help whoever makes ciphertexts to learn messages.
fn refused(name: &str) -> Failure {
    let what = format!("cannot decrypt {name}");
    Failure::new(Class::Verification, what).advice(
        "it is damaged, or the key, the hash or the label are not those it was encrypted with; nothing was made of it",
    )
}
