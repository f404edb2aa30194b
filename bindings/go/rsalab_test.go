package rsalab

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha3"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func signers(t testing.TB, bits, count int) (*Batcher, []*Signer) {
	t.Helper()
	keys, err := GenerateKeys(bits, count)
	if err != nil {
		t.Fatal(err)
	}
	batcher, err := NewBatcher(keys...)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]*Signer, count)
	for i := range all {
		all[i] = batcher.Signer(i)
	}
	return batcher, all
}

// The caller may change a slice of keys that was passed on.
func TestABatcherHasItsOwnListOfKeys(t *testing.T) {
	keys, err := GenerateKeys(512, 2)
	if err != nil {
		t.Fatal(err)
	}
	batcher, err := NewBatcher(keys...)
	if err != nil {
		t.Fatal(err)
	}
	first := keys[0].Public()
	keys[0] = keys[1]
	if public := batcher.Signer(0).Public().(*rsa.PublicKey); !public.Equal(first) {
		t.Error("the signer has another public key than the batcher")
	}
}

// Go's own crypto/rsa verifies what the library signs.
func TestSignaturesAreVerifiedByGo(t *testing.T) {
	_, all := signers(t, 2048, 1)
	signer, public := all[0], all[0].Public().(*rsa.PublicKey)
	for hash := range hashes {
		if !hash.Available() || hash == crypto.SHA1 {
			continue
		}
		h := hash.New()
		h.Write([]byte("a message"))
		digest := h.Sum(nil)
		signature, err := signer.Sign(nil, digest, hash)
		if err != nil {
			t.Fatal(hash, err)
		}
		if err := rsa.VerifyPKCS1v15(public, hash, digest, signature); err != nil {
			t.Error(hash, err)
		}
		for _, salt := range []int{rsa.PSSSaltLengthAuto, rsa.PSSSaltLengthEqualsHash, 11} {
			opts := &rsa.PSSOptions{SaltLength: salt, Hash: hash}
			signature, err := signer.Sign(nil, digest, opts)
			if err != nil {
				t.Fatal(hash, err)
			}
			if err := rsa.VerifyPSS(public, hash, digest, signature, opts); err != nil {
				t.Error(hash, salt, err)
			}
			digest[0] ^= 1
			if rsa.VerifyPSS(public, hash, digest, signature, opts) == nil {
				t.Error("the signature of another digest is verified")
			}
			digest[0] ^= 1
		}
	}
}

// The library decrypts what Go's own crypto/rsa encrypts.
func TestWhatGoEncryptsIsDecrypted(t *testing.T) {
	_, all := signers(t, 2048, 1)
	signer, public := all[0], all[0].Public().(*rsa.PublicKey)
	message, label := []byte("a secret of 32 bytes, as keys are"), []byte("label")
	oaep, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, public, message, label)
	if err != nil {
		t.Fatal(err)
	}
	got, err := signer.Decrypt(nil, oaep, &rsa.OAEPOptions{Hash: crypto.SHA256, Label: label})
	if err != nil || !bytes.Equal(got, message) {
		t.Error(got, err)
	}
	if _, err := signer.Decrypt(nil, oaep, &rsa.OAEPOptions{Hash: crypto.SHA256, Label: []byte("other")}); err == nil {
		t.Error("another label decrypts it too")
	}
	pkcs1, err := rsa.EncryptPKCS1v15(rand.Reader, public, message)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = signer.Decrypt(nil, pkcs1, nil); err != nil || !bytes.Equal(got, message) {
		t.Error(got, err)
	}
	session := &rsa.PKCS1v15DecryptOptions{SessionKeyLen: len(message)}
	if got, err = signer.Decrypt(nil, pkcs1, session); err != nil || !bytes.Equal(got, message) {
		t.Error(got, err)
	}
	// Garbage, and another length: a random key each time, and no error.
	pkcs1[len(pkcs1)-1] ^= 1
	one, err := signer.Decrypt(nil, pkcs1, session)
	other, err2 := signer.Decrypt(nil, pkcs1, session)
	if err != nil || err2 != nil || len(one) != len(message) || len(other) != len(message) {
		t.Error(one, other, err, err2)
	}
	if bytes.Equal(one, message) {
		t.Error("garbage decrypts")
	}
}

func TestRefusals(t *testing.T) {
	batcher, all := signers(t, 1024, 1)
	digest := make([]byte, 32)
	if _, err := all[0].Sign(nil, digest[1:], crypto.SHA256); err == nil || !strings.Contains(err.Error(), "32") {
		t.Error("a short digest is signed:", err)
	}
	var refused *Error
	if _, err := all[0].Sign(nil, digest[:20], crypto.SHA1); !errors.As(err, &refused) {
		t.Error("SHA-1 signs:", err)
	}
	if _, err := all[0].Sign(nil, digest, crypto.Hash(0)); err == nil {
		t.Error("a signature without a hash function")
	}
	if _, err := all[0].Decrypt(nil, digest, nil); err == nil {
		t.Error("a short ciphertext decrypts")
	}
	if _, err := all[0].Decrypt(nil, digest, 7); err == nil {
		t.Error("strange options are taken")
	}
	if _, err := ParsePrivateKey([]byte("no key"), nil); err == nil {
		t.Error("that is no key")
	}
	if _, err := NewBatcher(); err == nil {
		t.Error("a batcher without keys")
	}
	if _, err := GenerateKeys(1023, 1); err == nil {
		t.Error("keys of 1023 bits")
	}
	if passes, err := batcher.Passes(); err != nil || len(passes) < 2 {
		t.Error(passes, err)
	}
}

// Errors repeat no eight characters in a row of a key, whatever was done to its text.
func TestErrorsRepeatNoKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	lines := strings.Split(strings.TrimSpace(text), "\n")
	body := strings.Join(lines[1:len(lines)-1], "")
	forms := []string{
		strings.ReplaceAll(text, "\n", ""),
		strings.ReplaceAll(text, "\n", " "),
		strings.ReplaceAll(text, "\n", "\\n"),
		"KEY=\"" + strings.ReplaceAll(text, "\n", "\\n") + "\"\n",
		"-----BEGIN " + body + "-----\n" + body + "\n-----END " + body + "-----\n",
		"ssh-rsa " + body + " " + body,
		"{\"kty\":\"" + body + "\"}",
		"{\"kty\":\"RSA\",\"keys\":\"" + body + "\"}",
		"{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\",\"oth\":[\"" + body + "\"]}",
		"{\"kty\":\"RSA\",\"d\":{\"" + body + "\":7}}",
	}
	for _, form := range forms {
		for cut := len(form); cut > 0; cut -= 53 {
			_, err := ParsePrivateKey([]byte(form[:cut]), nil)
			if err == nil {
				t.Fatalf("that is no key: %.40s", form)
			}
			for i := 0; i+8 <= len(body); i++ {
				if strings.Contains(err.Error(), body[i:i+8]) {
					t.Fatalf("%s of the key is in: %v", body[i:i+8], err)
				}
			}
		}
	}
}

func TestKeysOfGoAreRead(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{
		pkcs8,
		x509.MarshalPKCS1PrivateKey(key),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	} {
		read, err := ParsePrivateKey(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !read.Public().Equal(&key.PublicKey) {
			t.Error("another key")
		}
		batcher, err := NewBatcher(read)
		if err != nil {
			t.Fatal(err)
		}
		// The batcher holds what it needs, whatever is collected meanwhile.
		read = nil
		runtime.GC()
		digest := sha512.Sum512([]byte("a message"))
		signature, err := batcher.Signer(0).Sign(nil, digest[:], crypto.SHA512)
		if err != nil {
			t.Fatal(err)
		}
		if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA512, digest[:], signature); err != nil {
			t.Error(err)
		}
	}
}

// A certificate of a signer's key, signed by itself.
func certificate(t testing.TB, signer *Signer) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: signer, Leaf: leaf}
}

// serve answers every connection with its own bytes.
func serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			io.Copy(connection, connection)
		}()
	}
}

func handshakes(t *testing.T, signer *Signer, client *tls.Config, clients, each int) {
	t.Helper()
	own := certificate(t, signer)
	server := &tls.Config{
		Certificates: []tls.Certificate{own}, SessionTicketsDisabled: true,
		MinVersion: client.MinVersion, CipherSuites: client.CipherSuites,
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go serve(listener)
	client = client.Clone()
	client.ServerName, client.RootCAs = "localhost", x509.NewCertPool()
	client.RootCAs.AddCert(own.Leaf)

	var group sync.WaitGroup
	failures := make(chan error, clients)
	for range clients {
		group.Add(1)
		go func() {
			defer group.Done()
			for range each {
				if err := one(listener.Addr().String(), client); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
}

func one(address string, config *tls.Config) error {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	connection, err := tls.DialWithDialer(dialer, "tcp", address, config)
	if err != nil {
		return err
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := connection.Write([]byte("hello")); err != nil {
		return err
	}
	said := make([]byte, 5)
	if _, err := io.ReadFull(connection, said); err != nil {
		return err
	}
	if string(said) != "hello" {
		return fmt.Errorf("the server said %q", said)
	}
	return nil
}

func requests(t *testing.T, batcher *Batcher) (sum uint64, passes []uint64) {
	t.Helper()
	passes, err := batcher.Passes()
	if err != nil {
		t.Fatal(err)
	}
	for i, count := range passes {
		sum += uint64(i) * count
	}
	return sum, passes
}

// A server of crypto/tls, many clients at once, in TLS 1.3, in TLS 1.2, and in TLS 1.2 with the exchange of keys that
// decrypts.
func TestServer(t *testing.T) {
	const clients, each = 16, 5
	batcher, all := signers(t, 2048, 1)
	for name, config := range map[string]*tls.Config{
		"TLS 1.3": {MinVersion: tls.VersionTLS13},
		"TLS 1.2": {MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12},
		"RSA key exchange": {
			MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := requests(t, batcher)
			handshakes(t, all[0], config, clients, each)
			after, passes := requests(t, batcher)
			// One for each handshake, and one for the certificate.
			if after-before != clients*each+1 {
				t.Errorf("%d requests for %d handshakes", after-before, clients*each)
			}
			t.Logf("passes of 0, 1, 2 … requests so far: %v", passes)
		})
	}
}

// One pass at a time, which waits to be full: handshakes of different goroutines share passes, unless the kernel has
// one lane.
func TestHandshakesShareAPass(t *testing.T) {
	keys, err := GenerateKeys(2048, 1)
	if err != nil {
		t.Fatal(err)
	}
	batcher, err := Options{Passes: 1, Linger: 20 * time.Millisecond}.NewBatcher(keys...)
	if err != nil {
		t.Fatal(err)
	}
	handshakes(t, batcher.Signer(0), &tls.Config{MinVersion: tls.VersionTLS13}, 16, 5)
	sum, passes := requests(t, batcher)
	t.Logf("passes of 0, 1, 2 … requests: %v", passes)
	if len(passes) > 2 && passes[1] == sum {
		t.Errorf("nothing was shared: %v", passes)
	}
}

// Keys that nobody needs are freed: the process does not grow without end.
func TestKeysAreFreed(t *testing.T) {
	resident := func() uint64 {
		text, err := os.ReadFile(filepath.Join("/proc", "self", "statm"))
		if err != nil {
			t.Skip("SKIPPED: no /proc here")
		}
		var size, pages uint64
		fmt.Sscan(string(text), &size, &pages)
		return pages * uint64(os.Getpagesize())
	}
	round := func() {
		for range 50 {
			_, all := signers(t, 512, 2)
			digest := make([]byte, 32)
			if _, err := all[1].Sign(nil, digest, crypto.SHA256); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
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

func Example() {
	keys, err := GenerateKeys(2048, 1)
	if err != nil {
		panic(err)
	}
	batcher, err := NewBatcher(keys...)
	if err != nil {
		panic(err)
	}
	signer := batcher.Signer(0)
	// For crypto/tls: tls.Certificate{Certificate: chain, PrivateKey: signer}.
	digest := sha256.Sum256([]byte("a message"))
	signature, err := signer.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		panic(err)
	}
	fmt.Println(rsa.VerifyPKCS1v15(keys[0].Public(), crypto.SHA256, digest[:], signature))
	// Output: <nil>
}
