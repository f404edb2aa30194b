//! One instruction, in the order of AT&T: sources first.

/// Of an instruction of which a mask decides what bytes of memory it reads or writes: the mask's number, where it is
/// one of eight. A conditional move reads its operand in any case, and so does a blend by the signs in a vector.
pub(super) fn access_under_a_mask(instruction: &str) -> Option<Option<u8>> {
    let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let is_memory = operands.contains('(') || operands.contains(":0x");
    let mask = operands.split_once("{%k").and_then(|(_, rest)| digit(rest));
    let in_the_name = ["maskmov", "gather", "scatter"];
    match in_the_name.iter().any(|way| mnemonic.contains(way)) {
        true => Some(mask),
        false => mask.filter(|_| is_memory).map(Some),
    }
}

/// The number of the mask that an instruction writes.
pub(super) fn written_mask(instruction: &str) -> Option<u8> {
    let (_, operands) = instruction.split_once(' ')?;
    let last = operands.rsplit_once(',')?.1;
    last.strip_prefix("%k").and_then(digit)
}

/// `true` if two instructions, one behind the other, make a mask that is the same each time.
pub(super) fn makes_a_constant(first: &str, second: &str) -> bool {
    let constant = first.strip_prefix("mov $0x").and_then(|rest| rest.split_once(','));
    let Some((_, register)) = constant else {
        return false;
    };
    second.starts_with("kmov") && second.contains(&format!(" {register},%k"))
}

fn digit(text: &str) -> Option<u8> {
    let digit = text.bytes().next().filter(u8::is_ascii_digit)?;
    Some(digit - b'0')
}

/// The number of bytes of memory that an instruction reads or writes: what its register or its suffix says.
pub(super) fn width(instruction: &str) -> i64 {
    let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let extended = ["movz", "movs"].iter().find_map(|m| mnemonic.strip_prefix(m));
    let register = operands.split(',').find_map(|operand| operand.strip_prefix('%'));
    let suffix = match (extended.filter(|widths| widths.len() == 2), register) {
        (Some(widths), _) => &widths[..1],
        (None, Some(register)) => return register_width(register),
        (None, None) => &mnemonic[mnemonic.len() - 1..],
    };
    match suffix {
        "b" => 1,
        "w" => 2,
        "l" => 4,
        _ => 8,
    }
}

pub(super) fn register_width(register: &str) -> i64 {
    let is_numbered = register.len() > 1 && register.as_bytes()[1].is_ascii_digit();
    match register.as_bytes() {
        [b'z', ..] => 64,
        [b'y', ..] => 32,
        [b'x', ..] => 16,
        [b'r', .., b'b'] if is_numbered => 1,
        [b'r', .., b'w'] if is_numbered => 2,
        [b'r', .., b'd'] if is_numbered => 4,
        [b'r', ..] => 8,
        [b'e', ..] => 4,
        [.., b'l' | b'h'] => 1,
        // Of a mask, the most that one holds.
        [b'k', ..] => 8,
        _ => 2,
    }
}

/// The place on the stack that an instruction reads or writes.
pub(super) fn stack_offset(instruction: &str) -> Option<i64> {
    let (before, _) = instruction.split_once("(%rsp)")?;
    let offset = before.rsplit([' ', ',']).next().unwrap_or_default();
    match offset.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => offset.is_empty().then_some(0),
    }
}
