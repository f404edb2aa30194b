//! The progress of an audit.

use rsalab_audit::{Inventory, Progress};

use crate::{output::Log, progress::Counter};

/// Follows an audit: a bar on a terminal with the time that is left, a line every ten seconds elsewhere.
pub(super) struct Follow {
    log: Log,
    counter: Option<Counter>,
    /// Files are counted; where there is one, its bytes are.
    counts_files: bool,
    is_shared: bool,
}

impl Follow {
    /// Nothing is followed where it is not known how much there is.
    pub(super) fn new(log: Log, inventory: &Inventory) -> Follow {
        let counts_files = inventory.files() > 8;
        let counter = match (inventory.is_open_ended(), counts_files) {
            (true, _) => None,
            (false, true) => Some(Counter::new(log, "file", inventory.files() as u64, 0)),
            (false, false) => Some(Counter::new(log, "byte", inventory.bytes(), 0)),
        };
        Follow {
            log,
            counter,
            counts_files,
            is_shared: false,
        }
    }

    /// Shows how far it is.
    pub(super) fn show(&mut self, progress: Progress) {
        let done = match progress {
            Progress::Keys { files, bytes } => match self.counts_files {
                true => files as u64,
                false => bytes,
            },
            Progress::Shared { moduli, done } => {
                if !self.is_shared {
                    self.finish();
                    self.is_shared = true;
                    self.counter = Some(Counter::new(self.log, "key comparison", moduli as u64, 0));
                }
                (done * moduli as f64) as u64
            }
            _ => return,
        };
        if let Some(counter) = &mut self.counter {
            counter.advance(done);
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&mut self) {
        if let Some(counter) = self.counter.take() {
            counter.finish();
        }
    }
}
