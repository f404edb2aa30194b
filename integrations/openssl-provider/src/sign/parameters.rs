//! The parameters of a signature context: what is set, what is asked for, and what a restricted key allows.

use rsalab_rsa::hash::Hash;

use super::{Context, Padding, RESTRICTED_SALT, Salt, Use};
use crate::{
    digests::{Digest, hash_named, name_of},
    failure::{Reason, Result},
    openssl::param::Params,
    pss::Kind,
};

const PADDINGS: [(Padding, i64, &str); 4] = [
    (Padding::Pkcs1, 1, "pkcs1"),
    (Padding::None, 3, "none"),
    (Padding::X931, 5, "x931"),
    (Padding::Pss, 6, "pss"),
];

const SALTS: [(Salt, i64, &str); 4] = [
    (Salt::Digest, -1, "digest"),
    (Salt::Auto, -2, "auto"),
    (Salt::Max, -3, "max"),
    (Salt::AutoDigestMax, -4, "auto-digestmax"),
];

impl Context {
    pub(super) fn set_digest(&mut self, name: &str) -> Result<()> {
        let digest = Digest::named(name).ok_or_else(|| format!("the digest {name} is not known"))?;
        let is_other = self.digest != Some(digest);
        if is_other && self.hasher.is_some() {
            return Err("the digest of a message that was begun does not change".into());
        }
        if is_other && self.padding == Padding::Pss && self.least_salt.is_some() {
            return Err(format!("the key is restricted to a digest other than {name}").into());
        }
        self.digest = Some(digest);
        Ok(())
    }

    fn set_mask(&mut self, name: &str) -> Result<()> {
        if self.padding != Padding::Pss {
            return Err(Reason::InvalidMgf1Digest.because("a digest of MGF1 is for PSS"));
        }
        let mask = hash_named(name).ok_or_else(|| format!("the digest {name} is not known"))?;
        if self.least_salt.is_some() && self.mask != Some(mask) {
            let text = format!("the key is restricted to another one of MGF1 than {name}");
            return Err(Reason::DigestNotAllowed.because(text));
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
                (Salt::Auto | Salt::AutoDigestMax, _)
                    if (self.purpose == Use::Sign) != self.version.signs_with_auto() =>
                {
                    return Err(Reason::InvalidSaltLength.because("the key is restricted, and any will not do"));
                }
                (Salt::Digest, Some(digest)) => digest.len(),
                (Salt::Bytes(bytes), _) => bytes,
                _ => least,
            };
            if bytes < least {
                return Err(Reason::SaltTooShort.because(RESTRICTED_SALT));
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
            let padding = known
                .ok_or_else(|| Reason::UnsupportedPadding.because("it is not known"))?
                .0;
            if padding == Padding::Pss && self.purpose == Use::Recover {
                return Err(Reason::UnsupportedPadding.because("nothing is recovered from PSS"));
            }
            if padding != Padding::Pss && self.kind != Kind::Rsa {
                return Err(Reason::UnsupportedPadding.because("a key of the type RSA-PSS has no other"));
            }
            self.padding = padding;
        }
        if let Some(found) = params.find("saltlen") {
            let text = found.string();
            let number = found.number().or_else(|| text?.parse().ok());
            let known = SALTS
                .iter()
                .find(|(_, id, name)| number == Some(*id) || text == Some(*name))
                .map(|(salt, ..)| *salt)
                .filter(|salt| *salt != Salt::AutoDigestMax || self.version.has_auto_digest_max());
            let bytes = number.and_then(|number| usize::try_from(number).ok()).map(Salt::Bytes);
            self.set_salt(
                known
                    .or(bytes)
                    .ok_or_else(|| Reason::InvalidSaltLength.because("it is not known"))?,
            )?;
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
        if self.padding == Padding::X931 {
            self.x931_number(self.digest)?;
        }
        if self.padding == Padding::None && self.digest.is_some() {
            return Err(Reason::UnsupportedPadding.because("digests are padded"));
        }
        Ok(())
    }

    pub(crate) fn get_params(&self, params: &Params<'_>) -> Result<()> {
        if let Some(found) = params.find("algorithm-id") {
            found.set_octets(&self.algorithm()?)?;
        }
        if let Some(found) = params.find("pad-mode")
            && let Some((_, id, name)) = PADDINGS.iter().find(|(padding, ..)| *padding == self.padding)
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
                (None, Salt::Bytes(bytes)) if found.is_text() => found.set_string(&bytes.to_string())?,
                (None, Salt::Bytes(bytes)) => found.set_number(bytes)?,
                (None, _) => {}
            }
        }
        Ok(())
    }
}
