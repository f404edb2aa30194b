//! The provider's tests, as one program: it is linked once.

mod jobs;
mod openssl;
mod premaster;
mod pss_keys;
mod sigalgs;
mod support;
mod threads;
mod tls;
mod wycheproof;
