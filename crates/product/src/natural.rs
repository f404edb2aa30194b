//! Natural numbers in limbs, the lowest first: what needs no transform.

/// Bits of a number.
pub(crate) fn bit_length(a: &[u64]) -> usize {
    let limbs = significant(a);
    match a[..limbs].last() {
        Some(top) => 64 * limbs - top.leading_zeros() as usize,
        None => 0,
    }
}

/// Limbs without those on top that are zero.
pub(crate) fn significant(a: &[u64]) -> usize {
    a.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)
}

/// `a` without limbs on top that are zero.
pub(crate) fn trim(a: &[u64]) -> &[u64] {
    &a[..significant(a)]
}

/// a += b; `a` is at least as long. Returns the carry.
pub(crate) fn add_assign(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = false;
    for (a, &b) in low.iter_mut().zip(b) {
        let (sum, c1) = a.overflowing_add(b);
        let (sum, c2) = sum.overflowing_add(u64::from(carry));
        *a = sum;
        carry = c1 | c2;
    }
    for a in high {
        if !carry {
            break;
        }
        (*a, carry) = a.overflowing_add(1);
    }
    carry
}

/// a -= b; `a` is at least as long. Returns the borrow.
pub(crate) fn sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = false;
    for (a, &b) in low.iter_mut().zip(b) {
        let (difference, b1) = a.overflowing_sub(b);
        let (difference, b2) = difference.overflowing_sub(u64::from(borrow));
        *a = difference;
        borrow = b1 | b2;
    }
    for a in high {
        if !borrow {
            break;
        }
        (*a, borrow) = a.overflowing_sub(1);
    }
    borrow
}

/// a -> -a modulo 2^(64 limbs).
pub(crate) fn negate(a: &mut [u64]) {
    let mut carry = true;
    for limb in a {
        (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
    }
}

/// a << bits, for bits below 64, with a limb more.
pub(crate) fn shift_left(a: &[u64], bits: u32) -> Vec<u64> {
    let mut out = Vec::with_capacity(a.len() + 1);
    let mut low = 0;
    for &limb in a {
        let wide = u128::from(limb) << bits;
        out.push(wide as u64 | low);
        low = (wide >> 64) as u64;
    }
    out.push(low);
    out
}

/// Zeros below the lowest bit that is set; 0 for 0.
pub(crate) fn trailing_zeros(a: &[u64]) -> usize {
    let zeros = a.iter().take_while(|&&limb| limb == 0).count();
    a.get(zeros)
        .map_or(0, |limb| 64 * zeros + limb.trailing_zeros() as usize)
}

/// a >> bits, without limbs on top that are zero.
pub(crate) fn shift_right(a: &[u64], bits: usize) -> Vec<u64> {
    let a = &a[bits / 64..];
    let bits = bits % 64;
    let mut out: Vec<u64> = (0..a.len())
        .map(|i| {
            let next = a.get(i + 1).copied().unwrap_or(0);
            ((u128::from(a[i]) | u128::from(next) << 64) >> bits) as u64
        })
        .collect();
    out.truncate(significant(&out));
    out
}

/// Row by row; for short numbers. `out` has as many limbs as both together.
pub(crate) fn multiply_rows(a: &[u64], b: &[u64], out: &mut [u64]) {
    out.fill(0);
    for (i, &b) in b.iter().enumerate() {
        let mut carry = 0_u128;
        for (out, &a) in out[i..].iter_mut().zip(a) {
            carry += u128::from(a) * u128::from(b) + u128::from(*out);
            *out = carry as u64;
            carry >>= 64;
        }
        out[i + a.len()] = carry as u64;
    }
}

/// A number of big-endian bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    let mut limbs: Vec<u64> = bytes
        .rchunks(8)
        .map(|chunk| chunk.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte)))
        .collect();
    limbs.truncate(significant(&limbs));
    limbs
}

/// Its big-endian bytes, as few as it takes.
pub(crate) fn to_bytes(limbs: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    bytes[zeros..].to_vec()
}
