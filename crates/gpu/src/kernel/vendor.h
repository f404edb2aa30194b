/* What compilers of the kernels do not agree on: OpenCL C, C for the host, and clang for NVIDIA's virtual machine. */

#if defined(RSALAB_HOST)

/* A test's program calls the kernels as functions, one work-item after the other. */
#include <stdint.h>
typedef uint8_t byte;
typedef uint32_t word;
typedef uint64_t wide;
extern word host_item, host_items;
#define KERNEL void
#define GLOBAL
#define WORK_ITEM host_item
#define WORK_ITEMS host_items

#elif defined(__NVPTX__)

typedef unsigned char byte;
typedef unsigned int word;
typedef unsigned long wide;
#define KERNEL __kernel void
#define GLOBAL __global
#define WORK_ITEM                                                                                                      \
    ((word)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x()))
#define WORK_ITEMS ((word)(__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x()))

#else

typedef uchar byte;
typedef uint word;
typedef ulong wide;
#define KERNEL __kernel void
#define GLOBAL __global
#define WORK_ITEM ((word)get_global_id(0))
#define WORK_ITEMS ((word)get_global_size(0))

#endif

/* A graphics processor keeps short arrays in registers where every index is known: loops over the limbs of a number are
 * unrolled for it. A CPU is better off without. */
#if defined(LIMBS) && defined(UNROLL_UP_TO)
#if LIMBS <= UNROLL_UP_TO
#define UNROLLED _Pragma("unroll")
#endif
#endif
#ifndef UNROLLED
#define UNROLLED
#endif
