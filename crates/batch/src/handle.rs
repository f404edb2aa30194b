//! What everybody who may ask holds on to.

use std::sync::Arc;

use crate::queue::Queue;

/// A queue and its keys. When the last one is gone nobody can ask any more, and workers end.
pub(crate) struct Handle {
    pub(crate) queue: Arc<Queue>,
    /// For each key its size and its place in it.
    pub(crate) keys: Vec<(usize, usize)>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
    }
}
