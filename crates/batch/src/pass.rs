//! One pass: requests of one size, of one key or of several.

use std::sync::Arc;

use rsalab_rsa::Status;
use zeroize::Zeroizing;

use crate::{
    Error,
    keys::{Key, guarded},
};

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

pub(crate) type Outcome = Result<Answer, Error>;

/// Computes requests of one size, those of one key one after another.
pub(crate) fn compute(requests: &[Blocks]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let done = guarded(|| {
        outcomes = by_group_and_key(requests);
        Ok(())
    });
    match done {
        Ok(()) => outcomes,
        Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// Keys that are ready for it share a pass, where that is faster; what does not fill one is computed key by key.
fn by_group_and_key(requests: &[Blocks]) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(requests.len());
    let mut rest = requests;
    if let Some(shared) = shared(requests) {
        rest = &requests[shared.len()..];
        outcomes.extend(shared);
    }
    for own in rest.chunk_by(|one, other| one.key.id == other.key.id) {
        let ran = run(own, |inputs, outputs, status| own[0].key.run(inputs, outputs, status));
        outcomes.extend(ran);
    }
    outcomes
}

/// Answers to those of these requests, from the first on, that keys share a pass for.
fn shared(requests: &[Blocks]) -> Option<Vec<Outcome>> {
    let [first, .., last] = requests else { return None };
    if first.key.id == last.key.id {
        return None;
    }
    // What is left over after whole passes may be faster one by one.
    let fills = |&requests_of: &usize| first.key.fills(blocks(&requests[..requests_of]));
    let requests = &requests[..(2..=requests.len()).rev().find(fills)?];
    let store = &first.key.store;
    let keys: Vec<&Arc<Key>> = requests.iter().map(|request| &request.key).collect();
    let group = store.groups.group(first.key.shape, &keys)?;
    let ids = requests
        .iter()
        .flat_map(|request| std::iter::repeat_n(request.key.id, request.count()))
        .collect::<Vec<_>>();
    store.passes.count(ids.len());
    Some(run(requests, |inputs, outputs, status| {
        group.run(&ids, inputs, outputs, status).map_err(Error::failed)
    }))
}

fn blocks(requests: &[Blocks]) -> usize {
    requests.iter().map(Blocks::count).sum()
}

/// Requests whose blocks are computed by one call.
fn run(
    requests: &[Blocks],
    compute: impl FnOnce(&[u8], &mut [u8], &mut [Status]) -> Result<(), Error>,
) -> Vec<Outcome> {
    let mut inputs = Zeroizing::new(Vec::with_capacity(
        requests.iter().map(|request| request.bytes.len()).sum(),
    ));
    for request in requests {
        inputs.extend_from_slice(&request.bytes);
    }
    let mut outputs = Zeroizing::new(vec![0; inputs.len()]);
    let mut status = vec![Status::Done; blocks(requests)];
    let done = compute(&inputs, &mut outputs, &mut status);
    let (mut outputs, mut status) = (&outputs[..], &status[..]);
    let answers = requests.iter().map(|request| {
        let (own, own_status);
        (own, outputs) = outputs.split_at(request.bytes.len());
        (own_status, status) = status.split_at(request.count());
        done.clone().map(|()| Answer {
            bytes: Zeroizing::new(own.to_vec()),
            status: own_status.to_vec(),
        })
    });
    answers.collect()
}
