package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A CPU that this process may use, as the system describes it.
type place struct {
	cpu, capacity, packageID, node int
	core                           string
}

// The CPUs of so many threads, in the order of crates/measure/src/topology.rs: physical cores first, then their second
// threads, then round again; and whether there are more threads than CPUs, or than the control group has CPUs' time
// for. No CPUs where the system does not pin.
func placement(threads, fallback int) (cpus []int, oversubscribed bool) {
	allowed := allowedCpus()
	if len(allowed) == 0 {
		return []int{}, threads > fallback
	}
	places := make([]place, 0, len(allowed))
	for _, cpu := range allowed {
		places = append(places, placeOf(cpu))
	}
	order := ordered(places)
	for i := range threads {
		cpus = append(cpus, order[i%len(order)])
	}
	return cpus, isOversubscribed(threads, len(order), quota())
}

// One thread has no other to take turns with, however small the quota, which is 0 where there is none.
func isOversubscribed(threads, cpus int, quota float64) bool {
	return threads > cpus || threads > 1 && quota > 0 && float64(threads) > quota
}

// The CPUs in the order in which they are given out: one of each core in a round; in a round the faster before the
// slower, one socket before the next, and one node of memory before the next.
func ordered(places []place) (cpus []int) {
	given := map[string]int{}
	ranks := map[int]int{}
	for _, place := range places {
		ranks[place.cpu] = given[place.core]
		given[place.core]++
	}
	places = slices.Clone(places)
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(
			cmp.Compare(ranks[a.cpu], ranks[b.cpu]), cmp.Compare(b.capacity, a.capacity),
			cmp.Compare(a.packageID, b.packageID), cmp.Compare(a.node, b.node), cmp.Compare(a.cpu, b.cpu))
	})
	for _, place := range places {
		cpus = append(cpus, place.cpu)
	}
	return cpus
}

func placeOf(cpu int) place {
	p := place{cpu: cpu, core: systemFile(cpu, "topology/core_cpus_list")}
	if p.core == "" {
		// Kernels before 5.6 know only the older name.
		p.core = systemFile(cpu, "topology/thread_siblings_list")
	}
	if p.core == "" {
		p.core = fmt.Sprint(cpu)
	}
	fmt.Sscan(systemFile(cpu, "cpu_capacity"), &p.capacity)
	fmt.Sscan(systemFile(cpu, "topology/physical_package_id"), &p.packageID)
	// -1 on boards that do not say.
	p.packageID = max(p.packageID, 0)
	nodes, _ := filepath.Glob(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/node[0-9]*", cpu))
	if len(nodes) > 0 {
		fmt.Sscan(strings.TrimPrefix(filepath.Base(nodes[0]), "node"), &p.node)
	}
	return p
}

func systemFile(cpu int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/%s", cpu, name))
	return strings.TrimSpace(string(text))
}

// The smallest quota of the control groups that this process is in, in CPUs; 0 if there is none. As in
// crates/measure/src/throttling.rs.
func quota() (smallest float64) {
	membership, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(membership)) {
		// `hierarchy:controllers:path`; version 2 has no controllers there.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mounts := []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
		if fields[1] != "" {
			if !slices.Contains(strings.Split(fields[1], ","), "cpu") {
				continue
			}
			mounts = []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}
		}
		// Every group limits those below it; the root is empty.
		for path, isLast := strings.TrimRight(fields[2], "/"), false; !isLast; {
			for _, mount := range mounts {
				if share := shareOf(mount + path); share > 0 && (smallest == 0 || share < smallest) {
					smallest = share
				}
			}
			end := strings.LastIndex(path, "/")
			isLast = end < 0
			path = path[:max(end, 0)]
		}
	}
	return smallest
}

// The CPUs' time that the group in a folder may use; 0 if all. `max 100000`, or microseconds of CPU time in each period
// of microseconds; in version 1 in two files, and -1 is no limit.
func shareOf(folder string) float64 {
	text, err := os.ReadFile(folder + "/cpu.max")
	if err != nil {
		time, _ := os.ReadFile(folder + "/cpu.cfs_quota_us")
		period, _ := os.ReadFile(folder + "/cpu.cfs_period_us")
		text = []byte(string(time) + " " + string(period))
	}
	var time, period float64
	if count, _ := fmt.Sscan(string(text), &time, &period); count < 2 || time <= 0 || period <= 0 {
		return 0
	}
	return time / period
}
