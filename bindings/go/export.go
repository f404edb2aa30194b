package rsalab

/*
#include <rsalab.h>
*/
import "C"

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"runtime"
)

// PKCS8 is the key as PKCS#8 in DER, for x509.ParsePKCS8PrivateKey and for "PRIVATE KEY" blocks of PEM. The bytes are
// the caller's, who wipes them with clear.
func (k *PrivateKey) PKCS8() ([]byte, error) {
	der, err := pkcs8(k.key, k.public.Size())
	runtime.KeepAlive(k)
	return der, err
}

// RSA is the key as crypto/rsa has it, with its precomputed values, for whatever takes an *rsa.PrivateKey. Go checks it
// once more: how its numbers fit each other, and not its primes. What Go makes of a key it does not wipe.
//
// Go takes no key that its file restricts to RSASSA-PSS or RSAES-OAEP. Its operations take those from 1024 bits on.
func (k *PrivateKey) RSA() (*rsa.PrivateKey, error) {
	key, err := keyOfGo(k.key, k.public.Size())
	runtime.KeepAlive(k)
	return key, err
}

// pkcs8 writes a key with a modulus of so many bytes.
func pkcs8(key *C.rsalab_private_key, size int) ([]byte, error) {
	// Nine integers take four and a half times the modulus; attributes of its file may come on top.
	der := make([]byte, 5*size+256)
	for {
		length := C.size_t(len(der))
		err := call(func() C.rsalab_status {
			return C.rsalab_private_key_write(key, C.RSALAB_PRIVATE_FORMAT_PKCS8_DER, nil, 0, first(der), &length)
		})
		if err == nil {
			return der[:length], nil
		}
		if !isOf(err, C.RSALAB_STATUS_BUFFER) || int(length) <= len(der) {
			return nil, err
		}
		der = make([]byte, length)
	}
}

// keyOfGo is a key with a modulus of so many bytes as crypto/rsa has it.
func keyOfGo(key *C.rsalab_private_key, size int) (*rsa.PrivateKey, error) {
	der, err := pkcs8(key, size)
	if err != nil {
		return nil, err
	}
	defer clear(der)
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("rsalab: %w", err)
	}
	of, isRSA := parsed.(*rsa.PrivateKey)
	if !isRSA {
		return nil, fmt.Errorf("rsalab: Go reads this key as a %T", parsed)
	}
	return of, nil
}
