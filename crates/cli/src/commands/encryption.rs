//! `rsalab encrypt` and `rsalab decrypt`: sealed files (`sealing`), and messages that fit one block, padded by
//! RSAES-OAEP or RSAES-PKCS1-v1_5.

use std::{
    cell::Cell,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rsalab_rsa::{
    PrivateKey,
    encryption::{DecryptionKey, EncryptionKey},
    format::{Loaded, Purpose},
};
use rsalab_text::container;
use zeroize::Zeroizing;

use super::{
    encoding,
    inputs::{Destination, Inputs, check_stdin, note_if_typed},
    per_file::{Bytes, Existing, Files, Kind, PerFile, Tally, add_many, once_each},
    schemes,
    sealing::{self, Beginning, Opening},
};
use crate::{
    arguments::{Decrypt, Encoding, Encrypt},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    kernels, keys,
    output::Log,
};

/// Encrypts.
pub(crate) fn encrypt(arguments: &Encrypt, log: Log) -> Result<()> {
    let options = &arguments.key;
    schemes::check_encryption(&arguments.scheme)?;
    let stdin = match arguments.text.text {
        Some(_) => ("the message", false),
        None => arguments.input.stdin(),
    };
    let recipients = arguments.recipient.iter();
    let of_recipients = recipients.map(|path| ("a recipient's key", files::is_dash(path)));
    let others: Vec<_> = std::iter::once(stdin).chain(of_recipients).collect();
    check_stdin(&options.key, &options.reading, &others)?;
    let files = Files::of::<Encryption<'_>>(&arguments.input, arguments.out.path(), |_| None)?;
    if arguments.skip_existing && !files.are_several() {
        let what = "--skip-existing is for several files";
        return Err(Failure::new(Class::Usage, what).advice("leave it out"));
    }
    if !arguments.scheme.ask_for_block(&arguments.encoding) {
        return sealing::encrypt(arguments, &files, log);
    }
    let loaded = keys::public(&options.key, &options.reading, log)?;
    let scheme = schemes::of_encryption(&arguments.scheme, &loaded);
    schemes::note_encryption(&scheme);
    let key = keys::of_any_scheme(options, loaded, Purpose::Encrypt(Some(&scheme)))?;
    keys::warn(options, &key.weaknesses(), log);
    let encryption = Encryption {
        text: arguments.text.text.as_deref(),
        most: scheme.max_len(key.bits())?,
        modulus_len: key.modulus_len(),
        encoding: arguments.encoding.encoding(),
        keeps_existing: arguments.skip_existing,
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
    encoding: Encoding,
    /// `true` if the user takes what is there already for ciphertexts of this command.
    keeps_existing: bool,
}

impl PerFile for Encryption<'_> {
    type Input = Bytes;

    const KIND: Kind = Kind {
        noun: "ciphertext",
        ending: ".enc",
        option: "--out",
        privacy: Privacy::Private,
        most: encoding::MOST,
    };

    fn read(&self, path: Option<&Path>) -> Result<Bytes> {
        let most = self.most;
        let message = match self.text {
            Some(text) => Zeroizing::new(text.as_bytes().to_vec()),
            // One byte more shows that it is too long.
            None => files::read_start(path, most as u64 + 1)?,
        };
        if message.len() > most {
            let what = format!("the message is too long: this key and scheme encrypt {most} bytes at most");
            return Err(Failure::new(Class::Usage, what)
                .advice("leave out --raw-oaep and what else asks for a block: a sealed file takes any length"));
        }
        Ok(message)
    }

    fn is_binary(&self) -> bool {
        self.encoding.is_binary()
    }

    fn results(&self, messages: &[&Bytes]) -> Result<Vec<Result<Bytes>>> {
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let ciphertexts = self.key.encrypt_batch(&messages)?;
        kernels::note("encrypting", messages.len(), &self.key.kernels_for(messages.len()));
        Ok(ciphertexts
            .into_iter()
            .map(|ciphertext| Ok(self.encoding.encoded(&ciphertext)))
            .collect())
    }

    /// Two ciphertexts of one message differ: which message and which key one is of shows the private key alone. So
    /// that is the user's word or nobody's.
    fn is_result(&self, _message: &Bytes, existing: &Existing) -> Option<bool> {
        let fault = self.encoding.fault(&existing.bytes, self.modulus_len);
        Some(self.keeps_existing && fault.is_none())
    }

    fn why_not(&self) -> String {
        match self.keeps_existing {
            true => "has not the length of a ciphertext by this key and encoding",
            false => "only the private key shows what it is a ciphertext of (see --skip-existing)",
        }
        .to_owned()
    }
}

/// Decrypts.
pub(crate) fn decrypt(arguments: &Decrypt, log: Log) -> Result<()> {
    let options = &arguments.key;
    schemes::check_encryption(&arguments.scheme)?;
    check_stdin(&options.key, &options.reading, &[arguments.input.stdin()])?;
    let files = Files::of::<Decryption>(&arguments.input, arguments.out.path(), |_| None)?;
    let loaded = keys::private(&options.key, &options.reading, log)?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let is_block = arguments.scheme.ask_for_block(&arguments.encoding);
    match &files.inputs {
        _ if is_block => files.run(&Decryption::new(arguments, &loaded, None, log)?, log),
        Inputs::One(from) => {
            let to = Destination::of(files.out.as_deref())?;
            note_if_typed(from.as_deref(), log);
            let beginning = Beginning::read(from.as_deref())?;
            match beginning.is_sealed() {
                true => Opening::new(options, &loaded, log)?.run(beginning, &to),
                false => files.run(&Decryption::new(arguments, &loaded, Some(beginning), log)?, log),
            }
        }
        Inputs::Many(paths) => decrypt_many(arguments, paths, &loaded, log),
    }
}

/// Decrypts files, some of which may be sealed and others blocks.
fn decrypt_many(arguments: &Decrypt, paths: &[PathBuf], loaded: &Loaded<PrivateKey>, log: Log) -> Result<()> {
    let all = once_each(paths);
    let (sealed, blocks): (Vec<&Path>, Vec<&Path>) = all.iter().partition(|path| sealing::is_sealed(path));
    let mut tally = Tally::default();
    if !sealed.is_empty() {
        let opening = Opening::new(&arguments.key, loaded, log)?;
        for path in sealed {
            match opening.run_beside(path) {
                Ok(is_made) => tally.add(is_made),
                Err(failure) => tally.fail(path, failure),
            }
        }
    }
    if !blocks.is_empty() {
        add_many(&Decryption::new(arguments, loaded, None, log)?, &blocks, &mut tally)?;
    }
    tally.end(all.len(), Decryption::KIND.noun, log)
}

struct Decryption {
    key: DecryptionKey,
    encoding: Encoding,
    /// The one file, of which the beginning has been read.
    begun: Cell<Option<Beginning>>,
    log: Log,
}

impl Decryption {
    fn new(arguments: &Decrypt, loaded: &Loaded<PrivateKey>, begun: Option<Beginning>, log: Log) -> Result<Decryption> {
        let options = &arguments.key;
        let scheme = schemes::of_encryption(&arguments.scheme, loaded);
        schemes::note_encryption(&scheme);
        keys::check_scheme(options, loaded, Purpose::Decrypt(Some(&scheme)))?;
        Ok(Decryption {
            key: DecryptionKey::with_backend(&loaded.key, &scheme, &keys::backend(options)?)?,
            encoding: arguments.encoding.encoding(),
            begun: Cell::new(begun),
            log,
        })
    }
}

/// A ciphertext, and the name of its file.
struct Ciphertext {
    name: String,
    bytes: Vec<u8>,
    /// The fault in how it is written: it has another length than any ciphertext, which everybody sees.
    fault: Option<String>,
}

impl PerFile for Decryption {
    type Input = Ciphertext;

    const KIND: Kind = Kind {
        noun: "message",
        ending: ".dec",
        option: "--out",
        privacy: Privacy::Private,
        most: 4096,
    };

    fn read(&self, path: Option<&Path>) -> Result<Ciphertext> {
        let name = files::name(path);
        let k = self.key.modulus_len();
        let most = encoding::most(k);
        let written = match self.begun.take() {
            Some(mut begun) => {
                let rest = most.saturating_sub(begun.bytes.len() as u64);
                begun
                    .bytes
                    .extend_from_slice(&files::read_up_to(&mut begun.rest, path, rest)?);
                begun.bytes
            }
            None => {
                note_if_typed(path, self.log);
                files::read_start(path, most)?
            }
        };
        if rsalab_sealed::begins(&written) {
            let what = format!("{name} is a sealed file, and no block");
            return Err(Failure::new(Class::Input, what).advice(
                "leave out --raw-oaep and what else asks for a block; name it alone if it is no regular file",
            ));
        }
        if container::Header::begins(&written) {
            let what = format!("{name} is a text in raw blocks");
            return Err(Failure::new(Class::Input, what).advice("decrypt it with 'rsalab text-decrypt'"));
        }
        Ok(Ciphertext {
            name,
            fault: self.encoding.fault(&written, k),
            bytes: self.encoding.decoded(&written).unwrap_or_default(),
        })
    }

    fn is_binary(&self) -> bool {
        false
    }

    fn results(&self, inputs: &[&Ciphertext]) -> Result<Vec<Result<Bytes>>> {
        let ciphertexts: Vec<&[u8]> = inputs.iter().map(|input| &input.bytes[..]).collect();
        let messages = self.key.decrypt_batch(&ciphertexts)?;
        kernels::note(
            "decrypting",
            ciphertexts.len(),
            &self.key.kernels_for(ciphertexts.len()),
        );
        let result = |(message, input): (Option<Bytes>, &&Ciphertext)| message.ok_or_else(|| refused(input));
        Ok(messages.into_iter().zip(inputs).map(result).collect())
    }
}

/// The failure of a ciphertext. The fault inside it is not printed: that would help whoever makes ciphertexts to learn
/// messages.
fn refused(ciphertext: &Ciphertext) -> Failure {
    let name = &ciphertext.name;
    if let Some(fault) = &ciphertext.fault {
        let what = format!("cannot decrypt {name}: {fault}");
        return Failure::new(Class::Verification, what).advice("nothing was made of it");
    }
    let what = format!("cannot decrypt {name}");
    Failure::new(Class::Verification, what).advice(
        "it is damaged, or the key, the hash (--hash), the hash of the mask (--mgf-hash; some programs take sha1 there, whatever the other is) or the \
         label (--label) are not those it was encrypted with; nothing was made of it",
    )
}
