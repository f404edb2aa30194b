//! Asynchronous jobs of one thread, and of several: signatures are those that a single call gives, and jobs share passes.

#![allow(unsafe_code)]

mod support;

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use libloading::{Library, Symbol};
use support::Here;

/// The functions of libcrypto that the tests call.
struct Crypto(Library);

macro_rules! functions {
    ($($name:ident($($type:ty),*) -> $result:ty;)*) => {
        impl Crypto {
            $(
                #[allow(non_snake_case, clippy::too_many_arguments)]
                fn $name(&self) -> Symbol<'_, unsafe extern "C" fn($($type),*) -> $result> {
                    // SAFETY: libcrypto's headers declare the function so.
                    unsafe { self.0.get(stringify!($name).as_bytes()) }.expect("libcrypto has it")
                }
            )*
        }
    };
}

type Any = *mut c_void;

functions! {
    OSSL_LIB_CTX_new() -> Any;
    OSSL_LIB_CTX_load_config(Any, *const c_char) -> c_int;
    OSSL_PROVIDER_load(Any, *const c_char) -> Any;
    OSSL_PROVIDER_get_params(Any, *mut Param) -> c_int;
    EVP_PKEY_CTX_new_from_name(Any, *const c_char, *const c_char) -> Any;
    EVP_PKEY_CTX_new_from_pkey(Any, Any, *const c_char) -> Any;
    EVP_PKEY_CTX_free(Any) -> ();
    EVP_PKEY_keygen_init(Any) -> c_int;
    EVP_PKEY_generate(Any, *mut Any) -> c_int;
    EVP_PKEY_sign_init(Any) -> c_int;
    EVP_PKEY_sign(Any, *mut u8, *mut usize, *const u8, usize) -> c_int;
    EVP_PKEY_get0_provider(Any) -> Any;
    OSSL_PROVIDER_get0_name(Any) -> *const c_char;
    ASYNC_init_thread(usize, usize) -> c_int;
    ASYNC_cleanup_thread() -> ();
    ASYNC_WAIT_CTX_new() -> Any;
    ASYNC_WAIT_CTX_free(Any) -> ();
    ASYNC_WAIT_CTX_get_all_fds(Any, *mut c_int, *mut usize) -> c_int;
    ASYNC_start_job(*mut Any, Any, *mut c_int, unsafe extern "C" fn(Any) -> c_int, Any, usize) -> c_int;
}

#[repr(C)]
struct Param {
    key: *const c_char,
    data_type: u32,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

const ASYNC_FINISH: c_int = 3;
const ASYNC_PAUSE: c_int = 2;

/// One signature, asked for inside a job.
#[derive(Clone, Copy)]
struct Task {
    crypto: *const Crypto,
    library: Any,
    key: Any,
    digest: [u8; 32],
    out: *mut u8,
    len: usize,
}

/// Signs the digest, PKCS#1 v1.5 without a DigestInfo.
unsafe extern "C" fn sign(task: Any) -> c_int {
    // SAFETY: `start` passes a task, whose pointers outlive the job.
    unsafe {
        let task = &mut *task.cast::<*mut Task>().read();
        let crypto = &*task.crypto;
        let context = crypto.EVP_PKEY_CTX_new_from_pkey()(task.library, task.key, ptr::null());
        let signed = crypto.EVP_PKEY_sign_init()(context) == 1
            && crypto.EVP_PKEY_sign()(context, task.out, &mut task.len, task.digest.as_ptr(), 32)
                == 1;
        crypto.EVP_PKEY_CTX_free()(context);
        c_int::from(signed)
    }
}

struct Setup {
    crypto: Crypto,
    library: Any,
    _here: Here,
}

impl Setup {
    fn new() -> Option<Self> {
        let here = Here::new()?;
        let found = ["libcrypto.so.3", "libcrypto.so.4"]
            .into_iter()
            .find_map(|name| {
                // SAFETY: OpenSSL's library, whose initialisation is made for this. Global: the provider looks its functions up by name.
                unsafe {
                    use libloading::os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW};
                    Unix::open(Some(name), RTLD_NOW | RTLD_GLOBAL).ok()
                }
            });
        let Some(found) = found else {
            eprintln!("SKIPPED: there is no libcrypto.so.3 here for jobs");
            return None;
        };
        let crypto = Crypto(found.into());
        let config = CString::new(here.path("openssl.cnf").to_str().unwrap()).unwrap();
        // SAFETY: a new context, and a string of C.
        let library = unsafe {
            let library = crypto.OSSL_LIB_CTX_new()();
            assert_eq!(
                crypto.OSSL_LIB_CTX_load_config()(library, config.as_ptr()),
                1
            );
            library
        };
        Some(Setup {
            crypto,
            library,
            _here: here,
        })
    }

    /// A key of ours of the default size.
    fn key(&self) -> Any {
        let crypto = &self.crypto;
        // SAFETY: objects of one library context, and strings of C.
        unsafe {
            let context =
                crypto.EVP_PKEY_CTX_new_from_name()(self.library, c"RSA".as_ptr(), ptr::null());
            let mut key = ptr::null_mut();
            assert_eq!(crypto.EVP_PKEY_keygen_init()(context), 1);
            assert_eq!(crypto.EVP_PKEY_generate()(context, &mut key), 1);
            crypto.EVP_PKEY_CTX_free()(context);
            let provider = crypto.EVP_PKEY_get0_provider()(key);
            let name = std::ffi::CStr::from_ptr(crypto.OSSL_PROVIDER_get0_name()(provider));
            assert_eq!(name, c"rsalab");
            key
        }
    }

    fn task(&self, key: Any, number: usize, out: &mut [u8]) -> Task {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_ne_bytes());
        Task {
            crypto: &self.crypto,
            library: self.library,
            key,
            digest,
            out: out.as_mut_ptr(),
            len: out.len(),
        }
    }

    /// The histogram: how many batches of each size.
    fn batches(&self) -> Vec<(usize, usize)> {
        let mut text = vec![0_u8; 1000];
        let len = self.parameter(c"rsalab-batches", 4, &mut text);
        text.truncate(len);
        let text = String::from_utf8(text).unwrap();
        let pair = |pair: &str| {
            let (size, count) = pair.split_once(':').unwrap();
            (size.parse().unwrap(), count.parse().unwrap())
        };
        text.split_whitespace().map(pair).collect()
    }

    /// How many paused jobs had their connection freed.
    fn abandoned(&self) -> u64 {
        let mut number = [0; 8];
        assert_eq!(self.parameter(c"rsalab-abandoned", 2, &mut number), 8);
        u64::from_ne_bytes(number)
    }

    /// A parameter of the provider, and how long it is.
    fn parameter(&self, key: &CStr, data_type: u32, room: &mut [u8]) -> usize {
        // SAFETY: the provider is loaded in this context; the array ends with a null key.
        unsafe {
            let provider = self.crypto.OSSL_PROVIDER_load()(self.library, c"rsalab".as_ptr());
            assert!(!provider.is_null());
            let end = Param {
                key: ptr::null(),
                data_type: 0,
                data: ptr::null_mut(),
                data_size: 0,
                return_size: 0,
            };
            let mut params = [
                Param {
                    key: key.as_ptr(),
                    data_type,
                    data: room.as_mut_ptr().cast(),
                    data_size: room.len(),
                    return_size: 0,
                },
                end,
            ];
            assert_eq!(
                self.crypto.OSSL_PROVIDER_get_params()(provider, params.as_mut_ptr()),
                1
            );
            params[0].return_size
        }
    }

    /// Runs jobs side by side on this thread until all are done, as an event loop does: those whose descriptor is ready, in turns.
    fn run_jobs(&self, keys: &[Any], jobs: usize) {
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
                        sign,
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
                            crypto.ASYNC_WAIT_CTX_get_all_fds()(
                                waits[number],
                                ptr::null_mut(),
                                &mut count,
                            );
                            assert_eq!(count, 1);
                        }
                        other => panic!("a job came to {other}"),
                    }
                }
            }
            waits
                .into_iter()
                .for_each(|wait| crypto.ASYNC_WAIT_CTX_free()(wait));
            crypto.ASYNC_cleanup_thread()();
        }
        for (number, out) in outs.iter().enumerate() {
            assert_eq!(
                out,
                &self.alone(keys[number % keys.len()], number),
                "job {number}"
            );
        }
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
                    sign,
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

    /// The same signature, outside a job.
    fn alone(&self, key: Any, number: usize) -> Vec<u8> {
        let mut out = vec![0; 256];
        let mut task = self.task(key, number, &mut out);
        let mut argument: *mut Task = &mut task;
        // SAFETY: the task outlives the call.
        assert_eq!(unsafe { sign((&raw mut argument).cast()) }, 1);
        out
    }
}

// SAFETY: library contexts and keys of OpenSSL may be used by several threads.
unsafe impl Sync for Setup {}

/// One test, for the histogram is the process's.
#[test]
fn jobs_share_passes_and_answers_are_their_own() {
    let Some(setup) = Setup::new() else { return };
    let keys = [setup.key(), setup.key(), setup.key()];
    for jobs in [1, 2, 3, 8, 9, 24] {
        setup.run_jobs(&keys[..1], jobs);
        setup.run_jobs(&keys, jobs);
    }
    let largest = setup.batches().into_iter().map(|(size, _)| size).max();
    let lanes = rsalab_rsa::Backend::lanes(&rsalab_rsa::CpuBackend::auto());
    // A kernel of one number has nothing to gain.
    assert_eq!(largest, Some(lanes.max(1)), "{:?}", setup.batches());

    // Each thread gathers its own.
    let wrong = AtomicUsize::new(0);
    let keys = keys.map(|key| key as usize);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let keys = keys.map(|key| key as Any);
                let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    setup.run_jobs(&keys, 12)
                }));
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
