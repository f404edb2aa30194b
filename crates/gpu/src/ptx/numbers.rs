//! Where numbers are while a kernel works on them.

use super::emitter::{Address, Emitter, Word, emit};

/// Numbers in an array: limb j of item i at `[j · stride + i]`.
#[derive(Clone, Copy)]
pub(super) struct Array {
    pub(super) base: Address,
    /// Bytes from a limb to the next.
    pub(super) step: Address,
}

impl Array {
    pub(super) fn load(self, e: &mut Emitter, limbs: usize) -> Vec<Word> {
        let from = e.address();
        emit!(e, "mov.b64", from, self.base);
        let to = e.number(limbs);
        for (place, &limb) in to.iter().enumerate() {
            if place > 0 {
                e.advance(from, self.step);
            }
            e.load_word(limb, from, 0);
        }
        to
    }
}

/// A number whose limbs are read one by one from the lowest, when their turn comes, so that it takes no registers.
pub(super) enum Read {
    Record {
        record: Address,
        place: usize,
    },
    /// In the thread's own memory.
    Own {
        own: Word,
        place: usize,
    },
}

impl Read {
    /// The next limb.
    pub(super) fn next(&mut self, e: &mut Emitter) -> Word {
        match self {
            Read::Record { record, place } => {
                let word = e.word();
                e.load_word(word, *record, 4 * *place);
                *place += 1;
                word
            }
            Read::Own { own, place } => {
                *place += 1;
                e.load_own(*own, *place - 1)
            }
        }
    }

    /// The number in the thread's own memory, where it is brought if it is not there.
    pub(super) fn put_away(&mut self, e: &mut Emitter, limbs: usize) -> Word {
        match *self {
            Read::Own { own, place: 0 } => own,
            _ => {
                let own = e.own_memory(limbs);
                for place in 0..limbs {
                    let limb = self.next(e);
                    e.store_own(own, place, limb);
                }
                own
            }
        }
    }
}

/// Where a modulus is.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// At the beginning of a record.
    Record(Address),
    /// An item's own.
    Array(Array),
}

/// An odd modulus: in registers, or read for each operation anew where there are too few of them.
pub(super) struct Modulus {
    source: Source,
    held: Vec<Word>,
    count: usize,
    /// −1/n mod 2³².
    pub(super) n0: Word,
}

/// The most limbs of a modulus that stays in registers.
const MOST_HELD: usize = 32;

impl Modulus {
    pub(super) fn new(e: &mut Emitter, source: Source, n0: Word, count: usize) -> Self {
        let mut modulus = Modulus {
            source,
            held: Vec::new(),
            count,
            n0,
        };
        if count <= MOST_HELD {
            modulus.held = modulus.limbs(e);
        }
        modulus
    }

    /// So many limbs from `first` on, of a modulus in a record.
    pub(super) fn piece(&self, e: &mut Emitter, first: usize, count: usize) -> Vec<Word> {
        let Source::Record(record) = self.source else {
            unreachable!("candidates are not so long")
        };
        let to = e.number(count);
        for (place, &limb) in to.iter().enumerate() {
            e.load_word(limb, record, 4 * (first + place));
        }
        to
    }

    pub(super) fn limbs(&self, e: &mut Emitter) -> Vec<Word> {
        if !self.held.is_empty() {
            return self.held.clone();
        }
        match self.source {
            Source::Array(array) => array.load(e, self.count),
            Source::Record(record) => {
                let to = e.number(self.count);
                for (place, &limb) in to.iter().enumerate() {
                    e.load_word(limb, record, 4 * place);
                }
                to
            }
        }
    }
}
