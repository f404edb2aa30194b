//! The private and the public operation on raw blocks.

use rsalab_engines::{EngineError, Prepared, RunStats, Runner, StudyKey, check_blocks};

use crate::{
    context::{BlockOperation, Context},
    key::{Key, KeyDer},
    library::Libcrypto,
};

/// A key ready to be read by each thread.
pub(crate) struct PreparedBlocks<'a> {
    library: &'a Libcrypto,
    operation: BlockOperation,
    der: KeyDer,
    modulus: Vec<u8>,
}

impl<'a> PreparedBlocks<'a> {
    pub(crate) fn new(
        library: &'a Libcrypto,
        operation: BlockOperation,
        key: &StudyKey,
    ) -> Result<Self, EngineError> {
        let der = match operation {
            BlockOperation::Decrypt => KeyDer::private(key)?,
            BlockOperation::Encrypt => KeyDer::public(key)?,
        };
        Ok(Self {
            library,
            operation,
            der,
            modulus: key.n.clone(),
        })
    }
}

impl Prepared for PreparedBlocks<'_> {
    fn kernel(&self) -> String {
        self.operation.call().to_owned()
    }

    /// Each thread reads the key for itself: a key shared by threads would be locked at each operation for its blinding.
    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let key = Key::read(self.library, &self.der)?;
        let mut context = Context::for_blocks(self.library, &key, self.operation)?;
        // The first operation makes Montgomery contexts and blinding factors; that is set-up, and belongs here.
        let mut block = vec![0; self.modulus.len()];
        let mut scratch = block.clone();
        *block.last_mut().expect("a modulus has bytes") = 2;
        context.apply(self.operation, &block, &mut scratch)?;
        Ok(Box::new(BlockRunner {
            context,
            operation: self.operation,
            modulus: &self.modulus,
        }))
    }
}

struct BlockRunner<'a> {
    context: Context<'a>,
    operation: BlockOperation,
    modulus: &'a [u8],
}

impl Runner for BlockRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_blocks(inputs, outputs, self.modulus)?;
        let length = self.modulus.len();
        for (input, output) in inputs
            .chunks_exact(length)
            .zip(outputs.chunks_exact_mut(length))
        {
            self.context.apply(self.operation, input, output)?;
        }
        Ok(RunStats::default())
    }
}
