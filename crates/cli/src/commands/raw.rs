//! `rsalab raw-private` and `rsalab raw-public`: blocks raised to an exponent, and nothing else.

use rsalab_rsa::{Backend, Prepared, format::Purpose};
use rsalab_text::{BlockFault, Error, Threads, blocks};
use zeroize::Zeroizing;

use super::inputs::{check_stdin, one_file};
use crate::{
    arguments::Raw,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    kernels, keys,
    output::Log,
    progress,
};

/// The most bytes of blocks that are taken at once: they lie in memory.
const MOST: u64 = 1 << 30;

/// To the private exponent.
pub(crate) fn private(arguments: &Raw, log: Log) -> Result<()> {
    let options = &arguments.key;
    check_stdin(&options.key, &options.reading, &[arguments.files.stdin()])?;
    let loaded = keys::private(&options.key, &options.reading, log)?;
    let key = keys::of_any_scheme(options, loaded, Purpose::RawPrivate)?;
    let prepared = keys::backend(options)?.prepare_private(&key)?;
    raise(arguments, &*prepared, log)
}

/// To the public exponent.
pub(crate) fn public(arguments: &Raw, log: Log) -> Result<()> {
    let options = &arguments.key;
    check_stdin(&options.key, &options.reading, &[arguments.files.stdin()])?;
    let loaded = keys::public(&options.key, &options.reading, log)?;
    let key = keys::of_any_scheme(options, loaded, Purpose::RawPublic)?;
    let prepared = keys::backend(options)?.prepare_public(&key)?;
    raise(arguments, &*prepared, log)
}

fn raise(arguments: &Raw, key: &dyn Prepared, log: Log) -> Result<()> {
    let (from, to) = one_file(&arguments.files)?;
    to.check_terminal("the result")?;
    let inputs = files::read(from, MOST).map_err(|failure| failure.or_advice("give fewer blocks at once"))?;
    let (k, name) = (key.modulus_len(), files::name(from));
    let count = inputs.len() / k;
    kernels::note("raising", count, &key.kernels_for(count));
    if inputs.is_empty() || !inputs.len().is_multiple_of(k) {
        let len = inputs.len();
        let what = format!("{name} has {len} bytes, which is no number of blocks");
        return Err(Failure::new(Class::Input, what).advice(format!(
            "a block of this key has {k} bytes, big-endian, with zeros in front"
        )));
    }
    let raised = progress::follow(log, "block", count as u64, |done| {
        let threads = Threads::unpinned(arguments.threads.count()).counted(done);
        blocks::raise(key, &inputs, threads)
    });
    match raised {
        Ok(outcome) => to.write(&Zeroizing::new(outcome.output), Privacy::Private),
        Err(Error::Block {
            block,
            reason: BlockFault::OutOfRange,
        }) => {
            let what = format!("block {block} of {name} is not below the modulus");
            Err(Failure::new(Class::Input, what).advice("blocks are counted from 0; nothing was written"))
        }
        Err(error) => Err(error.into()),
    }
}
