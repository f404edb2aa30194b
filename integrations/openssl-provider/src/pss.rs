//! Keys of the type RSA-PSS: what they restrict their signatures to (RFC 4055, section 3.1; RFC 8017, appendix A.2.3).

use rsalab_rsa::hash::Hash;

use crate::{
    digests::{hash_named, name_of},
    failure::{Failure, Result},
    openssl::param::Params,
};

/// The restrictions of a key of the type RSA-PSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restrictions {
    pub(crate) hash: Hash,
    pub(crate) mask: Hash,
    /// Bytes of salt, at least.
    pub(crate) salt: usize,
}

/// The value of a parameter that is not there, if another one is.
const DEFAULTS: Restrictions = Restrictions {
    hash: Hash::Sha1,
    mask: Hash::Sha1,
    salt: 20,
};

/// A key's type, as OpenSSL tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rsa,
    /// For PSS only, with these restrictions or none.
    Pss(Option<Restrictions>),
}

impl Kind {
    pub(crate) fn restrictions(self) -> Option<Restrictions> {
        match self {
            Kind::Rsa => None,
            Kind::Pss(restrictions) => restrictions,
        }
    }

    /// The type with what an array restricts it to. One parameter restricts all of them.
    pub(crate) fn restricted(self, params: &Params<'_>) -> Result<Kind> {
        let hash = |name: &str| {
            let Some(found) = params.find(name) else {
                return Ok(None);
            };
            let name = found.string().ok_or("a digest is a name")?;
            let known = hash_named(name).filter(|hash| !is_sha3(*hash));
            let hash = known.ok_or_else(|| format!("a key is not restricted to {name}"))?;
            Ok::<_, Failure>(Some(hash))
        };
        let (digest, mask) = (hash("digest")?, hash("mgf1-digest")?);
        let function = params.find("mgf");
        let salt = match params.find("saltlen") {
            Some(found) => {
                let salt = found.number().and_then(|number| number.try_into().ok());
                Some(salt.ok_or("a key's length of salt is a number")?)
            }
            None => None,
        };
        if digest.is_none() && mask.is_none() && function.is_none() && salt.is_none() {
            return Ok(self);
        }
        let Kind::Pss(before) = self else {
            return Err("only keys of the type RSA-PSS are restricted".into());
        };
        if let Some(function) = function
            && !function.string().is_some_and(|name| name.eq_ignore_ascii_case("MGF1"))
        {
            return Err("the mask generation function is MGF1".into());
        }
        let before = before.unwrap_or(DEFAULTS);
        Ok(Kind::Pss(Some(Restrictions {
            hash: digest.unwrap_or(before.hash),
            mask: mask.unwrap_or(before.mask),
            salt: salt.unwrap_or(before.salt),
        })))
    }
}

impl Restrictions {
    /// The names of the digests, where they are not the default, under the names of their parameters.
    pub(crate) fn digests(self) -> impl Iterator<Item = (&'static std::ffi::CStr, &'static str)> {
        let all = [
            (c"digest", self.hash, DEFAULTS.hash),
            (c"mgf1-digest", self.mask, DEFAULTS.mask),
        ];
        let others = all.into_iter().filter(|(_, hash, default)| hash != default);
        others.map(|(key, hash, _)| (key, name_of(hash)))
    }
}

/// RFC 8017's list of digests, which OpenSSL's restrictions are of, ends before SHA-3.
fn is_sha3(hash: Hash) -> bool {
    matches!(hash, Hash::Sha3_224 | Hash::Sha3_256 | Hash::Sha3_384 | Hash::Sha3_512)
}
