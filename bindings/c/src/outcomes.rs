//! The outcome of each item of a batch.

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

    /// Of results that each take `len` bytes: those that failed are zeros. There is room for all.
    pub(crate) fn of<T: AsRef<[u8]>, E: Into<Failure>>(
        results: Vec<Result<T, E>>,
        len: usize,
        out: Out<u8>,
        statuses: Out<Status>,
    ) -> Result<(), Failure> {
        let mut outcomes = Outcomes::new(results.len());
        let mut bytes = vec![0; results.len() * len];
        for (item, result) in results.into_iter().enumerate() {
            match result {
                Ok(result) => bytes[item * len..][..len].copy_from_slice(result.as_ref()),
                Err(error) => outcomes.fail(item, error.into()),
            }
        }
        out.put(&bytes);
        outcomes.finish(statuses)
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

    /// Tells the caller, if he wants to know, and says whether all are done. Last of all, for what is done has been
    /// copied by then.
    pub(crate) fn finish(self, out: Out<Status>) -> Result<(), Failure> {
        out.put(&self.statuses);
        match self.first {
            None => Ok(()),
            Some((item, failure)) => Err(Failure::new(Status::Items, format!("item {item}: {}", failure.text))),
        }
    }
}
