//! `rsalab raw-private` and `rsalab raw-public`: blocks raised, and nothing else.

use rsalab_rsa::{Backend, Error, Prepared, Status, format::Purpose};
use zeroize::Zeroizing;

use super::inputs::Destination;
use crate::{
    arguments::{RawOptions, RawPrivate, RawPublic},
    exit::{Class, Failure},
    files::{self, Privacy},
    kernels, keys,
};

/// The most bytes of blocks that are taken at once: they lie in memory.
const MOST: u64 = 1 << 30;

/// To the private exponent.
pub(crate) fn private(arguments: &RawPrivate) -> Result<(), Failure> {
    let options = &arguments.raw;
    let loaded = keys::private(&options.key)?;
    let key = options
        .any_use
        .of_any_scheme(&options.key, loaded, Purpose::RawPrivate)?;
    let backend = kernels::backend(options.kernel.kernel.as_deref())?;
    raise(options, &*backend.prepare_private(&key)?)
}

/// To the public exponent.
pub(crate) fn public(arguments: &RawPublic) -> Result<(), Failure> {
    let options = &arguments.raw;
    let loaded = keys::public(&options.key)?;
    let key = options
        .any_use
        .of_any_scheme(&options.key, loaded, Purpose::RawPublic)?;
    let backend = kernels::backend(options.kernel.kernel.as_deref())?;
    raise(options, &*backend.prepare_public(&key)?)
}

fn raise(options: &RawOptions, key: &dyn Prepared) -> Result<(), Failure> {
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
    let mut status = vec![Status::Done; inputs.len() / k];
    let mut outputs = Zeroizing::new(vec![0; inputs.len()]);
    key.runner()
        .and_then(|mut runner| runner.run(&inputs, &mut outputs, &mut status))?;
    match status.iter().position(|status| *status != Status::Done) {
        None => out.write(&outputs, Privacy::Private),
        Some(item) if status[item] == Status::OutOfRange => {
            let what = format!("block {item} of {name} is not below the modulus");
            Err(Failure::new(Class::Input, what)
                .advice("blocks are counted from 0; nothing was written"))
        }
        Some(item) => Err(Error::Fault { item }.into()),
    }
}
