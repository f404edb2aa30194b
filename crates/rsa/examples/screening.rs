//! Screens many signatures under one key, and compares that with verifying each: `screening [COUNT] [BITS] [BAD]`.

use std::{collections::HashSet, time::Instant};

use rsalab_rsa::{
    Error, PrivateKey,
    hash::Hash,
    scheme::SignatureScheme,
    signing::{Signature, SigningKey},
};

fn main() -> Result<(), Error> {
    let mut typed = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let mut number = |usual| typed.next().and_then(Result::ok).unwrap_or(usual);
    let (count, bits, bad) = (number(20_000), number(2048), number(10));
    let key = PrivateKey::generate(bits)?;
    let signing = SigningKey::new(&key, SignatureScheme::Pkcs1v15(Hash::Sha256))?;
    let messages: Vec<Vec<u8>> = (0..count)
        .map(|number| format!("message {number}").into_bytes())
        .collect();
    let words: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let signatures: Vec<Vec<u8>> = signing
        .sign_batch(&words)?
        .into_iter()
        .map(|signature: Signature| signature.as_bytes().to_vec())
        .collect();
    let verifying = signing.verifying_key();
    let pairs = |signatures: &[Vec<u8>]| -> Vec<(Vec<u8>, Vec<u8>)> {
        messages.iter().cloned().zip(signatures.iter().cloned()).collect()
    };
    let right = pairs(&signatures);
    let right: Vec<(&[u8], &[u8])> = right
        .iter()
        .map(|(message, signature)| (&message[..], &signature[..]))
        .collect();
    let mut ratios = Vec::new();
    for _ in 0..7 {
        let begun = Instant::now();
        assert!(verifying.verify_batch(&right).iter().all(|is_valid| *is_valid));
        let each = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        assert!(verifying.screen_batch(&right)?.iter().all(|is_accepted| *is_accepted));
        let screened = begun.elapsed().as_secs_f64();
        ratios.push(each / screened);
        println!(
            "{:.0} verified a second, {:.0} screened: {:.2} times",
            count as f64 / each,
            count as f64 / screened,
            each / screened
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("median {:.2} ({:.2} to {:.2})", ratios[3], ratios[0], ratios[6]);

    let mut changed = signatures;
    let planted: HashSet<usize> = (0..bad).map(|number| number * 7919 % count).collect();
    for &place in &planted {
        changed[place][bits / 16] ^= 1 << (place % 8);
    }
    let wrong = pairs(&changed);
    let wrong: Vec<(&[u8], &[u8])> = wrong
        .iter()
        .map(|(message, signature)| (&message[..], &signature[..]))
        .collect();
    let begun = Instant::now();
    let accepted = verifying.screen_batch(&wrong)?;
    let refused: HashSet<usize> = (0..count).filter(|&place| !accepted[place]).collect();
    println!(
        "{} of {} planted were refused, {} others, in {:.2} s",
        refused.intersection(&planted).count(),
        planted.len(),
        refused.difference(&planted).count(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
