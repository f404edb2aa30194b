//! The part of a batcher that everybody who may ask holds on to: the keys by their numbers, which are added and removed
//! while requests run, and the queue.

use std::{collections::BTreeMap, sync::Arc};

use rsalab_rsa::{Backend, PrivateKey, Result};

use crate::{
    Error,
    groups::Policy,
    keys::{Key, Store},
    multi_key::MultiKeyBatch,
    queue::{Limits, Queue},
    shape::Shape,
    sync::{Mutex, RwLock},
};

/// A queue and its keys. When the last one is gone nobody can ask any more, and workers end.
pub(crate) struct Handle {
    pub(crate) queue: Arc<Queue>,
    store: Arc<Store>,
    /// For requests, which never wait while keys are prepared.
    keys: RwLock<BTreeMap<usize, Arc<Key>>>,
    /// The next key's number, for changes, one at a time.
    next: Mutex<usize>,
}

impl Handle {
    /// Without keys.
    pub(crate) fn new(backend: Box<dyn Backend>, limits: Limits) -> Self {
        Handle {
            queue: Arc::new(Queue::new(limits)),
            store: Store::new(backend, 1, Policy::WhenSet),
            keys: RwLock::default(),
            next: Mutex::default(),
        }
    }

    /// The back end, which does by itself what is not batched.
    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.store.backend
    }

    /// How many passes had so many requests.
    pub(crate) fn passes(&self) -> Vec<u64> {
        self.store.passes.so_far()
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
        let mut next = self.next.lock().expect(NEVER);
        let mut keys = self.keys.read().expect(NEVER).clone();
        let mut changed = Vec::new();
        for (number, key) in (*next..).zip(added) {
            let key = Key::new(&self.store, key.clone());
            key.items()?;
            changed.push(Arc::clone(&key));
            keys.insert(number, key);
        }
        let groups = groups(&changed, &keys).map(|(shape, group)| Ok((shape, group?)));
        let groups = groups.collect::<Result<Vec<_>>>()?;
        // From here on nothing fails.
        for (shape, group) in groups {
            self.store.groups.set(shape, group);
        }
        let numbers = *next..*next + added.len();
        *next = numbers.end;
        *self.keys.write().expect(NEVER) = keys;
        Ok(numbers.collect())
    }

    /// All, or none if one is unknown.
    pub(crate) fn remove(&self, numbers: &[usize]) -> Result<(), Error> {
        if self.queue.is_forked() {
            return Err(Error::Forked);
        }
        let _one_at_a_time = self.next.lock().expect(NEVER);
        let removed = numbers.iter().map(|&key| self.key(key));
        let removed = removed.collect::<Result<Vec<_>, Error>>()?;
        let mut left = self.keys.read().expect(NEVER).clone();
        left.retain(|number, _| !numbers.contains(number));
        *self.keys.write().expect(NEVER) = left.clone();
        // Without a group the keys are computed with one after another.
        for (shape, group) in groups(&removed, &left) {
            self.store.groups.set(shape, group.unwrap_or_default());
        }
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

/// The sizes of keys that were added or removed, each with all keys of it, made ready together.
fn groups(
    changed: &[Arc<Key>],
    keys: &BTreeMap<usize, Arc<Key>>,
) -> impl Iterator<Item = (Shape, Result<Option<Arc<MultiKeyBatch>>>)> {
    let mut shapes: Vec<Shape> = Vec::new();
    for key in changed {
        if !shapes.contains(&key.shape) {
            shapes.push(key.shape);
        }
    }
    shapes.into_iter().map(|shape| {
        let of_shape = keys.values().filter(|key| key.shape == shape).cloned();
        (shape, Key::together(&of_shape.collect::<Vec<_>>()))
    })
}

const NEVER: &str = "nothing panics under this lock";

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
    }
}
