//! A buffered reader whose buffer is wiped.

use std::io::{self, BufRead, Read};

use zeroize::Zeroizing;

/// As [`std::io::BufReader`], with a buffer that is wiped on drop: for files in which private keys may be.
///
/// Where a line or a file is read to the end of a vector that has to grow, its parts stay in memory: give it room.
#[derive(Debug)]
pub struct WipedReader<R> {
    inner: R,
    buffer: Zeroizing<Vec<u8>>,
    /// Bytes of the buffer that were taken, and those that were read.
    taken: usize,
    filled: usize,
}

impl<R: Read> WipedReader<R> {
    /// Asks `inner` for `bytes` bytes at once, at least one.
    pub fn new(inner: R, bytes: usize) -> WipedReader<R> {
        WipedReader {
            inner,
            buffer: Zeroizing::new(vec![0; bytes.max(1)]),
            taken: 0,
            filled: 0,
        }
    }
}

impl<R: Read> BufRead for WipedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.filled {
            self.filled = self.inner.read(&mut self.buffer)?;
            self.taken = 0;
        }
        Ok(&self.buffer[self.taken..self.filled])
    }

    fn consume(&mut self, bytes: usize) {
        self.taken = self.filled.min(self.taken + bytes);
    }
}

impl<R: Read> Read for WipedReader<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let bytes = from.len().min(to.len());
        to[..bytes].copy_from_slice(&from[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_bytes_are_those_of_the_source() {
        let text = b"one\n\nthree, which is longer than the buffer\nlast".as_slice();
        for bytes in [1, 4, 5, 100] {
            let mut reader = WipedReader::new(text, bytes);
            let mut line = Vec::new();
            assert_eq!(reader.read_until(b'\n', &mut line).unwrap(), 4);
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).unwrap();
            assert_eq!([line, rest].concat(), text, "{bytes}");
            assert_eq!(reader.read(&mut [0; 3]).unwrap(), 0);
        }
    }

    /// An error is passed on, and what follows it is read.
    #[test]
    fn errors_lose_nothing() {
        struct Interrupted(bool);
        impl Read for Interrupted {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                self.0 = !self.0;
                match self.0 {
                    true => Err(io::ErrorKind::Other.into()),
                    false => {
                        to[0] = b'x';
                        Ok(1)
                    }
                }
            }
        }
        let mut reader = WipedReader::new(Interrupted(false), 8);
        assert!(reader.read(&mut [0]).is_err());
        let mut byte = [0];
        assert_eq!(reader.read(&mut byte).unwrap(), 1);
        assert_eq!(byte, [b'x']);
        assert!(reader.read(&mut [0]).is_err());
    }
}
