//! `rsalab vectors -`: requests in, answers out, a JSON object a line; `docs/src/reference/conformance.md` specifies
//! both.
//!
//! An operation must give the same result alone and in a batch, and this makes differences visible: with `--batch`,
//! requests of one key and scheme go through the batch interfaces together. The answers come in the order of the
//! requests in either case.
//!
//! | question | file |
//! |---|---|
//! | how requests are read and answered | here |
//! | what a request asks for | `request` |
//! | what is done with a key | `keyed` |
//! | what an answer is | `answer` |
//! | how an id comes back | `id` |

mod answer;
mod id;
mod keyed;
mod request;

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Read},
};

use rsalab_rsa::{
    CpuBackend, Error, format,
    generate::check_acceptance,
    primality::{ROUNDS, is_probable_prime_on},
    random::SystemRng,
};

use self::{
    answer::{Answer, Early, Outcome},
    keyed::PreparedKey,
    request::{Job, Request},
};
use crate::{
    arguments::Vectors,
    exit::{Class, Failure, Result},
    kernels, output,
    patience::Patient,
};

/// The longest line: a key of 1 MiB and a message of some.
const MOST_LINE: u64 = 16 << 20;
/// Prepared keys that are kept from one batch to the next.
const MOST_KEYS: usize = 64;

/// Answers requests until there are no more.
pub(super) fn run(arguments: &Vectors) -> Result<()> {
    let mut server = Server {
        backend: kernels::backend(arguments.kernel.name())?,
        is_batched: arguments.batch.is_some(),
        keys: BTreeMap::new(),
        malformed: 0,
    };
    let batch = arguments.batch.unwrap_or(1);
    let mut input = io::BufReader::new(Patient::new(io::stdin().lock()));
    let mut is_last = false;
    while !is_last {
        let mut lines = Vec::with_capacity(batch);
        while lines.len() < batch && !is_last {
            match next_line(&mut input)? {
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(line) => lines.push(line),
                None => is_last = true,
            }
        }
        let text: String = server.answer(&lines)?.iter().map(Answer::line).collect();
        if !text.is_empty() {
            output::deliver(text.as_bytes())?;
        }
    }
    match server.malformed {
        0 => Ok(()),
        count => Err(Failure::new(
            Class::Input,
            format!("{count} of the lines were no requests, and were answered with the reason"),
        )
        .advice("a request is a JSON object with the members that docs/src/reference/conformance.md lists")),
    }
}

fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
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
struct Server {
    backend: CpuBackend,
    /// `true` if the batch interfaces are used, even for one request.
    is_batched: bool,
    /// By the group of the jobs that they are for.
    keys: BTreeMap<String, PreparedKey>,
    /// Lines that were no requests.
    malformed: u64,
}

impl Server {
    fn answer(&mut self, lines: &[Vec<u8>]) -> Result<Vec<Answer>> {
        // Jobs need their keys until they are done: keys can be dropped between batches only.
        if self.keys.len() > MOST_KEYS {
            self.keys.clear();
        }
        let mut answers = Vec::with_capacity(lines.len());
        let mut groups: BTreeMap<String, Vec<(usize, Job)>> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            let (id, job) = match serde_json::from_slice::<Request>(line) {
                Ok(request) => (id::raw(line), self.read(&request)),
                // Where, but not what: the line may hold a key.
                Err(error) => {
                    let reason = format!("this is no request: {}", answer::fault(&error));
                    (None, Err(Early::Malformed(reason)))
                }
            };
            let outcome = match job {
                Ok(job) => {
                    let group = groups.entry(job.group.clone()).or_default();
                    group.push((place, job));
                    Outcome::unsupported("not answered")
                }
                Err(Early::Answered(outcome)) => outcome,
                Err(Early::Malformed(reason)) => {
                    self.malformed += 1;
                    Outcome::unsupported(reason)
                }
                Err(Early::Failed(failure)) => return Err(failure),
            };
            answers.push(Answer { id, outcome });
        }
        for (group, jobs) in groups {
            let key = &self.keys[&group];
            let (places, jobs): (Vec<usize>, Vec<Job>) = jobs.into_iter().unzip();
            let outcomes = match self.is_batched {
                true => key.batch(&jobs),
                false => jobs.iter().map(|job| key.single(job)).collect(),
            };
            let outcomes = outcomes.map_err(answer::failed)?;
            for (place, outcome) in places.into_iter().zip(outcomes) {
                answers[place].outcome = outcome;
            }
        }
        Ok(answers)
    }

    /// Reads a request. Its key is prepared here, so that the jobs of one group share it.
    fn read(&mut self, request: &Request) -> Result<Job, Early> {
        match request.op.as_str() {
            "primality" => return Err(self.primality(request)?.into()),
            "keygen_kat" => return Err(self.keygen_kat(request)?.into()),
            "loadkey" | "keycheck" => return Err(self.key(request)?.into()),
            _ => {}
        }
        let job = request.job()?;
        if !self.keys.contains_key(&job.group) {
            let key = PreparedKey::new(request.needed("key")?, &job.work, &self.backend)?;
            self.keys.insert(job.group.clone(), key);
        }
        Ok(job)
    }

    fn primality(&self, request: &Request) -> Result<Outcome, Early> {
        let value = request.bytes("value")?;
        match is_probable_prime_on(&value, ROUNDS, &mut SystemRng, &self.backend) {
            Ok(is_prime) => Ok(Outcome::of(is_prime, "it is not prime")),
            Err(error) => Err(answer::refused_or_failed(error)),
        }
    }

    fn keygen_kat(&self, request: &Request) -> Result<Outcome, Early> {
        let (p, q) = (request.bytes("p")?, request.bytes("q")?);
        let e = match request.text("e")? {
            Some(_) => request.bytes("e")?,
            None => vec![1, 0, 1],
        };
        match check_acceptance(&p, &q, &e, &mut SystemRng, &self.backend) {
            Ok(Ok(())) => Ok(Outcome::accept(None)),
            Ok(Err(reason)) => Ok(Outcome::reject(reason)),
            Err(error) => Err(answer::refused_or_failed(error)),
        }
    }

    /// `loadkey` asks whether `format` accepts a key, `keycheck` also whether its primes are prime and it is not weak.
    fn key(&self, request: &Request) -> Result<Outcome, Early> {
        let text = request.needed("key")?.as_bytes();
        let is_checked = request.op == "keycheck";
        let judged = match format::load_private(text, None) {
            Ok(_) if !is_checked => Ok(vec![]),
            Ok(loaded) => loaded
                .key
                .check_primes_on(ROUNDS, &mut SystemRng, &self.backend)
                .map(|()| loaded.key.weaknesses()),
            Err(as_private) => match format::load_public(text, None) {
                Ok(_) if !is_checked => Ok(vec![]),
                Ok(loaded) => loaded
                    .key
                    .check_modulus_on(&self.backend)
                    .map(|()| loaded.key.weaknesses()),
                Err(_) => Err(as_private),
            },
        };
        match judged {
            Ok(weaknesses) => Ok(match weaknesses.first() {
                None => Outcome::accept(None),
                Some(weakness) => Outcome::reject(format!("weak: {weakness}")),
            }),
            Err(error @ Error::Randomness { .. }) => Err(Early::Failed(answer::failed(error))),
            Err(error) => Ok(Outcome::reject(error.to_string())),
        }
    }
}
