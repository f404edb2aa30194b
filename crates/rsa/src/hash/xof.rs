//! SHAKE128 and SHAKE256 (FIPS 202, section 6.2) as hash functions of fixed length, and as outputs of any length.

use digest::{
    ExtendableOutput, FixedOutput, HashMarker, Output, OutputSizeUser, Update, XofReader,
    consts::{U32, U64},
};

/// One of the two with a digest of a fixed length, which is what [`digest::Digest`] asks for.
macro_rules! fixed_length {
    ($name:ident, $Len:ty, $text:literal) => {
        #[doc = $text]
        #[derive(Default)]
        pub(super) struct $name(shake::$name);

        impl HashMarker for $name {}

        impl OutputSizeUser for $name {
            type OutputSize = $Len;
        }

        impl Update for $name {
            fn update(&mut self, data: &[u8]) {
                self.0.update(data);
            }
        }

        impl FixedOutput for $name {
            fn finalize_into(self, out: &mut Output<Self>) {
                self.0.finalize_xof_into(out);
            }
        }

        impl ExtendableOutput for $name {
            type Reader = <shake::$name as ExtendableOutput>::Reader;

            fn finalize_xof(self) -> Self::Reader {
                self.0.finalize_xof()
            }
        }
    };
}

fixed_length!(Shake128, U32, "SHAKE128 with a digest of 32 bytes.");
fixed_length!(Shake256, U64, "SHAKE256 with a digest of 64 bytes.");

/// Adds as many bytes of the output for `seed` to `target`, without carries, as it has.
pub(super) fn xor_output<X: ExtendableOutput + Default>(seed: &[u8], target: &mut [u8]) {
    const CHUNK: usize = 64;
    let mut function = X::default();
    function.update(seed);
    let mut output = function.finalize_xof();
    for chunk in target.chunks_mut(CHUNK) {
        let mut bytes = [0; CHUNK];
        output.read(&mut bytes[..chunk.len()]);
        chunk.iter_mut().zip(bytes).for_each(|(byte, mask)| *byte ^= mask);
    }
}
