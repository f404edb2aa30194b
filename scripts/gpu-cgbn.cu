/* Modular powers by CGBN, measured by scripts/gpu.sh beside ours: numbers of half a modulus's length, with exponents
 * as long, as a private operation by the CRT has two of. Neither blinded nor checked, nor in constant time, which CGBN
 * does not offer. scripts/make-cgbn-ptx.sh makes PTX of it.
 *
 * CGBN's own cgbn_modular_power takes even moduli too: bit by bit, with Barrett's reduction. For odd moduli CGBN has
 * Montgomery products, which with a fixed window of five bits take fewer instructions, and so do these kernels
 * (Handbook of Applied Cryptography, 14.82):
 *
 *     table[i] = x^i for i < 32;  r = table[top window];  for each window below:  r = r^32 * table[window]
 */
#include <gmp.h>
#include <cgbn/cgbn.h>
#include <cstdint>

/* The same layout and the same kernels are in crates/gpu/examples/gpu_report/cgbn.rs. */
template <uint32_t bits> struct instance {
    cgbn_mem_t<bits> x, exponent, modulus, result;
};

template <uint32_t tpi, uint32_t bits> __device__ void powers(instance<bits> *all, uint32_t count) {
    const uint32_t which = (blockIdx.x * blockDim.x + threadIdx.x) / tpi;
    if (which >= count) return;
    typedef cgbn_context_t<tpi> context_t;
    typedef cgbn_env_t<context_t, bits> env_t;
    const uint32_t window = 5;
    context_t context(cgbn_no_checks);
    env_t env(context);
    typename env_t::cgbn_t x, exponent, modulus, power;
    typename env_t::cgbn_local_t table[1 << window];
    cgbn_load(env, x, &all[which].x);
    cgbn_load(env, exponent, &all[which].exponent);
    cgbn_load(env, modulus, &all[which].modulus);

    cgbn_set_ui32(env, power, 1);
    cgbn_bn2mont(env, power, power, modulus);
    cgbn_store(env, &table[0], power);
    const uint32_t np0 = cgbn_bn2mont(env, x, x, modulus);
    cgbn_set(env, power, x);
    cgbn_store(env, &table[1], power);
#pragma nounroll
    for (uint32_t i = 2; i < 1u << window; i++) {
        cgbn_mont_mul(env, power, power, x, modulus, np0);
        cgbn_store(env, &table[i], power);
    }

    /* The top window has the bits that are left when those below it are whole. */
    uint32_t position = (bits - 1) / window * window;
    cgbn_load(env, power, &table[cgbn_extract_bits_ui32(env, exponent, position, bits - position)]);
#pragma nounroll
    while (position > 0) {
        position -= window;
#pragma nounroll
        for (uint32_t i = 0; i < window; i++) cgbn_mont_sqr(env, power, power, modulus, np0);
        cgbn_load(env, x, &table[cgbn_extract_bits_ui32(env, exponent, position, window)]);
        cgbn_mont_mul(env, power, power, x, modulus, np0);
    }
    cgbn_mont2bn(env, power, power, modulus, np0);
    cgbn_store(env, &all[which].result, power);
}

#define KERNEL(tpi, bits)                                                                                              \
    extern "C" __global__ void cgbn_window_##tpi##_##bits(instance<bits> *all, uint32_t count) {                       \
        powers<tpi, bits>(all, count);                                                                                 \
    }

KERNEL(4, 512)
KERNEL(8, 512)
KERNEL(8, 1024)
KERNEL(16, 1024)
KERNEL(8, 1536)
KERNEL(16, 1536)
KERNEL(16, 2048)
KERNEL(32, 2048)
