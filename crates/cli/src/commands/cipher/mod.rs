//! `rsalab encrypt` and `rsalab decrypt`.
//!
//! | question | file |
//! |---|---|
//! | a text of any length, as raw blocks over threads | `blocks` |
//! | messages that are padded, as RFC 8017 says | `padded` |

mod blocks;
mod padded;

use crate::{
    arguments::{CipherOptions, CipherScheme, Decrypt, Encrypt},
    exit::{Class, Failure},
    output::Talk,
};

/// Encrypts for a public key.
pub(crate) fn encrypt(arguments: &Encrypt, talk: Talk) -> Result<(), Failure> {
    check_options(&arguments.cipher, arguments.block_symbols.is_some())?;
    match arguments.cipher.scheme.scheme {
        CipherScheme::Blocks => blocks::encrypt(arguments, talk),
        CipherScheme::Oaep | CipherScheme::Pkcs1v15 => padded::encrypt(arguments, talk),
    }
}

/// Decrypts with a private key.
pub(crate) fn decrypt(arguments: &Decrypt, talk: Talk) -> Result<(), Failure> {
    check_options(&arguments.cipher, false)?;
    match arguments.cipher.scheme.scheme {
        CipherScheme::Blocks => blocks::decrypt(arguments, talk),
        CipherScheme::Oaep | CipherScheme::Pkcs1v15 => padded::decrypt(arguments, talk),
    }
}

/// Refuses an option that would do nothing: whoever typed it takes something for done that is not.
fn check_options(options: &CipherOptions, with_block_symbols: bool) -> Result<(), Failure> {
    let scheme = options.scheme.scheme;
    let is_of_blocks = [
        ("--block-symbols", with_block_symbols),
        ("--threads", options.threads.is_some()),
        ("--trace", options.trace),
    ];
    let is_of_oaep = [
        ("--hash", options.scheme.hash.is_some()),
        ("--mgf-hash", options.scheme.mgf_hash.is_some()),
        ("--label", options.scheme.label.is_some()),
    ];
    let given = |options: &[(&'static str, bool)]| {
        options
            .iter()
            .find(|(_, is_given)| *is_given)
            .map(|(name, _)| *name)
    };
    let out_of_place = match scheme {
        CipherScheme::Blocks => given(&is_of_oaep).map(|name| (name, "--scheme oaep")),
        CipherScheme::Oaep => given(&is_of_blocks).map(|name| (name, "raw blocks")),
        CipherScheme::Pkcs1v15 => given(&is_of_blocks)
            .map(|name| (name, "raw blocks"))
            .or_else(|| given(&is_of_oaep).map(|name| (name, "--scheme oaep"))),
    };
    match out_of_place {
        None => Ok(()),
        Some((name, place)) => Err(Failure::new(Class::Usage, format!("{name} is for {place}"))
            .advice("leave it out, or choose another --scheme")),
    }
}
