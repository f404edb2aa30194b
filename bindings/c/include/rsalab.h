/*
 * rsalab: RSA signatures, encryption and key generation, batched over the lanes of the CPU.
 * Made by cbindgen from bindings/c/src: do not edit. Manual page: rsalab(3). Link with `pkg-config --cflags --libs rsalab`.
 *
 * Results. A call that can fail returns an rsalab_status; 0 is success. rsalab_last_error() then says more, on the same thread. The documentation of a
 * function names what it returns without the prefix: KEY is RSALAB_STATUS_KEY. Any call may return MEMORY, and INTERNAL, for an error in the library:
 * no panic and no exception leaves it. A call that fails as a whole writes nothing; one that returns ITEMS has written every item that is done, whole,
 * zeros for the others, and all statuses.
 *
 * Lengths are in bytes, keys in bits. Integers are big-endian, in (bits + 7) / 8 bytes: a modulus, a signature, a ciphertext.
 *
 * Memory. Buffers belong to the caller and are not kept after the call; results may be written over inputs. A key, state or batcher that a call
 * gives belongs to the caller, who frees it once, with its own function. Texts that are returned belong to the library. The library wipes the
 * secrets that it holds; messages and keys that it wrote to the caller's buffers the caller wipes.
 *
 * Pointers are not NULL unless it is said that they may be, refer to as much as the lengths say, and are aligned for their type. Data of length 0 may
 * be NULL. The library finds NULL, and cannot find other wrong pointers: they are undefined behaviour, as ever in C.
 *
 * Threads. Every function may be called from every thread. Keys and states do not change; they and batchers may be shared; but nobody may use what is being freed.
 *
 * Fork. Keys and states work in the child; a batcher tells it FORKED.
 */

#ifndef RSALAB_H
#define RSALAB_H

#include <stddef.h>
#include <stdint.h>

/*
 A salt as long as the digest, for rsalab_signature_scheme.salt_len.
 */
#define RSALAB_SALT_DIGEST -1

/*
 A salt as long as the key allows.
 */
#define RSALAB_SALT_MAX -2

/*
 A salt of any length: to verify only. With a key of RSASSA-PSS that names the least length, of that or more.
 */
#define RSALAB_SALT_ANY -3

/*
 Rounds of the Miller-Rabin test for a key that is about to be used, for rsalab_private_keys_read: of the composites
 that somebody chose well one in 65536 passes, and its results fail their check.
 */
#define RSALAB_ROUNDS_BEFORE_USE 8

/*
 Rounds of the Miller-Rabin test that are beyond doubt: a composite passes with a probability below 2^-128, whoever
 chose it.
 */
#define RSALAB_ROUNDS 64

/*
 The outcome of a call, or of one item of a batch. 0 is success.
 */
typedef enum {
  /*
   Done.
   */
  RSALAB_STATUS_OK = 0,
  /*
   At least one item of the batch failed: its own status says why. The others are done.
   */
  RSALAB_STATUS_ITEMS = 1,
  /*
   A pointer that must not be NULL is.
   */
  RSALAB_STATUS_NULL = 2,
  /*
   An argument has no meaning: an unknown number of a scheme, a format or a key, or a size out of range.
   */
  RSALAB_STATUS_ARGUMENT = 3,
  /*
   A buffer is too small; nothing was written, but for the length that is needed where it is asked for by pointer.
   */
  RSALAB_STATUS_BUFFER = 4,
  /*
   These bytes are not an RSA key, or a damaged or invalid one.
   */
  RSALAB_STATUS_KEY = 5,
  /*
   A key that may be good, and that this library does not work with.
   */
  RSALAB_STATUS_UNSUPPORTED = 6,
  /*
   The key is encrypted, and no password was given.
   */
  RSALAB_STATUS_PASSWORD_MISSING = 7,
  /*
   The password does not decrypt the key.
   */
  RSALAB_STATUS_PASSWORD_WRONG = 8,
  /*
   The key is for something else, as its file says.
   */
  RSALAB_STATUS_RESTRICTED = 9,
  /*
   The scheme or its parameters do not suit the key or the message; or the scheme must not sign any more (SHA-1).
   */
  RSALAB_STATUS_SCHEME = 10,
  /*
   A digest, a signature, or a ciphertext has the wrong length.
   */
  RSALAB_STATUS_LENGTH = 11,
  /*
   The signature is not that of the message.
   */
  RSALAB_STATUS_VERIFICATION = 12,
  /*
   The ciphertext does not decrypt. It is not said why.
   */
  RSALAB_STATUS_DECRYPTION = 13,
  /*
   A result failed its check and was withheld: the machine computes wrongly, or the key is damaged.
   */
  RSALAB_STATUS_FAULT = 14,
  /*
   The system gives no random bytes.
   */
  RSALAB_STATUS_RANDOMNESS = 15,
  /*
   The batcher belongs to the process that made it, of which this one is a fork.
   */
  RSALAB_STATUS_FORKED = 16,
  /*
   This is an error in the library, or it got no thread.
   */
  RSALAB_STATUS_INTERNAL = 17,
  /*
   A number is not below the modulus.
   */
  RSALAB_STATUS_RANGE = 18,
  /*
   There is not enough memory. Nothing was done.
   */
  RSALAB_STATUS_MEMORY = 19
} rsalab_status;

/*
 The encoding around a digest or a message (RFC 8017).
 */
typedef enum {
  /*
   RSASSA-PKCS1-v1_5 and RSAES-PKCS1-v1_5. Bad padding decrypts to a pseudorandom message (implicit rejection).
   */
  RSALAB_PADDING_PKCS1 = 1,
  /*
   RSASSA-PSS, for signatures.
   */
  RSALAB_PADDING_PSS = 2,
  /*
   RSAES-OAEP, for encryption.
   */
  RSALAB_PADDING_OAEP = 3
} rsalab_padding;

/*
 Hash functions (FIPS 180-4, FIPS 202), with the length of their digests in bytes.
 */
typedef enum {
  /*
   SHA-1, 20 bytes: to verify old signatures, and in OAEP. It signs nothing any more.
   */
  RSALAB_HASH_SHA1 = 1,
  /*
   SHA-224, 28 bytes.
   */
  RSALAB_HASH_SHA224 = 2,
  /*
   SHA-256, 32 bytes.
   */
  RSALAB_HASH_SHA256 = 3,
  /*
   SHA-384, 48 bytes.
   */
  RSALAB_HASH_SHA384 = 4,
  /*
   SHA-512, 64 bytes.
   */
  RSALAB_HASH_SHA512 = 5,
  /*
   SHA-512/224, 28 bytes.
   */
  RSALAB_HASH_SHA512_224 = 6,
  /*
   SHA-512/256, 32 bytes.
   */
  RSALAB_HASH_SHA512_256 = 7,
  /*
   SHA3-224, 28 bytes.
   */
  RSALAB_HASH_SHA3_224 = 8,
  /*
   SHA3-256, 32 bytes.
   */
  RSALAB_HASH_SHA3_256 = 9,
  /*
   SHA3-384, 48 bytes.
   */
  RSALAB_HASH_SHA3_384 = 10,
  /*
   SHA3-512, 64 bytes.
   */
  RSALAB_HASH_SHA3_512 = 11,
  /*
   SHAKE128 with 32 bytes, in PSS alone (RFC 8702).
   */
  RSALAB_HASH_SHAKE128 = 12,
  /*
   SHAKE256 with 64 bytes, in PSS alone (RFC 8702).
   */
  RSALAB_HASH_SHAKE256 = 13
} rsalab_hash;

/*
 How a private key is written.
 */
typedef enum {
  /*
   PKCS#8 in PEM: "PRIVATE KEY", or with a password "ENCRYPTED PRIVATE KEY".
   */
  RSALAB_PRIVATE_FORMAT_PKCS8_PEM = 1,
  /*
   PKCS#8 in DER.
   */
  RSALAB_PRIVATE_FORMAT_PKCS8_DER = 2,
  /*
   PKCS#1 in PEM: "RSA PRIVATE KEY".
   */
  RSALAB_PRIVATE_FORMAT_PKCS1_PEM = 3,
  /*
   PKCS#1 in DER.
   */
  RSALAB_PRIVATE_FORMAT_PKCS1_DER = 4
} rsalab_private_format;

/*
 How a public key is written.
 */
typedef enum {
  /*
   SubjectPublicKeyInfo in PEM: "PUBLIC KEY".
   */
  RSALAB_PUBLIC_FORMAT_SPKI_PEM = 1,
  /*
   SubjectPublicKeyInfo in DER.
   */
  RSALAB_PUBLIC_FORMAT_SPKI_DER = 2,
  /*
   PKCS#1 in PEM: "RSA PUBLIC KEY".
   */
  RSALAB_PUBLIC_FORMAT_PKCS1_PEM = 3,
  /*
   PKCS#1 in DER.
   */
  RSALAB_PUBLIC_FORMAT_PKCS1_DER = 4,
  /*
   SubjectPublicKeyInfo in DER as an issuer of tokens publishes its key (RFC 9578, 6.5): of RSASSA-PSS with SHA-384
   and a salt of 48 bytes.
   */
  RSALAB_PUBLIC_FORMAT_TOKEN_DER = 5
} rsalab_public_format;

/*
 The variants of RFC 9474, section 5, all with SHA-384 and RSASSA-PSS. Client, issuer and verifier agree on one.
 */
typedef enum {
  /*
   RSABSSA-SHA384-PSS-Randomized: a salt of 48 bytes, and a random prefix of 32 bytes before the message. The
   choice where nothing speaks for another.
   */
  RSALAB_BLIND_VARIANT_PSS_RANDOMIZED = 1,
  /*
   RSABSSA-SHA384-PSSZERO-Randomized: no salt, a random prefix.
   */
  RSALAB_BLIND_VARIANT_PSSZERO_RANDOMIZED = 2,
  /*
   RSABSSA-SHA384-PSS-Deterministic: a salt, no prefix: for messages that cannot be guessed, such as the tokens of
   RFC 9578.
   */
  RSALAB_BLIND_VARIANT_PSS_DETERMINISTIC = 3,
  /*
   RSABSSA-SHA384-PSSZERO-Deterministic: neither; each message has one signature.
   */
  RSALAB_BLIND_VARIANT_PSSZERO_DETERMINISTIC = 4
} rsalab_blind_variant;

/*
 Answers private operations that threads ask for one by one, those that are asked for side by side together. Threads
 may share it, and are meant to.
 */
typedef struct rsalab_batcher rsalab_batcher;

/*
 The state that a client keeps of one request until the issuer answers. It is secret: whoever has it can connect the
 signature with the request. Does not change; serves one request. Wiped when it is freed.
 */
typedef struct rsalab_blind_state rsalab_blind_state;

/*
 A private key with its public half. Does not change, so that threads may share it. Wiped when it is freed.
 */
typedef struct rsalab_private_key rsalab_private_key;

/*
 A public key. Does not change, so that threads may share it.
 */
typedef struct rsalab_public_key rsalab_public_key;

/*
 Bytes that the library reads: a message, a digest, a signature, a ciphertext or a file.
 */
typedef struct {
  /*
   The first byte. May be NULL if there are none.
   */
  const uint8_t *data;
  /*
   How many bytes there are.
   */
  size_t len;
} rsalab_bytes;

/*
 How signatures are made. For PKCS#1 v1.5 with SHA-256: {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, 0, 0}; for PSS:
 {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, 0, RSALAB_SALT_DIGEST}.
 */
typedef struct {
  /*
   RSALAB_PADDING_PKCS1 or RSALAB_PADDING_PSS.
   */
  uint32_t padding;
  /*
   The hash of the message: an rsalab_hash.
   */
  uint32_t hash;
  /*
   The hash of the mask of PSS: an rsalab_hash, or 0 for the same as `hash`. 0 with PKCS#1 v1.5.
   */
  uint32_t mgf_hash;
  /*
   Bytes of the salt of PSS, from 0; or RSALAB_SALT_DIGEST, RSALAB_SALT_MAX, RSALAB_SALT_ANY. 0 with PKCS#1 v1.5.
   */
  int32_t salt_len;
} rsalab_signature_scheme;

/*
 How messages are encrypted. For OAEP with SHA-256: {RSALAB_PADDING_OAEP, RSALAB_HASH_SHA256, 0, {NULL, 0}}.
 */
typedef struct {
  /*
   RSALAB_PADDING_OAEP or RSALAB_PADDING_PKCS1.
   */
  uint32_t padding;
  /*
   The hash of OAEP's label: an rsalab_hash. 0 with PKCS#1 v1.5.
   */
  uint32_t hash;
  /*
   The hash of OAEP's mask: an rsalab_hash, or 0 for the same as `hash`. 0 with PKCS#1 v1.5.
   */
  uint32_t mgf_hash;
  /*
   OAEP's label, empty in most uses.
   */
  rsalab_bytes label;
} rsalab_encryption_scheme;

/*
 The limits of a batcher. All 0, or no options at all, is a good choice.
 */
typedef struct {
  /*
   How many passes run at once, and as many again if they are full; 0 for as many as there are CPUs.
   */
  size_t passes;
  /*
   How many requests wait at most, before threads wait for room; 0 for 4096.
   */
  size_t waiting;
  /*
   How many microseconds a pass that is not full waits for more requests. 0, the default, waits for none: batches
   form by themselves.
   */
  uint64_t linger_us;
} rsalab_batcher_options;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/*
 A sentence for a status, such as one of an item. Never NULL, never freed, valid for ever; "unknown status" for
 another number.
 */
const char *rsalab_status_text(int32_t status);

/*
 The error of the last call on this thread that did not return RSALAB_STATUS_OK, in a sentence or two; of a
 batch, with the first item that failed. Never NULL, never freed; valid until the next call of this library on this
 thread. Nothing secret is in it.
 */
const char *rsalab_last_error(void);

/*
 The version of the library, such as "0.1.0". Never NULL, never freed, valid for ever.
 */
const char *rsalab_version(void);

/*
 The name of the kernel that full batches run on, such as "mont52x8_ifma512": what this CPU has decides. Never NULL,
 never freed, valid for ever.
 */
const char *rsalab_kernel(void);

/*
 Reads a private key: PKCS#1 or PKCS#8, in DER or PEM, encrypted or not (PBES2), a JSON Web Key, or OpenSSH's own
 format. Which it is is found out. All relations between its numbers are checked; that its primes are prime is not.

 bytes, len: the file, at most 1 MiB. password: for an encrypted one, else NULL; it is not kept. most_bits: a longer
 modulus is refused before anything is computed with it; 0 for 8192, at most 16384. key: gets the key, to be freed
 with rsalab_private_key_free.

 Returns KEY, UNSUPPORTED, PASSWORD_MISSING, PASSWORD_WRONG, NULL; ARGUMENT if most_bits is more than 16384.
 */
rsalab_status rsalab_private_key_read(const uint8_t *bytes,
                                      size_t len,
                                      const char *password,
                                      size_t password_len,
                                      size_t most_bits,
                                      rsalab_private_key **key);

/*
 Reads a public key: PKCS#1 or SubjectPublicKeyInfo, in DER or PEM, a JSON Web Key, or a line of OpenSSH's
 authorized_keys; or takes it out of an X.509 certificate, which is not verified, or of a private key. Parameters are
 those of rsalab_private_key_read; free with rsalab_public_key_free.
 */
rsalab_status rsalab_public_key_read(const uint8_t *bytes,
                                     size_t len,
                                     const char *password,
                                     size_t password_len,
                                     size_t most_bits,
                                     rsalab_public_key **key);

/*
 The public half of a private key, to be freed with rsalab_public_key_free; it may outlive the private key.
 */
rsalab_status rsalab_private_key_public(const rsalab_private_key *key, rsalab_public_key **public_key);

/*
 Frees a private key and wipes it. Batchers that were made with it keep what they need. NULL is nothing.
 */
void rsalab_private_key_free(rsalab_private_key *key);

/*
 Frees a public key. NULL is nothing.
 */
void rsalab_public_key_free(rsalab_public_key *key);

/*
 Bits of the modulus; 0 for NULL. The modulus, a signature and a ciphertext take (bits + 7) / 8 bytes.
 */
size_t rsalab_private_key_bits(const rsalab_private_key *key);

/*
 Bits of the modulus; 0 for NULL. The modulus, a signature and a ciphertext take (bits + 7) / 8 bytes.
 */
size_t rsalab_public_key_bits(const rsalab_public_key *key);

/*
 Copies the modulus, big-endian, (bits + 7) / 8 bytes. *len: room in `modulus`, then bytes needed. Returns BUFFER if
 there are fewer.
 */
rsalab_status rsalab_public_key_modulus(const rsalab_public_key *key,
                                        uint8_t *modulus,
                                        size_t *len);

/*
 Copies the public exponent, big-endian without leading zeros. *len: room in `exponent`, then bytes needed. Returns
 BUFFER if there are fewer.
 */
rsalab_status rsalab_public_key_exponent(const rsalab_public_key *key,
                                         uint8_t *exponent,
                                         size_t *len);

/*
 Writes a private key, byte for byte as OpenSSL does; PEM is not terminated by a zero.

 format: an rsalab_private_format. password: NULL, or what encrypts it (PKCS#8 only; PBES2 with scrypt and
 AES-256-CBC). *len: room in `bytes`, then bytes needed; with `bytes` NULL the length is asked for, and BUFFER
 returned. Wiping what was written is the caller's.
 */
rsalab_status rsalab_private_key_write(const rsalab_private_key *key,
                                       uint32_t format,
                                       const char *password,
                                       size_t password_len,
                                       uint8_t *bytes,
                                       size_t *len);

/*
 Writes a public key. format: an rsalab_public_format. *len: room in `bytes`, then bytes needed; with `bytes` NULL
 the length is asked for, and BUFFER returned.
 */
rsalab_status rsalab_public_key_write(const rsalab_public_key *key,
                                      uint32_t format,
                                      uint8_t *bytes,
                                      size_t *len);

/*
 Reads many private keys and tests their primes, those of all keys together in the lanes of the CPU.

 files: `count` of them, each as rsalab_private_key_read takes it. password: for those that are encrypted, else NULL;
 it is not kept. most_bits: as there. rounds: of the Miller-Rabin test with random bases that each prime stands:
 RSALAB_ROUNDS_BEFORE_USE, RSALAB_ROUNDS, or another number up to 1024; 0 tests none. threads: how many work, the
 caller among them; 0 for as many as there are CPUs. keys: gets `count` keys, to be freed one by one with
 rsalab_private_key_free; NULL for a file that failed. statuses: gets `count` statuses, or NULL.

 Returns OK if all are read, ITEMS if not; else nothing is written: ARGUMENT, MEMORY, NULL, INTERNAL. Of an item:
 KEY, also for a prime that is none; UNSUPPORTED, PASSWORD_MISSING, PASSWORD_WRONG, RANDOMNESS. For the words about
 another item than the first that failed, read it alone.
 */
rsalab_status rsalab_private_keys_read(const rsalab_bytes *files,
                                       size_t count,
                                       const char *password,
                                       size_t password_len,
                                       size_t most_bits,
                                       size_t rounds,
                                       size_t threads,
                                       rsalab_private_key **keys,
                                       rsalab_status *statuses);

/*
 Generates keys by FIPS 186-5, appendix A.1.3, in random order, and checks each by one operation there and back.

 bits: an even number from 256 to 16384; below 2048 for study only. exponent: odd, from 3; 0 for 65537. threads: how
 many search, the caller among them; 0 for as many as there are CPUs. keys: gets `count` keys, to be freed one by one
 with rsalab_private_key_free; none if the call fails.

 Returns KEY for bits out of range, ARGUMENT for another exponent, RANDOMNESS, INTERNAL.
 */
rsalab_status rsalab_private_keys_generate(size_t bits,
                                           uint64_t exponent,
                                           size_t threads,
                                           rsalab_private_key **keys,
                                           size_t count);

/*
 Signs messages with one key, together in the lanes of the CPU, on the thread that calls.

 messages: `count` of them. signatures: gets count * k bytes, k = (bits + 7) / 8; signature i begins at i * k, and is
 zeros if item i failed. signatures_len: room there, in bytes. statuses: gets `count` statuses, or NULL.

 Returns OK if all are signed, ITEMS if not; else nothing is written: BUFFER, SCHEME, RESTRICTED, RANDOMNESS, NULL,
 ARGUMENT. Of an item: FAULT.
 */
rsalab_status rsalab_sign_messages(const rsalab_private_key *key,
                                   const rsalab_signature_scheme *scheme,
                                   const rsalab_bytes *messages,
                                   size_t count,
                                   uint8_t *signatures,
                                   size_t signatures_len,
                                   rsalab_status *statuses);

/*
 As rsalab_sign_messages, of digests by the scheme's hash function. Of an item as well: LENGTH.
 */
rsalab_status rsalab_sign_digests(const rsalab_private_key *key,
                                  const rsalab_signature_scheme *scheme,
                                  const rsalab_bytes *digests,
                                  size_t count,
                                  uint8_t *signatures,
                                  size_t signatures_len,
                                  rsalab_status *statuses);

/*
 Verifies signatures by one key, together in the lanes of the CPU, on the thread that calls.

 messages, signatures: `count` of each. statuses: gets `count` statuses, or NULL.

 Returns OK if and only if every signature is that of its message, ITEMS if not; else nothing is written: SCHEME,
 RESTRICTED, NULL, ARGUMENT. Of an item: VERIFICATION, whatever is wrong with the signature.
 */
rsalab_status rsalab_verify_messages(const rsalab_public_key *key,
                                     const rsalab_signature_scheme *scheme,
                                     const rsalab_bytes *messages,
                                     const rsalab_bytes *signatures,
                                     size_t count,
                                     rsalab_status *statuses);

/*
 As rsalab_verify_messages, of digests by the scheme's hash function. Of an item as well: LENGTH, for a digest of
 another length.
 */
rsalab_status rsalab_verify_digests(const rsalab_public_key *key,
                                    const rsalab_signature_scheme *scheme,
                                    const rsalab_bytes *digests,
                                    const rsalab_bytes *signatures,
                                    size_t count,
                                    rsalab_status *statuses);

/*
 Bytes of the longest message that a key encrypts with a scheme; 0 if there is none, which an empty message tells
 apart, or if an argument is wrong.
 */
size_t rsalab_encrypt_max_len(const rsalab_public_key *key,
                              const rsalab_encryption_scheme *scheme);

/*
 Encrypts messages for one key, together in the lanes of the CPU, on the thread that calls.

 messages: `count` of them, each at most rsalab_encrypt_max_len bytes. ciphertexts: gets count * k bytes, where
 k = (bits + 7) / 8; ciphertext i begins at i * k, and is zeros if item i failed. ciphertexts_len: room there, in
 bytes. statuses: gets `count` statuses, or NULL.

 Returns OK if all are encrypted, ITEMS if not; else nothing is written: BUFFER, SCHEME, RESTRICTED, RANDOMNESS,
 NULL, ARGUMENT. Of an item: LENGTH, for a message that is too long.
 */
rsalab_status rsalab_encrypt(const rsalab_public_key *key,
                             const rsalab_encryption_scheme *scheme,
                             const rsalab_bytes *messages,
                             size_t count,
                             uint8_t *ciphertexts,
                             size_t ciphertexts_len,
                             rsalab_status *statuses);

/*
 Decrypts ciphertexts with one key, together in the lanes of the CPU, on the thread that calls.

 ciphertexts: `count` of them, of k = (bits + 7) / 8 bytes each. messages: gets count * k bytes; message i begins at
 i * k, and zeros fill the rest. messages_len: room there, in bytes. lens: gets the `count` lengths of the messages.
 statuses: gets `count` statuses, or NULL. Wiping the messages is the caller's.

 With PKCS#1 v1.5 bad padding gives a pseudorandom message and OK (implicit rejection); failures of OAEP cannot be
 told apart.

 Returns OK if all are decrypted, ITEMS if not; else nothing is written: BUFFER, SCHEME, RESTRICTED, RANDOMNESS,
 FAULT, NULL, ARGUMENT. Of an item: DECRYPTION.
 */
rsalab_status rsalab_decrypt(const rsalab_private_key *key,
                             const rsalab_encryption_scheme *scheme,
                             const rsalab_bytes *ciphertexts,
                             size_t count,
                             uint8_t *messages,
                             size_t messages_len,
                             size_t *lens,
                             rsalab_status *statuses);

/*
 The client's first step (RFC 9474, 4.1 and 4.2): prepares and blinds messages for the issuer with this key.

 variant: an rsalab_blind_variant. messages: `count` of them. blinded: gets count * k bytes, k = (bits + 7) / 8, to
 be sent to the issuer; blinded message i begins at i * k. blinded_len: room there, in bytes. states: gets `count`
 states, to be freed one by one with rsalab_blind_state_free.

 Returns BUFFER, ARGUMENT, SCHEME for a key that is too short, RESTRICTED, KEY for a modulus that is not of two large
 primes, RANDOMNESS, NULL; nothing is written then.
 */
rsalab_status rsalab_blind(const rsalab_public_key *key,
                           uint32_t variant,
                           const rsalab_bytes *messages,
                           size_t count,
                           uint8_t *blinded,
                           size_t blinded_len,
                           rsalab_blind_state **states);

/*
 The issuer's step (4.3): signs blinded messages of any clients with one key, together in the lanes of the CPU, on
 the thread that calls. The key must sign blindly and do nothing else: the issuer cannot see what it signs.

 variant: an rsalab_blind_variant. blinded: `count` blinded messages of k = (bits + 7) / 8 bytes. signatures: gets
 count * k bytes, to be sent back; blind signature i begins at i * k, and is zeros if item i failed. signatures_len:
 room there, in bytes. statuses: gets `count` statuses, or NULL.

 Returns OK if all are signed, ITEMS if not; else nothing is written: BUFFER, ARGUMENT, SCHEME, RESTRICTED,
 RANDOMNESS, NULL. Of an item: LENGTH, RANGE, FAULT.
 */
rsalab_status rsalab_blind_sign(const rsalab_private_key *key,
                                uint32_t variant,
                                const rsalab_bytes *blinded,
                                size_t count,
                                uint8_t *signatures,
                                size_t signatures_len,
                                rsalab_status *statuses);

/*
 The client's second step (4.4): makes signatures of what the issuer sent, and verifies them.

 messages, states: `count` of each, as in rsalab_blind, with its key and variant. blind_signatures: `count` of k =
 (bits + 7) / 8 bytes. signatures: gets count * k bytes; signature i begins at i * k, and is zeros if item i failed.
 signatures_len: room there, in bytes. statuses: gets `count` statuses, or NULL.

 Returns OK if all are right, ITEMS if not; else nothing is written: BUFFER, ARGUMENT, SCHEME, RESTRICTED, NULL.
 Of an item: LENGTH, VERIFICATION for what is no blind signature of this request, ARGUMENT for a state of another key
 or variant.
 */
rsalab_status rsalab_blind_finalize(const rsalab_public_key *key,
                                    uint32_t variant,
                                    const rsalab_bytes *messages,
                                    const rsalab_blind_state *const *states,
                                    const rsalab_bytes *blind_signatures,
                                    size_t count,
                                    uint8_t *signatures,
                                    size_t signatures_len,
                                    rsalab_status *statuses);

/*
 Verifies signatures that came of blind ones (4.5), together in the lanes of the CPU, on the thread that calls. They
 are RSASSA-PSS signatures of prefix and message.

 prefixes: `count` prefixes of the messages, of 32 bytes; NULL, or empty ones, for a deterministic variant. messages,
 signatures: `count` of each. statuses: gets `count` statuses, or NULL.

 Returns OK if and only if every signature is that of its message, ITEMS if not; else nothing is written: ARGUMENT,
 SCHEME, RESTRICTED, NULL. Of an item: LENGTH for a prefix of another length; VERIFICATION, whatever is wrong with
 the signature.
 */
rsalab_status rsalab_blind_verify(const rsalab_public_key *key,
                                  uint32_t variant,
                                  const rsalab_bytes *prefixes,
                                  const rsalab_bytes *messages,
                                  const rsalab_bytes *signatures,
                                  size_t count,
                                  rsalab_status *statuses);

/*
 Copies the prefix that stands before the message of this request; whoever verifies the signature needs it. *len:
 room in `prefix`, then bytes needed: 32, or 0 if the variant is deterministic. Returns BUFFER if there are fewer.
 */
rsalab_status rsalab_blind_state_prefix(const rsalab_blind_state *state,
                                        uint8_t *prefix,
                                        size_t *len);

/*
 Writes a state, for a client that ends before the issuer answers. Whoever can read it can connect the signature with
 the request.

 *len: room in `bytes`, then bytes needed; with `bytes` NULL the length is asked for, and BUFFER returned. Wiping
 what was written is the caller's.
 */
rsalab_status rsalab_blind_state_write(const rsalab_blind_state *state,
                                       uint8_t *bytes,
                                       size_t *len);

/*
 Reads a state that rsalab_blind_state_write wrote, or the program rsalab, for the key of its request.

 state: gets the state, to be freed with rsalab_blind_state_free. Returns ARGUMENT for what is no state, or of
 another key.
 */
rsalab_status rsalab_blind_state_read(const rsalab_public_key *key,
                                      const uint8_t *bytes,
                                      size_t len,
                                      rsalab_blind_state **state);

/*
 Frees a state and wipes it. NULL is nothing.
 */
void rsalab_blind_state_free(rsalab_blind_state *state);

/*
 Makes a batcher. keys: `count` private keys, numbered from 0; those of one size share passes. They may be freed
 afterwards. With none of them, keys are added later. options: NULL for the defaults. batcher: gets the batcher, to
 be freed with rsalab_batcher_free. After a fork, only the process that made it can use it.

 Returns NULL, ARGUMENT, INTERNAL.
 */
rsalab_status rsalab_batcher_new(const rsalab_private_key *const *keys,
                                 size_t count,
                                 const rsalab_batcher_options *options,
                                 rsalab_batcher **batcher);

/*
 Adds keys to a batcher, while threads use it: for a server that loads a certificate. They are prepared on this
 thread, and nobody waits for that. Many are added by one call rather than one by one.

 keys: `count` private keys, which may be freed afterwards. numbers: gets their numbers; a number is given once.

 Returns FORKED, NULL, ARGUMENT, INTERNAL; no key is added then.
 */
rsalab_status rsalab_batcher_add(const rsalab_batcher *batcher,
                                 const rsalab_private_key *const *keys,
                                 size_t count,
                                 size_t *numbers);

/*
 Removes keys from a batcher, while threads use it. Calls that have begun with them are answered; the batcher's copy
 is wiped with the last of these.

 numbers: `count` numbers of keys. Returns ARGUMENT if one is unknown, FORKED, NULL, INTERNAL; no key is removed
 then.
 */
rsalab_status rsalab_batcher_remove(const rsalab_batcher *batcher,
                                    const size_t *numbers,
                                    size_t count);

/*
 Frees a batcher. No thread may be in a call of it. NULL is nothing.
 */
void rsalab_batcher_free(rsalab_batcher *batcher);

/*
 Signs one message. Blocks; the thread that calls may be one that computes for others too.

 key: its number in the batcher. message, message_len: the message. signature: gets k = (bits + 7) / 8 bytes.
 signature_len: room there, in bytes.

 Returns BUFFER, ARGUMENT, SCHEME, RESTRICTED, RANDOMNESS, FAULT, FORKED, NULL, INTERNAL; nothing is written then.
 */
rsalab_status rsalab_batcher_sign_message(const rsalab_batcher *batcher,
                                          size_t key,
                                          const rsalab_signature_scheme *scheme,
                                          const uint8_t *message,
                                          size_t message_len,
                                          uint8_t *signature,
                                          size_t signature_len);

/*
 As rsalab_batcher_sign_message, of a digest by the scheme's hash function. Returns LENGTH for a digest of another
 length.
 */
rsalab_status rsalab_batcher_sign_digest(const rsalab_batcher *batcher,
                                         size_t key,
                                         const rsalab_signature_scheme *scheme,
                                         const uint8_t *digest,
                                         size_t digest_len,
                                         uint8_t *signature,
                                         size_t signature_len);

/*
 Signs one blinded message, as rsalab_blind_sign does many: for issuers that are asked for one at a time. Blocks.

 key: its number in the batcher. variant: an rsalab_blind_variant. blinded, blinded_len: the blinded message, of k =
 (bits + 7) / 8 bytes. signature: gets k bytes. signature_len: room there, in bytes.

 Returns LENGTH, RANGE, BUFFER, ARGUMENT, SCHEME, RESTRICTED, FAULT, FORKED, NULL, INTERNAL; nothing is written then.
 */
rsalab_status rsalab_batcher_blind_sign(const rsalab_batcher *batcher,
                                        size_t key,
                                        uint32_t variant,
                                        const uint8_t *blinded,
                                        size_t blinded_len,
                                        uint8_t *signature,
                                        size_t signature_len);

/*
 Decrypts one ciphertext. Blocks, as rsalab_batcher_sign_message does.

 ciphertext, ciphertext_len: k = (bits + 7) / 8 bytes. message: where the message goes. *message_len: room there,
 then the length of the message; k bytes are always enough. Wiping the message is the caller's. With PKCS#1 v1.5 bad
 padding gives a pseudorandom message and OK (implicit rejection).

 Returns DECRYPTION, BUFFER, ARGUMENT, SCHEME, RESTRICTED, RANDOMNESS, FAULT, FORKED, NULL, INTERNAL; no message is
 written then.
 */
rsalab_status rsalab_batcher_decrypt(const rsalab_batcher *batcher,
                                     size_t key,
                                     const rsalab_encryption_scheme *scheme,
                                     const uint8_t *ciphertext,
                                     size_t ciphertext_len,
                                     uint8_t *message,
                                     size_t *message_len);

/*
 Requests that wait for a pass now; 0 for NULL.
 */
size_t rsalab_batcher_waiting(const rsalab_batcher *batcher);

/*
 How many passes had i requests so far, for every i from 0 to the most that a pass has: a histogram. The sum of i *
 passes[i] is the number of requests.

 passes: where the numbers go; *count: room there, in numbers, then how many there are. With `passes` NULL their
 number is asked for, and BUFFER returned.
 */
rsalab_status rsalab_batcher_passes(const rsalab_batcher *batcher,
                                    uint64_t *passes,
                                    size_t *count);

/*
 How many requests waited for their pass to begin: number i counts those that waited below 2^i microseconds, and not
 below half of that. One that was computed for at once is in number 0. Parameters are those of rsalab_batcher_passes.
 */
rsalab_status rsalab_batcher_waits(const rsalab_batcher *batcher,
                                   uint64_t *waits,
                                   size_t *count);

#ifdef __cplusplus
}  /* extern "C" */
#endif  /* __cplusplus */

#endif  /* RSALAB_H */
