//! Every target on its seeds, on seeds that were damaged, and on what fuzzing has found: in seconds, without libFuzzer.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rand_core::Rng;
use rsalab_fuzz::{TARGETS, Target};
use rsalab_rsa::random::InsecureStudySeed;

/// Time that a target may take for one input (SECURITY.md). Where the machine is busy, the second time tells.
const MOST: Duration = Duration::from_secs(1);

fn check(target: &Target, input: &[u8], name: &str) {
    let took = || {
        let begun = Instant::now();
        (target.run)(input);
        begun.elapsed()
    };
    let first = took();
    if first > MOST {
        let again = took();
        assert!(again < MOST, "{} on {name}: {first:?}, then {again:?}", target.name);
    }
}

/// The folder of what was found, in the repository: inputs that once made a target fail, and inputs that reach code
/// that seeds do not.
fn kept(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let Ok(files) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let files = files.map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files
        .map(|path| (path.display().to_string(), fs::read(&path).expect("it can be read")))
        .collect();
    files.sort();
    files
}

#[test]
fn targets_return_on_seeds_and_on_what_was_found() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty());
        for (number, seed) in seeds.iter().enumerate() {
            check(target, seed, &format!("seed {number}"));
        }
        for (name, input) in kept(target) {
            check(target, &input, &name);
        }
        check(target, b"", "nothing");
    }
}

/// Bits flipped, bytes taken out and doubled, the rest cut: what a parser meets first.
fn damage(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    let mut below = |most: usize| rng.next_u64() as usize % most.max(1);
    for _ in 0..=below(3) {
        let at = below(bytes.len());
        match below(5) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << below(8),
            2 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'{', b'\n'][below(8)],
            3 => drop(bytes.drain(at..at + below(bytes.len() - at))),
            _ => {
                let part = bytes[at..at + below(bytes.len() - at)].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
}

#[test]
fn targets_return_on_damaged_seeds() {
    for (stream, target) in (0..).zip(TARGETS) {
        let mut rng = InsecureStudySeed::new([0x66; 32]).stream(stream);
        let inputs = [
            (target.seeds)(),
            kept(target).into_iter().map(|(_, input)| input).collect(),
        ]
        .concat();
        let begun = Instant::now();
        for round in 0..300 {
            let mut input = inputs[round % inputs.len()].clone();
            damage(&mut input, &mut rng);
            check(target, &input, &format!("a damaged input, number {round}"));
            // A target that is slow gets fewer, and its share of the time.
            if begun.elapsed() > Duration::from_secs(2) && round >= 30 {
                break;
            }
        }
    }
}

#[test]
fn names_are_names_of_folders() {
    for target in TARGETS {
        assert!(
            target
                .name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        );
        assert!(std::ptr::eq(
            rsalab_fuzz::target(target.name).expect("it is there"),
            target
        ));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("a name");
        assert!(
            rsalab_fuzz::target(name).is_some(),
            "corpus/{name} belongs to no target"
        );
    }
}
