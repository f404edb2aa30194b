//go:build !linux

package main

func allowedCpus() []int { return nil }

func pin(int) error { return nil }
