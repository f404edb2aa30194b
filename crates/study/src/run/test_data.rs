//! Keys and inputs, the same for every engine of a group, and whether what came out is right.

use std::{
    cell::RefCell,
    num::NonZero,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use rsalab_engines::{
    Exponent, Job, Op, StudyKey, WrongAnswer, inputs_under, of_text, verify, verify_no_prime_twice, verify_under,
};
use rsalab_rsa::random::InsecureStudySeed;

use crate::{parallel, plan::Seed};

/// Makes what jobs need from a study's seed: always the same.
pub(crate) struct TestData {
    seed: InsecureStudySeed,
    /// In place of random texts.
    text: Option<Vec<u8>>,
    stop: Arc<AtomicBool>,
    /// The keys that were made, since large ones take long to make.
    keys: Vec<(KeyName, StudyKey)>,
    /// The last job's: the cells of a group come one after another.
    last: Option<(Job, Rc<JobData>)>,
}

/// Which of a study's keys: those of each size, exponent and number of primes, by number. A text's key has the number
/// of its symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeyName {
    bits: usize,
    exponent: Exponent,
    primes: usize,
    number: u64,
}

/// The keys and the inputs of a job.
#[derive(Default)]
pub(crate) struct JobData {
    /// As many as the job asks for; none for operations that make keys: theirs may be shorter than any that we make.
    pub(crate) keys: Vec<StudyKey>,
    pub(crate) inputs: Vec<u8>,
    /// Outputs that were proved right.
    right: RefCell<Vec<u8>>,
}

/// Why there are no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataError {
    /// The run must stop.
    Stopped,
    /// The key could not be made.
    Key(String),
}

impl TestData {
    /// The data of a seed; making keys is given up soon after `stop` is set.
    pub(crate) fn new(seed: Seed, stop: &Arc<AtomicBool>) -> Self {
        TestData {
            seed: InsecureStudySeed::new(seed.0),
            text: None,
            stop: Arc::clone(stop),
            keys: Vec::new(),
            last: None,
        }
    }

    /// With the beginning of this text in place of random ones.
    pub(crate) fn with_text(mut self, text: Option<String>) -> Self {
        self.text = text.map(String::into_bytes);
        self
    }

    pub(crate) fn of(&mut self, job: &Job) -> Result<Rc<JobData>, DataError> {
        let common = common(job);
        if let Some((_, data)) = self.last.as_ref().filter(|(last, _)| *last == common) {
            return Ok(Rc::clone(data));
        }
        let data = match job.op.is_deterministic() {
            true => {
                let mut keys = Vec::new();
                for place in 0..job.keys {
                    keys.push(self.key(KeyName {
                        bits: job.bits,
                        exponent: job.exponent,
                        primes: job.primes,
                        number: (job.symbols + place) as u64,
                    })?);
                }
                let inputs = match &self.text {
                    Some(text) if job.op.is_text() => of_text(&common, &keys[0], text),
                    _ => inputs_under(&common, &keys, &self.seed, stream(job), items(job)),
                };
                JobData {
                    keys,
                    inputs,
                    ..JobData::default()
                }
            }
            false => JobData::default(),
        };
        let data = Rc::new(data);
        self.last = Some((common, Rc::clone(&data)));
        Ok(data)
    }

    fn key(&mut self, name: KeyName) -> Result<StudyKey, DataError> {
        if let Some((_, key)) = self.keys.iter().find(|(made, _)| *made == name) {
            return Ok(key.clone());
        }
        let key = self.make_key(name)?;
        self.keys.push((name, key.clone()));
        Ok(key)
    }

    /// Makes a key on another thread, since the largest take minutes and a wish to stop cannot wait so long. A thread
    /// that is given up ends by itself.
    fn make_key(&self, name: KeyName) -> Result<StudyKey, DataError> {
        const ATTENTION: Duration = Duration::from_millis(50);
        let (made, awaited) = mpsc::channel();
        let seed = self.seed.clone();
        let make = move || {
            let key = StudyKey::numbered(&seed, name.bits, name.exponent, name.primes, name.number);
            // Nobody may be waiting any more.
            let _ = made.send(key);
        };
        thread::Builder::new()
            .name("study key".to_owned())
            .spawn(make)
            .map_err(|error| DataError::Key(format!("a thread could not be started: {error}")))?;
        loop {
            match awaited.recv_timeout(ATTENTION) {
                Ok(key) => return key.map_err(|error| DataError::Key(error.to_string())),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return Err(DataError::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the thread that makes a key panicked")
                }
            }
        }
    }
}

impl JobData {
    /// Checks all outputs of a job.
    ///
    /// An operation that takes inputs has one right answer, which all engines of a group give, before they are measured
    /// and after it. It is proved once: with a random exponent that takes longer than some engines are measured for.
    pub(crate) fn verify(&self, job: &Job, outputs: &[u8]) -> Result<(), WrongAnswer> {
        /// A longer text is not kept twice: its proof takes no longer than making it.
        const MOST_KEPT: usize = 1 << 20;
        if !outputs.is_empty() && *self.right.borrow() == outputs {
            return Ok(());
        }
        verify_under(job, &self.keys, &self.inputs, outputs)?;
        if outputs.len() <= MOST_KEPT {
            self.right.replace(outputs.to_vec());
        }
        Ok(())
    }

    /// Checks everything that an operation without input made.
    ///
    /// Proving primes prime again takes long compared with finding them once, so all CPUs help. No engine runs
    /// meanwhile.
    pub(crate) fn verify_made(&self, job: &Job, outputs: &[u8]) -> Result<(), WrongAnswer> {
        let item = job.layout().output;
        let helpers = thread::available_parallelism().map_or(1, NonZero::get);
        let share = (outputs.len() / item).div_ceil(helpers).max(1);
        let check = |outputs| verify(job, None, &[], outputs);
        let answers = parallel::map(outputs.chunks(share * item), check);
        for (index, answer) in answers.into_iter().enumerate() {
            answer.map_err(|wrong| WrongAnswer {
                item: wrong.item + index * share,
                ..wrong
            })?;
        }
        verify_no_prime_twice(job, outputs)
    }
}

/// The job without what its data does not depend on.
fn common(job: &Job) -> Job {
    Job {
        threads: 1,
        variant: None,
        bare: false,
        ..job.clone()
    }
}

/// The stream of the seed that gives a job's inputs: one for each operation, key size, text and batch, whatever the
/// engine and the threads. A text is encrypted and decrypted from the same stream.
fn stream(job: &Job) -> u64 {
    let op = match job.op {
        Op::TextDecrypt => Op::TextEncrypt,
        // Nonces are nonces.
        Op::HandshakeServer | Op::HandshakeResumed => Op::Handshake,
        op => op,
    };
    let op = Op::ALL
        .iter()
        .position(|other| *other == op)
        .expect("every operation is one of all") as u64;
    // Bits below 2^15, symbols and bytes of a message below 2^27, batches below 2^17, all by the plan's limits. Items
    // under several keys, of which none has a text, count their keys from bit 36 on.
    let bytes = job.symbols.max(job.message_bytes);
    (((op << 15 | job.bits as u64) << 27 | bytes as u64) << 17) | job.batch as u64
}

/// How many items every thread works on: whole batches, and several, so that no engine sees the same input twice in a
/// row; fewer where one takes long, because all of them are done before and after the measurement.
fn items(job: &Job) -> usize {
    /// Bytes of messages that a worker keeps.
    const MOST_MESSAGES: usize = 1 << 23;
    let several = match job.op {
        // Already hundreds of tests each, and up to a megabyte.
        Op::PrimeSearch => 2,
        Op::SignMessage => (MOST_MESSAGES / job.message_bytes).clamp(2, 16),
        _ if job.bits <= 4096 => 16_usize,
        _ => 4,
    };
    job.batch * several.div_ceil(job.batch)
}

#[cfg(test)]
mod tests;
