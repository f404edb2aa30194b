package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The CPUs of so many threads, physical cores first, then their second threads, then round again; and whether there are
// more threads than CPUs. No CPUs where the system does not pin.
func placement(threads, fallback int) (cpus []int, oversubscribed bool) {
	allowed := allowedCpus()
	if len(allowed) == 0 {
		return []int{}, threads > fallback
	}
	type place struct {
		rank, slowness int
		cpu            int
	}
	given := map[string]int{}
	order := make([]place, 0, len(allowed))
	for _, cpu := range allowed {
		core := systemFile(cpu, "topology/thread_siblings_list")
		if core == "" {
			core = fmt.Sprint(cpu)
		}
		capacity := 0
		fmt.Sscan(systemFile(cpu, "cpu_capacity"), &capacity)
		order = append(order, place{given[core], -capacity, cpu})
		given[core]++
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.slowness, b.slowness), cmp.Compare(a.cpu, b.cpu))
	})
	for i := range threads {
		cpus = append(cpus, order[i%len(order)].cpu)
	}
	return cpus, threads > len(order)
}

func systemFile(cpu int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/%s", cpu, name))
	return strings.TrimSpace(string(text))
}
