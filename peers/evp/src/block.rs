//! The private and the public operation on raw blocks.

use rsalab_engines::{EngineError, Prepared, StudyKey, kit};

use crate::{
    context::{BlockOperation, Context},
    key::{Key, KeyDer},
    library::Libcrypto,
};

/// A key ready to be read by each thread: one shared by threads would be locked at each operation for its blinding.
pub(crate) fn blocks<'a>(
    library: &'a Libcrypto,
    operation: BlockOperation,
    key: &StudyKey,
) -> Result<Box<dyn Prepared + 'a>, EngineError> {
    let der = match operation {
        BlockOperation::Decrypt => KeyDer::private(key)?,
        BlockOperation::Encrypt => KeyDer::public(key)?,
    };
    let length = key.n.len();
    Ok(kit::blocks(operation.call(), key, move || {
        let key = Key::read(library, &der)?;
        let mut context = Context::for_blocks(library, &key, operation)?;
        // The first operation makes Montgomery contexts and blinding factors; that is set-up, and belongs here.
        let mut two = vec![0; length];
        two[length - 1] = 2;
        context.apply(operation, &two, &mut vec![0; length])?;
        Ok(move |input: &[u8], output: &mut [u8]| context.apply(operation, input, output))
    }))
}
