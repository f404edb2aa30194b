//! Bytes that were read, as progress tells them: those of the file, each once.

use std::path::Path;

use parquet::basic::Compression;
use rsalab_audit::{Audit, Inventory, Options, Progress};
use rsalab_rsa::format::{Encoding, PublicFormat, encode_public};

use crate::{
    made::{family, hex, write},
    parquet::plain,
};

/// Bytes that were read of a file when it was done.
fn read(path: &Path) -> u64 {
    let inventory = Inventory::of(&[path]);
    let options = Options::default();
    let mut read = 0;
    Audit::new(&options)
        .run(&inventory, &mut |progress| {
            if let Progress::Keys { bytes, .. } = progress {
                read = bytes;
            }
        })
        .expect("it can be read");
    read
}

fn archive(files: &[Vec<u8>]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (number, bytes) in files.iter().enumerate() {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive
            .append_data(&mut header, format!("{number}"), &bytes[..])
            .expect("in memory");
    }
    archive.into_inner().expect("in memory")
}

#[test]
fn every_byte_is_counted_once() {
    let keys = family(2, 57);
    let moduli: Vec<String> = keys.iter().map(|key| hex(key.public())).collect();
    let pem: Vec<Vec<u8>> = keys
        .iter()
        .map(|key| encode_public(key.public(), PublicFormat::Spki, Encoding::Pem))
        .collect();
    // More than the 64 KiB by which the kind of a file is known.
    let lines: String = (0..300).map(|row| format!("{}\n", moduli[row % 2])).collect();
    let cells: String = (0..300)
        .map(|row| format!("{row},{},\"a \"\"note\"\"\"\n", moduli[row % 2]))
        .collect();
    let table = plain(&[&keys[0], &keys[1]], Compression::SNAPPY);
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes, uncounted) in [
        ("lines", lines.clone().into_bytes(), 0),
        ("lines without an end", lines.trim_end().as_bytes().to_vec(), 0),
        ("cells", format!("number,modulus,note\n{cells}").into_bytes(), 0),
        ("a key", pem[0].clone(), 0),
        ("keys", pem.concat().repeat(100), 0),
        ("a table", table.clone(), 0),
        // Two blocks of zeros are at the end.
        ("an archive of keys", archive(&pem), 1024),
        (
            "an archive of others",
            archive(&[lines.into_bytes(), table, b"\x1f\x8b".to_vec()]),
            1024,
        ),
    ] {
        write(folder.path(), name, &bytes);
        let expected = bytes.len() as u64 - uncounted;
        assert_eq!(read(&folder.path().join(name)), expected, "{name}");
    }
}
