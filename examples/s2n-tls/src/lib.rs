//! A private key for [s2n-tls](https://docs.rs/s2n-tls) over a [`Batcher`]: the task of a handshake awaits its
//! signature and holds no thread meanwhile, so that a few threads do as many handshakes side by side as there are
//! connections, and their signatures share passes.
//!
//! Give the configuration the certificates alone (`load_public_pem`), and a [`BatchedKey`] to
//! `set_private_key_callback`; `tests/handshakes.rs` has a whole server.
#![forbid(unsafe_code)]

use std::{
    error,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use rsalab_batch::{Batcher, Operation};
use rsalab_rsa::{
    hash::Hash,
    scheme::{Pss, SignatureScheme},
};
use s2n_tls::{
    callbacks::{ConnectionFuture, OperationType, PrivateKeyCallback, PrivateKeyOperation},
    connection::Connection,
    enums::{HashAlgorithm, SignatureAlgorithm},
    error::Error,
};

/// One key of a batcher, by its number.
pub struct BatchedKey {
    batcher: Batcher,
    key: usize,
}

impl BatchedKey {
    /// The key of this number.
    pub fn new(batcher: &Batcher, key: usize) -> Self {
        BatchedKey {
            batcher: batcher.clone(),
            key,
        }
    }
}

impl PrivateKeyCallback for BatchedKey {
    fn handle_operation(
        &self,
        _: &mut Connection,
        operation: PrivateKeyOperation,
    ) -> Result<Option<Pin<Box<dyn ConnectionFuture>>>, Error> {
        let scheme = scheme_of(operation.kind()?)?;
        let mut digest = vec![0; operation.input_size()?];
        operation.input(&mut digest)?;
        let signature = self.batcher.sign_async(self.key, scheme, &digest);
        Ok(Some(Box::pin(Signing {
            operation: Some(operation),
            signature: signature.map_err(failed)?,
        })))
    }
}

/// A signature that is awaited, and who asked for it.
struct Signing {
    operation: Option<PrivateKeyOperation>,
    signature: Operation,
}

impl ConnectionFuture for Signing {
    fn poll(self: Pin<&mut Self>, connection: &mut Connection, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let this = self.get_mut();
        let signature = match Pin::new(&mut this.signature).poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(signature) => signature.map_err(failed)?,
        };
        Poll::Ready(match this.operation.take() {
            Some(operation) => operation.set_output(connection, &signature),
            None => Err(failed("polled after it was done")),
        })
    }
}

/// What s2n-tls asks for; it hands over digests. Exchanges of keys that decrypt (TLS 1.2 without forward secrecy) are
/// refused.
fn scheme_of(kind: &OperationType) -> Result<SignatureScheme, Error> {
    let OperationType::Sign(padding, hash) = kind else {
        return Err(failed("this server decrypts nothing with its key"));
    };
    let hash = match hash {
        HashAlgorithm::SHA224 => Hash::Sha224,
        HashAlgorithm::SHA256 => Hash::Sha256,
        HashAlgorithm::SHA384 => Hash::Sha384,
        HashAlgorithm::SHA512 => Hash::Sha512,
        other => return Err(failed(format!("no signatures with {other:?}"))),
    };
    match padding {
        SignatureAlgorithm::RSA_PKCS1 => Ok(SignatureScheme::Pkcs1v15(hash)),
        SignatureAlgorithm::RSA_PSS_RSAE | SignatureAlgorithm::RSA_PSS_PSS => Ok(SignatureScheme::Pss(Pss::new(hash))),
        other => Err(failed(format!("an RSA key does not sign with {other:?}"))),
    }
}

fn failed(error: impl Into<Box<dyn error::Error + Send + Sync>>) -> Error {
    Error::application(error.into())
}
