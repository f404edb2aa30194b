//! Private operations outside jobs: of threads that ask side by side, together, where openssl.cnf wants that.
//!
//! A pass begins when another has ended, and not beside as many as there are CPUs, even if it is full: BIND's threads
//! were slower so (NOTES.md). There is no thread of our own.

use std::{fmt, sync::Arc, time::Duration};

use once_cell::race::OnceBox;
use rsalab_batch::{Batcher, Error, Key};
use zeroize::Zeroizing;

use crate::failure::Result;

/// Threads that wait at most, as their requests take memory of the reserve; others wait for room.
const MOST_WAITING: usize = 256;

/// How the threads of a library context share passes.
pub(crate) struct Threads {
    /// How long a request waits for a full pass, where it could be computed.
    wait: Duration,
    batcher: Batcher,
    /// For the child of a fork.
    in_child: OnceBox<Threads>,
}

impl Threads {
    pub(crate) fn new(wait: Duration) -> Result<Threads> {
        let mut builder = Batcher::builder().overlap(false).waiting(MOST_WAITING);
        if !wait.is_zero() {
            builder = builder.linger(wait);
        }
        Ok(Threads {
            wait,
            batcher: builder.build()?,
            in_child: OnceBox::new(),
        })
    }

    /// The private operation on a block as long as the modulus.
    ///
    /// # Errors
    ///
    /// If the block is not below the modulus, or the result failed its check.
    pub(crate) fn private(&self, key: &Arc<Key>, block: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        match self.batcher.private_with(key, block) {
            Err(Error::Forked) => {
                let again = || Threads::new(self.wait).map(Box::new);
                self.in_child.get_or_try_init(again)?.private(key, block)
            }
            answer => Ok(answer?),
        }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").field("wait", &self.wait).finish()
    }
}

/// Equal if they wait for as long.
impl PartialEq for Threads {
    fn eq(&self, other: &Threads) -> bool {
        self.wait == other.wait
    }
}

impl Eq for Threads {}
