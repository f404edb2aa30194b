package main

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
)

// Does one item.
type operation func(in, out []byte) error

var one = big.NewInt(1)

// Makes the job's operation ready, to be used by any number of threads at once.
func newOperation(j *job, keys []studyKey) (operation, *refusal) {
	var key *studyKey
	if j.takesKey() {
		if len(keys) == 0 {
			return nil, faultf("key", "the key was refused: '%s' needs one and got none", j.Op)
		}
		key = &keys[0]
	}
	switch j.Op {
	case "private", "public":
		return rawOperation(j, key)
	case "sign":
		private, err := privateKey(key)
		if err != nil {
			return nil, err
		}
		return func(digest, out []byte) error {
			signature, err := rsa.SignPKCS1v15(nil, private, crypto.SHA256, digest)
			copy(out, signature)
			return err
		}, nil
	case "verify":
		public := &rsa.PublicKey{N: new(big.Int).SetBytes(key.N), E: exponentOf(key)}
		return func(in, out []byte) error {
			out[0] = 0
			if rsa.VerifyPKCS1v15(public, crypto.SHA256, in[:digestBytes], in[digestBytes:]) == nil {
				out[0] = 1
			}
			return nil
		}, nil
	case "keygen":
		return func(_, out []byte) error {
			key, err := rsa.GenerateKey(rand.Reader, j.Bits)
			if err != nil {
				return err
			}
			h := (len(out) - (j.Bits+7)/8) / 2
			key.Primes[0].FillBytes(out[:h])
			key.Primes[1].FillBytes(out[h : 2*h])
			key.D.FillBytes(out[2*h:])
			return nil
		}, nil
	case "prime_pair":
		return func(_, out []byte) error { return primePair(j, out) }, nil
	case "prime_search":
		return primeSearch, nil
	case "totient":
		return func(in, out []byte) error {
			p := new(big.Int).SetBytes(in[:len(in)/2])
			q := new(big.Int).SetBytes(in[len(in)/2:])
			new(big.Int).Mul(p, q).FillBytes(out[:len(out)/2])
			p.Mul(p.Sub(p, one), q.Sub(q, one)).FillBytes(out[len(out)/2:])
			return nil
		}, nil
	case "private_exponent":
		e := new(big.Int).SetUint64(j.Exponent.value)
		return func(in, out []byte) error {
			d := new(big.Int).ModInverse(e, new(big.Int).SetBytes(in))
			if d == nil {
				return errors.New("the exponent has no inverse")
			}
			d.FillBytes(out)
			return nil
		}, nil
	}
	return nil, faultf("unsupported", "this engine does not know the operation '%s'", j.Op)
}

// Two primes fit for a key (FIPS 186-5 A.1.3, steps 4.4 and 5.5), from crypto/rand.Prime, which sets the top two bits.
func primePair(j *job, out []byte) error {
	e := new(big.Int).SetUint64(j.Exponent.value)
	draw := func() (*big.Int, error) {
		for {
			prime, err := rand.Prime(rand.Reader, j.Bits/2)
			if err != nil {
				return nil, err
			}
			less := new(big.Int).Sub(prime, one)
			if new(big.Int).GCD(nil, nil, less, e).Cmp(one) == 0 {
				return prime, nil
			}
		}
	}
	p, err := draw()
	if err != nil {
		return err
	}
	for {
		q, err := draw()
		if err != nil {
			return err
		}
		if new(big.Int).Sub(p, q).BitLen() > j.Bits/2-100 {
			p.FillBytes(out[:len(out)/2])
			q.FillBytes(out[len(out)/2:])
			return nil
		}
	}
}

// The first two primes among the candidates, tested one after another as key generation tests them.
func primeSearch(in, out []byte) error {
	h := len(out) / 2
	found := 0
	for at := 0; at < len(in); at += h {
		if keygenTest(in[at : at+h]) {
			copy(out[found*h:], in[at:at+h])
			if found++; found == 2 {
				return nil
			}
		}
	}
	return errors.New("fewer than two of the candidates are prime")
}

func privateKey(key *studyKey) (*rsa.PrivateKey, *refusal) {
	number := func(b hexBytes) *big.Int { return new(big.Int).SetBytes(b) }
	private := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: number(key.N), E: exponentOf(key)},
		D:         number(key.D),
		Primes:    []*big.Int{number(key.P), number(key.Q)},
	}
	private.Precompute()
	if err := private.Validate(); err != nil {
		return nil, faultf("key", "the key was refused: %v", err)
	}
	return private, nil
}

// It fits: what does not has been refused with the job.
func exponentOf(key *studyKey) int { return int(new(big.Int).SetBytes(key.E).Int64()) }

// Whether the inputs are whole items, at least one, and blocks smaller than the modulus.
func checkInputs(j *job, keys []studyKey, inputs []byte) *refusal {
	item := j.layout().input
	if j.makes() {
		if len(inputs) != 0 {
			return faultf("length", "the inputs have %d bytes where '%s' takes 0", len(inputs), j.Op)
		}
		return nil
	}
	if len(inputs) == 0 || len(inputs)%item != 0 {
		return faultf("length", "the inputs have %d bytes, which is not one or more items of %d bytes", len(inputs), item)
	}
	if (j.Op == "private" || j.Op == "public") && len(keys) > 0 {
		for at := 0; at < len(inputs); at += item {
			if bytes.Compare(inputs[at:at+item], keys[0].N) >= 0 {
				return outOfRange(at / item)
			}
		}
	}
	return nil
}

// Whether the keys are of the job's size, and their parts of the lengths that the protocol fixes.
func checkKeys(j *job, keys []studyKey) *refusal {
	k, h := (j.Bits+7)/8, ((j.Bits+1)/2+7)/8
	for _, key := range keys {
		if key.Bits != j.Bits {
			return faultf("key", "a key of %d bits came with a job of %d bits", key.Bits, j.Bits)
		}
		whole, half := []hexBytes{key.N, key.D}, []hexBytes{key.P, key.Q, key.Dp, key.Dq, key.Qinv}
		for i, part := range append(whole, half...) {
			if expected := map[bool]int{true: k, false: h}[i < len(whole)]; len(part) != expected {
				return faultf("key", "the key was refused: a part has %d bytes where %d were expected", len(part), expected)
			}
		}
		if len(key.E) == 0 || len(key.E) > 8 {
			return faultf("key", "the key was refused: its exponent has %d bytes", len(key.E))
		}
	}
	return nil
}
