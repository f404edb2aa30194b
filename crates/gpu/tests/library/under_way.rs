//! Kernels that are under way when a batch fails are waited for, before anything that they work on is wiped.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::support::study_key;
use rsalab_gpu::{
    Description, DriverError, GpuBackend, Grid, Launch,
    driver::{Argument, Device, Download, Queue},
    kernel::Kernel,
};
use rsalab_rsa::{Backend, Status};

/// What was asked for, of which queue by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Launch(usize),
    Finish(usize),
    Wipe,
}

/// What a device and its queues share.
struct Shared {
    events: Mutex<Vec<Event>>,
    queues: AtomicUsize,
    /// Kernels that may still start.
    launches_left: AtomicUsize,
}

impl Shared {
    fn saw(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }
}

/// A device that computes nothing, and refuses kernels after some without being lost.
struct Refusing {
    description: Description,
    shared: Arc<Shared>,
}

impl Device for Refusing {
    type Buffer = ();
    type Program = ();
    type Queue = RefusingQueue;

    fn description(&self) -> &Description {
        &self.description
    }

    fn allocate(&self, _bytes: usize) -> Result<(), DriverError> {
        Ok(())
    }

    fn program(&self, _limbs: usize) -> Result<(), DriverError> {
        Ok(())
    }

    fn queue(&self) -> Result<RefusingQueue, DriverError> {
        Ok(RefusingQueue {
            number: self.shared.queues.fetch_add(1, Relaxed),
            shared: Arc::clone(&self.shared),
        })
    }
}

struct RefusingQueue {
    number: usize,
    shared: Arc<Shared>,
}

impl Queue for RefusingQueue {
    type Buffer = ();
    type Program = ();

    fn upload(&mut self, _to: &(), _bytes: &[u8]) -> Result<(), DriverError> {
        Ok(())
    }

    fn download(&mut self, _from: &(), bytes: usize) -> Result<Download, DriverError> {
        Ok(Download { stage: 0, bytes })
    }

    fn wipe(&mut self, _buffer: &()) -> Result<(), DriverError> {
        self.shared.saw(Event::Wipe);
        Ok(())
    }

    fn launch(
        &mut self,
        _program: &(),
        kernel: Kernel,
        _grid: Grid,
        _arguments: &[Argument<'_, ()>],
    ) -> Result<(), DriverError> {
        let left = &self.shared.launches_left;
        match left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => {
                self.shared.saw(Event::Launch(self.number));
                Ok(())
            }
            Err(_) => Err(DriverError::Call {
                call: "launch",
                code: format!("{kernel:?} was refused"),
            }),
        }
    }

    fn submit(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.shared.saw(Event::Finish(self.number));
        Ok(())
    }

    fn downloaded(&self, _download: &Download) -> &[u8] {
        &[]
    }
}

/// Asserts that the last kernel that started was waited for before anything was wiped.
fn assert_waited_for(shared: &Shared) {
    let events = shared.events.lock().unwrap();
    let last = events.iter().rposition(|event| matches!(event, Event::Launch(_)));
    let last = last.expect("a kernel has started");
    let Event::Launch(queue) = events[last] else {
        unreachable!()
    };
    let mut later = events[last..].iter();
    let ended = later.find(|event| matches!(event, Event::Wipe) || **event == Event::Finish(queue));
    assert_eq!(ended, Some(&Event::Finish(queue)), "{:?}", &events[last..]);
}

#[test]
fn a_batch_that_fails_between_two_kernels_is_waited_for() {
    let shared = Arc::new(Shared {
        events: Mutex::default(),
        queues: AtomicUsize::new(0),
        launches_left: AtomicUsize::new(usize::MAX),
    });
    let device = Refusing {
        description: Description::default(),
        shared: Arc::clone(&shared),
    };
    let gpu = GpuBackend::new(device, Launch::Tuned).unwrap();
    let key = study_key(512, 0);
    let prepared = gpu.prepare_public(key.public()).unwrap();
    let mut runner = prepared.runner().unwrap();
    let mut outputs = [0; 64];
    shared.launches_left.store(1, Relaxed);
    let done = runner.run(&[1; 64], &mut outputs, &mut [Status::Done]);
    let error = done.expect_err("the second kernel is refused").to_string();
    assert!(error.contains("was refused"), "{error}");
    drop(runner);
    drop(prepared);
    assert_waited_for(&shared);

    // Candidates are primes of keys yet to be made.
    let mut tester = gpu.tester(256).unwrap();
    shared.launches_left.store(1, Relaxed);
    let done = tester.pre_test(&[0xff; 32], &mut [false]);
    done.expect_err("the second kernel is refused");
    drop(tester);
    assert_waited_for(&shared);
}
