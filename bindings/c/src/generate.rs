//! Keys, many at once.

use std::{num::NonZero, thread};

use rsalab_rsa::{
    PrivateKey,
    format::{Content, Loaded, Restrictions, Usage},
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent},
    random::WorkerRng,
};

use crate::{
    key::{KeysOut, PrivateKeyHandle, private_handle},
    pointer::Out,
    status::{Failure, Status, guard},
};

/// Generates keys by FIPS 186-5, appendix A.1.3, in random order, and checks each by one operation there and back.
///
/// bits: an even number from 256 to 16384; below 2048 for study only. exponent: odd, from 3; 0 for 65537. threads: how many search, the caller among them; 0
/// for as many as there are CPUs. keys: gets `count` keys, to be freed one by one with rsalab_private_key_free; none if the call fails.
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
    guard(|| {
        // SAFETY: callers promise it in the header.
        let out: KeysOut = unsafe { Out::new(keys, count, "keys") }?;
        let exponent = match exponent {
            0 => DEFAULT_EXPONENT,
            1 => return Err(no_exponent(1)),
            even if even.is_multiple_of(2) => return Err(no_exponent(even)),
            odd => odd,
        };
        let generation = Generation::new(bits, PublicExponent::Fixed(exponent))?;
        let made = generate(&generation, threads, count)?;
        let handles: Vec<_> = made.into_iter().map(handle).collect();
        out.put(&handles);
        Ok(())
    })
}

fn no_exponent(exponent: u64) -> Failure {
    let text = format!("the public exponent must be odd and at least 3, not {exponent}");
    Failure::new(Status::Argument, text)
}

fn handle(key: PrivateKey) -> *mut PrivateKeyHandle {
    private_handle(Loaded {
        key,
        usage: Usage::Any,
        restrictions: Restrictions::default(),
        content: Content::Pkcs8,
    })
}

/// Each thread makes its share.
fn generate(
    generation: &Generation,
    threads: usize,
    count: usize,
) -> Result<Vec<PrivateKey>, Failure> {
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    let threads = threads.min(count).max(1);
    let make = |share: usize| -> Result<Vec<PrivateKey>, Failure> {
        let mut generator = generation.generator(WorkerRng::from_system()?)?;
        let made = generator.keys(share)?;
        Ok(made.into_iter().map(|made| made.key).collect())
    };
    let share = |thread: usize| count / threads + usize::from(thread < count % threads);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|thread| {
                let make = &make;
                thread::Builder::new().spawn_scoped(scope, move || make(share(thread)))
            })
            .collect();
        let mut keys = make(share(0));
        for other in others {
            let made = match other {
                Ok(thread) => thread.join().unwrap_or_else(|_| {
                    let text = "a thread of the search panicked";
                    Err(Failure::new(Status::Internal, text))
                }),
                Err(error) => {
                    let text = format!("no thread can be started: {error}");
                    Err(Failure::new(Status::Internal, text))
                }
            };
            if let Ok(all) = &mut keys {
                match made {
                    Ok(made) => all.extend(made),
                    Err(failure) => keys = Err(failure),
                }
            }
        }
        keys
    })
}
