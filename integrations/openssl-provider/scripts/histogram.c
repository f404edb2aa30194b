/* Loaded into a server with LD_PRELOAD, it writes what the provider rsalab says of its batches to $RSALAB_HISTOGRAM.out, once somebody writes to the FIFO
 * $RSALAB_HISTOGRAM. Until then its thread sleeps: unlike tests/witness.c it costs a signature nothing.
 *
 *     cc -shared -fPIC -O2 -o histogram.so histogram.c -l:libcrypto.so.3 -lpthread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OpenSSL's headers may be absent; these are all that is used. */
typedef struct { const char *key; unsigned int type; void *data; size_t size, used; } param;
extern int OSSL_PROVIDER_do_all(void *, int (*)(void *, void *), void *);
extern const char *OSSL_PROVIDER_get0_name(const void *);
extern int OSSL_PROVIDER_get_params(const void *, param *);

static int ask(void *provider, void *text)
{
    param wanted[2];

    if (strcmp(OSSL_PROVIDER_get0_name(provider), "rsalab") != 0)
        return 1;
    memset(wanted, 0, sizeof wanted);
    wanted[0].key = "rsalab-batches";
    wanted[0].type = 4; /* OSSL_PARAM_UTF8_STRING */
    wanted[0].data = text;
    wanted[0].size = 1024;
    OSSL_PROVIDER_get_params(provider, wanted);
    return 0;
}

static void *wait_and_write(void *path)
{
    char text[1024] = "", out[512], line[16];
    FILE *file = fopen(path, "r");

    if (!file || !fgets(line, sizeof line, file))
        return NULL;
    fclose(file);
    OSSL_PROVIDER_do_all(NULL, ask, text);
    snprintf(out, sizeof out, "%s.out", (const char *)path);
    file = fopen(out, "w");
    if (file) {
        fprintf(file, "%s\n", text);
        fclose(file);
    }
    return NULL;
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("RSALAB_HISTOGRAM");
    pthread_t thread;
    sigset_t all, before;

    if (!path)
        return;
    /* Signals are for the server's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&thread, NULL, wait_and_write, strdup(path)))
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
