/* The kernels as plain C, behind a pipe: a device of the host's own, whose memory is that of malloc, so that sanitizers see every access.
 *
 * A request is a number of 32 bits and what belongs to it; all numbers are little-endian:
 *
 *   1 allocate   bytes                                  answers with the buffer's number
 *   2 free       buffer                                 which must have been wiped, unless the device may be lost
 *   3 write      buffer, bytes, data
 *   4 read       buffer, bytes                          answers with the data
 *   5 wipe       buffer
 *   6 launch     kernel, work-items, arguments, and for each: 0 and a buffer, or 1 and a number
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor.h"

word host_item, host_items;

#include "rsa.cl"

enum { MOST_BUFFERS = 1 << 16, MOST_ARGUMENTS = 16 };

static struct buffer {
    unsigned char *memory;
    word bytes;
} buffers[MOST_BUFFERS];

static void get(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) exit(feof(stdin) ? 0 : 2);
}

static word number(void) {
    word value;
    get(&value, sizeof value);
    return value;
}

static void put(const void *from, size_t bytes) {
    if (fwrite(from, 1, bytes, stdout) != bytes || fflush(stdout)) exit(2);
}

static struct buffer *buffer(word place) {
    if (place >= MOST_BUFFERS || !buffers[place].memory) {
        fprintf(stderr, "there is no buffer %u\n", (unsigned)place);
        exit(3);
    }
    return &buffers[place];
}

static void check(const struct buffer *b, word bytes) {
    if (bytes > b->bytes) {
        fprintf(stderr, "a copy of %u bytes of a buffer of %u\n", (unsigned)bytes, (unsigned)b->bytes);
        exit(3);
    }
}

static word arguments[MOST_ARGUMENTS];
#define W(i) ((word *)(void *)buffer(arguments[i])->memory)
#define B(i) (buffer(arguments[i])->memory)
#define N(i) (arguments[i])
#define K(i) W(i), W(i + 1), N(i + 2)

static void run(word kernel) {
    switch (kernel) {
    case 0: prepare_modulus(W(0), N(1), N(2), N(3), N(4), N(5)); break;
    case 1: prepare_factor(W(0), N(1), N(2), N(3), N(4), N(5), N(6)); break;
    case 2: read_blocks(B(0), W(1), W(2), K(3), N(6), N(7), N(8), N(9), N(10)); break;
    case 3: write_blocks(W(0), B(1), W(2), N(3), N(4), N(5)); break;
    case 4: power_enter(W(0), W(1), W(2), K(3), N(6), N(7), N(8), N(9), N(10), N(11), N(12), N(13)); break;
    case 5: power_digits(W(0), W(1), K(2), N(5), N(6), N(7), N(8), N(9), N(10), N(11), N(12), N(13), N(14)); break;
    case 6: power_leave(W(0), W(1), K(2), N(5), N(6), N(7), N(8)); break;
    case 7: recombine(W(0), W(1), K(2), N(5), N(6), N(7), N(8), N(9), N(10), N(11), N(12)); break;
    case 8: blind(W(0), W(1), W(2), W(3), W(4), K(5), N(8), N(9), N(10), N(11), N(12)); break;
    case 9: unblind(W(0), W(1), W(2), K(3), N(6), N(7), N(8), N(9), N(10)); break;
    case 10: renew_pairs(W(0), W(1), W(2), W(3), W(4), K(5), N(8), N(9), N(10), N(11), N(12)); break;
    case 11: public_enter(W(0), W(1), W(2), K(3), N(6), N(7), N(8), N(9)); break;
    case 12: public_bits_vartime(W(0), W(1), K(2), N(5), N(6), N(7), N(8), N(9), N(10), N(11)); break;
    case 13: public_leave(W(0), W(1), K(2), N(5), N(6), N(7), N(8)); break;
    case 14: public_check(W(0), W(1), W(2), W(3), K(4), N(7), N(8), N(9), N(10)); break;
    case 15: candidate_enter(B(0), W(1), W(2), W(3), N(4), N(5), N(6), N(7), N(8)); break;
    case 16: two_bits(W(0), W(1), N(2), N(3), N(4), N(5), N(6)); break;
    case 17: two_verdict(W(0), W(1), W(2), W(3), N(4), N(5), N(6)); break;
    case 18: base_enter(B(0), W(1), W(2), W(3), W(4), N(5), N(6), N(7), N(8), N(9)); break;
    case 19: base_digits(W(0), W(1), W(2), N(3), N(4), N(5), N(6), N(7), N(8)); break;
    case 20: base_verdict(W(0), W(1), W(2), W(3), W(4), N(5), N(6), N(7), N(8)); break;
    default: fprintf(stderr, "there is no kernel %u\n", (unsigned)kernel); exit(3);
    }
}

int main(int count, char **options) {
    const int may_be_lost = count > 1 && !strcmp(options[1], "may-be-lost");
    word made = 0;
    for (;;) {
        switch (number()) {
        case 1: {
            const word bytes = number();
            if (made == MOST_BUFFERS) exit(3);
            buffers[made].memory = malloc(bytes);
            buffers[made].bytes = bytes;
            if (!buffers[made].memory) exit(3);
            /* Nobody may count on zeros. */
            memset(buffers[made].memory, 0xa5, bytes);
            put(&made, sizeof made);
            made++;
            break;
        }
        case 2: {
            struct buffer *b = buffer(number());
            for (word i = 0; i < b->bytes; i++) {
                if (b->memory[i] && !may_be_lost) {
                    fprintf(stderr, "memory was given back unwiped\n");
                    exit(3);
                }
            }
            free(b->memory);
            b->memory = NULL;
            break;
        }
        case 3: {
            struct buffer *b = buffer(number());
            const word bytes = number();
            check(b, bytes);
            get(b->memory, bytes);
            break;
        }
        case 4: {
            struct buffer *b = buffer(number());
            const word bytes = number();
            check(b, bytes);
            put(b->memory, bytes);
            break;
        }
        case 5: {
            struct buffer *b = buffer(number());
            memset(b->memory, 0, b->bytes);
            break;
        }
        case 6: {
            const word kernel = number(), items = number(), count = number();
            if (count > MOST_ARGUMENTS) exit(3);
            for (word i = 0; i < count; i++) {
                /* Whether it is a buffer or a number is known from the kernel. */
                number();
                arguments[i] = number();
            }
            host_items = items;
            for (host_item = 0; host_item < items; host_item++) run(kernel);
            break;
        }
        default: fprintf(stderr, "a request that there is not\n"); exit(3);
        }
    }
}
