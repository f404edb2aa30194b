//! ANSI X9.31 signatures, as OpenSSL makes them: a block that begins with 6B BB ... BB BA, or with 6A alone, then the
//! digest, the number of its function, and CC; and of the signature and its difference from the modulus the smaller
//! one.

use rsalab_rsa::hash::Hash;

use crate::digests::Digest;

/// The number of a hash function, in the byte after the digest. Of ISO/IEC 10118-3's, OpenSSL has these.
pub(crate) fn number_of(digest: Digest) -> Option<u8> {
    match digest {
        Digest::Hash(Hash::Sha1) => Some(0x33),
        Digest::Hash(Hash::Sha256) => Some(0x34),
        Digest::Hash(Hash::Sha512) => Some(0x35),
        Digest::Hash(Hash::Sha384) => Some(0x36),
        _ => None,
    }
}

/// The block of `k` bytes; none if the content is too long.
pub(crate) fn encode(k: usize, content: &[u8]) -> Option<Vec<u8>> {
    let filling = k.checked_sub(content.len() + 2)?;
    let mut block = Vec::with_capacity(k);
    match filling {
        0 => block.push(0x6a),
        _ => {
            block.push(0x6b);
            block.resize(filling, 0xbb);
            block.push(0xba);
        }
    }
    block.extend(content);
    block.push(0xcc);
    Some(block)
}

/// The content of a block of the one form that [`encode`] gives it.
pub(crate) fn decode(block: &[u8]) -> Option<&[u8]> {
    let (last, rest) = block.split_last()?;
    let (first, rest) = rest.split_first()?;
    let filling = rest.iter().take_while(|byte| **byte == 0xbb).count();
    let content = match (first, rest.get(filling)) {
        (0x6a, _) => rest,
        (0x6b, Some(0xba)) => &rest[filling + 1..],
        _ => return None,
    };
    (*last == 0xcc).then_some(content)
}

/// The smaller one of a signature and its difference from n, both public.
pub(crate) fn smaller(signature: Vec<u8>, n: &[u8]) -> Vec<u8> {
    let other = difference(n, &signature);
    signature.min(other)
}

/// The block that a signature was made of, from what the public operation gives: itself, or its difference from n. A
/// block ends in C.
pub(crate) fn opened(block: Vec<u8>, n: &[u8]) -> Vec<u8> {
    match block.last() {
        Some(last) if last & 0x0f != 0x0c => difference(n, &block),
        _ => block,
    }
}

/// n - x of numbers of as many bytes, x below n.
fn difference(n: &[u8], x: &[u8]) -> Vec<u8> {
    let mut borrow = false;
    let mut digits: Vec<u8> = (n.iter().zip(x).rev())
        .map(|(n, x)| {
            let (digit, below) = n.overflowing_sub(*x);
            let (digit, borrowed) = digit.overflowing_sub(u8::from(borrow));
            borrow = below || borrowed;
            digit
        })
        .collect();
    digits.reverse();
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_one_form() {
        assert_eq!(encode(4, &[1, 2]).unwrap(), [0x6a, 1, 2, 0xcc]);
        assert_eq!(encode(5, &[1, 2]).unwrap(), [0x6b, 0xba, 1, 2, 0xcc]);
        let block = [0x6b, 0xbb, 0xbb, 0xba, 1, 2, 0xcc];
        assert_eq!(encode(7, &[1, 2]).unwrap(), block);
        assert_eq!(encode(3, &[1, 2]), None);
        for k in 4..9 {
            assert_eq!(decode(&encode(k, &[1, 2]).unwrap()), Some(&[1, 2][..]));
        }
        for i in [0, 3, 6] {
            let mut wrong = block;
            wrong[i] ^= 0x10;
            assert_eq!(decode(&wrong), None, "byte {i}");
        }
        for short in [&[][..], &[0xcc], &[0x6b], &[0x6b, 0xbb, 0xcc]] {
            assert_eq!(decode(short), None);
        }
    }

    #[test]
    fn the_smaller_of_two_is_taken_and_found_again() {
        let n = [0x90, 0x00, 0x05];
        assert_eq!(difference(&n, &[0x00, 0x00, 0x06]), [0x8f, 0xff, 0xff]);
        assert_eq!(smaller(vec![0x8f, 0xff, 0xff], &n), [0x00, 0x00, 0x06]);
        assert_eq!(smaller(vec![0x48, 0x00, 0x02], &n), [0x48, 0x00, 0x02]);
        // A block of which the public operation gives the difference.
        let block = vec![0x6b, 0xba, 0xcc];
        let other = difference(&n, &block);
        assert_eq!(opened(other, &n), block);
        assert_eq!(opened(block.clone(), &n), block);
    }
}
