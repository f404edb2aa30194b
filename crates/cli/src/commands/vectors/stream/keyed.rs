//! Operations with a key, alone and in batches.

use rsalab_rsa::{
    Backend, CpuBackend, Error, Prepared, PrivateKey, PublicKey, Status,
    encryption::{DecryptionKey, EncryptionKey},
    format::{self, Purpose, Usage},
    scheme::{EncryptionScheme, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};

use super::{
    answer::{self, Early, Outcome},
    request::{Job, Work},
};

const WRONG_SIGNATURE: &str = "the signature is not the message's";
const OUT_OF_RANGE: &str = "the number is not below the modulus";

/// A key, prepared for its work.
pub(super) enum PreparedKey {
    Verify(VerifyingKey),
    Sign(SigningKey),
    Encrypt(EncryptionKey),
    Decrypt(DecryptionKey),
    Raw(Box<dyn Prepared>),
    RawVerify(Box<dyn Prepared>),
    /// Why the key is not for the work.
    Refused(Outcome),
}

impl PreparedKey {
    /// The key in a text. What it says about its use is not looked at, as the question is whether an operation is
    /// correct; but whether a signature of RSASSA-PSS is, or a ciphertext of RSAES-OAEP, depends on the parameters that
    /// the key's algorithm names.
    pub(super) fn new(key: &str, work: &Work, backend: &CpuBackend) -> Result<Self, Early> {
        match PreparedKey::load(key, work, backend) {
            Err(error @ Error::Randomness { .. }) => Err(Early::Failed(answer::failed(error))),
            Err(error) => Ok(PreparedKey::Refused(match (&error, work) {
                // SHA-1 is unsupported for new signatures only.
                (Error::Scheme { .. }, Work::Sign(_)) => Outcome::unsupported(error.to_string()),
                _ => Outcome::reject(error.to_string()),
            })),
            Ok(key) => Ok(key),
        }
    }

    fn load(key: &str, work: &Work, backend: &CpuBackend) -> Result<Self, Error> {
        let private = || -> Result<PrivateKey, Error> {
            let loaded = format::load_private(key.as_bytes(), None)?;
            check_parameters(&loaded.usage, work)?;
            Ok(loaded.key)
        };
        let public = || -> Result<PublicKey, Error> {
            let loaded = format::load_public(key.as_bytes(), None)?;
            check_parameters(&loaded.usage, work)?;
            Ok(loaded.key)
        };
        Ok(match work {
            Work::Sign(scheme) => PreparedKey::Sign(SigningKey::with_backend(&private()?, *scheme, backend)?),
            Work::Decrypt(scheme) => PreparedKey::Decrypt(DecryptionKey::with_backend(&private()?, scheme, backend)?),
            Work::Verify(scheme) => {
                let loaded = format::load_public(key.as_bytes(), None)?;
                let scheme = loaded.usage.narrowed(*scheme);
                check_parameters(&loaded.usage, &Work::Verify(scheme))?;
                PreparedKey::Verify(VerifyingKey::with_backend(&loaded.key, scheme, backend)?)
            }
            Work::Encrypt(scheme) => {
                PreparedKey::Encrypt(EncryptionKey::with_backend(&public()?, scheme.clone(), backend)?)
            }
            Work::RawPrivate => PreparedKey::Raw(backend.prepare_private(&private()?)?),
            Work::RawPublic => PreparedKey::Raw(backend.prepare_public(&public()?)?),
            Work::RawVerify => PreparedKey::RawVerify(backend.prepare_public(&public()?)?),
        })
    }

    /// One job, through the interface for one where there is one.
    pub(super) fn single(&self, job: &Job) -> Result<Outcome, Error> {
        Ok(match self {
            PreparedKey::Verify(key) => Outcome::of(key.verify(&job.input, &job.signature), WRONG_SIGNATURE),
            PreparedKey::Sign(key) => Outcome::accept(Some(key.sign(&job.input)?.as_bytes())),
            PreparedKey::Encrypt(key) => encrypted(key.encrypt(&job.input))?,
            PreparedKey::Decrypt(key) => decrypted(key.decrypt(&job.input)?.as_deref()),
            _ => self.batch(std::slice::from_ref(job))?.remove(0),
        })
    }

    /// Several jobs, through the batch interfaces.
    pub(super) fn batch(&self, jobs: &[Job]) -> Result<Vec<Outcome>, Error> {
        let inputs: Vec<&[u8]> = jobs.iter().map(|job| &job.input[..]).collect();
        let signatures = jobs.iter().map(|job| &job.signature[..]);
        Ok(match self {
            PreparedKey::Refused(outcome) => vec![outcome.clone(); jobs.len()],
            PreparedKey::Verify(key) => {
                let pairs: Vec<(&[u8], &[u8])> = inputs.iter().copied().zip(signatures).collect();
                let verified = key.verify_batch(&pairs).into_iter();
                verified
                    .map(|is_valid| Outcome::of(is_valid, WRONG_SIGNATURE))
                    .collect()
            }
            PreparedKey::Sign(key) => key
                .sign_batch(&inputs)?
                .iter()
                .map(|signature| Outcome::accept(Some(signature.as_bytes())))
                .collect(),
            PreparedKey::Encrypt(key) => match key.encrypt_batch(&inputs) {
                Ok(all) => all.iter().map(|ciphertext| Outcome::accept(Some(ciphertext))).collect(),
                // One that is too long does not stop the others.
                Err(Error::Scheme { .. }) => inputs
                    .iter()
                    .map(|input| encrypted(key.encrypt(input)))
                    .collect::<Result<_, _>>()?,
                Err(error) => return Err(error),
            },
            PreparedKey::Decrypt(key) => key
                .decrypt_batch(&inputs)?
                .iter()
                .map(|message| decrypted(message.as_deref()))
                .collect(),
            PreparedKey::Raw(key) => raised(&**key, &inputs)?
                .into_iter()
                .map(|power| match power {
                    Some(power) => Outcome::accept(Some(&power)),
                    None => Outcome::reject(OUT_OF_RANGE),
                })
                .collect(),
            PreparedKey::RawVerify(key) => {
                let powers = raised(&**key, &signatures.collect::<Vec<_>>())?;
                let verified = powers.into_iter().zip(jobs).map(|(power, job)| {
                    let is_valid = job.signature.len() == key.modulus_len()
                        && power.is_some_and(|power| significant(&power) == significant(&job.input));
                    Outcome::of(is_valid, WRONG_SIGNATURE)
                });
                verified.collect()
            }
        })
    }
}

/// Refuses parameters of RSASSA-PSS and RSAES-OAEP that are not those of the key's algorithm.
fn check_parameters(usage: &Usage, work: &Work) -> Result<(), Error> {
    match (usage, work) {
        (Usage::Pss(Some(_)), Work::Sign(scheme @ SignatureScheme::Pss(_))) => usage.check(Purpose::Sign(scheme)),
        (Usage::Pss(Some(_)), Work::Verify(scheme @ SignatureScheme::Pss(_))) => usage.check(Purpose::Verify(scheme)),
        (Usage::Oaep(Some(_)), Work::Encrypt(scheme @ EncryptionScheme::Oaep(_))) => {
            usage.check(Purpose::Encrypt(Some(scheme)))
        }
        (Usage::Oaep(Some(_)), Work::Decrypt(scheme @ EncryptionScheme::Oaep(_))) => {
            usage.check(Purpose::Decrypt(Some(scheme)))
        }
        _ => Ok(()),
    }
}

/// Powers of numbers of any length; none where one is not below the modulus.
fn raised(key: &dyn Prepared, numbers: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let k = key.modulus_len();
    let mut inputs = vec![0; numbers.len() * k];
    let mut fits = vec![true; numbers.len()];
    for ((number, block), fits) in numbers.iter().zip(inputs.chunks_mut(k)).zip(&mut fits) {
        let number = significant(number);
        match k.checked_sub(number.len()) {
            Some(zeros) => block[zeros..].copy_from_slice(number),
            None => *fits = false,
        }
    }
    let mut outputs = vec![0; inputs.len()];
    let mut status = vec![Status::Done; numbers.len()];
    key.runner()?.run(&inputs, &mut outputs, &mut status)?;
    if let Some(item) = status.iter().position(|status| *status == Status::Fault) {
        return Err(Error::Fault { item });
    }
    let powers = outputs.chunks(k).zip(status).zip(fits);
    Ok(powers
        .map(|((power, status), fits)| (fits && status == Status::Done).then(|| power.to_vec()))
        .collect())
}

fn significant(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    &number[zeros..]
}

fn decrypted(message: Option<&Vec<u8>>) -> Outcome {
    match message {
        Some(message) => Outcome::accept(Some(message)),
        None => Outcome::reject("the ciphertext is wrong"),
    }
}

fn encrypted(ciphertext: Result<Vec<u8>, Error>) -> Result<Outcome, Error> {
    match ciphertext {
        Ok(ciphertext) => Ok(Outcome::accept(Some(&ciphertext))),
        Err(error @ Error::Scheme { .. }) => Ok(Outcome::reject(error.to_string())),
        Err(error) => Err(error),
    }
}
