/* Modular powers by CGBN, measured by scripts/gpu.sh beside ours: numbers of half a modulus's length, with exponents as long, as a private operation by the
 * CRT has two of. Neither blinded nor checked, nor in constant time, which CGBN does not offer. scripts/make-cgbn-ptx.sh makes PTX of it. */
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
    context_t context(cgbn_no_checks);
    env_t env(context);
    typename env_t::cgbn_t x, exponent, modulus, result;
    cgbn_load(env, x, &all[which].x);
    cgbn_load(env, exponent, &all[which].exponent);
    cgbn_load(env, modulus, &all[which].modulus);
    cgbn_modular_power(env, result, x, exponent, modulus);
    cgbn_store(env, &all[which].result, result);
}

#define KERNEL(tpi, bits)                                                                                              \
    extern "C" __global__ void cgbn_##tpi##_##bits(instance<bits> *all, uint32_t count) {                              \
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
