//! Moduli that are messages to the backdoor of xz 5.6 (CVE-2024-3094), and no keys.

/// What is said of one.
pub(super) const SENTENCE: &str =
    "its modulus begins as a message to the backdoor of xz does (CVE-2024-3094): it is no key, and a sign of an attack";

/// Returns whether a modulus, as SSH sends it, begins as the messages do that the backdoor of xz decrypts: three
/// numbers of 32, 32 and 64 bits, of which a b + c is the number of a command, 0 to 3. One modulus of 2^62 does by
/// chance.
pub(super) fn is_message(n: &[u8]) -> bool {
    // A first bit that is set would be a minus, and has a zero before it.
    let sign = n.first().filter(|first| **first & 0x80 != 0).map(|_| 0);
    let mut start = sign.into_iter().chain(n.iter().copied());
    let mut number = |len: u32| {
        (0..len).try_fold(0_u64, |number, place| {
            Some(number | u64::from(start.next()?) << (8 * place))
        })
    };
    match (number(4), number(4), number(8)) {
        (Some(a), Some(b), Some(c)) => a.wrapping_mul(b).wrapping_add(c) <= 3,
        _ => false,
    }
}
