//! Writes the assembly that `src/kernel/x86_64/` includes: for `ifma_rows.rs` one file for each length, for one number
//! and for two; for `avx2_tiles.rs` one for each kind of tile, and the arms of a `match` that names them.

mod rows;
mod tiles;

use rows::Function;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return Ok(());
    }
    let folder = env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR");
    for digits in rows::LENGTHS {
        for numbers in [1, 2] {
            let text = Function::new(digits, numbers).text();
            fs::write(Path::new(&folder).join(format!("{digits}x{numbers}.s")), text)?;
        }
    }
    let tiles = tiles::all();
    for tile in &tiles {
        let file = Path::new(&folder).join(format!("{}.s", tile.name()));
        fs::write(file, tile.text())?;
    }
    fs::write(Path::new(&folder).join("tiles.rs"), tiles::arms(&tiles))
}
