package rsalab_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	rsalab "github.com/rsalab/rsalab/bindings/go"
)

// A service that hands out keys takes them from a pool, which makes them while it has nothing else to do.
func ExampleKeyPool() {
	pool, err := rsalab.NewKeyPool(map[int]int{2048: 8})
	if err != nil {
		panic(err)
	}
	defer pool.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	key, err := pool.Get(ctx, 2048)
	if err != nil {
		panic(err)
	}
	// It is an *rsa.PrivateKey, for x509.CreateCertificate, tls.Certificate and the like.
	template := &x509.CertificateRequest{}
	request, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	fmt.Println(key.N.BitLen(), len(request) > 0, err)
	// Output: 2048 true <nil>
}

// Keys of others are read and tested together. Each has its error.
func ExampleLoadPrivateKeys() {
	key, err := rsalab.GenerateKey(2048)
	if err != nil {
		panic(err)
	}
	good, err := key.PKCS8()
	if err != nil {
		panic(err)
	}
	keys, errs := rsalab.LoadPrivateKeys([][]byte{good, []byte("something else")}, rsalab.RoundsBeforeUse)
	fmt.Println(keys[0].Public().Equal(key.Public()), errs[0])
	fmt.Println(keys[1] == nil, errs[1] != nil, errors.Join(errs...) != nil)
	// Output:
	// true <nil>
	// true true true
}

func ExampleGenerateRSAKeys() {
	keys, err := rsalab.GenerateRSAKeys(2048, 4)
	if err != nil {
		panic(err)
	}
	var key *rsa.PrivateKey = keys[0]
	fmt.Println(len(keys), key.N.BitLen(), key.E, key.Validate())
	// Output: 4 2048 65537 <nil>
}
