//! Keys as OpenSSH has them: `openssh-key-v1` for the private half, a line of `authorized_keys` for the public one.

use ssh_key::{
    Algorithm, LineEnding, Mpint, PrivateKey as SshPrivate, PublicKey as SshPublic,
    private::{KeypairData, RsaKeypair, RsaPrivateKey},
    public::{KeyData, RsaPublicKey},
};
use zeroize::Zeroizing;

use super::{
    content::{refused, unsupported},
    input::Limits,
    pss::FITS,
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

/// Writes a public key: one line, without its end.
pub fn public(key: &PublicKey, comment: &str) -> String {
    public_half(key)
        .and_then(|key| SshPublic::new(KeyData::Rsa(key), comment).to_openssh())
        .expect(FITS)
}

fn public_half(key: &PublicKey) -> ssh_key::Result<RsaPublicKey> {
    let [e, n] = [key.e(), key.n()].map(Mpint::from_positive_bytes);
    RsaPublicKey::new(e, n)
}

pub(super) fn decode_private(text: &[u8], limits: Limits) -> Result<PrivateKey> {
    let key = SshPrivate::from_openssh(text).map_err(damaged)?;
    if key.is_encrypted() {
        return Err(unsupported(
            "this private key is encrypted in OpenSSH's way, which rsalab does not read; decrypt a copy with \
             `ssh-keygen -p -N '' -f COPY`, or convert it with `ssh-keygen -p -m PKCS8 -f COPY`",
        ));
    }
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

pub(super) fn decode_public(line: &[u8], limits: Limits) -> Result<PublicKey> {
    let line = std::str::from_utf8(line)
        .map_err(|_| refused("this public key in OpenSSH's form is damaged: it is not text"))?;
    let key = SshPublic::from_openssh(line).map_err(damaged)?;
    let rsa = key
        .key_data()
        .rsa()
        .ok_or_else(|| not_rsa(&key.algorithm()))?;
    let [n, e] = [rsa.n(), rsa.e()].map(|number| number.as_positive_bytes().unwrap_or_default());
    limits.check(n)?;
    PublicKey::new(n, e)
}

/// The messages of the parser hold names from the file.
fn damaged(error: ssh_key::Error) -> Error {
    use ssh_key::{Error as E, encoding::Error as Encoding};
    let fault = match error {
        E::AlgorithmUnknown | E::AlgorithmUnsupported { .. } => return other_algorithm(),
        E::Encoding(Encoding::Label(_)) => {
            "it names an algorithm or cipher that is not known".to_owned()
        }
        E::Encoding(Encoding::InvalidDiscriminant(_)) => {
            "it holds a number without a meaning".to_owned()
        }
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
    unsupported(
        "this is a key of another algorithm in OpenSSH's form; rsalab works with RSA keys only",
    )
}
