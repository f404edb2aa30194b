//! The kernels there are, a row each, the preferred one first. Everything that must know all of them is made from these
//! rows: names, detection, proof tokens and dispatch (`dispatch.rs`); the choice by batch (`choice.rs`); tests of
//! agreement, of time and of machine code; what valgrind follows (`tracking`); and, by way of [`crate::kernels`],
//! conformance, what CI forces, and the table that `rsalab engines` prints. `tests/machine_code/` reads this file, too.
//!
//! | column | meaning |
//! |---|---|
//! | the name | operation-digits-lanes-ISA |
//! | `runs` | the kernel's type |
//! | `of_one_modulus` | its type where one item has one modulus: two lanes that are the halves of one private operation become one |
//! | `sieve` | the form of lanes that candidates are sieved on, and its token made of the kernel's |
//! | `proof` | the token, and how a CPU is asked for it |
//! | `needs` | what a machine without lacks |
//! | `times` | the column of `choice/*.csv` that it is chosen by; none if it is for tests |
//! | `tracked_as` | the kernel that valgrind runs in its place, or itself |
//! | `limbs` | numbers whose agreement is tested, of so many limbs: each length that has code of its own, and those around |
//! | `code` | functions, the instruction that multiplies in them, and its registers; at least how many functions, and more than how many instructions; how they are read for digits that show (`tests/machine_code/`) |

/// Does `$then` with its own arguments in braces, and then the rows.
macro_rules! for_each_kernel {
    ($($then:tt)::+, $($arguments:tt)*) => {
        $($then)::+! {
            { $($arguments)* }

            #[cfg(target_arch = "x86_64")]
            mont52x8_ifma512:
                dispatch {
                    runs: Mont52x8<Zmm>, of_one_modulus: Mont52x8<Zmm>,
                    sieve: Zmm = identity, proof: HaveIfma = HaveIfma::check(),
                }
                says {
                    needs: "an x86-64 CPU and an operating system with AVX-512 F, VL, DQ, BW and IFMA",
                    times: Some("mont52x8_ifma512"), tracked_as: "mont52x8_portable",
                }
                tests {
                    limbs: crate::kernel::mont52x8::tests::LIMBS,
                    code: [
                        ("run_ifma512", "vpmadd52luq", "%zmm", [3, 1000], IN_VECTORS),
                        ("ifma_blocks::code::", "vpmadd52luq", "%zmm", [22, 1000], BLOCKS),
                    ],
                };

            #[cfg(target_arch = "x86_64")]
            mont52x2_ifma:
                dispatch {
                    runs: Mont52x2<TwoQuads, 2>, of_one_modulus: Mont52x2<OneQuad, 1>,
                    sieve: Zmm = identity, proof: HaveIfma = HaveIfma::check(),
                }
                says {
                    needs: "an x86-64 CPU and an operating system with AVX-512 F, VL, DQ, BW and IFMA",
                    times: Some("mont52x2_ifma"), tracked_as: "mont52x2_portable",
                }
                tests {
                    limbs: crate::kernel::mont52x2::tests::LIMBS,
                    code: [
                        ("run_one_quad", "vpmadd52luq", "%ymm", [3, 1000], CARRIES),
                        ("run_one_of_two", "vpmadd52luq", "%ymm", [2, 500], CARRIES),
                        ("run_two_quads", "vpmadd52luq", "%zmm", [3, 1000], CARRIES),
                        ("ifma_rows::LENGTHS::code", "vpmadd52luq", "%zmm", [36, 10000], ROWS),
                    ],
                };

            #[cfg(target_arch = "x86_64")]
            mont47x8_avx512f:
                dispatch {
                    runs: Mont47<ZmmDoubles, 8, 8>, of_one_modulus: Mont47<ZmmDoubles, 8, 8>,
                    sieve: YmmWords = HaveAvx512F::avx2fma, proof: HaveAvx512F = HaveAvx512F::check(),
                }
                says {
                    needs: "an x86-64 CPU and an operating system with AVX-512 F",
                    times: Some("mont47x8_avx512f"), tracked_as: "mont47x4_avx2fma",
                }
                tests {
                    limbs: crate::kernel::mont47::tests::LIMBS,
                    code: [("run_avx512f", "vfmadd", "%zmm", [3, 1000], IN_VECTORS)],
                };

            #[cfg(target_arch = "x86_64")]
            mont47x4_avx2fma:
                dispatch {
                    runs: Mont47<Ymm, 4, 6>, of_one_modulus: Mont47<Ymm, 4, 6>,
                    sieve: YmmWords = identity, proof: HaveAvx2Fma = HaveAvx2Fma::check(),
                }
                says {
                    needs: "an x86-64 CPU and an operating system with AVX2 and FMA",
                    times: Some("mont47x4_avx2fma"), tracked_as: "mont47x4_avx2fma",
                }
                tests {
                    limbs: crate::kernel::mont47::tests::LIMBS,
                    code: [("run_avx2fma", "vfmadd", "%ymm", [3, 1000], IN_VECTORS)],
                };

            #[cfg(target_arch = "x86_64")]
            mont47x2_avx2fma:
                dispatch {
                    runs: Mont47x2<Ymm, 2>, of_one_modulus: Mont47x2<Ymm, 1>,
                    sieve: YmmWords = identity, proof: HaveAvx2Fma = HaveAvx2Fma::check(),
                }
                says {
                    needs: "an x86-64 CPU and an operating system with AVX2 and FMA",
                    times: Some("mont47x2_avx2fma"), tracked_as: "mont47x2_avx2fma",
                }
                tests {
                    limbs: crate::kernel::mont47x2::tests::LIMBS,
                    code: [("avx2_tiles::code::code", "vfmadd", "%ymm", [80, 5000], TILES)],
                };

            #[cfg(target_arch = "aarch64")]
            mont47x4_neon:
                dispatch {
                    runs: Mont47<Neon, 4, 6>, of_one_modulus: Mont47<Neon, 4, 6>,
                    sieve: lanes::Portable = none, proof: () = Some(()),
                }
                // Not measured: the same algorithm in two registers of half the length.
                says { needs: "an AArch64 CPU", times: Some("mont47x4_avx2fma"), tracked_as: "mont47x4_portable", }
                // The compiler's alone: no test reads machine code of AArch64.
                tests { limbs: crate::kernel::mont47::tests::LIMBS, code: [], };

            #[cfg(target_arch = "x86_64")]
            mont64x1_adx:
                dispatch {
                    runs: Mont64x1<HaveAdx>, of_one_modulus: Mont64x1<HaveAdx>,
                    sieve: lanes::Portable = none, proof: HaveAdx = HaveAdx::check(),
                }
                says {
                    needs: "an x86-64 CPU and an operating system with BMI2 and ADX",
                    times: Some("mont64x1_adx"), tracked_as: "mont64x1_adx",
                }
                tests {
                    limbs: crate::kernel::mont64x1::tests::LIMBS,
                    code: [("adx_blocks::", "mulx", "%r", [5, 200], LIMBS), ("adx512::", "mulx", "%r", [2, 200], LIMBS)],
                };

            mont64x1_portable:
                dispatch {
                    runs: Mont64x1<Portable>, of_one_modulus: Mont64x1<Portable>,
                    sieve: lanes::Portable = none, proof: Portable = Some(Portable),
                }
                says { needs: "nothing", times: Some("mont64x1_portable"), tracked_as: "mont64x1_portable", }
                tests { limbs: crate::kernel::mont64x1::tests::LIMBS, code: [], };

            mont52x8_portable:
                dispatch {
                    runs: Mont52x8<lanes::Portable>, of_one_modulus: Mont52x8<lanes::Portable>,
                    sieve: lanes::Portable = none, proof: () = Some(()),
                }
                says { needs: "nothing", times: None, tracked_as: "mont52x8_portable", }
                tests { limbs: crate::kernel::mont52x8::tests::LIMBS, code: [], };

            mont52x2_portable:
                dispatch {
                    runs: Mont52x2<quad::Portable<2>, 2>, of_one_modulus: Mont52x2<quad::Portable<1>, 1>,
                    sieve: lanes::Portable = none, proof: () = Some(()),
                }
                says { needs: "nothing", times: None, tracked_as: "mont52x2_portable", }
                tests { limbs: crate::kernel::mont52x2::tests::LIMBS, code: [], };

            mont47x4_portable:
                dispatch {
                    runs: Mont47<doubles::Portable<4>, 4, 6>, of_one_modulus: Mont47<doubles::Portable<4>, 4, 6>,
                    sieve: lanes::Portable = none, proof: () = Some(()),
                }
                says { needs: "nothing", times: None, tracked_as: "mont47x4_portable", }
                tests { limbs: crate::kernel::mont47::tests::LIMBS, code: [], };

            mont47x2_portable:
                dispatch {
                    runs: Mont47x2<doubles::Portable<4>, 2>, of_one_modulus: Mont47x2<doubles::Portable<4>, 1>,
                    sieve: lanes::Portable = none, proof: () = Some(()),
                }
                says { needs: "nothing", times: None, tracked_as: "mont47x2_portable", }
                tests { limbs: crate::kernel::mont47x2::tests::LIMBS, code: [], };
        }
    };
}

pub(crate) use for_each_kernel;
