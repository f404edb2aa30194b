//! The search alone, of many moduli, and of new ones against saved ones, with its times. The environment has the sizes:
//!
//! ```text
//! RSALAB_AUDIT_MODULI=1000000 RSALAB_AUDIT_NEW=1000 RSALAB_AUDIT_MEMORY=2000000000 RSALAB_AUDIT_SCRATCH=/var/tmp \
//!     cargo test --release -p rsalab-audit --lib measured -- --ignored --nocapture
//! ```

use std::{env, path::PathBuf, time::Instant};

use super::*;
use crate::{
    record::{Used, Where},
    search::Numbered,
};

/// Random odd numbers of so many bytes.
struct Random(u64);

impl Random {
    fn number(&mut self, bytes: usize) -> BigUint {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        };
        let mut number: Vec<u8> = (0..bytes / 8).flat_map(|_| next().to_be_bytes()).collect();
        number[0] |= 0xc0;
        number[bytes - 1] |= 1;
        BigUint::from_bytes_be(&number)
    }

    /// Moduli, of which the first so many have these factors.
    fn moduli(&mut self, count: usize, factors: &[BigUint]) -> Vec<Vec<u8>> {
        let modulus = |place| match factors.get(place) {
            Some(factor) => BigUint::to_bytes_be(&(factor * self.number(128))),
            None => self.number(256).to_bytes_be(),
        };
        (0..count).map(modulus).collect()
    }
}

fn numbered(moduli: &[Vec<u8>]) -> Vec<Numbered<'_>> {
    let with_digest = |modulus| (Sha256::digest(modulus).into(), Vec::as_slice(modulus));
    moduli.iter().map(with_digest).collect()
}

/// The first ones are planted. Random numbers have factors of 20 and 30 bits, too, and where there are a million some
/// share several of them by chance, which no moduli of RSA do.
fn are_planted(found: &[usize], planted: usize) {
    let others = found.len() - planted;
    assert!(found.iter().copied().take(planted).eq(0..planted), "{others} others");
    assert!(others <= 5_000, "{others} others");
    eprintln!("found {planted} planted ones, and {others} by chance");
}

fn size(name: &str, otherwise: usize) -> usize {
    env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
#[ignore = "long: make test-all"]
fn new_moduli_against_many_saved_ones_are_found_in_a_part_of_the_time() {
    let count = size("RSALAB_AUDIT_MODULI", 20_000);
    let new = size("RSALAB_AUDIT_NEW", 20);
    let threads = size("RSALAB_AUDIT_THREADS", 2);
    let memory = env::var("RSALAB_AUDIT_MEMORY")
        .map(|text| text.parse().expect("bytes"))
        .ok();
    let scratch = env::var("RSALAB_AUDIT_SCRATCH").map(PathBuf::from).ok();
    let mut random = Random(44);
    // Ten pairs among the old ones, and of each ten new ones one that shares with an old one.
    let shared: Vec<BigUint> = (0..10).map(|_| random.number(128)).collect();
    let old = random.moduli(count, &[&shared[..], &shared].concat());
    let with_old = (new / 10).max(1);
    let factors: Vec<BigUint> = shared.iter().cycle().take(with_old).cloned().collect();
    let young = random.moduli(new, &factors);

    let search = Search {
        threads,
        memory,
        scratch: scratch.as_deref(),
        share: Share::WHOLE,
    };
    let all = numbered(&old);
    let begun = Instant::now();
    let mut said = 0.0;
    let found = search::hits(&all, &search, None, &mut |done| {
        if done > said + 0.1 {
            eprintln!("{:.0} % after {:.1?}", 100.0 * done, begun.elapsed());
            said = done;
        }
    });
    let whole = begun.elapsed();
    let found = found.expect("there is room");
    are_planted(&found, 20);
    eprintln!("{count} moduli: {whole:.2?}");

    let folder = tempfile::tempdir().expect("a folder");
    let records = old.iter().map(|modulus| Record {
        n: modulus.clone(),
        e: vec![1, 0, 1],
        uses: vec![Used {
            document: 0,
            file: "moduli".into(),
            form: "a modulus".into(),
            place: Where::Whole,
        }],
    });
    let begun = Instant::now();
    let saved = all.iter().map(|(digest, _)| *digest).zip(records);
    let saved = saved.map(|(digest, record)| (digest, vec![record], false));
    let store = Store::create(&folder.path().join("store"), saved, Vec::new(), threads).expect("there is room");
    eprintln!("saving them: {:.2?}, {} bytes", begun.elapsed(), store.bytes());

    let all = numbered(&young);
    let begun = Instant::now();
    let others = Others {
        digest: store.digest(),
        products: &|| Box::new(store.blocks().map(|block| block?.product())),
    };
    let search = Search {
        scratch: None,
        ..search
    };
    let found = search::hits(&all, &search, Some(&others), &mut |_| {}).expect("they are saved");
    let compared = begun.elapsed();
    are_planted(&found, with_old);
    let chosen: Vec<&[u8]> = found[..with_old].iter().map(|&place| all[place].1).collect();
    let named = sharing(&chosen, &store, threads).expect("they are saved");
    let needed = begun.elapsed();
    assert_eq!(named.len(), 2 * with_old.min(10));
    assert!(named.iter().all(|record| old[..20].contains(&record.n)));
    eprintln!(
        "{new} new ones against them: {compared:.2?}, and naming {} old ones: {needed:.2?}, {:.1} % of the whole",
        named.len(),
        100.0 * needed.as_secs_f64() / whole.as_secs_f64()
    );
}
