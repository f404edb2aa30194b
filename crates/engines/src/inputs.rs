//! Inputs of a measurement, made anew from a seed whenever they are needed.

use num_bigint::BigUint;
use rand_core::Rng;
use rsalab_rsa::random::InsecureStudySeed;

use crate::{
    candidates::average_case,
    job::{Job, StudyKey},
    loading,
    number::{encrypted, exponent, fixed, power_vartime, private_power_vartime},
    op::{DIGEST_BYTES, Op},
    padding::emsa_pkcs1_v1_5,
};

/// Inputs for `items` items of a job, or for its whole text, laid out as [`Op::layout`] says.
///
/// The same seed, stream, job and key give the same inputs. Blocks are uniformly random below the modulus, and so
/// different from each other; texts are random printable characters. The steps of key set-up get the key's own primes
/// first, and then pairs of odd numbers of their size: to the arithmetic they are as good as primes, and no two items
/// are the same, so that no engine is timed at branches it has learnt. Signatures to be verified are right, but for
/// every eighth, of which one bit was changed; to be screened, all. Keys to be imported are the study's, again and
/// again. Operations without input get none.
pub fn inputs(job: &Job, key: &StudyKey, seed: &InsecureStudySeed, stream: u64, items: usize) -> Vec<u8> {
    let mut rng = seed.stream(stream);
    match job.op {
        Op::Private | Op::Public => (0..items).flat_map(|_| block(job, key, &mut rng)).collect(),
        Op::Keygen | Op::PrimePair => Vec::new(),
        Op::Totient => prime_like_pairs(key, &exponent(job, Some(key)), &mut rng, items).concat(),
        Op::PrivateExponent => prime_like_pairs(key, &exponent(job, Some(key)), &mut rng, items)
            .iter()
            .flat_map(|pair| totient(pair, key.n.len()))
            .collect(),
        Op::TextEncrypt | Op::TextDecrypt => of_text(job, key, &text(job.symbols, &mut rng)),
        // A nonce is as long as a digest, and looks like one.
        Op::Sign | Op::Handshake | Op::HandshakeServer | Op::HandshakeResumed => {
            (0..items).flat_map(|_| digest(&mut rng)).collect()
        }
        Op::SignMessage => {
            let mut messages = vec![0; items * job.message_bytes];
            rng.fill_bytes(&mut messages);
            messages
        }
        Op::Verify => signed(key, &mut rng, items, SPOILT),
        Op::Screen => signed(key, &mut rng, items, 0),
        Op::ImportPrivate => loading::private_item(key).repeat(items),
        Op::ImportVerify => {
            let public = loading::public_item(key);
            let signed = signed(key, &mut rng, items, SPOILT);
            let each = signed.chunks(DIGEST_BYTES + key.n.len());
            each.flat_map(|signed| [&public[..], signed].concat()).collect()
        }
        Op::PrimeSearch => (0..items).flat_map(|_| average_case(key, &mut rng)).collect(),
    }
}

/// As [`inputs`], for items that are under several keys by turns: item `i` under key `i` modulo their number.
///
/// # Panics
/// There is no key.
pub fn inputs_under(job: &Job, keys: &[StudyKey], seed: &InsecureStudySeed, stream: u64, items: usize) -> Vec<u8> {
    let length = job.layout().input;
    let each = |(place, key): (usize, &StudyKey)| {
        let own = items.saturating_sub(place).div_ceil(keys.len());
        // Apart from each other, and below the streams of keys.
        inputs(job, key, seed, stream + ((place as u64) << 36), own)
    };
    match keys {
        [key] => inputs(job, key, seed, stream, items),
        _ => {
            let each: Vec<Vec<u8>> = keys.iter().enumerate().map(each).collect();
            let item = |item: usize| &each[item % keys.len()][item / keys.len() * length..][..length];
            (0..items).flat_map(item).copied().collect()
        }
    }
}

/// The input of a job on a text that is given: its first [`Job::symbols`] bytes, for decryption encrypted.
///
/// # Panics
/// If the text is shorter, or the operation takes none.
pub fn of_text(job: &Job, key: &StudyKey, text: &[u8]) -> Vec<u8> {
    let text = &text[..job.symbols];
    match job.op {
        Op::TextEncrypt => text.to_vec(),
        Op::TextDecrypt => encrypted(job, key, text),
        op => panic!("'{op}' takes no text"),
    }
}

/// Random bytes: what a digest looks like.
fn digest(rng: &mut impl Rng) -> [u8; DIGEST_BYTES] {
    let mut digest = [0; DIGEST_BYTES];
    rng.fill_bytes(&mut digest);
    digest
}

/// Signatures that are spoilt, of eight.
const SPOILT: usize = 1;

/// Digests with their signatures, the last ones of eight spoilt.
fn signed(key: &StudyKey, rng: &mut impl Rng, items: usize, spoilt: usize) -> Vec<u8> {
    let mut signed = Vec::with_capacity(items * (DIGEST_BYTES + key.n.len()));
    for item in 0..items {
        let digest = digest(rng);
        let mut signature = private_power_vartime(&emsa_pkcs1_v1_5(&digest, key.n.len()), key);
        let bit = rng.next_u64();
        if item % 8 >= 8 - spoilt {
            // Of the lower half, so that it stays below the modulus.
            let half = signature.len() / 2;
            signature[half + (bit >> 3) as usize % half] ^= 1 << (bit & 7);
        }
        signed.extend(digest);
        signed.extend(signature);
    }
    signed
}

/// A block of raw input: any number below the modulus, or where a job asks for messages of a length, such a message for
/// the public operation and its power for the private one.
fn block(job: &Job, key: &StudyKey, rng: &mut impl Rng) -> Vec<u8> {
    let Some(bits) = job.message_bits else {
        return below(&key.n, rng);
    };
    let message = message(bits, key.n.len(), rng);
    match job.op {
        Op::Private => power_vartime(
            &message,
            &BigUint::from_bytes_be(&key.e),
            &BigUint::from_bytes_be(&key.n),
            key.n.len(),
        ),
        _ => message,
    }
}

/// A random number of exactly so many bits, fewer than the modulus has.
fn message(bits: usize, length: usize, rng: &mut impl Rng) -> Vec<u8> {
    let mut message = vec![0; bits.div_ceil(8)];
    rng.fill_bytes(&mut message);
    let mut number = BigUint::from_bytes_be(&message) >> (8 * message.len() - bits);
    number.set_bit(bits as u64 - 1, true);
    fixed(&number, length).expect("it is shorter than the modulus")
}

/// A uniform block below the modulus, by rejection.
fn below(modulus: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut block = vec![0; modulus.len()];
    loop {
        rng.fill_bytes(&mut block);
        block[0] &= u8::MAX >> modulus[0].leading_zeros();
        if block[..] < *modulus {
            return block;
        }
    }
}

/// Pairs `p ‖ q` whose totients are prime to the exponent.
fn prime_like_pairs(key: &StudyKey, e: &BigUint, rng: &mut impl Rng, items: usize) -> Vec<Vec<u8>> {
    let mut prime_like = || loop {
        let mut number = vec![0; key.p.len()];
        rng.fill_bytes(&mut number);
        let mut number = BigUint::from_bytes_be(&number) >> (8 * key.p.len() - key.bits / 2);
        // The top two bits, so that a product of two has the length of the modulus.
        for bit in [0, key.bits as u64 / 2 - 2, key.bits as u64 / 2 - 1] {
            number.set_bit(bit, true);
        }
        if (&number - 1u32).modinv(e).is_some() {
            return fixed(&number, key.p.len()).expect("it is as long as a prime");
        }
    };
    let own = [&key.p[..], &key.q].concat();
    let others = (1..items).map(|_| [prime_like(), prime_like()].concat());
    [own].into_iter().chain(others).take(items).collect()
}

/// `φ(n)` of a pair `p ‖ q`, in as many bytes as the modulus has.
fn totient(pair: &[u8], length: usize) -> Vec<u8> {
    let (p, q) = pair.split_at(pair.len() / 2);
    let predecessor = |prime: &[u8]| BigUint::from_bytes_be(prime) - 1u32;
    fixed(&(predecessor(p) * predecessor(q)), length).expect("it is smaller than the modulus")
}

/// Random printable characters, one byte each.
fn text(symbols: usize, rng: &mut impl Rng) -> Vec<u8> {
    const PRINTABLE: std::ops::RangeInclusive<u8> = b' '..=b'~';
    let mut text = Vec::with_capacity(symbols);
    let mut bytes = [0; 256];
    while text.len() < symbols {
        rng.fill_bytes(&mut bytes);
        let printable = bytes
            .iter()
            .map(|byte| byte & 0x7F)
            .filter(|byte| PRINTABLE.contains(byte));
        text.extend(printable.take(symbols - text.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{exponent::Exponent, job::Mode};

    fn job(op: Op, symbols: usize) -> Job {
        Job {
            op,
            bits: 512,
            threads: 1,
            batch: 1,
            mode: Mode::Latency,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            primes: 2,
            keys: 1,
            message_bits: None,
            message_bytes: if op == Op::SignMessage { 100 } else { 0 },
            symbols,
            block_symbols: if op.is_text() { 63 } else { 0 },
        }
    }

    #[test]
    fn every_operation_gets_inputs_of_its_layout_again_and_again_the_same() {
        let seed = InsecureStudySeed::new([3; 32]);
        let key = StudyKey::from_seed(&seed, 512, Exponent::F4).unwrap();
        for op in Op::ALL {
            let job = job(op, if op.is_text() { 1000 } else { 0 });
            let made = inputs(&job, &key, &seed, 5, 9);
            let expected = job.input_len().unwrap_or(9 * job.layout().input);
            assert_eq!(made.len(), expected, "{op}");
            assert_eq!(made, inputs(&job, &key, &seed, 5, 9), "{op}");
            // The key to be imported is the same whatever the stream.
            if !made.is_empty() && op != Op::ImportPrivate {
                assert_ne!(made, inputs(&job, &key, &seed, 6, 9), "{op}");
            }
        }
    }

    #[test]
    fn pairs_are_as_long_as_primes_and_differ() {
        let seed = InsecureStudySeed::new([6; 32]);
        let key = StudyKey::from_seed(&seed, 512, Exponent::F4).unwrap();
        let made = inputs(&job(Op::Totient, 0), &key, &seed, 0, 20);
        assert_eq!(made[..64], [&key.p[..], &key.q].concat());
        let mut numbers: Vec<BigUint> = made.chunks(32).map(BigUint::from_bytes_be).collect();
        assert!(numbers.iter().all(|number| number.bits() == 256 && number.bit(0)));
        assert!(numbers.chunks(2).all(|pair| (&pair[0] * &pair[1]).bits() == 512));
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), 40);
    }

    #[test]
    fn blocks_are_below_the_modulus_and_differ() {
        let seed = InsecureStudySeed::new([4; 32]);
        let key = StudyKey::from_seed(&seed, 512, Exponent::F4).unwrap();
        let made = inputs(&job(Op::Private, 0), &key, &seed, 0, 50);
        let mut blocks: Vec<&[u8]> = made.chunks(64).collect();
        assert!(blocks.iter().all(|block| *block < &key.n[..]));
        blocks.sort();
        blocks.dedup();
        assert_eq!(blocks.len(), 50);
    }

    #[test]
    fn messages_have_their_length_and_ciphertexts_are_their_powers() {
        let seed = InsecureStudySeed::new([4; 32]);
        for exponent in [Exponent::F4, Exponent::Random] {
            let key = StudyKey::from_seed(&seed, 512, exponent).unwrap();
            let of = |op| Job {
                message_bits: Some(101),
                exponent,
                ..job(op, 0)
            };
            let messages = inputs(&of(Op::Public), &key, &seed, 0, 5);
            let lengths = messages.chunks(64).map(|m| BigUint::from_bytes_be(m).bits());
            assert_eq!(lengths.collect::<Vec<_>>(), [101; 5]);
            let ciphertexts = inputs(&of(Op::Private), &key, &seed, 0, 5);
            crate::verify(&of(Op::Public), &key, &messages, &ciphertexts).unwrap();
            crate::verify(&of(Op::Private), &key, &ciphertexts, &messages).unwrap();
        }
    }

    #[test]
    fn texts_are_printable() {
        let seed = InsecureStudySeed::new([5; 32]);
        let text = text(10_000, &mut seed.stream(0));
        assert_eq!(text.len(), 10_000);
        assert!(text.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '));
    }
}
