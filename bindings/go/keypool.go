package rsalab

/*
#include <pthread.h>
#include <rsalab.h>
#include <signal.h>
#include <stdio.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Keys that a thread makes.
struct generation {
  size_t bits, count;
  rsalab_private_key **keys;
  rsalab_status status;
  char text[256];
};

static void *generate_idly(void *argument) {
  struct generation *work = argument;
  // Signals to the process are for the others, which answer them sooner.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
#ifdef __linux__
  // The priority of this thread alone, which ends with it.
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
#endif
  work->status = rsalab_private_keys_generate(work->bits, 0, 1, work->keys, work->count);
  snprintf(work->text, sizeof work->text, "%s", rsalab_last_error());
  return NULL;
}

// Makes keys on a thread of its own at the lowest priority. The priority is not that of one of Go's threads: such a
// thread, when it has to wait for a CPU, may hold what all of Go's wait for.
static void generate_on_idle_thread(struct generation *work) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, generate_idly, work) != 0) {
    work->status = RSALAB_STATUS_INTERNAL;
    snprintf(work->text, sizeof work->text, "the system starts no thread");
    return;
  }
  pthread_join(thread, NULL);
}
*/
import "C"

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// ErrKeyPoolClosed is what a KeyPool says that has been closed.
var ErrKeyPoolClosed = errors.New("rsalab: the pool of keys is closed")

// KeyPool keeps RSA keys of some sizes ready, with the public exponent 65537, for services that need new keys at once:
// each is given out once. Keys are made in the background at the lowest priority, on CPUs that nobody else needs (Linux;
// elsewhere at that of the process). If there is none of a size, Get has one made, or a few together where several calls
// wait.
//
// Until it is given out a key is in the memory of the library, which wipes it; Close wipes those that nobody got.
// Goroutines may share a pool. It ends with Close alone.
type KeyPool struct {
	stock stock[*C.rsalab_private_key]
}

// KeyPoolOptions are how a pool works. The zero value is a good choice.
type KeyPoolOptions struct {
	// Refillers is how many threads fill the pool; 0 for one.
	Refillers int
	// Helpers is how many threads at most make keys that callers of Get wait for; 0 for as many as GOMAXPROCS.
	Helpers int
	// Pause is how long a refiller rests after each few keys (16 of 2048 bits, 4 of 4096). The lowest priority protects
	// other work on the machine, and not a quota of CPU time, such as a container's limit, which idle CPUs use up too.
	Pause time.Duration
}

// KeyPoolStats say what became of the keys of one size. Made is Given, Ready and Wiped together.
type KeyPoolStats struct {
	// Bits of the modulus.
	Bits int
	// Wanted is how many keys are to be ready, Ready how many are.
	Wanted, Ready int
	// Waiting is how many callers of Get wait for a key now.
	Waiting int
	// Made, Given and Wiped count keys that were made, were given out, and were wiped because nobody got them.
	Made, Given, Wiped uint64
	// Waited counts the calls of Get that found no key ready.
	Waited uint64
	// Failed counts the attempts to make keys that failed; Err is what the last one said.
	Failed uint64
	Err    error `json:"-"`
}

// NewKeyPool makes a pool that keeps so many keys ready, by their bits, and begins to fill it. Of a size with 0 keys
// none is made before Get asks for it.
func NewKeyPool(ready map[int]int) (*KeyPool, error) {
	return KeyPoolOptions{}.NewKeyPool(ready)
}

// NewKeyPool makes a pool with these options.
func (o KeyPoolOptions) NewKeyPool(ready map[int]int) (*KeyPool, error) {
	if o.Refillers < 0 || o.Helpers < 0 || o.Pause < 0 {
		return nil, errors.New("rsalab: options of a pool are not negative")
	}
	if len(ready) == 0 {
		return nil, errors.New("rsalab: a pool needs a size of keys")
	}
	for bits, count := range ready {
		if count < 0 {
			return nil, fmt.Errorf("rsalab: %d keys of %d bits", count, bits)
		}
		// None of a size that is refused here.
		if _, err := generate(bits, 0); err != nil {
			return nil, err
		}
	}
	pool := &KeyPool{stock: stock[*C.rsalab_private_key]{
		refilled: generateIdly,
		demanded: generateHere,
		discard:  func(key *C.rsalab_private_key) { C.rsalab_private_key_free(key) },
		pause:    o.Pause,
		patience: [2]time.Duration{time.Second, time.Minute},
	}}
	pool.stock.open(ready, o.Refillers, o.Helpers)
	return pool, nil
}

// generateIdly makes keys on a thread of the lowest priority.
func generateIdly(bits, count int) ([]*C.rsalab_private_key, error) {
	keys := make([]*C.rsalab_private_key, count)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(unsafe.SliceData(keys))
	work := C.struct_generation{bits: C.size_t(bits), count: C.size_t(count), keys: unsafe.SliceData(keys)}
	C.generate_on_idle_thread(&work)
	if work.status != C.RSALAB_STATUS_OK {
		return nil, &Error{int(work.status), C.GoString(&work.text[0])}
	}
	return keys, nil
}

// generateHere makes keys on the caller's thread.
func generateHere(bits, count int) ([]*C.rsalab_private_key, error) {
	keys := make([]*C.rsalab_private_key, count)
	err := call(func() C.rsalab_status {
		return C.rsalab_private_keys_generate(C.size_t(bits), 0, 1, unsafe.SliceData(keys), C.size_t(count))
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// Get gives out a key of so many bits as crypto/rsa has it, with its precomputed values. Nobody else gets it. It waits
// if no key is ready, until ctx ends.
//
// It returns ErrKeyPoolClosed if the pool is closed, and the error of ctx.
func (p *KeyPool) Get(ctx context.Context, bits int) (*rsa.PrivateKey, error) {
	key, err := p.stock.take(ctx, bits)
	if err != nil {
		return nil, err
	}
	defer C.rsalab_private_key_free(key)
	return keyOfGo(key, (bits+7)/8)
}

// GetPrivateKey gives out a key as Get does, as the library's: for PKCS8, and for a Batcher.
func (p *KeyPool) GetPrivateKey(ctx context.Context, bits int) (*PrivateKey, error) {
	key, err := p.stock.take(ctx, bits)
	if err != nil {
		return nil, err
	}
	return newPrivateKey(key)
}

// Stats are those of each size, by the bits.
func (p *KeyPool) Stats() []KeyPoolStats { return p.stock.stats() }

// Close ends the pool: it wipes the keys that nobody got, and calls of Get return ErrKeyPoolClosed. It does not wait for
// keys that are being made, which are wiped when they are made. A pool may be closed more than once; the error is nil.
func (p *KeyPool) Close() error {
	p.stock.close()
	return nil
}

// Wait waits until the pool is closed, and nothing of it runs any more. That may take seconds where the CPUs are busy:
// the background ends at its low priority.
func (p *KeyPool) Wait() { p.stock.wait() }
