package main

import (
	"fmt"
	"math/bits"
	"syscall"
	"unsafe"
)

// A set of CPUs as the kernel takes it: room for 8192.
type cpuSet [128]uint64

// The CPUs that this process may use; none if the system does not tell.
func allowedCpus() (cpus []int) {
	var set cpuSet
	size, _, errno := syscall.RawSyscall(
		syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return nil
	}
	for word := range int(size) / 8 {
		for rest := set[word]; rest != 0; rest &= rest - 1 {
			cpus = append(cpus, word*64+bits.TrailingZeros64(rest))
		}
	}
	return cpus
}

// Pins the calling OS thread, to which the goroutine must be locked.
func pin(cpu int) error {
	var set cpuSet
	set[cpu/64] = 1 << (cpu % 64)
	_, _, errno := syscall.RawSyscall(
		syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return fmt.Errorf("a thread could not be pinned to CPU %d: %v", cpu, errno)
	}
	return nil
}
