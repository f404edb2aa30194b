//! The vectors of RFC 9474 as a header for the tests in C.

use std::{collections::BTreeMap, fmt::Write};

use rsalab_rsa::{
    PrivateKey,
    blind::{BlindingKey, InputMessage, Variant},
    format::{Encoding, PrivateFormat, encode_private},
};

const TEXT: &str = include_str!("../../../../../crates/rsa/tests/library/blind/rfc9474.txt");

type Fields<'a> = BTreeMap<&'a str, Vec<u8>>;

/// `struct vector` and `VECTORS`.
pub(crate) fn header() -> String {
    let mut key = Fields::new();
    let mut vectors: Vec<(Variant, Fields<'_>)> = Vec::new();
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if let Some(name) = name {
            vectors.push((name.parse().unwrap(), key.clone()));
        } else if let Some((field, value)) = line.split_once('=') {
            let fields = vectors.last_mut().map_or(&mut key, |(_, fields)| fields);
            fields.insert(field.trim(), bytes(value.trim()));
        }
    }
    assert_eq!(vectors.len(), Variant::ALL.len());
    let of_vector = ["key", "state", "msg", "msg_prefix", "blinded_msg", "blind_sig", "sig"];
    let mut text = format!(
        "struct vector {{\n  uint32_t variant;\n  rsalab_bytes {};\n}};\n",
        of_vector.join(", ")
    );
    for (number, (variant, fields)) in vectors.iter_mut().enumerate() {
        let key = PrivateKey::from_primes(&fields["p"], &fields["q"], &fields["e"]).unwrap();
        let pem = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
        fields.insert("key", pem.to_vec());
        fields.insert("state", state(&key, *variant, fields));
        for field in of_vector {
            let numbers: Vec<String> = fields[field].iter().map(u8::to_string).collect();
            // C has no array of nothing.
            let numbers = format!("{}, 0", numbers.join(", "));
            let numbers = numbers.trim_start_matches(", ");
            writeln!(text, "static const uint8_t {field}_{number}[] = {{{numbers}}};").unwrap();
        }
    }
    text.push_str("static const struct vector VECTORS[] = {\n");
    for (number, (variant, fields)) in vectors.iter().enumerate() {
        let name = match variant {
            Variant::PssRandomized => "PSS_RANDOMIZED",
            Variant::PsszeroRandomized => "PSSZERO_RANDOMIZED",
            Variant::PssDeterministic => "PSS_DETERMINISTIC",
            Variant::PsszeroDeterministic => "PSSZERO_DETERMINISTIC",
        };
        write!(text, "    {{RSALAB_BLIND_VARIANT_{name}").unwrap();
        for field in of_vector {
            write!(text, ", {{{field}_{number}, {}}}", fields[field].len()).unwrap();
        }
        text.push_str("},\n");
    }
    text.push_str("};\n");
    text
}

fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// A state of the key and the variant, which ends with prefix and inverse: with those of the vector.
fn state(key: &PrivateKey, variant: Variant, fields: &Fields<'_>) -> Vec<u8> {
    let client = BlindingKey::new(key.public(), variant).unwrap();
    let input = InputMessage::with_prefix(variant, &fields["msg_prefix"], &fields["msg"]).unwrap();
    let (_, pending) = client.blind(&input).unwrap();
    let encoded = pending.encode();
    let inverse = &fields["inv"];
    assert_eq!(inverse.len(), key.modulus_len());
    [&encoded[..encoded.len() - inverse.len()], inverse].concat()
}
