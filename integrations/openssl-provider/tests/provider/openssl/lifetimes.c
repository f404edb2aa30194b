/* Keys and contexts at the ends of programs, libraries and processes, and a key generated in a job. OpenSSL's headers may be absent; these are all that is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { const char *key; unsigned int type; void *data; size_t size, used; } param;
extern void *EVP_PKEY_Q_keygen(void *, const char *, const char *, ...);
extern void EVP_PKEY_free(void *);
extern const void *EVP_PKEY_get0_provider(const void *);
extern const char *OSSL_PROVIDER_get0_name(const void *);
extern void *EVP_MD_CTX_new(void);
extern void EVP_MD_CTX_free(void *);
extern int EVP_DigestSignInit_ex(void *, void **, const char *, void *, const char *, void *, const param *);
extern int EVP_DigestSign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
extern void *EVP_PKEY_CTX_new_from_pkey(void *, void *, const char *);
extern void EVP_PKEY_CTX_free(void *);
extern const void *EVP_PKEY_CTX_get0_provider(const void *);
extern int EVP_PKEY_verify_init(void *);
extern int EVP_PKEY_verify(void *, const unsigned char *, size_t, const unsigned char *, size_t);
extern void *OSSL_LIB_CTX_new(void);
extern void OSSL_LIB_CTX_free(void *);
extern int OSSL_LIB_CTX_load_config(void *, const char *);
extern void *BIO_new_file(const char *, const char *);
extern int BIO_free(void *);
extern void *PEM_read_bio_PrivateKey(void *, void **, void *, void *);
extern void OPENSSL_cleanup(void);
extern void ERR_clear_error(void);
extern unsigned long ERR_get_error_all(const char **, int *, const char **, const char **, int *);
extern const char *ERR_lib_error_string(unsigned long);
extern const char *ERR_reason_error_string(unsigned long);
extern const void *TLS_server_method(void), *TLS_client_method(void);
extern void *SSL_CTX_new(const void *), *SSL_new(void *);
extern void SSL_CTX_free(void *), SSL_free(void *);
extern int SSL_CTX_use_certificate_file(void *, const char *, int), SSL_CTX_use_PrivateKey_file(void *, const char *, int);
extern int BIO_new_bio_pair(void **, size_t, void **, size_t);
extern void SSL_set_bio(void *, void *, void *), SSL_set_accept_state(void *), SSL_set_connect_state(void *);
extern int SSL_do_handshake(void *), SSL_is_init_finished(const void *);
extern void *ASYNC_WAIT_CTX_new(void);
extern void ASYNC_WAIT_CTX_free(void *);
extern int ASYNC_start_job(void **, void *, int *, int (*)(void *), void *, size_t);
enum { ASYNC_FINISH = 3 };

static void *key, *server, *library;

/* What a holder in a static does at the end of the process: after OpenSSL's own cleanup, which the first use registered later. */
__attribute__((destructor)) static void end(void)
{
    if (key) EVP_PKEY_free(key);
    if (server) SSL_CTX_free(server);
    if (library) OSSL_LIB_CTX_free(library);
}

static void *generate(void *library)
{
    void *made = EVP_PKEY_Q_keygen(library, NULL, "RSA", (size_t) 1024);
    if (!made) exit(9);
    printf("key: %s\n", OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(made)));
    return made;
}

static void sign(void *library, void *key)
{
    unsigned char signature[1024];
    size_t len = sizeof signature;
    void *context = EVP_MD_CTX_new(), *operation = NULL;
    int done = EVP_DigestSignInit_ex(context, &operation, "SHA256", library, NULL, key, NULL) > 0
        && EVP_DigestSign(context, signature, &len, (const unsigned char *) "x", 1) > 0;
    if (!done) exit(9);
    printf("signed: %s\n", OSSL_PROVIDER_get0_name(EVP_PKEY_CTX_get0_provider(operation)));
    EVP_MD_CTX_free(context);
}

static void serve(const char *certificate, const char *file)
{
    void *client = SSL_CTX_new(TLS_client_method()), *s, *c, *a, *b;
    server = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_file(server, certificate, 1) != 1 || SSL_CTX_use_PrivateKey_file(server, file, 1) != 1) exit(9);
    s = SSL_new(server), c = SSL_new(client);
    BIO_new_bio_pair(&a, 0, &b, 0);
    SSL_set_bio(s, a, a), SSL_set_bio(c, b, b);
    SSL_set_accept_state(s), SSL_set_connect_state(c);
    for (int i = 0; i < 10; i++) SSL_do_handshake(c), SSL_do_handshake(s);
    if (!SSL_is_init_finished(c) || !SSL_is_init_finished(s)) exit(9);
    printf("served\n");
    SSL_free(s), SSL_free(c), SSL_CTX_free(client);
}

/* Whether a signature of a wrong length is refused, and the queue says why. Later versions add an error of EVP's. */
static int is_refused(void *context)
{
    const char *file, *function, *text, *reason, *name;
    const unsigned char *one = (const unsigned char *) "x";
    int line, flags, refused = EVP_PKEY_verify(context, one, 1, one, 1) != 1;
    unsigned long error = ERR_get_error_all(&file, &line, &function, &text, &flags);
    name = ERR_lib_error_string(error), reason = ERR_reason_error_string(error);
    refused = refused && name && reason && (error >> 23 & 255) == 57 && !strcmp(reason, "operation fail")
        && !strcmp(file, "rsalab") && !strcmp(text, "the signature is not the input's");
    ERR_clear_error();
    return refused;
}

static void *verification(void *library, void *key)
{
    void *context = EVP_PKEY_CTX_new_from_pkey(library, key, NULL);
    if (!context || EVP_PKEY_verify_init(context) != 1) exit(9);
    return context;
}

static void *fail(void *context)
{
    for (;;) is_refused(context);
    return NULL;
}

/* Children of a process whose threads fail all the time fail as well, and end. */
static int fork_often(void)
{
    int bad = 0;
    pthread_t thread;
    key = generate(NULL);
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, fail, verification(NULL, key));
    void *ours = verification(NULL, key);
    for (int i = 0; i < 200; i++) {
        int status = 0;
        pid_t child = fork();
        if (!child) {
            alarm(20);
            _exit(is_refused(ours) ? 0 : 1);
        }
        waitpid(child, &status, 0);
        bad += status != 0;
        if (WIFSIGNALED(status)) break;
    }
    printf("bad children: %d\n", bad);
    fflush(stdout);
    _exit(bad != 0);
}

/* Two library contexts, of which one goes first. */
static int two(const char *configuration)
{
    void *contexts[2], *keys[2], *asked[2];
    int good = 1;
    for (int i = 0; i < 2; i++) {
        contexts[i] = OSSL_LIB_CTX_new();
        if (OSSL_LIB_CTX_load_config(contexts[i], configuration) != 1) exit(9);
        keys[i] = generate(contexts[i]);
        asked[i] = verification(contexts[i], keys[i]);
    }
    for (int i = 0; i < 2; i++) good &= is_refused(asked[i]);
    EVP_PKEY_CTX_free(asked[1]), EVP_PKEY_free(keys[1]), OSSL_LIB_CTX_free(contexts[1]);
    good &= is_refused(asked[0]);
    sign(contexts[0], keys[0]);
    EVP_PKEY_CTX_free(asked[0]), EVP_PKEY_free(keys[0]), OSSL_LIB_CTX_free(contexts[0]);
    printf("good: %d\n", good);
    return !good;
}

/* A copy of libcrypto, with a queue of its own. */
typedef struct {
    void *library;
    void *(*named)(void *, const char *, const char *);
    int (*begin)(void *), (*set_bits)(void *, int);
    unsigned long (*get)(void), (*peek)(void);
} copy;

static copy open_copy(const char *path, const char *configuration)
{
    void *crypto = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    copy copy;
    if (!crypto) exit(8);
    void *(*new)(void) = (void *(*)(void)) dlsym(crypto, "OSSL_LIB_CTX_new");
    int (*load)(void *, const char *) = (int (*)(void *, const char *)) dlsym(crypto, "OSSL_LIB_CTX_load_config");
    copy.named = (void *(*)(void *, const char *, const char *)) dlsym(crypto, "EVP_PKEY_CTX_new_from_name");
    copy.begin = (int (*)(void *)) dlsym(crypto, "EVP_PKEY_keygen_init");
    copy.set_bits = (int (*)(void *, int)) dlsym(crypto, "EVP_PKEY_CTX_set_rsa_keygen_bits");
    copy.get = (unsigned long (*)(void)) dlsym(crypto, "ERR_get_error");
    copy.peek = (unsigned long (*)(void)) dlsym(crypto, "ERR_peek_error");
    copy.library = new();
    if (load(copy.library, configuration) != 1) exit(9);
    while (copy.get()) {}
    return copy;
}

/* Of two copies of libcrypto in one process, the one that asked has the error. */
static int copies(const char *one, const char *other, const char *configuration)
{
    copy both[2] = { open_copy(one, configuration), open_copy(other, configuration) };
    int good = both[0].get != both[1].get;
    for (int turn = 0; turn < 4; turn++) {
        int i = turn & 1;
        void *context = both[i].named(both[i].library, "RSA", "provider=rsalab");
        if (!context || both[i].begin(context) != 1) exit(9);
        good &= both[i].set_bits(context, 100) != 1;
        good &= both[i].peek() == 0x1c8000ab && !both[1 - i].peek();
        while (both[i].get()) {}
    }
    printf("good: %d\n", good);
    fflush(stdout);
    _exit(!good);
}

/* Large stacks of the provider's, by their guards of 64 KiB. */
static int stacks(void)
{
    char line[512], mode[8];
    unsigned long from, to;
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) exit(9);
    while (fgets(line, sizeof line, maps))
        found += sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && to - from == 1 << 16 && !strcmp(mode, "---p");
    fclose(maps);
    return found;
}

static int generate_in_job(void *unused)
{
    (void) unused;
    key = generate(NULL);
    return 1;
}

/* The stack of a job has 32 KiB, and nothing below it that would stop who needs more. */
static void in_a_job(void)
{
    void *started = NULL, *wait = ASYNC_WAIT_CTX_new();
    int done = 0, before;
    EVP_PKEY_free(generate(NULL));
    before = stacks();
    if (ASYNC_start_job(&started, wait, &done, generate_in_job, NULL, 0) != ASYNC_FINISH || done != 1) exit(9);
    printf("large stacks: %d\n", stacks() - before);
    ASYNC_WAIT_CTX_free(wait);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    void *own;
    if (!strcmp(what, "made")) {
        key = generate(NULL);
    } else if (!strcmp(what, "signed")) {
        key = generate(NULL), sign(NULL, key);
    } else if (!strcmp(what, "cleaned")) {
        own = generate(NULL), sign(NULL, own);
        OPENSSL_cleanup();
        EVP_PKEY_free(own);
    } else if (!strcmp(what, "read") && count == 3) {
        void *file = BIO_new_file(words[2], "r");
        key = PEM_read_bio_PrivateKey(file, NULL, NULL, NULL);
        BIO_free(file);
        if (!key) exit(9);
        printf("key: %s\n", OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(key)));
        sign(NULL, key);
    } else if (!strcmp(what, "server") && count == 4) {
        serve(words[2], words[3]);
    } else if (!strcmp(what, "library") && count == 3) {
        library = OSSL_LIB_CTX_new();
        OSSL_LIB_CTX_load_config(library, words[2]);
        key = generate(library), sign(library, key);
    } else if (!strcmp(what, "library-cleaned") && count == 3) {
        void *mine = OSSL_LIB_CTX_new();
        OSSL_LIB_CTX_load_config(mine, words[2]);
        own = generate(mine), sign(mine, own);
        OPENSSL_cleanup();
        EVP_PKEY_free(own), OSSL_LIB_CTX_free(mine);
    } else if (!strcmp(what, "job")) {
        in_a_job();
    } else if (!strcmp(what, "fork")) {
        return fork_often();
    } else if (!strcmp(what, "two") && count == 3) {
        return two(words[2]);
    } else if (!strcmp(what, "copies") && count == 5) {
        return copies(words[2], words[3], words[4]);
    } else {
        return 7;
    }
    fflush(stdout);
    return 0;
}
