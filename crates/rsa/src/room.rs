//! Room for secrets that is used again.

use zeroize::Zeroizing;

/// Room for so many bytes, all zero. Where more room is taken, what was there is wiped.
pub(crate) fn make_room(room: &mut Zeroizing<Vec<u8>>, len: usize) {
    if room.capacity() < len {
        *room = Zeroizing::new(vec![0; len]);
    } else {
        room.clear();
        room.resize(len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_empty_and_kept_while_it_is_large_enough() {
        let mut room = Zeroizing::new(Vec::<u8>::new());
        for len in [3, 100, 100, 7, 0, 90] {
            let (before, capacity) = (room.as_ptr(), room.capacity());
            make_room(&mut room, len);
            assert_eq!(*room, vec![0; len]);
            assert!(len > capacity || room.as_ptr() == before, "{len}");
            room.fill(0xa5);
        }
    }
}
