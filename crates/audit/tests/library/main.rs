//! The library's tests, as one program: it is linked once.

mod formats;
mod made;
mod malformed;
mod planted;
mod reports;
