//! Plan, run, store, compare and report a study.
//!
//! | question | module |
//! |---|---|
//! | what is to be measured | [`plan`] |
//! | where a study lives | [`store`], [`Study`] |
//! | how it is measured | [`run`] |
//! | a few cells now, without a store | [`mod@bench`] |
//! | what the samples say | [`compare`] |
//! | what was taken from a cell meanwhile | [`Disturbance`] |
//! | what people are shown | [`report`] |
//! | studies beside each other: versions, days, machines | [`comparison`] |
//! | the samples, for other programs | [`export`] |
//! | the settings that suit its machine | [`profile`] |
//! | measurements of many machines, sent by whoever has one, and verified | [`barometer`] |
//! | parts of a study or of many keys, on several machines | [`part`] |
//! | how a number, or a word for a shell, is written | [`number`], [`shell`] |
//! | published studies done again | [`articles`] |
//!
//! A study flows one way: a plan is unfolded into cells when the study is made, workers measure them, each verified
//! block is stored as it is taken, and a report is a pure function of the store.
//!
//! ```no_run
//! use std::{path::Path, sync::{Arc, atomic::AtomicBool}};
//!
//! use rsalab_engines::{Limits, Registry};
//! use rsalab_study::{
//!     Study,
//!     plan::{Host, Preset},
//!     articles, report,
//!     run::{self, Event, Environment, Workers},
//! };
//!
//! let registry = Registry::of_this_program()?;
//! let host = Host::of_this_machine(&registry);
//! let directory = Path::new("results/quick");
//! let mut study = Study::create(directory, &Preset::Quick.plan(&host), &host, "my program")?;
//!
//! // Set it from a signal handler: the run returns within two seconds, and `Study::open` goes on with it later.
//! let stop = Arc::new(AtomicBool::new(false));
//! let workers = Workers { registry, limits: Limits::default() };
//! let mut observer = |event: &Event<'_>| {
//!     if let Event::Closed { cell, state, .. } = event {
//!         println!("{}, {}: {}", cell.job, cell.engine, state.name());
//!     }
//! };
//! run::run(&mut study, &Environment::of_this_machine(&workers), &mut observer, &stop)?;
//! println!("{}", report::write(&articles::report(study.store())?, &directory.join("report"))?.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod articles;
pub mod barometer;
pub mod bench;
pub mod calibrate;
pub mod compare;
pub mod comparison;
mod cpus;
mod distinct;
mod disturbance;
mod error;
pub mod export;
mod json;
mod launches;
pub mod number;
mod parallel;
pub mod part;
pub mod plan;
pub mod profile;
pub mod report;
pub mod run;
pub mod shell;
mod significance;
mod spreadsheet;
pub mod store;
mod study;
mod version;

pub use disturbance::Disturbance;
pub use error::{Error, ErrorClass};
pub use study::Study;
pub use version::VERSION;
