// Crypto++'s RSA behind C functions. Numbers are big-endian strings. Each function that can fail returns 0 when it did
// not, and otherwise leaves the library's words in `message`, of which `MESSAGE` bytes are there.

#include <cryptopp/integer.h>
#include <cryptopp/nbtheory.h>
#include <cryptopp/osrng.h>
#include <cryptopp/pkcspad.h>
#include <cryptopp/rsa.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

namespace {

constexpr std::size_t DIGEST = 32;

// The library signs messages, which it hashes itself. This "hash" of a SHA-256 digest is the digest.
class Given : public CryptoPP::HashTransformation {
public:
  CRYPTOPP_CONSTANT(DIGESTSIZE = DIGEST);
  static const char *StaticAlgorithmName() { return "SHA-256"; }
  unsigned int DigestSize() const override { return DIGESTSIZE; }
  void Update(const CryptoPP::byte *input, std::size_t length) override {
    const std::size_t room = DIGEST - filled_;
    const std::size_t taken = length < room ? length : room;
    std::memcpy(digest_ + filled_, input, taken);
    filled_ += taken;
  }
  void TruncatedFinal(CryptoPP::byte *digest, std::size_t length) override {
    std::memcpy(digest, digest_, length);
    filled_ = 0;
  }

private:
  CryptoPP::byte digest_[DIGEST] = {};
  std::size_t filled_ = 0;
};

} // namespace

namespace CryptoPP {
// RFC 8017, section 9.2, note 1.
template <> struct PKCS_DigestDecoration<Given> {
  static const byte decoration[19];
  static const unsigned int length = sizeof(decoration);
};
const byte PKCS_DigestDecoration<Given>::decoration[19] = {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
                                                           0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20};
} // namespace CryptoPP

namespace {

using CryptoPP::Integer;
using Signatures = CryptoPP::RSASS<CryptoPP::PKCS1v15, Given>;

constexpr std::size_t MESSAGE = 256;

struct Number {
  const std::uint8_t *bytes;
  std::size_t length;
  Integer get() const { return Integer(bytes, length); }
};

// What one thread needs: a key, what signs and verifies with it, and a generator for blinding and for primes.
struct Worker {
  CryptoPP::AutoSeededRandomPool random;
  CryptoPP::InvertibleRSAFunction key;
  Signatures::Signer signer;
  Signatures::Verifier verifier;
};

// No exception may pass into Rust.
template <typename Body> int guarded(char *message, Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception &error) {
    std::strncpy(message, error.what(), MESSAGE - 1);
  } catch (...) {
    std::strncpy(message, "an exception of unknown type", MESSAGE - 1);
  }
  message[MESSAGE - 1] = 0;
  return 1;
}

} // namespace

extern "C" {

int rsalab_cryptopp_version() { return CryptoPP::LibraryVersion(); }

void *rsalab_cryptopp_new() {
  try {
    return new Worker;
  } catch (...) {
    return nullptr;
  }
}

void rsalab_cryptopp_free(void *worker) { delete static_cast<Worker *>(worker); }

// parts: n e d p q dp dq qinv
int rsalab_cryptopp_set_key(void *worker, const Number *parts, char *message) {
  return guarded(message, [&] {
    auto *w = static_cast<Worker *>(worker);
    w->key.Initialize(parts[0].get(), parts[1].get(), parts[2].get(), parts[3].get(), parts[4].get(), parts[5].get(),
                      parts[6].get(), parts[7].get());
    w->signer.AccessKey() = w->key;
    w->verifier.AccessKey().Initialize(parts[0].get(), parts[1].get());
  });
}

int rsalab_cryptopp_sign(void *worker, const std::uint8_t *digest, std::uint8_t *signature, std::size_t length, char *message) {
  return guarded(message, [&] {
    auto *w = static_cast<Worker *>(worker);
    if (w->signer.SignatureLength() != length)
      throw std::length_error("the signature has another length");
    w->signer.SignMessage(w->random, digest, DIGEST, signature);
  });
}

int rsalab_cryptopp_verify(void *worker, const std::uint8_t *digest, const std::uint8_t *signature, std::size_t length,
                           std::uint8_t *is_valid, char *message) {
  return guarded(message, [&] {
    *is_valid = static_cast<Worker *>(worker)->verifier.VerifyMessage(digest, DIGEST, signature, length);
  });
}

// The tests of the library's own search, cheapest first: small primes, base 3 and Lucas, base 2.
int rsalab_cryptopp_is_prime(const std::uint8_t *candidate, std::size_t length, std::uint8_t *is_prime, char *message) {
  return guarded(message, [&] {
    const Integer number(candidate, length);
    *is_prime = CryptoPP::IsPrime(number) && CryptoPP::IsStrongProbablePrime(number, Integer::Two());
  });
}

// Blinded and checked.
int rsalab_cryptopp_inverse(void *worker, const std::uint8_t *in, std::uint8_t *out, std::size_t length, char *message) {
  return guarded(message, [&] {
    auto *w = static_cast<Worker *>(worker);
    w->key.CalculateInverse(w->random, Integer(in, length)).Encode(out, length);
  });
}

// The CRT alone. ModularRoot takes u = p^-1 mod q: the primes change places, as in CalculateInverse.
int rsalab_cryptopp_root(void *worker, const std::uint8_t *in, std::uint8_t *out, std::size_t length, char *message) {
  return guarded(message, [&] {
    const auto &key = static_cast<Worker *>(worker)->key;
    CryptoPP::ModularRoot(Integer(in, length), key.GetModPrime2PrivateExponent(), key.GetModPrime1PrivateExponent(),
                          key.GetPrime2(), key.GetPrime1(),
                          key.GetMultiplicativeInverseOfPrime2ModPrime1())
        .Encode(out, length);
  });
}

// The whole private exponent, without the CRT.
int rsalab_cryptopp_power(void *worker, const std::uint8_t *in, std::uint8_t *out, std::size_t length, char *message) {
  return guarded(message, [&] {
    const auto &key = static_cast<Worker *>(worker)->key;
    CryptoPP::ModularExponentiation(Integer(in, length), key.GetPrivateExponent(), key.GetModulus()).Encode(out, length);
  });
}

int rsalab_cryptopp_public(void *worker, const std::uint8_t *in, std::uint8_t *out, std::size_t length, char *message) {
  return guarded(message, [&] {
    static_cast<Worker *>(worker)->key.ApplyFunction(Integer(in, length)).Encode(out, length);
  });
}

int rsalab_cryptopp_generate(void *worker, unsigned bits, std::uint64_t exponent, std::uint8_t *p, std::uint8_t *q,
                             std::size_t prime_length, std::uint8_t *d, std::size_t length, char *message) {
  return guarded(message, [&] {
    auto *w = static_cast<Worker *>(worker);
    const Integer e(CryptoPP::Integer::POSITIVE, exponent);
    w->key.GenerateRandom(w->random, CryptoPP::MakeParameters("ModulusSize", static_cast<int>(bits))("PublicExponent", e));
    w->key.GetPrime1().Encode(p, prime_length);
    w->key.GetPrime2().Encode(q, prime_length);
    w->key.GetPrivateExponent().Encode(d, length);
  });
}

// One prime, with the parameters with which key generation asks for its own.
int rsalab_cryptopp_prime(void *worker, unsigned modulus_bits, std::uint8_t *prime, std::size_t length, char *message) {
  return guarded(message, [&] {
    auto *w = static_cast<Worker *>(worker);
    Integer number;
    number.GenerateRandom(w->random, CryptoPP::MakeParametersForTwoPrimesOfEqualSize(modulus_bits));
    number.Encode(prime, length);
  });
}
}
