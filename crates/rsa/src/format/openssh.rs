//! Keys as OpenSSH has them: `openssh-key-v1` for the private half, a line of `authorized_keys` for the public one.

use ssh_key::{
    LineEnding, Mpint, PrivateKey as SshPrivate, PublicKey as SshPublic,
    private::{KeypairData, RsaKeypair, RsaPrivateKey},
    public::{KeyData, RsaPublicKey},
};
use zeroize::Zeroizing;

use super::FITS;
use crate::{PrivateKey, PublicKey};

/// Writes a private key, unencrypted.
pub fn private(key: &PrivateKey, comment: &str) -> Zeroizing<String> {
    let parts = key.parts();
    let [d, qinv, p, q] = [parts.d, parts.qinv, parts.p, parts.q].map(Mpint::from_positive_bytes);
    RsaPrivateKey::new(d, qinv, p, q)
        .and_then(|private| RsaKeypair::new(public_half(key.public())?, private))
        .and_then(|pair| SshPrivate::new(KeypairData::Rsa(pair), comment))
        .and_then(|key| key.to_openssh(LineEnding::LF))
        .expect(FITS)
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
