//! Implicit rejection (draft-irtf-cfrg-rsa-guidance): a ciphertext whose padding is wrong decrypts to a message that
//! depends on the key and the ciphertext alone, so that whoever sends ciphertexts and watches what happens learns
//! nothing of the padding (Bleichenbacher 1998). The same messages as OpenSSL's, from version 3.2 on.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeLess};
use zeroize::{Zeroize, Zeroizing};

type Prf = Hmac<Sha256>;

/// The secret that messages of a key are derived from: a digest of its private exponent.
pub(crate) struct Rejection {
    key: Zeroizing<[u8; 32]>,
}

/// How often a length is drawn: the chance that none fits is below 2^-128, as each fits with more than a half.
const LENGTHS: usize = 128;

impl Rejection {
    /// Of a private exponent, as long as the modulus.
    pub(crate) fn of(d: &[u8]) -> Rejection {
        Rejection {
            key: Zeroizing::new(Sha256::digest(d).into()),
        }
    }

    /// Fills `message` with what a ciphertext that is wrong decrypts to, and gives the place where it begins; both are
    /// as long as the modulus.
    pub(crate) fn message(&self, ciphertext: &[u8], message: &mut [u8]) -> u32 {
        let mut derive = keyed(&self.key);
        derive.update(ciphertext);
        let mut derived: [u8; 32] = derive.finalize().into_bytes().into();
        expand(&derived, b"message", message);
        let mut lengths = Zeroizing::new([0; 2 * LENGTHS]);
        expand(&derived, b"length", &mut *lengths);
        derived.zeroize();

        // Everything but the two marks and eight bytes of padding may be message.
        let end = message.len() as u32;
        let most = end - 10;
        let mask = u32::MAX >> most.leading_zeros();
        let mut len = 0_u32;
        for drawn in lengths.chunks_exact(2) {
            let drawn = u32::from(u16::from_be_bytes([drawn[0], drawn[1]])) & mask;
            len = u32::conditional_select(&len, &drawn, drawn.ct_lt(&most));
        }
        end - len
    }
}

/// As many bytes as are asked for, under a label.
fn expand(key: &[u8; 32], label: &[u8], out: &mut [u8]) {
    let bits = (8 * out.len() as u32) as u16;
    for (counter, chunk) in (0_u16..).zip(out.chunks_mut(32)) {
        let mut prf = keyed(key);
        prf.update(&counter.to_be_bytes());
        prf.update(label);
        prf.update(&bits.to_be_bytes());
        let mut block: [u8; 32] = prf.finalize().into_bytes().into();
        chunk.copy_from_slice(&block[..chunk.len()]);
        block.zeroize();
    }
}

fn keyed(key: &[u8; 32]) -> Prf {
    Prf::new_from_slice(key).expect("HMAC takes keys of any length")
}
