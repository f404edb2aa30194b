//! Encrypting, signing, and their opposites.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use rsalab_rsa::{hash::Hash, scheme::SaltLen};

use super::{
    shared::{EncodingOption, JsonOption, KernelOption, KeyFileOptions, OutOption, ProfileOption, ThreadsOption},
    values::{hash, salt},
};

/// The key of an operation, and what works with it.
#[derive(Args, Clone)]
pub(crate) struct KeyOptions {
    /// The key; '-' for standard input.
    ///
    /// Where a public key is needed, a private key or a certificate will do.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) key: PathBuf,
    #[command(flatten)]
    pub(crate) reading: KeyFileOptions,
    /// Use the key although its file restricts it to another use.
    ///
    /// A JSON Web Key has use, key_ops and alg, a certificate a key usage.
    #[arg(long)]
    pub(crate) any_use: bool,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}

/// Input of commands that take many files.
#[derive(Args)]
#[group(id = "inputs")]
pub(crate) struct InputOptions {
    /// The file to read; standard input if there is none, or '-'. Each of several gets its result next to it.
    #[arg(value_name = "FILE", conflicts_with_all = ["input", "files_from"])]
    pub(crate) files: Vec<PathBuf>,
    /// The file to read, as an option.
    #[arg(long = "in", value_name = "FILE", conflicts_with = "files_from")]
    pub(crate) input: Option<PathBuf>,
    /// A file with the names of the files to read, one a line; each gets its result next to it.
    #[arg(long, value_name = "LIST")]
    pub(crate) files_from: Option<PathBuf>,
}

/// Input of commands that take one file, and where its result goes.
#[derive(Args)]
pub(crate) struct OneFileOptions {
    /// The file to read; standard input if there is none, or '-'.
    #[arg(value_name = "FILE", group = "inputs", conflicts_with = "input")]
    pub(crate) file: Option<PathBuf>,
    /// The file to read, as an option.
    #[arg(long = "in", value_name = "FILE", group = "inputs")]
    pub(crate) input: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: OutOption,
}

/// A message on the command line.
#[derive(Args)]
pub(crate) struct TextOption {
    /// The message itself, in place of a file.
    #[arg(long, value_name = "TEXT", conflicts_with = "inputs", allow_hyphen_values = true)]
    pub(crate) text: Option<OsString>,
}

/// Options that ask for a block, and have no sense for a sealed file.
const OF_BLOCKS: [&str; 6] = ["raw_oaep", "scheme", "hash", "mgf_hash", "label", "encoding"];

/// How messages are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CipherScheme {
    /// RSAES-OAEP.
    Oaep,
    /// RSAES-PKCS1-v1_5; decryption rejects implicitly.
    Pkcs1v15,
}

/// The parameters of a single block. Each of them asks for one.
#[derive(Args)]
pub(crate) struct CipherOptions {
    /// One RSA block, in place of a sealed file.
    ///
    /// --encoding, --scheme, --hash, --mgf-hash and --label ask for one, too.
    #[arg(long)]
    pub(crate) raw_oaep: bool,
    /// The scheme of a block; oaep if not given.
    #[arg(long, value_enum)]
    pub(crate) scheme: Option<CipherScheme>,
    /// The hash of OAEP; sha256 if not given.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) hash: Option<Hash>,
    /// The hash of OAEP's mask; that of --hash if not given.
    #[arg(long, value_name = "HASH", value_parser = hash(), hide_possible_values = true)]
    pub(crate) mgf_hash: Option<Hash>,
    /// The label of OAEP, which decryption must repeat; empty if not given.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) label: Option<OsString>,
}

impl CipherOptions {
    /// Returns whether a block is asked for, with this encoding.
    pub(crate) fn ask_for_block(&self, encoding: &EncodingOption) -> bool {
        self.raw_oaep
            || self.scheme.is_some()
            || self.hash.is_some()
            || self.mgf_hash.is_some()
            || self.label.is_some()
            || encoding.encoding.is_some()
    }
}

/// Encrypt files of any length, or messages that fit one block
///
/// The result is a sealed file, in age's format with recipients of the type ssh-rsa: 'age' and 'rage' decrypt it, too.
/// With --raw-oaep, or an option that says how a block is made, it is one RSA block (RSAES-OAEP, or another --scheme),
/// which OpenSSL and others decrypt; its message must be short enough for the key.
///
/// With several files, FILE.age (of blocks: FILE.enc) is written next to each FILE; a file that cannot be encrypted
/// does not stop the others. One that exists stays, and is a failure: without the private key nobody can see what it is
/// a ciphertext of. After a stop, --skip-existing makes what is missing.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab encrypt --key public.pem archive.tar --out archive.tar.age
  tar c folder | rsalab encrypt --key public.pem --recipient ~/.ssh/id_rsa.pub > folder.tar.age
  rsalab encrypt --raw-oaep --key public.pem --text 'attack at dawn' --out message.enc
  rsalab encrypt --hash sha512 --label orders --key public.pem message.txt --out message.enc
  rsalab encrypt --scheme pkcs1v15 --key certificate.pem *.key")]
pub(crate) struct Encrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) text: TextOption,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) out: OutOption,
    /// Another key that can decrypt the file; may be repeated.
    ///
    /// --kid and --password-file are for --key alone.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = OF_BLOCKS)]
    pub(crate) recipient: Vec<PathBuf>,
    /// Write the sealed file as text (age's ASCII armor).
    #[arg(long, short, conflicts_with_all = OF_BLOCKS)]
    pub(crate) armor: bool,
    /// Of several files, take each result that exists for that of its FILE.
    ///
    /// Its length is checked, and of a sealed file its recipients, which is all that can be seen without the private
    /// key.
    #[arg(long)]
    pub(crate) skip_existing: bool,
    #[command(flatten)]
    pub(crate) encoding: EncodingOption,
    #[command(flatten)]
    pub(crate) scheme: CipherOptions,
}

/// Decrypt what 'encrypt', age, rage or other software made
///
/// A sealed file is recognised, armored or not; it is made whole or not at all, and on standard output what was
/// verified appears piece by piece: after an error it is a beginning at most. Anything else is one block, of RSAES-OAEP
/// with SHA-256 if no option says more.
///
/// With --scheme pkcs1v15, bad padding yields a pseudorandom message, the same for each ciphertext (implicit
/// rejection): whoever sends ciphertexts learns nothing from what happens. With several files, FILE.dec is written next
/// to each FILE; one that cannot be decrypted does not stop the others, and the command ends with exit code 4.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab decrypt --key key.pem archive.tar.age --out archive.tar
  rsalab decrypt --key ~/.ssh/id_rsa folder.tar.age | tar x
  rsalab decrypt --key key.pem message.enc
  rsalab decrypt --hash sha512 --label orders --key key.pem message.enc --out message.txt")]
pub(crate) struct Decrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) out: OutOption,
    #[command(flatten)]
    pub(crate) encoding: EncodingOption,
    #[command(flatten)]
    pub(crate) scheme: CipherOptions,
}

/// Output about the threads.
#[derive(Args)]
pub(crate) struct TraceOptions {
    /// Print on standard error what each thread did, and when.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Print it as JSON.
    #[arg(long, requires = "trace")]
    pub(crate) json: bool,
}

/// Encrypt a text of any length as raw blocks, for study only
///
/// As in the studies that rsalab repeats, the text is cut into blocks, and each block is raised to the public exponent
/// without padding. Equal blocks give equal ciphertexts, and short ones can be guessed: do not protect anything with
/// it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab text-encrypt --key public.pem message.txt --out message.rsa
  cat message.txt | rsalab text-encrypt --key public.pem --threads 4 --trace > message.rsa")]
pub(crate) struct TextEncrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) text: TextOption,
    /// Bytes of text in one block; one fewer than the modulus has if not given. Decryption reads it from the file.
    #[arg(long, value_name = "N")]
    pub(crate) block_symbols: Option<usize>,
    #[command(flatten)]
    pub(crate) files: OneFileOptions,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
    #[command(flatten)]
    pub(crate) profile: ProfileOption,
    #[command(flatten)]
    pub(crate) trace: TraceOptions,
}

/// Decrypt a text that 'text-encrypt' made
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab text-decrypt --key key.pem message.rsa
  rsalab text-decrypt --key key.pem --threads 4 --trace --json message.rsa --out message.txt")]
pub(crate) struct TextDecrypt {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) files: OneFileOptions,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
    #[command(flatten)]
    pub(crate) profile: ProfileOption,
    #[command(flatten)]
    pub(crate) trace: TraceOptions,
}

/// How messages are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignatureSchemeName {
    /// RSASSA-PSS.
    Pss,
    /// RSASSA-PKCS1-v1_5.
    Pkcs1v15,
}

/// The parameters of signatures. A key that names its own needs none.
#[derive(Args)]
pub(crate) struct SignatureOptions {
    /// The scheme; pss if not given.
    #[arg(long, value_enum)]
    pub(crate) scheme: Option<SignatureSchemeName>,
    /// The hash of the message; sha256 if not given. sha1 verifies only.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) hash: Option<Hash>,
    /// The hash of PSS's mask; that of --hash if not given.
    #[arg(long, value_name = "HASH", value_parser = hash())]
    pub(crate) mgf_hash: Option<Hash>,
    /// Bytes of PSS's salt: a number, 'digest' for the length of the digest, 'max', or, to verify, 'any'; digest if not
    /// given.
    #[arg(long, value_name = "N", value_parser = salt)]
    pub(crate) salt_len: Option<SaltLen>,
}

/// Input in place of a message.
#[derive(Args)]
pub(crate) struct DigestOption {
    /// Each file holds the digest of a message by --hash, and not the message: its bytes, or hexadecimal digits.
    #[arg(long)]
    pub(crate) digest: bool,
}

/// Sign messages
///
/// The signature, as long as the modulus, goes to FILE.sig next to the file, or to --sig. Several files are signed in
/// batches, several times as fast. A file that cannot be signed does not stop the others, and the same command
/// continues where it was stopped: a FILE.sig that is a signature of FILE stays as it is.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab sign --key key.pem message.txt --sig message.sig
  rsalab sign --scheme pkcs1v15 --hash sha512 --key key.pem *.tar
  openssl dgst -sha256 -binary image | rsalab sign --digest --key key.pem --encoding base64
  find . -name '*.tar' | rsalab sign --key key.pem --files-from -")]
pub(crate) struct Sign {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// Where the signature goes: a file that must not exist, or '-' for standard output. If not given, FILE.sig; and
    /// standard output for what is read from standard input.
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    pub(crate) sig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) digest: DigestOption,
    #[command(flatten)]
    pub(crate) encoding: EncodingOption,
    #[command(flatten)]
    pub(crate) scheme: SignatureOptions,
}

/// Verify signatures
///
/// To the letter of RFC 8017: the exact length, below the modulus, and no deviation in the encoding. With several
/// files, the signature of each FILE is FILE.sig, and each gets a verdict. Exit code 4: a signature is wrong, whatever
/// happened to the other files. Exit code 5: a file or a signature could not be read.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab verify --key public.pem --sig message.sig message.txt
  rsalab verify --scheme pkcs1v15 --hash sha512 --key certificate.pem *.tar --json
  find log -name '*.json' | rsalab verify --screen --scheme pkcs1v15 --key public.pem --files-from -")]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// The signature of the one file that is read; FILE.sig if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) sig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) digest: DigestOption,
    #[command(flatten)]
    pub(crate) encoding: EncodingOption,
    #[command(flatten)]
    pub(crate) scheme: SignatureOptions,
    /// Screen many signatures of --scheme pkcs1v15 together: faster, and less is shown (see --help).
    ///
    /// Signatures are accepted by products of all, at a fifth to a seventh of the arithmetic. If all files are
    /// accepted, the owner of the key has signed each of them at some time (or somebody can forge such signatures). It
    /// is not shown that each signature is that of its file: whoever has valid signatures can exchange, negate or
    /// multiply them so that their product stays the same. Where the product is wrong, files are screened 256 at a
    /// time, and each signature of a part that does not pass is verified: that finds what is bad, unless it was made to
    /// cancel out. The verdicts are 'accepted' and 'FAILED'.
    #[arg(long, conflicts_with = "sig")]
    pub(crate) screen: bool,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

// What both raw commands take; each has a description of its own.
#[derive(Args)]
pub(crate) struct Raw {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) files: OneFileOptions,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
}
