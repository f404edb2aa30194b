//! The check of a result before it is released: a faulty CRT half would hand out the factors of n (Boneh, DeMillo and
//! Lipton 1997), so result^e must be the input again.

use crate::Status;
use crate::batch::Raise;
use crate::limbs::words;

/// Marks every item whose result^e is not its input mod n, and wipes the result. `copy` is as long as `results` and is
/// overwritten with their powers.
///
/// Constant time in the numbers; the verdicts are released, as they must be.
pub(crate) fn check(
    public: &dyn Raise,
    inputs: &[u64],
    results: &mut [u64],
    copy: &mut [u64],
    working: &mut [u64],
    status: &mut [Status],
) {
    let limbs = inputs.len() / status.len();
    copy.copy_from_slice(results);
    for copy in copy.chunks_mut(limbs * public.items()) {
        public.raise(copy, working);
    }
    let powers = copy.chunks_exact(limbs).zip(inputs.chunks_exact(limbs));
    for ((result, (power, input)), status) in
        results.chunks_exact_mut(limbs).zip(powers).zip(status)
    {
        if !bool::from(words::is_equal(power, input)) {
            result.fill(0);
            *status = Status::Fault;
        }
    }
}
