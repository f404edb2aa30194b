//! OpenSSL's asynchronous jobs. Their functions are looked up at run time: where there are none, everything is synchronous.

use std::{
    ffi::{CStr, c_int, c_void},
    mem, ptr,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

type Cleanup = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

struct Functions {
    current_job: unsafe extern "C" fn() -> *mut c_void,
    wait_ctx: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pause: unsafe extern "C" fn() -> c_int,
    get_fd: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
    set_fd: unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void, Cleanup) -> c_int,
}

static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
static ENABLED: AtomicBool = AtomicBool::new(true);
/// Its address names our descriptor in a wait context.
static NAME: u8 = 0;

/// Whether jobs are used at all.
pub(super) fn enable(enabled: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
}

fn functions() -> Option<&'static Functions> {
    FUNCTIONS
        .get_or_init(|| {
            // SAFETY: the names are libcrypto's, whose header declares them with these types.
            unsafe {
                Some(Functions {
                    current_job: mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_void>(symbol(c"ASYNC_get_current_job")?),
                    wait_ctx: mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> *mut c_void>(symbol(c"ASYNC_get_wait_ctx")?),
                    pause: mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(symbol(c"ASYNC_pause_job")?),
                    get_fd: mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
                    >(symbol(c"ASYNC_WAIT_CTX_get_fd")?),
                    set_fd: mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void, Cleanup) -> c_int,
                    >(symbol(c"ASYNC_WAIT_CTX_set_wait_fd")?),
                })
            }
        })
        .as_ref()
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a look-up among what is loaded, by a string of C.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The job that this thread runs.
pub(crate) struct Job {
    functions: &'static Functions,
    wait: *mut c_void,
}

/// The job that this thread runs, if it is in one.
pub(crate) fn current() -> Option<Job> {
    if !ENABLED.load(Ordering::Relaxed) {
        return None;
    }
    let functions = functions()?;
    // SAFETY: it takes nothing, and gives null outside a job.
    let job = unsafe { (functions.current_job)() };
    if job.is_null() {
        return None;
    }
    // SAFETY: the job is this thread's current one.
    let wait = unsafe { (functions.wait_ctx)(job) };
    (!wait.is_null()).then_some(Job { functions, wait })
}

impl Job {
    /// Makes the job's wait descriptor ready, pauses, and returns when the job is resumed; at once if it cannot pause.
    pub(crate) fn pause(self) {
        let Some(descriptor) = self.descriptor() else {
            return;
        };
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the descriptor is an eventfd that this wait context owns; eight bytes are written.
        if unsafe { libc::write(descriptor, one.as_ptr().cast(), 8) } != 8 {
            return;
        }
        // SAFETY: we are inside the job.
        unsafe { (self.functions.pause)() };
        let mut count = [0_u8; 8];
        // SAFETY: eight bytes are read into eight; the descriptor does not block.
        unsafe { libc::read(descriptor, count.as_mut_ptr().cast(), 8) };
    }

    /// The job's descriptor, registered with its wait context, which closes it in the end.
    fn descriptor(&self) -> Option<c_int> {
        let name = ptr::from_ref(&NAME).cast::<c_void>();
        let (mut descriptor, mut data) = (-1, ptr::null_mut());
        // SAFETY: the wait context is the current job's; both places may be written.
        if unsafe { (self.functions.get_fd)(self.wait, name, &mut descriptor, &mut data) } == 1 {
            return Some(descriptor);
        }
        // SAFETY: it takes two numbers.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if descriptor < 0 {
            return None;
        }
        // SAFETY: as above; `close` is of the type that is asked for, and stays loaded (see build.rs).
        let set =
            unsafe { (self.functions.set_fd)(self.wait, name, descriptor, ptr::null_mut(), close) };
        if set != 1 {
            // SAFETY: it is ours, and nobody else has seen it.
            unsafe { libc::close(descriptor) };
            return None;
        }
        Some(descriptor)
    }
}

/// Called by a wait context that is freed.
unsafe extern "C" fn close(_: *mut c_void, _: *const c_void, descriptor: c_int, _: *mut c_void) {
    // SAFETY: the descriptor is the one that was registered, and nobody uses it any more.
    unsafe { libc::close(descriptor) };
}
