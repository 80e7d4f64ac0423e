package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
)

var built struct {
	once sync.Once
	dir  string
	path string
	out  []byte
	err  error
}

// buildBinary builds the command once, for tests that run it as its users do, with signals and all. SWCAFFE_TEST_BINARY names a command that
// scripts/check.sh has built; Stat lets go test see when it changes.
func buildBinary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.path = os.Getenv("SWCAFFE_TEST_BINARY"); built.path != "" {
			_, built.err = os.Stat(built.path)
			return
		}
		dir, err := os.MkdirTemp("", "swcaffe-test-*")
		if err != nil {
			built.err = err
			return
		}
		built.dir = dir
		built.path = filepath.Join(dir, "swcaffe")
		built.out, built.err = exec.Command("go", "build", "-o", built.path, ".").CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("go build: %v\n%s", built.err, built.out)
	}
	return built.path
}

// tests are those of the package; what was built for them goes when they have run.
type tests struct{ *testing.M }

func (t tests) Run() int {
	// What a script starts in its background, or nohup, ignores these; the binary that tests start would as well.
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	code := t.M.Run()
	pagetest.Close()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}
