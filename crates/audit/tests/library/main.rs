//! The library's tests, as one program: it is linked once.

mod against;
mod formats;
mod made;
mod malformed;
mod overlooked;
mod parquet;
mod planted;
mod progress;
mod reports;
