//! The launcher of workers, and the workers that wait for their next cell.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, atomic::AtomicBool},
};

use rsalab_engines::{FaultKind, Limits, Location, Registry, Session, SessionError, Worker};

/// Starts engines. [`Workers`] is the real one; a study is tested with others.
pub trait Launcher {
    /// Starts a worker for an engine's selector. It must be given up soon after `stop` is set.
    fn launch(&self, selector: &str, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError>;
}

/// Why there is no worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The engine is not installed, and the sentence says what installs it; or it cannot run on this machine, and the
    /// sentence says why.
    #[error("{0}")]
    Absent(String),
    /// It is there and did not start.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Worker processes of the engines that a registry finds.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Where they are found.
    pub registry: Registry,
    /// How long they may take.
    pub limits: Limits,
}

impl Launcher for Workers {
    fn launch(&self, selector: &str, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        self.spawn(&self.location(selector)?, stop)
    }
}

impl Workers {
    /// Where the engine of a selector is.
    pub(crate) fn location(&self, selector: &str) -> Result<Location, LaunchError> {
        let selector = self.registry.select(selector);
        let selector = selector.map_err(|error| LaunchError::Absent(error.to_string()))?;
        let location = self.registry.locate(&selector.engine);
        location.map_err(|error| LaunchError::Absent(error.to_string()))
    }

    pub(crate) fn spawn(&self, location: &Location, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        match Worker::spawn_until(location, self.limits, Arc::clone(stop)) {
            Ok(worker) => Ok(Box::new(worker)),
            // A worker that greets with a refusal is in order: its engine has no code for this CPU, or lacks a library.
            Err(SessionError::Fault(fault)) if fault.kind == FaultKind::Unsupported => {
                Err(LaunchError::Absent(fault.message))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// One running worker for each selector and copy, parked on a read between its cells.
pub(crate) struct Pool<'a> {
    launcher: &'a dyn Launcher,
    stop: Arc<AtomicBool>,
    sessions: BTreeMap<(String, usize), Box<dyn Session>>,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(launcher: &'a dyn Launcher, stop: &Arc<AtomicBool>) -> Self {
        Pool {
            launcher,
            stop: Arc::clone(stop),
            sessions: BTreeMap::new(),
        }
    }

    /// The worker of a selector, started if there is none. An engine that is compared with itself has a worker for each
    /// copy, from 0.
    pub(crate) fn session(&mut self, selector: &str, copy: usize) -> Result<&mut dyn Session, LaunchError> {
        let session = match self.sessions.entry((selector.to_owned(), copy)) {
            Entry::Occupied(parked) => parked.into_mut(),
            Entry::Vacant(place) => place.insert(self.launcher.launch(selector, &self.stop)?),
        };
        Ok(session.as_mut())
    }

    /// Lets a worker go that cannot be used any more; the next cell gets a new one.
    pub(crate) fn discard(&mut self, selector: &str, copy: usize) {
        self.sessions.remove(&(selector.to_owned(), copy));
    }
}
