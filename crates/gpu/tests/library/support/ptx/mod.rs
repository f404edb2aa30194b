//! An interpreter of the PTX that the crate writes, and a device that runs on it. It knows the instructions that are
//! used and no others, and refuses whatever else it meets: what is checked is the text that a driver would get.

pub(crate) mod device;
mod lanes;
pub(crate) mod machine;
pub(crate) mod parse;
