//! Which keys are made ready together.
//!
//! The lanes of a kernel may hold different keys of one size, but keys have to be made ready together, which takes
//! about as long as half an operation of each, and blinding takes as long once more. A batcher whose keys are added and
//! removed does it then. Where keys come and go by themselves, it is done when it has paid:
//!
//! ```text
//! a pass of several keys ── all are in the group of their size: it is shared
//!                        └─ else each key computes for itself, and the requests of those that are not in it are counted
//! as many were counted as twice the keys that the group would have ── a new group: those that are used most
//! ```
//!
//! So what is lost by not sharing is about what making ready costs. A group that did not answer as many requests as it
//! has keys twice was in vain, as with more keys than a group has that are all used alike: then the next one waits for
//! twice as many requests as this one did. A key that is freed takes its group with it, for that has a copy of it.

use std::{
    any::Any,
    cmp::Reverse,
    collections::BTreeMap,
    mem, process,
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use crate::{
    multi_key::MultiKeyBatch,
    shape::Shape,
    sync::{Mutex, MutexGuard},
};

/// Keys of a group that forms by itself, at most.
const MOST_KEYS: usize = 128;
/// Requests for each key of a group that it waits for: at first, and at most.
const PATIENCE: [usize; 2] = [2, 1 << 10];

/// Something to be held while so many keys are made ready together, such as a reserve of memory; they are not if it is
/// none.
pub type Held = Option<Box<dyn Any>>;

/// When keys are made ready together.
pub(crate) enum Policy {
    /// When they are added or removed, which [`Groups::set`] says.
    WhenSet,
    /// When it has paid.
    OncePaid(fn(usize) -> Held),
}

/// A key that may be in a group.
pub(crate) trait Member: Sized {
    fn id(&self) -> u64;
    /// From now on [`Groups::forget`] is to be told when it is freed.
    fn mark_known(&self);
    /// Makes keys ready together; none if that fails.
    fn together(keys: &[Arc<Self>]) -> Option<Arc<MultiKeyBatch>>;
}

/// The groups of all sizes.
pub(crate) struct Groups<K> {
    policy: Policy,
    /// The process that locked the sizes last.
    process: AtomicU32,
    sizes: Mutex<Vec<Size<K>>>,
}

/// The record of the keys of one size.
struct Size<K> {
    shape: Shape,
    /// By their ids: all threads look for theirs here, and wait for one another.
    members: BTreeMap<u64, Used<K>>,
    /// Requests since the group was made that could not share a pass, and that could.
    alone: usize,
    together: usize,
    /// For how many of the former, for each of its keys, a new group waits.
    patience: usize,
    group: Option<Arc<MultiKeyBatch>>,
}

/// A key of a pass that several shared, or could have.
struct Used<K> {
    key: Weak<K>,
    /// Its requests since the group was made.
    requests: usize,
}

impl<K: Member> Groups<K> {
    pub(crate) fn new(policy: Policy) -> Self {
        Groups {
            policy,
            process: AtomicU32::new(process::id()),
            sizes: Mutex::new(Vec::new()),
        }
    }

    /// None in a child of a fork while another thread of its parent held the lock: nobody there will open it.
    fn sizes(&self) -> Option<MutexGuard<'_, Vec<Size<K>>>> {
        let process = process::id();
        if self.process.load(Relaxed) == process {
            return self.sizes.lock().ok();
        }
        let sizes = self.sizes.try_lock().ok()?;
        self.process.store(process, Relaxed);
        Some(sizes)
    }

    /// From now on passes of this size are shared by these keys.
    pub(crate) fn set(&self, shape: Shape, group: Option<Arc<MultiKeyBatch>>) {
        if let Some(mut sizes) = self.sizes() {
            let before = mem::replace(&mut of(&mut sizes, shape).group, group);
            drop(sizes);
            drop(before);
        }
    }

    /// The group that has all of these keys, which are of one size.
    pub(crate) fn group(&self, shape: Shape, keys: &[&Arc<K>]) -> Option<Arc<MultiKeyBatch>> {
        let has_all = |group: &Arc<MultiKeyBatch>| keys.iter().all(|key| group.has(key.id()));
        let (hold, chosen) = {
            let mut sizes = self.sizes()?;
            let size = of(&mut sizes, shape);
            let group = size.group.clone().filter(has_all);
            let Policy::OncePaid(hold) = self.policy else {
                return group;
            };
            size.note(keys);
            if group.is_some() {
                size.together += keys.len();
                return group;
            }
            (hold, size.choose()?)
        };
        // Not under the lock: this takes as long as some operations. Nor are keys dropped under it, whose end asks for
        // it.
        let _held = hold(chosen.len())?;
        let group = K::together(&chosen)?;
        self.set(shape, Some(Arc::clone(&group)));
        Some(group).filter(has_all)
    }

    /// Forgets a key that is freed, and the group that has a copy of it.
    pub(crate) fn forget(&self, id: u64) {
        let Some(mut sizes) = self.sizes() else { return };
        // One group at most has it. Nothing is allocated here: a key is freed though there is no memory.
        let mut group = None;
        for size in sizes.iter_mut() {
            size.members.remove(&id);
            if size.group.as_ref().is_some_and(|group| group.has(id)) {
                group = size.group.take();
            }
        }
        sizes.retain(|size| !size.members.is_empty());
        // The group is wiped when nobody computes with it any more, not under the lock.
        drop(sizes);
        drop(group);
    }
}

fn of<K>(sizes: &mut Vec<Size<K>>, shape: Shape) -> &mut Size<K> {
    let place = sizes.iter().position(|size| size.shape == shape);
    let place = place.unwrap_or_else(|| {
        sizes.push(Size {
            shape,
            members: BTreeMap::new(),
            alone: 0,
            together: 0,
            patience: PATIENCE[0],
            group: None,
        });
        sizes.len() - 1
    });
    &mut sizes[place]
}

impl<K: Member> Size<K> {
    /// Counts the requests of a pass.
    fn note(&mut self, keys: &[&Arc<K>]) {
        for key in keys {
            let in_group = self.group.as_ref().is_some_and(|group| group.has(key.id()));
            self.alone += usize::from(!in_group);
            let member = self.members.entry(key.id()).or_insert_with(|| {
                key.mark_known();
                Used {
                    key: Arc::downgrade(key),
                    requests: 0,
                }
            });
            member.requests += 1;
        }
    }

    /// The keys of a new group, if one would have paid by now: two or more.
    fn choose(&mut self) -> Option<Vec<Arc<K>>> {
        let keys = self.members.len().min(MOST_KEYS);
        if self.alone < self.patience * keys {
            return None;
        }
        if let Some(group) = &self.group {
            self.patience = match self.together < 2 * group.keys() {
                true => (2 * self.patience).min(PATIENCE[1]),
                false => PATIENCE[0],
            };
        }
        (self.alone, self.together) = (0, 0);
        let mut members: Vec<(u64, Used<K>)> = mem::take(&mut self.members).into_iter().collect();
        members.sort_by_key(|(_, member)| Reverse(member.requests));
        members.truncate(MOST_KEYS);
        let chosen = members.iter_mut().filter_map(|(_, member)| {
            member.requests = 0;
            member.key.upgrade()
        });
        let chosen = chosen.collect();
        self.members = members.into_iter().collect();
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsalab_rsa::PrivateKey;

    struct Numbered(u64);

    impl Member for Numbered {
        fn id(&self) -> u64 {
            self.0
        }

        fn mark_known(&self) {}

        fn together(_: &[Arc<Self>]) -> Option<Arc<MultiKeyBatch>> {
            None
        }
    }

    #[test]
    fn a_group_has_the_keys_that_are_used_most_of_any_number() {
        let shape = Shape::of(&PrivateKey::generate(512).unwrap());
        let keys: Vec<Arc<Numbered>> = (0..100_000).map(|id| Arc::new(Numbered(id))).collect();
        let mut sizes: Vec<Size<Numbered>> = Vec::new();
        let size = of(&mut sizes, shape);
        size.note(&keys.iter().collect::<Vec<_>>());
        // Each of these once more: 100 keys.
        let often: Vec<&Arc<Numbered>> = keys.iter().skip(7).step_by(1000).collect();
        size.note(&often);
        assert_eq!(size.members.len(), keys.len());
        let chosen = size.choose().expect("it has paid");
        assert_eq!((often.len(), chosen.len()), (100, MOST_KEYS));
        assert!(often.iter().all(|key| chosen.iter().any(|chosen| chosen.0 == key.0)));
        // They are what is counted from here on.
        assert_eq!(size.members.len(), MOST_KEYS);
        assert!(size.members.values().all(|member| member.requests == 0));
        assert!(size.choose().is_none());
    }
}
