/* The batcher: many threads, several keys, shared passes, a fork; and errors that each thread has to itself. */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 12, ROUNDS = 20, KEYS = 3, K = 64, LARGE = 96 };

/* Keys 0 and 1 have 512 bits, key 2 has 768. */
static rsalab_public_key *public_keys[KEYS];
static rsalab_batcher *batcher;
static const rsalab_encryption_scheme ENCRYPTION = {RSALAB_PADDING_PKCS1, 0, 0, {NULL, 0}};

static void *work(void *argument) {
  size_t number = (size_t)argument;
  size_t key = number % KEYS;
  size_t k = key == 2 ? LARGE : K;
  for (size_t round = 0; round < ROUNDS; round++) {
    uint8_t message[2] = {(uint8_t)number, (uint8_t)round};
    rsalab_bytes messages = {message, sizeof message};
    uint8_t signature[LARGE];
    OK(rsalab_batcher_sign_message(batcher, key, &PKCS1_SHA256, message, sizeof message, signature, k));
    rsalab_bytes signatures = {signature, k};
    OK(rsalab_verify_messages(public_keys[key], &PKCS1_SHA256, &messages, &signatures, 1, NULL));

    uint8_t ciphertext[LARGE], decrypted[LARGE];
    OK(rsalab_encrypt(public_keys[key], &ENCRYPTION, &messages, 1, ciphertext, k, NULL));
    size_t len = k;
    OK(rsalab_batcher_decrypt(batcher, key, &ENCRYPTION, ciphertext, k, decrypted, &len));
    CHECK(len == 2 && memcmp(decrypted, message, 2) == 0);
  }
  /* The error of one thread is not that of another. */
  if (number % 2 == 0) {
    FAILS(rsalab_batcher_sign_message(batcher, 99, &PKCS1_SHA256, NULL, 0, NULL, 0), ARGUMENT);
    CHECK(strstr(rsalab_last_error(), "99") != NULL);
  } else {
    CHECK(strcmp(rsalab_last_error(), "") == 0);
  }
  return NULL;
}

static uint64_t requests(void) {
  uint64_t passes[64], sum = 0;
  size_t count = 64;
  OK(rsalab_batcher_passes(batcher, passes, &count));
  CHECK(count >= 2);
  for (size_t i = 0; i < count; i++) {
    sum += i * passes[i];
  }
  return sum;
}

static uint64_t most_in_one_pass(void) {
  uint64_t passes[64], most = 0;
  size_t count = 64;
  OK(rsalab_batcher_passes(batcher, passes, &count));
  for (size_t i = 0; i < count; i++) {
    most = passes[i] > 0 ? i : most;
  }
  return most;
}

static void in_a_fork(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    uint8_t signature[K];
    memset(signature, 0xaa, K);
    int is_told = rsalab_batcher_sign_message(batcher, 0, &PKCS1_SHA256, NULL, 0, signature, K) == RSALAB_STATUS_FORKED;
    int is_left_alone = is_all(signature, K, 0xaa);
    size_t number = 0;
    is_told = is_told && rsalab_batcher_remove(batcher, &number, 1) == RSALAB_STATUS_FORKED;
    is_told = is_told && rsalab_batcher_add(batcher, NULL, 0, NULL) == RSALAB_STATUS_FORKED;
    int is_idle = rsalab_batcher_waiting(batcher) == 0;
    /* Not by exit: what the parent has to free is not the child's leak. */
    _exit(is_told && is_left_alone && is_idle ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void refusals(void) {
  uint8_t buffer[LARGE];
  memset(buffer, 0xaa, sizeof buffer);
  size_t len = K;
  FAILS(rsalab_batcher_sign_message(NULL, 0, &PKCS1_SHA256, NULL, 0, buffer, K), NULL);
  FAILS(rsalab_batcher_sign_message(batcher, 0, &PKCS1_SHA256, NULL, 0, buffer, K - 1), BUFFER);
  FAILS(rsalab_batcher_sign_message(batcher, 2, &PKCS1_SHA256, NULL, 0, buffer, K), BUFFER);
  FAILS(rsalab_batcher_sign_digest(batcher, 0, &PKCS1_SHA256, buffer, 31, buffer, K), LENGTH);
  rsalab_signature_scheme sha1 = {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA1, 0, 0};
  FAILS(rsalab_batcher_sign_message(batcher, 0, &sha1, NULL, 0, buffer, K), SCHEME);
  uint8_t ciphertext[LARGE];
  memset(ciphertext, 0xff, sizeof ciphertext);
  FAILS(rsalab_batcher_decrypt(batcher, 0, &ENCRYPTION, ciphertext, K, buffer, &len), DECRYPTION);
  FAILS(rsalab_batcher_decrypt(batcher, 0, &ENCRYPTION, ciphertext, K - 1, buffer, &len), DECRYPTION);
  FAILS(rsalab_batcher_decrypt(batcher, 0, &ENCRYPTION, ciphertext, K, buffer, NULL), NULL);
  rsalab_bytes message = BYTES("longer than that");
  OK(rsalab_encrypt(public_keys[0], &ENCRYPTION, &message, 1, ciphertext, K, NULL));
  len = 3;
  FAILS(rsalab_batcher_decrypt(batcher, 0, &ENCRYPTION, ciphertext, K, buffer, &len), BUFFER);
  CHECK(len == message.len && is_all(buffer, sizeof buffer, 0xaa));
  rsalab_batcher *none = NULL;
  const rsalab_private_key *hole = NULL;
  FAILS(rsalab_batcher_new(&hole, 1, NULL, &none), NULL);
  FAILS(rsalab_batcher_passes(NULL, NULL, &len), NULL);
  CHECK(none == NULL && rsalab_batcher_waiting(NULL) == 0);
  rsalab_batcher_free(NULL);
}

static int is_over;
static pthread_mutex_t is_over_lock = PTHREAD_MUTEX_INITIALIZER;

/* Adds, uses and removes keys of two sizes until told. */
static void *reload(void *argument) {
  const rsalab_private_key *const *keys = argument;
  for (int turn = 0;; turn++) {
    pthread_mutex_lock(&is_over_lock);
    int ends = is_over && turn > 5;
    pthread_mutex_unlock(&is_over_lock);
    if (ends) {
      return NULL;
    }
    size_t numbers[2];
    OK(rsalab_batcher_add(batcher, keys + 1, 2, numbers));
    for (size_t i = 0; i < 2; i++) {
      size_t k = i == 0 ? K : LARGE;
      uint8_t signature[LARGE];
      rsalab_bytes message = {NULL, 0}, made = {signature, k};
      OK(rsalab_batcher_sign_message(batcher, numbers[i], &PKCS1_SHA256, NULL, 0, signature, k));
      OK(rsalab_verify_messages(public_keys[i + 1], &PKCS1_SHA256, &message, &made, 1, NULL));
    }
    OK(rsalab_batcher_remove(batcher, numbers, 2));
    uint8_t signature[LARGE];
    FAILS(rsalab_batcher_sign_message(batcher, numbers[1], &PKCS1_SHA256, NULL, 0, signature, LARGE), ARGUMENT);
    FAILS(rsalab_batcher_remove(batcher, numbers, 2), ARGUMENT);
  }
}

/* While keys come and go the requests of others are answered as ever. */
static void reloads(const rsalab_private_key *const *keys) {
  OK(rsalab_batcher_new(NULL, 0, NULL, &batcher));
  uint8_t signature[K];
  FAILS(rsalab_batcher_sign_message(batcher, 0, &PKCS1_SHA256, NULL, 0, signature, K), ARGUMENT);
  size_t numbers[KEYS] = {9, 9, 9};
  OK(rsalab_batcher_add(batcher, keys, KEYS, numbers));
  CHECK(numbers[0] == 0 && numbers[1] == 1 && numbers[2] == 2);
  const rsalab_private_key *hole[2] = {keys[0], NULL};
  FAILS(rsalab_batcher_add(batcher, hole, 2, numbers), NULL);
  FAILS(rsalab_batcher_add(batcher, keys, 1, NULL), NULL);
  FAILS(rsalab_batcher_remove(batcher, NULL, 1), NULL);
  size_t some[2] = {0, 3};
  FAILS(rsalab_batcher_remove(batcher, some, 2), ARGUMENT);
  pthread_t threads[THREADS], reloader;
  CHECK(pthread_create(&reloader, NULL, reload, (void *)(size_t)keys) == 0);
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(pthread_create(threads + i, NULL, work, (void *)i) == 0);
  }
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
  pthread_mutex_lock(&is_over_lock);
  is_over = 1;
  pthread_mutex_unlock(&is_over_lock);
  CHECK(pthread_join(reloader, NULL) == 0);
  rsalab_batcher_free(batcher);
}

static void run(const rsalab_batcher_options *options, const rsalab_private_key *const *keys) {
  OK(rsalab_batcher_new(keys, KEYS, options, &batcher));
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(pthread_create(threads + i, NULL, work, (void *)i) == 0);
  }
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
  CHECK(requests() == 2 * THREADS * ROUNDS);
  size_t count = 0;
  FAILS(rsalab_batcher_waits(batcher, NULL, &count), BUFFER);
  CHECK(count == 40);
  uint64_t waits[40], sum = 0;
  OK(rsalab_batcher_waits(batcher, waits, &count));
  for (size_t i = 0; i < count; i++) {
    sum += waits[i];
  }
  CHECK(sum == requests());
}

int main(void) {
  rsalab_private_key *keys[KEYS] = {new_key(512), new_key(512), new_key(768)};
  for (size_t i = 0; i < KEYS; i++) {
    public_keys[i] = public_of(keys[i]);
  }
  const rsalab_private_key *const *given = (const rsalab_private_key *const *)keys;
  run(NULL, given);
  rsalab_batcher_free(batcher);
  reloads(given);
  /* One pass at a time, which waits to be full: where a kernel has several lanes requests must have shared one. */
  const rsalab_batcher_options patient = {1, 2, 20000};
  run(&patient, given);
  for (size_t i = 0; i < KEYS; i++) {
    rsalab_private_key_free(keys[i]);
  }
  size_t count = 0;
  FAILS(rsalab_batcher_passes(batcher, NULL, &count), BUFFER);
  printf("a pass has %zu requests at most; the fullest had %d\n", count - 1, (int)most_in_one_pass());
  CHECK(count == 2 || most_in_one_pass() >= 2);
  in_a_fork();
  refusals();
  rsalab_batcher_free(batcher);
  for (size_t i = 0; i < KEYS; i++) {
    rsalab_public_key_free(public_keys[i]);
  }
  return 0;
}
