/* Keys: generated, written, read again in every format, refused. */
#include "check.h"

static void formats(const rsalab_private_key *key) {
  for (uint32_t format = RSALAB_PRIVATE_FORMAT_PKCS8_PEM; format <= RSALAB_PRIVATE_FORMAT_PKCS1_DER; format++) {
    size_t len = 0;
    FAILS(rsalab_private_key_write(key, format, NULL, 0, NULL, &len), BUFFER);
    CHECK(len > 100);
    uint8_t *bytes = malloc(len);
    size_t less = len - 1;
    memset(bytes, 0xaa, len);
    FAILS(rsalab_private_key_write(key, format, NULL, 0, bytes, &less), BUFFER);
    CHECK(less == len && is_all(bytes, len, 0xaa));
    OK(rsalab_private_key_write(key, format, NULL, 0, bytes, &len));
    rsalab_private_key *again = NULL;
    OK(rsalab_private_key_read(bytes, len, NULL, 0, 0, &again));
    CHECK(rsalab_private_key_bits(again) == rsalab_private_key_bits(key));
    /* One byte less is no key. */
    rsalab_private_key *none = NULL;
    FAILS(rsalab_private_key_read(bytes, len / 2, NULL, 0, 0, &none), KEY);
    CHECK(none == NULL);
    /* A public key can be had from it. */
    rsalab_public_key *public_key = NULL;
    OK(rsalab_public_key_read(bytes, len, NULL, 0, 0, &public_key));
    rsalab_public_key_free(public_key);
    rsalab_private_key_free(again);
    free(bytes);
  }
  size_t len = 0;
  FAILS(rsalab_private_key_write(key, 99, NULL, 0, NULL, &len), ARGUMENT);
  FAILS(rsalab_private_key_write(key, 0, NULL, 0, NULL, &len), ARGUMENT);
}

static void passwords(const rsalab_private_key *key) {
  size_t len = 1 << 14;
  uint8_t *bytes = malloc(len);
  OK(rsalab_private_key_write(key, RSALAB_PRIVATE_FORMAT_PKCS8_PEM, "secret", 6, bytes, &len));
  CHECK(memcmp(bytes, "-----BEGIN ENCRYPTED PRIVATE KEY-----", 37) == 0);
  rsalab_private_key *again = NULL;
  FAILS(rsalab_private_key_read(bytes, len, NULL, 0, 0, &again), PASSWORD_MISSING);
  FAILS(rsalab_private_key_read(bytes, len, "wrong", 5, 0, &again), PASSWORD_WRONG);
  CHECK(strstr(rsalab_last_error(), "password") != NULL);
  CHECK(again == NULL);
  OK(rsalab_private_key_read(bytes, len, "secret", 6, 0, &again));
  FAILS(rsalab_private_key_write(key, RSALAB_PRIVATE_FORMAT_PKCS1_PEM, "secret", 6, bytes, &len), ARGUMENT);
  rsalab_private_key_free(again);
  free(bytes);
}

static void public_keys(const rsalab_private_key *key) {
  rsalab_public_key *public_key = public_of(key);
  uint8_t modulus[128], other[128], exponent[8];
  size_t len = sizeof modulus - 1;
  FAILS(rsalab_public_key_modulus(public_key, modulus, &len), BUFFER);
  CHECK(len == sizeof modulus);
  OK(rsalab_public_key_modulus(public_key, modulus, &len));
  CHECK(modulus[0] >= 0x80 && modulus[127] % 2 == 1);
  len = sizeof exponent;
  OK(rsalab_public_key_exponent(public_key, exponent, &len));
  CHECK(len == 3 && exponent[0] == 1 && exponent[1] == 0 && exponent[2] == 1);
  for (uint32_t format = RSALAB_PUBLIC_FORMAT_SPKI_PEM; format <= RSALAB_PUBLIC_FORMAT_PKCS1_DER; format++) {
    uint8_t bytes[2048];
    len = sizeof bytes;
    OK(rsalab_public_key_write(public_key, format, bytes, &len));
    rsalab_public_key *again = NULL;
    OK(rsalab_public_key_read(bytes, len, NULL, 0, 0, &again));
    size_t k = sizeof other;
    OK(rsalab_public_key_modulus(again, other, &k));
    CHECK(memcmp(modulus, other, sizeof modulus) == 0);
    rsalab_public_key_free(again);
    /* It is no private key. */
    rsalab_private_key *none = NULL;
    FAILS(rsalab_private_key_read(bytes, len, NULL, 0, 0, &none), KEY);
    /* A limit is kept. */
    FAILS(rsalab_public_key_read(bytes, len, NULL, 0, 1023, &again), KEY);
    FAILS(rsalab_public_key_read(bytes, len, NULL, 0, 16385, &again), ARGUMENT);
    FAILS(rsalab_private_key_read(bytes, len, NULL, 0, SIZE_MAX, &none), ARGUMENT);
  }
  rsalab_public_key_free(public_key);
}

static void restrictions(void) {
  /* RFC 7517's way to say that a key encrypts and signs nothing; its numbers are those of a public key of 256 bits. */
  static const char jwk[] =
      "{\"kty\":\"RSA\",\"use\":\"enc\",\"n\":\"gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\",\"e\":\"AQAB\"}";
  rsalab_public_key *key = NULL;
  OK(rsalab_public_key_read((const uint8_t *)jwk, sizeof jwk - 1, NULL, 0, 0, &key));
  CHECK(rsalab_public_key_bits(key) == 256);
  rsalab_bytes message = BYTES("a"), signature = BYTES("b");
  FAILS(rsalab_verify_messages(key, &PKCS1_SHA256, &message, &signature, 1, NULL), RESTRICTED);
  rsalab_public_key_free(key);
}

/* RFC 4055, section 3.3: a key that asks for 48 bytes of salt verifies no shorter ones, whatever the caller knows of them. */
static void least_salt(const rsalab_private_key *key) {
  rsalab_public_key *plain = public_of(key), *restricted = NULL;
  uint8_t written[1024], signature[128];
  size_t len = sizeof written;
  OK(rsalab_public_key_write(plain, RSALAB_PUBLIC_FORMAT_TOKEN_DER, written, &len));
  OK(rsalab_public_key_read(written, len, NULL, 0, 0, &restricted));
  rsalab_bytes message = BYTES("a"), made = {signature, sizeof signature};
  rsalab_signature_scheme any = {RSALAB_PADDING_PSS, RSALAB_HASH_SHA384, 0, RSALAB_SALT_ANY};
  const int32_t salts[] = {0, 20, 47, 48, 60};
  for (size_t i = 0; i < sizeof salts / sizeof *salts; i++) {
    rsalab_signature_scheme own = {RSALAB_PADDING_PSS, RSALAB_HASH_SHA384, 0, salts[i]};
    OK(rsalab_sign_messages(key, &own, &message, 1, signature, sizeof signature, NULL));
    OK(rsalab_verify_messages(plain, &any, &message, &made, 1, NULL));
    rsalab_status status = RSALAB_STATUS_OK;
    if (salts[i] < 48) {
      FAILS(rsalab_verify_messages(restricted, &any, &message, &made, 1, &status), ITEMS);
      CHECK(status == RSALAB_STATUS_VERIFICATION);
      FAILS(rsalab_verify_messages(restricted, &own, &message, &made, 1, NULL), RESTRICTED);
    } else {
      OK(rsalab_verify_messages(restricted, &any, &message, &made, 1, NULL));
      OK(rsalab_verify_messages(restricted, &own, &message, &made, 1, NULL));
    }
  }
  rsalab_public_key_free(restricted);
  rsalab_public_key_free(plain);
}

static void nulls(const rsalab_private_key *key) {
  rsalab_private_key *none = NULL;
  FAILS(rsalab_private_key_read(NULL, 3, NULL, 0, 0, &none), NULL);
  FAILS(rsalab_private_key_read(NULL, 0, NULL, 0, 0, &none), KEY);
  FAILS(rsalab_private_key_read((const uint8_t *)"x", 1, NULL, 0, 0, NULL), NULL);
  FAILS(rsalab_private_key_read((const uint8_t *)"x", 1, NULL, 3, 0, &none), NULL);
  FAILS(rsalab_private_key_read((const uint8_t *)"x", (size_t)-1, NULL, 0, 0, &none), ARGUMENT);
  FAILS(rsalab_private_key_public(NULL, NULL), NULL);
  FAILS(rsalab_private_key_public(key, NULL), NULL);
  FAILS(rsalab_private_key_write(key, 1, NULL, 0, NULL, NULL), NULL);
  FAILS(rsalab_private_keys_generate(1024, 0, 1, NULL, 1), NULL);
  CHECK(rsalab_private_key_bits(NULL) == 0 && rsalab_public_key_bits(NULL) == 0);
  rsalab_private_key_free(NULL);
  rsalab_public_key_free(NULL);
}

static void generation(void) {
  rsalab_private_key *keys[5] = {NULL};
  OK(rsalab_private_keys_generate(512, 3, 3, keys, 5));
  uint8_t moduli[5][64];
  for (int i = 0; i < 5; i++) {
    CHECK(rsalab_private_key_bits(keys[i]) == 512);
    rsalab_public_key *public_key = public_of(keys[i]);
    size_t len = 64;
    OK(rsalab_public_key_modulus(public_key, moduli[i], &len));
    for (int j = 0; j < i; j++) {
      CHECK(memcmp(moduli[i], moduli[j], 64) != 0);
    }
    uint8_t exponent = 0;
    len = 1;
    OK(rsalab_public_key_exponent(public_key, &exponent, &len));
    CHECK(exponent == 3);
    rsalab_public_key_free(public_key);
    rsalab_private_key_free(keys[i]);
  }
  OK(rsalab_private_keys_generate(512, 0, 0, NULL, 0));
  rsalab_private_key *none = NULL;
  FAILS(rsalab_private_keys_generate(100, 0, 1, &none, 1), KEY);
  FAILS(rsalab_private_keys_generate(1023, 0, 1, &none, 1), KEY);
  FAILS(rsalab_private_keys_generate(1024, 4, 1, &none, 1), ARGUMENT);
  FAILS(rsalab_private_keys_generate(1024, 1, 1, &none, 1), ARGUMENT);
  CHECK(none == NULL);
}

/* Whether a message repeats eight characters in a row of a text. */
static int repeats(const char *message, const char *text) {
  for (size_t i = 0; i + 8 <= strlen(text); i++) {
    char part[9] = {0};
    memcpy(part, text + i, 8);
    if (strstr(message, part) != NULL) return 1;
  }
  return 0;
}

/* Reads what is no file of a key, and looks at what is said. */
static void refuses(const char *text, size_t len, const char *body) {
  rsalab_private_key *key = NULL;
  rsalab_public_key *public_key = NULL;
  CHECK(rsalab_private_key_read((const uint8_t *)text, len, NULL, 0, 0, &key) != RSALAB_STATUS_OK);
  CHECK(strlen(rsalab_last_error()) > 10 && !repeats(rsalab_last_error(), body));
  if (rsalab_public_key_read((const uint8_t *)text, len, NULL, 0, 0, &public_key) != RSALAB_STATUS_OK) {
    CHECK(!repeats(rsalab_last_error(), body));
  }
  rsalab_public_key_free(public_key);
}

/* Errors repeat nothing of a key that was squeezed, cut or mixed up. */
static void secrets(const rsalab_private_key *key) {
  char pem[4096], body[4096], text[16384];
  size_t len = sizeof pem - 1;
  OK(rsalab_private_key_write(key, RSALAB_PRIVATE_FORMAT_PKCS8_PEM, NULL, 0, (uint8_t *)pem, &len));
  pem[len] = 0;
  const char *start = strchr(pem, '\n') + 1, *end = strstr(pem, "\n-----END");
  size_t used = 0;
  for (const char *c = start; c < end; c++) {
    if (*c != '\n') body[used++] = *c;
  }
  body[used] = 0;
  /* Line ends lost, and in other forms. */
  const char *between[] = {"", " ", "\\n", "\\r\\n", "\t"};
  for (size_t form = 0; form < sizeof between / sizeof *between; form++) {
    used = 0;
    for (const char *c = pem; *c != 0; c++) {
      used += (size_t)snprintf(text + used, sizeof text - used, *c == '\n' ? "%s" : "%.1s", *c == '\n' ? between[form] : c);
    }
    refuses(text, used, body);
    for (size_t cut = 1; cut < used; cut += 41) refuses(text, cut, body);
  }
  /* The key in the place of a name, or of another member. */
  const char *forms[] = {
    "-----BEGIN %s-----\n%s\n-----END %s-----\n", "KEY=\"-----BEGIN PRIVATE KEY-----\\n%s\\n%s%s\"\n", "ssh-rsa %s %s %s\n", "ssh-%s %s %s\n",
    "{\"kty\":\"%s\",\"n\":\"%s\",\"e\":\"%s\"}", "{\"kty\":\"RSA\",\"keys\":\"%s\",\"n\":\"%s%s\"}", "{\"keys\":[\"%s\",{\"d\":\"%s%s\"}]}",
    "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"oth\":[\"%s\"],\"d\":{\"%s\":\"%s\"}}", "{\"%s\":\"%s\",\"private_key\":\"%s\"}",
    "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"alg\":\"%s\",\"use\":\"%s\",\"key_ops\":[\"%s\"]}", "PuTTY-User-Key-File-3: %s\n%s\n%s\n",
  };
  for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
    used = (size_t)snprintf(text, sizeof text, forms[form], body, body, body);
    refuses(text, used, body);
    for (size_t cut = 1; cut < used; cut += 97) refuses(text, cut, body);
  }
}

int main(void) {
  CHECK(strlen(rsalab_version()) >= 5 && strlen(rsalab_kernel()) > 5);
  CHECK(strcmp(rsalab_last_error(), "") == 0);
  CHECK(strcmp(rsalab_status_text(RSALAB_STATUS_OK), "done") == 0);
  CHECK(strcmp(rsalab_status_text(-1), "unknown status") == 0);
  rsalab_private_key *key = new_key(1024);
  formats(key);
  passwords(key);
  public_keys(key);
  restrictions();
  secrets(key);
  least_salt(key);
  nulls(key);
  generation();
  rsalab_private_key_free(key);
  return 0;
}
