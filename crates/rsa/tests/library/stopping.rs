//! Searches that another thread ends: how many candidates are tested after that, and how long it takes on kernels that
//! are slow.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::kernels::kernels_here;
use rsalab_rsa::{
    Backend, CandidateTester, CpuBackend, Error, Kernel, KernelInfo, Prepared, PreparedMultiKey, PrivateKey, PublicKey,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent, generate_strict, generate_strict_on},
    random::InsecureStudySeed,
};

/// The flag, and the candidates that were tested: all, and those whose test began after the flag was raised.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    tested: AtomicUsize,
    late: AtomicUsize,
}

/// A backend that counts what is tested, and raises the flag when it has counted so much.
struct Counting {
    inner: CpuBackend,
    stop_after: usize,
    seen: Arc<Seen>,
}

struct CountingTester<'a> {
    inner: Box<dyn CandidateTester + 'a>,
    counting: &'a Counting,
}

impl Counting {
    fn new(inner: CpuBackend, stop_after: usize) -> (Counting, Arc<Seen>) {
        let seen = Arc::<Seen>::default();
        let counting = Counting {
            inner,
            stop_after,
            seen: Arc::clone(&seen),
        };
        (counting, seen)
    }

    fn count(&self, tests: usize) {
        let Seen { stop, tested, late } = &*self.seen;
        if stop.load(Ordering::Relaxed) {
            late.fetch_add(tests, Ordering::Relaxed);
        }
        if tested.fetch_add(tests, Ordering::Relaxed) + tests >= self.stop_after {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Seen {
    /// That few tests were begun before the flag was raised, and none after it.
    #[track_caller]
    fn assert_at_most(&self, most: usize) {
        let [tested, late] = [&self.tested, &self.late].map(|count| count.load(Ordering::Relaxed));
        assert!(tested <= most, "{tested} tests, and {most} are the most");
        assert_eq!(late, 0);
    }
}

fn portable() -> CpuBackend {
    CpuBackend::named("mont64x1_portable").expect("it is everywhere")
}

impl Backend for Counting {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kernel(&self) -> &str {
        self.inner.kernel()
    }

    fn lanes(&self) -> usize {
        self.inner.lanes()
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        self.inner.prepare_private(key)
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        self.inner.prepare_multi_key(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.inner.prepare_public(key)
    }

    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.inner.prepare_public_for_secrets(key)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        Ok(Box::new(CountingTester {
            inner: self.inner.tester(bits)?,
            counting: self,
        }))
    }
}

impl CandidateTester for CountingTester<'_> {
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.counting.count(passed.len());
        self.inner.pre_test(candidates, passed)
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.counting.count(passed.len());
        self.inner.round(candidates, bases, passed)
    }
}

fn rng(stream: u64) -> impl rand_core::TryCryptoRng {
    InsecureStudySeed::new([31; 32]).stream(stream)
}

#[test]
fn a_strict_search_ends_with_the_batch_that_it_was_stopped_in() {
    for stop_after in [1, 3, 20] {
        let (counting, seen) = Counting::new(CpuBackend::auto(), stop_after);
        // A key of 8192 bits takes hundreds of candidates.
        let made = generate_strict_on(8192, DEFAULT_EXPONENT, &mut rng(1), &counting, Some(&seen.stop));
        assert!(matches!(made, Err(Error::Stopped)), "{made:?}");
        seen.assert_at_most(stop_after + counting.lanes() - 1);
    }
}

#[test]
fn a_strict_search_ends_between_any_two_tests_on_one_lane() {
    // A probable prime of 256 bits takes 27 rounds: a stop falls between them, too.
    let search = |stop_after| {
        let (counting, seen) = Counting::new(portable(), stop_after);
        let made = generate_strict_on(512, DEFAULT_EXPONENT, &mut rng(2), &counting, Some(&seen.stop));
        (made.is_ok(), seen.tested.load(Ordering::Relaxed))
    };
    let (is_made, all) = search(usize::MAX);
    assert!(is_made);
    for stop_after in 1..all {
        assert_eq!(search(stop_after), (false, stop_after));
    }
}

#[test]
fn a_flag_that_is_not_raised_changes_nothing() {
    let (stop, backend) = (AtomicBool::new(false), CpuBackend::auto());
    let with = generate_strict_on(1024, DEFAULT_EXPONENT, &mut rng(3), &backend, Some(&stop));
    let without = generate_strict(1024, DEFAULT_EXPONENT, &mut rng(3));
    let [with, without] = [with, without].map(|made| made.expect("a key"));
    assert_eq!(with.key.d(), without.key.d());
    assert_eq!(with.counts, without.counts);
}

/// Of long primes the tests of a step are asked for in parts, with a look at the flag between them.
#[test]
fn a_search_in_bulk_ends_within_a_step_of_long_primes() {
    for stop_after in [1, 5, 100] {
        let (counting, seen) = Counting::new(portable(), stop_after);
        let exponent = PublicExponent::Fixed(DEFAULT_EXPONENT);
        let generation = Generation::with_backend(8192, exponent, Box::new(counting)).expect("it can be");
        let generator = generation.generator(rng(4)).expect("there is memory");
        let made = generator.stopped_by(&seen.stop).keys(1);
        assert!(matches!(made, Err(Error::Stopped)));
        // Two candidates for the one lane.
        seen.assert_at_most(stop_after + 1);
    }
}

/// Time from the flag to the end of a search in bulk, where a step is long. Of the portable kernels of several lanes,
/// which are there to be compared with, one test of all lanes takes 20 s at 16384 bits: they have no such promise.
#[test]
fn searches_in_bulk_end_soon_at_any_size() {
    let has_promise =
        |kernel: &KernelInfo| !["mont52x8_portable", "mont47x4_portable", "mont47x2_portable"].contains(&kernel.name);
    for kernel in kernels_here().filter(has_promise) {
        for bits in [8192, 16384] {
            let backend = CpuBackend::new(Kernel::named(kernel.name).expect("it is available"));
            let exponent = PublicExponent::Fixed(DEFAULT_EXPONENT);
            let generation = Generation::with_backend(bits, exponent, Box::new(backend)).expect("it can be");
            let stop = AtomicBool::new(false);
            let (raised, ended) = thread::scope(|scope| {
                let search = scope.spawn(|| {
                    let generator = generation.generator(rng(4)).expect("there is memory");
                    let made = generator.stopped_by(&stop).keys(1);
                    assert!(matches!(made, Err(Error::Stopped)));
                    Instant::now()
                });
                thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
                (Instant::now(), search.join().expect("it does not panic"))
            });
            let took = ended.saturating_duration_since(raised);
            eprintln!("{} at {bits} bits: ended {took:?} after the stop", kernel.name);
            assert!(took < Duration::from_secs(10), "{took:?}");
        }
    }
}
