//! SIGINT and SIGTERM: the first asks the command to save and stop, the second ends the program at once. SIGXFSZ:
//! writing fails, and the program continues.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::{
    consts::{SIGABRT, SIGINT, SIGTERM, SIGXFSZ},
    flag,
};

use crate::exit::{Class, Failure, Result};

/// Has a write beyond the limit on the size of files fail, as a full disk does, in place of ending the program in the
/// middle of a file.
pub(crate) fn outlive_file_limit() {
    // Where nothing can be registered, the program ends as it would have.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Without memory, Rust's standard library prints how much was asked for and aborts: that ends the program with the
/// exit code of what is not available, and not by a signal. An abort after a panic remains a defect.
pub(crate) fn end_without_memory(panicked: &Arc<AtomicBool>) {
    let always = Arc::new(AtomicBool::new(true));
    let code = |class: Class| i32::from(class.code());
    // Actions run in the order of their registration. Where nothing can be registered, the program ends as it would
    // have.
    let _ = flag::register_conditional_shutdown(SIGABRT, code(Class::Internal), Arc::clone(panicked));
    let _ = flag::register_conditional_shutdown(SIGABRT, code(Class::Unavailable), always);
}

/// A request to stop the program, if there was one, and which.
#[derive(Clone)]
pub(crate) struct Stop {
    requested: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Stop {
    /// Listens from now on. A command that does not listen is ended by the first signal, as is usual.
    pub(crate) fn listen() -> Result<Self> {
        let stop = Stop {
            requested: Arc::default(),
            number: Arc::default(),
        };
        for signal in [SIGINT, SIGTERM] {
            stop.register(signal)
                .map_err(|error| Failure::new(Class::Internal, "cannot listen to signals").because(error))?;
        }
        Ok(stop)
    }

    /// The flag that is raised by the first signal.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.requested
    }

    /// The class of the end of a program that was stopped; none if nobody asked.
    pub(crate) fn class(&self) -> Option<Class> {
        let number = self.number.load(Ordering::SeqCst);
        i32::try_from(number)
            .ok()
            .filter(|&number| number != 0)
            .map(Class::Signal)
    }

    /// Actions run in the order of their registration: the shutdown looks at the flag before this signal raises it, so
    /// that it acts on the second.
    fn register(&self, signal: i32) -> io::Result<()> {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&self.requested))?;
        let number = usize::try_from(signal).expect("signal numbers are positive");
        flag::register_usize(signal, Arc::clone(&self.number), number)?;
        flag::register(signal, Arc::clone(&self.requested))?;
        Ok(())
    }
}
