//! Targets without libFuzzer: on their seeds, on what was found before, and on both damaged.
//!
//! `RSALAB_FUZZ_TARGET` restricts all of it to one target: `scripts/fuzz-coverage.sh` asks what one covers.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rand_core::Rng;
use rsalab_rsa::random::InsecureStudySeed;

use crate::Target;

/// Time that a target may take for one input (SECURITY.md). Where the machine is busy, the second time tells.
const MOST: Duration = Duration::from_secs(1);

/// The targets of a crate, and the folder of what was found.
pub struct Replay {
    targets: &'static [Target],
    corpus: PathBuf,
}

impl Replay {
    /// Of the crate in this folder.
    pub fn new(targets: &'static [Target], crate_folder: &str) -> Self {
        let corpus = Path::new(crate_folder).join("corpus");
        Replay { targets, corpus }
    }

    fn targets(&self) -> impl Iterator<Item = &'static Target> {
        let named = std::env::var("RSALAB_FUZZ_TARGET").ok();
        if let Some(name) = &named {
            let is_known = self.targets.iter().any(|target| target.name == name);
            assert!(is_known, "RSALAB_FUZZ_TARGET names no target here: {name}");
        }
        let is_wanted = move |target: &&Target| named.as_ref().is_none_or(|name| target.name == name);
        self.targets.iter().filter(is_wanted)
    }

    /// How many inputs are kept, of all targets.
    pub fn count_kept(&self) -> usize {
        self.targets.iter().map(|target| self.kept(target).len()).sum()
    }

    /// Inputs that once made a target fail, and inputs that reach code that seeds do not.
    fn kept(&self, target: &Target) -> Vec<(String, Vec<u8>)> {
        let Ok(files) = fs::read_dir(self.corpus.join(target.name)) else {
            return Vec::new();
        };
        let files = files.map(|file| file.expect("a file").path());
        let mut files: Vec<_> = files
            .map(|path| (path.display().to_string(), fs::read(&path).expect("it can be read")))
            .collect();
        files.sort();
        files
    }

    /// Every target on its seeds, on what is kept, and on nothing.
    ///
    /// # Panics
    /// If one fails, or takes too long.
    pub fn seeds_and_kept(&self) {
        for target in self.targets() {
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty());
            for (number, seed) in seeds.iter().enumerate() {
                check(target, seed, &format!("seed {number}"));
            }
            for (name, input) in self.kept(target) {
                check(target, &input, &name);
            }
            check(target, b"", "nothing");
        }
    }

    /// Every target on damaged inputs, the same each time.
    ///
    /// # Panics
    /// If one fails, or takes too long.
    pub fn damaged(&self) {
        for (stream, target) in (0..).zip(self.targets()) {
            let mut rng = InsecureStudySeed::new([0x66; 32]).stream(stream);
            let kept = self.kept(target).into_iter().map(|(_, input)| input);
            let inputs: Vec<_> = (target.seeds)().into_iter().chain(kept).collect();
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

    /// Names are names of folders, and every folder is of a target.
    ///
    /// # Panics
    /// If that is not so.
    pub fn names(&self) {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        assert!(self.targets.iter().all(|target| target.name.bytes().all(is_plain)));
        for entry in fs::read_dir(&self.corpus).into_iter().flatten() {
            let name = entry.expect("an entry").file_name();
            let name = name.to_str().expect("a name");
            let is_known = self.targets.iter().any(|target| target.name == name);
            assert!(is_known, "corpus/{name} belongs to no target");
        }
    }
}

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
