//! Private keys that queues compute with: each is made ready when it is first used, several together as `groups` says.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use once_cell::race::OnceBox;
use rsalab_rsa::{Backend, BlockRunner, Pooled, Prepared, PrivateKey, Result, Status};
use zeroize::Zeroizing;

use crate::{
    Error,
    groups::{Groups, Held, Member, Policy},
    multi_key::MultiKeyBatch,
    shape::Shape,
    statistics::Passes,
};

/// Keys that come and go by themselves, for any number of [`JobQueue`](crate::JobQueue)s and of
/// [`Batcher`](crate::Batcher)s. Cheap to clone; every clone is the same.
///
/// Keys of one size that are asked for side by side are made ready together once that has paid, up to 128 of them.
/// Nobody waits for another thread here, which in a child of a fork may be one of its parent's: keys go on there.
#[derive(Clone)]
pub struct Keys {
    store: Arc<Store>,
}

impl Keys {
    /// No keys yet. A full pass of a key takes `rounds` rounds of the kernel, at least 1. Before so many keys are made
    /// ready together, `hold` is called, and what it gives is dropped afterwards.
    pub fn new(backend: impl Backend + 'static, rounds: usize, hold: fn(usize) -> Held) -> Self {
        Keys {
            store: Store::new(Box::new(backend), rounds.max(1), Policy::OncePaid(hold)),
        }
    }

    /// A key of these, which is made ready when it is first used.
    pub fn key(&self, key: PrivateKey) -> Arc<Key> {
        Key::new(&self.store, key)
    }

    /// How many passes had so many requests, for every number from 0 to the most that a pass has.
    pub fn passes(&self) -> Vec<u64> {
        self.store.passes.so_far()
    }
}

/// The common part of all keys of one program, or of one batcher.
pub(crate) struct Store {
    pub(crate) backend: Box<dyn Backend>,
    rounds: usize,
    pub(crate) groups: Groups<Key>,
    pub(crate) passes: Passes,
}

impl Store {
    pub(crate) fn new(backend: Box<dyn Backend>, rounds: usize, policy: Policy) -> Arc<Self> {
        let passes = Passes::new(full(rounds, backend.lanes()));
        Arc::new(Store {
            backend,
            rounds,
            groups: Groups::new(policy),
            passes,
        })
    }
}

/// Blocks of a full pass: a private operation fills two lanes, p and q.
fn full(rounds: usize, lanes: usize) -> usize {
    (rounds * lanes).div_ceil(2)
}

/// A private key of [`Keys`], with the scratch memory and blinding of whoever computes with it alone. Whoever may still
/// ask for an operation of it holds on to it, so does a request; it is wiped when the last one is gone.
pub struct Key {
    /// Of this object: the same key, loaded twice, has two.
    pub(crate) id: u64,
    pub(crate) shape: Shape,
    pub(crate) store: Arc<Store>,
    private: PrivateKey,
    ready: OnceBox<Ready>,
    /// The groups know it, and are to forget it.
    is_known: AtomicBool,
}

struct Ready {
    pooled: Pooled,
    /// Blocks of a full pass.
    items: usize,
}

impl Key {
    pub(crate) fn new(store: &Arc<Store>, private: PrivateKey) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Key {
            id: NEXT.fetch_add(1, Relaxed),
            shape: Shape::of(&private),
            store: Arc::clone(store),
            private,
            ready: OnceBox::new(),
            is_known: AtomicBool::new(false),
        })
    }

    /// The key itself.
    pub fn private_key(&self) -> &PrivateKey {
        &self.private
    }

    /// Blocks of a full pass. The first call makes the key ready; several at once do so each, and none waits.
    ///
    /// # Errors
    ///
    /// The errors of the back end.
    pub fn items(&self) -> Result<usize> {
        Ok(self.ready()?.items)
    }

    /// One private operation, at once and with no other: `block` is a number below the modulus and of as many bytes.
    ///
    /// # Errors
    ///
    /// [`Error`], of this request alone.
    pub fn private(&self, block: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.check(block)?;
        let mut result = Zeroizing::new(vec![0; block.len()]);
        let mut status = [Status::Done];
        self.run(block, &mut result, &mut status)?;
        of_one(result, &status)
    }

    fn ready(&self) -> Result<&Ready> {
        self.ready.get_or_try_init(|| {
            let pooled = Pooled::new(self.store.backend.prepare_private(&self.private)?);
            let items = full(self.store.rounds, pooled.lanes()).min(self.store.passes.most());
            Ok(Box::new(Ready { pooled, items }))
        })
    }

    pub(crate) fn modulus_len(&self) -> usize {
        self.private.modulus_len()
    }

    /// Refuses what is no block of this key.
    pub(crate) fn check(&self, block: &[u8]) -> Result<(), Error> {
        match (block.len(), self.modulus_len()) {
            (got, expected) if got != expected => Err(Error::Length { expected, got }),
            _ => Ok(()),
        }
    }

    /// A pass of this key alone, straight from and into the buffers of who asks.
    pub(crate) fn run(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        self.store.passes.count(status.len());
        guarded(|| self.ready()?.pooled.runner()?.run(inputs, outputs, status))
    }

    /// `true` if so many blocks are worth a pass of the widest kernel, and not one by one on the fastest for a few.
    pub(crate) fn fills(&self, items: usize) -> bool {
        self.ready()
            .is_ok_and(|Ready { pooled, .. }| pooled.kernels_for(items) == [pooled.kernel()])
    }

    /// Keys of one size made ready together; none for fewer than two.
    pub(crate) fn together(keys: &[Arc<Key>]) -> Result<Option<Arc<MultiKeyBatch>>> {
        let [first, _, ..] = keys else { return Ok(None) };
        let privates: Vec<PrivateKey> = keys.iter().map(|key| key.private.clone()).collect();
        let ids = keys.iter().map(|key| key.id);
        Ok(Some(Arc::new(MultiKeyBatch::new(
            &*first.store.backend,
            &privates,
            ids,
        )?)))
    }
}

impl Member for Key {
    fn id(&self) -> u64 {
        self.id
    }

    fn mark_known(&self) {
        self.is_known.store(true, Relaxed);
    }

    fn together(keys: &[Arc<Self>]) -> Option<Arc<MultiKeyBatch>> {
        Key::together(keys).ok().flatten()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if *self.is_known.get_mut() {
            self.store.groups.forget(self.id);
        }
    }
}

/// Does what may panic. What of the back end did is not used again.
pub(crate) fn guarded(compute: impl FnOnce() -> Result<()>) -> Result<(), Error> {
    match catch_unwind(AssertUnwindSafe(compute)) {
        Ok(done) => done.map_err(Error::failed),
        Err(_) => Err(Error::Failed {
            reason: "the back end panicked".to_owned(),
        }),
    }
}

/// The answer to a request of one block.
pub(crate) fn of_one(result: Zeroizing<Vec<u8>>, status: &[Status]) -> Result<Zeroizing<Vec<u8>>, Error> {
    match status {
        [Status::Done] => Ok(result),
        [Status::OutOfRange] => Err(Error::OutOfRange),
        _ => Err(Error::Fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsalab_rsa::CpuBackend;

    fn keys(bits: usize, count: usize) -> Vec<Arc<Key>> {
        let keys = Keys::new(CpuBackend::auto(), 1, |_| Some(Box::new(())));
        (0..count)
            .map(|_| keys.key(PrivateKey::generate(bits).unwrap()))
            .collect()
    }

    /// The group that has all of these keys.
    fn group(keys: &[Arc<Key>]) -> Option<Arc<MultiKeyBatch>> {
        let first = &keys[0];
        first.store.groups.group(first.shape, &keys.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_group_forms_when_it_pays_and_goes_with_its_keys() {
        let mut keys = keys(512, 4);
        // Four requests could not share a pass; with eight, a group of four has paid.
        assert!(group(&keys).is_none());
        assert!(group(&keys).is_some());
        assert!(group(&keys[1..3]).is_some());
        // It is the same until it lacks a key.
        let first = group(&keys).unwrap();
        assert!(Arc::ptr_eq(&first, &group(&keys[2..]).unwrap()));
        let new = Key::new(&keys[0].store, PrivateKey::generate(512).unwrap());
        assert!(group(&[Arc::clone(&new), Arc::clone(&keys[0])]).is_none());
        assert!(group(&keys).is_some());
        // A key that is freed takes it with it.
        let freed = Arc::downgrade(&first);
        drop(first);
        keys.pop();
        assert!(freed.upgrade().is_none());
        assert!(group(&keys).is_none());
    }

    #[test]
    fn no_group_forms_without_what_it_is_to_hold() {
        let keys = Keys::new(CpuBackend::auto(), 1, |_| None);
        let keys: Vec<_> = (0..2).map(|_| keys.key(PrivateKey::generate(512).unwrap())).collect();
        assert!((0..20).all(|_| group(&keys).is_none()));
    }

    #[test]
    fn keys_of_a_group_compute_for_themselves() {
        let keys = keys(576, 3);
        let blocks: Vec<u8> = (0..3 * 72).map(|at| at as u8 >> 1).collect();
        let mut powers = vec![0; blocks.len()];
        let mut status = [Status::Done; 3];
        let ids: Vec<u64> = keys.iter().map(|key| key.id).collect();
        let formed = (0..5).find_map(|_| group(&keys)).expect("a group forms");
        formed.run(&ids, &blocks, &mut powers, &mut status).unwrap();
        assert_eq!(status, [Status::Done; 3]);
        for (number, key) in keys.iter().enumerate() {
            let place = 72 * number..72 * (number + 1);
            let public = CpuBackend::auto().prepare_public(key.private_key().public());
            let (mut back, mut status) = ([0; 72], [Status::Done]);
            let mut runner = public.as_ref().unwrap().runner().unwrap();
            runner.run(&powers[place.clone()], &mut back, &mut status).unwrap();
            assert_eq!(back[..], blocks[place]);
        }
    }
}
