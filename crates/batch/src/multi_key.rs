//! Several keys of one size made ready together.

use std::{collections::BTreeMap, sync::Arc};

use rsalab_rsa::{Backend, MultiKeyRunner, PreparedMultiKey, PrivateKey, Result, Status};
use self_cell::self_cell;

use crate::sync::Mutex;

/// Runners that are kept: more threads than that make some anew.
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

/// Keys of one size that can share a pass. It does not change: when its keys are to be others, another takes its place,
/// and its copies of them are wiped, with the scratch memory of its runners, after the last pass that uses it.
pub(crate) struct MultiKeyBatch {
    prepared: Arc<dyn PreparedMultiKey>,
    /// The place of each key in `prepared`, by its id.
    places: BTreeMap<u64, usize>,
    idle: Mutex<Vec<Runner>>,
}

impl MultiKeyBatch {
    /// Of keys and their ids, at least one.
    pub(crate) fn new(backend: &dyn Backend, keys: &[PrivateKey], ids: impl Iterator<Item = u64>) -> Result<Self> {
        Ok(MultiKeyBatch {
            prepared: backend.prepare_multi_key(keys)?.into(),
            places: ids.zip(0..).collect(),
            idle: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.places.contains_key(&id)
    }

    pub(crate) fn keys(&self) -> usize {
        self.places.len()
    }

    /// The private operation of each key, by its id, on its block. Panics if one of them is not here.
    pub(crate) fn run(&self, ids: &[u64], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let places: Vec<usize> = ids.iter().map(|id| self.places[id]).collect();
        // In a child of a fork the lock may be held by a thread that only its parent has.
        let kept = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        let mut runner = kept.unwrap_or_else(|| Runner::new(Arc::clone(&self.prepared), |keys| keys.runner()));
        let done = runner.with_dependent_mut(|_, runner| runner.run(&places, inputs, outputs, status));
        // What panicked is not used again.
        if let Ok(mut idle) = self.idle.try_lock()
            && idle.len() < MOST_RUNNERS
        {
            idle.push(runner);
        }
        done
    }
}
