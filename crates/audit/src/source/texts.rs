//! Lines or cells that are examined together, in one allocation: one for each would take longer than to read it.

use zeroize::Zeroizing;

/// Texts, each with the number of its line. A private key may be among them: they are wiped on drop.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// All of them, one after the other.
    text: Zeroizing<Vec<u8>>,
    /// Of each the number of its line, and where it ends.
    ends: Vec<(usize, usize)>,
}

impl Texts {
    /// With room for so many bytes: growing would leave copies behind.
    pub(super) fn with_room(bytes: usize) -> Texts {
        Texts {
            text: Zeroizing::new(Vec::with_capacity(bytes)),
            ends: Vec::new(),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Each, with the number of its line.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |&(number, end)| {
            let text = &self.text[start..end];
            start = end;
            (number, text)
        })
    }

    /// The bytes, for one who writes another text behind the last one; [`end`](Self::end) ends it.
    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Ends a text, of the line of this number.
    pub(super) fn end(&mut self, number: usize) {
        self.end_at(number, self.text.len());
    }

    /// Ends a text before bytes that were written already.
    pub(super) fn end_at(&mut self, number: usize, end: usize) {
        self.ends.push((number, end));
    }

    /// The texts so far, in no more room than they need; what is here has none of them, and its room still.
    pub(super) fn take(&mut self) -> Texts {
        let taken = Texts {
            text: Zeroizing::new(self.text.to_vec()),
            ends: std::mem::take(&mut self.ends),
        };
        self.text.clear();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_that_were_written() {
        let mut texts = Texts::with_room(8);
        for (number, text) in [(1, "one"), (4, ""), (7, "three")] {
            texts.bytes_mut().extend_from_slice(text.as_bytes());
            texts.end(number);
        }
        let taken = texts.take();
        let all: Vec<(usize, &[u8])> = taken.iter().collect();
        assert_eq!(all, [(1, &b"one"[..]), (4, b""), (7, b"three")]);
        assert_eq!((taken.count(), taken.bytes()), (3, 8));
        assert_eq!((texts.count(), texts.bytes(), texts.iter().count()), (0, 0, 0));
        texts.bytes_mut().push(b'x');
        texts.end(8);
        assert_eq!(texts.take().iter().collect::<Vec<_>>(), [(8, &b"x"[..])]);
    }
}
