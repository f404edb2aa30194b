//! An audit from beginning to end.
//!
//! ```text
//! caller's thread:  files → pieces, some at a time ──┐ (a bounded queue)
//! other threads:    pieces → keys → what is wrong with each, eight together → registry
//! then:             distinct moduli → batch GCD → those that share a factor (`search`, `examined`)
//! then:             registry → findings
//! ```
//!
//! A modulus that is there many times is examined once. Memory holds the moduli, not the files.

#[cfg(test)]
mod measured;

use std::{
    panic::resume_unwind,
    sync::{
        Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use rsalab_rsa::{
    Error,
    format::{Key, Loaded, Place, Reading},
    keys::Weakness,
};

use crate::{
    error::AuditError,
    examined::Examined,
    finding::Report,
    issue::Issue,
    key::{Digests, faults, listed, marked},
    options::{Options, Progress},
    registry::{About, Registry},
    rule::rule,
    source::{Body, Document, Inventory, Item, Piece, Reader, Sink, content},
    threads::lock,
};

/// An audit that is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'a> {
    pub(crate) options: &'a Options<'a>,
}

/// Pieces that a thread examines together: as many public keys as fill the lanes of a kernel, and more.
const TOGETHER: usize = 32;

impl<'a> Audit<'a> {
    /// An audit with these options.
    pub fn new(options: &'a Options<'a>) -> Audit<'a> {
        Audit { options }
    }

    /// Does it. `progress` is told how far it is, on this thread.
    ///
    /// # Errors
    /// The scratch folder, or the keys of earlier audits, cannot be used; or there is no randomness.
    ///
    /// # Panics
    ///
    /// If a thread does.
    pub fn run(&self, inventory: &Inventory, progress: &mut dyn FnMut(Progress)) -> Result<Report, AuditError> {
        Ok(self.examine(inventory, progress)?.report())
    }

    /// As [`run`](Self::run), for a caller who wants more of it than its report.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    ///
    /// If a thread does.
    pub fn examine(&self, inventory: &Inventory, progress: &mut dyn FnMut(Progress)) -> Result<Examined, AuditError> {
        let registry = self.read(inventory, None, progress)?;
        Examined::of(registry, self.options, progress)
    }

    /// Reads and examines the keys; of each file so many bytes, if that is said.
    pub(crate) fn read(
        &self,
        inventory: &Inventory,
        most: Option<u64>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Registry, AuditError> {
        let registry = Mutex::new(Registry::default());
        let reader = Reader {
            column: self.options.column,
            most,
        };
        let threads = self.options.threads.max(1);
        let (sender, receiver) = sync_channel(2 * threads);
        let receiver = Mutex::new(receiver);
        thread::scope(|scope| {
            let work = || self.work(&receiver, &registry);
            let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let workers: Vec<_> = (0..threads).map_while(start).collect();
            let mut feed = Feed {
                audit: self,
                registry: &registry,
                sender: (!workers.is_empty()).then_some(sender),
                batch: Batch::default(),
                files: 0,
                bytes: 0,
                progress,
            };
            for (path, what) in &inventory.unlisted {
                let document = Document {
                    name: path.display().to_string().into(),
                    is_named: true,
                    is_archive: false,
                };
                let number = feed.document(document);
                let body = Body::Issue(Issue::new("not-read", what.clone()));
                feed.piece(Piece { document: number, body });
            }
            for entry in &inventory.entries {
                reader.read(entry, &mut feed);
            }
            feed.flush();
            drop(feed);
            for worker in workers {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        let mut registry = registry.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        match registry.failure.take() {
            Some(error) => Err(AuditError::Unavailable(error)),
            None => Ok(registry),
        }
    }

    fn work(&self, receiver: &Mutex<Receiver<Batch>>, registry: &Mutex<Registry>) {
        loop {
            let next = lock(receiver).recv();
            match next {
                Ok(batch) => self.enter(batch, registry),
                Err(_) => return,
            }
        }
    }

    /// Examines the keys of some pieces, and enters them.
    fn enter(&self, batch: Batch, registry: &Mutex<Registry>) {
        let reading = Reading {
            password: self.options.password,
            limits: self.options.limits,
            name: None,
        };
        let mut found: Vec<Found> = Vec::new();
        let mut abouts = Vec::with_capacity(batch.pieces.len());
        let mut issues: Vec<(u32, Issue)> = Vec::new();
        let mut failure = None;
        if lock(registry).failure.is_some() {
            return;
        }
        for piece in &batch.pieces {
            let content = content(&piece.body, &reading);
            let mut about = About {
                keys: content.items.len(),
                foreign: content.foreign,
                unknown: content.unknown,
                has_records: content.has_records,
                unread: content.unread,
                no_key: content.no_key,
                promises: None,
            };
            failure = failure.or(content.failure);
            issues.extend(content.issues.into_iter().map(|issue| (piece.document, issue)));
            if let Some(manifest) = content.manifest {
                issues.extend(manifest.issues.into_iter().map(|issue| (piece.document, issue)));
                about.promises = Some(manifest.promises);
            }
            found.extend(content.items.into_iter().map(|Item { place, form, key }| {
                // Here, where other threads may enter keys meanwhile.
                let key = key.map(|loaded| {
                    let digests = Digests::of(loaded.key.public());
                    (loaded, digests)
                });
                Found {
                    document: piece.document,
                    place,
                    form,
                    key,
                }
            }));
            abouts.push((piece.document, about));
        }
        let mut read: Vec<Read> = Vec::with_capacity(found.len());
        {
            let mut registry = lock(registry);
            if let Some(failure) = failure {
                registry.failure = Some(failure);
                return;
            }
            for (document, about) in abouts {
                registry.about(document, about);
            }
            for (document, issue) in issues {
                registry.issue(document, Place::Whole, issue);
            }
            for Found {
                document,
                place,
                form,
                key,
            } in found
            {
                match key {
                    Ok((loaded, digests)) => {
                        let (row, is_new) = registry.key(loaded.key.public(), &digests);
                        let is_mine = self.options.share.has(&digests.modulus);
                        read.push(Read {
                            document,
                            place,
                            form,
                            row,
                            is_new,
                            is_mine,
                            loaded,
                        });
                    }
                    Err(issue) => registry.issue(document, place, issue),
                }
            }
        }
        let judged = self.judge(&read);
        let mut registry = lock(registry);
        let judged = match judged {
            Ok(judged) => judged,
            Err(error) => {
                registry.failure = Some(error);
                return;
            }
        };
        for (read, issues) in read.iter().zip(judged) {
            let is_private = matches!(read.loaded.key, Key::Private(_));
            registry.place(read.row, read.document, read.place, read.form, issues, is_private);
        }
    }

    /// Faults of each key, as far as its public half shows it and as far as this copy does. An error where there is no
    /// randomness: then none can be examined.
    fn judge(&self, read: &[Read]) -> Result<Vec<[Vec<Issue>; 2]>, Error> {
        let is_tested = |read: &&Read| read.is_mine && (read.is_new || matches!(read.loaded.key, Key::Private(_)));
        let tested: Vec<&Key> = read.iter().filter(is_tested).map(|read| &read.loaded.key).collect();
        let mut faults = match faults(&tested, self.options.rounds) {
            Ok(faults) => faults,
            Err(error @ Error::Randomness { .. }) => return Err(error),
            // Nothing is known of any of them.
            Err(error) => vec![Some(Issue::new("not-examined", error.to_string())); tested.len()],
        }
        .into_iter();
        let judged = read.iter().map(|read| {
            let fault = is_tested(&read).then(|| faults.next().flatten()).flatten();
            let (mut everywhere, mut here) = (Vec::new(), Vec::new());
            if !read.is_mine {
                return [everywhere, here];
            }
            let weaknesses = match &read.loaded.key {
                Key::Private(key) => key.weaknesses(),
                Key::Public(_) if !read.is_new => Vec::new(),
                Key::Public(key) => key.weaknesses(),
            };
            let (public, private): (Vec<Weakness>, Vec<Weakness>) =
                weaknesses.into_iter().partition(|weakness| weakness.is_public());
            here.extend(private.iter().map(Issue::from));
            if read.is_new {
                everywhere.extend(public.iter().map(Issue::from));
                everywhere.extend(
                    self.options
                        .lists
                        .and_then(|lists| listed(read.loaded.key.public(), lists)),
                );
            }
            here.extend(marked(read.loaded.annotations.is_insecure));
            match fault {
                // The form of a modulus that is none is that fault's; messages to the backdoor have small factors as
                // any random number.
                Some(fault) if fault.rule != rule("composite-prime") && fault.rule != rule("not-examined") => {
                    let own = ["known-weak", "short-modulus", "xz-backdoor"];
                    everywhere.retain(|issue| own.contains(&issue.rule.id));
                    everywhere.push(fault);
                }
                fault => here.extend(fault),
            }
            [everywhere, here]
        });
        Ok(judged.collect())
    }
}

/// A place where a key is, or was to be.
struct Found {
    document: u32,
    place: Place,
    form: &'static str,
    key: Result<(Loaded<Key>, Digests), Issue>,
}

/// A key that was read.
struct Read {
    document: u32,
    place: Place,
    form: &'static str,
    row: u32,
    is_new: bool,
    /// It belongs to the share of the keys that are examined.
    is_mine: bool,
    loaded: Loaded<Key>,
}

/// Pieces that are examined together.
#[derive(Debug, Default)]
struct Batch {
    pieces: Vec<Piece>,
    bytes: usize,
}

/// Whoever reads files: gives what it reads to the threads.
struct Feed<'a> {
    audit: &'a Audit<'a>,
    registry: &'a Mutex<Registry>,
    /// None where the system gave no thread.
    sender: Option<SyncSender<Batch>>,
    batch: Batch,
    files: usize,
    bytes: u64,
    progress: &'a mut dyn FnMut(Progress),
}

/// Bytes of a batch.
const MOST_BYTES: usize = 256 << 10;

impl Feed<'_> {
    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if batch.pieces.is_empty() {
            return;
        }
        match &self.sender {
            // Without a receiver, a thread has panicked, and its panic goes on where it is joined.
            Some(sender) => drop(sender.send(batch)),
            None => self.audit.enter(batch, self.registry),
        }
    }
}

impl Sink for Feed<'_> {
    fn document(&mut self, document: Document) -> u32 {
        self.files += 1;
        lock(self.registry).document(document)
    }

    fn piece(&mut self, piece: Piece) {
        self.batch.bytes += match &piece.body {
            Body::Whole(bytes) => bytes.len(),
            Body::Lines(texts) | Body::Manifest(_, texts) | Body::Moduli(texts) | Body::Rows(texts) => texts.bytes(),
            Body::Issue(_) | Body::Unread(_) => 0,
        };
        let is_long = matches!(
            piece.body,
            Body::Lines(_) | Body::Manifest(..) | Body::Moduli(_) | Body::Rows(_)
        );
        self.batch.pieces.push(piece);
        if self.batch.pieces.len() >= TOGETHER || self.batch.bytes >= MOST_BYTES || is_long {
            self.flush();
        }
        let (files, bytes) = (self.files, self.bytes);
        (self.progress)(Progress::Keys { files, bytes });
    }

    fn read(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
}
