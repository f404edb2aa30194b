//! Kernels certified by replay: their instructions are run once on unknowns, and what they leave is compared with what
//! they promise, exactly, for each length.
//!
//! # What is shown
//!
//! Of each function that the build writes, for all inputs within the bounds that its callers keep:
//!
//! 1. The result is Montgomery's product: an equation between polynomials with integer coefficients, in digits of the
//!    inputs, digits of the quotient, and carries. The equations are in `rows/`, `tiles/`, `tens/` and
//!    `short.rs`.
//! 2. No sum and no product leaves its register, no double is rounded but where that is meant, and the result is within
//!    the bounds that it is promised to be in, which are those of the inputs.
//! 3. No address, no branch, and no mask over memory depends on a number; and every access is within the memory that
//!    the caller hands over, aligned where the instruction asks for that, and writes only what it may.
//!
//! # How
//!
//! `machine.rs` runs one instruction after the other. Pointers and counts are concrete; loops are run as often as they
//! run. A number is a polynomial in *atoms* (`algebra.rs`), which are unknown integers: the inputs' digits, and
//! whatever is no polynomial of what went in: the integer part of a division by a power of two, or such a quotient
//! rounded. The other part of what is divided is then a polynomial again, x - 2^k f. So the low half of a product is x
//! y - 2^52 h, and the high one h; carries leave one place and arrive in another, and cancel where both are done right.
//! An equation between polynomials (`identity.rs`) is compared coefficient by coefficient, and holds for all values of
//! the atoms, so for those that a machine computes. Nothing is evaluated at examples.
//!
//! Bounds are those of interval arithmetic on each result. What an atom can be is all that is known of it; where more
//! is needed, the argument stands where it is used: carries through a mask register in `masks.rs`, the last digit of
//! the quotient in `rows/`, the lower half of a product of doubles in `tiles/`, the last carry of a row of limbs in
//! `limbs.rs`, the subtraction of n in `short.rs`.
//!
//! # What is trusted
//!
//! - The meaning of each instruction, in `integers.rs`, `masks.rs`, `doubles.rs` and `limbs.rs`, a few lines for each,
//!   by Intel's manual. Tests of agreement run the same instructions on CPUs.
//! - That the CPU does what its manual says, rounds to nearest, and that nothing else writes to the memory meanwhile.
//! - objdump, which reads the machine code. That must be, instruction by instruction, what the build has written, but
//!   for the order of summands and factors; and it is what is run. Where there is no objdump, the text is run instead,
//!   and the assembler trusted.
//! - The bounds of the inputs, which the callers keep: `rows/`, `tiles/` and `tens/` say which, and the modules of the
//!   kernels why. That the caller prepares m, n' and 1 / n as it says.
//! - This program. It has no proof of its own; planted faults are in `faults.rs`, and must be refused.
//!
//! s2n-bignum's proofs are checked by HOL Light's small kernel, from a model of each instruction that is tested against
//! CPUs, and cover whole functions down to their bytes. What is here is a program of three thousand lines that anybody
//! can run, and claims no more than the above.

mod algebra;
mod code;
mod doubles;
mod faults;
#[path = "../../../src/kernel/x86_64/generated/mod.rs"]
mod generated;
mod identity;
mod integers;
mod limbs;
mod machine;
mod masks;
mod mutants;
mod polynomial;
mod rows;
mod short;
mod tens;
#[path = "../../../src/kernel/x86_64/tile_plan.rs"]
mod tile_plan;
mod tiles;

use super::disassembly::{Function, disassembled};
use code::Code;
use polynomial::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The folder of the texts that the build writes.
const FOLDER: &str = env!("OUT_DIR");

/// A text that the build has written.
fn text(name: &str) -> Code {
    let text = fs::read_to_string(format!("{FOLDER}/{name}.s")).expect("the build wrote it");
    Code::of_text(&text).expect("it is understood")
}

/// The instructions of some functions, as they ship.
struct Shipped {
    machine_code: Option<Vec<Code>>,
}

impl Shipped {
    /// Of the functions of which the name contains this.
    fn of(name: &str) -> Self {
        let called_so = |function: &&Function| function.name.contains(name);
        let code = |function| Code::of_function(function).expect("it is understood");
        let machine_code = disassembled().map(|all| all.iter().filter(called_so).map(code).collect());
        Self { machine_code }
    }

    /// The machine code that does what a text does, or the text where no machine code can be read; and which it is.
    fn like(&self, text: Code) -> (Code, &'static str) {
        let Some(machine_code) = &self.machine_code else {
            return (text, "its text");
        };
        match machine_code.iter().find(|code| code.is_like(&text)) {
            Some(code) => (code.clone(), "its machine code"),
            None => panic!("the machine code differs from the text that was written"),
        }
    }
}

/// Prints a line for each, and fails if there is one that is not certified.
fn all_certified(kernel: &str, results: impl IntoIterator<Item = (String, &'static str, Result<(), Refusal>)>) {
    let mut refused = 0;
    for (name, read, shown) in results {
        match shown {
            Ok(()) => println!("certified: {kernel}, {name}, {read}"),
            Err(why) => {
                println!("not certified: {kernel}, {name}, {read}: {why}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 0, "{kernel}");
}

/// The names of the texts that the build has written.
fn names() -> Vec<String> {
    let files = fs::read_dir(FOLDER).expect("the build wrote into it");
    let name = |file: fs::DirEntry| Some(file.file_name().into_string().ok()?.strip_suffix(".s")?.to_owned());
    let mut names: Vec<String> = files.filter_map(|file| name(file.ok()?)).collect();
    names.sort_unstable();
    names
}

/// Digits and numbers, in the name of a text of rows.
fn length_of_rows(name: &str) -> Option<(usize, usize)> {
    let (digits, numbers) = name.split_once('x')?;
    Some((digits.parse().ok()?, numbers.parse().ok()?))
}

#[test]
fn rows_are_certified_at_every_length() {
    let shipped = Shipped::of("ifma_rows::LENGTHS::code");
    let lengths: BTreeSet<(usize, usize)> = names().iter().filter_map(|name| length_of_rows(name)).collect();
    assert_eq!(lengths.len(), 36);
    let results = lengths.into_iter().map(|(digits, numbers)| {
        let (code, read) = shipped.like(text(&format!("{digits}x{numbers}")));
        let shown = rows::certify(&code, rows::Contract::new(digits, numbers));
        (format!("{digits} digits of {numbers}"), read, shown)
    });
    all_certified("mont52x2_ifma", results);
}

/// A function of eight limbs in machine code; there is no other text of it that could be read.
fn short(name: &str) -> Option<Code> {
    let mut functions = disassembled()?.iter().filter(|function| function.name.ends_with(name));
    let function = functions.next().expect("it is linked");
    assert!(functions.next().is_none(), "two functions are called {name}");
    Some(Code::of_function(function).expect("it is understood"))
}

#[test]
fn short_products_are_certified() {
    let (Some(mul), Some(sqr)) = (short("adx512::mul"), short("adx512::sqr")) else {
        return;
    };
    let squares = [1, 2].map(|times| short::certify(&sqr, short::Operation::Square { times }));
    let [once, again] = squares;
    let results = [
        ("products of 8 limbs", short::certify(&mul, short::Operation::Multiply)),
        ("squares of 8 limbs", once.and(again)),
    ];
    let results = results.map(|(name, shown)| (name.to_owned(), "its machine code", shown));
    all_certified("mont64x1_adx", results);
}

#[test]
fn squares_and_products_of_ten_digits_are_certified() {
    let shipped = Shipped::of("ifma_blocks::code::");
    let functions = [
        ("block_ten_square", tens::Operation::Square),
        ("block_ten_square_and_look_up", tens::Operation::SquareAndLookUp),
        ("block_ten_product", tens::Operation::Product),
        ("block_digits", tens::Operation::Digits),
        ("block_masks", tens::Operation::Masks),
    ];
    let results = functions.map(|(name, operation)| {
        let (code, read) = shipped.like(text(name));
        let shown = tens::certify(&code, tens::Contract::new(operation));
        (name.to_owned(), read, shown)
    });
    all_certified("mont52x8_ifma512", results);
}

/// Certifies operations on numbers of so many digits, and windows of powers.
fn certify_blocks(lengths: impl IntoIterator<Item = usize>) {
    let shipped = Shipped::of("ifma_blocks::code::");
    let names = names().into_iter().filter(|name| name.starts_with("block_"));
    let codes: BTreeMap<String, (Code, &str)> = names.map(|name| (name.clone(), shipped.like(text(&name)))).collect();
    assert_eq!(codes.len(), 22);
    let (_, read) = codes.values().next().expect("there are functions");
    let code = |name: &str| codes[&format!("block_{name}")].0.clone();
    let results = lengths.into_iter().map(|digits| {
        let contract = tens::Window { digits, digit_bits: 52 };
        (format!("{digits} digits"), *read, contract.certify(&code))
    });
    all_certified("mont52x8_ifma512", results);
}

#[test]
fn blocks_are_certified_at_common_lengths() {
    certify_blocks([20, 30]);
}

/// Longer ones. Time grows faster than the third power.
#[test]
#[ignore = "long: make test-all"]
fn blocks_are_certified_at_more_lengths() {
    certify_blocks([40, 50, 60]);
}

/// The width of digits and their number, for numbers of so many limbs: as `mont47::form::Form::even`.
fn form(limbs: usize) -> (u32, usize) {
    let forms = (44..=47).rev().map(|width| {
        let digits = (64 * limbs + 5).div_ceil(width as usize).next_multiple_of(2);
        (width, digits)
    });
    let fits = |&(width, digits): &(u32, usize)| digits < 1 << (53 - width);
    forms.into_iter().find(fits).expect("no number is that long")
}

/// Certifies products and squares of one number and of two, of so many limbs.
fn certify_tiles(limbs: impl Iterator<Item = usize>) {
    let shipped = Shipped::of("avx2_tiles::code::code");
    let is_tile = |name: &String| length_of_rows(name).is_none() && !name.starts_with("block_");
    let names = names().into_iter().filter(is_tile);
    let tiles: BTreeMap<String, (Code, &str)> = names.map(|name| (name.clone(), shipped.like(text(&name)))).collect();
    assert_eq!(tiles.len(), 88);
    let (_, read) = tiles.values().next().expect("there are tiles");
    let code = |name: &str| tiles[name].0.clone();
    let forms: BTreeSet<(u32, usize)> = limbs.map(form).collect();
    let all = forms.into_iter().flat_map(|form| [1, 2].map(|numbers| (form, numbers)));
    let all = all.flat_map(|of| [false, true].map(|squares| (of, squares)));
    let results = all.map(|(((width, digits), numbers), squares)| {
        let shown = tiles::certify(tiles::Contract::new(numbers, width, digits, squares), &code);
        let operation = if squares { "squares" } else { "products" };
        (
            format!("{operation} of {digits} digits of {width} bits of {numbers}"),
            *read,
            shown,
        )
    });
    all_certified("mont47x2_avx2fma", results);
}

/// The primes of keys of 1024 to 4096 bits, of three and more primes, and where digits become narrower.
#[test]
fn tiles_are_certified_at_common_lengths() {
    certify_tiles([1, 2, 3, 6, 8, 11, 12, 16, 24, 32, 46, 47].into_iter());
}

/// Every length up to 4096 bits, and longer ones. Time grows with the third power.
#[test]
#[ignore = "long: make test-all"]
fn tiles_are_certified_at_every_length() {
    certify_tiles((1..=64).chain([72, 80, 96, 112, 128]));
}
