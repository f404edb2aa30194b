//! Blocks of padded messages (FIPS 180-4, section 5.1.1).

/// The bytes that the compression function takes at once.
pub(crate) type Block = [u8; BLOCK];

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// Bytes that padding adds at least: a mark, and the length.
pub(crate) const PADDING: usize = 9;

/// The most lanes that a kernel has.
pub(crate) const MAX_LANES: usize = 16;

/// Blocks of a message of `len` bytes with its padding.
pub(crate) fn blocks(len: usize) -> usize {
    (len + PADDING).div_ceil(BLOCK)
}

/// Two blocks of a lane: room for a short message with its padding, or for one block of a long one.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Room {
    blocks: [Block; 2],
    /// Its content beside a message's bytes.
    content: Content,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Zeros,
    /// The padding of a short message of this length.
    Padding(usize),
    Anything,
}

impl Room {
    pub(crate) const EMPTY: Self = Self {
        blocks: [[0; BLOCK]; 2],
        content: Content::Zeros,
    };

    /// A block: both of a short message, or the only one.
    pub(crate) fn block(&self, number: usize) -> &Block {
        &self.blocks[number]
    }

    /// Writes a short message, which has one block or two, and its padding.
    #[inline(always)]
    pub(crate) fn write_short(&mut self, parts: &[&[u8]], len: usize) {
        let bytes = self.blocks.as_flattened_mut();
        if self.content != Content::Padding(len) {
            if self.content != Content::Zeros {
                bytes.fill(0);
            }
            bytes[len] = 0x80;
            bytes[blocks(len) * BLOCK - 8..][..8].copy_from_slice(&bits(len));
            self.content = Content::Padding(len);
        }
        let mut rest = &mut bytes[..len];
        for part in parts {
            let (to, after) = rest.split_at_mut(part.len());
            copy(part, to);
            rest = after;
        }
    }

    /// Writes block `number` of any message with its padding, as the only one.
    pub(crate) fn write(&mut self, parts: &[&[u8]], len: usize, number: usize) {
        self.content = Content::Anything;
        write(parts, len, number, &mut self.blocks[0]);
    }
}

/// The last eight bytes of a message's padding: its length.
fn bits(len: usize) -> [u8; 8] {
    (8 * len as u64).to_be_bytes()
}

/// Writes block `number` of the padded message that consists of `parts`, of `len` bytes.
pub(crate) fn write(parts: &[&[u8]], len: usize, number: usize, block: &mut Block) {
    let (start, mut at) = (number * BLOCK, 0);
    *block = [0; BLOCK];
    if (start..start + BLOCK).contains(&len) {
        block[len - start] = 0x80;
    }
    if number + 1 == blocks(len) {
        block[BLOCK - 8..].copy_from_slice(&bits(len));
    }
    for part in parts {
        let (from, until) = (start.max(at), (start + BLOCK).min(at + part.len()));
        if from < until {
            copy(&part[from - at..until - at], &mut block[from - start..until - start]);
        }
        at += part.len();
    }
}

/// Copies as many bytes as both have: without a call where they are a digest, or what RSASSA-PSS puts before one.
#[inline(always)]
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    match from.len() {
        8 => to[..8].copy_from_slice(&from[..8]),
        32 => to[..32].copy_from_slice(&from[..32]),
        BLOCK => to[..BLOCK].copy_from_slice(&from[..BLOCK]),
        _ => to.copy_from_slice(from),
    }
}
