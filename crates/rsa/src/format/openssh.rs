//! Keys as OpenSSH has them: `openssh-key-v1` for the private half, a line of `authorized_keys` for the public one.

use base64ct::{Base64, Base64Unpadded, Encoding};
use sha2::{Digest, Sha256};
use ssh_key::{
    Algorithm, Kdf, LineEnding, Mpint, PrivateKey as SshPrivate, PublicKey as SshPublic,
    private::{KeypairData, RsaKeypair, RsaPrivateKey},
    public::{KeyData, RsaPublicKey},
};
use zeroize::Zeroizing;

use super::{
    encryption::Encryption,
    input::{FITS, Limits},
    refusal::{refused, unsupported},
};
use crate::{Error, PrivateKey, PublicKey, Result};

/// Writes a private key, unencrypted.
///
/// # Errors
///
/// [`Error::Format`] for a key of more than two primes, which this form cannot express.
pub fn private(key: &PrivateKey, comment: &str) -> Result<Zeroizing<String>> {
    let parts = key.parts();
    if !parts.others.is_empty() {
        return Err(refused(format!(
            "this key has {} primes, and OpenSSH's form has room for two; take PKCS#8",
            key.primes()
        )));
    }
    let [d, qinv, p, q] = [parts.d, parts.qinv, parts.p, parts.q].map(Mpint::from_positive_bytes);
    let written = RsaPrivateKey::new(d, qinv, p, q)
        .and_then(|private| RsaKeypair::new(public_half(key.public())?, private))
        .and_then(|pair| SshPrivate::new(KeypairData::Rsa(pair), comment))
        .and_then(|key| key.to_openssh(LineEnding::LF))
        .expect(FITS);
    Ok(written)
}

/// Writes a public key: one line, without its end. Control characters of the comment become blanks.
pub fn public(key: &PublicKey, comment: &str) -> String {
    let comment = comment.replace(char::is_control, " ");
    public_half(key)
        .and_then(|key| SshPublic::new(KeyData::Rsa(key), comment).to_openssh())
        .expect(FITS)
}

/// The name of a key that `ssh-keygen -l` shows: SHA-256 of the key as SSH sends it (RFC 4253, section 6.6).
pub fn fingerprint(key: &PublicKey) -> String {
    let body = public_half(key)
        .and_then(|key| SshPublic::from(key).to_bytes())
        .expect(FITS);
    format!("SHA256:{}", Base64Unpadded::encode_string(&Sha256::digest(body)))
}

fn public_half(key: &PublicKey) -> ssh_key::Result<RsaPublicKey> {
    let [e, n] = [key.e(), key.n()].map(Mpint::from_positive_bytes);
    RsaPublicKey::new(e, n)
}

/// Reads the public key in the base64 of a line.
pub(super) fn decode_public(base64: &[u8], limits: Limits) -> Result<PublicKey> {
    let damaged = |how| refused(format!("this public key in OpenSSH's form is damaged{how}"));
    let text = std::str::from_utf8(base64).map_err(|_| damaged(""))?;
    let body = Base64::decode_vec(text).map_err(|_| damaged(": it is not base64, or is cut"))?;
    let key = SshPublic::from_bytes(&body).map_err(|_| damaged(""))?;
    let rsa = key
        .key_data()
        .rsa()
        .ok_or_else(|| refused("this public key in OpenSSH's form names RSA, and holds a key of another algorithm"))?;
    let [n, e] = [rsa.n(), rsa.e()].map(|number| number.as_positive_bytes().unwrap_or_default());
    limits.check(n)?;
    PublicKey::new(n, e)
}

/// The most rounds of bcrypt, which take about a second of one CPU; `ssh-keygen` writes 16 or 24 unless told otherwise.
const MOST_ROUNDS: u32 = 200;

/// Reads a private key, its comment, and how it was encrypted.
pub(super) fn decode_private(
    text: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<(PrivateKey, Vec<u8>, Option<Encryption>)> {
    let key = SshPrivate::from_openssh(text).map_err(damaged)?;
    let (key, encryption) = match key.is_encrypted() {
        false => (key, None),
        true => {
            let (key, encryption) = decrypted(&key, password)?;
            (key, Some(encryption))
        }
    };
    let comment = key.comment().as_bytes().to_vec();
    Ok((rsa(&key, limits)?, comment, encryption))
}

/// The public half of a private key, which stands in clear before it.
pub(super) fn half(text: &[u8], limits: Limits) -> Option<PublicKey> {
    let key = SshPrivate::from_openssh(text).ok()?;
    let rsa = key.public_key().key_data().rsa()?;
    let [n, e] = [rsa.n(), rsa.e()].map(|number| number.as_positive_bytes().unwrap_or_default());
    limits.check(n).ok()?;
    PublicKey::new(n, e).ok()
}

/// Opens an encrypted key. Whose key it is stands in clear before it, so that no password is asked for in vain.
fn decrypted(key: &SshPrivate, password: Option<&[u8]>) -> Result<(SshPrivate, Encryption)> {
    if key.public_key().key_data().rsa().is_none() {
        return Err(not_rsa(&key.algorithm()));
    }
    let rounds = match key.kdf() {
        Kdf::Bcrypt { rounds, .. } => *rounds,
        _ => 0,
    };
    match rounds {
        0 => Err(refused(
            "this private key in OpenSSH's form is damaged: it is encrypted without a round of bcrypt",
        )),
        1..=MOST_ROUNDS => Ok(()),
        _ => Err(unsupported(format!(
            "this private key asks for {rounds} rounds of bcrypt; rsalab does {MOST_ROUNDS} at most: \
             take fewer with `ssh-keygen -p -a 24 -f COPY`"
        ))),
    }?;
    let password = password.ok_or(Error::PasswordMissing)?;
    let cipher = key.cipher();
    // Two numbers in the encrypted part that must be the same tell a wrong password; of some ciphers a tag does.
    let key = key.decrypt(password).map_err(|_| Error::PasswordWrong)?;
    let encryption = Encryption {
        method: format!("OpenSSH, bcrypt, {cipher}"),
        weakness: None,
    };
    Ok((key, encryption))
}

fn rsa(key: &SshPrivate, limits: Limits) -> Result<PrivateKey> {
    let Some(pair) = key.key_data().rsa() else {
        return Err(not_rsa(&key.algorithm()));
    };
    let [n, e, d, p, q, qinv] = [
        pair.public().n(),
        pair.public().e(),
        pair.private().d(),
        pair.private().p(),
        pair.private().q(),
        pair.private().iqmp(),
    ]
    .map(|number| number.as_positive_bytes().unwrap_or_default());
    limits.check(n)?;
    PrivateKey::from_primes_and_exponent(n, e, d, p, q, Some(qinv))
}

/// The messages of the parser hold names from the file.
fn damaged(error: ssh_key::Error) -> Error {
    use ssh_key::{Error as E, encoding::Error as Encoding};
    let fault = match error {
        E::AlgorithmUnknown | E::AlgorithmUnsupported { .. } => return other_algorithm(),
        E::Encoding(Encoding::Label(_)) => {
            return unsupported("this key in OpenSSH's form names an algorithm or cipher that rsalab does not know");
        }
        E::Encoding(Encoding::InvalidDiscriminant(_)) => "it holds a number without a meaning".to_owned(),
        E::Version { .. } => "it has a version that is not known".to_owned(),
        // Everything else is kinds of errors and lengths.
        error => error.to_string(),
    };
    refused(format!("this key in OpenSSH's form is damaged: {fault}"))
}

fn not_rsa(algorithm: &Algorithm) -> Error {
    match algorithm {
        Algorithm::Other(_) => other_algorithm(),
        known => unsupported(format!(
            "this is a key of the algorithm {} in OpenSSH's form; rsalab works with RSA keys only",
            known.as_str()
        )),
    }
}

fn other_algorithm() -> Error {
    unsupported("this is a key of another algorithm in OpenSSH's form; rsalab works with RSA keys only")
}
