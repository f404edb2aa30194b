//! What came of each item of a batch.

use crate::{
    pointer::Out,
    status::{Failure, Status},
};

/// A status for each item, and the first failure in words.
pub(crate) struct Outcomes {
    statuses: Vec<Status>,
    first: Option<(usize, Failure)>,
}

impl Outcomes {
    /// Every item is done until it fails.
    pub(crate) fn new(count: usize) -> Self {
        Outcomes {
            statuses: vec![Status::Ok; count],
            first: None,
        }
    }

    pub(crate) fn fail(&mut self, item: usize, failure: Failure) {
        self.statuses[item] = failure.status;
        if self.first.as_ref().is_none_or(|(first, _)| item < *first) {
            self.first = Some((item, failure));
        }
    }

    pub(crate) fn is_ok(&self, item: usize) -> bool {
        self.statuses[item] == Status::Ok
    }

    /// Tells the caller, if he wants to know, and says whether all are done. Last of all, for what is done has been copied by then.
    pub(crate) fn finish(self, out: Out<Status>) -> Result<(), Failure> {
        out.put(&self.statuses);
        match self.first {
            None => Ok(()),
            Some((item, failure)) => Err(Failure::new(
                Status::Items,
                format!("item {item}: {}", failure.text),
            )),
        }
    }
}
