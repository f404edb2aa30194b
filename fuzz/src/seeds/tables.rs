//! Tables in Apache Parquet, written here by hand: ways in which a column may be stored, and what no program writes.

use super::short;

/// A structure in Thrift's compact protocol, field by field.
#[derive(Clone, Default)]
struct Structure {
    bytes: Vec<u8>,
    last: i64,
}

/// Numbers of kinds of values.
const INTEGER: u8 = 6;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Structure {
    /// A field of a kind and the bytes of its value. Numbers that do not follow closely are written out.
    fn field(mut self, number: i64, kind: u8, value: &[u8]) -> Self {
        match u8::try_from(number - self.last) {
            Ok(more @ 1..=15) => self.bytes.push(more << 4 | kind),
            _ => {
                self.bytes.push(kind);
                self.bytes.extend(zigzag(number));
            }
        }
        self.bytes.extend(value);
        self.last = number;
        self
    }

    fn integer(self, number: i64, value: i64) -> Self {
        self.field(number, INTEGER, &zigzag(value))
    }

    fn text(self, number: i64, value: &str) -> Self {
        let value = [leb(value.len() as u64), value.as_bytes().to_vec()].concat();
        self.field(number, BYTES, &value)
    }

    fn structure(self, number: i64, value: Structure) -> Self {
        self.field(number, STRUCT, &value.end())
    }

    fn list(self, number: i64, elements: &[Structure]) -> Self {
        let mut value = match elements.len() {
            len @ ..15 => vec![(len as u8) << 4 | STRUCT],
            len => [vec![0xf0 | STRUCT], leb(len as u64)].concat(),
        };
        for element in elements {
            value.extend(element.clone().end());
        }
        self.field(number, LIST, &value)
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Seven bits a byte, the lowest first.
fn leb(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn zigzag(number: i64) -> Vec<u8> {
    leb((number << 1 ^ number >> 63) as u64)
}

fn some() -> Structure {
    Structure::default()
}

/// A table of one column and one group of rows, of which parts are changed.
#[derive(Clone)]
struct Table {
    schema: Vec<Structure>,
    /// The column's pages, with their heads.
    pages: Vec<u8>,
    codec: i64,
    rows: i64,
    /// What is said of the column besides its place.
    chunk: Structure,
    footer: Structure,
}

/// An element of the schema: a column.
fn column(name: &str, kind: i64, repetition: i64) -> Structure {
    some().integer(1, kind).integer(3, repetition).text(4, name)
}

/// An element of the schema: a group of so many.
fn group(name: &str, repetition: i64, children: i64) -> Structure {
    some().integer(3, repetition).text(4, name).integer(5, children)
}

/// A page with its head, of which the part of its kind is given.
fn page(kind: i64, part: Option<(i64, Structure)>, body: &[u8]) -> Vec<u8> {
    let head = some()
        .integer(1, kind)
        .integer(2, body.len() as i64)
        .integer(3, body.len() as i64);
    let head = match part {
        Some((number, part)) => head.structure(number, part),
        None => head,
    };
    [head.end(), body.to_vec()].concat()
}

/// A page of so many cells, in an encoding, with levels in another.
fn cells(count: i64, encoding: i64, levels: i64, body: &[u8]) -> Vec<u8> {
    let part = some()
        .integer(1, count)
        .integer(2, encoding)
        .integer(3, levels)
        .integer(4, 3);
    page(0, Some((5, part)), body)
}

/// A page of a dictionary of so many values.
fn dictionary(count: i64, encoding: i64, body: &[u8]) -> Vec<u8> {
    page(2, Some((7, some().integer(1, count).integer(2, encoding))), body)
}

/// A page of the second version: levels of lists, levels, and the rest, which is packed if a column's values are.
fn second(count: i64, levels: i64, of_lists: i64, is_packed: bool, body: &[u8]) -> Vec<u8> {
    let part = some()
        .integer(1, count)
        .integer(2, 0)
        .integer(3, count)
        .integer(4, 0)
        .integer(5, levels)
        .integer(6, of_lists)
        .field(7, if is_packed { 1 } else { 2 }, &[]);
    page(3, Some((8, part)), body)
}

/// Values, each after its length.
fn values(all: &[&[u8]]) -> Vec<u8> {
    let value = |value: &&[u8]| [&(value.len() as u32).to_le_bytes(), *value].concat();
    all.iter().flat_map(value).collect()
}

/// Levels, after their length.
fn levels(runs: &[u8]) -> Vec<u8> {
    [&(runs.len() as u32).to_le_bytes(), runs].concat()
}

impl Table {
    /// A column `n` of bytes, which may be missing or not, and its pages.
    fn of(repetition: i64, rows: i64, pages: Vec<u8>) -> Self {
        Self {
            schema: vec![group("schema", 0, 1), column("n", 6, repetition)],
            pages,
            codec: 0,
            rows,
            chunk: some(),
            footer: some().integer(1, 1),
        }
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut table = self.clone();
        change(&mut table);
        table.bytes()
    }

    fn row_group(&self) -> Structure {
        let place = some()
            .integer(4, self.codec)
            .integer(7, self.pages.len() as i64)
            .integer(9, 4);
        let chunk = self.chunk.clone().structure(3, place);
        some().list(1, &[chunk]).integer(3, self.rows)
    }

    fn bytes(&self) -> Vec<u8> {
        let footer = self.footer.clone().list(2, &self.schema).integer(3, self.rows);
        self.around(footer.list(4, &[self.row_group()]))
    }

    /// The table with another footer.
    fn around(&self, footer: Structure) -> Vec<u8> {
        let footer = footer.end();
        let len = (footer.len() as u32).to_le_bytes();
        [b"PAR1", &self.pages[..], &footer, &len, b"PAR1"].concat()
    }
}

/// Tables with a column of moduli, and what is none.
pub(super) fn tables() -> Vec<Vec<u8>> {
    let n = short().public().n();
    let digits: String = n.iter().map(|byte| format!("{byte:02x}")).collect();
    let two = values(&[n, digits.as_bytes()]);
    let plain = Table::of(0, 2, cells(2, 0, 3, &two));
    let with_pages = |repetition: i64, rows: i64, pages: Vec<u8>| Table::of(repetition, rows, pages).bytes();
    let mut all = vec![plain.bytes()];
    // Compressions and encodings that are not read, and values that are not packed as is said.
    all.extend((1..9).map(|codec| plain.with(|table| table.codec = codec)));
    all.extend([2, 6, 7, 8, 9, 99].map(|encoding| with_pages(0, 2, cells(2, encoding, 3, &two))));
    // Columns of other types, of other names, in groups and in lists.
    let schemas = [
        vec![group("schema", 0, 1), column("n", 1, 0)],
        vec![group("schema", 0, 1), column("n", 50, 0)],
        vec![group("schema", 0, 1), column("n", 7, 0).integer(5, 0)],
        vec![group("schema", 0, 1), some().integer(1, 7).integer(2, 64).text(4, "n")],
        vec![group("schema", 0, 1), some().integer(1, 7).integer(2, -1).text(4, "n")],
        vec![group("schema", 0, 1), column("another", 6, 0)],
        vec![group("schema", 0, 1), column("modulus", 6, 2)],
        vec![group("schema", 0, 1), column("n", 6, 0).integer(6, 0)],
        vec![
            group("schema", 0, 1),
            column("n", 6, 0).structure(10, some().structure(1, some())),
        ],
        vec![
            group("schema", 0, 2),
            group("a", 1, 1),
            column("b", 6, 0),
            column("n", 6, 0),
        ],
        vec![
            group("schema", 0, 2),
            group("a", 0, 1),
            group("b", 2, 1),
            column("n", 6, 0),
        ],
        vec![group("schema", 0, 1), column("x", 6, 0), column("n", 6, 0)],
        vec![column("n", 6, 0)],
        vec![group("g", 1, 1); 40],
        Vec::new(),
    ];
    all.extend(schemas.map(|schema| plain.with(|table| table.schema = schema)));
    // Cells that are missing: in runs of one level, bit by bit, of another encoding, longer than the page, too few.
    let optional = |runs: &[u8]| [levels(runs), two.clone()].concat();
    for (encoding, body) in [
        (3, optional(&[4, 1, 4, 0])),
        (3, optional(&[3, 0b1001])),
        (4, optional(&[4, 1, 4, 0])),
        (3, optional(&[2, 1])),
        (3, optional(&[3])),
        (3, optional(&[0xff; 12])),
        (3, vec![0xff; 8]),
        (3, vec![1]),
    ] {
        all.push(with_pages(1, 4, cells(4, 0, encoding, &body)));
    }
    // Dictionaries: numbers in runs and bit by bit, too large, of too many bits, without a dictionary, with two.
    let values = dictionary(2, 0, &two);
    for numbers in [
        &[1, 8, 1][..],
        &[1, 3, 0b0110],
        &[9, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        &[2, 8, 3],
        &[33, 8, 1],
        &[],
    ] {
        all.push(with_pages(0, 4, [&values[..], &cells(4, 8, 3, numbers)].concat()));
    }
    all.push(with_pages(
        0,
        4,
        [&values[..], &values, &cells(4, 2, 3, &[1, 8, 1])].concat(),
    ));
    all.push(with_pages(
        0,
        4,
        [dictionary(2, 5, &two), cells(4, 2, 3, &[1, 8, 1])].concat(),
    ));
    all.push(with_pages(
        0,
        4,
        [dictionary(9, 0, &two), cells(4, 2, 3, &[1, 8, 1])].concat(),
    ));
    // Pages of the second version, of a kind that is left out, with too few cells, longer than the file or any page.
    let with_levels = [&[4, 1, 4, 0][..], &two].concat();
    all.extend([
        with_pages(0, 2, second(2, 0, 0, true, &two)),
        with_pages(1, 4, second(4, 4, 0, false, &with_levels)),
        with_pages(1, 4, second(4, 4, 1, false, &[&[0][..], &with_levels].concat())),
        with_pages(1, 4, second(4, 4, 1 << 40, false, &with_levels)),
        with_pages(1, 4, second(4, -4, 0, false, &with_levels)),
        with_pages(0, 2, [page(1, None, b"an index"), cells(2, 0, 3, &two)].concat()),
        with_pages(0, 9, cells(2, 0, 3, &two)),
        with_pages(0, 2, some().integer(1, 0).integer(3, 1 << 40).end()),
        with_pages(0, 2, some().integer(1, 0).integer(3, -1).end()),
        with_pages(0, 2, some().integer(1, 0).field(5, 1, &[]).end()),
        with_pages(0, 2, some().structure(8, some().integer(7, 1)).end()),
        with_pages(0, 1 << 50, cells(2, 0, 3, &two)),
        with_pages(0, -1, cells(2, 0, 3, &two)),
        with_pages(0, 0, Vec::new()),
    ]);
    // Columns in other files; places that a file does not have.
    all.push(plain.with(|table| table.chunk = some().text(1, "elsewhere")));
    let place = |place: Structure| {
        let group = some().list(1, &[some().structure(3, place)]).integer(3, 2);
        plain.around(some().list(2, &plain.schema).list(4, &[group]))
    };
    all.extend([
        place(some().integer(7, 8)),
        place(some().integer(7, 8).integer(9, 1 << 40)),
        place(some().integer(7, -8).integer(9, 4)),
        place(some().integer(7, i64::MAX).integer(9, 4)),
        place(some().integer(7, 8).integer(9, 4).integer(11, 0)),
        place(some().integer(4, 99).integer(7, 8).integer(9, 4)),
    ]);
    // Footers: groups before the schema, of too few columns, of no structures; none at all; values of every kind.
    let schema = || some().list(2, &plain.schema);
    let everything = some()
        .field(20, 11, &[1, INTEGER << 4 | BYTES, 8, 1, b'x'])
        .field(21, 11, &[0])
        .field(22, 11, &[0xff, 1, 0x11])
        .field(40, 2, &[]);
    all.extend([
        plain.around(some().list(4, &[plain.row_group()]).list(2, &plain.schema)),
        plain.around(schema().list(4, &[some().list(1, &[]).integer(3, 2)])),
        plain.around(schema().field(4, LIST, &[0x15, 2])),
        plain.around(schema().field(4, INTEGER, &[2])),
        plain.around(some().integer(2, 7)),
        plain.around(some()),
        plain.around(some().list(2, &[some().integer(4, 7)])),
        plain.around(some().list(2, &[some().field(1, BYTES, &[0])])),
        plain.around(some().list(2, &[some().field(3, INTEGER, &[0xff; 12])])),
        plain.around(some().field(2, 14, &[])),
        plain.around(some().field(2, LIST, &[0xfc, 0xff, 0xff, 3])),
        plain.around(some().field(1, LIST, &[0x19; 40])),
        plain.around(Structure {
            bytes: vec![0x1c; 40],
            last: 0,
        }),
        plain.with(|table| {
            table.footer = some()
                .field(1, 1, &[])
                .field(-3, 7, &[0; 8])
                .field(-2, 13, &[0; 16])
                .field(-1, 10, &[0x31, 1, 2, 1])
                .field(0, 3, &[7])
                .field(1, 11, &[1, INTEGER << 4 | 3, 8, 1]);
        }),
        plain.with(|table| table.footer = everything),
    ]);
    // Where it ends.
    let whole = plain.bytes();
    let ends = |len: [u8; 4]| [&whole[..whole.len() - 8], &len, b"PAR1"].concat();
    all.extend([
        whole[..whole.len() - 1].to_vec(),
        whole[..6].to_vec(),
        ends([0xff; 4]),
        ends([0, 2, 0, 0]),
        ends([0; 4]),
        [b"PARE", &whole[4..]].concat(),
    ]);
    all
}
