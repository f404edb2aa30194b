//! Writes the assembly that `src/kernel/x86_64/` includes: for `ifma_rows.rs` one file for each length, for one number
//! and for two, and the list of them; for `ifma_blocks.rs` one for each operation on blocks; for `avx2_tiles.rs` one
//! for each kind of tile, and the arms of a `match` that names them.

/// A line of assembly.
macro_rules! put {
    ($self:ident, $($text:tt)*) => {
        writeln!($self.text, $($text)*).expect("a string takes everything")
    };
}

/// Structures that the code's callers compile, too.
#[path = "../src/kernel/x86_64/generated/mod.rs"]
mod agreed;
mod blocks;
mod rows;
mod tiles;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/kernel/x86_64/generated");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return Ok(());
    }
    let folder = env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR");
    // What an earlier build wrote: tests read all functions that are there.
    for file in fs::read_dir(&folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "s") {
            fs::remove_file(path)?;
        }
    }
    let write = |name: &str, text: String| fs::write(Path::new(&folder).join(name), text);
    for digits in rows::LENGTHS {
        for numbers in [1, 2] {
            let text = rows::Function::new(digits, numbers).text();
            write(&format!("{digits}x{numbers}.s"), text)?;
        }
    }
    for (name, text) in blocks::all() {
        write(&format!("block_{name}.s"), text)?;
    }
    write("lengths.rs", rows::lengths())?;
    let tiles = tiles::all();
    for tile in &tiles {
        write(&format!("{}.s", tiles::name(tile)), tiles::text(*tile))?;
    }
    write("tiles.rs", tiles::arms(&tiles))
}
