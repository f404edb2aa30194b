//! Calls with a key for each item: the items of one key are done together, and private keys with few items share the
//! lanes of the CPU with others of their size.

use std::{collections::BTreeMap, sync::Arc};

use pyo3::prelude::*;
use rsalab_rsa::{
    Backend, CpuBackend, Error, PrivateKey, PublicKey, Status,
    format::Purpose,
    random::SystemRng,
    scheme::{EncryptionScheme, SignatureScheme},
};

use crate::{
    batches::{self, Messages},
    errors::raised,
    parallel,
    ready::Ready,
};

/// Items of one key that fill the lanes of a kernel by themselves.
const ENOUGH: usize = 8;
/// Items of one part, at least: each thread makes blinding for the keys of its part.
const PART: usize = 16;

/// A key, and the places of its items.
type Group<'a, K> = (&'a Arc<Ready<K>>, Vec<usize>);

/// The items of each key, the keys in the order in which they come first.
fn by_key<K>(keys: &[Arc<Ready<K>>]) -> Vec<Group<'_, K>> {
    let mut places: BTreeMap<*const Ready<K>, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_, K>> = Vec::new();
    for (item, key) in keys.iter().enumerate() {
        let place = *places.entry(Arc::as_ptr(key)).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(item);
    }
    groups
}

/// The items at these places.
fn chosen<'a>(items: &[&'a [u8]], places: &[usize]) -> Vec<&'a [u8]> {
    places.iter().map(|&place| items[place]).collect()
}

/// The shape that keys of one pass have in common: bits of the modulus, primes, and bits of the longest of them.
fn shape(key: &PrivateKey) -> (usize, usize, usize) {
    let others = key.others().iter().map(|other| &other.r[..]);
    let primes = [key.p(), key.q()].into_iter().chain(others);
    (key.bits(), key.primes(), primes.map(bits).max().unwrap_or(0))
}

/// The length of a number, which is public.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    let top = number.first().map_or(8, |top| top.leading_zeros() as usize);
    (8 * number.len()).saturating_sub(top)
}

/// The signature of each message by its own key.
pub(crate) fn sign(
    py: Python<'_>,
    keys: &[Arc<Ready<PrivateKey>>],
    scheme: SignatureScheme,
    messages: Messages<'_>,
    threads: usize,
) -> PyResult<Vec<Vec<u8>>> {
    batches::check_digests(messages, scheme.hash())?;
    let mut signatures = vec![Vec::new(); keys.len()];
    let mut put = |places: &[usize], made: &[u8], k: usize| {
        for (&place, signature) in places.iter().zip(made.chunks_exact(k)) {
            signatures[place] = signature.to_vec();
        }
    };
    let (many, few): (Vec<_>, Vec<_>) = by_key(keys).into_iter().partition(|(_, places)| places.len() >= ENOUGH);
    let mut by_shape: BTreeMap<_, Vec<Group<'_, PrivateKey>>> = BTreeMap::new();
    for group in few {
        by_shape.entry(shape(&group.0.loaded.key)).or_default().push(group);
    }
    let (alone, together): (Vec<_>, Vec<_>) = by_shape.into_values().partition(|groups| groups.len() == 1);
    for (key, places) in alone.into_iter().flatten().chain(many) {
        let items = &chosen(messages.items, &places)[..];
        let messages = Messages { items, ..messages };
        let made = batches::sign(py, key, scheme, messages, Some(&places), threads)?;
        put(&places, &made, key.loaded.key.modulus_len());
    }
    for groups in together {
        let k = groups[0].0.loaded.key.modulus_len();
        let (places, made) = sign_together(py, &groups, scheme, messages, threads)?;
        put(&places, &made, k);
    }
    Ok(signatures)
}

/// The signatures of keys of one size, with the places of their messages.
fn sign_together(
    py: Python<'_>,
    groups: &[Group<'_, PrivateKey>],
    scheme: SignatureScheme,
    messages: Messages<'_>,
    threads: usize,
) -> PyResult<(Vec<usize>, Vec<u8>)> {
    let first = &groups[0].0.loaded.key;
    let (bits, k, hash) = (first.bits(), first.modulus_len(), scheme.hash());
    for (key, _) in groups {
        key.loaded.check(Purpose::Sign(&scheme)).map_err(raised)?;
    }
    let own: Vec<PrivateKey> = groups.iter().map(|(key, _)| key.loaded.key.clone()).collect();
    let prepared = py
        .detach(|| CpuBackend::auto().prepare_multi_key(&own))
        .map_err(raised)?;
    let of_key = |(key, (_, places)): (usize, &Group<'_, PrivateKey>)| {
        places.iter().map(|&place| (key, place)).collect::<Vec<_>>()
    };
    let items: Vec<(usize, usize)> = groups.iter().enumerate().flat_map(of_key).collect();
    let len = items.len().div_ceil(threads).max(PART);
    let mut signatures = vec![0; items.len() * k];
    let parts = items.chunks(len).zip(signatures.chunks_mut(len * k));
    let prepare = || Ok(prepared.runner());
    parallel::run(py, parts, threads, prepare, |runner, (items, signatures)| {
        let mut encodings = Vec::with_capacity(items.len() * k);
        for &(_, place) in items {
            let message = messages.items[place];
            let encoded = match messages.are_digests {
                true => scheme.encode(bits, message, &mut SystemRng)?,
                false => scheme.encode(bits, &hash.digest(message), &mut SystemRng)?,
            };
            encodings.extend_from_slice(&encoded);
        }
        let keys: Vec<usize> = items.iter().map(|&(key, _)| key).collect();
        let mut status = vec![Status::Done; items.len()];
        runner.run(&keys, &encodings, signatures, &mut status)?;
        match status.iter().position(|status| *status != Status::Done) {
            None => Ok(()),
            Some(item) => Err(Error::Fault { item: items[item].1 }),
        }
    })?;
    Ok((items.into_iter().map(|(_, place)| place).collect(), signatures))
}

/// Returns of each signature if it is its message's, by its own key.
pub(crate) fn verify(
    py: Python<'_>,
    keys: &[Arc<Ready<PublicKey>>],
    scheme: SignatureScheme,
    messages: Messages<'_>,
    signatures: &[&[u8]],
    threads: usize,
) -> PyResult<Vec<bool>> {
    batches::check_digests(messages, scheme.hash())?;
    batches::check_count("signatures", signatures.len(), messages.items.len())?;
    let mut are_valid = vec![false; keys.len()];
    for (key, places) in by_key(keys) {
        let items = &chosen(messages.items, &places)[..];
        let messages = Messages { items, ..messages };
        let verdicts = batches::verify(py, key, scheme, messages, &chosen(signatures, &places), threads)?;
        for (place, is_valid) in places.into_iter().zip(verdicts) {
            are_valid[place] = is_valid;
        }
    }
    Ok(are_valid)
}

/// The ciphertext of each message for its own key.
pub(crate) fn encrypt(
    py: Python<'_>,
    keys: &[Arc<Ready<PublicKey>>],
    scheme: &EncryptionScheme,
    messages: &[&[u8]],
    threads: usize,
) -> PyResult<Vec<Vec<u8>>> {
    let mut ciphertexts = vec![Vec::new(); keys.len()];
    for (key, places) in by_key(keys) {
        let made = batches::encrypt(py, key, scheme, &chosen(messages, &places), Some(&places), threads)?;
        for (place, ciphertext) in places.into_iter().zip(made.chunks_exact(key.loaded.key.modulus_len())) {
            ciphertexts[place] = ciphertext.to_vec();
        }
    }
    Ok(ciphertexts)
}
