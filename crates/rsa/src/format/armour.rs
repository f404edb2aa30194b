//! PEM (RFC 7468): bytes as base64 between a line of BEGIN and a line of END. White space around lines and in the
//! base64 is passed over, and so is text before, between and after the blocks.

use std::mem;

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::{
    annotations::Annotations,
    base64::from_base64,
    content::{Content, Opened},
    refusal::{NO_LABEL, OPENPGP_TEXT, PKCS7, REVOKED, not_rsa, refused, unsupported},
    structure::{REQUEST, is_request, structure},
};
use crate::{Error, Result};

pub(super) const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// Kinds of blocks, by their labels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Key(Content),
    Ec,
    Dsa,
    Parameters,
    TrustedCertificate,
    Request,
    Revoked,
    Pkcs7,
    /// A key of OpenPGP.
    OpenPgp,
    /// A message, or a signature, of OpenPGP.
    OpenPgpText,
}

impl Kind {
    fn is_openpgp(self) -> bool {
        matches!(self, Kind::OpenPgp | Kind::OpenPgpText)
    }
}

/// The labels that have a meaning here.
const LABELS: [(&str, Kind); 26] = [
    ("RSA PRIVATE KEY", Kind::Key(Content::Pkcs1Private)),
    ("RSA PUBLIC KEY", Kind::Key(Content::Pkcs1Public)),
    ("PRIVATE KEY", Kind::Key(Content::Pkcs8)),
    ("PUBLIC KEY", Kind::Key(Content::Spki)),
    ("ENCRYPTED PRIVATE KEY", Kind::Key(Content::EncryptedPkcs8)),
    ("OPENSSH PRIVATE KEY", Kind::Key(Content::OpensshPrivate)),
    ("CERTIFICATE", Kind::Key(Content::Certificate)),
    ("X509 CERTIFICATE", Kind::Key(Content::Certificate)),
    ("EC PRIVATE KEY", Kind::Ec),
    ("DSA PRIVATE KEY", Kind::Dsa),
    ("EC PARAMETERS", Kind::Parameters),
    ("DSA PARAMETERS", Kind::Parameters),
    ("DH PARAMETERS", Kind::Parameters),
    ("X9.42 DH PARAMETERS", Kind::Parameters),
    ("TRUSTED CERTIFICATE", Kind::TrustedCertificate),
    ("CERTIFICATE REQUEST", Kind::Request),
    ("NEW CERTIFICATE REQUEST", Kind::Request),
    ("X509 CRL", Kind::Revoked),
    ("PKCS7", Kind::Pkcs7),
    ("PKCS #7 SIGNED DATA", Kind::Pkcs7),
    ("CMS", Kind::Pkcs7),
    ("PGP PUBLIC KEY BLOCK", Kind::OpenPgp),
    ("PGP PRIVATE KEY BLOCK", Kind::OpenPgp),
    ("PGP MESSAGE", Kind::OpenPgpText),
    ("PGP SIGNATURE", Kind::OpenPgpText),
    ("PGP SIGNED MESSAGE", Kind::OpenPgpText),
];

/// A label that has a meaning.
type Label = (&'static str, Kind);

/// A block, from the line after BEGIN to END.
struct Block<'a> {
    /// None if the label is not known.
    label: Option<Label>,
    body: &'a [u8],
    /// The mark of a key that was made from a seed stands between the block before and this one.
    is_insecure: bool,
}

/// Opens the key of a text with PEM in it.
pub(super) fn open(text: &[u8]) -> Result<Opened> {
    let blocks = blocks(text)?;
    let block = only_key(&blocks)?;
    let (content, body) = opened(block)?;
    Ok(Opened {
        content,
        body,
        is_insecure: block.is_insecure,
    })
}

/// Opens every block of a text with PEM in it, in their order, requests for certificates too. One that is damaged does
/// not stand in the way of the others.
pub(super) fn open_each(text: &[u8]) -> Vec<Result<Opened>> {
    let (mut opened_ones, mut at, mut is_insecure) = (Vec::new(), 0, false);
    while let Some(begin) = find(&text[at..], BEGIN).map(|place| at + place) {
        // Once a block, or what stands before many would be looked at as often.
        is_insecure |= Annotations::has_mark(&text[at..begin]);
        let found = match is_blank(line_before(text, begin)) {
            true => block(text, begin, mem::take(&mut is_insecure)),
            false => Err(behind_something(text, begin)),
        };
        at = match &found {
            Ok((_, end)) => *end,
            Err(_) => begin + line_from(text, begin).len(),
        };
        opened_ones.push(found.and_then(|(block, _)| {
            let (content, body) = match block.label {
                Some((_, Kind::Request)) => request(block.body)?,
                _ => opened(&block)?,
            };
            Ok(Opened {
                content,
                body,
                is_insecure: block.is_insecure,
            })
        }));
    }
    opened_ones
}

/// The request for a certificate in a body.
fn request(body: &[u8]) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    let der = decoded(body)?;
    match is_request(&der) {
        true => Ok((Content::Request, der)),
        false => Err(refused(
            "this file is labelled CERTIFICATE REQUEST, but holds something else",
        )),
    }
}

/// The key of a block.
fn opened(block: &Block<'_>) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    let (label, kind) = block.label.ok_or_else(|| refused(NO_LABEL))?;
    let content = expected(kind)?;
    if has_headers(block.body) {
        // Only PKCS#1 has them: PKCS#8 has an encryption of its own.
        return match content {
            Content::Pkcs1Private => Ok((Content::EncryptedPkcs1, Zeroizing::new(block.body.to_vec()))),
            _ => Err(unsupported(format!(
                "this file labelled {label} is encrypted by the headers of RFC 1421, which rsalab reads of RSA PRIVATE KEY alone"
            ))),
        };
    }
    let der = decoded(block.body)?;
    if content == Content::OpensshPrivate {
        return Ok((content, in_lines(label, &der)));
    }
    let found = structure(&der)?;
    if found != content {
        return Err(refused(format!(
            "this file is labelled {label}, but holds {}",
            found.name()
        )));
    }
    Ok((found, der))
}

/// The content that a label promises.
fn expected(kind: Kind) -> Result<Content> {
    Err(match kind {
        Kind::Key(content) => return Ok(content),
        Kind::Ec => not_rsa("EC"),
        Kind::Dsa => not_rsa("DSA"),
        Kind::Parameters => unsupported(
            "this file holds parameters of EC, DSA or DH, which are no key; rsalab works with RSA keys only",
        ),
        Kind::TrustedCertificate => {
            refused("this is a certificate with OpenSSL's own remarks; leave them out with `openssl x509 -in FILE`")
        }
        Kind::Request => refused(format!(
            "{REQUEST}; take the public key out of it with `openssl req -in FILE -pubkey -noout`"
        )),
        Kind::Revoked => refused(REVOKED),
        Kind::Pkcs7 => refused(format!(
            "{PKCS7}; take its certificates out of it with `openssl pkcs7 -in FILE -print_certs`"
        )),
        Kind::OpenPgp => unsupported("this is a file of OpenPGP, which rsalab does not read"),
        Kind::OpenPgpText => refused(OPENPGP_TEXT),
    })
}

/// The one block that is meant: the private key, if there is one; else the only block. Certificates lie beside a
/// private key in the files of servers, and parameters before it.
fn only_key<'a, 'b>(blocks: &'b [Block<'a>]) -> Result<&'b Block<'a>> {
    let kinds = || blocks.iter().filter_map(|block| block.label);
    let is_private = |block: &&Block<'_>| {
        block
            .label
            .is_some_and(|(label, kind)| label.ends_with("PRIVATE KEY") && !kind.is_openpgp())
    };
    let private: Vec<&Block<'_>> = blocks.iter().filter(is_private).collect();
    match (private.as_slice(), blocks) {
        ([key], _) => Ok(key),
        ([], [only]) => Ok(only),
        ([], [first, ..]) if kinds().any(|(_, kind)| kind.is_openpgp()) => Ok(first),
        ([], _) if kinds().all(|(_, kind)| kind == Kind::Key(Content::Certificate)) => Err(refused(format!(
            "this file holds more than one PEM block, {} certificates; give it one key alone: `openssl x509 -in FILE` writes the first",
            blocks.len()
        ))),
        _ => Err(refused(format!(
            "this file holds more than one PEM block, {}, {} of them private keys; give it one key alone",
            blocks.len(),
            private.len()
        ))),
    }
}

/// The blocks of a text that has at least one BEGIN.
fn blocks(text: &[u8]) -> Result<Vec<Block<'_>>> {
    let (mut blocks, mut misplaced, mut at, mut is_insecure) = (Vec::new(), None, 0, false);
    while let Some(begin) = find(&text[at..], BEGIN).map(|place| at + place) {
        is_insecure |= Annotations::has_mark(&text[at..begin]);
        // A BEGIN in the middle of a line belongs to a setting, or to somebody's sentence.
        if !is_blank(line_before(text, begin)) {
            misplaced.get_or_insert_with(|| behind_something(text, begin));
            // Once a line, or a line of many would be looked at as often.
            at = begin + line_from(text, begin).len();
            continue;
        }
        let (block, end) = block(text, begin, mem::take(&mut is_insecure))?;
        blocks.push(block);
        at = end;
    }
    match (blocks.is_empty(), misplaced) {
        (true, Some(error)) => Err(error),
        _ => Ok(blocks),
    }
}

/// The block that begins at a place, with the mark before it or without, and where it ends.
fn block(text: &[u8], begin: usize, is_insecure: bool) -> Result<(Block<'_>, usize)> {
    let start = begin + BEGIN.len();
    let line = line_from(text, start);
    let len =
        find(line, DASHES).ok_or_else(|| refused("this PEM file is damaged: its BEGIN line is cut or garbled"))?;
    let (name, rest) = (&line[..len], &line[len + DASHES.len()..]);
    let label = LABELS.into_iter().find(|(label, _)| label.as_bytes() == name);
    if !is_blank(rest) {
        return Err(match rest.trim_ascii_start().starts_with(b"\\") {
            true => refused(WRITTEN_OUT),
            false => refused(ONE_LINE),
        });
    }
    let body = start + line.len();
    // The parts of a signed message end each other.
    if label.is_some_and(|(_, kind)| kind.is_openpgp()) {
        let block = Block {
            label,
            body: &[],
            is_insecure,
        };
        return Ok((block, body));
    }
    let end_line = [END, name, DASHES].concat();
    let next = find(&text[body..], BEGIN).map_or(text.len(), |next| body + next);
    let end = find(&text[body..next], &end_line).map(|end| body + end);
    let end = end.ok_or_else(|| {
        refused(match label {
            Some((label, _)) => {
                format!("this PEM file is cut: the line -----END {label}----- is missing")
            }
            None => "this PEM file is cut: its END line is missing".to_owned(),
        })
    })?;
    let after = end + end_line.len();
    if !is_blank(line_before(text, end)) || !is_blank(line_from(text, after)) {
        return Err(refused(ONE_LINE));
    }
    let block = Block {
        label,
        body: &text[body..end],
        is_insecure,
    };
    Ok((block, after))
}

const ONE_LINE: &str = "this PEM file has lost line ends: BEGIN and END stand on a line with something else; set a line end after the dashes of \
                        the BEGIN line, and before and after the END line";
const WRITTEN_OUT: &str = "the line ends of this PEM file are written out as \\n, as settings have them; turn them into line ends, such as by \
                           `printf '%b' \"$(cat FILE)\"`";

/// Why a BEGIN is not at the beginning of its line.
fn behind_something(text: &[u8], begin: usize) -> Error {
    let is_quoted = line_before(text, begin).trim_ascii_end().ends_with(b"\"")
        || line_before(text, begin).trim_ascii_end().ends_with(b"'");
    let how = match is_quoted {
        true => "in quotation marks",
        false => "behind other text",
    };
    refused(format!(
        "the PEM in this file stands {how}, as in a setting; give a file that has it alone, from BEGIN to END, each line on a line of its own"
    ))
}

/// The bytes in a body.
fn decoded(body: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    from_base64(body)
        .ok_or_else(|| refused("this PEM file is damaged: between BEGIN and END is something else than base64"))
}

/// Returns whether the body of a block begins with the headers of an encrypted key (RFC 1421, section 4.6).
fn has_headers(body: &[u8]) -> bool {
    let Some((name, value)) = lines(body).next().and_then(header) else {
        return false;
    };
    let mut values = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    name == b"Proc-Type" && values.next() == Some(b"4") && values.next() == Some(b"ENCRYPTED")
}

/// The lines of a body that are not empty.
pub(super) fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|&byte| byte == b'\n' || byte == b'\r')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
}

/// A header's name and value; no line of base64 has a colon.
pub(super) fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// A block in lines of one length, as strict readers want it.
fn in_lines(label: &str, bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    const WIDTH: usize = 70;
    let base64 = Zeroizing::new(Base64::encode_string(bytes));
    let mut text = Zeroizing::new(Vec::with_capacity(2 * base64.len() + 200));
    text.extend_from_slice(format!("-----BEGIN {label}-----\n").as_bytes());
    for line in base64.as_bytes().chunks(WIDTH) {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.extend_from_slice(format!("-----END {label}-----\n").as_bytes());
    text
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The part of a line that lies before a place.
fn line_before(text: &[u8], place: usize) -> &[u8] {
    let start = text[..place].iter().rposition(is_line_end);
    &text[start.map_or(0, |end| end + 1)..place]
}

/// The part of a line that begins at a place, without the line's end.
fn line_from(text: &[u8], place: usize) -> &[u8] {
    let end = text[place..].iter().position(is_line_end);
    &text[place..end.map_or(text.len(), |len| place + len)]
}

fn is_blank(text: &[u8]) -> bool {
    text.trim_ascii().is_empty()
}

/// The place of a text that is not empty.
pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += position(&haystack[at..], needle[0])?;
        match haystack[at..].starts_with(needle) {
            true => return Some(at),
            false => at += 1,
        }
    }
}

/// The first place of a byte. A block is compared as a whole, in vectors, before its bytes are.
fn position(haystack: &[u8], byte: u8) -> Option<usize> {
    const BLOCK: usize = 64;
    let (blocks, _) = haystack.as_chunks::<BLOCK>();
    let has_it = |block: &[u8; BLOCK]| block.iter().fold(false, |seen, &own| seen | (own == byte));
    let start = BLOCK * blocks.iter().take_while(|block| !has_it(block)).count();
    let rest = haystack[start..].iter().position(|&own| own == byte)?;
    Some(start + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_where_they_begin_first() {
        let mut text = vec![b'-'; 300];
        for place in 0..290 {
            text[place..][..BEGIN.len().min(300 - place)].copy_from_slice(&BEGIN[..BEGIN.len().min(300 - place)]);
            let known = text.windows(BEGIN.len()).position(|window| window == BEGIN);
            assert_eq!(find(&text, BEGIN), known, "{place}");
            assert_eq!(
                find(&text, b"BEGIN "),
                text.windows(6).position(|window| window == b"BEGIN ")
            );
            text.fill(if place % 2 == 0 { b'x' } else { b'-' });
            assert_eq!(find(&text, BEGIN), None);
        }
        for text in [&b""[..], b"-", b"-----BEGIN"] {
            assert_eq!(find(text, BEGIN), None);
        }
    }
}
