//! Blocks of a file of keys.
//!
//! ```text
//! block   8 bytes: how long the rest of it is     body     SHA-256 of length and body
//! body    names of files     kinds of holders     keys     the product of the moduli that no block before has
//! key     1 if its modulus is in the product     modulus     exponent     places: file, kind, where
//! ```
//!
//! Numbers are of four or eight bytes, little-endian; texts and big numbers follow their length.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use rsalab_product::Product;
use sha2::{Digest, Sha256};

use super::manifest::Files;
use crate::{
    error::AuditError,
    record::{Record, Saved, Used, Where},
};

/// Bytes of the moduli of a block: a thousand of 2048 bits.
const MODULI: usize = 256 << 10;
/// Keys of a block, whatever their length.
const KEYS: usize = 4096;
const DIGEST: usize = 32;

/// Some thousand keys.
#[derive(Debug)]
pub(crate) struct Block {
    path: PathBuf,
    pub(crate) records: Vec<Record>,
    product: Vec<u8>,
}

impl Block {
    /// The product of the moduli that no block before has.
    pub(crate) fn product(&self) -> Result<Product, AuditError> {
        Product::from_bytes(&self.product).ok_or_else(|| damaged(&self.path))
    }
}

fn damaged(path: &Path) -> AuditError {
    AuditError::DamagedStore(path.parent().unwrap_or(path).to_owned())
}

/// Writes a file of keys.
pub(super) struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    threads: usize,
    /// Keys of the next block, and whether each modulus is new to the store.
    waiting: Vec<(Record, bool)>,
    moduli: usize,
    written: Files,
    digest: Sha256,
}

impl Writer {
    pub(super) fn create(path: &Path, threads: usize) -> Result<Writer, AuditError> {
        let file = File::create(path).map_err(AuditError::at(path))?;
        Ok(Writer {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 20, file),
            threads,
            waiting: Vec::new(),
            moduli: 0,
            written: Files::default(),
            digest: Sha256::new(),
        })
    }

    /// Adds the keys of a modulus.
    pub(super) fn add(&mut self, (_, records, is_known): Saved) -> Result<(), AuditError> {
        for (place, record) in records.into_iter().enumerate() {
            let is_new = !is_known && place == 0;
            self.written.keys += 1;
            self.written.moduli += u64::from(is_new);
            self.moduli += record.n.len();
            self.waiting.push((record, is_new));
        }
        match self.moduli >= MODULI || self.waiting.len() >= KEYS {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Has all of it on the disk.
    pub(super) fn finish(mut self, name: String) -> Result<Files, AuditError> {
        self.flush()?;
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        written.map_err(AuditError::at(&self.path))?;
        Ok(Files {
            name,
            sha256: hex::encode(self.digest.finalize()),
            ..self.written
        })
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let new: Vec<&[u8]> = self
            .waiting
            .iter()
            .filter(|(_, is_new)| *is_new)
            .map(|(record, _)| &record.n[..])
            .collect();
        let product = Product::of(&new, self.threads, &mut |_| {});
        let mut body = Body::default();
        let (mut files, mut forms) = (Texts::default(), Texts::default());
        for (record, is_new) in &self.waiting {
            body.0.push(u8::from(*is_new));
            body.bytes(&record.n);
            body.bytes(&record.e);
            body.number(record.uses.len());
            for used in &record.uses {
                body.number(files.number(&used.file));
                body.number(forms.number(&used.form));
                let (kind, number) = match used.place {
                    Where::Whole => (0, 0),
                    Where::Key(number) => (1, number),
                    Where::Line(number) => (2, number),
                    Where::Block(number) => (3, number),
                    Where::Row(number) => (4, number),
                };
                body.0.push(kind);
                body.0.extend(number.to_le_bytes());
            }
        }
        let mut whole = Body(vec![0; 8]);
        for texts in [files, forms] {
            whole.number(texts.all.len());
            texts.all.iter().for_each(|text| whole.bytes(text.as_bytes()));
        }
        whole.number(self.waiting.len());
        whole.0.extend(body.0);
        whole.0.extend(product.to_bytes());
        let mut bytes = whole.0;
        let len = (bytes.len() - 8 + DIGEST) as u64;
        bytes[..8].copy_from_slice(&len.to_le_bytes());
        let digest = Sha256::digest(&bytes);
        self.digest.update(digest);
        bytes.extend_from_slice(&digest);
        self.file.write_all(&bytes).map_err(AuditError::at(&self.path))?;
        self.written.bytes += bytes.len() as u64;
        self.written.blocks += 1;
        self.waiting.clear();
        self.moduli = 0;
        Ok(())
    }
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    all: Vec<Arc<str>>,
    numbers: BTreeMap<Arc<str>, usize>,
}

impl Texts {
    fn number(&mut self, text: &Arc<str>) -> usize {
        *self.numbers.entry(text.clone()).or_insert_with(|| {
            self.all.push(text.clone());
            self.all.len() - 1
        })
    }
}

#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn number(&mut self, number: usize) {
        let number = u32::try_from(number).expect("a block has few");
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend_from_slice(bytes);
    }
}

/// The blocks of a file, read one after the other.
pub(super) struct Blocks {
    path: PathBuf,
    expected: Files,
    digest: Sha256,
    blocks: u64,
    left: u64,
    file: State,
}

enum State {
    Closed,
    Open(BufReader<File>),
    Ended,
}

impl Blocks {
    pub(super) fn of(path: PathBuf, expected: &Files) -> Blocks {
        Blocks {
            path,
            digest: Sha256::new(),
            blocks: 0,
            left: expected.bytes,
            expected: expected.clone(),
            file: State::Closed,
        }
    }

    fn read(&mut self) -> Result<Option<Block>, AuditError> {
        if let State::Closed = self.file {
            let file = File::open(&self.path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => damaged(&self.path),
                _ => AuditError::at(&self.path)(error),
            })?;
            let found = file.metadata().map_err(AuditError::at(&self.path))?;
            if found.len() != self.expected.bytes {
                return Err(damaged(&self.path));
            }
            self.file = State::Open(BufReader::with_capacity(1 << 20, file));
        }
        let State::Open(file) = &mut self.file else {
            return Ok(None);
        };
        if self.left == 0 {
            let digest = hex::encode(std::mem::take(&mut self.digest).finalize());
            return match digest == self.expected.sha256 && self.blocks == self.expected.blocks {
                true => Ok(None),
                false => Err(damaged(&self.path)),
            };
        }
        let mut bytes = vec![0; 8];
        file.read_exact(&mut bytes).map_err(AuditError::at(&self.path))?;
        let (words, _) = bytes.as_chunks::<8>();
        let len = u64::from_le_bytes(words[0]);
        self.left = self
            .left
            .checked_sub(8)
            .and_then(|left| left.checked_sub(len))
            .filter(|_| len >= DIGEST as u64)
            .ok_or_else(|| damaged(&self.path))?;
        bytes.resize(8 + len as usize, 0);
        file.read_exact(&mut bytes[8..]).map_err(AuditError::at(&self.path))?;
        let (content, digest) = bytes.split_at(bytes.len() - DIGEST);
        if Sha256::digest(content)[..] != *digest {
            return Err(damaged(&self.path));
        }
        self.digest.update(digest);
        self.blocks += 1;
        let mut body = Reading(&content[8..]);
        let read = body.block(&self.path);
        read.map(Some).ok_or_else(|| damaged(&self.path))
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, AuditError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose();
        if !matches!(read, Some(Ok(_))) {
            self.file = State::Ended;
        }
        read
    }
}

/// The rest of a body.
struct Reading<'a>(&'a [u8]);

impl<'a> Reading<'a> {
    fn block(&mut self, path: &Path) -> Option<Block> {
        let (files, forms) = (self.texts()?, self.texts()?);
        let keys = self.number()?;
        // Each takes more bytes than that.
        let mut records = Vec::with_capacity(keys.min(self.0.len()));
        for _ in 0..keys {
            self.take(1)?;
            let (n, e) = (self.bytes()?.to_vec(), self.bytes()?.to_vec());
            let places = self.number()?;
            let mut uses = Vec::with_capacity(places.min(self.0.len()));
            for _ in 0..places {
                let (file, form) = (files.get(self.number()?)?.clone(), forms.get(self.number()?)?.clone());
                let kind = self.take(1)?[0];
                let number = u64::from_le_bytes(*self.take(8)?.first_chunk()?);
                let place = [
                    Where::Whole,
                    Where::Key(number),
                    Where::Line(number),
                    Where::Block(number),
                    Where::Row(number),
                ];
                let place = *place.get(usize::from(kind))?;
                uses.push(Used {
                    document: 0,
                    file,
                    form,
                    place,
                });
            }
            records.push(Record { n, e, uses });
        }
        Some(Block {
            path: path.to_owned(),
            records,
            product: self.0.to_vec(),
        })
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        self.take(4)?
            .first_chunk()
            .map(|&bytes| u32::from_le_bytes(bytes) as usize)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.take(len)
    }

    fn texts(&mut self) -> Option<Vec<Arc<str>>> {
        let count = self.number()?;
        let text = |_| std::str::from_utf8(self.bytes()?).ok().map(Arc::from);
        (0..count).map(text).collect()
    }
}
