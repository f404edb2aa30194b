//! Memory for results, as a caller of the library has it: what lies behind it must stay as it is.

/// Unwritten bytes.
const FRESH: u8 = 0xa5;
/// Bytes behind the room.
const BEHIND: usize = 32;

/// Room for some bytes.
pub(crate) struct Room {
    bytes: Vec<u8>,
    len: usize,
}

impl Room {
    pub(crate) fn new(len: usize) -> Room {
        Room {
            bytes: vec![FRESH; len + BEHIND],
            len,
        }
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of a call that wrote so many.
    pub(crate) fn written(&self, len: usize) -> &[u8] {
        assert!(len <= self.len);
        assert!(self.bytes[len..].iter().all(|&byte| byte == FRESH), "written behind");
        &self.bytes[..len]
    }

    /// Checks that nothing was written.
    pub(crate) fn check_untouched(&self) {
        self.written(0);
    }
}
