//! A message that is encrypted is decrypted, whatever its length, the threads, the recipients and the pieces in which
//! it comes.

use std::{
    io::{self, BufReader, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};

use rsalab_rsa::PrivateKey;
use rsalab_sealed::{Error, Identity, Outline, Recipient, armor, begins, decrypt, encrypt};

/// Bytes of a message in a chunk.
const CHUNK: usize = 64 << 10;

pub(crate) static KEYS: LazyLock<[PrivateKey; 3]> =
    LazyLock::new(|| [1024, 1024, 2048].map(|bits| PrivateKey::generate(bits).expect("there is randomness")));

pub(crate) fn message(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index * 167 / 5 + index / 251) as u8).collect()
}

pub(crate) fn recipients(keys: &[&PrivateKey]) -> Vec<Recipient> {
    let recipient = |key: &&PrivateKey| Recipient::new(key.public()).expect("it is long enough");
    keys.iter().map(recipient).collect()
}

pub(crate) fn sealed(keys: &[&PrivateKey], message: &[u8], threads: usize) -> Vec<u8> {
    let mut file = Vec::new();
    encrypt(&recipients(keys), message, &mut file, threads).expect("there is room");
    file
}

pub(crate) fn identity(key: &PrivateKey) -> Identity {
    Identity::new(key).expect("it is long enough")
}

#[test]
fn every_length_on_any_number_of_threads() {
    let key = &KEYS[0];
    for len in [
        0,
        1,
        CHUNK - 1,
        CHUNK,
        CHUNK + 1,
        4 * CHUNK - 1,
        4 * CHUNK,
        4 * CHUNK + 1,
        8 * CHUNK,
        1_000_003,
    ] {
        let message = message(len);
        for threads in [1, 2, 5, 16] {
            let file = sealed(&[key], &message, threads);
            assert!(begins(&file));
            let outline = Outline::read(&file[..]).expect("it has a header");
            assert_eq!(outline.file_len(len as u64), file.len() as u64);
            assert!(!outline.is_armored());
            let mut back = Vec::new();
            decrypt(&identity(key), &file[..], &mut back, 17 - threads).expect("it is whole");
            assert!(back == message, "{len} bytes on {threads} threads");
        }
    }
}

#[test]
fn each_recipient_opens_it_and_nobody_else() {
    let [first, second, third] = &*KEYS;
    let file = sealed(&[first, third], b"for two", 1);
    let outline = Outline::read(&file[..]).expect("it has a header");
    assert!(outline.is_for(&recipients(&[first, third])));
    for others in [
        &[first][..],
        &[third, first],
        &[first, second],
        &[first, third, third],
        &[],
    ] {
        assert!(!outline.is_for(&recipients(others)));
    }
    for key in [first, third] {
        let mut back = Vec::new();
        decrypt(&identity(key), &file[..], &mut back, 1).expect("it is for this key");
        assert_eq!(back, b"for two");
    }
    let mut back = Vec::new();
    let refused = decrypt(&identity(second), &file[..], &mut back, 1).expect_err("it is for others");
    assert!(matches!(refused, Error::NoMatch), "{refused}");
    assert!(back.is_empty());
    let nobody = encrypt(&[], &b"x"[..], Vec::new(), 1).expect_err("it is for nobody");
    assert!(matches!(nobody, Error::Recipients { .. }));
    // The same key many times, of which some are tried.
    let file = sealed(&[first; 40], b"for one", 2);
    decrypt(&identity(first), &file[..], Vec::new(), 1).expect("it is for this key");
}

#[test]
fn text_is_read_with_what_mails_do_to_it() {
    let key = &KEYS[0];
    let message = message(100_000);
    let mut writer = armor::Writer::new(Vec::new());
    encrypt(&recipients(&[key]), &message[..], &mut writer, 2).expect("there is room");
    let text = String::from_utf8(writer.finish().expect("there is room")).expect("it is text");
    let outline = Outline::read(text.as_bytes()).expect("it has a header");
    assert!(outline.is_armored() && outline.is_for(&recipients(&[key])));
    assert_eq!(outline.file_len(message.len() as u64), text.len() as u64);
    for text in [text.clone(), text.replace('\n', "\r\n"), format!("\n \r\n{text} \n\n")] {
        assert!(begins(text.as_bytes()));
        let mut back = Vec::new();
        decrypt(&identity(key), text.as_bytes(), &mut back, 2).expect("it is whole");
        assert!(back == message);
    }
    let quoted = text.replace('\n', "\n> ");
    let refused = decrypt(&identity(key), quoted.as_bytes(), Vec::new(), 2).expect_err("it is quoted");
    assert!(matches!(refused, Error::Armor { .. }), "{refused}");
}

/// Gives a few bytes at a time, then an error.
struct Pieces<'a> {
    bytes: &'a [u8],
    fails: bool,
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() && self.fails {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let most = room.len().min(1013);
        (&mut self.bytes).take(most as u64).read(room)
    }
}

/// Takes so many bytes.
struct Narrow(usize);

impl Write for Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.0).min(9999);
        self.0 -= len;
        match len {
            0 => Err(io::ErrorKind::StorageFull.into()),
            len => Ok(len),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_either_side_end_it() {
    let key = &KEYS[0];
    let message = message(20 * CHUNK + 9);
    let file = sealed(&[key], &message, 3);
    for threads in [1, 4] {
        let whole = |fails, bytes| Pieces { bytes, fails };
        let mut back = Vec::new();
        decrypt(&identity(key), whole(false, &file), &mut back, threads).expect("it is whole");
        assert!(back == message);
        let mut back = Vec::new();
        let refused = decrypt(&identity(key), whole(true, &file), &mut back, threads).expect_err("it has no end");
        assert!(matches!(refused, Error::Read(_)), "{refused}");
        assert!(message.starts_with(&back) && back.len() < message.len());
        let recipients = recipients(&[key]);
        let refused = encrypt(&recipients, whole(true, &message), Vec::new(), threads).expect_err("it has no end");
        assert!(matches!(refused, Error::Read(_)), "{refused}");
        for room in [0, 100, 300, 5 * CHUNK, 20 * CHUNK] {
            let refused = encrypt(&recipients, &message[..], Narrow(room), threads).expect_err("it is full");
            assert!(matches!(refused, Error::Write(_)), "{refused}");
            let refused = decrypt(&identity(key), &file[..], Narrow(room), threads).expect_err("it is full");
            assert!(matches!(refused, Error::Write(_)), "{refused}");
        }
    }
}

/// Is interrupted before each read, as by a signal.
struct Interrupted<'a> {
    bytes: &'a [u8],
    is_interrupted: bool,
}

fn interrupted(bytes: &[u8]) -> Interrupted<'_> {
    Interrupted {
        bytes,
        is_interrupted: false,
    }
}

impl Read for Interrupted<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        match self.is_interrupted {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => self.bytes.read(room),
        }
    }
}

#[test]
fn interruptions_are_outlived() {
    let key = &KEYS[0];
    let message = message(300_000);
    let mut writer = armor::Writer::new(Vec::new());
    encrypt(&recipients(&[key]), interrupted(&message), &mut writer, 2).expect("there is room");
    let text = writer.finish().expect("there is room");
    let with_space = [&text[..], b" \n"].concat();
    let file = sealed(&[key], &message, 1);
    for bytes in [file, text, with_space] {
        let mut back = Vec::new();
        decrypt(&identity(key), interrupted(&bytes), &mut back, 2).expect("it is whole");
        assert!(back == message);
        let outline = Outline::read(BufReader::new(interrupted(&bytes))).expect("it has a header");
        assert!(outline.is_for(&recipients(&[key])));
    }
}

/// A reader that panics takes nobody with it into a deadlock.
#[test]
fn a_panic_is_passed_on() {
    struct Panics(usize);
    impl Read for Panics {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(1).expect("this reader's planned end");
            room.fill(7);
            Ok(room.len())
        }
    }
    let recipients = recipients(&[&KEYS[0]]);
    let ended = catch_unwind(AssertUnwindSafe(|| encrypt(&recipients, Panics(50), io::sink(), 4)));
    assert!(ended.is_err());
}
