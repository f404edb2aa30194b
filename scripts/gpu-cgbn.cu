/* Modular powers by CGBN, for scripts/gpu.sh: as many as a private operation by the CRT has, two of half the modulus's length, with exponents
 * as long. Neither blinded nor checked, nor in constant time, which CGBN does not offer. One JSON object a line. */
#include <gmp.h>
#include <cgbn/cgbn.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <uint32_t bits> struct instance {
    cgbn_mem_t<bits> x, exponent, modulus, result;
};

template <uint32_t tpi, uint32_t bits> __global__ void powers(instance<bits> *all, uint32_t count) {
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

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cudaError_t error = (call);                                                                              \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "gpu-cgbn: %s: %s\n", #call, cudaGetErrorString(error));                                   \
            exit(6);                                                                                                   \
        }                                                                                                              \
    } while (0)

template <uint32_t tpi, uint32_t bits> static void measure(uint32_t operations, double seconds) {
    const uint32_t count = 2 * operations, threads = 128, blocks = (count * tpi + threads - 1) / threads;
    std::vector<instance<bits>> host(count);
    uint64_t state = 88172645463325252ull;
    uint32_t *words = reinterpret_cast<uint32_t *>(host.data());
    for (size_t i = 0; i < host.size() * sizeof(host[0]) / 4; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words[i] = (uint32_t)state;
    }
    for (auto &one : host) {
        one.modulus._limbs[0] |= 1;
        one.modulus._limbs[bits / 32 - 1] |= 1u << 31;
        one.exponent._limbs[bits / 32 - 1] |= 1u << 31;
        one.x._limbs[bits / 32 - 1] >>= 1;
    }
    instance<bits> *device;
    TRY(cudaMalloc(&device, host.size() * sizeof(host[0])));
    TRY(cudaMemcpy(device, host.data(), host.size() * sizeof(host[0]), cudaMemcpyHostToDevice));
    double best = 1e30, total = 0;
    for (int run = 0; run == 0 || total < seconds; run++) {
        const auto start = std::chrono::steady_clock::now();
        powers<tpi, bits><<<blocks, threads>>>(device, count);
        TRY(cudaGetLastError());
        TRY(cudaDeviceSynchronize());
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        /* The first one warms up. */
        if (run > 0 && taken.count() < best) best = taken.count();
        total += taken.count();
        if (run == 0 && total >= seconds) best = taken.count();
    }
    TRY(cudaFree(device));
    printf("{\"line\":\"cgbn\",\"operation\":\"two powers\",\"bits\":%u,\"threads_per_number\":%u,\"batch\":%u,"
           "\"fastest_per_second\":%.0f}\n",
           2 * bits, tpi, operations, operations / best);
    fflush(stdout);
}

int main(int count, char **options) {
    const uint32_t operations = count > 1 ? (uint32_t)atoi(options[1]) : 1u << 17;
    const double seconds = count > 2 ? atof(options[2]) : 2;
    measure<4, 512>(operations, seconds);
    measure<8, 512>(operations, seconds);
    measure<8, 1024>(operations, seconds);
    measure<16, 1024>(operations, seconds);
    measure<8, 1536>(operations, seconds);
    measure<16, 1536>(operations, seconds);
    measure<16, 2048>(operations, seconds);
    measure<32, 2048>(operations, seconds);
}
