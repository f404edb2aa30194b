//! A signature context: key, padding, digest, and the message as far as it has come.

mod parameters;

use std::sync::Arc;

use rsalab_rsa::{
    hash::Hash,
    random::SystemRng,
    scheme::{Pss, SaltLen, SignatureScheme},
};
use subtle::ConstantTimeEq;

use crate::{
    algorithm,
    digests::{Digest, Hasher, hasher},
    failure::{Reason, Result},
    key::Key,
    openssl::{param::Params, stack, version::Version},
    pss::Kind,
    requests,
    settings::Settings,
    x931,
};

/// `RSA_PKCS1_PADDING`, `RSA_NO_PADDING`, `RSA_X931_PADDING`, `RSA_PKCS1_PSS_PADDING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    None,
    X931,
    Pss,
}

/// OpenSSL's lengths of salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Salt {
    Digest,
    /// As long as possible when signing, any when verifying.
    Auto,
    Max,
    /// As long as the digest or as possible when signing, any when verifying.
    AutoDigestMax,
    Bytes(usize),
}

/// The purpose of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Sign,
    Verify,
    Recover,
}

/// One of OpenSSL's `EVP_PKEY_CTX` for signatures.
pub(crate) struct Context {
    version: Version,
    settings: Settings,
    key: Option<Arc<Key>>,
    purpose: Use,
    padding: Padding,
    digest: Option<Digest>,
    mask: Option<Hash>,
    salt: Salt,
    kind: Kind,
    /// Bytes of salt, at least, where the key is restricted.
    least_salt: Option<usize>,
    hasher: Option<Box<dyn Hasher>>,
    /// `true` if a part of the message was hashed.
    is_updated: bool,
    /// The signature that a message which is verified piece by piece is to have.
    signature: Option<Vec<u8>>,
}

impl Context {
    pub(crate) fn new(version: Version, settings: Settings) -> Self {
        Context {
            version,
            settings,
            key: None,
            purpose: Use::Sign,
            padding: Padding::Pkcs1,
            digest: None,
            mask: None,
            salt: Salt::Auto,
            kind: Kind::Rsa,
            least_salt: None,
            hasher: None,
            is_updated: false,
            signature: None,
        }
    }
}

/// With the message as far as it has come.
impl Clone for Context {
    fn clone(&self) -> Context {
        Context {
            key: self.key.clone(),
            hasher: self.hasher.as_ref().map(|hasher| hasher.copy()),
            signature: self.signature.clone(),
            settings: self.settings.clone(),
            ..*self
        }
    }
}

impl Context {
    /// Begins an operation; without a key, with the one of before. Digests of before stay, paddings and lengths of salt
    /// do not.
    pub(crate) fn begin(&mut self, purpose: Use, key: Option<(Kind, Arc<Key>)>) -> Result<()> {
        if let Some((kind, key)) = key {
            (self.kind, self.key) = (kind, Some(key));
        }
        let key = self.key()?;
        if purpose == Use::Sign && key.private().is_none() {
            return Err("the key has no private half".into());
        }
        let restrictions = self.kind.restrictions();
        if let Some(restrictions) = restrictions {
            let most = most_salt(key.bits(), restrictions.hash) + 2;
            if restrictions.salt > most {
                return Err(Reason::InvalidSaltLength.because("the key is too short for what it is restricted to"));
            }
            self.digest = Some(Digest::Hash(restrictions.hash));
            self.mask = Some(restrictions.mask);
        }
        self.salt = match restrictions {
            Some(restrictions) => Salt::Bytes(restrictions.salt),
            None if self.version.has_auto_digest_max() => Salt::AutoDigestMax,
            None => Salt::Auto,
        };
        self.least_salt = restrictions.map(|restrictions| restrictions.salt);
        self.padding = match self.kind {
            Kind::Rsa => Padding::Pkcs1,
            Kind::Pss(_) => Padding::Pss,
        };
        self.purpose = purpose;
        (self.hasher, self.is_updated, self.signature) = (None, false, None);
        Ok(())
    }

    /// Makes the operation that was begun one of PKCS#1 v1.5 with this digest, of a message or of a digest.
    pub(crate) fn fix_digest(&mut self, name: &str, of_message: bool) -> Result<()> {
        if self.kind != Kind::Rsa {
            return Err(Reason::UnsupportedForKeyType.because("the key is one of the type RSA-PSS"));
        }
        self.set_digest(name)?;
        if of_message {
            self.hasher = self.digest.and_then(hasher);
        }
        Ok(())
    }

    /// The digest of what is given at once: that of the message, if one was begun, and else what is given.
    pub(crate) fn digest_of(&mut self, input: &[u8]) -> Result<Vec<u8>> {
        if self.hasher.is_none() {
            return match self.is_updated {
                true => Err("the message has ended".into()),
                // What is longer is no digest, and refused later.
                false => Ok(input[..input.len().min(self.signature_len()? + 1)].to_vec()),
            };
        }
        if self.is_updated {
            return Err("the message was given in part".into());
        }
        self.update(input)?;
        self.finish()
    }

    /// Takes the signature that a message is to have, if it is among the parameters.
    pub(crate) fn set_signature(&mut self, params: &Params<'_>) -> Result<()> {
        if let Some(found) = params.find("signature") {
            let signature = found.octets().ok_or("a signature is an octet string")?;
            // What is longer is no signature, and refused later.
            let most = self.signature_len()? + 1;
            self.signature = Some(signature[..signature.len().min(most)].to_vec());
        }
        Ok(())
    }

    pub(crate) fn take_signature(&mut self) -> Result<Vec<u8>> {
        self.signature.take().ok_or_else(|| "the signature was not set".into())
    }

    /// Begins to hash a message; with the digest that was set before if there is no name. Where a default is wanted,
    /// OpenSSL asks the key for it and names it.
    pub(crate) fn begin_message(&mut self, name: Option<&str>) -> Result<()> {
        match name {
            Some(name) => self.set_digest(name)?,
            None if self.digest.is_none() => return Err("no digest was set".into()),
            None => {}
        }
        self.hasher = self.digest.and_then(hasher);
        match self.hasher {
            Some(_) => Ok(()),
            None => Err("messages are not hashed with this digest".into()),
        }
    }

    pub(crate) fn update(&mut self, part: &[u8]) -> Result<()> {
        let hasher = self.hasher.as_mut().ok_or("no message was begun")?;
        hasher.update(part);
        self.is_updated = true;
        Ok(())
    }

    /// The digest of the message.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>> {
        let hasher = self.hasher.take().ok_or("no message was begun")?;
        // Of a message without a part, too: what is given after its end is no digest.
        self.is_updated = true;
        Ok(hasher.finish())
    }

    pub(crate) fn signature_len(&self) -> Result<usize> {
        Ok(self.key()?.modulus_len())
    }

    fn key(&self) -> Result<&Arc<Key>> {
        self.key.as_ref().ok_or_else(|| "there is no key".into())
    }

    /// Signs what is to be signed: a digest, or with no digest set what the padding takes.
    pub(crate) fn sign(&self, input: &[u8]) -> Result<Vec<u8>> {
        let key = self.key()?;
        let block = stack::on_large_stack_in_job(|| self.block(key, input))?;
        let output = requests::private(&self.settings, key.requested()?, block.into())?;
        Ok(match self.padding {
            Padding::X931 => x931::smaller(output.to_vec(), key.public().n()),
            _ => output.to_vec(),
        })
    }

    fn block(&self, key: &Key, input: &[u8]) -> Result<Vec<u8>> {
        let k = key.modulus_len();
        if let Some(digest) = self.digest
            && self.padding != Padding::None
            && input.len() != digest.len()
        {
            return Err(format!(
                "the digest has {} bytes, and {} has {}",
                input.len(),
                digest.name(),
                digest.len()
            )
            .into());
        }
        match (self.padding, self.digest) {
            (Padding::None, _) => match input.len() == k {
                true => Ok(input.to_vec()),
                false => Err("without a padding the input is as long as the modulus".into()),
            },
            (Padding::Pkcs1, None | Some(Digest::Md5Sha1)) => type_1(k, input),
            (Padding::X931, digest) => {
                let content = [input, self.x931_number(digest)?.as_slice()].concat();
                x931::encode(k, &content).ok_or_else(|| TOO_LONG.into())
            }
            (Padding::Pss, None) => Err("PSS takes a digest".into()),
            (Padding::Pkcs1, Some(Digest::Legacy(legacy))) => type_1(k, &[legacy.digest_info(), input].concat()),
            _ => Ok(self
                .scheme(key, true)?
                .encode_with_broken_hash(key.bits(), input, &mut SystemRng)?),
        }
    }

    /// The number of the digest that X9.31 signatures have after it; nothing after what is signed without one.
    fn x931_number(&self, digest: Option<Digest>) -> Result<Option<u8>> {
        let Some(digest) = digest else {
            return Ok(None);
        };
        let number = x931::number_of(digest);
        match number {
            Some(_) => Ok(number),
            None => Err(Reason::InvalidX931Digest.because(format!("X9.31 has no number for {}", digest.name()))),
        }
    }

    /// The scheme that digest and padding make.
    fn scheme(&self, key: &Key, signs: bool) -> Result<SignatureScheme> {
        let Some(Digest::Hash(hash)) = self.digest else {
            return Err("the padding takes another digest".into());
        };
        if self.padding == Padding::Pkcs1 {
            return Ok(SignatureScheme::Pkcs1v15(hash));
        }
        Ok(SignatureScheme::Pss(Pss {
            hash,
            mgf_hash: self.mask.unwrap_or(hash),
            salt_len: match self.salt {
                // What a key asks for is asked of signatures of any length of salt, too (RFC 4055, section 3.3).
                Salt::Auto | Salt::AutoDigestMax if !signs => self.least_salt.map_or(SaltLen::Any, SaltLen::AtLeast),
                _ => SaltLen::Bytes(self.salt_len(key, hash)?),
            },
        }))
    }

    /// Bytes of salt of a signature that this context makes.
    fn salt_len(&self, key: &Key, hash: Hash) -> Result<usize> {
        let most = most_salt(key.bits(), hash);
        let salt = match self.salt {
            Salt::Digest => hash.digest_len(),
            Salt::Auto | Salt::Max => most,
            Salt::AutoDigestMax => most.min(hash.digest_len()),
            Salt::Bytes(bytes) => bytes,
        };
        match self.least_salt {
            Some(least) if salt < least => Err(Reason::SaltTooShort.because(RESTRICTED_SALT)),
            _ => Ok(salt),
        }
    }

    /// Fails unless a signature is of a digest.
    pub(crate) fn verify(&self, signature: &[u8], input: &[u8]) -> Result<()> {
        const REFUSED: &str = "the signature is not the input's";
        let key = self.key()?;
        if signature.len() != key.modulus_len() {
            return Err(REFUSED.into());
        }
        self.settings.bound(key.public())?;
        // Masks and hashes of PSS are computed in lanes, which take some KiB of a stack.
        match stack::on_large_stack_in_job(|| self.is_signature(key, signature, input))? {
            true => Ok(()),
            false => Err(REFUSED.into()),
        }
    }

    /// Returns whether what is as long as a signature is that of a digest.
    fn is_signature(&self, key: &Key, signature: &[u8], input: &[u8]) -> Result<bool> {
        let Some(mut block) = key.run_public(signature)? else {
            return Ok(false);
        };
        Ok(match (self.padding, self.digest) {
            (Padding::None, _) => input == block,
            (Padding::X931, _) => {
                let block = x931::opened(block, key.public().n());
                bool::from(self.block(key, input)?.as_slice().ct_eq(&block))
            }
            (Padding::Pkcs1, None | Some(Digest::Md5Sha1 | Digest::Legacy(_))) => {
                bool::from(self.block(key, input)?.as_slice().ct_eq(&block))
            }
            _ => self.scheme(key, false)?.is_encoding_of(key.bits(), input, &mut block)?,
        })
    }

    /// The digest, or other content, that was signed.
    pub(crate) fn recover(&self, signature: &[u8]) -> Result<Vec<u8>> {
        const REFUSED: &str = "the signature is not well formed";
        let key = self.key()?;
        if signature.len() != key.modulus_len() {
            return Err(REFUSED.into());
        }
        self.settings.bound(key.public())?;
        let opened = stack::on_large_stack_in_job(|| key.run_public(signature))?;
        let block = opened.ok_or(REFUSED)?;
        match (self.padding, self.digest) {
            (Padding::None, _) => Ok(block),
            (Padding::Pkcs1, digest) => {
                let padding = block[2..].iter().take_while(|byte| **byte == 0xff).count();
                if block[..2] != [0, 1] || padding < 8 || block.get(2 + padding) != Some(&0) {
                    return Err(REFUSED.into());
                }
                let content = &block[3 + padding..];
                let digest = match digest {
                    Some(digest @ (Digest::Hash(_) | Digest::Legacy(_))) => digest,
                    Some(Digest::Md5Sha1) if content.len() != Digest::Md5Sha1.len() => {
                        return Err(REFUSED.into());
                    }
                    None | Some(Digest::Md5Sha1) => return Ok(content.to_vec()),
                };
                let found = content.len().checked_sub(digest.len()).map(|start| &content[start..]);
                let found = found.ok_or(REFUSED)?;
                // All of the block is compared with the only encoding of this digest.
                match self.block(key, found)? == block {
                    true => Ok(found.to_vec()),
                    false => Err(REFUSED.into()),
                }
            }
            (Padding::X931, digest) => {
                let block = x931::opened(block, key.public().n());
                let content = x931::decode(&block).ok_or(REFUSED)?;
                let Some((digest, number)) = digest.zip(self.x931_number(digest)?) else {
                    return Ok(content.to_vec());
                };
                match content.split_last() {
                    Some((last, found)) if *last == number && found.len() == digest.len() => Ok(found.to_vec()),
                    _ => Err(REFUSED.into()),
                }
            }
            (Padding::Pss, _) => Err("nothing is recovered from PSS".into()),
        }
    }

    /// The AlgorithmIdentifier of what the context signs.
    fn algorithm(&self) -> Result<Vec<u8>> {
        const NONE: &str = "there is no algorithm for this digest and padding";
        match (self.padding, self.digest) {
            (Padding::Pkcs1, Some(digest)) => algorithm::pkcs1v15(digest).ok_or_else(|| NONE.into()),
            (Padding::Pss, Some(Digest::Hash(hash))) => {
                let key = self.key()?;
                match self.scheme(key, true)? {
                    SignatureScheme::Pss(pss) => Ok(algorithm::pss(pss, self.salt_len(key, hash)?)),
                    _ => Err(NONE.into()),
                }
            }
            _ => Err(NONE.into()),
        }
    }
}

const TOO_LONG: &str = "the input is too long for the key";
const RESTRICTED_SALT: &str = "the key is restricted to longer ones";

/// Bytes of salt that PSS has at most (RFC 8017, section 9.1.1).
fn most_salt(bits: usize, hash: Hash) -> usize {
    (bits - 1).div_ceil(8).saturating_sub(hash.digest_len() + 2)
}

/// EMSA-PKCS1-v1_5 of what may be a DigestInfo or not (RFC 8017, section 9.2), in `k` bytes.
fn type_1(k: usize, content: &[u8]) -> Result<Vec<u8>> {
    if content.len() + 11 > k {
        return Err(TOO_LONG.into());
    }
    let mut block = vec![0xff; k];
    (block[0], block[1]) = (0, 1);
    let start = k - content.len();
    block[start - 1] = 0;
    block[start..].copy_from_slice(content);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use rsalab_rsa::PrivateKey;

    use super::*;
    use crate::pss::Restrictions;

    /// From OpenSSL 3.4 on, a key that is restricted to a length of salt is asked to verify with a length of "auto".
    #[test]
    fn no_signature_of_a_restricted_key_has_a_shorter_salt() {
        let key = Arc::new(Key::from_private(PrivateKey::generate(1024).unwrap()));
        let restricted = Kind::Pss(Some(Restrictions {
            hash: Hash::Sha256,
            mask: Hash::Sha256,
            salt: 32,
        }));
        let digest = [7; 32];
        let begun = |purpose, kind, salt| {
            let mut context = Context::new(Version::of("3.5.5"), Settings::default());
            context.begin(purpose, Some((kind, Arc::clone(&key)))).unwrap();
            context.set_digest("SHA2-256").unwrap();
            context.salt = salt;
            context
        };
        for (salt, is_long_enough) in [(0, false), (20, false), (31, false), (32, true), (40, true)] {
            let signing = begun(Use::Sign, Kind::Pss(None), Salt::Bytes(salt));
            let signature = signing.sign(&digest).unwrap();
            for asked in [Salt::Auto, Salt::AutoDigestMax] {
                let verifies = |kind| begun(Use::Verify, kind, asked).verify(&signature, &digest).is_ok();
                assert!(verifies(Kind::Pss(None)), "{salt}");
                assert_eq!(verifies(restricted), is_long_enough, "{salt}");
            }
        }
    }
}
