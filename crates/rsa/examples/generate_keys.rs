//! Generates keys in bulk, on one thread: give each thread a generator of its own to use more.

use rsalab_rsa::{
    Error,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent},
    random::WorkerRng,
};

fn main() -> Result<(), Error> {
    let generation = Generation::new(2048, PublicExponent::Fixed(DEFAULT_EXPONENT))?;
    let mut generator = generation.generator(WorkerRng::from_system()?)?;
    for made in generator.keys(4)? {
        let (bits, tests) = (made.key.bits(), made.counts.tests);
        println!("a key of {bits} bits, after {tests} tests of candidates");
    }
    Ok(())
}
