//! A look-up of entries of a table in all lanes, beside multiplications: every entry is loaded whole, and of two
//! neighbours one is kept in each lane, by a bit of the entry's number; then of two pairs, and so forth. Words that
//! have been loaded are moved under masks, which takes no time of the multipliers; nothing is loaded under a mask.

use super::{Lines, VECTOR};

/// Bits of an entry's number, one for each mask register from k1 on.
const BITS: usize = 5;
/// Vectors of an entry that are looked up beside ten rows: those of a number of ten digits are done in five times.
pub(super) const VECTORS: usize = 2;
/// Registers: one more than there are bits.
const FOUND: usize = 22;
/// Registers in which masks are made.
const NUMBER: usize = 27;
const BIT: usize = 28;

/// Loads the masks.
pub(super) fn load_masks(f: &mut Lines, masks: &str) {
    for bit in 0..BITS {
        f.put(format!("kmovq k{}, [{masks} + {}]", bit + 1, 8 * bit));
    }
}

/// Looks up vectors of all entries, the first one's at `table`, which moves on, with so many bytes in an entry; `entry`
/// is a register for a pointer.
pub(super) fn look_up(table: &str, entry: &str, bytes: &str, selected: &str) -> Lines {
    let mut f = Lines::default();
    for vec in 0..VECTORS {
        f.put(format!("mov {entry}, {table}"));
        f.put(format!("add {table}, {VECTOR}"));
        choose(&mut f, BITS, FOUND, entry, bytes);
        f.store(selected, vec, FOUND);
    }
    f
}

/// The wanted one of 2^bits entries, in a register; the pointer moves behind them.
fn choose(f: &mut Lines, bits: usize, to: usize, entry: &str, bytes: &str) {
    if bits == 0 {
        f.load(to, entry, 0);
        f.put(format!("add {entry}, {bytes}"));
        return;
    }
    choose(f, bits - 1, to, entry, bytes);
    choose(f, bits - 1, to + 1, entry, bytes);
    f.put(format!("vmovdqa64 zmm{to}{{k{bits}}}, zmm{}", to + 1));
}

/// Masks of the lanes whose number has a bit, a word for each bit, of the numbers of all lanes, a byte each.
pub(super) fn masks(numbers: &str, masks: &str) -> Lines {
    let mut f = Lines::default();
    f.put(format!("vpmovzxbq zmm{NUMBER}, qword ptr [{numbers}]"));
    for bit in 0..BITS {
        f.put(format!("vpsllq zmm{BIT}, zmm{NUMBER}, {}", 63 - bit));
        f.put(format!("vpmovq2m k{}, zmm{BIT}", bit + 1));
        f.put(format!("kmovq [{masks} + {}], k{}", 8 * bit, bit + 1));
    }
    f
}
