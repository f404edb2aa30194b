package main

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// How long one thread's part of a throughput call lasts, about; and where threads share CPUs.
	sampleTime         = time.Millisecond
	sampleTimeCrowded  = 10 * time.Millisecond
	sampleOutputBytes  = 1 << 20
	spoiled            = 0xA5
	reference          = -1
	spinsBeforeASleep  = 20_000
	mostSamplesAllowed = 1 << 20
)

// A job made ready: its threads, pinned, each with its share of the work. The rules are those of the native harness
// (crates/engines/src/harness), in Go's threads.
//
// The goroutine that reads the clock is the first thread. Each of the others waits in the barrier for a task.
type driver struct {
	job        *job
	run        operation
	inputs     []byte
	layout     layout
	items      int
	batch      int
	crowded    bool
	cpus       []int
	barrier    *barrier
	task       int
	stop       bool
	members    []*member
	first      []byte // outputs of the first run over all inputs
	rounds     int    // batches of a thread in a call; 0 until chosen
	orders     chan func()
	hasStarted chan *refusal
}

// One thread's part.
type member struct {
	driver  *driver
	index   int
	next    int    // the batch that the next call begins with
	outputs []byte // of the last call, batch after batch
	filled  int
	done    uint64
	fault   *refusal
}

func prepare(j *job, keys []studyKey, inputs []byte) (*driver, *refusal) {
	if _, reason := supports(j); reason != "" {
		return nil, faultf("unsupported", "%s", reason)
	}
	if fault := checkKeys(j, keys); fault != nil {
		return nil, fault
	}
	if fault := checkInputs(j, keys, inputs); fault != nil {
		return nil, fault
	}
	run, fault := newOperation(j, keys)
	if fault != nil {
		return nil, fault
	}
	r := &driver{
		job: j, run: run, inputs: inputs, layout: j.layout(), batch: j.Batch,
		orders: make(chan func()), hasStarted: make(chan *refusal, j.Threads),
	}
	if j.makes() {
		r.items = j.Batch
	} else {
		r.items = len(inputs) / r.layout.input
	}
	if j.Mode == "latency" || j.makes() {
		r.rounds = 1
	}
	r.cpus, r.crowded = placement(j.Threads, runtime.NumCPU())
	// A thread more than the measured ones, for the one that reads requests.
	runtime.GOMAXPROCS(max(runtime.NumCPU(), j.Threads+1))
	r.barrier = newBarrier(j.Threads, !r.crowded)
	for index := range j.Threads {
		m := &member{driver: r, index: index, next: index * r.batches() / j.Threads}
		r.members = append(r.members, m)
	}
	for _, m := range r.members {
		go m.live()
	}
	for range r.members {
		if failed := <-r.hasStarted; failed != nil {
			fault = failed
		}
	}
	if fault != nil {
		r.release()
		return nil, fault
	}
	return r, nil
}

// Ends the threads.
func (r *driver) release() {
	r.do(func() {
		r.stop = true
		r.barrier.wait()
	})
	close(r.orders)
}

// Has the first thread do something.
func (r *driver) do(order func()) {
	done := make(chan struct{})
	r.orders <- func() { order(); close(done) }
	<-done
}

// The life of a thread. It stays locked, so that a pinned OS thread ends with it and serves nobody else.
func (m *member) live() {
	runtime.LockOSThread()
	var failed *refusal
	if m.index < len(m.driver.cpus) {
		if err := pin(m.driver.cpus[m.index]); err != nil {
			failed = faultf("threads", "%v", err)
		}
	}
	m.driver.hasStarted <- failed
	if m.index == 0 {
		for order := range m.driver.orders {
			order()
		}
		return
	}
	for {
		m.driver.barrier.wait()
		if m.driver.stop {
			return
		}
		m.work(m.driver.task)
		m.driver.barrier.wait()
	}
}

func (r *driver) batches() int { return (r.items + r.batch - 1) / r.batch }

// The items of a batch.
func (r *driver) itemsOf(batch int) (from, to int) {
	from = batch * r.batch
	return from, min(from+r.batch, r.items)
}

// The batches of a task: the first and how many.
func (m *member) interval(task int) (first, count int) {
	if task != reference {
		return m.next, task
	}
	batches, threads := m.driver.batches(), len(m.driver.members)
	first = m.index * batches / threads
	return first, (m.index+1)*batches/threads - first
}

// The measured part.
func (m *member) work(task int) {
	r := m.driver
	first, count := m.interval(task)
	if room := count * r.batch * r.layout.output; len(m.outputs) < room {
		m.outputs = bytes.Repeat([]byte{spoiled}, room)
	}
	m.filled, m.done, m.fault = 0, 0, nil
	for range count {
		from, to := r.itemsOf(first)
		for item := from; item < to; item++ {
			in := r.inputs[item*r.layout.input : (item+1)*r.layout.input]
			out := m.outputs[m.filled : m.filled+r.layout.output]
			if err := r.run(in, out); err != nil {
				m.fault = faultf("library", "crypto/rsa failed at input %d: %v", item, err)
				m.fault.item = &item
				return
			}
			m.filled += r.layout.output
			m.done++
		}
		if first++; first == r.batches() {
			first = 0
		}
	}
}

// Compares what the measured part did with the first run, and wipes it out. What was made is returned instead.
func (m *member) check(task int) (made []byte, fault *refusal) {
	r := m.driver
	first, count := m.interval(task)
	outputs := m.outputs[:m.filled]
	fault = m.fault
	if fault == nil && (r.job.makes() || r.first == nil) {
		made = bytes.Clone(outputs)
	} else if fault == nil {
		at := 0
		for range count {
			from, to := r.itemsOf(first)
			for item := from; item < to && fault == nil; item++ {
				expected := r.first[item*r.layout.output : (item+1)*r.layout.output]
				if !bytes.Equal(outputs[at:at+r.layout.output], expected) {
					fault = faultf("mismatch", "input %d gave another output than in the first run", item)
					fault.item = &item
				}
				at += r.layout.output
			}
			if first++; first == r.batches() {
				first = 0
			}
		}
	}
	for i := range outputs {
		outputs[i] = spoiled
	}
	if task != reference {
		m.next = (m.next + task) % r.batches()
	}
	return made, fault
}

// One call of all threads: its time, its operations, and what was made. On the first thread only.
func (r *driver) call(task int) (sample, []byte, *refusal) {
	r.task = task
	began := time.Now()
	r.barrier.wait()
	r.members[0].work(task)
	r.barrier.wait()
	elapsed := time.Since(began)
	s := sample{ElapsedNs: uint64(elapsed)}
	var all []byte
	var failed *refusal
	for _, m := range r.members {
		made, fault := m.check(task)
		if failed == nil {
			failed = fault
		}
		all = append(all, made...)
		s.Operations += m.done
	}
	return s, all, failed
}

// Every input once, untimed.
func (r *driver) outputs() (outputs []byte, fault *refusal) {
	r.do(func() {
		expected := r.first
		r.first = nil
		_, outputs, fault = r.call(reference)
		if r.first = expected; fault != nil || r.job.makes() {
			return
		}
		if expected != nil && !bytes.Equal(expected, outputs) {
			fault = faultf("mismatch", "the inputs gave other outputs than in the first run")
			return
		}
		r.first = outputs
		fault = r.chooseRounds()
	})
	return outputs, fault
}

// So many batches a call that it lasts about a millisecond, and the barrier does not count.
func (r *driver) chooseRounds() *refusal {
	if r.rounds != 0 {
		return nil
	}
	most := max(1, sampleOutputBytes/(r.batch*r.layout.output))
	wanted := sampleTime
	if r.crowded {
		wanted = sampleTimeCrowded
	}
	rounds := 1
	for {
		m := r.members[0]
		began := time.Now()
		m.work(rounds)
		elapsed := time.Since(began)
		if _, fault := m.check(rounds); fault != nil {
			return fault
		}
		if rounds == most || elapsed >= wanted {
			break
		}
		rounds = min(2*rounds, most)
	}
	// The first run finds its buffers too small: not in a measured one.
	if _, _, fault := r.call(rounds); fault != nil {
		return fault
	}
	r.rounds = rounds
	return nil
}

// When the clock of `started_ns` began.
var epoch = time.Now()

// One block of samples, as crates/measure/src/sample.rs takes it.
func (r *driver) block(plan *blockPlan) (b block, outputs []byte, fault *refusal) {
	if !r.job.makes() && r.first == nil {
		if _, fault := r.outputs(); fault != nil {
			return block{}, nil, fault
		}
	}
	r.do(func() {
		started := time.Now()
		since := func(from time.Time) uint64 { return uint64(time.Since(from)) }
		take := func() (sample, *refusal) {
			s, made, fault := r.call(r.rounds)
			outputs = append(outputs, made...)
			return s, fault
		}
		for since(started) < plan.DiscardNs {
			s, failed := take()
			if fault = failed; fault != nil {
				return
			}
			b.DiscardedOperations += s.Operations
		}
		measuredFrom := time.Now()
		record := newRecord(plan.MaxSamples)
		for calls := uint64(1); ; calls++ {
			s, failed := take()
			if fault = failed; fault != nil {
				return
			}
			record.push(s)
			enough := since(measuredFrom) >= plan.MinNs
			if plan.Calls != nil {
				enough = calls >= *plan.Calls
			}
			if enough {
				break
			}
		}
		b.Samples = record.samples
		b.StartedNs = uint64(started.Sub(epoch))
		b.ElapsedNs = since(started)
	})
	return b, outputs, fault
}

// Samples within a limit that is kept by merging neighbours, so that every call is counted.
type record struct {
	samples []sample
	most    int
	each    int // calls that make up one sample
	inLast  int
}

func newRecord(most uint64) *record {
	return &record{most: int(min(max(1, most), mostSamplesAllowed)), each: 1}
}

func (r *record) push(s sample) {
	if r.inLast < r.each && len(r.samples) > 0 {
		last := &r.samples[len(r.samples)-1]
		last.ElapsedNs += s.ElapsedNs
		last.Operations += s.Operations
		r.inLast++
		return
	}
	if len(r.samples) == r.most {
		r.halve()
		r.push(s)
		return
	}
	r.samples = append(r.samples, s)
	r.inLast = 1
}

func (r *record) halve() {
	var halved []sample
	for i, s := range r.samples {
		if i%2 == 0 {
			halved = append(halved, s)
		} else {
			last := &halved[len(halved)-1]
			last.ElapsedNs += s.ElapsedNs
			last.Operations += s.Operations
		}
	}
	r.inLast = 2 * r.each
	if len(r.samples)%2 == 1 {
		r.inLast = r.each
	}
	r.samples, r.each = halved, 2*r.each
}

// What the threads' tasks are called in messages.
func (r *driver) kernel() string {
	return fmt.Sprintf("%s, %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// A barrier in which a thread spins for a while before it sleeps: the same one releases a call and parks the threads
// between blocks.
type barrier struct {
	threads int
	spin    int
	mutex   sync.Mutex
	changed *sync.Cond
	arrived int
	opened  atomic.Uint32
}

func newBarrier(threads int, spin bool) *barrier {
	g := &barrier{threads: threads}
	if spin {
		g.spin = spinsBeforeASleep
	}
	g.changed = sync.NewCond(&g.mutex)
	return g
}

// Waits until all threads have called this.
func (g *barrier) wait() {
	// A thread alone must not pay for a barrier inside its timed call.
	if g.threads == 1 {
		return
	}
	round := g.opened.Load()
	g.mutex.Lock()
	if g.arrived++; g.arrived == g.threads {
		g.arrived = 0
		g.opened.Store(round + 1)
		g.changed.Broadcast()
		g.mutex.Unlock()
		return
	}
	g.mutex.Unlock()
	for range g.spin {
		if g.opened.Load() != round {
			return
		}
	}
	g.mutex.Lock()
	for g.opened.Load() == round {
		g.changed.Wait()
	}
	g.mutex.Unlock()
}
