/* Every kind of call while the system refuses memory: done and right, or the status MEMORY, with nothing written;
 * and never the end of the process. */
#include "check.h"
#include "refuse.h"

enum { K = 128, COUNT = 5 };

static const rsalab_bytes MESSAGES[COUNT] = {BYTES("zero"), BYTES("one"), BYTES("two"), BYTES("three"), {NULL, 0}};
static const rsalab_encryption_scheme OAEP = {RSALAB_PADDING_OAEP, RSALAB_HASH_SHA256, 0, BYTES("label")};
enum { VARIANT = RSALAB_BLIND_VARIANT_PSSZERO_DETERMINISTIC };

static uint8_t pem[4096], locked[4096], signatures[COUNT * K], ciphertexts[COUNT * K], out[COUNT * K];
static size_t pem_len = sizeof pem, locked_len = sizeof locked, lens[COUNT], number;
static rsalab_private_key *key;
static rsalab_public_key *public_key;
static rsalab_batcher *batcher;
static rsalab_blind_state *states[COUNT];
static rsalab_bytes signature_of[COUNT], ciphertext_of[COUNT], out_of[COUNT];
static rsalab_status status;

/* What an operation makes. */
static rsalab_private_key *made_private;
static rsalab_public_key *made_public;
static rsalab_batcher *made_batcher;

static int is_done(rsalab_status result) {
  status = result;
  return result == RSALAB_STATUS_OK;
}

/* After a refusal the same must work. */
static enum outcome outcome(int is_done, int is_right, int (*again)(void)) {
  if (is_done) return is_right ? DONE : WRONG;
  if (status != RSALAB_STATUS_MEMORY || rsalab_last_error()[0] == 0) {
    fprintf(stderr, "status %d: %s\n", status, rsalab_last_error());
    return WRONG;
  }
  return again() ? REFUSED : WRONG;
}

static void read_anew(void) { OK(rsalab_private_key_read(pem, pem_len, NULL, 0, 0, &key)); }

static void publish_anew(void) {
  read_anew();
  public_key = public_of(key);
}

static void batch_anew(void) {
  const rsalab_private_key *keys[1];
  read_anew();
  keys[0] = key;
  OK(rsalab_batcher_new(keys, 1, NULL, &batcher));
}

static int sign(void) {
  return is_done(rsalab_sign_messages(key, &PSS_SHA256, MESSAGES, COUNT, out, sizeof out, NULL));
}

static int is_verified(size_t count) {
  return rsalab_verify_messages(public_key, &PSS_SHA256, MESSAGES, out_of, count, NULL) == RSALAB_STATUS_OK;
}

static enum outcome check_signatures(int is_done) {
  int is_right = is_done ? is_verified(COUNT) : is_all(out, sizeof out, 0);
  if (!is_right) return WRONG;
  return outcome(is_done, is_right, sign);
}

static void sign_before(void) {
  read_anew();
  CHECK(sign());
  memset(out, 0, sizeof out);
}

static int verify(void) {
  rsalab_status result = rsalab_verify_messages(public_key, &PSS_SHA256, MESSAGES, signature_of, COUNT, NULL);
  return is_done(result);
}

static enum outcome check_verify(int is_done) { return outcome(is_done, 1, verify); }

/* A wrong one fails, whatever else does. */
static int verify_wrong(void) {
  rsalab_bytes others[COUNT];
  memcpy(others, signature_of, sizeof others);
  others[1] = signature_of[0];
  status = rsalab_verify_messages(public_key, &PSS_SHA256, MESSAGES, others, COUNT, NULL);
  return status == RSALAB_STATUS_ITEMS;
}

static enum outcome check_verify_wrong(int is_done) { return outcome(is_done, 1, verify_wrong); }

static int encrypt(void) { return is_done(rsalab_encrypt(public_key, &OAEP, MESSAGES, 4, out, sizeof out, NULL)); }

static enum outcome check_encrypt(int is_done) {
  uint8_t messages[COUNT * K];
  int is_right = 1;
  if (is_done) {
    OK(rsalab_decrypt(key, &OAEP, out_of, 4, messages, sizeof messages, lens, NULL));
    is_right = lens[3] == 5 && memcmp(messages + 3 * K, "three", 5) == 0;
  }
  return outcome(is_done, is_right, encrypt);
}

static int decrypt(void) {
  return is_done(rsalab_decrypt(key, &OAEP, ciphertext_of, COUNT, out, sizeof out, lens, NULL));
}

static enum outcome check_decrypt(int is_done) {
  int is_right = !is_done || (lens[3] == 5 && memcmp(out + 3 * K, "three", 5) == 0 && lens[4] == 0);
  return outcome(is_done, is_right, decrypt);
}

static int read_private(void) { return is_done(rsalab_private_key_read(pem, pem_len, NULL, 0, 0, &made_private)); }

static int read_locked(void) {
  return is_done(rsalab_private_key_read(locked, locked_len, "word", 4, 0, &made_private));
}

static enum outcome check_read(int is_done, int (*again)(void)) {
  int is_right = is_done == (made_private != NULL);
  if (is_done) {
    OK(rsalab_sign_messages(made_private, &PSS_SHA256, MESSAGES, COUNT, out, sizeof out, NULL));
    is_right &= is_verified(COUNT);
    rsalab_private_key_free(made_private);
  }
  return is_right ? outcome(is_done, is_right, again) : WRONG;
}

static enum outcome check_read_private(int is_done) { return check_read(is_done, read_private); }
static enum outcome check_read_locked(int is_done) { return check_read(is_done, read_locked); }

/* Many keys, or a fault among them, on two threads. */
enum { FILES = 40, DAMAGED = 20 };

static rsalab_private_key *made_keys[FILES];
static rsalab_status made_statuses[FILES];

static int read_many_of(int is_damaged) {
  rsalab_bytes files[FILES];
  for (int i = 0; i < FILES; i++) {
    files[i].data = pem;
    files[i].len = is_damaged && i == DAMAGED ? pem_len - 100 : pem_len;
  }
  status = rsalab_private_keys_read(files, FILES, NULL, 0, 0, 1, 2, made_keys, made_statuses);
  return status == (is_damaged ? RSALAB_STATUS_ITEMS : RSALAB_STATUS_OK);
}

static int read_many(void) { return read_many_of(0); }
static int read_many_damaged(void) { return read_many_of(1); }

static enum outcome check_read_many_of(int is_done, int is_damaged) {
  int is_right = 1;
  for (int i = 0; i < FILES; i++) {
    /* What failed as a whole has written nothing. */
    int is_there = is_done && !(is_damaged && i == DAMAGED);
    is_right &= is_there == (made_keys[i] != NULL);
    if (is_done) is_right &= made_statuses[i] == (is_there ? RSALAB_STATUS_OK : RSALAB_STATUS_KEY);
    if (is_there && i % 16 == 0) {
      OK(rsalab_sign_messages(made_keys[i], &PSS_SHA256, MESSAGES, COUNT, out, sizeof out, NULL));
      is_right &= is_verified(COUNT);
    }
    rsalab_private_key_free(made_keys[i]);
  }
  return is_right ? outcome(is_done, 1, is_damaged ? read_many_damaged : read_many) : WRONG;
}

static enum outcome check_read_many(int is_done) { return check_read_many_of(is_done, 0); }
static enum outcome check_read_many_damaged(int is_done) { return check_read_many_of(is_done, 1); }

/* A damaged key is refused as such, with its text. */
static int read_damaged(void) {
  status = rsalab_private_key_read(pem, pem_len - 100, NULL, 0, 0, &made_private);
  return status == RSALAB_STATUS_KEY && strlen(rsalab_last_error()) > 10;
}

static enum outcome check_read_damaged(int is_done) { return outcome(is_done, 1, read_damaged); }

static int publish(void) { return is_done(rsalab_private_key_public(key, &made_public)); }

static enum outcome check_publish(int is_done) {
  int is_right = !is_done || rsalab_public_key_bits(made_public) == 8 * K;
  return outcome(is_done, is_right, publish);
}

static int write_locked(void) {
  locked_len = sizeof locked;
  return is_done(rsalab_private_key_write(key, RSALAB_PRIVATE_FORMAT_PKCS8_PEM, "word", 4, locked, &locked_len));
}

static enum outcome check_write(int is_done) { return outcome(is_done, !is_done || read_locked(), write_locked); }

static int generate(void) { return is_done(rsalab_private_keys_generate(512, 0, 2, &made_private, 1)); }

static enum outcome check_generate(int is_done) {
  int is_right = !is_done || rsalab_private_key_bits(made_private) == 512;
  return outcome(is_done, is_right, generate);
}

static int generate_many(void) { return is_done(rsalab_private_keys_generate(256, 0, 3, made_keys, 3)); }

/* A thread without memory leaves its keys to the caller. */
static enum outcome check_generate_many(int is_done) {
  int is_right = 1;
  for (int i = 0; i < 3; i++) {
    is_right &= rsalab_private_key_bits(made_keys[i]) == (is_done ? 256 : 0);
    rsalab_private_key_free(made_keys[i]);
  }
  return is_right ? outcome(is_done, 1, generate_many) : WRONG;
}

static int new_batcher(void) {
  const rsalab_private_key *keys[1];
  keys[0] = key;
  return is_done(rsalab_batcher_new(keys, 1, NULL, &made_batcher));
}

static enum outcome check_new_batcher(int is_done) {
  int is_right = is_done == (made_batcher != NULL);
  rsalab_batcher_free(made_batcher);
  return is_right ? outcome(is_done, is_right, new_batcher) : WRONG;
}

static int add_key(void) {
  const rsalab_private_key *keys[1];
  keys[0] = key;
  return is_done(rsalab_batcher_add(batcher, keys, 1, &number));
}

static enum outcome check_add(int is_done) { return outcome(is_done, !is_done || number >= 1, add_key); }

static int batcher_sign(void) {
  return is_done(rsalab_batcher_sign_message(batcher, 0, &PSS_SHA256, MESSAGES[0].data, MESSAGES[0].len, out, K));
}

static enum outcome check_batcher_sign(int is_done) {
  int is_right = !is_done || is_verified(1);
  return outcome(is_done, is_right, batcher_sign);
}

static int batcher_decrypt(void) {
  lens[0] = K;
  return is_done(rsalab_batcher_decrypt(batcher, 0, &OAEP, ciphertexts + K, K, out, lens));
}

static enum outcome check_batcher_decrypt(int is_done) {
  int is_right = !is_done || (lens[0] == 3 && memcmp(out, "one", 3) == 0);
  return outcome(is_done, is_right, batcher_decrypt);
}

static int blind(void) { return is_done(rsalab_blind(public_key, VARIANT, MESSAGES, COUNT, out, sizeof out, states)); }

static enum outcome check_blind(int is_done) {
  int at;
  for (at = 0; is_done && at < COUNT; at++) rsalab_blind_state_free(states[at]);
  return outcome(is_done, 1, blind);
}

static int blind_sign(void) {
  return is_done(rsalab_blind_sign(key, VARIANT, out_of, COUNT, signatures, sizeof signatures, NULL));
}

static enum outcome check_blind_sign(int is_done) { return outcome(is_done, 1, blind_sign); }

static void blind_before(void) {
  publish_anew();
  CHECK(blind());
}

static int finalize(void) {
  const rsalab_blind_state *const *all = (const rsalab_blind_state *const *)states;
  return is_done(rsalab_blind_finalize(public_key, VARIANT, MESSAGES, all, signature_of, COUNT, out, sizeof out, NULL));
}

static enum outcome check_finalize(int is_done) {
  if (is_done) OK(rsalab_blind_verify(public_key, VARIANT, NULL, MESSAGES, out_of, COUNT, NULL));
  return outcome(is_done, 1, finalize);
}

static void sign_blind_before(void) {
  blind_before();
  CHECK(blind_sign());
}

static int free_key(void) {
  rsalab_private_key_free(key);
  key = NULL;
  return 1;
}

static enum outcome check_free(int is_done) { return is_done ? DONE : WRONG; }

static int free_batcher(void) {
  rsalab_batcher_free(batcher);
  return 1;
}

static const struct trial TRIALS[] = {
    {"sign five, new key", read_anew, sign, check_signatures},
    {"sign five, key in use", sign_before, sign, check_signatures},
    {"verify five", publish_anew, verify, check_verify},
    {"verify five, one wrong", publish_anew, verify_wrong, check_verify_wrong},
    {"encrypt four", publish_anew, encrypt, check_encrypt},
    {"decrypt five", read_anew, decrypt, check_decrypt},
    {"read a private key", NULL, read_private, check_read_private},
    {"read an encrypted key", NULL, read_locked, check_read_locked},
    {"read a damaged key", NULL, read_damaged, check_read_damaged},
    {"read forty keys, two threads", NULL, read_many, check_read_many},
    {"read forty, one damaged", NULL, read_many_damaged, check_read_many_damaged},
    {"public half", NULL, publish, check_publish},
    {"write an encrypted key", NULL, write_locked, check_write},
    {"free a key", sign_before, free_key, check_free},
    {"generate, 512 bits", NULL, generate, check_generate},
    {"generate three, three threads", NULL, generate_many, check_generate_many},
    {"batcher: new, one key", read_anew, new_batcher, check_new_batcher},
    {"batcher: add a key", batch_anew, add_key, check_add},
    {"batcher: sign", batch_anew, batcher_sign, check_batcher_sign},
    {"batcher: decrypt", batch_anew, batcher_decrypt, check_batcher_decrypt},
    {"batcher: free", batch_anew, free_batcher, check_free},
    {"blind five", publish_anew, blind, check_blind},
    {"blind: sign five", blind_before, blind_sign, check_blind_sign},
    {"blind: finalize five", sign_blind_before, finalize, check_finalize},
};

int main(void) {
  int at;
  key = new_key(8 * K);
  public_key = public_of(key);
  OK(rsalab_private_key_write(key, RSALAB_PRIVATE_FORMAT_PKCS8_PEM, NULL, 0, pem, &pem_len));

  CHECK(write_locked());
  OK(rsalab_sign_messages(key, &PSS_SHA256, MESSAGES, COUNT, signatures, sizeof signatures, NULL));
  OK(rsalab_encrypt(public_key, &OAEP, MESSAGES, COUNT, ciphertexts, sizeof ciphertexts, NULL));
  for (at = 0; at < COUNT; at++) {
    signature_of[at].data = signatures + at * K;
    ciphertext_of[at].data = ciphertexts + at * K;
    out_of[at].data = out + at * K;
    signature_of[at].len = ciphertext_of[at].len = out_of[at].len = K;
  }
  return try_all(TRIALS, (int)(sizeof TRIALS / sizeof TRIALS[0])) > 0;
}
