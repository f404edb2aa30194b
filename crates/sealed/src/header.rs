//! The header of a file: lines of text, to the letter of age's specification.
//!
//! ```text
//! header = "age-encryption.org/v1" LF *stanza "---" SP base64(MAC) LF
//! stanza = "->" 1*(SP argument) LF *(64 characters of base64 LF) (fewer than 64 of them) LF
//! ```
//!
//! Base64 is that of RFC 4648, section 4, without padding, and canonical. The MAC covers all that is before it, `---`
//! included, as it was read.

use std::io::{BufRead, Read};

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD as BASE64};
use hmac::Mac;
use rsalab_rsa::random::SystemRng;

use crate::{
    Error, Result,
    derive::{FileKey, header_key, mac},
};

/// The longest header, of thousands of recipients: it lies in memory, and strangers may have made it.
pub const MOST_HEADER: usize = 4 << 20;

/// The first line.
pub(crate) const VERSION: &str = "age-encryption.org/v1";

/// Characters of base64 on a line.
const COLUMNS: usize = 64;

/// The file's key, encrypted for one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stanza {
    pub(crate) kind: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// A header, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) stanzas: Vec<Stanza>,
    /// All that the MAC covers.
    covered: Vec<u8>,
    mac: [u8; 32],
}

impl Header {
    /// A new header.
    pub(crate) fn new(stanzas: Vec<Stanza>, file_key: &FileKey) -> Result<Header> {
        let mut covered = format!("{VERSION}\n");
        for stanza in &stanzas {
            write_stanza(&mut covered, stanza);
        }
        covered.push_str("---");
        let mac = mac(&header_key(file_key)[..], &[covered.as_bytes()]);
        let header = Header {
            stanzas,
            covered: covered.into_bytes(),
            mac: mac.finalize().into_bytes().into(),
        };
        if header.len() > MOST_HEADER {
            let reason = "these are more recipients than a header takes, which has 4 MiB at most";
            return Err(Error::Recipients { reason });
        }
        Ok(header)
    }

    /// As it is written.
    pub(crate) fn written(&self) -> Vec<u8> {
        let mut bytes = self.covered.clone();
        bytes.extend(format!(" {}\n", BASE64.encode(self.mac)).as_bytes());
        bytes
    }

    /// Bytes that it takes in a file.
    pub(crate) fn len(&self) -> usize {
        // A space, 32 bytes in base64, and the line's end.
        self.covered.len() + 1 + 43 + 1
    }

    /// Returns whether the MAC is one by the key, in constant time.
    pub(crate) fn is_by(&self, file_key: &FileKey) -> bool {
        mac(&header_key(file_key)[..], &[&self.covered])
            .verify_slice(&self.mac)
            .is_ok()
    }

    /// Reads a header, and nothing after it.
    pub(crate) fn read(source: &mut impl BufRead) -> Result<Header> {
        let mut lines = Lines {
            source,
            bytes: Vec::new(),
        };
        if lines.next()? != VERSION {
            return Err(refused("its first line names another format, or a later version"));
        }
        let mut stanzas = Vec::new();
        loop {
            let line = lines.next()?;
            if let Some(rest) = line.strip_prefix("---") {
                let mac = rest.strip_prefix(' ').map(|mac| BASE64.decode(mac));
                let Some(Ok(Ok(mac))) = mac.map(|decoded| decoded.map(<[u8; 32]>::try_from)) else {
                    return Err(refused("its last line is no MAC"));
                };
                let end = lines.bytes.len() - line.len() - 1;
                lines.bytes.truncate(end + "---".len());
                return Ok(Header {
                    stanzas,
                    covered: lines.bytes,
                    mac,
                });
            }
            stanzas.push(read_stanza(&line, &mut lines)?);
        }
    }
}

/// A file's key that nobody has.
pub(crate) fn new_file_key() -> Result<FileKey> {
    let mut key = FileKey::default();
    fill(&mut key[..])?;
    Ok(key)
}

/// Fills bytes from the operating system's generator.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    use rand_core::TryRng;
    let filled = SystemRng.try_fill_bytes(bytes);
    filled.map_err(|error| {
        Error::Rsa(rsalab_rsa::Error::Randomness {
            reason: error.to_string(),
        })
    })
}

fn write_stanza(text: &mut String, stanza: &Stanza) {
    text.push_str("-> ");
    text.push_str(&stanza.kind);
    for argument in &stanza.arguments {
        text.push(' ');
        text.push_str(argument);
    }
    text.push('\n');
    let body = BASE64.encode(&stanza.body);
    let mut rest = body.as_str();
    // The last line is shorter than the others, and may be empty.
    while rest.len() >= COLUMNS {
        let (line, after) = rest.split_at(COLUMNS);
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str(rest);
    text.push('\n');
}

fn read_stanza(first: &str, lines: &mut Lines<'_, impl BufRead>) -> Result<Stanza> {
    let arguments = first
        .strip_prefix("-> ")
        .ok_or_else(|| refused("a line neither begins a recipient nor ends the header"))?;
    let mut words = arguments.split(' ').map(|word| {
        let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
        match is_word {
            true => Ok(word.to_owned()),
            false => Err(refused("a recipient's first line is not words with a space between")),
        }
    });
    let kind = words.next().expect("a split has one part at least")?;
    let arguments = words.collect::<Result<_>>()?;
    let mut body = Vec::new();
    loop {
        let line = lines.next()?;
        if line.len() > COLUMNS {
            return Err(refused("a recipient's line is too long"));
        }
        let bytes = BASE64.decode(&line);
        body.extend(bytes.map_err(|_| refused("a recipient's line is no canonical base64"))?);
        if line.len() < COLUMNS {
            return Ok(Stanza { kind, arguments, body });
        }
    }
}

/// Lines of a header, and all bytes of them.
struct Lines<'a, R> {
    source: &'a mut R,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<'_, R> {
    /// The next line, without its end.
    fn next(&mut self) -> Result<String> {
        let begin = self.bytes.len();
        let most = (MOST_HEADER + 1 - begin) as u64;
        Read::take(&mut *self.source, most)
            .read_until(b'\n', &mut self.bytes)
            .map_err(Error::read)?;
        if self.bytes.len() > MOST_HEADER {
            return Err(refused("it is longer than 4 MiB"));
        }
        let line = self.bytes[begin..].strip_suffix(b"\n");
        let line = line.ok_or_else(|| refused("it is cut"))?;
        let text = std::str::from_utf8(line).ok().filter(|text| text.is_ascii());
        text.map(str::to_owned)
            .ok_or_else(|| refused("a line is no ASCII text"))
    }
}

fn refused(reason: &'static str) -> Error {
    Error::Header { reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

    /// Headers, and what is nearly one: the last line of a body is canonical base64 or any text, and so is the MAC.
    const HEADERS: &str = concat!(
        "age-encryption\\.org/v1\n",
        "(-> [ -~]{0,9}\n",
        "([A-Za-z0-9+/]{64}\n){0,2}",
        "(([A-Za-z0-9+/]{4}){0,3}([A-Za-z0-9+/][AQgw]|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048])?|[ -~]{0,5})\n",
        "){0,3}",
        "(--- ([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]|.*)\n)?",
    );

    fn stanza() -> impl Strategy<Value = Stanza> {
        let word = "[!-~]{1,20}";
        let arguments = prop::collection::vec(word, 0..4);
        let body = prop::collection::vec(any::<u8>(), 0..200);
        (word, arguments, body).prop_map(|(kind, arguments, body)| Stanza { kind, arguments, body })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(stanzas in prop::collection::vec(stanza(), 0..5), rest in any::<[u8; 3]>()) {
            let key = new_file_key().expect("there is randomness");
            let header = Header::new(stanzas, &key).expect("it is short");
            let mut bytes = header.written();
            prop_assert_eq!(bytes.len(), header.len());
            bytes.extend(rest);
            let mut source = &bytes[..];
            let read = Header::read(&mut source).expect("it was written just now");
            prop_assert!(read.is_by(&key));
            prop_assert_eq!(&read, &header);
            prop_assert_eq!(source, &rest[..]);
            prop_assert_eq!(read.written(), header.written());
            prop_assert!(!read.is_by(&new_file_key().expect("there is randomness")));
        }

        #[test]
        fn nothing_that_is_read_panics(bytes in HEADERS) {
            if let Ok(header) = Header::read(&mut bytes.as_bytes()) {
                prop_assert_eq!(header.written(), &bytes.as_bytes()[..header.len()]);
            }
        }
    }

    /// Of what the property above is made with, so that it cannot pass with refusals alone.
    #[test]
    fn many_of_those_headers_are_read_and_some_have_bodies() {
        let mut runner = TestRunner::deterministic();
        let mut read = Vec::new();
        for _ in 0..1000 {
            let text = HEADERS.new_tree(&mut runner).expect("it is a pattern").current();
            read.extend(Header::read(&mut text.as_bytes()));
        }
        let has_body = |header: &&Header| header.stanzas.iter().any(|stanza| !stanza.body.is_empty());
        let with_bodies = read.iter().filter(has_body).count();
        assert!(read.len() > 20 && with_bodies > 5, "{} {with_bodies}", read.len());
    }

    #[test]
    fn a_header_without_an_end_is_not_read_for_ever() {
        let endless = std::io::repeat(b'a');
        let refused = Header::read(&mut std::io::BufReader::new(endless)).expect_err("it has no end");
        assert!(refused.to_string().contains("4 MiB"), "{refused}");
        let begin = format!("{VERSION}\n").into_bytes();
        let stanzas = b"-> x\n\n".repeat(1 << 20);
        let mut source = std::io::Read::chain(&begin[..], &stanzas[..]);
        assert!(Header::read(&mut source).is_err());
    }
}
