//go:build linux && (amd64 || arm64)

package topology

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestHandleOnStack: a handler that a library has set without the stack for signals gets it, and is called as before.
func TestHandleOnStack(t *testing.T) {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	defer signal.Stop(got)
	const number = int(syscall.SIGUSR1)
	var before, after signalAction
	if !handling(number, nil, &before) || before.flags&usesStack == 0 {
		t.Fatalf("Go's own handler: %+v", before)
	}
	without := before
	without.flags &^= usesStack
	if !handling(number, &without, nil) {
		t.Fatal("the handler cannot be set")
	}
	handleOnStack()
	if handling(number, nil, &after); after != before {
		t.Fatalf("the handler is %+v, want %+v", after, before)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	select {
	case <-got:
	case <-time.After(10 * time.Second):
		t.Error("the signal does not arrive")
	}
}
