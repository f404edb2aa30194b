// Package rsalab signs and decrypts with RSA keys on rsalab's engine, through its C library: what goroutines ask for
// side by side is computed together, in the lanes of the CPU. A Signer is a crypto.Signer and a crypto.Decrypter, for
// crypto/tls, crypto/x509 and whatever else takes these.
//
// The library is found by pkg-config: scripts/c-library.sh installs it. A goroutine that waits for a signature holds a
// thread of the system, of which Go starts as many as are needed.
package rsalab

/*
#cgo pkg-config: rsalab
#include <rsalab.h>
#include <stdlib.h>
*/
import "C"

import (
	"crypto/rsa"
	"fmt"
	"math/big"
	"runtime"
	"unsafe"
)

// Error is what the library says of a call that failed.
type Error struct {
	// Status is an rsalab_status.
	Status int
	text   string
}

func (e *Error) Error() string { return "rsalab: " + e.text }

// call keeps the goroutine on its thread, to which the text of an error belongs.
func call(work func() C.rsalab_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := work()
	if status == C.RSALAB_STATUS_OK {
		return nil
	}
	return &Error{int(status), C.GoString(C.rsalab_last_error())}
}

// first is where bytes begin, for C.
func first(bytes []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(bytes)) }

// Version is that of the library.
func Version() string { return C.GoString(C.rsalab_version()) }

// Kernel is the name of what full batches run on, which depends on the CPU.
func Kernel() string { return C.GoString(C.rsalab_kernel()) }

// PrivateKey is an RSA key that the library holds. It is wiped when nobody refers to it any more.
type PrivateKey struct {
	key    *C.rsalab_private_key
	public *rsa.PublicKey
}

// ParsePrivateKey reads a key in DER or PEM: PKCS#1 or PKCS#8, encrypted or not, a JSON Web Key, or OpenSSH's own
// format. password is nil for one that is not encrypted. Moduli above 8192 bits are refused.
func ParsePrivateKey(bytes, password []byte) (*PrivateKey, error) {
	var key *C.rsalab_private_key
	err := call(func() C.rsalab_status {
		return C.rsalab_private_key_read(first(bytes), C.size_t(len(bytes)),
			(*C.char)(unsafe.Pointer(unsafe.SliceData(password))), C.size_t(len(password)), 0, &key)
	})
	if err != nil {
		return nil, err
	}
	return newPrivateKey(key)
}

// newPrivateKey owns the key from here on.
func newPrivateKey(key *C.rsalab_private_key) (*PrivateKey, error) {
	owner := &PrivateKey{key: key}
	runtime.AddCleanup(owner, func(key *C.rsalab_private_key) { C.rsalab_private_key_free(key) }, key)
	var public *C.rsalab_public_key
	if err := call(func() C.rsalab_status { return C.rsalab_private_key_public(key, &public) }); err != nil {
		return nil, err
	}
	defer C.rsalab_public_key_free(public)
	modulus := make([]byte, (int(C.rsalab_public_key_bits(public))+7)/8)
	exponent := make([]byte, len(modulus))
	modulusLen, exponentLen := C.size_t(len(modulus)), C.size_t(len(exponent))
	if err := call(func() C.rsalab_status {
		return C.rsalab_public_key_modulus(public, first(modulus), &modulusLen)
	}); err != nil {
		return nil, err
	}
	if err := call(func() C.rsalab_status {
		return C.rsalab_public_key_exponent(public, first(exponent), &exponentLen)
	}); err != nil {
		return nil, err
	}
	runtime.KeepAlive(owner)
	e := new(big.Int).SetBytes(exponent[:exponentLen])
	if !e.IsInt64() || e.Int64() > 1<<31-1 {
		return nil, fmt.Errorf("rsalab: Go's crypto/rsa takes no public exponent of %d bits", e.BitLen())
	}
	owner.public = &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: int(e.Int64())}
	return owner, nil
}

// Public is the public half.
func (k *PrivateKey) Public() *rsa.PublicKey { return k.public }
