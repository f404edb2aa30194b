//! Values of a page, decoded within its bytes (the format's "Encodings").

/// What is wrong with a page.
#[derive(Debug)]
pub(super) struct Damaged;

/// Numbers in runs of one number, and of many that are packed bit by bit.
#[derive(Debug)]
pub(super) struct Hybrid<'a> {
    rest: &'a [u8],
    width: u32,
    run: Run<'a>,
}

#[derive(Debug)]
enum Run<'a> {
    Same { value: u32, left: u64 },
    Packed { bytes: &'a [u8], bit: usize, left: u64 },
}

impl<'a> Hybrid<'a> {
    /// Numbers of `width` bits, at most 32.
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Result<Self, Damaged> {
        if width > u32::BITS {
            return Err(Damaged);
        }
        Ok(Self {
            rest: bytes,
            width,
            run: Run::Same { value: 0, left: 0 },
        })
    }

    /// The next number.
    pub(super) fn next(&mut self) -> Result<u32, Damaged> {
        loop {
            match &mut self.run {
                Run::Same { value, left } if *left > 0 => {
                    *left -= 1;
                    return Ok(*value);
                }
                Run::Packed { bytes, bit, left } if *left > 0 => {
                    *left -= 1;
                    let (at, width) = (*bit / 8, self.width as usize);
                    // Up to 39 bits, with those that stand before them.
                    let window = bytes.get(at..(*bit + width).div_ceil(8)).ok_or(Damaged)?;
                    let number = window
                        .iter()
                        .rev()
                        .fold(0, |number, &byte| number << 8 | u64::from(byte));
                    let number = number >> (*bit % 8) & ((1 << width) - 1);
                    *bit += width;
                    return u32::try_from(number).map_err(|_| Damaged);
                }
                _ => self.run = self.next_run()?,
            }
        }
    }

    fn next_run(&mut self) -> Result<Run<'a>, Damaged> {
        let header = self.header()?;
        if header & 1 == 1 {
            // So many groups of eight. The last one may be cut.
            let groups = usize::try_from(header >> 1).map_err(|_| Damaged)?;
            let len = groups.saturating_mul(self.width as usize).min(self.rest.len());
            Ok(Run::Packed {
                bytes: self.take(len)?,
                bit: 0,
                left: (header >> 1).saturating_mul(8),
            })
        } else {
            let bytes = self.take(self.width.div_ceil(8) as usize)?;
            Ok(Run::Same {
                value: bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)),
                left: header >> 1,
            })
        }
    }

    /// Seven bits a byte, the lowest first.
    fn header(&mut self) -> Result<u64, Damaged> {
        let mut header = 0;
        for place in 0..9 {
            let byte = self.take(1)?[0];
            header |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(header);
            }
        }
        Err(Damaged)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// How long values are: each says it, or all of them are alike.
#[derive(Clone, Copy, Debug)]
pub(super) enum Len {
    Each,
    All(usize),
}

/// Values one after the other.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    rest: &'a [u8],
    len: Len,
}

impl<'a> Plain<'a> {
    pub(super) fn new(bytes: &'a [u8], len: Len) -> Self {
        Self { rest: bytes, len }
    }

    fn next(&mut self) -> Result<&'a [u8], Damaged> {
        let (len, rest) = match self.len {
            Len::Each => {
                let (len, rest) = self.rest.split_first_chunk().ok_or(Damaged)?;
                (u32::from_le_bytes(*len) as usize, rest)
            }
            Len::All(len) => (len, self.rest),
        };
        let (value, rest) = rest.split_at_checked(len).ok_or(Damaged)?;
        self.rest = rest;
        Ok(value)
    }
}

/// Values that pages have the numbers of.
#[derive(Debug)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// Where in the bytes each of them is.
    places: Vec<(usize, usize)>,
}

impl Dictionary {
    /// So many values.
    pub(super) fn new(bytes: Vec<u8>, len: Len, count: u32) -> Result<Self, Damaged> {
        let mut plain = Plain::new(&bytes, len);
        // No more than there are bytes for: values without any would be as many as the page says.
        let most = bytes.len().min(count as usize);
        let mut places = Vec::new();
        for _ in 0..most {
            let value = plain.next()?;
            let end = bytes.len() - plain.rest.len();
            places.push((end - value.len(), end));
        }
        Ok(Self { bytes, places })
    }

    fn get(&self, number: u32) -> Result<&[u8], Damaged> {
        let &(start, end) = self.places.get(number as usize).ok_or(Damaged)?;
        Ok(&self.bytes[start..end])
    }
}

/// Values of a page, in one of two encodings.
#[derive(Debug)]
pub(super) enum Values<'a> {
    Plain(Plain<'a>),
    Numbers(Hybrid<'a>, &'a Dictionary),
}

/// Cells of a page, some of which may have no value.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    /// Of each cell, how many of the groups that it is in, and itself, are there; and that number where all are. None
    /// where all always are.
    pub(super) levels: Option<(Hybrid<'a>, u32)>,
    pub(super) values: Values<'a>,
}

impl<'a> Cells<'a> {
    /// The next cell.
    pub(super) fn next(&mut self) -> Result<Option<&'a [u8]>, Damaged> {
        if let Some((levels, most)) = &mut self.levels
            && levels.next()? != *most
        {
            return Ok(None);
        }
        match &mut self.values {
            Values::Plain(values) => values.next(),
            Values::Numbers(numbers, dictionary) => dictionary.get(numbers.next()?),
        }
        .map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8], width: u32) -> Vec<u32> {
        let mut hybrid = Hybrid::new(bytes, width).expect("short enough");
        std::iter::from_fn(|| hybrid.next().ok()).collect()
    }

    /// The example of the format's description: 0 to 7 in three bits each; and runs, one after another.
    #[test]
    fn runs_and_packed_numbers_are_read() {
        let packed = [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(numbers(&packed, 3), [0, 1, 2, 3, 4, 5, 6, 7]);
        let runs = [6, 5, 4, 1];
        assert_eq!(numbers(&runs, 3), [5, 5, 5, 1, 1]);
        assert_eq!(numbers(&[runs.as_slice(), &packed].concat(), 3)[3..7], [1, 1, 0, 1]);
        assert_eq!(numbers(&[2, 0x34, 0x12], 13), [0x1234]);
        assert_eq!(
            numbers(&[2, 1, 2, 3, 4, 3, 0xff, 0xff, 0xff, 0xff], 32),
            [0x0403_0201, u32::MAX]
        );
        // Of no bits, as where a dictionary has one value.
        assert_eq!(numbers(&[10], 0), [0; 5]);
        assert_eq!(numbers(&[3], 0), [0; 8]);
    }

    #[test]
    fn what_is_cut_is_damaged() {
        for (bytes, width) in [(&[][..], 3), (&[4], 3), (&[3], 3), (&[0x80], 3), (&[0xff; 20], 1)] {
            let mut hybrid = Hybrid::new(bytes, width).expect("short enough");
            assert!(hybrid.next().is_err(), "{bytes:x?}");
        }
        assert!(Hybrid::new(&[], 33).is_err());
        for (bytes, len) in [
            (&[1, 0, 0][..], Len::Each),
            (&[2, 0, 0, 0, 7], Len::Each),
            (&[0xff, 0xff, 0xff, 0xff, 7], Len::Each),
            (&[7], Len::All(2)),
        ] {
            assert!(Plain::new(bytes, len).next().is_err(), "{bytes:x?}");
        }
        let dictionary = Dictionary::new(b"abcd".to_vec(), Len::All(2), 2).expect("whole");
        assert_eq!(dictionary.get(1).expect("it is there"), b"cd");
        assert!(dictionary.get(2).is_err());
        assert!(Dictionary::new(b"abc".to_vec(), Len::All(2), 2).is_err());
    }
}
