//! A back end whose passes are counted, held up and let through: blocks come back as they are.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use rsalab_batch::Batcher;
use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, Error, Kernel, MultiKeyRunner, Prepared, PreparedMultiKey, PrivateKey,
    PublicKey, Result, Status, backend::Sieve,
};

/// Lanes of it: a private operation takes two, and a pass four of these.
const LANES: usize = 8;
pub(crate) const ITEMS: usize = LANES / 2;

/// A block that begins with this makes the back end panic.
pub(crate) const PANICS: u8 = 0x77;

/// A pass with a block that begins with this fails as a whole.
pub(crate) const FAILS: u8 = 0x66;

#[derive(Clone, Default)]
pub(crate) struct Gate {
    shared: Arc<Shared>,
    is_open: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The blocks of each pass that has begun.
    passes: Vec<usize>,
    /// Passes that may end.
    permits: usize,
    /// How many keys are prepared and not dropped, by their moduli.
    alive: BTreeMap<Vec<u8>, usize>,
    /// Passes of several keys that have begun.
    mixed: usize,
    /// Sieves that were asked for.
    sieves: usize,
}

impl Gate {
    /// Passes end only when they are let through.
    pub(crate) fn closed() -> Self {
        Gate::default()
    }

    pub(crate) fn open() -> Self {
        Gate {
            is_open: true,
            ..Gate::default()
        }
    }

    pub(crate) fn let_through(&self, passes: usize) {
        self.shared.state.lock().unwrap().permits += passes;
        self.shared.changed.notify_all();
    }

    pub(crate) fn passes(&self) -> Vec<usize> {
        self.shared.state.lock().unwrap().passes.clone()
    }

    /// How many of what is prepared has this key.
    pub(crate) fn alive(&self, key: &PrivateKey) -> usize {
        let state = self.shared.state.lock().unwrap();
        state.alive.get(key.public().n()).copied().unwrap_or(0)
    }

    /// Passes of several keys.
    pub(crate) fn mixed(&self) -> usize {
        self.shared.state.lock().unwrap().mixed
    }

    /// Sieves that were asked for.
    pub(crate) fn sieves(&self) -> usize {
        self.shared.state.lock().unwrap().sieves
    }

    fn prepared(&self, keys: &[PrivateKey]) -> GateKey {
        let moduli: Vec<Vec<u8>> = keys.iter().map(|key| key.public().n().to_vec()).collect();
        let mut state = self.shared.state.lock().unwrap();
        for modulus in &moduli {
            *state.alive.entry(modulus.clone()).or_default() += 1;
        }
        GateKey {
            gate: self.clone(),
            modulus_len: keys[0].modulus_len(),
            moduli,
        }
    }

    /// Returns when so many passes have begun.
    pub(crate) fn wait_for_passes(&self, passes: usize) {
        until(|| self.passes().len() >= passes);
    }
}

/// Returns when something is so; it takes long to give up.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns when so many requests wait.
pub(crate) fn wait_for_requests(batcher: &Batcher, requests: usize) {
    until(|| batcher.waiting() == requests);
}

impl Backend for Gate {
    fn name(&self) -> &str {
        "gate"
    }

    fn kernel(&self) -> &str {
        "gate"
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(self.prepared(std::slice::from_ref(key))))
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>> {
        Ok(Box::new(self.prepared(keys)))
    }

    fn prepare_public(&self, _: &PublicKey) -> Result<Box<dyn Prepared>> {
        unreachable!("nobody asks for it")
    }

    fn prepare_public_for_secrets(&self, _: &PublicKey) -> Result<Box<dyn Prepared>> {
        unreachable!("nobody asks for it")
    }

    fn sieve(&self, bits: usize) -> Sieve {
        self.shared.state.lock().unwrap().sieves += 1;
        Sieve::new(Kernel::auto(), bits)
    }

    fn searches(&self) -> usize {
        3
    }

    fn tester(&self, _: usize) -> Result<Box<dyn CandidateTester + '_>> {
        unreachable!("nobody asks for it")
    }
}

/// A key, or several of them.
struct GateKey {
    gate: Gate,
    modulus_len: usize,
    moduli: Vec<Vec<u8>>,
}

impl Drop for GateKey {
    fn drop(&mut self) {
        let mut state = self.gate.shared.state.lock().unwrap();
        for modulus in &self.moduli {
            *state.alive.get_mut(modulus).unwrap() -= 1;
        }
    }
}

impl PreparedMultiKey for GateKey {
    fn modulus_len(&self) -> usize {
        self.modulus_len
    }

    fn kernel(&self) -> &str {
        "gate"
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn runner(&self) -> Box<dyn MultiKeyRunner + Send + '_> {
        Box::new(GateMultiKeyRunner(self))
    }

    fn check(&self, _: &[u8], _: &mut [bool]) -> Result<()> {
        unreachable!("nobody asks for it")
    }
}

struct GateMultiKeyRunner<'keys>(&'keys GateKey);

impl MultiKeyRunner for GateMultiKeyRunner<'_> {
    fn run(&mut self, keys: &[usize], inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let GateKey { gate, moduli, .. } = self.0;
        assert!(keys.iter().all(|&key| key < moduli.len()));
        gate.shared.state.lock().unwrap().mixed += 1;
        GateRunner(gate.clone()).run(inputs, outputs, status)
    }
}

impl Prepared for GateKey {
    fn modulus_len(&self) -> usize {
        self.modulus_len
    }

    fn kernel(&self) -> &str {
        "gate"
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        Ok(Box::new(GateRunner(self.gate.clone())))
    }
}

struct GateRunner(Gate);

impl BlockRunner for GateRunner {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        let Shared { state, changed } = &*self.0.shared;
        let mut state = state.lock().unwrap();
        state.passes.push(status.len());
        if !self.0.is_open {
            while state.permits == 0 {
                state = changed.wait(state).unwrap();
            }
            state.permits -= 1;
        }
        drop(state);
        let mut firsts = inputs.chunks(inputs.len() / status.len()).map(|block| block[0]);
        let is_bad = |bad| firsts.clone().any(|first| first == bad);
        assert!(!is_bad(PANICS), "as the test wants it");
        if firsts.any(|first| first == FAILS) {
            return Err(Error::Randomness {
                reason: "as the test wants it".to_owned(),
            });
        }
        outputs.copy_from_slice(inputs);
        status.fill(Status::Done);
        Ok(())
    }
}
