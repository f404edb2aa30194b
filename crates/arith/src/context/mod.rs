//! Prepared keys: bytes in, bytes out, a status for each item of a batch.

#[cfg(feature = "hazmat")]
pub mod bare;
mod multi_key;
mod private;
mod product;
mod public;
#[cfg(feature = "hazmat")]
mod unprotected;

pub use multi_key::{MultiKeyContext, MultiKeyRunner};
pub use private::{PrivateContext, PrivateScratch};
pub use product::{ProductContext, RunningProduct};
pub use public::{PublicContext, PublicScratch};
