package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bytes that one item takes in and gives out.
type layout struct{ input, output int }

// The operations that this engine does. Of primes of a modulus with an odd number of bits it knows nothing.
var operations = []string{
	"private", "public", "keygen", "prime_pair", "totient", "private_exponent", "sign", "verify", "prime_search",
}

const digestBytes = 32

func (j *job) layout() layout {
	k := (j.Bits + 7) / 8
	h := ((j.Bits+1)/2 + 7) / 8
	switch j.Op {
	case "private", "public":
		return layout{k, k}
	case "keygen":
		return layout{0, h + h + k}
	case "prime_pair":
		return layout{0, h + h}
	case "totient":
		return layout{h + h, k + k}
	case "private_exponent":
		return layout{k, k}
	case "sign":
		return layout{digestBytes, k}
	case "verify":
		return layout{digestBytes + k, 1}
	case "prime_search":
		return layout{candidates(j.Bits) * h, h + h}
	}
	panic("no layout of " + j.Op)
}

// Candidates in one input of prime_search.
func candidates(bits int) int {
	return 2 * max(1, int(math.Round(float64(bits)/2*math.Ln2/2)))
}

// Whether every run makes something new.
func (j *job) makes() bool { return j.Op == "keygen" || j.Op == "prime_pair" }

func (j *job) takesKey() bool {
	return slices.Contains([]string{"private", "public", "sign", "verify"}, j.Op)
}

// Variants of the private operation, the default first.
var privateVariants = []string{"checked", "unchecked"}

// The conditions under which the job would be done, or why it is not.
func supports(j *job) (ledger, string) {
	if reason := j.check(); reason != "" {
		return nil, reason
	}
	if j.Bare {
		return nil, "this engine has no bare variant; 'go:unchecked' leaves the check of the result out"
	}
	if strings.HasPrefix(j.Op, "text_") {
		return nil, "this engine does blocks, not texts"
	}
	if !slices.Contains(operations, j.Op) {
		return nil, fmt.Sprintf("this engine does not know the operation '%s'", j.Op)
	}
	if j.Variant != nil {
		if j.Op != "private" {
			return nil, fmt.Sprintf("'%s' has no variant '%s'; it has one only", j.Op, *j.Variant)
		}
		if !slices.Contains(privateVariants, *j.Variant) {
			return nil, fmt.Sprintf("'private' has no variant '%s'; it has %s", *j.Variant, strings.Join(privateVariants, ", "))
		}
	}
	if internalReason != "" && slices.Contains([]string{"private", "public", "prime_search"}, j.Op) {
		return nil, internalReason
	}
	if j.takesKey() && (j.Exponent.isRandom || j.Exponent.value > 1<<31-1) {
		return nil, "Go's crypto/rsa takes public exponents below 2^31 only"
	}
	if j.Op == "keygen" && j.Exponent.value != 65537 {
		return nil, "Go's crypto/rsa makes keys with the exponent 65537 only"
	}
	if j.Bits%2 == 1 && slices.Contains([]string{"keygen", "prime_pair", "prime_search"}, j.Op) {
		return nil, "this engine makes two primes of one size, and so moduli of an even number of bits only"
	}
	return conditions(j), ""
}

// What is true of Go 1.24 and later; NOTES.md says where it is read.
func conditions(j *job) ledger {
	l := ledger{"setup": "nothing", "lanes": 1, "threads": "engine", "clock": "engine"}
	if j.takesKey() {
		l["setup"] = "key with its CRT values and Montgomery constants, once for all threads"
	}
	if j.Op == "verify" {
		// rsa.VerifyPKCS1v15 makes a key of the module behind crypto/rsa from the numbers each time.
		l["setup"] = "numbers of the key only; each call computes the Montgomery constants"
	}
	if j.Op == "private" || j.Op == "sign" {
		l["crt"], l["blinding"], l["constant_time"] = true, false, true
		l["result_check"] = j.Op == "sign" || j.Variant == nil || *j.Variant == "checked"
	}
	if j.Op == "totient" || j.Op == "private_exponent" {
		l["constant_time"] = false
	}
	if slices.Contains([]string{"public", "verify", "keygen", "prime_pair", "private_exponent"}, j.Op) {
		l["exponent"] = j.Exponent.value
	}
	switch j.Op {
	case "sign", "verify":
		l["padding"] = "PKCS#1 v1.5 with SHA-256, of a digest"
	case "keygen":
		l["rounds"] = keygenRounds(j.Bits / 2)
		l["sieve"] = "trial division by the primes up to 1619; independent candidates"
	case "prime_search":
		l["rounds"] = keygenRounds(j.Bits / 2)
		l["sieve"] = "trial division by the primes up to 1619"
	case "prime_pair":
		l["rounds"] = "20 of Miller-Rabin, one to base 2, and Baillie-PSW's Lucas test (big.Int.ProbablyPrime)"
		l["sieve"] = "trial division by the primes up to 53; independent candidates"
	}
	return l
}

// Miller-Rabin rounds of crypto/internal/fips140/rsa for a prime of so many bits.
func keygenRounds(bits int) string {
	rounds := 34
	for _, step := range [][2]int{{3747, 3}, {1345, 4}, {476, 5}, {400, 6}, {347, 7}, {308, 8}, {55, 27}} {
		if bits >= step[0] {
			rounds = step[1]
			break
		}
	}
	return fmt.Sprintf("%d of Miller-Rabin, random bases", rounds)
}

// Whether the job makes sense, whoever does it; the reason if not.
func (j *job) check() string {
	isText := strings.HasPrefix(j.Op, "text_")
	switch {
	case j.Mode == "concurrent":
		return "this engine's threads do not time their own calls"
	case j.Bits < 512 || j.Bits > 16384:
		return fmt.Sprintf("the modulus has %d bits; 512 to 16384 are possible", j.Bits)
	case j.Exponent.isRandom && !j.takesKey():
		return fmt.Sprintf("a random exponent comes with a key, which '%s' does not work with", j.Op)
	case !j.Exponent.isRandom && (j.Exponent.value < 3 || j.Exponent.value%2 == 0):
		return fmt.Sprintf("the public exponent is %d; it must be odd and at least 3", j.Exponent.value)
	case j.Threads < 1 || j.Threads > 1024:
		return fmt.Sprintf("%d threads; 1 to 1024 are possible", j.Threads)
	case j.Batch < 1 || j.Batch > 1<<16:
		return fmt.Sprintf("a batch of %d; 1 to 65536 are possible", j.Batch)
	case j.Mode != "latency" && j.Mode != "throughput":
		return fmt.Sprintf("there is no mode '%s'", j.Mode)
	case j.Mode == "latency" && j.Threads != 1 && !isText:
		return fmt.Sprintf("latency is the time of one call on one thread, and the job asks for %d threads", j.Threads)
	case !isText && (j.Symbols != 0 || j.BlockSymbols != 0):
		return fmt.Sprintf("'%s' takes no text", j.Op)
	}
	return ""
}
