//! Asynchronous jobs of one thread, and of several: answers are those that a single call gives, and jobs share passes.

#![allow(unsafe_code)]

use std::{
    ffi::c_int,
    ptr,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use crate::support::crypto::{Any, Crypto, Loaded, Pkey};

const ASYNC_FINISH: c_int = 3;
const ASYNC_PAUSE: c_int = 2;

/// One private operation, asked for inside a job.
#[derive(Clone, Copy)]
struct Task {
    crypto: *const Crypto,
    library: Any,
    key: Any,
    work: Work,
    input: [u8; 256],
    out: *mut u8,
    len: usize,
}

#[derive(Clone, Copy)]
enum Work {
    /// Of 32 bytes, with PKCS#1 v1.5 and without a DigestInfo.
    Sign,
    /// Of 256 bytes that are no message: PKCS#1 v1.5's implicit rejection makes one of them, always the same.
    Decrypt,
}

/// Signs or decrypts.
unsafe extern "C" fn work(task: Any) -> c_int {
    // SAFETY: `ASYNC_start_job` passes a task, whose pointers outlive the job.
    unsafe {
        let task = &mut *task.cast::<*mut Task>().read();
        let crypto = &*task.crypto;
        let context = crypto.EVP_PKEY_CTX_new_from_pkey()(task.library, task.key, ptr::null());
        let (out, len, input) = (task.out, &mut task.len, task.input.as_ptr());
        let done = match task.work {
            Work::Sign => {
                crypto.EVP_PKEY_sign_init()(context) == 1 && crypto.EVP_PKEY_sign()(context, out, len, input, 32) == 1
            }
            Work::Decrypt => {
                crypto.EVP_PKEY_decrypt_init_ex()(context, ptr::null()) == 1
                    && crypto.EVP_PKEY_decrypt()(context, out, len, input, 256) == 1
            }
        };
        crypto.EVP_PKEY_CTX_free()(context);
        c_int::from(done)
    }
}

/// The tests' side of jobs.
struct Setup(Loaded);

impl std::ops::Deref for Setup {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.0
    }
}

impl Setup {
    /// Every third one decrypts.
    fn task(&self, key: Any, number: usize, out: &mut [u8]) -> Task {
        let mut input = [0; 256];
        input[8..16].copy_from_slice(&number.to_ne_bytes());
        Task {
            crypto: &self.crypto,
            library: self.library,
            key,
            work: match number % 3 {
                2 => Work::Decrypt,
                _ => Work::Sign,
            },
            input,
            out: out.as_mut_ptr(),
            len: out.len(),
        }
    }

    /// How many paused jobs had their connection freed.
    fn abandoned(&self) -> u64 {
        let mut number = [0; 8];
        assert_eq!(self.parameter(c"rsalab-abandoned", 2, &mut number), 8);
        u64::from_ne_bytes(number)
    }

    /// Runs jobs as [`Self::answers`] does, and compares their answers with those that calls outside a job give.
    fn run_jobs(&self, keys: &[Any], jobs: usize) {
        for (number, out) in self.answers(keys, jobs).iter().enumerate() {
            assert_eq!(out, &self.alone(keys[number % keys.len()], number), "job {number}");
        }
    }

    /// Runs jobs side by side on this thread until all are done, as an event loop does: those whose descriptor is
    /// ready, in turns.
    fn answers(&self, keys: &[Any], jobs: usize) -> Vec<Vec<u8>> {
        let crypto = &self.crypto;
        let mut outs = vec![vec![0_u8; 256]; jobs];
        let mut tasks: Vec<Task> = outs
            .iter_mut()
            .enumerate()
            .map(|(number, out)| self.task(keys[number % keys.len()], number, out))
            .collect();
        let mut done = vec![false; jobs];
        // SAFETY: jobs are started and resumed on this thread, with contexts and tasks that outlive them.
        unsafe {
            assert_eq!(crypto.ASYNC_init_thread()(jobs + 1, 0), 1);
            let waits: Vec<Any> = (0..jobs).map(|_| crypto.ASYNC_WAIT_CTX_new()()).collect();
            let mut handles = vec![ptr::null_mut(); jobs];
            let mut rounds = 0;
            while done.contains(&false) {
                rounds += 1;
                assert!(rounds < 100, "jobs are never done");
                for number in 0..jobs {
                    if done[number] {
                        continue;
                    }
                    let mut argument: *mut Task = &mut tasks[number];
                    let mut result = 0;
                    let state = crypto.ASYNC_start_job()(
                        &mut handles[number],
                        waits[number],
                        &mut result,
                        work,
                        (&raw mut argument).cast(),
                        size_of::<*mut Task>(),
                    );
                    match state {
                        ASYNC_FINISH => {
                            assert_eq!(result, 1, "job {number}");
                            done[number] = true;
                        }
                        ASYNC_PAUSE => {
                            // Whoever waits for it has a descriptor to wait for.
                            let mut count = 0;
                            crypto.ASYNC_WAIT_CTX_get_all_fds()(waits[number], ptr::null_mut(), &mut count);
                            assert_eq!(count, 1);
                        }
                        other => panic!("a job came to {other}"),
                    }
                }
            }
            waits.into_iter().for_each(|wait| crypto.ASYNC_WAIT_CTX_free()(wait));
            crypto.ASYNC_cleanup_thread()();
        }
        outs
    }

    /// Begins a job for each task, and returns how many paused; their connections are freed with them paused.
    fn abandon(&self, key: Any, jobs: usize) -> usize {
        let crypto = &self.crypto;
        let mut paused = 0;
        for number in 0..jobs {
            // They outlive the job, which is never resumed, and so never freed.
            let out = vec![0_u8; 256].leak();
            let mut argument: *mut Task = Box::leak(Box::new(self.task(key, number, out)));
            // SAFETY: the job's argument outlives it; the job is not resumed once its wait context is freed.
            unsafe {
                assert_eq!(crypto.ASYNC_init_thread()(0, 0), 1);
                let wait = crypto.ASYNC_WAIT_CTX_new()();
                let (mut handle, mut result) = (ptr::null_mut(), 0);
                let state = crypto.ASYNC_start_job()(
                    &mut handle,
                    wait,
                    &mut result,
                    work,
                    (&raw mut argument).cast(),
                    size_of::<*mut Task>(),
                );
                match state {
                    ASYNC_FINISH => assert_eq!(result, 1),
                    ASYNC_PAUSE => paused += 1,
                    other => panic!("a job came to {other}"),
                }
                crypto.ASYNC_WAIT_CTX_free()(wait);
            }
        }
        paused
    }

    /// Its answer outside a job.
    fn alone(&self, key: Any, number: usize) -> Vec<u8> {
        let mut out = vec![0; 256];
        let mut task = self.task(key, number, &mut out);
        let mut argument: *mut Task = &mut task;
        // SAFETY: the task outlives the call.
        assert_eq!(unsafe { work((&raw mut argument).cast()) }, 1);
        out
    }
}

/// How many batches of a size there are more than before.
fn more(setup: &Setup, before: &[(usize, usize)], size: usize) -> usize {
    let count = |batches: &[(usize, usize)]| {
        let found = batches.iter().find(|(known, _)| *known == size);
        found.map_or(0, |(_, count)| *count)
    };
    count(&setup.batches()) - count(before)
}

/// Jobs of as many keys as there are lanes come to share a pass, whichever keys are freed and made meanwhile.
fn keys_share_passes(setup: &Setup, lanes: usize) {
    let new_keys = || (0..lanes).map(|_| setup.new_key()).collect::<Vec<_>>();
    let mut keys = new_keys();
    let handles = |keys: &[Pkey<'_>]| keys.iter().map(Pkey::handle).collect::<Vec<_>>();
    let learn = |keys: &[Pkey<'_>]| (0..6).for_each(|_| setup.run_jobs(&handles(keys), lanes));
    learn(&keys);
    for _ in 0..3 {
        let before = setup.batches();
        setup.run_jobs(&handles(&keys), lanes);
        assert_eq!(more(setup, &before, lanes), 1, "{:?}", setup.batches());
        // By which answers are compared.
        assert_eq!(more(setup, &before, 1), lanes);
    }
    // The group goes with one of its keys, and comes again.
    keys.swap_remove(1);
    keys.push(setup.new_key());
    let before = setup.batches();
    setup.run_jobs(&handles(&keys), lanes);
    assert_eq!(more(setup, &before, lanes), 0);
    assert_eq!(more(setup, &before, 1), 2 * lanes);
    learn(&keys);
    let before = setup.batches();
    setup.run_jobs(&handles(&keys), lanes);
    assert_eq!(more(setup, &before, lanes), 1);
    // Two keys, many requests of each; and a pass and a half.
    for jobs in [lanes, lanes + lanes / 2, 2 * lanes + 1] {
        setup.run_jobs(&handles(&keys[..2]), jobs);
        setup.run_jobs(&handles(&keys), jobs);
    }
}

mod timing {
    use super::*;
    use std::time::Instant;

    /// Prints how long jobs of several keys take, beside as many of each key for itself.
    #[test]
    #[ignore = "needs a quiet machine: make timing"]
    fn jobs_of_several_keys() {
        let Some(setup) = Loaded::new().map(Setup) else {
            return;
        };
        let lanes = rsalab_rsa::Backend::lanes(&rsalab_rsa::CpuBackend::auto());
        if lanes < 2 {
            eprintln!("SKIPPED: no kernel here has lanes to share");
            return;
        }
        let keys: Vec<Any> = (0..lanes).map(|_| setup.key()).collect();
        // Microseconds; the least of many, as other programs interrupt some.
        let least = |run: &dyn Fn()| {
            let time = || {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64() * 1e6
            };
            (0..301).map(|_| time()).fold(f64::INFINITY, f64::min)
        };
        let one = least(&|| drop(setup.answers(&keys[..1], lanes)));
        let several = least(&|| drop(setup.answers(&keys, lanes)));
        let single = |key: &Any| least(&|| drop(setup.answers(&[*key], 1)));
        let alone: f64 = keys.iter().map(single).sum();
        eprintln!(
            "{lanes} jobs: of one key {one:.0} us, of {lanes} keys {several:.0} us, one after another {alone:.0} us; {:?}",
            setup.batches()
        );
        assert!(several < alone, "sharing a pass gains nothing");
    }
}

/// One test, for the histogram is the process's.
#[test]
fn jobs_share_passes_and_answers_are_their_own() {
    let Some(setup) = Loaded::new().map(Setup) else {
        return;
    };
    let keys = [setup.key(), setup.key(), setup.key()];
    for jobs in [1, 2, 3, 8, 9, 24] {
        setup.run_jobs(&keys[..1], jobs);
        setup.run_jobs(&keys, jobs);
    }
    let largest = setup.batches().into_iter().map(|(size, _)| size).max();
    let lanes = rsalab_rsa::Backend::lanes(&rsalab_rsa::CpuBackend::auto());
    // A kernel of one number has nothing to gain.
    assert_eq!(largest, Some(lanes.max(1)), "{:?}", setup.batches());

    if lanes > 1 {
        keys_share_passes(&setup, lanes);
    }

    // Each thread gathers its own.
    let wrong = AtomicUsize::new(0);
    let keys = keys.map(|key| key as usize);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let keys = keys.map(|key| key as Any);
                let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| setup.run_jobs(&keys, 12)));
                wrong.fetch_add(usize::from(ran.is_err()), Relaxed);
            });
        }
    });
    assert_eq!(wrong.into_inner(), 0);

    // Jobs that are never resumed: nobody computes for them, and after 1,024 of them nobody pauses any more.
    if lanes > 1 {
        let key = keys[0] as Any;
        let before = setup.batches();
        assert_eq!(setup.abandon(key, 24), 24);
        assert_eq!(setup.batches(), before);
        setup.run_jobs(&[key], 3);
        assert_eq!(setup.abandon(key, 1100), 1000);
        assert_eq!(setup.abandoned(), 1024);
        setup.run_jobs(&[key], 3);
    }
}
