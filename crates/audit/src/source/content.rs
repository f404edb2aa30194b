//! The keys of a piece.

use rsalab_rsa::{
    Result,
    format::{
        Annotations, Content as Structure, Key, Loaded, Place, Reading, Restrictions, Usage, is_foreign, load_all,
    },
};

use super::{
    line::{self, Line, MODULUS},
    manifest::Manifest,
    piece::Body,
    texts::Texts,
};
use crate::{issue::Issue, key::unread};

/// A key, or why there is none.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) place: Place,
    /// The kind of its holder, in words.
    pub(crate) form: &'static str,
    pub(crate) key: Result<Loaded<Key>, Issue>,
}

/// The content of a piece.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) items: Vec<Item>,
    /// Keys of other algorithms.
    pub(crate) foreign: usize,
    /// Lines, or rows of a table, that are no key, and may have been one.
    pub(crate) unknown: Vec<Place>,
    /// `true` if lines are of a zone file, where others than keys belong.
    pub(crate) has_records: bool,
    /// Issues with the document.
    pub(crate) issues: Vec<Issue>,
    /// Why no key can be read in the whole of a document.
    pub(crate) unread: Option<Issue>,
    pub(crate) manifest: Option<Manifest>,
}

/// Finds the keys of a piece.
pub(crate) fn content(body: &Body, reading: &Reading<'_>) -> Content {
    let mut content = Content::default();
    match body {
        Body::Whole(bytes) => match load_all(bytes, reading) {
            Ok(found) => content.add(found, None),
            Err(error) => content.unread = Some(unread(&error)),
        },
        Body::Lines(lines) => {
            for (number, text) in lines.iter() {
                content.add_line(Place::Line(number), line::line(text, reading));
            }
        }
        Body::Moduli(cells) => content.add_moduli(cells, Place::Line, reading),
        Body::Rows(cells) => content.add_moduli(cells, Place::Row, reading),
        Body::Manifest(name, bytes) => content.manifest = Some(Manifest::read(bytes, name)),
        Body::Issue(issue) => content.issues.push(issue.clone()),
    }
    content
}

impl Content {
    /// Adds the keys of the cells of a column.
    fn add_moduli(&mut self, cells: &Texts, place: fn(usize) -> Place, reading: &Reading<'_>) {
        for (number, cell) in cells.iter() {
            match line::modulus(cell.trim_ascii(), reading.limits) {
                Some(key) => self.add_line(place(number), Line::One(MODULUS, key)),
                None => self.unknown.push(place(number)),
            }
        }
    }

    fn add(&mut self, found: Vec<rsalab_rsa::format::Found>, place: Option<Place>) {
        for found in found {
            if found.is_foreign {
                self.foreign += 1;
                continue;
            }
            self.items.push(Item {
                place: place.unwrap_or(found.place),
                form: found.key.as_ref().map_or("a key", |loaded| loaded.content.name()),
                key: found.key.map_err(|error| unread(&error)),
            });
        }
    }

    fn add_line(&mut self, place: Place, line: Line) {
        match line {
            Line::Blank => {}
            Line::Keys(found) => self.add(found, Some(place)),
            Line::One(_, Err(error)) if is_foreign(&error) => self.foreign += 1,
            Line::One(form, key) => self.items.push(Item {
                place,
                form,
                key: key.map(|key| bare(line::public(key))).map_err(|error| unread(&error)),
            }),
            Line::Foreign => self.foreign += 1,
            Line::Other => self.has_records = true,
            Line::Unknown => self.unknown.push(place),
        }
    }
}

/// A key of which nothing else is said.
fn bare(key: Key) -> Loaded<Key> {
    Loaded {
        key,
        usage: Usage::Any,
        restrictions: Restrictions::default(),
        annotations: Annotations::default(),
        content: Structure::Pkcs1Public,
        encryption: None,
    }
}
