package main

import (
	"slices"
	"testing"
)

// Run by: go test -ldflags=-checklinkname=0 .
func TestCoresComeBeforeSiblingsAndOneSocketBeforeTheNext(t *testing.T) {
	// Two sockets of two cores of two threads whose numbers alternate between the sockets, and a slow core.
	places := []place{
		{cpu: 0, packageID: 0, core: "0,4", capacity: 9},
		{cpu: 1, packageID: 1, node: 2, core: "1,5", capacity: 9},
		{cpu: 2, packageID: 0, core: "2,6", capacity: 9},
		{cpu: 3, packageID: 1, node: 1, core: "3,7", capacity: 9},
		{cpu: 4, packageID: 0, core: "0,4", capacity: 9},
		{cpu: 5, packageID: 1, node: 2, core: "1,5", capacity: 9},
		{cpu: 6, packageID: 0, core: "2,6", capacity: 9},
		{cpu: 8, packageID: 0, core: "8", capacity: 4},
	}
	if got := ordered(places); !slices.Equal(got, []int{0, 2, 3, 1, 8, 4, 6, 5}) {
		t.Error(got)
	}
}

func TestMoreThreadsThanTheQuotaAreTooMany(t *testing.T) {
	for _, c := range []struct {
		threads, cpus int
		quota         float64
		want          bool
	}{
		{2, 2, 0, false}, {3, 2, 0, true}, {2, 4, 1.5, true}, {2, 4, 2, false}, {1, 4, 0.5, false},
	} {
		if got := isOversubscribed(c.threads, c.cpus, c.quota); got != c.want {
			t.Error(c, got)
		}
	}
}
