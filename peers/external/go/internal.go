//go:build !public_api_only

package main

import (
	"errors"
	"unsafe"
)

// Go's raw operations are in crypto/internal/fips140/rsa since Go 1.24, and no public function leads to them without a
// padding. The linker does where -checklinkname=0 allows it. The pointers are never looked into here.

const internalReason = ""

//go:linkname newPrivateKey crypto/internal/fips140/rsa.NewPrivateKeyWithPrecomputation
func newPrivateKey(n []byte, e int, d, p, q, dp, dq, qinv []byte) (unsafe.Pointer, error)

//go:linkname publicKeyOf crypto/internal/fips140/rsa.(*PrivateKey).PublicKey
func publicKeyOf(key unsafe.Pointer) unsafe.Pointer

//go:linkname decryptWithCheck crypto/internal/fips140/rsa.DecryptWithCheck
func decryptWithCheck(key unsafe.Pointer, ciphertext []byte) ([]byte, error)

//go:linkname decryptWithoutCheck crypto/internal/fips140/rsa.DecryptWithoutCheck
func decryptWithoutCheck(key unsafe.Pointer, ciphertext []byte) ([]byte, error)

//go:linkname encrypt crypto/internal/fips140/rsa.Encrypt
func encrypt(key unsafe.Pointer, plaintext []byte) ([]byte, error)

//go:linkname isPrime crypto/internal/fips140/rsa.isPrime
func isPrime(candidate []byte) bool

// The raw operation of a job on one block, which is smaller than the modulus.
func rawOperation(j *job, key *studyKey) (func(in, out []byte) error, *refusal) {
	private, err := newPrivateKey(key.N, exponentOf(key), key.D, key.P, key.Q, key.Dp, key.Dq, key.Qinv)
	if err != nil {
		return nil, faultf("key", "the key was refused: %v", err)
	}
	run, operand := decryptWithCheck, private
	switch {
	case j.Op == "public":
		run, operand = encrypt, publicKeyOf(private)
	case j.Variant != nil && *j.Variant == "unchecked":
		run = decryptWithoutCheck
	}
	return func(in, out []byte) error {
		result, err := run(operand, in)
		if err == nil && len(result) != len(out) {
			err = errors.New("a result of another length")
		}
		copy(out, result)
		return err
	}, nil
}

// The test that key generation makes of a candidate.
func keygenTest(candidate []byte) bool { return isPrime(candidate) }
