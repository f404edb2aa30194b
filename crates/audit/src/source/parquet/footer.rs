//! The footer: columns of a table, and where those of moduli are.

use super::{
    thrift::{Kind, Thrift},
    values::Damaged,
};

/// A column.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// Its name, with those of the groups that it is in, joined by points.
    pub(super) path: String,
    /// The number of its type, as the format has it.
    pub(super) kind: Option<i64>,
    /// Bytes of each value, where they have one length.
    pub(super) len: i64,
    pub(super) is_text: bool,
    /// Of the column and its groups those that may be missing: the level of a cell that has a value.
    pub(super) most_level: u32,
    /// It, or a group that it is in, is a list.
    pub(super) is_list: bool,
}

/// Names of types, by their numbers.
const TYPES: [&str; 8] = [
    "true and false",
    "integers of 32 bits",
    "integers of 64 bits",
    "integers of 96 bits",
    "numbers in 32 bits",
    "numbers in 64 bits",
    "text or bytes",
    "bytes",
];

impl Column {
    pub(super) const BYTES: i64 = 6;
    pub(super) const FIXED: i64 = 7;

    /// The type in words.
    pub(super) fn kind_in_words(&self) -> &'static str {
        let kind = self.kind.and_then(|kind| usize::try_from(kind).ok());
        kind.and_then(|kind| TYPES.get(kind))
            .copied()
            .unwrap_or("an unknown type")
    }
}

/// Rows that are stored together.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) rows: u64,
    /// Where the column that was asked for is.
    pub(super) chunk: Chunk,
}

/// Where a column of a group of rows is.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    /// The number of its compression, as the format has it.
    pub(super) codec: i64,
    pub(super) start: u64,
    pub(super) len: u64,
    /// It is in another file, or encrypted.
    pub(super) is_elsewhere: bool,
}

/// The table's columns, of which `choose` names one, and its groups of rows.
pub(super) fn read<E: From<Damaged>>(
    bytes: &[u8],
    choose: &mut dyn FnMut(&[Column]) -> Result<usize, E>,
) -> Result<(Column, Vec<Group>), E> {
    let mut chosen: Option<Result<(usize, Column), E>> = None;
    let mut groups = Vec::new();
    Thrift::new(bytes).fields(&mut |number, kind, thrift| match number {
        2 => {
            let columns = columns(kind, thrift)?;
            chosen = Some(choose(&columns).map(|number| (number, columns[number].clone())));
            Ok(())
        }
        4 => match &chosen {
            Some(Ok((column, _))) => thrift.elements(kind, &mut |_, kind, thrift| {
                groups.push(group(kind, thrift, *column)?);
                Ok(())
            }),
            // Which column is not known: the schema comes first.
            None => Err(Damaged),
            Some(Err(_)) => thrift.skip(kind),
        },
        _ => thrift.skip(kind),
    })?;
    let (_, column) = chosen.ok_or(Damaged)??;
    Ok((column, groups))
}

/// An element of the schema: a column, or a group of so many others that follow.
#[derive(Default)]
struct Element {
    kind: Option<i64>,
    len: i64,
    repetition: i64,
    name: String,
    children: i64,
    is_text: bool,
}

/// The columns: leaves of the tree that the schema lists from its root on, each group before what is in it.
fn columns(kind: Kind, thrift: &mut Thrift<'_>) -> Result<Vec<Column>, Damaged> {
    let mut columns = Vec::new();
    // Groups that are open: what is left in each, and what columns in it have in common.
    let mut open: Vec<(i64, Column)> = Vec::new();
    thrift.elements(kind, &mut |place, kind, thrift| {
        let element = element(kind, thrift)?;
        if place == 0 {
            open.push((element.children, Column::default()));
            return Ok(());
        }
        while open.last().is_some_and(|(left, _)| *left <= 0) {
            open.pop();
        }
        let (left, around) = open.last_mut().ok_or(Damaged)?;
        *left -= 1;
        const OPTIONAL: i64 = 1;
        const REPEATED: i64 = 2;
        let column = Column {
            path: match around.path.is_empty() {
                true => element.name,
                false => format!("{}.{}", around.path, element.name),
            },
            kind: element.kind,
            len: element.len,
            is_text: element.is_text,
            most_level: around.most_level + u32::from(matches!(element.repetition, OPTIONAL | REPEATED)),
            is_list: around.is_list || element.repetition == REPEATED,
        };
        // Paths of columns in columns would be longer than all bytes.
        const DEEPEST: usize = 32;
        match element.children > 0 {
            true if open.len() > DEEPEST => return Err(Damaged),
            true => open.push((element.children, column)),
            false => columns.push(column),
        }
        Ok(())
    })?;
    Ok(columns)
}

fn element(kind: Kind, thrift: &mut Thrift<'_>) -> Result<Element, Damaged> {
    let mut element = Element::default();
    structure(kind, thrift, &mut |number, kind, thrift| {
        match number {
            1 => element.kind = Some(thrift.integer(kind)?),
            2 => element.len = thrift.integer(kind)?,
            3 => element.repetition = thrift.integer(kind)?,
            4 => element.name = String::from_utf8_lossy(thrift.bytes(kind)?).into_owned(),
            5 => element.children = thrift.integer(kind)?,
            // UTF8, ENUM and JSON, as older programs say it, and as newer ones do.
            6 => element.is_text |= [0, 4, 19].contains(&thrift.integer(kind)?),
            10 => structure(kind, thrift, &mut |number, kind, thrift| {
                element.is_text |= [1, 4, 12].contains(&number);
                thrift.skip(kind)
            })?,
            _ => thrift.skip(kind)?,
        }
        Ok(())
    })?;
    Ok(element)
}

fn group(kind: Kind, thrift: &mut Thrift<'_>, column: usize) -> Result<Group, Damaged> {
    let mut group = Group::default();
    let mut is_there = false;
    structure(kind, thrift, &mut |number, kind, thrift| {
        match number {
            1 => thrift.elements(kind, &mut |place, kind, thrift| {
                if place != column {
                    return thrift.skip(kind);
                }
                is_there = true;
                group.chunk = chunk(kind, thrift)?;
                Ok(())
            })?,
            3 => group.rows = u64::try_from(thrift.integer(kind)?).map_err(|_| Damaged)?,
            _ => thrift.skip(kind)?,
        }
        Ok(())
    })?;
    if is_there { Ok(group) } else { Err(Damaged) }
}

fn chunk(kind: Kind, thrift: &mut Thrift<'_>) -> Result<Chunk, Damaged> {
    let mut chunk = Chunk::default();
    let (mut data, mut dictionary) = (None, None);
    structure(kind, thrift, &mut |number, kind, thrift| match number {
        1 | 8 | 9 => {
            chunk.is_elsewhere = true;
            thrift.skip(kind)
        }
        3 => structure(kind, thrift, &mut |number, kind, thrift| {
            let place = |thrift: &mut Thrift<'_>| u64::try_from(thrift.integer(kind)?).map_err(|_| Damaged);
            match number {
                4 => chunk.codec = thrift.integer(kind)?,
                7 => chunk.len = place(thrift)?,
                9 => data = Some(place(thrift)?),
                11 => dictionary = Some(place(thrift)?),
                _ => thrift.skip(kind)?,
            }
            Ok(())
        }),
        _ => thrift.skip(kind),
    })?;
    if !chunk.is_elsewhere {
        let data = data.ok_or(Damaged)?;
        // Some programs write 0 where there is none.
        chunk.start = dictionary
            .filter(|&dictionary| dictionary > 0)
            .unwrap_or(data)
            .min(data);
    }
    Ok(chunk)
}

/// The fields of a value that is to be a structure.
pub(super) fn structure(
    kind: Kind,
    thrift: &mut Thrift<'_>,
    each: &mut dyn FnMut(i64, Kind, &mut Thrift<'_>) -> Result<(), Damaged>,
) -> Result<(), Damaged> {
    if kind != Kind::STRUCT {
        return Err(Damaged);
    }
    thrift.fields(each)
}
