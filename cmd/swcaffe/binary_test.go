package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var binary struct {
	once sync.Once
	path string
	out  []byte
	err  error
}

// buildBinary builds the command once, for tests that run it as its users do, with signals and all.
func buildBinary(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		dir, err := os.MkdirTemp("", "swcaffe-test-*")
		if err != nil {
			binary.err = err
			return
		}
		binary.path = filepath.Join(dir, "swcaffe")
		binary.out, binary.err = exec.Command("go", "build", "-o", binary.path, ".").CombinedOutput()
	})
	if binary.err != nil {
		t.Fatalf("go build: %v\n%s", binary.err, binary.out)
	}
	return binary.path
}
