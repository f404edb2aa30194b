//! The extension module `rsalab._rsalab` of the Python package `rsalab`: keys, signatures, encryption and generation,
//! many at once.
//!
//! | question | file |
//! |---|---|
//! | which exception an error becomes | `errors` |
//! | how objects of Python become bytes | `buffers` |
//! | hash functions, paddings, numbers of threads as Python names them | `arguments`, `padding` |
//! | what a key is, and what it does with batches | `ready`, `batches` |
//! | how work is shared by threads, without the interpreter | `parallel` |
//! | the classes of keys | `private`, `public` |
//! | keys of and for the package `cryptography` | `interop` |
//! | functions on many messages, with one key or one for each | `many`, `several` |
//! | blind signatures | `blind` |
//! | keys: read, generated | `load`, `generate` |
//!
//! Every call takes what it needs out of Python's objects, detaches from the interpreter, computes, and makes objects
//! of what came of it. `bytes` cannot change and are used where they lie; other buffers are copied, since another
//! thread may change them meanwhile. Nothing here waits for a lock that a fork could leave locked.
#![forbid(unsafe_code)]

mod arguments;
mod batches;
mod blind;
mod buffers;
mod errors;
mod generate;
mod interop;
mod load;
mod many;
mod padding;
mod parallel;
mod private;
mod public;
mod ready;
mod several;

/// RSA in the lanes of the CPU. The package `rsalab` has all of this.
#[pyo3::pymodule]
mod _rsalab {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        blind::{BlindClient, BlindState, blind_sign_many},
        generate::{KeyGenerator, generate, generate_many, insecure_key},
        load::{load_private_key, load_private_keys, load_public_key},
        many::{decrypt_many, encrypt_many, screen_many, sign_many, verify_many},
        padding::{Oaep, Pkcs1v15, Pss},
        private::PrivateKey,
        public::PublicKey,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Now, and not in the middle of an error while the interpreter ends.
        crate::errors::import(module.py());
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let variants = rsalab_rsa::blind::Variant::ALL.map(rsalab_rsa::blind::Variant::name);
        module.add("blind_variants", variants.to_vec())?;
        module.add("hashes", rsalab_rsa::hash::Hash::names())?;
        module.add("kernel", rsalab_rsa::Kernel::auto().name())
    }
}
