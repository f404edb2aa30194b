//! Planted leaks, and code that shows nothing.

use super::{CARRIES, IN_VECTORS, LIMBS, ROWS, TILES, straight};

const ADDRESS: Option<&str> = Some("an address");
const MASK: Option<&str> = Some("a mask over memory");
const BRANCH: Option<&str> = Some("a branch");
const GENERAL: Option<&str> = Some("a general register, or the flags");

/// Instructions one after the other, and how the last one shows a digit.
#[test]
fn a_shown_digit_is_seen() {
    for (reading, instructions, how) in [
        // A planted load from an address that a digit makes, straight, computed, and by way of the stack.
        (LIMBS, "mov (%rdx),%rax; mov (%rcx,%rax,8),%rbx", ADDRESS),
        (
            LIMBS,
            "mov (%rdx),%rax; and $0x1f,%eax; shl $0x6,%rax; lea (%rcx,%rax,1),%rdi; vmovdqu64 (%rdi),%zmm0",
            ADDRESS,
        ),
        (
            LIMBS,
            "mov (%rdx),%rax; mov %rax,0x8(%rsp); mov 0x8(%rsp),%rdi; mulx (%rdi),%rax,%rbp",
            ADDRESS,
        ),
        (
            LIMBS,
            "mov (%rdx),%rax; push %rax; sub $0x10,%rsp; mov 0x10(%rsp),%rcx; mov %rdx,(%rcx)",
            ADDRESS,
        ),
        (CARRIES, "vmovq %xmm1,%rax; vpaddq (%rcx,%rax,8),%zmm1,%zmm1", ADDRESS),
        (CARRIES, "movzbl (%rdi),%eax; vmovdqu64 (%rcx,%rax,1),%zmm1", ADDRESS),
        (CARRIES, "mov (%rdi,%rcx,8),%rax; mov (%rax),%rdx", ADDRESS),
        (
            CARRIES,
            "vmovupd %zmm1,0x0(%rsp); mov 0x38(%rsp),%rax; mov (%rax),%rdx",
            ADDRESS,
        ),
        (ROWS, "vpgatherqq (%rax,%zmm1,8),%zmm2{%k1}", ADDRESS),
        // A planted load under a mask that digits make, straight and computed.
        (ROWS, "vpcmpeqq %zmm1,%zmm2,%k1; vpaddq (%rsi),%zmm1,%zmm1{%k1}", MASK),
        (
            ROWS,
            "vpcmpnleuq %zmm1,%zmm2,%k6; kaddq %k6,%k6,%k6; kxorq %k7,%k6,%k6; vmovdqu64 %zmm1,(%rdi){%k6}",
            MASK,
        ),
        (ROWS, "vmovdqu64 (%rdi),%zmm1{%k1}", MASK),
        (
            CARRIES,
            "vmovq %xmm1,%rax; kmovb %eax,%k1; vporq (%rdx),%zmm3,%zmm3{%k1}",
            MASK,
        ),
        (ROWS, "vpmaskmovq (%rax),%ymm1,%ymm2", MASK),
        // Branches, jumps, divisions, shifts.
        (LIMBS, "mov (%rdx),%rax; test %rax,%rax; je 9 <f>", BRANCH),
        (LIMBS, "mov (%rdx),%rax; add %rax,%rbx; dec %rcx; jb 9 <f>", BRANCH),
        (CARRIES, "kortestb %k1,%k1; je 9 <f>", BRANCH),
        (
            LIMBS,
            "mov (%rdx),%rax; adcx %rax,%rbx; sbb %rcx,%rcx; mov (%rsi,%rcx,8),%rdx",
            ADDRESS,
        ),
        (LIMBS, "mov (%rdx),%rax; jmp *%rax", Some("a jump's target")),
        (LIMBS, "mov (%rdx),%rcx; jrcxz 9 <f>", BRANCH),
        (
            LIMBS,
            "mov (%rdx),%rax; add %rax,%rbx; lea 0x1(%rcx),%rcx; jrcxz 9 <f>",
            None,
        ),
        (CARRIES, "movslq (%rcx,%rax,4),%rdx; add %rcx,%rdx; jmp *%rdx", None),
        (LIMBS, "mov (%rdx),%rax; div %rcx", Some("a division's time")),
        (LIMBS, "mov (%rdx),%rcx; shl %cl,%rax", Some("a shift's time")),
        (
            CARRIES,
            "movzbl (%rdi),%ecx; and $0x3f,%ecx; shl %cl,%r8",
            Some("a shift's time"),
        ),
        // A digit in a general register, where none is to be.
        (IN_VECTORS, "kmovb %k1,%eax", GENERAL),
        (IN_VECTORS, "vptest %ymm1,%ymm1", GENERAL),
        (IN_VECTORS, "vpextrq $0x1,%xmm1,%rax", GENERAL),
        (IN_VECTORS, "mov (%rax,%rcx,8),%rdx", GENERAL),
        (IN_VECTORS, "movzbl 0x3(%rsi),%eax", GENERAL),
        (IN_VECTORS, "vmovupd %ymm1,0x0(%rsp); movzbl 0x1f(%rsp),%eax", GENERAL),
        (ROWS, "mov 0x18(%rdi),%rcx", GENERAL),
        (TILES, "mov 0x18(%rax),%rcx", GENERAL),
        // What shows none.
        (LIMBS, "mov (%rdx),%rax; shl $0x5,%rax; shl %cl,%rax", None),
        (LIMBS, "mov (%rdx),%rax; xor %eax,%eax; mov (%rcx,%rax,8),%rbx", None),
        (LIMBS, "mov (%rdx),%rax; add %rax,%rbx; dec %rcx; jne 9 <f>", None),
        (
            LIMBS,
            "mov %rsi,0x8(%rsp); mov (%rdx),%rax; mov %rax,(%rsp); mov 0x8(%rsp),%rsi; mov (%rsi),%rdx",
            None,
        ),
        (
            LIMBS,
            "push %rsi; push %rdi; mov (%rdx),%rax; pop %rdi; pop %rsi; mov (%rsi),%rax",
            None,
        ),
        (
            LIMBS,
            "mov (%rdx),%rax; cmove %rax,%rcx; mulx (%rsi),%rax,%rbp; adcx %rax,%r8; adox %rbp,%r9",
            None,
        ),
        (
            ROWS,
            "mov $0xfe,%eax; kmovb %eax,%k1; vpmadd52luq (%r8),%zmm1,%zmm2{%k1}",
            None,
        ),
        (
            ROWS,
            "vpcmpeqq %zmm1,%zmm2,%k1; vpsubq %zmm1,%zmm2,%zmm2{%k1}; sub $0x1,%rcx; jne 9 <f>",
            None,
        ),
        (
            TILES,
            "mov 0x18(%rsi),%rcx; add 0x8(%rdi),%rcx; vbroadcastf128 (%rcx),%ymm12",
            None,
        ),
        (
            IN_VECTORS,
            "mov 0x18(%rdi),%rcx; vpmadd52luq (%rcx,%rax,8),%zmm1,%zmm2",
            None,
        ),
        (
            IN_VECTORS,
            "data16 cs nopw 0x0(%rax,%rax,1); vmovdqu64 %zmm1,0x40(%rsp)",
            None,
        ),
        (IN_VECTORS, "vmovupd %ymm1,0x0(%rsp); mov 0x38(%rsp),%rax", None),
        (
            IN_VECTORS,
            "vmovupd %ymm1,0x0(%rsp); mov %rcx,0x8(%rsp); mov 0x8(%rsp),%rcx",
            None,
        ),
        // Room that is made by adding, and taken back from a frame.
        (
            IN_VECTORS,
            "push %rbx; add $0xffffffffffffff80,%rsp; vmovupd %ymm1,0x60(%rsp); sub $0xffffffffffffff80,%rsp; pop %rbx",
            None,
        ),
        (
            IN_VECTORS,
            "push %rbx; and $0xffffffffffffffc0,%rsp; vmovupd %ymm1,(%rsp); lea -0x8(%rbp),%rsp; pop %rbx",
            None,
        ),
    ] {
        let function = straight(&instructions.split("; ").collect::<Vec<_>>());
        let shown = function.shows_a_digit(reading).map(|(_, how)| how);
        assert_eq!(shown, how, "{instructions}");
    }
    // Twice around: what is a pointer at first is a digit the second time.
    let around = straight(&["vmovdqu64 (%rdi),%zmm1", "mov (%rsi),%rdi", "dec %rcx", "jne 0 <f>"]);
    assert_eq!(around.shows_a_digit(LIMBS).map(|(_, how)| how), ADDRESS);
}
