//! Sealed files as the users of the crate meet them.
#![forbid(unsafe_code)]

mod round_trips;
mod tampered;
