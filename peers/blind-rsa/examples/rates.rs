//! Blind signatures a second on one thread: our issuer in batches and one at a time, and that of
//! `blind-rsa-signatures`, in interleaved blocks; and what a client needs. A checked round comes before.
//!
//! `cargo run --release --manifest-path peers/blind-rsa/Cargo.toml --example rates [-- BITS]`, pinned to a CPU, on a
//! machine that is idle.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use blind_rsa_signatures::{DefaultRng, Deterministic, PSS};
use rsalab_peer_blind_rsa::{Both, key};
use rsalab_rsa::blind::{InputMessage, Variant};

const BATCH: usize = 16;
const ROUNDS: usize = 21;
const BLOCK: Duration = Duration::from_millis(100);

/// A measured call: its name, items in a call, and the call.
type Work<'a> = (&'static str, usize, Box<dyn FnMut() + 'a>);

fn main() {
    let bits = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(2048);
    let both = Both::<PSS, Deterministic>::new(&key(bits, 0), Variant::PssDeterministic);
    both.rounds(BATCH, 0);
    let input = |i: usize| InputMessage::prepare(both.variant, &[i as u8; 32]).expect("prepared");
    let inputs: Vec<InputMessage> = (0..BATCH).map(input).collect();
    let all: Vec<&InputMessage> = inputs.iter().collect();
    let requests = both.client.blind_batch(&all).expect("blinded");
    let blinded: Vec<&[u8]> = requests.iter().map(|(blinded, _)| &blinded[..]).collect();
    let answers: Vec<Vec<u8>> = both
        .issuer
        .sign_batch(&blinded)
        .expect("a batch")
        .into_iter()
        .map(|answer| answer.expect("signed"))
        .collect();
    let triples: Vec<_> = inputs
        .iter()
        .zip(requests.iter().zip(&answers))
        .map(|(input, ((_, pending), answer))| (input, pending, &answer[..]))
        .collect();
    let mut signer = both.issuer.signer().expect("scratch");
    let mut one = both.issuer.signer().expect("scratch");
    let their_request = both.their_client.blind(&mut DefaultRng, [1; 32]).expect("blinded");
    let their_answer = both
        .their_issuer
        .blind_sign(&their_request.blind_message)
        .expect("signed");

    println!(
        "RSABSSA-SHA384-PSS-Deterministic, {bits} bits, one thread; median of {ROUNDS} interleaved blocks of {BLOCK:?} (middle half)"
    );
    let mut works: Vec<Work<'_>> = vec![
        (
            "sign, rsalab, batches of 16",
            BATCH,
            Box::new(|| drop(signer.sign_batch(&blinded).expect("a batch"))),
        ),
        (
            "sign, rsalab, one at a time",
            1,
            Box::new(|| drop(one.sign_batch(&blinded[..1]).expect("a batch"))),
        ),
        (
            "sign, blind-rsa-signatures",
            1,
            Box::new(|| drop(both.their_issuer.blind_sign(blinded[0]).expect("signed"))),
        ),
        (
            "blind, rsalab, batches of 16",
            BATCH,
            Box::new(|| drop(both.client.blind_batch(&all).expect("blinded"))),
        ),
        (
            "blind, rsalab, one at a time",
            1,
            Box::new(|| drop(both.client.blind(all[0]).expect("blinded"))),
        ),
        (
            "blind, blind-rsa-signatures",
            1,
            Box::new(|| drop(both.their_client.blind(&mut DefaultRng, [1; 32]).expect("blinded"))),
        ),
        (
            "finalize, rsalab, batches of 16",
            BATCH,
            Box::new(|| drop(both.client.finalize_batch(&triples).expect("a batch"))),
        ),
        (
            "finalize, blind-rsa-signatures",
            1,
            Box::new(|| {
                let signature = both.their_client.finalize(&their_answer, &their_request, [1; 32]);
                drop(signature.expect("right"));
            }),
        ),
    ];
    let mut rates = vec![Vec::with_capacity(ROUNDS); works.len()];
    for _ in 0..ROUNDS {
        for ((_, items, work), rates) in works.iter_mut().zip(&mut rates) {
            let begun = Instant::now();
            let mut calls = 0;
            while begun.elapsed() < BLOCK {
                work();
                calls += 1;
            }
            rates.push((calls * *items) as f64 / begun.elapsed().as_secs_f64());
        }
    }
    for ((name, ..), rates) in works.iter().zip(&mut rates) {
        rates.sort_by(f64::total_cmp);
        let at = |share: f64| rates[(share * (ROUNDS - 1) as f64) as usize];
        println!("{name:35} {:9.0} a second ({:.0}–{:.0})", at(0.5), at(0.25), at(0.75));
    }
}
