package rsalab

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"
)

// stock keeps keys of several sizes ready: what a KeyPool does, with keys of any type.
//
//	take    ── a key is ready: it is given out ── none is: whoever asks waits in line
//	help    ── while somebody waits for a key that nobody makes: makes a few, and ends
//	refill  ── while less is ready than is to be: makes a few ── waits until keys were taken
//	a key   ── to whoever has waited longest, else to the shelf; after the end it is discarded
type stock[K any] struct {
	// refilled makes keys in the background, demanded makes keys that somebody waits for.
	refilled, demanded func(bits, count int) ([]K, error)
	// discard destroys a key that nobody gets.
	discard func(K)
	pause   time.Duration
	// patience is how long a refill that failed is not repeated: doubled each time, up to the second value.
	patience [2]time.Duration

	// closed is closed with the stock.
	closed chan struct{}
	// workers are the goroutines that make keys.
	workers sync.WaitGroup

	mutex sync.Mutex
	// taken is signalled when keys are taken, and when the stock is closed.
	taken    *sync.Cond
	isClosed bool
	shelves  map[int]*shelf[K]
	// requests is how many have waited in line so far.
	requests uint64
	// helpers is how many goroutines make keys that somebody waits for.
	helpers, mostHelpers int
}

// shelf has the keys of one size.
type shelf[K any] struct {
	bits  int
	ready []K
	// refilling and coming are how many keys are being made, in the background and for those who wait.
	refilling, coming int
	// waiting is the line, whoever came first in front.
	waiting []*request[K]
	stats   KeyPoolStats
}

// request is somebody who waits for a key.
type request[K any] struct {
	number uint64
	// answer gets one answer, for which it has room.
	answer chan answer[K]
}

// answer is a key or an error.
type answer[K any] struct {
	key K
	err error
}

// open makes shelves for so many keys of each size, and begins to fill them.
func (s *stock[K]) open(wanted map[int]int, refillers, helpers int) {
	s.closed = make(chan struct{})
	s.taken = sync.NewCond(&s.mutex)
	s.shelves = make(map[int]*shelf[K])
	s.mostHelpers = helpers
	if helpers == 0 {
		s.mostHelpers = runtime.GOMAXPROCS(0)
	}
	for bits, count := range wanted {
		s.shelves[bits] = &shelf[K]{bits: bits, stats: KeyPoolStats{Bits: bits, Wanted: count}}
	}
	for range max(refillers, 1) {
		s.workers.Add(1)
		go s.refill()
	}
}

// together is how many keys of a size are worth making at once: more fill the lanes of the CPU no better, and take
// longer before the first of them can be used.
func together(bits int) int {
	switch {
	case bits <= 2048:
		return 16
	case bits <= 3072:
		return 8
	case bits <= 4096:
		return 4
	default:
		return 1
	}
}

// take gives out a key, once.
func (s *stock[K]) take(ctx context.Context, bits int) (K, error) {
	var none K
	if err := ctx.Err(); err != nil {
		return none, err
	}
	s.mutex.Lock()
	shelf, err := s.shelf(bits)
	if err != nil {
		s.mutex.Unlock()
		return none, err
	}
	if key, isReady := shelf.pop(); isReady {
		shelf.stats.Given++
		s.taken.Signal()
		s.mutex.Unlock()
		return key, nil
	}
	mine := &request[K]{number: s.requests, answer: make(chan answer[K], 1)}
	s.requests++
	shelf.stats.Waited++
	shelf.waiting = append(shelf.waiting, mine)
	s.askForHelp(shelf)
	s.mutex.Unlock()

	select {
	case got := <-mine.answer:
		return got.key, got.err
	case <-ctx.Done():
		s.giveUp(shelf, mine)
		return none, ctx.Err()
	}
}

// shelf is that of a size. The mutex is held.
func (s *stock[K]) shelf(bits int) (*shelf[K], error) {
	if s.isClosed {
		return nil, ErrKeyPoolClosed
	}
	shelf, isKept := s.shelves[bits]
	if !isKept {
		return nil, fmt.Errorf("rsalab: the pool has no keys of %d bits", bits)
	}
	return shelf, nil
}

// pop takes a key from a shelf, if there is one. The mutex is held.
func (s *shelf[K]) pop() (key K, isReady bool) {
	last := len(s.ready) - 1
	if last < 0 {
		return key, false
	}
	var none K
	key, s.ready[last] = s.ready[last], none
	s.ready = s.ready[:last]
	return key, true
}

// giveUp leaves the line. A key that came at the same moment goes to somebody else.
func (s *stock[K]) giveUp(shelf *shelf[K], mine *request[K]) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if place := slices.Index(shelf.waiting, mine); place >= 0 {
		shelf.waiting = slices.Delete(shelf.waiting, place, place+1)
		return
	}
	if got := <-mine.answer; got.err == nil {
		shelf.stats.Given--
		s.put(shelf, got.key)
	}
}

// put gives a key to whoever waits, or to the shelf. The mutex is held.
func (s *stock[K]) put(shelf *shelf[K], key K) {
	switch {
	case s.isClosed:
		shelf.stats.Wiped++
		s.discard(key)
	case len(shelf.waiting) > 0:
		shelf.stats.Given++
		shelf.answerFirst(answer[K]{key: key})
	default:
		shelf.ready = append(shelf.ready, key)
	}
}

// answerFirst answers whoever has waited longest. The mutex is held.
func (s *shelf[K]) answerFirst(answer answer[K]) {
	first := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	first.answer <- answer
}

// askForHelp sees to it that somebody makes a key for each who waits, as far as there may be helpers. The mutex is
// held.
func (s *stock[K]) askForHelp(shelf *shelf[K]) {
	if len(shelf.waiting) > shelf.coming && s.helpers < s.mostHelpers {
		s.helpers++
		s.workers.Add(1)
		go s.help()
	}
}

// help makes keys while somebody waits for one that nobody makes.
func (s *stock[K]) help() {
	defer s.workers.Done()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for {
		shelf := s.oldest()
		if s.isClosed || shelf == nil {
			s.helpers--
			return
		}
		count := min(len(shelf.waiting)-shelf.coming, together(shelf.bits))
		shelf.coming += count
		s.mutex.Unlock()
		keys, err := s.demanded(shelf.bits, count)
		s.mutex.Lock()
		shelf.coming -= count
		s.receive(shelf, keys, err)
		if err != nil {
			for range min(count, len(shelf.waiting)) {
				shelf.answerFirst(answer[K]{err: err})
			}
		}
	}
}

// oldest is the shelf with whoever has waited longest for a key that nobody makes, or none. The mutex is held.
func (s *stock[K]) oldest() *shelf[K] {
	var oldest *shelf[K]
	for _, shelf := range s.shelves {
		if len(shelf.waiting) <= shelf.coming {
			continue
		}
		if oldest == nil || shelf.waiting[shelf.coming].number < oldest.waiting[oldest.coming].number {
			oldest = shelf
		}
	}
	return oldest
}

// receive takes in what was made. The mutex is held.
func (s *stock[K]) receive(shelf *shelf[K], keys []K, err error) {
	shelf.stats.Made += uint64(len(keys))
	for _, key := range keys {
		s.put(shelf, key)
	}
	if err != nil {
		shelf.stats.Failed++
		shelf.stats.Err = err
	}
}

// refill makes keys whenever a shelf has room for some.
func (s *stock[K]) refill() {
	defer s.workers.Done()
	patience := s.patience[0]
	for {
		shelf, count := s.emptiest()
		if shelf == nil {
			return
		}
		keys, err := s.refilled(shelf.bits, count)
		s.mutex.Lock()
		shelf.refilling -= count
		s.receive(shelf, keys, err)
		s.mutex.Unlock()
		rest := s.pause
		if err != nil {
			rest = max(rest, patience)
			patience = min(2*patience, s.patience[1])
		} else {
			patience = s.patience[0]
		}
		if rest > 0 {
			select {
			case <-time.After(rest):
			case <-s.closed:
			}
		}
	}
}

// emptiest waits until a shelf lacks so many keys that it pays to make some: it gives the one that is emptiest for what
// it is to have, and how many; none when the stock is closed.
func (s *stock[K]) emptiest() (*shelf[K], int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for !s.isClosed {
		var emptiest *shelf[K]
		for _, shelf := range s.shelves {
			// A few at a time fill the lanes better than one; and somebody may take the last ones meanwhile.
			most := together(shelf.bits)
			if shelf.missing() >= max(1, min(most, shelf.stats.Wanted/4)) &&
				(emptiest == nil || shelf.missing()*emptiest.stats.Wanted > emptiest.missing()*shelf.stats.Wanted) {
				emptiest = shelf
			}
		}
		if emptiest != nil {
			count := min(emptiest.missing(), together(emptiest.bits))
			emptiest.refilling += count
			return emptiest, count
		}
		s.taken.Wait()
	}
	return nil, 0
}

// missing is how many keys a shelf lacks that nobody makes. The mutex is held.
func (s *shelf[K]) missing() int { return s.stats.Wanted - len(s.ready) - s.refilling }

// stats are those of each size, in order.
func (s *stock[K]) stats() []KeyPoolStats {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []KeyPoolStats
	for _, bits := range slices.Sorted(maps.Keys(s.shelves)) {
		shelf := s.shelves[bits]
		stats := shelf.stats
		stats.Ready, stats.Waiting = len(shelf.ready), len(shelf.waiting)
		all = append(all, stats)
	}
	return all
}

// close discards what is ready, and tells whoever waits. What is being made is discarded when it is made.
func (s *stock[K]) close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.isClosed {
		return
	}
	s.isClosed = true
	close(s.closed)
	s.taken.Broadcast()
	for _, shelf := range s.shelves {
		for len(shelf.waiting) > 0 {
			shelf.answerFirst(answer[K]{err: ErrKeyPoolClosed})
		}
		for key, isReady := shelf.pop(); isReady; key, isReady = shelf.pop() {
			s.put(shelf, key)
		}
	}
}

// wait waits until the stock is closed and nobody makes keys for it any more.
func (s *stock[K]) wait() { s.workers.Wait() }
