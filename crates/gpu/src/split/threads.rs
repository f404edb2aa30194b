//! The CPU's threads, which wait for pieces of batches.

use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    time::{Duration, Instant},
};

use rsalab_measure::{
    Pool,
    pool::{Member, StartError, Threads},
};
use rsalab_rsa::{Error, Prepared, Status};
use zeroize::Zeroizing;

/// Threads of this CPU, each with scratch of its own, that wait for pieces of batches.
pub(super) struct CpuThreads {
    pool: Pool<Task>,
}

/// A piece of a batch.
struct Task {
    inputs: Zeroizing<Vec<u8>>,
    items: usize,
    reply: Sender<Reply>,
}

struct Reply {
    done: Result<(), Error>,
    outputs: Zeroizing<Vec<u8>>,
    status: Vec<Status>,
    ended: Instant,
}

/// A batch that the threads have begun: where its pieces come from, in order.
pub(super) struct Begun {
    pieces: Vec<Receiver<Reply>>,
    began: Instant,
}

impl CpuThreads {
    pub(super) fn start(key: &Arc<dyn Prepared>, threads: usize, cpus: &[usize]) -> Result<Self, Error> {
        let threads = Threads {
            name: "split",
            count: threads,
            cpus,
        };
        let key = Arc::clone(key);
        let pool = Pool::detached(threads, move |member| work(key.as_ref(), &member));
        Ok(CpuThreads {
            pool: pool.map_err(|error| match error {
                StartError::Failed(error) => error,
                other => thread_failed(&other.to_string()),
            })?,
        })
    }

    pub(super) fn begin(&self, inputs: &[u8], length: usize) -> Begun {
        let items = inputs.len() / length;
        let threads = self.pool.threads();
        let began = Instant::now();
        let pieces = (0..threads).map(|number| {
            let piece = number * items / threads..(number + 1) * items / threads;
            let (reply, pieces) = mpsc::channel();
            let task = Task {
                items: piece.len(),
                inputs: Zeroizing::new(inputs[piece.start * length..piece.end * length].to_vec()),
                reply,
            };
            if !piece.is_empty() {
                // A thread that has ended drops the task, and with it the end of the channel that is asked later.
                let _ = self.pool.send(number, task);
            }
            (!piece.is_empty()).then_some(pieces)
        });
        Begun {
            pieces: pieces.flatten().collect(),
            began,
        }
    }

    /// Waits for all pieces and puts them in their places; how long the last one took.
    pub(super) fn collect(&self, begun: Begun, outputs: &mut [u8], status: &mut [Status]) -> Result<Duration, Error> {
        let mut took = Duration::ZERO;
        let mut failed = None;
        let (mut outputs, mut status) = (outputs, status);
        for piece in begun.pieces {
            match piece.recv() {
                Ok(reply) => {
                    let (these, rest) = outputs.split_at_mut(reply.outputs.len());
                    these.copy_from_slice(&reply.outputs);
                    outputs = rest;
                    let (these, rest) = status.split_at_mut(reply.status.len());
                    these.copy_from_slice(&reply.status);
                    status = rest;
                    took = took.max(reply.ended - begun.began);
                    if let Err(error) = reply.done {
                        failed.get_or_insert(error);
                    }
                }
                Err(_) => {
                    failed.get_or_insert(thread_failed("it has ended"));
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(took),
        }
    }
}

/// The life of one thread.
fn work(key: &dyn Prepared, member: &Member<Task, Error>) -> Result<(), Error> {
    let mut runner = key.runner()?;
    for task in member.tasks() {
        let mut outputs = Zeroizing::new(vec![0; task.inputs.len()]);
        let mut status = vec![Status::Done; task.items];
        let done = runner.run(&task.inputs, &mut outputs, &mut status);
        // Whoever has gone does not want to know.
        let _ = task.reply.send(Reply {
            done,
            outputs,
            status,
            ended: Instant::now(),
        });
    }
    Ok(())
}

fn thread_failed(reason: &str) -> Error {
    Error::Backend {
        backend: "cpu+gpu",
        reason: format!("a thread could not work: {reason}"),
    }
}
