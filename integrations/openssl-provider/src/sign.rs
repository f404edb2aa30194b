//! A signature context: key, padding, digest, and the message as far as it has come.

use std::sync::Arc;

use rsalab_rsa::{
    hash::Hash,
    random::SystemRng,
    scheme::{Pss, SaltLen, SignatureScheme},
};
use subtle::ConstantTimeEq;

use crate::{
    algorithm,
    digests::{Digest, Hasher, hash_named, hasher, name_of},
    ffi::{param::Params, stack},
    gather,
    key::Key,
    pss::Kind,
};

type Result<T> = std::result::Result<T, String>;

/// `RSA_PKCS1_PADDING`, `RSA_NO_PADDING`, `RSA_PKCS1_PSS_PADDING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    None,
    Pss,
}

const PADDINGS: [(Padding, i64, &str); 3] = [
    (Padding::Pkcs1, 1, "pkcs1"),
    (Padding::None, 3, "none"),
    (Padding::Pss, 6, "pss"),
];

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

const SALTS: [(Salt, i64, &str); 4] = [
    (Salt::Digest, -1, "digest"),
    (Salt::Auto, -2, "auto"),
    (Salt::Max, -3, "max"),
    (Salt::AutoDigestMax, -4, "auto-digestmax"),
];

/// What a context is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Sign,
    Verify,
    Recover,
}

/// One of OpenSSL's `EVP_PKEY_CTX` for signatures.
pub(crate) struct Context {
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
}

impl Default for Context {
    fn default() -> Self {
        Context {
            key: None,
            purpose: Use::Sign,
            padding: Padding::Pkcs1,
            digest: None,
            mask: None,
            salt: Salt::Auto,
            kind: Kind::Rsa,
            least_salt: None,
            hasher: None,
        }
    }
}

impl Context {
    /// A copy, with the message as far as it has come.
    pub(crate) fn duplicate(&self) -> Context {
        Context {
            key: self.key.clone(),
            hasher: self.hasher.as_ref().map(|hasher| hasher.copy()),
            ..*self
        }
    }

    /// Begins an operation; without a key, with the one of before. Digests of before stay, paddings and lengths of salt do not.
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
                return Err("the key is too short for the salt that it is restricted to".into());
            }
            self.digest = Some(Digest::Hash(restrictions.hash));
            self.mask = Some(restrictions.mask);
        }
        self.salt = restrictions.map_or(Salt::Auto, |restrictions| Salt::Bytes(restrictions.salt));
        self.least_salt = restrictions.map(|restrictions| restrictions.salt);
        self.padding = match self.kind {
            Kind::Rsa => Padding::Pkcs1,
            Kind::Pss(_) => Padding::Pss,
        };
        self.purpose = purpose;
        self.hasher = None;
        Ok(())
    }

    /// Begins to hash a message; with OpenSSL's default digest if there is no name.
    pub(crate) fn begin_message(&mut self, name: Option<&str>) -> Result<()> {
        match name.filter(|name| !name.is_empty()) {
            Some(name) => self.set_digest(name)?,
            None if self.digest.is_none() => self.set_digest("SHA2-256")?,
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
        Ok(())
    }

    /// The digest of the message.
    pub(crate) fn finish(&mut self) -> Result<Vec<u8>> {
        let hasher = self.hasher.take().ok_or("no message was begun")?;
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
        let block = stack::roomy_in_job(|| self.block(key, input))?;
        let output = gather::private(key, block.into()).map_err(|error| error.to_string())?;
        Ok(output.to_vec())
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
            ));
        }
        match (self.padding, self.digest) {
            (Padding::None, _) => match input.len() == k {
                true => Ok(input.to_vec()),
                false => Err("without a padding the input is as long as the modulus".into()),
            },
            (Padding::Pkcs1, None | Some(Digest::Md5Sha1)) => type_1(k, input),
            (Padding::Pss, None) => Err("PSS takes a digest".into()),
            (Padding::Pkcs1, Some(Digest::Legacy(legacy))) => {
                type_1(k, &[legacy.digest_info(), input].concat())
            }
            _ => self
                .scheme(key, true)?
                .encode_with_broken_hash(key.bits(), input, &mut SystemRng)
                .map_err(|error| error.to_string()),
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
                Salt::Auto | Salt::AutoDigestMax if !signs => SaltLen::Any,
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
            Some(least) if salt < least => Err(TOO_LITTLE_SALT.into()),
            _ => Ok(salt),
        }
    }

    /// Whether a signature is of a digest.
    pub(crate) fn verify(&self, signature: &[u8], input: &[u8]) -> Result<()> {
        const REFUSED: &str = "the signature is not the input's";
        let key = self.key()?;
        if signature.len() != key.modulus_len() {
            return Err(REFUSED.into());
        }
        let opened = stack::roomy_in_job(|| key.run_public(signature));
        let mut block = opened.map_err(|error| error.to_string())?.ok_or(REFUSED)?;
        let is_right = match (self.padding, self.digest) {
            (Padding::None, _) => input == block,
            (Padding::Pkcs1, None | Some(Digest::Md5Sha1 | Digest::Legacy(_))) => {
                bool::from(self.block(key, input)?.as_slice().ct_eq(&block))
            }
            _ => self
                .scheme(key, false)?
                .is_encoding_of(key.bits(), input, &mut block)
                .map_err(|error| error.to_string())?,
        };
        match is_right {
            true => Ok(()),
            false => Err(REFUSED.into()),
        }
    }

    /// What was signed.
    pub(crate) fn recover(&self, signature: &[u8]) -> Result<Vec<u8>> {
        const REFUSED: &str = "the signature is not well formed";
        let key = self.key()?;
        if signature.len() != key.modulus_len() {
            return Err(REFUSED.into());
        }
        let opened = stack::roomy_in_job(|| key.run_public(signature));
        let block = opened.map_err(|error| error.to_string())?.ok_or(REFUSED)?;
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
                    None | Some(Digest::Md5Sha1) => return Ok(content.to_vec()),
                };
                let found = content
                    .len()
                    .checked_sub(digest.len())
                    .map(|start| &content[start..]);
                let found = found.ok_or(REFUSED)?;
                // All of the block is compared with the only encoding of this digest.
                match self.block(key, found)? == block {
                    true => Ok(found.to_vec()),
                    false => Err(REFUSED.into()),
                }
            }
            (Padding::Pss, _) => Err("nothing is recovered from PSS".into()),
        }
    }

    fn set_digest(&mut self, name: &str) -> Result<()> {
        let digest =
            Digest::named(name).ok_or_else(|| format!("the digest {name} is not known"))?;
        let is_other = self.digest != Some(digest);
        if is_other && self.hasher.is_some() {
            return Err("the digest of a message that was begun does not change".into());
        }
        if is_other && self.padding == Padding::Pss && self.least_salt.is_some() {
            return Err(format!(
                "the key is restricted to a digest other than {name}"
            ));
        }
        self.digest = Some(digest);
        Ok(())
    }

    fn set_mask(&mut self, name: &str) -> Result<()> {
        if self.padding != Padding::Pss {
            return Err("a digest of MGF1 is for PSS".into());
        }
        let mask = hash_named(name).ok_or_else(|| format!("the digest {name} is not known"))?;
        if self.least_salt.is_some() && self.mask != Some(mask) {
            return Err(format!(
                "the key is restricted to a digest of MGF1 other than {name}"
            ));
        }
        self.mask = Some(mask);
        Ok(())
    }

    fn set_salt(&mut self, salt: Salt) -> Result<()> {
        if self.padding != Padding::Pss {
            return Err("a length of salt is for PSS".into());
        }
        if let Some(least) = self.least_salt {
            let bytes = match (salt, self.digest) {
                (Salt::Auto | Salt::AutoDigestMax, _) if self.purpose == Use::Verify => {
                    return Err("the key is restricted: any length of salt will not do".into());
                }
                (Salt::Digest, Some(digest)) => digest.len(),
                (Salt::Bytes(bytes), _) => bytes,
                _ => least,
            };
            if bytes < least {
                return Err(TOO_LITTLE_SALT.into());
            }
        }
        self.salt = salt;
        Ok(())
    }

    pub(crate) fn set_params(&mut self, params: &Params<'_>) -> Result<()> {
        if params.is_absent() {
            return Ok(());
        }
        if let Some(found) = params.find("pad-mode") {
            let (number, text) = (found.number(), found.string());
            let known = PADDINGS
                .iter()
                .find(|(_, id, name)| number == Some(*id) || text == Some(*name));
            let padding = known.ok_or("the padding is not known")?.0;
            if padding == Padding::Pss && self.purpose == Use::Recover {
                return Err("nothing is recovered from PSS".into());
            }
            if padding != Padding::Pss && self.kind != Kind::Rsa {
                return Err("a key of the type RSA-PSS has no other padding".into());
            }
            self.padding = padding;
        }
        if let Some(found) = params.find("saltlen") {
            let text = found.string();
            let number = found.number().or_else(|| text?.parse().ok());
            let known = SALTS
                .iter()
                .find(|(_, id, name)| number == Some(*id) || text == Some(*name))
                .map(|(salt, ..)| *salt);
            let bytes = number
                .and_then(|number| usize::try_from(number).ok())
                .map(Salt::Bytes);
            self.set_salt(known.or(bytes).ok_or("the length of salt is not known")?)?;
        }
        if let Some(found) = params.find("mgf1-digest") {
            self.set_mask(found.string().ok_or("a digest is a name")?)?;
        }
        if let Some(found) = params.find("digest") {
            self.set_digest(found.string().ok_or("a digest is a name")?)?;
        } else if self.digest.is_none() && self.padding == Padding::Pss {
            // OpenSSL's default, once anything is set.
            self.digest = Some(Digest::Hash(Hash::Sha1));
        }
        Ok(())
    }

    pub(crate) fn get_params(&self, params: &Params<'_>) -> Result<()> {
        if let Some(found) = params.find("algorithm-id") {
            found.set_octets(&self.algorithm()?)?;
        }
        if let Some(found) = params.find("pad-mode")
            && let Some((_, id, name)) = PADDINGS
                .iter()
                .find(|(padding, ..)| *padding == self.padding)
        {
            match found.is_text() {
                true => found.set_string(name)?,
                false => found.set_number(*id as usize)?,
            }
        }
        if let Some(found) = params.find("digest") {
            found.set_string(self.digest.map_or("", Digest::name))?;
        }
        if let Some(found) = params.find("mgf1-digest") {
            let digest = self.digest.map_or("", Digest::name);
            found.set_string(self.mask.map_or(digest, name_of))?;
        }
        if let Some(found) = params.find("saltlen") {
            let known = SALTS.iter().find(|(salt, ..)| *salt == self.salt);
            match (known, self.salt) {
                (Some((_, _, name)), _) if found.is_text() => found.set_string(name)?,
                (Some((_, id, _)), _) => found.set_signed(*id)?,
                (None, Salt::Bytes(bytes)) if found.is_text() => {
                    found.set_string(&bytes.to_string())?
                }
                (None, Salt::Bytes(bytes)) => found.set_number(bytes)?,
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// The AlgorithmIdentifier of what the context signs.
    fn algorithm(&self) -> Result<Vec<u8>> {
        const NONE: &str = "there is no algorithm for this digest and padding";
        match (self.padding, self.digest) {
            (Padding::Pkcs1, Some(digest)) => {
                algorithm::pkcs1v15(digest).ok_or_else(|| NONE.into())
            }
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

const TOO_LITTLE_SALT: &str = "the key is restricted to longer salts";

/// Bytes of salt that PSS has at most (RFC 8017, section 9.1.1).
fn most_salt(bits: usize, hash: Hash) -> usize {
    (bits - 1).div_ceil(8).saturating_sub(hash.digest_len() + 2)
}

/// EMSA-PKCS1-v1_5 of what may be a DigestInfo or not (RFC 8017, section 9.2), in `k` bytes.
fn type_1(k: usize, content: &[u8]) -> Result<Vec<u8>> {
    if content.len() + 11 > k {
        return Err("the input is too long for the key".into());
    }
    let mut block = vec![0xff; k];
    (block[0], block[1]) = (0, 1);
    let start = k - content.len();
    block[start - 1] = 0;
    block[start..].copy_from_slice(content);
    Ok(block)
}
