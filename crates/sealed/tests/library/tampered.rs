//! Files that were changed: all are refused, and what was released before is a beginning of the message.

use std::{collections::BTreeMap, mem::discriminant};

use rand_core::Rng;
use rsalab_rsa::random::InsecureStudySeed;
use rsalab_sealed::{Error, armor, decrypt, encrypt};

use crate::round_trips::{KEYS, identity, message, recipients, sealed};

/// Bytes of a chunk in a file.
const CHUNK: usize = (64 << 10) + 16;

/// A change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    FlipHeader,
    FlipPayload,
    FlipLastChunk,
    Cut,
    CutChunks,
    Drop,
    SwapChunks,
    RepeatChunk,
    SwapHeaders,
    SwapStanzas,
    Append,
    Join,
    Insert,
}

const CHANGES: [Change; 13] = [
    Change::FlipHeader,
    Change::FlipPayload,
    Change::FlipLastChunk,
    Change::Cut,
    Change::CutChunks,
    Change::Drop,
    Change::SwapChunks,
    Change::RepeatChunk,
    Change::SwapHeaders,
    Change::SwapStanzas,
    Change::Append,
    Change::Join,
    Change::Insert,
];

/// Bytes of the header and the nonce after it.
fn header_len(file: &[u8]) -> usize {
    let mac = file
        .windows(5)
        .position(|line| line == b"\n--- ")
        .expect("it has a header");
    mac + 5 + 43 + 1 + 16
}

fn below(rng: &mut impl Rng, bound: usize) -> usize {
    rng.next_u64() as usize % bound
}

fn flip(file: &mut [u8], rng: &mut impl Rng) {
    let place = below(rng, file.len());
    file[place] ^= 1 << below(rng, 8);
}

/// A changed file, made of one and another of the same owner.
fn changed(change: Change, file: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let header = header_len(file);
    let mut new = file.to_vec();
    let chunks = file[header..].chunks(CHUNK);
    let last = header + (chunks.len() - 1) * CHUNK;
    match change {
        Change::FlipHeader => flip(&mut new[..header], rng),
        Change::FlipPayload => flip(&mut new[header..], rng),
        Change::FlipLastChunk => flip(&mut new[last..], rng),
        Change::Cut => new.truncate(below(rng, file.len())),
        Change::CutChunks => new.truncate(header + below(rng, chunks.len()) * CHUNK),
        Change::Drop => {
            let begin = below(rng, file.len());
            let len = 1 + below(rng, file.len() - begin);
            new.drain(begin..begin + len);
        }
        Change::SwapChunks => {
            let mut chunks: Vec<&[u8]> = chunks.collect();
            let (one, another) = (below(rng, chunks.len()), below(rng, chunks.len()));
            chunks.swap(one, another);
            new = [&file[..header], &chunks.concat()].concat();
        }
        Change::RepeatChunk => {
            let mut chunks: Vec<&[u8]> = chunks.collect();
            let one = below(rng, chunks.len());
            chunks.insert(below(rng, chunks.len() + 1), chunks[one]);
            new = [&file[..header], &chunks.concat()].concat();
        }
        // With the nonce, or without.
        Change::SwapHeaders => {
            let nonce = 16 * below(rng, 2);
            let payload = header_len(other) - nonce;
            new = [&file[..header - nonce], &other[payload..]].concat();
        }
        Change::SwapStanzas => {
            let begin = |file: &[u8]| {
                file.windows(3)
                    .position(|line| line == b"\n->")
                    .expect("it has a stanza")
                    + 1
            };
            let end = |file: &[u8]| file.windows(4).position(|line| line == b"\n---").expect("it has a MAC") + 1;
            let stanzas = &other[begin(other)..end(other)];
            // In its place, before it, or after it.
            let (from, to) = [
                (begin(file), end(file)),
                (begin(file), begin(file)),
                (end(file), end(file)),
            ][below(rng, 3)];
            new.splice(from..to, stanzas.iter().copied());
        }
        Change::Append => {
            let tail = (0..1 + below(rng, 40)).map(|_| rng.next_u32() as u8);
            new.extend(tail);
        }
        Change::Join => {
            let from = [0, header_len(other), last.min(other.len())][below(rng, 3)];
            new.extend(&other[from..]);
        }
        Change::Insert => {
            let place = below(rng, file.len() + 1);
            new.insert(place, rng.next_u32() as u8);
        }
    }
    new
}

/// Changes files of all kinds, so many times in all.
fn all_are_refused(count: usize) {
    let (key, rng) = (&KEYS[0], &mut InsecureStudySeed::new([7; 32]).stream(45));
    let identity = identity(key);
    let lens = [0, 1, 1000, 65_535, 65_536, 65_537, 200_000, 5 * 65_536];
    let messages = lens.map(message);
    let files: Vec<Vec<u8>> = messages.iter().map(|message| sealed(&[key], message, 1)).collect();
    let mut tested = 0;
    let mut kinds = BTreeMap::new();
    while tested < count {
        let (which, other) = (below(rng, files.len()), below(rng, files.len()));
        let change = CHANGES[tested % CHANGES.len()];
        let file = changed(change, &files[which], &files[other], rng);
        // A file that is swapped with itself is whole.
        if files.contains(&file) {
            continue;
        }
        let mut released = Vec::new();
        let refused = decrypt(&identity, &file[..], &mut released, 1 + tested % 3);
        let refused = refused.expect_err(&format!("{change:?} of a message of {} bytes", lens[which]));
        // A file that continues another's header is that one, changed.
        assert!(
            messages.iter().any(|message| message.starts_with(&released)),
            "{change:?}: what was released is of no message"
        );
        assert!(
            released.len() < messages[which].len() || released.is_empty(),
            "{change:?}"
        );
        let is_damage = !matches!(
            refused,
            Error::Read(_) | Error::Write(_) | Error::Rsa(_) | Error::Recipients { .. }
        );
        assert!(is_damage, "{change:?}: {refused}");
        kinds
            .entry(change)
            .or_insert_with(Vec::new)
            .push(discriminant(&refused));
        tested += 1;
    }
    assert_eq!(kinds.len(), CHANGES.len());
}

#[test]
fn changed_files_are_refused() {
    all_are_refused(650);
}

#[test]
#[ignore = "long: make test-all"]
fn ten_thousand_changed_files_are_refused() {
    all_are_refused(10_000);
}

/// Every bit of a whole file.
#[test]
fn every_bit_counts() {
    let key = &KEYS[0];
    let identity = identity(key);
    let file = sealed(&[key], b"a short message", 1);
    for bit in 0..8 * file.len() {
        let mut changed = file.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let mut released = Vec::new();
        assert!(decrypt(&identity, &changed[..], &mut released, 1).is_err(), "bit {bit}");
        assert!(released.is_empty());
    }
    for len in 0..file.len() {
        assert!(decrypt(&identity, &file[..len], Vec::new(), 1).is_err(), "{len} bytes");
    }
}

/// Every bit of a text: what is between its lines may change, what they say may not.
#[test]
fn every_bit_of_a_text_counts_or_says_the_same() {
    let key = &KEYS[0];
    let identity = identity(key);
    let mut writer = armor::Writer::new(Vec::new());
    encrypt(&recipients(&[key]), &b"a short message"[..], &mut writer, 1).expect("there is room");
    let text = writer.finish().expect("there is room");
    let mut same = 0;
    for bit in 0..8 * text.len() {
        let mut changed = text.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let mut released = Vec::new();
        match decrypt(&identity, &changed[..], &mut released, 1) {
            Ok(()) => {
                assert_eq!(released, b"a short message", "bit {bit}");
                same += 1;
            }
            Err(_) => assert!(released.is_empty(), "bit {bit}"),
        }
    }
    assert!(same <= 2, "{same} changes do nothing");
}
