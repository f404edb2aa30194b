package rsalab

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func newKeyPool(t testing.TB, ready map[int]int) *KeyPool {
	t.Helper()
	pool, err := NewKeyPool(ready)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool.Close()
		pool.Wait()
	})
	return pool
}

func TestKeyPool(t *testing.T) {
	pool := newKeyPool(t, map[int]int{1024: 10, 2048: 1})
	const workers, each = 8, 10
	var mutex sync.Mutex
	moduli := make(map[string]bool)
	var group sync.WaitGroup
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range each {
				bits := 1024
				if worker == 0 && i%5 == 0 {
					bits = 2048
				}
				var modulus string
				if i%2 == 0 {
					key, err := pool.Get(context.Background(), bits)
					if err != nil || key.N.BitLen() != bits || key.Precomputed.Dp == nil || key.Validate() != nil {
						t.Error(err)
						return
					}
					if i == 0 {
						signs(t, key)
					}
					modulus = key.N.String()
				} else {
					key, err := pool.GetPrivateKey(context.Background(), bits)
					if err != nil {
						t.Error(err)
						return
					}
					der, err := key.PKCS8()
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := x509.ParsePKCS8PrivateKey(der); err != nil {
						t.Error(err)
					}
					modulus = key.Public().N.String()
				}
				mutex.Lock()
				if moduli[modulus] {
					t.Error("a key was given out twice")
				}
				moduli[modulus] = true
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
	if len(moduli) != workers*each {
		t.Errorf("%d keys", len(moduli))
	}
	eventually(t, "the pool is full", func() bool {
		stats := pool.Stats()
		return stats[0].Ready > 7 && stats[1].Ready == 1
	})
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	pool.Wait()
	var given uint64
	for _, stats := range pool.Stats() {
		given += stats.Given
		if stats.Made != stats.Given+stats.Wiped || stats.Ready != 0 || stats.Failed != 0 || stats.Err != nil {
			t.Errorf("%+v", stats)
		}
	}
	if given != workers*each {
		t.Errorf("%d keys were given out", given)
	}
	if _, err := pool.Get(context.Background(), 1024); !errors.Is(err, ErrKeyPoolClosed) {
		t.Error(err)
	}
	if _, err := pool.GetPrivateKey(context.Background(), 1024); !errors.Is(err, ErrKeyPoolClosed) {
		t.Error(err)
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}

func TestKeyPoolIsRefused(t *testing.T) {
	for _, ready := range []map[int]int{
		nil, {}, {2048: -1}, {2047: 1}, {0: 1}, {-2048: 1}, {100: 1}, {16386: 1}, {2048: 1, 1023: 1},
	} {
		if pool, err := NewKeyPool(ready); err == nil || pool != nil {
			t.Errorf("a pool of %v", ready)
		}
	}
	for _, options := range []KeyPoolOptions{{Refillers: -1}, {Helpers: -1}, {Pause: -1}} {
		if _, err := options.NewKeyPool(map[int]int{2048: 1}); err == nil {
			t.Errorf("a pool with %+v", options)
		}
	}
	pool := newKeyPool(t, map[int]int{1024: 0})
	for _, bits := range []int{2048, 0, -1} {
		if _, err := pool.Get(context.Background(), bits); err == nil || !strings.Contains(err.Error(), "no keys of") {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := pool.Get(ctx, 1024); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if stats := pool.Stats()[0]; stats.Made != 0 || stats.Waited != 0 {
		t.Errorf("%+v", stats)
	}
	// With nothing ready it makes what is asked for.
	key, err := pool.Get(context.Background(), 1024)
	if err != nil || key.N.BitLen() != 1024 {
		t.Error(err)
	}
}

// A call that waits ends with its context, long before its key is made; and with the pool.
func TestKeyPoolWaits(t *testing.T) {
	pool := newKeyPool(t, map[int]int{4096: 0})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := pool.Get(ctx, 4096); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	failed := make(chan error)
	go func() {
		_, err := pool.Get(context.Background(), 4096)
		failed <- err
	}()
	eventually(t, "it waits, or is done", func() bool { return pool.Stats()[0].Waited == 2 || pool.Stats()[0].Given == 1 })
	pool.Close()
	// The key of the first call may have been ready for the second.
	if err := <-failed; err != nil && !errors.Is(err, ErrKeyPoolClosed) {
		t.Error(err)
	}
	pool.Wait()
	if stats := pool.Stats()[0]; stats.Made != stats.Given+stats.Wiped {
		t.Errorf("%+v", stats)
	}
}

// niced is how many threads of this process have the lowest priority.
func niced(t *testing.T) int {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil || len(threads) == 0 {
		t.Skip("SKIPPED: no /proc here")
	}
	count := 0
	for _, thread := range threads {
		// It may have ended meanwhile.
		text, _ := os.ReadFile(thread)
		_, numbers, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(numbers); len(fields) > 16 && fields[16] == "19" {
			count++
		}
	}
	return count
}

// The background works at the lowest priority, on threads that end with it.
func TestKeyPoolIsIdle(t *testing.T) {
	if before := niced(t); before != 0 {
		t.Skipf("SKIPPED: %d threads have the lowest priority already", before)
	}
	pool, err := KeyPoolOptions{Refillers: 2}.NewKeyPool(map[int]int{1024: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	eventually(t, "two threads of the lowest priority work", func() bool { return niced(t) == 2 })
	pool.Close()
	pool.Wait()
	if left := niced(t); left != 0 {
		t.Errorf("%d threads have the lowest priority still", left)
	}
}

// Pools that are closed leave nothing: the process does not grow without end.
func TestKeyPoolsAreFreed(t *testing.T) {
	resident := func() uint64 {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skip("SKIPPED: no /proc here")
		}
		var size, pages uint64
		fmt.Sscan(string(text), &size, &pages)
		return pages * uint64(os.Getpagesize())
	}
	round := func() {
		for range 20 {
			pool := newKeyPool(t, map[int]int{512: 4})
			for range 4 {
				if _, err := pool.GetPrivateKey(context.Background(), 512); err != nil {
					t.Fatal(err)
				}
			}
			pool.Close()
			pool.Wait()
		}
	}
	round()
	before := resident()
	for range 4 {
		round()
	}
	if after := resident(); after > before+before/2+(8<<20) {
		t.Errorf("%d bytes became %d", before, after)
	}
}
