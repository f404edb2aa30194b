//! Article (d)'s two algorithms, step by step as it gives them.
//!
//! The numbers and their plain multiplication, addition and comparison come from a big-integer library; the article's
//! steps are what is done with them. Division by `r`, a power of two, is a shift, and the remainder modulo `r` a mask.
//!
//! **Algorithm 1**, `MonMul(a′, b′) = a′·b′·r⁻¹ mod n`:
//!
//! 1. given are an odd modulus `n`, `r = 2^⌈log₂ n⌉`, `n′ = −n⁻¹ mod r`, and `a′`, `b′` smaller than `n`
//! 3. `t = a′·b′`
//! 4. `u = (t + (t·n′ mod r)·n) / r`
//! 5. if `u ≥ n` return `u − n`, else `u`
//!
//! **Algorithm 2**, `MonExp(a, e, n) = a^e mod n` by the binary method:
//!
//! 3. `a′ = a·r mod n`
//! 4. `x′ = 1·r mod n`
//! 5. for each bit of `e`, the highest first: `x′ = MonMul(x′, x′)`, and if the bit is 1, `x′ = MonMul(x′, a′)`
//! 6. `x = MonMul(x′, 1)`
//! 7. return `x`
//!
//! (The steps left out declare the function's name and repeat its result.)

use num_bigint::BigUint;

/// An odd modulus `n` with `r` and `n′`.
pub(super) struct Modulus {
    pub(super) n: BigUint,
    /// `r = 2^r_bits`.
    r_bits: u64,
    /// `r − 1`, the mask of a remainder modulo `r`.
    r_mask: BigUint,
    /// `−n⁻¹ mod r`.
    n_prime: BigUint,
}

impl Modulus {
    /// None if `n` is even or 1.
    pub(super) fn new(n: BigUint) -> Option<Self> {
        let one = BigUint::from(1u32);
        if !n.bit(0) || n == one {
            return None;
        }
        let r_bits = n.bits();
        let r = &one << r_bits;
        let inverse = n.modinv(&r)?;
        Some(Modulus {
            n_prime: &r - inverse,
            r_mask: r - one,
            r_bits,
            n,
        })
    }

    /// Algorithm 1.
    fn mon_mul_vartime(&self, a: &BigUint, b: &BigUint) -> BigUint {
        // Step 3.
        let t = a * b;
        // Step 4.
        let quotient = (&t * &self.n_prime) & &self.r_mask;
        let u = (t + quotient * &self.n) >> self.r_bits;
        // Step 5.
        if u >= self.n { u - &self.n } else { u }
    }

    /// Algorithm 2.
    pub(super) fn mon_exp_vartime(&self, a: &BigUint, e: &BigUint) -> BigUint {
        let one = BigUint::from(1u32);
        // Steps 3 and 4.
        let a = (a << self.r_bits) % &self.n;
        let mut x = (&one << self.r_bits) % &self.n;
        // Step 5.
        for bit in (0..e.bits()).rev() {
            x = self.mon_mul_vartime(&x, &x);
            if e.bit(bit) {
                x = self.mon_mul_vartime(&x, &a);
            }
        }
        // Steps 6 and 7.
        self.mon_mul_vartime(&x, &one)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exp(a: &BigUint, e: &BigUint, n: &BigUint) -> BigUint {
        Modulus::new(n.clone()).expect("odd").mon_exp_vartime(a, e)
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_library(
            a in proptest::collection::vec(any::<u8>(), 1..40),
            e in proptest::collection::vec(any::<u8>(), 0..20),
            mut n in proptest::collection::vec(any::<u8>(), 1..40),
        ) {
            *n.last_mut().expect("not empty") |= 1;
            let n = BigUint::from_bytes_be(&n);
            prop_assume!(n > BigUint::from(1u32));
            let a = BigUint::from_bytes_be(&a) % &n;
            let e = BigUint::from_bytes_be(&e);
            prop_assert_eq!(exp(&a, &e, &n), a.modpow(&e, &n));
        }
    }

    #[test]
    fn edges_come_out_right() {
        let number = BigUint::from;
        // All-ones limbs, and the smallest odd modulus.
        let ones = (number(1u32) << 192) - number(1u32);
        for n in [number(3u32), ones] {
            let last = &n - number(1u32);
            assert_eq!(exp(&number(0u32), &number(5u32), &n), number(0u32));
            assert_eq!(exp(&number(0u32), &number(0u32), &n), number(1u32));
            assert_eq!(exp(&number(1u32), &number(5u32), &n), number(1u32));
            assert_eq!(exp(&last, &number(4u32), &n), number(1u32));
            assert_eq!(exp(&last, &number(5u32), &n), last);
        }
    }

    #[test]
    fn an_even_modulus_is_refused() {
        for n in [0u32, 1, 2, 1 << 20] {
            assert!(Modulus::new(BigUint::from(n)).is_none(), "{n}");
        }
    }
}
