//! OpenSSL's side: layouts of its structures, its parameters, errors and jobs, and what depends on its version.
//!
//! | question | file |
//! |---|---|
//! | layouts of `core.h`, and what every function of a table does first and last | `types` |
//! | tables of functions, by the numbers and types of `core_dispatch.h` | `dispatch` |
//! | reading and answering parameters | `param` |
//! | which OpenSSL has us loaded, and what depends on that | `version` |
//! | the core that has us loaded, and its queue of errors | `core` |
//! | asynchronous jobs | `jobs` |
//! | a stack that is large enough for the arithmetic | `stack` |

pub(crate) mod core;
pub(crate) mod dispatch;
pub(crate) mod jobs;
pub(crate) mod param;
pub(crate) mod stack;
pub(crate) mod types;
pub(crate) mod version;
