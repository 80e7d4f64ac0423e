//go:build linux && (amd64 || arm64)

package topology

import (
	"syscall"
	"unsafe"
)

// signalAction is the kernel's struct sigaction.
type signalAction struct {
	handler         uintptr
	flags           uint64
	restorer, masks uintptr
}

const (
	signals     = 64
	usesStack   = 0x08000000 // SA_ONSTACK
	ownHandlers = 1          // SIG_IGN; SIG_DFL is 0, larger values are functions
)

// handling reads what the process does on a signal, or sets it if set is not nil.
func handling(signal int, set, old *signalAction) bool {
	const maskBytes = 8
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), maskBytes, 0, 0)
	return e == 0
}

// handleOnStack lets all handlers of signals run on the stack for signals, as programs in Go need: their goroutines' stacks are small, and Go ends the
// process if a handler comes upon one. MPICH's for SIGUSR1, which calls the one before it, does (findings/mpich_sigusr1_stack.sh).
func handleOnStack() {
	for n := 1; n <= signals; n++ {
		var a signalAction
		if handling(n, nil, &a) && a.handler > ownHandlers && a.flags&usesStack == 0 {
			a.flags |= usesStack
			handling(n, &a, nil)
		}
	}
}
