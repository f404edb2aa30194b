//! Tables in Apache Parquet: every way in which a column of moduli may be stored.

use std::{path::Path, sync::Arc};

use parquet::{
    basic::{Compression, Encoding, GzipLevel, LogicalType, Repetition, Type as PhysicalType},
    data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type},
    file::{
        properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion},
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::types::{ColumnPath, Type},
};
use rsalab_audit::{Audit, Inventory, Options, Report};
use rsalab_rsa::{PrivateKey, PublicKey};

use crate::made::{audit, family, found, hex, write};

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cells {
    /// Hexadecimal digits in a column of text.
    Text,
    /// The same in a column of bytes, as programs write it that do not say so.
    TextAsBytes,
    /// Numbers, big-endian.
    Bytes,
    /// Numbers, all of one length.
    Fixed,
}

/// Bytes of a number in a column of numbers of one length.
const FIXED: usize = 2 * 2048 / 8;

/// A table with a column of numbers and one of moduli, of which some may be missing, in two groups of rows.
fn table(name: &str, cells: Cells, moduli: &[Option<&PrivateKey>], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let repetition = match moduli.iter().all(Option::is_some) {
        true => Repetition::REQUIRED,
        false => Repetition::OPTIONAL,
    };
    let groups = moduli
        .chunks(moduli.len().div_ceil(2))
        .map(|moduli| Group { moduli, cells });
    written(name, cells, repetition, properties, groups)
}

/// Rows of a group.
struct Group<'a> {
    moduli: &'a [Option<&'a PrivateKey>],
    cells: Cells,
}

impl Group<'_> {
    fn write(&self, column: &mut SerializedColumnWriter<'_>, is_optional: bool) {
        let levels: Vec<i16> = self.moduli.iter().map(|key| i16::from(key.is_some())).collect();
        let levels = is_optional.then_some(&levels[..]);
        let numbers = self.moduli.iter().flatten().map(|key| key.public());
        let written = match self.cells {
            Cells::Fixed => {
                let value = |key: &PublicKey| [vec![0; FIXED - key.n().len()], key.n().to_vec()].concat();
                let values: Vec<FixedLenByteArray> = numbers.map(|key| value(key).into()).collect();
                column
                    .typed::<FixedLenByteArrayType>()
                    .write_batch(&values, levels, None)
            }
            Cells::Bytes => {
                let values: Vec<ByteArray> = numbers.map(|key| key.n().to_vec().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, levels, None)
            }
            Cells::Text | Cells::TextAsBytes => {
                let values: Vec<ByteArray> = numbers.map(|key| hex(key).into_bytes().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&values, levels, None)
            }
        };
        written.expect("in memory");
    }
}

fn written<'a>(
    name: &str,
    cells: Cells,
    repetition: Repetition,
    properties: WriterPropertiesBuilder,
    groups: impl Iterator<Item = Group<'a>>,
) -> Vec<u8> {
    let number = Type::primitive_type_builder("number", PhysicalType::INT64).with_repetition(Repetition::REQUIRED);
    let column = match cells {
        Cells::Text => {
            Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY).with_logical_type(Some(LogicalType::String))
        }
        Cells::TextAsBytes | Cells::Bytes => Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY),
        Cells::Fixed => {
            Type::primitive_type_builder(name, PhysicalType::FIXED_LEN_BYTE_ARRAY).with_length(FIXED as i32)
        }
    };
    let columns =
        [number, column.with_repetition(repetition)].map(|column| Arc::new(column.build().expect("a column")));
    let schema = Type::group_type_builder("keys")
        .with_fields(columns.to_vec())
        .build()
        .expect("a table");
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties.build())).expect("in memory");
    for rows in groups {
        let mut group = writer.next_row_group().expect("in memory");
        let mut numbers = group.next_column().expect("in memory").expect("a column");
        let all = vec![7; rows.moduli.len()];
        numbers
            .typed::<Int64Type>()
            .write_batch(&all, None, None)
            .expect("in memory");
        numbers.close().expect("in memory");
        let mut column = group.next_column().expect("in memory").expect("a column");
        rows.write(&mut column, repetition == Repetition::OPTIONAL);
        column.close().expect("in memory");
        group.close().expect("in memory");
    }
    writer.finish().expect("in memory");
    drop(writer);
    bytes
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

/// The table of which the malformed ones are made.
pub(crate) fn plain(keys: &[&PrivateKey], compression: Compression) -> Vec<u8> {
    let moduli: Vec<Option<&PrivateKey>> = keys.iter().map(|key| Some(*key)).chain([None]).collect();
    table("n", Cells::Bytes, &moduli, properties().set_compression(compression))
}

/// Tables of these keys, and of a row without one, stored in every way.
pub(crate) fn every_way(keys: &[&PrivateKey]) -> Vec<Vec<u8>> {
    let moduli: Vec<Option<&PrivateKey>> = keys.iter().map(|key| Some(*key)).chain([None]).collect();
    let gzip = Compression::GZIP(GzipLevel::default());
    let mut tables = Vec::new();
    for cells in [Cells::Text, Cells::TextAsBytes, Cells::Bytes, Cells::Fixed] {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                for has_dictionary in [false, true] {
                    let properties = properties()
                        .set_compression(compression)
                        .set_writer_version(version)
                        .set_column_encoding(ColumnPath::from("n"), Encoding::PLAIN)
                        .set_dictionary_enabled(has_dictionary);
                    tables.push(table("n", cells, &moduli, properties));
                }
            }
        }
    }
    tables
}

fn report(at: &Path, options: &Options<'_>) -> Report {
    Audit::new(options)
        .run(&Inventory::of(&[at]), &mut |_| {})
        .expect("it can be done")
}

#[test]
fn every_way_to_store_moduli_is_read() {
    let keys = family(3, 51);
    // More than are decoded at once, so that pieces and row groups end in the middle.
    let mut moduli = vec![Some(&keys[2]); 150];
    moduli[0] = Some(&keys[0]);
    moduli[140] = Some(&keys[1]);
    let gzip = Compression::GZIP(GzipLevel::default());
    let ways = [
        ("plain", properties().set_dictionary_enabled(false)),
        ("dictionary", properties()),
        (
            "pages of a few rows",
            properties().set_data_page_row_count_limit(7).set_write_batch_size(7),
        ),
        (
            "second version",
            properties().set_writer_version(WriterVersion::PARQUET_2_0),
        ),
        ("Snappy", properties().set_compression(Compression::SNAPPY)),
        ("gzip", properties().set_compression(gzip)),
        (
            "Snappy, second version",
            properties()
                .set_compression(Compression::SNAPPY)
                .set_writer_version(WriterVersion::PARQUET_2_0),
        ),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for cells in [Cells::Text, Cells::TextAsBytes, Cells::Bytes, Cells::Fixed] {
        for (way, properties) in &ways {
            write(at, "keys.parquet", table("Modulus", cells, &moduli, properties.clone()));
            let report = audit(at);
            let row = |row: usize| format!("keys.parquet, row {row}");
            let same: Vec<String> = (1..=150).filter(|number| ![1, 141].contains(number)).map(row).collect();
            let all: Vec<String> = (1..=150).map(row).collect();
            let found = found(&report, at);
            assert!(
                found == [("duplicate-key", same), ("shared-prime", all)],
                "{cells:?}, {way}"
            );
            assert_eq!(
                (report.summary.keys, report.summary.moduli),
                (150, 3),
                "{cells:?}, {way}"
            );
        }
    }
}

#[test]
fn rows_without_a_modulus_are_named() {
    let keys = family(2, 52);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let moduli = [None, Some(&keys[0]), None, None, Some(&keys[1])];
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let properties = properties()
            .set_compression(Compression::SNAPPY)
            .set_writer_version(version);
        write(at, "keys.parquet", table("n", Cells::Bytes, &moduli, properties));
        let row = |number: usize| format!("keys.parquet, row {number}");
        assert_eq!(
            found(&audit(at), at),
            [
                ("shared-prime", vec![row(2), row(5)]),
                ("unreadable", vec![row(1)]),
                ("unreadable", vec![row(3)]),
                ("unreadable", vec![row(4)]),
            ]
        );
    }
}

/// The keys of a table are estimated from its first rows.
#[test]
fn what_a_table_holds_is_estimated() {
    let keys = family(2, 56);
    let moduli: Vec<Option<&PrivateKey>> = keys.iter().map(Some).cycle().take(20_000).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let plain = properties().set_dictionary_enabled(false);
    write(folder.path(), "n.parquet", table("n", Cells::Bytes, &moduli, plain));
    let options = Options::default();
    let estimate = Audit::new(&options).estimate(&Inventory::of(&[folder.path()]));
    let keys = estimate.expect("there are keys").keys;
    assert!((19_000..=21_000).contains(&keys), "{keys}");
}

/// In an archive, as standard input is, a table is read from memory.
#[test]
fn tables_in_archives_are_read() {
    let keys = family(2, 53);
    let bytes = plain(&[&keys[0], &keys[1]], Compression::SNAPPY);
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    archive
        .append_data(&mut header, "t.parquet", &bytes[..])
        .expect("in memory");
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.tar", archive.into_inner().expect("in memory"));
    let report = audit(folder.path());
    let row = |number: usize| format!("a.tar:t.parquet, row {number}");
    assert_eq!(
        found(&report, folder.path()),
        [("shared-prime", vec![row(1), row(2)]), ("unreadable", vec![row(3)])]
    );
}

#[test]
fn what_is_not_read_is_said() {
    let keys = family(2, 54);
    let moduli = [Some(&keys[0]), Some(&keys[1])];
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let file = at.join("keys.parquet");
    let said = |bytes: &[u8], options: &Options<'_>| {
        write(at, "keys.parquet", bytes);
        let report = report(&file, options);
        let findings: Vec<(&str, String)> = report
            .findings
            .iter()
            .map(|finding| (finding.rule.id, finding.what.clone()))
            .collect();
        findings
    };
    let named = Options {
        column: Some("public"),
        ..Options::default()
    };
    let other = table("public", Cells::Bytes, &moduli, properties());
    let found = said(&other, &Options::default());
    assert!(matches!(&found[..], [("not-examined", what)] if what.contains("no column of moduli (modulus, n,")));
    assert!(matches!(&said(&other, &named)[..], [("shared-prime", _)]));
    let number = Options {
        column: Some("number"),
        ..Options::default()
    };
    let found = said(&other, &number);
    assert!(
        matches!(&found[..], [("not-examined", what)] if what.contains("integers of 64 bits in the column `number`")),
        "{found:?}"
    );

    let delta = properties().set_dictionary_enabled(false);
    let delta = delta.set_column_encoding(ColumnPath::from("n"), Encoding::DELTA_BYTE_ARRAY);
    let found = said(&table("n", Cells::Bytes, &moduli, delta), &Options::default());
    assert!(
        matches!(&found[..], [("not-examined", what)] if what.contains("moduli in DELTA_BYTE_ARRAY")),
        "{found:?}"
    );

    // Bytes of the column that are not there, and a footer that is not.
    let whole = table("n", Cells::Bytes, &moduli, properties().set_dictionary_enabled(false));
    let found = said(&whole[..whole.len() - 1], &Options::default());
    assert!(
        matches!(&found[..], [("unreadable", what)] if what.contains("its footer")),
        "{found:?}"
    );
    let mut torn = whole.clone();
    torn.drain(4..40);
    let found = said(&torn, &Options::default());
    assert!(
        matches!(&found[..], [("unreadable", what)] if what.contains("row group 1")),
        "{found:?}"
    );
}

/// Few bytes may stand for many: they are refused before they take time or memory.
#[test]
fn tables_that_grow_are_refused() {
    let keys = family(1, 55);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let what = |bytes: Vec<u8>| {
        write(at, "n.parquet", bytes);
        let findings = report(&at.join("n.parquet"), &Options::default()).findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        (findings[0].rule.id, findings[0].what.clone())
    };
    let same = vec![Some(&keys[0]); 200_000];
    let (rule, words) = what(table("n", Cells::Bytes, &same, properties()));
    assert_eq!(rule, "not-examined");
    assert!(words.contains("states 200000 rows in"), "{words}");

    // Numbers that are much longer than a modulus, with zeros before it.
    let gzip = properties()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_dictionary_enabled(false);
    let (rule, words) = what(table("n", Cells::Fixed, &same[..20_000], gzip));
    assert_eq!(rule, "not-examined");
    assert!(words.contains("a page that is unpacked to more than"), "{words}");
}
