//! The CPU's threads, which wait for pieces of batches.

use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rsalab_measure::pin::pin_current_thread;
use rsalab_rsa::{Error, Prepared, Status};
use zeroize::Zeroizing;

/// Threads of this CPU, each with scratch of its own, that wait for pieces of batches.
pub(super) struct Crew {
    members: Vec<Member>,
}

struct Member {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
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

/// A batch that the crew has begun: where its pieces come from, in order.
pub(super) struct Begun {
    pieces: Vec<Receiver<Reply>>,
    began: Instant,
}

impl Crew {
    pub(super) fn start(
        key: &Arc<dyn Prepared>,
        threads: usize,
        cpus: &[usize],
    ) -> Result<Self, Error> {
        let mut crew = Crew {
            members: Vec::with_capacity(threads),
        };
        for number in 0..threads {
            let (tasks, inbox) = mpsc::channel::<Task>();
            let (ready, is_ready) = mpsc::channel();
            let key = Arc::clone(key);
            let cpu = cpus.get(number % cpus.len().max(1)).copied();
            let thread = thread::Builder::new()
                .name(format!("split-{number}"))
                .spawn(move || {
                    if let Some(Err(error)) = cpu.map(pin_current_thread) {
                        let _ = ready.send(Err(thread_failed(&error.to_string())));
                        return;
                    }
                    let mut runner = match key.runner() {
                        Ok(runner) => {
                            let _ = ready.send(Ok(()));
                            runner
                        }
                        Err(error) => {
                            let _ = ready.send(Err(error));
                            return;
                        }
                    };
                    for task in inbox {
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
                })
                .map_err(|error| thread_failed(&error.to_string()))?;
            crew.members.push(Member {
                tasks: Some(tasks),
                thread: Some(thread),
            });
            is_ready
                .recv()
                .map_err(|_| thread_failed("it ended before it began"))??;
        }
        Ok(crew)
    }

    pub(super) fn begin(&self, inputs: &[u8], length: usize) -> Begun {
        let items = inputs.len() / length;
        let threads = self.members.len();
        let began = Instant::now();
        let pieces = self.members.iter().enumerate().map(|(number, member)| {
            let piece = number * items / threads..(number + 1) * items / threads;
            let (reply, pieces) = mpsc::channel();
            let task = Task {
                items: piece.len(),
                inputs: Zeroizing::new(inputs[piece.start * length..piece.end * length].to_vec()),
                reply,
            };
            // One that has died drops the task, and with it the end of the channel that is asked later.
            if let (false, Some(tasks)) = (piece.is_empty(), &member.tasks) {
                let _ = tasks.send(task);
            }
            (!piece.is_empty()).then_some(pieces)
        });
        Begun {
            pieces: pieces.flatten().collect(),
            began,
        }
    }

    /// Waits for all pieces and puts them in their places; how long the last one took.
    pub(super) fn collect(
        &self,
        begun: Begun,
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<Duration, Error> {
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

impl Drop for Crew {
    fn drop(&mut self) {
        for member in &mut self.members {
            member.tasks = None;
        }
        for member in &mut self.members {
            if let Some(thread) = member.thread.take() {
                // It has said on standard error what it died of, if it did.
                let _ = thread.join();
            }
        }
    }
}

pub(super) fn thread_failed(reason: &str) -> Error {
    Error::Backend {
        backend: "cpu+gpu",
        reason: format!("a thread could not work: {reason}"),
    }
}
