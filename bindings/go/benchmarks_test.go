package rsalab

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Benchmarks against Go's own crypto/rsa and crypto/x509; the command and figures are in NOTES.md. Each reports, besides
// the time, the CPU time of all threads for one key, which means something on a busy machine too.

// ofThread is RUSAGE_THREAD of Linux, which the package syscall has not.
const ofThread = 1

// cpu is the CPU time so far of the process (syscall.RUSAGE_SELF) or of this thread.
func cpu(b *testing.B, of int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(of, &usage); err != nil {
		b.Skip("SKIPPED: the CPU time of a thread is Linux's to say: ", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// report says what so many keys have cost since the benchmark began.
func report(b *testing.B, keys int, before time.Duration) {
	b.StopTimer()
	b.ReportMetric(float64(keys)/b.Elapsed().Seconds(), "keys/s")
	b.ReportMetric(float64((cpu(b, syscall.RUSAGE_SELF)-before).Microseconds())/1000/float64(keys), "cpu-ms/key")
}

// BenchmarkGenerate makes keys on all CPUs, for 16 goroutines on each: with Go, with this package, and from a pool that
// must make each of them.
func BenchmarkGenerate(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		of := func(name string, one func(*testing.B) (func() error, func() int)) {
			b.Run(fmt.Sprintf("bits=%d/by=%s", bits, name), func(b *testing.B) {
				make, made := one(b)
				before, madeBefore := cpu(b, syscall.RUSAGE_SELF), made()
				b.SetParallelism(16)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := make(); err != nil {
							b.Error(err)
						}
					}
				})
				report(b, made()-madeBefore, before)
			})
		}
		// Each function is called from many goroutines.
		counted := func(make func() error) (func() error, func() int) {
			var count atomic.Int64
			return func() error { count.Add(1); return make() }, func() int { return int(count.Load()) }
		}
		of("crypto-rsa", func(*testing.B) (func() error, func() int) {
			return counted(func() error { _, err := rsa.GenerateKey(rand.Reader, bits); return err })
		})
		of("GenerateRSAKey", func(*testing.B) (func() error, func() int) {
			return counted(func() error { _, err := GenerateRSAKey(bits); return err })
		})
		of("KeyPool", func(b *testing.B) (func() error, func() int) {
			pool, err := KeyPoolOptions{Refillers: runtime.GOMAXPROCS(0)}.NewKeyPool(map[int]int{bits: 32})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { pool.Close() })
			// What is ready is used up first.
			for pool.Stats()[0].Waited == 0 {
				if _, err := pool.GetPrivateKey(context.Background(), bits); err != nil {
					b.Fatal(err)
				}
			}
			get := func() error { _, err := pool.Get(context.Background(), bits); return err }
			// Some are ready in the end.
			return get, func() int { return int(pool.Stats()[0].Made) }
		})
	}
}

// BenchmarkReady is the time of Get where a key is ready: what Go takes to read it, to check it and to precompute.
func BenchmarkReady(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			const ready = 16
			// The pool fills up while the clock stands still.
			pool := newKeyPool(b, map[int]int{bits: ready})
			for b.Loop() {
				if pool.Stats()[0].Ready == 0 {
					b.StopTimer()
					for pool.Stats()[0].Ready < ready {
						time.Sleep(time.Millisecond)
					}
					b.StartTimer()
				}
				if _, err := pool.Get(context.Background(), bits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPrecompute is what Go does with a key that it did not make: Precompute, with CRT values as they are in a file
// and without, and Validate.
func BenchmarkPrecompute(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		key, err := GenerateRSAKey(bits)
		if err != nil {
			b.Fatal(err)
		}
		bare := rsa.PrivateKey{PublicKey: key.PublicKey, D: key.D, Primes: key.Primes}
		withCRT := bare
		withCRT.Precomputed.Dp, withCRT.Precomputed.Dq = key.Precomputed.Dp, key.Precomputed.Dq
		withCRT.Precomputed.Qinv = key.Precomputed.Qinv
		for name, from := range map[string]rsa.PrivateKey{"without-CRT": bare, "with-CRT": withCRT} {
			b.Run(fmt.Sprintf("bits=%d/%s", bits, name), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				before := cpu(b, ofThread)
				for b.Loop() {
					copy := from
					copy.Precompute()
					if err := copy.Validate(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpu(b, ofThread)-before).Microseconds())/1000/float64(b.N), "cpu-ms/key")
			})
		}
	}
}

// BenchmarkLoad loads 1,000 keys of 2048 bits: with Go, which checks relations alone; with Go, and a test of each prime;
// and with this package, with and without its test.
func BenchmarkLoad(b *testing.B) {
	const count, rounds = 1000, RoundsBeforeUse
	keys, err := GenerateKeys(2048, count)
	if err != nil {
		b.Fatal(err)
	}
	files := make([][]byte, count)
	for i, key := range keys {
		if files[i], err = key.PKCS8(); err != nil {
			b.Fatal(err)
		}
	}
	ofGo := func(test func(*rsa.PrivateKey) bool) func() error {
		return func() error {
			for _, file := range files {
				parsed, err := x509.ParsePKCS8PrivateKey(file)
				if err != nil {
					return err
				}
				key := parsed.(*rsa.PrivateKey)
				if err := key.Validate(); err != nil {
					return err
				}
				if !test(key) {
					return errors.New("a composite")
				}
			}
			return nil
		}
	}
	ours := func(options LoadOptions) func() error {
		return func() error {
			_, errs := options.LoadPrivateKeys(files)
			return errors.Join(errs...)
		}
	}
	for _, one := range []struct {
		name string
		load func() error
	}{
		{"crypto-x509", ofGo(func(*rsa.PrivateKey) bool { return true })},
		{"rsalab/rounds=0/threads=1", ours(LoadOptions{Threads: 1})},
		{"rsalab/rounds=8/threads=1", ours(LoadOptions{Rounds: rounds, Threads: 1})},
		{"rsalab/rounds=8/threads=all", ours(LoadOptions{Rounds: rounds})},
		// As many random bases; big.Int adds base 2 and a Lucas test.
		{"crypto-x509+ProbablyPrime(8)", ofGo(func(key *rsa.PrivateKey) bool {
			return key.Primes[0].ProbablyPrime(rounds) && key.Primes[1].ProbablyPrime(rounds)
		})},
	} {
		b.Run(one.name, func(b *testing.B) {
			before, loaded := cpu(b, syscall.RUSAGE_SELF), 0
			for b.Loop() {
				if err := one.load(); err != nil {
					b.Fatal(err)
				}
				loaded += count
			}
			report(b, loaded, before)
		})
	}
}
