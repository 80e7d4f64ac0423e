package train

import (
	"fmt"
	"sync"

	"github.com/swcaffe/swcaffe/internal/app/page"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/solver"
)

// examiner collects what a run's tests find, for pages. A page that asks has the next run of a test net collected; without pages the tests
// cost nothing more.
type examiner struct {
	mu     sync.Mutex
	wanted map[int]bool // test nets of which somebody wants the next run
	nets   int
	last   map[int]*page.Tested
	labels []string // names of the classes; nil: those beside the data
}

// shownMistakes is the number of images that a page shows of a test.
const shownMistakes = 24

func newExaminer() *examiner { return &examiner{wanted: map[int]bool{}, last: map[int]*page.Tested{}} }

// Test returns what is known of a test net, and has its next run collected.
func (x *examiner) Test(net int) (*page.Tested, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if net < 0 || x.nets > 0 && net >= x.nets {
		return nil, fmt.Errorf("there is no test net #%d; the run has %d", net, x.nets)
	}
	x.wanted[net] = true
	t := page.Tested{Nets: x.nets}
	if last := x.last[net]; last != nil {
		t = *last
		t.Nets = x.nets
	}
	return &t, nil
}

// begin is the solver's OnTest.
func (x *examiner) begin(s *solver.Solver, net int) func(left int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.nets = len(s.TestNets())
	if !x.wanted[net] {
		return nil
	}
	delete(x.wanted, net)
	p := s.Param()
	report, err := testreport.New(s.TestNets()[net], testreport.Options{Model: s.Net().Name(), Labels: x.labels, Worst: shownMistakes, Version: p.GetApVersion()})
	if err != nil {
		x.last[net] = &page.Tested{Iteration: s.Iter(), Note: err.Error()}
		return nil
	}
	return func(left int) {
		report.Add()
		if left > 0 {
			return
		}
		t := &page.Tested{Iteration: s.Iter(), Results: report.Results(nil)}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.last[net] = t
	}
}
