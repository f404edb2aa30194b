//! Passes that several keys share.
//!
//! The lanes of a kernel may hold different keys of one size, but keys have to be made ready together, which takes
//! about as long as half an operation of each, and blinding takes as long once more. So keys are made ready together
//! when that has paid:
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
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use rsalab_rsa::{Backend, CpuBackend, MultiKeyRunner, PreparedMultiKey, PrivateKey, Result, Status};
use self_cell::self_cell;

use crate::{memory, statistics};

/// Keys of a group, at most.
const MOST_KEYS: usize = 128;
/// Requests for each key of a group that it waits for: at first, and at most.
const PATIENCE: [usize; 2] = [2, 1 << 10];
/// Runners that a group keeps: more threads than that make some anew.
const MOST_RUNNERS: usize = 16;

type RunnerOf<'keys> = Box<dyn MultiKeyRunner + Send + 'keys>;

self_cell!(
    /// A runner with the keys it borrows.
    struct Runner {
        owner: Arc<dyn PreparedMultiKey>,
        #[not_covariant]
        dependent: RunnerOf,
    }
);

/// Keys that were made ready together. Their order is that of `prepared`.
struct Group {
    keys: Vec<u64>,
    prepared: Arc<dyn PreparedMultiKey>,
    idle: Mutex<Vec<Runner>>,
}

/// What keys have in common that can share a pass: bits of the modulus, primes, and bits of the longest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    bits: usize,
    primes: usize,
    prime_bits: usize,
}

/// A private key that may share passes.
pub(crate) struct Sharing {
    /// Of this object: the same key, loaded twice, has two.
    id: u64,
    shape: Shape,
    key: PrivateKey,
    /// Whether it is to be forgotten when it is freed.
    is_known: AtomicBool,
}

impl Sharing {
    pub(crate) fn new(key: PrivateKey) -> Sharing {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let others = key.others().iter().map(|other| &other.r[..]);
        let primes = [key.p(), key.q()].into_iter().chain(others);
        Sharing {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            shape: Shape {
                bits: key.bits(),
                primes: primes.clone().count(),
                prime_bits: primes.map(bits).max().unwrap_or(0),
            },
            key,
            is_known: AtomicBool::new(false),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn key(&self) -> &PrivateKey {
        &self.key
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        if *self.is_known.get_mut() {
            forget(self.id);
        }
    }
}

/// The length of a number, which is big-endian.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    number
        .first()
        .map_or(0, |top| 8 * number.len() - top.leading_zeros() as usize)
}

/// A key of a pass that several shared, or could have.
struct Member {
    id: u64,
    key: Weak<Sharing>,
    /// Its requests since the group was made.
    requests: usize,
}

/// What is known of the keys of one size.
struct Size {
    shape: Shape,
    members: Vec<Member>,
    /// Requests since the group was made that could not share a pass, and that could.
    alone: usize,
    together: usize,
    /// For how many of the former, for each of its keys, a new group waits.
    patience: usize,
    group: Option<Arc<Group>>,
}

static SIZES: Mutex<Vec<Size>> = Mutex::new(Vec::new());
/// The process that locked [`SIZES`] last.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// None in a child of a fork while another thread of its parent held the lock: nobody there will open it.
fn sizes() -> Option<MutexGuard<'static, Vec<Size>>> {
    let process = process::id();
    if PROCESS.load(Ordering::Relaxed) == process {
        return Some(SIZES.lock().unwrap_or_else(PoisonError::into_inner));
    }
    let sizes = SIZES.try_lock().ok()?;
    PROCESS.store(process, Ordering::Relaxed);
    Some(sizes)
}

/// One operation of each key on its block, all in one pass; none if the keys are not ready for that.
pub(crate) fn run(
    keys: &[Arc<Sharing>],
    inputs: &[u8],
    outputs: &mut [u8],
    status: &mut [Status],
) -> Option<Result<()>> {
    let group = group(keys)?;
    let place = |key: &Arc<Sharing>| group.keys.iter().position(|id| *id == key.id);
    let places: Vec<usize> = keys.iter().map(place).collect::<Option<_>>()?;
    statistics::count(status.len());
    let runner = group.idle.try_lock().ok().and_then(|mut idle| idle.pop());
    let mut runner = runner.unwrap_or_else(|| Runner::new(Arc::clone(&group.prepared), |keys| keys.runner()));
    let done = runner.with_dependent_mut(|_, runner| runner.run(&places, inputs, outputs, status));
    if let Ok(mut idle) = group.idle.try_lock()
        && idle.len() < MOST_RUNNERS
    {
        idle.push(runner);
    }
    Some(done)
}

/// The group that has all of these keys, which are of one size.
fn group(keys: &[Arc<Sharing>]) -> Option<Arc<Group>> {
    let shape = keys.first()?.shape;
    let chosen = {
        let mut sizes = sizes()?;
        let place = sizes.iter().position(|size| size.shape == shape);
        let place = place.unwrap_or_else(|| {
            sizes.push(Size {
                shape,
                members: Vec::new(),
                alone: 0,
                together: 0,
                patience: PATIENCE[0],
                group: None,
            });
            sizes.len() - 1
        });
        let size = &mut sizes[place];
        size.note(keys);
        let has = |group: &Group| keys.iter().all(|key| group.keys.contains(&key.id));
        if let Some(group) = size.group.as_ref().filter(|group| has(group)) {
            size.together += keys.len();
            return Some(Arc::clone(group));
        }
        size.choose()?
    };
    // Not under the lock: this takes as long as some operations. Nor are keys dropped under it, whose end asks for it.
    if chosen.len() < 2 {
        return None;
    }
    let _memory = memory::shared_keys(chosen.len()).ok()?;
    let privates: Vec<PrivateKey> = chosen.iter().map(|key| key.key.clone()).collect();
    let prepared = CpuBackend::auto().prepare_multi_key(&privates).ok()?;
    let group = Arc::new(Group {
        keys: chosen.iter().map(|key| key.id).collect(),
        prepared: prepared.into(),
        idle: Mutex::default(),
    });
    let mut sizes = sizes()?;
    let size = sizes.iter_mut().find(|size| size.shape == shape)?;
    let before = size.group.replace(Arc::clone(&group));
    drop(sizes);
    drop(before);
    let has = |key: &Arc<Sharing>| group.keys.contains(&key.id);
    keys.iter().all(has).then_some(group)
}

impl Size {
    /// Counts the requests of a pass.
    fn note(&mut self, keys: &[Arc<Sharing>]) {
        for key in keys {
            let in_group = self.group.as_ref().is_some_and(|group| group.keys.contains(&key.id));
            self.alone += usize::from(!in_group);
            match self.members.iter_mut().find(|member| member.id == key.id) {
                Some(member) => member.requests += 1,
                None => {
                    key.is_known.store(true, Ordering::Relaxed);
                    self.members.push(Member {
                        id: key.id,
                        key: Arc::downgrade(key),
                        requests: 1,
                    });
                }
            }
        }
    }

    /// The keys of a new group, if one would have paid by now.
    fn choose(&mut self) -> Option<Vec<Arc<Sharing>>> {
        let keys = self.members.len().min(MOST_KEYS);
        if self.alone < self.patience * keys {
            return None;
        }
        if let Some(group) = &self.group {
            self.patience = match self.together < 2 * group.keys.len() {
                true => (2 * self.patience).min(PATIENCE[1]),
                false => PATIENCE[0],
            };
        }
        (self.alone, self.together) = (0, 0);
        self.members.sort_by_key(|member| std::cmp::Reverse(member.requests));
        self.members.truncate(MOST_KEYS);
        let chosen = self.members.iter_mut().filter_map(|member| {
            member.requests = 0;
            member.key.upgrade()
        });
        Some(chosen.collect())
    }
}

/// Forgets a key that is freed, and the group that has a copy of it.
fn forget(id: u64) {
    let Some(mut sizes) = sizes() else { return };
    // One group at most has it. Nothing is allocated here: a key is freed though there is no memory.
    let mut group = None;
    for size in sizes.iter_mut() {
        size.members.retain(|member| member.id != id);
        if size.group.as_ref().is_some_and(|group| group.keys.contains(&id)) {
            group = size.group.take();
        }
    }
    sizes.retain(|size| !size.members.is_empty());
    // The group is wiped when nobody computes with it any more, not under the lock.
    drop(sizes);
    drop(group);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bits: usize, count: usize) -> Vec<Arc<Sharing>> {
        (0..count)
            .map(|_| Arc::new(Sharing::new(PrivateKey::generate(bits).unwrap())))
            .collect()
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
        let new = Arc::new(Sharing::new(PrivateKey::generate(512).unwrap()));
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
    fn keys_of_a_group_compute_for_themselves() {
        let keys = keys(576, 3);
        let blocks: Vec<u8> = (0..3 * 72).map(|at| at as u8 >> 1).collect();
        let mut powers = vec![0; blocks.len()];
        let mut status = [Status::Done; 3];
        let mut rounds = 0;
        while run(&keys, &blocks, &mut powers, &mut status).is_none() {
            rounds += 1;
            assert!(rounds < 5, "no group forms");
        }
        assert_eq!(status, [Status::Done; 3]);
        for (number, key) in keys.iter().enumerate() {
            let place = 72 * number..72 * (number + 1);
            let public = CpuBackend::auto().prepare_public(key.key().public());
            let (mut back, mut status) = ([0; 72], [Status::Done]);
            let mut runner = public.as_ref().unwrap().runner().unwrap();
            let done = runner.run(&powers[place.clone()], &mut back, &mut status);
            done.unwrap();
            assert_eq!(back[..], blocks[place]);
        }
    }

    #[test]
    fn lengths_in_bits() {
        for (number, len) in [(&[0, 0][..], 0), (&[0, 1, 0], 9), (&[0x80], 8)] {
            assert_eq!(bits(number), len);
        }
    }
}
