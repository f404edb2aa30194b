//! Digests of many messages: in the lanes of vector registers, where the function has such.

use rsalab_digests::{Function, Kernel};

use super::Hash;

impl Hash {
    /// The function, if there are lanes for it.
    pub(crate) fn in_lanes(self) -> Option<(Kernel, Function)> {
        let function = match self {
            Hash::Sha224 => Function::Sha224,
            Hash::Sha256 => Function::Sha256,
            _ => return None,
        };
        Some((Kernel::best(), function))
    }

    /// The digests of public messages, one after another. SHA-224 and SHA-256 of many are several times as fast as of
    /// one; what they leave in memory is not wiped.
    pub fn digest_many(self, messages: &[&[u8]]) -> Vec<u8> {
        let len = self.digest_len();
        let mut digests = vec![0; messages.len() * len];
        self.digest_each(
            messages.len(),
            |place| [messages[place]],
            |place, digest| match (
                digest.first_chunk::<32>(),
                digests[place * len..][..len].first_chunk_mut(),
            ) {
                // Without a call.
                (Some(from), Some(to)) if len == 32 => *to = *from,
                _ => digests[place * len..][..len].copy_from_slice(digest),
            },
        );
        digests
    }

    /// Passes the digest of each of `count` messages on, in any order; `parts` gives the parts of each.
    pub(crate) fn digest_each<'m, const PARTS: usize>(
        self,
        count: usize,
        parts: impl Fn(usize) -> [&'m [u8]; PARTS],
        mut each: impl FnMut(usize, &[u8]),
    ) {
        match self.in_lanes() {
            Some((kernel, function)) if count > 1 => kernel.digests(function, count, parts, each),
            _ => (0..count).for_each(|place| each(place, &self.digest_parts(&parts(place)))),
        }
    }

    /// Passes the digest of eight zero bytes and two parts as long as a digest on, of each of `count` messages, in any
    /// order.
    pub(crate) fn digest_each_salted<'m>(
        self,
        count: usize,
        parts: impl Fn(usize) -> [&'m [u8]; 2],
        each: impl FnMut(usize, &[u8]),
    ) {
        if let (Some((kernel, function)), Hash::Sha256) = (self.in_lanes(), self) {
            let parts = |place| parts(place).map(|part| part.try_into().expect("a digest of SHA-256 has 32 bytes"));
            return kernel.digests_of_salted(function, count, parts, each);
        }
        self.digest_each(
            count,
            |place| {
                let [first, second] = parts(place);
                [&[0; 8], first, second]
            },
            each,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_many_are_those_of_each() {
        let bytes: Vec<u8> = (0..4000_u32).map(|place| ((place * place) >> 5) as u8).collect();
        for &hash in Hash::ALL {
            for count in [0, 1, 2, 15, 16, 17, 40] {
                let messages: Vec<&[u8]> = (0..count)
                    .map(|place| &bytes[place..place * 70 % 301 + place])
                    .collect();
                let each: Vec<u8> = messages
                    .iter()
                    .flat_map(|message| hash.digest(message).to_vec())
                    .collect();
                assert_eq!(hash.digest_many(&messages), each, "{hash}, {count}");
            }
        }
    }
}
