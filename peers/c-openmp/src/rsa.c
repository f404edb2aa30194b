/* RSA on GMP's numbers as the C program of article (b) does it. Threads, clock and comparison are the harness's: each of its threads has
 * a worker of its own, as each of the article's OpenMP threads has numbers of its own. */

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGEST = 32,
    /* The repetitions of the article's primality test. */
    REPS = 5
};

typedef unsigned char byte;

/* In the order of `Operation` in shim.rs. */
typedef enum {
    PRIVATE_PLAIN,
    PRIVATE_CRT,
    PUBLIC,
    PUBLIC_SECRET,
    KEYGEN,
    PRIME_PAIR,
    TOTIENT,
    PRIVATE_EXPONENT,
    SIGN_PLAIN,
    SIGN_CRT,
    VERIFY,
    PRIME_SEARCH
} Operation;

/* Big-endian. */
typedef struct {
    const byte *bytes;
    size_t length;
} Number;

/* One thread's key and numbers. `k` and `h` are the bytes of the modulus and of a prime. */
typedef struct {
    size_t bits, k, h;
    uint64_t exponent;
    mpz_t n, e, d, p, q, dp, dq, qinv;
    mpz_t a, b, c, t;
    gmp_randstate_t random;
    uint64_t tests;
} Worker;

static void get(mpz_t to, const byte *from, size_t bytes) { mpz_import(to, bytes, 1, 1, 1, 0, from); }

/* The number in exactly so many bytes; false if it does not fit. */
static bool put(byte *to, size_t bytes, const mpz_t from) {
    size_t used = (mpz_sizeinbase(from, 2) + 7) / 8, written;
    if (mpz_sgn(from) < 0 || used > bytes) return false;
    memset(to, 0, bytes);
    mpz_export(to + bytes - used, &written, 1, 1, 1, 0, from);
    return true;
}

/* b := a ^ d mod n. */
static void private_power(Worker *w, bool crt) {
    if (!crt) {
        mpz_powm_sec(w->b, w->a, w->d, w->n);
        return;
    }
    mpz_mod(w->b, w->a, w->p);
    mpz_powm_sec(w->b, w->b, w->dp, w->p);
    mpz_mod(w->c, w->a, w->q);
    mpz_powm_sec(w->c, w->c, w->dq, w->q);
    /* Garner: m = m2 + q (qinv (m1 - m2) mod p). */
    mpz_sub(w->b, w->b, w->c);
    mpz_mul(w->b, w->b, w->qinv);
    mpz_mod(w->b, w->b, w->p);
    mpz_mul(w->b, w->b, w->q);
    mpz_add(w->b, w->b, w->c);
}

/* EMSA-PKCS1-v1_5 of a SHA-256 digest (RFC 8017, 9.2). */
static void pad(byte *to, size_t k, const byte *digest) {
    static const byte name[19] = {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
                                  0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20};
    size_t ones = k - 3 - sizeof name - DIGEST;
    to[0] = 0, to[1] = 1;
    memset(to + 2, 0xFF, ones);
    to[2 + ones] = 0;
    memcpy(to + 3 + ones, name, sizeof name);
    memcpy(to + k - DIGEST, digest, DIGEST);
}

/* A prime fit for a key: random odd numbers with the top two bits set, until one passes. Counts the tests. */
static void draw(Worker *w, mpz_t prime) {
    do {
        mpz_urandomb(prime, w->random, w->bits / 2);
        mpz_setbit(prime, w->bits / 2 - 1);
        mpz_setbit(prime, w->bits / 2 - 2);
        mpz_setbit(prime, 0);
        ++w->tests;
        if (!mpz_probab_prime_p(prime, REPS)) continue;
        mpz_sub_ui(w->t, prime, 1);
        if (mpz_gcd_ui(NULL, w->t, w->exponent) == 1) return;
    } while (true);
}

/* Does one item; false where a number is not what it must be. */
static bool operate(Worker *w, Operation operation, const byte *in, size_t in_length, byte *out) {
    size_t k = w->k, h = w->h;
    switch (operation) {
    case PRIVATE_PLAIN:
    case PRIVATE_CRT:
        get(w->a, in, k);
        private_power(w, operation == PRIVATE_CRT);
        return put(out, k, w->b);
    case PUBLIC:
    case PUBLIC_SECRET:
        get(w->a, in, k);
        (operation == PUBLIC ? mpz_powm : mpz_powm_sec)(w->b, w->a, w->e, w->n);
        return put(out, k, w->b);
    case SIGN_PLAIN:
    case SIGN_CRT:
        pad(out, k, in);
        get(w->a, out, k);
        private_power(w, operation == SIGN_CRT);
        return put(out, k, w->b);
    case VERIFY: {
        byte expected[2048];
        pad(expected, k, in);
        get(w->a, in + DIGEST, k);
        out[0] = 0;
        if (mpz_cmp(w->a, w->n) < 0) {
            mpz_powm(w->b, w->a, w->e, w->n);
            get(w->c, expected, k);
            out[0] = mpz_cmp(w->b, w->c) == 0;
        }
        return true;
    }
    case KEYGEN:
    case PRIME_PAIR:
        draw(w, w->a);
        do {
            draw(w, w->b);
            mpz_sub(w->c, w->a, w->b);
        } while (mpz_sizeinbase(w->c, 2) + 100 <= w->bits / 2);
        put(out, h, w->a), put(out + h, h, w->b);
        if (operation == PRIME_PAIR) return true;
        mpz_sub_ui(w->a, w->a, 1), mpz_sub_ui(w->b, w->b, 1);
        mpz_mul(w->c, w->a, w->b);
        mpz_set_ui(w->t, w->exponent);
        return mpz_invert(w->t, w->t, w->c) && put(out + 2 * h, k, w->t);
    case TOTIENT:
        get(w->a, in, h), get(w->b, in + h, h);
        mpz_mul(w->c, w->a, w->b);
        mpz_sub_ui(w->a, w->a, 1), mpz_sub_ui(w->b, w->b, 1);
        mpz_mul(w->t, w->a, w->b);
        return put(out, k, w->c) && put(out + k, k, w->t);
    case PRIVATE_EXPONENT:
        get(w->a, in, k);
        mpz_set_ui(w->b, w->exponent);
        return mpz_invert(w->b, w->b, w->a) && put(out, k, w->b);
    case PRIME_SEARCH: {
        int found = 0;
        for (const byte *at = in; at < in + in_length && found < 2; at += h) {
            get(w->a, at, h);
            if (mpz_probab_prime_p(w->a, REPS)) memcpy(out + h * found++, at, h);
        }
        return found == 2;
    }
    }
    return false;
}

const char *rsalab_openmp_version(void) { return gmp_version; }

/* A worker for jobs of one size; `parts` are n, e, d, p, q, dp, dq, qinv, or null where the job takes no key. Null without memory. The
 * article's generator is GMP's own Mersenne Twister; its seed is given, of 32 bytes. */
Worker *rsalab_openmp_new(size_t bits, uint64_t exponent, const byte *seed, const Number *parts) {
    Worker *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (Worker){.bits = bits, .k = (bits + 7) / 8, .h = ((bits + 1) / 2 + 7) / 8, .exponent = exponent};
    mpz_inits(w->a, w->b, w->c, w->t, NULL);
    gmp_randinit_mt(w->random);
    get(w->a, seed, 32);
    gmp_randseed(w->random, w->a);
    mpz_ptr numbers[] = {w->n, w->e, w->d, w->p, w->q, w->dp, w->dq, w->qinv};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mpz_init(numbers[i]);
        if (parts) get(numbers[i], parts[i].bytes, parts[i].length);
    }
    return w;
}

void rsalab_openmp_free(Worker *w) {
    mpz_clears(w->n, w->e, w->d, w->p, w->q, w->dp, w->dq, w->qinv, w->a, w->b, w->c, w->t, NULL);
    gmp_randclear(w->random);
    free(w);
}

/* Does one item, and counts the primality tests of a search for keys; false where it failed. */
bool rsalab_openmp_run(Worker *w, int operation, const byte *in, size_t in_length, byte *out, uint64_t *tests) {
    w->tests = 0;
    bool done = operate(w, operation, in, in_length, out);
    *tests = w->tests;
    return done;
}
