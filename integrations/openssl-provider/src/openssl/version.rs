//! The version of OpenSSL that has us loaded, and what depends on it.

/// Major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(u32);

const fn number(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

impl Version {
    /// Of a text such as `3.5.5`; 3.0 if it says nothing.
    pub(crate) fn of(text: &str) -> Version {
        let mut parts = text.split('.').map_while(|part| part.parse().ok());
        match (parts.next(), parts.next()) {
            (Some(major), Some(minor)) => Version(number(major, minor)),
            _ => Version(number(3, 0)),
        }
    }

    fn is_at_least(self, major: u32, minor: u32) -> bool {
        self.0 >= number(major, minor)
    }

    /// `true` if there are signature algorithms with a digest in their name. Before, some of their names are names of
    /// digests.
    pub(crate) fn has_sigalgs(self) -> bool {
        self.is_at_least(3, 4)
    }

    /// `true` if a salt may be as long as the digest or as possible; then it is, unless something else is asked for.
    /// Before, it is as long as possible.
    pub(crate) fn has_auto_digest_max(self) -> bool {
        self.is_at_least(3, 1)
    }

    /// `true` if a key that is restricted to a length of salt signs with a length of "auto", and does not verify with
    /// it. Since 3.4 it is the other way round.
    pub(crate) fn signs_with_auto(self) -> bool {
        !self.is_at_least(3, 4)
    }

    /// Primes of a private key that OpenSSL takes at most. From 3.5 to 4.0 it takes those after the second one in
    /// reverse, and their coefficients are wrong then; 3.0 does not. What those between do was not seen.
    pub(crate) fn most_primes(self) -> usize {
        match self.is_at_least(3, 1) {
            true => 3,
            false => usize::MAX,
        }
    }
}

/// Why a key with more primes is refused.
pub(crate) const TOO_MANY_PRIMES: &str =
    "this version of OpenSSL mixes up the primes of a key that has more than three";
