//! Are an engine's outputs right? Answered without any engine: by relations that a right answer must fulfil, in the
//! arithmetic of a big-integer library that no engine of this crate exponentiates with.
//!
//! | operation | what must hold |
//! |---|---|
//! | private | output below `n`, and `output^e = input mod n` |
//! | public | output = `input^e mod n` |
//! | keygen | `p`, `q` as for a prime pair, `d·e = 1 mod lcm(p−1, q−1)`, `d < n` |
//! | prime pair | both probably prime, of half the modulus's bits, different, `p·q` of all its bits, `e` prime to `p−1`, `q−1` |
//! | totient | `n = p·q`, `φ = (p−1)(q−1)` |
//! | private exponent | `d·e = 1 mod φ`, `d < φ` |
//! | sign | output below `n`, and `output^e mod n` the digest's encoding |
//! | sign message | as sign, of the message's digest |
//! | handshakes | the nonce, and whether it was to be full or resumed |
//! | verify | 1 if the signature is below `n` and its power is the digest's encoding, else 0 |
//! | import private | the modulus of the key |
//! | import verify | as verify |
//! | prime search | the last candidates of the two halves, probably prime: the others were made composite |
//! | keygen, prime pair | no prime twice among all outputs |
//! | text encrypt | each block as public |
//! | text decrypt | the text, encrypted again, is the input |

use std::collections::BTreeSet;

use num_bigint::BigUint;
use rsalab_rsa::hash::Hash;

use crate::{
    job::{Job, StudyKey},
    number::{encrypted, exponent, is_probable_prime_vartime, power_vartime},
    op::{DIGEST_BYTES, HANDSHAKE_FULL, HANDSHAKE_RESUMED, Op, public_key_bytes},
    padding::emsa_pkcs1_v1_5,
};

/// An output that is not right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong answer to '{op}', item {item}: {what}")]
pub struct WrongAnswer {
    /// The operation.
    pub op: Op,
    /// Which item of the outputs, or which block of the text.
    pub item: usize,
    /// The relation that does not hold.
    pub what: String,
}

/// Checks every output of a job against its inputs.
///
/// `inputs` and `outputs` are laid out as [`Op::layout`] says. Operations that make keys need none.
///
/// # Errors
/// The first output that is not right, or missing.
///
/// # Panics
/// The operation takes a key, or a random exponent, and there is no key.
pub fn verify<'a>(
    job: &Job,
    key: impl Into<Option<&'a StudyKey>>,
    inputs: &[u8],
    outputs: &[u8],
) -> Result<(), WrongAnswer> {
    let key = key.into();
    let wrong = |item: usize, what: &str| WrongAnswer {
        op: job.op,
        item,
        what: what.to_owned(),
    };
    if job.op.is_text() {
        let key = key.expect("a text is encrypted with a key");
        return verify_text(job, key, inputs, outputs).map_err(|item| wrong(item, "the block is not the right one"));
    }
    let layout = job.layout();
    let items = outputs.len() / layout.output;
    if !outputs.len().is_multiple_of(layout.output) || (layout.input != 0 && inputs.len() != items * layout.input) {
        let what = format!("{} bytes came out for {} bytes of inputs", outputs.len(), inputs.len());
        return Err(WrongAnswer {
            op: job.op,
            item: items,
            what,
        });
    }
    let n = key.map_or_else(BigUint::default, |key| BigUint::from_bytes_be(&key.n));
    let e = exponent(job, key);
    for (item, output) in outputs.chunks_exact(layout.output).enumerate() {
        let input = &inputs[item * layout.input..][..layout.input];
        let checked = match job.op {
            Op::Private => check_private(input, output, &n, &e),
            Op::Public => match power_vartime(input, &e, &n, layout.output) == output {
                true => Ok(()),
                false => Err("it is not the input's power"),
            },
            Op::Keygen => check_key(output, job, &e),
            Op::PrimePair => check_primes(output, job, &e).map(|_| ()),
            Op::Totient => check_totient(input, output),
            Op::PrivateExponent => check_private_exponent(input, output, &e),
            Op::Sign => check_private(&emsa_pkcs1_v1_5(input, layout.output), output, &n, &e),
            Op::SignMessage => {
                let digest = Hash::Sha256.digest(input);
                check_private(&emsa_pkcs1_v1_5(&digest, layout.output), output, &n, &e)
            }
            Op::Handshake | Op::HandshakeServer => check_handshake(input, output, HANDSHAKE_FULL),
            Op::HandshakeResumed => check_handshake(input, output, HANDSHAKE_RESUMED),
            Op::Verify | Op::Screen => check_verdict(input, output[0], &n, &e),
            Op::PrimeSearch => check_found(input, output),
            Op::ImportPrivate => match key.is_some_and(|key| key.n == output) {
                true => Ok(()),
                false => Err("it is not the modulus of the key"),
            },
            Op::ImportVerify => check_verdict(&input[public_key_bytes(job.bits)..], output[0], &n, &e),
            Op::TextEncrypt | Op::TextDecrypt => unreachable!("texts are checked as a whole"),
        };
        checked.map_err(|what| wrong(item, what))?;
    }
    match job.op {
        Op::Keygen | Op::PrimePair => verify_no_prime_twice(job, outputs),
        _ => Ok(()),
    }
}

/// As [`verify`], of items that are under several keys by turns, as [`inputs_under`](crate::inputs_under) makes them.
///
/// # Errors
/// An output that is not right, or missing.
pub fn verify_under(job: &Job, keys: &[StudyKey], inputs: &[u8], outputs: &[u8]) -> Result<(), WrongAnswer> {
    if keys.len() < 2 {
        return verify(job, keys.first(), inputs, outputs);
    }
    let layout = job.layout();
    let whole = |bytes: &[u8], length: usize| {
        bytes
            .len()
            .checked_div(length)
            .filter(|_| bytes.len().is_multiple_of(length))
    };
    if whole(inputs, layout.input) != whole(outputs, layout.output) || whole(outputs, layout.output).is_none() {
        return verify(job, keys.first(), inputs, outputs);
    }
    let own = |bytes: &[u8], length: usize, place: usize| -> Vec<u8> {
        let items = bytes.chunks(length).skip(place).step_by(keys.len());
        items.flatten().copied().collect()
    };
    for (place, key) in keys.iter().enumerate() {
        let [inputs, outputs] =
            [(inputs, layout.input), (outputs, layout.output)].map(|(bytes, length)| own(bytes, length, place));
        verify(job, key, &inputs, &outputs).map_err(|wrong| WrongAnswer {
            item: wrong.item * keys.len() + place,
            ..wrong
        })?;
    }
    Ok(())
}

/// Checks that no prime of a key or a pair is one of an earlier one too, which a generator that repeats itself makes.
///
/// [`verify`] does so too, but only within the outputs that it is given: this is for those that were verified in parts.
///
/// # Errors
/// The first key or pair with a prime that was made before.
pub fn verify_no_prime_twice(job: &Job, outputs: &[u8]) -> Result<(), WrongAnswer> {
    let primes = Op::PrimePair.layout(job.bits, 0).output;
    let mut seen = BTreeSet::new();
    let repetition = outputs.chunks_exact(job.layout().output).position(|output| {
        let (p, q) = output[..primes].split_at(primes / 2);
        !seen.insert(p) | !seen.insert(q)
    });
    repetition.map_or(Ok(()), |item| {
        Err(WrongAnswer {
            op: job.op,
            item,
            what: "one of its primes was made before".to_owned(),
        })
    })
}

fn check_private(input: &[u8], output: &[u8], n: &BigUint, e: &BigUint) -> Result<(), &'static str> {
    let result = BigUint::from_bytes_be(output);
    if result >= *n {
        return Err("it is not smaller than the modulus");
    }
    if result.modpow(e, n) != BigUint::from_bytes_be(input) {
        return Err("its public power is not the input");
    }
    Ok(())
}

fn check_handshake(nonce: &[u8], output: &[u8], expected: u8) -> Result<(), &'static str> {
    match output.split_last() {
        Some((kind, got)) if got == nonce && *kind == expected => Ok(()),
        Some((_, got)) if got != nonce => Err("the server did not get what the client sent"),
        _ => Err("a handshake was full that should have resumed a session, or the other way round"),
    }
}

fn check_verdict(signed: &[u8], verdict: u8, n: &BigUint, e: &BigUint) -> Result<(), &'static str> {
    let (digest, signature) = signed.split_at(DIGEST_BYTES);
    let number = BigUint::from_bytes_be(signature);
    let is_valid =
        number < *n && number.modpow(e, n) == BigUint::from_bytes_be(&emsa_pkcs1_v1_5(digest, signature.len()));
    match (verdict, is_valid) {
        (1, true) | (0, false) => Ok(()),
        (0, true) => Err("a right signature was rejected"),
        (1, false) => Err("a wrong signature was accepted"),
        _ => Err("the verdict is neither 0 nor 1"),
    }
}

fn check_found(candidates: &[u8], output: &[u8]) -> Result<(), &'static str> {
    let halves = candidates.chunks(candidates.len() / 2);
    for (half, found) in halves.zip(output.chunks(output.len() / 2)) {
        if !half.ends_with(found) {
            return Err("it is not the prime of the sequence");
        }
        if !is_probable_prime_vartime(&BigUint::from_bytes_be(found)) {
            return Err("the sequence had no prime at its end");
        }
    }
    Ok(())
}

fn check_key(output: &[u8], job: &Job, e: &BigUint) -> Result<(), &'static str> {
    let (primes, d) = output.split_at(Op::PrimePair.layout(job.bits, 0).output);
    let [p, q] = check_primes(primes, job, e)?;
    let d = BigUint::from_bytes_be(d);
    if d >= &p * &q {
        return Err("d is not smaller than the modulus");
    }
    // Modulo p − 1 and q − 1 is modulo their least common multiple.
    for prime in [p, q] {
        if (&d * e) % (prime - 1u32) != BigUint::from(1u32) {
            return Err("d is no inverse of e");
        }
    }
    Ok(())
}

fn check_primes(output: &[u8], job: &Job, e: &BigUint) -> Result<[BigUint; 2], &'static str> {
    let (p, q) = output.split_at(output.len() / 2);
    let primes = [p, q].map(BigUint::from_bytes_be);
    for prime in &primes {
        if prime.bits() != job.bits as u64 / 2 {
            return Err("a prime is not of half the modulus's bits");
        }
        if !is_probable_prime_vartime(prime) {
            return Err("p or q is not prime");
        }
        if (prime - 1u32).modinv(e).is_none() {
            return Err("e is not prime to p − 1 and q − 1");
        }
    }
    let [p, q] = &primes;
    if p == q {
        return Err("the primes are the same");
    }
    if (p * q).bits() != job.bits as u64 {
        return Err("the modulus is too short");
    }
    Ok(primes)
}

fn check_totient(input: &[u8], output: &[u8]) -> Result<(), &'static str> {
    let (p, q) = input.split_at(input.len() / 2);
    let (n, phi) = output.split_at(output.len() / 2);
    let [p, q, n, phi] = [p, q, n, phi].map(BigUint::from_bytes_be);
    if n != &p * &q {
        return Err("n is not p·q");
    }
    if phi != (p - 1u32) * (q - 1u32) {
        return Err("φ is not (p − 1)(q − 1)");
    }
    Ok(())
}

fn check_private_exponent(input: &[u8], output: &[u8], e: &BigUint) -> Result<(), &'static str> {
    let [phi, d] = [input, output].map(BigUint::from_bytes_be);
    if d >= phi {
        return Err("d is not smaller than φ");
    }
    if d * e % phi != BigUint::from(1u32) {
        return Err("d is not the inverse of e");
    }
    Ok(())
}

/// The first block that is wrong.
fn verify_text(job: &Job, key: &StudyKey, inputs: &[u8], outputs: &[u8]) -> Result<(), usize> {
    let (text, blocks) = match job.op {
        Op::TextEncrypt => (inputs, outputs),
        _ => (outputs, inputs),
    };
    let expected = encrypted(job, key, text);
    let block = key.n.len();
    if let Some(item) = expected
        .chunks(block)
        .zip(blocks.chunks(block))
        .position(|(left, right)| left != right)
    {
        return Err(item);
    }
    if text.len() != job.symbols || expected.len() != blocks.len() {
        return Err(expected.len().min(blocks.len()) / block);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rsalab_rsa::random::InsecureStudySeed;

    use super::*;
    use crate::{exponent::Exponent, inputs::inputs, job::Mode, number::fixed};

    fn job(op: Op) -> Job {
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
            symbols: if op.is_text() { 200 } else { 0 },
            block_symbols: if op.is_text() { 63 } else { 0 },
        }
    }

    fn seed() -> InsecureStudySeed {
        InsecureStudySeed::new([7; 32])
    }

    /// Right outputs, from the key's own parts.
    fn right(job: &Job, key: &StudyKey, inputs: &[u8]) -> Vec<u8> {
        let [n, e, d, p, q] = [&key.n, &key.e, &key.d, &key.p, &key.q].map(|part| BigUint::from_bytes_be(part));
        let blocks = |exponent: &BigUint| {
            inputs
                .chunks(64)
                .flat_map(|block| power_vartime(block, exponent, &n, 64))
                .collect::<Vec<_>>()
        };
        let phi = (&p - 1u32) * (&q - 1u32);
        match job.op {
            Op::Private => blocks(&d),
            Op::Public => blocks(&e),
            Op::Keygen => [&key.p[..], &key.q, &key.d].concat(),
            Op::PrimePair => [&key.p[..], &key.q].concat(),
            Op::Totient => [key.n.clone(), fixed(&phi, 64).unwrap()].concat(),
            Op::PrivateExponent => fixed(&e.modinv(&phi).unwrap(), 64).unwrap(),
            Op::TextEncrypt => encrypted(job, key, inputs),
            Op::Sign => power_vartime(&emsa_pkcs1_v1_5(inputs, 64), &d, &n, 64),
            Op::Handshake | Op::HandshakeServer => [inputs, &[HANDSHAKE_FULL]].concat(),
            Op::HandshakeResumed => [inputs, &[HANDSHAKE_RESUMED]].concat(),
            Op::SignMessage => power_vartime(&emsa_pkcs1_v1_5(&Hash::Sha256.digest(inputs), 64), &d, &n, 64),
            Op::Verify | Op::Screen => vec![1],
            Op::PrimeSearch => [&key.p[..], &key.q].concat(),
            Op::ImportPrivate => key.n.clone(),
            Op::ImportVerify => vec![1],
            Op::TextDecrypt => {
                let mut left = job.symbols;
                let open = |block: &[u8]| {
                    let symbols = left.min(job.block_symbols);
                    left -= symbols;
                    power_vartime(block, &d, &n, 64)[64 - symbols..].to_vec()
                };
                inputs.chunks(64).flat_map(open).collect()
            }
        }
    }

    #[test]
    fn right_answers_pass_and_any_flipped_bit_is_found() {
        let key = StudyKey::from_seed(&seed(), 512, Exponent::F4).unwrap();
        for op in Op::ALL {
            let job = job(op);
            let inputs = inputs(&job, &key, &seed(), 1, 1);
            let outputs = right(&job, &key, &inputs);
            assert_eq!(verify(&job, &key, &inputs, &outputs), Ok(()), "{op}");
            for position in [0, outputs.len() / 3, outputs.len() / 2, outputs.len() - 1] {
                for flip in [1, 0x80] {
                    let mut wrong = outputs.clone();
                    wrong[position] ^= flip;
                    assert!(verify(&job, &key, &inputs, &wrong).is_err(), "{op} at {position}");
                }
            }
        }
    }

    #[test]
    fn missing_outputs_are_found() {
        let key = StudyKey::from_seed(&seed(), 512, Exponent::F4).unwrap();
        for op in Op::ALL.into_iter().filter(|op| op.is_deterministic()) {
            let job = job(op);
            let inputs = inputs(&job, &key, &seed(), 1, 2);
            assert!(verify(&job, &key, &inputs, &[]).is_err(), "{op}");
        }
    }

    #[test]
    fn a_generator_that_repeats_itself_is_found() {
        let [a, b] =
            [1, 2].map(|byte| StudyKey::from_seed(&InsecureStudySeed::new([byte; 32]), 512, Exponent::F4).unwrap());
        let job = job(Op::PrimePair);
        let pairs =
            |pairs: &[(&[u8], &[u8])]| -> Vec<u8> { pairs.iter().flat_map(|(p, q)| [*p, *q].concat()).collect() };
        let verdict = |outputs: &[u8]| verify(&job, &a, &[], outputs).map_err(|wrong| wrong.item);
        assert_eq!(verdict(&pairs(&[(&a.p, &a.q), (&b.p, &b.q)])), Ok(()));
        assert_eq!(verdict(&pairs(&[(&a.p, &a.q), (&b.p, &b.q), (&a.p, &a.q)])), Err(2));
        assert_eq!(verdict(&pairs(&[(&a.p, &a.q), (&b.q, &a.p)])), Err(1));
    }

    #[test]
    fn the_item_is_named() {
        let key = StudyKey::from_seed(&seed(), 512, Exponent::F4).unwrap();
        let inputs = inputs(&job(Op::Public), &key, &seed(), 1, 5);
        let mut outputs = right(&job(Op::Public), &key, &inputs);
        outputs[3 * 64 + 10] ^= 4;
        let wrong = verify(&job(Op::Public), &key, &inputs, &outputs).unwrap_err();
        assert_eq!(wrong.item, 3);
    }
}
