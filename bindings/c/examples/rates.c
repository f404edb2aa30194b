/*
 * How many signatures a second one thread makes: one at a time, in batches, and through a batcher.
 *
 *   cc -o rates rates.c $(pkg-config --cflags --libs rsalab)
 *   ./rates [BITS [MILLISECONDS]]
 */
#define _POSIX_C_SOURCE 200809L
#include <rsalab.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64, LONGEST = 2048 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void check(rsalab_status status) {
  if (status != RSALAB_STATUS_OK) {
    fprintf(stderr, "%s\n", rsalab_last_error());
    exit(1);
  }
}

int main(int argc, char **argv) {
  size_t bits = argc > 1 ? strtoul(argv[1], NULL, 10) : 2048;
  double seconds = argc > 2 ? strtod(argv[2], NULL) / 1000 : 1;
  if (bits > 8 * LONGEST) {
    fprintf(stderr, "at most %d bits\n", 8 * LONGEST);
    return 2;
  }
  rsalab_private_key *key = NULL;
  check(rsalab_private_keys_generate(bits, 0, 0, &key, 1));
  const rsalab_signature_scheme scheme = {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, 0, 0};
  static const uint8_t digest[32] = {1, 2, 3};
  static uint8_t signatures[MOST * LONGEST];
  rsalab_bytes digests[MOST];
  for (size_t i = 0; i < MOST; i++) {
    digests[i].data = digest;
    digests[i].len = sizeof digest;
  }

  printf("%zu bits, kernel %s, signatures a second:\n", bits, rsalab_kernel());
  for (size_t batch = 1; batch <= MOST; batch *= 4) {
    size_t done = 0;
    double begin = now();
    do {
      check(rsalab_sign_digests(key, &scheme, digests, batch, signatures, sizeof signatures, NULL));
      done += batch;
    } while (now() - begin < seconds);
    printf("  batches of %2zu: %8.0f\n", batch, (double)done / (now() - begin));
  }

  rsalab_batcher *batcher = NULL;
  const rsalab_private_key *keys[] = {key};
  check(rsalab_batcher_new(keys, 1, NULL, &batcher));
  size_t done = 0;
  double begin = now();
  do {
    check(rsalab_batcher_sign_digest(batcher, 0, &scheme, digest, sizeof digest, signatures, sizeof signatures));
    done++;
  } while (now() - begin < seconds);
  printf("  batcher:       %8.0f\n", (double)done / (now() - begin));
  rsalab_batcher_free(batcher);
  rsalab_private_key_free(key);
  return 0;
}
