//! The library's tests, as one program: it is linked once.

mod cuda;
mod expected;
mod kernels_on_host;
#[path = "../../../engines/src/conformance/length.rs"]
mod length;
mod opencl;
mod ptx_interpreted;
mod ptxas;
mod split;
mod support;
mod under_way;
