//! What one pass computes with: prepared keys, and the scratch memory of whoever computes.

use std::sync::Arc;

use rsalab_rsa::{
    Backend, BlockRunner, MultiKeyRunner, Prepared, PreparedMultiKey, PrivateKey, Status,
};
use self_cell::self_cell;
use zeroize::{Zeroize, Zeroizing};

use crate::Error;

/// Keys of one size, made ready.
pub(crate) struct Size {
    pub(crate) modulus_len: usize,
    /// Blocks of a full pass.
    pub(crate) items: usize,
    singles: Vec<Arc<dyn Prepared>>,
    /// All of them, where there are several.
    together: Option<Arc<dyn PreparedMultiKey>>,
}

impl Size {
    pub(crate) fn new(backend: &dyn Backend, keys: &[PrivateKey]) -> rsalab_rsa::Result<Self> {
        let prepare = |key| backend.prepare_private(key).map(Arc::from);
        let singles: Vec<Arc<dyn Prepared>> = keys.iter().map(prepare).collect::<Result<_, _>>()?;
        Ok(Size {
            modulus_len: singles[0].modulus_len(),
            // A private operation fills two lanes, p and q.
            items: singles[0].lanes().div_ceil(2),
            together: match keys {
                [_] => None,
                _ => Some(backend.prepare_multi_key(keys)?.into()),
            },
            singles,
        })
    }
}

/// Blocks of one key, one after another, that one request asks for.
pub(crate) struct Blocks {
    /// The key's place among those of its size.
    pub(crate) key: usize,
    pub(crate) bytes: Zeroizing<Vec<u8>>,
}

/// Their results, and what became of each.
pub(crate) struct Answer {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    pub(crate) status: Vec<Status>,
}

type RunnerOf<'key> = Box<dyn BlockRunner + Send + 'key>;
type MultiKeyRunnerOf<'keys> = Box<dyn MultiKeyRunner + Send + 'keys>;

self_cell!(
    /// A key's runner with the key it borrows.
    struct Single {
        owner: Arc<dyn Prepared>,
        #[not_covariant]
        dependent: RunnerOf,
    }
);

self_cell!(
    /// The same of all keys of a size.
    struct Together {
        owner: Arc<dyn PreparedMultiKey>,
        #[not_covariant]
        dependent: MultiKeyRunnerOf,
    }
);

/// Scratch memory and blinding for passes of one size, made when they are first needed, used by one thread at a time.
pub(crate) struct Hands {
    singles: Vec<Option<Single>>,
    together: Option<Together>,
    inputs: Zeroizing<Vec<u8>>,
    outputs: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
    /// The key of each block.
    keys: Vec<usize>,
}

impl Hands {
    pub(crate) fn new(size: &Size) -> Self {
        Hands {
            singles: size.singles.iter().map(|_| None).collect(),
            together: None,
            inputs: Zeroizing::default(),
            outputs: Zeroizing::default(),
            status: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// The blocks of one key, straight from and into the buffers of who asks.
    pub(crate) fn alone(
        &mut self,
        size: &Size,
        key: usize,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        let single = match self.singles[key].take() {
            Some(single) => single,
            None => Single::try_new(Arc::clone(&size.singles[key]), |key| key.runner())
                .map_err(failed)?,
        };
        let single = self.singles[key].insert(single);
        single
            .with_dependent_mut(|_, runner| runner.run(inputs, outputs, status))
            .map_err(failed)
    }

    /// Requests of any keys of the size, together.
    pub(crate) fn pass(&mut self, size: &Size, requests: &[Blocks]) -> Result<Vec<Answer>, Error> {
        let k = size.modulus_len;
        self.inputs.clear();
        self.keys.clear();
        for Blocks { key, bytes } in requests {
            self.inputs.extend_from_slice(bytes);
            self.keys.resize(self.keys.len() + bytes.len() / k, *key);
        }
        self.outputs.resize(self.inputs.len(), 0);
        self.status.clear();
        self.status.resize(self.keys.len(), Status::Done);
        let done = self.compute(size);
        let mut at = 0;
        let answers = requests.iter().map(|Blocks { bytes, .. }| {
            let first = at;
            at += bytes.len();
            Answer {
                bytes: Zeroizing::new(self.outputs[first..at].to_vec()),
                status: self.status[first / k..at / k].to_vec(),
            }
        });
        let answers = done.map(|()| answers.collect());
        self.inputs.zeroize();
        self.outputs.zeroize();
        answers
    }

    fn compute(&mut self, size: &Size) -> Result<(), Error> {
        let (inputs, mut outputs) = (
            std::mem::take(&mut self.inputs),
            std::mem::take(&mut self.outputs),
        );
        let (keys, mut status) = (
            std::mem::take(&mut self.keys),
            std::mem::take(&mut self.status),
        );
        let first = keys[0];
        let done = match &size.together {
            Some(together)
                if keys.iter().any(|&key| key != first) && fills(size, first, keys.len()) =>
            {
                let runner = self.together.get_or_insert_with(|| {
                    Together::new(Arc::clone(together), |keys| keys.runner())
                });
                runner
                    .with_dependent_mut(|_, runner| {
                        runner.run(&keys, &inputs, &mut outputs, &mut status)
                    })
                    .map_err(failed)
            }
            _ => self.by_key(size, &keys, &inputs, &mut outputs, &mut status),
        };
        (self.inputs, self.outputs, self.keys, self.status) = (inputs, outputs, keys, status);
        done
    }

    /// Runs of blocks of one key, one run after another.
    fn by_key(
        &mut self,
        size: &Size,
        keys: &[usize],
        mut inputs: &[u8],
        mut outputs: &mut [u8],
        mut status: &mut [Status],
    ) -> Result<(), Error> {
        for keys in keys.chunk_by(|left, right| left == right) {
            let len = keys.len() * size.modulus_len;
            let (input, inputs_left) = inputs.split_at(len);
            let (output, outputs_left) = outputs.split_at_mut(len);
            let (own, status_left) = status.split_at_mut(keys.len());
            self.alone(size, keys[0], input, output, own)?;
            (inputs, outputs, status) = (inputs_left, outputs_left, status_left);
        }
        Ok(())
    }
}

/// Whether so many blocks are worth a pass of the widest kernel, and not one by one on the fastest for a few.
fn fills(size: &Size, key: usize, items: usize) -> bool {
    let single = &size.singles[key];
    single.kernels_for(items) == [single.kernel()]
}

fn failed(error: rsalab_rsa::Error) -> Error {
    Error::Failed {
        reason: error.to_string(),
    }
}
