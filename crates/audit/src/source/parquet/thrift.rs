//! Structures in Thrift's compact protocol, in which Parquet keeps what it says of itself: read within their bytes.
//!
//! Each value that is read or left out takes a byte at least, so that nothing takes longer than its bytes.

use super::values::Damaged;

/// Structures in structures.
const DEEPEST: usize = 32;

/// The kind of a value, as the protocol numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    const TRUE: Kind = Kind(1);
    const FALSE: Kind = Kind(2);
    const BYTE: Kind = Kind(3);
    const DOUBLE: Kind = Kind(7);
    const BYTES: Kind = Kind(8);
    const LIST: Kind = Kind(9);
    const SET: Kind = Kind(10);
    const MAP: Kind = Kind(11);
    pub(super) const STRUCT: Kind = Kind(12);
    const UUID: Kind = Kind(13);

    fn is_integer(self) -> bool {
        (4..=6).contains(&self.0)
    }
}

/// Bytes that values are read from.
#[derive(Debug)]
pub(super) struct Thrift<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, depth: 0 }
    }

    /// Bytes that were not read.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The fields of a structure: `each` reads the one of this number, or has it [left out](Self::skip).
    pub(super) fn fields(
        &mut self,
        each: &mut dyn FnMut(i64, Kind, &mut Self) -> Result<(), Damaged>,
    ) -> Result<(), Damaged> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Damaged);
        }
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                self.depth -= 1;
                return Ok(());
            }
            number = match head >> 4 {
                0 => self.zigzag()?,
                more => number + i64::from(more),
            };
            each(number, Kind(head & 15), self)?;
        }
    }

    /// The elements of a list: `each` reads the one of this place, or has it left out.
    pub(super) fn elements(
        &mut self,
        kind: Kind,
        each: &mut dyn FnMut(usize, Kind, &mut Self) -> Result<(), Damaged>,
    ) -> Result<(), Damaged> {
        if kind != Kind::LIST && kind != Kind::SET {
            return Err(Damaged);
        }
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.number()?,
            count => count.into(),
        };
        // Each takes a byte at least.
        let count = usize::try_from(count).ok().filter(|&count| count <= self.rest.len());
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Damaged);
        }
        for place in 0..count.ok_or(Damaged)? {
            each(place, Kind(head & 15), self)?;
        }
        self.depth -= 1;
        Ok(())
    }

    pub(super) fn integer(&mut self, kind: Kind) -> Result<i64, Damaged> {
        if kind.is_integer() { self.zigzag() } else { Err(Damaged) }
    }

    pub(super) fn bytes(&mut self, kind: Kind) -> Result<&'a [u8], Damaged> {
        if kind != Kind::BYTES {
            return Err(Damaged);
        }
        let len = usize::try_from(self.number()?).map_err(|_| Damaged)?;
        self.take(len)
    }

    /// A field that is true or false has no bytes of its own.
    pub(super) fn truth(kind: Kind) -> Result<bool, Damaged> {
        match kind {
            Kind::TRUE => Ok(true),
            Kind::FALSE => Ok(false),
            _ => Err(Damaged),
        }
    }

    /// Leaves out the value of a field.
    pub(super) fn skip(&mut self, kind: Kind) -> Result<(), Damaged> {
        match kind {
            Kind::TRUE | Kind::FALSE => Ok(()),
            kind => self.skip_element(kind),
        }
    }

    /// Leaves out an element, which has a byte where it is true or false.
    fn skip_element(&mut self, kind: Kind) -> Result<(), Damaged> {
        match kind {
            Kind::TRUE | Kind::FALSE | Kind::BYTE => self.take(1).map(drop),
            Kind::DOUBLE => self.take(8).map(drop),
            Kind::UUID => self.take(16).map(drop),
            Kind::BYTES => self.bytes(kind).map(drop),
            Kind::LIST | Kind::SET => self.elements(kind, &mut |_, kind, thrift| thrift.skip_element(kind)),
            Kind::STRUCT => self.fields(&mut |_, kind, thrift| thrift.skip(kind)),
            Kind::MAP => self.skip_map(),
            kind if kind.is_integer() => self.number().map(drop),
            _ => Err(Damaged),
        }
    }

    fn skip_map(&mut self) -> Result<(), Damaged> {
        let count = self.number()?;
        if count == 0 {
            return Ok(());
        }
        let kinds = self.byte()?;
        self.depth += 1;
        if self.depth > DEEPEST || count > self.rest.len() as u64 {
            return Err(Damaged);
        }
        for _ in 0..count {
            self.skip_element(Kind(kinds >> 4))?;
            self.skip_element(Kind(kinds & 15))?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Zigzag: the sign is the lowest bit.
    fn zigzag(&mut self) -> Result<i64, Damaged> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Seven bits a byte, the lowest first.
    fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    fn byte(&mut self) -> Result<u8, Damaged> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Damaged)?;
        self.rest = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_left_out() {
        // 1: true, 2: an integer, 4: bytes, 6: a list of two structures, 7: a map, 40: a double.
        let bytes = [
            &[0x11, 0x15, 0x09, 0x28, 3][..],
            b"abc",
            &[0x29, 0x2c, 0x15, 2, 0, 0, 0x1b, 1, 0x85, 1, b'k', 8, 0x07, 80],
            &[0; 8],
            &[0],
        ]
        .concat();
        let mut thrift = Thrift::new(&bytes);
        let (mut truth, mut integer, mut text, mut count) = (None, 0, &[][..], 0);
        let read = thrift.fields(&mut |number, kind, thrift| match number {
            1 => {
                truth = Some(Thrift::truth(kind)?);
                Ok(())
            }
            2 => thrift.integer(kind).map(|found| integer = found),
            4 => thrift.bytes(kind).map(|found| text = found),
            6 => thrift.elements(kind, &mut |_, kind, thrift| {
                count += 1;
                thrift.skip(kind)
            }),
            _ => thrift.skip(kind),
        });
        assert!(read.is_ok(), "{thrift:?}");
        assert_eq!(
            (truth, integer, text, count, thrift.left()),
            (Some(true), -5, &b"abc"[..], 2, 0)
        );
        for cut in 0..bytes.len() {
            let read = Thrift::new(&bytes[..cut]).fields(&mut |_, kind, thrift| thrift.skip(kind));
            assert!(read.is_err(), "{cut}");
        }
    }

    /// Lists of many elements that take no bytes, and structures that are too deep.
    #[test]
    fn nothing_takes_longer_than_its_bytes() {
        let skip = |bytes: &[u8]| Thrift::new(bytes).fields(&mut |_, kind, thrift| thrift.skip(kind));
        assert!(skip(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0]).is_err());
        assert!(skip(&[0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x11, 0]).is_err());
        assert!(skip(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).is_err());
        assert!(skip(&[0x1c; 1000]).is_err());
        assert!(skip(&[0x19; 1000]).is_err());
        assert!(skip(&[0xff; 1000]).is_err());
    }
}
