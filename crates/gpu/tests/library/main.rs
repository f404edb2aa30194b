//! The library's tests, as one program: it is linked once.

mod cuda;
mod kernels_on_host;
mod opencl;
mod ptx_interpreted;
mod ptxas;
mod split;
mod support;
