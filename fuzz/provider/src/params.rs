//! Arrays of parameters: what a program may pass, and room for what it asks for.

use std::{
    ffi::{CString, c_char, c_void},
    ptr,
};

use rsalab_fuzz::input::{Input, block};

use crate::functions::Param;

/// Every name that the provider knows.
pub(crate) const NAMES: [&str; 50] = [
    "n",
    "e",
    "d",
    "rsa-factor1",
    "rsa-factor2",
    "rsa-exponent1",
    "rsa-exponent2",
    "rsa-coefficient1",
    "rsa-factor3",
    "rsa-exponent3",
    "rsa-coefficient2",
    "rsa-factor4",
    "rsa-exponent4",
    "rsa-coefficient3",
    "rsa-factor5",
    "rsa-exponent5",
    "rsa-coefficient4",
    "bits",
    "security-bits",
    "max-size",
    "default-digest",
    "mandatory-digest",
    "digest",
    "mgf1-digest",
    "mgf",
    "saltlen",
    "primes",
    "properties",
    "mgf1-properties",
    "digest-props",
    "pad-mode",
    "oaep-label",
    "tls-client-version",
    "tls-negotiated-version",
    "implicit-rejection",
    "algorithm-id",
    "signature",
    "name",
    "version",
    "buildinfo",
    "status",
    "rsalab-batches",
    "rsalab-abandoned",
    "async",
    "abandoned-jobs",
    "share-threads",
    "share-wait",
    "public-exponent-bits",
    "openssl-version",
    "",
];

pub(crate) const INTEGER: u8 = 1;
pub(crate) const UNSIGNED: u8 = 2;
pub(crate) const UTF8: u8 = 4;
pub(crate) const OCTETS: u8 = 5;
const UTF8_PTR: u8 = 6;
const OCTETS_PTR: u8 = 7;

/// A byte of a parameter's form: its type, and whether it has no data.
const WITHOUT_DATA: u8 = 0x10;
/// Of one that has a pointer, whether that is null.
const NULL_POINTER: u8 = 0x20;

/// Bytes behind data, which nobody may write.
const BEHIND: [u8; 16] = [0xc3; 16];
/// The `return_size` of a parameter that nobody answered.
const UNANSWERED: usize = usize::MAX;

/// The data of a parameter.
enum Data {
    None,
    /// Of eight-byte words, as numbers are aligned; so many bytes count, and [`BEHIND`] follows.
    Bytes(Vec<u64>, usize),
    /// A pointer, and what it points to.
    Pointer(Box<*const c_char>, CString),
}

/// An array of parameters.
pub(crate) struct Params {
    array: Vec<Param>,
    names: Vec<CString>,
    data: Vec<Data>,
}

/// A parameter of a seed, as [`Params::of`] reads it.
pub(crate) fn seed(name: &str, form: u8, data: &[u8]) -> Vec<u8> {
    let place = NAMES.iter().position(|known| *known == name).expect("it is a name");
    [&[place as u8, form][..], &block(data)].concat()
}

/// Parameters or calls of a seed after their number, of which there are `most` at most: more would be read as fewer.
pub(crate) fn counted(all: &[Vec<u8>], most: usize) -> Vec<u8> {
    assert!(all.len() <= most, "{} of {most} at most", all.len());
    [vec![all.len() as u8], all.concat()].concat()
}

impl Params {
    /// An array of the next bytes, of so many parameters at most.
    pub(crate) fn of(input: &mut Input<'_>, most: usize) -> Params {
        let count = input.choice(most + 1);
        let mut params = Params {
            array: Vec::new(),
            names: Vec::new(),
            data: Vec::new(),
        };
        for _ in 0..count {
            let name = match NAMES.get(usize::from(input.byte())) {
                Some(name) => name.as_bytes(),
                None => input.block(),
            };
            let form = input.byte();
            params.push(name, form, input.block());
        }
        params.end()
    }

    /// An array of these: name, type and data.
    pub(crate) fn known(all: &[(&str, u8, Vec<u8>)]) -> Params {
        let mut params = Params {
            array: Vec::new(),
            names: Vec::new(),
            data: Vec::new(),
        };
        for (name, form, data) in all {
            params.push(name.as_bytes(), *form, data);
        }
        params.end()
    }

    fn push(&mut self, name: &[u8], form: u8, bytes: &[u8]) {
        self.names.push(until_zero(name));
        let data_type = match form & 0xf {
            known @ 0..9 => known.into(),
            _ => 255,
        };
        let data = match form & 0xf {
            _ if form & WITHOUT_DATA != 0 => Data::None,
            UTF8_PTR | OCTETS_PTR => {
                let text = until_zero(bytes);
                let pointer = if form & NULL_POINTER != 0 {
                    ptr::null()
                } else {
                    text.as_ptr()
                };
                Data::Pointer(Box::new(pointer), text)
            }
            _ => Data::Bytes(words(bytes), bytes.len()),
        };
        let data_size = match &data {
            Data::Pointer(_, text) => text.count_bytes(),
            _ => bytes.len(),
        };
        self.data.push(data);
        self.array.push(Param {
            key: ptr::null(),
            data_type,
            data: ptr::null_mut(),
            data_size,
            return_size: UNANSWERED,
        });
    }

    /// Sets the pointers, now that nothing moves any more.
    fn end(mut self) -> Params {
        for ((param, name), data) in self.array.iter_mut().zip(&self.names).zip(&mut self.data) {
            param.key = name.as_ptr();
            param.data = match data {
                Data::None => ptr::null_mut(),
                Data::Bytes(words, _) => words.as_mut_ptr().cast(),
                Data::Pointer(pointer, _) => ptr::from_mut(&mut **pointer).cast(),
            };
        }
        self.array.push(Param {
            key: ptr::null(),
            data_type: 0,
            data: ptr::null_mut(),
            data_size: 0,
            return_size: 0,
        });
        self
    }

    /// The array, for a function that reads or answers it.
    pub(crate) fn pointer(&mut self) -> *mut Param {
        self.array.as_mut_ptr()
    }

    /// Checks what a function wrote: nothing behind data, and no more than there is room for.
    pub(crate) fn check(&self, is_answered: bool) {
        for (param, data) in self.array.iter().zip(&self.data) {
            match data {
                Data::None => {}
                Data::Bytes(words, len) => {
                    let behind: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).skip(*len).collect();
                    assert_eq!(behind[..BEHIND.len()], BEHIND, "written behind data");
                    let is_in = param.return_size == UNANSWERED || param.return_size <= *len;
                    assert!(
                        is_in || !is_answered,
                        "an answer of {} bytes in {len}",
                        param.return_size
                    );
                }
                Data::Pointer(pointer, text) => {
                    let given = **pointer;
                    if is_answered && param.return_size != UNANSWERED && !given.is_null() && given != text.as_ptr() {
                        // SAFETY: the provider says that so many bytes are there, while what was asked lives.
                        let bytes = unsafe { std::slice::from_raw_parts(given.cast::<u8>(), param.return_size) };
                        std::hint::black_box(bytes.iter().fold(0_u8, |sum, byte| sum ^ byte));
                    }
                }
            }
        }
    }

    /// A number that the array has under this name, if there is one of this name alone and it is short.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        let mut found = self.names.iter().zip(&self.array).zip(&self.data);
        let mut of_name = found.by_ref().filter(|((own, _), _)| own.to_bytes() == name.as_bytes());
        match (of_name.next(), of_name.next()) {
            (Some(((_, param), Data::Bytes(words, len @ 1..=8))), None) if matches!(param.data_type, 1 | 2) => {
                let unused = 8 * (8 - *len as u32);
                Some(words[0] << unused >> unused)
            }
            _ => None,
        }
    }
}

/// The bytes up to a zero, as a string of C.
fn until_zero(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).expect("there is no zero before the end")
}

/// Bytes and [`BEHIND`] in words.
fn words(bytes: &[u8]) -> Vec<u64> {
    let all = [bytes, &BEHIND[..], &[0; 7]].concat();
    let words = all.chunks_exact(8);
    words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect()
}

/// Room for a result, with bytes behind it that nobody may write.
pub(crate) struct Room {
    bytes: Vec<u8>,
    len: usize,
    pub(crate) written: usize,
}

impl Room {
    pub(crate) fn new(len: usize) -> Room {
        let bytes = [vec![0; len], BEHIND.to_vec()].concat();
        let written = UNANSWERED;
        Room { bytes, len, written }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the result goes; null if its length alone is asked for.
    pub(crate) fn out(&mut self, is_asked: bool) -> *mut u8 {
        match is_asked {
            true => self.bytes.as_mut_ptr(),
            false => ptr::null_mut(),
        }
    }

    pub(crate) fn check(&self, is_done: bool) {
        assert_eq!(self.bytes[self.len..], BEHIND, "written behind the room");
        assert!(!is_done || self.written != UNANSWERED, "no length was written");
    }

    /// The result.
    pub(crate) fn result(&self) -> &[u8] {
        &self.bytes[..self.written]
    }
}

/// For functions that take a context which nobody passes.
pub(crate) const NOBODY: *mut c_void = ptr::null_mut();
