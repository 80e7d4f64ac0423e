package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/internal/page/pagetest"
)

var linked struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// buildBinary returns a link to the test binary under the command's name, for tests that run the command as its users do, with signals and
// all: TestMain makes the test binary the command when it is called so. A build of the command alone would be linked a second time.
func buildBinary(t *testing.T) string {
	t.Helper()
	linked.once.Do(func() {
		linked.dir, linked.err = os.MkdirTemp("", "swcaffe-test-*")
		linked.path = filepath.Join(linked.dir, "swcaffe")
		self, err := os.Executable()
		if linked.err = errors.Join(linked.err, err); linked.err == nil {
			linked.err = os.Symlink(self, linked.path)
		}
	})
	if linked.err != nil {
		t.Fatal(linked.err)
	}
	return linked.path
}

// tests are those of the package; the link that was made for them goes when they have run.
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
	if linked.dir != "" {
		if err := os.RemoveAll(linked.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}
