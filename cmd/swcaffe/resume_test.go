package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

var goOn = regexp.MustCompile(`\] To go on: (.*)\n`)

// TestStopNamesResumption: after a signal the log has a command line, and that goes on where the run stopped.
func TestStopNamesResumption(t *testing.T) {
	cmd, dir, log, done := start(t, endless, "Iteration 3 ")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-done
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	found := goOn.FindStringSubmatch(log.String())
	states, err := filepath.Glob(filepath.Join(dir, "*.solverstate"))
	if found == nil || err != nil || len(states) != 1 {
		t.Fatalf("states %q, %v; the log names no command:\n%s", states, err, log)
	}
	words := strings.Fields(found[1])
	want := append(cmd.Args, "-snapshot", filepath.Base(states[0]))
	if strings.Join(words, " ") != strings.Join(want, " ") {
		t.Fatalf("the command is %q, want %q", words, want)
	}
	solver := filepath.Join(dir, "solver.prototxt")
	if err := os.WriteFile(solver, []byte(strings.Replace(endless, "max_iter: 100000000", "max_iter: 0", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out bytes.Buffer
	e := &cli.Env{Log: glog.New(&out), Stdout: &out, Stderr: &out}
	if code := commands.Run(e, words[1:]); code != 0 || !strings.Contains(out.String(), "Restoring previous solver status from "+filepath.Base(states[0])) {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
}
