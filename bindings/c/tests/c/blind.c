/* Blind signatures: the vectors of RFC 9474, every variant from blinding to verifying, and what must be refused. */
#include "check.h"
/* Made by the test that compiles this: VECTORS, of crates/rsa/tests/library/blind/rfc9474.txt. */
#include "vectors.h"

enum { COUNT = 9, K = 128, PREFIX = 32 };

static const rsalab_bytes MESSAGES[COUNT] = {
    BYTES("zero"), BYTES("one"), BYTES("two"),   BYTES("three"), BYTES("four"),
    BYTES("five"), BYTES("six"), BYTES("seven"), {NULL, 0},
};

static int is_same(const uint8_t *bytes, size_t len, rsalab_bytes expected) {
  return len == expected.len && (len == 0 || memcmp(bytes, expected.data, len) == 0);
}

/* The client's factor and salt are the library's to draw: so the state is read, and the request taken from the RFC. */
static void vector(const struct vector *vector) {
  rsalab_private_key *key = NULL;
  OK(rsalab_private_key_read(vector->key.data, vector->key.len, NULL, 0, 0, &key));
  rsalab_public_key *public_key = public_of(key);
  uint8_t signature[512], prefix[PREFIX];
  OK(rsalab_blind_sign(key, vector->variant, &vector->blinded_msg, 1, signature, sizeof signature, NULL));
  CHECK(is_same(signature, sizeof signature, vector->blind_sig));

  rsalab_blind_state *state = NULL;
  OK(rsalab_blind_state_read(public_key, vector->state.data, vector->state.len, &state));
  size_t len = sizeof prefix;
  OK(rsalab_blind_state_prefix(state, prefix, &len));
  CHECK(is_same(prefix, len, vector->msg_prefix));
  const rsalab_blind_state *states[1] = {state};
  OK(rsalab_blind_finalize(public_key, vector->variant, &vector->msg, states, &vector->blind_sig, 1, signature, sizeof signature, NULL));
  CHECK(is_same(signature, sizeof signature, vector->sig));
  OK(rsalab_blind_verify(public_key, vector->variant, &vector->msg_prefix, &vector->msg, &vector->sig, 1, NULL));
  FAILS(rsalab_blind_verify(public_key, vector->variant, &vector->msg_prefix, &vector->msg, &vector->blind_sig, 1, NULL), ITEMS);

  rsalab_batcher *batcher = NULL;
  const rsalab_private_key *keys[1] = {key};
  OK(rsalab_batcher_new(keys, 1, NULL, &batcher));
  memset(signature, 0, sizeof signature);
  OK(rsalab_batcher_blind_sign(batcher, 0, vector->variant, vector->blinded_msg.data, vector->blinded_msg.len, signature, sizeof signature));
  CHECK(is_same(signature, sizeof signature, vector->blind_sig));
  memset(signature, 0xff, sizeof signature);
  FAILS(rsalab_batcher_blind_sign(batcher, 0, vector->variant, signature, sizeof signature, signature, sizeof signature), RANGE);
  FAILS(rsalab_batcher_blind_sign(batcher, 0, vector->variant, signature, 511, signature, sizeof signature), LENGTH);
  FAILS(rsalab_batcher_blind_sign(batcher, 0, 0, signature, 512, signature, sizeof signature), ARGUMENT);
  FAILS(rsalab_batcher_blind_sign(batcher, 0, vector->variant, signature, 512, signature, 511), BUFFER);
  CHECK(is_all(signature, sizeof signature, 0xff));
  rsalab_batcher_free(batcher);
  rsalab_blind_state_free(state);
  rsalab_public_key_free(public_key);
  rsalab_private_key_free(key);
}

struct request {
  uint8_t blinded[COUNT * K], answers[COUNT * K], signatures[COUNT * K], prefixes[COUNT][PREFIX];
  rsalab_blind_state *states[COUNT];
  rsalab_bytes blinded_of[COUNT], answer_of[COUNT], signature_of[COUNT], prefix_of[COUNT];
};

static void variant(const rsalab_private_key *key, const rsalab_public_key *public_key, const rsalab_public_key *other, uint32_t variant) {
  static struct request r;
  rsalab_status statuses[COUNT];
  size_t prefix_len = variant <= RSALAB_BLIND_VARIANT_PSSZERO_RANDOMIZED ? PREFIX : 0;
  OK(rsalab_blind(public_key, variant, MESSAGES, COUNT, r.blinded, sizeof r.blinded, r.states));
  for (size_t i = 0; i < COUNT; i++) {
    r.blinded_of[i] = (rsalab_bytes){r.blinded + i * K, K};
    r.answer_of[i] = (rsalab_bytes){r.answers + i * K, K};
    r.signature_of[i] = (rsalab_bytes){r.signatures + i * K, K};
    size_t len = PREFIX;
    OK(rsalab_blind_state_prefix(r.states[i], r.prefixes[i], &len));
    CHECK(len == prefix_len);
    r.prefix_of[i] = (rsalab_bytes){r.prefixes[i], len};
  }
  const rsalab_blind_state *const *states = (const rsalab_blind_state *const *)r.states;
  OK(rsalab_blind_sign(key, variant, r.blinded_of, COUNT, r.answers, sizeof r.answers, statuses));
  OK(rsalab_blind_finalize(public_key, variant, MESSAGES, states, r.answer_of, COUNT, r.signatures, sizeof r.signatures, statuses));
  OK(rsalab_blind_verify(public_key, variant, r.prefix_of, MESSAGES, r.signature_of, COUNT, statuses));
  if (prefix_len == 0) {
    OK(rsalab_blind_verify(public_key, variant, NULL, MESSAGES, r.signature_of, COUNT, NULL));
  } else {
    FAILS(rsalab_blind_verify(public_key, variant, NULL, MESSAGES, r.signature_of, COUNT, statuses), ITEMS);
    CHECK(statuses[0] == RSALAB_STATUS_LENGTH);
  }
  /* They are plain signatures of prefix and message. */
  rsalab_signature_scheme plain = {RSALAB_PADDING_PSS, RSALAB_HASH_SHA384, 0, RSALAB_SALT_ANY};
  uint8_t input[PREFIX + 16];
  memcpy(input, r.prefixes[3], prefix_len);
  memcpy(input + prefix_len, MESSAGES[3].data, MESSAGES[3].len);
  rsalab_bytes whole = {input, prefix_len + MESSAGES[3].len};
  OK(rsalab_verify_messages(public_key, &plain, &whole, r.signature_of + 3, 1, NULL));

  /* A state goes through bytes, and to its own key only. */
  size_t len = 0;
  FAILS(rsalab_blind_state_write(r.states[2], NULL, &len), BUFFER);
  uint8_t *written = malloc(len);
  CHECK(written != NULL);
  OK(rsalab_blind_state_write(r.states[2], written, &len));
  rsalab_blind_state *read = NULL;
  FAILS(rsalab_blind_state_read(other, written, len, &read), ARGUMENT);
  FAILS(rsalab_blind_state_read(public_key, written, len - 1, &read), ARGUMENT);
  FAILS(rsalab_blind_state_read(public_key, NULL, 0, &read), ARGUMENT);
  CHECK(read == NULL);
  OK(rsalab_blind_state_read(public_key, written, len, &read));
  free(written);
  rsalab_blind_state_free(r.states[2]);
  r.states[2] = read;

  /* Another message, another's answer, one that is too short, one that is not below the modulus: these four fail, and no other. */
  rsalab_bytes messages[COUNT], answers[COUNT];
  memcpy(messages, MESSAGES, sizeof messages);
  memcpy(answers, r.answer_of, sizeof answers);
  uint8_t most[K];
  memset(most, 0xff, K);
  messages[1] = messages[0];
  answers[4] = answers[5];
  answers[6].len = K - 1;
  answers[7].data = most;
  memset(r.signatures, 0xaa, sizeof r.signatures);
  FAILS(rsalab_blind_finalize(public_key, variant, messages, states, answers, COUNT, r.signatures, sizeof r.signatures, statuses), ITEMS);
  CHECK(strstr(rsalab_last_error(), "item 1") != NULL);
  for (size_t i = 0; i < COUNT; i++) {
    rsalab_status expected = i == 6                        ? RSALAB_STATUS_LENGTH
                             : i == 1 || i == 4 || i == 7 ? RSALAB_STATUS_VERIFICATION
                                                          : RSALAB_STATUS_OK;
    CHECK(statuses[i] == expected);
    CHECK(is_all(r.signatures + i * K, K, 0) == (expected != RSALAB_STATUS_OK));
  }
  /* A state of another key or variant. */
  FAILS(rsalab_blind_finalize(other, variant, MESSAGES, states, r.answer_of, 1, r.signatures, K, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_ARGUMENT);
  FAILS(rsalab_blind_finalize(public_key, variant % 4 + 1, MESSAGES, states, r.answer_of, 1, r.signatures, K, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_ARGUMENT);

  /* The issuer answers all but what is no blinded message. */
  rsalab_bytes given[3] = {r.blinded_of[0], {most, K}, {r.blinded, K - 1}};
  FAILS(rsalab_blind_sign(key, variant, given, 3, r.answers, sizeof r.answers, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_OK && statuses[1] == RSALAB_STATUS_RANGE && statuses[2] == RSALAB_STATUS_LENGTH);
  CHECK(is_all(r.answers + K, 2 * K, 0));

  /* Buffers that are too short are left alone. */
  rsalab_blind_state *none[COUNT] = {NULL};
  memset(r.blinded, 0x55, sizeof r.blinded);
  FAILS(rsalab_blind(public_key, variant, MESSAGES, COUNT, r.blinded, sizeof r.blinded - 1, none), BUFFER);
  FAILS(rsalab_blind_sign(key, variant, r.answer_of, COUNT, r.blinded, sizeof r.blinded - 1, statuses), BUFFER);
  FAILS(rsalab_blind_finalize(public_key, variant, MESSAGES, states, r.answer_of, COUNT, r.blinded, sizeof r.blinded - 1, statuses), BUFFER);
  CHECK(is_all(r.blinded, sizeof r.blinded, 0x55) && none[0] == NULL);
  for (size_t i = 0; i < COUNT; i++) {
    rsalab_blind_state_free(r.states[i]);
  }
}

/* The key of an issuer of tokens says what it is for: one variant, and nothing else. */
static void tokens(const rsalab_public_key *public_key) {
  uint8_t written[1024], blinded[K];
  size_t len = sizeof written;
  rsalab_blind_state *state = NULL;
  rsalab_public_key *read = NULL;
  OK(rsalab_public_key_write(public_key, RSALAB_PUBLIC_FORMAT_TOKEN_DER, written, &len));
  OK(rsalab_public_key_read(written, len, NULL, 0, 0, &read));
  OK(rsalab_blind(read, RSALAB_BLIND_VARIANT_PSS_DETERMINISTIC, MESSAGES, 1, blinded, K, &state));
  rsalab_blind_state_free(state);
  state = NULL;
  FAILS(rsalab_blind(read, RSALAB_BLIND_VARIANT_PSSZERO_DETERMINISTIC, MESSAGES, 1, blinded, K, &state), RESTRICTED);
  CHECK(state == NULL);
  rsalab_public_key_free(read);
}

int main(void) {
  for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
    vector(VECTORS + i);
  }
  rsalab_private_key *key = new_key(8 * K), *other_key = new_key(8 * K), *small = new_key(512);
  rsalab_public_key *public_key = public_of(key), *other = public_of(other_key), *small_public = public_of(small);
  for (uint32_t number = RSALAB_BLIND_VARIANT_PSS_RANDOMIZED; number <= RSALAB_BLIND_VARIANT_PSSZERO_DETERMINISTIC; number++) {
    variant(key, public_key, other, number);
  }
  tokens(public_key);
  uint8_t bytes[K];
  rsalab_blind_state *state = NULL;
  for (uint32_t number = 0; number < 6; number += 5) {
    FAILS(rsalab_blind(public_key, number, MESSAGES, 1, bytes, K, &state), ARGUMENT);
    FAILS(rsalab_blind_sign(key, number, MESSAGES, 1, bytes, K, NULL), ARGUMENT);
    FAILS(rsalab_blind_verify(public_key, number, NULL, MESSAGES, MESSAGES, 1, NULL), ARGUMENT);
  }
  FAILS(rsalab_blind(small_public, RSALAB_BLIND_VARIANT_PSS_RANDOMIZED, MESSAGES, 1, bytes, K, &state), SCHEME);
  FAILS(rsalab_blind_sign(small, RSALAB_BLIND_VARIANT_PSS_RANDOMIZED, MESSAGES, 1, bytes, K, NULL), SCHEME);
  FAILS(rsalab_blind(public_key, 1, MESSAGES, 1, bytes, K, NULL), NULL);
  FAILS(rsalab_blind(NULL, 1, MESSAGES, 1, bytes, K, &state), NULL);
  const rsalab_blind_state *missing[1] = {NULL};
  FAILS(rsalab_blind_finalize(public_key, 1, MESSAGES, missing, MESSAGES, 1, bytes, K, NULL), NULL);
  CHECK(state == NULL);
  rsalab_blind_state_free(NULL);
  OK(rsalab_blind(public_key, 1, NULL, 0, NULL, 0, NULL));
  OK(rsalab_blind_sign(key, 1, NULL, 0, NULL, 0, NULL));
  OK(rsalab_blind_finalize(public_key, 1, NULL, NULL, NULL, 0, NULL, 0, NULL));
  OK(rsalab_blind_verify(public_key, 1, NULL, NULL, NULL, 0, NULL));
  rsalab_public_key_free(public_key);
  rsalab_public_key_free(other);
  rsalab_public_key_free(small_public);
  rsalab_private_key_free(key);
  rsalab_private_key_free(other_key);
  rsalab_private_key_free(small);
  return 0;
}
