//! Products of blocks of eight limbs, in assembly.
//!
//! ```text
//! row         r[0..9] += digit * a[0..8]: the low halves of the products with one carry, the high ones with the other
//! block       eight rows: eight limbs of b, each one limb further up; the lowest register of each row goes to memory
//! mul_add     blocks from left to right: what a block leaves in registers is where the next one begins
//! reduce      the same; the digits of the first block are made as it goes, each so that the lowest register becomes zero
//! triangle    the products above the diagonal of a block
//! add_row     one row over blocks, in memory
//! ```
//!
//! A row takes 8 products, 17 additions and 3 more instructions. On Zen 4 a product with its two additions takes 1.40
//! cycles however it is scheduled (1.17 the product alone), and a row 12. The form is that of Ozturk, Guilford, Gopal
//! and Feghali ("New instructions supporting large integer arithmetic on Intel architecture processors", 2012).
//!
//! Straight lines and loops over lengths: no branch and no address depends on a limb.

use std::arch::naked_asm;

/// Limbs of a block.
pub(super) const BLOCK: usize = 8;

/// r0.. += rdx times the eight limbs at rsi; what goes beyond r7 is in `top`.
macro_rules! row {
    ($r0:literal $r1:literal $r2:literal $r3:literal $r4:literal $r5:literal $r6:literal $r7:literal $top:literal) => {
        concat!(
            // Both carries, too.
            "xor ", $top, ", ", $top, "\n",
            product!($r0 $r1 0), product!($r1 $r2 8), product!($r2 $r3 16), product!($r3 $r4 24),
            product!($r4 $r5 32), product!($r5 $r6 40), product!($r6 $r7 48), product!($r7 $top 56),
            "adc ", $top, ", 0\n",
        )
    };
}

/// The product of rdx and a limb, onto two registers.
macro_rules! product {
    ($low:literal $high:literal $at:literal) => {
        concat!(
            "mulx rbp, rax, [rsi + ",
            $at,
            "]\n",
            "adcx ",
            $low,
            ", rax\n",
            "adox ",
            $high,
            ", rbp\n",
        )
    };
}

/// Eight rows onto r8..r15, which end in rbx, r8..r14. Before each row `$digit` puts its digit into rdx, and after it
/// `$lowest` does what is to be done with the lowest register.
macro_rules! block {
    ($digit:ident, $lowest:ident) => {
        concat!(
            $digit!("r8" 0), row!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbx"), $lowest!("r8" 0),
            $digit!("r9" 8), row!("r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8"), $lowest!("r9" 8),
            $digit!("r10" 16), row!("r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8" "r9"), $lowest!("r10" 16),
            $digit!("r11" 24), row!("r11" "r12" "r13" "r14" "r15" "rbx" "r8" "r9" "r10"), $lowest!("r11" 24),
            $digit!("r12" 32), row!("r12" "r13" "r14" "r15" "rbx" "r8" "r9" "r10" "r11"), $lowest!("r12" 32),
            $digit!("r13" 40), row!("r13" "r14" "r15" "rbx" "r8" "r9" "r10" "r11" "r12"), $lowest!("r13" 40),
            $digit!("r14" 48), row!("r14" "r15" "rbx" "r8" "r9" "r10" "r11" "r12" "r13"), $lowest!("r14" 48),
            $digit!("r15" 56), row!("r15" "rbx" "r8" "r9" "r10" "r11" "r12" "r13" "r14"), $lowest!("r15" 56),
        )
    };
}

/// A digit of the factor at rcx.
macro_rules! factor {
    ($register:literal $at:literal) => {
        concat!("mov rdx, [rcx + ", $at, "]\n")
    };
}

/// The digit of the quotient that makes the lowest register zero. It replaces the limb of t, of which no more is
/// needed.
macro_rules! quotient {
    ($register:literal $at:literal) => {
        concat!(
            "mov rdx, ",
            $register,
            "\n",
            "imul rdx, [rsp + 16]\n",
            "mov [rdi + ",
            $at,
            "], rdx\n",
        )
    };
}

macro_rules! store {
    ($register:literal $at:literal) => {
        concat!("mov [rdi + ", $at, "], ", $register, "\n")
    };
}

macro_rules! forget {
    ($register:literal $at:literal) => {
        ""
    };
}

/// Keeps the registers that belong to the caller, and takes four words of the stack:
///
/// ```text
/// [rsp]       -1 if the last merge carried, else 0
/// [rsp + 8]   blocks that are left
/// [rsp + 16]  n0
/// [rsp + 24]  what is added at the place of the last block
/// ```
macro_rules! enter {
    ($blocks:literal, $n0:literal, $top:literal) => {
        concat!(
            "push rbx\n push rbp\n push r12\n push r13\n push r14\n push r15\n sub rsp, 32\n",
            "mov qword ptr [rsp], 0\n",
            "mov [rsp + 8], ",
            $blocks,
            "\n",
            "mov [rsp + 16], ",
            $n0,
            "\n",
            "mov [rsp + 24], ",
            $top,
            "\n",
            "mov r8, [rdi]\n mov r9, [rdi + 8]\n mov r10, [rdi + 16]\n mov r11, [rdi + 24]\n",
            "mov r12, [rdi + 32]\n mov r13, [rdi + 40]\n mov r14, [rdi + 48]\n mov r15, [rdi + 56]\n",
        )
    };
}

/// After a block: on to the next one, with what is in t there added, in r8..r15. The carry belongs one block above,
/// where the next merge takes it.
macro_rules! merge {
    () => {
        "add rdi, 64
        add rsi, 64
        mov rax, [rsp]
        add rax, 1
        adc rbx, [rdi]
        adc r8, [rdi + 8]
        adc r9, [rdi + 16]
        adc r10, [rdi + 24]
        adc r11, [rdi + 32]
        adc r12, [rdi + 40]
        adc r13, [rdi + 48]
        adc r14, [rdi + 56]
        sbb rax, rax
        mov [rsp], rax
        mov r15, r14
        mov r14, r13
        mov r13, r12
        mov r12, r11
        mov r11, r10
        mov r10, r9
        mov r9, r8
        mov r8, rbx
        dec qword ptr [rsp + 8]"
    };
}

/// The last block, which the merges have made, with what is added to it. Returns what is carried out of it.
macro_rules! leave {
    () => {
        "xor eax, eax
        add r8, [rsp + 24]
        adc r9, 0
        adc r10, 0
        adc r11, 0
        adc r12, 0
        adc r13, 0
        adc r14, 0
        adc r15, 0
        adc rax, 0
        mov [rdi], r8
        mov [rdi + 8], r9
        mov [rdi + 16], r10
        mov [rdi + 24], r11
        mov [rdi + 32], r12
        mov [rdi + 40], r13
        mov [rdi + 48], r14
        mov [rdi + 56], r15
        sub rax, [rsp]
        add rsp, 32
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbp
        pop rbx
        ret"
    };
}

/// t += a b + top 2^(512 blocks); returns what is carried out of t.
///
/// # Safety
/// The CPU has BMI2 and ADX. `a` can be read for so many blocks, at least one, and `t` read and written for one more;
/// they do not overlap.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul_add(
    t: *mut u64,
    a: *const u64,
    blocks: usize,
    b: &[u64; BLOCK],
    top: u64,
) -> u64 {
    naked_asm!(
        enter!("rdx", "rcx", "r8"),
        ".p2align 5",
        "2:",
        block!(factor, store),
        merge!(),
        "jnz 2b",
        leave!(),
    )
}

/// t += m n + top 2^(512 blocks) for the m of one block that makes the lowest block of t zero, which holds m instead;
/// returns what is carried out of t.
///
/// # Safety
/// As for [`mul_add`], of `n` in place of `a`.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn reduce(t: *mut u64, n: *const u64, blocks: usize, n0: u64, top: u64) -> u64 {
    naked_asm!(
        enter!("rdx", "rcx", "r8"),
        "mov rcx, rdi",
        block!(quotient, forget),
        merge!(),
        "jz 3f",
        ".p2align 5",
        "2:",
        block!(factor, store),
        merge!(),
        "jnz 2b",
        "3:",
        leave!(),
    )
}

/// The products of rdx and the limbs of a from `$at` on, onto registers, of which the last is `$top`.
macro_rules! triangle_row {
    ($digit:literal, $top:literal: $($low:literal $high:literal $at:literal),*) => {
        concat!(
            "mov rdx, [rsi + ", $digit, "]\n",
            "xor ", $top, ", ", $top, "\n",
            $("mulx rcx, rax, [rsi + ", $at, "]\n",
            "adcx ", $low, ", rax\n",
            "adox ", $high, ", rcx\n",)*
            "adc ", $top, ", 0\n",
        )
    };
}

/// t = the sum of a\[i\] a\[j\] 2^(64 (i + j)) for i < j. Limb k is in register (k - 1) mod 8 of r8..r15; each row
/// completes two.
///
/// # Safety
/// The CPU has BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn triangle(t: &mut [u64; 2 * BLOCK], a: &[u64; BLOCK]) {
    naked_asm!(
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rdx, [rsi]",
        "mulx r9, r8, [rsi + 8]",
        "mulx r10, rax, [rsi + 16]",
        "add r9, rax",
        "mulx r11, rax, [rsi + 24]",
        "adc r10, rax",
        "mulx r12, rax, [rsi + 32]",
        "adc r11, rax",
        "mulx r13, rax, [rsi + 40]",
        "adc r12, rax",
        "mulx r14, rax, [rsi + 48]",
        "adc r13, rax",
        "mulx r15, rax, [rsi + 56]",
        "adc r14, rax",
        "adc r15, 0",
        "mov qword ptr [rdi], 0",
        concat!(store!("r8" 8), store!("r9" 16)),
        triangle_row!(8, "r8": "r10" "r11" 16, "r11" "r12" 24, "r12" "r13" 32, "r13" "r14" 40, "r14" "r15" 48, "r15" "r8" 56),
        concat!(store!("r10" 24), store!("r11" 32)),
        triangle_row!(16, "r9": "r12" "r13" 24, "r13" "r14" 32, "r14" "r15" 40, "r15" "r8" 48, "r8" "r9" 56),
        concat!(store!("r12" 40), store!("r13" 48)),
        triangle_row!(24, "r10": "r14" "r15" 32, "r15" "r8" 40, "r8" "r9" 48, "r9" "r10" 56),
        concat!(store!("r14" 56), store!("r15" 64)),
        triangle_row!(32, "r11": "r8" "r9" 40, "r9" "r10" 48, "r10" "r11" 56),
        concat!(store!("r8" 72), store!("r9" 80)),
        triangle_row!(40, "r12": "r10" "r11" 48, "r11" "r12" 56),
        concat!(store!("r10" 88), store!("r11" 96)),
        triangle_row!(48, "r13": "r12" "r13" 56),
        concat!(store!("r12" 104), store!("r13" 112)),
        "mov qword ptr [rdi + 120], 0",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "ret",
    )
}

/// 2 t + the square of a limb, for two limbs of t, with one carry for the doubling and the other for the sum.
macro_rules! square {
    ($a:literal $t:literal $above:literal) => {
        concat!(
            "mov rdx, [rsi + ",
            $a,
            "]\n",
            "mulx r9, r8, rdx\n",
            "mov rax, [rdi + ",
            $t,
            "]\n",
            "mov r10, [rdi + ",
            $above,
            "]\n",
            "adcx rax, rax\n adox rax, r8\n adcx r10, r10\n adox r10, r9\n",
            "mov [rdi + ",
            $t,
            "], rax\n",
            "mov [rdi + ",
            $above,
            "], r10\n",
        )
    };
}

/// t = 2 t + the sum of a\[i\]^2 2^(128 i). Returns what is carried out of both: bit 0 is the doubling's, bit 8 the
/// sum's.
///
/// # Safety
/// The CPU has BMI2 and ADX. `a` can be read for so many blocks, at least one, and `t` read and written for twice as
/// many; they do not overlap.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn double_and_add_squares(t: *mut u64, a: *const u64, blocks: usize) -> u64 {
    naked_asm!(
        "mov rcx, rdx",
        "xor eax, eax",
        "2:",
        square!(0 0 8),
        square!(8 16 24),
        square!(16 32 40),
        square!(24 48 56),
        square!(32 64 72),
        square!(40 80 88),
        square!(48 96 104),
        square!(56 112 120),
        // Neither changes a flag.
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 128]",
        "lea rcx, [rcx - 1]",
        "jrcxz 3f",
        "jmp 2b",
        "3:",
        "setc al",
        "seto ah",
        "movzx eax, ax",
        "ret",
    )
}

/// One limb of t and of a, with the high half of the product before in `$before`.
macro_rules! row_limb {
    ($at:literal $before:literal $high:literal) => {
        concat!(
            "mulx ",
            $high,
            ", rax, [rsi + ",
            $at,
            "]\n",
            "adcx rax, [rdi + ",
            $at,
            "]\n adox rax, ",
            $before,
            "\n",
            "mov [rdi + ",
            $at,
            "], rax\n",
        )
    };
}

/// t += digit * a; returns the limb that is carried out of t.
///
/// # Safety
/// The CPU has BMI2 and ADX. `a` can be read for so many blocks, at least one, and `t` read and written for as many;
/// they do not overlap.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn add_row(t: *mut u64, a: *const u64, blocks: usize, digit: u64) -> u64 {
    naked_asm!(
        "xchg rcx, rdx",
        // Both carries, too.
        "xor r8d, r8d",
        "2:",
        row_limb!(0 "r8" "r9"),
        row_limb!(8 "r9" "r8"),
        row_limb!(16 "r8" "r9"),
        row_limb!(24 "r9" "r8"),
        row_limb!(32 "r8" "r9"),
        row_limb!(40 "r9" "r8"),
        row_limb!(48 "r8" "r9"),
        row_limb!(56 "r9" "r8"),
        // Neither changes a flag.
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 64]",
        "lea rcx, [rcx - 1]",
        "jrcxz 3f",
        "jmp 2b",
        "3:",
        "mov eax, 0",
        "adcx r8, rax",
        "adox rax, r8",
        "ret",
    )
}
