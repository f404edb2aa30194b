package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
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
