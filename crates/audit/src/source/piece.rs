//! Files that are looked at, the pieces in which they are read, and whoever takes these.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::texts::Texts;
use crate::issue::Issue;

/// A file that is looked at.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) name: Arc<str>,
    /// It was named, rather than found in a folder or an archive.
    pub(crate) is_named: bool,
    /// It holds other documents, and no key itself.
    pub(crate) is_archive: bool,
}

/// A part of a document.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) document: u32,
    pub(crate) body: Body,
}

/// Contents of a piece.
#[derive(Debug)]
pub(crate) enum Body {
    Whole(Zeroizing<Vec<u8>>),
    /// Lines.
    Lines(Texts),
    /// Cells of a column of moduli, with the numbers of their lines.
    Moduli(Texts),
    /// Cells of a column of moduli, with the numbers of their rows.
    Rows(Texts),
    /// Lines of the manifest of a folder, with its name.
    Manifest(Arc<str>, Texts),
    /// It is none of them, for this reason.
    Issue(Issue),
    /// It is not read, and holds no key for all that is known: what is to be said where there should be one.
    Unread(Issue),
}

/// Whoever takes what is read.
pub(crate) trait Sink {
    /// Takes a document, and gives it a number.
    fn document(&mut self, document: Document) -> u32;

    /// Takes a piece of a document.
    fn piece(&mut self, piece: Piece);

    /// Is told that so many bytes were read.
    fn read(&mut self, bytes: usize);
}

/// Bytes of a piece of lines or cells.
pub(super) const PIECE: usize = 64 << 10;
/// Lines or cells of a piece.
pub(super) const LINES: usize = 64;
/// Bytes that are asked of the system at once.
pub(super) const BUFFER: usize = 64 << 10;

/// Names of a column of moduli.
pub(super) const COLUMNS: [&str; 5] = ["modulus", "n", "rsa_modulus", "public_modulus", "rsa_n"];
