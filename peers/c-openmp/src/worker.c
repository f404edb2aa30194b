/* The engine c-openmp: the steps of article (b)'s program, without its threads and clock, which are the harness's here. Each of the
 * harness's threads has a worker of its own, as each of the program's OpenMP threads has numbers of its own. */

#define RSA_LIBRARY
#include "../article/rsa.c"

#include <stdlib.h>
#include <string.h>

enum { DIGEST = 32 };

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
    Source source;
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
        decrypt(w->b, w->a, w->d, w->n);
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
        get(w->a, in, k);
        mpz_powm(w->b, w->a, w->e, w->n);
        return put(out, k, w->b);
    case PUBLIC_SECRET:
        get(w->a, in, k);
        encrypt(w->b, w->a, w->e, w->n);
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
        find_pair(&w->source, w->a, w->b, w->bits / 2, w->exponent);
        put(out, h, w->a), put(out + h, h, w->b);
        if (operation == PRIME_PAIR) return true;
        mpz_sub_ui(w->a, w->a, 1), mpz_sub_ui(w->b, w->b, 1);
        mpz_mul(w->c, w->a, w->b);
        return private_exponent(w->t, w->exponent, w->c) && put(out + 2 * h, k, w->t);
    case TOTIENT:
        get(w->a, in, h), get(w->b, in + h, h);
        modulus_and_totient(w->c, w->t, w->a, w->b);
        return put(out, k, w->c) && put(out + k, k, w->t);
    case PRIVATE_EXPONENT:
        get(w->a, in, k);
        return private_exponent(w->b, w->exponent, w->a) && put(out, k, w->b);
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

/* A worker for jobs of one size; `parts` are n, e, d, p, q, dp, dq, qinv, or null where the job takes no key. Null without memory. */
Worker *rsalab_openmp_new(size_t bits, uint64_t exponent, const byte *seed, const Number *parts) {
    Worker *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (Worker){.bits = bits, .k = (bits + 7) / 8, .h = ((bits + 1) / 2 + 7) / 8, .exponent = exponent};
    mpz_inits(w->a, w->b, w->c, w->t, NULL);
    source_init(&w->source, seed);
    mpz_ptr numbers[] = {w->n, w->e, w->d, w->p, w->q, w->dp, w->dq, w->qinv};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mpz_init(numbers[i]);
        if (parts) get(numbers[i], parts[i].bytes, parts[i].length);
    }
    return w;
}

void rsalab_openmp_free(Worker *w) {
    mpz_clears(w->n, w->e, w->d, w->p, w->q, w->dp, w->dq, w->qinv, w->a, w->b, w->c, w->t, NULL);
    source_clear(&w->source);
    free(w);
}

/* Does one item, and counts the primality tests of a search for keys; false where it failed. */
bool rsalab_openmp_run(Worker *w, int operation, const byte *in, size_t in_length, byte *out, uint64_t *tests) {
    w->source.tests = 0;
    bool done = operate(w, operation, in, in_length, out);
    *tests = w->source.tests;
    return done;
}
