//! Keys of other audits, and keys for them.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use rsalab_rsa::PublicKey;

use super::{Registry, Use};
use crate::{
    finding::{Finding, SharedSecret},
    key::Digests,
    record::{Record, Used},
    sharing::SharedPrime,
    source::Document,
};

impl Registry {
    /// Adds a document of an earlier audit, and returns its number.
    fn old_document(&mut self, name: &Arc<str>) -> u32 {
        if let Some(&number) = self.old_documents.get(name) {
            return number;
        }
        let document = Document {
            name: name.clone(),
            is_named: false,
            is_archive: false,
        };
        let number = self.document(document);
        self.files[number as usize].is_old = true;
        self.old_documents.insert(name.clone(), number);
        number
    }

    /// Adds a key of an earlier audit, whose own faults were found then. Returns the place of its modulus; none if it
    /// is no key.
    pub(crate) fn adopt(&mut self, record: &Record) -> Option<usize> {
        let key = PublicKey::new(&record.n, &record.e).ok()?;
        let (number, _) = self.key(&key, &Digests::of(&key));
        for found in &record.uses {
            let document = self.old_document(&found.file);
            self.rows[number as usize].uses.push(Use {
                document,
                place: found.place.into(),
                form: Cow::Owned(found.form.to_string()),
                issues: Vec::new(),
            });
        }
        Some(self.rows[number as usize].modulus as usize)
    }

    /// The keys of this audit at their places, those of a modulus together, in the order of the digests of the moduli;
    /// and of each modulus its digest.
    pub(crate) fn records(&self) -> impl Iterator<Item = ([u8; 32], Vec<Record>)> {
        let rows = self.rows_by_modulus();
        let mut order: Vec<usize> = (0..self.moduli.len()).collect();
        order.sort_unstable_by_key(|&modulus| self.moduli[modulus].0);
        order.into_iter().filter_map(move |modulus| {
            let of_modulus = rows[modulus].iter().filter_map(|&row| self.record(row));
            let records: Vec<Record> = of_modulus.collect();
            (!records.is_empty()).then_some((self.moduli[modulus].0, records))
        })
    }

    fn record(&self, row: usize) -> Option<Record> {
        let row = &self.rows[row];
        let uses = row
            .uses
            .iter()
            .filter(|found| !self.files[found.document as usize].is_old);
        let uses: Vec<Used> = uses
            .map(|found| Used {
                document: found.document,
                file: self.files[found.document as usize].name.clone(),
                form: Arc::from(&*found.form),
                place: found.place.into(),
            })
            .collect();
        (!uses.is_empty()).then(|| Record {
            n: self.moduli[row.modulus as usize].1.to_vec(),
            e: row.exponent.to_vec(),
            uses,
        })
    }

    /// The keys of some moduli, by the places of those.
    pub(crate) fn records_of(&self, moduli: &[usize]) -> Vec<Record> {
        let rows = self.rows_by_modulus();
        let of_moduli = moduli.iter().flat_map(|&place| &rows[place]);
        of_moduli.filter_map(|&row| self.record(row)).collect()
    }

    /// Keys of all parts of an audit, with the places of their moduli.
    pub(crate) fn of_parts(records: &[Record]) -> (Registry, Vec<usize>) {
        let mut registry = Registry::default();
        let uses = || records.iter().flat_map(|record| &record.uses);
        let files: BTreeMap<u32, &Arc<str>> = uses().map(|found| (found.document, &found.file)).collect();
        let mut numbers = BTreeMap::new();
        for (document, name) in files {
            let number = registry.document(Document {
                name: name.clone(),
                is_named: false,
                is_archive: false,
            });
            numbers.insert(document, number);
        }
        let mut places = Vec::new();
        for record in records {
            let Ok(key) = PublicKey::new(&record.n, &record.e) else {
                continue;
            };
            let (row, _) = registry.key(&key, &Digests::of(&key));
            let row = &mut registry.rows[row as usize];
            row.uses.extend(record.uses.iter().map(|found| Use {
                document: numbers[&found.document],
                place: found.place.into(),
                form: Cow::Owned(found.form.to_string()),
                issues: Vec::new(),
            }));
            places.push(row.modulus as usize);
        }
        places.sort_unstable();
        places.dedup();
        (registry, places)
    }

    /// Findings about primes that keys share.
    pub(crate) fn shared(&self, shared: Vec<SharedPrime>) -> (Vec<Finding>, Vec<SharedSecret>) {
        let mut findings = Vec::new();
        let secrets = self.add_shared(&self.rows_by_modulus(), shared, &mut findings);
        (findings, secrets)
    }
}
