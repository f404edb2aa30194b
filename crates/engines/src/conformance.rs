//! One suite that every engine passes: the same inputs, the same edges, the same refusals.
//!
//! It talks to a [`Session`], so that it is the worker that is tried, with its protocol and its threads, and not only the
//! arithmetic behind it. Outputs are verified without any engine ([`verify`]). An operation that the engine does not
//! offer is skipped, with the reason it gives.

use std::collections::BTreeSet;

use rsalab_measure::BlockPlan;
use rsalab_rsa::random::InsecureStudySeed;
use serde::{Deserialize, Serialize};

use crate::{
    client::{Limits, Location, Session, SessionError, Worker},
    engine::{Engine, EngineError},
    exponent::Exponent,
    inputs::{inputs, private_power_vartime},
    job::{Job, Mode, StudyKey},
    op::{DIGEST_BYTES, Op},
    padding::emsa_pkcs1_v1_5,
    protocol::FaultKind,
    verify::verify,
};

/// How much of the suite is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Sizes of the modulus, with the number of random inputs to each operation that takes some.
    pub sizes: Vec<(usize, usize)>,
    /// Sizes of the modulus, with the number of keys and of prime pairs to be made.
    pub keys: Vec<(usize, usize)>,
    /// Threads of the random inputs.
    pub threads: usize,
    /// One of the engine's forms, or none for its default.
    pub variant: Option<String>,
    /// Without blinding and without the check of the result; our own engine only.
    pub bare: bool,
}

impl Scope {
    /// The sizes at which all engines must agree.
    pub const BITS: [usize; 6] = [768, 1024, 2048, 3072, 4096, 6144];

    /// Everything: 1,000 random inputs at each size. Minutes, for a slow engine.
    pub fn full() -> Self {
        Scope {
            sizes: Self::BITS.map(|bits| (bits, 1000)).to_vec(),
            keys: vec![(768, 20), (1024, 20), (2048, 10), (3072, 2), (4096, 1)],
            threads: 2,
            variant: None,
            bare: false,
        }
    }

    /// [`Scope::full`] where the environment says `RSALAB_CONFORMANCE=full`, else [`Scope::quick`].
    pub fn of_the_environment() -> Self {
        match std::env::var("RSALAB_CONFORMANCE").as_deref() {
            Ok("full") => Scope::full(),
            _ => Scope::quick(),
        }
    }

    /// Every size and every edge, but few inputs where they take long: seconds.
    pub fn quick() -> Self {
        let counts = [64, 32, 8, 3, 2, 1];
        Scope {
            sizes: Self::BITS.into_iter().zip(counts).collect(),
            keys: vec![(768, 3), (1024, 2)],
            ..Scope::full()
        }
    }
}

/// One question of the suite and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// What was tried.
    pub name: String,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Case {
    /// Whether it tries something special, rather than random inputs or whatever keys come out.
    pub fn is_edge(&self) -> bool {
        self.name != RANDOM_INPUTS && self.name != VALIDITY
    }
}

const RANDOM_INPUTS: &str = "random inputs";
const VALIDITY: &str = "validity";

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Passed {
        /// Answers that were looked at.
        answers: usize,
    },
    /// Not tried: the engine does not offer it.
    Skipped {
        /// What the engine says.
        reason: String,
    },
    /// Otherwise.
    Failed {
        /// What was wrong.
        what: String,
    },
}

/// Engines whose library refuses 0, 1 and n − 1, which no padding makes. A refusal by any other engine is a failure.
const REFUSE_OWN_POWERS: [&str; 1] = ["aws-lc"];

/// Runs the suite. Keys and inputs come from `seed`; each case is told to `told` as it is decided.
///
/// # Errors
/// Those after which there is no worker to go on with, and keys that could not be made.
pub fn run(
    session: &mut dyn Session,
    scope: &Scope,
    seed: &InsecureStudySeed,
    told: &mut dyn FnMut(Case),
) -> Result<(), ConformanceError> {
    for &(bits, items) in &scope.sizes {
        let key = StudyKey::from_seed(seed, bits, Exponent::F4)?;
        let mut suite = Suite {
            session,
            scope,
            seed,
            key: &key,
            told,
        };
        for op in [Op::Private, Op::Public] {
            suite.blocks(op, items)?;
        }
        for op in [Op::Totient, Op::PrivateExponent] {
            suite.random_inputs(op, items)?;
        }
        for op in [Op::TextEncrypt, Op::TextDecrypt] {
            suite.texts(op)?;
        }
        for op in [Op::Sign, Op::Verify] {
            suite.signatures(op, items)?;
        }
    }
    for &(bits, count) in &scope.keys {
        // Its only use is to be there: these operations take none.
        let key = StudyKey::from_seed(seed, bits, Exponent::F4)?;
        let mut suite = Suite {
            session,
            scope,
            seed,
            key: &key,
            told,
        };
        for op in [Op::Keygen, Op::PrimePair] {
            suite.made(op, count)?;
        }
        suite.given_candidates(count)?;
    }
    Ok(())
}

/// Runs the suite on a worker, for the test of a peer; the operations that were tried. What is skipped is said on standard
/// error.
///
/// # Panics
/// At the first case that fails, and if the worker is lost.
pub fn assert_worker_conforms(location: &Location, scope: &Scope) -> BTreeSet<Op> {
    let mut worker = Worker::spawn(location, Limits::default()).expect("the worker greets");
    let mut tried = BTreeSet::new();
    run(&mut worker, scope, &test_seed(), &mut |case| {
        let Case { op, bits, name, .. } = case;
        match case.outcome {
            Outcome::Passed { answers } => {
                // A text of 0 symbols has no answers either.
                if answers == 0 && !op.is_text() {
                    eprintln!("REFUSED by the library: {op} at {bits} bits of {name}");
                }
                tried.insert(op);
            }
            Outcome::Skipped { reason } => eprintln!("SKIPPED: {op} at {bits} bits: {reason}"),
            Outcome::Failed { what } => panic!("{op} at {bits} bits, {name}: {what}"),
        }
    })
    .expect("the worker lives to the end");
    tried
}

/// The seed of the keys that tests of peers use.
pub fn test_seed() -> InsecureStudySeed {
    InsecureStudySeed::new(*b"the seed of the conformance keys")
}

/// Whether the runners of an engine refuse buffers of wrong lengths, which the worker loop keeps from them: to be called
/// where the engine itself can be reached.
///
/// # Errors
/// What the engine accepted or answered instead.
pub fn check_lengths(engine: &dyn Engine, key: &StudyKey) -> Result<(), String> {
    for op in Op::ALL.into_iter().filter(|op| !op.is_text()) {
        let job = job(op, key.bits);
        if engine.supports(&job).is_err() {
            continue;
        }
        let told = |error: EngineError| format!("{op}: {error}");
        let prepared = engine
            .prepare(&job, std::slice::from_ref(key))
            .map_err(told)?;
        let mut runner = prepared.runner().map_err(told)?;
        let (input, output) = (job.layout().input, job.layout().output);
        for (inputs, outputs) in [
            (input + 1, output),
            (input, output + 1),
            (input, output - 1),
            (input, 2 * output),
            (2 * input + 1, output),
        ] {
            // One item without input is one whatever the outputs.
            if input == 0 && inputs == 0 && outputs % output == 0 {
                continue;
            }
            match runner.run(&vec![0; inputs], &mut vec![0; outputs]) {
                Err(EngineError::Length { .. }) => {}
                other => {
                    return Err(format!(
                        "{op}: {inputs} bytes in and {outputs} out were answered with {other:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Why a suite was broken off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConformanceError {
    /// The worker is gone.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// There is no key to try.
    #[error(transparent)]
    Key(#[from] rsalab_rsa::Error),
}

fn job(op: Op, bits: usize) -> Job {
    Job {
        op,
        bits,
        threads: 1,
        batch: 1,
        mode: Mode::Throughput,
        variant: None,
        bare: false,
        exponent: Exponent::F4,
        message_bits: None,
        symbols: 0,
        block_symbols: 0,
    }
}

/// The suite at one size.
struct Suite<'a> {
    session: &'a mut dyn Session,
    scope: &'a Scope,
    seed: &'a InsecureStudySeed,
    key: &'a StudyKey,
    told: &'a mut dyn FnMut(Case),
}

impl Suite<'_> {
    /// Private and public blocks.
    fn blocks(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        if !self.random_inputs(op, items)? {
            return Ok(());
        }
        self.edges(op)?;
        self.batches(op, items.min(9))?;
        self.too_large(op)?;
        self.lengths(op)?;
        // After all the refusals the worker must still be itself.
        self.timed(op)
    }

    /// Random inputs over threads, in batches that do not divide them. Whether the operation is offered.
    fn random_inputs(&mut self, op: Op, items: usize) -> Result<bool, SessionError> {
        let job = Job {
            threads: self.scope.threads,
            batch: 7,
            ..self.job(op)
        };
        if let Err(reason) = self.session.supports(&job)? {
            self.tell(&job, "support", Outcome::Skipped { reason: reason.0 });
            return Ok(false);
        }
        let given = inputs(&job, self.key, self.seed, op as u64, items);
        let outcome = self.verified(&job, &given)?;
        self.tell(&job, RANDOM_INPUTS, outcome);
        Ok(true)
    }

    /// Numbers that are their own power whatever the exponent, multiples of a prime, and long runs of ones.
    fn edges(&mut self, op: Op) -> Result<(), SessionError> {
        let k = self.key.n.len();
        let small = |value: u8| [vec![0; k - 1], vec![value]].concat();
        let prime = |prime: &[u8]| [vec![0; k - prime.len()], prime.to_vec()].concat();
        let mut last = self.key.n.clone();
        // n is odd.
        last[k - 1] -= 1;
        for (name, block) in [("0", small(0)), ("1", small(1)), ("n − 1", last)] {
            self.own_power(op, name, &block)?;
        }
        let job = Job {
            batch: 3,
            ..self.job(op)
        };
        let mut ones = vec![0xFF; k];
        ones[0] = self.key.n[0] >> 1;
        let edges = [small(2), prime(&self.key.p), prime(&self.key.q), ones].concat();
        let outcome = self.verified(&job, &edges)?;
        self.tell(&job, "2, p, q, ones", outcome);
        Ok(())
    }

    fn refuses_own_powers(&self) -> bool {
        REFUSE_OWN_POWERS.contains(&self.session.info().name.as_str())
    }

    /// A block that is its own power. The libraries known for it may refuse it; then there is no answer to look at.
    fn own_power(&mut self, op: Op, name: &str, block: &[u8]) -> Result<(), SessionError> {
        let job = self.job(op);
        let outcome = match self.prepared_outputs(&job, block) {
            Ok(output) if output == block => Outcome::Passed { answers: 1 },
            Ok(_) => Outcome::Failed {
                what: format!("{name} must be its own power"),
            },
            Err(SessionError::Fault(fault))
                if fault.kind == FaultKind::Library && self.refuses_own_powers() =>
            {
                Outcome::Passed { answers: 0 }
            }
            Err(SessionError::Fault(fault)) => Outcome::Failed {
                what: format!("refused, but as {:?}: {fault}", fault.kind),
            },
            Err(fatal) => return Err(fatal),
        };
        self.tell(&job, name, outcome);
        Ok(())
    }

    /// The same inputs in batches of any size.
    fn batches(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        let inputs = inputs(&self.job(op), self.key, self.seed, 16 + op as u64, items);
        let mut first = None;
        for batch in [1, 2, 3, 5, 8, 16] {
            let job = Job {
                batch,
                ..self.job(op)
            };
            let outcome = match self.outputs(&job, &inputs)? {
                Ok(outputs) if *first.get_or_insert(outputs.clone()) == outputs => {
                    Outcome::Passed { answers: items }
                }
                Ok(_) => Outcome::Failed {
                    what: format!("batches of {batch} give other outputs than batches of 1"),
                },
                Err(what) => Outcome::Failed { what },
            };
            self.tell(&job, &format!("batches of {batch}"), outcome);
        }
        Ok(())
    }

    /// Blocks that are not smaller than the modulus: refused, each by its place.
    fn too_large(&mut self, op: Op) -> Result<(), SessionError> {
        let k = self.key.n.len();
        let modulus = self.key.n.clone();
        let mut next = modulus.clone();
        // n is odd and its last byte may be 255: add 2 to the last byte but one instead of carrying by hand.
        next[k - 2] = next[k - 2].saturating_add(2);
        for (name, block) in [
            ("n", modulus),
            ("above n", next),
            ("all ones", vec![0xFF; k]),
        ] {
            if block < self.key.n {
                continue;
            }
            for place in [0, 2] {
                let job = Job {
                    batch: 2,
                    ..self.job(op)
                };
                let mut inputs = inputs(&job, self.key, self.seed, 32 + op as u64, 3);
                inputs[place * k..][..k].copy_from_slice(&block);
                let outcome = match self.prepared_outputs(&job, &inputs) {
                    Err(SessionError::Fault(fault))
                        if fault.kind == FaultKind::InputOutOfRange
                            && fault.item == Some(place) =>
                    {
                        Outcome::Passed { answers: 1 }
                    }
                    Err(SessionError::Fault(fault)) => Outcome::Failed {
                        what: format!("refused, but as {:?} of item {:?}", fault.kind, fault.item),
                    },
                    Err(fatal) => return Err(fatal),
                    Ok(_) => Outcome::Failed {
                        what: "accepted".to_owned(),
                    },
                };
                self.tell(&job, &format!("{name} as input {place}"), outcome);
            }
        }
        Ok(())
    }

    /// Signing, or verifying.
    fn signatures(&mut self, op: Op, items: usize) -> Result<(), SessionError> {
        // Enough that some of those to be verified are spoilt.
        let items = items.max(8);
        if !self.random_inputs(op, items)? {
            return Ok(());
        }
        if op == Op::Verify {
            self.wrong_signatures()?;
        }
        self.batches(op, items.min(9))?;
        self.lengths(op)?;
        self.timed(op)
    }

    /// Signatures that must be rejected, and no more than that, whatever is wrong with them.
    fn wrong_signatures(&mut self) -> Result<(), SessionError> {
        let job = Job {
            batch: 3,
            ..self.job(Op::Verify)
        };
        let k = self.key.n.len();
        let right = inputs(&job, self.key, self.seed, 80, 1);
        let (digest, signature) = right.split_at(DIGEST_BYTES);
        // Right powers of encodings that are not PKCS#1's.
        let power_of = |change: fn(&mut [u8])| {
            let mut encoding = emsa_pkcs1_v1_5(digest, k);
            change(&mut encoding);
            private_power_vartime(&encoding, self.key)
        };
        let cases: [(&str, Vec<u8>); 8] = [
            ("0", vec![0; k]),
            ("1", [vec![0; k - 1], vec![1]].concat()),
            ("n", self.key.n.clone()),
            ("all ones", vec![0xFF; k]),
            (
                "that of a block of another type",
                power_of(|block| block[1] = 2),
            ),
            (
                "that of a gap in the padding",
                power_of(|block| block[9] = 0),
            ),
            (
                "that of another hash's name",
                power_of(|block| block[block.len() - DIGEST_BYTES - 5] ^= 3),
            ),
            (
                "that of another digest",
                power_of(|block| block[block.len() - 1] ^= 1),
            ),
        ];
        for (name, wrong) in cases {
            // Between two right ones, to see that they are not harmed.
            let signed = [&right[..], digest, &wrong, digest, signature].concat();
            let outcome = match self.outputs(&job, &signed)? {
                Ok(verdicts) if verdicts == [1, 0, 1] => Outcome::Passed { answers: 3 },
                Ok(verdicts) => Outcome::Failed {
                    what: format!("the verdicts were {verdicts:?} instead of [1, 0, 1]"),
                },
                Err(what) => Outcome::Failed { what },
            };
            self.tell(&job, &format!("the signature {name}"), outcome);
        }
        Ok(())
    }

    /// Sequences of candidates whose primes are where they are in the mean, or elsewhere, or not there.
    fn given_candidates(&mut self, items: usize) -> Result<(), SessionError> {
        let op = Op::PrimeSearch;
        if !self.random_inputs(op, items)? {
            return Ok(());
        }
        let job = self.job(op);
        let average = inputs(&job, self.key, self.seed, 96, 1);
        let prime = self.key.p.len();
        let of_one = average.len() / 2 / prime;
        let place = |place: usize| place * prime..(place + 1) * prime;
        let (p, q) = (self.key.p.clone(), self.key.q.clone());
        let composite = average[place(0)].to_vec();
        let moved = |p_place: usize, q_place: usize| {
            let mut moved = average.clone();
            for (from, to) in [(of_one - 1, p_place), (2 * of_one - 1, q_place)] {
                moved[place(from)].copy_from_slice(&composite);
                moved[place(to)].copy_from_slice(if from < of_one { &p } else { &q });
            }
            moved
        };
        for (first, second) in [(0, 1), (0, of_one), (3, 5), (of_one, of_one + 9)] {
            let outcome = match self.outputs(&job, &moved(first, second))? {
                Ok(found) if found == [&p[..], &q].concat() => Outcome::Passed { answers: 1 },
                Ok(_) => Outcome::Failed {
                    what: "the first two primes are others".to_owned(),
                },
                Err(what) => Outcome::Failed { what },
            };
            self.tell(
                &job,
                &format!("primes as candidates {first} and {second}"),
                outcome,
            );
        }
        let mut one_prime = average.clone();
        one_prime[place(of_one - 1)].copy_from_slice(&composite);
        let outcome = match self.prepared_outputs(&job, &one_prime) {
            Err(SessionError::Fault(fault)) if fault.kind == FaultKind::Library => {
                Outcome::Passed { answers: 1 }
            }
            Err(SessionError::Fault(fault)) => Outcome::Failed {
                what: format!("refused, but as {:?}: {fault}", fault.kind),
            },
            Err(fatal) => return Err(fatal),
            Ok(_) => Outcome::Failed {
                what: "accepted".to_owned(),
            },
        };
        self.tell(&job, "one prime only", outcome);
        self.lengths(op)
    }

    /// Inputs that are no whole items.
    fn lengths(&mut self, op: Op) -> Result<(), SessionError> {
        let item = self.job(op).layout().input;
        for length in [0, 1, item - 1, item + 1, 3 * item - 1] {
            let job = self.job(op);
            let outcome = match self.prepared_outputs(&job, &vec![0; length]) {
                Err(SessionError::Fault(fault)) if fault.kind == FaultKind::Length => {
                    Outcome::Passed { answers: 1 }
                }
                Err(SessionError::Fault(fault)) => Outcome::Failed {
                    what: format!("refused, but as {:?}: {fault}", fault.kind),
                },
                Err(fatal) => return Err(fatal),
                Ok(_) => Outcome::Failed {
                    what: "accepted".to_owned(),
                },
            };
            self.tell(&job, &format!("{length} bytes of input"), outcome);
        }
        Ok(())
    }

    /// A measured call, compared by the worker with its first answers.
    fn timed(&mut self, op: Op) -> Result<(), SessionError> {
        let job = Job {
            mode: Mode::Latency,
            batch: 2,
            ..self.job(op)
        };
        let inputs = inputs(&job, self.key, self.seed, 48 + op as u64, 2);
        let outcome = match self.prepared_block(&job, &inputs) {
            Ok(report) if report.operations() == 2 => Outcome::Passed { answers: 2 },
            Ok(report) => Outcome::Failed {
                what: format!("{} operations were timed instead of 2", report.operations()),
            },
            Err(SessionError::Fault(fault)) => Outcome::Failed {
                what: fault.to_string(),
            },
            Err(fatal) => return Err(fatal),
        };
        self.tell(&job, "a measured call", outcome);
        Ok(())
    }

    /// Texts of awkward lengths, on more threads than blocks.
    fn texts(&mut self, op: Op) -> Result<(), SessionError> {
        let block = self.key.n.len() - 1;
        for symbols in [0, 1, block, block + 1, 2 * block - 1] {
            let job = Job {
                threads: 3,
                symbols,
                block_symbols: block,
                ..self.job(op)
            };
            if let Err(reason) = self.session.supports(&job)? {
                self.tell(&job, "support", Outcome::Skipped { reason: reason.0 });
                return Ok(());
            }
            let given = inputs(&job, self.key, self.seed, 64 + op as u64, 1);
            let outcome = self.verified(&job, &given)?;
            self.tell(&job, &format!("a text of {symbols} symbols"), outcome);
        }
        Ok(())
    }

    /// Keys and prime pairs: valid, and no two the same.
    fn made(&mut self, op: Op, count: usize) -> Result<(), SessionError> {
        let job = Job {
            batch: count,
            ..self.job(op)
        };
        if let Err(reason) = self.session.supports(&job)? {
            self.tell(&job, "support", Outcome::Skipped { reason: reason.0 });
            return Ok(());
        }
        let outcome = match self.outputs(&job, &[])? {
            Ok(outputs) if outputs.len() != count * job.layout().output => Outcome::Failed {
                what: format!("{} bytes for {count} items", outputs.len()),
            },
            outputs => self.verdict(&job, &[], outputs),
        };
        self.tell(&job, VALIDITY, outcome);
        Ok(())
    }

    fn job(&self, op: Op) -> Job {
        Job {
            variant: self.scope.variant.clone(),
            bare: self.scope.bare,
            ..job(op, self.key.bits)
        }
    }

    fn tell(&mut self, job: &Job, name: &str, outcome: Outcome) {
        (self.told)(Case {
            op: job.op,
            bits: job.bits,
            name: name.to_owned(),
            outcome,
        });
    }

    fn verified(&mut self, job: &Job, inputs: &[u8]) -> Result<Outcome, SessionError> {
        let outputs = self.outputs(job, inputs)?;
        Ok(self.verdict(job, inputs, outputs))
    }

    fn verdict(&self, job: &Job, inputs: &[u8], outputs: Result<Vec<u8>, String>) -> Outcome {
        let outputs = match outputs {
            Ok(outputs) => outputs,
            Err(what) => return Outcome::Failed { what },
        };
        match verify(job, self.key, inputs, &outputs) {
            Ok(()) => Outcome::Passed {
                answers: outputs.len().div_ceil(job.layout().output),
            },
            Err(wrong) => Outcome::Failed {
                what: wrong.to_string(),
            },
        }
    }

    /// The outputs, or the fault as a message; `Err` only if the worker is gone.
    fn outputs(
        &mut self,
        job: &Job,
        inputs: &[u8],
    ) -> Result<Result<Vec<u8>, String>, SessionError> {
        match self.prepared_outputs(job, inputs) {
            Ok(outputs) => Ok(Ok(outputs)),
            Err(SessionError::Fault(fault)) => Ok(Err(fault.to_string())),
            Err(fatal) => Err(fatal),
        }
    }

    fn prepared_outputs(&mut self, job: &Job, inputs: &[u8]) -> Result<Vec<u8>, SessionError> {
        self.session
            .prepare(job, std::slice::from_ref(self.key), inputs)?;
        self.session.outputs()
    }

    fn prepared_block(
        &mut self,
        job: &Job,
        inputs: &[u8],
    ) -> Result<rsalab_measure::Block, SessionError> {
        self.session
            .prepare(job, std::slice::from_ref(self.key), inputs)?;
        Ok(self.session.block(&BlockPlan::SINGLE_CALL)?.block)
    }
}
