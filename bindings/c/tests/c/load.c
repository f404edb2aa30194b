/* Many keys at once: read in every format, their primes tested, each with a status. */
#include "check.h"
#include "composite.h"

enum { COUNT = 150, ROOM = 2048 };

static uint8_t text[COUNT][ROOM];
static rsalab_bytes files[COUNT];
static uint8_t modulus[COUNT][64];

static void modulus_of(const rsalab_private_key *key, uint8_t *out) {
  rsalab_public_key *public_key = public_of(key);
  size_t len = 64;
  OK(rsalab_public_key_modulus(public_key, out, &len));
  CHECK(len == 64);
  rsalab_public_key_free(public_key);
}

/* Files of small keys, in turn in each format. */
static void write_files(void) {
  rsalab_private_key *keys[COUNT];
  OK(rsalab_private_keys_generate(512, 0, 0, keys, COUNT));
  for (size_t i = 0; i < COUNT; i++) {
    size_t len = ROOM;
    OK(rsalab_private_key_write(keys[i], (uint32_t)(RSALAB_PRIVATE_FORMAT_PKCS8_PEM + i % 4), NULL, 0, text[i], &len));
    files[i].data = text[i];
    files[i].len = len;
    modulus_of(keys[i], modulus[i]);
    rsalab_private_key_free(keys[i]);
  }
}

static void is_key(const rsalab_private_key *key, size_t of) {
  uint8_t own[64];
  modulus_of(key, own);
  CHECK(memcmp(own, modulus[of], sizeof own) == 0);
}

/* All are good, on any number of threads: the keys, in order. */
static void all_good(void) {
  static const size_t threads[] = {1, 0, 2, 7, 1000};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
    rsalab_private_key *keys[COUNT];
    rsalab_status statuses[COUNT];
    memset(statuses, 0xff, sizeof statuses);
    OK(rsalab_private_keys_read(files, COUNT, NULL, 0, 0, t == 0 ? RSALAB_ROUNDS : RSALAB_ROUNDS_BEFORE_USE, threads[t],
                                keys, t % 2 == 0 ? statuses : NULL));
    for (size_t i = 0; i < COUNT; i++) {
      CHECK(t % 2 != 0 || statuses[i] == RSALAB_STATUS_OK);
      is_key(keys[i], i);
      rsalab_private_key_free(keys[i]);
    }
  }
}

/* Each fault is that of its file, and stands in nobody's way. */
static void some_bad(void) {
  static const uint8_t garbage[] = "not a key";
  rsalab_private_key *large = new_key(1024), *keys[COUNT];
  uint8_t locked[4096], public_pem[2048], long_key[4096];
  size_t locked_len = sizeof locked, public_len = sizeof public_pem, long_len = sizeof long_key;
  OK(rsalab_private_key_write(large, RSALAB_PRIVATE_FORMAT_PKCS8_PEM, "word", 4, locked, &locked_len));
  OK(rsalab_private_key_write(large, RSALAB_PRIVATE_FORMAT_PKCS8_PEM, NULL, 0, long_key, &long_len));
  rsalab_public_key *public_key = public_of(large);
  OK(rsalab_public_key_write(public_key, RSALAB_PUBLIC_FORMAT_SPKI_PEM, public_pem, &public_len));
  const struct {
    size_t at;
    rsalab_bytes file;
    rsalab_status status, with_password;
  } bad[] = {
      {3, {COMPOSITE, sizeof COMPOSITE}, RSALAB_STATUS_KEY, RSALAB_STATUS_KEY},
      {16, {garbage, sizeof garbage}, RSALAB_STATUS_KEY, RSALAB_STATUS_KEY},
      {17, {locked, locked_len}, RSALAB_STATUS_PASSWORD_MISSING, RSALAB_STATUS_OK},
      {40, {NULL, 0}, RSALAB_STATUS_KEY, RSALAB_STATUS_KEY},
      {41, {public_pem, public_len}, RSALAB_STATUS_KEY, RSALAB_STATUS_KEY},
      {COUNT - 1, {text[0], files[0].len / 2}, RSALAB_STATUS_KEY, RSALAB_STATUS_KEY},
  };
  const size_t faults = sizeof bad / sizeof *bad;
  rsalab_bytes mixed[COUNT];
  memcpy(mixed, files, sizeof mixed);
  for (size_t b = 0; b < faults; b++) mixed[bad[b].at] = bad[b].file;

  for (size_t threads = 1; threads <= 3; threads++) {
    const char *password = threads == 3 ? "word" : NULL;
    rsalab_status statuses[COUNT];
    memset(keys, 0xff, sizeof keys);
    FAILS(rsalab_private_keys_read(mixed, COUNT, password, password == NULL ? 0 : 4, 0, 8, threads, keys, statuses), ITEMS);
    CHECK(strstr(rsalab_last_error(), "item 3: ") != NULL && strstr(rsalab_last_error(), "p is not a prime") != NULL);
    for (size_t i = 0, b = 0; i < COUNT; i++) {
      rsalab_status wanted = RSALAB_STATUS_OK;
      int is_other = b < faults && bad[b].at == i;
      if (is_other) {
        wanted = password == NULL ? bad[b].status : bad[b].with_password;
        b++;
      }
      CHECK(statuses[i] == wanted && (keys[i] == NULL) == (wanted != RSALAB_STATUS_OK));
      if (keys[i] != NULL && !is_other) is_key(keys[i], i);
      rsalab_private_key_free(keys[i]);
    }
  }

  /* No rounds: the relations alone, which the composite fits. */
  rsalab_bytes composite = {COMPOSITE, sizeof COMPOSITE};
  OK(rsalab_private_keys_read(&composite, 1, NULL, 0, 0, 0, 1, keys, NULL));
  rsalab_private_key_free(keys[0]);
  /* One round is enough for one that nobody made to pass it. */
  FAILS(rsalab_private_keys_read(&composite, 1, NULL, 0, 0, 1, 1, keys, NULL), ITEMS);
  CHECK(keys[0] == NULL);
  /* A wrong password; a limit. */
  rsalab_bytes of_large[2] = {{NULL, 0}, {NULL, 0}};
  rsalab_status statuses[2];
  of_large[0].data = locked;
  of_large[0].len = locked_len;
  of_large[1].data = long_key;
  of_large[1].len = long_len;
  FAILS(rsalab_private_keys_read(of_large, 2, "wrong", 5, 1023, 8, 0, keys, statuses), ITEMS);
  CHECK(statuses[0] == RSALAB_STATUS_PASSWORD_WRONG && statuses[1] == RSALAB_STATUS_KEY);
  CHECK(keys[0] == NULL && keys[1] == NULL);
  rsalab_public_key_free(public_key);
  rsalab_private_key_free(large);
}

/* A call that fails as a whole writes nothing. */
static void refused(void) {
  rsalab_private_key *keys[2];
  rsalab_status statuses[2];
  memset(keys, 0xaa, sizeof keys);
  memset(statuses, 0xaa, sizeof statuses);
  FAILS(rsalab_private_keys_read(NULL, 2, NULL, 0, 0, 8, 1, keys, statuses), NULL);
  FAILS(rsalab_private_keys_read(files, 2, NULL, 0, 0, 8, 1, NULL, statuses), NULL);
  FAILS(rsalab_private_keys_read(files, 2, NULL, 4, 0, 8, 1, keys, statuses), NULL);
  FAILS(rsalab_private_keys_read(files, 2, NULL, 0, 16385, 8, 1, keys, statuses), ARGUMENT);
  FAILS(rsalab_private_keys_read(files, 2, NULL, 0, 0, 1025, 1, keys, statuses), ARGUMENT);
  FAILS(rsalab_private_keys_read(files, 2, NULL, 0, 0, SIZE_MAX, 1, keys, statuses), ARGUMENT);
  FAILS(rsalab_private_keys_read(files, SIZE_MAX, NULL, 0, 0, 8, 1, keys, statuses), ARGUMENT);
  rsalab_bytes nowhere[2] = {{NULL, 3}, {NULL, 0}};
  FAILS(rsalab_private_keys_read(nowhere, 2, NULL, 0, 0, 8, 1, keys, statuses), NULL);
  rsalab_bytes endless[2] = {{(const uint8_t *)"x", SIZE_MAX}, {NULL, 0}};
  FAILS(rsalab_private_keys_read(endless, 2, NULL, 0, 0, 8, 1, keys, statuses), ARGUMENT);
  CHECK(is_all((const uint8_t *)keys, sizeof keys, 0xaa) && is_all((const uint8_t *)statuses, sizeof statuses, 0xaa));
  /* Nothing is nothing. */
  OK(rsalab_private_keys_read(NULL, 0, NULL, 0, 0, 8, 0, NULL, NULL));
}

int main(void) {
  write_files();
  all_good();
  some_bad();
  refused();
  return 0;
}
