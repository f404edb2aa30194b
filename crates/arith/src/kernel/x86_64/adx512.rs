//! Montgomery arithmetic on numbers of eight limbs, the primes of a key of 1024 bits, with `mulx` and two chains of
//! carries: a whole operation in one piece, its reduction in registers.
//!
//! ```text
//! mul     eight rows of products; the low limbs of t = a b stay on the stack, the high ones follow
//! sqr     the triangle above the diagonal, then 2 t + the squares: the low limbs in registers, the high ones on the stack
//! reduce  eight rows of quotients over the low limbs, the high ones added, less n if that carries
//! ```
//!
//! A squaring is 36 + 64 products and some 470 instructions, a multiplication 128 and 490. What [`super::adx`] does at
//! this length in three calls, with t in memory between them, takes some 660 and 690.
//!
//! Straight lines and a loop over a public count: no branch and no address depends on a limb.

use std::arch::naked_asm;

/// Limbs of a number.
pub(super) const LIMBS: usize = 8;

/// r0.. += rdx times the eight limbs at rsi; what goes beyond the eighth register is in `$top`.
macro_rules! row {
    ($r0:literal $r1:literal $r2:literal $r3:literal $r4:literal $r5:literal $r6:literal $r7:literal $top:literal) => {
        concat!(
            // Both carries, too.
            "xor ", $top, ", ", $top, "\n",
            product!($r0 $r1 "[rsi]"), product!($r1 $r2 "[rsi + 8]"), product!($r2 $r3 "[rsi + 16]"), product!($r3 $r4 "[rsi + 24]"),
            product!($r4 $r5 "[rsi + 32]"), product!($r5 $r6 "[rsi + 40]"), product!($r6 $r7 "[rsi + 48]"), product!($r7 $top "[rsi + 56]"),
            "adc ", $top, ", 0\n",
        )
    };
}

/// The product of rdx and a limb, onto two registers.
macro_rules! product {
    ($low:literal $high:literal $limb:literal) => {
        concat!(
            "mulx rbp, rax, ",
            $limb,
            "\n adcx ",
            $low,
            ", rax\n adox ",
            $high,
            ", rbp\n"
        )
    };
}

/// The row of the digit of the quotient that makes `$r0` zero, of which no more is needed.
macro_rules! quotient_row {
    ($r0:literal $($r:literal)*) => {
        concat!("mov rdx, ", $r0, "\n imul rdx, rcx\n", row!($r0 $($r)*))
    };
}

/// The row of a digit of the factor at rcx, whose lowest limb goes to the stack.
macro_rules! factor_row {
    ($at:literal: $r0:literal $($r:literal)*) => {
        concat!("mov rdx, [rcx + ", $at, "]\n", row!($r0 $($r)*), "mov [rsp + ", $at, "], ", $r0, "\n")
    };
}

/// The registers of the caller, and on the stack: t at rsp, n0 at rsp + 128, the count of squarings at rsp + 136.
macro_rules! enter {
    () => {
        "push rbx
        push rbp
        push r12
        push r13
        push r14
        push r15
        sub rsp, 144"
    };
}

macro_rules! leave {
    () => {
        "add rsp, 144
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbp
        pop rbx
        ret"
    };
}

/// One limb of the result, less that of n unless ZF is set; `adcx` leaves ZF alone.
macro_rules! subtract {
    ($register:literal $at:literal) => {
        concat!(
            "mov rcx, [rsi + ",
            $at,
            "]\n not rcx\n cmovz rcx, rdx\n adcx ",
            $register,
            ", rcx\n",
            "mov [rdi + ",
            $at,
            "], ",
            $register,
            "\n",
        )
    };
}

/// The number at rdi = (t + m n) / R, less n at rsi if that carries. The low half of t is in r8..r15, the high half at
/// rsp + 64.
macro_rules! reduce {
    () => {
        concat!(
            "mov rcx, [rsp + 128]\n",
            quotient_row!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbx"),
            quotient_row!("r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8"),
            quotient_row!("r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8" "r9"),
            quotient_row!("r11" "r12" "r13" "r14" "r15" "rbx" "r8" "r9" "r10"),
            quotient_row!("r12" "r13" "r14" "r15" "rbx" "r8" "r9" "r10" "r11"),
            quotient_row!("r13" "r14" "r15" "rbx" "r8" "r9" "r10" "r11" "r12"),
            quotient_row!("r14" "r15" "rbx" "r8" "r9" "r10" "r11" "r12" "r13"),
            quotient_row!("r15" "rbx" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
            "add rbx, [rsp + 64]\n adc r8, [rsp + 72]\n adc r9, [rsp + 80]\n adc r10, [rsp + 88]\n",
            "adc r11, [rsp + 96]\n adc r12, [rsp + 104]\n adc r13, [rsp + 112]\n adc r14, [rsp + 120]\n",
            // CF and no ZF if that carried, ZF and no CF if not: -n is the complement and one more.
            "sbb rax, rax\n mov edx, 0\n neg rax\n",
            subtract!("rbx" 0), subtract!("r8" 8), subtract!("r9" 16), subtract!("r10" 24),
            subtract!("r11" 32), subtract!("r12" 40), subtract!("r13" 48), subtract!("r14" 56),
        )
    };
}

/// a = a b / R mod n, below R, for any a, b below R = 2^512 and n0 = -1 / n mod 2^64.
///
/// # Safety
/// The CPU has BMI2 and ADX. `a` does not overlap the others.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(a: &mut [u64; LIMBS], b: &[u64; LIMBS], n: &[u64; LIMBS], n0: u64) {
    naked_asm!(
        enter!(),
        "mov [rsp + 128], rcx",
        "mov [rsp + 136], rdx",
        "mov rcx, rsi",
        "mov rsi, rdi",
        "mov rdx, [rcx]",
        "mulx r9, r8, [rsi]",
        "mulx r10, rax, [rsi + 8]",
        "add r9, rax",
        "mulx r11, rax, [rsi + 16]",
        "adc r10, rax",
        "mulx r12, rax, [rsi + 24]",
        "adc r11, rax",
        "mulx r13, rax, [rsi + 32]",
        "adc r12, rax",
        "mulx r14, rax, [rsi + 40]",
        "adc r13, rax",
        "mulx r15, rax, [rsi + 48]",
        "adc r14, rax",
        "mulx rbx, rax, [rsi + 56]",
        "adc r15, rax",
        "adc rbx, 0",
        "mov [rsp], r8",
        concat!(
            factor_row!(8: "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8"),
            factor_row!(16: "r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8" "r9"),
            factor_row!(24: "r11" "r12" "r13" "r14" "r15" "rbx" "r8" "r9" "r10"),
            factor_row!(32: "r12" "r13" "r14" "r15" "rbx" "r8" "r9" "r10" "r11"),
            factor_row!(40: "r13" "r14" "r15" "rbx" "r8" "r9" "r10" "r11" "r12"),
            factor_row!(48: "r14" "r15" "rbx" "r8" "r9" "r10" "r11" "r12" "r13"),
            factor_row!(56: "r15" "rbx" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        ),
        "mov [rsp + 64], rbx",
        "mov [rsp + 72], r8",
        "mov [rsp + 80], r9",
        "mov [rsp + 88], r10",
        "mov [rsp + 96], r11",
        "mov [rsp + 104], r12",
        "mov [rsp + 112], r13",
        "mov [rsp + 120], r14",
        "mov r8, [rsp]",
        "mov r9, [rsp + 8]",
        "mov r10, [rsp + 16]",
        "mov r11, [rsp + 24]",
        "mov r12, [rsp + 32]",
        "mov r13, [rsp + 40]",
        "mov r14, [rsp + 48]",
        "mov r15, [rsp + 56]",
        "mov rsi, [rsp + 136]",
        reduce!(),
        leave!(),
    )
}

/// The products of one limb of a and those above it, onto registers, of which the last is `$top`; the two lowest are
/// complete, and go to the stack.
macro_rules! triangle_row {
    ($digit:literal, $top:literal, $first:literal $second:literal $at:literal $at_second:literal: $($low:literal $high:literal $limb:literal),*) => {
        concat!(
            "mov rdx, [rdi + ", $digit, "]\n xor ", $top, ", ", $top, "\n",
            $(product!($low $high $limb),)*
            "adc ", $top, ", 0\n",
            "mov [rsp + ", $at, "], ", $first, "\n mov [rsp + ", $at_second, "], ", $second, "\n",
        )
    };
}

/// 2 t + the square of a limb, for two limbs of t, with one carry for the doubling and the other for the sum.
macro_rules! square {
    ($a:literal $t:literal $above:literal: $low:literal $high:literal) => {
        concat!(
            "mov rdx, [rdi + ", $a, "]\n mulx rbp, rbx, rdx\n",
            "mov ", $low, ", [rsp + ", $t, "]\n mov ", $high, ", [rsp + ", $above, "]\n",
            "adcx ", $low, ", ", $low, "\n adox ", $low, ", rbx\n",
            "adcx ", $high, ", ", $high, "\n adox ", $high, ", rbp\n",
        )
    };
    ($a:literal $t:literal $above:literal) => {
        concat!(square!($a $t $above: "rax" "rcx"), "mov [rsp + ", $t, "], rax\n mov [rsp + ", $above, "], rcx\n")
    };
}

/// a = a^2 / R mod n, below R, so many times, at least once; for any a below R = 2^512 and n0 = -1 / n mod 2^64.
///
/// # Safety
/// The CPU has BMI2 and ADX. `a` and `n` do not overlap.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sqr(a: &mut [u64; LIMBS], n: &[u64; LIMBS], n0: u64, times: usize) {
    naked_asm!(
        enter!(),
        "mov [rsp + 128], rdx",
        "mov [rsp + 136], rcx",
        ".p2align 5",
        "2:",
        // Limb k is in register (k - 1) mod 8 of r8..r15; each row completes two.
        "mov rdx, [rdi]",
        "mulx r9, r8, [rdi + 8]",
        "mulx r10, rax, [rdi + 16]",
        "add r9, rax",
        "mulx r11, rax, [rdi + 24]",
        "adc r10, rax",
        "mulx r12, rax, [rdi + 32]",
        "adc r11, rax",
        "mulx r13, rax, [rdi + 40]",
        "adc r12, rax",
        "mulx r14, rax, [rdi + 48]",
        "adc r13, rax",
        "mulx r15, rax, [rdi + 56]",
        "adc r14, rax",
        "adc r15, 0",
        "mov [rsp + 8], r8",
        "mov [rsp + 16], r9",
        concat!(
            triangle_row!(8, "r8", "r10" "r11" 24 32: "r10" "r11" "[rdi + 16]", "r11" "r12" "[rdi + 24]", "r12" "r13" "[rdi + 32]",
                "r13" "r14" "[rdi + 40]", "r14" "r15" "[rdi + 48]", "r15" "r8" "[rdi + 56]"),
            triangle_row!(16, "r9", "r12" "r13" 40 48: "r12" "r13" "[rdi + 24]", "r13" "r14" "[rdi + 32]", "r14" "r15" "[rdi + 40]",
                "r15" "r8" "[rdi + 48]", "r8" "r9" "[rdi + 56]"),
            triangle_row!(24, "r10", "r14" "r15" 56 64: "r14" "r15" "[rdi + 32]", "r15" "r8" "[rdi + 40]", "r8" "r9" "[rdi + 48]",
                "r9" "r10" "[rdi + 56]"),
            triangle_row!(32, "r11", "r8" "r9" 72 80: "r8" "r9" "[rdi + 40]", "r9" "r10" "[rdi + 48]", "r10" "r11" "[rdi + 56]"),
            triangle_row!(40, "r12", "r10" "r11" 88 96: "r10" "r11" "[rdi + 48]", "r11" "r12" "[rdi + 56]"),
            triangle_row!(48, "r13", "r12" "r13" 104 112: "r12" "r13" "[rdi + 56]"),
        ),
        "mov qword ptr [rsp], 0",
        "mov qword ptr [rsp + 120], 0",
        "xor eax, eax",
        concat!(
            square!(0 0 8: "r8" "r9"),
            square!(8 16 24: "r10" "r11"),
            square!(16 32 40: "r12" "r13"),
            square!(24 48 56: "r14" "r15"),
            square!(32 64 72),
            square!(40 80 88),
            square!(48 96 104),
            square!(56 112 120),
        ),
        reduce!(),
        "dec qword ptr [rsp + 136]",
        "jnz 2b",
        leave!(),
    )
}
