//! What openssl.cnf says to the provider, and what is asked of it.

use std::ffi::CString;

use rsalab_fuzz::input::{Input, block};

use crate::{
    core::{Provider, check, clear},
    functions::GetParams,
    params::{INTEGER, NAMES, OCTETS, Params, UNSIGNED, UTF8, counted, seed},
};

/// Values of the section at most.
const MOST: usize = 6;
/// The first of the names that are settings.
const SETTINGS: usize = 43;

/// The bytes as values of openssl.cnf, with which the provider is loaded and asked.
pub(crate) fn settings(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let count = input.choice(MOST + 1);
    let c_string = |bytes: &[u8]| CString::new(bytes.split(|&byte| byte == 0).next().unwrap_or_default());
    let value = |_| {
        let name = NAMES[SETTINGS + input.choice(NAMES.len() - SETTINGS)];
        let [name, value] = [name.as_bytes(), input.block()].map(|bytes| c_string(bytes).expect("no zero is in it"));
        (name, value)
    };
    let values = (0..count).map(value).collect();
    let Some(provider) = Provider::load(values) else {
        return;
    };
    let mut params = Params::of(&mut input, MOST);
    clear();
    // SAFETY: function 1026 of a provider asks it.
    let is_answered = unsafe { provider.own.get::<GetParams>(1026)(provider.context, params.pointer()) };
    params.check(check(is_answered) == 1);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let place = |name: &str| NAMES.iter().position(|known| *known == name).expect("it is a name") - SETTINGS;
    let value = |name: &str, value: &[u8]| [&[place(name) as u8][..], &block(value)].concat();
    let asked = counted(
        &[
            seed("name", 6, b"x"),
            seed("version", UTF8, &[0; 20]),
            seed("status", INTEGER, &[0; 4]),
            seed("buildinfo", 6 | 0x20, b""),
            seed("rsalab-batches", UTF8, &[0; 30]),
            seed("rsalab-abandoned", UNSIGNED, &[0; 8]),
        ],
        MOST,
    );
    let of = |all: &[Vec<u8>]| [counted(all, MOST), asked.clone()].concat();
    vec![
        of(&[value("openssl-version", b"3.5.4"), value("async", b"yes")]),
        of(&[
            value("openssl-version", b"4.x"),
            value("share-threads", b"on"),
            value("share-wait", b" 100 "),
        ]),
        of(&[
            value("abandoned-jobs", b"7"),
            value("async", b"off"),
            value("public-exponent-bits", b"4096"),
        ]),
        of(&[value("share-wait", b"1000001")]),
        of(&[value("async", b"maybe")]),
        of(&[value("abandoned-jobs", b"-5")]),
        of(&[value("public-exponent-bits", b"99999999999999999999")]),
        of(&[value("share-threads", b"\xff\xfe")]),
        [&[0][..], &counted(&[seed("name", OCTETS, &[0; 9])], MOST)].concat(),
    ]
}
