//! Private keys under passwords: PBES2, PBES1, PKCS#12's, and OpenSSL's old headers.

use rsalab_rsa::{
    format::{Encoding, Usage, encode_encrypted},
    random::SystemRng,
};

use super::{PASSWORD, base64, der_of, sequence, short, texts};

/// Files of OpenSSL's and OpenSSH's under the password of all seeds, which the tests of `rsa` read, too.
const ENCRYPTED: &str = include_str!("../../../crates/rsa/tests/library/other_formats/encrypted.txt");

/// Keys under [`PASSWORD`], in every way that is read and in some that are not.
pub fn encrypted_keys() -> Vec<Vec<u8>> {
    let own = [Encoding::Der, Encoding::Pem].map(|encoding| {
        let written = encode_encrypted(short(), &Usage::Any, PASSWORD, encoding, &mut SystemRng);
        written.expect("there is randomness").to_vec()
    });
    let blocks = ENCRYPTED
        .split("# ")
        .filter_map(|part| Some(&part[part.find("-----BEGIN ")?..]));
    let mut all: Vec<Vec<u8>> = own.into();
    all.extend(blocks.map(|block| block.as_bytes().to_vec()));
    all.extend(derivations());
    all
}

/// Parameters of passwords: of every function that makes a key of one, and such that are refused.
fn derivations() -> Vec<Vec<u8>> {
    let oid = |arcs: &[u8]| der_of(6, arcs);
    let pbes2 = |derivation: &[u8], cipher: &[u8]| {
        let parameters = sequence(&[derivation, cipher]);
        let algorithm = sequence(&[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 13]), &parameters]);
        sequence(&[&algorithm, &der_of(4, &[0x5a; 32])])
    };
    let integer = |number: u64| {
        let bytes = number.to_be_bytes();
        der_of(2, &[&[0][..], &bytes[number.leading_zeros() as usize / 8..]].concat())
    };
    let small = |number: u8| vec![2, 1, number];
    let aes = sequence(&[&oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a]), &der_of(4, &[7; 16])]);
    let pbkdf2 = |rest: &[Vec<u8>]| {
        let parameters = [vec![der_of(4, &[7; 8])], rest.to_vec()].concat().concat();
        sequence(&[
            &oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 5, 12]),
            &der_of(0x30, &parameters),
        ])
    };
    let scrypt = |numbers: &[Vec<u8>]| {
        let parameters = [vec![der_of(4, &[7; 8])], numbers.to_vec()].concat().concat();
        sequence(&[
            &oid(&[0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 0x0b]),
            &der_of(0x30, &parameters),
        ])
    };
    let hash = |arcs: &[u8]| sequence(&[&oid(arcs), &[5, 0]]);
    let hmac = |last: u8| hash(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 2, last]);
    let sha3 = |last: u8| hash(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, last]);
    let mut all = Vec::new();
    for function in [6, 7, 8, 9, 10, 11, 12, 13, 14] {
        all.push(pbes2(&pbkdf2(&[small(9), hmac(function)]), &aes));
    }
    for function in [13, 14, 15, 16] {
        all.push(pbes2(&pbkdf2(&[small(9), sha3(function)]), &aes));
    }
    all.extend([
        pbes2(&pbkdf2(&[small(9)]), &aes),
        pbes2(&pbkdf2(&[small(9), small(32)]), &aes),
        pbes2(&pbkdf2(&[small(9), small(7)]), &aes),
        pbes2(&pbkdf2(&[small(0)]), &aes),
        pbes2(&pbkdf2(&[vec![2, 4, 0x7f, 0xff, 0xff, 0xff]]), &aes),
        pbes2(&pbkdf2(&[]), &aes),
        pbes2(&sequence(&[&oid(&[0x2a, 3, 4])]), &aes),
        pbes2(&scrypt(&[small(2), small(1), small(1)]), &aes),
        pbes2(&scrypt(&[small(4), small(8), small(1), small(32)]), &aes),
        pbes2(&scrypt(&[small(3), small(8), small(1)]), &aes),
        // 63 MB, which is more than a file may take.
        pbes2(&scrypt(&[integer(1 << 15), small(15), small(1)]), &aes),
        pbes2(&scrypt(&[integer(1 << 40), small(8), small(1)]), &aes),
        pbes2(&scrypt(&[integer(1 << 14), integer(1 << 20), small(1)]), &aes),
        pbes2(
            &scrypt(&[integer(u64::MAX), integer(u64::MAX), integer(u64::MAX)]),
            &aes,
        ),
        pbes2(&scrypt(&[small(2)]), &aes),
    ]);
    let iterated = pbkdf2(&[small(9)]);
    let gcm = oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2e]);
    let rc2 = oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 3, 2]);
    for cipher in [
        sequence(&[&gcm, &sequence(&[&der_of(4, &[7; 12]), &small(16)])]),
        sequence(&[&gcm, &sequence(&[&der_of(4, &[7; 12]), &small(12)])]),
        sequence(&[&gcm, &der_of(4, &[7; 12])]),
        sequence(&[&rc2, &sequence(&[&der_of(4, &[7; 8])])]),
        sequence(&[&rc2, &sequence(&[&[2, 2, 0, 160], &der_of(4, &[7; 8])])]),
        sequence(&[&rc2, &sequence(&[&small(120), &der_of(4, &[7; 8])])]),
        sequence(&[&rc2, &sequence(&[&small(58), &der_of(4, &[7; 8])])]),
        sequence(&[&rc2, &sequence(&[&integer(512), &der_of(4, &[7; 8])])]),
        sequence(&[&rc2, &sequence(&[&small(1), &der_of(4, &[7; 8])])]),
        sequence(&[&oid(&[0x2a, 3, 4]), &der_of(4, &[7; 8])]),
        sequence(&[&oid(&[0x2b, 14, 3, 2, 7]), &der_of(4, &[7; 3])]),
        sequence(&[&oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2c]), &der_of(4, &[7; 16])]),
        sequence(&[&oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a]), &[5, 0]]),
    ] {
        all.push(pbes2(&iterated, &cipher));
    }
    all.push(pbes2(
        &pbkdf2(&[small(9), small(5)]),
        &sequence(&[&rc2, &sequence(&[&der_of(4, &[7; 8])])]),
    ));
    all.push(pbes2(
        &pbkdf2(&[small(9), vec![2, 2, 1, 0]]),
        &sequence(&[&rc2, &sequence(&[&der_of(4, &[7; 8])])]),
    ));
    // PBES1, and PKCS#12's.
    for arcs in [[5, 1], [5, 3], [5, 4], [5, 6], [5, 10], [5, 11]] {
        let algorithm = oid(&[&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1][..], &arcs].concat());
        let algorithm = sequence(&[&algorithm, &sequence(&[&der_of(4, &[7; 8]), &small(9)])]);
        all.push(sequence(&[&algorithm, &der_of(4, &[0x5a; 32])]));
    }
    for last in 1..7 {
        let algorithm = oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 12, 1, last]);
        let algorithm = sequence(&[&algorithm, &sequence(&[&der_of(4, &[7; 8]), &small(last - 1)])]);
        all.push(sequence(&[&algorithm, &der_of(4, &[0x5a; 32])]));
    }
    for info in [
        "AES-128-CBC,00112233445566778899AABBCCDDEEFF",
        "AES-128-CBC,0011",
        "AES-128-CBC,0011223344556677889xAABBCCDDEEFF",
        "AES-128-CBC",
        "CAMELLIA-128-CBC,00112233445566778899AABBCCDDEEFF",
        "BF-CBC,0011223344556677",
        "ANOTHER,00",
    ] {
        let body = base64(&[0x5a; 32]);
        all.push(
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: {info}\n\n{body}\n-----END RSA PRIVATE KEY-----\n"
            )
            .into_bytes(),
        );
    }
    all.extend(texts(&[
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-CBC,0011223344556677\n\n!!!\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nX: y\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
    ]));
    all
}
