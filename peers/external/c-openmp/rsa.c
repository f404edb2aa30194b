/* RSA on GMP and OpenMP as one C file, in the form of article (b): an engine of rsalab that speaks docs/worker-protocol.md over its
 * standard input and output.
 *
 *   gcc -O3 -fopenmp rsa.c -o rsalab-peer-c-openmp -ljansson -lgmp -lm
 *
 * GMP is the system's. The private operation is mpz_powm_sec without CRT, as the article has it; the form `crt` takes the CRT. The form
 * `powm_sec` is the article's both ways: the public operation too is mpz_powm_sec.
 *
 * From the bottom of the file upwards: main reads requests, the rig measures, the operations compute. */

#define _GNU_SOURCE
#include <errno.h>
#include <gmp.h>
#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    PROTOCOL = 1,
    MAX_LINE = (1 << 30) + (1 << 20),
    DIGEST = 32,
    /* The least modulus whose bytes hold 11 of padding, 19 that name the hash, and the digest (RFC 8017, 9.2, step 3). */
    SIGNED_BITS = 8 * (11 + 19 + DIGEST) - 7,
    /* The repetitions of the article's primality test. */
    REPS = 5,
    SAMPLE_NS = 1000000,
    SAMPLE_NS_CROWDED = 10000000,
    SAMPLE_OUTPUT_BYTES = 1 << 20,
    SPOILED = 0xA5,
    MOST_SAMPLES = 1 << 20
};

typedef unsigned char byte;

/* ---- failures ---- */

/* A request that failed: its kind is one of the protocol's. Nothing failed where the kind is null. */
typedef struct {
    const char *kind;
    char message[240];
    long item;
} Fault;

static Fault no_fault(void) {
    Fault none = {0};
    none.item = -1;
    return none;
}

__attribute__((format(printf, 3, 4))) static Fault fault(const char *kind, long item, const char *format, ...) {
    Fault made = {kind, "", item};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.message, sizeof made.message, format, arguments);
    va_end(arguments);
    return made;
}

static void *room(size_t bytes) {
    void *made = malloc(bytes ? bytes : 1);
    if (!made) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return made;
}

/* ---- jobs ---- */

typedef enum { PRIVATE, PUBLIC, KEYGEN, PRIME_PAIR, TOTIENT, PRIVATE_EXPONENT, SIGN, VERIFY, PRIME_SEARCH, OPERATIONS } Op;

static const char *const NAMES[OPERATIONS] = {"private",          "public", "keygen", "prime_pair",  "totient",
                                              "private_exponent", "sign",   "verify", "prime_search"};

typedef struct {
    Op op;
    char name[32];
    long bits, threads, batch;
    bool is_latency, is_concurrent, crt, secret, is_random;
    /* Not where it comes with the key. */
    uint64_t exponent;
    /* Bytes of the modulus and of a prime, of an input and of an output. */
    size_t k, h, input, output;
} Job;

static bool makes(const Job *job) { return job->op == KEYGEN || job->op == PRIME_PAIR; }

static bool takes_key(const Job *job) {
    return job->op == PRIVATE || job->op == PUBLIC || job->op == SIGN || job->op == VERIFY;
}

/* Reads a job. An answer other than null is the reason why it is not done; `malformed` tells that it is no job at all. */
static const char *read_job(json_t *from, Job *job, bool *malformed) {
    static char reason[200];
    const char *op, *mode, *variant = NULL;
    json_int_t bits, threads, batch, exponent = 0, symbols = 0, block_symbols = 0;
    int bare = 0;
    json_t *variant_or_null = NULL, *exponent_or_word = NULL;
    memset(job, 0, sizeof *job);
    *malformed = json_unpack(from, "{s:s, s:I, s:I, s:I, s:s, s?o, s?b, s:o, s?I, s?I}", "op", &op, "bits", &bits, "threads",
                             &threads, "batch", &batch, "mode", &mode, "variant", &variant_or_null, "bare", &bare, "exponent",
                             &exponent_or_word, "symbols", &symbols, "block_symbols", &block_symbols) != 0;
    if (*malformed) return "the job cannot be read";
    job->is_random = json_is_string(exponent_or_word) && !strcmp(json_string_value(exponent_or_word), "random");
    *malformed = !job->is_random && !json_is_integer(exponent_or_word);
    if (*malformed) return "the exponent cannot be read";
    exponent = json_integer_value(exponent_or_word);
    if (json_is_string(variant_or_null)) variant = json_string_value(variant_or_null);
    job->op = OPERATIONS;
    for (int i = 0; i < OPERATIONS; i++)
        if (!strcmp(op, NAMES[i])) job->op = i;
    snprintf(job->name, sizeof job->name, "%s", op);
    job->bits = bits, job->threads = threads, job->batch = batch;
    job->is_latency = !strcmp(mode, "latency");
    job->is_concurrent = !strcmp(mode, "concurrent");
    job->exponent = exponent;
#define REFUSE(...) return snprintf(reason, sizeof reason, __VA_ARGS__), reason
    if (bits < 256 || bits > 16384) REFUSE("the modulus has %lld bits; 256 to 16384 are possible", (long long)bits);
    if (!job->is_random && (exponent < 3 || exponent % 2 == 0))
        REFUSE("the public exponent is %lld; it must be odd, at least 3, and below 2^63 here", (long long)exponent);
    if (threads < 1 || threads > 1024) REFUSE("%lld threads; 1 to 1024 are possible", (long long)threads);
    if (batch < 1 || batch > 1 << 16) REFUSE("a batch of %lld; 1 to 65536 are possible", (long long)batch);
    if (!strncmp(op, "text_", 5)) REFUSE("this engine does blocks, not texts");
    if (job->is_latency && threads != 1)
        REFUSE("latency is the time of one call on one thread, and the job asks for %lld threads", (long long)threads);
    if (job->is_concurrent && batch != 1) REFUSE("calls are timed one by one for single items only");
    if (symbols || block_symbols) REFUSE("'%.31s' takes no text", op);
    if (bare) REFUSE("this engine neither blinds nor checks in any form; leave out the wish for a bare one");
    if (job->op == OPERATIONS) REFUSE("this engine does not know the operation '%.31s'", op);
    if (job->is_random && !takes_key(job)) REFUSE("a random exponent comes with a key, which '%.31s' does not work with", op);
    if ((job->op == SIGN || job->op == VERIFY) && bits < SIGNED_BITS)
        REFUSE("a digest with its padding takes a modulus of %d bits, and this one has %lld", SIGNED_BITS, (long long)bits);
    if (variant) {
        bool is_private = job->op == PRIVATE || job->op == SIGN;
        if (!is_private && job->op != PUBLIC) REFUSE("'%s' has no form '%.40s'; it has one only", op, variant);
        job->secret = !strcmp(variant, "powm_sec");
        job->crt = is_private && !strcmp(variant, "crt");
        if (!job->secret && !job->crt && strcmp(variant, is_private ? "plain" : "powm"))
            REFUSE("'%s' has no form '%.40s'; it has %s", op, variant, is_private ? "plain, crt, powm_sec" : "powm, powm_sec");
    }
    if (bits % 2 && (makes(job) || job->op == PRIME_SEARCH))
        REFUSE("this engine makes two primes of one size, and so moduli of an even number of bits only");
#undef REFUSE
    size_t k = job->k = (bits + 7) / 8, h = job->h = ((bits + 1) / 2 + 7) / 8;
    size_t candidates = 2 * fmax(1, round(bits / 2.0 * M_LN2 / 2));
    const size_t inputs[OPERATIONS] = {k, k, 0, 0, 2 * h, k, DIGEST, DIGEST + k, candidates * h};
    const size_t outputs[OPERATIONS] = {k, k, 2 * h + k, 2 * h, 2 * k, k, k, 1, 2 * h};
    job->input = inputs[job->op];
    job->output = outputs[job->op];
    return NULL;
}

/* The conditions of a job's figures. */
static json_t *ledger(const Job *job) {
    bool uses_private = job->op == PRIVATE || job->op == SIGN, finds = makes(job) || job->op == PRIME_SEARCH;
    bool is_vartime = job->op == TOTIENT || job->op == PRIVATE_EXPONENT, is_secret = job->op == PUBLIC && job->secret;
    bool has_exponent = job->op == PUBLIC || job->op == VERIFY || job->op == PRIVATE_EXPONENT || makes(job);
    /* mpz/pprime_p.c: trial division by the primes below the candidate's bits. Since 6.2 it takes 24 off the repetitions for its
     * Baillie-PSW test, so that 5 of them add nothing to it. */
    int major = 0, minor = 0;
    sscanf(gmp_version, "%d.%d", &major, &minor);
    bool is_psw = major > 6 || (major == 6 && minor >= 2);
    char sieve[100], rounds[100];
    snprintf(sieve, sizeof sieve, "trial division by the primes below %ld; independent candidates", job->bits / 2);
    if (is_psw)
        snprintf(rounds, sizeof rounds, "Baillie-PSW and none of Miller-Rabin (mpz_probab_prime_p, %d reps less 24)", REPS);
    else
        snprintf(rounds, sizeof rounds, "%d of Miller-Rabin (mpz_probab_prime_p)", REPS);
    /* mpz_powm_sec is GMP's constant-time one; with the CRT, mpz_mod and mpz_mul around it are not. */
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:s, s:s}",                                     //
                     "crt", uses_private ? json_boolean(job->crt) : json_null(),                                         //
                     "blinding", uses_private ? json_false() : json_null(),                                              //
                     "result_check", uses_private ? json_false() : json_null(),                                          //
                     "constant_time", uses_private ? json_boolean(!job->crt)
                     : is_vartime ? json_false()
                     : is_secret  ? json_true()
                                  : json_null(),  //
                     "rounds", finds ? json_string(rounds) : json_null(),                                                //
                     "sieve", finds ? json_string(sieve) : json_null(),                                                  //
                     "exponent", !has_exponent    ? json_null()
                 : job->is_random ? json_string("random")
                                  : json_integer(job->exponent),                               //
                     "padding", job->op == SIGN || job->op == VERIFY ? json_string("PKCS #1 v1.5") : json_null(),        //
                     "setup", takes_key(job) ? "key read, once; nothing precomputed from the moduli" : "nothing",        //
                     "lanes", 1, "threads", "engine", "clock", "engine");
}

/* ---- operations ---- */

/* What the operations of a job share; only read. */
typedef struct {
    mpz_t n, e, d, p, q, dp, dq, qinv;
} Key;

/* One thread's numbers. */
typedef struct {
    mpz_t a, b, c, d;
    gmp_randstate_t random;
} Scratch;

static void get(mpz_t to, const byte *from, size_t bytes) { mpz_import(to, bytes, 1, 1, 1, 0, from); }

/* The number in exactly so many bytes; false if it does not fit. */
static bool put(byte *to, size_t bytes, const mpz_t from) {
    size_t used = (mpz_sizeinbase(from, 2) + 7) / 8, written;
    if (mpz_sgn(from) < 0 || used > bytes) return false;
    memset(to, 0, bytes);
    mpz_export(to + bytes - used, &written, 1, 1, 1, 0, from);
    return true;
}

/* s->b := s->a ^ d mod n. */
static void private_power(const Job *job, const Key *key, Scratch *s) {
    if (!job->crt) {
        mpz_powm_sec(s->b, s->a, key->d, key->n);
        return;
    }
    mpz_mod(s->b, s->a, key->p);
    mpz_powm_sec(s->b, s->b, key->dp, key->p);
    mpz_mod(s->c, s->a, key->q);
    mpz_powm_sec(s->c, s->c, key->dq, key->q);
    /* Garner: m = m2 + q·(qinv·(m1 − m2) mod p). */
    mpz_sub(s->b, s->b, s->c);
    mpz_mul(s->b, s->b, key->qinv);
    mpz_mod(s->b, s->b, key->p);
    mpz_mul(s->b, s->b, key->q);
    mpz_add(s->b, s->b, s->c);
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
static void draw(const Job *job, Scratch *s, mpz_t prime, uint64_t *tests) {
    mpz_t less;
    mpz_init(less);
    do {
        mpz_urandomb(prime, s->random, job->bits / 2);
        mpz_setbit(prime, job->bits / 2 - 1);
        mpz_setbit(prime, job->bits / 2 - 2);
        mpz_setbit(prime, 0);
        ++*tests;
        if (!mpz_probab_prime_p(prime, REPS)) continue;
        mpz_sub_ui(less, prime, 1);
        if (mpz_gcd_ui(NULL, less, job->exponent) == 1) break;
    } while (true);
    mpz_clear(less);
}

/* Does one item. Null, or what failed. */
static const char *operate(const Job *job, const Key *key, Scratch *s, const byte *in, byte *out, uint64_t *tests) {
    size_t k = job->k, h = job->h;
    switch (job->op) {
    case PRIVATE:
        get(s->a, in, k);
        private_power(job, key, s);
        return put(out, k, s->b) ? NULL : "the result is too long";
    case PUBLIC:
        get(s->a, in, k);
        (job->secret ? mpz_powm_sec : mpz_powm)(s->b, s->a, key->e, key->n);
        return put(out, k, s->b) ? NULL : "the result is too long";
    case SIGN:
        pad(out, k, in);
        get(s->a, out, k);
        private_power(job, key, s);
        return put(out, k, s->b) ? NULL : "the result is too long";
    case VERIFY: {
        byte expected[2048];
        pad(expected, k, in);
        get(s->a, in + DIGEST, k);
        out[0] = 0;
        if (mpz_cmp(s->a, key->n) < 0) {
            mpz_powm(s->b, s->a, key->e, key->n);
            get(s->c, expected, k);
            out[0] = mpz_cmp(s->b, s->c) == 0;
        }
        return NULL;
    }
    case KEYGEN:
    case PRIME_PAIR:
        draw(job, s, s->a, tests);
        do {
            draw(job, s, s->b, tests);
            mpz_sub(s->c, s->a, s->b);
        } while (mpz_sizeinbase(s->c, 2) + 100 <= (size_t)job->bits / 2);
        put(out, h, s->a), put(out + h, h, s->b);
        if (job->op == PRIME_PAIR) return NULL;
        mpz_sub_ui(s->a, s->a, 1), mpz_sub_ui(s->b, s->b, 1);
        mpz_mul(s->c, s->a, s->b);
        mpz_set_ui(s->d, job->exponent);
        if (!mpz_invert(s->d, s->d, s->c)) return "the exponent has no inverse";
        return put(out + 2 * h, k, s->d) ? NULL : "the exponent is too long";
    case TOTIENT:
        get(s->a, in, h), get(s->b, in + h, h);
        mpz_mul(s->c, s->a, s->b);
        mpz_sub_ui(s->a, s->a, 1), mpz_sub_ui(s->b, s->b, 1);
        mpz_mul(s->d, s->a, s->b);
        return put(out, k, s->c) && put(out + k, k, s->d) ? NULL : "the product is too long";
    case PRIVATE_EXPONENT:
        get(s->a, in, k);
        mpz_set_ui(s->b, job->exponent);
        if (!mpz_invert(s->b, s->b, s->a)) return "the exponent has no inverse";
        return put(out, k, s->b) ? NULL : "the exponent is too long";
    case PRIME_SEARCH: {
        int found = 0;
        for (const byte *at = in; at < in + job->input && found < 2; at += h) {
            get(s->a, at, h);
            if (mpz_probab_prime_p(s->a, REPS)) memcpy(out + h * found++, at, h);
        }
        return found == 2 ? NULL : "fewer than two of the candidates are prime";
    }
    default: return "no such operation";
    }
}

/* ---- the rig: threads, clock and comparison ---- */

typedef struct {
    uint64_t elapsed_ns, operations, tests;
    uint64_t ticks;
} Sample;

/* One thread's part, on a cache line of its own. */
typedef struct {
    Scratch scratch;
    size_t next; /* the batch that the next call begins with */
    byte *outputs;
    size_t room, filled;
    uint64_t done, tests;
    Fault fault;
    /* Where threads time their own calls: each. */
    Sample *calls;
    size_t call_count, call_room;
} __attribute__((aligned(128))) Member;

/* A job made ready. The rules are those of the native harness (crates/engines/src/harness), in OpenMP's threads. */
typedef struct {
    Job job;
    Key key;
    byte *inputs, *first;
    /* The very first call, where one call is the question, and what it gave until that can be compared. */
    Sample first_call;
    byte *first_output;
    size_t items, batches, rounds;
    int cpus[1024], cpu_count;
    bool crowded;
    Member *members;
} Rig;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* The time-stamp counter, where it runs at a constant rate. */
#ifdef __x86_64__
#include <x86intrin.h>
static bool has_tsc(void) {
    static int known = -1;
    if (known < 0) {
        known = 0;
        FILE *file = fopen("/proc/cpuinfo", "r");
        char line[8192];
        while (file && fgets(line, sizeof line, file))
            if (!strncmp(line, "flags", 5)) {
                known = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
                break;
            }
        if (file) fclose(file);
    }
    return known;
}
static uint64_t ticks_at_begin(void) {
    _mm_lfence();
    uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
}
static uint64_t ticks_at_end(void) {
    unsigned cpu;
    uint64_t ticks = __rdtscp(&cpu);
    _mm_lfence();
    return ticks;
}
#else
static bool has_tsc(void) { return false; }
static uint64_t ticks_at_begin(void) { return 0; }
static uint64_t ticks_at_end(void) { return 0; }
#endif

enum { REFERENCE = 0 };

/* The batches of a thread's task: all of its part of the inputs, or so many from where it was; its part of so many where threads time
 * their own calls. */
static void stretch(const Rig *rig, int index, size_t task, size_t *first, size_t *count) {
    size_t threads = rig->job.threads;
    *first = task == REFERENCE ? index * rig->batches / threads : rig->members[index].next;
    *count = task == REFERENCE          ? (index + 1) * rig->batches / threads - *first
             : rig->job.is_concurrent ? task / threads + (index < (long)(task % threads))
                                      : task;
}

static size_t end_of(const Rig *rig, size_t batch) {
    size_t end = (batch + 1) * rig->job.batch;
    return end < rig->items ? end : rig->items;
}

/* The measured part. */
static void work(Rig *rig, int index, size_t task) {
    Member *m = &rig->members[index];
    size_t first, count;
    stretch(rig, index, task, &first, &count);
    size_t needed = count * rig->job.batch * rig->job.output;
    if (needed > m->room) {
        free(m->outputs);
        m->outputs = room(m->room = needed);
        memset(m->outputs, SPOILED, needed);
    }
    bool is_timed = rig->job.is_concurrent && task != REFERENCE;
    if (is_timed && count > m->call_room) {
        free(m->calls);
        m->calls = room((m->call_room = count) * sizeof *m->calls);
    }
    m->filled = m->done = m->tests = m->call_count = 0;
    m->fault = no_fault();
    for (; count > 0; count--) {
        uint64_t tests_before = m->tests, began = 0, first_tick = 0;
        if (is_timed) began = now_ns(), first_tick = ticks_at_begin();
        for (size_t item = first * rig->job.batch; item < end_of(rig, first); item++) {
            const char *failed = operate(&rig->job, &rig->key, &m->scratch, rig->inputs + item * rig->job.input,
                                         m->outputs + m->filled, &m->tests);
            if (failed) {
                m->fault = fault("library", item, "input %zu: %s", item, failed);
                return;
            }
            m->filled += rig->job.output;
            m->done++;
        }
        if (is_timed) {
            uint64_t last_tick = ticks_at_end(), ended = now_ns();
            m->calls[m->call_count++] = (Sample){ended - began, 1, m->tests - tests_before, last_tick - first_tick};
        }
        if (++first == rig->batches) first = 0;
    }
}

/* Compares what the measured part did with the first run, or hands it over, and wipes it out. */
static Fault check(Rig *rig, int index, size_t task, byte **made, size_t *made_bytes) {
    Member *m = &rig->members[index];
    Fault found = m->fault;
    size_t first, count, at = 0, each = rig->job.output;
    stretch(rig, index, task, &first, &count);
    if (!found.kind && (makes(&rig->job) || !rig->first)) {
        if (!(*made = realloc(*made, *made_bytes + m->filled + 1))) exit(1);
        memcpy(*made + *made_bytes, m->outputs, m->filled);
        *made_bytes += m->filled;
    } else {
        for (size_t batch = first; count > 0 && !found.kind; count--) {
            for (size_t item = batch * rig->job.batch; item < end_of(rig, batch); item++, at += each)
                if (!found.kind && memcmp(m->outputs + at, rig->first + item * each, each))
                    found = fault("mismatch", item, "input %zu gave another output than in the first run", item);
            if (++batch == rig->batches) batch = 0;
        }
    }
    memset(m->outputs, SPOILED, m->filled);
    if (task != REFERENCE) m->next = (m->next + task) % rig->batches;
    return found;
}

static void pin(const Rig *rig, int index) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (index >= rig->cpu_count) return;
    CPU_SET(rig->cpus[index], &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* One call of all threads: its time runs from the release of all to the last finish. */
static Fault call(Rig *rig, size_t task, Sample *sample, byte **made, size_t *made_bytes) {
    uint64_t began = 0, ended = 0, first_tick = 0, last_tick = 0;
    if (rig->job.threads == 1) {
        began = now_ns();
        first_tick = ticks_at_begin();
        work(rig, 0, task);
        last_tick = ticks_at_end();
        ended = now_ns();
    } else {
#pragma omp parallel num_threads(rig->job.threads)
        {
#pragma omp barrier
#pragma omp master
            {
                began = now_ns();
                first_tick = ticks_at_begin();
            }
            /* The clock has been read before anybody begins. */
#pragma omp barrier
            work(rig, omp_get_thread_num(), task);
#pragma omp barrier
#pragma omp master
            {
                last_tick = ticks_at_end();
                ended = now_ns();
            }
        }
    }
    *sample = (Sample){.elapsed_ns = ended - began, .ticks = last_tick - first_tick};
    Fault found = no_fault();
    for (int i = 0; i < rig->job.threads; i++) {
        Fault one = check(rig, i, task, made, made_bytes);
        if (!found.kind) found = one;
        sample->operations += rig->members[i].done;
        sample->tests += rig->members[i].tests;
    }
    return found;
}

/* So many batches a call that it lasts about a millisecond, and the barriers do not count. */
static Fault choose_rounds(Rig *rig) {
    if (rig->rounds) return no_fault();
    size_t most = SAMPLE_OUTPUT_BYTES / (rig->job.batch * rig->job.output), rounds = 1;
    uint64_t wanted = rig->crowded ? SAMPLE_NS_CROWDED : SAMPLE_NS;
    if (most < 1) most = 1;
    byte *made = NULL;
    size_t made_bytes = 0;
    while (true) {
        uint64_t began = now_ns();
        work(rig, 0, rounds);
        uint64_t elapsed = now_ns() - began;
        Fault found = check(rig, 0, rounds, &made, &made_bytes);
        if (found.kind) return found;
        if (rounds == most || elapsed >= wanted) break;
        rounds = 2 * rounds < most ? 2 * rounds : most;
    }
    /* The first run finds its buffers too small: not in a measured one. */
    Sample sample;
    Fault found = call(rig, rounds, &sample, &made, &made_bytes);
    free(made);
    rig->rounds = rounds;
    return found;
}

/* The time of the very first call, before anything of it is in a cache. One that fails does so again when outputs are asked for. */
static void call_first(Rig *rig) {
    Member *m = &rig->members[0];
    size_t bytes = rig->job.batch * rig->job.output;
    m->outputs = room(m->room = bytes);
    memset(m->outputs, SPOILED, bytes);
    uint64_t began = now_ns(), first_tick = ticks_at_begin();
    work(rig, 0, 1);
    uint64_t last_tick = ticks_at_end(), ended = now_ns();
    if (!m->fault.kind) {
        rig->first_call = (Sample){ended - began, m->done, 0, last_tick - first_tick};
        rig->first_output = room(m->filled);
        memcpy(rig->first_output, m->outputs, m->filled);
    }
    memset(m->outputs, SPOILED, bytes);
}

/* Every input once, untimed. */
static Fault all_outputs(Rig *rig, byte **outputs, size_t *bytes) {
    Sample sample;
    byte *expected = rig->first;
    rig->first = NULL;
    *outputs = NULL, *bytes = 0;
    Fault found = call(rig, REFERENCE, &sample, outputs, bytes);
    rig->first = expected;
    if (found.kind || makes(&rig->job)) return found;
    if (expected && memcmp(expected, *outputs, *bytes))
        return fault("mismatch", -1, "the inputs gave other outputs than in the first run");
    if (rig->first_output && memcmp(rig->first_output, *outputs, end_of(rig, 0) * rig->job.output))
        return fault("mismatch", 0, "the first call gave another output than the first run");
    free(rig->first_output);
    rig->first_output = NULL;
    if (!expected) {
        rig->first = room(*bytes);
        memcpy(rig->first, *outputs, *bytes);
    }
    return choose_rounds(rig);
}

/* Samples within a limit that is kept by merging neighbours, so that every call is counted. */
typedef struct {
    Sample *samples;
    size_t count, most, each, in_last;
} Record;

static void merge(Sample *into, const Sample *other) {
    into->elapsed_ns += other->elapsed_ns, into->operations += other->operations;
    into->tests += other->tests, into->ticks += other->ticks;
}

static void push(Record *r, const Sample *sample) {
    if (r->in_last < r->each && r->count) {
        merge(&r->samples[r->count - 1], sample);
        r->in_last++;
        return;
    }
    if (r->count == r->most) {
        size_t count = r->count, halved = 0;
        for (size_t i = 0; i < count; i += 2) {
            r->samples[halved] = r->samples[i];
            if (i + 1 < count) merge(&r->samples[halved], &r->samples[i + 1]);
            halved++;
        }
        r->count = halved;
        r->in_last = count % 2 ? r->each : 2 * r->each;
        r->each *= 2;
        push(r, sample);
        return;
    }
    if (r->count % 1024 == 0 && !(r->samples = realloc(r->samples, (r->count + 1024) * sizeof *r->samples))) exit(1);
    r->samples[r->count++] = *sample;
    r->in_last = 1;
}

static char *hex(const byte *from, size_t bytes) {
    static const char digits[] = "0123456789abcdef";
    char *text = room(2 * bytes + 1);
    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[from[i] >> 4];
        text[2 * i + 1] = digits[from[i] & 15];
    }
    text[2 * bytes] = 0;
    return text;
}

static json_t *told(const Sample *s) {
    return json_pack("{s:I, s:o, s:I}", "elapsed_ns", (json_int_t)s->elapsed_ns, "tsc_ticks",
                     has_tsc() ? json_integer(s->ticks) : json_null(), "operations", (json_int_t)s->operations);
}

static json_int_t ns_between(const struct timeval *from, const struct timeval *to) {
    return (to->tv_sec - from->tv_sec) * INT64_C(1000000000) + (to->tv_usec - from->tv_usec) * INT64_C(1000);
}

/* One block of samples, as crates/measure/src/sample.rs takes it. */
static Fault measure(Rig *rig, json_t *plan, json_t **answer, bool *malformed) {
    json_int_t discard_ns, min_ns, max_samples, calls = 0;
    json_t *calls_or_null = NULL;
    *malformed = json_unpack(plan, "{s:I, s:I, s:I, s?o}", "discard_ns", &discard_ns, "min_ns", &min_ns, "max_samples",
                             &max_samples, "calls", &calls_or_null) != 0;
    if (*malformed) return no_fault();
    if (json_is_integer(calls_or_null)) calls = json_integer_value(calls_or_null);
    byte *outputs = NULL;
    size_t bytes = 0;
    Fault found = no_fault();
    if (!makes(&rig->job) && !rig->first) {
        found = all_outputs(rig, &outputs, &bytes);
        free(outputs);
        if (found.kind) return found;
        outputs = NULL, bytes = 0;
    }
    Record record = {.most = max_samples < 1 ? 1 : max_samples > MOST_SAMPLES ? MOST_SAMPLES : max_samples, .each = 1};
    Sample sample;
    struct rusage before;
    getrusage(RUSAGE_SELF, &before);
    uint64_t started = now_ns(), discarded = 0, taken = 0;
    while (now_ns() - started < (uint64_t)discard_ns && !found.kind) {
        found = call(rig, rig->job.is_concurrent ? (size_t)rig->job.threads : rig->rounds, &sample, &outputs, &bytes);
        discarded += sample.operations;
    }
    uint64_t from = now_ns(), ended = from;
    while (!found.kind) {
        if (rig->job.is_concurrent) {
            /* Without a count, a call of each thread at a time until the time is up. */
            size_t all = calls > 0 ? (size_t)calls : (size_t)rig->job.threads;
            found = call(rig, all, &sample, &outputs, &bytes);
            for (int i = 0; i < rig->job.threads; i++)
                for (size_t j = 0; j < rig->members[i].call_count; j++) push(&record, &rig->members[i].calls[j]);
            taken = all - 1;
        } else {
            found = call(rig, rig->rounds, &sample, &outputs, &bytes);
            push(&record, &sample);
        }
        ended = now_ns();
        taken++;
        if (json_is_integer(calls_or_null) ? taken >= (uint64_t)calls : ended - from >= (uint64_t)min_ns) break;
    }
    if (!found.kind) {
        json_t *samples = json_array(), *tests = json_array();
        for (size_t i = 0; i < record.count; i++) {
            const Sample *s = &record.samples[i];
            json_array_append_new(samples, told(s));
            if (makes(&rig->job)) json_array_append_new(tests, json_integer(s->tests));
        }
        *answer = json_pack("{s:s, s:{s:o, s:I, s:I, s:I}}", "answer", "block", "block", "samples", samples,
                            "discarded_operations", (json_int_t)discarded, "started_ns", (json_int_t)started, "elapsed_ns",
                            (json_int_t)(ended - started));
        struct rusage after;
        getrusage(RUSAGE_SELF, &after);
        json_object_set_new(*answer, "cpu",
                            json_pack("{s:I, s:I}", "user_ns", ns_between(&before.ru_utime, &after.ru_utime), "system_ns",
                                      ns_between(&before.ru_stime, &after.ru_stime)));
        if (makes(&rig->job)) {
            char *text = hex(outputs, bytes);
            json_object_set_new(*answer, "tests", tests);
            json_object_set_new(*answer, "outputs", json_string(text));
            free(text);
        } else {
            json_decref(tests);
        }
    }
    free(outputs);
    free(record.samples);
    return found;
}

/* ---- preparing ---- */

/* The bytes of a string of hexadecimal digits; null if it is none. */
static byte *unhex(json_t *from, size_t *bytes) {
    const char *text = json_string_value(from);
    size_t length = json_string_length(from);
    if (!text || length % 2) return NULL;
    byte *made = room(*bytes = length / 2);
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) {
            free(made);
            return NULL;
        }
        made[i / 2] = i % 2 ? made[i / 2] | digit : digit << 4;
    }
    return made;
}

static bool read_number(json_t *key, const char *name, size_t bytes, mpz_t to) {
    size_t got;
    byte *number = unhex(json_object_get(key, name), &got);
    if (!number) return false;
    get(to, number, got);
    free(number);
    return got == bytes || (bytes == 0 && got > 0);
}

static void key_init(Key *k) { mpz_inits(k->n, k->e, k->d, k->p, k->q, k->dp, k->dq, k->qinv, NULL); }

static Fault read_key(const Job *job, json_t *keys, Key *key) {
    if (takes_key(job) && json_array_size(keys) == 0)
        return fault("key", -1, "the key was refused: '%s' needs one and got none", job->name);
    size_t index;
    json_t *from;
    json_array_foreach(keys, index, from) {
        long bits = json_integer_value(json_object_get(from, "bits"));
        if (bits != job->bits) return fault("key", -1, "a key of %ld bits came with a job of %ld bits", bits, job->bits);
    }
    if (!takes_key(job)) return no_fault();
    from = json_array_get(keys, 0);
    size_t k = job->k, h = job->h;
    bool is_whole = read_number(from, "n", k, key->n) && read_number(from, "e", 0, key->e) && read_number(from, "d", k, key->d) &&
                    read_number(from, "p", h, key->p) && read_number(from, "q", h, key->q) &&
                    read_number(from, "dp", h, key->dp) && read_number(from, "dq", h, key->dq) &&
                    read_number(from, "qinv", h, key->qinv);
    if (!is_whole || mpz_cmp(key->e, key->n) >= 0)
        return fault("key", -1, "the key was refused: a part of it is missing or has a wrong length");
    /* mpz_powm_sec crashes on what is not odd and positive. */
    if (mpz_even_p(key->n) || mpz_even_p(key->p) || mpz_even_p(key->q) || mpz_sgn(key->e) == 0 || mpz_sgn(key->d) == 0 ||
        mpz_sgn(key->dp) == 0 || mpz_sgn(key->dq) == 0)
        return fault("key", -1, "the key was refused: a modulus is even, or an exponent is 0");
    return no_fault();
}

static Fault check_inputs(const Job *job, const Key *key, const byte *inputs, size_t bytes) {
    if (makes(job))
        return bytes ? fault("length", -1, "the inputs have %zu bytes where '%s' takes 0", bytes, job->name) : no_fault();
    if (!bytes || bytes % job->input)
        return fault("length", -1, "the inputs have %zu bytes, which is not one or more items of %zu bytes", bytes, job->input);
    if (job->op != PRIVATE && job->op != PUBLIC) return no_fault();
    mpz_t block;
    mpz_init(block);
    long place = -1;
    for (size_t at = 0; at < bytes && place < 0; at += job->input) {
        get(block, inputs + at, job->input);
        if (mpz_cmp(block, key->n) >= 0) place = at / job->input;
    }
    mpz_clear(block);
    return place < 0 ? no_fault()
                     : fault("input_out_of_range", place, "input %ld of the batch is not smaller than the modulus", place);
}

/* What a file of a CPU's says, as a number; its first number where it is a list. */
static long system_number(int cpu, const char *name, long otherwise) {
    char path[100];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    FILE *file = fopen(path, "r");
    long number = otherwise;
    if (file && fscanf(file, "%ld", &number) != 1) number = otherwise;
    if (file) fclose(file);
    return number;
}

/* The CPUs that the worker may use, as it was started: the main thread is pinned later. */
static cpu_set_t allowed;

/* Chooses the CPUs of the threads: physical cores first, then their second threads, then round again. */
static void place(Rig *rig) {
    int order[CPU_SETSIZE], rank[CPU_SETSIZE], given[CPU_SETSIZE] = {0}, count = 0, most = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        long core = system_number(cpu, "topology/thread_siblings_list", cpu);
        rank[cpu] = given[core >= 0 && core < CPU_SETSIZE ? core : cpu]++;
        most = rank[cpu] > most ? rank[cpu] : most;
    }
    for (int wanted = 0; wanted <= most; wanted++)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed) && rank[cpu] == wanted) order[count++] = cpu;
    for (int i = 0; count && i < rig->job.threads; i++) rig->cpus[rig->cpu_count++] = order[i % count];
    rig->crowded = rig->job.threads > count;
}

static void release(Rig *rig) {
    if (!rig) return;
    for (int i = 0; i < rig->job.threads; i++) {
        Scratch *s = &rig->members[i].scratch;
        mpz_clears(s->a, s->b, s->c, s->d, NULL);
        gmp_randclear(s->random);
        free(rig->members[i].outputs);
        free(rig->members[i].calls);
    }
    Key *k = &rig->key;
    mpz_clears(k->n, k->e, k->d, k->p, k->q, k->dp, k->dq, k->qinv, NULL);
    free(rig->members);
    free(rig->inputs);
    free(rig->first);
    free(rig->first_output);
    free(rig);
    sched_setaffinity(0, sizeof allowed, &allowed);
}

static Fault prepare(const Job *job, json_t *keys, byte *inputs, size_t bytes, Rig **made) {
    Rig *rig = calloc(1, sizeof *rig);
    if (!rig) exit(1);
    rig->job = *job;
    rig->inputs = inputs;
    key_init(&rig->key);
    rig->members = aligned_alloc(_Alignof(Member), job->threads * sizeof *rig->members);
    if (!rig->members) exit(1);
    memset(rig->members, 0, job->threads * sizeof *rig->members);
    for (int i = 0; i < job->threads; i++) {
        Scratch *s = &rig->members[i].scratch;
        mpz_inits(s->a, s->b, s->c, s->d, NULL);
        /* The article's generator is GMP's own; the seed is the system's. */
        byte seed[32];
        if (getrandom(seed, sizeof seed, 0) != sizeof seed) exit(1);
        gmp_randinit_mt(s->random);
        get(s->a, seed, sizeof seed);
        gmp_randseed(s->random, s->a);
    }
    Fault found = read_key(job, keys, &rig->key);
    if (!found.kind) found = check_inputs(job, &rig->key, inputs, bytes);
    if (found.kind) {
        release(rig);
        return found;
    }
    rig->items = makes(job) ? (size_t)job->batch : bytes / job->input;
    rig->batches = (rig->items + job->batch - 1) / job->batch;
    rig->rounds = job->is_latency || job->is_concurrent || makes(job) ? 1 : 0;
    place(rig);
    omp_set_dynamic(0);
    if (job->threads == 1) pin(rig, 0);
    int started = 1;
    if (job->threads > 1) {
#pragma omp parallel num_threads(job->threads)
        {
            pin(rig, omp_get_thread_num());
#pragma omp master
            started = omp_get_num_threads();
        }
    }
    if (started != job->threads) {
        release(rig);
        return fault("threads", -1, "only %d of %ld threads could be started", started, job->threads);
    }
    for (int i = 0; i < job->threads; i++) rig->members[i].next = i * rig->batches / job->threads;
    if (job->is_latency && !makes(job)) call_first(rig);
    *made = rig;
    return no_fault();
}

/* ---- the conversation ---- */

static void say(json_t *answer) {
    if (json_dumpf(answer, stdout, JSON_COMPACT) || putchar('\n') < 0 || fflush(stdout)) {
        fprintf(stderr, "the conversation broke off: %s\n", strerror(errno));
        exit(5);
    }
    json_decref(answer);
}

static void refuse(const Fault *f) {
    json_t *answer = json_pack("{s:s, s:s, s:s}", "answer", "error", "kind", f->kind, "message", f->message);
    if (f->item >= 0) json_object_set_new(answer, "item", json_integer(f->item));
    say(answer);
}

/* Says where the line goes wrong, but not what is there: it may hold a key. */
static void malformed(int column) {
    Fault f = fault("malformed", -1, "the line is no request of protocol %d (column %d)", PROTOCOL, column);
    refuse(&f);
}

static json_t *engine(void) {
    char version[100], origin[100];
    snprintf(version, sizeof version, "GMP %s", gmp_version);
    snprintf(origin, sizeof origin, "the system's libgmp, gcc %s -O3 -fopenmp", __VERSION__);
#ifdef __OPTIMIZE__
    bool optimised = true;
#else
    bool optimised = false;
#endif
    return json_pack("{s:s, s:s, s:s, s:n, s:[s, s, s, s], s:b}", "name", "c-openmp", "version", version, "origin", origin, "cpu_path",
                     "variants", "plain", "crt", "powm", "powm_sec", "optimised", optimised);
}

/* Lines that have been read and not yet answered. The end of the input is noticed while they wait. */
typedef struct Line {
    char *text;
    size_t length;
    struct Line *next;
} Line;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Line *first_line, **line_end = &first_line;
static bool ended;

/* Adds a line, or the end where there is none. */
static void hand_over(Line *line) {
    pthread_mutex_lock(&lock);
    if (line) {
        *line_end = line;
        line_end = &line->next;
    } else {
        ended = true;
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

/* Reads lines until the input ends, and soon after ends the process: the coordinator is gone. */
static void *watch(void *unused) {
    char *text = NULL;
    size_t space = 0;
    ssize_t length;
    (void)unused;
    while ((length = getline(&text, &space, stdin)) > 0) {
        if (length >= MAX_LINE) {
            fprintf(stderr, "the conversation broke off: a line is longer than %d bytes\n", MAX_LINE);
            _exit(5);
        }
        if (strspn(text, " \t\r\n") == (size_t)length) continue;
        Line *line = room(sizeof *line);
        *line = (Line){text, length, NULL};
        hand_over(line);
        text = NULL, space = 0;
    }
    hand_over(NULL);
    sleep(2);
    fprintf(stderr, "the input has ended; the request in progress was given up\n");
    _exit(5);
}

/* The next line; null at the end. */
static char *next_line(size_t *length) {
    pthread_mutex_lock(&lock);
    while (!first_line && !ended) pthread_cond_wait(&changed, &lock);
    Line *line = first_line;
    if (line && !(first_line = line->next)) line_end = &first_line;
    pthread_mutex_unlock(&lock);
    char *text = line ? line->text : NULL;
    *length = line ? line->length : 0;
    free(line);
    return text;
}

/* Answers one request; false after the last. */
static bool serve(json_t *request, Rig **rig) {
    const char *name = json_string_value(json_object_get(request, "request"));
    Job job;
    bool wrong = false;
    Fault failed = no_fault();
    if (!name) {
        malformed(0);
    } else if (!strcmp(name, "hello")) {
        say(json_pack("{s:s, s:i, s:i, s:o}", "answer", "hello", "protocol", PROTOCOL, "pid", (int)getpid(), "engine", engine()));
    } else if (!strcmp(name, "supports")) {
        const char *reason = read_job(json_object_get(request, "job"), &job, &wrong);
        if (wrong)
            malformed(0);
        else if (reason)
            say(json_pack("{s:s, s:s}", "answer", "unsupported", "reason", reason));
        else
            say(json_pack("{s:s, s:o}", "answer", "supported", "ledger", ledger(&job)));
    } else if (!strcmp(name, "prepare")) {
        release(*rig);
        *rig = NULL;
        const char *reason = read_job(json_object_get(request, "job"), &job, &wrong);
        size_t bytes;
        byte *inputs = unhex(json_object_get(request, "inputs"), &bytes);
        if (wrong || !inputs) {
            malformed(0);
            free(inputs);
            return true;
        }
        if (reason) {
            failed = fault("unsupported", -1, "%s", reason);
            free(inputs);
        } else {
            failed = prepare(&job, json_object_get(request, "keys"), inputs, bytes, rig);
        }
        if (failed.kind) {
            refuse(&failed);
            return true;
        }
        json_t *cpus = json_array();
        for (int i = 0; i < (*rig)->cpu_count; i++) json_array_append_new(cpus, json_integer((*rig)->cpus[i]));
        const char *kernel = job.crt                                                                    ? "mpz_powm_sec, CRT"
                             : job.op == PRIVATE || job.op == SIGN || (job.op == PUBLIC && job.secret) ? "mpz_powm_sec"
                                                                                                       : "mpz";
        json_t *answer = json_pack("{s:s, s:s, s:o, s:b}", "answer", "prepared", "kernel", kernel, "cpus", cpus,
                                   "oversubscribed", (*rig)->crowded);
        if ((*rig)->first_call.operations) json_object_set_new(answer, "first_call", told(&(*rig)->first_call));
        say(answer);
    } else if (!strcmp(name, "release")) {
        release(*rig);
        *rig = NULL;
        say(json_pack("{s:s}", "answer", "released"));
    } else if (!strcmp(name, "quit")) {
        say(json_pack("{s:s}", "answer", "bye"));
        return false;
    } else if (strcmp(name, "outputs") && strcmp(name, "block")) {
        malformed(0);
    } else if (!*rig) {
        failed = fault("sequence", -1, "'%s' needs a prepared job", name);
        refuse(&failed);
    } else if (!strcmp(name, "outputs")) {
        byte *outputs;
        size_t bytes;
        failed = all_outputs(*rig, &outputs, &bytes);
        if (failed.kind) {
            refuse(&failed);
        } else {
            char *text = hex(outputs, bytes);
            say(json_pack("{s:s, s:s}", "answer", "outputs", "outputs", text));
            free(text);
        }
        free(outputs);
    } else {
        json_t *answer = NULL;
        failed = measure(*rig, json_object_get(request, "plan"), &answer, &wrong);
        if (wrong)
            malformed(0);
        else if (failed.kind)
            refuse(&failed);
        else
            say(answer);
    }
    return true;
}

int main(int count, char **arguments) {
    if (count > 1) {
        if (!strcmp(arguments[1], "--version")) return printf("c-openmp (GMP %s)\n", gmp_version) < 0;
        fprintf(stderr, "This is the worker of rsalab's engine 'c-openmp'. rsalab starts it and talks to it over its standard input\n"
                        "and output, one JSON object a line; see docs/worker-protocol.md. Try: rsalab engines\n");
        return strcmp(arguments[1], "--help") && strcmp(arguments[1], "-h") ? 2 : 0;
    }
    if (sched_getaffinity(0, sizeof allowed, &allowed)) CPU_ZERO(&allowed);
    pthread_t reader;
    if (pthread_create(&reader, NULL, watch, NULL)) return 1;
    Rig *rig = NULL;
    char *line;
    size_t length;
    bool goes_on = true;
    while (goes_on && (line = next_line(&length))) {
        json_error_t error;
        json_t *request = json_loadb(line, length, 0, &error);
        if (!request)
            malformed(error.column);
        else
            goes_on = serve(request, &rig);
        json_decref(request);
        free(line);
    }
    return 0;
}
