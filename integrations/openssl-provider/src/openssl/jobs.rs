//! OpenSSL's asynchronous jobs. Their functions are looked up at run time: where there are none, everything is
//! synchronous.
//!
//! A program may free a connection whose job is paused (HAProxy does: its issue #3453). OpenSSL then frees the job's
//! wait context, but neither the job nor its stack of 32 KiB nor what the functions on it hold, and nobody outside
//! OpenSSL can. So what we hold is released when the wait context is freed, such jobs are counted, and after as many of
//! them as `abandoned-jobs` says no job of the process is paused any more: whoever breaks connections off cannot make a
//! server grow without end.

use std::{
    ffi::{CStr, c_int, c_void},
    mem, ptr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use once_cell::race::OnceBox;
use rsalab_reserve::Paused as PausedMemory;

use super::types::guard;

type Cleanup = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

struct Functions {
    current_job: unsafe extern "C" fn() -> *mut c_void,
    wait_ctx: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pause: unsafe extern "C" fn() -> c_int,
    get_fd: unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
    set_fd: unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void, Cleanup) -> c_int,
}

/// Nobody waits for another thread that looks them up, which in a child of a fork may be one of the parent's.
static FUNCTIONS: OnceBox<Option<Functions>> = OnceBox::new();
/// Paused jobs whose connection was freed, so far.
static ABANDONED: AtomicUsize = AtomicUsize::new(0);
/// Its address names our descriptor in a wait context.
static NAME: u8 = 0;

/// Jobs that were paused when their connection was freed.
pub(crate) fn abandoned() -> usize {
    ABANDONED.load(Ordering::Relaxed)
}

/// Looks the functions up while the provider is loaded, so that no operation has to.
pub(crate) fn find_functions() {
    functions();
}

fn functions() -> Option<&'static Functions> {
    FUNCTIONS.get_or_init(|| Box::new(looked_up())).as_ref()
}

/// None where libcrypto has not all of them.
fn looked_up() -> Option<Functions> {
    // SAFETY: the names are libcrypto's, whose header declares them with these types.
    unsafe {
        Some(Functions {
            current_job: mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_void>(symbol(
                c"ASYNC_get_current_job",
            )?),
            wait_ctx: mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> *mut c_void>(symbol(
                c"ASYNC_get_wait_ctx",
            )?),
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
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a look-up among what is loaded, by a string of C.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The job that this thread runs.
pub(crate) struct Job {
    functions: &'static Functions,
    handle: *mut c_void,
}

/// The job that this thread runs, if it is in one.
pub(crate) fn current() -> Option<Job> {
    let functions = functions()?;
    // SAFETY: it takes nothing, and gives null outside a job.
    let handle = unsafe { (functions.current_job)() };
    (!handle.is_null()).then_some(Job { functions, handle })
}

/// Something to be released if the job is never resumed.
type Release = Box<dyn FnOnce() + Send>;

/// Kept with a wait context: something while its job is paused.
type Paused = Mutex<Option<Release>>;

impl Job {
    /// `true` if the job may pause, where so many abandoned ones are the most.
    pub(crate) fn may_pause(&self, abandoned_jobs: usize) -> bool {
        abandoned() < abandoned_jobs
    }

    /// Makes the job's wait descriptor ready, pauses, and returns when the job is resumed; at once if it cannot pause.
    ///
    /// If the wait context is freed meanwhile, this never returns, nothing on the job's stack is dropped, and `release`
    /// is called.
    pub(crate) fn pause(self, release: impl FnOnce() + Send + 'static) {
        let Some((descriptor, paused)) = self.descriptor() else {
            return;
        };
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the descriptor is an eventfd that this wait context owns; eight bytes are written.
        if unsafe { libc::write(descriptor, one.as_ptr().cast(), 8) } != 8 {
            return;
        }
        let memory = PausedMemory::of_thread();
        let release = move || {
            release();
            memory.abandon();
        };
        set(paused, Some(Box::new(release)));
        memory.leave();
        // SAFETY: we are inside the job.
        unsafe { (self.functions.pause)() };
        memory.resume();
        // We are here again, so that the wait context is as well.
        set(paused, None);
        let mut count = [0_u8; 8];
        // SAFETY: eight bytes are read into eight; the descriptor does not block.
        unsafe { libc::read(descriptor, count.as_mut_ptr().cast(), 8) };
    }

    /// The job's descriptor and what is kept with it, registered with its wait context, which frees both in the end.
    fn descriptor(&self) -> Option<(c_int, *const Paused)> {
        // SAFETY: the job is this thread's current one.
        let wait = unsafe { (self.functions.wait_ctx)(self.handle) };
        if wait.is_null() {
            return None;
        }
        let name = ptr::from_ref(&NAME).cast::<c_void>();
        let (mut descriptor, mut data) = (-1, ptr::null_mut());
        // SAFETY: the wait context is the current job's; both places may be written.
        if unsafe { (self.functions.get_fd)(wait, name, &mut descriptor, &mut data) } == 1 {
            return Some((descriptor, data.cast_const().cast()));
        }
        // SAFETY: it takes two numbers.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if descriptor < 0 {
            return None;
        }
        let paused = Box::into_raw(Box::<Paused>::default());
        // SAFETY: as above; `close` is of the type that is asked for, and stays loaded (see build.rs).
        let set = unsafe { (self.functions.set_fd)(wait, name, descriptor, paused.cast(), close) };
        if set != 1 {
            // SAFETY: both are ours, and nobody else has seen them.
            unsafe {
                libc::close(descriptor);
                drop(Box::from_raw(paused));
            }
            return None;
        }
        Some((descriptor, paused))
    }
}

fn set(paused: *const Paused, release: Option<Release>) {
    // SAFETY: `descriptor` put it into the wait context of the current job, which frees it with itself only.
    let paused = unsafe { &*paused };
    *paused.lock().unwrap_or_else(PoisonError::into_inner) = release;
}

/// Called by a wait context that is freed.
unsafe extern "C" fn close(_: *mut c_void, _: *const c_void, descriptor: c_int, paused: *mut c_void) {
    // SAFETY: the descriptor and the box are those that were registered, and nobody uses them any more.
    let paused = unsafe {
        libc::close(descriptor);
        Box::from_raw(paused.cast::<Paused>())
    };
    guard((), || {
        let release = paused.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(release) = release {
            ABANDONED.fetch_add(1, Ordering::Relaxed);
            release();
        }
    });
}
