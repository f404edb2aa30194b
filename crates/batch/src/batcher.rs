//! Batchers: their keys and limits, and how they are asked.

use std::{sync::Arc, thread, time::Duration};

use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, Result, Status, encryption::Unpadder, random::SystemRng, scheme::SignatureScheme,
};
use zeroize::Zeroizing;

use crate::{Decryption, Error, Key, Operation, Statistics, handle::Handle, keys::of_one, pass::Blocks, queue::Limits};

/// Answers private operations, those that are asked for side by side together. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub struct Batcher {
    pub(crate) handle: Arc<Handle>,
}

/// The keys and the limits of a [`Batcher`].
pub struct Builder {
    keys: Vec<PrivateKey>,
    backend: Box<dyn Backend>,
    limits: Limits,
}

impl Builder {
    /// Adds a key. The first has the number 0.
    pub fn key(mut self, key: &PrivateKey) -> Self {
        self.keys.push(key.clone());
        self
    }

    /// The back end that computes: this CPU, if nothing else is said.
    pub fn backend(mut self, backend: impl Backend + 'static) -> Self {
        self.backend = Box::new(backend);
        self
    }

    /// How many passes run at once, at least 1: as many as there are CPUs, if nothing else is said. As many again run
    /// if they are full, so that no CPU is idle while a thread wakes whose turn it is.
    pub fn passes(mut self, passes: usize) -> Self {
        self.limits.passes = passes.max(1);
        self
    }

    /// Lets full passes begin, or not, beside as many as may run, as they do if nothing is said: without, a thread that
    /// ends a pass hands over, and its CPU is idle while the next one wakes. What other programs do with the CPUs
    /// decides.
    pub fn overlap(mut self, overlap: bool) -> Self {
        self.limits.overlap = overlap;
        self
    }

    /// As many passes at once as a machine's profile says that threads are best for private operations of a size. What
    /// [`passes`](Self::passes) says later comes first.
    ///
    /// A profile gives no delay: with few requests at a time, one makes each of them slower and none faster. Where many
    /// arrive by themselves, its [`delay`](rsalab_rsa::profile::Profile::delay) may be handed to
    /// [`linger`](Self::linger).
    ///
    /// # Errors
    ///
    /// The profile is of [another machine](rsalab_rsa::profile::Profile::check).
    #[cfg(feature = "profile")]
    pub fn profile(self, profile: &rsalab_rsa::profile::Profile, bits: usize) -> Result<Self> {
        profile.check()?;
        Ok(match profile.operation("private", bits) {
            Some(choice) => self.passes(choice.threads),
            None => self,
        })
    }

    /// How many requests wait at most, at least 1: 4096, if nothing else is said. Whoever comes then waits for room, or
    /// is told.
    pub fn waiting(mut self, requests: usize) -> Self {
        self.limits.waiting = requests.max(1);
        self
    }

    /// How long a pass that is not full waits for more requests, from the arrival of its oldest one: for those who want
    /// full passes more than quick answers. Not at all, if nothing is said.
    pub fn linger(mut self, time: Duration) -> Self {
        self.limits.linger = Some(time);
        self
    }

    /// Makes the keys ready: those of one size together, so that they share passes.
    ///
    /// # Errors
    ///
    /// The errors of the back end.
    pub fn build(self) -> Result<Batcher> {
        let handle = Handle::new(self.backend, self.limits);
        handle.add(&self.keys)?;
        Ok(Batcher {
            handle: Arc::new(handle),
        })
    }
}

impl Batcher {
    /// A batcher without keys and with the limits of [`Builder`]'s methods.
    pub fn builder() -> Builder {
        Builder {
            keys: Vec::new(),
            backend: Box::new(CpuBackend::auto()),
            limits: Limits {
                passes: thread::available_parallelism().map_or(1, usize::from),
                waiting: 4096,
                linger: None,
                overlap: true,
            },
        }
    }

    /// Adds keys, while requests run, and returns their numbers: each is one more than the last one that was given.
    /// They are prepared on this thread, and those of their sizes anew for mixed passes; requests do not wait for that.
    /// Many keys are added at once rather than one by one.
    ///
    /// # Errors
    ///
    /// The errors of the back end, and [`rsalab_rsa::Error::Unsupported`] after a fork; no key is added then.
    pub fn add(&self, keys: &[PrivateKey]) -> Result<Vec<usize>> {
        self.handle.add(keys)
    }

    /// Removes keys, while requests run: their numbers mean nothing from now on, and are not given again. Requests that
    /// were made before are answered, and a key of `rsalab-rsa` that has the batcher as its back end goes on. When the
    /// last of these is gone, the key is wiped.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`], [`Error::Forked`]; no key is removed then.
    pub fn remove(&self, keys: &[usize]) -> Result<(), Error> {
        self.handle.remove(keys)
    }

    /// The key of a number, for [`private_with`](Self::private_with), which does its operations though it is removed
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`], [`Error::Forked`].
    pub fn key(&self, number: usize) -> Result<Arc<Key>, Error> {
        self.handle.key(number)
    }

    /// One private operation: `block`, a number below the key's modulus and of as many bytes, to the private exponent.
    /// Blocks the thread, which may be the one that computes.
    ///
    /// # Errors
    ///
    /// [`Error`], of this request alone.
    pub fn private(&self, key: usize, block: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.ask(&self.handle.key(key)?, block, true)
    }

    /// As [`private`](Self::private), with a key of this batcher that was [looked up](Self::key) before, or with one of
    /// [`Keys`](crate::Keys), which needs no number, and which other batchers may use as well.
    ///
    /// # Errors
    ///
    /// [`Error`], of this request alone.
    pub fn private_with(&self, key: &Arc<Key>, block: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.ask(key, block, true)
    }

    /// As [`private`](Self::private), or [`Error::Full`] if as many wait as may.
    ///
    /// # Errors
    ///
    /// [`Error`], of this request alone.
    pub fn try_private(&self, key: usize, block: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.ask(&self.handle.key(key)?, block, false)
    }

    fn ask(&self, key: &Arc<Key>, block: &[u8], can_wait: bool) -> Result<Zeroizing<Vec<u8>>, Error> {
        key.check(block)?;
        let mut result = Zeroizing::new(vec![0; block.len()]);
        let mut status = [Status::Done];
        let queue = &self.handle.queue;
        queue.run(key, block, &mut result, &mut status, can_wait)?;
        of_one(result, &status)
    }

    /// A private operation for a task: a future.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`], [`Error::Length`]; the future has the others.
    pub fn private_async(&self, key: usize, block: &[u8]) -> Result<Operation, Error> {
        self.operation(self.handle.key(key)?, block)
    }

    fn operation(&self, key: Arc<Key>, block: &[u8]) -> Result<Operation, Error> {
        key.check(block)?;
        let bytes = Zeroizing::new(block.to_vec());
        let blocks = Blocks { key, bytes };
        Ok(Operation::new(Arc::clone(&self.handle), blocks))
    }

    /// Signs a digest of the scheme's hash function, for a task: a future of the signature. (Threads sign with a
    /// [`SigningKey`](rsalab_rsa::signing::SigningKey) that has the batcher as its back end.)
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`]; [`Error::Refused`] if the key is too short for the scheme, the digest has another length,
    /// or there is no randomness for a salt. The future has the others.
    pub fn sign_async(&self, key: usize, scheme: SignatureScheme, digest: &[u8]) -> Result<Operation, Error> {
        // Looked up once: the key may be removed meanwhile.
        let key = self.handle.key(key)?;
        let bits = key.private_key().bits();
        let encoding = scheme.encode(bits, digest, &mut SystemRng).map_err(refused)?;
        self.operation(key, &encoding)
    }

    /// Decrypts a ciphertext, for a task: a future of the message, which is `None` if decryption failed. (Threads
    /// decrypt with a [`DecryptionKey`](rsalab_rsa::encryption::DecryptionKey) that has the batcher as its back end.)
    ///
    /// Bad RSAES-PKCS1-v1_5 padding yields a pseudorandom message (implicit rejection).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`], [`Error::Length`]. The future has the others.
    pub fn decrypt_async(&self, key: usize, unpadder: &Unpadder, ciphertext: &[u8]) -> Result<Decryption, Error> {
        let operation = self.private_async(key, ciphertext)?;
        Ok(Decryption::new(operation, unpadder.clone(), ciphertext))
    }

    /// Requests that wait for a pass now.
    pub fn waiting(&self) -> usize {
        self.handle.queue.waiting()
    }

    /// Counts of what it has done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            passes: self.handle.passes(),
            waits: self.handle.queue.waits.so_far(),
        }
    }
}

fn refused(error: rsalab_rsa::Error) -> Error {
    Error::Refused {
        reason: error.to_string(),
    }
}

#[cfg(all(test, feature = "profile"))]
mod tests {
    use rsalab_rsa::profile::{Choice, Cpu, Profile, VERSION};

    use super::*;

    fn profile(cpu: Cpu) -> Profile {
        let choice = Choice {
            operation: "private".to_owned(),
            bits: 2048,
            symbols: 0,
            threads: 7,
            batch: 8,
            kernel: None,
            per_second: 1e4,
            unit: "operations/s".to_owned(),
            call_ns: 1e6,
            engine: "own".to_owned(),
            engine_times: 1.0,
        };
        Profile {
            version: VERSION,
            made_by: "rsalab".to_owned(),
            study: "a study".to_owned(),
            cpu,
            choices: vec![choice],
        }
    }

    #[test]
    fn what_is_said_later_comes_first_and_another_machines_profile_is_refused() {
        let here = Cpu::of_this_machine();
        if !here.is_known() {
            return eprintln!("SKIPPED: this CPU has no name");
        }
        let own = profile(here.clone());
        let passes = |builder: Builder| builder.limits.passes;
        assert_eq!(passes(Batcher::builder().profile(&own, 2048).unwrap()), 7);
        assert_eq!(passes(Batcher::builder().profile(&own, 2048).unwrap().passes(3)), 3);
        let built_in = passes(Batcher::builder());
        assert_eq!(
            passes(Batcher::builder().profile(&own, 4096).unwrap()),
            built_in,
            "no such size"
        );
        assert!(Batcher::builder().profile(&own, 2048).unwrap().limits.linger.is_none());
        let other = profile(Cpu {
            cpus: here.cpus + 1,
            ..here
        });
        assert!(Batcher::builder().profile(&other, 2048).is_err());
    }
}
