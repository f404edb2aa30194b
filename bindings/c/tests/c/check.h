/* What the tests in C share: a check that says where it failed. */
#ifndef CHECK_H
#define CHECK_H

#include <rsalab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                              \
  do {                                                                                                \
    if (!(condition)) {                                                                               \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, rsalab_last_error());        \
      exit(1);                                                                                        \
    }                                                                                                 \
  } while (0)

#define OK(call) CHECK((call) == RSALAB_STATUS_OK)
#define FAILS(call, why) CHECK((call) == RSALAB_STATUS_##why)

#define BYTES(text) {(const uint8_t *)(text), sizeof(text) - 1}

static const rsalab_signature_scheme PKCS1_SHA256 = {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, 0, 0};
static const rsalab_signature_scheme PSS_SHA256 = {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, 0, RSALAB_SALT_DIGEST};

static inline rsalab_private_key *new_key(size_t bits) {
  rsalab_private_key *key = NULL;
  OK(rsalab_private_keys_generate(bits, 0, 1, &key, 1));
  return key;
}

static inline rsalab_public_key *public_of(const rsalab_private_key *key) {
  rsalab_public_key *public_key = NULL;
  OK(rsalab_private_key_public(key, &public_key));
  return public_key;
}

/* Whether all bytes are the same, such as those of a buffer that must not have been written. */
static inline int is_all(const uint8_t *bytes, size_t len, uint8_t value) {
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] != value) {
      return 0;
    }
  }
  return 1;
}

#endif
