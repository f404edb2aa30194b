//! `rsalab blind`: blind signatures, a file for each step.
//!
//! | file | made by | read by |
//! |---|---|---|
//! | `FILE.blinded` | request | sign |
//! | `FILE.state`, secret | request | finalize |
//! | `FILE.blinded.sig` | sign | finalize |
//! | `FILE.sig`, `FILE.prefix` | finalize | verify |
//!
//! `names` says where files are, `allowed` which keys may be used.

mod allowed;
mod finalize;
mod names;
mod request;
mod sign;
mod verify;

use rsalab_rsa::{
    blind::{Variant, token_key},
    format::Purpose,
};

use super::inputs::{Destination, check_stdin};
use crate::{
    arguments::{Blind, BlindKey},
    exit::{Class, Failure, Result},
    files::Privacy,
    keys,
    output::Log,
};

/// Does what was typed.
pub(crate) fn run(arguments: &Blind, log: Log) -> Result<()> {
    match arguments {
        Blind::Request(arguments) => request::run(arguments, log),
        Blind::Sign(arguments) => sign::run(arguments, log),
        Blind::Finalize(arguments) => finalize::run(arguments, log),
        Blind::Verify(arguments) => verify::run(arguments, log),
        Blind::Key(arguments) => key(arguments, log),
    }
}

fn key(arguments: &BlindKey, log: Log) -> Result<()> {
    const BITS: usize = 2048;
    let out = Destination::of(arguments.out.path())?;
    out.check_terminal("the key")?;
    check_stdin(&arguments.key, &arguments.reading, &[])?;
    let loaded = keys::public(&arguments.key, &arguments.reading, log)?;
    let bits = loaded.key.bits();
    if bits != BITS {
        let name = arguments.key.display();
        let what = format!("{name} has {bits} bits, and keys of token issuers have {BITS}");
        return Err(Failure::new(Class::Input, what).advice("'rsalab keygen --bits 2048' makes one that fits"));
    }
    let scheme = Variant::PssDeterministic.scheme();
    allowed::check_algorithm(&arguments.key, &loaded.usage, &scheme)?;
    loaded.restrictions.check(Purpose::Verify(&scheme)).map_err(|error| {
        Failure::step(format!("cannot use {}", arguments.key.display()), error).advice("take another key")
    })?;
    out.write(&token_key(&loaded.key), Privacy::Public)
}
