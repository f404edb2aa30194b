package rsalab

/*
#include <rsalab.h>
#include <stdlib.h>
*/
import "C"

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
	"unsafe"
)

// Batcher computes together what goroutines ask of its keys side by side. There is no timer: whoever asks while nothing
// is computed is computed for at once.
type Batcher struct {
	batcher *C.rsalab_batcher
	keys    []*PrivateKey
}

// Options are the limits of a batcher. The zero value is a good choice.
type Options struct {
	// Passes is how many run at once; 0 for as many as there are CPUs.
	Passes uint
	// Waiting is how many requests wait at most, before goroutines wait for room; 0 for 4096.
	Waiting uint
	// Linger is how long a pass that is not full waits for more requests. Batches form by themselves, without it.
	Linger time.Duration
}

// NewBatcher makes a batcher over keys; those of one size share passes.
func NewBatcher(keys ...*PrivateKey) (*Batcher, error) {
	return Options{}.NewBatcher(keys...)
}

// NewBatcher makes a batcher with these limits.
func (o Options) NewBatcher(keys ...*PrivateKey) (*Batcher, error) {
	if len(keys) == 0 {
		return nil, errors.New("rsalab: a batcher needs a key")
	}
	options := C.rsalab_batcher_options{
		passes: C.size_t(o.Passes), waiting: C.size_t(o.Waiting), linger_us: C.uint64_t(max(o.Linger, 0).Microseconds()),
	}
	handles := make([]*C.rsalab_private_key, len(keys))
	for i, key := range keys {
		handles[i] = key.key
	}
	var batcher *C.rsalab_batcher
	err := call(func() C.rsalab_status {
		return C.rsalab_batcher_new(unsafe.SliceData(handles), C.size_t(len(handles)), &options, &batcher)
	})
	runtime.KeepAlive(keys)
	if err != nil {
		return nil, err
	}
	// A copy: the caller may change a slice that was passed on.
	owner := &Batcher{batcher, slices.Clone(keys)}
	runtime.AddCleanup(owner, func(batcher *C.rsalab_batcher) { C.rsalab_batcher_free(batcher) }, batcher)
	return owner, nil
}

// Passes is a histogram: how many passes had 0, 1, 2 and so on requests.
func (b *Batcher) Passes() ([]uint64, error) {
	passes := make([]uint64, 256)
	count := C.size_t(len(passes))
	err := call(func() C.rsalab_status {
		return C.rsalab_batcher_passes(b.batcher, (*C.uint64_t)(unsafe.SliceData(passes)), &count)
	})
	runtime.KeepAlive(b)
	if err != nil {
		return nil, err
	}
	return passes[:count], nil
}

// Signer is one key of a batcher: a crypto.Signer and a crypto.Decrypter. Goroutines may share it.
type Signer struct {
	batcher *Batcher
	key     int
}

var (
	_ crypto.Signer    = (*Signer)(nil)
	_ crypto.Decrypter = (*Signer)(nil)
)

// Signer is the key of this number, in the order given to NewBatcher. It panics if there is none, as an index of a
// slice does.
func (b *Batcher) Signer(key int) *Signer {
	_ = b.keys[key]
	return &Signer{b, key}
}

// Public is an *rsa.PublicKey.
func (s *Signer) Public() crypto.PublicKey { return s.batcher.keys[s.key].public }

// hashes are Go's names of what the library has.
var hashes = map[crypto.Hash]C.uint32_t{
	crypto.SHA1:       C.RSALAB_HASH_SHA1,
	crypto.SHA224:     C.RSALAB_HASH_SHA224,
	crypto.SHA256:     C.RSALAB_HASH_SHA256,
	crypto.SHA384:     C.RSALAB_HASH_SHA384,
	crypto.SHA512:     C.RSALAB_HASH_SHA512,
	crypto.SHA512_224: C.RSALAB_HASH_SHA512_224,
	crypto.SHA512_256: C.RSALAB_HASH_SHA512_256,
	crypto.SHA3_224:   C.RSALAB_HASH_SHA3_224,
	crypto.SHA3_256:   C.RSALAB_HASH_SHA3_256,
	crypto.SHA3_384:   C.RSALAB_HASH_SHA3_384,
	crypto.SHA3_512:   C.RSALAB_HASH_SHA3_512,
}

func hashOf(hash crypto.Hash) (C.uint32_t, error) {
	number, isKnown := hashes[hash]
	if !isKnown {
		return 0, fmt.Errorf("rsalab: no hash function %v", hash)
	}
	return number, nil
}

// Sign signs a digest: with RSASSA-PSS if opts is an *rsa.PSSOptions, else with RSASSA-PKCS1-v1_5. The library draws
// salts itself: the reader is not used. SHA-1 signs nothing, and there are no signatures without a hash function.
func (s *Signer) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	hash, err := hashOf(opts.HashFunc())
	if err != nil {
		return nil, err
	}
	scheme := C.rsalab_signature_scheme{padding: C.RSALAB_PADDING_PKCS1, hash: hash}
	if pss, isPSS := opts.(*rsa.PSSOptions); isPSS {
		scheme.padding = C.RSALAB_PADDING_PSS
		switch pss.SaltLength {
		case rsa.PSSSaltLengthEqualsHash:
			scheme.salt_len = C.RSALAB_SALT_DIGEST
		case rsa.PSSSaltLengthAuto:
			scheme.salt_len = C.RSALAB_SALT_MAX
		default:
			if pss.SaltLength < 0 || pss.SaltLength > 1<<16 {
				return nil, fmt.Errorf("rsalab: no salt has %d bytes", pss.SaltLength)
			}
			scheme.salt_len = C.int32_t(pss.SaltLength)
		}
	}
	signature := make([]byte, s.batcher.keys[s.key].public.Size())
	err = call(func() C.rsalab_status {
		return C.rsalab_batcher_sign_digest(s.batcher.batcher, C.size_t(s.key), &scheme,
			first(digest), C.size_t(len(digest)), first(signature), C.size_t(len(signature)))
	})
	runtime.KeepAlive(s)
	if err != nil {
		return nil, err
	}
	return signature, nil
}

// Decrypt decrypts with RSAES-OAEP if opts is an *rsa.OAEPOptions, and with RSAES-PKCS1-v1_5 if it is nil or an
// *rsa.PKCS1v15DecryptOptions. Of the latter bad padding gives a pseudorandom message, or a random key of SessionKeyLen
// bytes, and no error.
func (s *Signer) Decrypt(_ io.Reader, ciphertext []byte, opts crypto.DecrypterOpts) ([]byte, error) {
	scheme := C.rsalab_encryption_scheme{padding: C.RSALAB_PADDING_PKCS1}
	sessionKeyLen := 0
	switch opts := opts.(type) {
	case nil:
	case *rsa.PKCS1v15DecryptOptions:
		sessionKeyLen = opts.SessionKeyLen
	case *rsa.OAEPOptions:
		hash, err := hashOf(opts.Hash)
		if err != nil {
			return nil, err
		}
		scheme.padding, scheme.hash = C.RSALAB_PADDING_OAEP, hash
		if opts.MGFHash != 0 {
			if scheme.mgf_hash, err = hashOf(opts.MGFHash); err != nil {
				return nil, err
			}
		}
		if len(opts.Label) > 0 {
			// What C is given by pointer holds no pointer to Go's memory.
			label := C.CBytes(opts.Label)
			defer C.free(label)
			scheme.label = C.rsalab_bytes{data: (*C.uint8_t)(label), len: C.size_t(len(opts.Label))}
		}
	default:
		return nil, errors.New("rsalab: unknown options for decryption")
	}
	message := make([]byte, s.batcher.keys[s.key].public.Size())
	messageLen := C.size_t(len(message))
	err := call(func() C.rsalab_status {
		return C.rsalab_batcher_decrypt(s.batcher.batcher, C.size_t(s.key), &scheme,
			first(ciphertext), C.size_t(len(ciphertext)), first(message), &messageLen)
	})
	runtime.KeepAlive(s)
	if err != nil {
		return nil, err
	}
	if sessionKeyLen > 0 {
		return sessionKey(message, int(messageLen), sessionKeyLen)
	}
	return message[:messageLen], nil
}

// sessionKey is the message if it has the length of a session key, else a random one; which of them, no time and no
// error tells.
func sessionKey(block []byte, messageLen, wanted int) ([]byte, error) {
	if wanted > len(block) {
		return nil, fmt.Errorf("rsalab: no message of this key has %d bytes", wanted)
	}
	key := make([]byte, wanted)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	isOfLength := subtle.ConstantTimeEq(int32(messageLen), int32(wanted))
	subtle.ConstantTimeCopy(isOfLength, key, block[:wanted])
	return key, nil
}
