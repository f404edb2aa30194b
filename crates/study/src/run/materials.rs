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
    Exponent, Job, Op, StudyKey, WrongAnswer, inputs, verify, verify_no_prime_twice,
};
use rsalab_rsa::random::InsecureStudySeed;

use crate::{parallel, plan::Seed};

/// Makes what jobs need from a study's seed: always the same.
pub(crate) struct Materials {
    seed: InsecureStudySeed,
    stop: Arc<AtomicBool>,
    /// Those that were made, since large ones take long to make.
    keys: Vec<(KeyName, StudyKey)>,
    /// The last job's: the cells of a group come one after another.
    last: Option<(Job, Rc<Material>)>,
}

/// Which of a study's keys: one for each size and exponent, and for each size of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeyName {
    bits: usize,
    exponent: Exponent,
    symbols: usize,
}

/// What a job needs.
pub(crate) struct Material {
    /// None for operations that make keys: theirs may be shorter than any that we make.
    pub(crate) key: Option<StudyKey>,
    pub(crate) inputs: Vec<u8>,
    /// Outputs that were proved right.
    right: RefCell<Vec<u8>>,
}

/// Why there is no material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The run must stop.
    Stopped,
    /// The key could not be made.
    Key(String),
}

impl Materials {
    /// What a seed gives; making keys is given up soon after `stop` is set.
    pub(crate) fn new(seed: Seed, stop: &Arc<AtomicBool>) -> Self {
        Materials {
            seed: InsecureStudySeed::new(seed.0),
            stop: Arc::clone(stop),
            keys: Vec::new(),
            last: None,
        }
    }

    pub(crate) fn of(&mut self, job: &Job) -> Result<Rc<Material>, Lack> {
        let common = common(job);
        if let Some((_, material)) = self.last.as_ref().filter(|(last, _)| *last == common) {
            return Ok(Rc::clone(material));
        }
        let material = match job.op.is_deterministic() {
            true => {
                let key = self.key(KeyName {
                    bits: job.bits,
                    exponent: job.exponent,
                    symbols: job.symbols,
                })?;
                let inputs = inputs(&common, &key, &self.seed, stream(job), items(job));
                Material {
                    key: Some(key),
                    inputs,
                    right: RefCell::default(),
                }
            }
            false => Material {
                key: None,
                inputs: Vec::new(),
                right: RefCell::default(),
            },
        };
        let material = Rc::new(material);
        self.last = Some((common, Rc::clone(&material)));
        Ok(material)
    }

    fn key(&mut self, name: KeyName) -> Result<StudyKey, Lack> {
        if let Some((_, key)) = self.keys.iter().find(|(made, _)| *made == name) {
            return Ok(key.clone());
        }
        let key = self.make_key(name)?;
        self.keys.push((name, key.clone()));
        Ok(key)
    }

    /// Makes a key on another thread, since the largest take minutes and a wish to stop cannot wait so long. A thread
    /// that is given up ends by itself.
    fn make_key(&self, name: KeyName) -> Result<StudyKey, Lack> {
        const ATTENTION: Duration = Duration::from_millis(50);
        let (made, awaited) = mpsc::channel();
        let seed = self.seed.clone();
        let make = move || {
            let key = StudyKey::numbered(&seed, name.bits, name.exponent, name.symbols as u64);
            // Nobody may be waiting any more.
            let _ = made.send(key);
        };
        thread::Builder::new()
            .name("study key".to_owned())
            .spawn(make)
            .map_err(|error| Lack::Key(format!("a thread could not be started: {error}")))?;
        loop {
            match awaited.recv_timeout(ATTENTION) {
                Ok(key) => return key.map_err(|error| Lack::Key(error.to_string())),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return Err(Lack::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the thread that makes a key panicked")
                }
            }
        }
    }
}

impl Material {
    /// Whether all outputs of a job are right.
    ///
    /// An operation that takes inputs has one right answer, which all engines of a group give, before they are measured and
    /// after it. It is proved once: with a random exponent that takes longer than some engines are measured for.
    pub(crate) fn verify(&self, job: &Job, outputs: &[u8]) -> Result<(), WrongAnswer> {
        /// A longer text is not kept twice: its proof takes no longer than making it.
        const MOST_KEPT: usize = 1 << 20;
        if !outputs.is_empty() && *self.right.borrow() == outputs {
            return Ok(());
        }
        verify(job, self.key.as_ref(), &self.inputs, outputs)?;
        if outputs.len() <= MOST_KEPT {
            self.right.replace(outputs.to_vec());
        }
        Ok(())
    }

    /// Whether everything that an operation without input made is right.
    ///
    /// Proving primes prime again takes long beside finding them once, so all CPUs help. No engine runs meanwhile.
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

/// The job without what its material does not depend on.
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
        op => op,
    };
    let op = Op::ALL
        .iter()
        .position(|other| *other == op)
        .expect("every operation is one of all") as u64;
    // Bits below 2^15, symbols below 2^27, batches below 2^17, all by the plan's limits.
    (((op << 15 | job.bits as u64) << 27 | job.symbols as u64) << 17) | job.batch as u64
}

/// How many items every thread works on: whole batches, and several, so that no engine sees the same input twice in a
/// row; fewer where one takes long, because all of them are done before and after the measurement.
fn items(job: &Job) -> usize {
    let several = match job.op {
        // Already hundreds of tests each, and up to a megabyte.
        Op::PrimeSearch => 2,
        _ if job.bits <= 4096 => 16_usize,
        _ => 4,
    };
    job.batch * several.div_ceil(job.batch)
}

#[cfg(test)]
mod tests {
    use rsalab_engines::{Exponent, Mode};

    use super::*;

    fn job(op: Op) -> Job {
        let symbols = if op.is_text() { 100 } else { 0 };
        Job {
            op,
            bits: 512,
            threads: 1,
            batch: 1,
            mode: Mode::Throughput,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            message_bits: None,
            symbols,
            block_symbols: if op.is_text() { 63 } else { 0 },
        }
    }

    fn material_key(material: &Material) -> &StudyKey {
        material.key.as_ref().expect("the operation takes a key")
    }

    fn materials(first_byte: u8) -> Materials {
        let mut seed = Seed([0; 32]);
        seed.0[0] = first_byte;
        Materials::new(seed, &Arc::new(AtomicBool::new(false)))
    }

    #[test]
    fn material_depends_on_the_seed_and_the_job_and_nothing_else() {
        let mut one = materials(1);
        let private = one.of(&job(Op::Private)).unwrap();
        let threads = Job {
            threads: 4,
            variant: Some("powm".into()),
            bare: true,
            ..job(Op::Private)
        };
        assert!(Rc::ptr_eq(&private, &one.of(&threads).unwrap()));
        let public = one.of(&job(Op::Public)).unwrap();
        assert!(public.key == private.key, "one key for each size");
        assert_ne!(public.inputs, private.inputs);
        assert_eq!(
            materials(1).of(&job(Op::Private)).unwrap().inputs,
            private.inputs
        );
        assert_ne!(
            materials(2).of(&job(Op::Private)).unwrap().inputs,
            private.inputs
        );
        let larger = one
            .of(&Job {
                bits: 768,
                ..job(Op::Private)
            })
            .unwrap();
        assert_eq!(
            (material_key(&larger).bits, larger.inputs.len()),
            (768, 16 * 96)
        );
        let other_exponent = one
            .of(&Job {
                exponent: Exponent::Fixed(3),
                ..job(Op::Private)
            })
            .unwrap();
        assert_eq!(material_key(&other_exponent).e, [3]);
    }

    #[test]
    fn a_text_is_decrypted_to_what_was_encrypted() {
        let mut materials = materials(1);
        let plain = materials.of(&job(Op::TextEncrypt)).unwrap();
        let cipher = materials.of(&job(Op::TextDecrypt)).unwrap();
        assert_eq!(plain.inputs.len(), 100);
        cipher.verify(&job(Op::TextDecrypt), &plain.inputs).unwrap();
        let mut wrong = cipher.inputs.clone();
        wrong[70] ^= 1;
        // What was proved right is so again, and nothing else is, nor is half of it.
        for _ in 0..2 {
            assert!(plain.verify(&job(Op::TextEncrypt), &wrong).is_err());
            plain.verify(&job(Op::TextEncrypt), &cipher.inputs).unwrap();
            assert!(plain.verify(&job(Op::TextEncrypt), &wrong[..64]).is_err());
            assert!(
                plain
                    .verify(&job(Op::TextEncrypt), &cipher.inputs[..64])
                    .is_err()
            );
        }
    }

    #[test]
    fn each_size_of_text_has_its_own_key_on_any_number_of_threads() {
        let mut materials = materials(1);
        let mut key_of = |op, symbols, threads| {
            let job = Job {
                symbols,
                threads,
                ..job(op)
            };
            material_key(&materials.of(&job).unwrap()).n.clone()
        };
        let short = key_of(Op::TextEncrypt, 100, 1);
        assert_eq!(key_of(Op::TextEncrypt, 100, 8), short);
        assert_eq!(key_of(Op::TextDecrypt, 100, 3), short);
        assert_ne!(key_of(Op::TextEncrypt, 1_000, 1), short);
    }

    #[test]
    fn everything_that_was_made_is_looked_at() {
        let keygen = job(Op::Keygen);
        let material = materials(1).of(&keygen).unwrap();
        assert!(material.inputs.is_empty() && material.key.is_none());
        let keys = [1, 2, 3, 4, 5].map(|seed| {
            let key = materials(seed).of(&job(Op::Private)).unwrap();
            let key = material_key(&key);
            [&key.p[..], &key.q, &key.d].concat()
        });
        material.verify_made(&keygen, &keys.concat()).unwrap();
        let first_wrong = |keys: &[Vec<u8>]| {
            let wrong = material.verify_made(&keygen, &keys.concat());
            wrong.unwrap_err().item
        };
        for item in 0..5 {
            let mut wrong = keys.clone();
            wrong[item][40] ^= 2;
            assert_eq!(first_wrong(&wrong), item);
        }
        // However the work is shared, the last one is not checked by who checks the first.
        let mut repeated = keys.clone();
        repeated[4] = keys[0].clone();
        assert_eq!(first_wrong(&repeated), 4);
    }

    #[test]
    fn items_are_whole_batches() {
        for (batch, bits, expected) in [
            (1, 2048, 16),
            (8, 2048, 16),
            (10, 2048, 20),
            (100, 2048, 100),
            (1, 8192, 4),
        ] {
            assert_eq!(
                items(&Job {
                    batch,
                    bits,
                    ..job(Op::Private)
                }),
                expected
            );
        }
    }

    #[test]
    fn streams_differ_and_stay_below_those_of_keys() {
        let largest = Job {
            bits: *crate::plan::BITS.end(),
            batch: *crate::plan::BATCH.end(),
            symbols: *crate::plan::SYMBOLS.end(),
            ..job(Op::TextEncrypt)
        };
        assert!(stream(&largest) < 1 << 63);
        let jobs = [
            job(Op::Private),
            job(Op::Public),
            Job {
                bits: 1024,
                ..job(Op::Private)
            },
            Job {
                batch: 2,
                ..job(Op::Private)
            },
            job(Op::TextEncrypt),
            Job {
                symbols: 101,
                ..job(Op::TextEncrypt)
            },
            largest,
        ];
        for (index, one) in jobs.iter().enumerate() {
            assert!(
                jobs[..index]
                    .iter()
                    .all(|other| stream(other) != stream(one)),
                "{one:?}"
            );
        }
    }

    #[test]
    fn a_wish_to_stop_does_not_wait_for_a_large_key() {
        let materials = &mut Materials::new(Seed([7; 32]), &Arc::new(AtomicBool::new(true)));
        assert_eq!(
            materials
                .of(&Job {
                    bits: 8192,
                    ..job(Op::Private)
                })
                .err(),
            Some(Lack::Stopped)
        );
    }
}
