//! What one pass computes with: prepared keys, and the scratch memory of whoever computes.

use std::{collections::BTreeMap, sync::Arc};

use rsalab_rsa::{
    Backend, BlockRunner, MultiKeyRunner, Pooled, Prepared, PreparedMultiKey, PrivateKey, PublicKey, Status,
};
use self_cell::self_cell;
use zeroize::{Zeroize, Zeroizing};

use crate::Error;

/// A key made ready, with the scratch memory and blinding of whoever computes with it alone. Whoever may still ask for
/// an operation of it holds on to it, so does a request; it is wiped when the last one is gone.
pub(crate) struct Key {
    pub(crate) number: usize,
    /// The place of its size in the queue.
    pub(crate) size: usize,
    /// Blocks of a full pass.
    pub(crate) items: usize,
    pub(crate) public: PublicKey,
    pooled: Pooled,
}

impl Key {
    pub(crate) fn new(
        backend: &dyn Backend,
        key: &PrivateKey,
        number: usize,
        size: usize,
        most_items: usize,
    ) -> rsalab_rsa::Result<Self> {
        let pooled = Pooled::new(backend.prepare_private(key)?);
        Ok(Key {
            number,
            size,
            // A private operation fills two lanes, p and q.
            items: pooled.lanes().div_ceil(2).min(most_items),
            public: key.public().clone(),
            pooled,
        })
    }

    pub(crate) fn modulus_len(&self) -> usize {
        self.pooled.modulus_len()
    }

    /// Blocks of this key, straight from and into the buffers of who asks.
    pub(crate) fn run(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        let mut runner = self.pooled.runner().map_err(failed)?;
        runner.run(inputs, outputs, status).map_err(failed)
    }

    /// Whether so many blocks are worth a pass of the widest kernel, and not one by one on the fastest for a few.
    fn fills(&self, items: usize) -> bool {
        self.pooled.kernels_for(items) == [self.pooled.kernel()]
    }
}

/// Several keys of one size made ready for mixed passes. It does not change: when a key is added or removed, another
/// takes its place.
pub(crate) struct Together {
    prepared: Box<dyn PreparedMultiKey>,
    /// The place of each key in `prepared`, by its number.
    places: BTreeMap<usize, usize>,
}

impl Together {
    /// Of keys and their numbers; `None` for fewer than two.
    pub(crate) fn new(backend: &dyn Backend, keys: &[(usize, PrivateKey)]) -> rsalab_rsa::Result<Option<Self>> {
        if keys.len() < 2 {
            return Ok(None);
        }
        let places = keys.iter().enumerate();
        let places = places.map(|(place, (number, _))| (*number, place));
        let keys: Vec<PrivateKey> = keys.iter().map(|(_, key)| key.clone()).collect();
        Ok(Some(Together {
            prepared: backend.prepare_multi_key(&keys)?,
            places: places.collect(),
        }))
    }
}

/// Blocks of one key, one after another, that one request asks for.
pub(crate) struct Blocks {
    pub(crate) key: Arc<Key>,
    pub(crate) bytes: Zeroizing<Vec<u8>>,
}

impl Blocks {
    pub(crate) fn count(&self) -> usize {
        self.bytes.len() / self.key.modulus_len()
    }
}

/// Their results, and what became of each.
pub(crate) struct Answer {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) status: Vec<Status>,
}

type MultiKeyRunnerOf<'keys> = Box<dyn MultiKeyRunner + Send + 'keys>;

self_cell!(
    /// A runner with the keys it borrows.
    struct TogetherRunner {
        owner: Arc<Together>,
        #[not_covariant]
        dependent: MultiKeyRunnerOf,
    }
);

/// Scratch memory for mixed passes of one size, used by one thread at a time.
#[derive(Default)]
pub(crate) struct Scratch {
    together: Option<TogetherRunner>,
    inputs: Zeroizing<Vec<u8>>,
    outputs: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
}

/// What is dropped after keys were added or removed: it has a copy of the keys there were before.
pub(crate) struct Stale(#[expect(dead_code, reason = "it is dropped")] TogetherRunner);

impl Scratch {
    /// Takes out what is not of these keys.
    pub(crate) fn stale(&mut self, together: Option<&Arc<Together>>) -> Option<Stale> {
        let is_of =
            |runner: &mut TogetherRunner| together.is_some_and(|together| Arc::ptr_eq(together, runner.borrow_owner()));
        self.together.take_if(|runner| !is_of(runner)).map(Stale)
    }

    /// Requests of any keys of one size, together.
    pub(crate) fn pass(&mut self, together: Option<&Arc<Together>>, requests: &[Blocks]) -> Result<Vec<Answer>, Error> {
        self.inputs.clear();
        for Blocks { bytes, .. } in requests {
            self.inputs.extend_from_slice(bytes);
        }
        let blocks = requests.iter().map(Blocks::count).sum();
        self.outputs.resize(self.inputs.len(), 0);
        self.status.clear();
        self.status.resize(blocks, Status::Done);
        let done = self.compute(together, requests);
        let (mut at, mut block) = (0, 0);
        let answers = requests.iter().map(|request| {
            let (first, first_block) = (at, block);
            at += request.bytes.len();
            block += request.count();
            Answer {
                bytes: Zeroizing::new(self.outputs[first..at].to_vec()),
                status: self.status[first_block..block].to_vec(),
            }
        });
        let answers = done.map(|()| answers.collect());
        self.inputs.zeroize();
        self.outputs.zeroize();
        answers
    }

    fn compute(&mut self, together: Option<&Arc<Together>>, requests: &[Blocks]) -> Result<(), Error> {
        let first = &requests[0].key;
        let is_mixed = requests.iter().any(|request| request.key.number != first.number);
        if is_mixed
            && let Some(together) = together
            && first.fills(self.status.len())
            && let Some(keys) = places(together, requests)
        {
            drop(self.stale(Some(together)));
            let runner = self
                .together
                .get_or_insert_with(|| TogetherRunner::new(Arc::clone(together), |keys| keys.prepared.runner()));
            let (inputs, outputs, status) = (&self.inputs, &mut self.outputs, &mut self.status);
            return runner
                .with_dependent_mut(|_, runner| runner.run(&keys, inputs, outputs, status))
                .map_err(failed);
        }
        self.by_key(requests)
    }

    /// Runs of requests of one key, one run after another.
    fn by_key(&mut self, requests: &[Blocks]) -> Result<(), Error> {
        let mut inputs = &self.inputs[..];
        let mut outputs = &mut self.outputs[..];
        let mut status = &mut self.status[..];
        for run in requests.chunk_by(|left, right| left.key.number == right.key.number) {
            let count: usize = run.iter().map(Blocks::count).sum();
            let len = count * run[0].key.modulus_len();
            let (input, output, own);
            (input, inputs) = inputs.split_at(len);
            (output, outputs) = outputs.split_at_mut(len);
            (own, status) = status.split_at_mut(count);
            run[0].key.run(input, output, own)?;
        }
        Ok(())
    }
}

/// The place of each block's key; `None` if one was removed, or added since.
fn places(together: &Together, requests: &[Blocks]) -> Option<Vec<usize>> {
    let mut keys = Vec::new();
    for request in requests {
        let place = *together.places.get(&request.key.number)?;
        keys.resize(keys.len() + request.count(), place);
    }
    Some(keys)
}

fn failed(error: rsalab_rsa::Error) -> Error {
    Error::Failed {
        reason: error.to_string(),
    }
}
