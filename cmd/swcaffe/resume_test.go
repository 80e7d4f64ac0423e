package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestResumption(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flags")
	if err := os.WriteFile(file, []byte("-weights=old.caffemodel\n-seed=3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ line, want string }{
		{"train -solver s.prototxt", "bin/swcaffe train -solver s.prototxt -snapshot new.solverstate"},
		{"train --solver=s.prototxt --weights=a,b -threads 2", "bin/swcaffe train --solver=s.prototxt -threads 2 -snapshot new.solverstate"},
		{"-snapshot old.solverstate train -solver s.prototxt", "bin/swcaffe train -solver s.prototxt -snapshot new.solverstate"},
		{"train -weights a -solver snapshot -log_dir weights", "bin/swcaffe train -solver snapshot -log_dir weights -snapshot new.solverstate"},
		{"train -flagfile " + file + " -solver s", "bin/swcaffe train -seed=3 -solver s -snapshot new.solverstate"},
		{"train -stage it's -solver s", `bin/swcaffe train -stage 'it'\''s' -solver s -snapshot new.solverstate`},
	}
	for _, tc := range tests {
		if got := resumption("bin/swcaffe", strings.Fields(tc.line), "new.solverstate"); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.line, got, tc.want)
		}
	}
}

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
	e := &env{log: newLogger(&out), stdout: &out, stderr: &out}
	if code := run(e, words[1:]); code != 0 || !strings.Contains(out.String(), "Restoring previous solver status from "+filepath.Base(states[0])) {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
}

// TestPulse: a terminal shows that work goes on when nothing was printed for a second, and the next line takes the place of that.
func TestPulse(t *testing.T) {
	var out bytes.Buffer
	p := &pulse{to: &out, last: time.Now()}
	at := p.last
	p.beat(at.Add(silence / 2))
	if out.Len() != 0 {
		t.Errorf("after half a second it shows %q", out.String())
	}
	p.beat(at.Add(3 * silence))
	p.solving(true, 3, 100)
	p.beat(at.Add(4 * silence))
	p.solving(false, 7, 10000)
	p.beat(at.Add(5 * silence))
	p.hold(true)
	p.beat(at.Add(6 * silence))
	p.hold(false)
	if _, err := p.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	p.printed()
	const start = "\r\033[K"
	want := start + "working (3 s since the last line)" + start + "Testing: batch 3 of 100 (4 s since the last line)" +
		start + "Iteration 7 of 10000 (5 s since the last line)" + start + "line\n"
	if out.String() != want {
		t.Errorf("it shows %q, want %q", out.String(), want)
	}
	var none *pulse // of a stream that is no terminal
	none.printed()
	none.hold(true)
	none.solving(false, 1, 2)
}
