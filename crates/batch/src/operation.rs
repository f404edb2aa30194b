//! Requests of tasks.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rsalab_rsa::encryption::{Message, Unpadder};
use zeroize::Zeroizing;

use crate::{Error, handle::Handle, keys::of_one, pass::Blocks};

/// A private operation that is asked for, as a future: its request enters when it is first polled, and waits for room
/// if as many wait as may. A thread of the batcher computes it, together with what else waits then; any executor will
/// do. Dropped, it costs nothing more, unless its pass has begun.
#[must_use = "nothing is asked for until it is polled"]
pub struct Operation {
    handle: Arc<Handle>,
    stage: Stage,
}

enum Stage {
    New(Option<Blocks>),
    Entered(usize),
    Over,
}

impl Operation {
    pub(crate) fn new(handle: Arc<Handle>, blocks: Blocks) -> Self {
        Operation {
            handle,
            stage: Stage::New(Some(blocks)),
        }
    }

    fn poll_answer(&mut self, context: &Context<'_>) -> Poll<Result<Zeroizing<Vec<u8>>, Error>> {
        let queue = &self.handle.queue;
        let outcome = match &mut self.stage {
            Stage::New(blocks) => match queue.enter(blocks, context.waker()) {
                Ok(place) => {
                    self.stage = Stage::Entered(place);
                    return Poll::Pending;
                }
                Err(error) => Err(error),
            },
            Stage::Entered(place) => match queue.poll(*place, context.waker()) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(outcome) => outcome,
            },
            Stage::Over => panic!("polled after it was done"),
        };
        self.stage = Stage::Over;
        Poll::Ready(outcome.and_then(|answer| of_one(answer.bytes, &answer.status)))
    }
}

impl Future for Operation {
    type Output = Result<Zeroizing<Vec<u8>>, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_answer(context)
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if let Stage::Entered(place) = self.stage {
            self.handle.queue.abandon(place);
        }
    }
}

/// A decryption that is asked for, as a future. What is said of [`Operation`] holds.
#[must_use = "nothing is asked for until it is polled"]
pub struct Decryption {
    operation: Operation,
    unpadder: Unpadder,
    ciphertext: Vec<u8>,
}

impl Decryption {
    pub(crate) fn new(operation: Operation, unpadder: Unpadder, ciphertext: &[u8]) -> Self {
        Decryption {
            operation,
            unpadder,
            ciphertext: ciphertext.to_vec(),
        }
    }
}

impl Future for Decryption {
    type Output = Result<Option<Message>, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut block = match self.operation.poll_answer(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(block)) => block,
            Poll::Ready(Err(Error::OutOfRange)) => return Poll::Ready(Ok(None)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
        };
        let mut room = Zeroizing::new(vec![0; block.len()]);
        let place = self.unpadder.unpad(&self.ciphertext, &mut block, &mut room);
        Poll::Ready(Ok(place.map(|place| Zeroizing::new(block[place].to_vec()))))
    }
}
