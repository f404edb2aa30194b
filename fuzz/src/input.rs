//! Bytes of a stranger as a sequence of choices and values, for targets that make calls of them.

/// The bytes that are left. Where they end, zeros follow: every input is a whole one.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of the bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// A choice among so many.
    pub fn choice(&mut self, of: usize) -> usize {
        usize::from(self.byte()) % of
    }

    /// A number: below 240 in one byte, so that small ones are found soon, and above that in eight, little-endian.
    pub fn number(&mut self) -> u64 {
        match self.byte() {
            small @ ..240 => small.into(),
            _ => {
                let mut little = [0; 8];
                let found = self.take(8);
                little[..found.len()].copy_from_slice(found);
                u64::from_le_bytes(little)
            }
        }
    }

    /// Some bytes: their number, which is one byte or after a 255 two, and these; fewer if there are no more.
    pub fn block(&mut self) -> &'a [u8] {
        match self.byte() {
            255 => {
                let len = usize::from(self.byte()) << 8 | usize::from(self.byte());
                self.take(len)
            }
            len => self.take(len.into()),
        }
    }

    /// The bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, left) = self.0.split_at(len.min(self.0.len()));
        self.0 = left;
        taken
    }
}

/// Some bytes as [`Input::block`] reads them, for seeds.
pub fn block(bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len();
    match len {
        ..255 => [&[len as u8], bytes].concat(),
        _ => [&[255, (len >> 8) as u8, len as u8], bytes].concat(),
    }
}
