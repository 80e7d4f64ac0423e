package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var built struct {
	once sync.Once
	path string
	out  []byte
	err  error
}

// buildBinary builds the command once, for tests that run it as its users do, with signals and all.
func buildBinary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "swcaffe-test-*")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "swcaffe")
		built.out, built.err = exec.Command("go", "build", "-o", built.path, ".").CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("go build: %v\n%s", built.err, built.out)
	}
	return built.path
}
