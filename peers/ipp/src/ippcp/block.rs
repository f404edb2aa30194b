//! The private and the public operation on raw blocks.

use rsalab_engines::{EngineError, Prepared, StudyKey, kit};

use super::{
    ffi::{Functions, PrivateKey, PublicKey},
    number::{Number, State, int, size},
};

/// An operation on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `ippsRSA_Decrypt` with a key of type 2: the primes and their exponents.
    PrivateCrt,
    /// `ippsRSA_Decrypt` with a key of type 1: the modulus and the private exponent.
    PrivatePlain,
    /// `ippsRSA_Encrypt`.
    Public,
}

/// A key, from which each thread makes its own state: the library's arithmetic has its scratch in it.
pub(crate) fn blocks<'a>(functions: &'a Functions, operation: Operation, key: &StudyKey) -> Box<dyn Prepared + 'a> {
    let kernel = match operation {
        Operation::PrivateCrt => "ippsRSA_Decrypt, key of type 2",
        Operation::PrivatePlain => "ippsRSA_Decrypt, key of type 1",
        Operation::Public => "ippsRSA_Encrypt",
    };
    let parts = key.clone();
    kit::blocks(kernel, key, move || {
        let key = match operation {
            Operation::PrivateCrt => KeyState::Private(private_crt(functions, &parts)?),
            Operation::PrivatePlain => KeyState::Private(private_plain(functions, &parts)?),
            Operation::Public => KeyState::Public(public(functions, &parts)?),
        };
        let mut buffer = key.buffer(functions)?;
        // The recombination writes as many words as both primes have, which may be one more than the modulus has.
        let bits = parts.bits + 64;
        let mut from = Number::with_capacity(functions, bits)?;
        let mut to = Number::with_capacity(functions, bits)?;
        Ok(move |input: &[u8], output: &mut [u8]| {
            from.read(input)?;
            key.apply(functions, &from, &mut to, &mut buffer)?;
            to.write(output)
        })
    })
}

enum KeyState {
    Private(State<PrivateKey>),
    Public(State<PublicKey>),
}

impl KeyState {
    /// Scratch for operations with this key.
    fn buffer(&self, functions: &Functions) -> Result<State<u8>, EngineError> {
        let bytes = match self {
            Self::Private(key) => size(functions, "ippsRSA_GetBufferSizePrivateKey", |size| {
                // SAFETY: the key is set; the size is written to a place that lives.
                unsafe { (functions.ippsRSA_GetBufferSizePrivateKey)(size, key.as_ptr()) }
            }),
            Self::Public(key) => size(functions, "ippsRSA_GetBufferSizePublicKey", |size| {
                // SAFETY: as above.
                unsafe { (functions.ippsRSA_GetBufferSizePublicKey)(size, key.as_ptr()) }
            }),
        };
        bytes.map(State::of_bytes)
    }

    fn apply(
        &self,
        functions: &Functions,
        from: &Number<'_>,
        to: &mut Number<'_>,
        buffer: &mut State<u8>,
    ) -> Result<(), EngineError> {
        let (from, to, buffer) = (from.as_ptr(), to.as_mut_ptr(), buffer.as_mut_ptr());
        // SAFETY: numbers, key and scratch are initialised, this thread's own, and of the sizes that the library asked
        // for.
        let (call, status) = unsafe {
            match self {
                Self::Private(key) => (
                    "ippsRSA_Decrypt",
                    (functions.ippsRSA_Decrypt)(from, to, key.as_ptr(), buffer),
                ),
                Self::Public(key) => (
                    "ippsRSA_Encrypt",
                    (functions.ippsRSA_Encrypt)(from, to, key.as_ptr(), buffer),
                ),
            }
        };
        functions.done(call, status)
    }
}

fn public(functions: &Functions, key: &StudyKey) -> Result<State<PublicKey>, EngineError> {
    let modulus = Number::from_bytes(functions, &key.n)?;
    let exponent = Number::from_bytes(functions, &key.e)?;
    let (n_bits, e_bits) = (bits(&key.n), bits(&key.e));
    let bytes = size(functions, "ippsRSA_GetSizePublicKey", |size| {
        // SAFETY: the size is written to a place that lives.
        unsafe { (functions.ippsRSA_GetSizePublicKey)(n_bits, e_bits, size) }
    })?;
    let mut state = State::of_bytes(bytes);
    // SAFETY: the state has the size asked for; the numbers are initialised and are copied.
    unsafe {
        functions.done(
            "ippsRSA_InitPublicKey",
            (functions.ippsRSA_InitPublicKey)(n_bits, e_bits, state.as_mut_ptr(), bytes),
        )?;
        functions.done(
            "ippsRSA_SetPublicKey",
            (functions.ippsRSA_SetPublicKey)(modulus.as_ptr(), exponent.as_ptr(), state.as_mut_ptr()),
        )?;
    }
    Ok(state)
}

fn private_plain(functions: &Functions, key: &StudyKey) -> Result<State<PrivateKey>, EngineError> {
    let modulus = Number::from_bytes(functions, &key.n)?;
    let exponent = Number::from_bytes(functions, &key.d)?;
    let bits = bits(&key.n);
    let bytes = size(functions, "ippsRSA_GetSizePrivateKeyType1", |size| {
        // SAFETY: the size is written to a place that lives.
        unsafe { (functions.ippsRSA_GetSizePrivateKeyType1)(bits, bits, size) }
    })?;
    let mut state = State::of_bytes(bytes);
    // SAFETY: the state has the size asked for; the numbers are initialised and are copied.
    unsafe {
        functions.done(
            "ippsRSA_InitPrivateKeyType1",
            (functions.ippsRSA_InitPrivateKeyType1)(bits, bits, state.as_mut_ptr(), bytes),
        )?;
        functions.done(
            "ippsRSA_SetPrivateKeyType1",
            (functions.ippsRSA_SetPrivateKeyType1)(modulus.as_ptr(), exponent.as_ptr(), state.as_mut_ptr()),
        )?;
    }
    Ok(state)
}

fn private_crt(functions: &Functions, key: &StudyKey) -> Result<State<PrivateKey>, EngineError> {
    let number = |bytes: &[u8]| Number::from_bytes(functions, bytes);
    let (p, q) = (number(&key.p)?, number(&key.q)?);
    let (dp, dq, qinv) = (number(&key.dp)?, number(&key.dq)?, number(&key.qinv)?);
    let mut state = empty_private_crt(functions, bits(&key.p), bits(&key.q))?;
    // SAFETY: the numbers are initialised and are copied.
    functions.done("ippsRSA_SetPrivateKeyType2", unsafe {
        (functions.ippsRSA_SetPrivateKeyType2)(
            p.as_ptr(),
            q.as_ptr(),
            dp.as_ptr(),
            dq.as_ptr(),
            qinv.as_ptr(),
            state.as_mut_ptr(),
        )
    })?;
    Ok(state)
}

/// A private key of type 2, not set yet.
pub(crate) fn empty_private_crt(
    functions: &Functions,
    p_bits: std::ffi::c_int,
    q_bits: std::ffi::c_int,
) -> Result<State<PrivateKey>, EngineError> {
    let bytes = size(functions, "ippsRSA_GetSizePrivateKeyType2", |size| {
        // SAFETY: the size is written to a place that lives.
        unsafe { (functions.ippsRSA_GetSizePrivateKeyType2)(p_bits, q_bits, size) }
    })?;
    let mut state = State::of_bytes(bytes);
    // SAFETY: the state has the size asked for.
    functions.done("ippsRSA_InitPrivateKeyType2", unsafe {
        (functions.ippsRSA_InitPrivateKeyType2)(p_bits, q_bits, state.as_mut_ptr(), bytes)
    })?;
    Ok(state)
}

/// Bits of a big-endian number.
fn bits(bytes: &[u8]) -> std::ffi::c_int {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let highest = bytes.get(zeros).map_or(0, |byte| byte.leading_zeros());
    int(8 * (bytes.len() - zeros)) - highest as std::ffi::c_int
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_from_the_highest_one() {
        for (bytes, count) in [
            (&[1, 0, 1][..], 17),
            (&[0, 0x80], 8),
            (&[0xFF, 0], 16),
            (&[0, 0], 0),
            (&[], 0),
        ] {
            assert_eq!(bits(bytes), count, "{bytes:?}");
        }
    }
}
