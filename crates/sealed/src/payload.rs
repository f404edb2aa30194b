//! The payload: chunks of 64 KiB, each under ChaCha20-Poly1305 with its number as the nonce (STREAM).
//!
//! ```text
//! payload = nonce (16 bytes), chunk 0, chunk 1, …, last chunk
//! chunk i = ChaCha20-Poly1305(HKDF(file key, nonce, "payload"), nonce: i in 11 bytes, then 1 for the last chunk, else 0)
//! ```
//!
//! All chunks but the last have 64 KiB; the last has fewer or as many, and is empty for an empty message alone. So a
//! chunk that was moved, left out, repeated or added fails, and a file that was cut lacks its last chunk.

use std::io::{self, Read};

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, Key, KeyInit, Nonce};
use zeroize::Zeroizing;

use crate::{Error, Result};

/// Bytes of a message in a chunk.
pub(crate) const CHUNK: usize = 64 << 10;
/// Bytes that a chunk gets by encryption.
pub(crate) const TAG: usize = 16;
/// Bytes of a payload's nonce.
pub(crate) const NONCE: usize = 16;

/// Chunks that a thread takes at once: they fit the cache next to a core.
pub(crate) const GROUP: usize = 4;

const SLOT: usize = CHUNK + TAG;

/// Encryption or decryption of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// The cipher of a payload.
pub(crate) struct Cipher {
    aead: ChaCha20Poly1305,
    direction: Direction,
}

/// Chunks in a row, as they are read, and then what became of them. Wiped on drop.
pub(crate) struct Group {
    slots: Zeroizing<Vec<u8>>,
    /// Bytes in each slot.
    lens: [usize; GROUP],
    chunks: usize,
    /// The number of the group.
    pub(crate) index: u64,
    /// `true` if the last chunk of it is the last of all.
    is_last: bool,
}

/// Where chunks come from.
pub(crate) struct Source<R> {
    reader: R,
    /// A byte that was read to find out whether the chunk before it is the last.
    ahead: Option<u8>,
    groups: u64,
    is_at_end: bool,
    unit: usize,
}

impl Cipher {
    pub(crate) fn new(key: &Zeroizing<[u8; 32]>, direction: Direction) -> Cipher {
        Cipher {
            aead: ChaCha20Poly1305::new(<&Key>::from(&**key)),
            direction,
        }
    }

    pub(crate) fn source<R: Read>(&self, reader: R) -> Source<R> {
        Source {
            reader,
            ahead: None,
            groups: 0,
            is_at_end: false,
            unit: match self.direction {
                Direction::Encrypt => CHUNK,
                Direction::Decrypt => SLOT,
            },
        }
    }

    /// Encrypts or decrypts a group where it lies. If a chunk is wrong, those before it are left.
    pub(crate) fn apply(&self, group: &mut Group) -> Result<()> {
        for chunk in 0..group.chunks {
            let is_last = group.is_last && chunk + 1 == group.chunks;
            let number = group.index * GROUP as u64 + chunk as u64;
            let slot = &mut group.slots[chunk * SLOT..][..SLOT];
            let applied = match self.direction {
                Direction::Encrypt => self.encrypt(number, is_last, slot, group.lens[chunk]),
                Direction::Decrypt => self.decrypt(number, is_last, slot, group.lens[chunk]),
            };
            match applied {
                Some(len) => group.lens[chunk] = len,
                None => {
                    group.chunks = chunk;
                    return Err(Error::Payload);
                }
            }
        }
        Ok(())
    }

    fn encrypt(&self, number: u64, is_last: bool, slot: &mut [u8], len: usize) -> Option<usize> {
        let (message, rest) = slot.split_at_mut(len);
        let tag = self
            .aead
            .encrypt_inout_detached(&nonce(number, is_last), &[], message.into())
            .ok()?;
        rest[..TAG].copy_from_slice(&tag);
        Some(len + TAG)
    }

    fn decrypt(&self, number: u64, is_last: bool, slot: &mut [u8], len: usize) -> Option<usize> {
        let len = len.checked_sub(TAG)?;
        if len == 0 && number > 0 {
            return None;
        }
        let (message, rest) = slot.split_at_mut(len);
        let tag = rest[..TAG].try_into().expect("the slot has room for it");
        self.aead
            .decrypt_inout_detached(&nonce(number, is_last), &[], message.into(), &tag)
            .ok()?;
        Some(len)
    }
}

fn nonce(number: u64, is_last: bool) -> Nonce {
    let mut nonce = Nonce::default();
    nonce[3..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = u8::from(is_last);
    nonce
}

impl Group {
    pub(crate) fn new() -> Group {
        Group {
            slots: Zeroizing::new(vec![0; GROUP * SLOT]),
            lens: [0; GROUP],
            chunks: 0,
            index: 0,
            is_last: false,
        }
    }

    /// The content of the slots, in order.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let slots = self.slots.chunks(SLOT).zip(self.lens).take(self.chunks);
        slots.map(|(slot, len)| &slot[..len])
    }
}

impl<R: Read> Source<R> {
    /// Reads the next group; none after the last chunk. An error belongs to the group, too, whose number is set.
    pub(crate) fn fill(&mut self, group: &mut Group) -> Option<io::Result<()>> {
        if self.is_at_end {
            return None;
        }
        group.index = self.groups;
        self.groups += 1;
        group.chunks = 0;
        group.is_last = false;
        let filled = self.fill_slots(group);
        if filled.is_err() {
            group.chunks = 0;
            self.is_at_end = true;
        }
        Some(filled)
    }

    fn fill_slots(&mut self, group: &mut Group) -> io::Result<()> {
        for slot in group.slots.chunks_mut(SLOT) {
            let len = self.read(&mut slot[..self.unit])?;
            // A message without a byte has a chunk, too; elsewhere nothing more shows that the chunk before was the
            // last.
            if len > 0 || (group.index, group.chunks) == (0, 0) {
                group.lens[group.chunks] = len;
                group.chunks += 1;
            }
            if len < self.unit {
                return self.end(group);
            }
        }
        let mut next = [0];
        match self.read(&mut next)? {
            0 => self.end(group),
            _ => {
                self.ahead = Some(next[0]);
                Ok(())
            }
        }
    }

    fn end(&mut self, group: &mut Group) -> io::Result<()> {
        group.is_last = true;
        self.is_at_end = true;
        Ok(())
    }

    /// As many bytes as there are, or as there is room for.
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut len = 0;
        if let Some(byte) = self.ahead.take() {
            room[0] = byte;
            len = 1;
        }
        while len < room.len() {
            match self.reader.read(&mut room[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(len)
    }
}
