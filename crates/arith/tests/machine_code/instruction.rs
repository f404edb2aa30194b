//! What one instruction does, in the order of AT&T: sources first.

/// How an instruction could carry a number out of the vectors.
pub(super) fn leak(instruction: &str) -> Option<&'static str> {
    let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    if is_vector(instruction) {
        let sets_flags = ["vptest", "vtest", "kortest", "ktest", "vcomi", "vucomi"];
        let destination = operands.rsplit_once(',').map_or(operands, |(_, last)| last);
        let is_kept = destination.starts_with("%zmm")
            || destination.starts_with("%ymm")
            || destination.starts_with("%xmm")
            || destination.starts_with("%k")
            || destination.contains(')');
        return match () {
            () if sets_flags.iter().any(|flags| mnemonic.starts_with(flags)) => Some("the flags"),
            () if ["gather", "scatter"].iter().any(|way| mnemonic.contains(way)) => Some("an address"),
            () if !is_kept => Some("a general register"),
            () => None,
        };
    }
    let loads = mnemonic != "lea" && !instruction.contains("nop") && operands.contains('(');
    let address = operands
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(address, _)| address);
    match () {
        () if !loads || mnemonic == "call" || mnemonic == "jmp" => None,
        // Fields are read whole, and none is found by counting; an element of a table would be. What is read from the
        // stack is known by what was last stored there: `reads_a_part_of_a_vector`.
        () if address.contains(',') => Some("a general register, from a place that is counted"),
        () if address == "%rsp" => None,
        () if ["movz", "movs", "movb", "movw"].iter().any(|m| mnemonic.starts_with(m)) => {
            Some("a general register, in part")
        }
        () => None,
    }
}

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

/// Whether two instructions, one behind the other, make a mask that is the same each time.
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

pub(super) fn is_vector(instruction: &str) -> bool {
    ["%zmm", "%ymm", "%xmm", "%k"]
        .iter()
        .any(|register| instruction.contains(register))
}

/// How many bytes of memory an instruction reads or writes: what its register or its suffix says.
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

fn register_width(register: &str) -> i64 {
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

/// Where on the stack an instruction reads or writes.
pub(super) fn stack_offset(instruction: &str) -> Option<i64> {
    let (before, _) = instruction.split_once("(%rsp)")?;
    let offset = before.rsplit([' ', ',']).next().unwrap_or_default();
    match offset.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => offset.is_empty().then_some(0),
    }
}
