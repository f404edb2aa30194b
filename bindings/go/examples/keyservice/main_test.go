package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	rsalab "github.com/rsalab/rsalab/bindings/go"
)

func get(t *testing.T, address string) (int, []byte) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

func TestService(t *testing.T) {
	pool, err := rsalab.NewKeyPool(map[int]int{2048: 2})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(pool))
	defer server.Close()

	seen := make(map[string]bool)
	for range 5 {
		code, body := get(t, server.URL+"/key?bits=2048")
		block, rest := pem.Decode(body)
		if code != http.StatusOK || block == nil || block.Type != "PRIVATE KEY" || len(rest) != 0 || seen[string(body)] {
			t.Fatal(code, len(rest))
		}
		seen[string(body)] = true
		if _, errs := rsalab.LoadPrivateKeys([][]byte{body}, rsalab.RoundsBeforeUse); errs[0] != nil {
			t.Error(errs[0])
		}
	}
	var stats []rsalab.KeyPoolStats
	if _, body := get(t, server.URL+"/stats"); json.Unmarshal(body, &stats) != nil || stats[0].Given != 5 {
		t.Errorf("%s", body)
	}
	for _, bits := range []string{"many", "1024", "-2048", ""} {
		if code, _ := get(t, server.URL+"/key?bits="+bits); code != http.StatusNotFound {
			t.Error(bits, code)
		}
	}
	pool.Close()
	if code, _ := get(t, server.URL+"/key?bits=2048"); code != http.StatusServiceUnavailable {
		t.Error(code)
	}
}

func TestAnswersThatHaveBegunAreSent(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-goOn
		io.WriteString(w, "whole")
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, server, listener) }()
	address := listener.Addr().String()
	answer := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + address)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-begun
	cancel()
	// The shutdown has begun once nobody is let in any more.
	for {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		connection.Close()
	}
	select {
	case err := <-ended:
		t.Fatal("it ended before its answer was sent: ", err)
	default:
	}
	close(goOn)
	if got := <-answer; got != "whole" {
		t.Error(got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
