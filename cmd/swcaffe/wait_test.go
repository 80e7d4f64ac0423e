package main

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long tests wait for what must come: far longer than it takes on an idle machine.
const patience = 2 * time.Minute

// comes waits until a condition holds, and reports whether it did before patience ended.
func comes(holds func() bool) bool {
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// eventually fails the test if a condition, that something is there, does not come to hold.
func eventually(t *testing.T, something string, holds func() bool) {
	t.Helper()
	if !comes(holds) {
		t.Fatalf("no %q after %v", something, patience)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// logLines are the lines that a process has logged so far. They may be read while others are added.
type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

// Write adds what a process writes.
func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
