package rsalab

/*
#include <rsalab.h>
*/
import "C"

import (
	"errors"
	"runtime"
	"strings"
	"unsafe"
)

const (
	// RoundsBeforeUse are rounds of the Miller–Rabin test for keys that are about to be used: of the composites that
	// somebody chose well one in 65536 passes, and its results fail their check.
	RoundsBeforeUse = C.RSALAB_ROUNDS_BEFORE_USE
	// Rounds are beyond doubt: a composite passes them with a probability below 2^-128, whoever chose it.
	Rounds = C.RSALAB_ROUNDS
)

// LoadOptions say how keys are loaded. The zero value reads keys that are not encrypted, and tests no primes.
type LoadOptions struct {
	// Password is that of the keys that are encrypted.
	Password []byte
	// Rounds of the Miller–Rabin test that each prime stands, such as RoundsBeforeUse; 0 tests none, and 1024 are the
	// most.
	Rounds int
	// Threads is how many work; 0 for as many as there are CPUs.
	Threads int
	// MaxBits is the longest modulus, above which a key is refused before anything is computed with it; 0 for 8192, and
	// at most 16384.
	MaxBits int
}

// LoadPrivateKeys reads many keys, in any format that ParsePrivateKey takes, and tests their primes together in the
// lanes of the CPU, on all CPUs. Of each file there is the key or the error, in the order of the files; errors.Join of
// the errors is nil if all keys are good. crypto/x509 does not test primes.
func LoadPrivateKeys(files [][]byte, rounds int) ([]*PrivateKey, []error) {
	return LoadOptions{Rounds: rounds}.LoadPrivateKeys(files)
}

// LoadPrivateKeys reads many keys with these options.
func (o LoadOptions) LoadPrivateKeys(files [][]byte) ([]*PrivateKey, []error) {
	keys, errs := make([]*PrivateKey, len(files)), make([]error, len(files))
	handles, statuses, err := o.read(files)
	if err != nil && !isOf(err, C.RSALAB_STATUS_ITEMS) {
		for i := range errs {
			errs[i] = err
		}
		return keys, errs
	}
	for i, status := range statuses {
		if status == C.RSALAB_STATUS_OK {
			keys[i], errs[i] = newPrivateKey(handles[i])
		} else {
			errs[i] = o.why(files[i], status)
		}
	}
	return keys, errs
}

// why is the error of a file that failed with this status. The library has words for the first failure of a call.
func (o LoadOptions) why(file []byte, status C.rsalab_status) error {
	handles, _, err := o.read([][]byte{file})
	if isOf(err, C.RSALAB_STATUS_ITEMS) {
		_, text, _ := strings.Cut(err.(*Error).text, "item 0: ")
		return &Error{int(status), text}
	}
	if err == nil {
		// What was missing, such as randomness, is there again.
		C.rsalab_private_key_free(handles[0])
	}
	return &Error{int(status), C.GoString(C.rsalab_status_text(C.int32_t(status)))}
}

// read reads keys, which the caller frees where the status is OK; the error is that of the call.
func (o LoadOptions) read(files [][]byte) ([]*C.rsalab_private_key, []C.rsalab_status, error) {
	if o.Rounds < 0 || o.Threads < 0 || o.MaxBits < 0 {
		return nil, nil, errors.New("rsalab: rounds, threads and bits are not negative")
	}
	// What C is given by pointer holds no pointer to memory of Go's that may move.
	var pinner runtime.Pinner
	defer pinner.Unpin()
	given := make([]C.rsalab_bytes, len(files))
	for i, file := range files {
		if len(file) > 0 {
			pinner.Pin(unsafe.SliceData(file))
			given[i] = C.rsalab_bytes{data: first(file), len: C.size_t(len(file))}
		}
	}
	handles, statuses := make([]*C.rsalab_private_key, len(files)), make([]C.rsalab_status, len(files))
	err := call(func() C.rsalab_status {
		return C.rsalab_private_keys_read(unsafe.SliceData(given), C.size_t(len(files)),
			(*C.char)(unsafe.Pointer(unsafe.SliceData(o.Password))), C.size_t(len(o.Password)), C.size_t(o.MaxBits),
			C.size_t(o.Rounds), C.size_t(o.Threads), unsafe.SliceData(handles), unsafe.SliceData(statuses))
	})
	return handles, statuses, err
}

// isOf tells if an error is the library's, with this status.
func isOf(err error, status C.rsalab_status) bool {
	failure, isOurs := err.(*Error)
	return isOurs && failure.Status == int(status)
}
