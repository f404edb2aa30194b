//! Blind signatures.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rsalab_rsa::blind::Variant;

use super::{
    messages::{InputOptions, KeyOptions},
    shared::{JsonOption, KeyFileOptions, OutOption, ThreadsOption},
};

/// Have messages signed that the signer cannot see (RFC 9474)
///
/// A client blinds a message ('request'), the issuer signs it blindly ('sign'), and the client makes the signature of
/// the answer ('finalize'). The issuer sees neither the message nor the signature, and cannot tell later which request
/// it came from. Signatures are RSASSA-PSS with SHA-384.
#[derive(Subcommand)]
#[command(after_long_help = "\
Example:
  rsalab blind request --key public.pem ballot       ballot.blinded goes to the issuer; ballot.state is secret
  rsalab blind sign --key key.pem ballot.blinded     ballot.blinded.sig comes back
  rsalab blind finalize --key public.pem ballot      ballot.sig and ballot.prefix
  rsalab blind verify --key public.pem ballot")]
pub(crate) enum Blind {
    Request(BlindRequest),
    Sign(BlindSign),
    Finalize(BlindFinalize),
    Verify(BlindVerify),
    Key(BlindKey),
}

/// The variants of RFC 9474, section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariantName {
    /// RSABSSA-SHA384-PSS-Randomized: a salt, and a random prefix before the message.
    PssRandomized,
    /// RSABSSA-SHA384-PSSZERO-Randomized: no salt, a random prefix.
    PsszeroRandomized,
    /// RSABSSA-SHA384-PSS-Deterministic: a salt, no prefix; RFC 9578's tokens.
    PssDeterministic,
    /// RSABSSA-SHA384-PSSZERO-Deterministic: neither.
    PsszeroDeterministic,
}

impl From<VariantName> for Variant {
    fn from(name: VariantName) -> Self {
        match name {
            VariantName::PssRandomized => Variant::PssRandomized,
            VariantName::PsszeroRandomized => Variant::PsszeroRandomized,
            VariantName::PssDeterministic => Variant::PssDeterministic,
            VariantName::PsszeroDeterministic => Variant::PsszeroDeterministic,
        }
    }
}

/// Which variant is meant.
#[derive(Args)]
pub(crate) struct VariantOption {
    /// The variant of RFC 9474; client and issuer agree on it.
    #[arg(long, value_enum, default_value_t = VariantName::PssRandomized)]
    pub(crate) variant: VariantName,
}

/// Blind messages, for an issuer to sign
///
/// For each FILE, FILE.blinded goes to the issuer, and FILE.state stays: it is readable by its owner only, and tells
/// whoever has it that request and signature belong together. Delete it once the signature is there. With several
/// files, one that cannot be blinded does not stop the others, and the same command continues where it was stopped.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab blind request --key issuer.pem message.txt
  rsalab blind request --variant pss-deterministic --key token-key.der token_input --out request --state secret
  rsalab blind request --key issuer.pem ballots/*.txt")]
pub(crate) struct BlindRequest {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// Where the blinded message goes: a file that must not exist, or '-' for standard output. If not given,
    /// FILE.blinded.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where the state goes, a file that must not exist; FILE.state if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variant: VariantOption,
}

/// Sign blinded messages, as the issuer
///
/// A file holds one blinded message as long as the modulus, or several, one after another; so does the result,
/// FILE.sig. What is signed cannot be seen: use the key for nothing else, and limit who gets how many signatures. The
/// operation is blinded once more, and each result is checked before it is written. A file that is refused does not
/// stop the others.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab blind sign --key key.pem message.txt.blinded
  rsalab blind sign --key key.pem requests/*.blinded
  cat requests/*.blinded | rsalab blind sign --key key.pem --threads 2 > answers")]
pub(crate) struct BlindSign {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// Where the blind signatures go: a file that must not exist, or '-' for standard output. If not given, FILE.sig;
    /// and standard output for what is read from standard input.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variant: VariantOption,
    #[command(flatten)]
    pub(crate) threads: ThreadsOption,
}

/// Make signatures of what the issuer sent
///
/// For each FILE, FILE.state and FILE.blinded.sig are read, and FILE.sig is written; with a randomized variant also
/// FILE.prefix, the 32 bytes that stand before the message when the signature is verified. Each signature is verified
/// before it is written. Exit code 4: what the issuer sent is no signature of the message.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab blind finalize --key issuer.pem message.txt
  rsalab blind finalize --key token-key.der token_input --state secret --blind-sig answer --sig authenticator")]
pub(crate) struct BlindFinalize {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// The state that 'request' made; FILE.state if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// The issuer's answer; FILE.blinded.sig if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) blind_sig: Option<PathBuf>,
    /// Where the signature goes: a file that must not exist, or '-' for standard output. If not given, FILE.sig; and
    /// standard output for what is read from standard input.
    #[arg(long, visible_alias = "out", value_name = "FILE")]
    pub(crate) sig: Option<PathBuf>,
    /// Where the prefix of a randomized variant goes, a file that must not exist; FILE.prefix if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) prefix: Option<PathBuf>,
}

/// Verify signatures that 'finalize', or other software, made
///
/// The signature of FILE is FILE.sig; with a randomized variant FILE.prefix is read too. It is RSASSA-PSS with SHA-384
/// of prefix and message, which other programs verify as well. Exit code 4: a signature is wrong.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab blind verify --key issuer.pem message.txt
  rsalab blind verify --variant pss-deterministic --key token-key.der tokens/* --json")]
pub(crate) struct BlindVerify {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// The signature of the one file that is read; FILE.sig if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) sig: Option<PathBuf>,
    /// The prefix of the one file that is read; FILE.prefix if not given. A deterministic variant has none.
    #[arg(long, value_name = "FILE")]
    pub(crate) prefix: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variant: VariantOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Write the public key of a token issuer as RFC 9578 publishes it
///
/// DER of 2048 bits for RSASSA-PSS with SHA-384 and a salt of 48 bytes, the key of token type 0x0002. The token_key_id
/// is the SHA-256 digest of the file.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab blind key --key key.pem --out token-key.der")]
pub(crate) struct BlindKey {
    /// The key; '-' for standard input. A private key or a certificate will do.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) key: PathBuf,
    #[command(flatten)]
    pub(crate) reading: KeyFileOptions,
    #[command(flatten)]
    pub(crate) out: OutOption,
}
