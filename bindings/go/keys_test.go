package rsalab

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"
)

// signs checks that Go signs with a key of Go's, and verifies it.
func signs(t *testing.T, key *rsa.PrivateKey) {
	t.Helper()
	digest := sha256.Sum256([]byte("a message"))
	signature, err := rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest[:], nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := rsa.VerifyPSS(&key.PublicKey, crypto.SHA256, digest[:], signature, nil); err != nil {
		t.Error(err)
	}
}

func TestKeysAreGoKeys(t *testing.T) {
	for _, bits := range []int{1024, 2048, 3072} {
		keys, err := GenerateRSAKeys(bits, 3)
		if err != nil {
			t.Fatal(err)
		}
		one, err := GenerateRSAKey(bits)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range append(keys, one) {
			if key.N.BitLen() != bits || key.E != 65537 || len(key.Primes) != 2 || key.Validate() != nil {
				t.Errorf("%d bits, e %d: %v", key.N.BitLen(), key.E, key.Validate())
			}
			// Precomputed by Go: a second time changes nothing.
			before := key.Precomputed
			if before.Dp == nil || before.Dq == nil || before.Qinv == nil {
				t.Error("nothing is precomputed")
			}
			if key.Precompute(); key.Precomputed.Dp != before.Dp {
				t.Error("it was not Go that precomputed")
			}
			signs(t, key)
		}
		if keys[0].Equal(keys[1]) || keys[0].Primes[0].Cmp(keys[1].Primes[0]) == 0 {
			t.Error("the same key twice")
		}
	}
}

// Both forms of a key are the same key, and PKCS#8 is what Go writes.
func TestFormsOfAKey(t *testing.T) {
	own, err := GenerateKey(2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := own.PKCS8()
	if err != nil {
		t.Fatal(err)
	}
	ofGo, err := own.RSA()
	if err != nil {
		t.Fatal(err)
	}
	if !ofGo.PublicKey.Equal(own.Public()) {
		t.Error("another key")
	}
	if again, err := x509.MarshalPKCS8PrivateKey(ofGo); err != nil || !bytes.Equal(again, der) {
		t.Error("Go writes it otherwise", err)
	}
	read, err := ParsePrivateKey(der, nil)
	if err != nil || !read.Public().Equal(own.Public()) {
		t.Error(err)
	}
	// Every call has bytes of its own.
	clear(der)
	if der, err := own.PKCS8(); err != nil || der[0] != 0x30 {
		t.Error(err)
	}
}

func TestGenerationIsRefused(t *testing.T) {
	for _, bits := range []int{-2048, 0, 255, 1023, 2047, 16386, 1 << 40} {
		if _, err := GenerateKey(bits); err == nil {
			t.Errorf("a key of %d bits", bits)
		}
		if _, err := GenerateRSAKey(bits); err == nil {
			t.Errorf("a key of %d bits", bits)
		}
	}
	if _, err := GenerateRSAKeys(2048, -1); err == nil {
		t.Error("fewer keys than none")
	}
	if keys, err := GenerateRSAKeys(2048, 0); err != nil || len(keys) != 0 {
		t.Error(keys, err)
	}
}

// pkcs8Of is a key of Go's in PKCS#8, under an algorithm, with or without attributes.
func pkcs8Of(t *testing.T, key *rsa.PrivateKey, algorithm asn1.ObjectIdentifier, attributes []byte) []byte {
	t.Helper()
	structure := struct {
		Version    int
		Algorithm  pkix.AlgorithmIdentifier
		PrivateKey []byte
		Attributes asn1.RawValue `asn1:"optional"`
	}{Algorithm: pkix.AlgorithmIdentifier{Algorithm: algorithm}, PrivateKey: x509.MarshalPKCS1PrivateKey(key)}
	if algorithm.Equal(rsaEncryption) {
		structure.Algorithm.Parameters = asn1.NullRawValue
	}
	if attributes != nil {
		structure.Attributes = asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: attributes}
	}
	der, err := asn1.Marshal(structure)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

var (
	rsaEncryption = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	rsassaPSS     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
)

func TestRestrictedKeysAreNotGoKeys(t *testing.T) {
	key, err := GenerateRSAKey(1024)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParsePrivateKey(pkcs8Of(t, key, rsassaPSS, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.RSA(); err == nil || !strings.Contains(err.Error(), "unknown algorithm") {
		t.Error(err)
	}
	if der, err := read.PKCS8(); err != nil || !bytes.Contains(der, mustMarshal(t, rsassaPSS)) {
		t.Error("the restriction is lost", err)
	}
}

func mustMarshal(t *testing.T, value any) []byte {
	t.Helper()
	der, err := asn1.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// Attributes of a file are kept, and may be longer than the key.
func TestLongAttributesAreWritten(t *testing.T) {
	key, err := GenerateRSAKey(1024)
	if err != nil {
		t.Fatal(err)
	}
	type attribute struct {
		Type   asn1.ObjectIdentifier
		Values [][]byte `asn1:"set"`
	}
	note := bytes.Repeat([]byte("a long note "), 400)
	attributes := mustMarshal(t, attribute{asn1.ObjectIdentifier{1, 2, 3, 4}, [][]byte{note}})
	read, err := ParsePrivateKey(pkcs8Of(t, key, rsaEncryption, attributes), nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := read.PKCS8()
	if err != nil || !bytes.Contains(der, note) {
		t.Error(len(der), err)
	}
	if again, err := read.RSA(); err != nil || !again.Equal(key) {
		t.Error(err)
	}
}

// composite is a key whose numbers fit each other, and whose p is a product of two primes. Go takes it.
func composite(t *testing.T) []byte {
	t.Helper()
	e, one := big.NewInt(65537), big.NewInt(1)
	for {
		small, large := goKey(t, 512), goKey(t, 1024)
		p, q := small.N, large.Primes[0]
		key := &rsa.PrivateKey{Primes: []*big.Int{p, q}}
		key.N, key.E = new(big.Int).Mul(p, q), 65537
		pMinus1, qMinus1 := new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)
		key.D = new(big.Int).ModInverse(e, new(big.Int).Mul(pMinus1, qMinus1))
		if key.D == nil {
			continue
		}
		// λ(n) divides this one's exponent.
		key.D.Mod(key.D, new(big.Int).Div(new(big.Int).Mul(pMinus1, qMinus1), new(big.Int).GCD(nil, nil, pMinus1, qMinus1)))
		key.Precomputed.Dp, key.Precomputed.Dq = new(big.Int).Mod(key.D, pMinus1), new(big.Int).Mod(key.D, qMinus1)
		if key.Precomputed.Qinv = new(big.Int).ModInverse(q, p); key.Precomputed.Qinv == nil {
			continue
		}
		key.Precompute()
		if err := key.Validate(); err != nil {
			t.Fatal("Go finds it:", err)
		}
		return x509.MarshalPKCS1PrivateKey(key)
	}
}

func goKey(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := GenerateRSAKey(bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestLoadPrivateKeys(t *testing.T) {
	const count = 100
	keys, err := GenerateRSAKeys(1024, count)
	if err != nil {
		t.Fatal(err)
	}
	files := make([][]byte, count)
	for i, key := range keys {
		switch i % 3 {
		case 0:
			files[i] = x509.MarshalPKCS1PrivateKey(key)
		case 1:
			files[i] = pkcs8Of(t, key, rsaEncryption, nil)
		default:
			block := &pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8Of(t, key, rsaEncryption, nil)}
			files[i] = pem.EncodeToMemory(block)
		}
	}
	for _, options := range []LoadOptions{
		{}, {Rounds: 1, Threads: 1}, {Rounds: RoundsBeforeUse}, {Rounds: Rounds, Threads: 3}, {MaxBits: 1024},
	} {
		loaded, errs := options.LoadPrivateKeys(files)
		if err := errors.Join(errs...); err != nil || len(errs) != count || len(loaded) != count {
			t.Fatal(options, err)
		}
		for i, key := range loaded {
			if !key.Public().Equal(&keys[i].PublicKey) {
				t.Fatalf("%v: key %d is another", options, i)
			}
		}
	}

	// Faults are those of their files.
	files[5], files[17], files[18], files[40] = composite(t), nil, []byte("no key"), files[40][:len(files[40])/2]
	loaded, errs := LoadPrivateKeys(files, RoundsBeforeUse)
	words := map[int]string{5: "p is not a prime", 17: "empty", 18: "", 40: ""}
	for i := range files {
		word, isFaulty := words[i]
		if isFaulty != (errs[i] != nil) || isFaulty != (loaded[i] == nil) {
			t.Errorf("%d: %v", i, errs[i])
			continue
		}
		if isFaulty {
			var failure *Error
			if !errors.As(errs[i], &failure) || failure.Status == 0 || !strings.Contains(errs[i].Error(), word) ||
				strings.Contains(errs[i].Error(), "item") {
				t.Errorf("%d: %v", i, errs[i])
			}
		} else if !loaded[i].Public().Equal(&keys[i].PublicKey) {
			t.Errorf("key %d is another", i)
		}
	}
	// Without rounds nobody notices.
	if _, errs := LoadPrivateKeys(files[5:6], 0); errs[0] != nil {
		t.Error(errs[0])
	}
}

func TestLoadingIsRefused(t *testing.T) {
	key, err := GenerateKey(1024)
	if err != nil {
		t.Fatal(err)
	}
	der, err := key.PKCS8()
	if err != nil {
		t.Fatal(err)
	}
	if keys, errs := LoadPrivateKeys(nil, 8); len(keys) != 0 || len(errs) != 0 {
		t.Error(keys, errs)
	}
	for _, options := range []LoadOptions{
		{Rounds: -1}, {Rounds: 1025}, {Rounds: 1 << 62}, {Threads: -1}, {MaxBits: -1}, {MaxBits: 16385}, {MaxBits: 1023},
	} {
		keys, errs := options.LoadPrivateKeys([][]byte{der, der})
		for i, err := range errs {
			if err == nil || keys[i] != nil {
				t.Errorf("%v: %v", options, err)
			}
		}
	}
}

func TestPasswords(t *testing.T) {
	// For tests alone; its password is "word".
	file, err := os.ReadFile("testdata/encrypted-512.pem")
	if err != nil {
		t.Fatal(err)
	}
	for password, word := range map[string]string{"": "password", "wrong": "password", "word": ""} {
		_, errs := LoadOptions{Password: []byte(password), Rounds: 8}.LoadPrivateKeys([][]byte{file})
		if (word == "") != (errs[0] == nil) || (errs[0] != nil && !strings.Contains(errs[0].Error(), word)) {
			t.Errorf("%q: %v", password, errs[0])
		}
	}
}

// Goroutines load side by side, from the same bytes.
func TestLoadingInManyGoroutines(t *testing.T) {
	key, err := GenerateKey(1024)
	if err != nil {
		t.Fatal(err)
	}
	der, err := key.PKCS8()
	if err != nil {
		t.Fatal(err)
	}
	files := [][]byte{der, der[:100], der}
	var group sync.WaitGroup
	for range 16 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 10 {
				keys, errs := LoadPrivateKeys(files, 8)
				if errs[0] != nil || errs[1] == nil || errs[2] != nil || keys[1] != nil ||
					!keys[2].Public().Equal(key.Public()) {
					t.Error(errs)
				}
			}
		}()
	}
	group.Wait()
}
