//! Private operations: who computes them, and together with whom.
//!
//! | asked for | computed |
//! |---|---|
//! | inside an asynchronous job of OpenSSL's | with others of the same thread: the job pauses, and its event loop resumes it in its next round |
//! | outside jobs | at once, or as `threads` has it |
//!
//! The descriptor of every paused job is ready at once, so that the event loop resumes it in its next round. What
//! entered in the round before is computed by the first that is resumed. There is no thread and no timer. The request
//! of a job that is never resumed is taken back when its connection is freed. A thread whose requests come one at a
//! time pauses few of them (`rsalab_batch::JobQueue`).

use std::{fmt::Write, sync::Arc};

use once_cell::race::OnceBox;
use rsalab_batch::{JobQueue, Key, Keys};
use rsalab_reserve::PerThread;
use rsalab_rsa::{CpuBackend, PrivateKey};
use zeroize::Zeroizing;

use crate::{
    failure::Result,
    memory,
    openssl::{
        jobs::{self, Job},
        stack,
    },
    settings::Settings,
};

type Block = Zeroizing<Vec<u8>>;

/// Rounds of the kernel that a full pass takes: as many requests as the kernel has lanes, of which each fills two.
const ROUNDS: usize = 2;

static JOBS: PerThread<JobQueue> = PerThread::new(JobQueue::new);

/// All keys of the process, whichever thread uses them.
fn keys() -> &'static Keys {
    static KEYS: OnceBox<Keys> = OnceBox::new();
    KEYS.get_or_init(|| Box::new(Keys::new(CpuBackend::auto(), ROUNDS, memory::shared_keys)))
}

/// A private key that may share passes with others.
pub(crate) fn key(key: PrivateKey) -> Arc<Key> {
    keys().key(key)
}

/// Batches of private operations: `size:batches` pairs, separated by spaces; the sizes that never occurred are left
/// out.
pub(crate) fn histogram() -> String {
    let mut text = String::new();
    for (size, count) in keys().passes().into_iter().enumerate().filter(|(_, count)| *count > 0) {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{size}:{count}");
    }
    text
}

/// The private operation on a block as long as the modulus.
///
/// # Errors
///
/// If the block is not below the modulus, or the result failed its check.
pub(crate) fn private(settings: &Settings, key: &Arc<Key>, block: Block) -> Result<Block> {
    if let Some(job) = jobs::current() {
        return in_job(settings, key, block, job);
    }
    match &settings.sharing {
        None => {
            let _memory = memory::operation()?;
            Ok(key.private(&block)?)
        }
        Some(threads) => {
            let items = {
                let _memory = memory::operation()?;
                key.items()?
            };
            let _memory = memory::requests(items)?;
            threads.private(key, &block)
        }
    }
}

fn in_job(settings: &Settings, key: &Arc<Key>, block: Block, job: Job) -> Result<Block> {
    let ready = || {
        let _memory = memory::operation()?;
        Ok(key.items()?)
    };
    let items = stack::on_large_stack(ready)?;
    let alone = |block: &[u8]| {
        let _memory = memory::operation()?;
        Ok(key.private(block)?)
    };
    if !job.may_pause(settings.abandoned_jobs) {
        return stack::on_large_stack(|| alone(&block));
    }
    // A thread that has no place for its queue computes at once.
    let Some(ticket) = JOBS.with(|jobs| jobs.ask(key, block.clone())) else {
        return stack::on_large_stack(|| alone(&block));
    };
    let ticket = ticket?;
    // Nothing is kept here meanwhile: a job that is never resumed drops nothing.
    drop(block);
    if !ticket.is_due() {
        let take_back = ticket.take_back();
        // Where a job cannot pause, it computes what is there.
        job.pause(move || take_back.now());
        if let Some(answer) = ticket.take() {
            return Ok(answer?);
        }
    }
    let answer = || {
        let _memory = memory::requests(items)?;
        Ok(ticket.answer()?)
    };
    stack::on_large_stack(answer)
}
