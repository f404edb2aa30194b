//! Screening: many signatures under one key, by one public operation for all of them.
//!
//! ```text
//! (s₁ s₂ … sₖ)^e = m₁ m₂ … mₖ mod n        mᵢ the encoding of the i-th digest
//! ```
//!
//! (M. Bellare, J. Garay and T. Rabin, "Fast batch verification for modular exponentiation and digital signatures",
//! Eurocrypt 1998, section 5.) Two products mod n for a signature in place of a power.

use std::collections::HashSet;

use rsalab_arith::{Kernel, ProductContext, RunningProduct};

use super::VerifyingKey;
use crate::{
    Error, Result,
    backend::{BlockRunner, Prepared, Status},
    hash::Digest,
    random::SystemRng,
    scheme::{Encoder, SignatureScheme},
};

/// Signatures that are screened together where all of them together do not pass: of a chunk that passes none is
/// verified by itself, of the others all are.
const CHUNK: usize = 256;

impl VerifyingKey {
    /// Screens signatures of messages: returns, for each, whether it was accepted.
    ///
    /// **What this proves, and what it does not.** If all are accepted, the owner of the key has signed each of these
    /// messages at some time; that is what is proved, under the RSA assumption, for a hash function onto all numbers
    /// below n, and believed of RSASSA-PKCS1-v1_5. It is *not* proved that each signature is its message's: whoever has
    /// valid signatures can change them so that their product stays the same, by exchanging two or by multiplying one
    /// by x and another by 1/x, and they pass. So take it where many messages are accepted or refused as one (a log, a
    /// feed, a backup), and [`verify_batch`](Self::verify_batch) where a signature is passed on, stored, or argued
    /// about.
    ///
    /// A valid signature is always accepted. Where the product does not pass, chunks of 256 are screened, and every
    /// signature of a chunk that does not pass is verified by itself: a wrong signature among valid ones is found.
    /// Digests that were there before are verified by themselves, as the proof needs distinct messages.
    ///
    /// On this CPU, whatever the backend. In variable time: signatures and messages are public.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] for RSASSA-PSS, whose encodings are random; errors of the backend.
    pub fn screen_batch(&self, pairs: &[(&[u8], &[u8])]) -> Result<Vec<bool>> {
        let hash = self.scheme.hash();
        let digests: Vec<Digest> = pairs.iter().map(|(message, _)| hash.digest(message)).collect();
        let pairs: Vec<_> = digests
            .iter()
            .zip(pairs)
            .map(|(digest, (_, signature))| (&digest[..], *signature))
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
        if !matches!(self.scheme, SignatureScheme::Pkcs1v15(_)) {
            return Err(Error::Scheme {
                reason: "signatures of RSASSA-PSS cannot be screened: nobody knows their encodings; verify them"
                    .to_owned(),
            });
        }
        let key = &self.public.key;
        let (h, k) = (self.scheme.hash().digest_len(), key.modulus_len());
        let n = [vec![0; k - key.n().len()], key.n().to_vec()].concat();
        // Of digests that begin alike all but the first are taken for the same one: what is verified need not be
        // screened.
        let mut seen = HashSet::with_capacity(pairs.len());
        let is_new: Vec<bool> = pairs
            .iter()
            .map(|(digest, _)| seen.insert(digest.first_chunk::<8>()))
            .collect();
        let is_screened = |&place: &usize| {
            let (digest, signature) = pairs[place];
            is_new[place] && digest.len() == h && signature.len() == k && *signature < n[..]
        };
        let (screened, rest): (Vec<usize>, Vec<usize>) = (0..pairs.len()).partition(is_screened);
        let mut is_accepted = vec![false; pairs.len()];
        let products = ProductContext::new(key.checked(), Kernel::auto());
        let encoder = Encoder::new(self.scheme, self.bits);
        let of = |places: &[usize]| places.iter().map(|&place| pairs[place]).collect::<Vec<_>>();
        let verify = |places: &[usize], is_accepted: &mut Vec<bool>| {
            for (&place, accepted) in places.iter().zip(self.verify_digests(&of(places))) {
                is_accepted[place] = accepted;
            }
        };
        verify(&rest, &mut is_accepted);
        if self.passes(&products, &encoder, &of(&screened))? {
            screened.iter().for_each(|&place| is_accepted[place] = true);
            return Ok(is_accepted);
        }
        for chunk in screened.chunks(CHUNK) {
            match self.passes(&products, &encoder, &of(chunk))? {
                true => chunk.iter().for_each(|&place| is_accepted[place] = true),
                false => verify(chunk, &mut is_accepted),
            }
        }
        Ok(is_accepted)
    }

    /// Returns whether the product of signatures, each below n, is that of the digests.
    fn passes(&self, products: &ProductContext, encoder: &Encoder, pairs: &[(&[u8], &[u8])]) -> Result<bool> {
        /// Signatures that are copied together, so that they stay in the cache.
        const TOGETHER: usize = 32;
        let k = products.modulus_len();
        let mut blocks = [vec![0; TOGETHER * k], vec![0; TOGETHER * k]];
        let mut running = [products.begin(), products.begin()];
        for pairs in pairs.chunks(TOGETHER) {
            let [signatures, encodings] = blocks.each_mut().map(|block| &mut block[..pairs.len() * k]);
            let places = signatures.chunks_exact_mut(k).zip(encodings.chunks_exact_mut(k));
            for ((digest, signature), (to, encoding)) in pairs.iter().zip(places) {
                to.copy_from_slice(signature);
                encoder.encode(digest, &mut SystemRng, encoding)?;
            }
            for (running, block) in running.iter_mut().zip(&blocks) {
                let added = running.add_vartime(&block[..pairs.len() * k]);
                // Signatures were asked for that, and encodings begin with a zero.
                added.expect("all are of the modulus's length, and below it");
            }
        }
        let [signatures, encodings] = running.map(RunningProduct::finish);
        let (mut power, mut status) = (vec![0; k], [Status::Fault]);
        self.public
            .prepared()?
            .runner()?
            .run(&signatures, &mut power, &mut status)?;
        match status {
            [Status::Fault] => Err(Error::Fault { item: 0 }),
            status => Ok(status == [Status::Done] && power == encodings),
        }
    }
}
