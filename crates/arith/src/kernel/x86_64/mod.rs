//! Forms of the lanes, and products, that need instructions of x86-64. One of the folders of this crate where `unsafe`
//! may stand.

#![allow(unsafe_code)]

pub(crate) mod adx;
mod adx512;
mod adx_blocks;
pub(crate) mod avx2;
mod avx2_pairs;
mod avx2_tiles;
pub(crate) mod avx2fma;
pub(crate) mod avx512f;
mod generated;
pub(crate) mod have_ifma;
pub(crate) mod ifma512;
mod ifma_blocks;
pub(crate) mod ifma_quads;
pub(crate) mod ifma_rows;
mod ifma_ten;
mod opaque;
mod tile_plan;
