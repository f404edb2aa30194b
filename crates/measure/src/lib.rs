//! Measurements that can be trusted: clocks, sampling and statistics. Has never heard of RSA.
//!
//! | question | file |
//! |---|---|
//! | what time is it, and what does asking cost | [`clock`], [`tsc`] |
//! | how fast does the core run | [`cycles`] |
//! | how many multiply-adds does it do at most | [`peak`] |
//! | how is an operation timed | [`sample`] |
//! | how are several measured, interleaved, and when is it enough | [`interleave`] |
//! | did the order matter | [`order`] |
//! | what do the samples say | [`stats`] |
//! | which CPUs are there, and where do threads go | [`topology`], [`pin`] |
//! | how are threads started, given work and released together | [`pool`], [`barrier`] |
//! | was it kept from running meanwhile | [`interruption`] |
//! | is nothing of it left that would disturb others | [`process_group`] |
//! | has the machine become slower | [`sentinel`] |
//! | how much of its time was taken from it, and by what | [`losses`], `throttling` |
//! | what machine is this | [`machine`], [`fact`], [`system_files`] |
//! | who else is using it | [`busy`], [`activity`] |

pub mod activity;
pub mod barrier;
pub mod busy;
pub mod clock;
pub mod cpu_time;
pub mod cycles;
pub mod fact;
#[cfg(test)]
mod fake_machine;
pub mod interleave;
pub mod interruption;
pub mod losses;
pub mod machine;
pub mod order;
pub mod peak;
pub mod pin;
pub mod pool;
pub mod process_group;
pub mod sample;
pub mod sentinel;
pub mod stats;
pub mod system_files;
mod throttling;
pub mod topology;
pub mod tsc;
mod tsc_rate;

pub use barrier::Barrier;
pub use busy::busy_warnings;
pub use clock::{Clock, MockClock, Monotonic};
pub use cpu_time::CpuTime;
pub use fact::Fact;
pub use interleave::Schedule;
pub use interruption::Interruption;
pub use losses::Losses;
pub use machine::Machine;
pub use pool::Pool;
pub use sample::{Block, BlockPlan, Sample, run_block, sample_block, time};
pub use stats::Estimate;
pub use topology::{Placement, Topology};
