//! Blind signatures (RFC 9474), many at once.

use rsalab_rsa::{
    PrivateKey,
    blind::{BlindError, BlindSigner, BlindingKey, InputMessage, Pending, Variant},
    format::Purpose,
};

use crate::{
    key::{PrivateKeyHandle, PublicKeyHandle, Ready, memory_with},
    outcomes::Outcomes,
    pointer::{Bytes, Measured, Out, array, free, handle_out, items, reference},
    sign::verify,
    status::{Failure, Status, guard, guard_free, guard_with},
};

/// The variants of RFC 9474, section 5, all with SHA-384 and RSASSA-PSS. Client, issuer and verifier agree on one.
#[repr(C)]
pub enum BlindVariant {
    /// RSABSSA-SHA384-PSS-Randomized: a salt of 48 bytes, and a random prefix of 32 bytes before the message. The
    /// choice where nothing speaks for another.
    PssRandomized = 1,
    /// RSABSSA-SHA384-PSSZERO-Randomized: no salt, a random prefix.
    PsszeroRandomized = 2,
    /// RSABSSA-SHA384-PSS-Deterministic: a salt, no prefix: for messages that cannot be guessed, such as the tokens of
    /// RFC 9578.
    PssDeterministic = 3,
    /// RSABSSA-SHA384-PSSZERO-Deterministic: neither; each message has one signature.
    PsszeroDeterministic = 4,
}

/// The state that a client keeps of one request until the issuer answers. It is secret: whoever has it can connect the
/// signature with the request. Does not change; serves one request. Wiped when it is freed.
pub struct BlindState {
    pending: Pending,
}

/// Of a number of C.
fn variant(number: u32) -> Result<Variant, Failure> {
    const PSS_RANDOMIZED: u32 = BlindVariant::PssRandomized as u32;
    const PSSZERO_RANDOMIZED: u32 = BlindVariant::PsszeroRandomized as u32;
    const PSS_DETERMINISTIC: u32 = BlindVariant::PssDeterministic as u32;
    const PSSZERO_DETERMINISTIC: u32 = BlindVariant::PsszeroDeterministic as u32;
    match number {
        PSS_RANDOMIZED => Ok(Variant::PssRandomized),
        PSSZERO_RANDOMIZED => Ok(Variant::PsszeroRandomized),
        PSS_DETERMINISTIC => Ok(Variant::PssDeterministic),
        PSSZERO_DETERMINISTIC => Ok(Variant::PsszeroDeterministic),
        _ => {
            let text = format!("{number} is no variant of blind signatures");
            Err(Failure::new(Status::Argument, text))
        }
    }
}

impl From<BlindError> for Failure {
    fn from(error: BlindError) -> Self {
        let status = match error {
            BlindError::Rsa(error) => return error.into(),
            BlindError::InvalidInput => Status::Key,
            BlindError::UnexpectedInputSize { .. } => Status::Length,
            BlindError::OutOfRange => Status::Range,
            BlindError::SigningFailure => Status::Fault,
            BlindError::InvalidSignature => Status::Verification,
            BlindError::State { .. } => Status::Argument,
            // What is left concerns blinding factors that a caller chooses.
            _ => Status::Internal,
        };
        Failure::new(status, error.to_string())
    }
}

/// The client's first step (RFC 9474, 4.1 and 4.2): prepares and blinds messages for the issuer with this key.
///
/// variant: an rsalab_blind_variant. messages: `count` of them. blinded: gets count * k bytes, k = (bits + 7) / 8, to
/// be sent to the issuer; blinded message i begins at i * k. blinded_len: room there, in bytes. states: gets `count`
/// states, to be freed one by one with rsalab_blind_state_free.
///
/// Returns BUFFER, ARGUMENT, SCHEME for a key that is too short, RESTRICTED, KEY for a modulus that is not of two large
/// primes, RANDOMNESS, NULL; nothing is written then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind(
    key: *const PublicKeyHandle,
    variant: u32,
    messages: *const Bytes,
    count: usize,
    blinded: *mut u8,
    blinded_len: usize,
    states: *mut *mut BlindState,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, messages, blinded, states) = unsafe {
            (
                reference(key, "key")?,
                items(messages, count, "messages")?,
                Out::new(blinded, blinded_len, "blinded")?,
                Out::new(states, count, "states")?,
            )
        };
        let client = client(key, variant)?;
        blinded.check(count.checked_mul(client.modulus_len()), "blinded")?;
        let prepare = |message: &&[u8]| InputMessage::prepare(client.variant(), message);
        let inputs = messages.iter().map(prepare);
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let requests = client.blind_batch(&inputs.iter().collect::<Vec<_>>())?;
        let mut bytes = Vec::with_capacity(count * client.modulus_len());
        let mut handles = Vec::with_capacity(count);
        for (block, pending) in requests {
            bytes.extend_from_slice(&block);
            handles.push(Box::into_raw(Box::new(BlindState { pending })));
        }
        blinded.put(&bytes);
        states.put(&handles);
        Ok(())
    })
}

/// The issuer's step (4.3): signs blinded messages of any clients with one key, together in the lanes of the CPU, on
/// the thread that calls. The key must sign blindly and do nothing else: the issuer cannot see what it signs.
///
/// variant: an rsalab_blind_variant. blinded: `count` blinded messages of k = (bits + 7) / 8 bytes. signatures: gets
/// count * k bytes, to be sent back; blind signature i begins at i * k, and is zeros if item i failed. signatures_len:
/// room there, in bytes. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if all are signed, ITEMS if not; else nothing is written: BUFFER, ARGUMENT, SCHEME, RESTRICTED,
/// RANDOMNESS, NULL. Of an item: LENGTH, RANGE, FAULT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_sign(
    key: *const PrivateKeyHandle,
    variant: u32,
    blinded: *const Bytes,
    count: usize,
    signatures: *mut u8,
    signatures_len: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, blinded, signatures, statuses) = unsafe {
            (
                reference(key, "key")?,
                items(blinded, count, "blinded")?,
                Out::new(signatures, signatures_len, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        let k = key.key.loaded.key.modulus_len();
        signatures.check(count.checked_mul(k), "signatures")?;
        check_issuer(&key.key, variant)?;
        let mut signer = BlindSigner::new(key.key.runner()?, k);
        Outcomes::of(signer.sign_batch(&blinded)?, k, signatures, statuses)
    })
}

/// Refuses a key that is for something else, or too short for the variant.
pub(crate) fn check_issuer(key: &Ready<PrivateKey>, number: u32) -> Result<(), Failure> {
    let variant = variant(number)?;
    key.loaded.check(Purpose::Sign(&variant.scheme()))?;
    Ok(variant.check(key.loaded.key.bits())?)
}

/// The client's second step (4.4): makes signatures of what the issuer sent, and verifies them.
///
/// messages, states: `count` of each, as in rsalab_blind, with its key and variant. blind_signatures: `count` of k =
/// (bits + 7) / 8 bytes. signatures: gets count * k bytes; signature i begins at i * k, and is zeros if item i failed.
/// signatures_len: room there, in bytes. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if all are right, ITEMS if not; else nothing is written: BUFFER, ARGUMENT, SCHEME, RESTRICTED, NULL.
/// Of an item: LENGTH, VERIFICATION for what is no blind signature of this request, ARGUMENT for a state of another key
/// or variant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_finalize(
    key: *const PublicKeyHandle,
    variant: u32,
    messages: *const Bytes,
    states: *const *const BlindState,
    blind_signatures: *const Bytes,
    count: usize,
    signatures: *mut u8,
    signatures_len: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, messages, states, answers, signatures, statuses) = unsafe {
            let states = array(states, count, "states")?.iter();
            let states = states.map(|&state| reference(state, "a state of states"));
            (
                reference(key, "key")?,
                items(messages, count, "messages")?,
                states.collect::<Result<Vec<&BlindState>, _>>()?,
                items(blind_signatures, count, "blind_signatures")?,
                Out::new(signatures, signatures_len, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        let client = client(key, variant)?;
        let k = client.modulus_len();
        signatures.check(count.checked_mul(k), "signatures")?;
        let input = |(message, state): (&&[u8], &&BlindState)| {
            InputMessage::with_prefix(state.pending.variant(), state.pending.prefix(), message)
        };
        let inputs = messages.iter().zip(&states).map(input);
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let of_each = inputs.iter().zip(&states).zip(&answers);
        let of_each: Vec<_> = of_each
            .map(|((input, state), answer)| (input, &state.pending, *answer))
            .collect();
        let made = client.finalize_batch(&of_each)?.into_iter();
        let made = made.map(|made| made.map(|signature| signature.as_bytes().to_vec()));
        Outcomes::of(made.collect(), k, signatures, statuses)
    })
}

/// Verifies signatures that came of blind ones (4.5), together in the lanes of the CPU, on the thread that calls. They
/// are RSASSA-PSS signatures of prefix and message.
///
/// prefixes: `count` prefixes of the messages, of 32 bytes; NULL, or empty ones, for a deterministic variant. messages,
/// signatures: `count` of each. statuses: gets `count` statuses, or NULL.
///
/// Returns OK if and only if every signature is that of its message, ITEMS if not; else nothing is written: ARGUMENT,
/// SCHEME, RESTRICTED, NULL. Of an item: LENGTH for a prefix of another length; VERIFICATION, whatever is wrong with
/// the signature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_verify(
    key: *const PublicKeyHandle,
    variant: u32,
    prefixes: *const Bytes,
    messages: *const Bytes,
    signatures: *const Bytes,
    count: usize,
    statuses: *mut Status,
) -> Status {
    // SAFETY: callers promise it in the header.
    guard_with(unsafe { memory_with(key, count) }, || {
        // SAFETY: callers promise it in the header.
        let (key, prefixes, messages, signatures, statuses) = unsafe {
            let prefixes = match prefixes.is_null() {
                true => Vec::new(),
                false => items(prefixes, count, "prefixes")?,
            };
            (
                reference(key, "key")?,
                prefixes,
                items(messages, count, "messages")?,
                items(signatures, count, "signatures")?,
                Out::optional(statuses, count),
            )
        };
        let variant = self::variant(variant)?;
        let prefix = |item| prefixes.get(item).copied().unwrap_or_default();
        let input = |(item, message): (usize, &&[u8])| {
            InputMessage::with_prefix(variant, prefix(item), message).map_err(Failure::from)
        };
        let inputs: Vec<_> = messages.iter().enumerate().map(input).collect();
        let digests = inputs.iter().map(|input| match input {
            Ok(input) => Ok(input.digest()),
            Err(failure) => Err(failure.clone()),
        });
        verify(&key.key, variant.scheme(), digests, &signatures, statuses)
    })
}

/// Copies the prefix that stands before the message of this request; whoever verifies the signature needs it. *len:
/// room in `prefix`, then bytes needed: 32, or 0 if the variant is deterministic. Returns BUFFER if there are fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_state_prefix(
    state: *const BlindState,
    prefix: *mut u8,
    len: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (state, out) = unsafe { (reference(state, "state")?, Measured::new(prefix, len, "len")?) };
        out.put(state.pending.prefix(), "prefix")
    })
}

/// Writes a state, for a client that ends before the issuer answers. Whoever can read it can connect the signature with
/// the request.
///
/// *len: room in `bytes`, then bytes needed; with `bytes` NULL the length is asked for, and BUFFER returned. Wiping
/// what was written is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_state_write(state: *const BlindState, bytes: *mut u8, len: *mut usize) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (state, out) = unsafe { (reference(state, "state")?, Measured::new(bytes, len, "len")?) };
        out.put(&state.pending.encode(), "bytes")
    })
}

/// Reads a state that rsalab_blind_state_write wrote, or the program rsalab, for the key of its request.
///
/// state: gets the state, to be freed with rsalab_blind_state_free. Returns ARGUMENT for what is no state, or of
/// another key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_state_read(
    key: *const PublicKeyHandle,
    bytes: *const u8,
    len: usize,
    state: *mut *mut BlindState,
) -> Status {
    guard(|| {
        // SAFETY: callers promise it in the header.
        let (key, bytes, out) = unsafe {
            (
                reference(key, "key")?,
                array(bytes, len, "bytes")?,
                handle_out(state, "state")?,
            )
        };
        let pending = Pending::decode(bytes, &key.key.loaded.key)?;
        out.put(&[Box::into_raw(Box::new(BlindState { pending }))]);
        Ok(())
    })
}

/// Frees a state and wipes it. NULL is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_blind_state_free(state: *mut BlindState) {
    guard_free(|| {
        // SAFETY: callers promise it in the header.
        unsafe { free(state) };
    });
}

fn client(key: &PublicKeyHandle, number: u32) -> Result<BlindingKey, Failure> {
    let (own, variant) = (&key.key.loaded, variant(number)?);
    own.check(Purpose::Verify(&variant.scheme()))?;
    Ok(BlindingKey::new(&own.key, variant)?)
}
