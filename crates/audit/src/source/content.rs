//! The keys of a piece.

use rsalab_rsa::{
    Error, PublicKey, Result,
    format::{
        Annotations, Content as Structure, Found, Key, Loaded, Place, Reading, Restrictions, Usage, holds_no_key,
        is_foreign, load_all,
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
    /// What the document is, where it holds no key: of most files that is nothing to be told.
    pub(crate) no_key: Option<Issue>,
    /// Why no key can be examined at all.
    pub(crate) failure: Option<Error>,
    pub(crate) manifest: Option<Manifest>,
}

/// Finds the keys of a piece.
pub(crate) fn content(body: &Body, reading: &Reading<'_>) -> Content {
    let mut content = Content::default();
    match body {
        Body::Whole(bytes) => match load_all(bytes, reading) {
            Ok(found) => content.add(found, None),
            Err(error) if is_unavailable(&error) => content.failure = Some(error),
            Err(error) if holds_no_key(&error) => content.no_key = Some(unread(&error)),
            Err(error) => content.unread = Some(unread(&error)),
        },
        Body::Lines(lines) => {
            for (number, text) in lines.iter() {
                content.add_text(number, text, reading);
            }
        }
        Body::Moduli(cells) => content.add_moduli(cells, Place::Line, reading),
        Body::Rows(cells) => content.add_moduli(cells, Place::Row, reading),
        Body::Manifest(name, lines) => content.manifest = Some(Manifest::read(lines, name)),
        Body::Issue(issue) => content.issues.push(issue.clone()),
        Body::Unread(issue) => content.no_key = Some(issue.clone()),
    }
    content
}

/// Returns whether an error says nothing of the key, but that none can be examined here.
fn is_unavailable(error: &Error) -> bool {
    matches!(error, Error::Randomness { .. })
}

/// What the holder of a public half is called, whose private key or certificate was refused.
const HALF: &str = "the public half of a key that was refused";

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

    fn add(&mut self, found: Vec<Found>, place: Option<Place>) {
        for found in found {
            if found.is_foreign {
                self.foreign += 1;
                continue;
            }
            let place = place.unwrap_or(found.place);
            match found.key {
                Ok(loaded) => self.items.push(Item {
                    place,
                    form: loaded.content.name(),
                    key: Ok(loaded),
                }),
                Err(error) => self.refuse(place, error, found.public),
            }
        }
    }

    /// Adds why a key is refused; its public half is examined all the same.
    fn refuse(&mut self, place: Place, error: Error, public: Option<PublicKey>) {
        match place {
            _ if is_unavailable(&error) => self.failure = Some(error),
            Place::Whole | Place::Block(_) if holds_no_key(&error) => self.no_key = Some(unread(&error)),
            _ if holds_no_key(&error) => self.unknown.push(place),
            _ => self.items.push(Item {
                place,
                form: "a key",
                key: Err(unread(&error)),
            }),
        }
        self.items.extend(public.map(|key| Item {
            place,
            form: HALF,
            key: Ok(bare(line::public(key))),
        }));
    }

    /// Adds a line, or several that may be one, by the number of the first.
    fn add_text(&mut self, number: usize, text: &[u8], reading: &Reading<'_>) {
        let has_several = text.trim_ascii().contains(&b'\n');
        if let Some(line) = has_several.then(|| line::several(text, reading)).flatten() {
            return self.add_line(Place::Line(number), line);
        }
        for (number, text) in (number..).zip(text.split(|&byte| byte == b'\n')) {
            self.add_line(Place::Line(number), line::line(text, reading));
        }
    }

    fn add_line(&mut self, place: Place, line: Line) {
        match line {
            Line::Blank => {}
            Line::Keys(found) => self.add(found, Some(place)),
            Line::One(_, Err(error)) if is_foreign(&error) => self.foreign += 1,
            Line::One(_, Err(error)) => self.refuse(place, error, None),
            Line::One(form, Ok(key)) => self.items.push(Item {
                place,
                form,
                key: Ok(bare(line::public(key))),
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
