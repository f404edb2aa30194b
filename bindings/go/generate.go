package rsalab

/*
#include <rsalab.h>
*/
import "C"

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// GenerateKey makes a key of so many bits with the public exponent 65537.
func GenerateKey(bits int) (*PrivateKey, error) {
	keys, err := GenerateKeys(bits, 1)
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// GenerateKeys makes keys of so many bits with the public exponent 65537, on all CPUs. Many in one call take less time
// than as many calls.
func GenerateKeys(bits, count int) ([]*PrivateKey, error) {
	handles, err := generate(bits, count)
	if err != nil {
		return nil, err
	}
	keys := make([]*PrivateKey, count)
	var failed error
	for i, handle := range handles {
		// Every handle gets an owner, whatever happens to one of them.
		if keys[i], err = newPrivateKey(handle); err != nil {
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return keys, nil
}

// GenerateRSAKey makes a key as rsa.GenerateKey does: of so many bits, with the public exponent 65537 and precomputed
// values.
func GenerateRSAKey(bits int) (*rsa.PrivateKey, error) {
	keys, err := GenerateRSAKeys(bits, 1)
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// GenerateRSAKeys makes many keys as GenerateRSAKey does, on all CPUs.
func GenerateRSAKeys(bits, count int) ([]*rsa.PrivateKey, error) {
	handles, err := generate(bits, count)
	if err != nil {
		return nil, err
	}
	// Go takes its time with each, too.
	keys, errs := make([]*rsa.PrivateKey, count), make([]error, count)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), count) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				keys[i], errs[i] = keyOfGo(handles[i], (bits+7)/8)
				C.rsalab_private_key_free(handles[i])
			}
		}()
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return keys, nil
}

// generate makes keys, which the caller frees.
func generate(bits, count int) ([]*C.rsalab_private_key, error) {
	if bits < 0 || count < 0 {
		return nil, fmt.Errorf("rsalab: %d keys of %d bits", count, bits)
	}
	handles := make([]*C.rsalab_private_key, count)
	err := call(func() C.rsalab_status {
		return C.rsalab_private_keys_generate(C.size_t(bits), 0, 0, unsafe.SliceData(handles), C.size_t(count))
	})
	return handles, err
}
