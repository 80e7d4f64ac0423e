package randomtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain also serves as the child process of the tests below.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "-child" {
		if err := Serve(kindsForTest, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// task is a problem for tests: "sleep 100" takes 100 ms without a processor, "spin 100" takes 100 ms of one, and "fail 7" fails, as do
// all smaller numbers down to 3; "die 0" ends the process.
type task struct {
	what   string
	number int
}

func (p task) String() string { return fmt.Sprintf("%s %d", p.what, p.number) }

func (p task) Check() error {
	switch p.what {
	case "sleep":
		time.Sleep(time.Duration(p.number) * time.Millisecond)
	case "spin":
		for end := processorTime() + time.Duration(p.number)*time.Millisecond; processorTime() < end; {
		}
	case "fail":
		if p.number >= 3 {
			return errors.New("too great")
		}
	case "die":
		os.Exit(3)
	}
	return nil
}

func (p task) Smaller() []Problem {
	if p.what != "fail" || p.number == 0 {
		return nil
	}
	return []Problem{task{p.what, p.number - 1}}
}

// taskKind draws the same task always.
func taskKind(t task) Kind {
	return Kind{
		Name:   t.String(),
		Random: func(*rand.Rand) Problem { return t },
		Parse: func(text string) (Problem, error) {
			what, number, _ := strings.Cut(text, " ")
			n, err := strconv.Atoi(number)
			return task{what, n}, err
		},
	}
}

var (
	sleeper = taskKind(task{"sleep", 30_000})
	napper  = taskKind(task{"sleep", 150})
	spinner = taskKind(task{"spin", 20})
	failing = taskKind(task{"fail", 9})
	dying   = taskKind(task{"die", 0})

	kindsForTest = []Kind{sleeper, napper, spinner, failing, dying}
)

// runForTest runs the options with two children, and returns the number of problems of each kind that were checked.
func runForTest(t *testing.T, ctx context.Context, o Options) (failures []Failure, checked map[string]int) {
	t.Helper()
	var out strings.Builder
	o.Jobs, o.Levels, o.Dir, o.Most, o.Out = 2, []string{"go"}, t.TempDir(), max(o.Most, 1), &out
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	failures, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	checked = map[string]int{}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := lines[len(lines)-1]
	for _, k := range o.Kinds {
		if _, rest, ok := strings.Cut(last, " "+k.Name+" go "); ok {
			number, _, _ := strings.Cut(rest, ",")
			if checked[k.Name], err = strconv.Atoi(number); err != nil {
				t.Fatalf("%q: %v", last, err)
			}
		}
	}
	return failures, checked
}

// TestEnds: a problem that takes long is stopped at the end of the time, and when Run is interrupted. It does not count, and is no failure.
func TestEnds(t *testing.T) {
	interrupted, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, interrupt)
	for name, c := range map[string]struct {
		ctx context.Context
		o   Options
	}{
		"for":         {t.Context(), Options{For: 200 * time.Millisecond}},
		"interrupted": {interrupted, Options{}},
	} {
		c.o.Kinds = []Kind{sleeper}
		start := time.Now()
		failures, checked := runForTest(t, c.ctx, c.o)
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%s: ends after %v", name, took)
		}
		if len(failures) > 0 || checked[sleeper.Name] > 0 {
			t.Errorf("%s: %d failures, %d problems checked, want none", name, len(failures), checked[sleeper.Name])
		}
	}
}

// TestRepeatEnds: an interrupt ends the check of a single problem.
func TestRepeatEnds(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, interrupt)
	start := time.Now()
	o := Options{Kinds: []Kind{sleeper}, Levels: []string{"go"}, Timeout: time.Minute, Out: io.Discard}
	if err := CheckOne(ctx, o, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("ends after %v", took)
	}
}

// TestProcessorTime: the time that problems take of the processors is bounded, not the time by the clock.
func TestProcessorTime(t *testing.T) {
	failures, checked := runForTest(t, t.Context(), Options{Kinds: []Kind{spinner}, CPU: 200 * time.Millisecond})
	// Ten problems, and one that the other child has begun.
	if n := checked[spinner.Name]; n < 5 || n > 11 || len(failures) > 0 {
		t.Errorf("%d problems of 20 ms in 200 ms, failures %v", n, failures)
	}
	failures, checked = runForTest(t, t.Context(), Options{Kinds: []Kind{napper}, Count: 4, CPU: 200 * time.Millisecond})
	if n := checked[napper.Name]; n != 4 || len(failures) > 0 {
		t.Errorf("%d of 4 problems without processor time, failures %v", n, failures)
	}
}

// TestShrinks: a failing problem is shrunk to the smallest that fails, also when the time is over by then. The file has it.
func TestShrinks(t *testing.T) {
	failures, _ := runForTest(t, t.Context(), Options{Kinds: []Kind{failing}, CPU: 1})
	if len(failures) == 0 {
		t.Fatal("no failure")
	}
	f := failures[0]
	if got := f.Problem.String(); got != "fail 3" || f.What != "too great" {
		t.Errorf("shrunk to %q with %q", got, f.What)
	}
	if text, err := os.ReadFile(f.File); err != nil || string(text) != "fail 3\n" {
		t.Errorf("the file has %q, error %v", text, err)
	}
}

// TestDies: a process that ends, and a problem that takes too long, are failures.
func TestDies(t *testing.T) {
	failures, _ := runForTest(t, t.Context(), Options{Kinds: []Kind{dying}})
	if len(failures) == 0 || !strings.Contains(failures[0].What, "exit status 3") {
		t.Errorf("failures %v", failures)
	}
	failures, _ = runForTest(t, t.Context(), Options{Kinds: []Kind{sleeper}, Timeout: 200 * time.Millisecond})
	if len(failures) == 0 || !strings.Contains(failures[0].What, "takes longer") {
		t.Errorf("failures %v", failures)
	}
}
