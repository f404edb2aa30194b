//! The model of this CPU that a fat build of GMP gets to know.
//!
//! GMP 6.3 takes its code by the CPU's model, from a list that ends in 2020, and takes models that it does not know for
//! plain x86-64: Intel's from Ice Lake on, AMD's from Zen 5 on. Of Broadwell and Skylake it asks for `mulx` (BMI2) in
//! the wrong leaf of CPUID, finds none, and takes the code of Sandy Bridge (`mpn/x86_64/fat/fat.c`). The linker puts
//! this function in the place of the one that GMP asks (`--wrap`): where `config.site` chooses Skylake's code for a
//! build for one CPU, it says that this is a Skylake.

use std::{
    arch::is_x86_feature_detected,
    ffi::{c_char, c_int, c_long},
    ptr, slice,
};

unsafe extern "C" {
    /// GMP's own function. It writes EBX, EDX and ECX of a leaf of CPUID to 12 bytes, and returns EAX.
    fn __real___gmpn_cpuid(registers: *mut c_char, leaf: c_int) -> c_long;
}

const VENDOR: &[u8; 12] = b"GenuineIntel";
/// Family 6, model 0x5E.
const SKYLAKE: c_long = 0x5_06E3;
/// The leaf in which GMP looks for BMI2, which is bit 8 of EBX in leaf 7.
const EXTENDED: c_int = 0x8000_0001_u32.cast_signed();
const BMI2: u8 = 1;

/// Returns whether GMP gets to know this CPU as a Skylake.
pub(crate) fn passes_for_skylake() -> bool {
    let has_the_code = is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx");
    has_the_code && (is_intel() || is_x86_feature_detected!("avx512f"))
}

fn is_intel() -> bool {
    let mut registers = [0; VENDOR.len()];
    // SAFETY: there is room for 12 bytes, and every CPU has leaf 0.
    unsafe { __real___gmpn_cpuid(registers.as_mut_ptr(), 0) };
    registers.map(|byte| byte.cast_unsigned()) == *VENDOR
}

/// GMP calls this in the place of its own function.
///
/// # Safety
///
/// There is room for 12 bytes at `registers`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap___gmpn_cpuid(registers: *mut c_char, leaf: c_int) -> c_long {
    // SAFETY: the caller's promise.
    let eax = unsafe { __real___gmpn_cpuid(registers, leaf) };
    if !passes_for_skylake() {
        return eax;
    }
    match leaf {
        0 => {
            // SAFETY: as above.
            unsafe { ptr::copy_nonoverlapping(VENDOR.as_ptr(), registers.cast(), VENDOR.len()) };
            eax
        }
        1 => SKYLAKE,
        EXTENDED => {
            // SAFETY: as above; GMP's function has written all 12 bytes.
            let bytes = unsafe { slice::from_raw_parts_mut(registers.cast::<u8>(), VENDOR.len()) };
            bytes[1] |= BMI2;
            eax
        }
        _ => eax,
    }
}
