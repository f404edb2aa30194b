/* What programs ask of a provider beside operations, and the answers, a line each: two providers are compared by them.
 * OpenSSL's headers may be absent; these are all that is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { const char *key; unsigned int type; void *data; size_t size, used; } param;
extern void *EVP_PKEY_CTX_new_from_name(void *, const char *, const char *);
extern void *EVP_PKEY_CTX_new_from_pkey(void *, void *, const char *);
extern void EVP_PKEY_CTX_free(void *);
extern int EVP_PKEY_keygen_init(void *), EVP_PKEY_generate(void *, void **);
extern int EVP_PKEY_CTX_set_params(void *, const param *), EVP_PKEY_CTX_get_params(void *, param *);
extern void EVP_PKEY_CTX_set_cb(void *, int (*)(void *));
extern int EVP_PKEY_fromdata_init(void *), EVP_PKEY_fromdata(void *, void **, int, param *);
extern int EVP_PKEY_todata(const void *, int, param **);
extern int EVP_PKEY_public_check(void *), EVP_PKEY_public_check_quick(void *), EVP_PKEY_check(void *);
extern int EVP_PKEY_get_bn_param(const void *, const char *, void **);
extern int EVP_PKEY_sign_init_ex(void *, const param *), EVP_PKEY_verify_init(void *);
extern int EVP_PKEY_sign(void *, unsigned char *, size_t *, const unsigned char *, size_t);
extern const void *EVP_PKEY_get0_RSA(const void *), *EVP_PKEY_get0_provider(const void *);
extern const char *OSSL_PROVIDER_get0_name(const void *);
extern void EVP_PKEY_free(void *);
extern const param *OSSL_PARAM_locate_const(const param *, const char *);
extern void OSSL_PARAM_free(param *);
extern int BN_bn2lebinpad(const void *, unsigned char *, int);
extern void BN_free(void *);
extern void *EVP_MD_CTX_new(void);
extern void EVP_MD_CTX_free(void *);
extern const void *EVP_md_null(void);
extern int EVP_DigestSignInit(void *, void **, const void *, void *, void *);
extern int EVP_DigestVerifyInit(void *, void **, const void *, void *, void *);

enum { INTEGER = 1, UNSIGNED = 2, UTF8 = 4 };
/* OSSL_KEYMGMT_SELECT_... */
enum { PUBLIC = 2 | 4 | 0x80, KEYPAIR = 1 | 2 | 4 | 0x80 };

static const param END = {NULL, 0, NULL, 0, 0};
static int calls, answer = 1;

static int called(void *context) {
  (void)context;
  calls++;
  return answer;
}

static void *generated(unsigned int bits) {
  void *key = NULL, *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  param params[] = {{"bits", UNSIGNED, &bits, sizeof bits, 0}, END};
  if (EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_CTX_set_params(context, params) == 1) {
    EVP_PKEY_CTX_set_cb(context, called);
    EVP_PKEY_generate(context, &key);
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

static void *from_data(int selection, unsigned char *n, size_t len) {
  unsigned int e = 65537;
  void *key = NULL, *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  param params[] = {{"n", UNSIGNED, n, len, 0}, {"e", UNSIGNED, &e, sizeof e, 0}, END};
  if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, selection, params) != 1) key = NULL;
  EVP_PKEY_CTX_free(context);
  return key;
}

static void number(void *key, const char *name, unsigned char *into, int len) {
  void *found = NULL;
  memset(into, 0, (size_t)len);
  if (EVP_PKEY_get_bn_param(key, name, &found) != 1 || BN_bn2lebinpad(found, into, len) < 0) exit(9);
  BN_free(found);
}

static void public_checks(const char *name, unsigned char *n, size_t len) {
  void *key = from_data(PUBLIC, n, len);
  void *context = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
  if (context == NULL)
    printf("%s: no key\n", name);
  else
    printf("%s: %d, quick %d\n", name, EVP_PKEY_public_check(context) == 1, EVP_PKEY_public_check_quick(context) == 1);
  EVP_PKEY_CTX_free(context);
  EVP_PKEY_free(key);
}

static void leaves(void *key, const char *name) {
  param *data = NULL;
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, "provider=default");
  int is_written = EVP_PKEY_todata(key, KEYPAIR, &data) == 1;
  printf("%s: todata %d, n %d, d %d; another provider %d; EVP_PKEY_get0_RSA %d\n", name, is_written,
    is_written && OSSL_PARAM_locate_const(data, "n") != NULL, is_written && OSSL_PARAM_locate_const(data, "d") != NULL,
    context != NULL && EVP_PKEY_verify_init(context) == 1, EVP_PKEY_get0_RSA(key) != NULL);
  OSSL_PARAM_free(data);
  EVP_PKEY_CTX_free(context);
}

static void salt_length(void *key, const char *padding, size_t size) {
  void *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  unsigned char room[16];
  param set[] = {{"pad-mode", UTF8, (void *)padding, strlen(padding), 0}, END};
  param asked[] = {{"saltlen", INTEGER, NULL, size, 0}, END}, got[] = {{"saltlen", INTEGER, room, size, 0}, END};
  size_t i;
  int is_asked, is_got;
  memset(room, 0x55, sizeof room);
  if (EVP_PKEY_sign_init_ex(context, set) != 1) exit(9);
  is_asked = EVP_PKEY_CTX_get_params(context, asked) == 1;
  is_got = EVP_PKEY_CTX_get_params(context, got) == 1;
  printf("saltlen, %s, %zu bytes: size %d %zu; %d", padding, size, is_asked, is_asked ? asked[0].used : 0, is_got);
  for (i = 0; is_got && i < size; i++) printf(" %02x", room[i]);
  printf("\n");
  EVP_PKEY_CTX_free(context);
}

static void no_digest(void *key) {
  void *sign = EVP_MD_CTX_new(), *verify = EVP_MD_CTX_new();
  printf("EVP_md_null: sign %d, verify %d\n", EVP_DigestSignInit(sign, NULL, EVP_md_null(), NULL, key) == 1,
    EVP_DigestVerifyInit(verify, NULL, EVP_md_null(), NULL, key) == 1);
  EVP_MD_CTX_free(sign);
  EVP_MD_CTX_free(verify);
}

/* Functions of 3.4 and later. */
static void after_the_end(void *key) {
  void *(*fetch)(void *, const char *, const char *) = dlsym(RTLD_DEFAULT, "EVP_SIGNATURE_fetch");
  void (*free_it)(void *) = dlsym(RTLD_DEFAULT, "EVP_SIGNATURE_free");
  int (*init)(void *, void *, const param *) = dlsym(RTLD_DEFAULT, "EVP_PKEY_sign_message_init");
  int (*end)(void *, unsigned char *, size_t *) = dlsym(RTLD_DEFAULT, "EVP_PKEY_sign_message_final");
  void *algorithm, *context;
  unsigned char signature[256], digest[32] = {1};
  size_t len = sizeof signature;
  if (fetch == NULL || free_it == NULL || init == NULL || end == NULL) return;
  algorithm = fetch(NULL, "RSA-SHA256", NULL);
  context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
  if (algorithm == NULL || init(context, algorithm, NULL) != 1) exit(9);
  printf("an empty message: %d", end(context, signature, &len) == 1);
  len = sizeof signature;
  printf(", then a digest: %d\n", EVP_PKEY_sign(context, signature, &len, digest, sizeof digest) == 1);
  EVP_PKEY_CTX_free(context);
  free_it(algorithm);
}

int main(int count, char **arguments) {
  static unsigned char n[256], part[257];
  unsigned int carry = 0;
  void *key, *public;
  size_t i;
  key = generated(2048);
  if (count < 2 || key == NULL) return 9;
  if (strcmp(OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(key)), arguments[1]) != 0) return 9;
  printf("progress: %d\n", calls > 0);
  answer = 0;
  public = generated(2048);
  printf("a generation that the program ends: %d\n", public != NULL);
  EVP_PKEY_free(public);
  answer = 1;

  number(key, "n", n, sizeof n);
  public = from_data(PUBLIC, n, sizeof n);
  if (public == NULL) return 9;
  leaves(key, "a pair");
  leaves(public, "a public key");
  EVP_PKEY_free(public);
  public = from_data(0, n, sizeof n);
  printf("data of nothing: %d\n", public != NULL);
  EVP_PKEY_free(public);

  public_checks("a sound modulus", n, sizeof n);
  for (i = 0; i < sizeof n; i++) {
    carry += 3u * n[i];
    part[i] = (unsigned char)carry;
    carry >>= 8;
  }
  part[sizeof n] = (unsigned char)carry;
  public_checks("three times it", part, sizeof part);
  number(key, "rsa-factor1", part, 128);
  public_checks("a prime", part, 128);

  salt_length(key, "pss", 4);
  salt_length(key, "pss", 8);
  no_digest(key);
  after_the_end(key);
  EVP_PKEY_free(key);
  return 0;
}
