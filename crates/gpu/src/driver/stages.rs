//! Page-locked memory through which a queue's copies go.

use super::{Download, DriverError};

/// A piece of memory that a device can copy from and to by itself.
pub(super) trait Pinned {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// The pieces of one queue. One is taken for each copy, and all are free again once the queue is finished.
pub(super) struct Stages<P> {
    pieces: Vec<Piece<P>>,
}

struct Piece<P> {
    memory: P,
    is_taken: bool,
}

impl<P: Pinned> Stages<P> {
    pub(super) fn new() -> Self {
        Stages { pieces: Vec::new() }
    }

    /// Takes a piece of at least so many bytes, a new one if none is free.
    pub(super) fn take(
        &mut self,
        bytes: usize,
        make: impl FnOnce(usize) -> Result<P, DriverError>,
    ) -> Result<usize, DriverError> {
        let fits = |piece: &Piece<P>| !piece.is_taken && piece.memory.bytes().len() >= bytes;
        // The smallest that will do, so that large ones stay for large copies.
        let free = (0..self.pieces.len())
            .filter(|&place| fits(&self.pieces[place]))
            .min_by_key(|&place| self.pieces[place].memory.bytes().len());
        let place = match free {
            Some(place) => place,
            None => {
                let memory = make(bytes.next_power_of_two().max(4096))?;
                self.pieces.push(Piece {
                    memory,
                    is_taken: false,
                });
                self.pieces.len() - 1
            }
        };
        self.pieces[place].is_taken = true;
        Ok(place)
    }

    /// A piece that was taken.
    pub(super) fn piece(&mut self, place: usize) -> &mut P {
        &mut self.pieces[place].memory
    }

    /// The bytes of a download.
    pub(super) fn downloaded(&self, download: &Download) -> &[u8] {
        &self.pieces[download.stage].memory.bytes()[..download.bytes]
    }

    /// The queue is finished: all pieces are free, with what they hold.
    pub(super) fn free_all(&mut self) {
        for piece in &mut self.pieces {
            piece.is_taken = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Pinned for Vec<u8> {
        fn bytes(&self) -> &[u8] {
            self
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            self
        }
    }

    #[test]
    fn pieces_are_taken_once_and_used_again() {
        let mut stages = Stages::new();
        let mut made = 0;
        let mut take = |stages: &mut Stages<Vec<u8>>, bytes: usize| {
            let taken = stages.take(bytes, |bytes| {
                made += 1;
                Ok(vec![0; bytes])
            });
            (taken.unwrap(), made)
        };
        assert_eq!(take(&mut stages, 1), (0, 1));
        assert_eq!(take(&mut stages, 5000), (1, 2));
        assert_eq!(take(&mut stages, 4096), (2, 3));
        stages.free_all();
        // The smallest that will do.
        assert_eq!(take(&mut stages, 4097), (1, 3));
        assert_eq!(take(&mut stages, 10), (0, 3));
        assert_eq!(take(&mut stages, 10), (2, 3));
        assert_eq!(take(&mut stages, 0), (3, 4));
        stages.piece(1).bytes_mut()[..2].copy_from_slice(&[7, 8]);
        stages.free_all();
        let download = Download { stage: 1, bytes: 2 };
        assert_eq!(stages.downloaded(&download), [7, 8]);
    }

    #[test]
    fn no_memory_is_no_piece() {
        let mut stages: Stages<Vec<u8>> = Stages::new();
        let refused = DriverError::OutOfMemory {
            bytes: 9,
            call: "test",
            code: "none".to_owned(),
        };
        assert_eq!(stages.take(9, |_| Err(refused.clone())), Err(refused));
        assert_eq!(stages.take(9, |bytes| Ok(vec![0; bytes])), Ok(0));
    }
}
