//! The private and the public operation on eight raw blocks at once.

use std::{array, ffi::c_int};

use rsalab_engines::{EngineError, Prepared, RunStats, Runner, StudyKey, check_blocks};
use zeroize::Zeroizing;

use super::ffi::{From8, Functions, Method, To8, Words8};

/// Operations that one call does.
pub(super) const LANES: usize = 8;

/// An operation on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `mbx_rsa_private_crt_mb8`
    PrivateCrt,
    /// `mbx_rsa_private_mb8`
    PrivatePlain,
    /// `mbx_rsa_public_mb8`
    Public,
}

impl Operation {
    /// The function that does it.
    fn call(self) -> &'static str {
        match self {
            Self::PrivateCrt => "mbx_rsa_private_crt_mb8",
            Self::PrivatePlain => "mbx_rsa_private_mb8",
            Self::Public => "mbx_rsa_public_mb8",
        }
    }
}

/// A number as the library reads it: 64-bit words from the lowest on.
type Words = Zeroizing<Vec<u64>>;

/// A key, which all lanes share.
pub(crate) struct PreparedBlocks<'a> {
    functions: &'a Functions,
    operation: Operation,
    bits: c_int,
    modulus: Vec<u8>,
    /// In the order of the function's parameters: `p q dp dq qinv`, `d n` or `n`.
    numbers: Vec<Words>,
}

impl<'a> PreparedBlocks<'a> {
    pub(crate) fn new(functions: &'a Functions, operation: Operation, key: &StudyKey) -> Result<Self, EngineError> {
        // The library reads as many words as the size says, and inverts odd numbers only.
        for (name, number, bits) in [
            ("n", &key.n, key.bits),
            ("p", &key.p, key.bits / 2),
            ("q", &key.q, key.bits / 2),
        ] {
            let whole = 8 * number.len() == bits && number[0] >= 0x80;
            if !whole || number.last().is_none_or(|byte| byte % 2 == 0) {
                return Err(EngineError::Key(format!("{name} is not an odd number of {bits} bits")));
            }
        }
        let half = key.bits / 2 / 64;
        let numbers = match operation {
            Operation::PrivateCrt => [&key.p, &key.q, &key.dp, &key.dq, &key.qinv]
                .map(|number| words(number, half))
                .into_iter()
                .collect(),
            Operation::PrivatePlain => vec![words(&key.d, 2 * half), words(&key.n, 2 * half)],
            Operation::Public => vec![words(&key.n, 2 * half)],
        };
        Ok(Self {
            functions,
            operation,
            bits: c_int::try_from(key.bits).expect("a size that was looked up"),
            modulus: key.n.clone(),
            numbers,
        })
    }

    fn method(&self) -> *const Method {
        let find = match self.operation {
            Operation::PrivateCrt => self.functions.mbx_RSA_private_crt_Method,
            Operation::PrivatePlain => self.functions.mbx_RSA_private_Method,
            Operation::Public => self.functions.mbx_RSA_pub65537_Method,
        };
        // SAFETY: any size may be asked for; the answer is null or a static record.
        unsafe { find(self.bits) }
    }
}

impl Prepared for PreparedBlocks<'_> {
    fn kernel(&self) -> String {
        self.operation.call().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let method = self.method();
        // SAFETY: null, which is answered with 0, or the library's own record.
        let size = unsafe { (self.functions.mbx_RSA_Method_BufSize)(method) };
        let size = usize::try_from(size).ok().filter(|size| *size > 0);
        let size = size.ok_or_else(|| {
            let message = format!("there is no method for {} bits", self.bits);
            EngineError::library("mbx_RSA_Method_BufSize", message)
        })?;
        Ok(Box::new(BlockRunner {
            prepared: self,
            method,
            buffer: Zeroizing::new(vec![0; size]),
            no_input: vec![0; self.modulus.len()],
            no_output: vec![0; self.modulus.len() * LANES],
        }))
    }
}

struct BlockRunner<'a> {
    prepared: &'a PreparedBlocks<'a>,
    method: *const Method,
    /// The library's scratch.
    buffer: Zeroizing<Vec<u8>>,
    /// The input of lanes without a block.
    no_input: Vec<u8>,
    /// Where lanes without a block write.
    no_output: Vec<u8>,
}

impl Runner for BlockRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let length = self.prepared.modulus.len();
        check_blocks(inputs, outputs, &self.prepared.modulus)?;
        for (inputs, outputs) in inputs.chunks(LANES * length).zip(outputs.chunks_mut(LANES * length)) {
            let from = array::from_fn(|lane| {
                inputs
                    .get(lane * length..)
                    .filter(|block| !block.is_empty())
                    .unwrap_or(&self.no_input)
                    .as_ptr()
            });
            let mut blocks = outputs
                .chunks_exact_mut(length)
                .chain(self.no_output.chunks_exact_mut(length));
            let to = array::from_fn(|_| {
                let block = blocks.next().expect("as many to spare as there are lanes");
                block.as_mut_ptr()
            });
            // SAFETY: of eight whole blocks, each pointer of `from` reads one and each of `to` writes one of its own.
            let status = unsafe { self.call(&from, &to) };
            if status != 0 {
                return Err(EngineError::library(
                    self.prepared.operation.call(),
                    format!("status {status:#010x}, four bits for each lane"),
                ));
            }
        }
        Ok(RunStats::default())
    }
}

impl BlockRunner<'_> {
    /// # Safety
    ///
    /// Each pointer of `from` reads, and each of `to` writes, a block of the modulus's length; those of `to` do not
    /// overlap.
    unsafe fn call(&mut self, from: &From8, to: &To8) -> u32 {
        let PreparedBlocks {
            functions,
            operation,
            bits,
            ref numbers,
            ..
        } = *self.prepared;
        let buffer = self.buffer.as_mut_ptr();
        let all = |index: usize| -> Words8 { [numbers[index].as_ptr(); LANES] };
        // SAFETY: the blocks are the caller's promise; the numbers have the words that `new` gave them for this size;
        // the method is of this operation and size, and the buffer as long as it asks for.
        unsafe {
            match operation {
                Operation::PrivateCrt => (functions.mbx_rsa_private_crt_mb8)(
                    from,
                    to,
                    &all(0),
                    &all(1),
                    &all(2),
                    &all(3),
                    &all(4),
                    bits,
                    self.method,
                    buffer,
                ),
                Operation::PrivatePlain => {
                    (functions.mbx_rsa_private_mb8)(from, to, &all(0), &all(1), bits, self.method, buffer)
                }
                Operation::Public => (functions.mbx_rsa_public_mb8)(from, to, &all(0), bits, self.method, buffer),
            }
        }
    }
}

/// Big-endian bytes as 64-bit words from the lowest on, filled up with zeros to `count`.
fn words(bytes: &[u8], count: usize) -> Words {
    let mut words = Zeroizing::new(vec![0; count]);
    for (word, chunk) in words.iter_mut().zip(bytes.rchunks(8)) {
        *word = chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_from_the_lowest() {
        let bytes: Vec<u8> = (1..=11).collect();
        assert_eq!(*words(&bytes, 3), [0x0405_0607_0809_0A0B, 0x0001_0203, 0]);
    }
}
