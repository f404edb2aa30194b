//! How signatures and ciphertexts are written: as their bytes, or as text that other programs and people hand around.

use base64::{
    Engine,
    alphabet::STANDARD as ALPHABET,
    engine::{
        DecodePaddingMode,
        general_purpose::{GeneralPurpose, GeneralPurposeConfig},
    },
};

use super::per_file::Bytes;
use crate::arguments::Encoding;

/// Base64 of RFC 4648, section 4, with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// More bytes than any signature or ciphertext has, however it is written.
pub(super) const MOST: u64 = 1 << 14;

/// The most bytes that are read of what has `len` bytes: as text it is longer, and may have white space between.
pub(super) fn most(len: usize) -> u64 {
    4 * len as u64 + 64
}

impl Encoding {
    /// As it is typed.
    fn name(self) -> &'static str {
        match self {
            Encoding::Raw => "raw",
            Encoding::Base64 => "base64",
            Encoding::Hex => "hex",
        }
    }

    /// Returns whether it is of bytes that a terminal cannot show.
    pub(super) fn is_binary(self) -> bool {
        self == Encoding::Raw
    }

    /// Bytes as they are written; text has one line.
    pub(super) fn encoded(self, bytes: &[u8]) -> Bytes {
        match self {
            Encoding::Raw => bytes.to_vec(),
            Encoding::Base64 => (BASE64.encode(bytes) + "\n").into_bytes(),
            Encoding::Hex => (hex::encode(bytes) + "\n").into_bytes(),
        }
        .into()
    }

    /// The bytes that were written so. White space in a text means nothing, nor do colons between hexadecimal digits;
    /// base64 may be that of web addresses.
    pub(super) fn decoded(self, written: &[u8]) -> Option<Vec<u8>> {
        let text = || {
            let bytes = written.iter().copied();
            bytes.filter(|byte| !byte.is_ascii_whitespace())
        };
        match self {
            Encoding::Raw => Some(written.to_vec()),
            Encoding::Base64 => {
                let text: Vec<u8> = text()
                    .map(|byte| match byte {
                        b'-' => b'+',
                        b'_' => b'/',
                        byte => byte,
                    })
                    .collect();
                BASE64.decode(text).ok()
            }
            Encoding::Hex => hex::decode(text().filter(|byte| *byte != b':').collect::<Vec<u8>>()).ok(),
        }
    }

    /// The fault of something that should have `len` bytes, written so; none if that is how long it is.
    pub(super) fn fault(self, written: &[u8], len: usize) -> Option<String> {
        let has_len = |encoding: Encoding| {
            let decoded = encoding.decoded(written);
            decoded.is_some_and(|bytes| bytes.len() == len)
        };
        if has_len(self) {
            return None;
        }
        let others = [Encoding::Raw, Encoding::Hex, Encoding::Base64];
        if let Some(other) = others.into_iter().find(|other| has_len(*other)) {
            return Some(match other {
                Encoding::Raw => {
                    format!("it is {len} bytes as they are, and no text: leave out --encoding")
                }
                _ => format!("it is {len} bytes in {0}: add --encoding {0}", other.name()),
            });
        }
        if self == Encoding::Raw && matches!(written.get(len..), Some(b"\n" | b"\r\n")) {
            return Some(format!(
                "a line end follows its {len} bytes, and is not part of it: remove it"
            ));
        }
        Some(match self.decoded(written) {
            None => format!("it is no {}", self.name()),
            Some(bytes) if bytes.len() > len => format!("it is longer than {len} bytes"),
            Some(bytes) => format!("it has {} bytes, and not {len}", bytes.len()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_read_as_it_is_written_and_named_where_another_is_expected() {
        let all = [Encoding::Raw, Encoding::Base64, Encoding::Hex];
        let bytes: Vec<u8> = (0..=255).collect();
        for written_as in all {
            let written = written_as.encoded(&bytes);
            assert_eq!(written_as.decoded(&written).as_ref(), Some(&bytes));
            for read_as in all {
                let fault = read_as.fault(&written, bytes.len());
                match (written_as == read_as, written_as) {
                    (true, _) => assert_eq!(fault, None),
                    (false, Encoding::Raw) => {
                        assert!(fault.expect("another").contains("leave out"))
                    }
                    (false, _) => {
                        let words = format!("add --encoding {}", written_as.name());
                        assert!(fault.expect("another").contains(&words));
                    }
                }
            }
        }
    }

    #[test]
    fn text_is_read_with_what_other_programs_put_into_it() {
        for (encoding, written) in [
            (Encoding::Hex, "FB:EF:be\n"),
            (Encoding::Hex, " fbef be"),
            (Encoding::Base64, "++++\r\n"),
            (Encoding::Base64, "----"),
            (Encoding::Base64, "+ +\n+\n+"),
        ] {
            assert_eq!(encoding.decoded(written.as_bytes()), Some(vec![0xfb, 0xef, 0xbe]));
        }
        assert_eq!(Encoding::Base64.decoded(b"AQ=="), Encoding::Base64.decoded(b"AQ"));
        assert_eq!(Encoding::Hex.decoded(b"0"), None);
        let fault = |written: &[u8], len| Encoding::Raw.fault(written, len);
        assert!(fault(b"abc\r\n", 3).expect("a line end").contains("line end"));
        assert_eq!(fault(b"abcde", 3).as_deref(), Some("it is longer than 3 bytes"));
    }
}
