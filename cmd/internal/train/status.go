package train

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/statusline"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/solver/events"
)

// status is the lines below the log of a training on a terminal: how far it is, its loss, its speed, its last test. They are there from the
// first iteration to the last one or to an error.
type status struct {
	env   *cli.Env
	now   func() time.Time
	ascii bool

	mu          sync.Mutex
	begun       time.Time
	first       int // the iteration at which this process began
	iter, of    int
	testing     string // a test's progress; "": none runs
	last        *events.Iteration
	speed, wait mean
	losses      history
	test        string // the results of the last tests
	testIter    int
}

// canShow reports whether stderr is a terminal on which lines can be replaced, and one process alone writes to it.
func canShow(e *cli.Env) bool { return e.Pulse != nil && !e.UnderMPI() }

func newStatus(e *cli.Env) *status {
	return &status{env: e, now: time.Now, ascii: !speaksUTF8(os.Getenv)}
}

// speaksUTF8 reports whether the locale's characters are UTF-8. The first of these variables that is set decides.
func speaksUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToUpper(env(name)); locale != "" {
			return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
		}
	}
	return false
}

// take takes an event of the run.
func (s *status) take(e events.Event) {
	switch body := e.Body.(type) {
	case *events.Started:
		s.mu.Lock()
		s.begun, s.first, s.iter, s.of = s.now(), body.Iteration, body.Iteration, body.MaxIter
		s.mu.Unlock()
		s.env.Pulse.Show(s.lines)
	case *events.Iteration:
		s.mu.Lock()
		s.iter, s.last, s.testing = body.Iteration+1, body, ""
		s.speed.add(float64(body.Speed))
		s.wait.add(float64(body.Wait))
		s.losses.add(float64(body.Loss))
		s.mu.Unlock()
		s.env.Pulse.Refresh()
	case *events.Test:
		s.mu.Lock()
		s.tested(body)
		s.mu.Unlock()
	case *events.Stopped, *events.Crashed:
		s.env.Pulse.Show(nil)
	}
}

// end removes the lines.
func (s *status) end() error {
	s.env.Pulse.Show(nil)
	return nil
}

// progress takes a solver's progress; see solver.Options.
func (s *status) progress(testing bool, done, of int) {
	s.env.Pulse.Solving(testing, done, of)
	if testing {
		s.mu.Lock()
		s.testing = fmt.Sprintf("testing: batch %d of %d", done, of)
		s.mu.Unlock()
		s.env.Pulse.Refresh()
	}
}

// tested adds the results of a test net to those of the same iteration.
func (s *status) tested(t *events.Test) {
	if s.test == "" || s.testIter != t.Iteration {
		s.test, s.testIter = "", t.Iteration
	}
	for _, v := range t.Outputs {
		s.test += fmt.Sprintf("  %s %s", v.Name, caffelog.Figure(float64(v.Value)))
	}
	s.testing = ""
}

// barWidth is the number of characters of the progress bar, and of the curve of losses.
const barWidth = 24

// lines returns the lines.
func (s *status) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.env
	head := e.Strong(fmt.Sprintf("Iteration %d of %d", s.iter, s.of)) + "  " + s.bar()
	if s.testing != "" {
		head += "  " + s.testing
	} else if left, ok := s.left(); ok {
		head += "  " + left.String() + " left"
	}
	list := []string{head}
	if s.last != nil {
		line := fmt.Sprintf("loss %s %s  lr %s", caffelog.Figure(float64(s.last.Smoothed)), s.losses.curve(s.ascii), caffelog.Figure(float64(s.last.Rate)))
		if v, ok := s.speed.value(); ok {
			digits := 0
			if v < 100 {
				digits = 2
			}
			line += fmt.Sprintf("  %.*f images/s", digits, v)
		}
		if v, ok := s.wait.value(); ok {
			line += fmt.Sprintf("  waits for data %.0f %%", 100*v)
		}
		list = append(list, line)
	}
	if s.test != "" {
		list = append(list, e.Dim(fmt.Sprintf("test at iteration %d:", s.testIter))+s.test)
	}
	return list
}

// bar draws the share of the iterations that are done.
func (s *status) bar() string {
	share := 1.0
	if s.of > 0 {
		share = min(1, float64(s.iter)/float64(s.of))
	}
	full, empty := "━", "─"
	if s.ascii {
		full, empty = "#", "-"
	}
	n := int(share * barWidth)
	return strings.Repeat(full, n) + s.env.Dim(strings.Repeat(empty, barWidth-n)) + fmt.Sprintf(" %.0f %%", math.Floor(100*share))
}

// left returns the time until the last iteration, by the mean time of an iteration of this process, tests and snapshots included.
func (s *status) left() (time.Duration, bool) {
	done := s.iter - s.first
	if done < 1 || s.of <= s.iter {
		return 0, false
	}
	each := s.now().Sub(s.begun).Seconds() / float64(done)
	seconds := each * float64(s.of-s.iter)
	if seconds > 1e8 {
		return 0, false
	}
	return time.Duration(seconds+0.5) * time.Second, true
}

// mean is the mean of recent figures: each counts a twentieth, all earlier ones the rest. Figures that are not finite do not count.
type mean struct {
	sum   float64
	known bool
}

func (m *mean) add(v float64) {
	switch {
	case v-v != 0:
	case !m.known:
		m.sum, m.known = v, true
	default:
		m.sum += (v - m.sum) / 20
	}
}

func (m *mean) value() (float64, bool) { return m.sum, m.known }

// history is a whole run's losses as at most barWidth means, each of the same number of iterations but the last.
type history struct {
	each, last int // iterations of a mean, and of the last one
	means      []float64
}

func (h *history) add(v float64) {
	if h.each == 0 {
		h.each = 1
		h.last = 1
		h.means = []float64{v}
		return
	}
	if h.last == h.each {
		if len(h.means) == barWidth {
			for i := range barWidth / 2 {
				h.means[i] = (h.means[2*i] + h.means[2*i+1]) / 2
			}
			h.means = h.means[:barWidth/2]
			h.each *= 2
		}
		h.means, h.last = append(h.means, v), 1
		return
	}
	h.last++
	n := len(h.means) - 1
	h.means[n] += (v - h.means[n]) / float64(h.last)
}

// curve draws the means; of positive ones, their logarithms.
func (h *history) curve(ascii bool) string {
	values := make([]float64, len(h.means))
	for i, v := range h.means {
		if !(v > 0) && v-v == 0 {
			return statusline.Bars(h.means, ascii)
		}
		values[i] = math.Log(v)
	}
	return statusline.Bars(values, ascii)
}
