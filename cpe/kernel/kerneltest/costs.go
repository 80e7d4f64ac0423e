package kerneltest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/cputime"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

var measure = flag.Bool("measure", false, "measure the times in testdata/costs.txt anew; run it on an otherwise idle computer, and read the difference")

// costLevel and costL2 are what the tables of costs were measured with.
const (
	costLevel = "avx2"
	costL2    = 512 << 10
)

// CostTable is a table of measured times to which costs were fitted. Its lines are problems, with algorithm=microseconds behind them. Times are the least
// processor times of one thread; algorithms ran in turns, on operands that they had just read.
type CostTable struct {
	File string
	// Runs returns, by name, what runs the algorithms that can compute a problem.
	Runs func(m *cpe.Machine, problem string) map[string]func() error
	// Pick returns the algorithm of least cost, and those to which it is compared; nil: all.
	Pick func(m *cpe.Machine, problem string) (picked string, among []string)
	// Mean and Most are how far picks may be behind the fastest algorithm: in the geometric mean, and in any line. Times of other minutes differ by a tenth.
	Mean, Most float64
}

// Check compares picks with the times. With -measure, it measures them before.
func (c *CostTable) Check(t *testing.T) {
	if !slices.Contains(isa.Levels(), costLevel) {
		t.Skipf("the times are those of %s", costLevel)
	}
	defer isa.Use(costLevel)()
	spec := HostSpec(t)
	spec.LDMBytes = costL2
	m := NativeMachine(t, spec, 1)
	text, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	sum, count := 0.0, 0
	for i, line := range lines {
		problem, times, found := strings.Cut(line, ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		if *measure {
			times = c.measured(t, m, problem)
			lines[i] = problem + ": " + times
		}
		ratio := c.behind(t, m, problem, times)
		sum, count = sum+math.Log(ratio), count+1
	}
	if *measure {
		if err := os.WriteFile(c.File, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mean := math.Exp(sum / float64(count))
	t.Logf("picks are %.3f of the fastest algorithm's time in the mean of %d problems", mean, count)
	if !(mean <= c.Mean) {
		t.Errorf("picks take %.3f of the fastest algorithm's time in the mean, want %.3f at most", mean, c.Mean)
	}
}

// behind is the time of a problem's pick over that of the fastest algorithm.
func (c *CostTable) behind(t *testing.T, m *cpe.Machine, problem, times string) float64 {
	picked, among := c.Pick(m, problem)
	least, taken, best := math.Inf(1), 0.0, ""
	for _, field := range strings.Fields(times) {
		name, value, _ := strings.Cut(field, "=")
		var took float64
		if _, err := fmt.Sscan(value, &took); err != nil {
			t.Fatalf("%s: %s: %v", c.File, field, err)
		}
		if among != nil && !slices.Contains(among, name) {
			continue
		}
		if name == picked {
			taken = took
		}
		if took < least {
			least, best = took, name
		}
	}
	if taken == 0 {
		t.Fatalf("%s: %s has no time of %s", c.File, problem, picked)
	}
	if ratio := taken / least; ratio > 1.05 {
		t.Logf("%s: %s is picked, which takes %.2f of the time of %s", problem, picked, ratio, best)
		if ratio > c.Most {
			t.Errorf("%s: that is more than %.2f", problem, c.Most)
		}
	}
	return taken / least
}

// measured measures a problem's times.
func (c *CostTable) measured(t *testing.T, m *cpe.Machine, problem string) string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runs := c.Runs(m, problem)
	var names []string
	best, repeats := map[string]time.Duration{}, map[string]int{}
	time1 := func(name string, n int) time.Duration {
		at := cputime.Thread()
		for range n {
			if err := runs[name](); err != nil {
				t.Fatal(err)
			}
		}
		return (cputime.Thread() - at) / time.Duration(n)
	}
	for name := range runs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		time1(name, 1)
		best[name] = time1(name, 1)
		repeats[name] = int(30*time.Microsecond/(best[name]+1)) + 1
	}
	for n, began := 0, time.Now(); n < 3 || n < 40 && time.Since(began) < 300*time.Millisecond; n++ {
		for _, name := range names {
			best[name] = min(best[name], time1(name, repeats[name]))
		}
	}
	var fields []string
	for _, name := range names {
		fields = append(fields, fmt.Sprintf("%s=%.2f", name, float64(best[name])/float64(time.Microsecond)))
	}
	return strings.Join(fields, " ")
}
