//! Openers of encrypted private keys, and the error of a key that there is none for.

use zeroize::Zeroizing;

use super::cipher::Cipher;
use crate::{
    Error, Result,
    format::{encryption::Encryption, refusal::unsupported},
};

/// A cipher that opens a private key, with its key and initialisation vector, and what is to be said of them.
pub(super) struct Opener {
    pub(super) cipher: Cipher,
    pub(super) key: Zeroizing<Vec<u8>>,
    pub(super) iv: Vec<u8>,
    pub(super) method: String,
    pub(super) weaknesses: Vec<String>,
}

impl Opener {
    /// The private key's structure. A password in 256 gives the right padding by chance, so that whoever calls looks
    /// further.
    pub(super) fn open(self, data: &[u8]) -> Result<(Zeroizing<Vec<u8>>, Encryption)> {
        let plain = self
            .cipher
            .decrypt(&self.key, &self.iv, data)
            .ok_or(Error::PasswordWrong)?;
        let cipher = self.cipher.weakness().map(str::to_owned);
        let weaknesses: Vec<String> = self.weaknesses.into_iter().chain(cipher).collect();
        let encryption = Encryption {
            method: format!("{}, {}", self.method, self.cipher.name()),
            weakness: (!weaknesses.is_empty()).then(|| weaknesses.join("; ")),
        };
        Ok((plain, encryption))
    }
}

/// A private key that may be good, in an encryption that is not read here. The command makes a file that is, if
/// `openssl` knows the algorithms; those that OpenSSL 3 calls legacy take its provider of that name.
pub(super) fn not_read(what: &str, is_legacy: bool) -> Error {
    let providers = if is_legacy {
        " -provider legacy -provider default"
    } else {
        ""
    };
    unsupported(format!(
        "this private key is encrypted with {what}, which rsalab does not read; encrypt it anew with \
         `openssl pkcs8 -topk8{providers} -in FILE -out NEW`"
    ))
}
