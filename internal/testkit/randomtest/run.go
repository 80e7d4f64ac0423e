package randomtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Options configure Run.
type Options struct {
	Kinds   []Kind
	Seed    uint64        // the seed determines problem i of each kind
	Count   int           // number of problems of each kind; 0: no limit
	For     time.Duration // Run ends after this time; 0: no limit
	CPU     time.Duration // Run ends when the checks have taken this much time of the processors, beside whatever else runs; 0: no limit
	Timeout time.Duration // a problem that takes longer counts as hanging
	Jobs    int           // number of child processes
	Program []string      // what child processes run, with arguments before -child; nil for the program itself
	Levels  []string      // levels of vector instructions; problem i uses level i modulo their number
	Dir     string        // folder for failing problems
	Out     io.Writer     // receives all messages
	Most    int           // number of failures after which Run ends
}

// Failure is a problem that failed, shrunk.
type Failure struct {
	Kind, Level string
	Index       int
	Problem     Problem
	What, File  string
}

// runner is the state of a Run.
type runner struct {
	Options
	mutex    sync.Mutex
	next     []int           // by kind: the number of its next problem
	spent    []time.Duration // by kind: processor time
	checked  map[[2]string]int
	failures []Failure
	err      error  // error of a child process
	end      func() // ends the checks; a failure is shrunk nevertheless
}

// Run draws and checks problems, and returns the failures. Every kind gets the same share of the processors' time. A check that is under
// way when Run ends is stopped, and does not count.
func Run(ctx context.Context, o Options) ([]Failure, error) {
	r := &runner{Options: o, next: make([]int, len(o.Kinds)), spent: make([]time.Duration, len(o.Kinds)), checked: map[[2]string]int{}}
	checks, end := context.WithCancel(ctx)
	r.end = end
	defer end()
	if o.For > 0 {
		defer time.AfterFunc(o.For, end).Stop()
	}
	start, done := time.Now(), make(chan struct{})
	go r.progress(start, done)
	var wait sync.WaitGroup
	for range o.Jobs {
		wait.Go(func() { r.work(ctx, checks) })
	}
	wait.Wait()
	close(done)
	r.report(start)
	return r.failures, r.err
}

// work checks problems one after the other until checks ends. It shrinks a failure until ctx ends.
func (r *runner) work(ctx, checks context.Context) {
	children := map[string]*child{}
	for _, level := range r.Levels {
		children[level] = &child{program: r.Program, level: level, timeout: r.Timeout}
		defer children[level].stop()
	}
	for checks.Err() == nil {
		kind, index, ok := r.draw()
		if !ok {
			return
		}
		k, level := r.Kinds[kind], r.Levels[index%len(r.Levels)]
		p := k.Random(rand.New(rand.NewPCG(r.Seed, uint64(index))))
		what, took, err := children[level].check(checks, k.Name, p.String())
		if errors.Is(err, context.Canceled) {
			return
		}
		r.note(kind, level, took, err)
		if err == nil && what != "" {
			p, what, err = shrink(ctx, children[level], k.Name, p, what)
		}
		if err == nil && what != "" {
			err = r.fail(Failure{Kind: k.Name, Level: level, Index: index, Problem: p, What: what})
		}
		if err != nil {
			return
		}
	}
}

// draw takes the next problem number of the kind with the least time so far.
func (r *runner) draw() (kind, index int, ok bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.err != nil || len(r.failures) >= r.Most {
		return 0, 0, false
	}
	kind = -1
	for i := range r.Kinds {
		if r.Count > 0 && r.next[i] == r.Count {
			continue
		}
		if kind < 0 || r.spent[i] < r.spent[kind] {
			kind = i
		}
	}
	if kind < 0 {
		return 0, 0, false
	}
	r.next[kind]++
	return kind, r.next[kind] - 1, true
}

func (r *runner) note(kind int, level string, took time.Duration, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.spent[kind] += took
	r.checked[[2]string{r.Kinds[kind].Name, level}]++
	r.err = cmp.Or(r.err, err)
	var all time.Duration
	for _, d := range r.spent {
		all += d
	}
	if r.CPU > 0 && all >= r.CPU {
		r.end()
	}
}

// fail writes a problem to its file and prints the command that repeats it.
func (r *runner) fail(f Failure) error {
	if err := os.MkdirAll(r.Dir, 0o777); err != nil {
		return err
	}
	f.File = filepath.Join(r.Dir, fmt.Sprintf("%s-%s-%d-%d.txt", f.Kind, f.Level, r.Seed, f.Index))
	text := f.Problem.String()
	if err := os.WriteFile(f.File, []byte(text+"\n"), 0o666); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.failures = append(r.failures, f)
	fmt.Fprintf(r.Out, "FAILED, %s problem %d of seed %d, vector level %s:\n%s\n%s\nrepeat it: go run ./internal/testkit/randomtest/run -levels %s -kind %s -problem %s\n\n",
		f.Kind, f.Index, r.Seed, f.Level, text, f.What, f.Level, f.Kind, f.File)
	return nil
}

// progress prints the progress every ten seconds.
func (r *runner) progress(start time.Time, done chan struct{}) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			r.report(start)
		}
	}
}

// report prints the number of problems checked.
func (r *runner) report(start time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	fmt.Fprintf(r.Out, "%6.0f s, seed %d:", time.Since(start).Seconds(), r.Seed)
	var keys [][2]string
	for k := range r.checked {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, k := range keys {
		fmt.Fprintf(r.Out, " %s %s %d,", k[0], k[1], r.checked[k])
	}
	fmt.Fprintf(r.Out, " failures %d\n", len(r.failures))
}
