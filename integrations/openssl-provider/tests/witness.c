/* Loaded into a program with LD_PRELOAD, it asks OpenSSL for the provider of every RSA signature and writes what it saw to $RSALAB_WITNESS/PID: a
 * line with what was ours, one with what was not, and what ours says of its batches. Nothing of the provider is changed for it.
 *
 *     cc -shared -fPIC -O2 -o witness.so witness.c -l:libcrypto.so.3 -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OpenSSL's headers may be absent; these are all that is used. */
typedef struct { const char *key; unsigned int type; void *data; size_t size, used; } param;
extern void *EVP_MD_CTX_get_pkey_ctx(const void *);
extern const void *EVP_PKEY_CTX_get0_provider(const void *);
extern const void *EVP_PKEY_get0_provider(const void *);
extern void *EVP_PKEY_CTX_get0_pkey(void *);
extern int EVP_PKEY_is_a(const void *, const char *);
extern const char *OSSL_PROVIDER_get0_name(const void *);
extern int OSSL_PROVIDER_get_params(const void *, param *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long own, others;
/* Calls within calls of one thread: only the outermost is counted. */
static __thread int inside;
static int process;
/* Read at the start: nginx drops the environment of its workers. */
static char kept[256];

/* Counts a signature of a provider, if it is of a key of RSA. */
static void count(const void *key, const void *provider)
{
    if (!key || !(EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "RSA-PSS")))
        return;
    const char *name = provider ? OSSL_PROVIDER_get0_name(provider) : "none";
    int rsalab = !strcmp(name, "rsalab");
    char path[512], batches[1024] = "";
    FILE *file;

    pthread_mutex_lock(&lock);
    if (process != getpid()) { /* a child of the one that counted */
        own = others = 0;
        process = getpid();
    }
    if (rsalab) {
        param wanted[2];
        memset(wanted, 0, sizeof wanted);
        wanted[0].key = "rsalab-batches";
        wanted[0].type = 4; /* OSSL_PARAM_UTF8_STRING */
        wanted[0].data = batches;
        wanted[0].size = sizeof batches;
        own++;
        OSSL_PROVIDER_get_params(provider, wanted);
    } else {
        others++;
    }
    if (kept[0]) {
        snprintf(path, sizeof path, "%s/%d", kept, process);
        file = fopen(path, "w");
        if (file) {
            fprintf(file, "rsalab %lu\nothers %lu\nbatches %s\n", own, others, batches);
            fclose(file);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void count_of(void *context)
{
    if (context)
        count(EVP_PKEY_CTX_get0_pkey(context), EVP_PKEY_CTX_get0_provider(context));
}

__attribute__((constructor)) static void keep(void)
{
    const char *folder = getenv("RSALAB_WITNESS");
    if (folder)
        snprintf(kept, sizeof kept, "%s", folder);
    process = getpid();
}

int EVP_DigestSign(void *context, unsigned char *signature, size_t *length, const unsigned char *text, size_t size)
{
    static int (*next)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
    if (!next)
        next = (int (*)(void *, unsigned char *, size_t *, const unsigned char *, size_t))dlsym(RTLD_NEXT, "EVP_DigestSign");
    inside++;
    int result = next(context, signature, length, text, size);
    if (!--inside && signature && result == 1)
        count_of(EVP_MD_CTX_get_pkey_ctx(context));
    return result;
}

int EVP_DigestSignFinal(void *context, unsigned char *signature, size_t *length)
{
    static int (*next)(void *, unsigned char *, size_t *);
    if (!next)
        next = (int (*)(void *, unsigned char *, size_t *))dlsym(RTLD_NEXT, "EVP_DigestSignFinal");
    inside++;
    int result = next(context, signature, length);
    if (!--inside && signature && result == 1)
        count_of(EVP_MD_CTX_get_pkey_ctx(context));
    return result;
}

int EVP_PKEY_sign(void *key, unsigned char *signature, size_t *length, const unsigned char *text, size_t size)
{
    static int (*next)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
    if (!next)
        next = (int (*)(void *, unsigned char *, size_t *, const unsigned char *, size_t))dlsym(RTLD_NEXT, "EVP_PKEY_sign");
    inside++;
    int result = next(key, signature, length, text, size);
    if (!--inside && signature && result == 1)
        count_of(key);
    return result;
}

/* What BIND calls. It has the key and no context: the key's provider computes. */
int EVP_SignFinal(void *context, unsigned char *signature, unsigned int *length, void *key)
{
    static int (*next)(void *, unsigned char *, unsigned int *, void *);
    if (!next)
        next = (int (*)(void *, unsigned char *, unsigned int *, void *))dlsym(RTLD_NEXT, "EVP_SignFinal");
    inside++;
    int result = next(context, signature, length, key);
    if (!--inside && result == 1)
        count(key, EVP_PKEY_get0_provider(key));
    return result;
}
