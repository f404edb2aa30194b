//! What everybody who may ask holds on to: the keys, which are added and removed while requests run, and the queue.

use std::{collections::BTreeMap, sync::Arc};

use rsalab_rsa::{Backend, PrivateKey, Result};

use crate::{
    Error,
    pass::{Key, Together},
    queue::{Limits, Queue},
    sync::{Mutex, RwLock},
};

/// A queue and its keys. When the last one is gone nobody can ask any more, and workers end.
pub(crate) struct Handle {
    pub(crate) queue: Arc<Queue>,
    /// What computes, and does by itself what is not batched.
    pub(crate) backend: Box<dyn Backend>,
    /// Blocks of a pass.
    most_items: usize,
    /// For requests, which never wait while keys are prepared.
    keys: RwLock<BTreeMap<usize, Arc<Key>>>,
    /// For changes, one at a time.
    sizes: Mutex<Sizes>,
}

#[derive(Default)]
struct Sizes {
    /// The next key's number.
    next: usize,
    sizes: Vec<OfSize>,
}

/// Keys of one size, which share passes.
struct OfSize {
    of: SizeOfKey,
    keys: Vec<(usize, PrivateKey)>,
}

/// Bits, primes, and bytes of a prime.
type SizeOfKey = (usize, usize, usize);

fn size_of(key: &PrivateKey) -> SizeOfKey {
    (key.bits(), key.primes(), key.prime_len())
}

impl Handle {
    /// Without keys.
    pub(crate) fn new(backend: Box<dyn Backend>, limits: Limits) -> Self {
        let most_items = backend.lanes().div_ceil(2);
        Handle {
            queue: Arc::new(Queue::new(most_items, limits)),
            backend,
            most_items,
            keys: RwLock::default(),
            sizes: Mutex::default(),
        }
    }

    /// A key that was not removed.
    pub(crate) fn key(&self, number: usize) -> Result<Arc<Key>, Error> {
        let keys = match self.keys.try_read() {
            Ok(keys) => keys,
            // Asking for the process's number takes a third of a microsecond here, and the queue does it anyway.
            Err(_) if self.queue.is_forked() => return Err(Error::Forked),
            Err(_) => self.keys.read().expect(NEVER),
        };
        keys.get(&number).cloned().ok_or(Error::UnknownKey {
            key: number,
            keys: keys.len(),
        })
    }

    /// The one that was added last of those for which it is so.
    pub(crate) fn last(&self, mut is_so: impl FnMut(&Key) -> bool) -> Option<Arc<Key>> {
        if self.queue.is_forked() {
            return None;
        }
        let keys = self.keys.read().expect(NEVER);
        keys.values().rev().find(|key| is_so(key)).cloned()
    }

    /// All, or none if one cannot be prepared.
    pub(crate) fn add(&self, added: &[PrivateKey]) -> Result<Vec<usize>> {
        self.check_fork()?;
        let mut sizes = self.sizes.lock().expect(NEVER);
        let known_sizes = sizes.sizes.len();
        let mut of_new: Vec<SizeOfKey> = Vec::new();
        let mut prepared = Vec::with_capacity(added.len());
        let mut changed: BTreeMap<usize, Vec<(usize, PrivateKey)>> = BTreeMap::new();
        for (number, key) in (sizes.next..).zip(added) {
            let own = size_of(key);
            let known = sizes.sizes.iter().map(|size| size.of);
            let size = known.chain(of_new.iter().copied()).position(|of| of == own);
            let size = size.unwrap_or_else(|| {
                of_new.push(own);
                known_sizes + of_new.len() - 1
            });
            prepared.push(Arc::new(Key::new(&*self.backend, key, number, size, self.most_items)?));
            let before = || {
                let size = sizes.sizes.get(size);
                size.map_or_else(Vec::new, |size| size.keys.clone())
            };
            let keys = changed.entry(size).or_insert_with(before);
            keys.push((number, key.clone()));
        }
        let together = changed.iter().map(|(&size, keys)| {
            let together = Together::new(&*self.backend, keys)?;
            Ok((size, together.map(Arc::new)))
        });
        // From here on nothing fails.
        for (size, together) in together.collect::<Result<Vec<_>>>()? {
            let of_size = prepared.iter().find(|key| key.size == size);
            let items = of_size.expect("its keys made it change").items;
            self.queue.share(size, items, together);
        }
        for (size, keys) in changed {
            match size.checked_sub(known_sizes) {
                None => sizes.sizes[size].keys = keys,
                // In the order of their places.
                Some(new) => sizes.sizes.push(OfSize { of: of_new[new], keys }),
            }
        }
        sizes.next += added.len();
        let numbers = prepared.iter().map(|key| key.number).collect();
        let named = prepared.into_iter().map(|key| (key.number, key));
        self.keys.write().expect(NEVER).extend(named);
        Ok(numbers)
    }

    /// All, or none if one is unknown.
    pub(crate) fn remove(&self, numbers: &[usize]) -> Result<(), Error> {
        if self.queue.is_forked() {
            return Err(Error::Forked);
        }
        numbers.iter().try_for_each(|&key| self.key(key).map(drop))?;
        let mut sizes = self.sizes.lock().expect(NEVER);
        // Another thread may have removed them since.
        numbers.iter().try_for_each(|&key| self.key(key).map(drop))?;
        let mut keys = self.keys.write().expect(NEVER);
        let removed: Vec<_> = numbers.iter().filter_map(|key| keys.remove(key)).collect();
        drop(keys);
        for (place, size) in sizes.sizes.iter_mut().enumerate() {
            let before = size.keys.len();
            size.keys.retain(|(number, _)| !numbers.contains(number));
            if size.keys.len() < before {
                // Without it the keys are computed with one after another.
                let together = Together::new(&*self.backend, &size.keys).unwrap_or_default();
                self.queue.share(place, 0, together.map(Arc::new));
            }
        }
        drop(removed);
        Ok(())
    }

    /// In a fork a lock may be held by a thread that the child does not have.
    fn check_fork(&self) -> Result<()> {
        match self.queue.is_forked() {
            false => Ok(()),
            true => Err(rsalab_rsa::Error::Unsupported {
                reason: Error::Forked.to_string(),
            }),
        }
    }
}

const NEVER: &str = "nothing panics under this lock";

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
    }
}
