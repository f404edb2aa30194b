package rsalab

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// factory makes keys that are numbers, and remembers what became of them.
type factory struct {
	made, discarded atomic.Int64
	// running and most are how many goroutines make keys for somebody who waits, now and at most.
	running, most atomic.Int64
	// fails makes every attempt fail while it is set.
	fails atomic.Bool
	mutex sync.Mutex
	// gate is closed where keys are not held back.
	gate   chan struct{}
	counts []int
	ends   map[int64]string
}

var errFactory = errors.New("no keys today")

func newFactory() *factory {
	f := &factory{gate: make(chan struct{}), ends: make(map[int64]string)}
	close(f.gate)
	return f
}

// produce makes keys whose last digits name their size.
func (f *factory) produce(bits, count int) ([]int64, error) {
	f.mutex.Lock()
	gate := f.gate
	f.mutex.Unlock()
	<-gate
	f.mutex.Lock()
	f.counts = append(f.counts, count)
	f.mutex.Unlock()
	if f.fails.Load() {
		return nil, errFactory
	}
	keys := make([]int64, count)
	for i := range keys {
		keys[i] = f.made.Add(1)*100000 + int64(bits)
	}
	return keys, nil
}

// end notes what became of a key, of which there is one end.
func (f *factory) end(t *testing.T, key int64, what string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if before, isThere := f.ends[key]; isThere {
		t.Errorf("key %d is %s, and was %s before", key, what, before)
	}
	f.ends[key] = what
}

func (f *factory) attempts() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.counts)
}

func (f *factory) stock(t *testing.T) *stock[int64] {
	return &stock[int64]{
		refilled: f.produce,
		demanded: func(bits, count int) ([]int64, error) {
			running := f.running.Add(1)
			defer f.running.Add(-1)
			for most := f.most.Load(); running > most && !f.most.CompareAndSwap(most, running); most = f.most.Load() {
			}
			return f.produce(bits, count)
		},
		discard: func(key int64) {
			f.discarded.Add(1)
			f.end(t, key, "discarded")
		},
		patience: [2]time.Duration{time.Millisecond, 4 * time.Millisecond},
	}
}

// eventually waits for what other goroutines do.
func eventually(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// balance checks that every key was given out, is ready, or was discarded.
func balance(t *testing.T, f *factory, s *stock[int64]) {
	t.Helper()
	var made, given, wiped uint64
	for _, stats := range s.stats() {
		if stats.Made != stats.Given+stats.Wiped+uint64(stats.Ready) || stats.Waiting != 0 {
			t.Errorf("%+v", stats)
		}
		made, given, wiped = made+stats.Made, given+stats.Given, wiped+stats.Wiped
	}
	if made != uint64(f.made.Load()) || wiped != uint64(f.discarded.Load()) {
		t.Errorf("%d of %d made, %d of %d discarded", made, f.made.Load(), wiped, f.discarded.Load())
	}
	if ended := uint64(len(f.ends)); ended != given+wiped {
		t.Errorf("%d keys have an end, %d were given out and %d discarded", ended, given, wiped)
	}
}

func TestStockIsFilled(t *testing.T) {
	f := newFactory()
	s := f.stock(t)
	s.open(map[int]int{2048: 100, 4096: 10, 8192: 1, 1024: 0}, 2, 0)
	isFull := func() bool {
		for _, stats := range s.stats() {
			// Less than a quarter, or than is made at once, may be missing.
			if stats.Ready < stats.Wanted-max(0, min(together(stats.Bits), stats.Wanted/4)-1) {
				return false
			}
		}
		return true
	}
	eventually(t, "the shelves are full", isFull)
	for i, stats := range s.stats() {
		if stats.Bits != []int{1024, 2048, 4096, 8192}[i] || stats.Ready > stats.Wanted || stats.Failed != 0 {
			t.Errorf("%+v", stats)
		}
	}
	for range 50 {
		key, err := s.take(context.Background(), 2048)
		if err != nil || key%100000 != 2048 {
			t.Fatal(key, err)
		}
		f.end(t, key, "given")
	}
	eventually(t, "the shelves are full again", isFull)
	s.close()
	s.wait()
	balance(t, f, s)
	for _, count := range f.counts {
		if count < 1 || count > 16 {
			t.Errorf("%d keys at once", count)
		}
	}
}

// Many goroutines, sizes and cancellations: nobody gets the key of another, and none is lost.
func TestNoKeyIsGivenTwice(t *testing.T) {
	f := newFactory()
	s := f.stock(t)
	s.open(map[int]int{2048: 20, 4096: 3, 512: 0}, 2, 3)
	var group sync.WaitGroup
	var cancelled atomic.Int64
	for worker := range 64 {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for range 200 {
				ctx, cancel := context.WithCancel(context.Background())
				if random.IntN(3) == 0 {
					time.AfterFunc(time.Duration(random.IntN(50))*time.Microsecond, cancel)
				}
				bits := []int{2048, 4096, 512}[random.IntN(3)]
				key, err := s.take(ctx, bits)
				switch {
				case err == nil && key%100000 == int64(bits):
					f.end(t, key, "given")
				case errors.Is(err, context.Canceled):
					cancelled.Add(1)
				default:
					t.Error(key, err)
				}
				cancel()
			}
		}()
	}
	group.Wait()
	if most := f.most.Load(); most > 3 {
		t.Errorf("%d goroutines helped at once", most)
	}
	s.close()
	s.wait()
	balance(t, f, s)
	t.Logf("%d calls were cancelled", cancelled.Load())
}

func TestWhoGivesUpLosesNoKey(t *testing.T) {
	f := newFactory()
	f.gate = make(chan struct{})
	s := f.stock(t)
	s.open(map[int]int{2048: 0}, 1, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if key, err := s.take(ctx, 2048); !errors.Is(err, context.DeadlineExceeded) || key != 0 {
		t.Fatal(key, err)
	}
	// One who has ended already does not even wait.
	if _, err := s.take(ctx, 2048); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if stats := s.stats()[0]; stats.Waiting != 0 || stats.Waited != 1 {
		t.Errorf("%+v", stats)
	}
	// The key that was being made is for the next.
	close(f.gate)
	eventually(t, "the key is ready", func() bool { return s.stats()[0].Ready == 1 })
	key, err := s.take(context.Background(), 2048)
	if err != nil {
		t.Fatal(err)
	}
	f.end(t, key, "given")
	s.close()
	s.wait()
	balance(t, f, s)
	if f.made.Load() != 1 {
		t.Errorf("%d keys were made", f.made.Load())
	}
}

// A key that arrives while somebody gives up goes to the next in line.
func TestAKeyThatComesTooLateIsHandedOn(t *testing.T) {
	f := newFactory()
	s := f.stock(t)
	s.open(map[int]int{2048: 0}, 1, 0)
	shelf := s.shelves[2048]
	late := &request[int64]{answer: make(chan answer[int64], 1)}
	next := &request[int64]{answer: make(chan answer[int64], 1)}
	s.mutex.Lock()
	shelf.waiting = append(shelf.waiting, late, next)
	s.receive(shelf, []int64{7}, nil)
	s.mutex.Unlock()
	s.giveUp(shelf, late)
	if got := <-next.answer; got.key != 7 || got.err != nil {
		t.Error(got)
	}
	s.close()
	s.wait()
	if stats := s.stats()[0]; stats.Given != 1 || stats.Made != 1 || stats.Wiped != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestClosedStock(t *testing.T) {
	f := newFactory()
	s := f.stock(t)
	s.open(map[int]int{2048: 40, 512: 0}, 1, 2)
	eventually(t, "keys are ready", func() bool { return s.stats()[1].Ready >= 30 })
	f.mutex.Lock()
	f.gate = make(chan struct{})
	f.mutex.Unlock()
	// Some wait, and keys are being made for them, while it is closed by several.
	errs := make(chan error, 5)
	for range cap(errs) {
		go func() {
			_, err := s.take(context.Background(), 512)
			errs <- err
		}()
	}
	eventually(t, "all wait", func() bool { return s.stats()[0].Waiting == cap(errs) && f.running.Load() > 0 })
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			s.close()
		}()
	}
	for range cap(errs) {
		if err := <-errs; !errors.Is(err, ErrKeyPoolClosed) {
			t.Error(err)
		}
	}
	if _, err := s.take(context.Background(), 2048); !errors.Is(err, ErrKeyPoolClosed) {
		t.Error(err)
	}
	// Nobody waits for what is being made, unless he wants to.
	group.Wait()
	if f.running.Load() == 0 {
		t.Error("somebody waited")
	}
	close(f.gate)
	s.close()
	s.wait()
	for _, stats := range s.stats() {
		if stats.Ready != 0 || stats.Given != 0 || stats.Wiped != stats.Made || stats.Made == 0 {
			t.Errorf("%+v", stats)
		}
	}
	balance(t, f, s)
}

func TestFailuresAreTold(t *testing.T) {
	f := newFactory()
	f.fails.Store(true)
	s := f.stock(t)
	s.open(map[int]int{2048: 10}, 1, 1)
	for range 3 {
		if _, err := s.take(context.Background(), 2048); !errors.Is(err, errFactory) {
			t.Error(err)
		}
	}
	eventually(t, "the background fails, too", func() bool { return f.attempts() > 5 })
	if stats := s.stats()[0]; stats.Err != errFactory || stats.Failed < 3 {
		t.Errorf("%+v", stats)
	}
	f.fails.Store(false)
	eventually(t, "the shelf is full", func() bool { return s.stats()[0].Ready >= 9 })
	s.close()
	s.wait()
	balance(t, f, s)
}

// A refill that fails is not tried again at once.
func TestFailuresAreNotRepeatedAtOnce(t *testing.T) {
	f := newFactory()
	f.fails.Store(true)
	s := f.stock(t)
	s.patience = [2]time.Duration{time.Hour, time.Hour}
	s.open(map[int]int{2048: 10}, 1, 1)
	eventually(t, "an attempt", func() bool { return f.attempts() == 1 })
	time.Sleep(20 * time.Millisecond)
	if attempts := f.attempts(); attempts != 1 {
		t.Errorf("%d attempts", attempts)
	}
	// Who waits does not wait for that; and the end does not, either.
	f.fails.Store(false)
	key, err := s.take(context.Background(), 2048)
	if err != nil {
		t.Fatal(err)
	}
	f.end(t, key, "given")
	s.close()
	s.wait()
	balance(t, f, s)
}

// Whoever waits does not wait for the background, which may get no CPU for long.
func TestNobodyWaitsForTheBackground(t *testing.T) {
	f := newFactory()
	s := f.stock(t)
	gate := make(chan struct{})
	s.refilled = func(bits, count int) ([]int64, error) {
		<-gate
		return f.produce(bits, count)
	}
	s.open(map[int]int{2048: 10}, 3, 1)
	for range 5 {
		key, err := s.take(context.Background(), 2048)
		if err != nil {
			t.Fatal(err)
		}
		f.end(t, key, "given")
	}
	if stats := s.stats()[0]; stats.Waited != 5 || stats.Made != 5 {
		t.Errorf("%+v", stats)
	}
	close(gate)
	s.close()
	s.wait()
	balance(t, f, s)
}

func TestPause(t *testing.T) {
	f := newFactory()
	s := f.stock(t)
	s.pause = time.Hour
	s.open(map[int]int{2048: 100}, 1, 1)
	eventually(t, "the first keys", func() bool { return s.stats()[0].Ready == 16 })
	time.Sleep(20 * time.Millisecond)
	if attempts := f.attempts(); attempts != 1 {
		t.Errorf("%d attempts", attempts)
	}
	s.close()
	s.wait()
	balance(t, f, s)
}

// Whoever has waited longest is helped first, whatever the size; those of one size are helped together.
func TestTheLineIsKept(t *testing.T) {
	f := newFactory()
	f.gate = make(chan struct{})
	s := f.stock(t)
	s.open(map[int]int{2048: 0, 4096: 0}, 1, 1)
	order := make(chan int, 8)
	var group sync.WaitGroup
	// The first one's key is being made while the others get into line.
	for place, bits := range []int{2048, 4096, 2048, 2048, 4096} {
		group.Add(1)
		go func() {
			defer group.Done()
			key, err := s.take(context.Background(), bits)
			if err != nil {
				t.Error(err)
				return
			}
			f.end(t, key, "given")
			order <- int(key / 100000)
		}()
		eventually(t, "one more waits", func() bool {
			stats := s.stats()
			return stats[0].Waiting+stats[1].Waiting == place+1 && f.running.Load() == 1
		})
	}
	close(f.gate)
	group.Wait()
	s.close()
	s.wait()
	balance(t, f, s)
	// One of 2048 bits, both of 4096, the last two of 2048.
	if len(f.counts) != 3 || f.counts[0] != 1 || f.counts[1] != 2 || f.counts[2] != 2 {
		t.Errorf("%v at once", f.counts)
	}
}
