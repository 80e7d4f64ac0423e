//go:build !linux

package main

import "syscall"

// cutSockets is for the tests of the mpi build, which run on Linux.
func cutSockets() { panic("the connections of a process are only known on Linux") }

// stopSignal and continueSignal are for the same tests.
const stopSignal, continueSignal = syscall.SIGINT, syscall.SIGINT
