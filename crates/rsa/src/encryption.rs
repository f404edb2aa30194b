//! Encrypting and decrypting messages that fit one block, one or many.
//!
//! As in [`signing`](crate::signing) there are two levels: [`EncryptionKey`] and [`DecryptionKey`] are keys with a
//! scheme, shared by threads; [`Encryptor`] and [`Decryptor`] are their per-thread runners.

use std::{ops::Range, sync::Arc};

use rand_core::TryCryptoRng;
use rsalab_arith::declassify::declassify_usize;
use zeroize::Zeroizing;

use crate::{
    CpuBackend, Error, PrivateKey, PublicKey, Result,
    backend::{Backend, BlockRunner, Pooled, Prepared, Status},
    error::check_len,
    random::SystemRng,
    room::make_room,
    scheme::{EncryptionScheme, implicit::Rejection, oaep, pkcs1v15},
};

/// Encrypts on one thread.
pub struct Encryptor<R> {
    runner: R,
    scheme: EncryptionScheme,
    max_len: usize,
    modulus_len: usize,
    encodings: Zeroizing<Vec<u8>>,
}

impl<R: BlockRunner> Encryptor<R> {
    /// `runner` does the public operation of a key of `bits` bits.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(runner: R, bits: usize, scheme: EncryptionScheme) -> Result<Self> {
        Ok(Encryptor {
            runner,
            max_len: scheme.max_len(bits)?,
            scheme,
            modulus_len: bits.div_ceil(8),
            encodings: Zeroizing::new(Vec::new()),
        })
    }

    /// Encrypts messages, into ciphertexts of the modulus's length each.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if a message is too long, [`Error::Randomness`] if there is none, and if the lengths of the
    /// buffers do not belong together; nothing is written then.
    pub fn encrypt<G: TryCryptoRng + ?Sized>(
        &mut self,
        messages: &[&[u8]],
        ciphertexts: &mut [u8],
        rng: &mut G,
    ) -> Result<()> {
        let k = self.modulus_len;
        make_room(&mut self.encodings, messages.len() * k);
        for (message, encoding) in messages.iter().zip(self.encodings.chunks_mut(k)) {
            if message.len() > self.max_len {
                return Err(Error::Scheme {
                    reason: format!(
                        "the message has {} bytes; with this key and scheme one has {} at most",
                        message.len(),
                        self.max_len
                    ),
                });
            }
            self.scheme.encode(message, rng, encoding)?;
        }
        let mut status = vec![Status::Done; messages.len()];
        self.runner.run(&self.encodings, ciphertexts, &mut status)?;
        match status.iter().position(|status| *status != Status::Done) {
            None => Ok(()),
            // An encoding begins with a zero, and so lies below the modulus.
            Some(item) => Err(Error::Fault { item }),
        }
    }
}

/// Decrypts on one thread.
pub struct Decryptor<R> {
    runner: R,
    unpadder: Unpadder,
    modulus_len: usize,
    encodings: Zeroizing<Vec<u8>>,
    synthetic: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
}

/// Takes the padding off blocks that were raised to the private exponent. Cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct Unpadder(Arc<Unpadding>);

enum Unpadding {
    Pkcs1v15(Rejection),
    Oaep(crate::scheme::Oaep),
}

impl Unpadder {
    /// For one key and scheme.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(key: &PrivateKey, scheme: &EncryptionScheme) -> Result<Self> {
        scheme.max_len(key.bits())?;
        Ok(Unpadder(Arc::new(match scheme {
            EncryptionScheme::Pkcs1v15 => Unpadding::Pkcs1v15(Rejection::of(key.d())),
            EncryptionScheme::Oaep(oaep) => Unpadding::Oaep(oaep.clone()),
        })))
    }

    /// Where the message lies in `block`, which is what a ciphertext came to, and is changed; `None` if decryption
    /// failed. `room` is as long as the block. What is said of [`Decryptor::decrypt`] holds.
    pub fn unpad(&self, ciphertext: &[u8], block: &mut [u8], room: &mut [u8]) -> Option<Range<usize>> {
        match &*self.0 {
            Unpadding::Oaep(oaep) => oaep::decode(oaep, block),
            Unpadding::Pkcs1v15(rejection) => {
                let start = rejection.message(ciphertext, room);
                let start = pkcs1v15::decode(block, room, start);
                block.copy_from_slice(room);
                // The message is released, and with it its length.
                Some(declassify_usize(start)..block.len())
            }
        }
    }
}

impl<R: BlockRunner> Decryptor<R> {
    /// `runner` does the private operation of the key.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(runner: R, key: &PrivateKey, scheme: &EncryptionScheme) -> Result<Self> {
        let unpadder = Unpadder::new(key, scheme)?;
        Ok(Decryptor::with(runner, unpadder, key.modulus_len()))
    }

    fn with(runner: R, unpadder: Unpadder, modulus_len: usize) -> Self {
        Decryptor {
            runner,
            unpadder,
            modulus_len,
            encodings: Zeroizing::new(Vec::new()),
            synthetic: Zeroizing::new(Vec::new()),
            status: Vec::new(),
        }
    }

    /// Decrypts ciphertexts of the modulus's length each. `messages` is as long as they are together: message `i` lies
    /// within block `i`, and zeros fill the rest. `places[i]` is its byte range in that block; `None` if decryption
    /// failed.
    ///
    /// Bad RSAES-PKCS1-v1_5 padding yields a pseudorandom message (implicit rejection), as long as the ciphertext lies
    /// below the modulus. Failures of RSAES-OAEP cannot be told apart.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together, if there is no randomness for blinding, and
    /// [`Error::Fault`] if a result failed its check; there are no messages then.
    pub fn decrypt(
        &mut self,
        ciphertexts: &[u8],
        messages: &mut [u8],
        places: &mut [Option<Range<usize>>],
    ) -> Result<()> {
        let k = self.modulus_len;
        check_len("the messages", messages.len(), places.len() * k)?;
        messages.fill(0);
        places.fill(None);
        make_room(&mut self.encodings, messages.len());
        self.status.resize(places.len(), Status::Done);
        self.runner.run(ciphertexts, &mut self.encodings, &mut self.status)?;
        if let Some(item) = self.status.iter().position(|status| *status == Status::Fault) {
            return Err(Error::Fault { item });
        }
        let items = ciphertexts
            .chunks(k)
            .zip(self.encodings.chunks_mut(k))
            .zip(messages.chunks_mut(k))
            .zip(&self.status)
            .zip(places);
        for ((((ciphertext, encoding), message), status), place) in items {
            if *status != Status::Done {
                continue;
            }
            self.synthetic.resize(k, 0);
            let found = self.unpadder.unpad(ciphertext, encoding, &mut self.synthetic);
            if let Some(found) = found {
                message[found.clone()].copy_from_slice(&encoding[found.clone()]);
                *place = Some(found);
            }
        }
        Ok(())
    }
}

/// A public key made ready to encrypt with one scheme. Cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct EncryptionKey {
    prepared: Arc<Pooled>,
    bits: usize,
    scheme: EncryptionScheme,
}

/// A private key made ready to decrypt with one scheme. Cheap to clone, and shared by threads.
///
/// ```
/// use rsalab_rsa::{PrivateKey, hash::Hash};
/// use rsalab_rsa::encryption::{DecryptionKey, EncryptionKey};
/// use rsalab_rsa::scheme::{EncryptionScheme, Oaep};
///
/// let key = PrivateKey::generate(2048)?;
/// let scheme = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
/// let ciphertext = EncryptionKey::new(key.public(), scheme.clone())?.encrypt(b"a secret")?;
///
/// let decryption = DecryptionKey::new(&key, &scheme)?;
/// assert_eq!(**decryption.decrypt(&ciphertext)?.expect("it is whole"), *b"a secret");
/// assert!(decryption.decrypt(&ciphertext[1..])?.is_none());
/// # Ok::<(), rsalab_rsa::Error>(())
/// ```
#[derive(Clone)]
pub struct DecryptionKey {
    prepared: Arc<Pooled>,
    unpadder: Unpadder,
}

/// A message that was decrypted, wiped from memory when it is dropped.
pub type Message = Zeroizing<Vec<u8>>;

impl EncryptionKey {
    /// Prepares the key on this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(key: &PublicKey, scheme: EncryptionScheme) -> Result<Self> {
        EncryptionKey::with_backend(key, scheme, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(key: &PublicKey, scheme: EncryptionScheme, backend: &dyn Backend) -> Result<Self> {
        scheme.max_len(key.bits())?;
        Ok(EncryptionKey {
            prepared: Arc::new(Pooled::new(backend.prepare_public(key)?)),
            bits: key.bits(),
            scheme,
        })
    }

    /// The kernels that a call with so many items runs on, for the record.
    pub fn kernels_for(&self, items: usize) -> Vec<&str> {
        self.prepared.kernels_for(items)
    }

    /// A runner for one thread.
    ///
    /// # Errors
    ///
    /// Errors of the backend.
    pub fn encryptor(&self) -> Result<Encryptor<impl BlockRunner + '_>> {
        Encryptor::new(self.prepared.runner()?, self.bits, self.scheme.clone())
    }

    /// Encrypts a message.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if it is too long, and [`Error::Randomness`] if there is none.
    pub fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>> {
        self.encrypt_with_rng(&mut SystemRng, message)
    }

    /// Encrypts a message, with randomness from a generator.
    ///
    /// # Errors
    ///
    /// As for [`encrypt`](Self::encrypt).
    pub fn encrypt_with_rng<G: TryCryptoRng + ?Sized>(&self, rng: &mut G, message: &[u8]) -> Result<Vec<u8>> {
        let mut ciphertext = vec![0; self.prepared.modulus_len()];
        self.encryptor()?.encrypt(&[message], &mut ciphertext, rng)?;
        Ok(ciphertext)
    }

    /// Encrypts messages, together in the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// As for [`encrypt`](Self::encrypt), of any of them.
    pub fn encrypt_batch(&self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let k = self.prepared.modulus_len();
        let mut ciphertexts = vec![0; messages.len() * k];
        self.encryptor()?.encrypt(messages, &mut ciphertexts, &mut SystemRng)?;
        Ok(ciphertexts.chunks(k).map(<[u8]>::to_vec).collect())
    }
}

impl DecryptionKey {
    /// Prepares the key on this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(key: &PrivateKey, scheme: &EncryptionScheme) -> Result<Self> {
        DecryptionKey::with_backend(key, scheme, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(key: &PrivateKey, scheme: &EncryptionScheme, backend: &dyn Backend) -> Result<Self> {
        Ok(DecryptionKey {
            unpadder: Unpadder::new(key, scheme)?,
            prepared: Arc::new(Pooled::new(backend.prepare_private(key)?)),
        })
    }

    /// Bytes of a ciphertext.
    pub fn modulus_len(&self) -> usize {
        self.prepared.modulus_len()
    }

    /// The kernels that a call with so many items runs on, for the record.
    pub fn kernels_for(&self, items: usize) -> Vec<&str> {
        self.prepared.kernels_for(items)
    }

    /// A runner for one thread.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none for blinding.
    pub fn decryptor(&self) -> Result<Decryptor<impl BlockRunner + '_>> {
        Ok(Decryptor::with(
            self.prepared.runner()?,
            self.unpadder.clone(),
            self.prepared.modulus_len(),
        ))
    }

    /// Decrypts a ciphertext; `None` if it is wrong, without saying why. With RSAES-PKCS1-v1_5 a wrong one of the right
    /// length and below the modulus yields a pseudorandom message (implicit rejection).
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none for blinding.
    pub fn decrypt(&self, ciphertext: &[u8]) -> Result<Option<Message>> {
        Ok(self.decrypt_batch(&[ciphertext])?.remove(0))
    }

    /// Decrypts ciphertexts, together in the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// As for [`decrypt`](Self::decrypt).
    pub fn decrypt_batch(&self, ciphertexts: &[&[u8]]) -> Result<Vec<Option<Message>>> {
        let k = self.prepared.modulus_len();
        let mut blocks = vec![0; ciphertexts.len() * k];
        for (ciphertext, block) in ciphertexts.iter().zip(blocks.chunks_mut(k)) {
            if ciphertext.len() == k {
                block.copy_from_slice(ciphertext);
            }
        }
        let mut messages = Zeroizing::new(vec![0; blocks.len()]);
        let mut places = vec![None; ciphertexts.len()];
        self.decryptor()?.decrypt(&blocks, &mut messages, &mut places)?;
        let items = ciphertexts.iter().zip(messages.chunks(k)).zip(places);
        Ok(items
            .map(|((ciphertext, message), place)| {
                // One of another length is wrong, and everybody can see it.
                let place = place.filter(|_| ciphertext.len() == k)?;
                Some(Zeroizing::new(message[place].to_vec()))
            })
            .collect())
    }
}
