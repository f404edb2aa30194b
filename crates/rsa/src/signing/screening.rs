//! Screening: many signatures under one key, by one public operation for all of them.
//!
//! ```text
//! (s₁ s₂ … sₖ)^e = m₁ m₂ … mₖ mod n        mᵢ the encoding of the i-th digest
//! ```
//!
//! (M. Bellare, J. Garay and T. Rabin, "Fast batch verification for modular exponentiation and digital signatures",
//! Eurocrypt 1998, section 5.) Two products mod n for a signature in place of a power.
//!
//! # What it proves
//!
//! Let a list pass, and m₁ be a message of it that was never signed. Whoever made the list, and can ask for signatures
//! of m₂ … mₖ, has that of m₁: it is s₁ … sₖ divided by them. So a list that passes is a forgery of RSASSA-PKCS1-v1_5
//! under chosen messages, or all its messages were signed at some time; for a hash function onto all numbers below n,
//! which the paper has, that is proved to be as hard as RSA. The division gives the signature of m₁ only if m₁ is there
//! once: of a message that is there e times its own encoding is the root (J.-S. Coron and D. Naccache, "On the security
//! of RSA screening", PKC 1999). Hence repetitions are verified by themselves.
//!
//! It does not prove that sᵢ is the signature of mᵢ. Small random exponents, as in section 4 of the paper, would, up to
//! factors of small order such as −1, but not faster than powers with e = 65537: see the notes.

use std::collections::HashSet;

use rsalab_arith::{Kernel, ProductContext};

use super::verifying::VerifyingKey;
use crate::{
    Error, Result,
    backend::{BlockRunner, Prepared, Status},
    scheme::Encoder,
};

/// Signatures that are screened together where all of them together do not pass: of a chunk that passes none is
/// verified by itself, of the others all are.
const CHUNK: usize = 256;

impl VerifyingKey {
    /// Screens signatures of messages: returns, for each, whether it was accepted.
    ///
    /// **What this proves, and what it does not.** If all are accepted, the owner of the key has signed each of these
    /// messages at some time, or somebody can forge signatures of RSASSA-PKCS1-v1_5. It is *not* proved that each
    /// signature is its message's: whoever has valid signatures can change them so that their product stays the same,
    /// by exchanging two, by negating two, or by multiplying one by x and another by 1/x, and they pass. So take it
    /// where many messages are accepted or refused as one (a log, a feed, a backup), and
    /// [`verify_batch`](Self::verify_batch) where a signature is passed on, stored, or argued about.
    ///
    /// A valid signature is always accepted. Where the product does not pass, chunks of 256 are screened, and every
    /// signature of a chunk that does not pass is verified by itself: so wrong signatures are found, unless they were
    /// made to undo each other. Digests that were there before are verified by themselves, as the proof needs distinct
    /// messages.
    ///
    /// Products are on the backend's kernel, or, if it has none of this CPU's, on the best of this CPU. In variable
    /// time: signatures and messages are public.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] for RSASSA-PSS, whose encodings are random; errors of the backend.
    pub fn screen_batch(&self, pairs: &[(&[u8], &[u8])]) -> Result<Vec<bool>> {
        let hash = self.scheme.hash();
        let messages: Vec<&[u8]> = pairs.iter().map(|(message, _)| *message).collect();
        let digests = hash.digest_many(&messages);
        let pairs: Vec<_> = digests
            .chunks_exact(hash.digest_len())
            .zip(pairs)
            .map(|(digest, (_, signature))| (digest, *signature))
            .collect();
        self.screen_digests(&pairs)
    }

    /// Screens signatures of digests of the scheme's hash function, as [`screen_batch`](Self::screen_batch) does. A
    /// digest of another length is nobody's.
    ///
    /// # Errors
    ///
    /// As for [`screen_batch`](Self::screen_batch).
    pub fn screen_digests(&self, pairs: &[(&[u8], &[u8])]) -> Result<Vec<bool>> {
        let Encoder::Pkcs1v15(template) = Encoder::new(self.scheme, self.bits) else {
            return Err(Error::Scheme {
                reason: "signatures of RSASSA-PSS cannot be screened: nobody knows their encodings; verify them"
                    .to_owned(),
            });
        };
        let key = &self.public.key;
        let kernel = Kernel::named(self.public.backend.kernel()).unwrap_or_else(|_| Kernel::auto());
        let products = ProductContext::new(key.checked(), kernel);
        let h = self.scheme.hash().digest_len();
        let is_new = first_of_each(pairs);
        let is_screened = |&place: &usize| {
            let (digest, signature) = pairs[place];
            is_new[place] && digest.len() == h && products.is_factor_vartime(signature)
        };
        let (screened, rest): (Vec<usize>, Vec<usize>) = (0..pairs.len()).partition(is_screened);
        let mut is_accepted = vec![false; pairs.len()];
        let passes = |places: &[usize]| self.passes(&products, template.beginning(), places, pairs);
        let verify = |places: &[usize], is_accepted: &mut Vec<bool>| {
            let pairs: Vec<_> = places.iter().map(|&place| pairs[place]).collect();
            for (&place, accepted) in places.iter().zip(self.verify_digests(&pairs)) {
                is_accepted[place] = accepted;
            }
        };
        verify(&rest, &mut is_accepted);
        if passes(&screened)? {
            screened.iter().for_each(|&place| is_accepted[place] = true);
            return Ok(is_accepted);
        }
        for chunk in screened.chunks(CHUNK) {
            match passes(chunk)? {
                true => chunk.iter().for_each(|&place| is_accepted[place] = true),
                false => verify(chunk, &mut is_accepted),
            }
        }
        Ok(is_accepted)
    }

    /// Returns whether the product of the signatures at these places, each below n, is that of their digests'
    /// encodings.
    fn passes(
        &self,
        products: &ProductContext,
        beginning: &[u8],
        places: &[usize],
        pairs: &[(&[u8], &[u8])],
    ) -> Result<bool> {
        let (mut of_signatures, mut of_encodings) = (products.begin(), products.begin());
        let of = |place: &usize| pairs[*place];
        // Signatures were asked for that, and encodings begin with a zero.
        let expected = "all are of the modulus's length, and below it";
        of_signatures
            .add_vartime(places.iter().map(|place| of(place).1))
            .expect(expected);
        of_encodings
            .add_alike_vartime(beginning, places.iter().map(|place| of(place).0))
            .expect(expected);
        let (mut power, mut status) = (vec![0; products.modulus_len()], [Status::Fault]);
        self.public
            .prepared()?
            .runner()?
            .run(&of_signatures.finish(), &mut power, &mut status)?;
        match status {
            [Status::Fault] => Err(Error::Fault { item: 0 }),
            status => Ok(status == [Status::Done] && power == of_encodings.finish()),
        }
    }
}

/// For each digest `true` if none before it begins with the same eight bytes. Of those that begin alike all but the
/// first are taken for repetitions, as what is verified need not be screened; what is shorter counts as zero, and is no
/// digest anyhow.
fn first_of_each(pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
    /// Places for each digest: one in 64 that is like no other meets one that is there, which costs a look-up.
    const PLACES: usize = 32;
    let beginning = |digest: &[u8]| match digest.first_chunk() {
        Some(bytes) => u64::from_ne_bytes(*bytes),
        None => 0,
    };
    let mut taken = Places::new(PLACES * pairs.len());
    let mut shared = Places::new(PLACES * pairs.len());
    for (digest, _) in pairs {
        if taken.has_or_takes(beginning(digest)) {
            shared.has_or_takes(beginning(digest));
        }
    }
    // Whoever makes digests for the same place makes the set do the work, which nobody can foresee.
    let mut seen = HashSet::new();
    let is_first = |digest: u64| !shared.has(digest) || seen.insert(digest);
    pairs
        .iter()
        .map(|(digest, _)| beginning(digest))
        .map(is_first)
        .collect()
}

/// A bit for each value of the last bits of a number.
struct Places {
    words: Vec<u64>,
}

impl Places {
    /// Room for so many, or up to twice as many.
    fn new(places: usize) -> Self {
        let words = places.div_ceil(64).next_power_of_two();
        Self { words: vec![0; words] }
    }

    /// The word, and the bit in it.
    fn place(&self, number: u64) -> (usize, u64) {
        ((number / 64) as usize & (self.words.len() - 1), 1 << (number % 64))
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        self.words[word] & bit != 0
    }

    /// Returns whether the place was taken, and takes it.
    fn has_or_takes(&mut self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        let before = self.words[word];
        self.words[word] |= bit;
        before & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of which all that is looked at first is the same, and of which each seventh is there twice.
    #[test]
    fn only_what_is_there_already_is_a_repetition() {
        for count in [0_u64, 1, 2, 300, 5000] {
            for step in [1 << 40, 1, 0x9e37_79b9_7f4a_7c15] {
                let digest = |number: u64| [&number.wrapping_mul(step).to_ne_bytes()[..], &[7; 24]].concat();
                let digests: Vec<_> = (0..count).chain((0..count).step_by(7)).map(digest).collect();
                let pairs: Vec<_> = digests.iter().map(|digest| (&digest[..], &[][..])).collect();
                let expected: Vec<_> = (0..digests.len() as u64).map(|place| place < count).collect();
                assert_eq!(first_of_each(&pairs), expected, "{count} times {step}");
            }
        }
        let short: &[u8] = &[1; 7];
        assert_eq!(
            first_of_each(&[(short, &[]), (&[1; 8], &[]), (short, &[])]),
            [true, true, false]
        );
    }
}
