//! The small primes.

/// The odd primes below `bound`, by the sieve of Eratosthenes.
pub(super) fn odd_primes(bound: u64) -> impl Iterator<Item = u64> {
    let mut composite = vec![false; bound as usize];
    (3..bound).step_by(2).filter(move |&n| {
        let prime = !composite[n as usize];
        if prime {
            (n * n..bound)
                .step_by(2 * n as usize)
                .for_each(|multiple| composite[multiple as usize] = true);
        }
        prime
    })
}
