//! Axes, which take a scope from one value to the next, and templates in words.

use super::{
    data::{Axis, Entry, Sizes, Texts, Values},
    evidence::Evidence,
    scope::{Scope, filled},
};
use crate::number;

impl Evidence<'_> {
    /// The scopes that axes make of one, the last axis changing first.
    pub(super) fn each(&self, axes: &[Axis], scope: &Scope) -> Vec<Scope> {
        axes.iter().fold(vec![scope.clone()], |scopes, axis| {
            scopes.iter().flat_map(|scope| self.along(axis, scope)).collect()
        })
    }

    /// As [`each`](Evidence::each) for an axis that may not be there.
    pub(super) fn of_axis(&self, axis: Option<&Axis>) -> Vec<Scope> {
        axis.map_or_else(|| vec![Scope::default()], |axis| self.along(axis, &Scope::default()))
    }

    fn along(&self, Axis(names, values): &Axis, scope: &Scope) -> Vec<Scope> {
        let rows: Vec<Vec<String>> = match values {
            Values::List(name) => self.list(&scope.formula(name)),
            Values::These(entries) => entries.iter().map(Entry::words).collect(),
        };
        let of_row = |row: Vec<String>| {
            let mut scope = scope.clone();
            for (name, word) in names.words().iter().zip(row) {
                scope.set(name, word);
            }
            scope
        };
        rows.into_iter().map(of_row).collect()
    }

    /// The key sizes of the study in place of the article's: who asks for others gets their rows.
    fn asked_sizes(&self, sizes: &Sizes, published: &[Entry]) -> Vec<Vec<String>> {
        let asked = self.key_sizes_of(sizes.of).into_iter();
        let asked = asked.filter(|bits| *bits >= sizes.from && sizes.below.is_none_or(|below| *bits < below));
        if sizes.named {
            return renamed(published, &asked.collect::<Vec<usize>>());
        }
        let entry = |bits: usize| match sizes.primes {
            true => vec![bits.to_string(), (bits / 2).to_string()],
            false => vec![bits.to_string()],
        };
        asked.map(entry).collect()
    }

    /// The sizes of the study's texts in place of the article's.
    fn asked_texts(&self, texts: &Texts, published: &[Entry]) -> Vec<Vec<String>> {
        let asked = self.sizes().into_iter().filter(|symbols| *symbols > 0);
        let asked = asked.filter(|symbols| *symbols >= texts.from && texts.to.is_none_or(|to| *symbols <= to));
        match texts.named {
            true => renamed(published, &asked.collect::<Vec<usize>>()),
            false => asked.map(|symbols| vec![symbols.to_string()]).collect(),
        }
    }

    /// A named list of the article, or one that the study makes.
    pub(super) fn list(&self, name: &str) -> Vec<Vec<String>> {
        let numbers = |numbers: Vec<usize>| numbers.iter().map(|number| vec![number.to_string()]).collect();
        match name {
            "measured engines" => self
                .engines()
                .into_iter()
                .map(|engine| vec![engine.to_owned()])
                .collect(),
            "measured sizes" => numbers(self.sizes()),
            "measured threads" => numbers(self.threads()),
            "measured directions of many" => {
                let pairs = self.directions_of_many().into_iter();
                let pairs = pairs.map(|(direction, bits)| vec![direction.to_owned(), bits.to_string()]);
                pairs.collect()
            }
            "one and all threads" => {
                let mut counts = vec![1];
                counts.extend(self.all_threads());
                numbers(counts)
            }
            _ => {
                let entries = self.data.lists.get(name);
                let entries = entries.unwrap_or_else(|| panic!("there is no list '{name}'"));
                let sizes = self.data.sizes.get(name);
                let texts = self.data.texts.get(name);
                let asked = sizes
                    .map(|sizes| self.asked_sizes(sizes, entries))
                    .or_else(|| texts.map(|texts| self.asked_texts(texts, entries)));
                let asked = asked.filter(|asked| !asked.is_empty());
                asked.unwrap_or_else(|| entries.iter().map(Entry::words).collect())
            }
        }
    }

    /// A template in words.
    pub(super) fn fill(&self, template: &str, scope: &Scope) -> String {
        filled(template, &|placeholder| {
            let (name, noun) = match placeholder.rsplit_once(' ') {
                Some((name, noun)) => (name, Some(noun)),
                None => (placeholder, None),
            };
            if let Some(quantity) = scope.quantities.get(name) {
                return Some(match noun {
                    Some(_) => number::whole(quantity.value as u64),
                    None => number::with_interval(quantity),
                });
            }
            if name == "confidence" {
                return Some(number::percent(self.confidence()));
            }
            let word = scope.words.get(name).map_or(name, String::as_str);
            match (self.number(word), noun) {
                (Some(Ok(count)), Some(noun)) => Some(number::counted(count, noun)),
                (Some(Ok(count)), None) => Some(count.to_string()),
                // As many as there are CPUs, where there are not several.
                (Some(Err(_)), Some(noun)) => Some(format!("several {noun}s")),
                (Some(Err(_)), None) => None,
                (None, _) if !scope.words.contains_key(name) => None,
                (None, Some("#")) => Some(number::as_printed(word.parse().ok()?)),
                (None, Some(noun)) => Some(number::counted(word.parse().ok()?, noun)),
                (None, None) => match self.data.words.get(word) {
                    Some(words) => Some(self.fill(words, scope)),
                    // Words of an engine are no template: what a worker leaves behind often has braces.
                    None if matches!(name, "engine" | "reason") => Some(word.to_owned()),
                    None => Some(self.fill(word, scope)),
                },
            }
        })
    }
}

/// Entries of an id, a size and words, with sizes of a study in place of the published ones where it does not have all
/// of these.
///
/// Of more than there are ids the smallest, the largest and those in the middle are taken. Ids that are left keep what
/// was published.
fn renamed(published: &[Entry], asked: &[usize]) -> Vec<Vec<String>> {
    let entries: Vec<Vec<String>> = published.iter().map(Entry::words).collect();
    let is_asked = |entry: &Vec<String>| asked.iter().any(|size| size.to_string() == entry[1]);
    if asked.is_empty() || entries.iter().all(is_asked) {
        return entries;
    }
    let (ids, sizes) = (entries.len(), asked.len());
    let of_place = |place: usize| match sizes <= ids {
        true => asked.get(place),
        false => asked.get(place * (sizes - 1) / (ids - 1).max(1)),
    };
    let entry = |(place, mut entry): (usize, Vec<String>)| {
        if let Some(size) = of_place(place).filter(|size| size.to_string() != entry[1]) {
            entry[1] = size.to_string();
            // What is said of the published size is not true of this one.
            entry[2..].iter_mut().for_each(String::clear);
        }
        entry
    };
    entries.into_iter().enumerate().map(entry).collect()
}
