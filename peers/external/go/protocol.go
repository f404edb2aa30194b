package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// The version of the protocol that this worker speaks: docs/src/reference/worker-protocol.md.
const protocolVersion = 1

// The longest line that is read, its end included.
const maxLineBytes = 1<<30 + 1<<20

// Bytes that travel as hexadecimal digits.
type hexBytes []byte

func (b hexBytes) MarshalJSON() ([]byte, error) {
	text := make([]byte, 2+hex.EncodedLen(len(b)))
	text[0], text[len(text)-1] = '"', '"'
	hex.Encode(text[1:], b)
	return text, nil
}

func (b *hexBytes) UnmarshalJSON(text []byte) error {
	if len(text) < 2 || text[0] != '"' {
		return fmt.Errorf("not a byte string")
	}
	text = text[1 : len(text)-1]
	*b = make([]byte, hex.DecodedLen(len(text)))
	_, err := hex.Decode(*b, text)
	return err
}

// Any request; which fields it must have follows from its name.
type request struct {
	Request  string     `json:"request"`
	Protocol *uint32    `json:"protocol"`
	Job      *job       `json:"job"`
	Keys     []studyKey `json:"keys"`
	Inputs   *hexBytes  `json:"inputs"`
	Plan     *blockPlan `json:"plan"`
}

// What is to be measured; see crates/engines/src/job.rs.
type job struct {
	Op           string   `json:"op"`
	Bits         int      `json:"bits"`
	Threads      int      `json:"threads"`
	Batch        int      `json:"batch"`
	Mode         string   `json:"mode"`
	Variant      *string  `json:"variant"`
	Bare         bool     `json:"bare"`
	Exponent     exponent `json:"exponent"`
	Symbols      int      `json:"symbols"`
	BlockSymbols int      `json:"block_symbols"`
}

// A public exponent, or that it comes with the key.
type exponent struct {
	value    uint64
	isRandom bool
}

func (e *exponent) UnmarshalJSON(text []byte) error {
	e.isRandom = string(text) == `"random"`
	if e.isRandom {
		return nil
	}
	return json.Unmarshal(text, &e.value)
}

// A key made for a study; never a user's.
type studyKey struct {
	Bits int      `json:"bits"`
	N    hexBytes `json:"n"`
	E    hexBytes `json:"e"`
	D    hexBytes `json:"d"`
	P    hexBytes `json:"p"`
	Q    hexBytes `json:"q"`
	Dp   hexBytes `json:"dp"`
	Dq   hexBytes `json:"dq"`
	Qinv hexBytes `json:"qinv"`
}

type blockPlan struct {
	DiscardNs  uint64  `json:"discard_ns"`
	MinNs      uint64  `json:"min_ns"`
	Calls      *uint64 `json:"calls"`
	MaxSamples uint64  `json:"max_samples"`
}

// The conditions of a figure; see crates/engines/src/ledger.rs. What is not there does not arise.
type ledger map[string]any

type sample struct {
	ElapsedNs  uint64  `json:"elapsed_ns"`
	TscTicks   *uint64 `json:"tsc_ticks"`
	Operations uint64  `json:"operations"`
}

type block struct {
	Samples             []sample `json:"samples"`
	DiscardedOperations uint64   `json:"discarded_operations"`
	StartedNs           uint64   `json:"started_ns"`
	ElapsedNs           uint64   `json:"elapsed_ns"`
}

// An answer: its name, and then its fields and their values.
func answer(name string, fields ...any) map[string]any {
	a := map[string]any{"answer": name}
	for i := 0; i < len(fields); i += 2 {
		a[fields[i].(string)] = fields[i+1]
	}
	return a
}

// A request that failed, as data: its kind is one of the protocol's.
type refusal struct {
	kind    string
	message string
	item    *int
}

func (f *refusal) Error() string { return f.message }

func faultf(kind, format string, args ...any) *refusal {
	return &refusal{kind: kind, message: fmt.Sprintf(format, args...)}
}

func outOfRange(item int) *refusal {
	return &refusal{
		kind:    "input_out_of_range",
		message: fmt.Sprintf("input %d of the batch is not smaller than the modulus", item),
		item:    &item,
	}
}

// The request on a line. The fault says where the line goes wrong, but not what is there: it may hold a key.
func parse(line []byte) (*request, *refusal) {
	var r request
	column := 0
	if err := json.Unmarshal(line, &r); err != nil {
		switch err := err.(type) {
		case *json.SyntaxError:
			column = int(err.Offset)
		case *json.UnmarshalTypeError:
			column = int(err.Offset)
		}
		return nil, malformed(column)
	}
	complete := false
	switch r.Request {
	case "hello":
		complete = r.Protocol != nil
	case "supports":
		complete = r.Job != nil
	case "prepare":
		complete = r.Job != nil && r.Inputs != nil
	case "block":
		complete = r.Plan != nil
	case "outputs", "release", "quit":
		complete = true
	}
	if !complete {
		return nil, malformed(0)
	}
	return &r, nil
}

func malformed(column int) *refusal {
	return faultf("malformed", "the line is no request of protocol %d (column %d)", protocolVersion, column)
}
