//! A pool of threads: named, each on its CPU, with state of its own that it makes before it says that it is ready, and
//! with work until the pool is dropped.
//!
//! ```text
//! start: each thread is pinned, and makes what it needs; the pool is there once all are ready, or else says why not
//! send:  a thread gets a task, and does its tasks in order
//! drop:  the threads do the tasks that they have, and end
//! ```
//!
//! It is the one pool of this workspace: the harness's threads, those of a text, those that share a batch with a
//! device, and the second thread of one operation are of it. What threads do together in the time that is measured they
//! do at a [`Barrier`](crate::barrier::Barrier), which costs less than a task. It lies in this crate because a pool
//! pins its threads, and because every crate that has one stands above this one.

use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread::{self, JoinHandle, Scope},
};

use crate::pin::{PinError, pin_current_thread};

/// How many threads a pool has, what they are called, and where they run.
#[derive(Clone, Copy, Debug)]
pub struct Threads<'a> {
    /// The first part of their names; the second is their number.
    pub name: &'a str,
    /// How many.
    pub count: usize,
    /// The logical CPU of each, from the first again if there are fewer; empty leaves the choice to the system.
    pub cpus: &'a [usize],
}

/// Why a pool has not started. The threads that had started end.
#[derive(Debug, thiserror::Error)]
pub enum StartError<E> {
    /// The system refused a thread.
    #[error("only {started} of {count} threads could be started: {error}")]
    Refused {
        /// Threads that started before it.
        started: usize,
        /// Threads that were asked for.
        count: usize,
        /// The system's error.
        error: io::Error,
    },
    /// A thread could not be pinned.
    #[error(transparent)]
    Pinning(#[from] PinError),
    /// A thread could not make what it needs.
    #[error("{0}")]
    Failed(E),
    /// A thread panicked before it was ready.
    #[error("a thread ended before it was ready")]
    Ended,
}

/// A thread that has ended takes no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread has ended")]
pub struct Ended;

/// Threads that are ready, and take tasks of type `T`.
#[derive(Debug)]
pub struct Pool<T> {
    tasks: Vec<Sender<T>>,
    /// Threads that no scope waits for.
    handles: Vec<JoinHandle<()>>,
}

/// One thread of a pool, as it sees itself.
#[derive(Debug)]
pub struct Member<T, E> {
    /// Its number, from 0.
    pub index: usize,
    tasks: Receiver<T>,
    reports: Reports<E>,
}

/// Reports of whether a thread is ready, by its number. Its first report counts.
type Reports<E> = Sender<(usize, Result<(), StartError<E>>)>;

impl<T, E> Member<T, E> {
    /// Says that the thread is ready, and gives its tasks as they come, until the pool is dropped.
    pub fn tasks(&self) -> impl Iterator<Item = T> + '_ {
        // Nobody listens only if another thread has failed already; then there are no tasks.
        let _ = self.reports.send((self.index, Ok(())));
        self.tasks.iter()
    }
}

impl<T: Send> Pool<T> {
    /// Starts threads that end with a scope. Each calls `body` once, which makes what the thread needs, calls
    /// [`Member::tasks`], and does them.
    ///
    /// # Errors
    /// [`StartError`], of the first thread that is not ready.
    pub fn scoped<'scope, E: Send + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        threads: Threads<'_>,
        body: impl Fn(Member<T, E>) -> Result<(), E> + Send + Clone + 'scope,
    ) -> Result<Self, StartError<E>>
    where
        T: 'scope,
    {
        whole(Self::scoped_each(scope, threads, body))
    }

    /// As [`Pool::scoped`], for whoever goes on with the threads that are ready: whether each is, by number. Once the
    /// system has refused a thread, no more are started.
    pub fn scoped_each<'scope, E: Send + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        threads: Threads<'_>,
        body: impl Fn(Member<T, E>) -> Result<(), E> + Send + Clone + 'scope,
    ) -> (Self, Vec<Result<(), StartError<E>>>)
    where
        T: 'scope,
    {
        start(threads, body, |thread, run| {
            thread.spawn_scoped(scope, run).map(|_| None)
        })
    }

    /// Starts threads that end with the pool: dropping it waits for them.
    ///
    /// # Errors
    /// As [`Pool::scoped`].
    pub fn detached<E: Send + 'static>(
        threads: Threads<'_>,
        body: impl Fn(Member<T, E>) -> Result<(), E> + Send + Clone + 'static,
    ) -> Result<Self, StartError<E>>
    where
        T: 'static,
    {
        whole(start(threads, body, |thread, run| thread.spawn(run).map(Some)))
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.tasks.len()
    }

    /// Gives a thread a task.
    ///
    /// # Errors
    /// The thread has panicked.
    pub fn send(&self, thread: usize, task: T) -> Result<(), Ended> {
        self.tasks[thread].send(task).map_err(|_| Ended)
    }
}

impl<T> Drop for Pool<T> {
    fn drop(&mut self) {
        self.tasks.clear();
        for handle in self.handles.drain(..) {
            // It has said on standard error what it died of, if it did.
            let _ = handle.join();
        }
    }
}

/// The pool, if all of its threads are ready.
fn whole<T, E>((pool, started): (Pool<T>, Vec<Result<(), StartError<E>>>)) -> Result<Pool<T>, StartError<E>> {
    let ready: Result<(), _> = started.into_iter().collect();
    ready.map(|()| pool)
}

/// A thread's whole life.
type Life<'a> = Box<dyn FnOnce() + Send + 'a>;

fn start<'a, T: Send + 'a, E: Send + 'a>(
    threads: Threads<'_>,
    body: impl Fn(Member<T, E>) -> Result<(), E> + Send + Clone + 'a,
    spawn: impl Fn(thread::Builder, Life<'a>) -> io::Result<Option<JoinHandle<()>>>,
) -> (Pool<T>, Vec<Result<(), StartError<E>>>) {
    let (reports, inbox) = mpsc::channel();
    let mut pool = Pool {
        tasks: Vec::with_capacity(threads.count),
        handles: Vec::new(),
    };
    let mut started: Vec<Option<Result<(), StartError<E>>>> = Vec::new();
    let mut refused = None;
    for index in 0..threads.count {
        let (sender, tasks) = mpsc::channel();
        pool.tasks.push(sender);
        let thread = thread::Builder::new().name(format!("{}-{index}", threads.name));
        let spawned = match refused {
            Some(kind) => Err(io::Error::from(kind)),
            None => {
                let (body, reports) = (body.clone(), reports.clone());
                let cpu = threads.cpus.get(index % threads.cpus.len().max(1)).copied();
                spawn(thread, Box::new(move || live(index, cpu, tasks, reports, body)))
            }
        };
        started.push(match spawned {
            Ok(handle) => {
                pool.handles.extend(handle);
                None
            }
            Err(error) => {
                let started = started.iter().filter(|report| report.is_none()).count();
                refused = Some(error.kind());
                Some(Err(StartError::Refused {
                    started,
                    count: threads.count,
                    error,
                }))
            }
        });
    }
    while started.iter().any(Option::is_none) {
        let (index, report) = inbox.recv().expect("this function holds a sender");
        started[index].get_or_insert(report);
    }
    let started = started.into_iter().map(|report| report.expect("all have reported"));
    (pool, started.collect())
}

/// A thread, from its pinning to its end.
fn live<T, E>(
    index: usize,
    cpu: Option<usize>,
    tasks: Receiver<T>,
    reports: Reports<E>,
    body: impl Fn(Member<T, E>) -> Result<(), E>,
) {
    let mut end = EndReport {
        index,
        reports: reports.clone(),
        error: Some(StartError::Ended),
    };
    let ended = match cpu.map_or(Ok(()), pin_current_thread) {
        Err(error) => Err(error.into()),
        Ok(()) => body(Member { index, tasks, reports }).map_err(StartError::Failed),
    };
    end.error = ended.err().or(end.error.take());
}

/// Reports a thread that ends, which is an error if it was not ready: also one that panics.
struct EndReport<E> {
    index: usize,
    reports: Reports<E>,
    error: Option<StartError<E>>,
}

impl<E> Drop for EndReport<E> {
    fn drop(&mut self) {
        if let Some(error) = self.error.take() {
            // Nobody listens once the pool is there.
            let _ = self.reports.send((self.index, Err(error)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: Threads<'_> = Threads {
        name: "test",
        count: 3,
        cpus: &[],
    };

    #[test]
    fn each_thread_does_its_tasks_in_order_with_state_of_its_own() {
        let (done, results) = mpsc::channel();
        let pool = Pool::detached(THREE, move |member: Member<u32, String>| {
            let mut sum = 0;
            for task in member.tasks() {
                sum += task;
                done.send((member.index, sum)).unwrap();
            }
            Ok(())
        })
        .unwrap();
        for task in [1, 10, 100] {
            (0..pool.threads()).for_each(|thread| pool.send(thread, task).unwrap());
        }
        drop(pool);
        let mut results: Vec<_> = results.iter().collect();
        results.sort_unstable();
        let expected = [0, 1, 2].map(|thread| [1, 11, 111].map(|sum| (thread, sum)));
        assert_eq!(results, expected.concat());
    }

    #[test]
    fn a_thread_that_cannot_begin_says_why_and_the_others_end() {
        let started = thread::scope(|scope| {
            Pool::scoped(scope, THREE, |member: Member<(), &str>| match member.index {
                1 => Err("no memory"),
                _ => {
                    member.tasks().for_each(drop);
                    Ok(())
                }
            })
            .map(drop)
        });
        assert!(matches!(started, Err(StartError::Failed("no memory"))));
    }

    #[test]
    fn a_thread_that_ends_before_it_is_ready_is_an_error() {
        for panics in [true, false] {
            let started = Pool::detached(THREE, move |member: Member<(), ()>| {
                assert!(!panics || member.index > 0, "a test's panic");
                if member.index > 0 {
                    member.tasks().for_each(drop);
                }
                Ok(())
            });
            assert!(matches!(started, Err(StartError::Ended)), "{panics}");
        }
    }
}
