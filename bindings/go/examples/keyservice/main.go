// Command keyservice hands out RSA keys over HTTP, from a pool that makes them while it has nothing else to do:
//
//	go run ./examples/keyservice -listen 127.0.0.1:8080
//	curl http://127.0.0.1:8080/key?bits=2048      a new key, in PEM
//	curl http://127.0.0.1:8080/stats              what the pool has
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	rsalab "github.com/rsalab/rsalab/bindings/go"
)

// patience is how long a request waits for a key.
const patience = 10 * time.Second

// handler answers with keys of the pool.
func handler(pool *rsalab.KeyPool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /key", func(w http.ResponseWriter, r *http.Request) {
		bits, err := strconv.Atoi(r.URL.Query().Get("bits"))
		isKept := func(stats rsalab.KeyPoolStats) bool { return stats.Bits == bits }
		if err != nil || !slices.ContainsFunc(pool.Stats(), isKept) {
			http.Error(w, "there are no keys of so many bits", http.StatusNotFound)
			return
		}
		// The client may go away meanwhile: then its key is somebody else's.
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		key, err := pool.GetPrivateKey(ctx, bits)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		der, err := key.PKCS8()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer clear(der)
		w.Header().Set("Content-Type", "application/x-pem-file")
		w.Header().Set("Cache-Control", "no-store")
		pem.Encode(w, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(pool.Stats())
	})
	return mux
}

// serve answers until the context ends, and then until the answers that have begun are sent.
func serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		ended <- server.Shutdown(last)
	}()
	// It returns as soon as the shutdown begins.
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return <-ended
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address")
	flag.Parse()

	pool, err := rsalab.NewKeyPool(map[int]int{2048: 200, 4096: 50})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := serve(stop, &http.Server{Handler: handler(pool)}, listener); err != nil {
		log.Print(err)
	}
	// Keys that nobody asked for are wiped.
	pool.Close()
	pool.Wait()
}
