/* Operations while the system refuses memory: done and right, or a failure, after which the same works; and never the end
 * of the process. OpenSSL's headers may be absent; these are all that is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "refuse.h"

typedef struct { const char *key; unsigned int type; void *data; size_t size, used; } param;
extern void *EVP_PKEY_Q_keygen(void *, const char *, const char *, ...);
extern void EVP_PKEY_free(void *);
extern void *EVP_PKEY_dup(void *);
extern int EVP_PKEY_eq(const void *, const void *);
extern const void *EVP_PKEY_get0_provider(const void *);
extern const char *OSSL_PROVIDER_get0_name(const void *);
extern void *EVP_MD_CTX_new(void);
extern void EVP_MD_CTX_free(void *);
extern int EVP_DigestSignInit_ex(void *, void **, const char *, void *, const char *, void *, const param *);
extern int EVP_DigestSign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_DigestVerifyInit_ex(void *, void **, const char *, void *, const char *, void *, const param *);
extern int EVP_DigestVerify(void *, const unsigned char *, size_t, const unsigned char *, size_t);
extern void *EVP_PKEY_CTX_new_from_pkey(void *, void *, const char *);
extern void *EVP_PKEY_CTX_dup(const void *);
extern void EVP_PKEY_CTX_free(void *);
extern int EVP_PKEY_sign_init_ex(void *, const param *), EVP_PKEY_verify_init_ex(void *, const param *);
extern int EVP_PKEY_encrypt_init_ex(void *, const param *), EVP_PKEY_decrypt_init_ex(void *, const param *);
extern int EVP_PKEY_sign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_PKEY_verify(void *, const unsigned char *, size_t, const unsigned char *, size_t);
extern int EVP_PKEY_encrypt(void *, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_PKEY_decrypt(void *, unsigned char *, size_t *, const unsigned char *, size_t);
extern void *BIO_new_mem_buf(const void *, int), *BIO_new(const void *);
extern const void *BIO_s_mem(void);
extern int BIO_free(void *);
extern int BIO_read(void *, void *, int);
extern int PEM_write_bio_PrivateKey(void *, void *, const void *, const unsigned char *, int, void *, void *);
extern void *PEM_read_bio_PrivateKey(void *, void **, void *, void *);
extern void ERR_clear_error(void);
extern void *ASYNC_WAIT_CTX_new(void);
extern void ASYNC_WAIT_CTX_free(void *);
extern int ASYNC_start_job(void **, void *, int *, int (*)(void *), void *, size_t);
enum { ASYNC_PAUSE = 2, ASYNC_FINISH = 3 };

enum { K = 128, UTF8 = 4 };

static const unsigned char MESSAGE[] = "a message that is signed and encrypted";
static const unsigned char DIGEST[32] = "thirty-two bytes: a digest.....";
static char pem[8192];
static int pem_len;
static void *key, *made;
static unsigned char signature[K], ciphertext[K], out[K];
static size_t out_len;

static param PSS[] = {{"pad-mode", UTF8, "pss", 3, 0}, {"digest", UTF8, "SHA256", 6, 0}, {NULL, 0, NULL, 0, 0}};
static param OAEP[] = {{"pad-mode", UTF8, "oaep", 4, 0}, {"digest", UTF8, "SHA256", 6, 0}, {NULL, 0, NULL, 0, 0}};

static void *read_key(void) {
  void *from = BIO_new_mem_buf(pem, pem_len);
  void *read = from == NULL ? NULL : PEM_read_bio_PrivateKey(from, NULL, NULL, NULL);
  BIO_free(from);
  return read;
}

static void read_anew(void) {
  key = read_key();
  if (key == NULL) exit(9);
}

static enum outcome outcome(int is_done, int is_right, int (*again)(void)) {
  ERR_clear_error();
  if (is_done) return is_right ? DONE : WRONG;
  return again() ? REFUSED : WRONG;
}

static int sign(void) {
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  int is_done;
  out_len = K;
  is_done = context != NULL && EVP_PKEY_sign_init_ex(context, PSS) == 1 &&
    EVP_PKEY_sign(context, out, &out_len, DIGEST, sizeof DIGEST) == 1;
  EVP_PKEY_CTX_free(context);
  return is_done;
}

static int is_verified(const unsigned char *signature, size_t len) {
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  int is_done = context != NULL && EVP_PKEY_verify_init_ex(context, PSS) == 1 &&
    EVP_PKEY_verify(context, signature, len, DIGEST, sizeof DIGEST) == 1;
  EVP_PKEY_CTX_free(context);
  return is_done;
}

static enum outcome check_sign(int is_done) { return outcome(is_done, !is_done || is_verified(out, out_len), sign); }

static void sign_before(void) {
  read_anew();
  if (!sign()) exit(9);
}

static int verify(void) { return is_verified(signature, K); }
static enum outcome check_verify(int is_done) { return outcome(is_done, 1, verify); }

static int in_job(void *unused) {
  (void)unused;
  return sign();
}

static int sign_in_job(void) {
  void *job = NULL, *wait = ASYNC_WAIT_CTX_new();
  int is_done = 0, status = ASYNC_PAUSE;
  while (wait != NULL && status == ASYNC_PAUSE) status = ASYNC_start_job(&job, wait, &is_done, in_job, NULL, 0);
  ASYNC_WAIT_CTX_free(wait);
  return status == ASYNC_FINISH && is_done == 1;
}

static enum outcome check_job(int is_done) {
  return outcome(is_done, !is_done || is_verified(out, out_len), sign_in_job);
}

static int digest_sign(void) {
  void *context = EVP_MD_CTX_new();
  int is_done;
  out_len = K;
  is_done = context != NULL && EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, key, NULL) == 1 &&
    EVP_DigestSign(context, out, &out_len, MESSAGE, sizeof MESSAGE) == 1;
  EVP_MD_CTX_free(context);
  return is_done;
}

static int digest_verify(void) {
  void *context = EVP_MD_CTX_new();
  int is_done = context != NULL && EVP_DigestVerifyInit_ex(context, NULL, "SHA256", NULL, NULL, key, NULL) == 1 &&
    EVP_DigestVerify(context, out, K, MESSAGE, sizeof MESSAGE) == 1;
  EVP_MD_CTX_free(context);
  return is_done;
}

static enum outcome check_digest_sign(int is_done) {
  return outcome(is_done, !is_done || digest_verify(), digest_sign);
}

static enum outcome check_digest_verify(int is_done) { return outcome(is_done, 1, digest_verify); }

static void digest_sign_before(void) {
  read_anew();
  if (!digest_sign()) exit(9);
}

static int encrypt(void) {
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  int is_done;
  out_len = K;
  is_done = context != NULL && EVP_PKEY_encrypt_init_ex(context, OAEP) == 1 &&
    EVP_PKEY_encrypt(context, out, &out_len, MESSAGE, sizeof MESSAGE) == 1;
  EVP_PKEY_CTX_free(context);
  return is_done;
}

static int decrypt_into(const unsigned char *from, unsigned char *into) {
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  int is_done;
  out_len = K;
  is_done = context != NULL && EVP_PKEY_decrypt_init_ex(context, OAEP) == 1 &&
    EVP_PKEY_decrypt(context, into, &out_len, from, K) == 1;
  EVP_PKEY_CTX_free(context);
  return is_done;
}

static int is_message(const unsigned char *bytes) {
  return out_len == sizeof MESSAGE && memcmp(bytes, MESSAGE, sizeof MESSAGE) == 0;
}

static enum outcome check_encrypt(int is_done) {
  unsigned char message[K];
  return outcome(is_done, !is_done || (decrypt_into(out, message) && is_message(message)), encrypt);
}

static int decrypt(void) { return decrypt_into(ciphertext, out); }
static enum outcome check_decrypt(int is_done) { return outcome(is_done, !is_done || is_message(out), decrypt); }

static void decrypt_before(void) {
  read_anew();
  if (!decrypt()) exit(9);
  memset(out, 0, sizeof out);
}

static int read_one(void) {
  made = read_key();
  return made != NULL;
}

static enum outcome check_read(int is_done) {
  return outcome(is_done, !is_done || EVP_PKEY_eq(made, key) == 1, read_one);
}

static int write_one(void) {
  void *to = BIO_new(BIO_s_mem());
  int is_done = to != NULL && PEM_write_bio_PrivateKey(to, key, NULL, NULL, 0, NULL, NULL) == 1;
  if (is_done) is_done = BIO_read(to, pem, sizeof pem) == pem_len;
  BIO_free(to);
  return is_done;
}

static enum outcome check_write(int is_done) { return outcome(is_done, !is_done || read_one(), write_one); }

static int dup_key(void) {
  made = EVP_PKEY_dup(key);
  return made != NULL;
}

static enum outcome check_dup(int is_done) {
  return outcome(is_done, !is_done || EVP_PKEY_eq(made, key) == 1, dup_key);
}

static int dup_context(void) {
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL), *other = NULL;
  int is_done;
  out_len = K;
  is_done = context != NULL && EVP_PKEY_sign_init_ex(context, PSS) == 1 &&
    (other = EVP_PKEY_CTX_dup(context)) != NULL &&
    EVP_PKEY_sign(other, out, &out_len, DIGEST, sizeof DIGEST) == 1;
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_CTX_free(other);
  return is_done;
}

static enum outcome check_dup_context(int is_done) {
  return outcome(is_done, !is_done || is_verified(out, out_len), dup_context);
}

static int generate(void) {
  made = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)512);
  return made != NULL;
}

static enum outcome check_generate(int is_done) { return outcome(is_done, 1, generate); }

static int free_key(void) {
  EVP_PKEY_free(key);
  return 1;
}

static enum outcome check_free(int is_done) { return is_done ? DONE : WRONG; }

static const struct trial TRIALS[] = {
    {"PSS signature, new key", read_anew, sign, check_sign},
    {"PSS signature, key in use", sign_before, sign, check_sign},
    {"PSS signature in a job, new key", read_anew, sign_in_job, check_job},
    {"PSS signature in a job, key in use", sign_before, sign_in_job, check_job},
    {"PSS verification, new key", read_anew, verify, check_verify},
    {"digest-sign, new key", read_anew, digest_sign, check_digest_sign},
    {"digest-sign, key in use", digest_sign_before, digest_sign, check_digest_sign},
    {"digest-verify", digest_sign_before, digest_verify, check_digest_verify},
    {"encryption, new key", read_anew, encrypt, check_encrypt},
    {"decryption, new key", read_anew, decrypt, check_decrypt},
    {"decryption, key in use", decrypt_before, decrypt, check_decrypt},
    {"read a key", NULL, read_one, check_read},
    {"write a key", NULL, write_one, check_write},
    {"copy a key", NULL, dup_key, check_dup},
    {"copy a context, and sign", NULL, dup_context, check_dup_context},
    {"generate, 512 bits", NULL, generate, check_generate},
    {"free a key", sign_before, free_key, check_free},
};

int main(int count, char **arguments) {
  const char *provider = count > 1 ? arguments[1] : "rsalab";
  void *to = BIO_new(BIO_s_mem());
  /* A thread of 4.0 that gets no memory for its queue of errors asks for it without end, in order to report that. */
  thread_begins = ERR_clear_error;
  key = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)(8 * K));
  if (key == NULL || strcmp(OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(key)), provider) != 0) return 9;
  if (PEM_write_bio_PrivateKey(to, key, NULL, NULL, 0, NULL, NULL) != 1) return 9;
  pem_len = BIO_read(to, pem, sizeof pem);
  BIO_free(to);
  if (!sign()) return 9;
  memcpy(signature, out, K);
  if (!encrypt()) return 9;
  memcpy(ciphertext, out, K);
  return try_all(TRIALS, (int)(sizeof TRIALS / sizeof TRIALS[0])) > 0;
}
