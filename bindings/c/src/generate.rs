//! Keys, many at once.

use rsalab_reserve::on_threads;
use rsalab_rsa::{
    PrivateKey,
    format::{Annotations, Content, Loaded, Restrictions, Usage},
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent},
    random::WorkerRng,
};

use crate::{
    key::{KeysOut, PrivateKeyHandle, private_handle},
    memory,
    pointer::Out,
    status::{Failure, Status, guard_with, more_memory},
    threads::as_many_as,
};

/// Generates keys by FIPS 186-5, appendix A.1.3, in random order, and checks each by one operation there and back.
///
/// bits: an even number from 256 to 16384; below 2048 for study only. exponent: odd, from 3; 0 for 65537. threads: how
/// many search, the caller among them; 0 for as many as there are CPUs. keys: gets `count` keys, to be freed one by one
/// with rsalab_private_key_free; none if the call fails.
///
/// Returns KEY for bits out of range, ARGUMENT for another exponent, RANDOMNESS, INTERNAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rsalab_private_keys_generate(
    bits: usize,
    exponent: u64,
    threads: usize,
    keys: *mut *mut PrivateKeyHandle,
    count: usize,
) -> Status {
    guard_with(memory::generation(bits, count), || {
        // SAFETY: callers promise it in the header.
        let out: KeysOut = unsafe { Out::new(keys, count, "keys") }?;
        let exponent = match exponent {
            0 => DEFAULT_EXPONENT,
            1 => return Err(no_exponent(1)),
            even if even.is_multiple_of(2) => return Err(no_exponent(even)),
            odd => odd,
        };
        let generation = Generation::new(bits, PublicExponent::Fixed(exponent))?;
        let made = generate(&generation, bits, threads, count)?;
        let handles: Vec<_> = made.into_iter().map(handle).collect();
        out.put(&handles);
        Ok(())
    })
}

fn no_exponent(exponent: u64) -> Failure {
    let text = format!("the public exponent must be odd and at least 3, not {exponent}");
    Failure::new(Status::Argument, text)
}

/// Of a new key.
pub(crate) fn handle(key: PrivateKey) -> *mut PrivateKeyHandle {
    private_handle(Loaded {
        key,
        usage: Usage::Any,
        encryption: None,
        restrictions: Restrictions::default(),
        annotations: Annotations::default(),
        content: Content::Pkcs8,
    })
}

/// Each thread makes its share. One that gets no memory leaves it to the caller: what others have made is not lost.
fn generate(generation: &Generation, bits: usize, threads: usize, count: usize) -> Result<Vec<PrivateKey>, Failure> {
    let threads = as_many_as(threads, count);
    let make = |share: usize| -> Result<Vec<PrivateKey>, Failure> {
        let mut generator = generation.generator(WorkerRng::from_system()?)?;
        let made = generator.keys(share)?;
        Ok(made.into_iter().map(|made| made.key).collect())
    };
    let work = |thread: usize| {
        let share = count / threads + usize::from(thread < count % threads);
        // The caller has the memory for all. The others search with memory of their own.
        let _memory = match thread {
            0 => None,
            _ => match more_memory(memory::generation(bits, share)) {
                Ok(memory) => Some(memory),
                Err(_) => return Ok(Vec::new()),
            },
        };
        make(share)
    };
    let mut keys = Vec::with_capacity(count);
    for made in on_threads(threads, work) {
        let made = made.ok_or_else(|| {
            let text = "a thread of the search panicked";
            Failure::new(Status::Internal, text)
        })?;
        keys.extend(made?);
    }
    if keys.len() < count {
        keys.extend(make(count - keys.len())?);
    }
    Ok(keys)
}
