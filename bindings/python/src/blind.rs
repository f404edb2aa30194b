//! Blind signatures (RFC 9474), many at once.

use std::sync::Arc;

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyList, PyString},
};
use rsalab_rsa::{
    Error,
    blind::{BlindError, BlindSigner, BlindingKey, InputMessage, Pending, Variant},
    format::Purpose,
};

use crate::{
    arguments::Threads,
    batches::check_count,
    buffers::{Bytes, Items},
    errors::{ArgumentError, FaultError, InternalError, InvalidKeyError, LengthError, raised},
    parallel,
    private::PrivateKey,
    public::PublicKey,
    ready::Ready,
};

/// A variant by its name.
#[derive(Clone, Copy)]
pub(crate) struct VariantName(Variant);

impl VariantName {
    const USUAL: VariantName = VariantName(Variant::PssRandomized);
}

impl<'py> FromPyObject<'_, 'py> for VariantName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name = object.cast::<PyString>();
        let name = name.map_err(|_| PyTypeError::new_err("a variant of blind signatures is a name"))?;
        let variant = name.to_str()?.parse();
        variant
            .map(VariantName)
            .map_err(|error: Error| ArgumentError::new_err(error.to_string()))
    }
}

fn raised_blind(error: BlindError) -> PyErr {
    let text = error.to_string();
    match error {
        BlindError::Rsa(error) => raised(error),
        BlindError::InvalidInput => InvalidKeyError::new_err(text),
        BlindError::UnexpectedInputSize { .. } => LengthError::new_err(text),
        BlindError::SigningFailure => FaultError::new_err(text),
        BlindError::State { .. } => ArgumentError::new_err(text),
        _ => InternalError::new_err(text),
    }
}

/// The state that a client keeps of one request until the issuer answers. It is secret: whoever has it can connect the
/// signature with the request. It serves one request, and is wiped when nothing refers to it any more.
#[pyclass(frozen, module = "rsalab.blind", weakref)]
pub(crate) struct BlindState(Pending);

#[pymethods]
impl BlindState {
    /// The prefix that stands before the message of this request, which whoever verifies the signature needs: 32 bytes,
    /// or none if the variant is deterministic.
    #[getter]
    fn prefix(&self) -> &[u8] {
        self.0.prefix()
    }

    /// The state as bytes, for a client that ends before the issuer answers; BlindClient.load_state reads them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.encode())
    }

    fn __repr__(&self) -> &'static str {
        "<rsalab.blind.BlindState>"
    }
}

/// The client of an issuer: blinds messages, and makes signatures of the issuer's answers (RFC 9474).
///
/// key: the issuer's public key. variant: a name of rsalab.blind.variants.
///
/// Raises SchemeError for a key that is too short, RestrictedKeyError, ArgumentError.
#[pyclass(frozen, module = "rsalab.blind", weakref)]
pub(crate) struct BlindClient {
    client: BlindingKey,
    key: Arc<Ready<rsalab_rsa::PublicKey>>,
}

#[pymethods]
impl BlindClient {
    #[new]
    #[pyo3(
        signature = (key, variant=VariantName::USUAL),
        text_signature = "(key, variant='RSABSSA-SHA384-PSS-Randomized')"
    )]
    fn new(key: &Bound<'_, PublicKey>, variant: VariantName) -> PyResult<Self> {
        let (key, VariantName(variant)) = (key.get().ready(), variant);
        key.loaded.check(Purpose::Verify(&variant.scheme())).map_err(raised)?;
        let client = BlindingKey::new(&key.loaded.key, variant).map_err(raised_blind)?;
        Ok(BlindClient { client, key })
    }

    /// The name of the variant.
    #[getter]
    fn variant(&self) -> &'static str {
        self.client.variant().name()
    }

    /// Blinds messages. Returns two lists, in order: what goes to the issuer, as bytes, and the states that stay.
    #[allow(clippy::type_complexity, reason = "two lists")]
    fn blind_many<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let messages = Items::of(messages, "messages")?;
        let messages = messages.slices();
        let requests = py.detach(|| {
            let prepare = |message: &&[u8]| InputMessage::prepare(self.client.variant(), message);
            let inputs = messages.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
            self.client.blind_batch(&inputs.iter().collect::<Vec<_>>())
        });
        let (blinded, states): (Vec<_>, Vec<_>) = requests.map_err(raised_blind)?.into_iter().unzip();
        let blinded = PyList::new(py, blinded.iter().map(|block| PyBytes::new(py, block)))?;
        Ok((blinded, PyList::new(py, states.into_iter().map(BlindState))?))
    }

    /// Makes signatures of the issuer's answers, and verifies them. Returns a list, in order: the signature, or None
    /// where the answer is no signature of its message.
    ///
    /// messages, states: as of blind_many. answers: as bytes; None where the issuer gave none.
    fn finalize_many<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        states: Vec<Bound<'py, BlindState>>,
        answers: Vec<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let messages = Items::of(messages, "messages")?;
        let messages = messages.slices();
        check_count("states", states.len(), messages.len())?;
        check_count("answers", answers.len(), messages.len())?;
        let answers = answers.iter().map(|answer| {
            let answer = answer.as_ref();
            answer.map(|answer| Bytes::of(answer, "an answer")).transpose()
        });
        let answers: Vec<Option<Bytes<'_>>> = answers.collect::<PyResult<_>>()?;
        // What is empty is no answer either.
        let answers: Vec<&[u8]> = answers
            .iter()
            .map(|answer| answer.as_ref().map_or(&[][..], AsRef::as_ref))
            .collect();
        let states: Vec<&Pending> = states.iter().map(|state| &state.get().0).collect();
        let made = py.detach(|| {
            let input = |(message, state): (&&[u8], &&Pending)| {
                InputMessage::with_prefix(state.variant(), state.prefix(), message)
            };
            let inputs = messages.iter().zip(&states).map(input).collect::<Result<Vec<_>, _>>()?;
            let of_each = inputs.iter().zip(&states).zip(&answers);
            let of_each: Vec<_> = of_each
                .map(|((input, state), answer)| (input, *state, *answer))
                .collect();
            self.client.finalize_batch(&of_each)
        });
        let made = made
            .map_err(raised_blind)?
            .into_iter()
            .map(|signature| match signature {
                Ok(signature) => Ok(Some(PyBytes::new(py, signature.as_bytes()))),
                Err(BlindError::InvalidSignature | BlindError::UnexpectedInputSize { .. } | BlindError::OutOfRange) => {
                    Ok(None)
                }
                Err(error) => Err(raised_blind(error)),
            });
        PyList::new(py, made.collect::<PyResult<Vec<_>>>()?)
    }

    /// Verifies signatures that came of blind ones. Returns a list of bool, in order.
    ///
    /// prefixes: those of the states; None for a deterministic variant. A prefix of another length is False, as is a
    /// signature.
    ///
    /// Raises LengthError for lists of different lengths.
    #[pyo3(signature = (messages, signatures, prefixes=None))]
    fn verify_many<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        signatures: &Bound<'py, PyAny>,
        prefixes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (messages, signatures) = (Items::of(messages, "messages")?, Items::of(signatures, "signatures")?);
        let (messages, signatures) = (messages.slices(), signatures.slices());
        let prefixes = prefixes.map(|prefixes| Items::of(prefixes, "prefixes")).transpose()?;
        let prefixes = match &prefixes {
            Some(prefixes) => prefixes.slices(),
            None if self.client.variant().is_randomized() => Vec::new(),
            None => vec![&[][..]; messages.len()],
        };
        check_count("signatures", signatures.len(), messages.len())?;
        check_count("prefixes", prefixes.len(), messages.len())?;
        let are_valid = py.detach(|| {
            let input = |(prefix, message): (&&[u8], &&[u8])| {
                InputMessage::with_prefix(self.client.variant(), prefix, message).ok()
            };
            let inputs: Vec<_> = prefixes.iter().zip(&messages).map(input).collect();
            let of_each = inputs.iter().zip(signatures.iter().copied());
            let pairs: Vec<_> = of_each
                .filter_map(|(input, signature)| Some((input.as_ref()?, signature)))
                .collect();
            let mut verdicts = self.client.verify_batch(&pairs).into_iter();
            let verdict = |input: &Option<InputMessage>| input.is_some() && verdicts.next().unwrap_or(false);
            inputs.iter().map(verdict).collect::<Vec<bool>>()
        });
        PyList::new(py, are_valid)
    }

    /// Reads a state that BlindState.to_bytes wrote, for this key.
    ///
    /// Raises ArgumentError for what is no state, or of another key.
    fn load_state(&self, data: &Bound<'_, PyAny>) -> PyResult<BlindState> {
        let data = Bytes::of(data, "the state")?;
        let pending = Pending::decode(data.as_ref(), &self.key.loaded.key);
        pending.map(BlindState).map_err(raised_blind)
    }

    fn __repr__(&self) -> String {
        format!("<rsalab.blind.BlindClient, {}>", self.client.variant())
    }
}

/// Blinded messages of one part.
const PART: usize = 32;

/// The issuer's step: signs blinded messages of any clients, together in the lanes of the CPU. Returns a list, in
/// order: the answer to send back, or None for what is no blinded message under this key. The key must sign blindly and
/// do nothing else: the issuer cannot see what it signs.
///
/// blinded: as messages of rsalab.sign_many. threads: as there.
#[pyfunction]
#[pyo3(
    signature = (key, blinded, variant=VariantName::USUAL, *, threads=Threads::default()),
    text_signature = "(key, blinded, variant='RSABSSA-SHA384-PSS-Randomized', *, threads=None)"
)]
pub(crate) fn blind_sign_many<'py>(
    py: Python<'py>,
    key: &Bound<'py, PrivateKey>,
    blinded: &Bound<'py, PyAny>,
    variant: VariantName,
    threads: Threads,
) -> PyResult<Bound<'py, PyList>> {
    let (key, VariantName(variant)) = (key.get().ready()?, variant);
    let blinded = Items::of(blinded, "blinded")?;
    let blinded = blinded.slices();
    let own = &key.loaded;
    own.check(Purpose::Sign(&variant.scheme())).map_err(raised)?;
    variant.check(own.key.bits()).map_err(raised)?;
    let k = own.key.modulus_len();
    let mut answers: Vec<Option<Vec<u8>>> = vec![None; blinded.len()];
    let parts = blinded.chunks(PART).zip(answers.chunks_mut(PART)).enumerate();
    let prepare = || Ok(BlindSigner::new(key.runner()?, k));
    parallel::run(py, parts, threads.0, prepare, |signer, (part, (blinded, answers))| {
        let fault = |item| Error::Fault { item };
        let signed = signer.sign_batch(blinded).map_err(|error| match error {
            BlindError::Rsa(error) => error,
            _ => fault(part * PART),
        })?;
        for (item, (answer, signed)) in answers.iter_mut().zip(signed).enumerate() {
            *answer = match signed {
                Err(BlindError::SigningFailure) => return Err(fault(part * PART + item)),
                signed => signed.ok(),
            };
        }
        Ok(())
    })?;
    let answers = answers
        .iter()
        .map(|answer| answer.as_ref().map(|answer| PyBytes::new(py, answer)));
    PyList::new(py, answers)
}
