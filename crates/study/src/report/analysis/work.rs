//! The multiply-adds that an operation needs, whoever does it: one count for all engines.
//!
//! ```text
//! n = ⌈bits / 64⌉ words
//! multiplication mod N      n² for the product, n² + n for Montgomery's reduction: 2n² + n
//! squaring mod N            n(n+1)/2 for the square, n² + n: (3n² + 3n)/2
//! x^e, e of k bits          k squarings, k/5 multiplications: a window of five bits
//! x^65537                   16 squarings, 1 multiplication
//! private operation         an exponentiation for each prime, by the CRT
//! ```
//!
//! Blinding, the check of the result, the recombination, conversions and tables are not counted, so that an engine that
//! does them is a little nearer to the peak than is said; one without the CRT does four times as much as is counted.

use rsalab_engines::{Exponent, Job, Op};

/// The multiply-adds of 64 by 64 bits of one operation; none where chance decides, or where it is not such a count that
/// takes the time.
pub(super) fn multiply_adds(job: &Job) -> Option<f64> {
    match job.op {
        Op::Private | Op::Sign => Some(private(job)),
        Op::Public | Op::Verify => public(job),
        Op::TextDecrypt => Some(job.text_blocks() as f64 * private(job)),
        Op::TextEncrypt => Some(job.text_blocks() as f64 * public(job)?),
        _ => None,
    }
}

fn words(bits: usize) -> f64 {
    bits.div_ceil(64) as f64
}

fn multiplication(n: f64) -> f64 {
    2.0 * n * n + n
}

fn squaring(n: f64) -> f64 {
    (3.0 * n * n + 3.0 * n) / 2.0
}

fn private(job: &Job) -> f64 {
    let bits = job.bits.div_ceil(job.primes);
    let n = words(bits);
    job.primes as f64 * bits as f64 * (squaring(n) + multiplication(n) / 5.0)
}

fn public(job: &Job) -> Option<f64> {
    let n = words(job.bits);
    match job.exponent {
        Exponent::Fixed(e) => {
            let (squarings, multiplications) = (e.ilog2(), e.count_ones() - 1);
            Some(f64::from(squarings) * squaring(n) + f64::from(multiplications) * multiplication(n))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_formulas() {
        // 32 words: 1584 a squaring, 2080 a multiplication.
        let public = Job::new(Op::Public, 2048);
        assert_eq!(multiply_adds(&public), Some(16.0 * 1584.0 + 2080.0));
        let three = Job {
            exponent: Exponent::Fixed(3),
            ..public.clone()
        };
        assert_eq!(multiply_adds(&three), Some(1584.0 + 2080.0));
        // 16 words: 408 and 528, of 1024 bits twice.
        let private = Job::new(Op::Private, 2048);
        let expected = 2.0 * 1024.0 * (408.0 + 528.0 / 5.0);
        assert!((multiply_adds(&private).unwrap() - expected).abs() < 1e-6);
        let more = Job {
            primes: 4,
            ..private.clone()
        };
        assert!(multiply_adds(&more).unwrap() < expected / 3.0);
        assert_eq!(multiply_adds(&Job::new(Op::Keygen, 2048)), None);
        let random = Job {
            exponent: Exponent::Random,
            ..public.clone()
        };
        assert_eq!(multiply_adds(&random), None);
        let text = Job {
            op: Op::TextEncrypt,
            symbols: 1000,
            block_symbols: 255,
            ..public
        };
        assert_eq!(multiply_adds(&text), Some(4.0 * (16.0 * 1584.0 + 2080.0)));
    }
}
