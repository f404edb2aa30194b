//! Planted faults, each of which must be refused.

use super::code::{Code, Instruction, Memory, Operand};
use super::mutants::survivors;
use super::rows::{self, Contract};
use super::short::Operation;
use super::{short, tens, text, tiles};

/// The numbers of the instructions of one kind.
fn all(code: &Code, mnemonic: &str) -> Vec<usize> {
    let all = code.instructions.iter().enumerate();
    all.filter(|(_, instruction)| instruction.mnemonic == mnemonic)
        .map(|(at, _)| at)
        .collect()
}

/// The memory operand of an instruction.
fn memory(instruction: &mut Instruction) -> Option<&mut Memory> {
    instruction.operands.iter_mut().find_map(|operand| match operand {
        Operand::Memory(memory) => Some(memory),
        _ => None,
    })
}

/// Changes the code of rows, and expects that it is refused for the reason that is given.
fn refused(digits: usize, numbers: usize, why: &str, change: impl FnOnce(&mut Code)) {
    let mut code = text(&format!("{digits}x{numbers}"));
    let contract = Contract::new(digits, numbers);
    rows::certify(&code, contract).expect("without a fault it is certified");
    change(&mut code);
    let refusal = rows::certify(&code, contract).expect_err("a planted fault");
    assert!(refusal.contains(why), "refused, but because: {refusal}");
}

#[test]
fn a_wrong_digit_is_refused() {
    for (digits, numbers) in [(8, 1), (20, 2), (48, 1)] {
        // The digit of b beside the one that is wanted.
        refused(digits, numbers, "it is not a b / R mod n", |code| {
            let loads = all(code, "vpbroadcastq");
            let mut from_b = loads
                .into_iter()
                .filter(|&at| memory(&mut code.instructions[at].clone()).is_some_and(|memory| memory.base == 6));
            let last = from_b.next_back().expect("b is multiplied by");
            memory(&mut code.instructions[last]).expect("it loads").displacement -= 8;
        });
        // The vector of n' beside the one that is wanted, or of n.
        refused(digits, numbers, "", |code| {
            let last = *all(code, "vpmadd52huq").last().expect("there are products");
            memory(&mut code.instructions[last])
                .expect("n is in memory")
                .displacement -= 64;
        });
        // A place too far.
        refused(digits, numbers, "", |code| {
            let moves = all(code, "valignq");
            code.instructions[moves[moves.len() / 2]].operands[3] = Operand::Immediate(2);
        });
    }
}

#[test]
fn an_overflow_is_refused() {
    let code = text("20x1");
    let contract = Contract::new(20, 1);
    // Digits of one bit more, and a modulus of one bit more.
    let longer = rows::certify(
        &code,
        Contract {
            digit_bits: 53,
            ..contract
        },
    );
    assert!(longer.is_err());
    let larger = rows::certify(&code, Contract { spare: 3, ..contract });
    assert_eq!(larger, Err("results may exceed 5 n".to_owned()));
    // What exceeds a digit is not taken away in the end.
    refused(20, 1, "of the result is from 0 to 4503599627370", |code| {
        let last = all(code, "vpandq");
        let last = &mut code.instructions[last[last.len() - 3]];
        last.mnemonic = "vmovdqa64".to_owned();
        last.operands.truncate(2);
    });
    // Products are added twice as often as a place has room for.
    refused(48, 1, "may leave 64 bits", |code| {
        let shift = all(code, "vpsrlq")[0];
        let doubled = Instruction {
            mnemonic: "vpaddq".to_owned(),
            operands: vec![Operand::Vector(0, 8), Operand::Vector(0, 8), Operand::Vector(0, 8)],
            under: None,
            target: None,
        };
        // In the place of instructions far behind the first rows.
        for instruction in &mut code.instructions[shift + 400..shift + 412] {
            *instruction = doubled.clone();
        }
    });
}

#[test]
fn a_secret_address_is_refused() {
    // The carries of a result, as a mask over memory.
    refused(8, 1, "a mask over memory that is not a constant", |code| {
        let under = code
            .instructions
            .iter_mut()
            .find(|instruction| instruction.mnemonic == "vpsubq" && instruction.under.is_some());
        under.expect("carries are added").operands[2] = Operand::Memory(Memory {
            base: 9,
            index: None,
            displacement: 64,
            broadcast: false,
        });
    });
    // A digit in a general register, and an index.
    let load = |base: u8| Instruction {
        mnemonic: "mov".to_owned(),
        operands: vec![
            Operand::General(0),
            Operand::Memory(Memory {
                base,
                index: None,
                displacement: 0,
                broadcast: false,
            }),
        ],
        under: None,
        target: None,
    };
    refused(8, 1, "a digit would come into a general register", |code| {
        code.instructions[0] = load(7)
    });
    refused(8, 1, "an index that is no count", |code| {
        let at = all(code, "vpbroadcastq");
        let load = at
            .into_iter()
            .find_map(|at| memory(&mut code.instructions[at].clone()).map(|_| at));
        let load = &mut code.instructions[load.expect("digits are loaded")];
        memory(load).expect("it loads").index = Some((11, 8));
    });
    // Beyond what the caller hands over.
    refused(8, 1, "not within", |code| {
        let store = all(code, "vmovdqu64");
        let store = store.last().expect("the result is stored");
        memory(&mut code.instructions[*store]).expect("it stores").displacement += 64;
    });
}

/// Digits of one number or two, of products and squares.
fn of_tiles(numbers: usize, digits: usize, squares: bool) -> tiles::Contract {
    tiles::Contract::new(numbers, 47, digits, squares)
}

/// Changes a tile, and expects that a product of so many digits is refused for the reason that is given.
fn tile_refused(contract: tiles::Contract, tile: &str, why: &str, change: impl FnOnce(&mut Code)) {
    tiles::certify(contract, &text).expect("without a fault it is certified");
    let mut code = text(tile);
    change(&mut code);
    let changed = |name: &str| if name == tile { code.clone() } else { text(name) };
    let refusal = tiles::certify(contract, &changed).expect_err("a planted fault");
    assert!(refusal.contains(why), "refused, but because: {refusal}");
}

#[test]
fn a_wrong_digit_of_a_tile_is_refused() {
    let product = of_tiles(2, 16, false);
    let move_last = |mnemonic: &'static str, by: i64| {
        move |code: &mut Code| {
            let loads = all(code, mnemonic);
            let from_memory = |at: &usize| memory(&mut code.instructions[*at].clone()).is_some_and(|m| m.base == 1);
            let last = loads.into_iter().rfind(from_memory).expect("digits are loaded");
            memory(&mut code.instructions[last]).expect("it loads").displacement += by;
        }
    };
    tile_refused(
        product,
        "product_low_6x2",
        "q is not -tau / n mod R",
        move_last("vmovddup", -32),
    );
    tile_refused(
        product,
        "product_lowest_joined_4x2",
        "the lower half does not carry right",
        move_last("vmovddup", 32),
    );
    let square = of_tiles(1, 16, true);
    tile_refused(
        square,
        "square_lowest_joined_4x1",
        "it is not a b / R mod n",
        move_last("vbroadcastf128", 16),
    );
    // Two copies of what is loaded, of which one alone is wrong.
    tile_refused(product, "product_lowest_joined_4x2", "may round", |code| {
        let fused = all(code, "vfmadd231pd");
        let first = fused
            .into_iter()
            .find(|&at| memory(&mut code.instructions[at].clone()).is_some());
        memory(&mut code.instructions[first.expect("digits are multiplied")])
            .expect("it loads")
            .displacement -= 32;
    });
}

#[test]
fn an_overflow_of_a_tile_is_refused() {
    // Two digits more than a column has room for; digits of one bit more in so many; and inputs of twice as much.
    assert_eq!(tiles::certify(of_tiles(2, 62, false), &text), Ok(()));
    let twice_as_long = tiles::Contract {
        excess: 1 << 46,
        ..of_tiles(2, 44, false)
    };
    for contract in [
        of_tiles(2, 64, false),
        tiles::Contract::new(2, 48, 44, false),
        twice_as_long,
    ] {
        let refusal = tiles::certify(contract, &text).expect_err("columns overflow");
        assert!(refusal.contains("may round"), "{refusal}");
    }
    // A column's carry is not taken away from it.
    tile_refused(
        of_tiles(2, 16, false),
        "product_low_6x2",
        " is from -1548112371910425 to 1548112371910425",
        |code| {
            let fused = all(code, "vfmadd231pd");
            let minus_radix =
                |at: &usize| memory(&mut code.instructions[*at].clone()).is_some_and(|m| m.displacement == 64);
            let last = fused.into_iter().rfind(minus_radix).expect("carries are taken away");
            code.leave_out(last);
        },
    );
}

#[test]
fn a_secret_address_of_a_tile_is_refused() {
    let product = of_tiles(1, 16, false);
    let refused = |why, change: fn(&mut Instruction)| {
        tile_refused(product, "product_low_6x1", why, |code| {
            let at = *all(code, "vbroadcastf128").last().expect("digits are loaded");
            change(&mut code.instructions[at]);
        });
    };
    refused("a digit would come into a general register", |load| {
        load.mnemonic = "mov".to_owned();
        load.operands[0] = Operand::General(10);
    });
    refused("not known", |load| {
        // A load under the signs of a vector.
        load.mnemonic = "vmaskmovpd".to_owned();
        load.operands.insert(1, Operand::Vector(6, 4));
    });
    refused("not within", |load| {
        memory(load).expect("it loads").displacement += 1 << 10
    });
}

/// Of the rows' code every instruction changed: what is still certified computes the same. That is, the same constant
/// from another place; the first row's carry, which is none; a digit that is loaded in the last row of a square, and
/// not used there; and an instruction that is for speed.
#[test]
fn hardly_a_change_of_rows_is_certified() {
    let contract = Contract::new(8, 1);
    let (changed, certified) = survivors(&text("8x1"), |code| rows::certify(code, contract).is_ok());
    for change in &certified {
        println!("certified: {change}");
    }
    let rest: Vec<&String> = certified.iter().filter(|change| !computes_the_same(change)).collect();
    assert!(rest.is_empty(), "{rest:#?}");
    assert!(
        changed > 1000 && certified.len() < changed / 30,
        "{} of {changed}",
        certified.len()
    );
}

fn computes_the_same(change: &str) -> bool {
    let constant = change.contains("base: 9") && change.contains("another place");
    let ones = change.contains("vpternlogd");
    let first_carry =
        change.contains("vpaddq [Vector(1, 8), Vector(1, 8), Vector(6, 8)]") || change.contains("vpsrlvq");
    let unused = change.contains("vpbroadcastq [Vector(5, 8), Memory(Memory { base: 8, index: None, displacement: 56");
    let same = change.contains("vpbroadcastq [Vector(5, 8), Vector(5, 2)]");
    constant || ones || first_carry || unused || same || change.contains("vzeroupper")
}

/// As above, of two tiles, in a product that calls them: their tests for no rows are not needed in it.
#[test]
#[ignore = "long: make test-all"]
fn hardly_a_change_of_tiles_is_certified() {
    let contract = of_tiles(2, 16, false);
    for tile in ["product_low_6x2", "product_lowest_joined_4x2"] {
        let is_certified = |code: &Code| {
            let changed = |name: &str| if name == tile { code.clone() } else { text(name) };
            tiles::certify(contract, &changed).is_ok()
        };
        let (changed, certified) = survivors(&text(tile), is_certified);
        for change in &certified {
            println!("certified: {tile}: {change}");
        }
        assert!(
            changed > 1000 && certified.len() < changed / 30,
            "{} of {changed}",
            certified.len()
        );
    }
}

/// Changes the multiplication of eight limbs, and expects that it is refused for the reason that is given.
fn short_refused(why: &str, change: impl FnOnce(&mut Code)) {
    let Some(mut code) = short("adx512::mul") else {
        return;
    };
    change(&mut code);
    let refusal = super::short::certify(&code, Operation::Multiply).expect_err("a planted fault");
    assert!(refusal.contains(why), "refused, but not as {why}: {refusal}");
}

#[test]
fn faults_of_a_short_product_are_refused() {
    let product = |code: &Code, i: usize| all(code, "mulx")[i];
    // The limb of n beside the one that is wanted, one of b, and a carry that is left out.
    for row in [64, 90, 127] {
        short_refused("", |code| {
            let at = product(code, row);
            let load = memory(&mut code.instructions[at]).expect("it loads");
            load.displacement = (load.displacement + 8) % 64;
        });
    }
    short_refused("it is not a b", |code| {
        let at = all(code, "mov").into_iter().find(|&at| {
            let to_digit = code.instructions[at].operands[0] == Operand::General(2);
            to_digit && memory(&mut code.instructions[at].clone()).is_some_and(|from| from.displacement == 40)
        });
        memory(&mut code.instructions[at.expect("b is loaded")])
            .expect("it loads")
            .displacement = 32;
    });
    short_refused("", |code| {
        let at = all(code, "adc")[20];
        code.leave_out(at);
    });
    // A carry that is taken from the other chain.
    short_refused("", |code| {
        let at = all(code, "adox")[70];
        code.instructions[at].mnemonic = "adcx".to_owned();
    });
    // A limb as an address, and as an index.
    short_refused("an address that is no pointer", |code| {
        let at = product(code, 70);
        memory(&mut code.instructions[at]).expect("it loads").base = 2;
    });
    short_refused("an index that is no count", |code| {
        let at = product(code, 70);
        memory(&mut code.instructions[at]).expect("it loads").index = Some((2, 8));
    });
    // A register of the caller that is not given back.
    short_refused("a register of the caller is lost", |code| {
        let at = all(code, "pop");
        let (first, second) = (at[0], at[1]);
        code.instructions.swap(first, second);
    });
}

/// Changes a function on ten digits, and expects that it is refused for the reason that is given.
fn ten_refused(name: &str, operation: tens::Operation, why: &str, change: impl FnOnce(&mut Code)) {
    let mut code = text(name);
    change(&mut code);
    let refusal = tens::certify(&code, tens::Contract::new(operation)).expect_err("a planted fault");
    assert!(refusal.contains(why), "refused, but not as {why}: {refusal}");
}

#[test]
fn faults_of_ten_digits_are_refused() {
    use tens::Operation::{Digits, Product, Square, SquareAndLookUp};
    let by = |mnemonic: &'static str, base: u8, by: i64| {
        move |code: &mut Code| {
            let from_base = |at: &usize| memory(&mut code.instructions[*at].clone()).is_some_and(|m| m.base == base);
            let at = all(code, mnemonic).into_iter().rfind(from_base).expect("there is one");
            memory(&mut code.instructions[at])
                .expect("it is in memory")
                .displacement += by;
        }
    };
    let leave_out = |mnemonic: &'static str, from_end: usize| {
        move |code: &mut Code| {
            let at = all(code, mnemonic);
            code.leave_out(at[at.len() - 1 - from_end]);
        }
    };
    // Wrong digits: of b, of n, of the number whose columns are carried, and a store beside the one that is meant.
    ten_refused(
        "block_ten_product",
        Product,
        "it is not a b / R mod n",
        by("vmovdqu64", 8, -64),
    );
    ten_refused("block_ten_square", Square, "", by("vpmadd52luq", 1, -64));
    ten_refused("block_ten_square", Square, "", by("vmovdqu64", 2, -64));
    ten_refused("block_ten_product", Product, "", by("vmovdqu64", 6, -64));
    // A carry that is not taken away, a product that is left out, a column that is doubled once less.
    ten_refused("block_digits", Digits, "", leave_out("vpandq", 3));
    ten_refused("block_ten_product", Product, "", leave_out("vpmadd52huq", 30));
    ten_refused("block_ten_square", Square, "", leave_out("vpaddq", 40));
    // An entry that is not looked at, and one that is looked at twice.
    ten_refused(
        "block_ten_square_and_look_up",
        SquareAndLookUp,
        "",
        leave_out("vmovdqa64", 9),
    );
    ten_refused(
        "block_ten_square_and_look_up",
        SquareAndLookUp,
        "",
        by("vmovdqu64", 0, 640),
    );
    // Longer digits, and longer columns.
    let longer = tens::Contract {
        digit_bits: 53,
        ..tens::Contract::new(Product)
    };
    assert!(tens::certify(&text("block_ten_product"), longer).is_err());
    let longer = tens::Contract {
        column_bits: 57,
        ..tens::Contract::new(Square)
    };
    let refusal = tens::certify(&text("block_ten_square"), longer).expect_err("columns are longer");
    assert!(refusal.contains("of what is left is from 0 to"), "{refusal}");
    let longer = tens::Contract {
        column_bits: 64,
        ..tens::Contract::new(Square)
    };
    let refusal = tens::certify(&text("block_ten_square"), longer).expect_err("a column leaves its word");
    assert!(refusal.contains("may"), "{refusal}");
    // An entry that is read under its mask, a digit as an address, and a load behind the table.
    ten_refused("block_ten_square_and_look_up", SquareAndLookUp, "not known", |code| {
        let from_table = |at: &usize| memory(&mut code.instructions[*at].clone()).is_some_and(|m| m.base == 0);
        let at = all(code, "vmovdqu64")
            .into_iter()
            .rfind(from_table)
            .expect("entries are loaded");
        code.instructions[at].under = Some(1);
    });
    ten_refused(
        "block_ten_square",
        Square,
        "a digit would come into a general register",
        |code| {
            let at = *all(code, "vmovdqu64").first().expect("digits are loaded");
            let load = &mut code.instructions[at];
            (load.mnemonic, load.operands[0]) = ("mov".to_owned(), Operand::General(0));
        },
    );
    ten_refused(
        "block_ten_square_and_look_up",
        SquareAndLookUp,
        "not within",
        by("vmovdqu64", 0, 6400),
    );
}

#[test]
fn faults_of_blocks_are_refused() {
    let refused = |changed: &str, why: &str, digit_bits: u32, change: &dyn Fn(&mut Code)| {
        let code = |name: &str| {
            let mut code = text(&format!("block_{name}"));
            if name == changed {
                change(&mut code);
            }
            code
        };
        let contract = tens::Window { digits: 20, digit_bits };
        let refusal = contract.certify(&code).expect_err("a planted fault");
        assert!(refusal.contains(why), "refused, but not as {why}: {refusal}");
    };
    // A column of the first block's square for one of the second's; a highest bit that is forgotten; a digit of the
    // inverse beside the one that is wanted; a digit whose carry is not taken away.
    refused("square_pair", "a square: it is not a b", 52, &|code| {
        let from_first = |at: &usize| memory(&mut code.instructions[*at].clone()).is_some_and(|m| m.base == 2);
        let at = all(code, "vpsubq")
            .into_iter()
            .rfind(from_first)
            .expect("columns are taken away");
        memory(&mut code.instructions[at]).expect("it is in memory").base = 1;
    });
    refused("square_pair", "a square: it is not a b", 52, &|code| {
        let at = all(code, "vpandq")[4];
        code.instructions[at].operands[1] = code.instructions[at].operands[0].clone();
        code.instructions[at].mnemonic = "vpxord".to_owned();
        code.instructions[at].operands[2] = code.instructions[at].operands[0].clone();
    });
    refused("rows", "it is not reduced by block 1", 52, &|code| {
        let from_inverse = |at: &usize| memory(&mut code.instructions[*at].clone()).is_some_and(|m| m.base == 2);
        let at = all(code, "vmovdqu64")
            .into_iter()
            .rfind(from_inverse)
            .expect("it is loaded");
        memory(&mut code.instructions[at])
            .expect("it is in memory")
            .displacement -= 64;
    });
    refused("reduce", "of what is left is from", 52, &|code| {
        let at = all(code, "vpandq");
        code.leave_out(at[at.len() - 2]);
    });
    refused("", "", 53, &|_| {});
}
