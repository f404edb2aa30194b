//! `rsalab raw-private` and `rsalab raw-public`: blocks raised, and nothing else.

use std::thread;

use rsalab_rsa::{Backend, BlockRunner, Prepared, Status, format::Purpose};
use rsalab_text::{self as text, BlockFault, BlockWorker, Error, Threads, Work};
use zeroize::Zeroizing;

use super::{counted::Counted, inputs::Destination};
use crate::{
    arguments::{RawOptions, RawPrivate, RawPublic},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
    output::Talk,
};

/// The most bytes of blocks that are taken at once: they lie in memory.
const MOST: u64 = 1 << 30;
/// Blocks that a thread hands to the kernel at once, for each of its lanes.
const BLOCKS_A_LANE: usize = 8;

/// To the private exponent.
pub(crate) fn private(arguments: &RawPrivate, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.raw;
    let loaded = keys::private(&options.key)?;
    let key = options
        .any_use
        .of_any_scheme(&options.key, loaded, Purpose::RawPrivate)?;
    let backend = Counted::new(kernels::backend(options.kernel.kernel.as_deref())?);
    raise(options, &backend, &*backend.prepare_private(&key)?, talk)
}

/// To the public exponent.
pub(crate) fn public(arguments: &RawPublic, talk: Talk) -> Result<(), Failure> {
    let options = &arguments.raw;
    let loaded = keys::public(&options.key)?;
    let key = options
        .any_use
        .of_any_scheme(&options.key, loaded, Purpose::RawPublic)?;
    let backend = Counted::new(kernels::backend(options.kernel.kernel.as_deref())?);
    raise(options, &backend, &*backend.prepare_public(&key)?, talk)
}

fn raise(
    options: &RawOptions,
    backend: &Counted,
    key: &dyn Prepared,
    talk: Talk,
) -> Result<(), Failure> {
    let out = Destination::of(options.out.as_deref())?;
    out.check_terminal("the result")?;
    let inputs = Zeroizing::new(
        files::read(options.input.as_deref(), MOST)
            .map_err(|failure| failure.or_advice("give fewer blocks at once"))?,
    );
    let (k, name) = (key.modulus_len(), files::name(options.input.as_deref()));
    if inputs.is_empty() || !inputs.len().is_multiple_of(k) {
        let what = format!(
            "{name} has {} bytes, which is no number of blocks",
            inputs.len()
        );
        return Err(Failure::new(Class::Input, what).advice(format!(
            "a block of this key has {k} bytes, big-endian, with zeros in front"
        )));
    }
    let work = Work {
        input: &inputs,
        input_block: k,
        output_len: inputs.len(),
        output_block: k,
    };
    let threads = Threads::unpinned(match options.threads {
        Some(threads) => threads,
        None => thread::available_parallelism().map_or(1, usize::from),
    });
    let done = backend.followed(talk, (inputs.len() / k) as u64, || {
        text::run(work, threads, |_| Raiser::new(key))
    });
    match done.map_err(Error::from) {
        Ok(outcome) => out.write(&Zeroizing::new(outcome.output), Privacy::Private),
        Err(Error::Block {
            block,
            reason: BlockFault::OutOfRange,
        }) => {
            let what = format!("block {block} of {name} is not below the modulus");
            Err(Failure::new(Class::Input, what)
                .advice("blocks are counted from 0; nothing was written"))
        }
        Err(error) => Err(error.into()),
    }
}

/// What one thread does to its blocks.
struct Raiser<'a> {
    runner: Box<dyn BlockRunner + 'a>,
    modulus_len: usize,
    status: Vec<Status>,
}

impl<'a> Raiser<'a> {
    fn new(key: &'a dyn Prepared) -> Result<Self, Error> {
        Ok(Raiser {
            runner: key.runner()?,
            modulus_len: key.modulus_len(),
            status: vec![Status::Done; BLOCKS_A_LANE * key.lanes()],
        })
    }
}

impl BlockWorker for Raiser<'_> {
    type Error = Error;

    fn work(&mut self, first: usize, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let batch = self.status.len();
        let len = batch * self.modulus_len;
        for (index, (input, output)) in input.chunks(len).zip(output.chunks_mut(len)).enumerate() {
            let status = &mut self.status[..input.len() / self.modulus_len];
            self.runner.run(input, output, status)?;
            let fault = status.iter().position(|status| *status != Status::Done);
            if let Some(place) = fault {
                return Err(Error::Block {
                    block: first + index * batch + place,
                    reason: match status[place] {
                        Status::OutOfRange => BlockFault::OutOfRange,
                        _ => BlockFault::Check,
                    },
                });
            }
        }
        Ok(())
    }
}
