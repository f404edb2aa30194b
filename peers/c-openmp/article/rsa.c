/* The C program of article (b): RSA on GMP's numbers, measured in ticks of the time-stamp counter. From this folder:
 *
 *     gcc -O3 -fopenmp rsa.c -o rsa -lgmp -lm
 *     nice -n 10 taskset -c 0,1 bash -c "time ./rsa"
 *
 * The first part, the steps of RSA, is also what the engine c-openmp is made of: src/worker.c includes this file with RSA_LIBRARY defined,
 * which leaves the program out. */

#define _DEFAULT_SOURCE

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- The steps of RSA ---- */

enum {
    /* Repetitions of the primality test. */
    REPS = 5,
    SEED_BYTES = 32
};

/* One thread's source of candidates for primes. */
typedef struct {
    gmp_randstate_t random;
    mpz_t scratch;
    /* Primality tests done. */
    uint64_t tests;
} Source;

/* The generator is GMP's Mersenne Twister: good for measurements, not for keys in use. */
static void source_init(Source *s, const unsigned char seed[SEED_BYTES]) {
    mpz_init(s->scratch);
    gmp_randinit_mt(s->random);
    mpz_import(s->scratch, SEED_BYTES, 1, 1, 1, 0, seed);
    gmp_randseed(s->random, s->scratch);
    s->tests = 0;
}

static void source_clear(Source *s) {
    mpz_clear(s->scratch);
    gmp_randclear(s->random);
}

/* A prime fit for a key: random odd numbers with the top two bits set, until one passes. With those bits the product of two primes has
 * exactly twice their bits. */
static void find_prime(Source *s, mpz_t prime, mp_bitcnt_t bits, unsigned long exponent) {
    do {
        mpz_urandomb(prime, s->random, bits);
        mpz_setbit(prime, bits - 1);
        mpz_setbit(prime, bits - 2);
        mpz_setbit(prime, 0);
        ++s->tests;
        if (!mpz_probab_prime_p(prime, REPS)) continue;
        mpz_sub_ui(s->scratch, prime, 1);
        if (mpz_gcd_ui(NULL, s->scratch, exponent) == 1) return;
    } while (true);
}

/* Step 1. The difference of the primes is at least 2^(bits - 100), as FIPS 186-5 (A.1.3) asks. */
static void find_pair(Source *s, mpz_t p, mpz_t q, mp_bitcnt_t bits, unsigned long exponent) {
    find_prime(s, p, bits, exponent);
    do {
        find_prime(s, q, bits, exponent);
        mpz_sub(s->scratch, p, q);
    } while (mpz_sizeinbase(s->scratch, 2) + 100 <= bits);
}

/* Step 2: n = p q and phi = (p - 1)(q - 1). Leaves p - 1 and q - 1 in p and q. */
static void modulus_and_totient(mpz_t n, mpz_t phi, mpz_t p, mpz_t q) {
    mpz_mul(n, p, q);
    mpz_sub_ui(p, p, 1);
    mpz_sub_ui(q, q, 1);
    mpz_mul(phi, p, q);
}

/* Step 3: d with e d = 1 modulo phi; false if there is none. */
static bool private_exponent(mpz_t d, unsigned long e, const mpz_t phi) {
    mpz_set_ui(d, e);
    return mpz_invert(d, d, phi) != 0;
}

/* Step 4. */
static void encrypt(mpz_t c, const mpz_t m, const mpz_t e, const mpz_t n) { mpz_powm_sec(c, m, e, n); }

static void decrypt(mpz_t m, const mpz_t c, const mpz_t d, const mpz_t n) { mpz_powm_sec(m, c, d, n); }

#ifndef RSA_LIBRARY

/* ---- The program ---- */

#ifndef _OPENMP
#error "compile with -fopenmp"
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- What is measured ---- */

enum {
    /* Bits of a prime. */
    SIZES = 3,
    MESSAGE_BITS = 1023,
    EXPONENT = 65537,

    /* Exit codes. */
    FAILED = 1,
    BAD_ARGUMENT = 2,

    /* Bounds of the arguments. With them no sum of ticks overflows. */
    MAX_PAIRS = 1000000,
    MAX_BATCHES = 1000000,
    MAX_THREADS = 1024
};
static const uint64_t MAX_PAIRS_IN_ALL = 1000000000;
static const unsigned PRIME_BITS[SIZES] = {512, 768, 1024};
/* What the article adds to the time of its threads in its prediction. */
static const double OVERHEAD = 1.35;

typedef struct {
    uint64_t pairs, batches;
    int threads;
    const char *folder;
} Options;

/* Pairs of one size so far: how many, and their ticks. */
typedef struct {
    uint64_t count, least, most, sum;
} Pairs;

/* The part of them that this process found, and the wall time that it took. */
typedef struct {
    uint64_t count, sum;
    double wall_s;
} Run;

/* Ticks of steps 2 to 4 with one key. */
typedef struct {
    uint64_t totient, private_exponent, encryption, decryption;
    bool verified;
} Steps;

static _Noreturn void __attribute__((format(printf, 2, 3))) fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("rsa: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(code);
}

/* ---- Clocks ---- */

/* The time-stamp counter, once all instructions before are done. Where there is none, nanoseconds. */
static uint64_t ticks(void) {
#ifdef __x86_64__
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Both clocks at one moment. */
typedef struct {
    uint64_t ticks;
    double seconds;
} Moment;

static Moment moment(void) { return (Moment){ticks(), seconds()}; }

/* Ticks a second since a moment: over a tenth of a second at least, so that reading the clocks does not count. */
static double ticks_a_second(Moment start) {
    while (seconds() < start.seconds + 0.1) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    Moment now = moment();
    return (double)(now.ticks - start.ticks) / (now.seconds - start.seconds);
}

/* ---- Step 1 in batches ---- */

static Source *new_sources(int threads) {
    Source *sources = calloc((size_t)threads, sizeof *sources);
    if (!sources) fail(FAILED, "there is no memory for %d threads", threads);
    for (int i = 0; i < threads; i++) {
        unsigned char seed[SEED_BYTES];
        if (getrandom(seed, sizeof seed, 0) != sizeof seed) fail(FAILED, "the system gives no random numbers: %s", strerror(errno));
        source_init(&sources[i], seed);
    }
    return sources;
}

/* Ends the program if OpenMP gives fewer threads than asked for, as OMP_THREAD_LIMIT makes it. */
static void check_threads(int threads) {
    int given = 0;
#pragma omp parallel num_threads(threads) reduction(+ : given)
    given += 1;
    if (given != threads) fail(BAD_ARGUMENT, "OpenMP gives %d of %d threads; ask for fewer with --threads", given, threads);
}

/* Finds so many pairs on several threads. Each thread draws from a source of its own, and times each pair that it finds. */
static Pairs find_batch(Source *sources, int threads, unsigned bits, uint64_t pairs) {
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
#pragma omp parallel num_threads(threads) reduction(min : least) reduction(max : most) reduction(+ : sum)
    {
        Source *source = &sources[omp_get_thread_num()];
        mpz_t p, q;
        mpz_init2(p, bits);
        mpz_init2(q, bits);
#pragma omp for schedule(dynamic)
        for (uint64_t i = 0; i < pairs; i++) {
            uint64_t start = ticks();
            find_pair(source, p, q, bits, EXPONENT);
            uint64_t taken = ticks() - start;
            least = taken < least ? taken : least;
            most = taken > most ? taken : most;
            sum += taken;
        }
        mpz_clears(p, q, NULL);
    }
    return (Pairs){pairs, least, most, sum};
}

static void add(Pairs *all, const Pairs *batch) {
    if (all->count == 0 || batch->least < all->least) all->least = batch->least;
    if (batch->most > all->most) all->most = batch->most;
    all->count += batch->count;
    all->sum += batch->sum;
}

static double mean(const Pairs *pairs) { return (double)pairs->sum / (double)pairs->count; }

/* ---- The files of the batches ---- */

/* The name of a file in the folder, or the whole text of one. */
typedef struct {
    char bytes[512];
} Text;

/* What a file has while it is written. A killed program leaves it; the next one writes over it. */
static const char TEMPORARY[] = "result.part";

static Text file_name(unsigned bits, uint64_t count) {
    Text name;
    snprintf(name.bytes, sizeof name.bytes, "result_%u_run_%" PRIu64 ".txt", bits, count);
    return name;
}

static Text file_text(unsigned bits, const Pairs *pairs) {
    Text text;
    snprintf(text.bytes, sizeof text.bytes,
             "Bit size: %u\nIterations: %" PRIu64 "\nMinimum clock cycles: %" PRIu64 "\nMaximum clock cycles: %" PRIu64
             "\nAverage clock cycles: %.2f\n",
             bits, pairs->count, pairs->least, pairs->most, mean(pairs));
    return text;
}

/* Opens the folder, which is made if it is not there. As long as the program runs no other one can work in it. */
static int open_folder(const char *folder) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) fail(BAD_ARGUMENT, "the folder '%s' cannot be made: %s", folder, strerror(errno));
    int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) fail(BAD_ARGUMENT, "the folder '%s' cannot be opened: %s", folder, strerror(errno));
    if (faccessat(opened, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        fail(BAD_ARGUMENT, "the folder '%s' cannot be written to: %s", folder, strerror(errno));
    }
    if (flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        fail(FAILED, "another run works in the folder '%s'; wait for it, or take another one with --folder", folder);
    }
    return opened;
}

/* A file has its name only when all of it is on the disk. */
static void save(const Options *options, int folder, unsigned bits, const Pairs *pairs) {
    Text name = file_name(bits, pairs->count), text = file_text(bits, pairs);
    size_t length = strlen(text.bytes);
    int file = openat(folder, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool saved = file >= 0 && write(file, text.bytes, length) == (ssize_t)length && fsync(file) == 0 && close(file) == 0 &&
                 renameat(folder, TEMPORARY, folder, name.bytes) == 0;
    if (!saved) fail(FAILED, "%s/%s cannot be written: %s", options->folder, name.bytes, strerror(errno));
    /* Not every file system can do this with a folder. */
    fsync(folder);
}

/* Reads what `save` has written. The sum of the ticks comes from the mean, which has two decimals: exact to 0.005 ticks a pair. */
static Pairs load(const Options *options, int folder, unsigned bits, uint64_t count) {
    Text name = file_name(bits, count), text = {0};
    int file = openat(folder, name.bytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text.bytes, sizeof text.bytes - 1);
    if (length < 0) fail(FAILED, "%s/%s cannot be read: %s", options->folder, name.bytes, strerror(errno));
    close(file);

    unsigned its_bits;
    Pairs pairs;
    double its_mean;
    int found = sscanf(text.bytes,
                       "Bit size: %u Iterations: %" SCNu64 " Minimum clock cycles: %" SCNu64 " Maximum clock cycles: %" SCNu64
                       " Average clock cycles: %lf",
                       &its_bits, &pairs.count, &pairs.least, &pairs.most, &its_mean);
    bool is_whole = found == 5 && its_bits == bits && pairs.count == count && its_mean >= (double)pairs.least &&
                    its_mean <= (double)pairs.most && its_mean * (double)count < 9e18;
    if (is_whole) {
        pairs.sum = (uint64_t)llround(its_mean * (double)count);
        is_whole = strcmp(text.bytes, file_text(bits, &pairs).bytes) == 0;
    }
    if (!is_whole) fail(FAILED, "%s/%s is not a result of this program; remove it", options->folder, name.bytes);
    return pairs;
}

/* The largest count of a size that has a file and is not above what was asked for; 0 if there is none. */
static uint64_t last_count(const Options *options, int folder, unsigned bits) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries) fail(FAILED, "the folder '%s' cannot be read: %s", options->folder, strerror(errno));
    uint64_t first = UINT64_MAX, last = 0;
    for (struct dirent *entry; (entry = readdir(entries));) {
        unsigned its_bits;
        uint64_t count;
        if (sscanf(entry->d_name, "result_%u_run_%" SCNu64, &its_bits, &count) != 2 || its_bits != bits) continue;
        if (strcmp(entry->d_name, file_name(bits, count).bytes) != 0) continue;
        if (count % options->pairs != 0) first = 0;
        if (count < first) first = count;
        if (count > last && count <= options->pairs * options->batches) last = count;
    }
    closedir(entries);
    if (first != UINT64_MAX && first != options->pairs) {
        fail(BAD_ARGUMENT,
             "the files of %u-bit primes in '%s' are not of batches of %" PRIu64 " pairs; use theirs with --pairs, or another --folder",
             bits, options->folder, options->pairs);
    }
    return last;
}

/* ---- Steps 2 to 4 ---- */

/* Makes a key of two new primes, sends a random message through it, and counts the ticks of each step once. */
static Steps measure_steps(Source *source, unsigned bits) {
    mpz_t p, q, n, phi, e, d, message, ciphertext, decrypted;
    mpz_inits(p, q, n, phi, e, d, message, ciphertext, decrypted, NULL);
    find_pair(source, p, q, bits, EXPONENT);
    mpz_set_ui(e, EXPONENT);
    mpz_urandomb(message, source->random, MESSAGE_BITS);
    mpz_setbit(message, MESSAGE_BITS - 1);

    Steps steps;
    uint64_t start = ticks();
    modulus_and_totient(n, phi, p, q);
    steps.totient = ticks() - start;

    start = ticks();
    bool has_inverse = private_exponent(d, EXPONENT, phi);
    steps.private_exponent = ticks() - start;

    start = ticks();
    encrypt(ciphertext, message, e, n);
    steps.encryption = ticks() - start;

    start = ticks();
    decrypt(decrypted, ciphertext, d, n);
    steps.decryption = ticks() - start;

    steps.verified = has_inverse && mpz_cmp(decrypted, message) == 0;
    mpz_clears(p, q, n, phi, e, d, message, ciphertext, decrypted, NULL);
    return steps;
}

static uint64_t total(const Steps *steps) {
    return steps->totient + steps->private_exponent + steps->encryption + steps->decryption;
}

/* ---- What is printed ---- */

/* A number with commas between thousands. */
static Text grouped(double value, int decimals) {
    Text plain, text;
    int length = snprintf(plain.bytes, sizeof plain.bytes, "%.*f", decimals, value);
    int whole = length - (decimals ? decimals + 1 : 0), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0) text.bytes[used++] = ',';
        text.bytes[used++] = plain.bytes[i];
    }
    text.bytes[used] = 0;
    return text;
}

/* Seconds, and the same in hours, minutes and seconds. */
static Text duration(double value) {
    Text text;
    long long whole = llround(value);
    snprintf(text.bytes, sizeof text.bytes, "%.40s s (%lld:%02lld:%02lld)", grouped(value, 2).bytes, whole / 3600, whole / 60 % 60,
             whole % 60);
    return text;
}

static void print_pairs(const Pairs *all) {
    puts("Clock cycles are ticks of the time-stamp counter.\n\nStep 1: pairs of primes, each timed by the thread that finds it\n");
    for (int size = 0; size < SIZES; size++) {
        printf("For %u-bit primes (%s iterations):\n", PRIME_BITS[size], grouped((double)all[size].count, 0).bytes);
        printf("- Minimum clock cycles: %s\n", grouped((double)all[size].least, 0).bytes);
        printf("- Maximum clock cycles: %s\n", grouped((double)all[size].most, 0).bytes);
        printf("- Average clock cycles: %s\n\n", grouped(mean(&all[size]), 2).bytes);
    }
}

static void print_row(const char *label, uint64_t first, uint64_t second, uint64_t third) {
    printf("%-34s", label);
    printf("%12s", grouped((double)first, 0).bytes);
    printf("%12s", grouped((double)second, 0).bytes);
    printf("%12s\n", grouped((double)third, 0).bytes);
}

static void print_steps(const Steps *steps) {
    printf("Steps 2-4: one key of each size, a message of %d bits\n\n", MESSAGE_BITS);
    printf("%-34s", "Step");
    for (int size = 0; size < SIZES; size++) printf("%8u-bit", PRIME_BITS[size]);
    putchar('\n');
#define ROW(label, step) print_row(label, steps[0].step, steps[1].step, steps[2].step)
    ROW("Step 2: N and phi(N) (cycles)", totient);
    ROW("Step 3: Compute d (cycles)", private_exponent);
    ROW("Step 4: Encryption (cycles)", encryption);
    ROW("Step 4: Decryption (cycles)", decryption);
#undef ROW
    printf("%-34s", "Verification");
    for (int size = 0; size < SIZES; size++) printf("%12s", steps[size].verified ? "Successful" : "FAILED");
    puts("\n");
}

/* The article's section 4, with the ticks a second that were measured in place of its 4.4 GHz. */
static void print_times(const Options *options, const Pairs *all, const Run *runs, const Steps *steps, double rate) {
    printf("Times, at %s cycles a second (measured)\n\n", grouped(rate, 0).bytes);
    puts("Step 1, predicted from the average:");
    double serial_s = 0;
    for (int size = 0; size < SIZES; size++) {
        double pairs = (double)all[size].count, pair_s = mean(&all[size]) / rate;
        serial_s += pair_s * pairs;
        printf("- %u-bit: %.6f s/pair x %s = %s\n", PRIME_BITS[size], pair_s, grouped(pairs, 0).bytes, duration(pair_s * pairs).bytes);
    }
    double parallel_s = serial_s / options->threads * OVERHEAD;
    printf("- Total on one thread: %s\n", duration(serial_s).bytes);
    printf("- Total with threads = %d and 35%% overhead: %s\n\n", options->threads, duration(parallel_s).bytes);

    puts("Step 1, measured in this run:");
    double wall_s = 0, busy_s = 0;
    for (int size = 0; size < SIZES; size++) {
        wall_s += runs[size].wall_s;
        busy_s += (double)runs[size].sum / rate;
        Text pairs = grouped((double)runs[size].count, 0);
        printf("- %u-bit: %s pairs in %s\n", PRIME_BITS[size], pairs.bytes, duration(runs[size].wall_s).bytes);
    }
    printf("- Total: %s\n", duration(wall_s).bytes);
    if (busy_s > 0) printf("- Overhead of threads = %d: %.1f%%\n", options->threads, (wall_s * options->threads / busy_s - 1) * 100);

    puts("\nSteps 2-4:");
    double steps_s = 0;
    for (int size = 0; size < SIZES; size++) {
        double its_s = (double)total(&steps[size]) / rate;
        steps_s += its_s;
        printf("- %u-bit: %s cycles = %.6f s\n", PRIME_BITS[size], grouped((double)total(&steps[size]), 0).bytes, its_s);
    }
    printf("- Total: %.6f s\n\n", steps_s);
    printf("Total estimated execution time: %s\n", duration(parallel_s + steps_s).bytes);
}

/* ---- Arguments ---- */

static const char USAGE[] = "usage: rsa [options]\n"
                            "Finds pairs of primes of 512, 768 and 1024 bits in batches, then does RSA once with each size.\n"
                            "Each batch is saved. An interrupted run goes on from its files: start it again with the same options.\n"
                            "\n"
                            "  -p, --pairs N      pairs a batch (1000)\n"
                            "  -b, --batches N    batches (1000)\n"
                            "  -t, --threads N    OpenMP threads (2)\n"
                            "  -f, --folder PATH  where the batches are saved (results)\n"
                            "  -h, --help         this text\n";

static uint64_t read_number(const char *option, const char *text, uint64_t most) {
    uint64_t value = 0;
    bool is_valid = *text != 0;
    for (const char *at = text; *at && is_valid; at++) {
        is_valid = *at >= '0' && *at <= '9';
        if (is_valid) value = value * 10 + (uint64_t)(*at - '0');
        is_valid = is_valid && value <= most;
    }
    if (!is_valid || value == 0) fail(BAD_ARGUMENT, "%s takes a number from 1 to %" PRIu64 ", not '%s'", option, most, text);
    return value;
}

static Options read_options(int count, char **arguments) {
    static const struct option NAMES[] = {
        {"pairs", required_argument, NULL, 'p'},  {"batches", required_argument, NULL, 'b'}, {"threads", required_argument, NULL, 't'},
        {"folder", required_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'},          {0}};
    Options options = {.pairs = 1000, .batches = 1000, .threads = 2, .folder = "results"};
    for (int option; (option = getopt_long(count, arguments, "p:b:t:f:h", NAMES, NULL)) != -1;) {
        switch (option) {
        case 'p': options.pairs = read_number("--pairs", optarg, MAX_PAIRS); break;
        case 'b': options.batches = read_number("--batches", optarg, MAX_BATCHES); break;
        case 't': options.threads = (int)read_number("--threads", optarg, MAX_THREADS); break;
        case 'f': options.folder = optarg; break;
        case 'h': exit(fputs(USAGE, stdout) < 0 || fflush(stdout) != 0 ? FAILED : 0);
        default: fail(BAD_ARGUMENT, "the options are listed by: rsa --help");
        }
    }
    if (optind < count) fail(BAD_ARGUMENT, "'%s' is not an option; they are listed by: rsa --help", arguments[optind]);
    if (options.pairs * options.batches > MAX_PAIRS_IN_ALL) {
        fail(BAD_ARGUMENT, "--pairs times --batches is %" PRIu64 ", above the limit of %" PRIu64, options.pairs * options.batches,
             MAX_PAIRS_IN_ALL);
    }
    return options;
}

int main(int count, char **arguments) {
    Moment start = moment();
    Options options = read_options(count, arguments);
    check_threads(options.threads);
    int folder = open_folder(options.folder);

    Pairs all[SIZES] = {0};
    for (int size = 0; size < SIZES; size++) {
        uint64_t found = last_count(&options, folder, PRIME_BITS[size]);
        if (found == 0) continue;
        all[size] = load(&options, folder, PRIME_BITS[size], found);
        fprintf(stderr, "%u-bit primes: %" PRIu64 " of %" PRIu64 " pairs are saved in %s\n", PRIME_BITS[size], found,
                options.pairs * options.batches, options.folder);
    }

    Source *sources = new_sources(options.threads);
    Run runs[SIZES] = {0};
    for (uint64_t batch = 1; batch <= options.batches; batch++) {
        for (int size = 0; size < SIZES; size++) {
            unsigned bits = PRIME_BITS[size];
            if (all[size].count >= batch * options.pairs) continue;
            double before = seconds();
            Pairs found = find_batch(sources, options.threads, bits, options.pairs);
            double wall_s = seconds() - before;
            add(&all[size], &found);
            save(&options, folder, bits, &all[size]);
            runs[size].count += found.count;
            runs[size].sum += found.sum;
            runs[size].wall_s += wall_s;
            Text average = grouped(mean(&all[size]), 2);
            fprintf(stderr, "batch %" PRIu64 " of %" PRIu64 ", %u-bit primes: %" PRIu64 " pairs, average %s cycles; took %.2f s\n",
                    batch, options.batches, bits, all[size].count, average.bytes, wall_s);
        }
    }

    Steps steps[SIZES];
    bool verified = true;
    for (int size = 0; size < SIZES; size++) {
        steps[size] = measure_steps(&sources[0], PRIME_BITS[size]);
        verified = verified && steps[size].verified;
    }
    for (int i = 0; i < options.threads; i++) source_clear(&sources[i]);
    free(sources);

    double rate = ticks_a_second(start);
    print_pairs(all);
    print_steps(steps);
    print_times(&options, all, runs, steps, rate);
    if (fflush(stdout) != 0) fail(FAILED, "the results cannot be printed: %s", strerror(errno));
    if (!verified) fail(FAILED, "a decrypted message is not the one that was encrypted");
    return 0;
}

#endif
