/* Signatures and encryption, many at once: right ones, wrong ones, and buffers that must be left alone. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 11, K = 128 };

static const rsalab_bytes MESSAGES[COUNT] = {
    BYTES("zero"), BYTES("one"),   BYTES("two"),   BYTES("three"), BYTES("four"), BYTES("five"),
    BYTES("six"),  BYTES("seven"), BYTES("eight"), BYTES("nine"),  {NULL, 0},
};

static void signatures(const rsalab_private_key *key, const rsalab_public_key *public_key, rsalab_signature_scheme scheme) {
  /* Room for one more, which stays as it is. */
  uint8_t buffer[(COUNT + 1) * K];
  memset(buffer, 0xaa, sizeof buffer);
  rsalab_status statuses[COUNT + 1];
  statuses[COUNT] = RSALAB_STATUS_FAULT;
  OK(rsalab_sign_messages(key, &scheme, MESSAGES, COUNT, buffer, sizeof buffer, statuses));
  CHECK(is_all(buffer + COUNT * K, K, 0xaa) && statuses[COUNT] == RSALAB_STATUS_FAULT);
  rsalab_bytes made[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(statuses[i] == RSALAB_STATUS_OK);
    made[i].data = buffer + i * K;
    made[i].len = K;
  }
  OK(rsalab_verify_messages(public_key, &scheme, MESSAGES, made, COUNT, statuses));
  OK(rsalab_verify_messages(public_key, &scheme, MESSAGES, made, COUNT, NULL));
  OK(rsalab_sign_messages(key, &scheme, NULL, 0, NULL, 0, NULL));
  OK(rsalab_verify_messages(public_key, &scheme, NULL, NULL, 0, NULL));

  /* One bit, another's signature, one that is too short, and one of nothing: these four fail, and no other. */
  buffer[2 * K + 77] ^= 1;
  made[3] = made[4];
  made[5].len = K - 1;
  made[6].data = NULL;
  made[6].len = 0;
  FAILS(rsalab_verify_messages(public_key, &scheme, MESSAGES, made, COUNT, statuses), ITEMS);
  CHECK(strstr(rsalab_last_error(), "item 2") != NULL);
  for (size_t i = 0; i < COUNT; i++) {
    int is_wrong = i == 2 || i == 3 || i == 5 || i == 6;
    CHECK(statuses[i] == (is_wrong ? RSALAB_STATUS_VERIFICATION : RSALAB_STATUS_OK));
  }
  FAILS(rsalab_verify_messages(public_key, &scheme, MESSAGES, made, COUNT, NULL), ITEMS);

  /* A buffer that is too short by one byte is left alone. */
  memset(buffer, 0x55, sizeof buffer);
  FAILS(rsalab_sign_messages(key, &scheme, MESSAGES, COUNT, buffer, COUNT * K - 1, statuses), BUFFER);
  CHECK(is_all(buffer, sizeof buffer, 0x55));
}

static void digests(const rsalab_private_key *key, const rsalab_public_key *public_key) {
  uint8_t digest[64];
  memset(digest, 7, sizeof digest);
  rsalab_bytes given[3] = {{digest, 32}, {digest, 31}, {digest, 32}};
  uint8_t buffer[3 * K];
  rsalab_status statuses[3];
  FAILS(rsalab_sign_digests(key, &PKCS1_SHA256, given, 3, buffer, sizeof buffer, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_OK && statuses[1] == RSALAB_STATUS_LENGTH && statuses[2] == RSALAB_STATUS_OK);
  CHECK(is_all(buffer + K, K, 0) && memcmp(buffer, buffer + 2 * K, K) == 0);
  rsalab_bytes made[3] = {{buffer, K}, {buffer, K}, {buffer + 2 * K, K}};
  FAILS(rsalab_verify_digests(public_key, &PKCS1_SHA256, given, made, 3, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_OK && statuses[1] == RSALAB_STATUS_LENGTH && statuses[2] == RSALAB_STATUS_OK);

  /* A result may be written over its input. */
  memset(buffer, 7, sizeof buffer);
  rsalab_bytes inside = {buffer + 5, 32};
  OK(rsalab_sign_digests(key, &PKCS1_SHA256, &inside, 1, buffer, K, NULL));
  made[1].data = buffer;
  OK(rsalab_verify_digests(public_key, &PKCS1_SHA256, given, made + 1, 1, NULL));
}

static void schemes(const rsalab_private_key *key, const rsalab_public_key *public_key) {
  uint8_t buffer[K];
  rsalab_bytes made = {buffer, K};
  for (uint32_t hash = RSALAB_HASH_SHA1; hash <= RSALAB_HASH_SHAKE256; hash++) {
    rsalab_signature_scheme pss = {RSALAB_PADDING_PSS, hash, 0, RSALAB_SALT_DIGEST};
    rsalab_signature_scheme pkcs1 = {RSALAB_PADDING_PKCS1, hash, 0, 0};
    int is_xof = hash >= RSALAB_HASH_SHAKE128;
    /* With a salt of as many bytes 512 bits are too many for this key. */
    int is_long = hash == RSALAB_HASH_SHA512 || hash == RSALAB_HASH_SHA3_512 || hash == RSALAB_HASH_SHAKE256;
    if (hash == RSALAB_HASH_SHA1 || is_long) {
      FAILS(rsalab_sign_messages(key, &pss, MESSAGES, 1, buffer, K, NULL), SCHEME);
    } else {
      OK(rsalab_sign_messages(key, &pss, MESSAGES, 1, buffer, K, NULL));
      OK(rsalab_verify_messages(public_key, &pss, MESSAGES, &made, 1, NULL));
    }
    if (hash == RSALAB_HASH_SHA1 || is_xof) {
      FAILS(rsalab_sign_messages(key, &pkcs1, MESSAGES, 1, buffer, K, NULL), SCHEME);
    } else {
      OK(rsalab_sign_messages(key, &pkcs1, MESSAGES, 1, buffer, K, NULL));
      OK(rsalab_verify_messages(public_key, &pkcs1, MESSAGES, &made, 1, NULL));
    }
  }
  rsalab_signature_scheme scheme = {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, RSALAB_HASH_SHA384, 20};
  OK(rsalab_sign_messages(key, &scheme, MESSAGES, 1, buffer, K, NULL));
  OK(rsalab_verify_messages(public_key, &scheme, MESSAGES, &made, 1, NULL));
  scheme.salt_len = RSALAB_SALT_ANY;
  OK(rsalab_verify_messages(public_key, &scheme, MESSAGES, &made, 1, NULL));
  FAILS(rsalab_sign_messages(key, &scheme, MESSAGES, 1, buffer, K, NULL), SCHEME);
  scheme.salt_len = 21;
  FAILS(rsalab_verify_messages(public_key, &scheme, MESSAGES, &made, 1, NULL), ITEMS);
  scheme.salt_len = RSALAB_SALT_MAX;
  OK(rsalab_sign_messages(key, &scheme, MESSAGES, 1, buffer, K, NULL));

  const rsalab_signature_scheme senseless[] = {
      {0, RSALAB_HASH_SHA256, 0, 0},
      {RSALAB_PADDING_OAEP, RSALAB_HASH_SHA256, 0, 0},
      {RSALAB_PADDING_PKCS1, 0, 0, 0},
      {RSALAB_PADDING_PKCS1, 14, 0, 0},
      {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, RSALAB_HASH_SHA256, 0},
      {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, 0, RSALAB_SALT_DIGEST},
      {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, 99, 0},
      {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, 0, -4},
      {0xffffffff, 0xffffffff, 0xffffffff, -2147483647},
  };
  memset(buffer, 0x33, K);
  for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
    FAILS(rsalab_sign_messages(key, senseless + i, MESSAGES, 1, buffer, K, NULL), ARGUMENT);
    FAILS(rsalab_verify_messages(public_key, senseless + i, MESSAGES, MESSAGES, 1, NULL), ARGUMENT);
  }
  CHECK(is_all(buffer, K, 0x33));
}

static void encryption(const rsalab_private_key *key, const rsalab_public_key *public_key, rsalab_encryption_scheme scheme) {
  uint8_t ciphertexts[COUNT * K], messages[COUNT * K], longest[K];
  size_t lens[COUNT];
  rsalab_status statuses[COUNT];
  size_t most = rsalab_encrypt_max_len(public_key, &scheme);
  CHECK(most > 30 && most < K - 10);
  memset(longest, 9, sizeof longest);
  rsalab_bytes given[COUNT];
  memcpy(given, MESSAGES, sizeof given);
  given[1].data = longest;
  given[1].len = most;
  OK(rsalab_encrypt(public_key, &scheme, given, COUNT, ciphertexts, sizeof ciphertexts, statuses));
  rsalab_bytes made[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    made[i].data = ciphertexts + i * K;
    made[i].len = K;
  }
  OK(rsalab_decrypt(key, &scheme, made, COUNT, messages, sizeof messages, lens, statuses));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(lens[i] == given[i].len && (lens[i] == 0 || memcmp(messages + i * K, given[i].data, lens[i]) == 0));
    CHECK(is_all(messages + i * K + lens[i], K - lens[i], 0));
  }

  /* One byte more is too long, and the others are encrypted. */
  given[1].len = most + 1;
  FAILS(rsalab_encrypt(public_key, &scheme, given, COUNT, ciphertexts, sizeof ciphertexts, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_OK && statuses[1] == RSALAB_STATUS_LENGTH && statuses[2] == RSALAB_STATUS_OK);
  CHECK(is_all(ciphertexts + K, K, 0) && !is_all(ciphertexts + 2 * K, K, 0));
  memset(ciphertexts + K, 0, K);

  /* Not below the modulus, and of another length. */
  OK(rsalab_encrypt(public_key, &scheme, given + 2, COUNT - 2, ciphertexts + 2 * K, (COUNT - 2) * K, NULL));
  memset(ciphertexts + K, 0xff, K);
  made[3].len = K - 1;
  FAILS(rsalab_decrypt(key, &scheme, made, COUNT, messages, sizeof messages, lens, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_OK && statuses[1] == RSALAB_STATUS_DECRYPTION && statuses[3] == RSALAB_STATUS_DECRYPTION);
  CHECK(lens[1] == 0 && is_all(messages + K, K, 0) && lens[3] == 0 && lens[2] == 3 && memcmp(messages + 2 * K, "two", 3) == 0);

  /* Garbage: OAEP fails; PKCS#1 v1.5 gives the same pseudorandom message again and again. */
  memset(ciphertexts, 1, K);
  if (scheme.padding == RSALAB_PADDING_OAEP) {
    FAILS(rsalab_decrypt(key, &scheme, made, 1, messages, K, lens, NULL), ITEMS);
  } else {
    size_t len = 0;
    uint8_t again[K];
    OK(rsalab_decrypt(key, &scheme, made, 1, messages, K, lens, NULL));
    OK(rsalab_decrypt(key, &scheme, made, 1, again, K, &len, NULL));
    CHECK(len == lens[0] && memcmp(messages, again, K) == 0);
  }
  memset(messages, 0x77, sizeof messages);
  FAILS(rsalab_decrypt(key, &scheme, made, COUNT, messages, sizeof messages - 1, lens, statuses), BUFFER);
  FAILS(rsalab_encrypt(public_key, &scheme, given, COUNT, messages, COUNT * K - 1, statuses), BUFFER);
  FAILS(rsalab_decrypt(key, &scheme, made, COUNT, messages, sizeof messages, NULL, statuses), NULL);
  FAILS(rsalab_decrypt(key, NULL, made, COUNT, messages, sizeof messages, lens, statuses), NULL);
  CHECK(is_all(messages, sizeof messages, 0x77));
}

/* A key that was used before the fork works in the child. */
static void in_a_fork(const rsalab_private_key *key, const rsalab_public_key *public_key) {
  pid_t child = fork();
  CHECK(child >= 0);
  uint8_t buffer[K];
  rsalab_bytes made = {buffer, K};
  OK(rsalab_sign_messages(key, &PSS_SHA256, MESSAGES, 1, buffer, K, NULL));
  OK(rsalab_verify_messages(public_key, &PSS_SHA256, MESSAGES, &made, 1, NULL));
  if (child == 0) {
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  rsalab_private_key *key = new_key(8 * K);
  rsalab_public_key *public_key = public_of(key);
  signatures(key, public_key, PKCS1_SHA256);
  signatures(key, public_key, PSS_SHA256);
  digests(key, public_key);
  schemes(key, public_key);
  in_a_fork(key, public_key);
  rsalab_encryption_scheme oaep = {RSALAB_PADDING_OAEP, RSALAB_HASH_SHA1, RSALAB_HASH_SHA256, BYTES("label")};
  rsalab_encryption_scheme pkcs1 = {RSALAB_PADDING_PKCS1, 0, 0, {NULL, 0}};
  encryption(key, public_key, oaep);
  encryption(key, public_key, pkcs1);
  rsalab_encryption_scheme senseless = {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, 0, {NULL, 0}};
  uint8_t buffer[K];
  FAILS(rsalab_encrypt(public_key, &senseless, MESSAGES, 1, buffer, K, NULL), ARGUMENT);
  CHECK(rsalab_encrypt_max_len(public_key, &senseless) == 0 && rsalab_encrypt_max_len(NULL, NULL) == 0);
  FAILS(rsalab_sign_messages(NULL, &PKCS1_SHA256, MESSAGES, 1, buffer, K, NULL), NULL);
  FAILS(rsalab_sign_messages(key, NULL, MESSAGES, 1, buffer, K, NULL), NULL);
  FAILS(rsalab_sign_messages(key, &PKCS1_SHA256, NULL, 1, buffer, K, NULL), NULL);
  FAILS(rsalab_sign_messages(key, &PKCS1_SHA256, MESSAGES, 1, NULL, K, NULL), NULL);
  FAILS(rsalab_sign_messages(key, &PKCS1_SHA256, MESSAGES, (size_t)-1 / 4, buffer, K, NULL), ARGUMENT);
  rsalab_bytes wrong = {NULL, 7};
  FAILS(rsalab_sign_messages(key, &PKCS1_SHA256, &wrong, 1, buffer, K, NULL), NULL);
  /* Nobody uses a key that is gone, and everybody may use one that is left. */
  rsalab_private_key_free(key);
  rsalab_bytes signature = {buffer, K};
  FAILS(rsalab_verify_messages(public_key, &PKCS1_SHA256, MESSAGES, &signature, 1, NULL), ITEMS);
  rsalab_public_key_free(public_key);
  return 0;
}
