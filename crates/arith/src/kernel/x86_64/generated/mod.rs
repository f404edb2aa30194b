//! Structures and constants that the generated assembly and its callers agree on.

pub(crate) mod rows;
pub(crate) mod tiles;
