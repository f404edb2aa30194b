//! What everybody who may ask holds on to.

use std::sync::Arc;

use rsalab_rsa::{Backend, PublicKey};

use crate::queue::Queue;

/// A queue and its keys. When the last one is gone nobody can ask any more, and workers end.
pub(crate) struct Handle {
    pub(crate) queue: Arc<Queue>,
    pub(crate) keys: Vec<Key>,
    /// What computes, and does by itself what is not batched.
    pub(crate) backend: Box<dyn Backend>,
}

/// A key and where the queue has it.
pub(crate) struct Key {
    pub(crate) public: PublicKey,
    pub(crate) size: usize,
    /// Among the keys of its size.
    pub(crate) place: usize,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
    }
}
