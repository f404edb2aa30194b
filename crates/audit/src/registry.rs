//! All keys that were read: each modulus once, with the places where it is, and what is wrong with it.

mod saved;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
};

use rsalab_rsa::{PublicKey, format::Place};

use crate::{
    finding::{Finding, KeyName, Location, Report, SharedSecret, Summary, order, order_of_places},
    issue::Issue,
    key::Digests,
    search::{Numbered, Share},
    sharing::SharedPrime,
    source::{Document, Promise, looks_like_key},
};

/// A place where a key is.
#[derive(Debug)]
struct Use {
    document: u32,
    place: Place,
    /// The kind of its holder, in words.
    form: Cow<'static, str>,
    /// Faults that show here, and not in the public key.
    issues: Vec<Issue>,
}

/// A public key, by modulus and exponent.
#[derive(Debug)]
struct Row {
    modulus: u32,
    exponent: Box<[u8]>,
    fingerprint: [u8; 32],
    bits: usize,
    /// Faults that show in the public key.
    issues: Vec<Issue>,
    uses: Vec<Use>,
}

/// A document with what is known of it.
#[derive(Debug)]
struct File {
    name: Arc<str>,
    is_named: bool,
    /// RSA keys, read or not.
    keys: usize,
    foreign: usize,
    unknown: Vec<Place>,
    unknown_count: usize,
    has_records: bool,
    /// It is no key, but a manifest or an archive.
    is_other: bool,
    unread: Option<Issue>,
    /// What it is, where it holds no key.
    no_key: Option<Issue>,
    /// It was read by an earlier audit.
    is_old: bool,
}

/// All that was read.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    files: Vec<File>,
    rows: Vec<Row>,
    // Not by hashes: a map of those asks the system for randomness, and panics where there is none.
    by_fingerprint: BTreeMap<[u8; 32], u32>,
    /// Each with its digest.
    moduli: Vec<([u8; 32], Box<[u8]>)>,
    by_modulus: BTreeMap<[u8; 32], u32>,
    old_documents: BTreeMap<Arc<str>, u32>,
    promises: Vec<(u32, Promise)>,
    /// Issues of places without a key.
    others: Vec<(u32, Place, Issue)>,
    private: usize,
    /// Why no key could be examined.
    pub(crate) failure: Option<rsalab_rsa::Error>,
}

/// Lines or rows without a key of which a document keeps the numbers.
const MOST_LINES: usize = 20;

/// Facts that a piece holds of its document, besides keys.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) keys: usize,
    pub(crate) foreign: usize,
    pub(crate) unknown: Vec<Place>,
    pub(crate) has_records: bool,
    pub(crate) unread: Option<Issue>,
    pub(crate) no_key: Option<Issue>,
    pub(crate) promises: Option<Vec<Promise>>,
}

impl Registry {
    /// Adds a document, and returns its number.
    pub(crate) fn document(&mut self, document: Document) -> u32 {
        let number = u32::try_from(self.files.len()).expect("fewer files than that");
        self.files.push(File {
            name: document.name,
            is_named: document.is_named,
            keys: 0,
            foreign: 0,
            unknown: Vec::new(),
            unknown_count: 0,
            has_records: false,
            is_other: document.is_archive,
            unread: None,
            no_key: None,
            is_old: false,
        });
        number
    }

    /// Adds a key with these digests, and returns its number, and whether it is a new one.
    pub(crate) fn key(&mut self, key: &PublicKey, digests: &Digests) -> (u32, bool) {
        let place = match self.by_fingerprint.entry(digests.fingerprint) {
            Entry::Occupied(known) => return (*known.get(), false),
            Entry::Vacant(place) => place,
        };
        let moduli = &mut self.moduli;
        let modulus = *self.by_modulus.entry(digests.modulus).or_insert_with(|| {
            moduli.push((digests.modulus, key.n().into()));
            u32::try_from(moduli.len() - 1).expect("fewer keys than that")
        });
        let row = u32::try_from(self.rows.len()).expect("fewer keys than that");
        self.rows.push(Row {
            modulus,
            exponent: key.e().into(),
            fingerprint: digests.fingerprint,
            bits: key.bits(),
            issues: Vec::new(),
            uses: Vec::new(),
        });
        place.insert(row);
        (row, true)
    }

    /// Adds a place where a key is, with issues that show in every copy of it and those that show here.
    pub(crate) fn place(
        &mut self,
        row: u32,
        document: u32,
        place: Place,
        form: &'static str,
        [everywhere, here]: [Vec<Issue>; 2],
        is_private: bool,
    ) {
        self.private += usize::from(is_private);
        let row = &mut self.rows[row as usize];
        row.issues.extend(everywhere);
        row.uses.push(Use {
            document,
            place,
            form: form.into(),
            issues: here,
        });
    }

    /// Adds an issue of a place that holds no key that could be read.
    pub(crate) fn issue(&mut self, document: u32, place: Place, issue: Issue) {
        self.others.push((document, place, issue));
    }

    /// Adds what a piece told of its document.
    pub(crate) fn about(&mut self, document: u32, about: About) {
        let file = &mut self.files[document as usize];
        file.keys += about.keys;
        file.foreign += about.foreign;
        file.unknown_count += about.unknown.len();
        let room = MOST_LINES.saturating_sub(file.unknown.len());
        file.unknown.extend(about.unknown.into_iter().take(room));
        file.has_records |= about.has_records;
        if about.unread.is_some() {
            file.unread = about.unread;
        }
        if about.no_key.is_some() {
            file.no_key = about.no_key;
        }
        if let Some(promises) = about.promises {
            file.is_other = true;
            self.promises
                .extend(promises.into_iter().map(|promise| (document, promise)));
        }
    }

    /// Keys that were read.
    pub(crate) fn keys(&self) -> usize {
        self.rows.iter().map(|row| row.uses.len()).sum()
    }

    /// The distinct moduli, with their digests.
    pub(crate) fn moduli(&self) -> Vec<Numbered<'_>> {
        self.moduli
            .iter()
            .map(|(digest, modulus)| (*digest, &**modulus))
            .collect()
    }

    /// The names of all files, in order.
    pub(crate) fn names_of_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &*file.name)
    }

    /// The place of the modulus with this digest.
    pub(crate) fn modulus(&self, digest: &[u8; 32]) -> Option<usize> {
        self.by_modulus.get(digest).map(|&modulus| modulus as usize)
    }

    /// All findings about keys of this audit; of a share of it those about its keys, and of the first about files, too.
    pub(crate) fn report(&self, shared: Vec<SharedPrime>, share: Share) -> Report {
        let mut findings = Vec::new();
        let mut of_files = Vec::new();
        let without_keys = self.add_files(&mut of_files);
        self.add_promises(&mut of_files);
        for (document, place, issue) in &self.others {
            of_files.push(finding(issue, vec![self.location(*document, *place)], Vec::new()));
        }
        if share.number == 1 {
            findings.append(&mut of_files);
        }
        for row in &self.rows {
            self.add_issues(row, &mut findings);
        }
        let by_modulus = self.rows_by_modulus();
        let moduli = self.moduli();
        let is_mine = |place: usize| share == Share::WHOLE || share.has(&moduli[place].0);
        self.add_same(&by_modulus, &is_mine, &mut findings);
        let shared_primes = self.add_shared(&by_modulus, shared, &mut findings);
        findings.sort_by(Finding::order);
        let files = || self.files.iter().filter(|file| !file.is_old);
        Report {
            findings,
            summary: Summary {
                files: files().count(),
                without_keys,
                keys: self
                    .rows
                    .iter()
                    .flat_map(|row| &row.uses)
                    .filter(|found| self.is_new(found))
                    .count(),
                private: self.private,
                moduli: (0..self.moduli.len())
                    .filter(|&place| self.is_in_audit(&by_modulus[place]))
                    .count(),
                foreign: files().map(|file| file.foreign).sum(),
            },
            files: files().map(|file| file.name.clone()).collect(),
            shared_primes,
        }
    }

    fn is_new(&self, found: &Use) -> bool {
        !self.files[found.document as usize].is_old
    }

    /// Returns whether one of these rows has a place in this audit.
    fn is_in_audit(&self, rows: &[usize]) -> bool {
        rows.iter()
            .flat_map(|&row| &self.rows[row].uses)
            .any(|found| self.is_new(found))
    }

    fn location(&self, document: u32, place: Place) -> Location {
        Location {
            file: self.files[document as usize].name.clone(),
            place,
        }
    }

    fn places<'a>(&'a self, uses: impl IntoIterator<Item = &'a Use>) -> Vec<Location> {
        let mut uses: Vec<&Use> = uses.into_iter().collect();
        uses.sort_by_key(|found| (found.document, order(found.place)));
        uses.iter()
            .map(|found| self.location(found.document, found.place))
            .collect()
    }

    /// Faults of documents as such. Returns how many hold no key, and are not meant to.
    fn add_files(&self, findings: &mut Vec<Finding>) -> usize {
        let with_issue: BTreeSet<u32> = self.others.iter().map(|(document, _, _)| *document).collect();
        let mut without_keys = 0;
        for (number, file) in self.files.iter().enumerate().filter(|(_, file)| !file.is_old) {
            let document = number as u32;
            let has_key = file.keys > 0 || file.foreign > 0;
            let is_promising = file.is_named || looks_like_key(&file.name);
            let mut issues = Vec::new();
            // A key that is known to be one by its contents is a finding whatever its name is.
            let is_missing = is_promising && !has_key;
            let said = file.no_key.iter().filter(|_| is_missing).chain(&file.unread);
            issues.extend(said.map(|issue| (Place::Whole, issue.clone())));
            if is_missing && issues.is_empty() && !file.is_other && !with_issue.contains(&document) {
                let what = "this file holds no key: neither PEM, DER nor JSON, nor a line of OpenSSH's, of DNS, or of a modulus";
                issues.push((Place::Whole, Issue::new("no-key", what)));
            }
            if has_key && !file.has_records {
                let (line, lines) = match file.unknown.first() {
                    Some(Place::Row(_)) => ("row", "rows"),
                    Some(Place::Key(_)) => ("entry", "entries"),
                    _ => ("line", "lines"),
                };
                for &place in &file.unknown {
                    let what = format!("this {line} among keys is none");
                    issues.push((place, Issue::new("unreadable", what)));
                }
                let more = file.unknown_count - file.unknown.len();
                if more > 0 {
                    let what = format!("{more} more {lines} among keys are none");
                    issues.push((Place::Whole, Issue::new("unreadable", what)));
                }
            }
            let is_silent = issues.is_empty() && !with_issue.contains(&document);
            without_keys += usize::from(is_silent && !has_key && !file.is_other);
            for (place, issue) in issues {
                findings.push(finding(&issue, vec![self.location(document, place)], Vec::new()));
            }
        }
        without_keys
    }

    /// Promises of manifests that are not kept.
    fn add_promises(&self, findings: &mut Vec<Finding>) {
        if self.promises.is_empty() {
            return;
        }
        let documents: BTreeMap<&str, u32> = self
            .files
            .iter()
            .zip(0..)
            .map(|(file, number)| (&*file.name, number))
            .collect();
        let mut held: BTreeMap<u32, BTreeSet<&[u8; 32]>> = BTreeMap::new();
        for row in &self.rows {
            for found in &row.uses {
                held.entry(found.document).or_default().insert(&row.fingerprint);
            }
        }
        // The same promise again is no other finding.
        let mut seen = BTreeSet::new();
        for (manifest, promise) in &self.promises {
            if !seen.insert((manifest, &promise.file, &promise.fingerprint)) {
                continue;
            }
            let place = |document| vec![self.location(document, Place::Whole)];
            match documents.get(&*promise.file) {
                Some(document) => {
                    // What could not be read has a finding of its own.
                    let is_another = |keys: &BTreeSet<&[u8; 32]>| !keys.contains(&promise.fingerprint);
                    if held.get(document).is_some_and(is_another) {
                        let what = "this file holds another key than the manifest of its folder says";
                        findings.push(finding(
                            &Issue::new("manifest-mismatch", what),
                            place(*document),
                            Vec::new(),
                        ));
                    }
                }
                None if !promise.is_there() => {
                    let what = format!("the manifest names {}, which is not there", promise.file);
                    findings.push(finding(&Issue::new("missing-file", what), place(*manifest), Vec::new()));
                }
                None => {}
            }
        }
    }

    fn add_issues(&self, row: &Row, findings: &mut Vec<Finding>) {
        for issue in &row.issues {
            findings.push(finding(issue, self.places(&row.uses), vec![name(row)]));
        }
        // The same issue in several copies is one finding.
        let mut here: Vec<(&Issue, Vec<&Use>)> = Vec::new();
        for found in &row.uses {
            for issue in &found.issues {
                match here.iter_mut().find(|(known, _)| *known == issue) {
                    Some((_, uses)) => uses.push(found),
                    None => here.push((issue, vec![found])),
                }
            }
        }
        for (issue, uses) in here {
            findings.push(finding(issue, self.places(uses), vec![name(row)]));
        }
    }

    fn rows_by_modulus(&self) -> Vec<Vec<usize>> {
        let mut by_modulus = vec![Vec::new(); self.moduli.len()];
        for (number, row) in self.rows.iter().enumerate() {
            by_modulus[row.modulus as usize].push(number);
        }
        by_modulus
    }

    /// Keys that are the same, and those of one modulus.
    fn add_same(&self, by_modulus: &[Vec<usize>], is_mine: &dyn Fn(usize) -> bool, findings: &mut Vec<Finding>) {
        let moduli = by_modulus.iter().enumerate().filter(|&(place, _)| is_mine(place));
        for (_, rows) in moduli.filter(|(_, rows)| rows.len() > 1 && self.is_in_audit(rows)) {
            let rows: Vec<&Row> = rows.iter().map(|&row| &self.rows[row]).collect();
            let places = self.places(rows.iter().flat_map(|row| &row.uses));
            let what = format!(
                "{} keys have this modulus, with different public exponents: the owner of one computes the others",
                rows.len()
            );
            let names = self.names(rows);
            findings.push(finding(&Issue::new("shared-modulus", what), places, names));
        }
        for row in self.rows.iter().filter(|row| is_mine(row.modulus as usize)) {
            // A private key, its public half and its certificate belong together; two of one form do not.
            let is_in_audit = |form: &str| row.uses.iter().any(|found| found.form == form && self.is_new(found));
            let forms: BTreeSet<&str> = row.uses.iter().map(|found| &*found.form).collect();
            let copies = |form: &str| row.uses.iter().filter(|found| found.form == form).count();
            let Some((form, copies)) = forms
                .into_iter()
                .filter(|form| is_in_audit(form))
                .map(|form| (form, copies(form)))
                .max_by_key(|&(_, copies)| copies)
            else {
                continue;
            };
            if copies > 1 {
                let what = format!("it is there {copies} times as {form}");
                let uses = row.uses.iter().filter(|found| found.form == form);
                findings.push(finding(
                    &Issue::new("duplicate-key", what),
                    self.places(uses),
                    vec![name(row)],
                ));
            }
        }
    }

    fn add_shared(
        &self,
        by_modulus: &[Vec<usize>],
        shared: Vec<SharedPrime>,
        findings: &mut Vec<Finding>,
    ) -> Vec<SharedSecret> {
        let mut secrets = Vec::with_capacity(shared.len());
        for SharedPrime { factor, members } in shared {
            let rows: Vec<usize> = members
                .iter()
                .flat_map(|&member| &by_modulus[member])
                .copied()
                .collect();
            if !self.is_in_audit(&rows) {
                continue;
            }
            let rows: Vec<&Row> = rows.into_iter().map(|row| &self.rows[row]).collect();
            let places = self.places(rows.iter().flat_map(|row| &row.uses));
            let keys = self.names(rows);
            let what = format!(
                "{} moduli share a prime: whoever has two of these public keys computes all of their private keys",
                members.len()
            );
            findings.push(finding(&Issue::new("shared-prime", what), places.clone(), keys.clone()));
            secrets.push(SharedSecret { factor, keys, places });
        }
        secrets.sort_by(|one, other| order_of_places(&one.places, &other.places));
        secrets
    }

    /// The names of keys, in the order of their first places.
    fn names(&self, mut rows: Vec<&Row>) -> Vec<KeyName> {
        let first = |row: &Row| row.uses.iter().map(|found| (found.document, order(found.place))).min();
        rows.sort_by_key(|row| (first(row), row.fingerprint));
        rows.into_iter().map(name).collect()
    }
}

fn finding(issue: &Issue, places: Vec<Location>, keys: Vec<KeyName>) -> Finding {
    Finding {
        rule: issue.rule,
        severity: issue.severity,
        what: issue.what.clone(),
        places,
        keys,
    }
}

fn name(row: &Row) -> KeyName {
    KeyName {
        fingerprint: hex::encode(row.fingerprint),
        bits: row.bits,
    }
}
