//! `rsalab vectors -`: requests in, answers out, a JSON object a line; `docs/src/reference/conformance.md` is its contract.
//!
//! What one by one and side by side must not tell apart, this makes visible: with `--batch` requests of one key and scheme go
//! through the batch interfaces together, and the answers come in the order of the requests all the same.

use std::{
    collections::HashMap,
    io::{self, BufRead, Read},
};

use rsalab_rsa::{
    Backend, CpuBackend, Error, Prepared, PrivateKey, PublicKey, Status,
    encryption::{DecryptionKey, EncryptionKey},
    format,
    generate::check_acceptance,
    hash::Hash,
    primality::{ROUNDS, is_probable_prime_on},
    random::SystemRng,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::Vectors,
    exit::{Class, Failure},
    kernels, output,
};

/// The longest line: a key of 1 MiB and a message of some.
const MOST_LINE: u64 = 16 << 20;
/// Prepared keys that are kept from one batch to the next.
const MOST_KEYS: usize = 64;

/// A request as it is written. What an operation does not need is ignored.
#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    id: Value,
    op: String,
    scheme: Option<String>,
    hash: Option<String>,
    mgf_hash: Option<String>,
    salt_len: Option<Value>,
    label: Option<String>,
    key: Option<String>,
    msg: Option<String>,
    sig: Option<String>,
    ct: Option<String>,
    #[serde(rename = "in")]
    input: Option<String>,
    value: Option<String>,
    e: Option<String>,
    p: Option<String>,
    q: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    id: Value,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Clone, Serialize)]
struct Outcome {
    result: Verdict,
    /// In hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Accept,
    Reject,
    Unsupported,
}

impl Outcome {
    fn accept(out: Option<&[u8]>) -> Outcome {
        Outcome {
            result: Verdict::Accept,
            out: out.map(hex::encode),
            reason: None,
        }
    }

    fn reject(reason: impl Into<String>) -> Outcome {
        Outcome {
            result: Verdict::Reject,
            out: None,
            reason: Some(reason.into()),
        }
    }

    fn unsupported(reason: impl Into<String>) -> Outcome {
        Outcome {
            result: Verdict::Unsupported,
            out: None,
            reason: Some(reason.into()),
        }
    }

    fn of(is_right: bool, reason: &str) -> Outcome {
        match is_right {
            true => Outcome::accept(None),
            false => Outcome::reject(reason),
        }
    }
}

/// What is done with a key, in batches if there are several.
struct Job {
    /// Requests with the same are done together.
    group: String,
    work: Work,
    /// Bytes that the work takes: a message, a block or a ciphertext; a signature beside the message.
    input: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Clone)]
enum Work {
    Verify(SignatureScheme),
    Sign(SignatureScheme),
    Encrypt(EncryptionScheme),
    Decrypt(EncryptionScheme),
    RawPrivate,
    RawPublic,
    /// Whether a power is the message, as an integer.
    RawVerify,
}

/// A key made ready for its work.
enum Ready {
    Verify(VerifyingKey),
    Sign(SigningKey),
    Encrypt(EncryptionKey),
    Decrypt(DecryptionKey),
    Raw(Box<dyn Prepared>),
    RawVerify(Box<dyn Prepared>),
    /// Why it does not take the work.
    Refused(Outcome),
}

/// A request that could be read: an answer at once, or a job.
enum Taken {
    Answered(Outcome),
    Job(Job),
}

/// Answers requests until there are no more.
pub(super) fn run(arguments: &Vectors) -> Result<(), Failure> {
    let backend = kernels::backend(arguments.kernel.kernel.as_deref())?;
    let mut desk = Desk {
        backend,
        batch: arguments.batch.unwrap_or(1),
        is_batched: arguments.batch.is_some(),
        ready: HashMap::new(),
    };
    let mut input = io::stdin().lock();
    let mut malformed = 0_u64;
    loop {
        let mut lines = Vec::with_capacity(desk.batch);
        while lines.len() < desk.batch {
            match next_line(&mut input)? {
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(line) => lines.push(line),
                None => break,
            }
        }
        if lines.is_empty() {
            break;
        }
        let is_last = lines.len() < desk.batch;
        let answers = desk.answer(&lines, &mut malformed)?;
        let mut text = String::new();
        for answer in answers {
            text += &serde_json::to_string(&answer).expect("the program's own types are JSON");
            text.push('\n');
        }
        output::deliver(text.as_bytes())?;
        if is_last {
            break;
        }
    }
    match malformed {
        0 => Ok(()),
        count => Err(Failure::new(
            Class::Input,
            format!("{count} of the lines were no requests, and were answered with the reason"),
        )
        .advice("a request is a JSON object with the members that docs/src/reference/conformance.md lists")),
    }
}

fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, Failure> {
    let mut line = Vec::new();
    let read = input
        .take(MOST_LINE + 1)
        .read_until(b'\n', &mut line)
        .map_err(|error| Failure::io("cannot read standard input", error))?;
    if line.len() as u64 > MOST_LINE {
        let what = format!("a request is longer than {MOST_LINE} bytes");
        return Err(Failure::new(Class::Input, what).advice("end each request with a line feed"));
    }
    Ok((read > 0).then_some(line))
}

/// Everything that lasts from one request to the next.
struct Desk {
    backend: CpuBackend,
    batch: usize,
    /// Whether the batch interfaces are to be used, even for one.
    is_batched: bool,
    ready: HashMap<String, Ready>,
}

impl Desk {
    fn answer(&mut self, lines: &[Vec<u8>], malformed: &mut u64) -> Result<Vec<Answer>, Failure> {
        // Jobs need their keys until they are done: only between batches can keys be forgotten.
        if self.ready.len() > MOST_KEYS {
            self.ready.clear();
        }
        let mut answers = Vec::with_capacity(lines.len());
        let mut groups: Vec<(String, Vec<(usize, Job)>)> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            let (id, read) = match serde_json::from_slice::<Request>(line) {
                Ok(mut request) => {
                    let id = request.id.take();
                    match self.read(&request) {
                        Ok(read) => (id, read),
                        Err(Trouble::Malformed(reason)) => {
                            *malformed += 1;
                            (id, Taken::Answered(Outcome::unsupported(reason)))
                        }
                        Err(Trouble::Answered(outcome)) => (id, Taken::Answered(outcome)),
                        Err(Trouble::Failed(failure)) => return Err(failure),
                    }
                }
                Err(error) => {
                    *malformed += 1;
                    let reason = format!("this is no request: {error}");
                    (Value::Null, Taken::Answered(Outcome::unsupported(reason)))
                }
            };
            let outcome = match read {
                Taken::Answered(outcome) => outcome,
                Taken::Job(job) => {
                    let group = match groups.iter_mut().find(|(group, _)| *group == job.group) {
                        Some((_, jobs)) => jobs,
                        None => {
                            groups.push((job.group.clone(), Vec::new()));
                            &mut groups.last_mut().expect("it was pushed").1
                        }
                    };
                    group.push((place, job));
                    Outcome::unsupported("not answered")
                }
            };
            answers.push(Answer { id, outcome });
        }
        for (group, jobs) in groups {
            let ready = &self.ready[&group];
            let (places, jobs): (Vec<usize>, Vec<Job>) = jobs.into_iter().unzip();
            let outcomes = match self.is_batched {
                true => ready.together(&jobs),
                false => ready.singly(&jobs),
            };
            let outcomes = outcomes.map_err(|error| {
                Failure::new(Class::Internal, "the requests could not be answered").because(error)
            })?;
            for (place, outcome) in places.into_iter().zip(outcomes) {
                answers[place].outcome = outcome;
            }
        }
        Ok(answers)
    }

    /// Takes a request apart. Its key is made ready here, so that jobs of one group share it.
    fn read(&mut self, request: &Request) -> Result<Taken, Trouble> {
        let job = |work: Work, input: Vec<u8>, signature: Vec<u8>| {
            let key = needed(request.key.as_deref(), "key")?;
            let group = format!("{}\n{key}", work.name());
            Ok::<_, Trouble>(Job {
                group,
                work,
                input,
                signature,
            })
        };
        let is_raw = request.scheme.as_deref() == Some("raw");
        let job = match request.op.as_str() {
            "verify" if is_raw => job(
                Work::RawVerify,
                bytes(&request.msg, "msg")?,
                bytes(&request.sig, "sig")?,
            )?,
            "verify" => job(
                Work::Verify(signature_scheme(request)?),
                bytes(&request.msg, "msg")?,
                bytes(&request.sig, "sig")?,
            )?,
            "sign" if is_raw => job(Work::RawPrivate, bytes(&request.msg, "msg")?, vec![])?,
            "sign" => job(
                Work::Sign(signature_scheme(request)?),
                bytes(&request.msg, "msg")?,
                vec![],
            )?,
            "encrypt" => job(
                Work::Encrypt(encryption_scheme(request)?),
                bytes(&request.msg, "msg")?,
                vec![],
            )?,
            "decrypt" if is_raw => job(Work::RawPrivate, bytes(&request.ct, "ct")?, vec![])?,
            "decrypt" => job(
                Work::Decrypt(encryption_scheme(request)?),
                bytes(&request.ct, "ct")?,
                vec![],
            )?,
            "raw_priv" => job(Work::RawPrivate, bytes(&request.input, "in")?, vec![])?,
            "raw_pub" => job(Work::RawPublic, bytes(&request.input, "in")?, vec![])?,
            "primality" => return self.primality(request),
            "keygen_kat" => return self.keygen_kat(request),
            "loadkey" | "keycheck" => return self.key(request),
            other => {
                return Err(Trouble::Answered(Outcome::unsupported(format!(
                    "there is no operation '{other}'"
                ))));
            }
        };
        if !self.ready.contains_key(&job.group) {
            let key = needed(request.key.as_deref(), "key")?;
            let ready = self.prepare(key, &job.work);
            self.ready.insert(job.group.clone(), ready);
        }
        Ok(Taken::Job(job))
    }

    fn prepare(&self, key: &str, work: &Work) -> Ready {
        let prepared = match work {
            Work::Sign(scheme) => private(key).and_then(|key| {
                SigningKey::with_backend(&key, *scheme, &self.backend).map(Ready::Sign)
            }),
            Work::Decrypt(scheme) => private(key).and_then(|key| {
                DecryptionKey::with_backend(&key, scheme, &self.backend).map(Ready::Decrypt)
            }),
            Work::RawPrivate => private(key)
                .and_then(|key| self.backend.prepare_private(&key))
                .map(Ready::Raw),
            Work::Verify(scheme) => public(key).and_then(|key| {
                VerifyingKey::with_backend(&key, *scheme, &self.backend).map(Ready::Verify)
            }),
            Work::Encrypt(scheme) => public(key).and_then(|key| {
                EncryptionKey::with_backend(&key, scheme.clone(), &self.backend).map(Ready::Encrypt)
            }),
            Work::RawPublic => public(key)
                .and_then(|key| self.backend.prepare_public(&key))
                .map(Ready::Raw),
            Work::RawVerify => public(key)
                .and_then(|key| self.backend.prepare_public(&key))
                .map(Ready::RawVerify),
        };
        prepared.unwrap_or_else(|error| {
            let outcome = match (&error, work) {
                // Nothing that is asked of SHA-1 but a new signature is wrong.
                (Error::Scheme { .. }, Work::Sign(_)) => Outcome::unsupported(error.to_string()),
                _ => Outcome::reject(error.to_string()),
            };
            Ready::Refused(outcome)
        })
    }

    fn primality(&self, request: &Request) -> Result<Taken, Trouble> {
        let value = bytes(&request.value, "value")?;
        Ok(Taken::Answered(
            match is_probable_prime_on(&value, ROUNDS, &mut SystemRng, &self.backend) {
                Ok(is_prime) => Outcome::of(is_prime, "it is not prime"),
                Err(error @ Error::KeySize { .. }) => Outcome::unsupported(error.to_string()),
                Err(error) => return Err(broken(error)),
            },
        ))
    }

    fn keygen_kat(&self, request: &Request) -> Result<Taken, Trouble> {
        let (p, q) = (bytes(&request.p, "p")?, bytes(&request.q, "q")?);
        let e = match request.e {
            Some(_) => bytes(&request.e, "e")?,
            None => vec![1, 0, 1],
        };
        Ok(Taken::Answered(
            match check_acceptance(&p, &q, &e, &mut SystemRng, &self.backend) {
                Ok(Ok(())) => Outcome::accept(None),
                Ok(Err(reason)) => Outcome::reject(reason),
                Err(error @ Error::KeySize { .. }) => Outcome::unsupported(error.to_string()),
                Err(error) => return Err(broken(error)),
            },
        ))
    }

    /// `loadkey` asks whether a key comes through the door of `format`, `keycheck` also whether its primes are prime and it
    /// is not weak.
    fn key(&self, request: &Request) -> Result<Taken, Trouble> {
        let text = needed(request.key.as_deref(), "key")?.as_bytes();
        let is_checked = request.op == "keycheck";
        let rng = &mut SystemRng;
        let judged = match format::load_private(text, None) {
            Ok(loaded) => {
                let weaknesses = loaded.key.weaknesses();
                match is_checked {
                    false => Ok(vec![]),
                    true => loaded
                        .key
                        .check_primes_on(ROUNDS, rng, &self.backend)
                        .map(|()| weaknesses),
                }
            }
            Err(as_private) => match format::load_public(text, None) {
                Ok(loaded) if is_checked => loaded
                    .key
                    .check_modulus_on(&self.backend)
                    .map(|()| loaded.key.weaknesses()),
                Ok(_) => Ok(vec![]),
                Err(_) => Err(as_private),
            },
        };
        Ok(Taken::Answered(match judged {
            Ok(weaknesses) => match weaknesses.first() {
                None => Outcome::accept(None),
                Some(weakness) => Outcome::reject(format!("weak: {weakness}")),
            },
            Err(error @ Error::Randomness { .. }) => return Err(broken(error)),
            Err(error) => Outcome::reject(error.to_string()),
        }))
    }
}

impl Work {
    /// What tells apart work on one key.
    fn name(&self) -> String {
        match self {
            Work::Verify(scheme) => format!("verify {scheme:?}"),
            Work::Sign(scheme) => format!("sign {scheme:?}"),
            Work::Encrypt(scheme) => format!("encrypt {scheme:?}"),
            Work::Decrypt(scheme) => format!("decrypt {scheme:?}"),
            Work::RawPrivate => "raw_priv".to_owned(),
            Work::RawPublic => "raw_pub".to_owned(),
            Work::RawVerify => "verify raw".to_owned(),
        }
    }
}

impl Ready {
    fn singly(&self, jobs: &[Job]) -> Result<Vec<Outcome>, Error> {
        jobs.iter()
            .map(|job| {
                Ok(match self {
                    Ready::Verify(key) => {
                        Outcome::of(key.verify(&job.input, &job.signature), WRONG_SIGNATURE)
                    }
                    Ready::Sign(key) => Outcome::accept(Some(key.sign(&job.input)?.as_bytes())),
                    Ready::Encrypt(key) => encrypted(key.encrypt(&job.input))?,
                    Ready::Decrypt(key) => decrypted(key.decrypt(&job.input)?.as_deref()),
                    _ => {
                        return self
                            .together(std::slice::from_ref(job))
                            .map(|mut all| all.remove(0));
                    }
                })
            })
            .collect()
    }

    fn together(&self, jobs: &[Job]) -> Result<Vec<Outcome>, Error> {
        let inputs: Vec<&[u8]> = jobs.iter().map(|job| &job.input[..]).collect();
        Ok(match self {
            Ready::Refused(outcome) => vec![outcome.clone(); jobs.len()],
            Ready::Verify(key) => {
                let pairs: Vec<(&[u8], &[u8])> = jobs
                    .iter()
                    .map(|job| (&job.input[..], &job.signature[..]))
                    .collect();
                key.verify_batch(&pairs)
                    .into_iter()
                    .map(|is_right| Outcome::of(is_right, WRONG_SIGNATURE))
                    .collect()
            }
            Ready::Sign(key) => key
                .sign_batch(&inputs)?
                .iter()
                .map(|signature| Outcome::accept(Some(signature.as_bytes())))
                .collect(),
            Ready::Encrypt(key) => match key.encrypt_batch(&inputs) {
                Ok(all) => all
                    .iter()
                    .map(|ciphertext| Outcome::accept(Some(ciphertext)))
                    .collect(),
                // One that is too long harms no other.
                Err(Error::Scheme { .. }) => inputs
                    .iter()
                    .map(|input| encrypted(key.encrypt(input)))
                    .collect::<Result<_, _>>()?,
                Err(error) => return Err(error),
            },
            Ready::Decrypt(key) => key
                .decrypt_batch(&inputs)?
                .iter()
                .map(|message| decrypted(message.as_deref()))
                .collect(),
            Ready::Raw(key) => raised(&**key, &inputs)?
                .into_iter()
                .map(|power| match power {
                    Some(power) => Outcome::accept(Some(&power)),
                    None => Outcome::reject(OUT_OF_RANGE),
                })
                .collect(),
            Ready::RawVerify(key) => {
                let signatures: Vec<&[u8]> = jobs.iter().map(|job| &job.signature[..]).collect();
                raised(&**key, &signatures)?
                    .into_iter()
                    .zip(jobs)
                    .map(|(power, job)| {
                        let is_right = job.signature.len() == key.modulus_len()
                            && power.is_some_and(|power| {
                                significant(&power) == significant(&job.input)
                            });
                        Outcome::of(is_right, WRONG_SIGNATURE)
                    })
                    .collect()
            }
        })
    }
}

const WRONG_SIGNATURE: &str = "the signature is not the message's";
const OUT_OF_RANGE: &str = "the number is not below the modulus";

/// Powers of numbers of any length; none where one is not below the modulus.
fn raised(key: &dyn Prepared, numbers: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let k = key.modulus_len();
    let mut inputs = vec![0; numbers.len() * k];
    let mut fits = vec![true; numbers.len()];
    for ((number, room), fits) in numbers.iter().zip(inputs.chunks_mut(k)).zip(&mut fits) {
        let number = significant(number);
        match k.checked_sub(number.len()) {
            Some(zeros) => room[zeros..].copy_from_slice(number),
            None => *fits = false,
        }
    }
    let mut outputs = vec![0; inputs.len()];
    let mut status = vec![Status::Done; numbers.len()];
    key.runner()?.run(&inputs, &mut outputs, &mut status)?;
    if let Some(item) = status.iter().position(|status| *status == Status::Fault) {
        return Err(Error::Fault { item });
    }
    Ok(outputs
        .chunks(k)
        .zip(status)
        .zip(fits)
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

/// Why there is no job.
enum Trouble {
    /// The line is not what a request should be.
    Malformed(String),
    /// It is, and the answer is known.
    Answered(Outcome),
    /// Nothing can go on.
    Failed(Failure),
}

fn broken(error: Error) -> Trouble {
    let what = "the requests could not be answered";
    Trouble::Failed(Failure::new(Class::Unavailable, what).because(error))
}

fn needed<'a>(member: Option<&'a str>, name: &str) -> Result<&'a str, Trouble> {
    member.ok_or_else(|| Trouble::Malformed(format!("the member \"{name}\" is missing")))
}

/// Bytes, or an integer of any number of digits.
fn bytes(member: &Option<String>, name: &str) -> Result<Vec<u8>, Trouble> {
    let text = needed(member.as_deref(), name)?;
    let even = match text.len() % 2 {
        0 => hex::decode(text),
        _ => hex::decode(format!("0{text}")),
    };
    even.map_err(|error| {
        Trouble::Malformed(format!("the member \"{name}\" is not hexadecimal: {error}"))
    })
}

fn hash(name: Option<&str>) -> Result<Option<Hash>, Trouble> {
    name.map(|name| {
        name.parse::<Hash>()
            .map_err(|error| Trouble::Answered(Outcome::unsupported(error.to_string())))
    })
    .transpose()
}

fn signature_scheme(request: &Request) -> Result<SignatureScheme, Trouble> {
    let hash_of_message = self::hash(request.hash.as_deref())?.unwrap_or(Hash::Sha256);
    let scheme = match request.scheme.as_deref() {
        Some("pkcs1v15") => SignatureScheme::Pkcs1v15(hash_of_message),
        Some("pss") => SignatureScheme::Pss(Pss {
            hash: hash_of_message,
            mgf_hash: self::hash(request.mgf_hash.as_deref())?.unwrap_or(hash_of_message),
            salt_len: salt_len(request.salt_len.as_ref())?,
        }),
        scheme => return Err(no_scheme(scheme, "pkcs1v15, pss and raw")),
    };
    scheme.check_functions().map_err(no_algorithm)?;
    Ok(scheme)
}

fn encryption_scheme(request: &Request) -> Result<EncryptionScheme, Trouble> {
    match request.scheme.as_deref() {
        Some("pkcs1v15") => Ok(EncryptionScheme::Pkcs1v15),
        Some("oaep") => {
            let hash = self::hash(request.hash.as_deref())?.unwrap_or(Hash::Sha256);
            let scheme = EncryptionScheme::Oaep(Oaep {
                hash,
                mgf_hash: self::hash(request.mgf_hash.as_deref())?.unwrap_or(hash),
                label: match request.label {
                    Some(_) => bytes(&request.label, "label")?,
                    None => Vec::new(),
                },
            });
            scheme.check_functions().map_err(no_algorithm)?;
            Ok(scheme)
        }
        scheme => Err(no_scheme(scheme, "pkcs1v15, oaep and raw")),
    }
}

/// Functions that stand in no standard together.
fn no_algorithm(error: Error) -> Trouble {
    Trouble::Answered(Outcome::unsupported(error.to_string()))
}

fn no_scheme(scheme: Option<&str>, possible: &str) -> Trouble {
    match scheme {
        None => Trouble::Malformed("the member \"scheme\" is missing".to_owned()),
        Some(scheme) => Trouble::Answered(Outcome::unsupported(format!(
            "there is no scheme '{scheme}' for this operation; there are {possible}"
        ))),
    }
}

fn salt_len(member: Option<&Value>) -> Result<SaltLen, Trouble> {
    match member {
        None | Some(Value::Null) => Ok(SaltLen::Digest),
        Some(Value::String(name)) if name == "digest" => Ok(SaltLen::Digest),
        Some(Value::String(name)) if name == "max" => Ok(SaltLen::Max),
        Some(Value::String(name)) if name == "any" => Ok(SaltLen::Any),
        Some(number) => number
            .as_u64()
            .and_then(|bytes| usize::try_from(bytes).ok())
            .map(SaltLen::Bytes)
            .ok_or_else(|| {
                Trouble::Malformed(
                    "the member \"salt_len\" is no number of bytes, nor \"digest\", \"max\" or \"any\"".to_owned(),
                )
            }),
    }
}

/// Keys of RSASSA-PSS alone are taken for any work: what is asked is whether an operation is right.
fn private(key: &str) -> Result<PrivateKey, Error> {
    format::load_private(key.as_bytes(), None).map(|loaded| loaded.key)
}

fn public(key: &str) -> Result<PublicKey, Error> {
    format::load_public(key.as_bytes(), None).map(|loaded| loaded.key)
}
