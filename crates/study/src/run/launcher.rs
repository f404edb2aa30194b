//! Who starts the workers, and the workers that wait for their next cell.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};

use rsalab_engines::{Limits, Registry, Selector, Session, SessionError, Worker};

/// Starts engines. [`Workers`] is the real one; a study is tested with others.
pub trait Launcher {
    /// Starts a worker for an engine's selector. It must be given up soon after `stop` is set.
    fn launch(
        &self,
        selector: &str,
        stop: &Arc<AtomicBool>,
    ) -> Result<Box<dyn Session>, LaunchError>;
}

/// Why there is no worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The engine is not installed; the sentence says what brings it.
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
    fn launch(
        &self,
        selector: &str,
        stop: &Arc<AtomicBool>,
    ) -> Result<Box<dyn Session>, LaunchError> {
        let absent = |sentence: String| LaunchError::Absent(sentence);
        let selector = Selector::parse(selector).map_err(|error| absent(error.to_string()))?;
        let location = self
            .registry
            .locate(selector.engine)
            .map_err(|error| absent(error.to_string()))?;
        Ok(Box::new(Worker::spawn_until(
            &location,
            self.limits,
            Arc::clone(stop),
        )?))
    }
}

/// One running worker for each selector, parked on a read between its cells.
pub(crate) struct Pool<'a> {
    launcher: &'a dyn Launcher,
    stop: Arc<AtomicBool>,
    sessions: BTreeMap<String, Box<dyn Session>>,
}

impl<'a> Pool<'a> {
    pub(crate) fn new(launcher: &'a dyn Launcher, stop: &Arc<AtomicBool>) -> Self {
        Pool {
            launcher,
            stop: Arc::clone(stop),
            sessions: BTreeMap::new(),
        }
    }

    /// The worker of a selector, started if there is none.
    pub(crate) fn session(&mut self, selector: &str) -> Result<&mut dyn Session, LaunchError> {
        if !self.sessions.contains_key(selector) {
            let session = self.launcher.launch(selector, &self.stop)?;
            self.sessions.insert(selector.to_owned(), session);
        }
        let session = self
            .sessions
            .get_mut(selector)
            .expect("it was there or has just been put there");
        Ok(session.as_mut())
    }

    /// Lets a worker go that cannot be used any more; the next cell gets a new one.
    pub(crate) fn discard(&mut self, selector: &str) {
        self.sessions.remove(selector);
    }
}
