//! An encryption context: key, padding, and the parameters of OAEP and of TLS.

use std::sync::Arc;

use rand_core::TryRng;
use rsalab_reserve::Reserve;
use rsalab_rsa::{
    encryption::Unpadder,
    hash::Hash,
    random::SystemRng,
    scheme::{EncryptionScheme, Oaep},
};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};
use zeroize::Zeroizing;

use crate::{
    digests::{hash_named, name_of},
    failure::{Failure, Result},
    key::Key,
    memory,
    openssl::{param::Params, stack, version::Version},
    requests,
    settings::Settings,
};

type Secret = Zeroizing<Vec<u8>>;

/// `RSA_PKCS1_PADDING`, `RSA_NO_PADDING`, `RSA_PKCS1_OAEP_PADDING`, `RSA_PKCS1_WITH_TLS_PADDING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Pkcs1,
    None,
    Oaep,
    /// PKCS#1 v1.5 around the premaster secret of a TLS client: for decryption only.
    Tls,
}

/// Numbers and names; OpenSSL knows one of them misspelt, too, and has none for the last.
const PADDINGS: [(Padding, i64, &str); 5] = [
    (Padding::Pkcs1, 1, "pkcs1"),
    (Padding::None, 3, "none"),
    (Padding::Oaep, 4, "oaep"),
    (Padding::Oaep, 4, "oeap"),
    (Padding::Tls, 7, ""),
];

/// Bytes of a premaster secret: the client's version, and 46 of randomness (RFC 5246, section 7.4.7.1).
const PREMASTER: usize = 48;

/// Bytes that PKCS#1 v1.5 takes at least.
const OVERHEAD: usize = 11;

/// The purpose of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Encrypt,
    Decrypt,
}

/// One of OpenSSL's `EVP_PKEY_CTX` for encryption.
#[derive(Clone)]
pub(crate) struct Context {
    settings: Settings,
    key: Option<Arc<Key>>,
    padding: Padding,
    digest: Option<Hash>,
    mask: Option<Hash>,
    label: Arc<[u8]>,
    /// The version that the client offered, and the one that was agreed upon if that is taken, too; 0 if it was not
    /// set.
    client_version: u16,
    negotiated_version: u16,
    /// `true` if bad PKCS#1 v1.5 padding yields a pseudorandom message.
    implicit_rejection: bool,
}

impl Context {
    pub(crate) fn new(_: Version, settings: Settings) -> Self {
        Context {
            settings,
            key: None,
            padding: Padding::Pkcs1,
            digest: None,
            mask: None,
            label: Arc::default(),
            client_version: 0,
            negotiated_version: 0,
            implicit_rejection: true,
        }
    }
}

impl Context {
    /// Begins an operation; without a key, with the one of before.
    pub(crate) fn begin(&mut self, purpose: Use, key: Option<Arc<Key>>) -> Result<()> {
        if let Some(key) = key {
            self.key = Some(key);
        }
        if purpose == Use::Decrypt && self.key()?.private().is_none() {
            return Err("the key has no private half".into());
        }
        self.padding = Padding::Pkcs1;
        self.implicit_rejection = true;
        Ok(())
    }

    fn key(&self) -> Result<&Arc<Key>> {
        self.key.as_ref().ok_or_else(|| "there is no key".into())
    }

    /// Bytes of a ciphertext.
    pub(crate) fn ciphertext_len(&self) -> Result<usize> {
        Ok(self.key()?.modulus_len())
    }

    /// Bytes that a buffer for a message has at least; with OAEP the message needs no more than it has.
    pub(crate) fn message_room(&self) -> Result<usize> {
        match self.padding {
            Padding::Oaep => Ok(0),
            _ => self.message_len(),
        }
    }

    /// Bytes that a message has at most.
    pub(crate) fn message_len(&self) -> Result<usize> {
        match self.padding {
            Padding::Tls => Ok(PREMASTER),
            _ => self.ciphertext_len(),
        }
    }

    /// Memory for copies of the label.
    fn copies(&self) -> Result<Option<Reserve>> {
        memory::copies(self.label.len())
    }

    /// The scheme of the library, if the padding is one.
    fn scheme(&self) -> Option<EncryptionScheme> {
        match self.padding {
            Padding::Pkcs1 => Some(EncryptionScheme::Pkcs1v15),
            Padding::Oaep => {
                let hash = self.digest.unwrap_or(Hash::Sha1);
                Some(EncryptionScheme::Oaep(Oaep {
                    hash,
                    mgf_hash: self.mask.unwrap_or(hash),
                    label: self.label.to_vec(),
                }))
            }
            Padding::None | Padding::Tls => None,
        }
    }

    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>> {
        let key = self.key()?;
        self.settings.bound(key.public())?;
        let _copies = self.copies()?;
        let encrypt = || match (self.scheme(), self.padding) {
            (Some(scheme), _) => key.encrypt(scheme, message),
            (None, Padding::None) => {
                if message.len() != key.modulus_len() {
                    return Err("without a padding the message is as long as the modulus".into());
                }
                let power = key.run_public(message)?;
                power.ok_or_else(|| "the message is not below the modulus".into())
            }
            (None, _) => Err("the padding is for decryption only".into()),
        };
        stack::on_large_stack_in_job(encrypt)
    }

    /// A ciphertext that is shorter than the modulus counts as one with zeros in front, as it does for OpenSSL.
    pub(crate) fn decrypt(&self, ciphertext: &[u8]) -> Result<Secret> {
        let key = self.key()?;
        let private = key.private().ok_or("the key has no private half")?;
        let k = key.modulus_len();
        let zeros = k
            .checked_sub(ciphertext.len())
            .ok_or("the ciphertext is longer than the modulus")?;
        let _copies = self.copies()?;
        let mut input = vec![0; k];
        input[zeros..].copy_from_slice(ciphertext);

        // Whatever does not depend on the ciphertext is refused before the private operation.
        if self.padding == Padding::Tls {
            if self.client_version == 0 {
                return Err("the version that the client offered was not set".into());
            }
            if k < OVERHEAD + PREMASTER {
                return Err("the key is too short for a premaster secret".into());
            }
        }
        // Nothing secret is kept here meanwhile: a job that is never resumed drops nothing.
        let mut block = requests::private(&self.settings, key.requested()?, input.clone().into())?;
        let scheme = self
            .scheme()
            .filter(|_| self.padding != Padding::Pkcs1 || self.implicit_rejection);
        let place = match (scheme, self.padding) {
            (Some(scheme), _) => stack::on_large_stack_in_job(|| {
                let unpadder = Unpadder::new(private, &scheme)?;
                let mut room = Zeroizing::new(vec![0; k]);
                Ok(unpadder.unpad(&input, &mut block, &mut room))
            })?,
            (None, Padding::Tls) => {
                return premaster(&block, self.client_version, self.negotiated_version);
            }
            (None, Padding::Pkcs1) => message_of(&block).map(|start| start..k),
            (None, _) => return Ok(block),
        };
        let place = place.ok_or("the ciphertext is not of this key and these parameters")?;
        Ok(Zeroizing::new(block[place].to_vec()))
    }

    pub(crate) fn set_params(&mut self, params: &Params<'_>) -> Result<()> {
        let hash = |name: &str| {
            let Some(found) = params.find(name) else {
                return Ok(None);
            };
            let name = found.string().ok_or("a digest is a name")?;
            let hash = hash_named(name).ok_or_else(|| format!("the digest {name} is not known"))?;
            Ok::<_, Failure>(Some(hash))
        };
        self.digest = hash("digest")?.or(self.digest);
        if let Some(found) = params.find("pad-mode") {
            let (number, text) = (found.number(), found.string());
            let text = text.filter(|text| !text.is_empty());
            let known = PADDINGS
                .iter()
                .find(|(_, id, name)| number == Some(*id) || text == Some(*name));
            self.padding = known.ok_or("the padding does not encrypt")?.0;
            if self.padding == Padding::Oaep && self.digest.is_none() {
                self.digest = Some(Hash::Sha1);
            }
        }
        self.mask = hash("mgf1-digest")?.or(self.mask);
        if let Some(found) = params.find("oaep-label") {
            let label = found.octets().ok_or("a label is an octet string")?;
            let _copies = memory::copies(label.len())?;
            self.label = label.into();
        }
        let version = |name: &str| {
            let Some(found) = params.find(name) else {
                return Ok(None);
            };
            let number = found.number().and_then(|number| number.try_into().ok());
            number.map(Some).ok_or("a version of TLS has 16 bits")
        };
        if let Some(number) = version("tls-client-version")? {
            self.client_version = number;
        }
        if let Some(number) = version("tls-negotiated-version")? {
            self.negotiated_version = number;
        }
        if let Some(found) = params.find("implicit-rejection") {
            self.implicit_rejection = found.number().ok_or("it is a number")? != 0;
        }
        Ok(())
    }

    pub(crate) fn get_params(&self, params: &Params<'_>) -> Result<()> {
        if let Some(found) = params.find("pad-mode")
            && let Some((_, id, name)) = PADDINGS.iter().find(|(padding, ..)| *padding == self.padding)
        {
            match found.is_text() {
                true if name.is_empty() => return Err("the padding has a number only".into()),
                true => found.set_string(name)?,
                false => found.set_number(*id as usize)?,
            }
        }
        if let Some(found) = params.find("digest") {
            found.set_string(self.digest.map_or("", name_of))?;
        }
        if let Some(found) = params.find("mgf1-digest") {
            found.set_string(self.mask.or(self.digest).map_or("", name_of))?;
        }
        if let Some(found) = params.find("oaep-label") {
            found.set_octets_or_place(&self.label)?;
        }
        for (name, number) in [
            ("tls-client-version", usize::from(self.client_version)),
            ("tls-negotiated-version", usize::from(self.negotiated_version)),
            ("implicit-rejection", usize::from(self.implicit_rejection)),
        ] {
            if let Some(found) = params.find(name) {
                found.set_number(number)?;
            }
        }
        Ok(())
    }
}

/// The place of the message in EME-PKCS1-v1_5 (RFC 8017, section 7.2.2), for programs that turned implicit rejection
/// off: the answer tells whether there is one, and nothing before it does.
fn message_of(block: &[u8]) -> Option<usize> {
    let mut is_good = block[0].ct_eq(&0) & block[1].ct_eq(&2);
    let mut is_found = Choice::from(0);
    let mut end = 0_u32;
    for (place, byte) in (2_u32..).zip(&block[2..]) {
        let is_zero = byte.ct_eq(&0);
        end = u32::conditional_select(&end, &place, !is_found & is_zero);
        is_found |= is_zero;
    }
    is_good &= is_found & end.ct_gt(&(OVERHEAD as u32 - 2));
    bool::from(is_good).then_some(end as usize + 1)
}

/// The premaster secret in a block, or a random one if padding, length or version are wrong: which of them it is shows
/// neither in the answer nor in the time (RFC 5246, section 7.4.7.1; Klima, Pokorny and Rosa, 2003, for the version).
fn premaster(block: &[u8], client_version: u16, negotiated_version: u16) -> Result<Secret> {
    let mut secret = Zeroizing::new(vec![0; PREMASTER]);
    SystemRng
        .try_fill_bytes(&mut secret)
        .map_err(|error| error.to_string())?;
    let (padding, found) = block.split_at(block.len() - PREMASTER);
    let (random, zero) = padding[2..].split_at(padding.len() - 3);
    let mut is_good = padding[..2].ct_eq(&[0, 2]) & zero.ct_eq(&[0]);
    for byte in random {
        is_good &= !byte.ct_eq(&0);
    }
    let mut is_version = found[..2].ct_eq(&client_version.to_be_bytes());
    // Whether the second one is taken is the server's choice, and no secret.
    if negotiated_version != 0 {
        is_version |= found[..2].ct_eq(&negotiated_version.to_be_bytes());
    }
    is_good &= is_version;
    for (ours, theirs) in secret.iter_mut().zip(found) {
        ours.conditional_assign(theirs, is_good);
    }
    Ok(secret)
}
