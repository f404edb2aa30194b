//! Text and files through raw RSA blocks, the work split over threads.
//!
//! | question | file |
//! |---|---|
//! | who gets which blocks | [`split()`] |
//! | how workers are started, released and collected | [`work`] |
//! | how they are watched | [`State`], [`Event`] |
//! | how a text becomes blocks and a text again | [`blocks`] |
//! | how an encrypted text is kept in a file | [`container`] |

pub mod blocks;
pub mod container;
mod split;
mod watch;
pub mod work;

pub use split::{Part, split};
pub use watch::{Event, State};
pub use work::{
    BlockWorker, Crew, Failure, Outcome, PartTrace, Reason, Work, WorkError, run, run_watched,
};

pub(crate) use work::list;
