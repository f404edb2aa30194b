/*
 * Signs files with one key, together, and verifies what came of it.
 *
 *   cc -o sign sign.c $(pkg-config --cflags --libs rsalab)
 *   ./sign KEY FILE...      writes FILE.sig, RSASSA-PKCS1-v1_5 with SHA-256
 *
 * openssl dgst -sha256 -verify PUBLIC -signature FILE.sig FILE verifies them too.
 */
#include <rsalab.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, rsalab_last_error());
  exit(1);
}

/* A plain memset before free is a dead store, which compilers leave out. */
static void wipe(const uint8_t *data, size_t len) {
  volatile uint8_t *byte = (volatile uint8_t *)data;
  while (len-- > 0) {
    *byte++ = 0;
  }
}

static rsalab_bytes read_file(const char *name) {
  FILE *file = fopen(name, "rb");
  /* Without a buffer, which would keep a copy of the key. */
  if (file == NULL || setvbuf(file, NULL, _IONBF, 0) != 0 || fseek(file, 0, SEEK_END) != 0) {
    perror(name);
    exit(5);
  }
  long len = ftell(file);
  rewind(file);
  uint8_t *data = malloc(len > 0 ? (size_t)len : 1);
  if (len < 0 || data == NULL || fread(data, 1, (size_t)len, file) != (size_t)len) {
    perror(name);
    exit(5);
  }
  fclose(file);
  rsalab_bytes bytes = {data, (size_t)len};
  return bytes;
}

static void write_signature(const char *of, const uint8_t *signature, size_t len) {
  char name[4096];
  snprintf(name, sizeof name, "%s.sig", of);
  FILE *file = fopen(name, "wb");
  if (file == NULL || fwrite(signature, 1, len, file) != len || fclose(file) != 0) {
    perror(name);
    exit(5);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s KEY FILE...\n", argv[0]);
    return 2;
  }

  /* A key, whatever its format. The bytes it came from are wiped: the library keeps a copy of its own, and wipes that. */
  rsalab_bytes pem = read_file(argv[1]);
  rsalab_private_key *key = NULL;
  rsalab_status status = rsalab_private_key_read(pem.data, pem.len, NULL, 0, 0, &key);
  wipe(pem.data, pem.len);
  free((void *)pem.data);
  if (status != RSALAB_STATUS_OK) {
    fail(argv[1]);
  }
  size_t len = (rsalab_private_key_bits(key) + 7) / 8;

  /* All messages with one call. */
  size_t count = (size_t)argc - 2;
  rsalab_bytes *messages = calloc(count, sizeof *messages);
  rsalab_bytes *signatures = calloc(count, sizeof *signatures);
  rsalab_status *statuses = calloc(count, sizeof *statuses);
  uint8_t *buffer = malloc(count * len);
  if (messages == NULL || signatures == NULL || statuses == NULL || buffer == NULL) {
    return 1;
  }
  for (size_t i = 0; i < count; i++) {
    messages[i] = read_file(argv[2 + i]);
  }
  rsalab_signature_scheme scheme = {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, 0, 0};
  if (rsalab_sign_messages(key, &scheme, messages, count, buffer, count * len, statuses) != RSALAB_STATUS_OK) {
    fail("signing");
  }
  for (size_t i = 0; i < count; i++) {
    signatures[i].data = buffer + i * len;
    signatures[i].len = len;
    write_signature(argv[2 + i], signatures[i].data, len);
  }

  /* Who has the public key verifies them, also together. */
  rsalab_public_key *public_key = NULL;
  if (rsalab_private_key_public(key, &public_key) != RSALAB_STATUS_OK) {
    fail("public key");
  }
  if (rsalab_verify_messages(public_key, &scheme, messages, signatures, count, statuses) != RSALAB_STATUS_OK) {
    fail("verifying");
  }
  printf("%zu signed and verified with a key of %zu bits, on %s\n", count, rsalab_private_key_bits(key), rsalab_kernel());

  for (size_t i = 0; i < count; i++) {
    free((void *)messages[i].data);
  }
  free(messages);
  free(signatures);
  free(statuses);
  free(buffer);
  rsalab_public_key_free(public_key);
  rsalab_private_key_free(key);
  return 0;
}
