//go:build !linux

package main

// cutSockets is for the tests of the mpi build, which run on Linux.
func cutSockets() { panic("the connections of a process are only known on Linux") }
